//! `recado openapi`, `migrate`, `company`, `key`, `contact`, `inbox`, `media`, `webhook` and
//! `endpoint`.

mod common;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use common::{Server, done, get, recado, send, with_database};
use recado_core::access::Scope;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn openapi_prints_the_document_and_touches_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let document = json(&done(folder.path(), &["openapi"]));
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
    assert!(document["paths"]["/api/v1/contacts"]["post"].is_object());
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
}

#[test]
fn a_company_is_made_listed_shown_and_changed() {
    let folder = with_database();
    let run = |arguments: &[&str]| done(folder.path(), arguments);
    let made = json(&run(&["company", "create", "Padaria Aurora", "--plan", "starter", "--json"]));
    let id = made["id"].as_str().expect("an id");
    assert_eq!((&made["name"], &made["plan"]), (&"Padaria Aurora".into(), &"starter".into()));

    let table = run(&["company", "list"]);
    assert!(table.contains(id) && table.contains("Padaria Aurora"), "{table}");

    let set =
        ["company", "change", id, "--plan", "enterprise", "--inbound-contacts", "true", "--json"];
    let changed = json(&run(&set));
    assert_eq!(changed["plan"], "enterprise");
    assert_eq!(changed["features"]["inbound_contacts"], true);
    assert_eq!(changed["features"]["template_dispatch"], false);
    assert_eq!(json(&run(&["company", "show", id, "--json"])), changed);
    assert!(run(&["company", "show", id]).contains("Padaria Aurora"));
}

/// D3: a company that moved is shown once, where it is now.
#[test]
fn companies_are_listed_over_several_installations() {
    let folder = with_database();
    let path = folder.path();
    let ids = |output: &str| -> Vec<(u64, String)> {
        let rows = json(output);
        let rows = rows.as_array().expect("an array").iter();
        let text = |id: &Value| id.as_str().expect("an id").to_owned();
        rows.map(|row| (row["cell"].as_u64().expect("a cell"), text(&row["id"]))).collect()
    };
    let make = |name: &str| {
        let made = json(&done(path, &["company", "create", name, "--json"]));
        made["id"].as_str().expect("an id").to_owned()
    };
    let (stays, moves) = (make("Padaria Aurora"), make("Outra"));
    let here = "sqlite:recado.db";
    done(path, &["move", "--from", here, "--to", "sqlite:one.db", "--company", &moves]);
    let cells = "0 = \"sqlite:recado.db\"\n1 = \"sqlite:one.db\"\n";
    std::fs::write(path.join("cells.toml"), cells).expect("written");
    let listed = done(path, &["company", "list", "--cells", "cells.toml", "--json"]);
    assert_eq!(ids(&listed), [(0, stays), (1, moves)]);
    let table = done(path, &["company", "list", "--cells", "cells.toml"]);
    assert!(table.starts_with("CELL") && table.contains("Outra"), "{table}");

    // R264: where a cell has no database, that is said, and none is made.
    std::fs::write(path.join("more.toml"), format!("{cells}2 = \"sqlite:two.db\"\n"))
        .expect("written");
    let arguments = ["company", "list", "--cells", "more.toml"];
    let output = recado(path).args(arguments).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("there is no database at sqlite:two.db (cell 2)"), "{message}");
    assert!(!path.join("two.db").exists());
}

/// R208: only with its name, or with `--yes`.
#[test]
fn a_company_is_deleted_when_its_name_is_typed() {
    let folder = with_database();
    let made = |name| json(&done(folder.path(), &["company", "create", name, "--json"]));
    let (one, two) = (made("Padaria Aurora"), made("Outra"));
    let id = |company: &Value| company["id"].as_str().expect("an id").to_owned();
    let typed = |name: &str| {
        let mut command = recado(folder.path());
        command.args(["company", "delete", &id(&one)]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = command.spawn().expect("it runs");
        let line = format!("{name}\n");
        running.stdin.take().expect("a pipe").write_all(line.as_bytes()).expect("it reads");
        running.wait().expect("it ends").code()
    };
    let left = || done(folder.path(), &["company", "list"]);
    assert_eq!(typed("Outra"), Some(1));
    assert_eq!(typed(""), Some(1));
    assert!(left().contains(&id(&one)));
    assert_eq!(typed("Padaria Aurora"), Some(0));
    assert!(!left().contains(&id(&one)) && left().contains(&id(&two)));
    done(folder.path(), &["company", "delete", &id(&two), "--yes"]);
    assert!(!left().contains(&id(&two)));
}

#[test]
fn a_refusal_answers_1_and_says_why() {
    let folder = with_database();
    let refused = |arguments: &[&str], about: &str| {
        let output = recado(folder.path()).args(arguments).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(about), "{message}");
    };
    let nobody = "01a19b7c-a680-78b4-a652-e44da7f29e26";
    refused(&["company", "create", "A", "--plan", "gold"], "plan");
    refused(&["company", "show", nobody], "no such");
    refused(&["key", "list", "--company", nobody], "no such");
    refused(&["key", "create", "--company", nobody, "--name", "a", "--scopes", "all"], "no such");
    std::fs::write(folder.path().join("notes.txt"), "no database at all").expect("written");
    refused(&["company", "list", "--database", "sqlite:notes.txt"], "database");
}

