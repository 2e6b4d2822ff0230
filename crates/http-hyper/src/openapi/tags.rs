//! The features that operations are grouped by.

use serde_json::{Value, json};

/// The tags of the document, in its order.
const TAGS: &[(&str, &str)] = &[
    ("contacts", "People and groups: reading, changing, importing and merging them."),
    ("messages", "Messages as they are stored, and their files."),
    ("sending", "Sending texts and templates."),
    (
        "conversations",
        "The conversation with a contact: replies, hand-over, closing, blocking, AI.",
    ),
    ("custom-fields", "Definitions of custom fields."),
    ("lists", "Lists of contacts."),
    ("tags", "Tags of contacts."),
    ("documents", "Documents attached to contacts."),
    ("lead-memory", "What an AI has learned about a contact."),
    ("organizations", "The companies that contacts work for."),
    ("pipelines", "Pipelines of deals and their stages."),
    ("deals", "Deals of contacts."),
    ("prosas", "The ledger of prosas, the unit in which conversations are billed."),
    ("templates", "Message templates, and sending one by its token."),
    ("campaigns", "Campaigns and their recipients."),
    ("links", "Tracked links."),
    ("events", "The journal of events, for receivers that were unreachable."),
    ("webhooks", "Outbound webhooks: where events are sent."),
    ("deliveries", "Deliveries of events to webhooks."),
    (
        "inbound",
        "Endpoints at which other systems make contacts. Refusals have a form of their own.",
    ),
    ("companies", "Companies, to which everything else belongs."),
    ("audit", "The audit log: who did what, when, from where."),
    ("operator-tokens", "Tokens of the operator API: who may do what, and for which company."),
    ("keys", "API keys of a company."),
    ("members", "Members of a company."),
    ("logins", "How members log in: invitations, roles, second factors and sessions."),
    ("connections", "Connections to messaging channels, their gateways and groups."),
    ("close-reasons", "Reasons for closing a conversation."),
    ("service", "Probes, metrics and this reference."),
];

/// All tags with their descriptions.
pub(super) fn all() -> Value {
    TAGS.iter().map(|(name, about)| json!({"name": name, "description": about})).collect()
}
