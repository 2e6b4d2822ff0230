//! Identifiers: one type per kind of record, so that a contact's id cannot be used as a company's
//! (2, D3).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::form::{Form, Plural, component, read_id, to_json};

/// Makes identifiers and secrets. The only source of randomness in the core.
pub trait Ids: Send + Sync {
    /// A new identifier whose time part is `now`, of [`Ids::cell`] (D3). Two calls never return the
    /// same one. [`crate::Cell::uuid`] has the layout.
    fn uuid(&self, now: crate::Timestamp) -> Uuid;

    /// The cell of which identifiers and API keys are (D3, D11): 0 where there is one installation.
    fn cell(&self) -> crate::Cell {
        crate::Cell::default()
    }

    /// Fills `bytes` from a cryptographically secure source.
    fn fill(&self, bytes: &mut [u8]);
}

/// Passes the list of ids to a macro, each with its docs: `$($(#[$doc:meta])* $name:ident;)+`.
#[macro_export]
macro_rules! for_each_id {
    ($callback:path) => {
        $callback! {
            /// A company: the tenant that every other record belongs to.
            CompanyId;
            /// An API key.
            KeyId;
            /// A token of an operator.
            OperatorTokenId;
            /// A session of a member who signed in.
            SessionId;
            /// A member of a company (an agent or an administrator).
            MemberId;
            /// A contact.
            ContactId;
            /// A custom-field definition.
            CustomFieldId;
            /// A contact list.
            ListId;
            /// A tag.
            TagId;
            /// A reason for closing a conversation.
            CloseReasonId;
            /// A pipeline of deals.
            PipelineId;
            /// A stage of a pipeline.
            StageId;
            /// A deal.
            DealId;
            /// A client organization.
            OrganizationId;
            /// A document attached to a contact.
            DocumentId;
            /// A file that was uploaded to be sent.
            UploadId;
            /// A tracked link.
            LinkId;
            /// A click on a tracked link.
            ClickId;
            /// A connection to a messaging channel.
            ConnectionId;
            /// A message.
            MessageId;
            /// A message template.
            TemplateId;
            /// A campaign.
            CampaignId;
            /// A line of the prosas ledger; that of a debit is its consumption id.
            LedgerLineId;
            /// A running process that sends messages.
            WorkerId;
            /// An event of the outbox.
            EventId;
            /// A durable background job.
            JobId;
            /// An outbound webhook.
            WebhookId;
            /// A delivery of an event to a webhook.
            DeliveryId;
            /// An inbound endpoint.
            InboundEndpointId;
            /// A kept event that was not understood.
            UnknownEventId;
            /// An entry of the audit log.
            AuditEntryId;
        }
    };
}

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that is known to be of this kind.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Reads the hyphenated form, with or without upper case; `None` for anything else.
            pub fn parse(text: &str) -> Option<Self> {
                (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten().map(Self)
            }

            /// The UUID itself, for stores.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        to_json!($name, |id| id.to_string());

        impl Form for $name {
            type Value = Self;

            fn read(value: &Value) -> Result<Self, String> {
                read_id(Self::parse)(value)
            }

            component!();
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0.hyphenated())
            }
        }
    )+};
}

for_each_id!(id);

impl Plural for ContactId {
    const PLURAL: &'static str = "contacts";
}

impl Plural for MessageId {
    const PLURAL: &'static str = "messages";
}

impl Plural for TagId {
    const PLURAL: &'static str = "tags";
}