#[test]
fn a_key_works_until_it_is_revoked() {
    let folder = with_database();
    let run = |arguments: &[&str]| done(folder.path(), arguments);
    let company = json(&run(&["company", "create", "Padaria Aurora", "--json"]));
    let company = company["id"].as_str().expect("an id");
    let of = ["--company", company, "--json"];
    let key = |arguments: &[&str]| json(&run(&[&["key"], arguments, &of].concat()));

    let made = key(&["create", "--name", "CRM", "--scopes", "contacts:read,contacts:write"]);
    let secret = made["key"].as_str().expect("the secret").to_owned();
    assert!(secret.starts_with("rk_") && secret.len() == 46, "its form");
    let id = made["id"].as_str().expect("an id");

    let listed = key(&["list"]);
    assert_eq!(listed[0]["id"], id);
    assert!(listed[0].get("key").is_none());
    let changed = key(&["change", id, "--rate-per-minute", "7", "--scopes", "all"]);
    assert_eq!(changed["rate_per_minute"], 7);
    assert_eq!(changed["scopes"], serde_json::json!(Scope::WORDS));

    // R220.
    assert_eq!((&changed["expires_at"], &changed["last_used_at"]), (&Value::Null, &Value::Null));
    let end = "2999-12-31T00:00:00.000Z";
    assert_eq!(key(&["change", id, "--expires-at", end])["expires_at"], end);
    assert_eq!(key(&["list"])[0]["expires_at"], end);
    assert_eq!(key(&["set", id, "--no-end"])["expires_at"], Value::Null);
    let brief = key(&["create", "--name", "a", "--scopes", "all", "--expires-in", "90d"]);
    assert!(brief["expires_at"].as_str() > brief["created_at"].as_str(), "{brief}");
    key(&["delete", brief["id"].as_str().expect("an id")]);

    let server = Server::start(folder.path(), &["serve"], "listening");
    let status = || {
        let bearer = format!("Authorization: Bearer {secret}");
        send(&server.addr(), "GET", "/api/v1/contacts", &[bearer], "").status
    };
    assert_eq!(status(), 200);
    assert_eq!(key(&["revoke", id])["revoked"], true, "as it was called first");
    assert_eq!(status(), 401, "revoked beside the running server, at once");
    assert_eq!(key(&["list"]), serde_json::json!([]));
    server.stop();
}

#[test]
fn contacts_that_are_one_person_are_listed() {
    let folder = with_database();
    let run = |arguments: &[&str]| done(folder.path(), arguments);
    let company = json(&run(&["company", "create", "Padaria Aurora", "--json"]));
    let company = company["id"].as_str().expect("an id");
    let duplicates =
        |more: &[&str]| run(&[&["contact", "duplicates", "--company", company], more].concat());
    assert_eq!(json(&duplicates(&["--json"])), serde_json::json!([]));

    let file = folder.path().join("contacts.csv");
    let lines = "name,phone,identifier\n\
                 Ana,+5215512345678,crm-1\nAna,+525512345678,\nBia,+525512345679,\n";
    std::fs::write(&file, lines).expect("writable");
    run(&["import", "--company", company, file.to_str().expect("a path")]);
    let found = json(&duplicates(&["--json"]));
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found[0]["phone"], "+525512345678");
    assert_eq!(found[0]["contacts_count"], 2);
    let table = duplicates(&[]);
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.contains("crm-1") && table.contains("525512345678"), "{table}");

    let nobody = "01a19b7c-a680-78b4-a652-e44da7f29e26";
    let output = recado(folder.path())
        .args(["contact", "duplicates", "--company", nobody])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
}

