//! The use cases on uploads.

use crate::Recado;

/// The use cases on uploads. Made by [`Recado::uploads`].
#[derive(Clone, Copy, Debug)]
pub struct Uploads<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Files to be sent.
    pub fn uploads(&self) -> Uploads<'_> {
        Uploads { app: self }
    }
}
