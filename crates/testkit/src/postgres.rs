//! A real Postgres for tests.
//!
//! [`TestPostgres::shared`] is the server that `RECADO_TEST_POSTGRES` names (the URL of a
//! superuser's connection). Without that variable, a server is started for this process from the
//! machine's binaries, and is stopped when the process ends in any way.
//! [`TestPostgres::fresh_database`] is an empty database that is dropped with its handle.

mod bouncer;
mod own;

use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::{env, fs, process, thread};

use tokio_postgres::{Config, NoTls};

pub use bouncer::PgBouncer;
pub use own::{Cluster, OwnPostgres};

/// The environment variable with the URL of a running server.
const VARIABLE: &str = "RECADO_TEST_POSTGRES";
/// The environment variable with the directory of the binaries.
const BINARIES: &str = "RECADO_POSTGRES_BIN";
/// The settings of servers for tests. Durability is off, because these tests do not test it.
const SETTINGS: &str = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off \
                        -c wal_level=logical \
                        -c max_connections=400 -c listen_addresses=127.0.0.1";

/// A Postgres server for tests.
#[derive(Debug)]
pub struct TestPostgres {
    url: String,
    _own: Option<OwnPostgres>,
}

/// An empty database, which is dropped with this handle.
#[derive(Debug)]
pub struct TestDatabase {
    url: String,
    name: String,
    server: &'static TestPostgres,
}

impl TestPostgres {
    /// The server of this process.
    ///
    /// # Panics
    ///
    /// If there is none and none can be started: tests that need Postgres are not skipped.
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<TestPostgres> = OnceLock::new();
        SERVER.get_or_init(|| match env::var(VARIABLE) {
            Ok(url) if !url.is_empty() => Self { url, _own: None },
            _ => Self::start(),
        })
    }

    /// The URL of a superuser's connection to the server's database `postgres`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Creates an empty database.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn fresh_database(&'static self) -> TestDatabase {
        let name = Self::next_name();
        let options = "ENCODING 'UTF8' TEMPLATE template0";
        must(self.execute(&format!("CREATE DATABASE {name} {options}")));
        TestDatabase { url: with_database(&self.url, &name), name, server: self }
    }

    /// A name that no earlier process has used: it may have ended before it dropped its databases.
    fn next_name() -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        static RUN: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(process::id()));
        format!("recado_test_{:x}_{}", *RUN, COUNT.fetch_add(1, Ordering::Relaxed))
    }

    fn execute(&self, sql: &str) -> Result<(), String> {
        execute(&self.url, sql.to_owned())
    }

    fn start() -> Self {
        let server = Cluster::fresh("recado-postgres").start();
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
        Self { url, _own: Some(server) }
    }
}

impl TestDatabase {
    /// The URL of a superuser's connection to the database.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Creates a database with the same content. No connection to this one may be open.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn copy(&self) -> Self {
        let (server, name) = (self.server, TestPostgres::next_name());
        let create = format!("CREATE DATABASE {name} TEMPLATE {}", self.name);
        // Servers before version 15 do not have the option; they always use this strategy.
        let copied = server.execute(&format!("{create} STRATEGY file_copy"));
        must(copied.or_else(|_| server.execute(&create)));
        Self { url: with_database(&server.url, &name), name, server }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let dropped =
            self.server.execute(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        if let Err(error) = dropped {
            eprintln!("a test database is left behind: {error}");
        }
    }
}

fn must(done: Result<(), String>) {
    if let Err(error) = done {
        panic!("the test Postgres: {error}");
    }
}

/// Executes a statement. Can be called within another Tokio runtime.
fn execute(url: &str, sql: String) -> Result<(), String> {
    let config: Config = url.parse().map_err(|error| format!("{VARIABLE}: {error}"))?;
    let work = async move {
        let (client, connection) = config.connect(NoTls).await?;
        let connection = tokio::spawn(connection);
        client.batch_execute(&sql).await?;
        drop(client);
        let _ = connection.await;
        Ok::<(), tokio_postgres::Error>(())
    };
    let thread = thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can be made").block_on(work)
    });
    match thread.join() {
        Ok(done) => done.map_err(|error| match error.as_db_error() {
            Some(db) => db.to_string(),
            None => error.to_string(),
        }),
        Err(_) => Err("the thread of the statement panicked".to_owned()),
    }
}

