//! The use cases on messages.

use crate::Recado;

/// The use cases on messages that are stored. Made by [`Recado::messages`].
#[derive(Clone, Copy, Debug)]
pub struct Messages<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Messages that are stored.
    pub fn messages(&self) -> Messages<'_> {
        Messages { app: self }
    }
}
