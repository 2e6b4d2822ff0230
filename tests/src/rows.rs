//! The rows of a company in the database, to see that nothing moved.

use std::collections::BTreeMap;
use std::path::Path;

use crate::backend::Database;

/// The rows of a company as texts, sorted, by the name of their table.
pub type Rows = BTreeMap<String, Vec<String>>;

impl Database {
    /// All rows that belong to a company, and the company's own.
    pub async fn rows_of(&self, company: &str) -> Rows {
        let mut rows = match self {
            Self::Sqlite(folder) => sqlite(&folder.path().join("recado.db"), company),
            Self::Postgres(database) => postgres(database.url(), company).await,
        };
        // It says what was tried, too.
        rows.remove("audit_entries");
        rows.values_mut().for_each(|rows| rows.sort());
        rows
    }
}

fn sqlite(file: &Path, company: &str) -> Rows {
    let conn = rusqlite::Connection::open(file).expect("opens");
    conn.busy_timeout(std::time::Duration::from_secs(10)).expect("a setting");
    let texts = |sql: &str, parameter: &str| -> Vec<String> {
        let mut statement = conn.prepare(sql).expect(sql);
        let rows = statement.query_map([parameter], |row| row.get(0)).expect(sql);
        rows.collect::<Result<_, _>>().expect(sql)
    };
    let tables = texts("SELECT name FROM sqlite_master WHERE type = ?1", "table");
    let of_company = |table: String| {
        let columns = texts("SELECT name FROM pragma_table_info(?1)", &table);
        let owner = owner(&table, &columns)?;
        let quoted: Vec<String> = columns.iter().map(|name| format!("quote(\"{name}\")")).collect();
        let whole = quoted.join(" || ',' || ");
        let sql = format!("SELECT {whole} FROM \"{table}\" WHERE lower(hex({owner})) = ?1");
        let rows = texts(&sql, &company.replace('-', ""));
        Some((table, rows))
    };
    tables.into_iter().filter_map(of_company).collect()
}

async fn postgres(url: &str, company: &str) -> Rows {
    let (client, connection) =
        tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    let columns = "SELECT table_name::text, array_agg(column_name::text) \
                   FROM information_schema.columns WHERE table_schema = 'public' GROUP BY 1";
    let mut found = Rows::new();
    for table in client.query(columns, &[]).await.expect("tables") {
        let (table, columns): (String, Vec<String>) = (table.get(0), table.get(1));
        let Some(owner) = owner(&table, &columns) else { continue };
        let sql = format!("SELECT t::text FROM \"{table}\" t WHERE {owner}::text = $1");
        let rows = client.query(&sql, &[&company]).await.expect("rows");
        found.insert(table, rows.iter().map(|row| row.get(0)).collect());
    }
    found
}

/// The column with the company of a row.
fn owner(table: &str, columns: &[String]) -> Option<&'static str> {
    match table {
        "companies" => Some("id"),
        _ => columns.iter().any(|name| name == "company_id").then_some("company_id"),
    }
}
