//! [`Simulated`]: the provider itself.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use recado_core::connections::{Capability, Connection, GatewayDescription, GatewayName, Setting};
use recado_core::gateway::{
    Accepted, GatewayStatus, MessageKind, Outgoing, Provider, ProviderError, ProviderWebhook,
    SendFailure, SendResult, WebhookRefused,
};
use recado_core::messages::{DeliveryCode, Failure, ProviderMessageId};
use recado_core::transport::Transport;
use recado_core::{Clock, Ids};

use super::Behaviour;
use super::reports::{Course, ReportQueue, ReportStage, Reports};

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
        (Self { clock, ids, queue }, reports)
    }

    /// The description of the gateway.
    pub fn description() -> GatewayDescription {
        GatewayDescription::new(GatewayName::new("simulated"))
            .setting(Setting::integer("delay_ms", 0, MAX_DELAY_MS))
            .setting(Setting::boolean("reports"))
            .able([Capability::Text, Capability::Template])
            .sends([
                MessageKind::Image,
                MessageKind::Video,
                MessageKind::Audio,
                MessageKind::Voice,
                MessageKind::Document,
                MessageKind::Sticker,
            ])
    }

    fn accept(
        &self,
        connection: &Connection,
        outgoing: &Outgoing,
        stage: ReportStage,
    ) -> SendResult {
        let id = format!("sim.{}", self.ids.uuid_v7(self.clock.now()).hyphenated());
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
        // One line for each call, so that tests from outside can count them.
        tracing::info!(target: "recado::simulated", reference = %outgoing.reference, "call");
        match Behaviour::towards(outgoing) {
            Behaviour::Accept => self.accept(connection, outgoing, ReportStage::Sent),
            Behaviour::FailLater => self.accept(connection, outgoing, ReportStage::Failed),
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
                self.accept(connection, outgoing, ReportStage::Sent)
            }
        }
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
