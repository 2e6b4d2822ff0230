//! A session of the WebDriver protocol: its commands, over the HTTP client of the tests.

use std::fmt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use recado_tests::{Request, text};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::chromium::{ARGUMENTS, driver};

/// How many browsers run at once: each needs most of a core while a page loads.
static BROWSERS: Semaphore = Semaphore::const_new(4);

/// The name of an element's reference in the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Why a command was refused.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    /// The code, such as `stale element reference`.
    error: String,
    /// What the driver says about it.
    message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error, self.message)
    }
}

impl Refused {
    /// Whether the page may only not have come so far.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self.error.as_str(),
            "stale element reference"
                | "no such element"
                | "element click intercepted"
                | "element not interactable"
                | "invalid element state"
                | "javascript error"
        )
    }
}

/// An element of a page.
#[derive(Clone, Debug)]
pub(crate) struct Element(String);

impl Element {
    /// The element that a script returned, if it did.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        value[ELEMENT].as_str().map(|id| Self(id.to_owned()))
    }

    /// Its reference, as an argument of a script.
    pub(crate) fn reference(&self) -> Value {
        json!({ ELEMENT: self.0 })
    }
}

/// A browser with a profile of its own, which ends with this value.
#[derive(Debug)]
pub(crate) struct Session {
    driver: SocketAddr,
    id: String,
    _permits: Vec<SemaphorePermit<'static>>,
}

impl Session {
    /// Starts browsers, together: a test that needs two never waits for the second while it holds
    /// the first.
    pub(crate) async fn start_many<const N: usize>() -> [Self; N] {
        let count = u32::try_from(N).expect("a few");
        let mut all = BROWSERS.acquire_many(count).await.expect("it is never closed");
        let mut started = Vec::new();
        for _ in 0..N {
            let permit = all.split(1).expect("one for each");
            started.push(Self::start(permit).await);
        }
        started.try_into().expect("as many as asked for")
    }

    async fn start(permit: SemaphorePermit<'static>) -> Self {
        let driver = driver();
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "timeouts": {"script": 60_000, "pageLoad": 60_000, "implicit": 0},
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": driver.chromium, "args": ARGUMENTS},
        }}});
        let answer = Request::new("POST", "/session").json(&wanted).send(driver.addr).await;
        let value = answer.json()["value"].clone();
        let id = value["sessionId"].as_str();
        let id = id.unwrap_or_else(|| panic!("no browser: {}", answer.show())).to_owned();
        Self { driver: driver.addr, id, _permits: vec![permit] }
    }

    /// A command below the session's path.
    pub(crate) async fn command(
        &self,
        method: &str,
        path: &str,
        body: Value,
    ) -> Result<Value, Refused> {
        let request = Request::new(method, format!("/session/{}/{path}", self.id));
        let request = if method == "POST" { request.json(&body) } else { request };
        let answer = request.send(self.driver).await;
        let value = answer.json()["value"].clone();
        if answer.status == 200 {
            return Ok(value);
        }
        Err(Refused { error: text(&value["error"]), message: text(&value["message"]) })
    }

    /// A command that must succeed.
    pub(crate) async fn must(&self, method: &str, path: &str, body: Value) -> Value {
        let done = self.command(method, path, body).await;
        done.unwrap_or_else(|refused| panic!("{method} {path}: {refused}"))
    }

    /// A command of the developer tools.
    pub(crate) async fn tools(&self, command: &str, params: Value) -> Value {
        self.must("POST", "goog/cdp/execute", json!({"cmd": command, "params": params})).await
    }

    /// The elements that a selector finds now.
    pub(crate) async fn all(&self, css: &str) -> Vec<Element> {
        let body = json!({"using": "css selector", "value": css});
        let found = self.must("POST", "elements", body).await;
        found.as_array().map(|all| all.iter().filter_map(Element::of).collect()).unwrap_or_default()
    }

    /// A command on an element.
    pub(crate) async fn on(
        &self,
        element: &Element,
        command: &str,
        body: Value,
    ) -> Result<Value, Refused> {
        self.command("POST", &format!("element/{}/{command}", element.0), body).await
    }

    /// The value of a script's `return`.
    pub(crate) async fn script(&self, script: &str, args: Value) -> Result<Value, Refused> {
        self.command("POST", "execute/sync", json!({"script": script, "args": args})).await
    }

    /// What a script gives to the function that is its last argument.
    pub(crate) async fn later(&self, script: &str, args: Value) -> Result<Value, Refused> {
        self.command("POST", "execute/async", json!({"script": script, "args": args})).await
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without a runtime, because a failed test has none any more.
        let Ok(mut stream) = TcpStream::connect(self.driver) else { return };
        let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
        let asked = format!(
            "DELETE /session/{} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            self.id, self.driver
        );
        if stream.write_all(asked.as_bytes()).is_ok() {
            let _ = stream.read(&mut [0; 512]);
        }
    }
}
