//! Why a campaign was not written.

use serde_json::{Map, Value};

use crate::code::Code;
use crate::error::{Error, Rejection};
use crate::problems::Problems;

/// The result of managing a campaign.
pub type CampaignResult<T> = Result<T, Error<CampaignError>>;

/// Why a campaign was not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CampaignError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such campaign.
    #[error("no such record")]
    NotFound,
    /// It was started, so its list cannot change; create another campaign.
    #[error("the campaign was started: its list cannot be changed any more")]
    Started,
    /// It is running; pause it first.
    #[error("the campaign is running; pause it first")]
    Running,
}

impl Rejection for CampaignError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound => Code::NotFound,
            Self::Started => Code::CampaignStarted,
            Self::Running => Code::CampaignRunning,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::NotFound | Self::Started | Self::Running => None,
        }
    }
}
