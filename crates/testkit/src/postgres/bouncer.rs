//! PgBouncer, a pooler between programs and a server.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::{as_user, run, unprivileged_user};

/// The environment variable with the path of the program.
const PROGRAM: &str = "RECADO_PGBOUNCER";

/// A running PgBouncer in front of one database. It is stopped when this is dropped.
#[derive(Debug)]
pub struct PgBouncer {
    folder: PathBuf,
    port: u16,
    database: Config,
    process: Child,
}

impl PgBouncer {
    /// Starts one for the database of a URL, in a `pool_mode`.
    ///
    /// # Panics
    ///
    /// If there is no PgBouncer, or it does not start.
    pub fn start(url: &str, mode: &str) -> Self {
        let database: Config = url.parse().expect("a URL");
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = free.expect("a port is free").port();
        let folder = env::temp_dir().join(format!("recado-bouncer-{port}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a temporary directory can be made");
        let server = server(&database);
        let (name, user) = (name(&database), database.get_user().unwrap_or("postgres"));
        let settings = format!(
            "[databases]\n{name} = {server} user={user}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\n\
             pool_mode = {mode}\nmax_client_conn = 200\ndefault_pool_size = 60\n\
             unix_socket_dir =\nlogfile = {}\n",
            folder.join("log").display(),
        );
        fs::write(folder.join("settings"), settings).expect("the file can be written");
        let account = unprivileged_user();
        if let Some(account) = account {
            run(Command::new("chown").args(["-R", account]).arg(&folder));
        }
        let process = as_user(account, &program())
            .arg(folder.join("settings"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()
            .expect("PgBouncer can be started");
        let bouncer = Self { folder, port, database, process };
        bouncer.wait();
        bouncer
    }

    /// The URL of the database, through PgBouncer.
    pub fn url(&self) -> String {
        let user = self.database.get_user().unwrap_or("postgres");
        format!("postgres://{user}@127.0.0.1:{}/{}", self.port, name(&self.database))
    }

    fn wait(&self) {
        for _ in 0..200 {
            if std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        panic!("PgBouncer does not start: {log}");
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // `runuser` passes this signal on to the program.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Where the server is, and the password for it, as PgBouncer names them.
fn server(database: &Config) -> String {
    let host = match database.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => "127.0.0.1".to_owned(),
    };
    let port = database.get_ports().first().copied().unwrap_or(5432);
    let password = database
        .get_password()
        .map(|bytes| format!(" password='{}'", String::from_utf8_lossy(bytes).replace('\'', "''")));
    format!("host={host} port={port}{}", password.unwrap_or_default())
}

fn name(database: &Config) -> String {
    database.get_dbname().expect("the URL names a database").to_owned()
}

/// The program that the variable names, or the one of the machine.
fn program() -> PathBuf {
    let named = env::var_os(PROGRAM).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join("pgbouncer"));
    // Where Debian puts it; the path of users other than root lacks this folder.
    let packaged = Path::new("/usr/sbin/pgbouncer").to_owned();
    let found = named.into_iter().chain(on_path).chain([packaged]).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("no PgBouncer found: run the tests by scripts/test, or set {PROGRAM} to its path")
    })
}
