//! Webhooks of gateways (D68): verified, translated, routed to connections, and stored.

use super::{EventOutcome, EventResult, Inbox, InboxError, NotUnderstood};
use crate::code::Code;
use crate::connections::{Capability, Connection, GatewayDescription, GatewayName, SharedWebhook};
use crate::error::{Error, NotFound, Rejection};
use crate::gateway::{
    Addressee, GatewayEvent, Identity, Incoming, Keep, Provider, ProviderWebhook, Received,
    UnknownForm, UnknownReason, WebhookRefused,
};
use crate::ids::{CompanyId, ConnectionId};
use crate::store::{RecordsExt, StoreError, Stored};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most bytes of one webhook (D68).
pub const WEBHOOK_LIMIT: usize = 16 * 1024 * 1024;

/// Why a gateway's call is not accepted (D68).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderWebhookError {
    /// No connection has this address, or its gateway sends no webhooks; correct the address.
    #[error("there is no connection with this webhook address")]
    NotFound,
    /// The signature or token is missing or wrong; nothing was read. Correct the secret on one of
    /// the two sides.
    #[error("the signature or token is missing or wrong")]
    Unauthorized,
    /// The body is larger than any gateway's; send less.
    #[error("the body may have at most {WEBHOOK_LIMIT} bytes")]
    TooLarge,
    /// The body, or the query of a verification, is not what the gateway sends.
    #[error("the call cannot be read: it is not what the gateway sends")]
    Malformed,
    /// The contacts that it names could not be read; the gateway has to repeat the call (D70).
    #[error("the contact's state could not be read")]
    ContactStateUnavailable,
}

impl Rejection for ProviderWebhookError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound => Code::NotFound,
            Self::Unauthorized => Code::Unauthorized,
            Self::TooLarge => Code::PayloadTooLarge,
            Self::Malformed => Code::InvalidPayload,
            Self::ContactStateUnavailable => Code::ContactStateUnavailable,
        }
    }
}

impl From<InboxError> for ProviderWebhookError {
    fn from(error: InboxError) -> Self {
        match error {
            // The connection was deleted during the call.
            InboxError::NotFound => Self::NotFound,
            InboxError::ContactStateUnavailable => Self::ContactStateUnavailable,
        }
    }
}

impl From<WebhookRefused> for ProviderWebhookError {
    fn from(refused: WebhookRefused) -> Self {
        match refused {
            WebhookRefused::Unauthorized => Self::Unauthorized,
            WebhookRefused::Malformed => Self::Malformed,
            WebhookRefused::Unsupported => Self::NotFound,
        }
    }
}

/// A connection whose address was called. The call itself is not verified yet.
#[derive(Clone)]
pub struct CalledConnection {
    connection: Stored<Connection>,
    provider: Arc<dyn Provider>,
}

impl std::fmt::Debug for CalledConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CalledConnection").field(&self.connection.id).finish()
    }
}

impl CalledConnection {
    /// The company it belongs to.
    pub fn company(&self) -> CompanyId {
        self.connection.company
    }

    /// The connection's gateway.
    pub fn gateway(&self) -> &GatewayName {
        &self.connection.gateway
    }

    /// The connection.
    pub fn id(&self) -> ConnectionId {
        self.connection.id
    }
}

/// The outcome of the events of one call, in numbers and reasons, without any text that a person
/// wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedWebhook {
    /// Events that changed something.
    pub stored: usize,
    /// Events that were stored before, or that change nothing.
    pub passed_over: usize,
    /// Why others were refused; at most 20 reasons.
    pub refused: Vec<String>,
    /// How many were refused in all.
    pub refused_in_all: usize,
    /// The kinds that the adapter does not know; at most 20.
    pub unknown: Vec<String>,
    /// What is kept since this call because it was not understood, and how often (X9); at most 20
    /// kinds for each reason, the others as `other`.
    pub not_understood: BTreeMap<NotUnderstood, usize>,
}

/// How many reasons, or kinds, are listed.
const MAX_LISTED: usize = 20;
/// The kind of all those that are not listed.
const OTHER: &str = "other";
/// The kind of a call that is not what the gateway sends.
const MALFORMED: &str = "malformed call";

impl ReceivedWebhook {
    fn count(&mut self, results: Vec<EventResult>) {
        for result in results {
            if let Some(kept) = result.kept {
                self.count_kept(kept);
            }
            match result.result {
                EventOutcome::Stored => self.stored += 1,
                EventOutcome::Duplicate | EventOutcome::Ignored => self.passed_over += 1,
                EventOutcome::Refused => self.refuse(result.reason.unwrap_or_default()),
            }
        }
    }

