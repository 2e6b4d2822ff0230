//! `recado company move`: a company moves to another cell while it is in use (R461).

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use recado_tests::backend::Database;
use recado_tests::binary::{Ended, Process, run_recado};
use recado_tests::world::{Tenant, tenant_at};
use recado_tests::{
    Request, ScriptedAnswer, StoreKind, both_stores, mobile, on_postgres, phone, text,
};
use serde_json::{Value, json};

use crate::backup::{contact, qr};

const CONTACTS: &str = "/api/v1/contacts";

/// The file that names the databases of cells 0 and 1.
fn cells(folder: &Path, databases: [&Database; 2]) -> String {
    let [first, second] = databases.map(Database::url);
    let path = folder.join("cells.toml");
    std::fs::write(&path, format!("0 = \"{first}\"\n1 = \"{second}\"\n")).expect("it is written");
    path.display().to_string()
}

async fn company_move(source: &Database, company: &str, cells: &str) -> Ended {
    let database = source.url();
    let arguments = ["company", "move", company, "--to-cell", "1", "--cells", cells];
    run_recado([&arguments[..], &["--database", &database, "--json"]].concat(), &[]).await
}

fn moved(ended: &Ended) -> Value {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("JSON")
}

/// R461.
#[both_stores]
async fn a_company_in_use_moves_only_from_one_postgres_to_another(kind: StoreKind) {
    let (source, target) = (Database::migrated(kind), Database::migrated(kind.other()));
    let process = Process::serve(&source, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let file = cells(process.folder.path(), [&source, &target]);
    let refused = company_move(&source, &us.id, &file).await;
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains("only from one Postgres to another"), "{}", refused.stderr);
    contact(&process, &us, 1).await.expect("it was not held");
}

/// A client that makes, changes, writes to and deletes contacts, and repeats each call until it is
/// accepted. All its contacts have one e-mail address, one after the other.
struct Client {
    at: SocketAddr,
    us: Tenant,
    connection: String,
    number: u32,
    /// Whether it gives up what is unavailable in the end.
    gives_up: bool,
    kept: Mutex<Kept>,
}

/// What has to be there in the end: phones of contacts, and texts that were sent to them.
#[derive(Clone, Debug, Default)]
struct Kept {
    phones: BTreeSet<String>,
    texts: BTreeSet<String>,
}

impl Client {
    fn new(at: SocketAddr, us: &Tenant, connection: &str, number: u32) -> Self {
        let (us, connection) = (us.clone(), connection.to_owned());
        Self { at, us, connection, number, gives_up: false, kept: Mutex::default() }
    }

