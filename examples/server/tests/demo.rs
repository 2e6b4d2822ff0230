//! The demonstration: its printed lines work, also after a second start.

mod common;

use std::path::Path;

use common::{ScriptedAnswer, Server, send};

fn demo(folder: &Path) -> Server {
    Server::start(folder, &["demo"], "Ctrl-C")
}

fn printed(server: &Server, label: &str) -> String {
    let value = server.printed.iter().find_map(|line| line.strip_prefix(label));
    value.unwrap_or_else(|| panic!("{label} is printed")).trim().to_owned()
}

fn lines(server: &Server) -> Vec<String> {
    server.printed.iter().filter(|line| line.starts_with("curl ")).cloned().collect()
}

/// The words of a line as a shell would read them; all quotes are single.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.last_mut().expect("a word").push_str(part);
            continue;
        }
        for (index, piece) in part.split(' ').enumerate() {
            if index > 0 {
                words.push(String::new());
            }
            words.last_mut().expect("a word").push_str(piece);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Runs the line as curl would.
fn run(line: &str) -> ScriptedAnswer {
    let (mut method, mut url, mut body) = (None, String::new(), String::new());
    let mut headers = Vec::new();
    let mut words = words(line).into_iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-s" => {}
            "-X" => method = words.next(),
            "-H" => headers.extend(words.next()),
            "-d" | "--data-binary" => body = words.next().expect("a body"),
            _ => url = word,
        }
    }
    let rest = url.strip_prefix("http://").expect("a URL");
    let (addr, path) = rest.split_once('/').expect("a path");
    send(addr, method.as_deref().unwrap_or("GET"), &format!("/{path}"), &headers, &body)
}

fn total(server: &Server, key: &str) -> u64 {
    let bearer = format!("Authorization: Bearer {key}");
    let answer = send(&server.addr(), "GET", "/api/v1/contacts", &[bearer], "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()["pagination"]["total"].as_u64().expect("a total")
}

#[test]
fn every_line_works_as_printed_and_again_after_a_second_start() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = demo(folder.path());
    let key = printed(&first, "API key");
    let token = printed(&first, "operator token");
    let before = total(&first, &key);
    assert!(before >= 25, "sample contacts: {before}");
    assert!(lines(&first).len() >= 12);
    for line in lines(&first) {
        let answer = run(&line);
        assert!((200..300).contains(&answer.status), "{line}\n{}", answer.body);
    }
    assert_eq!(total(&first, &key), before + 1, "two made, one deleted");
    first.stop();

    let second = demo(folder.path());
    assert_eq!(printed(&second, "API key"), key);
    assert_eq!(printed(&second, "operator token"), token);
    assert_eq!(total(&second, &key), before + 1, "the data is kept and not made again");
    for line in lines(&second) {
        let answer = run(&line);
        assert!((200..300).contains(&answer.status), "{line}\n{}", answer.body);
    }
    second.stop();
}

/// R420: an owner signs in with what is printed, and with the same after a second start.
#[test]
fn the_printed_login_opens_the_console() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sign_in = |server: &Server, password: &str| {
        let email = printed(server, "  e-mail").replace('@', "%40");
        let form = format!("email={email}&password={password}");
        let headers = [
            "Content-Type: application/x-www-form-urlencoded".to_owned(),
            "Sec-Fetch-Site: same-origin".to_owned(),
        ];
        send(&server.addr(), "POST", "/console/sign-in", &headers, &form).status
    };
    let first = demo(folder.path());
    assert_eq!(printed(&first, "console"), format!("http://{}/console", first.addr()));
    let password = printed(&first, "  password");
    assert!(password.len() >= 32, "it cannot be guessed");
    assert_eq!((sign_in(&first, &password), sign_in(&first, "another one")), (303, 422));
    first.stop();
    let second = demo(folder.path());
    assert_eq!(printed(&second, "  password"), password);
    assert_eq!(sign_in(&second, &password), 303);
    second.stop();

    let other = tempfile::tempdir().expect("a temporary folder");
    let without = Server::start(other.path(), &["demo", "--no-console"], "Ctrl-C");
    for label in ["console", "  e-mail", "  password"] {
        assert!(!without.printed.iter().any(|line| line.starts_with(label)), "{label}");
    }
    assert_eq!(send(&without.addr(), "GET", "/console/sign-in", &[], "").status, 404);
    without.stop();
}

