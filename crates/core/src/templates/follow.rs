//! Templates of gateways (D69): the whole list is read, and single reports are applied.

use super::{Template, TemplateTokenHash, TemplateView, Templates};
use crate::code::Code;
use crate::connections::{Capability, Connection};
use crate::error::{Error, NotFound, Rejection};
use crate::gateway::{ProviderError, ProviderTemplate, TemplateReport};
use crate::ids::{CompanyId, ConnectionId, TemplateId};
use crate::inbox::{EventOutcome, EventResult};
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::templates::TemplateStatus;
use crate::{Timestamp, UseCase, text};
use async_trait::async_trait;

/// The most templates of one gateway: what the official API allows an account.
const MAX_TEMPLATES: usize = 6_000;

/// Why templates could not be read from a gateway.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyncTemplatesError {
    /// The company has no such connection.
    #[error("no such connection")]
    NotFound,
    /// Its gateway has no templates.
    #[error("the connection's gateway has no templates that could be read")]
    Unsupported,
    /// The gateway refused or failed; nothing has changed. Try again, or correct the settings.
    #[error("the gateway did not list its templates: {0}")]
    Provider(String),
}

impl Rejection for SyncTemplatesError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound => Code::NotFound,
            Self::Unsupported => Code::ValidationError,
            Self::Provider(_) => Code::ProviderError,
        }
    }
}

impl From<NotFound> for SyncTemplatesError {
    fn from(_: NotFound) -> Self {
        Self::NotFound
    }
}

/// Writes the templates that a gateway listed (R117).
#[derive(Debug)]
struct Sync {
    company: CompanyId,
    connection: ConnectionId,
    listed: Vec<ProviderTemplate>,
    /// One id and hash of a token for each listed template. They are made once, so that deciding
    /// again has the same result.
    made: Vec<(TemplateId, TemplateTokenHash)>,
}

/// Applies one report.
#[derive(Debug)]
struct Follow<'a> {
    company: CompanyId,
    connection: ConnectionId,
    report: &'a TemplateReport,
}

impl Templates<'_> {
    /// Reads the templates of a connection from its gateway, and answers all that are bound to it:
    /// listed ones are created or updated, by name and language; those that were read before and
    /// are not listed any more are paused. Atomic.
    ///
    /// # Errors
    ///
    /// [`SyncTemplatesError`]; nothing was written.
    pub async fn sync(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<Vec<TemplateView>, Error<SyncTemplatesError>> {
        let connection = self.app.store().get::<Connection>((company, id)).await?;
        let connection = connection.ok_or(Error::Rejected(SyncTemplatesError::NotFound))?;
        let listed = self.listed(&connection).await.map_err(Error::Rejected)?;
        let now = self.app.now();
        let mut made = Vec::with_capacity(listed.len());
        for _ in &listed {
            // Nobody is shown this token: a rotation makes one that is (R223).
            let (_, token) = self.new_token().await?;
            made.push((TemplateId::new(self.app.uuid(now)), token));
        }
        let sync = Sync { company, connection: id, listed, made };
        self.app.run(&sync).await.map_err(|error| error.map(SyncTemplatesError::from))?;
        let all = self.app.store().all_stored::<Template>(company).await?;
        let own = all.iter().filter(|template| template.connection == Some(id));
        Ok(own.map(|template| TemplateView::new(template)).collect())
    }

    async fn listed(
        &self,
        connection: &Connection,
    ) -> Result<Vec<ProviderTemplate>, SyncTemplatesError> {
        let provider = self.app.provider(&connection.gateway);
        let lists = self.app.providers().can(connection, Capability::TemplateList);
        let provider = provider.filter(|_| lists);
        let provider = provider.ok_or(SyncTemplatesError::Unsupported)?;
        match provider.templates(self.app.gateway_transport(), connection).await {
            Ok(listed) => Ok(acceptable(listed)),
            Err(ProviderError::Unsupported) => Err(SyncTemplatesError::Unsupported),
            Err(ProviderError::Failed(reason)) => {
                let reason = self.app.masked(connection, &reason);
                Err(SyncTemplatesError::Provider(reason))
            }
        }
    }

    /// Applies a gateway's report about one template.
    pub(crate) async fn follow(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        report: &TemplateReport,
    ) -> Result<EventResult, Error<NotFound>> {
        self.app.run(&Follow { company, connection, report }).await
    }
}

/// The listed templates that can be kept, each name and language once: the last one counts.
fn acceptable(listed: Vec<ProviderTemplate>) -> Vec<ProviderTemplate> {
    let fits = |template: &ProviderTemplate| {
        let named = (1..=super::draft::NAME_CHARS).contains(&template.name.chars().count());
        let spoken = (1..=super::draft::LANGUAGE_CHARS).contains(&template.language.len());
        let words = [&template.name, &template.language].into_iter();
        let plain = words.flat_map(|word| word.chars()).all(|c| !c.is_control());
        named && spoken && plain
    };
    let mut kept: Vec<ProviderTemplate> = Vec::new();
    for template in listed.into_iter().filter(fits).take(MAX_TEMPLATES).map(kept_body) {
        let again = |known: &ProviderTemplate| {
            (&known.name, &known.language) == (&template.name, &template.language)
        };
        match kept.iter_mut().find(|known| again(known)) {
            Some(known) => *known = template,
            None => kept.push(template),
        }
    }
    kept
}

