//! The use cases on template dispatch.

use crate::Recado;

/// The use cases on template dispatch. Made by [`Recado::dispatches`].
#[derive(Clone, Copy, Debug)]
pub struct Dispatches<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Template dispatch.
    pub fn dispatches(&self) -> Dispatches<'_> {
        Dispatches { app: self }
    }
}
