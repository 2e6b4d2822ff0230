//! Files to be sent: keeping them, sending them, and their end (X10, X11).

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use recado_core::Rejection;
use recado_core::documents::{FileError, Frames};
use recado_core::gateway::Content;
use recado_core::ids::{ContactId, MessageId, UploadId};
use recado_core::messages::{Media, Message};
use recado_core::store::{ChangeSet, Commit as _, RecordsExt, Stored};
use recado_core::transport::{OutboundResponse, TransportError};
use recado_core::uploads::{NewFile, Upload, UploadState, UploadView};
use recado_testkit::files::{FailureAt, FileOp};
use recado_testkit::kit::body;
use recado_testkit::{FaultyFiles, Kit, MemoryFiles, MemoryStore};
use serde_json::{Value, json};
use uuid::Uuid;

use super::messages::connect;
use super::{code, create_phone};

const PHONE: &str = "+5534991230001";
const URL: &str = "https://files.example/a/foto.png?k=1";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The bytes of a picture, with a number of its own.
fn png(n: u8) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), vec![n; 90_000]].concat()
}

fn frames(bytes: Vec<u8>) -> Frames<'static> {
    let frames: Vec<_> = bytes.chunks(50_000).map(|frame| Ok(frame.to_vec())).collect();
    stream::iter(frames).boxed()
}

struct Case {
    kit: Kit,
    disk: MemoryFiles,
}

impl Case {
    async fn new() -> Self {
        let disk = MemoryFiles::new();
        let kit = Kit::builder().files(disk.clone()).build().await;
        connect(&kit).await;
        Self { kit, disk }
    }

    async fn upload(&self, n: u8) -> UploadView {
        let file = NewFile { filename: Some("../foto.png".to_owned()), ..NewFile::default() };
        let uploads = self.kit.app.uploads();
        uploads.create(&self.kit.caller, file, frames(png(n))).await.expect("kept")
    }

    async fn row(&self, id: UploadId) -> Option<Stored<Upload>> {
        let store = self.kit.app.store();
        store.get::<Upload>((self.kit.company.id, id)).await.expect("the store works")
    }

    /// Sends a file; the code of the refusal, if it is refused.
    async fn send(&self, more: Value) -> Result<ContactId, String> {
        let mut fields = body(json!({"to": PHONE, "type": "image"}));
        fields.extend(body(more));
        let sent = self.kit.app.sending().send_media(&self.kit.caller, &fields, None).await;
        match sent {
            Ok(sent) => Ok(sent.sent.contact_id),
            Err(refused) => Err(code::<(), _>(Err(refused))),
        }
    }

    fn answers(&self, answer: OutboundResponse) {
        self.kit.transport.then(Ok(answer));
    }

    /// Removes what is due, until nothing more is.
    async fn sweep(&self) {
        while self.kit.app.uploads().sweep().await.expect("the store works") {}
    }

    async fn delete_contact(&self, id: ContactId) {
        self.kit.app.contacts().delete(&self.kit.caller, id).await.expect("deleted");
    }
}

/// X11.
#[tokio::test]
async fn an_upload_is_kept_for_its_retention_and_can_be_taken_away() {
    let case = Case::new().await;
    let (uploads, caller) = (case.kit.app.uploads(), &case.kit.caller);
    let (kept, taken) = (case.upload(1).await, case.upload(2).await);
    assert_eq!((kept.mimetype.as_str(), kept.size), ("image/png", 90_016));
    assert_eq!(kept.filename.as_deref(), Some("foto.png"));
    assert_eq!(kept.expires_at, Some(kept.created_at.plus(30 * DAY)));
    let shown = uploads.get(caller, kept.id).await.expect("there");
    assert!(shown.url.as_ref().is_some_and(|url| url.contains(&kept.id.to_string())));
    let mut shown = shown;
    shown.url = None;
    assert_eq!(shown, kept);

    let (_, stranger) = case.kit.another_company("other").await;
    assert_eq!(code(uploads.get(&stranger, kept.id).await), "MEDIA_NOT_FOUND");
    assert_eq!(code(uploads.delete(&stranger, kept.id).await), "MEDIA_NOT_FOUND");
    uploads.delete(caller, taken.id).await.expect("taken away");
    assert_eq!(code(uploads.get(caller, taken.id).await), "MEDIA_NOT_FOUND");
    assert_eq!(case.disk.keys().len(), 1, "its bytes are gone");

    case.kit.clock.advance(30 * DAY - Duration::from_millis(1));
    case.sweep().await;
    assert!(uploads.get(caller, kept.id).await.is_ok());
    case.kit.clock.advance(Duration::from_millis(1));
    case.sweep().await;
    assert_eq!(code(uploads.get(caller, kept.id).await), "MEDIA_NOT_FOUND");
    assert_eq!((case.disk.keys().len(), case.row(kept.id).await), (0, None));
}

