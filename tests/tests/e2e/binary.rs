//! The binary: commands, options, exit codes, stopping, logs: docs/operator-api.md; D70.

use std::sync::Arc;

use recado_tests::backend::Database;
use recado_tests::binary::{Ended, Process, recado, run_recado};
use recado_tests::world::{operator_at, ready_at, tenant_at};
use recado_tests::{OPERATOR, Request, StoreKind, both_stores, eventually, phone, text};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[track_caller]
fn assert_wrong_configuration(ended: &Ended, names: &str) {
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains(names), "the message names {names}: {}", ended.stderr);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(future)
}

#[test]
fn a_wrong_option_ends_with_code_2_and_a_message_that_names_it() {
    block_on(async {
        for (option, value) in [
            ("--listen", "nonsense"),
            ("--database", "mysql://x"),
            ("--database", "sqlite:"),
            ("--documents", "ftp://x"),
            ("--webhook-retry-waits", "1s"),
            ("--webhook-retry-waits", "1s,2s,3s,4s,5s"),
            ("--webhook-timeout", "soon"),
            ("--retention", "5"),
            ("--trusted-proxies", "10.0.0.0/99"),
            ("--allow-private-destinations=maybe", ""),
        ] {
            let args: Vec<&str> =
                ["serve", option, value].into_iter().filter(|arg| !arg.is_empty()).collect();
            let ended = run_recado(args, &[]).await;
            assert_wrong_configuration(&ended, option.split('=').next().expect("a name"));
        }
        assert_eq!(run_recado(["serve", "--nonsense"], &[]).await.code, Some(2));
        assert_eq!(run_recado(["nonsense"], &[]).await.code, Some(2));
    });
}

/// R313.
#[test]
fn a_collector_without_an_address_is_a_wrong_configuration() {
    block_on(async {
        for ended in [
            run_recado(["serve", "--otlp-endpoint", "nonsense"], &[]).await,
            run_recado(["serve"], &[("RECADO_OTLP_ENDPOINT", "nonsense")]).await,
        ] {
            assert_wrong_configuration(&ended, "--otlp-endpoint");
        }
        // Another program's variable is none of the options of a command that exports nothing.
        let migrate = ["migrate", "--database", "sqlite:recado.db"];
        let ended = run_recado(migrate, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a")]).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
    });
}

#[test]
fn a_wrong_environment_variable_or_file_is_named_too() {
    block_on(async {
        let ended = run_recado(["serve"], &[("RECADO_LISTEN", "nonsense")]).await;
        assert_wrong_configuration(&ended, "RECADO_LISTEN");
        let folder = tempfile::tempdir().expect("a folder");
        for (content, names) in [
            ("listen = \"nonsense\"\n", "listen"),
            ("lisden = \"127.0.0.1:0\"\n", "lisden"),
            ("listen = \n", "recado.toml"),
        ] {
            let file = folder.path().join("recado.toml");
            std::fs::write(&file, content).expect("writable");
            let ended =
                run_recado(["serve".as_ref(), "--config".as_ref(), file.as_os_str()], &[]).await;
            assert_wrong_configuration(&ended, names);
        }
        let ended = run_recado(["serve", "--config", "/nowhere/recado.toml"], &[]).await;
        assert_wrong_configuration(&ended, "/nowhere/recado.toml");
    });
}

#[test]
fn a_wrong_configuration_never_shows_secrets() {
    block_on(async {
        let url = "postgres://user:hunter2@localhost:nonsense/db";
        let ended = run_recado(
            ["serve", "--database", url, "--operator-token", "opsecret", "--listen", "x"],
            &[],
        )
        .await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            !ended.stderr.contains("hunter2") && !ended.stderr.contains("opsecret"),
            "{}",
            ended.stderr
        );
    });
}

