//! Bulk import into a real SQLite file; with events, on Postgres too.

mod common;

use std::fmt::Write;
use std::path::Path;

use common::{CONFIG, Server, done, recado, send};
use recado_testkit::postgres::TestPostgres;
use serde_json::{Value, json};

fn company(folder: &Path) -> String {
    done(folder, &["migrate"]);
    let made = done(folder, &["company", "create", "Padaria", "--json"]);
    let made: Value = serde_json::from_str(&made).expect("JSON");
    made["id"].as_str().expect("an id").to_owned()
}

/// Runs a test in a folder whose commands use a SQLite file, then in one whose commands use an
/// empty Postgres database.
fn on_both_stores(test: impl Fn(&Path)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    test(folder.path());
    let database = TestPostgres::shared().fresh_database();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = format!("database = \"{}\"\n", database.url());
    std::fs::write(folder.path().join(CONFIG), config).expect("written");
    test(folder.path());
    let files = std::fs::read_dir(folder.path()).expect("readable").flatten();
    let names: Vec<_> = files.map(|file| file.file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().ends_with(".db")), "{names:?}");
}

/// An import, which fails exactly if it refuses lines.
fn import(folder: &Path, company: &str, arguments: &[&str]) -> Value {
    let all = [&["import", "--json", "--company", company], arguments].concat();
    let output = recado(folder).args(all).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    let summary: Value = serde_json::from_slice(&output.stdout).expect(&message);
    let expected = i32::from(summary["refused"] != 0);
    assert_eq!(output.status.code(), Some(expected), "{summary} {message}");
    summary
}

fn counts(summary: &Value) -> [u64; 4] {
    ["lines", "imported", "already_there", "refused"]
        .map(|name| summary[name].as_u64().expect("a number"))
}

const TOKEN: &str = "operator-token-of-the-tests-0123456789";

/// An answer of the operator API on that database.
fn operator(folder: &Path, method: &str, path: &str, body: &Value) -> Value {
    let server = Server::start(folder, &["serve", "--operator-token", TOKEN], "listening");
    let headers = [format!("Authorization: Bearer {TOKEN}")];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = send(&server.addr(), method, &format!("/operator/v1{path}"), &headers, &body);
    assert!((200..300).contains(&answer.status), "{}", answer.body);
    server.stop();
    answer.json()
}

/// An answer of the public API on that database.
fn public(folder: &Path, company: &str, path: &str) -> Value {
    let key = ["key", "create", "--company", company, "--name", "t", "--scopes", "all", "--json"];
    let key = done(folder, &key);
    let key: Value = serde_json::from_str(&key).expect("JSON");
    let server = Server::start(folder, &["serve"], "listening");
    let headers = [format!("Authorization: Bearer {}", key["key"].as_str().expect("a key"))];
    let answer = send(&server.addr(), "GET", &format!("/api/v1{path}"), &headers, "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    server.stop();
    answer.json()
}

fn connection(folder: &Path, company: &str) -> String {
    let body = json!({"kind": "qr", "name": "Loja", "identifier": "551130000001",
        "gateway": "simulated"});
    let made = operator(folder, "POST", &format!("/companies/{company}/connections"), &body);
    made["data"]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn contacts_come_from_csv_and_refused_lines_go_to_a_file_that_can_be_imported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let file = "name;phone;email;is_blocked\r\n\
        Ana;(11) 98765-4321;ana@example.com;true\r\n\
        Beto;12345;;\r\n\
        \r\n\
        Caio;+5521987654322;;maybe\r\n\
        Dora;+5521987654323;;\r\n\
        Ana de novo;11 8765-4321;;\r\n";
    std::fs::write(folder.join("people.csv"), file).expect("written");

    let first = import(folder, &company, &["--strict", "people.csv"]);
    assert_eq!(first["kind"], "contacts");
    assert_eq!(counts(&first), [5, 2, 1, 2]);
    assert_eq!(first["refused_file"], "people.csv.refused.csv");
    let refused = std::fs::read_to_string(folder.join("people.csv.refused.csv")).expect("there");
    let lines: Vec<&str> = refused.lines().collect();
    assert_eq!(lines[0], "name;phone;email;is_blocked;_line;_reason");
    assert!(lines[1].starts_with("Beto;12345;;;3;phone "), "{refused}");
    assert!(lines[2].starts_with("Caio;'+5521987654322;;maybe;5;is_blocked "), "{refused}");

    let again = import(folder, &company, &["--strict", "people.csv"]);
    assert_eq!(counts(&again), [5, 0, 3, 2]);

    let corrected = refused.replace("12345", "+5531987654321").replace("maybe", "no");
    std::fs::write(folder.join("rest.csv"), corrected.replace(";no;", ";;")).expect("written");
    assert_eq!(counts(&import(folder, &company, &["rest.csv"])), [2, 2, 0, 0]);
    let contacts = public(folder, &company, "/contacts");
    assert_eq!(contacts["pagination"]["total"], 4);
    let ana = contacts["data"].as_array().expect("contacts").iter().find(|c| c["name"] == "Ana");
    let ana = ana.expect("imported");
    assert_eq!((&ana["phone"], &ana["is_blocked"]), (&json!("+5511987654321"), &json!(true)));
    assert_eq!(ana["email"], "ana@example.com");
}

/// 2.1, D9.
#[test]
fn a_person_with_a_chat_is_refused_and_line_breaks_in_cells_are_newlines() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let file = "identifier,phone,is_group,external_chat_id,observation\r\n\
        a,+5511987654321,,120@g.us,\r\n\
        b,+5511987654322,false,,\"um\r\ndois\rtres\"\r\n\
        120@g.us,,true,120@g.us,\r\n\
        c,,true,120@c.us,\r\n";
    std::fs::write(folder.join("chats.csv"), file).expect("written");
    assert_eq!(counts(&import(folder, &company, &["chats.csv"])), [4, 2, 0, 2]);
    let refused = std::fs::read_to_string(folder.join("chats.csv.refused.csv")).expect("there");
    assert_eq!(refused.matches("external_chat_id ").count(), 2, "{refused}");
    let contacts = public(folder, &company, "/contacts");
    let contacts = contacts["data"].as_array().expect("contacts");
    let named = |name: &str| contacts.iter().find(|c| c["identifier"] == name).expect("imported");
    assert_eq!(named("b")["external_chat_id"], Value::Null);
    assert_eq!(named("b")["observation"], "um\ndois\ntres");
    assert_eq!(named("120@g.us")["external_chat_id"], "120@g.us");
}

