//! Imports of what other programs export: maps, encodings, dry runs, updates.

mod common;

use std::path::{Path, PathBuf};

use common::{Server, done, recado, send};
use serde_json::{Value, json};

const TOKEN: &str = "operator-token-of-the-tests-0123456789";

fn company(folder: &Path) -> String {
    done(folder, &["migrate"]);
    let made = done(folder, &["company", "create", "Padaria", "--json"]);
    let made: Value = serde_json::from_str(&made).expect("JSON");
    made["id"].as_str().expect("an id").to_owned()
}

/// The exit status, the summary and what was said on standard error.
fn run(folder: &Path, company: &str, arguments: &[&str]) -> (i32, Value, String) {
    let all = [&["import", "--json", "--company", company], arguments].concat();
    let output = recado(folder).args(all).output().expect("it runs");
    let summary = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    (output.status.code().expect("a status"), summary, message)
}

/// Lines, imported, updated, already there, refused.
fn counts(summary: &Value) -> [u64; 5] {
    ["lines", "imported", "updated", "already_there", "refused"]
        .map(|name| summary[name].as_u64().expect("a number"))
}

/// Answers of the operator API.
fn operator(folder: &Path, calls: &[(&str, String, Value)]) -> Vec<Value> {
    let server = Server::start(folder, &["serve", "--operator-token", TOKEN], "listening");
    let headers = [format!("Authorization: Bearer {TOKEN}")];
    let answers = calls.iter().map(|(method, path, body)| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = send(&server.addr(), method, &format!("/operator/v1{path}"), &headers, &body);
        assert!((200..300).contains(&answer.status), "{path}: {}", answer.body);
        answer.json()
    });
    let answers = answers.collect();
    server.stop();
    answers
}

/// The contacts of a company, whole, by name.
fn contacts(folder: &Path, company: &str) -> Vec<Value> {
    let path = format!("/companies/{company}/contacts?limit=100");
    let listed = operator(folder, &[("GET", path, Value::Null)]).remove(0);
    let calls: Vec<_> = listed["data"]
        .as_array()
        .expect("contacts")
        .iter()
        .map(|contact| {
            let id = contact["id"].as_str().expect("an id");
            ("GET", format!("/companies/{company}/contacts/{id}?include=profile"), Value::Null)
        })
        .collect();
    let mut all: Vec<Value> =
        operator(folder, &calls).into_iter().map(|mut answer| answer["data"].take()).collect();
    all.sort_by_key(|contact| contact["name"].as_str().map(str::to_owned));
    all
}

fn shipped(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/imports").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn windows_1252(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).expect("in Latin-1")).collect()
}

/// R287.
#[test]
fn each_export_is_read_as_it_is_with_its_map() {
    let hubspot = "\"Record ID\",\"First Name\",\"Last Name\",\"Email\",\"Phone Number\",\
        \"Contact owner\",\"Lead Status\",\"Create Date\",\"Mobile Phone Number\"\n\
        \"151\",\"Ana\",\"Souza\",\"ana@example.com\",\"\",\"Bia, da loja\",\"NEW\",\
        \"2024-05-17 09:30\",\"+55 11 98765-4321\"\n\
        \"152\",\"Sem\",\"Telefone\",\"x@example.com\",\"\",\"\",\"\",\"2024-05-17 09:30\",\"\"\n";
    let chatwoot = "id,name,email,phone_number\n7,Ana Souza,ana@example.com,+5511987654321\n\
        8,Web,web@example.com,\n";
    let excel = "Nome;Celular;Data de nascimento;CPF;Observações\r\n\
        João Conceição;(11) 98765-4321;17/05/1990;529.982.247-25;\"vem à tarde;\r\nliga\"\r\n\
        Sem Telefone;;01/02/1991;;\r\n";
    let files = [
        ("hubspot.map", hubspot.as_bytes().to_vec(), "Ana Souza"),
        ("chatwoot.map", chatwoot.as_bytes().to_vec(), "Ana Souza"),
        ("excel.map", windows_1252(excel), "João Conceição"),
        ("excel.map", utf16(&excel.replace(';', "\t")), "João Conceição"),
        ("excel.map", format!("sep=;\r\n{excel}").into_bytes(), "João Conceição"),
    ];
    for (map, content, name) in files {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        let company = company(folder);
        std::fs::write(folder.join("export.csv"), content).expect("written");
        let (status, summary, message) =
            run(folder, &company, &["--map-file", &shipped(map), "export.csv"]);
        assert_eq!((status, counts(&summary)), (1, [2, 1, 0, 0, 1]), "{map}: {message}");
        let report = std::fs::read_to_string(folder.join("export.csv.refused.csv")).expect("there");
        assert!(report.contains("phone or identifier is required"), "{report}");
        let made = contacts(folder, &company);
        assert_eq!(made.len(), 1, "{map}");
        assert_eq!((&made[0]["name"], &made[0]["phone"]), (&json!(name), &json!("+5511987654321")));
        if map == "excel.map" {
            assert_eq!(made[0]["birthday"], "1990-05-17");
            assert_eq!(made[0]["cpf"], "52998224725");
            assert!(made[0]["observation"].as_str().is_some_and(|text| text.contains("à tarde")));
        }
        if map == "hubspot.map" {
            assert_eq!(made[0]["created_at"], "2024-05-17T09:30:00.000Z");
        }
    }
}

