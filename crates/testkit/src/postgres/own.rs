//! A server of a test's own, with files and settings that the shared one does not have.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, process};

use super::{
    BINARIES, VARIABLE, as_user, find_binaries, run, start_server, unprivileged_user, watch,
};

/// A database cluster that is not started yet.
#[derive(Debug)]
pub struct Cluster {
    user: Option<&'static str>,
    binaries: PathBuf,
    /// Holds the cluster, the log and the socket.
    data: PathBuf,
}

/// A server of a test's own. It is stopped, and its data deleted, when this is dropped or the
/// process ends.
#[derive(Debug)]
pub struct OwnPostgres {
    cluster: Cluster,
    port: u16,
    /// Stops the server when its standard input is closed, that is, when this process has ended.
    watcher: Child,
}

impl Cluster {
    /// A folder of its own, empty.
    fn folder(name: &str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let binaries = find_binaries().unwrap_or_else(|| {
            panic!(
                "no Postgres found: run the tests by scripts/test, which installs it, or set \
                 {VARIABLE} to the URL of a superuser's connection, or {BINARIES} to the \
                 directory that holds initdb and postgres"
            )
        });
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let data = env::temp_dir().join(format!("{name}-{}-{number}", process::id()));
        let _ = fs::remove_dir_all(&data);
        fs::create_dir_all(&data).expect("a temporary directory can be made");
        let cluster = Self { user: unprivileged_user(), binaries, data };
        cluster.give(&cluster.data);
        cluster
    }

    /// A new cluster, whose superuser is `postgres` and which trusts everybody of this machine.
    ///
    /// # Panics
    ///
    /// If there are no binaries of Postgres, or they fail.
    pub fn fresh(name: &str) -> Self {
        let cluster = Self::folder(name);
        run(as_user(cluster.user, &cluster.binaries.join("initdb"))
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N", "-D"])
            .arg(cluster.path()));
        cluster
    }

    /// A standby of a server that runs.
    ///
    /// # Panics
    ///
    /// If `pg_basebackup` fails.
    pub fn standby_of(primary: &OwnPostgres) -> Self {
        let cluster = Self::folder("recado-standby");
        // Where the programs are linked to one by one, this one may not be.
        let real = fs::canonicalize(cluster.binaries.join("initdb")).unwrap_or_default();
        run(as_user(cluster.user, &real.with_file_name("pg_basebackup"))
            .args(["-h", "127.0.0.1", "-U", "postgres", "-c", "fast", "-R", "-p"])
            .arg(primary.port.to_string())
            .arg("-D")
            .arg(cluster.path()));
        cluster
    }

    /// The directory of the cluster.
    fn path(&self) -> PathBuf {
        self.data.join("data")
    }

    /// Writes a file of the cluster, such as `server.key` or `pg_hba.conf`; only the server's user
    /// can read it.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    #[must_use]
    pub fn with_file(self, name: &str, text: &str) -> Self {
        let path = self.path().join(name);
        fs::write(&path, text).expect("it can be written");
        run(Command::new("chmod").arg("600").arg(&path));
        self.give(&path);
        self
    }

    /// Sets a parameter of the server.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    #[must_use]
    pub fn with_setting(self, name: &str, value: &str) -> Self {
        let file = OpenOptions::new().append(true).open(self.path().join("postgresql.conf"));
        let written = file.and_then(|mut file| writeln!(file, "{name} = '{value}'"));
        written.expect("it can be written");
        self
    }

    /// Starts the server.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(self) -> OwnPostgres {
        let cluster = self.path();
        let port = start_server(self.user, &self.binaries, &self.data, &cluster);
        let watcher = watch(self.user, &self.binaries, &self.data, &cluster);
        OwnPostgres { cluster: self, port, watcher }
    }

    /// Makes the server's user the owner.
    fn give(&self, path: &Path) {
        if let Some(user) = self.user {
            run(Command::new("chown").arg(user).arg(path));
        }
    }
}

impl OwnPostgres {
    /// The port, at 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its socket.
    pub fn sockets(&self) -> &Path {
        &self.cluster.data
    }

    /// Stops all processes of the server as a machine does that is frozen (SIGSTOP), or lets them
    /// go on. A server that is frozen cannot be stopped: let it go on before it is dropped.
    ///
    /// # Panics
    ///
    /// If they cannot be signalled.
    pub fn freeze(&self, frozen: bool) {
        let first = fs::read_to_string(self.cluster.path().join("postmaster.pid"));
        let first = first.expect("the server runs").lines().next().unwrap_or_default().to_owned();
        let children = fs::read_to_string(format!("/proc/{first}/task/{first}/children"));
        let signal = if frozen { "-STOP" } else { "-CONT" };
        let mut kill = Command::new("kill");
        kill.arg(signal).arg(&first);
        // One that has just ended is none that matters.
        let _ = kill.args(children.unwrap_or_default().split_whitespace()).status();
    }

    /// Runs statements as the superuser, in the database `postgres`.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn execute(&self, sql: &str) {
        let url = format!(
            "host={} port={} user=postgres dbname=postgres",
            self.cluster.data.display(),
            self.port
        );
        super::must(super::execute(&url, sql.to_owned()));
    }
}

impl Drop for OwnPostgres {
    fn drop(&mut self) {
        drop(self.watcher.stdin.take());
        let _ = self.watcher.wait();
    }
}
