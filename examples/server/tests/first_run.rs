//! The first run: `recado init`, and the README's way from the demo to a paired phone.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Server, done, recado, send};
use recado_testkit::postgres::TestPostgres;
use serde_json::{Value, json};

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).expect("readable")
}

/// What a command prints in JSON.
fn parsed(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(folder, arguments)).expect("one JSON object")
}

/// Everything in a folder but a database, with its content.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let paths = entries.map(|entry| entry.path());
    let mut texts: Vec<_> = paths
        .filter(|path| !path.display().to_string().contains(".db"))
        .map(|path| (path.clone(), read(&path)))
        .collect();
    texts.sort();
    texts
}

/// Serves with the configuration that was made; the key and the token work.
fn works(folder: &Path, made: &Value) {
    let text = |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{name}: {made}"));
    let server = Server::start(folder, &["serve", "--config", text("config")], "listening");
    let status = |path: &str, credential: &str| {
        let header = format!("Authorization: Bearer {credential}");
        send(&server.addr(), "GET", path, &[header], "").status
    };
    assert_eq!(status("/api/v1/contacts", text("key")), 200);
    let token = read(text("operator_token_file"));
    assert_eq!(status("/operator/v1/companies", token.trim()), 200);
    server.stop();
}

/// R268.
#[test]
fn the_first_run_makes_everything_and_the_second_changes_nothing() {
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("srv/recado");
    let init = ["init", "--dir", dir.to_str().expect("UTF-8"), "--yes", "--json"];
    let named = [&init[..], &["--company", "Padaria Aurora"]].concat();
    let made = parsed(elsewhere.path(), &named);
    assert_eq!(made["config"], json!(dir.join("recado.toml")));
    assert_eq!(made["operator_token_file"], json!(dir.join("operator-token")));
    assert!(dir.join("recado.db").exists());
    assert!(std::fs::read_dir(elsewhere.path()).expect("a folder").next().is_none());
    let mode = dir.join("operator-token").metadata().expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = read(dir.join("operator-token"));
    let config = read(dir.join("recado.toml"));
    assert!(!config.contains(token.trim()), "no secret is in it");
    assert!(!config.contains(made["key"].as_str().expect("a key")));
    assert!(config.contains("\ncnpj-registry = \"https://brasilapi.com.br\"\n"), "{config}");
    assert!(config.contains("\ndatabase = \"sqlite:recado.db\"\n"), "{config}");

    let of_config = ["company", "list", "--json", "--config", made["config"].as_str().expect("it")];
    let companies = parsed(elsewhere.path(), &of_config);
    assert_eq!(companies[0]["id"], made["company_id"]);
    assert_eq!(companies[0]["name"], "Padaria Aurora");

    let before = files(&dir);
    for arguments in [&init[..], &named] {
        let again = parsed(elsewhere.path(), arguments);
        assert_eq!((&again["already"], &again["key"]), (&true.into(), &Value::Null));
        assert_eq!(again["company_id"], made["company_id"]);
        assert_eq!(files(&dir), before);
    }
    assert_eq!(parsed(elsewhere.path(), &of_config).as_array().map(Vec::len), Some(1));
    let said = done(elsewhere.path(), &init[..4]);
    assert!(said.contains("nothing was changed"), "{said}");
    works(elsewhere.path(), &made);
}

/// R268: by default here, on Postgres, without the password.
#[test]
fn the_database_may_be_postgres_and_its_password_is_not_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = TestPostgres::shared().fresh_database();
    let (user, place) = database.url().split_once('@').expect("a user");
    let (user, _) =
        user.rsplit_once(':').filter(|(user, _)| user.contains("//")).unwrap_or((user, ""));
    let open = format!("{user}:hunter2@{place}");
    let init = ["init", "--company", "A", "--json", "--database", &open];
    let made = parsed(folder.path(), &init);
    let config = read(folder.path().join("recado.toml"));
    assert!(config.contains("database = \"postgres") && !config.contains("hunter2"), "{config}");
    assert!(config.contains("RECADO_DATABASE"), "it says where the password belongs");
    assert!(!folder.path().join("recado.db").exists());
    let again = parsed(folder.path(), &init);
    assert_eq!(again["already"], true);
    works(folder.path(), &made);
}

