//! Two installations (cells) behind a proxy, as if they were one. `RECADO_TEST_BEHIND` names the
//! proxy of the tests on SQLite: `haproxy`, `nginx` or `either`. Without it, and on Postgres,
//! requests go to the servers themselves.
//!
//! The server of a test is cell 1 then. Cell 0, which gets what no rule of the proxy is about, is
//! one server for all tests of this process: a request that the proxy does not send where it
//! belongs finds nothing there. The proxies run with the configurations that are shipped.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;
use recado_core::Cell;
use tempfile::TempDir;

use crate::backend::{Database, Setup, StoreKind, TestServer};

/// The address that cell 1 gives out as its own.
pub const PUBLIC_URL: &str = "http://c1.crm.example.org";
const HOST: &str = "c1.crm.example.org";
/// A proxy that does not listen within this time fails the test.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proxy {
    HaProxy,
    Nginx,
}

/// Tests of processes have no proxy in front of them, whichever store they are on.
const WITHOUT: [&str; 4] = ["kill", "backup::", "restores::", "binary::"];

thread_local! {
    /// The proxy of the test that this thread works for.
    static PROXY: std::cell::Cell<Option<Proxy>> = const { std::cell::Cell::new(None) };
}

/// The proxy in front of the servers of one test.
#[derive(Clone, Copy, Debug)]
pub struct InFront(Option<Proxy>);

impl InFront {
    /// That of the test which runs on this thread: proxies do not see the store, so only tests on
    /// SQLite have one. With `either`, the name of the test decides which.
    pub fn of_this_test(store: StoreKind) -> Self {
        let asked = env::var("RECADO_TEST_BEHIND").unwrap_or_default();
        let thread = std::thread::current();
        let test = thread.name().unwrap_or_default();
        if store != StoreKind::Sqlite || WITHOUT.iter().any(|part| test.contains(part)) {
            return Self(None);
        }
        let odd = test.bytes().map(u32::from).sum::<u32>() % 2 == 1;
        Self(match asked.as_str() {
            "" => None,
            "haproxy" => Some(Proxy::HaProxy),
            "nginx" => Some(Proxy::Nginx),
            "either" if odd => Some(Proxy::HaProxy),
            "either" => Some(Proxy::Nginx),
            other => panic!("RECADO_TEST_BEHIND is haproxy, nginx or either, not {other:?}"),
        })
    }

    /// Makes this thread one of the test's.
    pub fn enter(self) {
        PROXY.set(self.0);
    }
}

/// Whether servers of this test are one of two cells.
pub fn in_use() -> bool {
    PROXY.get().is_some()
}

/// The cell that servers of tests are then.
pub fn cell() -> Cell {
    Cell::new(1).expect("a cell")
}

/// Where the proxy of one server listens.
#[derive(Clone, Copy, Debug)]
struct Listening {
    public: SocketAddr,
    operator: SocketAddr,
}

/// By the address of the server.
static LISTENING: Mutex<BTreeMap<SocketAddr, Listening>> = Mutex::new(BTreeMap::new());

fn listening() -> MutexGuard<'static, BTreeMap<SocketAddr, Listening>> {
    LISTENING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a request to a server goes, and the headers that it needs there.
#[derive(Debug)]
pub struct Route {
    /// The address to connect to.
    pub to: SocketAddr,
    /// The value of `Host`, if the request has none.
    pub host: String,
    /// The cell that calls about no company are for.
    pub cell: Option<&'static str>,
}

impl Route {
    /// The way of a request that goes to the server itself.
    pub fn direct(to: SocketAddr) -> Self {
        Self { to, host: to.to_string(), cell: None }
    }

    /// The way of a request with this path: by the proxy of the server, if it has one. An
    /// integrator has one address for all cells, an operator another, and all others were given the
    /// address of the cell.
    pub fn of(to: SocketAddr, path: &str) -> Self {
        let Some(proxy) = listening().get(&to).copied() else { return Self::direct(to) };
        if is_bad(path) {
            // Both proxies refuse it themselves.
            return Self::direct(to);
        }
        let path = percent_decode_str(path).decode_utf8_lossy();
        if path.starts_with("/operator/") {
            Self { to: proxy.operator, host: proxy.operator.to_string(), cell: Some("1") }
        } else if path.starts_with("/api/v1/") {
            Self { to: proxy.public, host: "crm.example.org".to_owned(), cell: None }
        } else if path.starts_with("/metrics") {
            // No proxy gives them to the public.
            Self::direct(to)
        } else {
            Self { to: proxy.public, host: HOST.to_owned(), cell: None }
        }
    }
}

/// Whether a path has an escape that is none, or one of the NUL character.
fn is_bad(path: &str) -> bool {
    let escape = |rest: &str| rest.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    path.split('%')
        .skip(1)
        .any(|rest| matches!(escape(rest), None | Some(0)) || rest.starts_with('+'))
}

/// The proxy in front of one server, until it is dropped.
#[derive(Debug)]
pub struct ProxyProcess {
    server: SocketAddr,
    process: Child,
    folder: TempDir,
}

