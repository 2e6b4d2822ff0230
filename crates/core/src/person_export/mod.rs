//! Everything that is kept about a contact, as a ZIP (R410–R411).

mod archive;
mod kept;
mod run;
mod shown;

pub use run::{ExportError, PersonExport};
