//! Managing templates.

use std::future::ready;

use async_trait::async_trait;
use serde_json::{Map, Value};
use uuid::{Builder, Uuid};

use super::{DEFAULT_LANGUAGE, Template, TemplateDraft, TemplateStatus, TemplateView};
use crate::app::UseCase;
use crate::connections::Connection;
use crate::ids::{CompanyId, ConnectionId, TemplateId};
use crate::input::Given;
use crate::manage::{ManageError, ManageResult, NOT_FOUND, invalid};
use crate::problems::Problems;
use crate::store::{Change, ChangeSet, Decided, Reads, StoreError, Stored};
use crate::{Recado, Timestamp};

/// The use cases on templates. Made by [`Recado::templates`].
#[derive(Clone, Copy, Debug)]
pub struct Templates<'a> {
    pub(crate) app: &'a Recado,
}

/// Makes or changes a template.
#[derive(Clone, Debug)]
pub struct WriteTemplate {
    company: CompanyId,
    id: TemplateId,
    draft: TemplateDraft,
    /// The token of a new template; `None` changes one that exists.
    new: Option<Uuid>,
}

impl WriteTemplate {
    fn connection(&self) -> Option<ConnectionId> {
        self.draft.connection.as_ref().copied()
    }

    fn made(&self, token: Uuid, now: Timestamp) -> Template {
        let draft = self.draft.clone();
        Template {
            id: self.id,
            company: self.company,
            name: draft.name.unwrap_or_default(),
            category: draft.category.unwrap_or(super::TemplateCategory::Utility),
            language: draft.language.unwrap_or_else(|| DEFAULT_LANGUAGE.to_owned()),
            body: draft.body.unwrap_or_default(),
            status: draft.status.unwrap_or(TemplateStatus::Pending),
            connection: draft.connection.value(),
            provider_id: None,
            is_complex: false,
            token,
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
        let template = match self.new {
            Some(_) => None,
            None => store.template(self.company, self.id).await?,
        };
        let connection = match self.connection() {
            None => None,
            Some(id) => store.connection(self.company, id).await?,
        };
        Ok((template, connection))
    }

    fn decide(
        &self,
        (template, connection): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Template>, ManageError> {
        if self.new.is_none() && template.is_none() {
            return Err(ManageError::NotFound);
        }
        if matches!(self.draft.connection, Given::Value(_)) && connection.is_none() {
            let reason = "names a connection that the company does not have";
            return Err(Problems::of("connection_id", reason).into());
        }
        let (written, change) = match (&template, self.new) {
            (Some(known), _) => {
                let changed = self.draft.apply(known, now);
                if changed == *known.value() {
                    return Ok(Decided::unchanged(changed));
                }
                (changed.clone(), known.update(changed))
            }
            (None, token) => {
                let made = self.made(token.unwrap_or_default(), now);
                (made.clone(), Change::insert(made))
            }
        };
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
        let templates = self.app.store().templates(company).await?;
        Ok(templates.iter().map(|template| TemplateView::new(template)).collect())
    }

    /// A template.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn get(&self, company: CompanyId, id: TemplateId) -> ManageResult<TemplateView> {
        match self.app.store().template(company, id).await? {
            Some(template) => Ok(TemplateView::new(&template)),
            None => Err(NOT_FOUND),
        }
    }

    /// Makes a template, with a token of its own.
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create(
        &self,
        company: CompanyId,
        body: &Map<String, Value>,
    ) -> ManageResult<TemplateView> {
        let draft = TemplateDraft::parse(body).map_err(invalid)?;
        let id = TemplateId::new(self.app.uuid(self.app.now()));
        let token = Builder::from_random_bytes(self.app.random()).into_uuid();
        self.write(WriteTemplate { company, id, draft, new: Some(token) }).await
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
        body: &Map<String, Value>,
    ) -> ManageResult<TemplateView> {
        let draft = TemplateDraft::parse_patch(body).map_err(invalid)?;
        self.write(WriteTemplate { company, id, draft, new: None }).await
    }

    /// Deletes a template. Messages that were made from it stay.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: TemplateId) -> ManageResult<()> {
        let store = self.app.store();
        self.app.remove(|| store.template(company, id), || ready(Ok(false))).await
    }

    async fn write(&self, write: WriteTemplate) -> ManageResult<TemplateView> {
        Ok(TemplateView::new(&self.app.run(&write).await?))
    }
}