/// The contact of a file of contacts, in a company.
fn imported(folder: &Path) -> (String, String) {
    let run = |arguments: &[&str]| done(folder, arguments);
    let company = json(&run(&["company", "create", "Padaria Aurora", "--json"]));
    let company = company["id"].as_str().expect("an id").to_owned();
    let file = folder.join("contacts.csv");
    let lines = "name,phone,identifier\nAna,+5215512345678,crm-1\nAna,+525512345678,\n";
    std::fs::write(&file, lines).expect("writable");
    run(&["import", "--company", &company, file.to_str().expect("a path")]);
    let found = run(&["contact", "duplicates", "--company", &company, "--json"]);
    let contact = json(&found)[0]["contacts"][0]["id"].as_str().expect("an id").to_owned();
    (company, contact)
}

fn export(folder: &Path, company: &str, contact: &str, out: &str) -> Option<i32> {
    let command = ["contact", "export", "--company", company, "--contact", contact, "--out", out];
    let output = recado(folder).args(command).output().expect("it runs");
    output.status.code()
}

/// The files that exports have made in a folder, parts too.
fn files_of_exports(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("readable");
    let names = entries.map(|entry| entry.expect("readable").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("a text")).collect();
    names.retain(|name| name.contains(".zip"));
    names.sort();
    names
}

/// R410.
#[test]
fn everything_about_a_contact_is_exported_into_a_new_file() {
    let folder = with_database();
    let (company, contact) = imported(folder.path());
    let file = folder.path().join("ana.zip");
    // What is left of an export that was killed is in nobody's way.
    std::fs::write(folder.path().join("ana.zip.1-2.part"), [7; 100_000]).expect("writable");
    assert_eq!(export(folder.path(), &company, &contact, "ana.zip"), Some(0));
    let zip = std::fs::read(&file).expect("the export");
    assert!(zip.starts_with(b"PK\x03\x04") && zip.len() < 100_000);
    assert_eq!(&zip[zip.len() - 22..][..4], b"PK\x05\x06", "it has its directory");
    assert!(zip.windows(9).any(|part| part == b"\"made_at\""), "it has its manifest");
    assert_eq!(files_of_exports(folder.path()), ["ana.zip", "ana.zip.1-2.part"]);
    #[cfg(unix)]
    {
        let found = std::fs::metadata(&file).expect("readable").permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&found) & 0o777, 0o600);
    }

    assert_eq!(export(folder.path(), &company, &contact, "ana.zip"), Some(1));
    assert_eq!(std::fs::read(&file).expect("the export"), zip, "it was not written over");
    assert_eq!(export(folder.path(), &company, &company, "none.zip"), Some(1), "no such contact");
    assert!(!folder.path().join("none.zip").exists());
}

/// R410: what an export that fails has written is not left behind.
#[test]
fn an_export_that_breaks_off_leaves_no_file() {
    let folder = with_database();
    let (company, contact) = imported(folder.path());
    let database = rusqlite::Connection::open(folder.path().join("recado.db")).expect("there");
    database.execute_batch("DROP TABLE clicks").expect("dropped");
    drop(database);
    assert_eq!(export(folder.path(), &company, &contact, "ana.zip"), Some(1));
    assert_eq!(files_of_exports(folder.path()), [""; 0]);
}

/// R410: each writes a part of its own, and the file is that of one of them.
#[test]
fn of_two_exports_into_one_file_one_is_whole_and_the_other_fails() {
    let folder = with_database();
    let (company, contact) = imported(folder.path());
    let command =
        ["contact", "export", "--company", &company, "--contact", &contact, "--out", "ana.zip"];
    let begin = || recado(folder.path()).args(command).stderr(Stdio::null()).spawn();
    let begun = [begin().expect("it runs"), begin().expect("it runs")];
    let mut ends = begun.map(|mut export| export.wait().expect("it ends").code());
    ends.sort_unstable();
    assert_eq!(ends, [Some(0), Some(1)]);
    assert_eq!(files_of_exports(folder.path()), ["ana.zip"]);
    let zip = std::fs::read(folder.path().join("ana.zip")).expect("the export");
    assert_eq!(&zip[zip.len() - 22..][..4], b"PK\x05\x06", "it has its directory");
}