/// The same URL with another database.
fn with_database(url: &str, name: &str) -> String {
    let (base, query) =
        url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let authority = base.find("://").map_or(0, |at| at + 3);
    let end = base[authority..].find('/').map_or(base.len(), |at| authority + at);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}/{name}{query}", &base[..end])
}

/// The directory of `initdb` and `postgres`: the one named by the variable, the one in `PATH`, or
/// Debian's newest one.
fn find_binaries() -> Option<PathBuf> {
    let has_both = |dir: &PathBuf| dir.join("initdb").is_file() && dir.join("postgres").is_file();
    let named = env::var_os(BINARIES).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = env::split_paths(&path).collect();
    let version = |dir: &PathBuf| dir.file_name()?.to_str()?.parse::<u32>().ok();
    let mut packaged: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    packaged.sort_by_key(|dir| std::cmp::Reverse(version(dir)));
    let packaged = packaged.into_iter().map(|dir| dir.join("bin"));
    named.into_iter().chain(on_path).chain(packaged).find(has_both)
}

/// The user to run the server as if this process is root, because Postgres does not run as root.
fn unprivileged_user() -> Option<&'static str> {
    let id = |args: &[&str]| Command::new("id").args(args).output().ok();
    let uid = id(&["-u"]).map(|output| output.stdout);
    if uid.as_deref().map(<[u8]>::trim_ascii) != Some(b"0") {
        return None;
    }
    let known = id(&["-u", "postgres"]).is_some_and(|output| output.status.success());
    Some(if known { "postgres" } else { "nobody" })
}

fn as_user(user: Option<&str>, program: &Path) -> Command {
    match user {
        None => Command::new(program),
        Some(user) => {
            let mut command = Command::new("runuser");
            command.args(["-u", user, "--"]).arg(program);
            command
        }
    }
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).current_dir("/").output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

/// Starts the server and answers its port.
fn start_server(user: Option<&str>, binaries: &Path, data: &Path, cluster: &Path) -> u16 {
    // Another program may take the free port before the server does.
    for _ in 0..5 {
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = free.expect("a port is free").port();
        let options =
            format!("{SETTINGS} -p {port} -c unix_socket_directories='{}'", data.display());
        let status = as_user(user, &binaries.join("pg_ctl"))
            .args(["-w", "-s", "-D"])
            .arg(cluster)
            .arg("-l")
            .arg(data.join("log"))
            .arg("-o")
            .arg(&options)
            .arg("start")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .current_dir("/")
            .status();
        if status.is_ok_and(|status| status.success()) {
            return port;
        }
    }
    let log = fs::read_to_string(data.join("log")).unwrap_or_default();
    panic!("the test Postgres does not start: {log}");
}

/// Starts a process that waits for the end of this one, then stops the server and deletes its data.
fn watch(user: Option<&str>, binaries: &Path, data: &Path, cluster: &Path) -> Child {
    let stop = r#"trap '' INT TERM HUP; cat >/dev/null
        if [ -n "$1" ]; then runuser -u "$1" -- "$2/pg_ctl" -s -m immediate -D "$3" stop
        else "$2/pg_ctl" -s -m immediate -D "$3" stop; fi
        rm -rf "$4""#;
    Command::new("sh")
        .args(["-c", stop, "recado-test-postgres", user.unwrap_or_default()])
        .arg(binaries)
        .arg(cluster)
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        .spawn()
        .expect("a shell can be started")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_a_url_is_replaced() {
        for (url, replaced) in [
            ("postgres://u@h:1/postgres", "postgres://u@h:1/x"),
            ("postgres://u@h:1", "postgres://u@h:1/x"),
            ("postgres://u@h/a?sslmode=disable", "postgres://u@h/x?sslmode=disable"),
        ] {
            assert_eq!(with_database(url, "x"), replaced);
        }
    }

    #[test]
    fn a_copy_has_the_content_and_a_database_is_gone_with_its_handle() {
        let database = TestPostgres::shared().fresh_database();
        must(execute(database.url(), "CREATE TABLE t (id int)".to_owned()));
        let copy = database.copy();
        let url = database.url().to_owned();
        drop(database);
        must(execute(copy.url(), "SELECT id FROM t".to_owned()));
        assert!(execute(&url, "SELECT 1".to_owned()).is_err());
    }
}
