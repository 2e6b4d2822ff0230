//! The inbox.

use crate::Recado;

/// The use cases on what gateways report. Made by [`Recado::inbox`].
#[derive(Clone, Copy, Debug)]
pub struct Inbox<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// What gateways report.
    pub fn inbox(&self) -> Inbox<'_> {
        Inbox { app: self }
    }
}
