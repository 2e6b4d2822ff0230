//! A provider whose answers are set by the test.

mod acts;
mod asked;
mod checks;
mod gate;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use acts::{Act, ActAsked};
pub use asked::{Asked, Pulled, Sent};
use async_trait::async_trait;
pub use gate::Gate;
use recado_core::Timestamp;
use recado_core::connections::{Connection, GatewayDescription};
use recado_core::gateway::{
    Accepted, Edit, GatewayStatus, Handshake, Incoming, Lookup, MediaFile, MessageKind,
    MessageName, Missed, Outgoing, Pairing, Provider, ProviderError, ProviderTemplate,
    ProviderWebhook, Providers, Received, SendFailure, SendResult, Typing, TypingIn,
    WebhookRefused,
};
use recado_core::groups::{Group, GroupList};
use recado_core::ids::MessageId;
use recado_core::messages::ProviderMessageId;
use recado_core::transport::Transport;
use serde_json::Value;
use tokio::sync::watch;

use crate::descriptions;

/// The answer to a request that repeats for each connection.
type ScriptedAnswer<T> = Result<T, ProviderError>;

/// Reads a kept body again.
type Reader = Arc<dyn Fn(&Value) -> Vec<Incoming> + Send + Sync>;

struct Script {
    next: VecDeque<SendResult>,
    otherwise: Option<SendFailure>,
    accepted: u64,
    reported: u64,
    sent: Vec<Sent>,
    answers: Vec<(MessageId, SendResult)>,
    gate: Option<watch::Receiver<bool>>,
    found: ScriptedAnswer<Option<Accepted>>,
    looked_up: Vec<Lookup>,
    acts: acts::Acts,
    questions: Asked,
    groups: ScriptedAnswer<GroupList>,
    status: ScriptedAnswer<GatewayStatus>,
    pairing: ScriptedAnswer<Pairing>,
    templates: ScriptedAnswer<Vec<ProviderTemplate>>,
    missed: ScriptedAnswer<Missed>,
    more_missed: VecDeque<ScriptedAnswer<Missed>>,
    pulled: Vec<Pulled>,
    named: ScriptedAnswer<Vec<String>>,
    asked_names: Vec<String>,
    media: Option<ScriptedAnswer<MediaFile>>,
    fetched: Vec<String>,
    admit: Result<(), WebhookRefused>,
    received: Result<Vec<Received>, WebhookRefused>,
    handshake: Handshake,
    read: Reader,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            next: VecDeque::new(),
            otherwise: None,
            accepted: 0,
            reported: 0,
            sent: Vec::new(),
            answers: Vec::new(),
            gate: None,
            found: Err(ProviderError::Unsupported),
            looked_up: Vec::new(),
            acts: acts::Acts::default(),
            questions: Asked::default(),
            groups: Err(ProviderError::Unsupported),
            status: Err(ProviderError::Unsupported),
            pairing: Err(ProviderError::Unsupported),
            templates: Err(ProviderError::Unsupported),
            missed: Err(ProviderError::Unsupported),
            more_missed: VecDeque::new(),
            pulled: Vec::new(),
            named: Err(ProviderError::Unsupported),
            asked_names: Vec::new(),
            media: None,
            fetched: Vec::new(),
            admit: Ok(()),
            received: Err(WebhookRefused::Unsupported),
            handshake: Err(WebhookRefused::Unsupported),
            read: Arc::new(|_| vec![Err("nobody reads it yet".to_owned())]),
        }
    }
}

/// A provider that answers from a script and records its requests. Clones share one state.
///
/// By default it accepts every message of every kind that the described gateway carries, with the
/// ids `fake.1`, `fake.2` and so on, does what is asked beside sends, and answers no question. It
/// panics for a message that the core should not have given it: of a kind that the connection does
/// not carry, or beyond the contract's limits.
#[derive(Clone)]
pub struct ScriptedProvider {
    script: Arc<Mutex<Script>>,
    asked: watch::Sender<usize>,
}

impl std::fmt::Debug for ScriptedProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedProvider").finish_non_exhaustive()
    }
}

impl Default for ScriptedProvider {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedProvider {
    /// A provider that accepts everything.
    pub fn new() -> Self {
        Self { script: Arc::default(), asked: watch::Sender::new(0) }
    }

    /// This provider for every gateway of [`descriptions`].
    pub fn everywhere(&self) -> Providers {
        descriptions::all().into_iter().fold(Providers::none(), |providers, described| {
            providers.with_described(described, Arc::new(self.clone()))
        })
    }

    /// The id of the `n`-th message, counted from 1, that is accepted without a scripted answer.
    pub fn id(n: u64) -> ProviderMessageId {
        ProviderMessageId::from_stored(format!("fake.{n}"))
    }

    /// Adds an answer to a send. Each answer is used once, in the order of the calls.
    pub fn then(&self, answer: SendResult) -> &Self {
        self.script().next.push_back(answer);
        self
    }

    /// Adds an acceptance with this id.
    pub fn then_accept(&self, provider_id: &str) -> &Self {
        self.then(Ok(accepted(ProviderMessageId::from_stored(provider_id.to_owned()))))
    }

