//! The template of a token, and the rate limits of dispatches (D13, D48).

use uuid::Uuid;

use super::{DispatchError, Dispatches};
use crate::access::{ClientNet, Company, Gcra, RateCheck, RateDecision, RateKey};
use crate::error::Error;
use crate::templates::{Template, TemplateTokenHash};

/// Calls a minute (8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchRates {
    /// Of one token.
    pub per_token: u32,
    /// Of one client.
    pub per_client: u32,
}

/// The rate limits of template dispatch (8).
pub const fn rates() -> DispatchRates {
    DispatchRates { per_token: 60, per_client: 10 }
}

/// A template that admitted a call.
#[derive(Clone, Debug)]
pub struct AdmittedTemplate {
    pub(super) template: Template,
    pub(super) company: Company,
}

impl AdmittedTemplate {
    /// The company it belongs to.
    pub const fn company(&self) -> &Company {
        &self.company
    }
}

/// Reads a token: a UUID as it is usually written, in upper or lower case (D51).
pub(crate) fn read_token(token: &str) -> Option<Uuid> {
    (token.len() == 36).then(|| Uuid::try_parse(token).ok()).flatten()
}

/// Whether a template admits a call, apart from rate limits.
fn permitted(found: Option<(Template, Company)>) -> Result<AdmittedTemplate, DispatchError> {
    let (template, company) =
        found.filter(|(_, company)| company.is_there()).ok_or(DispatchError::TemplateNotFound)?;
    if !company.features.template_dispatch {
        return Err(DispatchError::FeatureDisabled);
    }
    Ok(AdmittedTemplate { template, company })
}

impl Dispatches<'_> {
    /// Admits a call with a token before its body is read. The client's rate limit is checked
    /// first, the token's own only for a template that accepts calls. A call that is refused for
    /// its rate counts against no limit (D13, R77).
    ///
    /// # Errors
    ///
    /// [`DispatchError`], in the order of D48.
    pub async fn admit(
        &self,
        token: &str,
        client: ClientNet,
    ) -> Result<AdmittedTemplate, Error<DispatchError>> {
        let found = match read_token(token) {
            Some(token) => {
                let hash = TemplateTokenHash::of_token(self.app.hash_key().await?, token);
                self.app.store().template_by_token(&hash).await?
            }
            None => None,
        };
        let (rates, permitted) = (rates(), permitted(found));
        let mut checks = vec![RateCheck {
            key: RateKey::DispatchClient(client),
            allowance: Gcra::per_minute(rates.per_client),
        }];
        if let Ok(admitted) = &permitted {
            checks.push(RateCheck {
                key: RateKey::Token(admitted.template.id),
                allowance: Gcra::per_minute(rates.per_token),
            });
        }
        match self.app.limiter().check(&checks, self.app.now()).await? {
            RateDecision::Allowed => permitted.map_err(Error::Rejected),
            RateDecision::Limited { retry_after } => {
                Err(Error::Rejected(DispatchError::RateLimited { retry_after }))
            }
        }
    }
}
