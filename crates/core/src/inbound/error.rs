//! Why an inbound endpoint did not accept a call (7.2).

use std::time::Duration;

use super::BODY_LIMIT;
use crate::code::{Code, Kind};
use crate::error::Rejection;

/// Why an inbound endpoint did not accept a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InboundError {
    /// Too many calls; call again after the wait.
    #[error("too many calls; repeat this one after Retry-After")]
    RateLimited {
        /// The shortest wait until a call may be accepted.
        retry_after: Duration,
    },
    /// No endpoint has this slug; correct the address.
    #[error("there is no endpoint with this slug")]
    EndpointNotFound,
    /// The account has not enabled the feature.
    #[error("the account has not enabled inbound contacts")]
    FeatureDisabled,
    /// The endpoint is deactivated.
    #[error("the endpoint is deactivated")]
    EndpointInactive,
    /// The secret is missing or wrong; send it in X-Service-Secret.
    #[error("the header X-Service-Secret is missing or wrong")]
    InvalidSecret,
    /// The body is too large; send less.
    #[error("the body may have at most {BODY_LIMIT} bytes")]
    TooLarge,
    /// The body is not JSON; correct it.
    #[error("the body is not JSON (line {line}, column {column})")]
    InvalidPayload {
        /// The line of the error.
        line: usize,
        /// The column of the error.
        column: usize,
    },
    /// An expression selected an object or array, or its evaluation took too many steps.
    #[error("the variable mapping could not be applied: {0}")]
    MappingFailed(String),
    /// No phone was found, or the value found is not a phone.
    #[error("no valid phone number was found through the variable mapping")]
    MissingPhone,
    /// The contact could not be read; try again after the wait.
    #[error("the contact's state could not be read")]
    ContactStateUnavailable,
}

impl Rejection for InboundError {
    fn code(&self) -> Code {
        match self {
            Self::RateLimited { .. } => Code::RateLimited,
            Self::EndpointNotFound => Code::EndpointNotFound,
            Self::FeatureDisabled => Code::FeatureDisabled,
            Self::EndpointInactive => Code::EndpointInactive,
            Self::InvalidSecret => Code::InvalidSecret,
            Self::TooLarge | Self::InvalidPayload { .. } => Code::InvalidPayload,
            Self::MappingFailed(_) => Code::MappingFailed,
            Self::MissingPhone => Code::MissingPhone,
            Self::ContactStateUnavailable => Code::ContactStateUnavailable,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::TooLarge => Kind::TooLarge,
            _ => self.code().kind(),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after } => Some(*retry_after),
            _ => None,
        }
    }
}
