//! The inbox.

use crate::Recado;

/// The use cases on what gateways tell of. Made by [`Recado::inbox`].
#[derive(Clone, Copy, Debug)]
pub struct Inbox<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// What gateways tell of.
    pub fn inbox(&self) -> Inbox<'_> {
        Inbox { app: self }
    }
}
