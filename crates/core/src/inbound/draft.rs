//! The bodies that make and change inbound endpoints (D46a).

use serde_json::{Map, Value};

use super::{AuthMode, EndpointSecret, EndpointSlug, InboundEndpoint, VariableMapping};
use crate::Timestamp;
use crate::ids::{CompanyId, InboundEndpointId};
use crate::input::{Input, read_bool, read_word};
use crate::problems::Problems;

/// A body that makes an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointDraft {
    pub(crate) slug: EndpointSlug,
    pub(crate) mapping: VariableMapping,
    auth_mode: AuthMode,
    secret: Option<EndpointSecret>,
    is_active: bool,
}

/// A body that changes an endpoint. Its secret changes by rotation only.
#[derive(Clone, Debug)]
pub struct EndpointPatch {
    pub(crate) slug: Option<EndpointSlug>,
    mapping: Option<VariableMapping>,
    auth_mode: Option<AuthMode>,
    is_active: Option<bool>,
}

fn read_slug(value: &Value) -> Result<EndpointSlug, String> {
    value.as_str().and_then(EndpointSlug::parse).ok_or_else(|| {
        "must be 3 to 64 lower-case letters, digits and hyphens, beginning with a letter or digit"
            .to_owned()
    })
}

pub(super) fn read_secret(value: &Value) -> Result<EndpointSecret, String> {
    EndpointSecret::parse(value.as_str().ok_or("must be a string")?)
}

impl EndpointDraft {
    /// Reads `slug`, `variable_mapping`, `auth_mode?`, `secret?`, `is_active?`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let slug = input.required("slug", read_slug);
        let mapping = input.required("variable_mapping", VariableMapping::read);
        let mode = input.given("auth_mode", read_word(AuthMode::parse, AuthMode::WORDS)).value();
        let secret = input.given("secret", read_secret).value();
        let is_active = input.given("is_active", read_bool).value().unwrap_or(true);
        input.finish().into_result()?;
        let (Some(slug), Some(mapping)) = (slug, mapping) else {
            return Err(Problems::of("slug", "is required"));
        };
        let auth_mode = mode.unwrap_or(AuthMode::SecretRequired);
        Ok(Self { slug, mapping, auth_mode, secret, is_active })
    }

    pub(super) fn into_endpoint(
        self,
        company: CompanyId,
        id: InboundEndpointId,
        random: [u8; 32],
        now: Timestamp,
    ) -> InboundEndpoint {
        InboundEndpoint {
            id,
            company,
            slug: self.slug,
            mapping: self.mapping,
            auth_mode: self.auth_mode,
            secret: self.secret.unwrap_or_else(|| EndpointSecret::from_random(random)),
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        }
    }
}

impl EndpointPatch {
    /// Reads any of `slug`, `variable_mapping`, `auth_mode`, `is_active`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        if input.has("secret") {
            input.raw("secret");
            input.problem("secret", "changes by rotation only");
        }
        let slug = input.given("slug", read_slug);
        let mapping = input.given("variable_mapping", VariableMapping::read);
        let mode = input.given("auth_mode", read_word(AuthMode::parse, AuthMode::WORDS));
        let is_active = input.given("is_active", read_bool);
        let patch = Self {
            slug: input.kept("slug", slug),
            mapping: input.kept("variable_mapping", mapping),
            auth_mode: input.kept("auth_mode", mode),
            is_active: input.kept("is_active", is_active),
        };
        input.finish().into_result()?;
        Ok(patch)
    }

    /// The endpoint with what was sent written over it.
    pub(super) fn apply(&self, endpoint: &InboundEndpoint, now: Timestamp) -> InboundEndpoint {
        let mut changed = InboundEndpoint {
            slug: self.slug.clone().unwrap_or_else(|| endpoint.slug.clone()),
            mapping: self.mapping.clone().unwrap_or_else(|| endpoint.mapping.clone()),
            auth_mode: self.auth_mode.unwrap_or(endpoint.auth_mode),
            is_active: self.is_active.unwrap_or(endpoint.is_active),
            ..endpoint.clone()
        };
        if changed != *endpoint {
            changed.updated_at = now;
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(body: Value) -> Vec<String> {
        let body = body.as_object().expect("an object");
        let problems = EndpointDraft::parse(body).expect_err("not refused");
        problems.fields().map(str::to_owned).collect()
    }

    #[test]
    fn everything_that_is_wrong_is_named_at_once() {
        assert_eq!(faults(json!({})), ["slug", "variable_mapping"]);
        let wrong = json!({
            "slug": "No", "variable_mapping": [], "auth_mode": "open", "secret": "short", "x": 1
        });
        assert_eq!(faults(wrong), ["slug", "variable_mapping", "auth_mode", "secret", "x"]);
    }

    #[test]
    fn a_mapping_needs_a_phone_and_expressions_of_rfc_9535() {
        let fault = |mapping: Value| faults(json!({"slug": "abc", "variable_mapping": mapping}));
        for wrong in [
            json!({}),
            json!({"name": "$.name"}),
            json!({"phone": "name"}),
            json!({"phone": "$.["}),
            json!({"phone": 5}),
            json!({"phone": "$.p", "with space": "$.x"}),
        ] {
            assert_eq!(fault(wrong), ["variable_mapping"]);
        }
    }

    #[test]
    fn a_mapping_has_at_most_100_keys_of_500_characters() {
        let many = |count: usize| {
            let others = (1..count).map(|n| (format!("k{n}"), json!("$.p")));
            let all: Map<String, Value> =
                others.chain([("phone".to_owned(), json!("$.p"))]).collect();
            json!({"slug": "abc", "variable_mapping": all})
        };
        let long = |count: usize| {
            let expression = format!("$.{}", "a".repeat(count - 2));
            json!({"slug": "abc", "variable_mapping": {"phone": expression}})
        };
        for fits in [many(100), long(500)] {
            EndpointDraft::parse(fits.as_object().expect("an object")).expect("within the limits");
        }
        for over in [many(101), long(501)] {
            assert_eq!(faults(over), ["variable_mapping"]);
        }
    }
}