    /// Makes every send without a scripted answer fail; `None` accepts them again.
    pub fn otherwise(&self, failure: Option<SendFailure>) -> &Self {
        self.script().otherwise = failure;
        self
    }

    /// Makes every later send wait until the gate is opened or dropped. The answer is chosen, and
    /// the call recorded, before it waits.
    pub fn hold(&self) -> Gate {
        let open = watch::Sender::new(false);
        self.script().gate = Some(open.subscribe());
        Gate { open, asked: self.asked.subscribe() }
    }

    /// An id that none of its events had before.
    pub(crate) fn next_reported_id(&self) -> String {
        let mut script = self.script();
        script.reported += 1;
        format!("reported.{}", script.reported)
    }

    /// Every requested send, in order.
    pub fn sent(&self) -> Vec<Sent> {
        self.script().sent.clone()
    }

    /// The answer to every requested send, in order.
    pub fn answers(&self) -> Vec<(MessageId, SendResult)> {
        self.script().answers.clone()
    }

    /// Every message that was looked up, in order.
    pub fn looked_up(&self) -> Vec<Lookup> {
        self.script().looked_up.clone()
    }

    /// Sets the answer to look-ups of messages.
    pub fn find(&self, found: ScriptedAnswer<Option<Accepted>>) -> &Self {
        self.script().found = found;
        self
    }

    /// The number of requests of each kind.
    pub fn asked(&self) -> Asked {
        self.script().questions
    }

    /// Sets the groups of every connection.
    pub fn set_groups(&self, groups: ScriptedAnswer<Vec<Group>>) -> &Self {
        self.set_group_list(groups.map(GroupList::from))
    }

    /// Sets the groups of every connection, with the parts that the gateway does not report.
    pub fn set_group_list(&self, groups: ScriptedAnswer<GroupList>) -> &Self {
        self.script().groups = groups;
        self
    }

    /// Sets the state of every connection.
    pub fn set_status(&self, status: ScriptedAnswer<GatewayStatus>) -> &Self {
        self.script().status = status;
        self
    }

    /// Sets the state of the pairing of a phone.
    pub fn set_pairing(&self, pairing: ScriptedAnswer<Pairing>) -> &Self {
        self.script().pairing = pairing;
        self
    }

    /// Sets the templates of every connection.
    pub fn set_templates(&self, templates: ScriptedAnswer<Vec<ProviderTemplate>>) -> &Self {
        self.script().templates = templates;
        self
    }

    /// Sets the answer to all later requests for missed messages.
    pub fn set_missed(&self, missed: ScriptedAnswer<Missed>) -> &Self {
        self.script().missed = missed;
        self
    }

    /// Adds an answer to one request for missed messages. These answers are used first, in order.
    pub fn then_missed(&self, missed: ScriptedAnswer<Missed>) -> &Self {
        self.script().more_missed.push_back(missed);
        self
    }

    /// Every request for missed messages, in order.
    pub fn pulled(&self) -> Vec<Pulled> {
        self.script().pulled.clone()
    }

    /// Sets the file of every source. Without this call, every source is an address.
    pub fn set_media(&self, media: ScriptedAnswer<MediaFile>) -> &Self {
        self.script().media = Some(media);
        self
    }

    /// The source of every requested file, in order.
    pub fn fetched(&self) -> Vec<String> {
        self.script().fetched.clone()
    }

    /// Sets the answer of `admit` for every webhook.
    pub fn set_admit(&self, admit: Result<(), WebhookRefused>) -> &Self {
        self.script().admit = admit;
        self
    }

    /// Sets the events of every webhook.
    pub fn set_received(&self, received: Result<Vec<Received>, WebhookRefused>) -> &Self {
        self.script().received = received;
        self
    }

    /// Sets how kept bodies are read again; none is understood without this call.
    pub fn set_read(
        &self,
        read: impl Fn(&Value) -> Vec<Incoming> + Send + Sync + 'static,
    ) -> &Self {
        self.script().read = Arc::new(read);
        self
    }

    /// Sets the answer to the verification of an address.
    pub fn set_handshake(&self, handshake: Handshake) -> &Self {
        self.script().handshake = handshake;
        self
    }

    /// Sets the answer to requests for a contact's other ids.
    pub fn set_names(&self, names: ScriptedAnswer<Vec<String>>) -> &Self {
        self.script().named = names;
        self
    }

    /// The ids in requests for other ids, in order.
    pub fn asked_names(&self) -> Vec<String> {
        self.script().asked_names.clone()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a send, and chooses its answer and the gate that it waits at.
    fn take(&self, sent: Sent) -> (SendResult, Option<watch::Receiver<bool>>) {
        let mut script = self.script();
        let reference = sent.outgoing.reference;
        script.sent.push(sent);
        let answer = match (script.next.pop_front(), script.otherwise.clone()) {
            (Some(answer), _) => answer,
            (None, Some(failure)) => Err(failure),
            (None, None) => {
                script.accepted += 1;
                Ok(accepted(Self::id(script.accepted)))
            }
        };
        script.answers.push((reference, answer.clone()));
        (answer, script.gate.clone())
    }
}

fn accepted(provider_id: ProviderMessageId) -> Accepted {
    Accepted { provider_id, recipient: None, aliases: Vec::new() }
}

#[async_trait]
impl Provider for ScriptedProvider {
    fn describe(&self) -> GatewayDescription {
        descriptions::simulated()
    }