#[test]
fn help_shows_flag_variable_and_default_of_each_option() {
    block_on(async {
        let help = run_recado(["serve", "--help"], &[]).await;
        assert_eq!(help.code, Some(0));
        for (option, default) in [
            ("database", "sqlite:recado.db"),
            ("listen", "127.0.0.1:8080"),
            ("operator-listen", ""),
            ("operator-token", ""),
            ("documents", "file:recado-documents"),
            ("public-url", ""),
            ("group-suffix", "g.us"),
            ("webhook-retry-waits", "30s,2m,10m,30m"),
            ("webhook-timeout", "10s"),
            ("retention", "30d"),
            ("allow-private-destinations", ""),
            ("trusted-proxies", ""),
            ("cnpj-registry", ""),
            ("stop-words", ""),
            ("no-migrate", ""),
            ("log", "info"),
            ("config", ""),
        ] {
            assert!(help.stdout.contains(&format!("--{option}")), "--{option} is missing");
            let variable = format!("RECADO_{}", option.replace('-', "_").to_uppercase());
            assert!(help.stdout.contains(&variable), "{variable} is missing");
            assert!(help.stdout.contains(default), "the default {default} is missing");
        }
    });
}

const FROM_FILE: &str = "the-operator-token-of-the-file-0123";
const FROM_FLAG: &str = "the-operator-token-of-the-flag-0123";

#[both_stores]
async fn a_flag_wins_over_the_environment_and_that_over_the_file(kind: StoreKind) {
    let database = Database::migrated(kind);
    let folder = Arc::new(tempfile::tempdir().expect("a folder"));
    let file = folder.path().join("recado.toml");
    let content = format!(
        "database = {:?}\noperator-token = {FROM_FILE:?}\nlisten = \"127.0.0.1:0\"\n",
        database.url()
    );
    std::fs::write(&file, content).expect("writable");
    let path = file.display().to_string();
    let process = Process::start(Arc::clone(&folder), &["serve", "--config", &path]).await;
    let get = |token: &'static str, addr| {
        Request::new("GET", "/operator/v1/companies").bearer(token).send(addr)
    };
    get(FROM_FILE, process.addr).await.expect(200);
    process.kill().await;
    let process =
        Process::start(folder, &["serve", "--config", &path, "--operator-token", FROM_FLAG]).await;
    get(FROM_FLAG, process.addr).await.expect(200);
    get(FROM_FILE, process.addr).await.expect_error(401, "UNAUTHORIZED");
}

#[both_stores]
async fn without_an_operator_token_the_operator_api_is_404(kind: StoreKind) {
    let database = Database::migrated(kind);
    for args in [vec![], vec!["--operator-token", ""]] {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let url = database.url();
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database", &url];
        all.extend(args);
        let process = Process::start(folder, &all).await;
        for token in [None, Some(""), Some(OPERATOR)] {
            let request = Request::new("GET", "/operator/v1/companies");
            let request = match token {
                Some(token) => request.bearer(token),
                None => request,
            };
            request.send(process.addr).await.expect_error(404, "NOT_FOUND");
        }
        // A file of SQLite has one server: the next one starts when this one has ended.
        process.kill().await;
    }
}

#[both_stores]
async fn sigterm_and_sigint_end_with_code_0(kind: StoreKind) {
    let database = Database::migrated(kind);
    for signal in ["TERM", "INT"] {
        let process = Process::serve(&database, &[]).await;
        // An idle keep-alive connection must not delay the stop.
        let _idle = TcpStream::connect(process.addr).await.expect("connects");
        process.signal(signal).await;
        let (status, output) = process.ended().await;
        assert_eq!(status.code(), Some(0), "{signal}: {output}");
    }
}

#[both_stores]
async fn a_graceful_stop_finishes_what_is_in_flight_and_takes_nothing_new(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let body = json!({"phone": phone(1)}).to_string();
    let mut slow = TcpStream::connect(process.addr).await.expect("connects");
    let head = format!(
        "POST /api/v1/contacts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\r\n{}",
        us.key,
        body.len(),
        &body[..5]
    );
    slow.write_all(head.as_bytes()).await.expect("writes");
    // The answer to another call shows that the server has read the head of the first one.
    Request::new("GET", "/readyz").send(process.addr).await;
    let addr = process.addr;
    process.signal("TERM").await;
    eventually("no new connections, or not ready", || async {
        match TcpStream::connect(addr).await {
            Err(_) => Some(()),
            Ok(_) => match Request::new("GET", "/readyz").try_send(addr).await {
                None => Some(()),
                Some(answer) => (answer.status == 503).then_some(()),
            },
        }
    })
    .await;
    slow.write_all(&body.as_bytes()[5..]).await.expect("the connection is still open");
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    while !String::from_utf8_lossy(&answer).contains("updated_at") {
        let read = slow.read(&mut chunk).await.expect("an answer");
        assert!(read > 0, "closed: {}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&chunk[..read]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 201"), "{}", String::from_utf8_lossy(&answer));
    drop(slow);
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    let process = Process::serve(&database, &[]).await;
    let list = Request::new("GET", "/api/v1/contacts").bearer(&us.key).send(process.addr).await;
    assert_eq!(list.items().len(), 1);
}

