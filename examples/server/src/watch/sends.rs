//! Counting sends by gateway and outcome.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use metrics::{Label, Unit, counter, describe_counter, describe_histogram, histogram};
use recado_core::Timestamp;
use recado_core::connections::{Connection, GatewayDescription, GatewayName};
use recado_core::gateway::{
    Accepted, Edit, GatewayStatus, Handshake, Incoming, Lookup, MediaFile, MessageKind,
    MessageName, Missed, Outgoing, Pairing, Provider, ProviderError, ProviderTemplate,
    ProviderWebhook, Providers, ReceiveResult, SendFailure, SendResult, Typing, TypingIn,
    WebhookRefused,
};
use recado_core::groups::GroupList;
use recado_core::transport::Transport;

use crate::traces::Traces;

const SENDS: &str = "recado_sends_total";
const DURATION: &str = "recado_send_duration_seconds";

/// All outcomes.
const OUTCOMES: [&str; 7] = [
    "accepted",
    "refused",
    "try_later",
    "recipient_limited",
    "connection",
    "unreachable",
    "uncertain",
];

pub(super) fn describe() {
    describe_counter!(SENDS, Unit::Count, "Messages given to gateways, by gateway and outcome.");
    describe_histogram!(DURATION, Unit::Seconds, "How long gateways took to answer, by gateway.");
}

/// The label under which a send is counted.
const fn outcome<T>(result: &Result<T, SendFailure>) -> &'static str {
    match result {
        Ok(_) => "accepted",
        Err(SendFailure::Refused(_)) => "refused",
        Err(SendFailure::TryLater { .. }) => "try_later",
        Err(SendFailure::RecipientLimited(_)) => "recipient_limited",
        Err(SendFailure::Connection(_)) => "connection",
        Err(SendFailure::Unreachable(_)) => "unreachable",
        Err(SendFailure::Uncertain(_)) => "uncertain",
    }
}

/// The label of another call.
const fn answered<T>(result: &Result<T, ProviderError>) -> &'static str {
    match result {
        Ok(_) => "answered",
        Err(_) => "failed",
    }
}

/// The same gateways, whose sends are counted and whose calls have spans. Their names are labels: a
/// program has few (R281).
pub(crate) fn counted(providers: &Providers, traces: &Traces) -> Providers {
    providers.descriptions().fold(Providers::none(), |all, description| {
        let Some(inner) = providers.get(description.name()) else { return all };
        let gateway = description.name().clone();
        for outcome in OUTCOMES {
            counter!(SENDS, "gateway" => gateway.as_str().to_owned(), "outcome" => outcome)
                .increment(0);
        }
        let provider = CountedProvider { inner, gateway, traces: traces.clone() };
        all.with_described(description.clone(), Arc::new(provider))
    })
}

/// A gateway whose sends are counted, and whose calls have spans.
struct CountedProvider {
    inner: Arc<dyn Provider>,
    gateway: GatewayName,
    traces: Traces,
}

impl CountedProvider {
    fn label(&self) -> Label {
        Label::new("gateway", self.gateway.as_str().to_owned())
    }

    /// Makes a call other than a send.
    async fn ask<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = Result<T, ProviderError>> + Send,
    ) -> Result<T, ProviderError> {
        self.traces.gateway(&self.gateway, operation, answered, work).await
    }
}

#[async_trait]
impl Provider for CountedProvider {
    fn describe(&self) -> GatewayDescription {
        self.inner.describe()
    }

    async fn send(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        outgoing: &Outgoing,
    ) -> SendResult {
        let begun = Instant::now();
        let sending = self.inner.send(transport, connection, outgoing);
        let result = self.traces.gateway(&self.gateway, "send", outcome, sending).await;
        histogram!(DURATION, vec![self.label()]).record(begun.elapsed().as_secs_f64());
        let outcome = Label::from_static_parts("outcome", outcome(&result));
        counter!(SENDS, vec![self.label(), outcome]).increment(1);
        result
    }

    fn kinds(&self, connection: &Connection) -> Vec<MessageKind> {
        self.inner.kinds(connection)
    }

    async fn edit(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
        edit: &Edit,
    ) -> Result<(), SendFailure> {
        let editing = self.inner.edit(transport, connection, target, edit);
        self.traces.gateway(&self.gateway, "edit", outcome, editing).await
    }

