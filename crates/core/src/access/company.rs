//! Companies: the tenants (1, D10).

use serde::Serialize;
use serde_json::{Map, Value};

use crate::Timestamp;
use crate::contacts::Region;
use crate::ids::CompanyId;
use crate::input::{Given, Input, read_bool, read_word};
use crate::problems::Problems;
use crate::text;
use crate::words::words;

words! {
    /// What a company pays for (D10), least first.
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

    /// Whether outbound webhooks fire (6.1, D10).
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
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A body that makes a company.
#[derive(Clone, Debug)]
pub struct CompanyDraft {
    pub(crate) name: String,
    pub(crate) plan: Plan,
    pub(crate) features: Features,
    pub(crate) default_region: Region,
}

impl CompanyDraft {
    /// A company with a name and the defaults: plan `enterprise`, no features, region `BR`.
    ///
    /// # Errors
    ///
    /// When the name is blank or too long.
    pub fn named(name: &str) -> Result<Self, Problems> {
        Self::parse(&crate::error::object([("name", name.into())]))
    }

    /// Reads `name`, `plan?`, `features?`, `default_region?`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let name = input.required_text("name", text::NAME);
        let patch = CompanyPatch::read(&mut input);
        input.finish().into_result()?;
        let mut features = Features::default();
        patch.features.apply(&mut features);
        Ok(Self {
            name: name.unwrap_or_default(),
            plan: patch.plan.unwrap_or(Plan::Enterprise),
            features,
            default_region: patch.default_region.unwrap_or_default(),
        })
    }

    /// The company itself.
    pub(crate) fn into_company(self, id: CompanyId, now: Timestamp) -> Company {
        Company {
            id,
            name: self.name,
            plan: self.plan,
            features: self.features,
            default_region: self.default_region,
            created_at: now,
            updated_at: now,
        }
    }
}

/// Features to switch; what is not named stays (D70).
#[derive(Clone, Copy, Debug, Default)]
struct FeaturesPatch {
    inbound_contacts: Option<bool>,
    template_dispatch: Option<bool>,
}

impl FeaturesPatch {
    fn read(value: &Value) -> Result<Self, Problems> {
        let Some(object) = value.as_object() else {
            return Err(Problems::of("features", "must be an object"));
        };
        let mut input = Input::new(object);
        let patch = Self {
            inbound_contacts: input.given("inbound_contacts", read_bool).value(),
            template_dispatch: input.given("template_dispatch", read_bool).value(),
        };
        match input.finish().into_result() {
            Ok(()) => Ok(patch),
            Err(problems) => {
                let names: Vec<&str> = problems.fields().collect();
                let reason = format!("has unacceptable entries: {}", names.join(", "));
                Err(Problems::of("features", reason))
            }
        }
    }

    fn apply(self, features: &mut Features) {
        features.inbound_contacts = self.inbound_contacts.unwrap_or(features.inbound_contacts);
        features.template_dispatch = self.template_dispatch.unwrap_or(features.template_dispatch);
    }
}

/// A change of a company.
#[derive(Clone, Debug)]
pub struct CompanyPatch {
    name: Option<String>,
    plan: Option<Plan>,
    features: FeaturesPatch,
    default_region: Option<Region>,
}

impl CompanyPatch {
    /// Reads any of `name`, `plan`, `features`, `default_region`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let name = match input.has("name") {
            true => input.required_text("name", text::NAME),
            false => None,
        };
        let patch = Self { name, ..Self::read(&mut input) };
        input.finish().into_result()?;
        Ok(patch)
    }

    fn read(input: &mut Input<'_>) -> Self {
        let plan = input.given("plan", read_word(Plan::parse, Plan::WORDS)).value();
        let features = match input.raw("features") {
            None | Some(Value::Null) => FeaturesPatch::default(),
            Some(value) => FeaturesPatch::read(value).unwrap_or_else(|problems| {
                input.problems().merge(problems);
                FeaturesPatch::default()
            }),
        };
        let default_region = input
            .given("default_region", |value| {
                value
                    .as_str()
                    .and_then(Region::parse)
                    .ok_or_else(|| "must be a region such as BR".to_owned())
            })
            .value();
        Self { name: None, plan, features, default_region }
    }

    /// The company after the change; `updated_at` moves only when something did.
    pub fn apply(self, company: &Company, now: Timestamp) -> Company {
        let mut changed = company.clone();
        if let Some(name) = self.name {
            changed.name = name;
        }
        if let Some(plan) = self.plan {
            changed.plan = plan;
        }
        if let Some(region) = self.default_region {
            changed.default_region = region;
        }
        self.features.apply(&mut changed.features);
        if changed != *company {
            changed.updated_at = now;
        }
        changed
    }
}

/// The value of a required-unless-absent name in a patch.
pub(crate) fn patched_name<'a>(input: &mut Input<'a>, field: &'a str) -> Given<String> {
    match input.has(field) {
        true => input.required_text(field, text::NAME).map_or(Given::Absent, Given::Value),
        false => {
            input.ignore(&[field]);
            Given::Absent
        }
    }
}
