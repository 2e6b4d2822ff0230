//! What `recado import` leaves of the work that a server does in the background.

use recado_tests::backend::Database;
use recado_tests::binary::run_recado;
use recado_tests::{StoreKind, on_postgres};
use serde_json::Value;

/// R315.
#[on_postgres]
async fn an_import_leaves_no_counts_to_be_folded_by_a_server(kind: StoreKind) {
    let database = Database::migrated(kind);
    let url = database.url();
    let run = async |arguments: &[&str]| {
        let ended = run_recado([&["--database", &url, "--json"], arguments].concat(), &[]).await;
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
        serde_json::from_str::<Value>(&ended.stdout).expect("JSON")
    };
    let company = run(&["company", "create", "Padaria"]).await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a.csv").display().to_string();
    std::fs::write(&file, "phone,name\n+5511987654321,Ana\n+5511987654322,Bia\n").expect("written");
    let company = company["id"].as_str().expect("an id");
    assert_eq!(run(&["import", "--company", company, &file]).await["imported"], 2);
    let (client, connection) =
        tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    for (table, rows) in [("contact_facet_deltas", 0), ("contact_facets", 1), ("contacts", 2)] {
        let query = format!("SELECT count(*) FROM {table}");
        let row = client.query_one(&query, &[]).await.expect("an answer");
        assert_eq!(row.get::<_, i64>(0), rows, "{table}");
    }
}
