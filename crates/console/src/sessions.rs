//! Who is signed in: the only file that asks the accounts of the core.

use std::collections::HashMap;
use std::sync::Mutex;

use recado_core::Recado;
use recado_core::access::Operator;
use recado_core::ids::{CompanyId, MemberId};
use recado_core::store::StoreError;

/// Who a session belongs to.
#[derive(Clone, Debug)]
pub(crate) struct SignedIn {
    /// What the member may do.
    pub(crate) operator: Operator,
    /// The member's company.
    pub(crate) company: CompanyId,
    /// The member.
    pub(crate) member: Option<MemberId>,
}

/// The sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: Mutex<HashMap<String, SignedIn>>,
}

impl Sessions {
    /// The session of a token, unless it has ended.
    pub(crate) async fn find(
        &self,
        _: &Recado,
        token: &str,
    ) -> Result<Option<SignedIn>, StoreError> {
        let known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(known.get(token).cloned())
    }

    /// Begins a session in this process.
    #[cfg(test)]
    pub(crate) fn begin(&self, token: &str, who: SignedIn) {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.insert(token.to_owned(), who);
    }
}
