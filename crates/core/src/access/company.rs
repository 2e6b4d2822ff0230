//! Companies: the tenants (1, D10).

use serde::Serialize;
use serde_json::Value;

use super::TimeZone;
use crate::Timestamp;
use crate::body::{Optional, OrDefault, Replaced, Required, WriteOver, body};
use crate::contacts::Region;
use crate::form::{Form, Name, component};
use crate::ids::CompanyId;
use crate::problems::Problems;
use crate::words::words;

words! {
    /// The plan of a company (D10), lowest first.
    Plan {
        /// Neither the public API nor outbound webhooks.
        Starter = "starter",
        /// Outbound webhooks.
        Professional = "professional",
        /// Everything, the public API included.
        Enterprise = "enterprise",
    }
}

impl Plan {
    /// Whether `/api/v1` may be called (1, D10).
    pub const fn has_public_api(self) -> bool {
        matches!(self, Self::Enterprise)
    }

    /// Whether it includes outbound webhooks (6.1, D10, R59).
    pub const fn has_webhooks(self) -> bool {
        matches!(self, Self::Professional | Self::Enterprise)
    }
}

/// Features that an account has enabled (9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Features {
    /// Inbound webhooks that create or update contacts (4.9).
    pub inbound_contacts: bool,
    /// Inbound webhooks that dispatch templates (4.10).
    pub template_dispatch: bool,
}

/// A company.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Company {
    /// Its id.
    pub id: CompanyId,
    /// Its name.
    pub name: String,
    /// Its plan.
    pub plan: Plan,
    /// What it has enabled.
    pub features: Features,
    /// The region whose national phone numbers it writes without a country code (D14).
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub default_region: Region,
    /// The time zone of the hours in which its campaigns may send (X16).
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub time_zone: TimeZone,
    /// Whether the content of messages that their sender deletes is erased (X3).
    pub erase_deleted_messages: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was deleted: from then on it does not exist for anybody, and a job removes its rows
    /// (R208).
    #[serde(skip)]
    pub deleted_at: Option<Timestamp>,
}

impl Company {
    /// Whether it exists for others: it was not deleted (R208).
    pub const fn is_there(&self) -> bool {
        self.deleted_at.is_none()
    }
}

body! {
    /// A new company.
    #[derive(Clone, Debug)]
    pub struct CompanyDraft as "CreateCompany" {
        name: String = Required<Name>,
        /// `enterprise` by default.
        plan: Option<Plan> = Optional<Plan>,
        features: FeaturesPatch = OrDefault<FeaturesPatch>,
        /// The region whose national phone numbers it writes; `BR` by default.
        default_region: Region = OrDefault<Region>,
        /// The IANA time zone of its campaigns' hours; `America/Sao_Paulo` by default.
        time_zone: TimeZone = OrDefault<TimeZone>,
        /// Whether the content of messages that their sender deletes is erased; `false` by default.
        erase_deleted_messages: Option<bool> = Optional<bool>,
    }
}

impl CompanyDraft {
    /// A company with a name and the defaults: plan `enterprise`, no features, region `BR`,
    /// time zone `America/Sao_Paulo`.
    ///
    /// # Errors
    ///
    /// When the name is blank or too long.
    pub fn named(name: &str) -> Result<Self, Problems> {
        Self::parse(&crate::error::object([("name", name.into())]))
    }

    /// The company itself.
    pub(crate) fn into_company(self, id: CompanyId, now: Timestamp) -> Company {
        Company {
            id,
            name: self.name,
            plan: self.plan.unwrap_or(Plan::Enterprise),
            features: self.features.over(&Features::default()),
            default_region: self.default_region,
            time_zone: self.time_zone,
            erase_deleted_messages: self.erase_deleted_messages.unwrap_or(false),
            created_at: now,
            updated_at: now,
            deleted_at: None,
        }
    }
}

body! {
    /// What a company has enabled; what is not named stays.
    #[derive(Clone, Copy, Debug)]
    pub struct FeaturesPatch as "FeaturesBody" of Features {
        inbound_contacts: Option<bool> = Optional<bool>,
        template_dispatch: Option<bool> = Optional<bool>,
    }
}

impl Form for FeaturesPatch {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        Self::parse(value.as_object().ok_or("must be an object")?).map_err(|problems| {
            let names: Vec<&str> = problems.fields().collect();
            format!("has unacceptable entries: {}", names.join(", "))
        })
    }

    component!();
}

impl WriteOver<Features> for FeaturesPatch {
    fn write_over(&self, features: &mut Features) {
        *features = self.over(features);
    }
}

body! {
    /// What changes of a company.
    #[derive(Clone, Debug)]
    pub struct CompanyPatch as "UpdateCompany" of Company, updated_at {
        name: Option<String> = Replaced<Name>,
        plan: Option<Plan> = Optional<Plan>,
        features: FeaturesPatch = OrDefault<FeaturesPatch>,
        default_region: Option<Region> = Optional<Region>,
        time_zone: Option<TimeZone> = Optional<TimeZone>,
        erase_deleted_messages: Option<bool> = Optional<bool>,
    }
}
