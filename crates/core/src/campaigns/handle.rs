//! The use cases on campaigns.

use crate::Recado;

/// The use cases on campaigns. Made by [`Recado::campaigns`].
#[derive(Clone, Copy, Debug)]
pub struct Campaigns<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Campaigns.
    pub fn campaigns(&self) -> Campaigns<'_> {
        Campaigns { app: self }
    }
}
