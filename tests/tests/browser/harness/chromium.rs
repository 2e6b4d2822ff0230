//! One chromedriver for the test process, and what it needs to start Chromium.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long chromedriver may take to start.
const START: Duration = Duration::from_secs(30);

/// What to do where a program is missing. Nothing is left out silently.
const ADVICE: &str = "Install the packages 'chromium' and 'chromium-driver' (scripts/test does so on \
    Debian), or name other binaries in RECADO_CHROMIUM and RECADO_CHROMEDRIVER.";

/// Ends chromedriver, the browsers that it started, and their files, once the end of the standard
/// input says that the test process is gone, however it ended.
const KEEPER: &str =
    "\"$0\" --port=0 & cat >/dev/null; trap '' TERM; kill 0; wait; rm -rf \"$TMPDIR\"";

/// A running chromedriver.
#[derive(Debug)]
pub(crate) struct Driver {
    /// The address that it listens on.
    pub(crate) addr: SocketAddr,
    /// The browser that it starts.
    pub(crate) chromium: PathBuf,
    /// Its end is what ends chromedriver.
    _input: ChildStdin,
    _keeper: Child,
}

/// The chromedriver of this process.
pub(crate) fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(start)
}

/// The arguments of every browser: no window, no profile of a user, and no request of its own.
pub(crate) const ARGUMENTS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
];

fn start() -> Driver {
    let chromium = program("RECADO_CHROMIUM", &["chromium", "chromium-browser", "google-chrome"]);
    let chromedriver = program("RECADO_CHROMEDRIVER", &["chromedriver"]);
    let folder = tempfile::Builder::new().prefix("recado-browser.").tempdir();
    // The keeper deletes it.
    let folder = folder.expect("a temporary folder").keep();
    let mut command = Command::new("sh");
    command.args(["-c", KEEPER]).arg(chromedriver);
    command.env("TMPDIR", &folder).env("HOME", &folder).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut keeper = command.spawn().expect("a shell");
    let input = keeper.stdin.take().expect("piped");
    let lines = BufReader::new(keeper.stdout.take().expect("piped")).lines();
    let (found, port) = channel();
    // Reads to the end, so that chromedriver never waits for a reader.
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let port = line.split_once("successfully on port ").map(|(_, rest)| rest);
            if let Some(port) = port.and_then(|rest| rest.trim_end_matches('.').parse().ok()) {
                let _ = found.send(port);
            }
        }
    });
    let port: u16 = port
        .recv_timeout(START)
        .unwrap_or_else(|_| panic!("chromedriver did not start in {START:?}. {ADVICE}"));
    let addr = SocketAddr::from(([127, 0, 0, 1], port));
    Driver { addr, chromium, _input: input, _keeper: keeper }
}

/// The program that the variable names, or else the first of these names on the path.
fn program(variable: &str, names: &[&str]) -> PathBuf {
    if let Some(named) = std::env::var_os(variable) {
        return named.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = names.iter().flat_map(|name| folders.iter().map(move |one| one.join(name)));
    let mut there = candidates.filter(|candidate| Path::is_file(candidate));
    there.next().unwrap_or_else(|| panic!("{} is not on the path. {ADVICE}", names[0]))
}