/// R268.
#[test]
fn options_that_are_given_are_written_and_wrong_ones_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let token = "operator-token-of-the-tests-0123456789";
    let init = ["init", "--dir", "a", "--database", "sqlite:data.db", "--listen", "127.0.0.1:9000"];
    let said = done(folder.path(), &[&init[..], &["--operator-token", token]].concat());
    let config = read(folder.path().join("a/recado.toml"));
    let here = std::fs::canonicalize(folder.path()).expect("a folder");
    assert!(config.contains(&format!("sqlite:{}", here.join("data.db").display())), "{config}");
    assert!(config.contains("\nlisten = \"127.0.0.1:9000\"\n"), "{config}");
    assert_eq!(read(folder.path().join("a/operator-token")).trim(), token);
    for next in ["recado serve --config ", "curl -s http://127.0.0.1:9000/api/v1/", "/operator/v1/"]
    {
        assert!(said.contains(next), "{next}: {said}");
    }
    for (arguments, code, about) in [
        (&["init", "--dir", "a", "--database", "sqlite:other.db"][..], 2, "--database"),
        (&["init", "--config", "a/recado.toml"], 2, "--config"),
        (&["init", "--dir", "b", "--company", ""], 1, "--company"),
        (&["init", "--dir", "b", "--retention", "long"], 2, "--retention"),
        (&["init", "--dir", "a/recado.toml"], 1, "recado.toml"),
    ] {
        let output = recado(folder.path()).args(arguments).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(about), "{arguments:?}: {message}");
    }
    assert!(!folder.path().join("b/recado.toml").exists());
    // A run that was ended before the configuration was written goes on.
    let made = parsed(folder.path(), &["init", "--dir", "b", "--company", "B", "--json"]);
    works(folder.path(), &made);
}

/// R268.
#[test]
fn on_a_terminal_it_asks() {
    let Ok(found) = Command::new("script").arg("--version").output() else {
        println!("NOT RUN: the questions of recado init on a terminal: script is not installed");
        return;
    };
    assert!(found.status.success());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new("script");
    let line = format!("'{}' init", env!("CARGO_BIN_EXE_recado"));
    command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path());
    let mut running =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut answers = running.stdin.take().expect("piped");
    answers.write_all(b"Padaria Aurora\nsqlite:data.db\n").expect("it reads");
    let output = running.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("Name of the first company") && said.contains("Padaria Aurora"),
        "{said}"
    );
    assert!(folder.path().join("data.db").exists());
    assert!(read(folder.path().join("recado.toml")).contains("sqlite:data.db"));
    drop(answers);
}

/// R266, R267: paths of a file are relative to it; the token is in a file of its own.
#[test]
fn a_configuration_works_from_any_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let token = "operator-token-of-the-tests-0123456789";
    std::fs::write(folder.path().join("token"), token).expect("written");
    let config = folder.path().join("recado.toml");
    let text = "database = \"sqlite:a.db\"\noperator-token-file = \"token\"\n";
    std::fs::write(&config, text).expect("written");
    let serve = ["serve", "--config", config.to_str().expect("UTF-8")];
    let status = |arguments: &[&str], token: &str| {
        let server = Server::start(elsewhere.path(), &[&serve, arguments].concat(), "listening");
        let header = format!("Authorization: Bearer {token}");
        let answer = send(&server.addr(), "GET", "/operator/v1/companies", &[header], "");
        server.stop();
        answer.status
    };
    assert_eq!(status(&[], token), 200);
    assert!(folder.path().join("a.db").exists() && !elsewhere.path().join("a.db").exists());
    let other = "another-token-of-the-tests-0123456789";
    assert_eq!(status(&["--operator-token", other], other), 200);
    assert_eq!(status(&["--operator-token", other], token), 401);
    std::fs::write(folder.path().join("token"), "short").expect("written");
    let output = recado(elsewhere.path()).args(serve).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("--operator-token-file"), "{message}");
}

/// A session of WAHA that has to be paired, and is once its code was requested.
fn waha() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        let mut state = "SCAN_QR_CODE";
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let path = lines.next().unwrap_or_default();
            lines.by_ref().take_while(|line| !line.is_empty()).for_each(drop);
            let answer = if path.contains("/auth/qr?format=raw") {
                state = "WORKING";
                json!({"value": "2@abc,def=="})
            } else if path.contains("/auth/qr") {
                json!({"mimetype": "image/png", "data": "iVBORw=="})
            } else {
                json!({"name": "default", "status": state, "engine": {"engine": "NOWEB"}})
            };
            let answer = answer.to_string();
            let length = answer.len();
            let _ = write!(
                &stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
                 Content-Length: {length}\r\n\r\n{answer}"
            );
        }
    });
    url
}

