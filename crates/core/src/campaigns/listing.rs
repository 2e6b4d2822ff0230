//! The listing of a campaign's recipients (4.11, D58).

use serde::Serialize;

use super::{RecipientEntry, RecipientFault, RecipientStatus};
use crate::Timestamp;
use crate::contacts::{Identifier, Phone};
use crate::ids::{ContactId, MessageId};
use crate::messages::ProsaView;
use crate::page::{Page, PageRequest};
use crate::query::{InvalidParameter, Params};

/// Which recipients a listing holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecipientFilter {
    /// Those of this status.
    pub status: Option<RecipientStatus>,
}

impl RecipientFilter {
    /// Reads `status`.
    ///
    /// # Errors
    ///
    /// When it is no status.
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        let what = "waiting, sending, sent, delivered, read, failed or skipped";
        Ok(Self { status: params.read("status", what, RecipientStatus::parse)? })
    }
}

/// A recipient as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct RecipientView {
    /// The contact; null once it was deleted.
    pub contact_id: Option<ContactId>,
    /// Its phone, or its identifier where it has none; null once it was deleted.
    pub phone: Option<String>,
    /// The name by which it is shown; only in the process.
    #[serde(skip)]
    pub name: Option<String>,
    /// The status of its message.
    pub status: RecipientStatus,
    /// Its message, once there is one.
    pub message_id: Option<MessageId>,
    /// Why it was skipped or failed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub error_code: Option<RecipientFault>,
    /// When the gateway accepted it.
    pub sent_at: Option<Timestamp>,
    /// The debit of its message; null where there is none. A refund does not change it (2.4).
    pub prosa: Option<ProsaView>,
}

impl RecipientView {
    /// The recipient as it is shown.
    pub fn new(entry: &RecipientEntry) -> Self {
        let shown = |(phone, identifier): &(Option<Phone>, Identifier)| {
            phone.as_ref().map_or(identifier.as_str(), Phone::as_str).to_owned()
        };
        let recipient = &entry.recipient;
        Self {
            contact_id: recipient.contact,
            phone: entry.contact.as_ref().map(shown),
            name: entry.name.clone(),
            status: recipient.status,
            message_id: recipient.message,
            error_code: recipient.fault,
            sent_at: recipient.sent_at,
            prosa: entry.prosa.map(ProsaView::from),
        }
    }
}

/// A page of recipients, in the flat form of 4.11: `total`, `page` and `limit` beside `data`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct RecipientListing {
    /// The recipients of this page, in the order of sending.
    pub data: Vec<RecipientView>,
    /// How many match on all pages.
    pub total: u64,
    /// The page, from 1.
    pub page: u32,
    /// Recipients per page.
    pub limit: u32,
}

impl RecipientListing {
    /// The page as it is shown.
    pub fn new(found: &Page<RecipientEntry>, request: PageRequest) -> Self {
        Self {
            data: found.items.iter().map(RecipientView::new).collect(),
            total: found.total,
            page: request.page,
            limit: request.limit,
        }
    }
}
