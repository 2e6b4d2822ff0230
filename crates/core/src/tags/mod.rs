//! Tags on contacts and reasons for closing conversations.

mod manage;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};

pub use manage::Tags;

use crate::Timestamp;
use crate::access::patched_name;
use crate::ids::{CloseReasonId, CompanyId, TagId};
use crate::input::Input;
use crate::problems::Problems;
use crate::store::{StoreError, Stored};
use crate::text;

/// The longest colour that is accepted.
const COLOR_CHARS: usize = 32;

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tag {
    /// Its id.
    pub id: TagId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// Its colour, usually in hex.
    pub color: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A reason for closing a conversation (2.1, `last_close_reason_id`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CloseReason {
    /// Its id.
    pub id: CloseReasonId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A body that makes or changes a tag.
#[derive(Clone, Debug)]
pub struct TagDraft {
    pub(crate) name: Option<String>,
    pub(crate) color: Option<String>,
}

impl TagDraft {
    /// Reads `name`, `color`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let draft = Self {
            name: input.required_text("name", text::NAME),
            color: input.required_text("color", COLOR_CHARS),
        };
        input.finish().into_result()?;
        Ok(draft)
    }

    /// Reads any of `name`, `color`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse_patch(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let draft = Self {
            name: patched_name(&mut input, "name").value(),
            color: input.given_text("color", COLOR_CHARS).value(),
        };
        input.finish().into_result()?;
        Ok(draft)
    }
}

/// A body that makes or renames a close reason.
#[derive(Clone, Debug)]
pub struct CloseReasonDraft {
    pub(crate) name: String,
}

impl CloseReasonDraft {
    /// Reads `name`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let name = input.required_text("name", text::NAME);
        input.finish().into_result()?;
        Ok(Self { name: name.unwrap_or_default() })
    }
}

/// Reads of tags and close reasons. Listings are by `created_at`, then `id` (D58).
#[async_trait]
pub trait TagReads: Send + Sync {
    /// A tag of the company.
    async fn tag(&self, company: CompanyId, id: TagId) -> Result<Option<Stored<Tag>>, StoreError>;

    /// All tags of the company.
    async fn tags(&self, company: CompanyId) -> Result<Vec<Tag>, StoreError>;

    /// A close reason of the company.
    async fn close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<Option<Stored<CloseReason>>, StoreError>;

    /// All close reasons of the company.
    async fn close_reasons(&self, company: CompanyId) -> Result<Vec<CloseReason>, StoreError>;
}