#[test]
fn the_earlier_of_two_lines_with_one_address_gets_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let mut file = String::from("phone,email,name\n");
    for number in 0..300 {
        let line = format!("+55119876{number:05},same.{}@example.com,{number}", number / 2);
        writeln!(file, "{line}").expect("a string takes every line");
    }
    std::fs::write(folder.join("people.csv"), file).expect("written");
    assert_eq!(counts(&import(folder, &company, &["people.csv"])), [300, 300, 0, 0]);
    for page in 1..=3 {
        let contacts = public(folder, &company, &format!("/contacts?limit=100&page={page}"));
        for contact in contacts["data"].as_array().expect("contacts") {
            let number: u32 = contact["name"].as_str().expect("a name").parse().expect("a number");
            assert_eq!(contact["email"].is_null(), number % 2 == 1, "{contact}");
        }
    }
}

#[test]
fn custom_fields_are_named_by_their_slug() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let field = json!({"label": "Origem", "slug": "origem"});
    operator(folder, "POST", &format!("/companies/{company}/custom-fields"), &field);
    let csv = "phone,custom_fields.origem\n+5511987654321,Feira\n";
    let jsonl = "{\"phone\": \"+5511987654322\", \"custom_fields\": {\"origem\": \"Loja\"}}\n\
        {\"phone\": \"+5511987654323\", \"custom_fields\": {\"idade\": \"7\"}}\n";
    std::fs::write(folder.join("people.csv"), csv).expect("written");
    std::fs::write(folder.join("people.jsonl"), jsonl).expect("written");
    assert_eq!(counts(&import(folder, &company, &["people.csv"])), [1, 1, 0, 0]);
    assert_eq!(counts(&import(folder, &company, &["people.jsonl"])), [2, 1, 0, 1]);
    let refused = std::fs::read_to_string(folder.join("people.jsonl.refused.jsonl"));
    let refused: Value = serde_json::from_str(&refused.expect("there")).expect("one line of JSON");
    assert_eq!((&refused["_line"], &refused["phone"]), (&json!(2), &json!("+5511987654323")));
    let contacts = public(folder, &company, "/contacts?search=87654");
    let mut values: Vec<&str> = contacts["data"]
        .as_array()
        .expect("contacts")
        .iter()
        .filter_map(|contact| contact["custom_fields"]["origem"].as_str())
        .collect();
    values.sort_unstable();
    assert_eq!(values, ["Feira", "Loja"]);
}

