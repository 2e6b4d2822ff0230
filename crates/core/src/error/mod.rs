//! Errors: what went wrong in our own answer never shares a type with our trouble (7, D4, D5).

mod outcome;
mod rejection;

pub use outcome::Error;
pub(crate) use rejection::object;
pub use rejection::{NotFound, Rejection};
