//! Where the events of a company go: a fact derived from its webhooks and its plan, kept in one row
//! so that a commit can make deliveries without reading either (6.1, D52, D52a).

use serde::{Deserialize, Serialize};

use super::{Topics, Webhook, WebhookState};
use crate::access::Plan;
use crate::events::EventType;
use crate::ids::{CompanyId, WebhookId};

/// The way to one active webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The webhook.
    pub webhook: WebhookId,
    /// What it is subscribed to.
    pub topics: Topics,
}

/// The ways to all active webhooks of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    /// The company.
    pub company: CompanyId,
    /// Whether its plan lets webhooks fire (D10).
    pub fires: bool,
    /// The active webhooks, by id.
    pub routes: Vec<Route>,
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

    /// The same with the webhook as it is now: only an active one has a way to it.
    #[must_use]
    pub fn with(&self, webhook: &Webhook) -> Self {
        let mut routes: Vec<Route> =
            self.routes.iter().filter(|route| route.webhook != webhook.id).cloned().collect();
        if webhook.state == WebhookState::Active {
            routes.push(Route { webhook: webhook.id, topics: webhook.topics.clone() });
        }
        routes.sort_by_key(|route| route.webhook);
        Self { routes, ..self.clone() }
    }

    /// The same under another plan.
    #[must_use]
    pub fn under(&self, plan: Plan) -> Self {
        Self { fires: plan.has_webhooks(), ..self.clone() }
    }
}