/// X9.
#[test]
fn what_was_not_understood_is_listed_and_read_again() {
    let folder = with_database();
    let run = |arguments: &[&str]| done(folder.path(), arguments);
    let company = json(&run(&["company", "create", "Padaria Aurora", "--json"]));
    let company = company["id"].as_str().expect("an id");
    let replayed = |looked_at: u64| serde_json::json!({"looked_at": looked_at, "told": 0, "still_unknown": looked_at});
    assert_eq!(json(&run(&["inbox", "replay", "--json"])), replayed(0));

    let token = "operator-token-of-the-tests-0123456789";
    let server = Server::start(folder.path(), &["serve", "--operator-token", token], "listening");
    let post = |path: &str, body: &str| {
        let headers =
            [format!("Authorization: Bearer {token}"), "Content-Type: application/json".to_owned()];
        let path = format!("/operator/v1/companies/{company}/connections{path}");
        send(&server.addr(), "POST", &path, &headers, body)
    };
    let new = r#"{"kind":"qr","name":"Loja","identifier":"1","gateway":"simulated"}"#;
    let made = post("", new).json();
    let connection = made["data"]["id"].as_str().expect("an id").to_owned();
    let event = r#"{"events":[{"kind":"message","provider_message_id":"m1","type":"unsupported",
        "from":"5534991230001","unsupported":{"provider_type":"sketch"},"drawn":"a cat"}]}"#;
    let answer = post(&format!("/{connection}/events"), event);
    assert_eq!(answer.status, 200, "{answer:?}");
    // Beside the server.
    assert_eq!(json(&run(&["inbox", "replay", "--company", company, "--json"])), replayed(1));
    server.stop();

    let of = ["--company", company, "--connection", &connection];
    let unknown = |more: &[&str]| run(&[&["inbox", "list"], &of[..], more].concat());
    let listed = json(&unknown(&["--json"]));
    assert_eq!(
        (&listed[0]["kind"], &listed[0]["reason"]),
        (&"sketch".into(), &"unsupported".into())
    );
    assert_eq!(listed[0]["body"]["drawn"], "a cat");
    let table = unknown(&[]);
    assert!(table.contains("sketch") && table.contains("m1"), "{table}");
    let said = run(&[&["inbox", "replay"], &of[..]].concat());
    assert!(said.contains("1 are still unknown"), "{said}");

    let nobody = "01a19b7c-a680-78b4-a652-e44da7f29e26";
    for arguments in [&["--company", nobody][..], &["--company", company, "--connection", nobody]] {
        let all = [&["inbox", "replay"], arguments].concat();
        let output = recado(folder.path()).args(all).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1));
    }
}

/// R194.
#[test]
fn the_key_of_links_to_media_is_rotated() {
    let folder = with_database();
    let run = |arguments: &[&str]| done(folder.path(), arguments);
    let said = run(&["media", "rotate-key"]);
    assert!(said.contains("All links of older keys have ended"), "there were none: {said}");
    let rotated = json(&run(&["media", "rotate-key", "--json"]));
    assert!(rotated["rotated_at"].as_str() < rotated["links_until"].as_str(), "{rotated}");
    let said = run(&["media", "rotate-key"]);
    assert!(said.contains("The last link of older keys ends at"), "{said}");
    let rotated = json(&run(&["media", "rotate-key", "--at-once", "--json"]));
    assert_eq!(rotated["links_until"], Value::Null);
}

