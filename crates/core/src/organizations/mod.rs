//! Client organizations and their data in the public registry (D21, D22).

mod cnpj;
mod enrich;
mod organization;
mod registry;

pub use cnpj::{Cnpj, CnpjError};
pub(crate) use enrich::enrich;
pub use enrich::{RETRY_WAITS, retry_wait};
pub use organization::{Organization, OrganizationView};
pub use registry::{RegistryAnswer, RegistryEntry, lookup_request, read_answer};