/// R287.
#[test]
fn a_header_by_which_no_line_can_be_read_is_told_before_the_first_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    for (header, arguments, expected) in [
        ("Nome,phone", vec![], "Nome"),
        ("name,custom_fields.origem", vec!["--kind", "contacts"], "phone"),
        ("phone,custom_fields.origem", vec![], "origem"),
        ("phone,name", vec!["--map", "Fone=phone"], "Fone"),
        ("phone,name", vec!["--map", "name=nome"], "nome"),
        ("phone,name", vec!["--map", "name"], "--map"),
        ("phone,content", vec!["--kind", "messages"], "connection"),
    ] {
        let content = format!("{header}\n+5511987654321,x\n");
        std::fs::write(folder.join("file.csv"), content).expect("written");
        let arguments = [arguments, vec!["file.csv"]].concat();
        let (status, summary, message) = run(folder, &company, &arguments);
        assert_eq!((status, summary), (2, Value::Null), "{header}: {message}");
        assert!(message.contains(expected), "{header}: {message}");
        assert!(!folder.join("file.csv.refused.csv").exists(), "{header}");
    }
}

/// R286.
#[test]
fn a_dry_run_reports_what_the_import_would_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let file = "name,phone,email\nAna,+5511987654321,a@example.com\nBeto,12345,\n\
        Ana,(11) 8765-4321,\nCaio,+5511987654322,not-an-address\n";
    std::fs::write(folder.join("people.csv"), file).expect("written");
    let (status, rehearsed, _) =
        run(folder, &company, &["--dry-run", "--list", "L", "--tag", "T", "people.csv"]);
    assert_eq!((status, counts(&rehearsed)), (1, [4, 2, 0, 1, 1]));
    assert_eq!(rehearsed["dry_run"], true);
    let report = std::fs::read_to_string(folder.join("people.csv.refused.csv")).expect("there");
    assert!(report.contains("Beto,12345,,3,phone "), "{report}");
    assert!(contacts(folder, &company).is_empty());
    let path = |what: &str| ("GET", format!("/companies/{company}/{what}"), Value::Null);
    for answer in operator(folder, &[path("lists"), path("tags")]) {
        assert_eq!(answer["data"], json!([]));
    }
    let (status, real, _) = run(folder, &company, &["people.csv"]);
    assert_eq!((status, counts(&real)), (1, counts(&rehearsed)));
    assert_eq!(real["left_out"], rehearsed["left_out"]);
}

/// R289.
#[test]
fn a_bad_value_is_left_out_and_reported_and_strict_refuses_its_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let file = "name,phone,email,cpf\nAna,+5511987654321,no address,123\n";
    std::fs::write(folder.join("people.csv"), file).expect("written");
    let (status, summary, _) = run(folder, &company, &["--strict", "people.csv"]);
    assert_eq!((status, counts(&summary)), (1, [1, 0, 0, 0, 1]));
    let (status, summary, _) = run(folder, &company, &["people.csv"]);
    assert_eq!((status, counts(&summary)), (0, [1, 1, 0, 0, 0]));
    assert_eq!(summary["values_left_out"], 2);
    let mut left: Vec<(u64, &str)> = summary["left_out"]
        .as_array()
        .expect("examples")
        .iter()
        .map(|left| (left["line"].as_u64().expect("a line"), left["field"].as_str().expect("one")))
        .collect();
    left.sort_unstable();
    assert_eq!(left, [(2, "cpf"), (2, "email")]);
    assert_eq!(contacts(folder, &company)[0]["email"], Value::Null);
}

