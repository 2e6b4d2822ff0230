//! Who comes in: what a call shows, before anybody acts (5.1, R382, R384).

use std::net::IpAddr;

use super::{
    Caller, KeyHash, Operator, OperatorSecret, OperatorToken, RateDecision, Unauthorized,
    rate_checks,
};
use crate::audit::{Acting, Actor, OperationName};
use crate::error::Error;
use crate::store::{RecordsExt, StoreError};
use crate::{Installation, Recado};

/// The longest text that is examined as a key.
const MAX_KEY_CHARS: usize = 256;

/// Who comes in. Made by [`Installation::entrance`]. It writes nothing: that a key was used is
/// noted, and written later (R221).
#[derive(Clone, Copy, Debug)]
pub struct Entrance<'a> {
    pub(super) app: &'a Installation,
}

impl Installation {
    /// Who comes in.
    pub fn entrance(&self) -> Entrance<'_> {
        Entrance { app: self }
    }

    /// The handle for an operator who has come in, in one operation.
    ///
    /// R384.
    pub fn as_operator(
        &self,
        operator: &Operator,
        operation: OperationName,
        from: Option<IpAddr>,
    ) -> Recado {
        self.by(Acting::new(Actor::of_operator(operator), operation, from))
    }

    /// The handle for a caller who has come in, in one operation.
    ///
    /// R384.
    pub fn as_caller(
        &self,
        caller: &Caller,
        operation: OperationName,
        from: Option<IpAddr>,
    ) -> Recado {
        self.by(Acting::new(Actor::of_caller(caller), operation, from))
    }
}

impl Entrance<'_> {
    /// The caller that presents this key (5.1, D11). It is looked up by hash, so that the duration
    /// reveals nothing about stored keys.
    ///
    /// # Errors
    ///
    /// [`Unauthorized`] for a key that is unknown or revoked, or has ended (R220), or of a company
    /// that was deleted (R208).
    pub async fn caller(&self, presented: &str) -> Result<Caller, Error<Unauthorized>> {
        if presented.is_empty() || presented.len() > MAX_KEY_CHARS {
            return Err(Error::Rejected(Unauthorized));
        }
        let found = self.app.store().key_by_hash(&KeyHash::of(presented)).await?;
        let now = self.app.now();
        match found {
            Some((key, company)) if company.is_there() && !key.has_ended(now) => {
                self.app.used_keys().note(&key, now);
                Ok(Caller::new(&key, &company))
            }
            Some(_) | None => Err(Error::Rejected(Unauthorized)),
        }
    }

    /// The operator that shows a token of this installation (R382); `None` for a text that is no
    /// token, or one that is unknown, revoked or ended, or whose company was deleted.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn operator(&self, presented: &str) -> Result<Option<Operator>, StoreError> {
        let Some(id) = OperatorSecret::id_in(presented) else { return Ok(None) };
        let found = self.app.store().get::<OperatorToken>(id).await?;
        let now = self.app.now();
        let Some(token) = found.filter(|token| token.admits(presented, now)) else {
            return Ok(None);
        };
        if let Some(company) = token.company
            && self.app.company(company).await?.is_none()
        {
            return Ok(None);
        }
        self.app.used_keys().note_operator(&token, now);
        Ok(Some(Operator::of(&token)))
    }

    /// Charges one call to the caller's allowances (8, D12).
    ///
    /// # Errors
    ///
    /// When the shared state cannot be reached.
    pub async fn charge(&self, caller: &Caller, export: bool) -> Result<RateDecision, StoreError> {
        let checks = rate_checks(caller, export);
        if checks.is_empty() {
            return Ok(RateDecision::Allowed);
        }
        self.app.limiter().check(&checks, self.app.now()).await
    }
}