    async fn send(
        &self,
        _: &dyn Transport,
        connection: &Connection,
        outgoing: &Outgoing,
    ) -> SendResult {
        let kind = outgoing.content.kind();
        assert!(self.kinds(connection).contains(&kind), "the connection does not carry {kind}");
        let fits = checks::check(outgoing).await;
        assert_eq!(fits, Ok(()), "the core should not have given this");
        let sent = Sent { connection: connection.id, outgoing: outgoing.clone() };
        let (answer, gate) = self.take(sent);
        self.asked.send_modify(|asked| *asked += 1);
        if let Some(mut gate) = gate {
            // A dropped gate is open.
            let _ = gate.wait_for(|open| *open).await;
        }
        answer
    }

    fn kinds(&self, connection: &Connection) -> Vec<MessageKind> {
        let scripted = self.script().acts.kinds.clone();
        scripted.unwrap_or_else(|| descriptions::kinds(connection))
    }

    async fn edit(
        &self,
        _: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
        edit: &Edit,
    ) -> Result<(), SendFailure> {
        self.script().acts.change(connection.id, Act::Edit(target.clone(), edit.clone()))
    }

    async fn revoke(
        &self,
        _: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), SendFailure> {
        self.script().acts.change(connection.id, Act::Revoke(target.clone()))
    }

    async fn mark_read(
        &self,
        _: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> ScriptedAnswer<()> {
        self.script().acts.sign(connection.id, Act::Read(target.clone()))
    }

    async fn typing(
        &self,
        _: &dyn Transport,
        connection: &Connection,
        whose: &TypingIn,
        state: Typing,
    ) -> ScriptedAnswer<()> {
        self.script().acts.sign(connection.id, Act::Type(whose.recipient.clone(), state))
    }

    async fn find_sent(
        &self,
        _: &dyn Transport,
        _: &Connection,
        lookup: &Lookup,
    ) -> ScriptedAnswer<Option<Accepted>> {
        let mut script = self.script();
        script.looked_up.push(lookup.clone());
        script.found.clone()
    }

    async fn status(&self, _: &dyn Transport, _: &Connection) -> ScriptedAnswer<GatewayStatus> {
        let mut script = self.script();
        script.questions.status += 1;
        script.status.clone()
    }

    async fn groups(&self, _: &dyn Transport, _: &Connection) -> ScriptedAnswer<GroupList> {
        let mut script = self.script();
        script.questions.groups += 1;
        script.groups.clone()
    }

    async fn pairing(&self, _: &dyn Transport, _: &Connection) -> ScriptedAnswer<Pairing> {
        let mut script = self.script();
        script.questions.pairing += 1;
        script.pairing.clone()
    }

    async fn templates(
        &self,
        _: &dyn Transport,
        _: &Connection,
    ) -> ScriptedAnswer<Vec<ProviderTemplate>> {
        let mut script = self.script();
        script.questions.templates += 1;
        script.templates.clone()
    }

    async fn missed(
        &self,
        _: &dyn Transport,
        connection: &Connection,
        from: Timestamp,
        to: Timestamp,
    ) -> ScriptedAnswer<Missed> {
        let mut script = self.script();
        script.pulled.push(Pulled { connection: connection.id, from, to });
        script.more_missed.pop_front().unwrap_or_else(|| script.missed.clone())
    }

    async fn names(
        &self,
        _: &dyn Transport,
        _: &Connection,
        name: &str,
    ) -> ScriptedAnswer<Vec<String>> {
        let mut script = self.script();
        script.asked_names.push(name.to_owned());
        script.named.clone()
    }

    async fn media(
        &self,
        _: &dyn Transport,
        _: &Connection,
        source: &str,
        _: usize,
    ) -> ScriptedAnswer<MediaFile> {
        let mut script = self.script();
        script.fetched.push(source.to_owned());
        script.media.clone().unwrap_or_else(|| Ok(MediaFile::At(source.to_owned())))
    }

    fn handshake(&self, _: &Connection, _: &ProviderWebhook) -> Handshake {
        self.script().handshake.clone()
    }

    fn admit(&self, _: &Connection, _: &ProviderWebhook) -> Result<(), WebhookRefused> {
        self.script().admit
    }

    fn receive(
        &self,
        _: &Connection,
        _: &ProviderWebhook,
    ) -> Result<Vec<Received>, WebhookRefused> {
        self.script().received.clone()
    }

    fn read(&self, _: &Connection, body: &Value) -> Vec<Incoming> {
        let read = self.script().read.clone();
        read(body)
    }
}

#[cfg(test)]
mod tests;
