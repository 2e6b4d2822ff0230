//! Campaigns: one template to every contact of a list, each at most once (D58, D66).

mod campaign;
mod draft;
mod files;
mod listing;
mod manage;
mod queue;
mod reads;
mod recipient;
mod run;
mod send;
mod start;
mod view;

pub use campaign::{Campaign, CampaignStatus, PauseReason, RecipientEntry};
pub use draft::{CampaignDraft, CampaignPatch, DEFAULT_RATE, MAX_RATE};
pub use listing::{RecipientFilter, RecipientListing, RecipientView};
pub use manage::{CampaignError, CampaignResult, Campaigns};
pub use reads::CampaignReads;
pub use recipient::{
    CampaignTotals, ContactFault, Recipient, RecipientCounts, RecipientFault, RecipientNumber,
    RecipientStatus, follow,
};
pub(crate) use start::paused;
pub use view::{CampaignCounts, CampaignRecord, CampaignView};
