//! Files that were uploaded and sent, through a move, a backup and a merge: X11; D17, D75, D76;
//! R257, R263, R348.

use std::time::Duration;

use recado_core::documents::Files;
use recado_runtime::LocalFiles;
use recado_tests::backend::Database;
use recado_tests::binary::{Process, run_recado};
use recado_tests::world::tenant_at;
use recado_tests::{Request, Setup, StoreKind, World, both_stores, mobile, path_of, text};
use serde_json::{Value, json};

use crate::backup::{has_programs, qr};
use crate::media_out::{png, send, upload};
use crate::uploads_kill;

/// Longer than an upload is kept.
const LATER: Duration = Duration::from_secs(31 * 24 * 60 * 60);

fn picture(media: &Value, more: Value) -> Value {
    recado_tests::with(json!({"type": "image", "media_id": media}), more)
}

async fn sweep(recado: &recado_core::Recado) {
    while recado.uploads().sweep().await.expect("the store works") {}
}

/// D76, R263: the records and the bytes, of those that were sent and those that were not.
#[both_stores]
async fn a_move_takes_uploads_with_their_bytes(kind: StoreKind) {
    let world = World::start(kind).await;
    let target = Database::migrated(kind.other());
    world.qr().await;
    let (sent, kept) = (upload(&world, png()).await, upload(&world, png()).await);
    let message = send(&world, picture(&sent["id"], json!({"to": mobile(1)}))).await;
    let message = text(&message.expect(200)["message_id"]);
    let before = world.message(&message).await;
    let folder = tempfile::tempdir().expect("a folder");
    let files = LocalFiles::new(folder.path());
    let moved = {
        let target = target.transferable().await;
        let places: (&dyn Files, &dyn Files) = (&world.server.files, &files);
        world.move_with(&*target, None, Some(places), &mut |_| ()).await.expect("it is moved")
    };
    let counted = moved.documents;
    let bytes = 2 * png().len() as u64;
    assert_eq!((counted.documents, counted.bytes, counted.missing), (2, bytes, 0));
    for one in [&sent, &kept] {
        let key = format!("uploads/{}/{}", world.us.id, text(&one["id"]));
        assert_eq!(files.get(&key).await.expect("the folder works"), Some(png()), "{key}");
    }

    let server = world.server_on(&target).await;
    let get = async |path: String| {
        Request::new("GET", path).bearer(&world.us.key).send(server.addr).await
    };
    let shown = |one: &Value| get(format!("/api/v1/media/{}", text(&one["id"])));
    for (one, ends) in [(&sent, &Value::Null), (&kept, &kept["expires_at"])] {
        let there = shown(one).await.expect(200).clone();
        assert_eq!((&there["sha256"], &there["size"]), (&one["sha256"], &one["size"]));
        assert_eq!(&there["expires_at"], ends);
    }
    let listed = get("/api/v1/messages".to_owned()).await.items();
    let there = listed.iter().find(|one| one["id"] == message.as_str()).expect("it is there");
    for field in ["media_filename", "media_mimetype", "media_url"] {
        assert!(there[field] == before[field] || field == "media_url", "{there}");
        assert_eq!(there[field].is_null(), before[field].is_null(), "{field}");
    }
    // What the message has is held there, too; the other one ends.
    server.clock.advance(LATER);
    sweep(server.recado()).await;
    shown(&sent).await.expect(200);
    shown(&kept).await.expect_error(404, "MEDIA_NOT_FOUND");
}

/// D75, R253: a restored copy has the bytes, and sends what was uploaded before.
#[both_stores]
async fn a_backup_has_uploads_with_their_bytes(kind: StoreKind) {
    if !has_programs(kind) {
        return;
    }
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    qr(&process, &us).await;
    let sent = uploads_kill::upload(&process, &us, 1).await;
    let kept = uploads_kill::upload(&process, &us, 2).await;
    let message = uploads_kill::send(&process, &us, &sent, 1).await;
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("backup").display().to_string();
    let documents = process.folder.path().join("recado-documents");
    let run = async |database: &Database, documents: &std::path::Path, args: &[&str]| {
        let (url, documents) = (database.url(), format!("file:{}", documents.display()));
        let path = std::env::var("PATH").unwrap_or_default();
        let all = [&["--database", &url, "--documents", &documents, "--json"], args].concat();
        let ended = run_recado(all, &[("PATH", &path)]).await;
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
        serde_json::from_str::<Value>(&ended.stdout).unwrap_or(Value::Null)
    };
    let backup = run(&database, &documents, &["backup", &dir]).await;
    assert_eq!(backup["documents"], 2, "{backup}");
    process.kill().await;

    let copy = Database::fresh(kind);
    let files = folder.path().join("copy");
    run(&copy, &files, &["restore", &dir]).await;
    run(&copy, &files, &["resume"]).await;
    let option = format!("file:{}", files.display());
    let process = Process::serve(&copy, &["--documents", &option]).await;
    assert_eq!(uploads_kill::file_of(&process, &us, &message).await, uploads_kill::png(1));
    let path = format!("/api/v1/media/{kept}");
    let shown = Request::new("GET", path).bearer(&us.key).send(process.addr).await;
    let read = Request::new("GET", path_of(&shown.expect(200)["url"])).send(process.addr).await;
    assert_eq!((read.status, read.body.to_vec()), (200, uploads_kill::png(2)));
    let message = uploads_kill::send(&process, &us, &kept, 2).await;
    assert_eq!(uploads_kill::file_of(&process, &us, &message).await, uploads_kill::png(2));
}

/// D17, R348: what was sent to the other contact is the one's that stays, as long as that has it.
#[both_stores]
async fn after_a_merge_the_contact_that_stays_has_the_files_of_both(kind: StoreKind) {
    // A job that frees files might be under way in the background when the call answers.
    let world = World::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    world.qr().await;
    let shared = upload(&world, png()).await;
    let mut messages = Vec::new();
    let mut contacts = Vec::new();
    for (to, media) in [(1, &shared), (2, &shared), (2, &upload(&world, png()).await)] {
        let sent = send(&world, picture(&media["id"], json!({"to": mobile(to)}))).await;
        let sent = sent.expect(200).clone();
        messages.push(text(&sent["message_id"]));
        contacts.push(text(&sent["contact_id"]));
    }
    let (kept, gone) = (&contacts[0], &contacts[1]);
    let path = format!("C/contacts/{kept}/merge");
    world.operator("POST", &path, json!({"other_contact_id": gone})).await.expect(200);
    let taken = format!("/api/v1/media/{}", text(&shared["id"]));
    world.delete(&taken).await.expect_deleted();
    world.advance(LATER);
    sweep(world.server.recado()).await;
    let there = world.messages_of(kept).await;
    assert_eq!(there.len(), 3);
    for message in &messages {
        let shown = there.iter().find(|one| one["id"] == message.as_str()).expect("it moved");
        let read = world.send(Request::new("GET", path_of(&shown["media_url"]))).await;
        assert_eq!((read.status, read.body.to_vec()), (200, png()));
    }
    assert_eq!(world.server.files_on_disk().len(), 2);
    world.delete(&format!("/api/v1/contacts/{kept}")).await.expect_deleted();
    assert_eq!(world.server.files_on_disk(), Vec::<String>::new());
}
