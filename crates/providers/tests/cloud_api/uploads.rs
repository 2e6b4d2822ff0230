//! Files that are sent: each is uploaded first, and the message names the id that it got.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::gateway::{Content, FileKind, MediaContent, MessageKind, Provider, SendFailure};
use recado_core::messages::DeliveryCode;
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};
use recado_providers::cloud_api::CloudApi;
use recado_testkit::gateways::{
    FakeCloud, Gateway as _, InProcess, SendBehaviour, graph_error, graph_failure,
};
use recado_testkit::{ScriptedTransport, contents};
use serde_json::json;

use crate::support::*;

fn picture() -> Content {
    contents::of(MessageKind::Image, MARIA).expect("a kind of message")
}

fn with_file(mimetype: &str, name: &str, bytes: &[u8]) -> Content {
    let file = contents::stored(mimetype, name, bytes);
    Content::Media(MediaContent { kind: FileKind::Document, file, caption: None, is_voice: false })
}

/// X10, R330.
#[tokio::test]
async fn a_file_is_uploaded_whole_and_the_message_names_it() {
    let fake = FakeCloud::new();
    let bytes: Vec<u8> = (0..200_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    let name = "nota \"fiscal\" ção.pdf";
    send_by(&fake, with_file("application/pdf", name, &bytes)).await.expect("accepted");
    let (uploaded, sent) = (fake.uploaded().remove(0), fake.accepted().remove(0));
    assert_eq!(uploaded.bytes, bytes);
    assert_eq!(uploaded.mimetype, "application/pdf");
    assert_eq!(uploaded.filename, "nota %22fiscal%22 ção.pdf");
    assert_eq!(sent.body["document"], json!({"id": uploaded.id, "filename": name}));
    assert_eq!(fake.requests(), 2);
}

#[tokio::test]
async fn a_media_type_goes_without_its_parameters() {
    let fake = FakeCloud::new();
    let voice = contents::of(MessageKind::Voice, MARIA).expect("a kind of message");
    send_by(&fake, voice).await.expect("accepted");
    assert_eq!(fake.uploaded()[0].mimetype, "audio/ogg");
    assert_eq!(fake.uploaded()[0].filename, "file");
}

/// R330.
#[tokio::test]
async fn an_upload_is_tried_once_more_and_its_message_is_sent_once() {
    for first in [
        SendBehaviour::Refuse,
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptLate(Duration::from_secs(60)),
        SendBehaviour::AcceptWithoutId,
        SendBehaviour::Broken(502),
        graph_failure(131_000, "Something went wrong"),
        graph_failure(2, "Service temporarily unavailable"),
    ] {
        let fake = FakeCloud::new();
        fake.script_uploads([first.clone()]);
        send_by(&fake, picture()).await.unwrap_or_else(|failure| panic!("{first:?}: {failure:?}"));
        assert_eq!((fake.accepted().len(), fake.requests()), (1, 3), "{first:?}");
    }
}

/// R330.
#[tokio::test]
async fn an_upload_that_fails_means_that_nothing_was_sent() {
    let unreachable = |failure: &SendFailure| matches!(failure, SendFailure::Unreachable(_));
    let refused = |failure: &SendFailure| matches!(failure, SendFailure::Refused(_));
    let connection = |failure: &SendFailure| matches!(failure, SendFailure::Connection(_));
    let later = |failure: &SendFailure| matches!(failure, SendFailure::TryLater { .. });
    type Is<'a> = &'a dyn Fn(&SendFailure) -> bool;
    let late = SendBehaviour::AcceptLate(Duration::from_secs(60));
    let mut not_there = graph_error(100, "Unsupported post request");
    not_there.1["error"]["error_subcode"] = json!(33);
    let cases: [(SendBehaviour, Is<'_>, DeliveryCode, usize); 13] = [
        (SendBehaviour::Refuse, &unreachable, DeliveryCode::Network, 2),
        (SendBehaviour::AcceptThenDrop, &unreachable, DeliveryCode::Network, 2),
        (late, &unreachable, DeliveryCode::Network, 2),
        (SendBehaviour::AcceptWithoutId, &unreachable, DeliveryCode::Network, 2),
        (SendBehaviour::Broken(500), &unreachable, DeliveryCode::Network, 2),
        (graph_failure(131_000, "wrong"), &unreachable, DeliveryCode::Network, 2),
        (SendBehaviour::Broken(413), &refused, DeliveryCode::Media, 1),
        (graph_failure(100, "Param file must be a file"), &refused, DeliveryCode::Media, 1),
        (SendBehaviour::Error(not_there.0, not_there.1), &refused, DeliveryCode::Configuration, 1),
        (graph_failure(131_053, "Media upload error"), &refused, DeliveryCode::Media, 1),
        (graph_failure(131_052, "Media download error"), &refused, DeliveryCode::Media, 1),
        (graph_failure(190, "token expired"), &connection, DeliveryCode::Configuration, 1),
        (graph_failure(130_429, "limit"), &later, DeliveryCode::RateLimitedByProvider, 1),
    ];
    for (behaviour, is, code, requests) in cases {
        let fake = FakeCloud::new();
        fake.script_uploads([behaviour.clone(), behaviour.clone()]);
        let failure = send_by(&fake, picture()).await.expect_err("nothing was uploaded");
        assert!(is(&failure), "{behaviour:?}: {failure:?}");
        assert_eq!(failure.failure().code, code, "{behaviour:?}: {failure:?}");
        assert!(!failure.failure().is_uncertain(), "{behaviour:?}");
        assert_eq!((fake.accepted().len(), fake.requests()), (0, requests), "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_file_that_the_api_does_not_take_is_refused_as_one() {
    for (mimetype, bytes) in
        [("application/zip", vec![b'P', b'K']), ("image/jpeg", vec![0; (5 << 20) + 1])]
    {
        let fake = FakeCloud::new();
        let failure = send_by(&fake, with_file(mimetype, "a", &bytes)).await.expect_err("refused");
        assert!(matches!(failure, SendFailure::Refused(_)), "{failure:?}");
        assert_eq!(failure.failure().code, DeliveryCode::Media);
        assert!(fake.accepted().is_empty());
    }
}

/// A file that is lost meanwhile is no reason to send anything.
#[tokio::test]
async fn a_file_that_cannot_be_read_is_not_sent() {
    let (fake, files) = (FakeCloud::new(), recado_testkit::MemoryFiles::new());
    let mut file = contents::file(FileKind::Image);
    file.stored = recado_core::documents::StoredFile::new(Arc::new(files), "gone", 7);
    let kind = FileKind::Image;
    let media = MediaContent { kind, file, caption: None, is_voice: false };
    let failure = send_by(&fake, Content::Media(media)).await.expect_err("no file");
    assert!(!failure.failure().is_uncertain(), "{failure:?}");
    assert_eq!(fake.requests(), 0);
}

/// The answers to the message itself mean what they mean for a text.
#[tokio::test]
async fn the_answer_to_a_message_with_a_file_means_what_it_means_for_a_text() {
    for behaviour in [
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptLate(Duration::from_secs(60)),
        SendBehaviour::AcceptWithoutId,
        SendBehaviour::Broken(502),
        SendBehaviour::Refuse,
        graph_failure(131_000, "wrong"),
        graph_failure(131_053, "Media upload error"),
        graph_failure(131_026, "not on the channel"),
        graph_failure(131_047, "24 hours"),
        graph_failure(190, "token"),
        graph_failure(131_056, "pair"),
    ] {
        let fake = FakeCloud::new();
        fake.script([behaviour.clone(), behaviour.clone()]);
        let text = send_by(&fake, Content::Text("Olá".to_owned())).await;
        let with_file = send_by(&fake, picture()).await;
        assert_eq!(text, with_file, "{behaviour:?}");
        assert_eq!(fake.requests(), 3, "{behaviour:?}: nothing is sent again");
    }
}

/// A fake with a clock that the test moves.
struct Timed {
    fake: FakeCloud,
    seconds: AtomicU64,
    /// How long each request takes.
    takes: u64,
    timeouts: std::sync::Mutex<Vec<Duration>>,
}

impl Timed {
    fn new(fake: &FakeCloud, takes: u64) -> Self {
        let timeouts = std::sync::Mutex::default();
        Self { fake: fake.clone(), seconds: AtomicU64::new(0), takes, timeouts }
    }

    fn pass(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    fn timeouts(&self) -> Vec<u64> {
        let timeouts = self.timeouts.lock().expect("nobody panicked");
        timeouts.iter().map(Duration::as_secs).collect()
    }
}

#[async_trait]
impl Transport for Timed {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        self.timeouts.lock().expect("nobody panicked").push(request.timeout);
        self.pass(self.takes);
        InProcess(self.fake.clone()).send(request).await
    }

    async fn check(&self, url: &str) -> Result<(), TransportError> {
        if self.fake.serves(url) { Ok(()) } else { Err(TransportError::Dns) }
    }

    fn elapsed(&self) -> Option<Duration> {
        Some(Duration::from_secs(self.seconds.load(Ordering::SeqCst)))
    }
}

/// R330.
#[tokio::test]
async fn the_next_message_with_a_file_names_the_upload_of_the_hour() {
    let (fake, cloud) = (FakeCloud::new(), CloudApi::new());
    let connection = connection_with(&fake.settings(&FakeCloud::base()));
    let timed = Timed::new(&fake, 0);
    let outgoing = to(MARIA, picture());
    let send = async || cloud.clone().send(&timed, &connection, &outgoing).await;
    for _ in 0..3 {
        send().await.expect("accepted");
        timed.pass(1_000);
    }
    assert_eq!((fake.uploaded().len(), fake.accepted().len()), (1, 3));
    timed.pass(600);
    send().await.expect("accepted");
    assert_eq!(fake.uploaded().len(), 2, "the hour is over");
    fake.script([graph_failure(131_053, "Media upload error")]);
    send().await.expect_err("refused");
    send().await.expect("accepted");
    assert_eq!(fake.uploaded().len(), 3, "a refused message makes it doubtful");
    let other = to(MARIA, contents::of(MessageKind::Document, MARIA).expect("a kind of message"));
    cloud.send(&timed, &connection, &other).await.expect("accepted");
    assert_eq!(fake.uploaded().len(), 4, "another file");
    assert_eq!(fake.violations(), Vec::<String>::new());
}

/// R330.
#[tokio::test]
async fn upload_and_message_share_the_time_of_a_send() {
    let fake = FakeCloud::new();
    let connection = connection_with(&fake.settings(&FakeCloud::base()));
    let outgoing = to(MARIA, picture());
    let timed = Timed::new(&fake, 6);
    send(&timed, &connection, &outgoing).await.expect("accepted");
    // Of 20 seconds a quarter is kept for the message.
    assert_eq!(timed.timeouts(), [15, 14]);
    let timed = Timed::new(&fake, 9);
    fake.script_uploads([SendBehaviour::Broken(500), SendBehaviour::Broken(500)]);
    send(&timed, &connection, &outgoing).await.expect_err("not uploaded");
    assert_eq!(timed.timeouts(), [15, 6], "a second upload takes what is left");
    let timed = Timed::new(&fake, 15);
    fake.script_uploads([SendBehaviour::Broken(500)]);
    send(&timed, &connection, &outgoing).await.expect_err("not uploaded");
    assert_eq!(timed.timeouts(), [15], "there is no time for a second one");
    // Without a clock the upload counts with all its time, and is not tried again.
    let unclocked = ScriptedTransport::new();
    unclocked.then_json(200, &json!({"id": "77"})).then_json(200, &json!({}));
    send(&unclocked, &connection, &outgoing).await.expect_err("without an id");
    let timeouts: Vec<u64> =
        unclocked.requests().iter().map(|request| request.timeout.as_secs()).collect();
    assert_eq!(timeouts, [15, 5]);
    let unclocked = ScriptedTransport::new();
    unclocked.then_json(500, &json!({})).otherwise(Err(TransportError::Refused));
    send(&unclocked, &connection, &outgoing).await.expect_err("not uploaded");
    assert_eq!(unclocked.requests().len(), 1);
}