/// X11, R348: one upload serves many messages, and stays as long as one of them does.
#[tokio::test]
async fn an_upload_is_kept_as_long_as_a_message_has_it() {
    let case = Case::new().await;
    let (uploads, caller) = (case.kit.app.uploads(), &case.kit.caller);
    let upload = case.upload(1).await;
    let first = case.send(json!({"media_id": upload.id, "caption": "Oi"})).await.expect("sent");
    let second = case.send(json!({"media_id": upload.id, "to": "+5534991230002"})).await;
    let second = second.expect("sent");
    let sent = case.kit.provider.sent();
    let Content::Media(media) = &sent[0].outgoing.content else { panic!("no file") };
    assert_eq!((media.file.mimetype.as_str(), media.file.filename.as_deref()), ("image/png", None));
    let reader = media.file.stored.open().await.expect("there");
    assert_eq!(reader.read_to_end().await.expect("read"), png(1));
    assert_eq!(uploads.get(caller, upload.id).await.expect("there").expires_at, None);

    case.kit.clock.advance(40 * DAY);
    case.sweep().await;
    assert!(uploads.get(caller, upload.id).await.is_ok());
    uploads.delete(caller, upload.id).await.expect("taken from the uploads");
    assert_eq!(code(uploads.get(caller, upload.id).await), "MEDIA_NOT_FOUND");
    assert_eq!(case.send(json!({"media_id": upload.id})).await, Err("MEDIA_NOT_FOUND".to_owned()));
    case.delete_contact(first).await;
    case.sweep().await;
    assert_eq!(case.disk.keys().len(), 1, "the other message has it");
    case.delete_contact(second).await;
    assert_eq!((case.disk.keys().len(), case.row(upload.id).await), (0, None));
}

/// 4.5, R351.
#[tokio::test]
async fn deleting_a_contact_removes_what_was_sent_to_it_but_for_what_others_keep() {
    let case = Case::new().await;
    let upload = case.upload(1).await;
    let contact = case.send(json!({"media_id": upload.id})).await.expect("sent");
    case.answers(OutboundResponse::new(200, png(2)));
    case.send(json!({"url": URL})).await.expect("sent");
    assert_eq!(case.disk.keys().len(), 2);
    case.delete_contact(contact).await;
    assert_eq!(case.disk.keys().len(), 1, "the upload is within its retention");
    let kept = case.row(upload.id).await.expect("kept");
    assert_eq!(kept.expires_at, Some(upload.created_at.plus(30 * DAY)));
    while case.kit.app.jobs().run_one().await.expect("the store works") {}
    assert_eq!(case.disk.keys().len(), 1);
}

/// R351: also where the object store fails, or the process dies, between the two.
#[tokio::test]
async fn what_was_sent_to_a_deleted_contact_is_removed_later_if_it_cannot_be_at_once() {
    let disk = MemoryFiles::new();
    let files = FaultyFiles::new(disk.clone());
    let kit = Kit::builder().files(files.clone()).build().await;
    connect(&kit).await;
    kit.transport.then(Ok(OutboundResponse::new(200, png(1))));
    let fields = body(json!({"to": PHONE, "type": "image", "url": URL}));
    let sent = kit.app.sending().send_media(&kit.caller, &fields, None).await.expect("sent");
    files.fail_every(FileOp::Remove, FailureAt::Before);
    kit.app.contacts().delete(&kit.caller, sent.sent.contact_id).await.expect("deleted");
    assert_eq!(disk.keys().len(), 1);
    files.heal();
    kit.clock.advance(Duration::from_secs(10));
    while kit.app.jobs().run_one().await.expect("the store works") {}
    assert_eq!(disk.keys().len(), 0);
}