#[both_stores]
async fn no_log_line_shows_keys_tokens_phones_or_names(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &["--log", "trace"]).await;
    let addr = process.addr;
    let us = tenant_at(addr, "Acme", "enterprise").await;
    let contacts = "/api/v1/contacts";
    let call = |method: &str, path: String, body: Value| {
        let request = Request::new(method, path).bearer(&us.key);
        if body.is_null() { request } else { request.json(&body) }.send(addr)
    };
    let body = json!({
        "phone": "+5511987654321", "name": "Fulana Sigilosa", "email": "sigilo@privado.example", "cpf": "52998224725",
        "observation": "segredo-da-observacao", "cnpj": "19131243000197",
    });
    let id =
        text(&call("POST", contacts.to_owned(), body.clone()).await.expect(201)["contact"]["id"]);
    call("POST", contacts.to_owned(), body).await.expect_error(409, "CONTACT_EXISTS");
    call("POST", contacts.to_owned(), json!({"phone": "11 98765-4321 x", "email": "sigilo privado.example", "cpf": "52998224726"})).await;
    call("GET", format!("{contacts}/{id}"), Value::Null).await.expect(200);
    call("GET", format!("{contacts}?search=98765-4321"), Value::Null).await.expect(200);
    call("GET", format!("{contacts}?search=sigilo%40privado.example"), Value::Null)
        .await
        .expect(200);
    call("GET", format!("{contacts}?order_by=created_at&cursor=x"), Value::Null).await;
    call("GET", "/api/v1/+5511987654321".to_owned(), Value::Null).await;
    call(
        "PATCH",
        format!("{contacts}/{id}"),
        json!({"name": "Fulana Sigilosa B", "phone": "+5511987654322"}),
    )
    .await;
    let upload =
        format!("/operator/v1/companies/{}/contacts/{id}/documents?filename=sigiloso.txt", us.id);
    Request::new("POST", upload)
        .bearer(OPERATOR)
        .body("conteudo-sigiloso")
        .send(addr)
        .await
        .expect(201);
    let link = json!({"contact_id": id, "url": "https://example.com/?token=sigilo-da-url"});
    let link = operator_at(addr, &us.id, "POST", "C/links", link).await.expect(201);
    let code = text(&link["code"]);
    Request::new("GET", format!("/l/{code}")).send(addr).await;
    let wrong = "rk_WRONGWRONGWRONGWRONGWRONGWRONGWRONGWRONGWRO";
    Request::new("GET", contacts).bearer(wrong).send(addr).await.expect_error(401, "UNAUTHORIZED");
    call("DELETE", format!("{contacts}/{id}"), Value::Null).await.expect_deleted();
    process.signal("TERM").await;
    let (_, log) = process.ended().await;
    assert!(log.matches("\"request\"").count() >= 14, "each request has its line:\n{log}");
    for secret in [
        us.key.as_str(),
        &us.key[3..],
        OPERATOR,
        wrong,
        "987654321",
        "98765-4321",
        "98765432",
        "Sigilosa",
        "sigilo",
        "52998224725",
        "52998224726",
        "segredo-da-observacao",
        "19131243000197",
        &code,
    ] {
        let line = log.lines().find(|line| line.contains(secret));
        assert!(line.is_none(), "{secret} is in the log: {}", line.unwrap_or_default());
    }
}

#[both_stores]
async fn each_log_line_of_a_request_has_its_id(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &["--log", "debug"]).await;
    let request = Request::new("GET", "/api/v1/contacts").header("x-request-id", "id-to-find-42");
    request.send(process.addr).await;
    eventually("the log line", || async {
        process.output().contains("id-to-find-42").then_some(())
    })
    .await;
}