#[test]
fn a_kept_key_gets_the_scopes_that_a_later_version_adds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = demo(folder.path());
    let operator = [format!("Authorization: Bearer {}", printed(&first, "operator token"))];
    let company = printed(&first, "company");
    let keys = company.split(' ').next().expect("an id");
    let keys = format!("/operator/v1/companies/{keys}/keys");
    let listed = send(&first.addr(), "GET", &keys, &operator, "").json();
    let path = format!("{keys}/{}", listed["data"][0]["id"].as_str().expect("an id"));
    let narrow = r#"{"scopes": ["contacts:read"]}"#;
    assert_eq!(send(&first.addr(), "PATCH", &path, &operator, narrow).status, 200);
    let bearer = [format!("Authorization: Bearer {}", printed(&first, "API key"))];
    let events = |server: &Server| send(&server.addr(), "GET", "/api/v1/events", &bearer, "");
    assert_eq!(events(&first).status, 403);
    first.stop();

    let second = demo(folder.path());
    assert_eq!(events(&second).status, 200);
    second.stop();
}

#[test]
fn a_lost_credentials_file_means_a_new_key_and_the_end_of_the_old_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = demo(folder.path());
    let old = printed(&first, "API key");
    let before = total(&first, &old);
    first.stop();
    std::fs::remove_file(folder.path().join("recado-demo.db.credentials.json")).expect("was there");

    let second = demo(folder.path());
    let new = printed(&second, "API key");
    assert_ne!(new, old);
    assert_eq!(total(&second, &new), before);
    let bearer = format!("Authorization: Bearer {old}");
    assert_eq!(send(&second.addr(), "GET", "/api/v1/contacts", &[bearer], "").status, 401);
    second.stop();
}

#[test]
fn the_samples_have_stages_tags_lists_and_a_group() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = demo(folder.path());
    let bearer = format!("Authorization: Bearer {}", printed(&server, "API key"));
    let get = |path: &str| {
        let answer = send(&server.addr(), "GET", path, std::slice::from_ref(&bearer), "");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    };
    let contacts = get("/api/v1/contacts?limit=100&is_group=false")["data"].clone();
    let contacts = contacts.as_array().expect("contacts");
    assert!(contacts.iter().any(|contact| contact["pipeline_stage"]["name"] == "Proposta"));
    assert!(contacts.iter().any(|contact| contact["tags"][0]["name"] == "VIP"));
    assert!(contacts.iter().any(|contact| contact["custom_fields"]["origem"] == "Indicação"));
    assert!(contacts.iter().any(|contact| contact["inbox_status"] == "resolved"));
    assert_eq!(get("/api/v1/contacts?is_group=true")["pagination"]["total"], 1);
    let found = get("/api/v1/contacts?search=joao")["pagination"]["total"].clone();
    assert!(found.as_u64() >= Some(1), "accents do not matter");
    let lists = get("/api/v1/lists")["data"].clone();
    assert!(lists.as_array().is_some_and(|lists| lists.len() >= 2), "{lists}");
    server.stop();
}

#[test]
fn a_template_is_dispatched_and_a_campaign_reaches_everybody() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = demo(folder.path());
    let lines = lines(&server);
    let line = |about: &str| lines.iter().find(|line| line.contains(about)).expect(about);
    assert_eq!(run(line("/template-dispatch/")).status, 200, "to somebody new");
    let campaigns = || run(line("/api/v1/campaigns'")).json()["data"][0].clone();
    assert_eq!(campaigns()["status"], "draft");
    for _ in 0..2 {
        assert_eq!(run(line("/start'")).status, 200);
    }
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let finished = loop {
        let campaign = campaigns();
        if campaign["status"] == "finished" && campaign["counts"]["sent"] == 0 {
            break campaign;
        }
        assert!(std::time::Instant::now() < deadline, "{campaign}");
        // Only so that the requests do not occupy the processor.
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let counts = &finished["counts"];
    let total = counts["total"].as_u64().expect("a total");
    assert!(total >= 3 && counts["failed"] == 0, "{counts}");
    let listed = run(line("/recipients?")).json();
    assert_eq!(listed["total"], total);
    server.stop();
}

#[test]
fn the_first_lines_are_a_conversation_that_is_sent_read_resolved_and_reopened() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = demo(folder.path());
    let lines = lines(&server);
    let ok = |line: &str| {
        let answer = run(line);
        assert_eq!(answer.status, 200, "{line}\n{}", answer.body);
        answer.json()
    };
    let sent = ok(&lines[0])["data"]["message_id"].clone();
    // The reports come without a request, within a fraction of a second.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let newest = ok(&lines[1])["data"][0].clone();
        assert_eq!(newest["id"], sent);
        if newest["status"] == "read" {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{newest}");
    }
    assert_eq!(ok(&lines[2])["data"]["inbox_status"], "resolved");
    assert_eq!(ok(&lines[3])["data"]["results"][0]["result"], "stored");
    let contact = ok(&lines[4])["data"].clone();
    assert_eq!(
        (&contact["inbox_status"], &contact["is_ai_enabled"]),
        (&"open".into(), &false.into())
    );
    assert_eq!(ok(&lines[5])["data"][0]["content"], "Oba, obrigado!");
    server.stop();
}
