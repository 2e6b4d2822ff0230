//! A trial of a mapping: what a body would do, with nothing written (R437).

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Admitted, Inbound, InboundEndpoint, InboundError, Payload, Upserted, VariableMapping,
    mapped::texts,
};
use crate::code::{Code, Kind};
use crate::error::{Error, Rejection};
use crate::ids::{CompanyId, InboundEndpointId};
use crate::problems::Problems;
use crate::store::RecordsExt;

/// Why a trial was not made, or what the call would be refused for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    /// The mapping is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such endpoint.
    #[error("no such record")]
    NotFound,
    /// A call with this body would be refused.
    #[error(transparent)]
    Refused(#[from] InboundError),
}

impl Rejection for TrialError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound => Code::NotFound,
            Self::Refused(refusal) => refusal.code(),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Refused(refusal) => refusal.kind(),
            _ => self.code().kind(),
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::NotFound | Self::Refused(_) => None,
        }
    }
}

/// What a call would do (R437).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Trial {
    /// The texts that the expressions find, by key.
    pub found: BTreeMap<String, String>,
    /// What the call would answer. The ids of what would be made are not those that a call gives.
    pub would: Upserted,
}

impl Inbound<'_> {
    /// What a call with this body to an endpoint would do, with its mapping or with another one
    /// that is not saved. Nothing is written, and no rate limit counts it (R437).
    ///
    /// # Errors
    ///
    /// [`TrialError`]: what is wrong with the mapping, or why the call would be refused. The secret
    /// and whether the endpoint is active make no difference.
    pub async fn trial(
        &self,
        company: CompanyId,
        id: InboundEndpointId,
        mapping: Option<&Value>,
        body: &[u8],
    ) -> Result<Trial, Error<TrialError>> {
        let refused = |refusal: InboundError| Error::Rejected(TrialError::Refused(refusal));
        let mapping = mapping.map(VariableMapping::read).transpose();
        let mapping = mapping.map_err(|problem| {
            Error::Rejected(TrialError::Invalid(Problems::of("variable_mapping", problem)))
        })?;
        let endpoint = self.app.store().get::<InboundEndpoint>((company, id)).await?;
        let known = self.app.company(company).await?;
        let (Some(endpoint), Some(known)) = (endpoint, known) else {
            return Err(Error::Rejected(TrialError::NotFound));
        };
        if !known.features.inbound_contacts {
            return Err(refused(InboundError::FeatureDisabled));
        }
        let mut endpoint = endpoint.into_value();
        if let Some(mapping) = mapping {
            endpoint.mapping = mapping;
        }
        let payload = Payload::read(body).map_err(refused)?;
        let found = texts(&endpoint.mapping, &payload).map_err(|error| refused(error.into()))?;
        let admitted = Admitted { endpoint, company: known.value().clone() };
        let rehearsal = self.app.rehearsal();
        let would = rehearsal.inbound().upsert(&admitted, body).await;
        Ok(Trial { found, would: would.map_err(|error| error.map(TrialError::Refused))? })
    }
}
