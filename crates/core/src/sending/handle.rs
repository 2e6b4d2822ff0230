//! The use cases on sending.

use crate::Recado;

/// The use cases on sending. Made by [`Recado::sending`].
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Sending messages.
    pub fn sending(&self) -> Sending<'_> {
        Sending { app: self }
    }
}
