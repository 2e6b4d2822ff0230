//! The caller of a use case. The adapter creates it once per call; every use case checks its rights
//! (D6).

use serde_json::{Map, Value, json};

use super::{ApiKey, Company, Plan, Scope, Scopes};
use crate::code::Code;
use crate::contacts::Region;
use crate::error::{Rejection, object};
use crate::ids::{CompanyId, KeyId};

/// Who calls: the holder of an API key, or the program itself.
#[derive(Clone, Debug)]
pub struct Caller {
    company: CompanyId,
    key: Option<KeyId>,
    scopes: Scopes,
    plan: Plan,
    region: Region,
    rate_per_minute: u32,
    export_rate_per_minute: u32,
}

impl Caller {
    /// The caller that holds `key` of `company`.
    pub fn new(key: &ApiKey, company: &Company) -> Self {
        Self {
            company: company.id,
            key: Some(key.id),
            scopes: key.scopes.clone(),
            plan: company.plan,
            region: company.default_region,
            rate_per_minute: key.rate_per_minute,
            export_rate_per_minute: key.export_rate_per_minute,
        }
    }

    /// The program itself, acting for a company: it may do everything whatever the plan, and has no
    /// allowance to use up. For code of the host program that calls use cases in process; never
    /// make one for an external request.
    ///
    /// [`Access::trusted`](super::Access::trusted) looks the company up.
    pub fn trusted(company: &Company) -> Self {
        Self {
            company: company.id,
            key: None,
            scopes: Scopes::all(),
            plan: Plan::Enterprise,
            region: company.default_region,
            rate_per_minute: u32::MAX,
            export_rate_per_minute: u32::MAX,
        }
    }

    /// The company that the caller acts for.
    pub const fn company(&self) -> CompanyId {
        self.company
    }

    /// The key of the call; `None` for the program itself.
    pub const fn key(&self) -> Option<KeyId> {
        self.key
    }

    /// The region whose national numbers it writes (D14).
    pub const fn region(&self) -> &Region {
        &self.region
    }

    /// Calls a minute (D12).
    pub const fn rate_per_minute(&self) -> u32 {
        self.rate_per_minute
    }

    /// Export calls a minute (D12).
    pub const fn export_rate_per_minute(&self) -> u32 {
        self.export_rate_per_minute
    }

    /// Whether the key carries `scope`.
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.has(scope)
    }

    /// Refuses a company whose plan lacks the public API (1, D10).
    ///
    /// # Errors
    ///
    /// [`Denied::Plan`].
    pub const fn require_public_api(&self) -> Result<(), Denied> {
        if self.plan.has_public_api() {
            Ok(())
        } else {
            Err(Denied::Plan { required: Plan::Enterprise })
        }
    }

    /// Refuses a company without the plan, then a key without the scope (D6).
    ///
    /// # Errors
    ///
    /// [`Denied`].
    pub fn require(&self, scope: Scope) -> Result<(), Denied> {
        self.require_public_api()?;
        if self.has(scope) { Ok(()) } else { Err(Denied::Scope { required: scope }) }
    }
}

/// The caller is known but lacks a right (D5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The plan does not include it; a higher one does.
    #[error("the company's plan does not include this; it needs the plan {required}")]
    Plan {
        /// The plan that does.
        required: Plan,
    },
    /// The key lacks a scope; issue one that has it.
    #[error("the key lacks the scope {required}")]
    Scope {
        /// The scope that is missing.
        required: Scope,
    },
}

impl Rejection for Denied {
    fn code(&self) -> Code {
        match self {
            Self::Plan { .. } => Code::PlanRequired,
            Self::Scope { .. } => Code::InsufficientScope,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        Some(match self {
            Self::Plan { required } => object([("required_plan", json!(required))]),
            Self::Scope { required } => object([("required_scope", json!(required))]),
        })
    }
}

/// No key, or one that is unknown, revoked or ended: cases that answer alike (D5, D6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a valid API key is required: Authorization: Bearer <API_KEY>")]
pub struct Unauthorized;

impl Rejection for Unauthorized {
    fn code(&self) -> Code {
        Code::Unauthorized
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::super::{CompanyDraft, KeyHash};
    use super::*;
    use crate::Timestamp;

    /// D12.
    #[test]
    fn a_caller_has_the_rates_of_its_key() {
        let at = Timestamp::from_millis(0);
        let company = CompanyId::new(Uuid::from_u128(1));
        let company = CompanyDraft::named("Loja").expect("a name").into_company(company, at);
        let key = ApiKey {
            id: KeyId::new(Uuid::from_u128(2)),
            company: company.id,
            name: "CRM".to_owned(),
            hash: KeyHash::of("rk_"),
            scopes: Scopes::all(),
            rate_per_minute: 7,
            export_rate_per_minute: 3,
            expires_at: None,
            last_used_at: None,
            created_at: at,
        };
        let caller = Caller::new(&key, &company);
        assert_eq!((caller.rate_per_minute(), caller.export_rate_per_minute()), (7, 3));
        assert_eq!((caller.company(), caller.key()), (company.id, Some(key.id)));
    }
}
