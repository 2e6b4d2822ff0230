//! Fetching the files of received messages.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;

use recado_core::documents::{FileError, FileReader, Files, MAX_DOCUMENT_BYTES};
use recado_core::ids::{CompanyId, ConnectionId, ContactId, MessageId};
use recado_core::messages::{KeptFile, MessageView, ReadMediaError};
use recado_core::query::Params;
use recado_core::transport::{OutboundResponse, TransportError};
use recado_core::{Clock, Error, ManageError, Recado};
use recado_testkit::files::{FailureAt, FileOp};
use recado_testkit::{FaultyFiles, FaultyStore, Kit, MemoryFiles, MemoryStore, StoreFailure};
use serde_json::json;

use super::messages::connect;
use super::{code, create_phone, run_until_it_hangs};

const SOURCE: &str = "https://gateway.example/file";

/// A contact that has sent a picture, which only the gateway has.
async fn picture(kit: &Kit) -> (ContactId, ConnectionId) {
    let (contact, connection) = (create_phone(kit, "34991230001").await, connect(kit).await);
    let event = json!({
        "kind": "message", "provider_message_id": "wamid.1", "from": "5534991230001",
        "type": "image", "media": { "url": SOURCE, "mimetype": "image/jpeg" },
    });
    let event = recado_core::inbox::parse_event(&event, &kit.app.settings().group_suffix);
    kit.app.inbox().receive(kit.company.id, connection, vec![event]).await.unwrap();
    (contact, connection)
}

async fn message(kit: &Kit, contact: ContactId) -> MessageView {
    let messages = kit.app.messages();
    let page = messages.list_of_contact(&kit.caller, contact, &Params::default()).await.unwrap();
    page.items.into_iter().next().expect("the message is there")
}

fn answer(status: u16, body: Vec<u8>) -> recado_testkit::transport::ScriptedAnswer {
    Ok(OutboundResponse::new(status, body))
}

/// The parts of a link: company, message, signature.
fn parts(link: &str) -> (CompanyId, MessageId, &str) {
    let mut parts = link.rsplit('/');
    let signature = parts.next().unwrap();
    let message = MessageId::parse(parts.next().unwrap()).unwrap();
    (CompanyId::parse(parts.next().unwrap()).unwrap(), message, signature)
}

/// What the link of the message answers: how many seconds to wait, or the code of the refusal, or
/// how many bytes there are.
async fn follow(kit: &Kit, link: &str) -> Result<usize, String> {
    follow_at(&kit.app, link).await
}

async fn follow_at(app: &Recado, link: &str) -> Result<usize, String> {
    let (company, message, signature) = parts(link);
    match app.messages().linked_file(company, message, signature).await {
        Ok(file) => {
            let KeptFile::Document(document) = file.file else { panic!("no document") };
            let (contact, document) = (document.contact_id, document.id);
            let (_, bytes) = app.documents().read(company, contact, document).await.unwrap();
            Ok(bytes.len())
        }
        Err(Error::Rejected(ReadMediaError::NotYet { wait })) => Err(wait.as_secs().to_string()),
        other => Err(code(other)),
    }
}

/// What the link of the contact's only message answers.
async fn fetched(kit: &Kit, contact: ContactId) -> Result<usize, String> {
    follow(kit, &message(kit, contact).await.media_url.expect("there is a link")).await
}

fn refused<T>(with: &str) -> Result<T, String> {
    Err(with.to_owned())
}

