//! Everything that is kept about a person (R410, R411).

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use recado_core::documents::{MAX_DOCUMENT_BYTES, file_key};
use recado_core::gateway::{GatewayEvent, NamesReport, UnknownReport};
use recado_core::idempotency::{Begun, CallKey, hash_of};
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::links::Visit;
use recado_core::uploads::NewFile;
use recado_core::{ExportError, Settings};
use recado_testkit::files::MemoryFiles;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, ScriptedProvider};
use serde_json::{Value, json};

use super::campaign_scene::Scene;
use super::create_phone;
use super::shop::phone;

/// The files of a ZIP, as texts, by path.
fn files_of(bytes: &[u8]) -> Vec<(String, String)> {
    let zip = rawzip::ZipArchive::from_slice(bytes).unwrap();
    let mut files = Vec::new();
    for entry in zip.entries() {
        let entry = entry.unwrap();
        let path = entry.file_path().try_normalize().unwrap().as_ref().to_owned();
        let file = zip.get_entry(entry.wayfinder()).unwrap();
        let found = rawzip::ZipVerification {
            crc: rawzip::crc32(file.data()),
            uncompressed_size: file.data().len() as u64,
        };
        file.claim_verifier().valid(found).unwrap();
        files.push((path, String::from_utf8_lossy(file.data()).into_owned()));
    }
    files
}

async fn exported(kit: &Kit, id: ContactId) -> Vec<(String, String)> {
    let export = kit.app.contacts().export_person(kit.company.id, id).await.unwrap();
    let frames: Vec<Vec<u8>> = export.frames().map(|frame| frame.unwrap()).collect().await;
    files_of(&frames.concat())
}

/// What a file of JSON holds.
fn json_of(files: &[(String, String)], path: &str) -> Value {
    let file = files.iter().find(|(known, _)| known == path);
    serde_json::from_str(&file.unwrap_or_else(|| panic!("no {path}")).1).unwrap()
}

fn assert_is_no_whole_zip(bytes: &[u8]) {
    assert!(rawzip::ZipArchive::from_slice(bytes).is_err(), "it has no directory");
    assert!(!bytes.windows(9).any(|part| part == b"\"made_at\""), "it has no manifest");
}

/// R410, R411.
#[tokio::test]
async fn an_export_has_what_is_kept_about_the_contact_and_nothing_about_others() {
    let kit = Kit::new().await;
    let (ana, caio) = (create_phone(&kit, &phone(1)).await, create_phone(&kit, &phone(2)).await);
    for (contact, marker) in [(ana, "marker-file-ana"), (caio, "marker-file-caio")] {
        let bytes = marker.as_bytes().to_vec();
        let documents = kit.app.documents();
        documents.attach(kit.company.id, contact, "..é.txt", bytes).await.unwrap();
    }
    let files = exported(&kit, ana).await;
    let all: String = files.iter().map(|(_, text)| text.as_str()).collect();
    for marker in ["marker-file-ana", &phone(1)] {
        assert!(all.contains(marker), "{marker}");
    }
    for marker in ["marker-file-caio", &phone(2)] {
        assert!(!all.contains(marker), "{marker}");
    }
    assert!(files.iter().all(|(path, _)| !path.contains("..")), "{files:?}");
    assert!(files.iter().any(|(path, _)| path.ends_with("/é.txt")), "{files:?}");
    assert_eq!(files.last().unwrap().0, "manifest.json");
    let manifest = json_of(&files, "manifest.json");
    assert_eq!(manifest["missing"], json!([]));
    let described = manifest["files"].as_array().unwrap();
    assert_eq!(described.len(), files.len() - 1);
    for file in described {
        assert!(files.iter().any(|(path, _)| file["path"] == path.as_str()), "{file}");
    }
}

async fn receive(kit: &Kit, on: ConnectionId, event: GatewayEvent) {
    assert_eq!(kit.receive(on, vec![Ok(event)]).await.len(), 1);
}

fn unknown(body: Value) -> GatewayEvent {
    GatewayEvent::Unknown(UnknownReport::new("call", body))
}

