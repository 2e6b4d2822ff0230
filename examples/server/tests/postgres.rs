//! Where Postgres is, by variables and files, as libpq reads them (R245).

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::recado;
use recado_testkit::postgres::{Cluster, OwnPostgres};

/// A server that wants passwords, and a folder that is the home of the user.
fn scene() -> (OwnPostgres, tempfile::TempDir) {
    let server = Cluster::fresh("recado-env")
        .with_file("pg_hba.conf", "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        .start();
    server.execute(
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE ana LOGIN PASSWORD 'geheim'",
    );
    server.execute("CREATE DATABASE recado OWNER ana");
    (server, tempfile::tempdir().expect("a temporary folder"))
}

fn migrate(home: &Path, url: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = recado(home);
    command.env("HOME", home).args(["migrate", "--database", url]);
    command.envs(variables.iter().copied()).output().expect("it runs")
}

fn works(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn private(path: &Path, text: &str) {
    fs::write(path, text).expect("it can be written");
    assert!(Command::new("chmod").arg("600").arg(path).status().expect("chmod").success());
}

#[test]
fn variables_services_and_password_files_say_where_the_database_is() {
    let (server, home) = scene();
    let (home, port) = (home.path(), server.port().to_string());
    let place = [("PGHOST", "127.0.0.1"), ("PGPORT", &port), ("PGUSER", "ana")];
    let with = |more: &[(&'static str, &'static str)]| [&place[..], more].concat();
    works(&migrate(
        home,
        "postgres://",
        &with(&[("PGDATABASE", "recado"), ("PGPASSWORD", "geheim")]),
    ));

    let refused = migrate(home, "postgres:///recado", &with(&[]));
    assert_eq!(refused.status.code(), Some(1), "there is no password");
    private(&home.join(".pgpass"), &format!("127.0.0.1:{port}:recado:ana:geheim\n"));
    works(&migrate(home, "postgres:///recado", &with(&[])));

    let service = format!("[crm]\nhost=127.0.0.1\nport={port}\ndbname=recado\nuser=ana\n");
    fs::write(home.join(".pg_service.conf"), &service).expect("it can be written");
    works(&migrate(home, "postgres://?service=crm", &[]));
    works(&migrate(home, "postgres://", &[("PGSERVICE", "crm")]));
    fs::write(home.join("named.conf"), service.replace("crm", "named")).expect("written");
    works(&migrate(
        home,
        "postgres://",
        &[("PGSERVICE", "named"), ("PGSERVICEFILE", "named.conf")],
    ));

    let socket = format!(
        "postgres://ana@{}/recado",
        server.sockets().display().to_string().replace('/', "%2F")
    );
    works(&migrate(home, &socket, &[("PGPORT", &port)]));
}

/// The exit code for a wrong configuration is 2, and no value is repeated.
#[test]
fn a_wrong_parameter_is_named_and_ends_with_2() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let home = home.path();
    for (url, variables, named) in [
        ("postgres://h/d?sslmode=geheim", &[][..], "sslmode"),
        ("postgres://h/d", &[("PGSSLMODE", "geheim")][..], "PGSSLMODE"),
        ("postgres://h/d?sslrootcert=gone.crt", &[][..], "gone.crt"),
        ("postgres://?service=none", &[][..], "none"),
    ] {
        let output = migrate(home, url, variables);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{url}: {message}");
        assert!(message.contains(named) && !message.contains("geheim"), "{url}: {message}");
    }
}

#[test]
fn a_host_that_does_not_answer_is_named_without_the_password() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let output = migrate(home.path(), "postgres://ana:geheim@127.0.0.1:1/recado", &[]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("127.0.0.1 port 1") && !message.contains("geheim"), "{message}");
}

/// R249.
#[test]
fn a_check_of_postgres_says_what_is_missing_and_writes_nothing() {
    let (server, home) = scene();
    let url = format!("postgres://ana:geheim@127.0.0.1:{}/recado", server.port());
    let check = || {
        let arguments = ["migrate", "--check", "--json", "--database", &url];
        let output = recado(home.path()).args(arguments).output().expect("it runs");
        works(&output);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let missing = check();
    assert_eq!((&missing["up_to_date"], &missing["found"]), (&false.into(), &0.into()));
    assert_eq!(check(), missing, "nothing was written");
    works(&migrate(home.path(), &url, &[]));
    assert_eq!(check()["up_to_date"], true);
}