#[tokio::test]
async fn a_received_file_can_be_read_by_its_link_once_it_was_fetched() {
    let kit = Kit::new().await;
    let (contact, _) = picture(&kit).await;
    let link = message(&kit, contact).await.media_url.expect("there is a link");
    assert_eq!(follow(&kit, &link).await, refused("2"));
    kit.transport.then(answer(200, b"jpeg".to_vec()));
    assert!(kit.app.jobs().run_one().await.unwrap());
    assert!(!kit.app.jobs().run_one().await.unwrap(), "the job is done");
    let requests = kit.transport.requests();
    assert_eq!(requests.iter().map(|r| r.url.as_str()).collect::<Vec<_>>(), [SOURCE]);

    assert_eq!(message(&kit, contact).await.media_url.as_ref(), Some(&link), "it stays");
    assert!(link.starts_with(&format!("{}/media/", kit.app.settings().public_url)), "{link}");
    let (company, id, signature) = parts(&link);
    let messages = kit.app.messages();
    let file = messages.linked_file(company, id, signature).await.unwrap();
    assert_eq!(file.mimetype, Some("image/jpeg"));
    let KeptFile::Document(document) = file.file else { panic!("no document") };
    let reader = kit.app.documents().open(&document, 1).await.unwrap();
    assert_eq!((reader.size(), reader.read_to_end().await.unwrap()), (4, b"peg".to_vec()));
    assert_eq!(document.filename, "image.jpg");
    let listed = kit.app.documents().list(company, contact).await.unwrap();
    assert_eq!(listed, [document]);

    let forged: String = signature.chars().rev().collect();
    for (id, signature) in
        [(id, forged.as_str()), (id, ""), (MessageId::new(company.uuid()), signature)]
    {
        let refusal = messages.linked_file(company, id, signature).await;
        assert!(matches!(refusal, Err(Error::Rejected(ReadMediaError::NotFound))));
    }
    kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    assert_eq!(follow(&kit, &link).await, refused("NOT_FOUND"));
}

/// D31a.
#[tokio::test]
async fn a_link_is_404_once_the_contact_was_deleted_before_the_file_was_fetched() {
    let kit = Kit::new().await;
    let (contact, _) = picture(&kit).await;
    let link = message(&kit, contact).await.media_url.expect("there is a link");
    kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    assert_eq!(follow(&kit, &link).await, refused("NOT_FOUND"));
}

/// D31a.
#[tokio::test]
async fn a_link_is_404_once_whoever_keeps_the_file_says_that_it_is_gone() {
    let kit = Kit::new().await;
    let (contact, _) = picture(&kit).await;
    let link = message(&kit, contact).await.media_url.expect("there is a link");
    kit.transport.then(answer(404, Vec::new()));
    assert!(kit.app.jobs().run_one().await.unwrap());
    assert_eq!(follow(&kit, &link).await, refused("5"), "it may only not be there yet");
    kit.clock.advance(Duration::from_secs(5));
    kit.transport.then(answer(410, Vec::new()));
    assert!(kit.app.jobs().run_one().await.unwrap());
    assert_eq!(follow(&kit, &link).await, refused("NOT_FOUND"));
    assert_eq!(message(&kit, contact).await.media_url, None);
}

/// R34.
#[tokio::test]
async fn a_gateway_that_fails_is_asked_again_for_a_week_and_then_given_up() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let (contact, _) = picture(&kit).await;
    let link = message(&kit, contact).await.media_url.expect("there is a link");
    kit.transport.otherwise(answer(500, Vec::new()));
    let received = kit.clock.now();
    assert!(kit.app.jobs().run_one().await.unwrap());
    for wait in [5, 30, 120, 600, 3_600].into_iter().chain([6 * 3_600; 27]) {
        assert_eq!(follow(&kit, &link).await, refused(&wait.to_string()));
        kit.clock.advance(Duration::from_secs(wait - 1));
        assert!(!kit.app.jobs().run_one().await.unwrap(), "too early after {wait} s");
        kit.clock.advance(Duration::from_secs(1));
        assert!(kit.app.jobs().run_one().await.unwrap(), "due after {wait} s");
    }
    kit.clock.set(received.plus(Duration::from_secs(7 * 24 * 3_600)));
    assert!(kit.app.jobs().run_one().await.unwrap(), "once more at the end of the week");
    assert_eq!(kit.transport.requests().len(), 34);
    assert_eq!(store.jobs(kit.company.id), []);
    assert_eq!(message(&kit, contact).await.media_url, None);
    assert_eq!(follow(&kit, &link).await, refused("NOT_FOUND"));
}

/// D31a, R34.
#[tokio::test]
async fn a_file_comes_after_its_gateway_was_down_for_two_hours() {
    let kit = Kit::new().await;
    let (contact, _) = picture(&kit).await;
    let link = message(&kit, contact).await.media_url.expect("there is a link");
    kit.transport.otherwise(Err(TransportError::Refused));
    let up_again = kit.clock.now().plus(Duration::from_secs(2 * 3_600));
    while kit.clock.now() < up_again {
        assert!(kit.app.jobs().run_one().await.unwrap());
        let wait = follow(&kit, &link).await.expect_err("the gateway is down");
        kit.clock.advance(Duration::from_secs(wait.parse().expect("seconds to wait")));
    }
    kit.transport.otherwise(answer(200, b"jpeg".to_vec()));
    assert!(kit.app.jobs().run_one().await.unwrap());
    assert_eq!(follow(&kit, &link).await, Ok(4));
    assert_eq!(message(&kit, contact).await.media_url, Some(link), "it never changed");
}