#[test]
fn a_webhook_is_added_changed_tested_and_deleted() {
    let folder = with_database();
    let private = ["--allow-private-destinations"];
    let run = |arguments: &[&str]| done(folder.path(), &[arguments, &private].concat());
    let company = json(&run(&["company", "create", "Padaria Aurora", "--json"]));
    let company = company["id"].as_str().expect("an id");
    let of = ["--company", company, "--json"];
    let webhook = |arguments: &[&str]| json(&run(&[&["webhook"], arguments, &of].concat()));

    let url = "http://127.0.0.1:9/hook";
    let made = webhook(&["create", url, "--events", "all", "--standard-headers", "true"]);
    assert_eq!((&made["url"], &made["events"]), (&url.into(), &serde_json::json!(["*"])));
    assert_eq!((&made["is_active"], &made["standard_headers"]), (&true.into(), &true.into()));
    let secret = made["secret"].as_str().expect("the secret");
    assert!(secret.starts_with("whsec_"), "its form");
    let id = made["id"].as_str().expect("an id");
    assert_eq!(webhook(&["list"])[0]["id"], id);
    assert_eq!(webhook(&["list"])[0].get("secret"), None);
    assert_eq!(webhook(&["show", id]).get("secret"), None);

    let chosen = "a secret chosen by hand";
    assert_eq!(webhook(&["rotate-secret", id, "--secret", chosen])["secret"], chosen);
    assert!(webhook(&["show", id])["previous_secret_until"].is_string());
    let delivery = webhook(&["test", id])["id"].as_str().expect("an id").to_owned();
    let changed = webhook(&["change", id, "--events", "message.sent", "--active", "false"]);
    assert_eq!(changed["events"], serde_json::json!(["message.sent"]));
    assert_eq!((&changed["is_active"], &changed["url"]), (&false.into(), &url.into()));

    assert_eq!(webhook(&["deliveries", "--status", "pending"])[0]["id"], delivery.as_str());
    assert_eq!(webhook(&["deliveries", "--status", "delivered"]), serde_json::json!([]));
    assert_eq!(webhook(&["delete", id])["deleted"], true);
    assert_eq!(webhook(&["list"]), serde_json::json!([]));
    let given_up = webhook(&["delivery", &delivery]);
    assert_eq!(given_up["status"], "failed");
    assert!(given_up["body"].as_str().is_some_and(|body| body.contains("webhook.test")));
}

#[test]
fn a_webhook_command_is_refused_as_the_call_would_be() {
    let folder = with_database();
    let company = json(&done(folder.path(), &["company", "create", "Padaria Aurora", "--json"]));
    let company = company["id"].as_str().expect("an id");
    let refused = |arguments: &[&str], about: &str| {
        let arguments = [&["webhook"], arguments].concat();
        let output = recado(folder.path()).args(&arguments).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains(about), "{arguments:?}: {message}");
    };
    let nobody = "01a19b7c-a680-78b4-a652-e44da7f29e26";
    let add = ["create", "http://127.0.0.1:9/", "--events", "all", "--company"];
    refused(&[&add[..], &[company]].concat(), "not allowed");
    let private = ["--allow-private-destinations"];
    refused(&[&add[..], &[nobody], &private].concat(), "no such");
    refused(&["list", "--company", nobody], "no such");
    refused(&["deliveries", "--company", nobody], "no such");
    refused(&["show", nobody, "--company", company], "no such");
    refused(&["redeliver", nobody, "--company", company], "no such");
    refused(&["deliveries", "--company", company, "--status", "sent"], "status");
    let topic = ["add", "http://127.0.0.1:9/", "--events", "message.read", "--company", company];
    refused(&topic, "events");
}

#[test]
fn an_endpoint_is_added_posted_to_and_deleted() {
    let folder = with_database();
    let run = |arguments: &[&str]| done(folder.path(), arguments);
    let enabled = ["--inbound-contacts", "true", "--json"];
    let company = [&["company", "create", "Padaria Aurora"][..], &enabled].concat();
    let company = json(&run(&company));
    let company = company["id"].as_str().expect("an id");
    let of = ["--company", company, "--json"];
    let endpoint = |arguments: &[&str]| json(&run(&[&["endpoint"], arguments, &of].concat()));

    let mapping = ["--map", "phone=$.p", "--map", "name=$['a=b']"];
    let made = endpoint(&[&["create", "site-leads"][..], &mapping].concat());
    assert_eq!(made["variable_mapping"]["name"], "$['a=b']");
    let id = made["id"].as_str().expect("an id");
    assert_eq!(endpoint(&["list"])[0]["slug"], "site-leads");
    assert_eq!(endpoint(&["list"])[0].get("secret"), None);
    let table = run(&["endpoint", "list", "--company", company]);
    assert!(table.contains("phone=$.p"), "{table}");

    let rotated = endpoint(&["rotate-secret", id, "--secret", "chosen-by-hand-1"]);
    assert_eq!(rotated["secret"], "chosen-by-hand-1");
    let server = Server::start(folder.path(), &["serve"], "listening");
    let post = |secret: &str| {
        let secret = format!("X-Service-Secret: {secret}");
        let body = r#"{"p": "11987654321", "a=b": "Ana"}"#;
        send(&server.addr(), "POST", "/api/webhooks/incoming/site-leads", &[secret], body).status
    };
    assert_eq!(post(made["secret"].as_str().expect("the secret")), 401);
    assert_eq!(post("chosen-by-hand-1"), 200);
    assert_eq!(endpoint(&["delete", id])["deleted"], true);
    assert_eq!(post("chosen-by-hand-1"), 404);
    server.stop();
}

