//! The routes of a company's events. They are derived from its webhooks and its plan, and kept in
//! one row, so that a commit can make deliveries without reading either (6.1, D52, D52a).

use serde::{Deserialize, Serialize};

use super::{Topics, Webhook, WebhookState};
use crate::access::Plan;
use crate::events::EventType;
use crate::ids::{CompanyId, WebhookId};

/// The route to one active webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRoute {
    /// The webhook.
    pub webhook: WebhookId,
    /// What it is subscribed to.
    pub topics: Topics,
}

/// The routes to all active webhooks of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    /// The company.
    pub company: CompanyId,
    /// Whether its plan includes webhooks (D10).
    pub fires: bool,
    /// The active webhooks, by id.
    pub routes: Vec<EventRoute>,
}

impl Routes {
    /// A company that has no webhook yet.
    pub const fn none(company: CompanyId, plan: Plan) -> Self {
        Self { company, fires: plan.has_webhooks(), routes: Vec::new() }
    }

    /// The webhooks that an event of this type is delivered to.
    pub fn of(&self, event: EventType) -> impl Iterator<Item = WebhookId> + '_ {
        let routes = if self.fires { self.routes.as_slice() } else { &[] };
        routes.iter().filter(move |route| route.topics.include(event)).map(|route| route.webhook)
    }

    /// The routes after a change of this webhook: only an active one has a route.
    #[must_use]
    pub fn with(&self, webhook: &Webhook) -> Self {
        let mut routes: Vec<EventRoute> =
            self.routes.iter().filter(|route| route.webhook != webhook.id).cloned().collect();
        if webhook.state == WebhookState::Active {
            routes.push(EventRoute { webhook: webhook.id, topics: webhook.topics.clone() });
        }
        routes.sort_by_key(|route| route.webhook);
        Self { routes, ..self.clone() }
    }

    /// The routes under another plan.
    #[must_use]
    pub fn under(&self, plan: Plan) -> Self {
        Self { fires: plan.has_webhooks(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::Timestamp;
    use crate::webhooks::{SigningSecret, SigningSecrets, WebhookUrl};

    const COMPANY: CompanyId = CompanyId::new(Uuid::from_u128(1));

    fn webhook(n: u128, topics: Topics, state: WebhookState) -> Webhook {
        let at = Timestamp::from_millis(0);
        Webhook {
            id: WebhookId::new(Uuid::from_u128(n)),
            company: COMPANY,
            url: WebhookUrl::parse("https://example.com").expect("a URL"),
            topics,
            state,
            standard_headers: false,
            secrets: SigningSecrets::new(SigningSecret::from_random([0; 32])),
            created_at: at,
            updated_at: at,
        }
    }

    fn any_topics() -> impl Strategy<Value = Topics> {
        let events: Vec<EventType> = EventType::public().collect();
        prop_oneof![
            Just(Topics::All),
            prop::sample::subsequence(events, 1..=5)
                .prop_map(|events| Topics::Only(events.into_iter().collect())),
        ]
    }

    fn any_state() -> impl Strategy<Value = WebhookState> {
        prop::sample::select(WebhookState::ALL)
    }

    proptest! {
        #[test]
        fn events_go_to_the_active_webhooks_that_are_subscribed(
            writes in prop::collection::vec((0_u128..6, any_topics(), any_state()), 0..20),
            plan in prop::sample::select(Plan::ALL),
            event in prop::sample::select(EventType::ALL),
        ) {
            let mut routes = Routes::none(COMPANY, Plan::Enterprise);
            let mut last = std::collections::BTreeMap::new();
            for (n, topics, state) in writes {
                let written = webhook(n, topics, state);
                routes = routes.with(&written);
                last.insert(n, written);
            }
            let reached: BTreeSet<WebhookId> = routes.under(plan).of(event).collect();
            let meant: BTreeSet<WebhookId> = last
                .values()
                .filter(|webhook| plan.has_webhooks() && event.is_public() && webhook.state == WebhookState::Active)
                .filter(|webhook| match &webhook.topics {
                    Topics::All => true,
                    Topics::Only(events) => events.contains(&event),
                })
                .map(|webhook| webhook.id)
                .collect();
            prop_assert_eq!(reached, meant);
        }
    }
}
