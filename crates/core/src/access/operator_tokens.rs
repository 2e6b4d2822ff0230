//! Authenticating operators, and managing their tokens (R380–R383).

use std::future::ready;
use std::net::IpAddr;

use super::key::require_to_come;
use super::{
    Access, NewOperatorToken, Operator, OperatorSecret, OperatorToken, OperatorTokenDraft,
    OperatorTokenPatch, OperatorTokenView,
};
use crate::Installation;
use crate::audit::{Acting, Actor, OperationName};
use crate::body::IntoBody;
use crate::code::Code;
use crate::ids::{CompanyId, OperatorTokenId};
use crate::manage::{ManageResult, NOT_FOUND, invalid};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, RecordsExt, StoreError, Stored};

/// How many operator tokens an installation may have (R383).
const MOST_TOKENS: usize = 1_000;

impl Installation {
    /// Logs that a call was refused because its token has ended, in the log of the company that the
    /// token reaches (R387). Other texts are nobody's: of a revoked token nothing is kept.
    pub async fn note_ended_token(
        &self,
        presented: &str,
        operation: OperationName,
        from: Option<IpAddr>,
    ) {
        let Some(id) = OperatorSecret::id_in(presented) else { return };
        // Should the store fail, it is not logged.
        let Ok(Some(token)) = self.store().get::<OperatorToken>(id).await else { return };
        if token.is_shown(presented) && token.has_ended(self.now()) {
            let acting = Acting::new(Actor::OperatorToken(id), operation, from);
            self.by(acting).audit().note_denial(token.company, Code::Unauthorized).await;
        }
    }
}

impl Access<'_> {
    /// The operator that shows a token of this installation (R382); `None` for a text that is no
    /// token, or one that is unknown, revoked or ended, or whose company was deleted. That it was
    /// used is noted, and written later (R221).
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn operator(&self, presented: &str) -> Result<Option<Operator>, StoreError> {
        self.app.entrance().operator(presented).await
    }

    /// The tokens that an operator reaches: those of the own company, or all (R381).
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn operator_tokens(&self, by: &Operator) -> ManageResult<Vec<OperatorTokenView>> {
        let all = self.app.store().all::<OperatorToken>(()).await?;
        Ok(all.iter().filter(|token| sees(by, token)).map(OperatorTokenView::from).collect())
    }

    /// A token that an operator reaches.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn operator_token(
        &self,
        by: &Operator,
        id: OperatorTokenId,
    ) -> ManageResult<OperatorTokenView> {
        Ok(OperatorTokenView::from(self.reached_token(by, id).await?.value()))
    }

    /// Makes a token; its secret is only in the answer. Who reaches one company makes tokens for it
    /// only: it is the default, and any other looks missing (R381).
    ///
    /// # Errors
    ///
    /// What is wrong with the body, a company that does not exist among it; more than 1,000 tokens
    /// (R383).
    pub async fn create_operator_token(
        &self,
        by: &Operator,
        body: impl IntoBody<OperatorTokenDraft>,
    ) -> ManageResult<NewOperatorToken> {
        let draft = OperatorTokenDraft::parse(body).map_err(invalid)?;
        let now = self.app.now();
        require_to_come(draft.expires_at, now).map_err(invalid)?;
        let company = draft.company_id.or(by.company());
        self.require_reached(by, company).await?;
        if self.app.store().all::<OperatorToken>(()).await?.len() >= MOST_TOKENS {
            let reason = format!("the installation has {MOST_TOKENS} operator tokens already");
            return Err(invalid(Problems::of("name", reason)));
        }
        let id = OperatorTokenId::new(self.app.uuid(now));
        let secret = OperatorSecret::new(id, self.app.random());
        let token = OperatorToken {
            id,
            name: draft.name,
            hash: secret.hash(),
            role: draft.role,
            company,
            expires_at: draft.expires_at,
            last_used_at: None,
            created_at: now,
        };
        let new = NewOperatorToken { token: token.clone(), secret };
        self.app.insert_all(ChangeSet::new().insert(token), new).await
    }

    /// Changes a token; a new role applies from the next call on.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`crate::ManageError::NotFound`].
    pub async fn change_operator_token(
        &self,
        by: &Operator,
        id: OperatorTokenId,
        body: impl IntoBody<OperatorTokenPatch>,
    ) -> ManageResult<OperatorTokenView> {
        let patch = &OperatorTokenPatch::parse(body).map_err(invalid)?;
        require_to_come(patch.expires_at.as_ref().copied(), self.app.now()).map_err(invalid)?;
        let changed = self.app.decide(|_| async move {
            let token = self.reached_token(by, id).await?;
            let changed = patch.over(token.value());
            if changed == *token.value() {
                return Ok(Decided::unchanged(changed));
            }
            Ok(Decided::new(ChangeSet::new().with(token.update(changed.clone())), changed))
        });
        Ok(OperatorTokenView::from(&changed.await?))
    }

    /// Revokes a token at once: no call that begins after this answered is accepted.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn revoke_operator_token(
        &self,
        by: &Operator,
        id: OperatorTokenId,
    ) -> ManageResult<()> {
        let store = self.app.store();
        let token = self.reached_token(by, id).await?;
        // What is deleted is named by its id, which does not tell of the company (R388).
        let app = token.company.map_or_else(|| self.app.clone(), |company| self.app.on(company));
        app.remove(|| store.get::<OperatorToken>(id), || ready(Ok(false))).await
    }

    async fn reached_token(
        &self,
        by: &Operator,
        id: OperatorTokenId,
    ) -> ManageResult<Stored<OperatorToken>> {
        let found = self.app.store().get::<OperatorToken>(id).await?;
        found.filter(|token| sees(by, token.value())).ok_or(NOT_FOUND)
    }

    async fn require_reached(&self, by: &Operator, company: Option<CompanyId>) -> ManageResult<()> {
        let Some(company) = company else { return Ok(()) };
        if by.reaches(company) && self.app.company(company).await?.is_some() {
            return Ok(());
        }
        Err(invalid(Problems::of("company_id", "names a company that does not exist")))
    }
}

/// Whether an operator reaches a token: who is limited to a company sees its tokens only (R381).
fn sees(by: &Operator, token: &OperatorToken) -> bool {
    by.company().is_none() || by.company() == token.company
}
