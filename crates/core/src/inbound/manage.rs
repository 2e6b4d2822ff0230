//! Managing inbound endpoints.

use std::future::ready;

use super::{
    EndpointDraft, EndpointPatch, EndpointSecret, EndpointSecretView, EndpointSlug, EndpointView,
    InboundEndpoint, RotateEndpointSecret,
};
use crate::Recado;
use crate::body::IntoBody;
use crate::error::Error;
use crate::ids::{CompanyId, InboundEndpointId};
use crate::manage::{ManageError, ManageResult, NOT_FOUND, invalid};
use crate::store::{ChangeSet, Decided, RecordsExt};

/// The use cases on inbound endpoints. Made by [`Recado::inbound`].
#[derive(Clone, Copy, Debug)]
pub struct Inbound<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Inbound endpoints.
    pub fn inbound(&self) -> Inbound<'_> {
        Inbound { app: self }
    }
}

impl Inbound<'_> {
    /// All endpoints of a company, oldest first.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> ManageResult<Vec<EndpointView>> {
        let endpoints = self.app.store().all::<InboundEndpoint>(company).await?;
        Ok(endpoints.iter().map(EndpointView::new).collect())
    }

    /// An endpoint.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn get(
        &self,
        company: CompanyId,
        id: InboundEndpointId,
    ) -> ManageResult<EndpointView> {
        match self.app.store().get::<InboundEndpoint>((company, id)).await? {
            Some(endpoint) => Ok(EndpointView::new(&endpoint)),
            None => Err(NOT_FOUND),
        }
    }

    /// Makes an endpoint, with a secret that is shown this once.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`ManageError::SlugTaken`], also if another company has the
    /// slug.
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<EndpointDraft>,
    ) -> ManageResult<EndpointSecretView> {
        let draft = &EndpointDraft::parse(body).map_err(invalid)?;
        let id = InboundEndpointId::new(self.app.uuid(self.app.now()));
        let given = draft.secret.clone();
        let secret = &given.unwrap_or_else(|| EndpointSecret::from_random(self.app.random()));
        let hash = secret.hash(self.app.hash_key().await?);
        let create = |now| async move {
            self.require_free(&draft.slug, id).await?;
            if self.app.company(company).await?.is_none() {
                return Err(NOT_FOUND);
            }
            let endpoint = draft.clone().into_endpoint(company, id, hash, now);
            let view = EndpointSecretView::new(&endpoint, secret);
            Ok(Decided::new(ChangeSet::new().insert(endpoint), view))
        };
        self.app.decide(create).await
    }

    /// Changes an endpoint.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, [`ManageError::NotFound`] or [`ManageError::SlugTaken`].
    pub async fn change(
        &self,
        company: CompanyId,
        id: InboundEndpointId,
        body: impl IntoBody<EndpointPatch>,
    ) -> ManageResult<EndpointView> {
        let patch = &EndpointPatch::parse(body).map_err(invalid)?;
        let change = |now| async move {
            let known =
                self.app.store().get::<InboundEndpoint>((company, id)).await?.ok_or(NOT_FOUND)?;
            if let Some(slug) = &patch.slug {
                self.require_free(slug, id).await?;
            }
            let changed = patch.apply(&known, now);
            if changed == *known.value() {
                return Ok(Decided::unchanged(EndpointView::new(&changed)));
            }
            let view = EndpointView::new(&changed);
            Ok(Decided::new(ChangeSet::new().with(known.update(changed)), view))
        };
        self.app.decide(change).await
    }

    /// Replaces the secret by a given or a new one, shown this once. The old one is refused at
    /// once.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`ManageError::NotFound`].
    pub async fn rotate_secret(
        &self,
        company: CompanyId,
        id: InboundEndpointId,
        body: impl IntoBody<RotateEndpointSecret>,
    ) -> ManageResult<EndpointSecretView> {
        let given = RotateEndpointSecret::parse(body).map_err(invalid)?.secret;
        let secret = given.unwrap_or_else(|| EndpointSecret::from_random(self.app.random()));
        let secret_hash = secret.hash(self.app.hash_key().await?);
        let (store, now) = (self.app.store(), self.app.now());
        let changed = self
            .app
            .change(
                || store.get::<InboundEndpoint>((company, id)),
                |endpoint: &InboundEndpoint| InboundEndpoint {
                    secret_hash,
                    updated_at: now,
                    ..endpoint.clone()
                },
            )
            .await?;
        Ok(EndpointSecretView::new(&changed, &secret))
    }

    /// Deletes an endpoint; its slug is free again.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: InboundEndpointId) -> ManageResult<()> {
        let store = self.app.store();
        self.app.remove(|| store.get::<InboundEndpoint>((company, id)), || ready(Ok(false))).await
    }

    async fn require_free(&self, slug: &EndpointSlug, id: InboundEndpointId) -> ManageResult<()> {
        match self.app.store().endpoint_by_slug(slug).await? {
            Some((holder, _)) if holder.id != id => Err(Error::Rejected(ManageError::SlugTaken)),
            Some(_) | None => Ok(()),
        }
    }
}
