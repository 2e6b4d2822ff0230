//! Authenticating callers, limiting their rate, and managing companies, keys and members.

use std::future::ready;

use super::key::{DEFAULT_EXPORT_RATE, DEFAULT_RATE, require_to_come};
use super::{
    ApiKey, Caller, Company, CompanyDraft, CompanyPatch, KeyDraft, KeyPatch, KeySecret, Member,
    MemberDraft, MemberPatch, NewKey, Operator, RateDecision, Unauthorized,
};
use crate::body::IntoBody;
use crate::error::Error;
use crate::ids::{CompanyId, KeyId, MemberId};
use crate::manage::{ManageResult, NOT_FOUND, invalid};
use crate::store::{ChangeSet, Decided, RecordsExt, Removable, StoreError, Stored};
use crate::webhooks::Routes;
use crate::{Recado, Timestamp};

/// The use cases on access. Made by [`Recado::access`].
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Companies, keys and members.
    pub fn access(&self) -> Access<'_> {
        Access { app: self }
    }
}

impl Access<'_> {
    /// The caller that presents this key (5.1, D11). It is looked up by hash, so that the duration
    /// reveals nothing about stored keys. That it was used is noted, and written later (R221).
    ///
    /// # Errors
    ///
    /// [`Unauthorized`] for a key that is unknown or revoked, or has ended (R220), or of a company
    /// that was deleted (R208).
    pub async fn authenticate(&self, presented: &str) -> Result<Caller, Error<Unauthorized>> {
        self.app.entrance().caller(presented).await
    }

    /// Charges one call to the caller's allowances (8, D12).
    ///
    /// # Errors
    ///
    /// When the shared state cannot be reached.
    pub async fn charge(&self, caller: &Caller, export: bool) -> Result<RateDecision, StoreError> {
        self.app.entrance().charge(caller, export).await
    }

    /// The program itself as a caller for a company, so that its own code can call use cases
    /// without a key: see [`Caller::trusted`].
    ///
    /// # Errors
    ///
    /// When there is no such company.
    pub async fn trusted(&self, company: CompanyId) -> ManageResult<Caller> {
        Ok(Caller::trusted(&self.company(company).await?))
    }

    /// All companies.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn companies(&self) -> ManageResult<Vec<Company>> {
        let companies = self.app.store().all::<Company>(()).await?;
        Ok(companies.into_iter().filter(Company::is_there).collect())
    }

    /// A company.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn company(&self, id: CompanyId) -> ManageResult<Company> {
        match self.app.company(id).await? {
            Some(company) => Ok(company.into_value()),
            None => Err(NOT_FOUND),
        }
    }

    /// A company that an operator reaches; any other one looks missing (R381).
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn company_for(&self, operator: &Operator, id: CompanyId) -> ManageResult<Company> {
        if operator.reaches(id) { self.company(id).await } else { Err(NOT_FOUND) }
    }

    /// Makes a company.
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create_company(&self, body: impl IntoBody<CompanyDraft>) -> ManageResult<Company> {
        let draft = CompanyDraft::parse(body).map_err(invalid)?;
        let now = self.app.now();
        let company = draft.into_company(CompanyId::new(self.app.uuid(now)), now);
        self.app.insert_all(ChangeSet::new().insert(company.clone()), company).await
    }

    /// Changes a company.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`crate::ManageError::NotFound`].
    pub async fn change_company(
        &self,
        id: CompanyId,
        body: impl IntoBody<CompanyPatch>,
    ) -> ManageResult<Company> {
        let patch = &CompanyPatch::parse(body).map_err(invalid)?;
        let store = self.app.store();
        let change = |now| async move {
            let company = self.app.company(id).await?.ok_or(NOT_FOUND)?;
            let routes = store.get::<Routes>(id).await?;
            Ok(change_company(&company, routes.as_ref(), patch, now))
        };
        self.app.decide(change).await
    }

    /// All keys of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn keys(&self, company: CompanyId) -> ManageResult<Vec<ApiKey>> {
        Ok(self.app.store().all::<ApiKey>(company).await?)
    }

    /// A key of a company.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn key(&self, company: CompanyId, id: KeyId) -> ManageResult<ApiKey> {
        match self.app.store().get::<ApiKey>((company, id)).await? {
            Some(key) => Ok(key.into_value()),
            None => Err(NOT_FOUND),
        }
    }

    /// Creates a key; its secret is only in the answer (D11).
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`crate::ManageError::NotFound`] when there is no such
    /// company.
    pub async fn create_key(
        &self,
        company: CompanyId,
        body: impl IntoBody<KeyDraft>,
    ) -> ManageResult<NewKey> {
        let draft = KeyDraft::parse(body).map_err(invalid)?;
        self.company(company).await?;
        let now = self.app.now();
        require_to_come(draft.expires_at, now).map_err(invalid)?;
        let secret = KeySecret::from_random(self.app.cell(), self.app.random());
        let key = ApiKey {
            id: KeyId::new(self.app.uuid(now)),
            company,
            name: draft.name,
            hash: secret.hash(),
            scopes: draft.scopes,
            rate_per_minute: draft.rate_per_minute.unwrap_or(DEFAULT_RATE),
            export_rate_per_minute: draft.export_rate_per_minute.unwrap_or(DEFAULT_EXPORT_RATE),
            expires_at: draft.expires_at,
            last_used_at: None,
            created_at: now,
        };
        let new = NewKey { key: key.clone(), secret };
        self.app.insert_all(ChangeSet::new().insert(key), new).await
    }

    /// Changes a key; new rates apply from the next call on (D12).
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`crate::ManageError::NotFound`].
    pub async fn change_key(
        &self,
        company: CompanyId,
        id: KeyId,
        body: impl IntoBody<KeyPatch>,
    ) -> ManageResult<ApiKey> {
        let patch = KeyPatch::parse(body).map_err(invalid)?;
        require_to_come(patch.expires_at.as_ref().copied(), self.app.now()).map_err(invalid)?;
        let store = self.app.store();
        self.app.change(|| store.get::<ApiKey>((company, id)), |key| patch.over(key)).await
    }

    /// Revokes a key at once: no call that begins after this answered is accepted.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn revoke_key(&self, company: CompanyId, id: KeyId) -> ManageResult<()> {
        let store = self.app.store();
        self.app.remove(|| store.get::<ApiKey>((company, id)), || ready(Ok(false))).await
    }

    /// All members of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn members(&self, company: CompanyId) -> ManageResult<Vec<Member>> {
        Ok(self.app.store().all::<Member>(company).await?)
    }

    /// A member of a company.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn member(&self, company: CompanyId, id: MemberId) -> ManageResult<Member> {
        match self.app.store().get::<Member>((company, id)).await? {
            Some(member) => Ok(member.into_value()),
            None => Err(NOT_FOUND),
        }
    }

    /// Makes a member.
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create_member(
        &self,
        company: CompanyId,
        body: impl IntoBody<MemberDraft>,
    ) -> ManageResult<Member> {
        let draft = MemberDraft::parse(body).map_err(invalid)?;
        let now = self.app.now();
        let member = draft.into_member(company, MemberId::new(self.app.uuid(now)), now);
        self.app.insert_all(ChangeSet::new().insert(member.clone()), member).await
    }

    /// Changes a member.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`crate::ManageError::NotFound`].
    pub async fn change_member(
        &self,
        company: CompanyId,
        id: MemberId,
        body: impl IntoBody<MemberPatch>,
    ) -> ManageResult<Member> {
        let patch = MemberPatch::parse(body).map_err(invalid)?;
        let store = self.app.store();
        self.app.change(|| store.get::<Member>((company, id)), |member| patch.over(member)).await
    }

    /// Deletes a member that no contact is assigned to (R5).
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`] or [`crate::ManageError::InUse`].
    pub async fn delete_member(&self, company: CompanyId, id: MemberId) -> ManageResult<()> {
        let store = self.app.store();
        self.app
            .remove(
                || store.get::<Member>((company, id)),
                || store.is_in_use(company, Removable::Member(id)),
            )
            .await
    }
}

/// Writes the given fields over a company. Its plan decides whether its webhooks fire (D10, D52a),
/// so its routes are written too.
fn change_company(
    company: &Stored<Company>,
    routes: Option<&Stored<Routes>>,
    patch: &CompanyPatch,
    now: Timestamp,
) -> Decided<Company> {
    let changed = patch.apply(company, now);
    if changed == *company.value() {
        return Decided::unchanged(changed);
    }
    let mut changes = ChangeSet::new().with(company.update(changed.clone()));
    match routes {
        Some(routes) => {
            let under = routes.under(changed.plan);
            if under != *routes.value() {
                changes = changes.with(routes.update(under));
            }
        }
        // So that a first webhook created at the same time cannot use the old plan.
        None if changed.plan != company.plan => {
            changes = changes.insert(Routes::none(company.id, changed.plan));
        }
        None => {}
    }
    Decided::new(changes, changed)
}