/// R290.
#[test]
fn an_update_writes_over_what_is_there_and_lists_and_tags_are_made_and_filled() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let write = |text: &str| std::fs::write(folder.join("people.csv"), text).expect("written");
    write("name,phone,city\nAna,+5511987654321,Olinda\n");
    assert_eq!(run(folder, &company, &["people.csv"]).0, 0);
    write(
        "name,phone,city,priority,email\nAna Souza,11987654321,,high,bad\n\
         Beto,+5511987654322,Recife,,\n",
    );
    let labels = ["--list", "Feira", "--tag", "Cliente"];
    let arguments = [&labels[..], &["people.csv"]].concat();
    let (status, summary, _) = run(folder, &company, &arguments);
    assert_eq!((status, counts(&summary)), (0, [2, 1, 0, 1, 0]));
    assert_eq!(contacts(folder, &company)[0]["name"], "Ana", "without --update nothing is changed");

    let arguments = [&labels[..], &["--update", "people.csv"]].concat();
    let (status, summary, _) = run(folder, &company, &arguments);
    assert_eq!((status, counts(&summary)), (0, [2, 0, 2, 0, 0]));
    assert_eq!(summary["values_left_out"], 1);
    let all = contacts(folder, &company);
    let ana = &all[0];
    assert_eq!(
        (&ana["name"], &ana["city"], &ana["priority"]),
        (&json!("Ana Souza"), &json!("Olinda"), &json!("high")),
        "an empty cell changes nothing"
    );
    for contact in &all {
        assert_eq!(contact["tags"][0]["name"], "Cliente", "{contact}");
        assert_eq!(contact["tags"].as_array().map(Vec::len), Some(1));
    }
    let path = |what: &str| ("GET", format!("/companies/{company}/{what}"), Value::Null);
    let answers = operator(folder, &[path("lists"), path("tags")]);
    assert_eq!(answers[0]["data"][0]["name"], "Feira");
    assert_eq!(answers[0]["data"][0]["contacts_count"], 2);
    let made = answers.iter().map(|answer| answer["data"].as_array().map_or(0, Vec::len));
    assert_eq!(made.collect::<Vec<_>>(), [1, 1], "made once");
}

/// R288.
#[test]
fn messages_name_their_contact_by_phone_and_their_connection_by_number_or_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let company = company(folder);
    let connection = |number: &str, name: &str| {
        let body =
            json!({"kind": "qr", "name": name, "identifier": number, "gateway": "simulated"});
        ("POST", format!("/companies/{company}/connections"), body)
    };
    let contact =
        |phone: &str| ("POST", format!("/companies/{company}/contacts"), json!({ "phone": phone }));
    operator(
        folder,
        &[
            connection("551130000001", "Loja"),
            connection("551130000002", "Fábrica"),
            contact("+5511987654321"),
        ],
    );
    let file = "phone,connection,direction,content,timestamp\n\
        (11) 8765-4321,551130000001,inbound,Oi,17/05/2024 09:30\n\
        +5511987654321,fábrica,outbound,Olá,17/05/2024 09:31\n\
        +5511987654321,Loja,inbound,Oi,17/05/2024 09:30\n\
        +5511987654399,Loja,inbound,Oi,17/05/2024 09:30\n\
        +5511987654321,Outra,inbound,Oi,17/05/2024 09:30\n";
    std::fs::write(folder.join("messages.csv"), file).expect("written");
    for (imported, already_there) in [(3, 0), (0, 3)] {
        let (status, summary, _) = run(folder, &company, &["messages.csv"]);
        assert_eq!((status, counts(&summary)), (1, [5, imported, 0, already_there, 2]));
    }
    let report = std::fs::read_to_string(folder.join("messages.csv.refused.csv")).expect("there");
    assert!(report.contains("no contact has this phone"), "{report}");
    assert!(report.contains("Outra"), "{report}");
}
