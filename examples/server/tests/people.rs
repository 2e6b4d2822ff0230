//! `recado member`, `recado operator-token` and `recado audit`: R385, R388, R394, R399, R402.

mod common;

use std::path::Path;

use common::{Server, done, recado, send, with_database};
use serde_json::{Value, json};

const NOBODY: &str = "01a19b7c-a680-78b4-a652-e44da7f29e26";
const PASSWORD: &str = "nove+sapos+azuis";
/// Without it, the secret of a second factor has nothing that seals it.
const TOKEN: &str = "operator-token-of-the-tests-0123456789";

/// The JSON that a command prints.
fn shown(folder: &Path, arguments: &[&str]) -> Value {
    let text = done(folder, &[arguments, &["--json"]].concat());
    serde_json::from_str(&text).expect("JSON")
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn company(folder: &Path, name: &str) -> String {
    text(&shown(folder, &["company", "create", name])["id"])
}

/// A command that invites a member of a company by an address.
fn invite<'a>(company: &'a str, email: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["member", "invite", "--company", company, "--email", email], more].concat()
}

/// A command that fails: its exit status, and what it says.
fn failed(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = recado(folder).args(arguments).output().expect("it runs");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

/// The names in the head of a table.
fn head(table: &str) -> Vec<&str> {
    table.lines().next().unwrap_or_default().split_whitespace().collect()
}

fn post(server: &Server, path: &str, form: &str) -> u16 {
    let headers = [
        "Content-Type: application/x-www-form-urlencoded".to_owned(),
        "Sec-Fetch-Site: same-origin".to_owned(),
    ];
    send(&server.addr(), "POST", path, &headers, form).status
}

/// The secret in the address of a link.
fn secret(link: &Value) -> String {
    let url = text(&link["url"]);
    let (page, secret) = url.split_once('#').expect("a fragment");
    assert!(page.ends_with("/console/welcome"), "{page}");
    secret.to_owned()
}

/// R394, R399.
#[test]
fn a_member_is_invited_and_the_link_is_shown_once() {
    let folder = with_database();
    let run = |arguments: &[&str]| shown(folder.path(), arguments);
    let company = company(folder.path(), "Padaria Aurora");

    let link = run(&invite(&company, "Bia@example.org", &["--name", "Bia", "--role", "agent"]));
    let bia = text(&link["member_id"]);
    assert_eq!(link["purpose"], "invitation");
    let secret = secret(&link);
    let again = invite(&company, "bia@example.org", &["--role", "manager", &bia]);
    let again = done(folder.path(), &again);
    let names: Vec<&str> = again.lines().filter_map(|line| line.split("  ").next()).collect();
    let names: Vec<&str> = names.into_iter().map(str::trim).collect();
    assert_eq!(names, ["member_id", "purpose", "expires_at", "url"], "{again}");
    assert!(again.contains(&bia) && again.contains("/console/welcome#rl_"), "{again}");
    assert!(!again.contains(&secret), "a link of its own");

    let listed = run(&["member", "list", "--company", &company]);
    let login = &listed[0];
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&login["member_id"], &login["email"], &login["role"], &login["has_password"]),
        (&json!(bia), &json!("bia@example.org"), &json!("manager"), &json!(false))
    );
    assert_eq!(
        (&login["was_accepted"], &login["has_provider"]),
        (&json!(false), &json!(false)),
        "R433"
    );
    let table = done(folder.path(), &["member", "list", "--company", &company]);
    assert_eq!(head(&table)[..4], ["MEMBER_ID", "EMAIL", "ROLE", "WAS_ACCEPTED"], "{table}");
    assert!(head(&table).contains(&"HAS_PROVIDER"), "{table}");
    assert!(table.contains("bia@example.org") && !table.contains("rl_"), "{table}");
    assert!(!listed.to_string().contains("rl_"), "{listed}");
}