    fn count_kept(&mut self, mut kept: NotUnderstood) {
        let of_reason = self.not_understood.keys().filter(|one| one.reason == kept.reason).count();
        if of_reason >= MAX_LISTED && !self.not_understood.contains_key(&kept) {
            OTHER.clone_into(&mut kept.kind);
        }
        *self.not_understood.entry(kept).or_default() += 1;
    }

    fn refuse(&mut self, reason: String) {
        self.refused_in_all += 1;
        if self.refused.len() < MAX_LISTED {
            self.refused.push(reason);
        }
    }
}

impl Inbox<'_> {
    /// Finds the connection whose address was called, and refuses a call whose headers or query are
    /// wrong: `webhook` has no body yet.
    ///
    /// # Errors
    ///
    /// [`ProviderWebhookError::NotFound`], then [`ProviderWebhookError::Unauthorized`].
    pub async fn called(
        &self,
        id: &str,
        webhook: &ProviderWebhook,
    ) -> Result<CalledConnection, Error<ProviderWebhookError>> {
        let found = match ConnectionId::parse(id) {
            Some(id) => self.look_up(id).await?,
            None => None,
        };
        let connection = found.ok_or(Error::Rejected(ProviderWebhookError::NotFound))?;
        let provider = self.app.provider(&connection.gateway);
        let called = self.app.providers().can(&connection, Capability::Webhook);
        let provider = provider.filter(|_| called);
        let provider = provider.ok_or(Error::Rejected(ProviderWebhookError::NotFound))?;
        provider.admit(&connection, webhook).map_err(|refused| Error::Rejected(refused.into()))?;
        Ok(CalledConnection { connection, provider })
    }

    /// Finds the connection whose address its gateway is verifying, and makes the answer.
    ///
    /// # Errors
    ///
    /// [`ProviderWebhookError`]; [`ProviderWebhookError::NotFound`] also if this gateway does not
    /// verify addresses.
    pub async fn verify_address(
        &self,
        id: &str,
        webhook: &ProviderWebhook,
    ) -> Result<String, Error<ProviderWebhookError>> {
        let found = match ConnectionId::parse(id) {
            Some(id) => self.look_up(id).await?,
            None => None,
        };
        let connection = found.ok_or(Error::Rejected(ProviderWebhookError::NotFound))?;
        let provider = self.app.provider(&connection.gateway);
        let provider = provider.ok_or(Error::Rejected(ProviderWebhookError::NotFound))?;
        let answer = provider.handshake(&connection, webhook);
        answer.map_err(|refused| Error::Rejected(refused.into()))
    }

    /// Verifies a call and stores its events, each for the connection that it belongs to. When this
    /// returns, everything that was stored is durable, with the events it causes. Idempotent: a
    /// repeated call changes nothing.
    ///
    /// # Errors
    ///
    /// [`ProviderWebhookError`]. A failure of the store, and
    /// [`ProviderWebhookError::ContactStateUnavailable`], may leave some events stored; the gateway
    /// has to repeat the call.
    pub async fn take_webhook(
        &self,
        called: &CalledConnection,
        webhook: &ProviderWebhook,
    ) -> Result<ReceivedWebhook, Error<ProviderWebhookError>> {
        let company = called.company();
        let received = match called.provider.receive(&called.connection, webhook) {
            Ok(received) => received,
            Err(refused) => {
                // A call is verified before it is read, so this one is the gateway's.
                if refused == WebhookRefused::Malformed && !webhook.body.trim_ascii().is_empty() {
                    self.keep_call(called, called.id(), MALFORMED, webhook).await?;
                    self.hear(company, called.id()).await;
                }
                return Err(Error::Rejected(refused.into()));
            }
        };
        let mut taken = ReceivedWebhook::default();
        for event in &received {
            if let (Ok(GatewayEvent::Unknown(report)), true) =
                (&event.event, taken.unknown.len() < MAX_LISTED)
            {
                taken.unknown.push(report.kind.chars().take(crate::gateway::MAX_KIND).collect());
            }
        }
        let routed = self.routed(called, received, &mut taken).await?;
        // What no connection is meant by was refused, and is kept here.
        if let Some(reason) = taken.refused.first().cloned() {
            let kept = self.keep_call(called, called.id(), &reason, webhook).await?;
            kept.into_iter().for_each(|kept| taken.count_kept(kept));
        }
        if routed.iter().all(|(connection, _)| *connection != called.id()) {
            self.hear(company, called.id()).await;
        }
        for (connection, events) in routed {
            let is_not_ours = |event: &Incoming| matches!(event, Ok(GatewayEvent::NotOurs(_)));
            let is_ours = !events.iter().any(is_not_ours);
            let results = match self.receive(company, connection, events).await {
                Ok(results) => results,
                Err(error) => return Err(error.map(ProviderWebhookError::from)),
            };
            let refused = results.iter().find(|result| result.result == EventOutcome::Refused);
            let reason = refused.and_then(|result| result.reason.as_deref());
            if let Some(reason) = reason.filter(|_| is_ours) {
                let kept = self.keep_call(called, connection, reason, webhook).await?;
                kept.into_iter().for_each(|kept| taken.count_kept(kept));
            }
            taken.count(results);
            self.hear(company, connection).await;
        }
        Ok(taken)
    }

    /// Keeps the body of a call with an event that could not be read (X9): whole, as the event may
    /// be any part of it, but without secrets. Returns what is kept now.
    async fn keep_call(
        &self,
        called: &CalledConnection,
        connection: ConnectionId,
        why: &str,
        webhook: &ProviderWebhook,
    ) -> Result<Option<NotUnderstood>, Error<ProviderWebhookError>> {
        let given = webhook.json().ok();
        let without = given.clone().map(|mut body| {
            called.provider.remove_secrets(&mut body);
            body
        });
        // A body without secrets is kept letter by letter.
        let changed = without.filter(|body| given.as_ref() != Some(body));
        let body = match &changed {
            Some(body) => body.to_string(),
            None => String::from_utf8_lossy(&webhook.body).into_owned(),
        };
        let body = self.app.masked(&called.connection, &body);
        let is_json = given.is_some();
        let keep = Keep {
            kind: why,
            reason: UnknownReason::Unreadable,
            form: if is_json { UnknownForm::Gateway } else { UnknownForm::Text },
            provider_id: None,
            body: &body,
            identity: Identity::Text(&body),
        };
        let kept = self.keep(called.company(), connection, &keep).await;
        let kept = kept.map_err(|error| error.map(|NotFound| ProviderWebhookError::NotFound))?;
        Ok(kept.kept)
    }

    /// Records that a connection was heard. The events are stored, whether this is or not.
    async fn hear(&self, company: CompanyId, connection: ConnectionId) {
        let _ = self.app.connections().heard(company, connection).await;
    }

    /// The events grouped by connection, in order.
    async fn routed(
        &self,
        called: &CalledConnection,
        received: Vec<Received>,
        taken: &mut ReceivedWebhook,
    ) -> Result<Vec<(ConnectionId, Vec<Incoming>)>, StoreError> {
        let shared = self.app.providers().description(&called.connection.gateway);
        let shared = shared.and_then(GatewayDescription::shared_webhook);
        let own = |received: &Received| is_called(&called.connection, shared, &received.to);
        if received.iter().all(own) {
            let events = received.into_iter().map(|received| received.event).collect();
            return Ok(vec![(called.id(), events)]);
        }
        let all = self.app.store().all_stored::<Connection>(called.company()).await?;
        let mut routed: Vec<(ConnectionId, Vec<Incoming>)> = Vec::new();
        for Received { to, event } in received {
            let targets = targets(&called.connection, shared, &all, &to);
            if targets.is_empty() {
                taken.refuse("no connection is meant by its phone_number_id or account".to_owned());
            }
            for target in targets {
                match routed.iter_mut().find(|(connection, _)| *connection == target) {
                    Some((_, events)) => events.push(event.clone()),
                    None => routed.push((target, vec![event.clone()])),
                }
            }
        }
        Ok(routed)
    }
}

