//! [`Simulated`]: the provider itself.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use recado_core::connections::{
    Capability, Connection, ConnectionKind, GatewayDescription, GatewayName, Setting,
};
use recado_core::documents::FileError;
use recado_core::gateway::{
    Accepted, Edit, GatewayStatus, MessageKind, MessageName, Outgoing, OutgoingFile, Provider,
    ProviderError, ProviderWebhook, SendFailure, SendResult, Typing, TypingIn, WebhookRefused,
};
use recado_core::messages::{DeliveryCode, Failure, ProviderMessageId};
use recado_core::transport::Transport;
use recado_core::{Clock, Ids};

use super::Behaviour;
use super::reports::{Course, ReportQueue, ReportStage, Reports};
use super::seen::{SeenAct, SeenRequests};

/// How long a slow answer takes.
const SLOW: Duration = Duration::from_secs(15);
/// `delay_ms` unless the connection says otherwise.
const DELAY_MS: u64 = 50;
/// The largest `delay_ms`.
const MAX_DELAY_MS: u64 = 3_600_000;

/// The simulated gateway. Settings of a connection: `delay_ms` (50) before each report, `reports`
/// (true) whether there are any, `timeout_ms`.
pub struct Simulated {
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    queue: Arc<ReportQueue>,
    seen: OnceLock<SeenRequests>,
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").finish_non_exhaustive()
    }
}

impl Simulated {
    /// The gateway, and its reports, which the program has to pass to the core. Reports are timed
    /// by tokio's clock; `clock` gives their times and `ids` the ids of messages.
    pub fn new(clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> (Self, Reports) {
        let queue = Arc::new(ReportQueue::default());
        let reports = Reports::new(queue.clone(), clock.clone());
        (Self { clock, ids, queue, seen: OnceLock::new() }, reports)
    }

    /// Shows what the gateway gets from now on. Nothing is kept unless this was called.
    pub fn watch(&self) -> SeenRequests {
        self.seen.get_or_init(SeenRequests::default).clone()
    }

    fn see(&self, connection: &Connection, act: impl FnOnce() -> SeenAct) {
        if let Some(seen) = self.seen.get() {
            seen.add(connection.id, act());
        }
    }

    /// The description of the gateway.
    pub fn description() -> GatewayDescription {
        GatewayDescription::new(GatewayName::new("simulated"))
            .setting(Setting::integer("delay_ms", 0, MAX_DELAY_MS))
            .setting(Setting::boolean("reports"))
            .able([Capability::Text, Capability::Template])
            .sends(beside_capabilities())
    }

    fn accept(
        &self,
        connection: &Connection,
        outgoing: &Outgoing,
        stage: ReportStage,
    ) -> SendResult {
        let id = format!("sim.{}", self.ids.uuid(self.clock.now()).hyphenated());
        let provider_id = ProviderMessageId::from_stored(id);
        if connection.settings.flag("reports").unwrap_or(true) {
            let delay = connection.settings.number("delay_ms").unwrap_or(DELAY_MS);
            self.queue.begin(Course {
                company: connection.company,
                connection: connection.id,
                provider_id: provider_id.clone(),
                reference: outgoing.reference,
                delay: Duration::from_millis(delay),
                stage,
            });
        }
        Ok(Accepted { provider_id, recipient: None, aliases: Vec::new() })
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        self.queue.close();
    }
}

#[async_trait]
impl Provider for Simulated {
    fn describe(&self) -> GatewayDescription {
        Self::description()
    }

    async fn send(
        &self,
        _transport: &dyn Transport,
        connection: &Connection,
        outgoing: &Outgoing,
    ) -> SendResult {
        let (kind, file) = (outgoing.content.kind(), outgoing.content.file());
        let (bytes, quotes) = (file.map(|file| file.stored.size()), outgoing.quoted.is_some());
        // One line for each call, so that tests from outside can count them.
        tracing::info!(
            target: "recado::simulated",
            reference = %outgoing.reference, %kind, bytes, quotes, "call"
        );
        let file_bytes = match file {
            Some(file) => Some(swallow(file).await?),
            None => None,
        };
        let outgoing_of = || Box::new(outgoing.clone());
        self.see(connection, || SeenAct::Send { outgoing: outgoing_of(), file_bytes });
        let stage = match Behaviour::towards(outgoing) {
            Behaviour::FailLater => ReportStage::Failed,
            behaviour => {
                act(behaviour, connection).await?;
                ReportStage::Sent
            }
        };
        self.accept(connection, outgoing, stage)
    }

