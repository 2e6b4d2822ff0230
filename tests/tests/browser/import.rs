//! A large file of contacts is imported and watched: R426.

use std::fmt::Write;
use std::time::Duration;

use recado_core::access::OperatorRole;
use recado_tests::{StoreKind, World, mobile, on_sqlite};

use crate::office::{person, signed_in};

/// The rows of the file.
const ROWS: u32 = 10_000;
/// How long a page waits for them. Unoptimized code needs most of it.
const MOST: Duration = Duration::from_secs(600);

/// Its progress appears by itself, to the end.
#[on_sqlite]
async fn ten_thousand_rows_are_imported_and_watched(kind: StoreKind) {
    let world = World::start(kind).await;
    let owner = person(&world, &world.us, OperatorRole::Owner, None).await;
    let browser = signed_in(&world, &owner).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("clientes.csv");
    let mut csv = "Nome;Telefone;Cidade\n".to_owned();
    for n in 0..ROWS {
        writeln!(csv, "Cliente {n};{};Uberlândia", mobile(n)).expect("a string takes it");
    }
    std::fs::write(&file, csv).expect("a file");
    browser.goto("/console/contacts/import").await;
    browser.attach("#import-file", &file).await;
    browser.click("main form[enctype] button").await;
    browser.sees_in("main", "10000 rows").await;
    browser.has_no_barrier().await;
    browser.click("main button[value=import]").await;
    browser.find("#import-progress").await;
    browser.mark().await;
    browser.sees_in_within(MOST, "#import-progress", "The import is over.").await;
    assert!(browser.is_marked().await, "all of it appears by itself");
    browser.has_no_barrier().await;
    browser.sees_in("#import-progress", "10000").await;
    browser.goto("/console/contacts?search=Cliente+9999").await;
    browser.sees_in("main", "Cliente 9999").await;
}
