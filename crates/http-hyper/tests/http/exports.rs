//! The export of everything that is kept about a contact, on the wire (R410).

use std::sync::Arc;
use std::time::Duration;

use recado_core::audit::AuditRequest;
use recado_core::documents::MAX_DOCUMENT_BYTES;
use recado_core::ids::ContactId;
use recado_core::query::Params;
use recado_runtime::TokioSpawner;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::site::{Setup, Site, TOKEN, read_reply};

const UNKNOWN: &str = "01a19b7c-a680-78b4-a652-e44da7f29e26";

async fn contact(site: &Site, bytes: usize) -> ContactId {
    let new = body(json!({"phone": "+5511987654321"}));
    let made = site.kit.app.contacts().create(&site.kit.caller, &new).await;
    let id = made.expect("a contact").contact.id;
    let documents = site.kit.app.documents();
    documents.attach(site.kit.company.id, id, "a.bin", vec![7; bytes]).await.expect("attached");
    id
}

/// Asks for the export of a contact. Nothing of the answer is read.
async fn asks(site: &Site, id: ContactId) -> TcpStream {
    let mut stream = site.connect().await;
    let path = format!("/operator/v1/companies/{}/contacts/{id}/export", site.kit.company.id);
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\nAuthorization: Bearer {TOKEN}\r\n"
    );
    stream.write_all(format!("{head}\r\n").as_bytes()).await.expect("written");
    stream
}

async fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // The connection may be reset where it was cut.
    let _ = stream.read_to_end(&mut bytes).await;
    bytes
}

/// R410.
#[tokio::test]
async fn head_of_an_export_starts_none() {
    let site = Site::new().await;
    let id = contact(&site, 3).await;
    for _ in 0..3 {
        let reply = site.company("HEAD", &format!("/contacts/{id}/export"), "").await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/zip")));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("content-length"), None, "it is not known");
    }
    let unknown = format!("/contacts/{UNKNOWN}/export");
    assert_eq!(site.company("HEAD", &unknown, "").await.status, 404);
    assert_eq!(site.company("GET", &unknown, "").await.status, 404);
}

/// R386, R410: whoever only asks whether there is one has read nothing.
#[tokio::test]
async fn head_of_an_export_leaves_no_entry_and_marks_nothing_as_read() {
    let site = Site::new().await;
    let (kit, company) = (&site.kit, site.kit.company.id);
    let on = kit.connection("qr").await;
    kit.contact_writes(on, "5511987654321", "Oi").await;
    let id = kit.contact_by_phone("+5511987654321").await.expect("it wrote");
    let memory = body(json!({"summary": "wants a cake"}));
    kit.app.leads().merge(company, id, &memory).await.expect("a lead memory");
    let log = async || {
        let all = AuditRequest::parse(&Params::new(Vec::new())).expect("no filters");
        kit.app.audit().list(Some(company), &all).await.expect("the store works").entries.len()
    };
    let (before, path) = (log().await, format!("/contacts/{id}/export"));
    assert_eq!(site.company("HEAD", &path, "").await.status, 200);
    assert_eq!(log().await, before);
    assert!(kit.stored_contact(id).await.value().has_unread);
    assert_eq!(site.company("GET", &path, "").await.status, 200);
    assert_eq!(log().await, before + 1, "that one was made is logged");
}

/// R410.
#[tokio::test]
async fn a_company_has_two_exports_at_once() {
    let site = Site::new().await;
    let id = contact(&site, MAX_DOCUMENT_BYTES).await;
    let path = format!("/contacts/{id}/export");
    let mut reading = Vec::new();
    for _ in 0..2 {
        let mut stream = asks(&site, id).await;
        assert_eq!(read_reply(&mut stream, true).await.expect("an answer").status, 200);
        reading.push(stream);
    }
    let refused = site.company("GET", &path, "").await;
    assert_eq!(refused.refusal(), (429, "RATE_LIMITED".to_owned()));
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert_eq!(site.company("HEAD", &path, "").await.status, 200);
    // One that is given up, and one that is read to its end, make room.
    let whole = reading.pop().expect("two");
    reading.clear();
    assert!(rest(whole).await.ends_with(b"\r\n0\r\n\r\n"));
    for _ in 0..2 {
        let mut stream = asks(&site, id).await;
        let mut tries = 0;
        while read_reply(&mut stream, true).await.expect("an answer").status != 200 {
            tries += 1;
            assert!(tries < 100, "no place is given back");
            tokio::time::sleep(Duration::from_millis(50)).await;
            stream = asks(&site, id).await;
        }
        reading.push(stream);
    }
}

/// R410.
#[tokio::test]
async fn an_export_that_fails_in_the_middle_is_cut_off() {
    let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
    let kit = Kit::builder().store(store.clone()).spawner(TokioSpawner).build().await;
    let site = Setup { kit, ..Setup::new().await }.start().await;
    let id = contact(&site, 3).await;
    let whole = rest(asks(&site, id).await).await;
    assert!(whole.ends_with(b"\r\n0\r\n\r\n"), "the last chunk");
    store.fail_read("rows of Message");
    let cut = rest(asks(&site, id).await).await;
    assert!(cut.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&cut));
    assert!(cut.windows(12).any(|part| part == b"contact.json"));
    assert!(!cut.ends_with(b"0\r\n\r\n"), "no last chunk");
    assert!(!cut.windows(9).any(|part| part == b"\"made_at\""), "it has no manifest");
}
