//! The simulated gateway: its answers, its reports and their times.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::Platform;
use recado_core::documents::StoredFile;
use recado_core::gateway::{
    Content, Edit, FileKind, GatewayDestinations, GatewayEvent, MediaContent, MessageKind,
    MessageName, Outgoing, Provider, SendFailure, SendResult, StatusEvent, Typing, TypingIn,
};
use recado_core::groups::GroupCode;
use recado_core::ids::{CompanyId, ConnectionId, MessageId};
use recado_core::messages::{DeliveryCode, ErrorType, MessageStatus};
use recado_core::templates::{SentHeader, TemplateContent};
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};
use recado_core::{Clock, Ids, Timestamp};
use recado_providers::simulated::{ReportBatch, Reports, SeenAct, Simulated};
use recado_testkit::{MemoryFiles, contents};
use serde_json::{Value, json};
use tokio::time::Instant;
use uuid::Uuid;

/// A clock that does not advance: the reports follow tokio's time.
struct Standing;

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_795_000_000_000)
    }
}

#[derive(Default)]
struct Counted(AtomicU64);

impl Ids for Counted {
    fn uuid(&self, _: Timestamp) -> Uuid {
        let count = self.0.fetch_add(1, Ordering::SeqCst);
        Uuid::from_u64_pair(0x7000, 1 << 63 | count)
    }

    fn fill(&self, _: &mut [u8]) {
        panic!("the simulated gateway has no secrets")
    }
}

struct NoNetwork;

#[async_trait]
impl Transport for NoNetwork {
    async fn send(&self, _: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        panic!("the simulated gateway calls nobody")
    }

    async fn check(&self, _: &str) -> Result<(), TransportError> {
        panic!("the simulated gateway calls nobody")
    }
}

struct Scene {
    gateway: Simulated,
    reports: Reports,
    ids: Counted,
    company: CompanyId,
}

impl Scene {
    fn new() -> Self {
        let ids = Counted::default();
        let company = CompanyId::new(ids.uuid(Standing.now()));
        let (gateway, reports) = Simulated::new(Arc::new(Standing), Arc::new(Counted::default()));
        Self { gateway, reports, ids, company }
    }

    fn connection(&self, settings: Value) -> Connection {
        let settings = settings.as_object().expect("an object");
        Connection {
            id: ConnectionId::new(self.ids.uuid(Standing.now())),
            company: self.company,
            kind: ConnectionKind::Qr,
            platform: Platform::whatsapp(),
            name: "Vendas".to_owned(),
            identifier: "551130000000".to_owned(),
            gateway: GatewayName::new("simulated"),
            settings: ConnectionSettings::parse(
                &Simulated::description(),
                settings,
                &GatewayDestinations::default(),
            )
            .expect("valid"),
            is_active: true,
            status: ConnectionStatus::Connected,
            created_at: Standing.now(),
            updated_at: Standing.now(),
            last_heard_at: None,
        }
    }

    fn outgoing(&self, recipient: &str) -> Outgoing {
        Outgoing {
            reference: MessageId::new(self.ids.uuid(Standing.now())),
            recipient: recipient.to_owned(),
            group: None,
            content: Content::Text("Olá".to_owned()),
            quoted: None,
        }
    }

    async fn send(&self, connection: &Connection, recipient: &str) -> SendResult {
        self.gateway.send(&NoNetwork, connection, &self.outgoing(recipient)).await
    }

    async fn next(&mut self) -> Vec<ReportBatch> {
        self.reports.next().await.expect("the gateway is there")
    }

    /// The statuses of all further reports, with the milliseconds since `start`.
    async fn rest(mut self, start: Instant) -> Vec<(u128, MessageStatus)> {
        drop(self.gateway);
        let mut all = Vec::new();
        while let Some(batches) = self.reports.next().await {
            let at = start.elapsed().as_millis();
            all.extend(batches.iter().flat_map(statuses).map(|event| (at, event.status)));
        }
        all
    }
}

fn statuses(batch: &ReportBatch) -> impl Iterator<Item = &StatusEvent> {
    batch.events.iter().map(|event| match event {
        Ok(GatewayEvent::Status(status)) => status,
        other => panic!("{other:?} is no status report"),
    })
}

const ANYBODY: &str = "5511990007777";

