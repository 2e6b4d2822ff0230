//! The use cases on the ledger.

use crate::Recado;

/// The use cases on prosas. Made by [`Recado::prosas`].
#[derive(Clone, Copy, Debug)]
pub struct ProsaLedger<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Debits, refunds and their ledger.
    pub fn prosas(&self) -> ProsaLedger<'_> {
        ProsaLedger { app: self }
    }
}