/// The first block of shell lines of a section of the README.
fn readme(section: &str) -> String {
    let text = include_str!("../../../README.md");
    let (_, after) = text.split_once(section).expect("the section");
    let (_, block) = after.split_once("```sh\n").expect("a block");
    block.split("```").next().expect("its end").to_owned()
}

/// The README's lines, after those of its demo, in its order and as they are printed; only the
/// ports, Docker and the way in which the binary is called are others.
#[test]
fn the_readmes_connect_a_phone_works_after_the_demo() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("NOT RUN: the README's lines: curl is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let demo = Server::start(folder.path(), &["demo"], "Ctrl-C");
    let (_, after) = include_str!("../../../README.md").split_once("## Try it").expect("there");
    let (_, second) = after.split_once("second terminal").expect("there");
    let (_, block) = second.split_once("```sh\n").expect("a block");
    let tried = block.split("```").next().expect("its end");
    let connect = readme("## Connect a phone");
    assert!(connect.contains("docker run"), "{connect}");
    let lines = format!("set -e\n{tried}\n{}", without_docker(&connect))
        .replace("http://127.0.0.1:8080", &format!("http://{}", demo.addr()))
        .replace("http://127.0.0.1:3000", &waha())
        .replace("cargo run --release -p recado-server --", env!("CARGO_BIN_EXE_recado"));
    let output = Command::new("sh").args(["-c", &lines]).current_dir(folder.path()).output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{message}");
    assert!(said.contains('█') && said.contains("paired  true"), "{said}\n{message}");
    assert_sends_a_picture(&said);
    demo.stop();
}

/// X10: a picture was sent, and its link leads to it.
#[track_caller]
fn assert_sends_a_picture(said: &str) {
    let said = said.to_lowercase();
    for shown in ["\"type\":\"image\"", "content-type: image/png", "filename=\"rosto.png\""] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
}

/// The lines without the command that starts WAHA, which may go over several lines.
fn without_docker(lines: &str) -> String {
    let mut kept = String::new();
    let mut is_docker = false;
    for line in lines.lines() {
        is_docker = is_docker || line.starts_with("docker run");
        if !is_docker {
            kept.push_str(line);
            kept.push('\n');
        }
        is_docker = is_docker && line.ends_with('\\');
    }
    kept
}

/// The lines of docs/getting-started.md, and of its twin in Portuguese, all of them but the
/// installation, as they are printed.
#[test]
fn the_lines_to_get_started_work_one_after_the_other() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("NOT RUN: the lines of docs/getting-started.md: curl is not installed");
        return;
    }
    get_started(include_str!("../../../docs/getting-started.md"));
    get_started(include_str!("../../../docs/pt-BR/getting-started.md"));
}

/// A free port below those that the system gives to whoever asks for any: until it is used, nobody
/// else gets it.
fn quiet_port() -> u16 {
    let from = 10_000 + u16::try_from(std::process::id() % 20_000).expect("it is small");
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (from..32_000).find(free).expect("a port is free")
}

fn get_started(page: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().expect("ends"));
    let lines: String = blocks.filter(|block| !block.contains("cargo install")).collect();
    let port = quiet_port();
    let lines = lines.replace("127.0.0.1:8080", &format!("127.0.0.1:{port}"));
    let script = format!("set -e\ntrap 'kill $! 2>/dev/null' EXIT\n{lines}");
    let binary = Path::new(env!("CARGO_BIN_EXE_recado")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.env_clear().env("PATH", format!("{}:{path}", binary.display()));
    command.env("RECADO_LISTEN", format!("127.0.0.1:{port}"));
    let output = command.args(["-c", &script]).current_dir(folder.path()).output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{message}");
    for shown in ["Padaria Aurora", "\"wamid\":", "Seu pedido saiu", "whsec_", "message.sent"] {
        assert!(said.contains(shown), "{shown}: {said}\n{message}");
    }
    assert_sends_a_picture(&said);
    assert!(!folder.path().join("recado.db").exists());
}