/// The template with a body that can be stored. If the body is too long, the template is marked as
/// one that cannot be sent.
fn kept_body(template: ProviderTemplate) -> ProviderTemplate {
    let body = text::kept(&template.body, text::MESSAGE + 1);
    let components = template.components.bounded();
    let needs = template.needs.bounded();
    match text::as_sent(&body, text::MESSAGE) {
        Ok(body) => ProviderTemplate { body, components, needs, ..template },
        Err(_) => {
            let body = text::kept(&body, text::MESSAGE);
            let needs = needs.with("a shorter text");
            ProviderTemplate { body, components, needs, ..template }
        }
    }
}

/// Whether a report is about this template. The id is compared only if the report lacks name or
/// language, as a template that was deleted and created again has another id.
fn is_meant(template: &Template, report: &TemplateReport) -> bool {
    let agrees =
        |reported: &Option<String>, known: &str| reported.as_deref().is_none_or(|t| t == known);
    let is_named = report.name.is_some() && report.language.is_some();
    let has_id = report.provider_id.is_some() && report.provider_id == template.provider_id;
    (is_named || has_id)
        && agrees(&report.name, &template.name)
        && agrees(&report.language, &template.language)
}

/// The template after it was listed in this way.
fn followed(known: &Template, listed: &ProviderTemplate, now: Timestamp) -> Template {
    let mut template = Template {
        category: listed.category,
        body: listed.body.clone(),
        components: listed.components.clone(),
        status: listed.status,
        provider_id: listed.provider_id.clone(),
        needs: listed.needs.clone(),
        ..known.clone()
    };
    if template != *known {
        template.updated_at = now;
    }
    template
}

#[async_trait]
impl UseCase for Sync {
    type Loaded = (Vec<Stored<Template>>, Option<Stored<Connection>>);
    type Output = ();
    type Error = NotFound;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let connection = store.get::<Connection>((self.company, self.connection)).await?;
        Ok((store.all_stored::<Template>(self.company).await?, connection))
    }

    fn decide(
        &self,
        (known, connection): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<()>, NotFound> {
        let connection = connection.ok_or(NotFound)?;
        let own: Vec<_> =
            known.iter().filter(|template| template.connection == Some(self.connection)).collect();
        let mut changes = ChangeSet::new();
        for (listed, (id, token)) in self.listed.iter().zip(&self.made) {
            let same = |template: &&&Stored<Template>| {
                template.name == listed.name && template.language == listed.language
            };
            match own.iter().find(same) {
                Some(template) => {
                    let after = followed(template, listed, now);
                    if after != *template.value() {
                        changes = changes.with(template.update(after));
                    }
                }
                None => {
                    changes = changes.insert(Template {
                        id: *id,
                        company: self.company,
                        name: listed.name.clone(),
                        category: listed.category,
                        language: listed.language.clone(),
                        body: listed.body.clone(),
                        components: listed.components.clone(),
                        status: listed.status,
                        connection: Some(self.connection),
                        provider_id: listed.provider_id.clone(),
                        needs: listed.needs.clone(),
                        token_hash: *token,
                        created_at: now,
                        updated_at: now,
                    });
                }
            }
        }
        for template in own {
            let is_listed = self.listed.iter().any(|listed| {
                (&listed.name, &listed.language) == (&template.name, &template.language)
            });
            let was_read = template.provider_id.is_some();
            if was_read && !is_listed && template.status != TemplateStatus::Paused {
                let status = TemplateStatus::Paused;
                let paused = Template { status, updated_at: now, ..template.value().clone() };
                changes = changes.with(template.update(paused));
            }
        }
        if !changes.is_empty() {
            // The connection is written too, so that two concurrent syncs cannot create one
            // template twice.
            changes = changes.with(connection.update(connection.value().clone()));
        }
        Ok(Decided::new(changes, ()))
    }
}

#[async_trait]
impl UseCase for Follow<'_> {
    type Loaded = Vec<Stored<Template>>;
    type Output = EventResult;
    type Error = NotFound;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        store.all_stored::<Template>(self.company).await
    }

    fn decide(
        &self,
        known: Vec<Stored<Template>>,
        now: Timestamp,
    ) -> Result<Decided<EventResult>, NotFound> {
        let report = self.report;
        let own = |template: &&Stored<Template>| template.connection == Some(self.connection);
        let Some(template) = known.iter().filter(own).find(|template| is_meant(template, report))
        else {
            return Ok(Decided::unchanged(EventResult::ignored("no such template is known")));
        };
        let after = Template {
            status: report.status.unwrap_or(template.status),
            category: report.category.unwrap_or(template.category),
            updated_at: now,
            ..template.value().clone()
        };
        if (after.status, after.category) == (template.status, template.category) {
            return Ok(Decided::unchanged(EventResult::of(EventOutcome::Duplicate)));
        }
        let changes = ChangeSet::new().with(template.update(after));
        Ok(Decided::new(changes, EventResult::of(EventOutcome::Stored)))
    }
}