/// Makes at least one record of each kind that can be about the contact of a campaign.
async fn fill(scene: &Scene) {
    let (kit, contact) = (scene.shop.kit(), scene.contacts[0]);
    let (app, company) = (&kit.app, kit.company.id);
    scene.start().await;
    scene.drain().await;
    let tag = app
        .tags()
        .create(company, &body(json!({"name": "VIP", "color": "#112233"})))
        .await
        .unwrap();
    let change = body(json!({"tag_ids": [tag.id]}));
    app.contacts().patch_as_operator(company, contact, &change).await.unwrap();
    let deal = body(json!({"contact_id": contact, "title": "d"}));
    app.deals().create(company, &deal).await.unwrap();
    app.documents().attach(company, contact, "a.txt", vec![1]).await.unwrap();
    let link = body(json!({"contact_id": contact, "url": "https://example.com/x"}));
    let link = app.links().create(company, &link).await.unwrap();
    let visit = Visit { user_agent: Some("Mozilla/5.0 Firefox/140.0"), ..Visit::default() };
    app.links().follow(&link.code, visit).await.unwrap();
    app.leads().merge(company, contact, &body(json!({"summary": "s"}))).await.unwrap();
    let key = CallKey::parse("POST /api/v1/send/message", "k").unwrap();
    match app.calls().begin(company, key, hash_of(b"{}")).await {
        Ok(Begun::Fresh(ticket)) => {
            app.calls().finish(ticket, Some("{}".to_owned()), Some(contact)).await.unwrap();
        }
        other => panic!("{other:?}"),
    }
    let template = json!({"name": "t", "category": "UTILITY", "body": "Olá {{1}}"});
    let template = kit.template(template).await;
    kit.dispatch(&template, &phone(0), &["Ana"]).await.unwrap();
    let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), vec![7; 900]].concat();
    let file = NewFile { filename: Some("../foto.png".to_owned()), ..NewFile::default() };
    let frames = futures_util::stream::iter([Ok(png)]).boxed();
    let upload = app.uploads().create(&kit.caller, file, frames).await.unwrap();
    let media = body(json!({"to": phone(0), "type": "image", "media_id": upload.id}));
    app.sending().send_media(&kit.caller, &media, None).await.unwrap();
    let on = scene.shop.messaging.connection;
    let peer = phone(0).trim_start_matches('+').to_owned();
    kit.contact_writes(on, &peer, "Oi").await;
    let names = NamesReport { peer: peer.clone(), aliases: vec!["123456@lid".to_owned()] };
    receive(kit, on, GatewayEvent::Names(names)).await;
    receive(kit, on, unknown(json!({"from": peer}))).await;
}

/// R411, R412: what goes with a contact is in its export. A kind of record that is new fails here
/// until it has a file.
#[tokio::test]
async fn an_export_has_as_many_records_as_the_receipt_of_the_deletion() {
    let scene = Scene::of(1).await;
    fill(&scene).await;
    let (kit, contact) = (scene.shop.kit(), scene.contacts[0]);
    let files = exported(kit, contact).await;
    let manifest = json_of(&files, "manifest.json");
    let described = manifest["files"].as_array().unwrap();
    let records = |path: &str| {
        let file = described.iter().find(|file| file["path"] == path);
        file.unwrap_or_else(|| panic!("no {path}"))["records"].as_u64().unwrap()
    };
    let contacts = kit.app.contacts();
    let receipt = contacts.delete_of_for_receipt(kit.company.id, contact).await.unwrap();
    for (kind, count) in &receipt.removed {
        let found = match *kind {
            "sent_files" => {
                files.iter().filter(|(path, _)| path.starts_with("files/")).count() as u64
            }
            "lead_memories" => records("lead-memory.json"),
            "kept_events" => records("kept-events.json"),
            kind => records(&format!("{kind}.json")),
        };
        assert!(*count > 0, "the test makes no {kind}");
        assert_eq!(found, *count, "{kind}");
    }
    // These stay without the contact.
    for path in ["ledger.json", "campaigns.json"] {
        assert!(records(path) > 0, "{path}");
    }
    // Each record says something.
    for file in described.iter().filter(|file| file["records"].is_u64()) {
        let shown = json_of(&files, file["path"].as_str().unwrap());
        let shown = shown.as_array().unwrap();
        assert_eq!(json!(shown.len()), file["records"]);
        assert!(shown.iter().all(|row| row.is_object()), "{file}: {shown:?}");
    }
}

/// R411, R415: of an opt-out it says whether it is one that was remembered.
#[tokio::test]
async fn an_export_says_whether_the_opt_out_is_a_remembered_one() {
    let mut settings = Settings::new("https://crm.example.org");
    settings.remember_opt_outs = true;
    let kit = Kit::builder().settings(settings).build().await;
    let (contacts, company) = (kit.app.contacts(), kit.company.id);
    let import = async |new: Value| contacts.import(&kit.company, &body(new)).await.unwrap().0;
    let asked = |n| json!({"phone": phone(n), "opted_out_at": "2025-11-01T00:00:00.000Z"});
    let remembered = async |id| {
        let shown = json_of(&exported(&kit, id).await, "contact.json");
        (shown["opted_out_at"].is_string(), shown["is_opt_out_remembered"].clone())
    };
    let first = import(asked(1)).await;
    assert_eq!(remembered(first).await, (true, json!(false)), "it asked as this contact");
    contacts.delete_of(company, first).await.unwrap();
    let back = import(json!({"phone": phone(1)})).await;
    assert_eq!(remembered(back).await, (true, json!(true)));
    let other = import(json!({"phone": phone(2)})).await;
    assert_eq!(remembered(other).await, (false, json!(false)));
}

