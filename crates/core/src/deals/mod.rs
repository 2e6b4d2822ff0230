//! Pipelines, their stages, deals, and the focus stage of a contact (2.5.1, D44b).

mod focus;
mod manage;
mod pipeline;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};

pub use focus::focus_stage;
pub use manage::{ChangeDeal, DealFacts, Deals};
pub use pipeline::{Pipeline, PipelineDraft, PipelineView, Stage, StageDraft};

use crate::Timestamp;
use crate::access::patched_name;
use crate::ids::{CompanyId, ContactId, DealId, PipelineId, StageId};
use crate::input::{Given, Input, read_id, read_timestamp, read_word};
use crate::problems::Problems;
use crate::store::{StoreError, Stored};
use crate::text;
use crate::words::words;

words! {
    /// Where a deal stands.
    DealStatus {
        /// Active: under way.
        Open = "open",
        /// Closed, won.
        Won = "won",
        /// Closed, lost.
        Lost = "lost",
    }
}

/// A deal with a contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Deal {
    /// Its id.
    pub id: DealId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// The contact.
    pub contact_id: ContactId,
    /// Its title.
    pub title: String,
    /// The stage it is in, if any.
    pub stage_id: Option<StageId>,
    /// When it entered that stage; null without a stage.
    pub stage_entered_at: Option<Timestamp>,
    /// Where it stands.
    pub status: DealStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A body that makes a deal.
#[derive(Clone, Debug)]
pub struct DealDraft {
    pub(crate) contact_id: ContactId,
    pub(crate) title: String,
    pub(crate) stage_id: Option<StageId>,
    pub(crate) stage_entered_at: Option<Timestamp>,
    pub(crate) status: DealStatus,
}

impl DealDraft {
    /// Reads `contact_id`, `title`, `stage_id?`, `status?` (default `open`), `stage_entered_at?`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let contact_id = input.required("contact_id", read_id(ContactId::parse));
        let title = input.required_text("title", text::NAME);
        let stage_id = input.given("stage_id", read_id(StageId::parse)).value();
        let stage_entered_at = input.given("stage_entered_at", read_timestamp).value();
        let status = input.given("status", read_word(DealStatus::parse, DealStatus::WORDS)).value();
        if stage_entered_at.is_some() && stage_id.is_none() {
            input.problem("stage_entered_at", "needs a stage_id");
        }
        let problems = input.finish();
        match (contact_id, title) {
            (Some(contact_id), Some(title)) if problems.is_empty() => Ok(Self {
                contact_id,
                title,
                stage_id,
                stage_entered_at,
                status: status.unwrap_or(DealStatus::Open),
            }),
            _ => Err(problems),
        }
    }
}

/// A change of a deal.
#[derive(Clone, Debug)]
pub struct DealPatch {
    pub(crate) title: Option<String>,
    pub(crate) stage_id: Given<StageId>,
    pub(crate) status: Option<DealStatus>,
}

impl DealPatch {
    /// Reads any of `title`, `stage_id` (null: no stage), `status`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let patch = Self {
            title: patched_name(&mut input, "title").value(),
            stage_id: input.given("stage_id", read_id(StageId::parse)),
            status: input.given("status", read_word(DealStatus::parse, DealStatus::WORDS)).value(),
        };
        input.finish().into_result()?;
        Ok(patch)
    }

    /// The deal after the change. Only a change to another stage stamps `stage_entered_at` (D44b).
    pub fn apply(&self, deal: &Deal, now: Timestamp) -> Deal {
        let mut changed = deal.clone();
        if let Some(title) = &self.title {
            changed.title.clone_from(title);
        }
        if let Some(status) = self.status {
            changed.status = status;
        }
        self.stage_id.clone().apply(&mut changed.stage_id);
        if changed.stage_id != deal.stage_id {
            changed.stage_entered_at = changed.stage_id.map(|_| now);
        }
        if changed != *deal {
            changed.updated_at = now;
        }
        changed
    }
}

/// Reads of pipelines and deals. Listings are by `created_at`, then `id`; stages by
/// `display_order`.
#[async_trait]
pub trait DealReads: Send + Sync {
    /// A pipeline of the company.
    async fn pipeline(
        &self,
        company: CompanyId,
        id: PipelineId,
    ) -> Result<Option<Stored<Pipeline>>, StoreError>;

    /// All pipelines of the company.
    async fn pipelines(&self, company: CompanyId) -> Result<Vec<Pipeline>, StoreError>;

    /// All stages of the company, by pipeline and `display_order`.
    async fn stages(&self, company: CompanyId) -> Result<Vec<Stored<Stage>>, StoreError>;

    /// A stage of the company.
    async fn stage(
        &self,
        company: CompanyId,
        id: StageId,
    ) -> Result<Option<Stored<Stage>>, StoreError>;

    /// A deal of the company.
    async fn deal(
        &self,
        company: CompanyId,
        id: DealId,
    ) -> Result<Option<Stored<Deal>>, StoreError>;

    /// All deals of the company, or those of one contact.
    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError>;
}
