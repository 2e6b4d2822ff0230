//! Managing templates.

use std::future::ready;

use async_trait::async_trait;
use uuid::{Builder, Uuid};

use super::{
    DEFAULT_LANGUAGE, Template, TemplateDraft, TemplateNeeds, TemplatePatch, TemplateStatus,
    TemplateTokenHash, TemplateTokenView, TemplateView,
};
use crate::body::IntoBody;
use crate::connections::Connection;
use crate::ids::{CompanyId, ConnectionId, TemplateId};
use crate::manage::{ManageError, ManageResult, NOT_FOUND, invalid};
use crate::problems::Problems;
use crate::store::{Change, ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;
use crate::{Recado, Timestamp};

/// The use cases on templates. Made by [`Recado::templates`].
#[derive(Clone, Copy, Debug)]
pub struct Templates<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Message templates.
    pub fn templates(&self) -> Templates<'_> {
        Templates { app: self }
    }
}

/// Makes or changes a template.
#[derive(Clone, Debug)]
pub struct WriteTemplate {
    company: CompanyId,
    id: TemplateId,
    write: TemplateWrite,
}

#[derive(Clone, Debug)]
enum TemplateWrite {
    /// A new template with its token's hash.
    New(TemplateDraft, TemplateTokenHash),
    /// A change of one that exists.
    Change(TemplatePatch),
}

impl WriteTemplate {
    fn connection(&self) -> Option<ConnectionId> {
        match &self.write {
            TemplateWrite::New(draft, _) => draft.connection,
            TemplateWrite::Change(patch) => patch.connection.as_ref().copied(),
        }
    }

    fn made(&self, draft: TemplateDraft, token: TemplateTokenHash, now: Timestamp) -> Template {
        Template {
            id: self.id,
            company: self.company,
            name: draft.name,
            category: draft.category,
            language: draft.language.unwrap_or_else(|| DEFAULT_LANGUAGE.to_owned()),
            body: draft.body,
            needs: draft.components.needs(),
            components: draft.components,
            status: draft.status.unwrap_or(TemplateStatus::Pending),
            connection: draft.connection,
            provider_id: None,
            token_hash: token,
            created_at: now,
            updated_at: now,
        }
    }
}

#[async_trait]
impl UseCase for WriteTemplate {
    type Loaded = (Option<Stored<Template>>, Option<Stored<Connection>>);
    type Output = Template;
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let template = match &self.write {
            TemplateWrite::New(..) => None,
            TemplateWrite::Change(_) => store.get::<Template>((self.company, self.id)).await?,
        };
        let connection = match self.connection() {
            None => None,
            Some(id) => store.get::<Connection>((self.company, id)).await?,
        };
        Ok((template, connection))
    }

    fn decide(
        &self,
        (template, connection): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Template>, ManageError> {
        if matches!(self.write, TemplateWrite::Change(_)) && template.is_none() {
            return Err(ManageError::NotFound);
        }
        if self.connection().is_some() && connection.is_none() {
            let reason = "names a connection that the company does not have";
            return Err(Problems::of("connection_id", reason).into());
        }
        let (written, change): (Template, Change) = match (&self.write, &template) {
            (TemplateWrite::New(draft, token), _) => {
                let made = self.made(draft.clone(), *token, now);
                (made.clone(), Change::insert(made))
            }
            (TemplateWrite::Change(_), None) => return Err(ManageError::NotFound),
            (TemplateWrite::Change(patch), Some(known)) => {
                let mut changed = patch.apply(known, now);
                if changed.components != known.components {
                    // What else it needs was read from its gateway.
                    let other = known.needs.other.clone();
                    changed.needs = TemplateNeeds { other, ..changed.components.needs() };
                }
                if changed == *known.value() {
                    return Ok(Decided::unchanged(changed));
                }
                (changed.clone(), known.update(changed))
            }
        };
        let is_new_text = template.as_ref().is_none_or(|known| {
            (&known.body, &known.components) != (&written.body, &written.components)
        });
        if is_new_text && !written.components.are_of_one_sort(&written.body) {
            let reason = "has variables of another sort than the text";
            return Err(Problems::of("components", reason).into());
        }
        Ok(Decided::new(ChangeSet::new().with(change), written))
    }
}

impl Templates<'_> {
    /// All templates of a company, oldest first.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> ManageResult<Vec<TemplateView>> {
        let templates = self.app.store().all_stored::<Template>(company).await?;
        Ok(templates.iter().map(|template| TemplateView::new(template)).collect())
    }

    /// A template.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn get(&self, company: CompanyId, id: TemplateId) -> ManageResult<TemplateView> {
        match self.app.store().get::<Template>((company, id)).await? {
            Some(template) => Ok(TemplateView::new(&template)),
            None => Err(NOT_FOUND),
        }
    }

    /// Makes a template, with a token of its own, which is only in the answer (R223).
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<TemplateDraft>,
    ) -> ManageResult<TemplateTokenView> {
        let draft = TemplateDraft::parse(body).map_err(invalid)?;
        let id = TemplateId::new(self.app.uuid(self.app.now()));
        let (token, hash) = self.new_token().await?;
        let write = TemplateWrite::New(draft, hash);
        let template = self.write(WriteTemplate { company, id, write }).await?;
        Ok(TemplateTokenView { template, token })
    }

    /// Gives a template another token, which is only in the answer. The old one is unknown at once
    /// (R223).
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn rotate_token(
        &self,
        company: CompanyId,
        id: TemplateId,
    ) -> ManageResult<TemplateTokenView> {
        let (token, token_hash) = self.new_token().await?;
        let (store, updated_at) = (self.app.store(), self.app.now());
        let changed = self
            .app
            .change(
                || store.get::<Template>((company, id)),
                |known: &Template| Template { token_hash, updated_at, ..known.clone() },
            )
            .await?;
        Ok(TemplateTokenView { template: TemplateView::new(&changed), token })
    }

    /// A new token with its hash.
    pub(super) async fn new_token(&self) -> Result<(Uuid, TemplateTokenHash), StoreError> {
        let token = Builder::from_random_bytes(self.app.random()).into_uuid();
        Ok((token, TemplateTokenHash::of_token(self.app.hash_key().await?, token)))
    }

    /// Changes a template; its token stays.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`ManageError::NotFound`].
    pub async fn change(
        &self,
        company: CompanyId,
        id: TemplateId,
        body: impl IntoBody<TemplatePatch>,
    ) -> ManageResult<TemplateView> {
        let patch = TemplatePatch::parse(body).map_err(invalid)?;
        self.write(WriteTemplate { company, id, write: TemplateWrite::Change(patch) }).await
    }

    /// Deletes a template. Messages that were made from it stay.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: TemplateId) -> ManageResult<()> {
        let store = self.app.store();
        self.app.remove(|| store.get::<Template>((company, id)), || ready(Ok(false))).await
    }

    async fn write(&self, write: WriteTemplate) -> ManageResult<TemplateView> {
        Ok(TemplateView::new(&self.app.run(&write).await?))
    }
}
