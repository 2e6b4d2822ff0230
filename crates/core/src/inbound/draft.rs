//! The bodies that make and change inbound endpoints (D46a).

use super::{AuthMode, EndpointSecret, EndpointSlug, InboundEndpoint, VariableMapping};
use crate::Timestamp;
use crate::body::{Kept, Optional, Required, body};
use crate::ids::{CompanyId, InboundEndpointId};

body! {
    /// A new inbound endpoint.
    #[derive(Clone, Debug)]
    pub struct EndpointDraft as "CreateEndpoint" {
        /// The last part of its path; unique over all companies.
        slug: EndpointSlug = Required<EndpointSlug>,
        /// JSONPath expressions (RFC 9535) by key: `phone_number` (or `phone`), `first_name` (or
        /// `name`), native fields of the contact, and slugs of custom fields.
        mapping as "variable_mapping": VariableMapping = Required<VariableMapping>,
        /// `secret_required` by default.
        auth_mode: Option<AuthMode> = Optional<AuthMode>,
        /// What callers present: printable ASCII without spaces. One is made by default.
        secret: Option<EndpointSecret> = Optional<EndpointSecret>,
        /// True by default.
        is_active: Option<bool> = Optional<bool>,
    }
}

body! {
    /// What changes of an inbound endpoint. Its secret changes by rotation.
    #[derive(Clone, Debug)]
    pub struct EndpointPatch as "UpdateEndpoint" of InboundEndpoint, updated_at {
        slug: Option<EndpointSlug> = Kept<EndpointSlug>,
        /// The whole mapping.
        mapping as "variable_mapping": Option<VariableMapping> = Kept<VariableMapping>,
        auth_mode: Option<AuthMode> = Kept<AuthMode>,
        is_active: Option<bool> = Kept<bool>,
    }
    before |input| input.reject("secret", "changes by rotation only");
}

body! {
    /// A new secret of an inbound endpoint.
    #[derive(Clone, Debug)]
    pub struct RotateEndpointSecret as "RotateEndpointSecret" {
        /// Printable ASCII without spaces. One is made by default.
        secret: Option<EndpointSecret> = Optional<EndpointSecret>,
    }
}

impl EndpointDraft {
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
            auth_mode: self.auth_mode.unwrap_or(AuthMode::SecretRequired),
            secret: self.secret.unwrap_or_else(|| EndpointSecret::from_random(random)),
            is_active: self.is_active.unwrap_or(true),
            created_at: now,
            updated_at: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

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