#[both_stores]
async fn openapi_prints_the_document_that_is_served(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let served = Request::new("GET", "/api/openapi.json").send(process.addr).await.json();
    let printed = run_recado(["openapi"], &[]).await;
    assert_eq!(printed.code, Some(0));
    let printed: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    assert_eq!(printed, served);
}

#[both_stores]
async fn migrate_brings_the_schema_and_may_be_repeated(kind: StoreKind) {
    let database = Database::fresh(kind);
    for _ in 0..2 {
        let ended = run_recado(["migrate", "--database", &database.url()], &[]).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    let process = Process::serve(&database, &["--no-migrate"]).await;
    ready_at(process.addr).await;
}

#[both_stores]
async fn two_processes_that_start_at_once_on_an_empty_database_both_serve(kind: StoreKind) {
    if kind == StoreKind::Sqlite {
        return; // One server process per file.
    }
    let database = Database::fresh(kind);
    let (a, b) = tokio::join!(Process::serve(&database, &[]), Process::serve(&database, &[]));
    for process in [&a, &b] {
        ready_at(process.addr).await;
    }
}

#[both_stores]
async fn a_company_and_a_key_made_by_commands_work(kind: StoreKind) {
    let database = Database::fresh(kind);
    let url = database.url();
    let ended = run_recado(["migrate", "--database", &url], &[]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let ended =
        run_recado(["company", "create", "--database", &url, "Padaria", "--json"], &[]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let company: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let id = text(&company["id"]);
    let ended = run_recado(
        [
            "key",
            "create",
            "--database",
            &url,
            "--company",
            &id,
            "--name",
            "CRM",
            "--scopes",
            "all",
            "--json",
        ],
        &[],
    )
    .await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let key: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let process = Process::serve(&database, &[]).await;
    Request::new("GET", "/api/v1/contacts")
        .bearer(&text(&key["key"]))
        .send(process.addr)
        .await
        .expect(200);
}

#[test]
fn the_demo_prints_a_key_and_curl_lines_that_work_and_keeps_its_data() {
    block_on(async {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let process =
            Process::start(Arc::clone(&folder), &["demo", "--listen", "127.0.0.1:0"]).await;
        let lines = eventually("curl lines", || async {
            let output = process.output();
            let lines: Vec<String> = curl_lines(&output);
            (lines.len() >= 2 && output.contains("rk_")).then_some(lines)
        })
        .await;
        for line in &lines {
            let mut shell = tokio::process::Command::new("sh");
            shell.args(["-c", line]).current_dir(folder.path());
            let output = shell.output().await.expect("sh runs");
            let answer = String::from_utf8_lossy(&output.stdout);
            // Inbound calls answer `ok` instead of `success`.
            let went_well =
                ["\"success\":true", "\"ok\":true"].iter().any(|word| answer.contains(word));
            assert!(output.status.success() && went_well, "{line}\n{answer}");
        }
        let output = process.output();
        let start = output.find("rk_").expect("a key");
        let key = output[start..start + 46].to_owned();
        let before =
            Request::new("GET", "/api/v1/contacts?limit=100").bearer(&key).send(process.addr).await;
        assert!(!before.items().is_empty(), "there are sample contacts");
        process.signal("TERM").await;
        assert_eq!(process.ended().await.0.code(), Some(0));
        let process = Process::start(folder, &["demo", "--listen", "127.0.0.1:0"]).await;
        let after =
            Request::new("GET", "/api/v1/contacts?limit=100").bearer(&key).send(process.addr).await;
        // The messages of the started campaign change the order of the listing.
        let sorted = |mut ids: Vec<_>| {
            ids.sort_unstable();
            ids
        };
        let (before, after) = (sorted(before.ids()), sorted(after.ids()));
        assert_eq!(after, before, "a second start keeps the data and the key");
    });
}

/// The printed commands, with lines that end in a backslash joined.
fn curl_lines(output: &str) -> Vec<String> {
    let joined = output.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim).filter(|line| line.starts_with("curl "));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_binary_is_found() {
    assert!(recado().is_file());
}