/// R34.
#[tokio::test]
async fn a_file_that_is_too_large_is_not_cut_off_but_left() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let (contact, _) = picture(&kit).await;
    let link = message(&kit, contact).await.media_url.expect("there is a link");
    kit.transport.then(answer(200, vec![0; MAX_DOCUMENT_BYTES + 1]));
    assert!(kit.app.jobs().run_one().await.unwrap());
    assert_eq!(kit.transport.requests()[0].answer_limit, MAX_DOCUMENT_BYTES + 1);
    assert_eq!(store.jobs(kit.company.id), []);
    assert_eq!(message(&kit, contact).await.media_url, None);
    assert_eq!(follow(&kit, &link).await, refused("NOT_FOUND"));
    assert_eq!(kit.app.documents().list(kit.company.id, contact).await.unwrap(), []);
}

#[tokio::test]
async fn a_document_store_that_fails_is_tried_again() {
    let files = FaultyFiles::new(MemoryFiles::new());
    let kit = Kit::builder().files(files.clone()).build().await;
    let (contact, _) = picture(&kit).await;
    kit.transport.otherwise(answer(200, b"jpeg".to_vec()));
    files.fail_every(FileOp::Put, FailureAt::Before);
    assert!(kit.app.jobs().run_one().await.unwrap());
    files.heal();
    kit.clock.advance(Duration::from_secs(5));
    assert!(kit.app.jobs().run_one().await.unwrap());
    assert_eq!(fetched(&kit, contact).await, Ok(4));
}

#[tokio::test]
async fn the_job_of_a_contact_that_is_gone_ends() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let (contact, connection) = picture(&kit).await;
    kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    while kit.app.jobs().run_one().await.unwrap() {}
    assert_eq!(store.jobs(kit.company.id), []);
    assert_eq!(kit.transport.requests(), []);
    let gone = kit.app.connections().delete(kit.company.id, connection).await;
    assert!(!matches!(gone, Err(Error::Rejected(ManageError::InUse))));
}