/// R351, R441: what was sent with messages that a long deletion removed first goes, too.
#[tokio::test]
async fn what_was_sent_with_the_first_of_many_messages_goes_with_the_contact() {
    let (disk, model) = (MemoryFiles::new(), MemoryStore::new());
    let builder = Kit::builder().files(disk.clone()).store(Arc::new(model.clone()));
    let kit = builder.build().await;
    connect(&kit).await;
    kit.transport.then(Ok(OutboundResponse::new(200, png(1))));
    let fields = body(json!({"to": PHONE, "type": "image", "url": URL}));
    let sent = kit.app.sending().send_media(&kit.caller, &fields, None).await.expect("sent").sent;
    let company = kit.company.id;
    let message = model.get::<Message>((company, sent.message_id)).await.expect("works");
    let message = message.expect("it is stored").into_value();
    let plain = |n: u128| Message {
        id: MessageId::new(Uuid::from_u128(n)),
        provider_id: None,
        media: Media::default(),
        ..message.clone()
    };
    let more = (1..=450).fold(ChangeSet::new(), |more, n| more.insert(plain(n)));
    model.commit(more).await.expect("works");
    let contacts = kit.app.contacts();
    let receipt = contacts.delete_of_for_receipt(company, sent.contact_id).await.expect("deleted");
    assert_eq!((receipt.removed["messages"], receipt.removed["sent_files"]), (451, 1));
    assert_eq!(disk.keys(), Vec::<String>::new());
}

/// X10: refusals name what was wrong, and leave nothing behind.
#[tokio::test]
async fn files_of_strangers_are_refused_and_nothing_is_left_of_them() {
    let case = Case::new().await;
    let refused = async |answer: Result<OutboundResponse, TransportError>, more: Value| {
        case.kit.transport.then(answer);
        let refused = case.send(more).await.expect_err("refused");
        assert_eq!(case.disk.keys(), Vec::<String>::new(), "{refused}");
        refused
    };
    let image = || json!({"url": URL});
    let ok = |bytes: Vec<u8>| Ok(OutboundResponse::new(200, bytes));
    let bomb = b"PK\x03\x04\x14\0\0\0\x08\0................bomb.png".to_vec();
    for bytes in [b"MZ\x90\0 an executable".to_vec(), bomb, b"<svg/>".to_vec(), vec![0; 9000]] {
        assert_eq!(refused(ok(bytes), image()).await, "MEDIA_TYPE_UNSUPPORTED");
    }
    let large = [png(1), vec![0; 5 * 1024 * 1024]].concat();
    assert_eq!(refused(ok(large), image()).await, "MEDIA_TOO_LARGE");
    let declared = OutboundResponse::new(200, png(1)).with_header("content-length", "99999999");
    assert_eq!(refused(Ok(declared), image()).await, "MEDIA_TOO_LARGE");
    for answer in [
        Ok(OutboundResponse::new(404, "")),
        ok(Vec::new()),
        Err(TransportError::TimedOut { after_sending: true }),
        Err(TransportError::Dns),
    ] {
        assert_eq!(refused(answer, image()).await, "MEDIA_UNREACHABLE");
    }
    assert_eq!(refused(Err(TransportError::Forbidden), image()).await, "VALIDATION_ERROR");
    let unknown = json!({"media_id": case.kit.company.id});
    assert_eq!(case.send(unknown).await, Err("MEDIA_NOT_FOUND".to_owned()));
    assert_eq!(case.kit.provider.sent().len(), 0);
}

/// X10.
#[tokio::test]
async fn redirects_are_followed_three_times_and_each_is_checked() {
    let case = Case::new().await;
    let moved = |to: &str| OutboundResponse::new(302, "").with_header("location", to);
    for to in ["/b", "https://c.example/c", "d"] {
        case.answers(moved(to));
    }
    case.answers(OutboundResponse::new(200, png(1)));
    case.send(json!({"url": URL})).await.expect("sent");
    let asked: Vec<String> =
        case.kit.transport.requests().into_iter().map(|request| request.url).collect();
    let (b, c) = ("https://files.example/b", "https://c.example/c");
    assert_eq!(asked, [URL, b, c, "https://c.example/d"]);

    for _ in 0..4 {
        case.answers(moved("/again"));
    }
    assert_eq!(case.send(json!({"url": URL})).await, Err("MEDIA_UNREACHABLE".to_owned()));
    case.kit.transport.forbid("10.0.0.1");
    for to in ["http://10.0.0.1/latest", "file:///etc/passwd", "http://user@b.example/"] {
        case.answers(moved(to));
        assert_eq!(
            case.send(json!({"url": URL})).await,
            Err("MEDIA_UNREACHABLE".to_owned()),
            "{to}"
        );
    }
    assert_eq!(case.disk.keys().len(), 1, "of the one that was sent");
}