/// R411, R429.
#[tokio::test]
async fn an_export_says_when_what_became_of_the_messages_of_a_campaign() {
    let scene = Scene::of(2).await;
    let (kit, messaging) = (scene.shop.kit(), &scene.shop.messaging);
    scene.start().await;
    scene.drain().await;
    let mut times = Vec::new();
    for (n, status) in [(1, "delivered"), (1, "read"), (2, "failed")] {
        scene.shop.advance(Duration::from_secs(60));
        times.push(json!(scene.shop.now()));
        let id = ScriptedProvider::id(n);
        let mut report =
            json!({"kind": "status", "status": status, "provider_message_id": id.as_str()});
        if status == "failed" {
            report["error"] = json!({"code": 131_026, "message": "not there"});
        }
        messaging.tell(report).await;
    }
    let [delivered, read, failed] = &times[..] else { panic!("three") };
    let null = Value::Null;
    for (contact, expected) in [
        (scene.contacts[0], [&json!("read"), delivered, read, &null]),
        (scene.contacts[1], [&json!("failed"), &null, &null, failed]),
    ] {
        let shown = json_of(&exported(kit, contact).await, "campaigns.json")[0].clone();
        assert!(shown["sent_at"].is_string(), "{shown}");
        let found =
            ["status", "delivered_at", "read_at", "ended_at"].map(|field| shown[field].clone());
        assert_eq!(found.each_ref(), expected, "{shown}");
    }
}