/// R143.
#[tokio::test]
async fn a_file_whose_contact_is_merged_while_it_is_fetched_is_the_other_ones() {
    let kit = Kit::new().await;
    let (goes, _) = picture(&kit).await;
    let keeps = create_phone(&kit, "34991230002").await;
    let gateway = kit.transport.at(SOURCE);
    gateway.hold().otherwise(answer(200, b"jpeg".to_vec()));
    let merging = async {
        gateway.has_got(1).await;
        kit.app.contacts().merge(kit.company.id, keeps, goes).await.unwrap();
        gateway.open();
    };
    let jobs = kit.app.jobs();
    let (worked, ()) = tokio::join!(jobs.run_one(), merging);
    assert!(worked.unwrap());
    kit.clock.advance(Duration::from_secs(5));
    assert!(jobs.run_one().await.unwrap());
    assert_eq!(fetched(&kit, keeps).await, Ok(4));
    assert_eq!(kit.app.documents().list(kit.company.id, keeps).await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_links_of_one_process_are_those_of_another() {
    let store = Arc::new(MemoryStore::new());
    let files = MemoryFiles::new();
    let kit = Kit::builder().store(store.clone()).files(files.clone()).build().await;
    let (contact, _) = picture(&kit).await;
    kit.transport.then(answer(200, b"jpeg".to_vec()));
    assert!(kit.app.jobs().run_one().await.unwrap());
    let link = message(&kit, contact).await.media_url.unwrap();
    let other = Kit::builder().store(store).files(files).clock(kit.clock.clone()).start().await;
    assert_eq!(follow_at(&other, &link).await, Ok(4));
}

/// R190.
#[tokio::test]
async fn a_file_that_was_replaced_by_another_one_is_not_read() {
    let files = MemoryFiles::new();
    let kit = Kit::builder().files(files.clone()).build().await;
    let (contact, _) = picture(&kit).await;
    kit.transport.then(answer(200, b"jpeg".to_vec()));
    assert!(kit.app.jobs().run_one().await.unwrap());
    let documents = kit.app.documents();
    let document = documents.list(kit.company.id, contact).await.unwrap().remove(0);
    documents.check(&document).await.unwrap();
    for (bytes, wanted) in [(&b"longer"[..], "UNAVAILABLE"), (b"s", "UNAVAILABLE")] {
        files.put(&files.keys()[0], bytes.to_vec()).await.unwrap();
        assert_eq!(code(documents.open(&document, 0).await), wanted);
        assert_eq!(code(documents.check(&document).await), wanted);
    }
    files.lose(&files.keys()[0]);
    assert_eq!(code(documents.open(&document, 0).await), "NOT_FOUND");
    assert_eq!(code(documents.check(&document).await), "NOT_FOUND");
}

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A picture whose file was fetched, and the link to it.
async fn fetched_picture(kit: &Kit) -> (ContactId, String) {
    let (contact, _) = picture(kit).await;
    kit.transport.then(answer(200, b"jpeg".to_vec()));
    assert!(kit.app.jobs().run_one().await.unwrap());
    (contact, message(kit, contact).await.media_url.expect("there is a link"))
}

/// R193.
#[tokio::test]
async fn a_link_ends_and_listings_give_a_fresh_one() {
    let kit = Kit::new().await;
    let (contact, link) = fetched_picture(&kit).await;
    kit.clock.advance(Duration::from_secs(3_600));
    assert_eq!(message(&kit, contact).await.media_url.as_ref(), Some(&link), "on the same day");
    kit.clock.advance(30 * DAY - Duration::from_secs(3_600));
    assert_eq!(follow(&kit, &link).await, Ok(4), "it is good for 30 days");
    kit.clock.advance(DAY);
    assert_eq!(follow(&kit, &link).await, refused("NOT_FOUND"));
    let fresh = message(&kit, contact).await.media_url.expect("there is a link");
    assert_ne!(fresh, link);
    assert_eq!(follow(&kit, &fresh).await, Ok(4));
}

/// R193.
#[tokio::test]
async fn links_are_good_for_as_long_as_the_installation_says() {
    let mut settings = recado_core::Settings::new("https://recado.example");
    settings.media_link_lifetime = 2 * DAY;
    let kit = Kit::builder().settings(settings).build().await;
    let (_, link) = fetched_picture(&kit).await;
    kit.clock.advance(2 * DAY);
    assert_eq!(follow(&kit, &link).await, Ok(4));
    kit.clock.advance(DAY);
    assert_eq!(follow(&kit, &link).await, refused("NOT_FOUND"));
}

/// Two processes on one store, and a link to a file of the first one's.
async fn two_processes() -> (Kit, Recado, ContactId, String) {
    let store = Arc::new(MemoryStore::new());
    let files = MemoryFiles::new();
    let kit = Kit::builder().store(store.clone()).files(files.clone()).build().await;
    let (contact, link) = fetched_picture(&kit).await;
    let other = Kit::builder().store(store).files(files).clock(kit.clock.clone()).start().await;
    assert_eq!(follow_at(&other, &link).await, Ok(4));
    (kit, other, contact, link)
}

/// R194.
#[tokio::test]
async fn after_a_rotation_links_stay_good_until_their_end_and_new_ones_are_good_everywhere() {
    let (kit, other, contact, link) = two_processes().await;
    let rotated = kit.app.messages().rotate_media_key(false).await.unwrap();
    let fresh = message(&kit, contact).await.media_url.expect("there is a link");
    assert_ne!(fresh, link);
    kit.clock.advance(Duration::from_secs(1));
    for app in [&kit.app, &other] {
        assert_eq!(follow_at(app, &fresh).await, Ok(4), "also where the new key was not known");
        assert_eq!(follow_at(app, &link).await, Ok(4));
    }
    kit.clock.set(rotated.links_until.expect("there are links"));
    for app in [&kit.app, &other] {
        assert_eq!(follow_at(app, &link).await, refused("NOT_FOUND"));
    }
}

/// R194.
#[tokio::test]
async fn after_a_rotation_at_once_old_links_end_here_now_and_elsewhere_within_a_minute() {
    let (kit, other, contact, link) = two_processes().await;
    let rotated = kit.app.messages().rotate_media_key(true).await.unwrap();
    assert_eq!(rotated.links_until, None);
    assert_eq!(follow(&kit, &link).await, refused("NOT_FOUND"));
    kit.clock.advance(Duration::from_secs(60));
    assert_eq!(follow_at(&other, &link).await, refused("NOT_FOUND"));
    let fresh = message(&kit, contact).await.media_url.expect("there is a link");
    assert_eq!(follow_at(&other, &fresh).await, Ok(4));
}

/// R194.
#[tokio::test]
async fn forged_links_cause_one_read_a_second() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::on(Arc::new(store.clone())).await;
    let (_, link) = fetched_picture(&kit).await;
    let forged = format!("{}x", &link[..link.len() - 1]);
    kit.clock.advance(Duration::from_secs(10));
    assert_eq!(follow(&kit, &forged).await, refused("NOT_FOUND"));
    // Without a database only what needs no read can be answered.
    store.fail_all(StoreFailure::Unavailable);
    for _ in 0..100 {
        assert_eq!(follow(&kit, &forged).await, refused("NOT_FOUND"));
    }
    kit.clock.advance(Duration::from_secs(1));
    let (company, id, last) = parts(&forged);
    let read = kit.app.messages().linked_file(company, id, last).await;
    assert!(matches!(read, Err(Error::Store(_))), "now it is looked for once more");
}

/// Files that never are stored, or during whose storing the message is edited.
#[derive(Clone, Default)]
struct SlowFiles {
    inner: MemoryFiles,
    edits: Arc<OnceLock<(Recado, CompanyId, ConnectionId)>>,
}

#[async_trait]
impl Files for SlowFiles {
    async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        let Some((app, company, connection)) = self.edits.get() else {
            return std::future::pending().await;
        };
        let edit = json!({
            "kind": "edit", "provider_message_id": "wamid.1", "content": "corrigido",
        });
        let edit = recado_core::inbox::parse_event(&edit, "g.us");
        app.inbox().receive(*company, *connection, vec![edit]).await.unwrap();
        self.inner.put(key, bytes).await
    }

    async fn open(&self, key: &str, from: u64) -> Result<Option<FileReader>, FileError> {
        self.inner.open(key, from).await
    }

    async fn size(&self, key: &str) -> Result<Option<u64>, FileError> {
        self.inner.size(key).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError> {
        self.inner.copy(from, to).await
    }

    async fn remove(&self, key: &str) -> Result<(), FileError> {
        self.inner.remove(key).await
    }
}

#[tokio::test]
async fn a_slow_fetch_is_left_alone_and_taken_over_after_a_crash() {
    let store = Arc::new(MemoryStore::new());
    let kit = Kit::builder().store(store.clone()).files(SlowFiles::default()).build().await;
    let (contact, _) = picture(&kit).await;
    kit.transport.otherwise(answer(200, b"jpeg".to_vec()));
    assert!(run_until_it_hangs(kit.app.jobs().run_one()).is_none());

    let builder = Kit::builder().store(store).clock(kit.clock.clone());
    let other = builder.transport(kit.transport.clone()).start().await;
    kit.clock.advance(Duration::from_secs(149));
    assert!(!other.jobs().run_one().await.unwrap());
    kit.clock.advance(Duration::from_secs(1));
    assert!(other.jobs().run_one().await.unwrap());
    let document = message(&kit, contact).await;
    assert_eq!(follow_at(&other, &document.media_url.expect("there is a link")).await, Ok(4));
}

#[tokio::test]
async fn an_edit_while_the_file_is_stored_is_not_lost() {
    let files = SlowFiles::default();
    let kit = Kit::builder().files(files.clone()).build().await;
    let (contact, connection) = picture(&kit).await;
    assert!(files.edits.set((kit.app.clone(), kit.company.id, connection)).is_ok());
    kit.transport.then(answer(200, b"jpeg".to_vec()));
    assert!(kit.app.jobs().run_one().await.unwrap());
    let message = message(&kit, contact).await;
    assert_eq!(message.media_caption.as_deref(), Some("corrigido"));
    assert_eq!(follow(&kit, &message.media_url.expect("there is a link")).await, Ok(4));
    assert!(!kit.app.jobs().run_one().await.unwrap(), "the job is done");
}
