//! Moving an installation, or one company, to another database: D76, R257–R263.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::documents::Files;
use recado_core::halts::Whereabouts;
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;
use recado_runtime::LocalFiles;
use recado_store_sql::transfer::{
    Fill, MoveError, Moved, Part, Places, Progress, Refusal, Scope, Step, TransferReader,
    TransferWriter, Transferable,
};
use recado_testkit::ScriptedProvider;
use recado_tests::backend::{Database, Setup};
use recado_tests::world::operator_at;
use recado_tests::{Request, StoreKind, World, both_stores, mobile, phone, text};
use serde_json::{Value, json};

const EXPORT: &str = "/api/v1/contacts?order_by=created_at&limit=7";
/// How many messages a client sends.
const SENDS: u32 = 60;

/// A world, and a new database of the other kind.
async fn worlds(kind: StoreKind) -> (World, Database) {
    (World::start(kind).await, Database::migrated(kind.other()))
}

/// Asserts that writes are refused because of a move.
async fn is_closed(world: &World, key: &str) {
    let refused = world.post_as(key, "/api/v1/contacts", json!({"phone": phone(900)})).await;
    refused.expect_error(503, "MOVING");
    assert_eq!(refused.header("retry-after"), "5");
}

async fn is_open(world: &World, n: u32) {
    world.post_contact(json!({"phone": phone(800 + n)})).await.expect(201);
}

