//! A transport whose answers are set by the test.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use async_trait::async_trait;
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};

/// The answer to a request.
pub type ScriptedAnswer = Result<OutboundResponse, TransportError>;

/// A function that is called for each request.
type Hook = Arc<dyn Fn(&OutboundRequest) + Send + Sync>;

/// The answers of one URL, and the requests to it.
#[derive(Default)]
struct ScriptedUrl {
    next: VecDeque<ScriptedAnswer>,
    otherwise: Option<ScriptedAnswer>,
    on_request: Option<Hook>,
    /// Whether answers wait until they are released.
    held: bool,
    /// How many of the waiting answers are released.
    let_go: usize,
    arrived: usize,
    in_flight: usize,
    most_in_flight: usize,
}

struct Script {
    next: VecDeque<ScriptedAnswer>,
    otherwise: ScriptedAnswer,
    requests: Vec<OutboundRequest>,
    urls: BTreeMap<String, ScriptedUrl>,
    forbidden: BTreeSet<String>,
    unknown: BTreeSet<String>,
    in_flight: usize,
    most_in_flight: usize,
    wakers: Vec<Waker>,
}

impl Script {
    /// Why the URL cannot be called, if it cannot.
    fn check(&self, url: &str) -> Result<(), TransportError> {
        let host = host_of(url);
        if self.forbidden.contains(host) {
            return Err(TransportError::Forbidden);
        }
        if self.unknown.contains(host) {
            return Err(TransportError::Dns);
        }
        Ok(())
    }

    fn url(&mut self, url: &str) -> &mut ScriptedUrl {
        self.urls.entry(url.to_owned()).or_default()
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }
}

/// The host of a URL, without brackets and port.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// A transport that answers from a script and records its requests. Clones share one state.
#[derive(Clone)]
pub struct ScriptedTransport(Arc<Mutex<Script>>);

impl std::fmt::Debug for ScriptedTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedTransport").finish_non_exhaustive()
    }
}

