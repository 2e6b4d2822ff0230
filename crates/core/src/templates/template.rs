//! A message template (4.10).

use std::fmt;

use serde::Serialize;
use uuid::Uuid;

use super::{ButtonNeed, Components, TemplateNeeds, Variable, ordered, positions, variables};
use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId, TemplateId};
use crate::keyed_hash::{HashKey, keyed_hash};
use crate::secret::hides;
use crate::words::words;

words! {
    /// What a template is for (D48).
    TemplateCategory {
        /// Advertising.
        Marketing = "MARKETING",
        /// About something the contact did.
        Utility = "UTILITY",
        /// One-time codes.
        Authentication = "AUTHENTICATION",
    }
}

words! {
    /// Whether the channel allows a template to be sent.
    TemplateStatus {
        /// Under review.
        Pending = "PENDING",
        /// It may be sent.
        Approved = "APPROVED",
        /// It was refused.
        Rejected = "REJECTED",
        /// It may not be sent for the time being.
        Paused = "PAUSED",
    }
}

keyed_hash! {
    /// The keyed hash of a template's token, over its sixteen bytes: all that is stored of it, and
    /// what a template is found by (R222).
    TemplateTokenHash of "template token"
}

impl TemplateTokenHash {
    /// The hash of a token.
    pub fn of_token(key: &HashKey, token: Uuid) -> Self {
        Self::of(key, token.as_bytes())
    }
}

/// A template of a company (R45).
#[derive(Clone, PartialEq, Eq)]
pub struct Template {
    /// Its id.
    pub id: TemplateId,
    /// Its company.
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub category: TemplateCategory,
    /// Its language.
    pub language: String,
    /// Its text, with `{{1}}`, `{{2}}`, … or `{{name}}`, … where variables go.
    pub body: String,
    /// What it has beside its text.
    pub components: Components,
    /// Whether it may be sent.
    pub status: TemplateStatus,
    /// The only connection it may be sent through.
    pub connection: Option<ConnectionId>,
    /// The provider's id of it, once it was read from the gateway (D69).
    pub provider_id: Option<String>,
    /// What it needs beside the variables of its text (D69).
    pub needs: TemplateNeeds,
    /// The hash of its token, the credential of template dispatch.
    pub token_hash: TemplateTokenHash,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

hides! {
    Template {
        shows { id, name, status }
        hides {
            company, category, language, body, components, connection, provider_id, needs,
            token_hash, created_at, updated_at,
        }
    }
}

/// What has to be given with a template, as the operator sees it (D69).
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct NeedsView {
    /// The variables of its text: positions ascending, or names as they appear.
    pub variables: Vec<String>,
    /// What its header is, unless it is fixed: `text`, `image`, `video`, `document`, `location`.
    pub header: Option<String>,
    /// The buttons for which something has to be given.
    pub buttons: Vec<ButtonNeed>,
    /// What else, in words for people; it cannot be given here, so that a send is refused.
    pub other: Vec<String>,
}

impl NeedsView {
    fn new(template: &Template) -> Self {
        let TemplateNeeds { header, buttons, other } = template.needs.clone();
        let variables = ordered(variables(&template.body));
        let variables = variables.iter().map(Variable::to_string).collect();
        Self { variables, header, buttons, other }
    }
}

/// A template as the operator sees it.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TemplateView {
    /// Its id.
    pub id: TemplateId,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub category: TemplateCategory,
    /// Its language.
    pub language: String,
    /// Its text.
    pub body: String,
    /// What it has beside its text.
    pub components: Components,
    /// The positions of its variables, ascending; their names are in `needs`.
    pub variables: Vec<u32>,
    /// Whether it may be sent.
    pub status: TemplateStatus,
    /// The only connection it may be sent through.
    pub connection_id: Option<ConnectionId>,
    /// Everything that has to be given with it (D69, X15).
    pub needs: NeedsView,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl fmt::Debug for TemplateView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateView").field("id", &self.id).finish_non_exhaustive()
    }
}

impl TemplateView {
    /// The template as the operator sees it.
    pub fn new(template: &Template) -> Self {
        Self {
            id: template.id,
            name: template.name.clone(),
            category: template.category,
            language: template.language.clone(),
            body: template.body.clone(),
            components: template.components.clone(),
            variables: positions(&template.body).into_iter().collect(),
            needs: NeedsView::new(template),
            status: template.status,
            connection_id: template.connection,
            created_at: template.created_at,
            updated_at: template.updated_at,
        }
    }
}

/// A template with a new token, which is shown this once (R223).
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TemplateTokenView {
    /// The template.
    #[serde(flatten)]
    pub template: TemplateView,
    /// The credential of template dispatch: a UUID, version 4.
    pub token: Uuid,
}

impl fmt::Debug for TemplateTokenView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateTokenView").field("id", &self.template.id).finish_non_exhaustive()
    }
}

/// The template that is meant by an id or a name (D40), among templates in order of creation. Of
/// those of one name: the one in the requested language; if none was requested, the one in
/// [`DEFAULT_LANGUAGE`], else the oldest. Templates that are bound to another connection than the
/// named one are skipped; of several that remain, the oldest is chosen.
pub fn choose<'a, T: std::ops::Deref<Target = Template>>(
    templates: &'a [T],
    wanted: &str,
    language: Option<&str>,
    connection: Option<ConnectionId>,
) -> Option<&'a T> {
    let id = TemplateId::parse(wanted);
    let fits = |template: &&T| {
        template.connection.is_none() || connection.is_none() || template.connection == connection
    };
    let mut named: Vec<&T> =
        templates.iter().filter(|template| Some(template.id) == id).filter(fits).collect();
    if named.is_empty() {
        named = templates.iter().filter(|template| template.name == wanted).filter(fits).collect();
    }
    let speaking =
        named.iter().find(|template| template.language == language.unwrap_or(DEFAULT_LANGUAGE));
    speaking.or(if language.is_none() { named.first() } else { None }).copied()
}

/// The language of a template that names none (D40).
pub const DEFAULT_LANGUAGE: &str = "pt_BR";
