//! Errors: refusals of a request and failures of this service have separate types (7, D4, D5).

mod outcome;
mod rejection;

pub use outcome::Error;
pub(crate) use rejection::object;
pub use rejection::{NotFound, Rejection};