impl ProxyProcess {
    /// Starts the proxy of this run, if it has one, in front of a server. Ends when it listens.
    pub fn of_one(setup: &Setup, server: SocketAddr) -> Option<Self> {
        let proxy = PROXY.get().filter(|_| !setup.alone)?;
        let other = cell_0();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (public, operator) = (free_port(), free_port());
        let ports = |shipped: &str| {
            shipped
                .replace("127.0.0.1:8080", &other.to_string())
                .replace("127.0.0.1:9190", &other.to_string())
                .replace("127.0.0.1:8081", &server.to_string())
                .replace("127.0.0.1:9191", &server.to_string())
                .replace("127.0.0.1:9090", &operator.to_string())
        };
        let mut command = match proxy {
            Proxy::HaProxy => haproxy(folder.path(), public, ports),
            Proxy::Nginx => nginx(folder.path(), public, ports),
        };
        let said = fs::File::create(folder.path().join("said")).expect("a file");
        command.stdin(Stdio::null()).stdout(said.try_clone().expect("a file")).stderr(said);
        let process = command.spawn().unwrap_or_else(|error| panic!("{proxy:?} starts: {error}"));
        let mut this = Self { server, process, folder };
        this.wait(&[public, operator]);
        listening().insert(server, Listening { public, operator });
        Some(this)
    }

    fn wait(&mut self, ports: &[SocketAddr]) {
        let until = Instant::now() + PATIENCE;
        while !ports.iter().all(|port| TcpStream::connect(port).is_ok()) {
            let ended = self.process.try_wait().expect("its state");
            if ended.is_some() || Instant::now() > until {
                let said = fs::read_to_string(self.folder.path().join("said"));
                panic!("the proxy does not listen ({ended:?}): {said:?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        listening().remove(&self.server);
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// HAProxy with the shipped configuration, without TLS.
fn haproxy(folder: &Path, public: SocketAddr, ports: impl Fn(&str) -> String) -> Command {
    let map = folder.join("moved.map");
    fs::write(&map, "").expect("a file");
    let bind = "bind :443 ssl crt /etc/haproxy/crm.example.org.pem";
    let config = shipped("haproxy.cfg")
        .replace(bind, &format!("bind {public}"))
        .replace("/etc/haproxy/moved.map", &map.display().to_string());
    let config = ports(&config);
    fs::write(folder.join("haproxy.cfg"), config).expect("a file");
    let mut command = Command::new(program("haproxy"));
    command.arg("-db").arg("-f").arg(folder.join("haproxy.cfg"));
    command
}

/// nginx with the shipped configuration, without TLS.
fn nginx(folder: &Path, public: SocketAddr, ports: impl Fn(&str) -> String) -> Command {
    let map = folder.join("recado-moved.map");
    fs::write(&map, "").expect("a file");
    let config: String = shipped("nginx.conf")
        .replace("listen 443 ssl", &format!("listen {public}"))
        .replace("/var/log/nginx/recado.log", &folder.join("access").display().to_string())
        .replace("/etc/nginx/recado-moved.map", &map.display().to_string())
        .lines()
        .filter(|line| !line.trim_start().starts_with("ssl_certificate"))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut whole = format!(
        "daemon off; master_process off; pid {0}/pid; error_log {0}/error; events {{ worker_connections 4096; }} http {{",
        folder.display()
    );
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        whole.push_str(&format!("{kind}_temp_path {}/{kind};\n", folder.display()));
    }
    whole.push_str(&ports(&config));
    whole.push('}');
    fs::write(folder.join("nginx.conf"), whole).expect("a file");
    let mut command = Command::new(program("nginx"));
    command.arg("-c").arg(folder.join("nginx.conf")).arg("-p").arg(folder);
    command.arg("-e").arg(folder.join("error"));
    command
}

/// A configuration of those that are shipped.
fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/proxy/cells").join(name);
    fs::read_to_string(path).expect("the file is shipped")
}

/// Where Debian has a program that is not on every user's path.
fn program(name: &str) -> String {
    let packaged = format!("/usr/sbin/{name}");
    if Path::new(&packaged).exists() { packaged } else { name.to_owned() }
}

/// An address that nobody listens on, outside of the range from which connections get theirs.
fn free_port() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 10_000).expect("it is small");
    loop {
        let port = 12_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000;
        let addr = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(addr).is_ok() {
            return addr;
        }
    }
}

/// The address of cell 0, which runs as long as this process.
fn cell_0() -> SocketAddr {
    static CELL_0: OnceLock<SocketAddr> = OnceLock::new();
    *CELL_0.get_or_init(|| {
        let (told, address) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            runtime.block_on(async {
                let database = Database::migrated(StoreKind::Sqlite);
                let setup = Setup { alone: true, ..Setup::default() };
                let server = TestServer::start(&database, setup).await;
                told.send(server.addr).expect("somebody waits");
                std::future::pending::<()>().await;
            });
        });
        address.recv().expect("cell 0 starts")
    })
}