impl ScriptedTransport {
    /// A transport that refuses every connection until it has answers.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Script {
            next: VecDeque::new(),
            otherwise: Err(TransportError::Refused),
            requests: Vec::new(),
            urls: BTreeMap::new(),
            forbidden: BTreeSet::new(),
            unknown: BTreeSet::new(),
            in_flight: 0,
            most_in_flight: 0,
            wakers: Vec::new(),
        })))
    }

    /// Adds an answer. Each is used once, in order, for URLs without answers of their own.
    pub fn then(&self, answer: ScriptedAnswer) -> &Self {
        self.script().next.push_back(answer);
        self
    }

    /// Adds an answer with a status and a JSON body.
    pub fn then_json(&self, status: u16, body: &serde_json::Value) -> &Self {
        self.then(json_answer(status, body))
    }

    /// Sets the answer after the end of the script.
    pub fn otherwise(&self, answer: ScriptedAnswer) -> &Self {
        self.script().otherwise = answer;
        self
    }

    /// Makes this host one that must not be called.
    pub fn forbid(&self, host: &str) -> &Self {
        self.script().forbidden.insert(host.to_owned());
        self
    }

    /// Makes the name of this host not resolve.
    pub fn unname(&self, host: &str) -> &Self {
        self.script().unknown.insert(host.to_owned());
        self
    }

    /// Allows all hosts again.
    pub fn allow_all(&self) -> &Self {
        let mut script = self.script();
        script.forbidden.clear();
        script.unknown.clear();
        drop(script);
        self
    }

    /// The receiver at this URL, which has its own script.
    pub fn at(&self, url: &str) -> ScriptedReceiver {
        ScriptedReceiver { transport: self.clone(), url: url.to_owned() }
    }

    /// All requests so far, in order, except those to hosts that must not be called.
    pub fn requests(&self) -> Vec<OutboundRequest> {
        self.script().requests.clone()
    }

    /// The greatest number of requests that were open at the same time.
    pub fn most_in_flight(&self) -> usize {
        self.script().most_in_flight
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `found` answers a value. It is called again after every change.
    async fn until<T>(&self, mut found: impl FnMut(&mut Script) -> Option<T>) -> T {
        poll_fn(|context| {
            let mut script = self.script();
            match found(&mut script) {
                Some(value) => Poll::Ready(value),
                None => {
                    script.wakers.push(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Default for ScriptedTransport {
    fn default() -> Self {
        Self::new()
    }
}

/// The receiver at one URL. Made by [`ScriptedTransport::at`].
#[derive(Clone, Debug)]
pub struct ScriptedReceiver {
    transport: ScriptedTransport,
    url: String,
}

impl ScriptedReceiver {
    /// Adds an answer. Each is used once, in the order of the requests.
    pub fn then(&self, answer: ScriptedAnswer) -> &Self {
        self.with(|url| url.next.push_back(answer))
    }

    /// Sets the answer after the end of its script.
    pub fn otherwise(&self, answer: ScriptedAnswer) -> &Self {
        self.with(|url| url.otherwise = Some(answer))
    }

    /// Adds an answer with this status and an empty body.
    pub fn then_status(&self, status: u16) -> &Self {
        self.then(status_answer(status))
    }

    /// Sets the answer after the end of its script to this status and an empty body.
    pub fn otherwise_status(&self, status: u16) -> &Self {
        self.otherwise(status_answer(status))
    }

    /// Calls this function for every request, for example to advance a clock while the receiver
    /// works.
    pub fn on_request(&self, hook: impl Fn(&OutboundRequest) + Send + Sync + 'static) -> &Self {
        self.with(|url| url.on_request = Some(Arc::new(hook)))
    }

    /// Makes later requests wait for their answers.
    pub fn hold(&self) -> &Self {
        self.with(|url| url.held = true)
    }

    /// Releases `count` more answers.
    pub fn let_go(&self, count: usize) -> &Self {
        self.with(|url| url.let_go += count)
    }

    /// Releases all answers, including later ones.
    pub fn open(&self) -> &Self {
        self.with(|url| (url.held, url.let_go) = (false, 0))
    }

    /// All requests so far, in order.
    pub fn requests(&self) -> Vec<OutboundRequest> {
        let mut requests = self.transport.requests();
        requests.retain(|request| request.url == self.url);
        requests
    }

    /// The bodies of all requests so far, in order.
    pub fn bodies(&self) -> Vec<String> {
        let requests = self.requests().into_iter();
        requests.map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect()
    }

    /// The number of requests so far.
    pub fn arrived(&self) -> usize {
        self.transport.script().url(&self.url).arrived
    }

    /// Waits until there were `count` requests in all.
    pub async fn has_got(&self, count: usize) {
        let url = &self.url;
        self.transport.until(|script| (script.url(url).arrived >= count).then_some(())).await;
    }

    /// The number of requests that wait for their answers.
    pub fn in_flight(&self) -> usize {
        self.transport.script().url(&self.url).in_flight
    }

    /// The greatest number of requests that were open at the same time.
    pub fn most_in_flight(&self) -> usize {
        self.transport.script().url(&self.url).most_in_flight
    }

    fn with(&self, change: impl FnOnce(&mut ScriptedUrl)) -> &Self {
        let mut script = self.transport.script();
        change(script.url(&self.url));
        script.wake();
        drop(script);
        self
    }
}

/// An answer with a status and a JSON body.
pub fn json_answer(status: u16, body: &serde_json::Value) -> ScriptedAnswer {
    Ok(OutboundResponse::new(status, body.to_string().into_bytes()))
}

/// An answer with a status and an empty body.
pub fn status_answer(status: u16) -> ScriptedAnswer {
    Ok(OutboundResponse::new(status, Vec::new()))
}

/// The value of a header of a request.
pub fn header<'a>(request: &'a OutboundRequest, name: &str) -> Option<&'a str> {
    let mut headers = request.headers.iter();
    let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

/// An open request, counted until it is answered or dropped.
struct OpenRequest<'a> {
    transport: &'a ScriptedTransport,
    url: &'a str,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let mut script = self.transport.script();
        script.in_flight -= 1;
        script.url(self.url).in_flight -= 1;
        script.wake();
    }
}

impl ScriptedTransport {
    /// Records a request; answers its future answer.
    fn take_in(&self, request: &OutboundRequest) -> (ScriptedAnswer, Option<Hook>) {
        let mut script = self.script();
        script.requests.push(request.clone());
        script.in_flight += 1;
        script.most_in_flight = script.most_in_flight.max(script.in_flight);
        let url = script.url(&request.url);
        url.arrived += 1;
        url.in_flight += 1;
        url.most_in_flight = url.most_in_flight.max(url.in_flight);
        let hook = url.on_request.clone();
        let own = url.next.pop_front().or_else(|| url.otherwise.clone());
        let answer =
            own.or_else(|| script.next.pop_front()).unwrap_or_else(|| script.otherwise.clone());
        script.wake();
        (answer, hook)
    }
}

#[async_trait]
impl Transport for ScriptedTransport {
    async fn send(&self, request: OutboundRequest) -> ScriptedAnswer {
        self.script().check(&request.url)?;
        let (answer, hook) = self.take_in(&request);
        let _in_flight = OpenRequest { transport: self, url: &request.url };
        if let Some(hook) = hook {
            hook(&request);
        }
        self.until(|script| {
            let url = script.url(&request.url);
            if !url.held {
                return Some(());
            }
            let left = url.let_go.checked_sub(1)?;
            url.let_go = left;
            Some(())
        })
        .await;
        answer
    }

    async fn check(&self, url: &str) -> Result<(), TransportError> {
        self.script().check(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://a.example/hook";

    fn post(url: &str) -> OutboundRequest {
        OutboundRequest::post(url, Vec::new(), b"{}".to_vec())
    }

    #[tokio::test]
    async fn urls_answer_for_themselves_and_all_others_together() {
        let transport = ScriptedTransport::new();
        transport.then(status_answer(201)).otherwise(status_answer(202));
        transport.at(URL).then_status(500).otherwise_status(200);
        let mut statuses = Vec::new();
        for url in [URL, "https://b.example/", URL, "https://b.example/", URL] {
            statuses.push(transport.send(post(url)).await.map(|answer| answer.status));
        }
        assert_eq!(statuses, [Ok(500), Ok(201), Ok(200), Ok(202), Ok(200)]);
        assert_eq!(transport.at(URL).bodies(), ["{}"; 3]);
    }

    #[tokio::test]
    async fn answers_that_are_held_go_one_by_one_and_are_counted() {
        let transport = ScriptedTransport::new();
        let receiver = transport.at(URL);
        receiver.otherwise_status(200).hold();
        let mut sends = Vec::new();
        for _ in 0..3 {
            let transport = transport.clone();
            sends.push(tokio::spawn(async move { transport.send(post(URL)).await }));
        }
        receiver.has_got(3).await;
        assert_eq!((receiver.in_flight(), receiver.most_in_flight()), (3, 3));
        receiver.let_go(2);
        transport.until(|script| (script.in_flight == 1).then_some(())).await;
        let last = sends.iter().filter(|send| !send.is_finished()).count();
        assert!(last >= 1);
        receiver.open();
        for send in sends {
            assert_eq!(send.await.expect("no panic").map(|answer| answer.status), Ok(200));
        }
        assert_eq!((receiver.in_flight(), transport.most_in_flight()), (0, 3));
    }

    #[tokio::test]
    async fn hosts_can_be_forbidden_and_unknown() {
        let transport = ScriptedTransport::new();
        transport.forbid("127.0.0.1").forbid("::1").unname("nowhere.example");
        for (url, expected) in [
            ("http://127.0.0.1:80/x", Err(TransportError::Forbidden)),
            ("http://[::1]:80/", Err(TransportError::Forbidden)),
            ("https://nowhere.example?x", Err(TransportError::Dns)),
            ("https://elsewhere.example", Ok(())),
        ] {
            assert_eq!(transport.check(url).await, expected, "{url}");
        }
        assert_eq!(transport.send(post("http://127.0.0.1/")).await, Err(TransportError::Forbidden));
        assert!(transport.requests().is_empty());
        transport.allow_all();
        assert_eq!(transport.check("http://127.0.0.1/").await, Ok(()));
    }
}