/// R397, R399, R402.
#[test]
fn a_login_is_changed_and_its_sessions_are_ended() {
    let folder = with_database();
    let run = |arguments: &[&str]| shown(folder.path(), arguments);
    let company = company(folder.path(), "Padaria Aurora");
    let link = run(&invite(&company, "bia@example.org", &["--name", "Bia", "--role", "agent"]));
    let bia = text(&link["member_id"]);
    let member = |verb: &str, more: &[&str]| {
        run(&[&["member", verb, "--company", &company, &bia], more].concat())
    };

    // Beside the running server.
    let server = Server::start(folder.path(), &["serve"], "listening");
    let accept = |link: &Value| {
        let form = format!("token={}&password={PASSWORD}", secret(link));
        assert_eq!(post(&server, "/console/welcome/password", &form), 303);
    };
    let sign_in = || {
        let form = format!("email=bia%40example.org&password={PASSWORD}");
        post(&server, "/console/sign-in", &form) == 303
    };
    accept(&link);
    assert!(sign_in() && sign_in());
    let sessions = member("sessions", &[]);
    assert_eq!(sessions.as_array().map(Vec::len), Some(2), "{sessions}");
    let table = done(folder.path(), &["member", "sessions", "--company", &company, &bia]);
    assert_eq!(head(&table), ["ID", "CREATED_AT", "LAST_SEEN_AT", "ENDS_AT"], "{table}");
    assert_eq!(table.lines().count(), 3, "{table}");

    let first = text(&sessions[0]["id"]);
    let one = member("revoke-sessions", &["--session", &first]);
    assert_eq!(one, json!({"member_id": bia, "done": true}));
    let left = member("sessions", &[]);
    assert_eq!(left.as_array().map(Vec::len), Some(1), "{left}");
    assert_eq!(left[0]["id"], sessions[1]["id"]);
    let said = done(folder.path(), &["member", "revoke-sessions", "--company", &company, &bia]);
    assert!(said.contains("done") && said.contains("true"), "{said}");
    assert_eq!(member("sessions", &[]), json!([]));

    assert!(sign_in());
    assert_eq!(member("role", &["--role", "viewer"])["role"], "viewer");
    assert_eq!(member("sessions", &[]), json!([]), "a new role ends them");
    assert!(member("disable", &[])["disabled_at"].is_string());
    assert!(!sign_in(), "disabled");
    assert_eq!(member("enable", &[])["disabled_at"], Value::Null);
    assert!(sign_in());
    let reset = member("reset", &[]);
    assert_eq!(reset["purpose"], "reset");
    accept(&reset);
    assert_eq!(member("sessions", &[]), json!([]), "a new password ends them");
    assert_eq!(member("remove-totp", &[])["done"], true);
    server.stop();
}

/// R265, R399, R402.
#[test]
fn what_is_wrong_about_a_member_is_said() {
    let folder = with_database();
    let company = company(folder.path(), "Padaria Aurora");
    let other = self::company(folder.path(), "Outra");
    let email = "bia@example.org";
    let link =
        shown(folder.path(), &invite(&company, email, &["--name", "Bia", "--role", "agent"]));
    let bia = text(&link["member_id"]);
    let fails = |code: i32, about: &str, arguments: &[&str]| {
        let (found, said) = failed(folder.path(), arguments);
        assert_eq!(found, Some(code), "{arguments:?}: {said}");
        assert!(said.contains(about), "{arguments:?}: {said}");
        let (found, said) = failed(folder.path(), &[arguments, &["--json"]].concat());
        assert_eq!(found, Some(code), "{arguments:?}: {said}");
        if code == 1 {
            let said: Value = serde_json::from_str(&said).expect("JSON");
            assert!(text(&said["error"]).contains(about), "{said}");
        }
    };
    fails(
        1,
        "another login has this",
        &invite(&company, email, &["--name", "Eva", "--role", "agent"]),
    );
    fails(1, "no such", &invite(&company, email, &["--role", "agent", NOBODY]));
    fails(1, "--email", &invite(&company, "nowhere", &["--name", "Eva", "--role", "agent"]));
    for verb in ["reset", "disable", "enable", "remove-totp", "sessions", "revoke-sessions"] {
        let of = |company: &str, member: &str| {
            fails(1, "no such", &["member", verb, "--company", company, member]);
        };
        of(&company, NOBODY);
        of(&other, &bia);
    }
    let role = ["member", "role", "--company", &company];
    fails(1, "no such", &[&role[..], &["--role", "agent", NOBODY]].concat());
    fails(2, "viewer", &[&role[..], &["--role", "boss", &bia]].concat());
    fails(2, "--role", &[&role[..], &[&*bia]].concat());
    fails(2, "must be the id of a member", &["member", "reset", "--company", &company, "bia"]);
    fails(2, "--name", &invite(&company, email, &["--role", "agent"]));
    let both = ["--role", "agent", "--name", "Eva", &bia];
    fails(2, "cannot be used with", &invite(&company, email, &both));
    let one = ["member", "revoke-sessions", "--company", &company, &bia, "--session"];
    fails(1, "no such", &[&one[..], &[NOBODY]].concat());
    fails(2, "must be the id of a session", &[&one[..], &["1"]].concat());
}