/// Sends messages one after the other and repeats each call until it is accepted.
async fn client(addr: Arc<Mutex<SocketAddr>>, key: String, connection: String, sent: &AtomicUsize) {
    for n in 0..SENDS {
        let body = json!({"to": mobile(n), "message": format!("number {n}"),
            "connection_id": connection});
        let mut left = 6_000;
        loop {
            let addr = *addr.lock().unwrap_or_else(PoisonError::into_inner);
            let request = Request::new("POST", "/api/v1/send/message").bearer(&key);
            let request = request.header("idempotency-key", format!("key-{n}"));
            let answer = request.json(&body).try_send(addr).await;
            if answer.as_ref().is_some_and(|answer| answer.status == 200) {
                break;
            }
            left -= 1;
            let last = answer.map(|answer| answer.show());
            assert!(left > 0, "message {n} is never accepted: {last:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        sent.fetch_add(1, Ordering::SeqCst);
    }
}

/// D76, R257, R262.
#[both_stores]
async fn a_client_that_repeats_its_calls_loses_nothing_and_nothing_is_sent_twice(kind: StoreKind) {
    let provider = ScriptedProvider::new();
    let setup = Setup { providers: Some(provider.everywhere()), ..Setup::default() };
    let world = World::with(kind, setup).await;
    let connection = world.qr().await;
    let target = Database::migrated(kind.other());
    let addr = Arc::new(Mutex::new(world.addr));
    let sent = AtomicUsize::new(0);
    let calls = client(addr.clone(), world.us.key.clone(), connection, &sent);
    let moving = async {
        while sent.load(Ordering::SeqCst) < SENDS as usize / 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        world.move_to(&target, None).await.expect("it is moved");
        is_closed(&world, &world.us.key).await;
        world.get("/api/v1/contacts").await.expect(200);
        let server = world.server_on(&target).await;
        *addr.lock().unwrap_or_else(PoisonError::into_inner) = server.addr;
        server
    };
    let ((), server) = tokio::join!(calls, moving);
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for message in provider.sent() {
        *asked.entry(message.outgoing.reference.to_string()).or_default() += 1;
    }
    assert_eq!(asked.len(), SENDS as usize);
    assert!(asked.values().all(|times| *times == 1), "{asked:?}");
    let mut stored = Vec::new();
    for page in 1..3 {
        let path = format!("/api/v1/messages?limit=50&page={page}");
        let answer =
            Request::new("GET", path.clone()).bearer(&world.us.key).send(server.addr).await;
        answer.expect(200);
        stored.extend(answer.column("content"));
    }
    stored.sort();
    let mut expected: Vec<String> = (0..SENDS).map(|n| format!("number {n}")).collect();
    expected.sort();
    assert_eq!(stored, expected);
}

/// D25, R257.
#[both_stores]
async fn an_export_begun_before_a_move_ends_after_it_without_a_skip_or_repeat(kind: StoreKind) {
    let (world, target) = worlds(kind).await;
    let mut ids = Vec::new();
    for n in 0..25 {
        ids.push(world.create_id(json!({"phone": phone(n)})).await);
        world.advance(Duration::from_millis(7));
    }
    let first = world.get(EXPORT).await;
    let mut seen = first.ids();
    let mut cursor = first.json()["pagination"]["next_cursor"].clone();
    world.move_to(&target, None).await.expect("it is moved");
    let server = world.server_on(&target).await;
    while let Some(next) = cursor.as_str() {
        let request = Request::new("GET", format!("{EXPORT}&cursor={next}"));
        let answer = request.bearer(&world.us.key).send(server.addr).await;
        answer.expect(200);
        seen.extend(answer.ids());
        cursor = answer.json()["pagination"]["next_cursor"].clone();
    }
    assert_eq!(seen, ids);
}

/// D76, R261.
#[both_stores]
async fn one_company_moves_and_the_others_stay(kind: StoreKind) {
    let (world, target) = worlds(kind).await;
    let other = world.tenant("Outra").await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let moved = world.move_to(&target, Some(&world.us.id)).await.expect("it is moved");
    // R390: what was done here is told here.
    assert!(!moved.rows.contains_key("audit_entries"), "{:?}", moved.rows);
    is_closed(&world, &world.us.key).await;
    world.create_as(&other, json!({"phone": phone(2)})).await;
    let server = world.server_on(&target).await;
    let path = format!("/api/v1/contacts/{id}");
    Request::new("GET", path.clone()).bearer(&world.us.key).send(server.addr).await.expect(200);
    let theirs = Request::new("GET", "/api/v1/contacts").bearer(&other.key);
    assert_eq!(theirs.send(server.addr).await.status, 401);
    let companies = operator_at(server.addr, "", "GET", "/companies", Value::Null).await;
    assert_eq!(companies.expect(200).as_array().map(Vec::len), Some(1));
    // It moved away: neither it nor the installation with it is moved again from here.
    let again = world.move_to(&Database::migrated(kind), Some(&world.us.id)).await;
    assert!(matches!(again, Err(MoveError::Refused(Refusal::MovedAway))), "{again:?}");
    // The other one follows, also after both installations have used all of their secrets.
    world.create_as(&other, json!({"phone": phone(3)})).await;
    for (addr, key) in [(world.server.addr, &other.key), (server.addr, &world.us.key)] {
        let page = "/api/v1/contacts?order_by=created_at&limit=1";
        let page = Request::new("GET", page).bearer(key).send(addr).await;
        page.expect(200);
    }
    for app in [world.server.recado(), server.recado()] {
        app.make_secrets().await.expect("they are there, or made");
    }
    world.move_to(&target, Some(&other.id)).await.expect("it is moved, too");
}

/// D76, R259.
#[both_stores]
async fn a_target_that_holds_companies_is_refused_and_the_source_stays_open(kind: StoreKind) {
    let world = World::start(kind).await;
    let full = World::start(kind.other()).await;
    let refused = world.move_to(&full.database, None).await;
    assert!(matches!(refused, Err(MoveError::Refused(Refusal::HoldsCompanies(1)))), "{refused:?}");
    let same = world.move_to(&world.database, None).await;
    assert!(matches!(same, Err(MoveError::Refused(Refusal::SameDatabase))), "{same:?}");
    let nobody = "01a19b7c-a680-78b4-a652-e44da7f29e26";
    let none = world.move_to(&full.database, Some(nobody)).await;
    assert!(matches!(none, Err(MoveError::Refused(Refusal::NoSuchCompany(_)))), "{none:?}");
    // Another installation has other secrets.
    let other = world.move_to(&full.database, Some(&world.us.id)).await;
    assert!(matches!(other, Err(MoveError::Failed(_))), "{other:?}");
    is_open(&world, 1).await;
}

/// A target whose disk is full after some rows.
struct FullTarget {
    inner: Arc<dyn Transferable>,
    rows: usize,
}

struct FullWriter {
    inner: Box<dyn TransferWriter>,
    rows: usize,
}

#[async_trait]
impl Transferable for FullTarget {
    async fn held_companies(&self) -> Result<Vec<CompanyId>, StoreError> {
        self.inner.held_companies().await
    }

    async fn identity(&self) -> Result<String, StoreError> {
        self.inner.identity().await
    }

    async fn under_way(&self, scope: Scope, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.under_way(scope, now).await
    }

    async fn transfer_out(
        &self,
        scope: Scope,
        is_closed: bool,
    ) -> Result<Box<dyn TransferReader>, StoreError> {
        self.inner.transfer_out(scope, is_closed).await
    }

    async fn transfer_in(
        &self,
        scope: Scope,
        fill: Fill,
    ) -> Result<Box<dyn TransferWriter>, StoreError> {
        let inner = self.inner.transfer_in(scope, fill).await?;
        Ok(Box::new(FullWriter { inner, rows: self.rows }))
    }
}

#[async_trait]
impl TransferWriter for FullWriter {
    async fn written(&mut self) -> Result<&mut dyn TransferReader, StoreError> {
        self.inner.written().await
    }

    async fn write(&mut self, part: Part, rows: Vec<Moved>) -> Result<(), StoreError> {
        self.rows = self.rows.checked_sub(rows.len()).ok_or(StoreError::Unavailable(None))?;
        self.inner.write(part, rows).await
    }

    async fn finish(&mut self, places: Places) -> Result<(), StoreError> {
        self.inner.finish(places).await
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.inner.commit().await
    }
}

/// D76, R262.
#[both_stores]
async fn a_move_that_failed_leaves_both_sides_as_they_were(kind: StoreKind) {
    let (world, target) = worlds(kind).await;
    for n in 0..20 {
        world.create(json!({"phone": phone(n)})).await;
    }
    let inner = target.transferable().await;
    let full = FullTarget { inner: inner.clone(), rows: 10 };
    let failed = world.move_with(&full, None, None, &mut |_| ()).await;
    assert!(matches!(failed, Err(MoveError::Failed(_))), "{failed:?}");
    assert!(inner.held_companies().await.expect("it is there").is_empty());
    is_open(&world, 1).await;
    assert!(world.server.recado().halts().read().await.expect("it is there").halts().is_empty());
    let moved = world.move_to(&target, None).await.expect("it is moved");
    assert_eq!(moved.rows["contacts"], 21);
}

/// Moves until rows are copied, and kills the move there.
async fn killed(world: &World, target: &Database) {
    let target = target.transferable().await;
    let (copying, copied) = tokio::sync::oneshot::channel();
    let mut copying = Some(copying);
    let mut progress = |progress| {
        if let Progress::Step(Step::Copied(_)) = progress
            && let Some(copying) = copying.take()
        {
            let _ = copying.send(());
        }
    };
    let moving = world.move_with(&*target, None, None, &mut progress);
    tokio::select! {
        biased;
        _ = copied => {}
        outcome = moving => panic!("it was not killed: {outcome:?}"),
    }
}

/// D76, R262.
#[both_stores]
async fn a_move_that_was_killed_is_begun_again_or_given_up(kind: StoreKind) {
    let (world, target) = worlds(kind).await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    killed(&world, &target).await;
    is_closed(&world, &world.us.key).await;
    world.server.recado().halts().resume(false).await.expect("it is given up");
    world.advance(Duration::from_secs(5));
    is_open(&world, 1).await;
    killed(&world, &target).await;
    world.move_to(&target, None).await.expect("it is begun again");
    let server = world.server_on(&target).await;
    let path = format!("/api/v1/contacts/{id}");
    Request::new("GET", path.clone()).bearer(&world.us.key).send(server.addr).await.expect(200);
}

/// D76, R262.
#[both_stores]
async fn a_move_that_was_killed_at_its_very_end_is_found_to_be_done(kind: StoreKind) {
    let (world, target) = worlds(kind).await;
    world.create(json!({"phone": phone(1)})).await;
    world.move_to(&target, None).await.expect("it is moved");
    // As if the last step had not been made.
    let halts = world.server.recado().halts();
    halts.resume(true).await.expect("it is there");
    halts.close(None, None, Whereabouts::Here).await.expect("it is there");
    let again = world.move_to(&target, None).await.expect("it is found");
    assert!(again.already);
    halts.resume(false).await.expect("it is there");
    is_closed(&world, &world.us.key).await;
}

/// D76, R262: what goes on at the source while only the company is closed makes no difference.
#[both_stores]
async fn a_move_of_a_company_that_was_killed_at_its_very_end_is_found_to_be_done(kind: StoreKind) {
    let (world, target) = worlds(kind).await;
    world.create(json!({"phone": phone(1)})).await;
    let company: CompanyId = world.us.id.parse().map(CompanyId::new).expect("an id");
    let token = json!({"name": "ours", "role": "owner", "company_id": world.us.id});
    let token = world.operator("POST", "/operator-tokens", token).await.expect(201);
    let moved = world.move_to(&target, Some(&world.us.id)).await.expect("it is moved");
    assert_eq!(moved.rows["operator_tokens"], 1);
    // As if the last step had not been made.
    let halts = world.server.recado().halts();
    halts.resume(true).await.expect("it is there");
    halts.close(Some(company), None, Whereabouts::Here).await.expect("it is there");
    // The log of what was done goes on, and a token is no row of the company that is closed.
    world.tenant("Outra").await;
    let path = format!("/operator-tokens/{}", text(&token["id"]));
    world.operator("PATCH", &path, json!({"name": "theirs"})).await.expect(200);
    let again = world.move_to(&target, Some(&world.us.id)).await.expect("it is found");
    assert!(again.already);
    let server = world.server_on(&target).await;
    let path = format!("/operator/v1/companies/{}", world.us.id);
    let ours = Request::new("GET", path).bearer(&text(&token["token"]));
    ours.send(server.addr).await.expect(200);
}

/// D26, R263.
#[both_stores]
async fn documents_are_copied_where_a_place_is_named(kind: StoreKind) {
    let (world, target) = worlds(kind).await;
    let contact = world.create_id(json!({"phone": phone(1)})).await;
    let id = world.document(&contact, "a.txt", b"some bytes").await;
    let folder = tempfile::tempdir().expect("a folder");
    let files = LocalFiles::new(folder.path());
    let target = target.transferable().await;
    let places: (&dyn Files, &dyn Files) = (&world.server.files, &files);
    let moved = world.move_with(&*target, None, Some(places), &mut |_| ()).await;
    let documents = moved.expect("it is moved").documents;
    assert_eq!((documents.documents, documents.bytes, documents.missing), (1, 10, 0));
    let key = format!("documents/{}/{id}", world.us.id);
    assert_eq!(files.get(&key).await.expect("it is there").as_deref(), Some(&b"some bytes"[..]));
}

/// R257.
#[both_stores]
async fn events_after_a_move_follow_those_before_it(kind: StoreKind) {
    let (world, target) = worlds(kind).await;
    for n in 0..3 {
        world.create(json!({"phone": phone(n)})).await;
    }
    let reader = world.key_with(&["events:read"]).await;
    let journal = |addr| {
        let key = reader.clone();
        async move {
            let request = Request::new("GET", "/api/v1/events?limit=100");
            let answer = request.bearer(&key).send(addr).await;
            answer.expect(200).as_array().cloned().unwrap_or_default()
        }
    };
    let before = journal(world.addr).await;
    world.move_to(&target, None).await.expect("it is moved");
    let server = world.server_on(&target).await;
    let body = json!({"phone": phone(3)});
    let request = Request::new("POST", "/api/v1/contacts").bearer(&world.us.key).json(&body);
    text(&request.send(server.addr).await.expect(201)["contact"]["id"]);
    let after = journal(server.addr).await;
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(after.len(), before.len() + 1);
}