/// Whether an event is for the called connection and no other.
fn is_called(called: &Connection, shared: Option<&SharedWebhook>, to: &Addressee) -> bool {
    match to {
        Addressee::Called => true,
        Addressee::Number(number) => {
            shared.is_some_and(|shared| called.settings.text(&shared.number) == Some(number))
        }
        Addressee::Account(_) => false,
    }
}

/// The connections an event is for: those of the company's connections with the same secret that
/// have its number, or its account (D68). If the called connection's settings have no account, it
/// gets events of any account. If no connection has the account, the called one gets the event
/// (R120).
fn targets(
    called: &Connection,
    shared: Option<&SharedWebhook>,
    all: &[Stored<Connection>],
    to: &Addressee,
) -> Vec<ConnectionId> {
    if is_called(called, shared, to) {
        return vec![called.id];
    }
    let Some(shared) = shared else { return Vec::new() };
    let secret = called.settings.text(&shared.secret);
    let of_app = all.iter().filter(|connection| {
        connection.gateway == called.gateway && connection.settings.text(&shared.secret) == secret
    });
    match to {
        Addressee::Called => vec![called.id],
        Addressee::Number(number) => {
            let with_number =
                of_app.filter(|c| c.settings.text(&shared.number) == Some(number.as_str()));
            // Of several, an active one; of several active ones, the oldest.
            let chosen = with_number.min_by_key(|c| (!c.is_active, c.created_at, c.id));
            chosen.map(|connection| connection.id).into_iter().collect()
        }
        Addressee::Account(account) => {
            let has_account =
                |connection: &Connection| match connection.settings.text(&shared.account) {
                    Some(own) => own == account,
                    None => connection.id == called.id,
                };
            let found: Vec<_> = of_app.filter(|c| has_account(c)).map(|c| c.id).collect();
            if found.is_empty() { vec![called.id] } else { found }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::Timestamp;
    use crate::connections::{ConnectionDraft, samples};
    use crate::gateway::GatewayDestinations;
    use crate::store::Version;

    fn connection(
        n: u128,
        secret: &str,
        number: &str,
        account: Option<&str>,
    ) -> Stored<Connection> {
        let body = json!({"kind": "official_cloud", "name": "Loja", "identifier": "551140028922",
            "gateway": "cloud_api", "settings": {"phone_number_id": number, "access_token": "t",
            "app_secret": secret, "verify_token": "v", "business_account_id": account}});
        let draft = ConnectionDraft::parse(
            body.as_object().expect("an object"),
            &samples::providers(),
            &GatewayDestinations::default(),
        );
        let draft = draft.expect("fits");
        let company = CompanyId::new(Uuid::from_u128(9));
        let id = ConnectionId::new(Uuid::from_u128(n));
        Stored::new(draft.connection(id, company, Timestamp::from_millis(0)), Version::FIRST)
    }

    fn routed(all: &[Stored<Connection>], to: &Addressee) -> Vec<u128> {
        targets(&all[0], samples::cloud_api().shared_webhook(), all, to)
            .into_iter()
            .map(|id| id.uuid().as_u128())
            .collect()
    }

    #[test]
    fn a_number_finds_its_connection_among_those_of_the_same_app() {
        let all = [
            connection(1, "s", "11", None),
            connection(2, "s", "22", None),
            connection(3, "other", "33", None),
        ];
        assert_eq!(routed(&all, &Addressee::Number("11".to_owned())), [1]);
        assert_eq!(routed(&all, &Addressee::Number("22".to_owned())), [2]);
        assert_eq!(routed(&all, &Addressee::Number("33".to_owned())), [0_u128; 0]);
        assert_eq!(routed(&all, &Addressee::Called), [1]);
    }

    #[test]
    fn a_gateway_that_shares_no_address_reaches_the_called_connection_alone() {
        let all = [connection(1, "s", "11", None), connection(2, "s", "22", None)];
        let found = |to| targets(&all[0], None, &all, &to);
        assert_eq!(found(Addressee::Called), [all[0].id]);
        assert_eq!(found(Addressee::Number("22".to_owned())), []);
    }

    #[test]
    fn an_account_finds_all_its_connections_of_the_same_app() {
        let all = [
            connection(1, "s", "11", Some("a")),
            connection(2, "s", "22", Some("a")),
            connection(3, "s", "33", Some("b")),
            connection(4, "other", "44", Some("a")),
        ];
        assert_eq!(routed(&all, &Addressee::Account("a".to_owned())), [1, 2]);
        assert_eq!(routed(&all[2..], &Addressee::Account("a".to_owned())), [3]);
    }

    #[test]
    fn what_is_reported_of_an_account_that_none_names_is_for_the_called_one() {
        let all = [
            connection(1, "s", "11", Some("a")),
            connection(2, "s", "22", Some("b")),
            connection(3, "other", "33", Some("c")),
        ];
        assert_eq!(routed(&all, &Addressee::Account("c".to_owned())), [1]);
        assert_eq!(routed(&all, &Addressee::Account("0".to_owned())), [1]);
    }

    #[test]
    fn a_connection_that_names_no_account_takes_what_is_reported_of_any() {
        let all = [connection(1, "s", "11", None), connection(2, "s", "22", None)];
        assert_eq!(routed(&all, &Addressee::Account("a".to_owned())), [1]);
    }
}