#[tokio::test(start_paused = true)]
async fn a_send_is_accepted_at_once_and_reported_sent_delivered_and_read() {
    let mut scene = Scene::new();
    let connection = scene.connection(json!({}));
    let start = Instant::now();
    let outgoing = scene.outgoing(ANYBODY);
    let accepted =
        scene.gateway.send(&NoNetwork, &connection, &outgoing).await.expect("it is accepted");
    assert_eq!(start.elapsed(), Duration::ZERO);
    let id = accepted.provider_id.as_str().strip_prefix("sim.").expect("sim.<uuid>");
    assert!(MessageId::parse(id).is_some(), "{id} is a UUID");
    assert!(accepted.recipient.is_none() && accepted.aliases.is_empty());

    let stages = [MessageStatus::Sent, MessageStatus::Delivered, MessageStatus::Read];
    for (status, due) in stages.into_iter().zip([50, 100, 150]) {
        let batches = scene.next().await;
        assert_eq!(start.elapsed().as_millis(), due);
        assert_eq!(batches.len(), 1);
        assert_eq!((batches[0].company, batches[0].connection), (scene.company, connection.id));
        let reports: Vec<&StatusEvent> = statuses(&batches[0]).collect();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].status, status);
        assert_eq!(reports[0].provider_id, accepted.provider_id);
        assert_eq!(reports[0].reference, Some(outgoing.reference));
        assert_eq!(reports[0].failure, None);
        assert_eq!(reports[0].timestamp, Some(Standing.now()));
    }
    assert_eq!(scene.rest(start).await, []);
}

#[tokio::test(start_paused = true)]
async fn the_delay_is_before_each_report() {
    let scene = Scene::new();
    let start = Instant::now();
    scene.send(&scene.connection(json!({"delay_ms": 700})), ANYBODY).await.expect("accepted");
    let expected =
        [(700, MessageStatus::Sent), (1400, MessageStatus::Delivered), (2100, MessageStatus::Read)];
    assert_eq!(scene.rest(start).await, expected);
}

#[tokio::test(start_paused = true)]
async fn without_a_delay_all_reports_come_together_in_their_order() {
    let mut scene = Scene::new();
    let connection = scene.connection(json!({"delay_ms": 0}));
    scene.send(&connection, ANYBODY).await.expect("accepted");
    let batches = scene.next().await;
    assert_eq!(batches.len(), 1);
    let reported: Vec<MessageStatus> = statuses(&batches[0]).map(|event| event.status).collect();
    assert_eq!(reported, [MessageStatus::Sent, MessageStatus::Delivered, MessageStatus::Read]);
}

#[tokio::test(start_paused = true)]
async fn a_connection_can_do_without_reports() {
    let scene = Scene::new();
    let connection = scene.connection(json!({"reports": false}));
    scene.send(&connection, ANYBODY).await.expect("accepted");
    scene.send(&connection, "5511990000004").await.expect("accepted");
    assert_eq!(scene.rest(Instant::now()).await, []);
}

