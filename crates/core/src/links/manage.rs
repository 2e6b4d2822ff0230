//! Making tracked links and following them.

use std::fmt;
use std::future::ready;

use serde::Serialize;
use serde_json::Value;

use super::limits::click_checks;
use super::{Click, Clicker, Link, LinkClicks, LinkCode, Visit, is_human};
use crate::Recado;
use crate::Timestamp;
use crate::access::{ClientNet, RateDecision};
use crate::body::{IntoBody, Required, body};
use crate::contacts::Contact;
use crate::error::{Error, NotFound};
use crate::form::Form;
use crate::ids::{ClickId, CompanyId, ContactId, LinkId};
use crate::manage::{ManageResult, NOT_FOUND, invalid};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, RecordsExt, StoreError};

/// The longest target.
const MAX_URL_CHARS: usize = 2048;

/// The use cases on tracked links. Made by [`Recado::links`].
#[derive(Clone, Copy, Debug)]
pub struct Links<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Tracked links.
    pub fn links(&self) -> Links<'_> {
        Links { app: self }
    }
}

/// A tracked link as it is shown: without its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct LinkView {
    /// Its id.
    pub id: LinkId,
    /// The contact.
    pub contact_id: ContactId,
    /// Where it leads.
    pub url: String,
    /// When it was made.
    pub created_at: Timestamp,
}

impl From<&Link> for LinkView {
    fn from(link: &Link) -> Self {
        Self {
            id: link.id,
            contact_id: link.contact,
            url: link.url.clone(),
            created_at: link.created_at,
        }
    }
}

/// A tracked link that was just made, with its code, which is shown this once (R223).
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct LinkCodeView {
    /// The link.
    #[serde(flatten)]
    pub link: LinkView,
    /// The code.
    pub code: String,
    /// What to send: the tracked address.
    pub short_url: String,
}

impl fmt::Debug for LinkCodeView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkCodeView").field("link", &self.link).finish_non_exhaustive()
    }
}

/// A target: an absolute http or https address with a host, of visible ASCII characters, so that it
/// can be sent as a header as it is.
#[derive(Debug)]
pub(crate) struct LinkTarget;

impl Form for LinkTarget {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let url = value.as_str().unwrap_or_default().trim();
        let lower = url.to_ascii_lowercase();
        let rest = lower.strip_prefix("http://").or_else(|| lower.strip_prefix("https://"));
        let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
        let well_formed = !host.is_empty()
            && url.len() <= MAX_URL_CHARS
            && url.bytes().all(|byte| byte.is_ascii_graphic())
            && !url.contains(['"', '<', '>', '\\', '`']);
        if well_formed {
            Ok(url.to_owned())
        } else {
            Err("must be an http or https address of at most 2048 ASCII characters".to_owned())
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|text| text.max_length(Some(MAX_URL_CHARS)))
    }
}

body! {
    /// A new tracked link.
    #[derive(Clone, Debug)]
    pub struct LinkDraft as "CreateLink" {
        contact as "contact_id": ContactId = Required<ContactId>,
        /// http or https.
        url: String = Required<LinkTarget>,
    }
}

impl Links<'_> {
    fn with_code(&self, link: &Link, code: &LinkCode) -> LinkCodeView {
        let base = self.app.settings().public_url.trim_end_matches('/');
        LinkCodeView {
            link: LinkView::from(link),
            code: code.as_str().to_owned(),
            short_url: format!("{base}/l/{}", code.as_str()),
        }
    }

    /// Makes a tracked link for a contact. Its code is only in the answer (R223).
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<LinkDraft>,
    ) -> ManageResult<LinkCodeView> {
        let draft = &LinkDraft::parse(body).map_err(invalid)?;
        let create = |now| async move {
            if self.app.store().get::<Contact>((company, draft.contact)).await?.is_none() {
                let reason = "names a contact that the company does not have";
                return Err(invalid(Problems::of("contact_id", reason)));
            }
            let code = LinkCode::from_random(self.app.random());
            let link = Link {
                id: LinkId::new(self.app.uuid(now)),
                company,
                contact: draft.contact,
                code_hash: code.hash(self.app.hash_key().await?),
                url: draft.url.clone(),
                created_at: now,
                clicks: LinkClicks::default(),
            };
            let view = self.with_code(&link, &code);
            Ok(Decided::new(ChangeSet::new().insert(link), view))
        };
        self.app.decide(create).await
    }

    /// All links of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> ManageResult<Vec<LinkView>> {
        let links = self.app.store().all::<Link>(company).await?;
        Ok(links.iter().map(LinkView::from).collect())
    }

    /// A link of a company.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn get(&self, company: CompanyId, id: LinkId) -> ManageResult<LinkView> {
        match self.app.store().get::<Link>((company, id)).await? {
            Some(link) => Ok(LinkView::from(link.value())),
            None => Err(NOT_FOUND),
        }
    }

    /// Deletes a link with its clicks.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: LinkId) -> ManageResult<()> {
        let store = self.app.store();
        self.app.remove(|| store.get::<Link>((company, id)), || ready(Ok(false))).await
    }

    /// Records a visit of a tracked link, then answers where it leads (D60). The click is durable
    /// when this answers. A visit beyond the limits is not recorded (R205, R206).
    ///
    /// # Errors
    ///
    /// [`NotFound`] for a code that leads nowhere.
    pub async fn follow(&self, code: &str, visit: Visit<'_>) -> Result<String, Error<NotFound>> {
        let code = LinkCode::parse(code).ok_or(Error::Rejected(NotFound))?;
        let code = &code.hash(self.app.hash_key().await?);
        let human = is_human(visit);
        let find = || async {
            match self.app.store().link_by_code(code).await? {
                Some(link) if self.app.company(link.company).await?.is_some() => Ok(link),
                Some(_) | None => Err(Error::Rejected(NotFound)),
            }
        };
        let link = find().await?;
        if !self.may_record(&link, visit.client, human).await? {
            return Ok(link.into_value().url);
        }
        let record = |now| async move {
            let link = find().await?;
            let click = Click {
                id: ClickId::new(self.app.uuid(now)),
                company: link.company,
                link: link.id,
                contact: link.contact,
                at: now,
                human,
            };
            let url = link.url.clone();
            let mut changes = ChangeSet::new().insert(click);
            if human {
                let clicks = link.clicks.and(now);
                changes = changes.with(link.update(Link { clicks, ..link.value().clone() }));
            }
            Ok(Decided::new(changes, url))
        };
        self.app.decide(record).await
    }

    /// Whether a visit is within the limits of what is recorded; if so, it is charged to them.
    async fn may_record(
        &self,
        link: &Link,
        client: Option<ClientNet>,
        human: bool,
    ) -> Result<bool, StoreError> {
        let clicker = match client {
            Some(client) => Some(Clicker::of(self.app.cursor_key().await?, link.company, client)),
            None => None,
        };
        let checks = click_checks(link.id, clicker, human);
        let decision = self.app.limiter().check(&checks, self.app.now()).await?;
        Ok(matches!(decision, RateDecision::Allowed))
    }
}
