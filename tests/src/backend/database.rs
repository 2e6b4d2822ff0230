//! A fresh database, and everything that is in it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use recado_store_postgres::{Options as PostgresOptions, PostgresStore};
use recado_store_sqlite::SqliteStore;
use recado_testkit::postgres::{TestDatabase, TestPostgres};
use tempfile::TempDir;

/// The file of an SQLite database.
const NAME: &str = "recado.db";

/// Which store a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// SQLite, in a file.
    Sqlite,
    /// Postgres.
    Postgres,
}

/// A database for one test.
pub enum Database {
    /// A file in a folder that is deleted after the test.
    Sqlite(TempDir),
    /// A database on the server that all tests of this process use.
    Postgres(TestDatabase),
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url())
    }
}

impl Database {
    /// An empty database without a schema.
    pub fn fresh(kind: StoreKind) -> Self {
        match kind {
            StoreKind::Sqlite => Self::Sqlite(tempfile::tempdir().expect("a temporary folder")),
            StoreKind::Postgres => Self::Postgres(TestPostgres::shared().fresh_database()),
        }
    }

    /// A database with the current schema and no rows.
    pub fn migrated(kind: StoreKind) -> Self {
        static FILE: OnceLock<Vec<u8>> = OnceLock::new();
        static TEMPLATE: OnceLock<TestDatabase> = OnceLock::new();
        match kind {
            StoreKind::Sqlite => {
                let folder = tempfile::tempdir().expect("a temporary folder");
                let file = FILE.get_or_init(migrated_file);
                std::fs::write(folder.path().join(NAME), file).expect("a file");
                Self::Sqlite(folder)
            }
            StoreKind::Postgres => Self::Postgres(TEMPLATE.get_or_init(template).copy()),
        }
    }

    /// The kind of its store.
    pub fn kind(&self) -> StoreKind {
        match self {
            Self::Sqlite(_) => StoreKind::Sqlite,
            Self::Postgres(_) => StoreKind::Postgres,
        }
    }

    /// Its URL, as for `--database`.
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(folder) => format!("sqlite:{}", folder.path().join(NAME).display()),
            Self::Postgres(database) => database.url().to_owned(),
        }
    }

    /// The bytes of all its files.
    pub async fn files(&self) -> Vec<u8> {
        match self {
            Self::Sqlite(folder) => read_all(folder.path()),
            Self::Postgres(database) => relation_files(database.url()).await,
        }
    }

    /// The bytes of an SQLite database's backups, made in both documented ways.
    ///
    /// # Panics
    ///
    /// On Postgres.
    pub fn backups(&self) -> Vec<u8> {
        let Self::Sqlite(folder) = self else { panic!("a backup of Postgres is its own") };
        let copies = tempfile::tempdir().expect("a temporary folder");
        let conn = rusqlite::Connection::open(folder.path().join(NAME)).expect("opens");
        let vacuumed = copies.path().join("vacuumed.db").display().to_string();
        conn.execute("VACUUM INTO ?1", [vacuumed]).expect("a backup");
        conn.backup(
            "main",
            copies.path().join("copied.db"),
            None::<fn(rusqlite::backup::Progress)>,
        )
        .expect("a backup");
        read_all(copies.path())
    }

    /// Does by hand what Postgres needs to have nothing in its files of what was deleted, as
    /// docs/operations.md says; SQLite needs nothing.
    pub async fn vacuum(&self) {
        if let Self::Postgres(database) = self {
            let client = connect(database.url()).await;
            client.batch_execute("VACUUM (FULL, ANALYZE)").await.expect("a vacuum");
        }
    }

    /// Everything that is stored, as text, to search for data that must not be stored.
    pub async fn everything(&self) -> String {
        match self {
            Self::Sqlite(folder) => {
                let mut all = String::new();
                for file in files_under(folder.path()) {
                    let bytes = std::fs::read(folder.path().join(file)).expect("readable");
                    all.push_str(&String::from_utf8_lossy(&bytes));
                }
                all
            }
            Self::Postgres(database) => dump(database.url()).await,
        }
    }
}

/// The bytes of all files of a folder.
fn read_all(folder: &Path) -> Vec<u8> {
    let read = |file| std::fs::read(folder.join(file)).expect("readable");
    files_under(folder).into_iter().flat_map(read).collect()
}

/// What the files of a Postgres database have: of its tables and indexes, those of the catalog
/// included, because it keeps samples of values.
async fn relation_files(url: &str) -> Vec<u8> {
    let client = connect(url).await;
    client.batch_execute("CHECKPOINT").await.expect("a checkpoint");
    let files = "SELECT pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class \
                 WHERE relkind IN ('r', 'i', 't', 'm', 'S') AND NOT relisshared";
    let files = client.query(files, &[]).await.expect("files");
    files.iter().flat_map(|row| row.get::<_, Vec<u8>>(0)).collect()
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) =
        tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

/// The bytes of a migrated SQLite database that others are copied from.
fn migrated_file() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(NAME);
    let store = SqliteStore::open(&path).expect("a database");
    store.migrate().expect("migrates");
    drop(store);
    let conn = rusqlite::Connection::open(&path).expect("opens");
    conn.pragma_update(None, "wal_checkpoint", "TRUNCATE").expect("all is in the file");
    std::fs::read(&path).expect("readable")
}

/// Migrates a database that others are copied from, and waits until it has no connections.
fn template() -> TestDatabase {
    let migrating = || {
        let database = TestPostgres::shared().fresh_database();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let options = PostgresOptions::default();
            let store = PostgresStore::connect(database.url(), options).await.expect("connects");
            store.migrate().await.expect("migrates");
            drop(store);
            alone(&database).await;
        });
        database
    };
    // The test runs within a runtime, and runtimes cannot be nested.
    std::thread::scope(|scope| scope.spawn(migrating).join().expect("a template"))
}

/// Waits until the server has noticed that all connections to a database are closed.
async fn alone(database: &TestDatabase) {
    let server = TestPostgres::shared().url();
    let (client, connection) =
        tokio_postgres::connect(server, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    let name = database.url().rsplit('/').next().expect("a name").to_owned();
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1";
    crate::world::eventually("nobody is connected", || async {
        let row = client.query_one(count, &[&name]).await.expect("an answer");
        (row.get::<_, i64>(0) == 0).then_some(())
    })
    .await;
}

async fn dump(url: &str) -> String {
    let client = connect(url).await;
    let tables = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables \
                  WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
    let mut all = String::new();
    for table in client.query(tables, &[]).await.expect("tables") {
        let table: String = table.get(0);
        for row in client.query(&format!("SELECT t::text FROM {table} t"), &[]).await.expect("rows")
        {
            all.push_str(&format!("{table} {}", row.get::<_, &str>(0)));
            all.push('\n');
        }
    }
    all
}

/// All files below a folder, as relative paths.
pub fn files_under(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(relative) = folders.pop() {
        for entry in std::fs::read_dir(folder.join(&relative)).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = relative.join(entry.file_name());
            if entry.file_type().expect("a type").is_dir() {
                folders.push(path);
            } else {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    found
}
