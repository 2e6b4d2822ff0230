//! `recado move`.

mod common;

use std::path::Path;

use common::{done, recado};
use recado_testkit::postgres::TestPostgres;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// A folder with a database of one company.
fn installation() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    done(folder.path(), &["migrate"]);
    let made = json(&done(folder.path(), &["company", "create", "Padaria Aurora", "--json"]));
    let id = made["id"].as_str().expect("an id").to_owned();
    done(folder.path(), &["key", "create", "--company", &id, "--name", "a", "--scopes", "all"]);
    (folder, id)
}

/// The arguments of a move from the usual database.
fn moving<'a>(to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["move", "--from", "sqlite:recado.db", "--to", to, "--json"], more].concat()
}

fn companies(folder: &Path, database: &str) -> Value {
    json(&done(folder, &["company", "list", "--database", database, "--json"]))
}

/// Exit code and standard error.
fn refused(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = recado(folder).args(arguments).output().expect("it runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// D76.
#[test]
fn a_dry_run_says_what_would_be_moved_and_writes_nothing() {
    let (folder, _) = installation();
    let planned = json(&done(folder.path(), &moving("sqlite:new.db", &["--dry-run"])));
    assert_eq!((&planned["dry_run"], &planned["rows"]["api_keys"]), (&true.into(), &1.into()));
    assert_eq!(planned["rows"]["companies"], 1);
    assert!(!folder.path().join("new.db").exists());
    done(folder.path(), &["company", "create", "Outra"]);
}

/// D76, R262.
#[test]
fn an_installation_moves_to_postgres_and_back_and_is_closed_where_it_was() {
    let (folder, id) = installation();
    let database = TestPostgres::shared().fresh_database();
    let before = companies(folder.path(), "sqlite:recado.db");
    let moved = json(&done(folder.path(), &moving(database.url(), &[])));
    assert_eq!((&moved["dry_run"], &moved["already"]), (&false.into(), &false.into()));
    assert_eq!(moved["rows"]["companies"], 1);
    assert_eq!(moved["to"], "postgres://***");
    assert_eq!(companies(folder.path(), database.url()), before);
    let (code, said) = refused(folder.path(), &["company", "create", "Outra"]);
    assert_eq!(code, Some(1), "{said}");
    let back = ["move", "--from", database.url(), "--to", "sqlite:back.db", "--company", &id];
    let said = done(folder.path(), &back);
    assert!(said.contains("stays closed") && !said.contains(database.url()), "{said}");
    assert_eq!(companies(folder.path(), "sqlite:back.db"), before);
    done(folder.path(), &["company", "create", "Outra", "--database", "sqlite:back.db"]);
}

/// D76, R259.
#[test]
fn what_cannot_be_moved_is_refused_with_the_reason() {
    let (folder, _) = installation();
    let (code, said) =
        refused(folder.path(), &["move", "--from", "sqlite:nothing.db", "--to", "sqlite:new.db"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("nothing.db") && !folder.path().join("nothing.db").exists(), "{said}");
    let (code, said) = refused(folder.path(), &moving("sqlite:recado.db", &[]));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("same database"), "{said}");
    done(folder.path(), &["migrate", "--database", "sqlite:full.db"]);
    done(folder.path(), &["company", "create", "Outra", "--database", "sqlite:full.db"]);
    let (code, said) = refused(folder.path(), &moving("sqlite:full.db", &[]));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("holds companies (1)"), "{said}");
    done(folder.path(), &["company", "create", "Terceira"]);
}
