//! A webhook (6.1).

use super::{SigningSecrets, Topics, WebhookUrl};
use crate::Timestamp;
use crate::ids::{CompanyId, WebhookId};
use crate::words::words;

/// The most webhooks of one company (R60).
pub const MAX_WEBHOOKS: usize = 500;

words! {
    /// Whether a webhook gets deliveries (D52a).
    WebhookState {
        /// It gets deliveries.
        Active = "active",
        /// Events make no deliveries to it; pending deliveries wait.
        Inactive = "inactive",
        /// It is deleted; its row stays for the deliveries that name it.
        Deleted = "deleted",
    }
}

impl WebhookState {
    /// The state of a webhook that is not deleted.
    pub const fn of(is_active: bool) -> Self {
        if is_active { Self::Active } else { Self::Inactive }
    }
}

/// A registered URL that events are sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// Its company.
    pub company: CompanyId,
    /// Where deliveries are posted to.
    pub url: WebhookUrl,
    /// What it is subscribed to.
    pub topics: Topics,
    /// Whether it gets deliveries.
    pub state: WebhookState,
    /// Whether deliveries carry the headers of Standard Webhooks too.
    pub standard_headers: bool,
    /// What deliveries are signed with.
    pub secrets: SigningSecrets,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}
