//! Companies with webhooks, written directly to the database before the server starts.

use std::collections::BTreeSet;

use recado_core::access::Plan;
use recado_core::events::EventType;
use recado_core::ids::{CompanyId, ConnectionId, WebhookId};
use recado_core::store::{ChangeSet, Store};
use recado_core::webhooks::{
    Routes, SigningSecret, SigningSecrets, Topics, Webhook, WebhookState, WebhookUrl,
};

use crate::dataset::company::{self, uuid};
use crate::dataset::contacts::Maker;
use crate::dataset::messages::{self, Connections, Partner};
use crate::dataset::{now, write};
use crate::stores::AnyError;

/// A company for the measurements.
#[derive(Clone, Debug)]
pub(super) struct Company {
    pub(super) id: CompanyId,
    pub(super) key: String,
    /// A connection to the simulated gateway, without reports.
    pub(super) connection: ConnectionId,
    /// Existing contacts: a message from one of them makes one event only.
    pub(super) partners: Vec<Partner>,
    pub(super) webhooks: Vec<WebhookId>,
    /// How many outbound messages wait for reports.
    pub(super) outbound: u64,
}

/// A webhook to be created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook<'a> {
    pub(super) url: &'a str,
    pub(super) is_active: bool,
}

impl<'a> Hook<'a> {
    /// Active webhooks.
    pub(super) fn active(urls: impl IntoIterator<Item = &'a String>) -> Vec<Self> {
        urls.into_iter().map(|url| Self { url, is_active: true }).collect()
    }
}

/// Creates a company with contacts and webhooks. Each webhook subscribes to new contacts, to
/// messages from contacts and to the status of messages.
///
/// # Errors
///
/// When the database fails.
pub(super) async fn company(
    store: &dyn Store,
    name: &str,
    contacts: u64,
    hooks: &[Hook<'_>],
) -> Result<Company, AnyError> {
    let now = now();
    let mut random = fastrand::Rng::new();
    let made = company::make(name, now);
    let id = made.company.company;
    let (connections, changes) = Connections::make(id, now, made.changes);
    store.commit(changes).await?;

    let mut maker = Maker::new(made.company, now, usize::try_from(contacts)?);
    write(store, "contacts", contacts, |index, changes| maker.contact(index, contacts, changes))
        .await?;

    let topics =
        [EventType::ContactCreated, EventType::MessageReceived, EventType::MessageStatusUpdated];
    let topics = Topics::Only(BTreeSet::from(topics));
    let mut routes = Routes::none(id, Plan::Enterprise);
    let mut webhooks = Vec::new();
    let mut changes = ChangeSet::new();
    for hook in hooks {
        let mut secret = [0; 32];
        random.fill(&mut secret);
        let webhook = Webhook {
            id: WebhookId::new(uuid(now, &mut random)),
            company: id,
            url: WebhookUrl::parse(hook.url)?,
            topics: topics.clone(),
            state: if hook.is_active { WebhookState::Active } else { WebhookState::Inactive },
            standard_headers: false,
            secrets: SigningSecrets::new(SigningSecret::from_random(secret)),
            created_at: now,
            updated_at: now,
        };
        routes = routes.with(&webhook);
        webhooks.push(webhook.id);
        changes = changes.insert(webhook);
    }
    if !webhooks.is_empty() {
        store.commit(changes.insert(routes)).await?;
    }
    let partners = maker.into_partners();
    if partners.is_empty() {
        return Err("so few contacts have nobody who writes".into());
    }
    let (key, connection) = (made.secret, connections.silent);
    Ok(Company { id, key, connection, partners, webhooks, outbound: 0 })
}

/// Creates outbound messages that wait for reports, and as many inbound ones.
///
/// # Errors
///
/// When the database fails.
pub(super) async fn messages(
    store: &dyn Store,
    company: &mut Company,
    outbound: u64,
) -> Result<(), AnyError> {
    let Company { id, connection, partners, .. } = &*company;
    let mut maker = messages::Maker::new(*id, *connection, partners.clone(), now());
    let all = outbound * 2;
    write(store, "messages", all, |index, changes| maker.message(index, all, changes)).await?;
    company.outbound = outbound;
    Ok(())
}