    /// Everything; polls on QR connections only (R332).
    fn kinds(&self, connection: &Connection) -> Vec<MessageKind> {
        let is_qr = connection.kind == ConnectionKind::Qr;
        let all = MessageKind::ALL.iter().copied();
        all.filter(|kind| is_qr || *kind != MessageKind::Poll).collect()
    }

    async fn edit(
        &self,
        _transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
        edit: &Edit,
    ) -> Result<(), SendFailure> {
        self.see(connection, || SeenAct::Edit(target.clone(), edit.clone()));
        act(Behaviour::of(&target.chat), connection).await
    }

    async fn revoke(
        &self,
        _transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), SendFailure> {
        self.see(connection, || SeenAct::Revoke(target.clone()));
        act(Behaviour::of(&target.chat), connection).await
    }

    async fn mark_read(
        &self,
        _transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), ProviderError> {
        self.see(connection, || SeenAct::Read(target.clone()));
        act(Behaviour::of(&target.chat), connection).await.map_err(as_answer)
    }

    async fn typing(
        &self,
        _transport: &dyn Transport,
        connection: &Connection,
        whose: &TypingIn,
        state: Typing,
    ) -> Result<(), ProviderError> {
        self.see(connection, || SeenAct::Type(whose.recipient.clone(), state));
        act(Behaviour::of(&whose.recipient), connection).await.map_err(as_answer)
    }

    async fn status(
        &self,
        _transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<GatewayStatus, ProviderError> {
        // There is no channel, so the stored status is returned.
        Ok(GatewayStatus::new(connection.status))
    }

    /// It has no webhooks; it reports by [`Reports`].
    fn admit(
        &self,
        _connection: &Connection,
        _webhook: &ProviderWebhook,
    ) -> Result<(), WebhookRefused> {
        Err(WebhookRefused::Unsupported)
    }
}

/// Every kind that is no capability of its own.
fn beside_capabilities() -> impl Iterator<Item = MessageKind> {
    let all = MessageKind::ALL.iter().copied();
    all.filter(|kind| !matches!(kind, MessageKind::Text | MessageKind::Template))
}

/// What a behaviour does with a request: nothing, or it fails. Reports are another matter.
async fn act(behaviour: Behaviour, connection: &Connection) -> Result<(), SendFailure> {
    match behaviour {
        Behaviour::Accept | Behaviour::FailLater => Ok(()),
        Behaviour::Refuse => Err(SendFailure::refused(
            DeliveryCode::RecipientUnreachable,
            "refused by the simulated gateway",
        )),
        Behaviour::Uncertain => {
            Err(SendFailure::uncertain("the simulated gateway gave no answer".to_owned()))
        }
        Behaviour::ConnectionLost => Err(SendFailure::Connection(Failure::new(
            DeliveryCode::ConnectionOffline,
            "the simulated gateway lost its connection".to_owned(),
        ))),
        Behaviour::Slow => {
            let timeout = connection.settings.timeout();
            tokio::time::sleep(SLOW.min(timeout)).await;
            if timeout < SLOW {
                let text = "the simulated gateway did not answer in time";
                return Err(SendFailure::uncertain(text));
            }
            Ok(())
        }
    }
}

fn as_answer(failure: SendFailure) -> ProviderError {
    ProviderError::Failed(failure.failure().message.clone().unwrap_or_default())
}

/// Reads a file to its end, as a gateway would, and keeps nothing of it: how many bytes it has.
async fn swallow(file: &OutgoingFile) -> Result<u64, SendFailure> {
    let failed = |error: FileError| SendFailure::refused(DeliveryCode::Media, error.to_string());
    let mut frames = file.stored.open().await.map_err(failed)?;
    let mut bytes = 0_u64;
    while let Some(frame) = frames.next().await {
        bytes = bytes.saturating_add(frame.map_err(failed)?.len() as u64);
    }
    Ok(bytes)
}