#[test]
fn a_server_that_does_not_migrate_is_ready_once_somebody_else_did() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(folder.path(), &["serve", "--no-migrate"], "listening");
    let addr = server.addr();
    assert_eq!(get(&addr, "/healthz").status, 200);
    assert_eq!(get(&addr, "/readyz").status, 503);
    done(folder.path(), &["migrate"]);
    assert_eq!(get(&addr, "/readyz").status, 200);
    done(folder.path(), &["migrate"]);
    server.stop();
}

/// R216, R217.
#[test]
fn a_key_is_made_used_and_missed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |arguments: &[&str]| done(folder.path(), arguments);
    let refused = |arguments: &[&str], code: i32| {
        let output = recado(folder.path()).args(arguments).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{message}");
        message
    };
    let made = json(&run(&["secret-key", "create", "recado.key", "--json"]));
    let id = made["key"].as_str().expect("an id").to_owned();
    let text = std::fs::read_to_string(folder.path().join("recado.key")).expect("readable");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = folder.path().join("recado.key").metadata().expect("it is there");
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
    }
    let message = refused(&["secret-key", "create", "recado.key"], 1);
    assert!(message.contains("recado.key"), "{message}");
    let kept = std::fs::read_to_string(folder.path().join("recado.key")).expect("readable");
    assert_eq!(kept, text, "it is not overwritten");

    let with_key =
        |arguments: &[&str]| run(&[arguments, &["--secret-key-file", "recado.key"]].concat());
    with_key(&["migrate"]);
    let company = json(&with_key(&["company", "create", "Padaria Aurora", "--json"]));
    let company = company["id"].as_str().expect("an id").to_owned();
    let url = "http://127.0.0.1:9/";
    let add = [
        &["webhook", "create", url, "--allow-private-destinations", "--events", "all"][..],
        &["--company", &company, "--json"],
    ];
    let webhook = json(&with_key(&add.concat()));
    assert!(webhook["secret"].is_string(), "{webhook}");
    let status = json(&with_key(&["secret-key", "list", "--json"]));
    assert_eq!((&status[0]["key"], &status[0]["role"]), (&id.as_str().into(), &"current".into()));
    assert!(status[0]["secrets"].as_u64() > Some(0), "{status}");
    assert_eq!(status[1]["secrets"], 0, "{status}");

    let key = text.lines().last().expect("a key").to_owned();
    let by_env = recado(folder.path())
        .args(["webhook", "list", "--company", &company])
        .env("RECADO_SECRET_KEY", &key)
        .output()
        .expect("it runs");
    assert!(by_env.status.success(), "{}", String::from_utf8_lossy(&by_env.stderr));
    run(&["secret-key", "create", "other.key"]);
    for other in [&[][..], &["--secret-key-file", "other.key"]] {
        let message = refused(&[&["webhook", "list", "--company", &company], other].concat(), 1);
        assert!(message.contains(&id) && !message.contains(&key), "{message}");
    }
    std::fs::write(folder.path().join("no.key"), "hunter2").expect("written");
    let message = refused(&["company", "list", "--secret-key-file", "no.key"], 2);
    assert!(message.contains("no.key") && !message.contains("hunter2"), "{message}");
}

/// R249.
#[test]
fn a_check_of_a_migration_says_what_is_missing_and_makes_no_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names = || {
        let read = std::fs::read_dir(folder.path()).expect("readable");
        let mut names: Vec<_> = read.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    let text = done(folder.path(), &["migrate", "--check"]);
    assert!(text.contains("does not exist"), "{text}");
    assert!(names().is_empty(), "{:?}", names());
    done(folder.path(), &["migrate"]);
    let before = names();
    assert!(done(folder.path(), &["migrate", "--check"]).contains("nothing to do"));
    assert_eq!(json(&done(folder.path(), &["migrate", "--check", "--json"]))["up_to_date"], true);
    assert_eq!(names(), before);
}
