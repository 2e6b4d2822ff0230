//! The use cases on connections.

use crate::Recado;

/// The use cases on connections. Made by [`Recado::connections`].
#[derive(Clone, Copy, Debug)]
pub struct Connections<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Connections.
    pub fn connections(&self) -> Connections<'_> {
        Connections { app: self }
    }
}