    async fn revoke(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), SendFailure> {
        let revoking = self.inner.revoke(transport, connection, target);
        self.traces.gateway(&self.gateway, "revoke", outcome, revoking).await
    }

    async fn mark_read(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), ProviderError> {
        self.ask("mark_read", self.inner.mark_read(transport, connection, target)).await
    }

    async fn typing(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        whose: &TypingIn,
        state: Typing,
    ) -> Result<(), ProviderError> {
        self.ask("typing", self.inner.typing(transport, connection, whose, state)).await
    }

    async fn find_sent(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        lookup: &Lookup,
    ) -> Result<Option<Accepted>, ProviderError> {
        self.ask("find_sent", self.inner.find_sent(transport, connection, lookup)).await
    }

    async fn status(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<GatewayStatus, ProviderError> {
        self.ask("status", self.inner.status(transport, connection)).await
    }

    async fn groups(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<GroupList, ProviderError> {
        self.ask("groups", self.inner.groups(transport, connection)).await
    }

    async fn pairing(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<Pairing, ProviderError> {
        self.ask("pairing", self.inner.pairing(transport, connection)).await
    }

    async fn templates(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<Vec<ProviderTemplate>, ProviderError> {
        self.ask("templates", self.inner.templates(transport, connection)).await
    }

    async fn missed(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Missed, ProviderError> {
        self.ask("missed", self.inner.missed(transport, connection, from, to)).await
    }

    async fn names(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        name: &str,
    ) -> Result<Vec<String>, ProviderError> {
        self.ask("names", self.inner.names(transport, connection, name)).await
    }

    async fn media(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        source: &str,
        limit: usize,
    ) -> Result<MediaFile, ProviderError> {
        self.ask("media", self.inner.media(transport, connection, source, limit)).await
    }

    fn handshake(&self, connection: &Connection, webhook: &ProviderWebhook) -> Handshake {
        self.inner.handshake(connection, webhook)
    }

    fn admit(
        &self,
        connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<(), WebhookRefused> {
        self.inner.admit(connection, webhook)
    }

    fn receive(&self, connection: &Connection, webhook: &ProviderWebhook) -> ReceiveResult {
        self.inner.receive(connection, webhook)
    }

    fn remove_secrets(&self, body: &mut serde_json::Value) {
        self.inner.remove_secrets(body);
    }

    fn read(&self, connection: &Connection, body: &serde_json::Value) -> Vec<Incoming> {
        self.inner.read(connection, body)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use recado_core::messages::{DeliveryCode, Failure, ProviderMessageId};
    use recado_testkit::provider_conformance::{ProviderCase, carrying};
    use recado_testkit::{ScriptedProvider, ScriptedTransport};
    use serde_json::json;

    use super::*;

    /// X10 to X14: what a gateway carries and does, it does when it is counted, too.
    #[tokio::test]
    async fn everything_is_passed_on_to_the_gateway() {
        let scripted = ScriptedProvider::new();
        let kinds = vec![MessageKind::Text, MessageKind::Edit, MessageKind::Read];
        scripted.set_kinds(Some([kinds, vec![MessageKind::Revoke, MessageKind::Typing]].concat()));
        let inner = Arc::new(scripted.clone());
        let counted = CountedProvider {
            inner,
            gateway: GatewayName::new("simulated"),
            traces: Traces::default(),
        };
        let case = ProviderCase::new(counted, json!({}), ScriptedTransport::new());
        carrying::what_is_declared_beside_sends_can_be_done(&case).await;
        assert_eq!(scripted.acts().len(), 4);
    }

    /// R281.
    #[test]
    fn every_outcome_of_a_send_has_a_label_of_its_own() {
        let failure = || Failure::new(DeliveryCode::Network, "it failed".to_owned());
        let id = ProviderMessageId::parse("w1").expect("acceptable");
        let results: [SendResult; 7] = [
            Ok(Accepted::new(id)),
            Err(SendFailure::Refused(failure())),
            Err(SendFailure::TryLater { failure: failure(), wait: Some(Duration::ZERO) }),
            Err(SendFailure::RecipientLimited(failure())),
            Err(SendFailure::Connection(failure())),
            Err(SendFailure::Unreachable(failure())),
            Err(SendFailure::Uncertain(failure())),
        ];
        assert_eq!(results.each_ref().map(outcome), OUTCOMES);
    }
}