/// R410: pages of 200 rows follow each other without a gap or a repetition.
#[tokio::test]
async fn more_than_a_page_of_records_is_exported_once_each() {
    let kit = Kit::new().await;
    let on = kit.connection("qr").await;
    let peer = phone(1).trim_start_matches('+').to_owned();
    for n in 0..401 {
        kit.contact_writes(on, &peer, &format!("text {n}")).await;
    }
    let contact = kit.contact_by_phone(&phone(1)).await.unwrap();
    for n in 0..200 {
        let deal = body(json!({"contact_id": contact, "title": format!("deal {n}")}));
        kit.app.deals().create(kit.company.id, &deal).await.unwrap();
    }
    let files = exported(&kit, contact).await;
    for (path, field, count) in [("messages.json", "content", 401), ("deals.json", "title", 200)] {
        let rows = json_of(&files, path);
        let mut texts: Vec<&str> =
            rows.as_array().unwrap().iter().map(|row| row[field].as_str().unwrap()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!((texts.len(), rows.as_array().unwrap().len()), (count, count), "{path}");
    }
}

/// R411: events that name the contact only in their text are deleted with it, and exported. What is
/// shown of one is not about others.
#[tokio::test]
async fn kept_events_that_name_the_contact_are_exported_without_what_is_about_others() {
    let kit = Kit::new().await;
    let on = kit.connection("qr").await;
    let (ana, caio) = (phone(1), phone(2));
    let contact = create_phone(&kit, &ana).await;
    create_phone(&kit, &caio).await;
    let (ana, caio) = (ana.trim_start_matches('+'), caio.trim_start_matches('+'));
    let alone = json!({"caller": {"user": ana}, "note": "marker-alone"});
    let batch = json!({"calls": [
        {"who": ana, "note": "marker-ana"}, {"who": caio, "note": "marker-caio"},
    ]});
    let both = json!({"who": caio, "about": ana, "note": "marker-both"});
    let nobody = json!({"who": caio, "note": "marker-nobody"});
    for event in [&alone, &batch, &both, &nobody] {
        receive(&kit, on, unknown(event.clone())).await;
    }
    let files = exported(&kit, contact).await;
    let kept = json_of(&files, "kept-events.json");
    let kept = kept.as_array().unwrap();
    let bodies: Vec<&Value> = kept.iter().map(|event| &event["body"]).collect();
    let entry = json!([{"who": ana, "note": "marker-ana"}]);
    assert_eq!(bodies.len(), 3, "{bodies:?}");
    for shown in [&alone, &entry, &Value::Null] {
        assert!(bodies.contains(&shown), "{shown}: {bodies:?}");
    }
    for event in kept {
        assert_eq!(event["is_body_left_out"], event["body"].is_null(), "{event}");
    }
    let contacts = kit.app.contacts();
    let receipt = contacts.delete_of_for_receipt(kit.company.id, contact).await.unwrap();
    assert_eq!(receipt.removed["kept_events"], 3);
}

/// R411.
#[tokio::test]
async fn a_file_that_is_missing_is_named_and_the_rest_is_exported() {
    let disk = MemoryFiles::new();
    let kit = Kit::builder().files(disk.clone()).build().await;
    let contact = create_phone(&kit, &phone(1)).await;
    let mut ids = Vec::new();
    for name in ["lost.txt", "kept.txt"] {
        let attached = kit.app.documents().attach(kit.company.id, contact, name, name.into()).await;
        ids.push(attached.unwrap().id);
    }
    disk.lose(&file_key(kit.company.id, ids[0]));
    let files = exported(&kit, contact).await;
    let missing = json_of(&files, "manifest.json")["missing"].clone();
    assert_eq!(missing.as_array().unwrap().len(), 1);
    assert_eq!(missing[0]["path"], format!("documents/{}/lost.txt", ids[0]));
    let kept = format!("documents/{}/kept.txt", ids[1]);
    assert!(files.iter().any(|(path, text)| *path == kept && text == "kept.txt"), "{files:?}");
}

/// R410: whatever read fails, nothing that looks whole comes out.
#[tokio::test]
async fn a_failure_of_the_database_breaks_the_export_off() {
    let faulty = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
    let kit = Kit::builder().store(faulty.clone()).build().await;
    let contact = create_phone(&kit, &phone(1)).await;
    for read in ["contact_record", "rows of Click", "rows of Message", "unknown_events"] {
        let export = kit.app.contacts().export_person(kit.company.id, contact).await.unwrap();
        faulty.fail_read(read);
        let mut frames: Vec<_> = export.frames().collect().await;
        faulty.heal();
        let error = frames.pop().unwrap().unwrap_err();
        assert!(matches!(error, ExportError::Store(_)), "{read}: {error:?}");
        let bytes: Vec<Vec<u8>> = frames.into_iter().map(Result::unwrap).collect();
        assert_is_no_whole_zip(&bytes.concat());
    }
    assert_eq!(exported(&kit, contact).await.last().unwrap().0, "manifest.json");
}

/// R410: what was deleted meanwhile is missing, so the export must not seem complete.
#[tokio::test]
async fn an_export_of_a_contact_that_is_deleted_meanwhile_breaks_off() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, &phone(1)).await;
    let large = vec![7; 1024 * 1024];
    kit.app.documents().attach(kit.company.id, contact, "a.bin", large).await.unwrap();
    // When most is still to come, and when only a file is.
    for until in [&b"README.txt"[..], b"a.bin"] {
        let id = if until == b"a.bin" { contact } else { create_phone(&kit, &phone(2)).await };
        let export = kit.app.contacts().export_person(kit.company.id, id).await.unwrap();
        let (mut frames, mut bytes) = (export.frames(), Vec::new());
        while !bytes.windows(until.len()).any(|part| part == until) {
            bytes.extend(frames.next().await.unwrap().unwrap());
        }
        kit.app.contacts().delete_of(kit.company.id, id).await.unwrap();
        let mut rest: Vec<_> = frames.collect().await;
        let error = rest.pop().unwrap().unwrap_err();
        assert!(matches!(error, ExportError::Gone), "{error:?}");
        bytes.extend(rest.into_iter().flat_map(Result::unwrap));
        assert_is_no_whole_zip(&bytes);
    }
    let id = create_phone(&kit, &phone(3)).await;
    let export = kit.app.contacts().export_person(kit.company.id, id).await.unwrap();
    kit.app.contacts().delete_of(kit.company.id, id).await.unwrap();
    let frames: Vec<_> = export.frames().collect().await;
    assert!(matches!(frames.last(), Some(Err(ExportError::Gone))), "{frames:?}");
}

/// R410: a hundred megabytes of files go by in frames: no more of them is read than is taken.
#[tokio::test]
async fn files_of_any_size_go_by_in_frames() {
    let disk = MemoryFiles::new();
    let kit = Kit::builder().files(disk.clone()).build().await;
    let contact = create_phone(&kit, &phone(1)).await;
    let mut size = 0;
    for n in 0..4 {
        let bytes = vec![n; MAX_DOCUMENT_BYTES];
        size += bytes.len();
        kit.app.documents().attach(kit.company.id, contact, "a.bin", bytes).await.unwrap();
    }
    let export = kit.app.contacts().export_person(kit.company.id, contact).await.unwrap();
    let (mut frames, mut sent, mut largest) = (export.frames(), 0, 0);
    while let Some(frame) = frames.next().await {
        let frame = frame.unwrap();
        largest = largest.max(frame.len());
        sent += frame.len();
    }
    assert!(size >= 100_000_000 && sent > size, "{size} {sent}");
    assert!(largest < 256 * 1024, "{largest}");
}