    /// Repeats a call while it is unavailable; `None` if it gives up.
    async fn call(
        &self,
        method: &str,
        path: &str,
        key: String,
        body: Value,
        ends: &AtomicBool,
    ) -> Option<ScriptedAnswer> {
        for _ in 0..6_000 {
            let request = Request::new(method, path).bearer(&self.us.key);
            let request = if body.is_null() { request } else { request.json(&body) };
            match request.header("idempotency-key", &key).try_send(self.at).await {
                Some(answer) if answer.status != 503 => return Some(answer),
                _ if self.gives_up && ends.load(Ordering::SeqCst) => return None,
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
        panic!("{method} {path} is never accepted");
    }

    /// Goes on until the end.
    async fn run(&self, ends: &AtomicBool) -> Option<()> {
        let email = format!("client{}@example.org", self.number);
        for n in 0.. {
            if ends.load(Ordering::SeqCst) {
                break;
            }
            let (phone, key) = (mobile(1_000 * self.number + n), format!("{}-{n}", self.number));
            let body = json!({"phone": phone, "email": email});
            let made = self.call("POST", CONTACTS, format!("{key}-make"), body, ends).await?;
            made.expect(201);
            let one = format!("{CONTACTS}/{}", text(&made.data()["contact"]["id"]));
            for (at, change) in [json!({"name": format!("Ana {n}")}), json!({"email": null})]
                .into_iter()
                .enumerate()
            {
                let of_change = format!("{key}-change{at}");
                self.call("PATCH", &one, of_change, change, ends).await?.expect(200);
            }
            let body = json!({"to": phone, "message": format!("{key} {}", words(350)),
                "connection_id": self.connection});
            let path = "/api/v1/send/message";
            self.call("POST", path, format!("{key}-send"), body, ends).await?.expect(200);
            if n % 2 == 1 {
                let of_deletion = format!("{key}-delete");
                let gone = self.call("DELETE", &one, of_deletion, Value::Null, ends).await?;
                // A repeated deletion finds nothing.
                assert!(matches!(gone.status, 200 | 404), "{}", gone.show());
                continue;
            }
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.phones.insert(phone);
            kept.texts.insert(key);
        }
        Some(())
    }

    /// What has to be there in the end.
    fn kept(self) -> Kept {
        self.kept.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text of so many words that differ.
fn words(count: u32) -> String {
    (0..count).map(|n| n.wrapping_mul(2_654_435_761).to_string()).collect::<Vec<_>>().join(" ")
}

/// A column of all pages of a listing.
async fn all(at: SocketAddr, us: &Tenant, path: &str, column: &str) -> Vec<String> {
    let mut values = Vec::new();
    for page in 1.. {
        let path = format!("{path}?limit=50&page={page}");
        let answer = Request::new("GET", path).bearer(&us.key).send(at).await;
        answer.expect(200);
        let found = answer.column(column);
        if found.is_empty() {
            break;
        }
        values.extend(found);
    }
    values
}

/// R460, R461.
#[on_postgres]
async fn a_company_that_is_in_use_moves_to_another_cell_and_loses_nothing(kind: StoreKind) {
    let (source, target) = (Database::migrated(kind), Database::migrated(kind));
    let first = Process::serve(&source, &[]).await;
    let folder = Arc::clone(&first.folder);
    let file = cells(folder.path(), [&source, &target]);
    let begins = tenant_at(first.addr, "First", "enterprise").await;
    let us = tenant_at(first.addr, "Acme", "enterprise").await;
    let connection = qr(&first, &us).await;
    let mut people = Vec::new();
    for n in 0..30 {
        people.push(contact(&first, &us, n).await.expect("it is made"));
    }
    // The company that begins a cell gives it the secrets of the installation.
    let (ends, connected) = (AtomicBool::new(false), qr(&first, &begins).await);
    let client = Client { gives_up: true, ..Client::new(first.addr, &begins, &connected, 0) };
    let moving = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let moved = moved(&company_move(&source, &begins.id, &file).await);
        ends.store(true, Ordering::SeqCst);
        moved
    };
    let (begun, _) = tokio::join!(moving, client.run(&ends));
    assert!(begun["repeated"].as_u64() > Some(0), "{begun}");
    let of_beginning = client.kept();
    assert!(!of_beginning.texts.is_empty());
    let second = Process::serve(&target, &["--cell", "1", "--trusted-proxies", "127.0.0.1"]).await;
    let at = format!("1=http://{}", second.addr);
    first.signal("TERM").await;
    first.ended().await;
    let first = Process::serve(&source, &["--cell-urls", &at]).await;

    let page = format!("{CONTACTS}?order_by=created_at&limit=10");
    let begun = Request::new("GET", page.clone()).bearer(&us.key).send(first.addr).await;
    let mut exported = begun.ids();
    let ends = AtomicBool::new(false);
    let clients = [1, 2, 3].map(|number| Client::new(first.addr, &us, &connection, number));
    let moving = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let moved = moved(&company_move(&source, &us.id, &file).await);
        // Everything goes on by way of the old cell.
        tokio::time::sleep(Duration::from_millis(500)).await;
        ends.store(true, Ordering::SeqCst);
        moved
    };
    let [one, two, three] = &clients;
    let (moved, ..) = tokio::join!(moving, one.run(&ends), two.run(&ends), three.run(&ends));
    assert!(moved["repeated"].as_u64() > Some(0) && moved["held_seconds"].is_number(), "{moved}");

    let mut kept = Kept::default();
    for client in clients {
        let client = client.kept();
        kept.phones.extend(client.phones);
        kept.texts.extend(client.texts);
    }
    kept.phones.extend((0..30).map(phone));
    let mut phones = all(second.addr, &us, CONTACTS, "phone").await;
    phones.sort();
    assert_eq!(phones, kept.phones.into_iter().collect::<Vec<_>>());
    let texts = all(second.addr, &us, "/api/v1/messages", "content").await;
    let first_word = |text: &String| text.split(' ').next().map(str::to_owned);
    let mut texts: Vec<String> = texts.iter().filter_map(first_word).collect();
    texts.sort();
    assert_eq!(texts, kept.texts.into_iter().collect::<Vec<_>>());
    // Of the first company, what was accepted before it was closed.
    let phones_of_first = all(second.addr, &begins, CONTACTS, "phone").await;
    assert!(of_beginning.phones.iter().all(|phone| phones_of_first.contains(phone)));
    let texts = all(second.addr, &begins, "/api/v1/messages", "content").await;
    let texts: Vec<String> = texts.iter().filter_map(first_word).collect();
    assert!(of_beginning.texts.iter().all(|text| texts.contains(text)));
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), texts.len(), "nothing is sent twice");
    // The export that was begun before goes on at the new cell.
    let mut cursor = begun.json()["pagination"]["next_cursor"].clone();
    while let Some(next) = cursor.as_str() {
        let path = format!("{page}&cursor={next}");
        let answer = Request::new("GET", path).bearer(&us.key).send(second.addr).await;
        answer.expect(200);
        exported.extend(answer.ids());
        cursor = answer.json()["pagination"]["next_cursor"].clone();
    }
    assert_eq!(exported[..30], people);
    assert_eq!(exported.iter().collect::<BTreeSet<_>>().len(), phones.len());
}