#[tokio::test(start_paused = true)]
async fn reports_that_are_due_together_come_in_one_batch_for_each_connection() {
    let mut scene = Scene::new();
    let one = scene.connection(json!({}));
    let other = scene.connection(json!({}));
    for connection in [&one, &other, &one, &one] {
        scene.send(connection, ANYBODY).await.expect("accepted");
    }
    let batches = scene.next().await;
    let sizes: Vec<_> = batches.iter().map(|b| (b.connection, b.events.len())).collect();
    assert_eq!(sizes, [(one.id, 3), (other.id, 1)]);
    assert_eq!(scene.reports.waiting(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_report_that_is_due_earlier_overtakes_one_that_was_waited_for() {
    let mut scene = Scene::new();
    let start = Instant::now();
    scene.send(&scene.connection(json!({"delay_ms": 60_000})), ANYBODY).await.expect("accepted");
    let quick = scene.connection(json!({"delay_ms": 10}));
    let outgoing = scene.outgoing(ANYBODY);
    let later = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        scene.gateway.send(&NoNetwork, &quick, &outgoing).await.expect("accepted");
    };
    // Both at once: the wait for the first report must not delay the second.
    let (batches, ()) = tokio::join!(scene.reports.next(), later);
    assert_eq!(batches.expect("reports")[0].connection, quick.id);
    assert_eq!(start.elapsed().as_millis(), 15);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_final_and_nothing_is_reported() {
    let scene = Scene::new();
    let failure = scene.send(&scene.connection(json!({})), "5511990000001").await;
    let Err(SendFailure::Refused(failure)) = failure else { panic!("{failure:?}") };
    assert_eq!(failure.code, DeliveryCode::RecipientUnreachable);
    assert_eq!(failure.error_type, ErrorType::Provider);
    assert!(failure.message.is_some());
    assert_eq!(scene.rest(Instant::now()).await, []);
}

#[tokio::test(start_paused = true)]
async fn an_uncertain_send_stays_uncertain() {
    let scene = Scene::new();
    let failure = scene.send(&scene.connection(json!({})), "5511990000002").await;
    let Err(SendFailure::Uncertain(failure)) = failure else { panic!("{failure:?}") };
    assert!(failure.is_uncertain());
    assert_eq!(scene.rest(Instant::now()).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_says_that_nothing_was_sent() {
    let scene = Scene::new();
    let failure = scene.send(&scene.connection(json!({})), "5511990000003").await;
    let Err(SendFailure::Connection(failure)) = failure else { panic!("{failure:?}") };
    assert_eq!(failure.code, DeliveryCode::ConnectionOffline);
    assert_eq!(failure.error_type, ErrorType::ConnectionOffline);
    assert_eq!(scene.rest(Instant::now()).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_message_may_fail_after_it_was_accepted() {
    let mut scene = Scene::new();
    let start = Instant::now();
    scene.send(&scene.connection(json!({})), "5511990000004").await.expect("accepted");
    let batches = scene.next().await;
    assert_eq!(start.elapsed().as_millis(), 50);
    let reports: Vec<&StatusEvent> = statuses(&batches[0]).collect();
    assert_eq!(reports[0].status, MessageStatus::Failed);
    let failure = reports[0].failure.as_ref().expect("it says why");
    assert_eq!(failure.code, DeliveryCode::RecipientUnreachable);
    assert!(failure.message.as_deref().is_some_and(|text| text.contains("131026")));
    assert_eq!(scene.rest(start).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_takes_fifteen_seconds() {
    let scene = Scene::new();
    let start = Instant::now();
    scene.send(&scene.connection(json!({})), "5511990000005").await.expect("accepted");
    assert_eq!(start.elapsed(), Duration::from_secs(15));
    assert_eq!(scene.rest(start).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_never_takes_longer_than_the_connection_allows() {
    let scene = Scene::new();
    let start = Instant::now();
    let connection = scene.connection(json!({"timeout_ms": 2000}));
    let failure = scene.send(&connection, "5511990000005").await;
    assert!(matches!(failure, Err(SendFailure::Uncertain(_))), "{failure:?}");
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    assert_eq!(scene.rest(start).await, []);
}

#[tokio::test(start_paused = true)]
async fn groups_are_not_steered() {
    let scene = Scene::new();
    let code = "1203630000000001@g.us";
    let mut outgoing = scene.outgoing("1203630000000001");
    outgoing.group = GroupCode::parse(code, "g.us");
    assert!(outgoing.group.is_some());
    let connection = scene.connection(json!({}));
    scene.gateway.send(&NoNetwork, &connection, &outgoing).await.expect("accepted");
    scene.send(&connection, code).await.expect("accepted");
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_bounded_and_what_is_left_out_is_counted() {
    let scene = Scene::new();
    let connection = scene.connection(json!({}));
    for _ in 0..50_003 {
        scene.send(&connection, ANYBODY).await.expect("accepted all the same");
    }
    assert_eq!(scene.reports.waiting(), 50_000);
    assert_eq!(scene.reports.dropped(), 3);
    assert_eq!(scene.rest(Instant::now()).await.len(), 150_000);
}

#[tokio::test(start_paused = true)]
async fn the_channel_is_reached_as_the_record_says() {
    let scene = Scene::new();
    let mut connection = scene.connection(json!({}));
    for status in [ConnectionStatus::Connected, ConnectionStatus::Disconnected] {
        connection.status = status;
        let reported = scene.gateway.status(&NoNetwork, &connection).await.expect("told");
        assert_eq!(reported.status, status);
    }
}

fn told(name: &str) -> MessageName {
    contents::received("wamid.IN1", name)
}

/// A template with a picture above its text.
fn headed_template() -> Content {
    let mut template = TemplateContent::new("pedido", "pt_BR", [], "Olá");
    template.header = Some(SentHeader::File(FileKind::Image, contents::file(FileKind::Image)));
    Content::Template(template)
}

/// R332, X15.
#[tokio::test(start_paused = true)]
async fn every_kind_is_taken_and_shown_as_it_came() {
    let scene = Scene::new();
    let seen = scene.gateway.watch();
    let qr = scene.connection(json!({}));
    let official = Connection { kind: ConnectionKind::OfficialCloud, ..qr.clone() };
    assert_eq!(scene.gateway.kinds(&qr), MessageKind::ALL);
    let lacking = |kind: &&MessageKind| !scene.gateway.kinds(&official).contains(kind);
    let lacking: Vec<_> = MessageKind::ALL.iter().filter(lacking).collect();
    assert_eq!(lacking, [&MessageKind::Poll]);
    let mut sent = Vec::new();
    let every = MessageKind::ALL.iter().filter_map(|kind| contents::of(*kind, ANYBODY));
    for content in every.chain([headed_template()]) {
        let kind = content.kind();
        let size = content.file().map(|file| file.stored.size());
        assert!(size.is_none_or(|size| size > 0), "{kind}");
        let quoted = Some(told(ANYBODY));
        let outgoing = Outgoing { content, quoted, ..scene.outgoing(ANYBODY) };
        let taken = scene.gateway.send(&NoNetwork, &qr, &outgoing).await;
        taken.unwrap_or_else(|failure| panic!("{kind}: {failure:?}"));
        sent.push(SeenAct::Send { outgoing: Box::new(outgoing), file_bytes: size });
    }
    let acts: Vec<SeenAct> = seen.all().into_iter().map(|request| request.act).collect();
    assert_eq!(acts, sent);
}

/// R332.
#[tokio::test(start_paused = true)]
async fn the_digits_decide_about_every_kind_in_the_same_way() {
    let scene = Scene::new();
    let connection = scene.connection(json!({"timeout_ms": 1_000}));
    for digits in ["0001", "0002", "0003", "0004", "0005"] {
        let recipient = format!("551199000{digits}");
        let text = scene.send(&connection, &recipient).await.map(|_| ());
        for kind in MessageKind::ALL {
            let Some(content) = contents::of(*kind, &recipient) else { continue };
            let outgoing = Outgoing { content, ..scene.outgoing(&recipient) };
            let sent = scene.gateway.send(&NoNetwork, &connection, &outgoing).await;
            assert_eq!(sent.map(|_| ()), text, "{kind} to {digits}");
        }
    }
}

/// X14, R332.
#[tokio::test(start_paused = true)]
async fn changes_and_signs_are_shown_and_fail_by_the_same_digits() {
    let scene = Scene::new();
    let seen = scene.gateway.watch();
    let connection = scene.connection(json!({}));
    let edit = Edit { text: "Olá, Ana".to_owned(), is_caption: false };
    for (name, works) in [(ANYBODY, true), ("5511990000004", true), ("5511990000001", false)] {
        let (gateway, target) = (&scene.gateway, told(name));
        let whose = TypingIn { recipient: name.to_owned(), group: None, last_inbound: None };
        let edited = gateway.edit(&NoNetwork, &connection, &target, &edit).await;
        let revoked = gateway.revoke(&NoNetwork, &connection, &target).await;
        let read = gateway.mark_read(&NoNetwork, &connection, &target).await;
        let typed = gateway.typing(&NoNetwork, &connection, &whose, Typing::Paused).await;
        let done = [edited.is_ok(), revoked.is_ok(), read.is_ok(), typed.is_ok()];
        assert_eq!(done, [works; 4], "{name}");
        let acts = seen.all().into_iter().map(|request| request.act);
        let expected = [
            SeenAct::Edit(target.clone(), edit.clone()),
            SeenAct::Revoke(target.clone()),
            SeenAct::Read(target),
            SeenAct::Type(name.to_owned(), Typing::Paused),
        ];
        assert_eq!(acts.skip(seen.all().len() - 4).collect::<Vec<_>>(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_read_is_refused() {
    let scene = Scene::new();
    let connection = scene.connection(json!({}));
    let mut file = contents::file(FileKind::Document);
    file.stored = StoredFile::new(Arc::new(MemoryFiles::new()), "gone", 7);
    let kind = FileKind::Document;
    let content = Content::Media(MediaContent { kind, file, caption: None, is_voice: false });
    let outgoing = Outgoing { content, ..scene.outgoing(ANYBODY) };
    let sent = scene.gateway.send(&NoNetwork, &connection, &outgoing).await;
    let failure = sent.expect_err("no file");
    assert_eq!(failure.failure().code, DeliveryCode::Media, "{failure:?}");
}