/// R380–R382: beside the running server, at once.
#[test]
fn an_operator_token_is_made_changed_and_deleted() {
    let folder = with_database();
    let run = |arguments: &[&str]| shown(folder.path(), &[&["operator-token"], arguments].concat());
    let company = company(folder.path(), "Padaria Aurora");
    let made = run(&["create", "--name", "Ana", "--role", "viewer", "--company", &company]);
    let (id, secret) = (text(&made["id"]), text(&made["token"]));
    assert!(secret.starts_with("ro_"), "its form");
    let listed = run(&["list"]);
    assert_eq!((&listed[0]["id"], listed[0].get("token")), (&json!(id), None));
    assert_eq!(run(&["show", &id])["company_id"], company);

    let server = Server::start(folder.path(), &["serve", "--operator-token", TOKEN], "listening");
    let status = |method: &str| {
        let headers = [format!("Authorization: Bearer {secret}")];
        let path = format!("/operator/v1/companies/{company}/members");
        send(&server.addr(), method, &path, &headers, r#"{"display_name":"Eva"}"#).status
    };
    assert_eq!((status("GET"), status("POST")), (200, 403));
    assert_eq!(run(&["change", &id, "--role", "owner"])["role"], "owner");
    assert_ne!(status("POST"), 403, "an owner may");
    run(&["delete", &id]);
    assert_eq!(status("GET"), 401);
    server.stop();
    assert_eq!(run(&["list"]), json!([]));
    let (code, said) = failed(folder.path(), &["operator-token", "show", &id]);
    assert!(code == Some(1) && said.contains("no such"), "{code:?} {said}");
}

/// R384, R385, R388.
#[test]
fn the_audit_log_tells_what_commands_did() {
    let folder = with_database();
    let one = company(folder.path(), "Padaria Aurora");
    let two = company(folder.path(), "Outra");
    done(folder.path(), &["company", "change", &one, "--plan", "starter"]);
    let list = |more: &[&str]| shown(folder.path(), &[&["audit", "list"], more].concat());
    let operations = |more: &[&str]| -> Vec<String> {
        let entries = list(more);
        entries.as_array().expect("a list").iter().map(|one| text(&one["operation"])).collect()
    };

    let all = ["company change", "company create", "company create"];
    assert_eq!(operations(&[]), all, "the newest first");
    assert_eq!(operations(&["--company", &one]), all[..2]);
    assert_eq!(operations(&["--operation", "company create"]), all[1..]);
    assert_eq!(operations(&["--limit", "1"]), all[..1]);
    assert_eq!(operations(&["--record-kind", "company", "--record-id", &two]), all[2..]);
    assert_eq!(operations(&["--record-kind", "contact"]).len(), 0);
    assert_eq!(operations(&["--actor", "program"]), all);
    assert_eq!(operations(&["--actor", "root"]).len(), 0);
    assert_eq!(operations(&["--actor-id", NOBODY]).len(), 0);
    assert_eq!(operations(&["--outcome", "done"]), all);
    assert_eq!(operations(&["--outcome", "denied"]).len(), 0);
    assert_eq!(operations(&["--since", "2020-01-01"]), all);
    assert_eq!(operations(&["--since", "2999-01-01"]).len(), 0);
    assert_eq!(operations(&["--until", "2020-01-01"]).len(), 0);

    let entry = &list(&["--limit", "1"])[0];
    assert_eq!(
        (&entry["company_id"], &entry["actor_id"], &entry["from"], &entry["code"]),
        (&json!(one), &Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(entry["records"], json!([{"kind": "company", "id": one}]));
    let table = done(folder.path(), &["audit", "list"]);
    assert_eq!(
        head(&table),
        [
            "ID",
            "AT",
            "COMPANY_ID",
            "ACTOR",
            "ACTOR_ID",
            "FROM",
            "OPERATION",
            "OUTCOME",
            "CODE",
            "RECORD_COUNT"
        ]
    );
    assert_eq!(table.lines().count(), 4, "{table}");
    assert!(table.contains("company create") && table.contains(&two), "{table}");
    assert!(!table.contains("Padaria"), "ids only: {table}");
}

/// R387, R388: a refusal of a call is there too, with who was refused.
#[test]
fn the_audit_log_tells_who_was_refused() {
    let folder = with_database();
    let company = company(folder.path(), "Padaria Aurora");
    let arguments = ["operator-token", "create", "--name", "Ana", "--role", "viewer"];
    let made = shown(folder.path(), &arguments);
    let (id, secret) = (text(&made["id"]), text(&made["token"]));
    let server = Server::start(folder.path(), &["serve", "--operator-token", TOKEN], "listening");
    let headers = [format!("Authorization: Bearer {secret}")];
    let path = format!("/operator/v1/companies/{company}/members");
    assert_eq!(send(&server.addr(), "POST", &path, &headers, "{}").status, 403);
    server.stop();
    let denied = shown(folder.path(), &["audit", "list", "--outcome", "denied"]);
    assert_eq!(denied.as_array().map(Vec::len), Some(1), "{denied}");
    assert_eq!(
        (&denied[0]["actor"], &denied[0]["actor_id"], &denied[0]["operation"]),
        (&json!("token"), &json!(id), &json!("createMember"))
    );
    assert!(denied[0]["from"].is_string() && denied[0]["code"].is_string(), "{denied}");
    let of = ["audit", "list", "--actor", "token", "--actor-id", &id];
    assert_eq!(shown(folder.path(), &of), denied);
}

/// R265, R388.
#[test]
fn what_is_wrong_about_a_listing_of_the_log_is_said() {
    let folder = with_database();
    for (option, value, about) in [
        ("--actor", "nobody", "--actor"),
        ("--actor-id", "1", "--actor-id"),
        ("--outcome", "perhaps", "--outcome"),
        ("--since", "yesterday", "--since"),
        ("--until", "tomorrow", "--until"),
        ("--limit", "0", "--limit"),
        ("--limit", "101", "--limit"),
        ("--limit", "many", "--limit"),
    ] {
        let (code, said) = failed(folder.path(), &["audit", "list", option, value]);
        assert_eq!(code, Some(1), "{option} {value}: {said}");
        assert!(said.contains(about), "{option} {value}: {said}");
        let arguments = ["audit", "list", option, value, "--json"];
        let (code, said) = failed(folder.path(), &arguments);
        let said: Value = serde_json::from_str(&said).expect("JSON");
        assert_eq!(code, Some(1), "{said}");
        assert!(text(&said["error"]).contains(about), "{said}");
    }
    let (code, said) = failed(folder.path(), &["audit", "list", "--company", "aurora"]);
    assert!(code == Some(2) && said.contains("--company"), "{code:?} {said}");
    let empty = tempfile::tempdir().expect("a temporary folder");
    for command in [&["audit", "list"][..], &["member", "list", "--company", NOBODY]] {
        let (code, said) = failed(empty.path(), command);
        assert!(code == Some(2) && said.contains("no database"), "{code:?} {said}");
    }
}