#[test]
fn messages_come_from_json_lines_and_are_recognized_whatever_identifies_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let connection = connection(folder, &company);
    let contact = json!({"phone": "+5511987654321"});
    let contact = operator(folder, "POST", &format!("/companies/{company}/contacts"), &contact);
    let contact = contact["data"]["id"].as_str().expect("an id");
    let line = |more: Value| {
        let mut line = json!({
            "contact_id": contact, "connection_id": connection, "direction": "inbound",
            "content": "Oi", "created_at": "2026-01-02T03:04:05Z",
        });
        let more = more.as_object().cloned().expect("an object");
        line.as_object_mut().expect("an object").extend(more);
        format!("{line}\n")
    };
    let file = [
        line(json!({"wamid": "w1"})),
        line(json!({"external_id": "e1"})),
        line(json!({})),
        line(json!({})),
        line(json!({"direction": "sideways"})),
        "{\"contact_id\": \n".to_owned(),
        line(json!({"wamid": "w1", "content": "the same again"})),
    ];
    std::fs::write(folder.join("talk.jsonl"), file.concat()).expect("written");

    let first = import(folder, &company, &["talk.jsonl"]);
    assert_eq!(first["kind"], "messages");
    assert_eq!(counts(&first), [7, 4, 1, 2]);
    assert_eq!(counts(&import(folder, &company, &["talk.jsonl"])), [7, 0, 5, 2]);
    let refused = std::fs::read_to_string(folder.join("talk.jsonl.refused.jsonl")).expect("there");
    let refused: Vec<Value> =
        refused.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&refused[0]["_line"], &refused[1]["_line"]), (&json!(5), &json!(6)));
    assert!(refused[0]["_reason"].as_str().is_some_and(|reason| reason.contains("direction")));
    assert_eq!(refused[1]["_text"], "{\"contact_id\":");

    let messages = public(folder, &company, "/messages");
    assert_eq!(messages["pagination"]["total"], 4);
}

#[test]
fn a_progress_of_nothing_and_unknown_files_are_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let run = |arguments: &[&str]| {
        let all = [&["import", "--company", company.as_str()], arguments].concat();
        let output = recado(folder).args(all).output().expect("it runs");
        (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
    };
    let (code, message) = run(&["missing.csv"]);
    assert!(code == Some(1) && message.contains("missing.csv"), "{message}");
    std::fs::write(folder.join("what.csv"), "name,city\nAna,Olinda\n").expect("written");
    let (code, message) = run(&["what.csv"]);
    assert!(code == Some(2) && message.contains("--kind"), "{message}");
    std::fs::write(folder.join("empty.csv"), "phone\n").expect("written");
    assert_eq!(counts(&import(folder, &company, &["empty.csv"])), [0, 0, 0, 0]);
    let nobody = "0193a5c0-0000-7000-8000-000000000001";
    let all = ["import", "--company", nobody, "empty.csv"];
    let output = recado(folder).args(all).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
}

/// What the journal tells, oldest first.
fn told(folder: &Path, company: &str) -> Vec<String> {
    let journal = public(folder, company, "/events?limit=100");
    let entries = journal["data"].as_array().expect("events");
    let line = |entry: &Value| {
        let data = &entry["data"];
        let what = data["name"].as_str().or(data["content"].as_str()).unwrap_or_default();
        format!("{} {what}", entry["event"].as_str().expect("a name"))
    };
    entries.iter().map(line).collect()
}

// D65
#[test]
fn an_import_reports_nothing_unless_it_is_asked_to_and_a_repeat_reports_nothing_twice() {
    on_both_stores(imports_report_once);
}

fn imports_report_once(folder: &Path) {
    let company = company(folder);
    let connection = connection(folder, &company);
    let people = |names: &[&str]| {
        let lines = names.iter().enumerate().map(|(n, name)| format!("{name},+551198765432{n}\n"));
        format!("name,phone\n{}", lines.collect::<String>())
    };
    std::fs::write(folder.join("silent.csv"), people(&["Ana"])).expect("written");
    std::fs::write(folder.join("told.csv"), people(&["Ana", "Beto", "Caio"])).expect("written");
    assert_eq!(counts(&import(folder, &company, &["silent.csv"])), [1, 1, 0, 0]);
    assert_eq!(told(folder, &company), Vec::<String>::new());
    for (round, made) in [(1, 2), (2, 0)] {
        let summary = import(folder, &company, &["--events", "told.csv"]);
        assert_eq!(counts(&summary), [3, made, 3 - made, 0], "round {round}");
        let mut told = told(folder, &company);
        told.sort();
        assert_eq!(told, ["contact.created Beto", "contact.created Caio"], "those that are new");
    }
    let ana = public(folder, &company, "/contacts?search=Ana")["data"][0]["id"].clone();
    let messages =
        [("1", "inbound", "received"), ("2", "outbound", "read"), ("3", "outbound", "failed")];
    let line = |(id, direction, status): (&str, &str, &str)| {
        let message = json!({"contact_id": ana, "connection_id": connection, "wamid": id,
            "direction": direction, "status": status, "type": "text", "content": id,
            "created_at": "2024-05-06T07:08:09Z"});
        format!("{message}\n")
    };
    let lines: String = messages.into_iter().map(line).collect();
    std::fs::write(folder.join("messages.jsonl"), lines).expect("written");
    for _ in 0..2 {
        import(folder, &company, &["--events", "messages.jsonl"]);
        let told = told(folder, &company);
        assert_eq!(told[2..], ["message.received 1", "message.sent 2"], "what was not sent is not");
    }
}
