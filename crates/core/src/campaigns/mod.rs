//! Campaigns: one template to every contact of a list, each at most once (D58, D66, X16).

mod campaign;
mod draft;
mod error;
mod failure_limit;
mod files;
mod handle;
mod listing;
mod manage;
mod over_time;
mod personal;
mod preview;
mod queue;
mod reads;
mod recipient;
mod run;
mod schedule;
mod send;
mod start;
mod take_list;
mod view;
mod watch;
mod window;

pub(crate) use campaign::paused;
pub use campaign::{Campaign, CampaignStatus, PauseReason, RecipientEntry};
pub use draft::{CampaignDraft, CampaignPatch, DEFAULT_RATE, MAX_RATE};
pub use error::{CampaignError, CampaignResult};
pub use failure_limit::FailureLimit;
pub use handle::Campaigns;
pub use listing::{RecipientFilter, RecipientListing, RecipientView};
pub use over_time::OutcomesSoFar;
pub use preview::CampaignPreview;
pub use reads::{CampaignReads, RecipientsFrom};
pub use recipient::{
    CampaignTotals, ContactFault, OutcomeTimes, Recipient, RecipientCounts, RecipientFault,
    RecipientNumber, RecipientStatus, StepCount, TimeSteps, follow, is_put_off, is_withheld,
};
pub(crate) use take_list::take_list_job;
pub use view::{CampaignCounts, CampaignRecord, CampaignView};
pub use window::{DayTime, SendWindow, Weekday, Weekdays};