/// X10: a file is not fetched for a send that is refused anyway.
#[tokio::test]
async fn what_refuses_a_send_comes_before_its_file() {
    let case = Case::new().await;
    let contact = create_phone(&case.kit, "34991230001").await;
    case.kit
        .app
        .conversations()
        .act(
            case.kit.company.id,
            contact,
            recado_core::conversations::ActionName::Block,
            &body(json!({})),
        )
        .await
        .expect("blocked");
    assert_eq!(case.send(json!({"url": URL})).await, Err("CONTACT_BLOCKED".to_owned()));
    assert_eq!(case.send(json!({"url": URL, "to": "12"})).await, Err("INVALID_PHONE".to_owned()));
    let unknown = json!({"url": URL, "connection_id": case.kit.company.id});
    assert_eq!(case.send(unknown).await, Err("NOT_FOUND".to_owned()));
    assert_eq!(case.kit.transport.requests().len(), 0);
}

/// X10: a file that came with a refused send is removed.
#[tokio::test]
async fn nothing_is_left_of_a_file_that_came_with_a_refused_send() {
    let case = Case::new().await;
    for (more, expected) in [
        (json!({"to": "12"}), "INVALID_PHONE"),
        (json!({"type": "video"}), "MEDIA_TYPE_UNSUPPORTED"),
        (json!({"url": URL}), "VALIDATION_ERROR"),
        (json!({"to": null}), "MISSING_FIELD"),
    ] {
        let (uploads, company) = (case.kit.app.uploads(), case.kit.company.id);
        let kept = uploads.receive(company, NewFile::default(), frames(png(1)), 1_000_000).await;
        let received = kept.expect("kept").id;
        let mut fields = body(json!({"to": PHONE, "type": "image"}));
        fields.extend(body(more));
        let sending = case.kit.app.sending();
        let refused = sending.send_media(&case.kit.caller, &fields, Some(received)).await;
        assert_eq!(refused.err().map(|error| code::<(), _>(Err(error))).as_deref(), Some(expected));
        assert_eq!((case.disk.keys().len(), case.row(received).await), (0, None), "{expected}");
    }
}

/// R348: what a dead process left, and what broke off.
#[tokio::test]
async fn half_of_a_file_is_never_kept() {
    let case = Case::new().await;
    let (uploads, caller) = (case.kit.app.uploads(), &case.kit.caller);
    let cut = stream::iter([Ok(png(1)), Err(FileError("cut off".to_owned()))]).boxed();
    let refused = uploads.create(caller, NewFile::default(), cut).await.expect_err("refused");
    let recado_core::Error::Rejected(refused) = refused else { panic!("{refused}") };
    assert_eq!(refused.code().as_str(), "BAD_REQUEST");
    let empty = uploads.create(caller, NewFile::default(), frames(Vec::new())).await;
    assert_eq!(code(empty), "VALIDATION_ERROR");
    assert_eq!(case.disk.keys().len(), 0);

    // The process dies while the file arrives.
    let id = UploadId::new(case.kit.company.id.uuid());
    let now = case.kit.app.now();
    let left = Upload {
        company: case.kit.company.id,
        id,
        mimetype: "application/octet-stream".to_owned(),
        size: 0,
        sha256: recado_core::uploads::FileHash::NONE,
        filename: None,
        state: UploadState::Uploading,
        is_listed: false,
        created_at: now,
        expires_at: Some(now.plus(Duration::from_secs(3600))),
    };
    let insert = recado_core::store::ChangeSet::new().insert(left.clone());
    case.kit.store.commit(insert).await.expect("stored");
    recado_core::documents::Files::put(&case.disk, &left.key(), png(1)).await.expect("put");
    case.sweep().await;
    assert_eq!(case.disk.keys().len(), 1, "it may still be arriving");
    case.kit.clock.advance(Duration::from_secs(3600));
    case.sweep().await;
    assert_eq!((case.disk.keys().len(), case.row(id).await), (0, None));
    let _ = futures_util::future::ready(()).now_or_never();
}
