//! WAHA that is not there: one session on any of its engines, as strict as the real one.

mod answering;
mod shapes;
mod webhooks;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::Timestamp;
use serde_json::{Value, json};

use super::{FakeRequest, Gateway, Reply, Script, SendBehaviour};

/// Where the gateway lives in the process.
const HOST: &str = "waha.test:3000";
/// The beginning of the ids that it makes.
const OWN_IDS: &str = "3EB0";

/// The engine of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WahaEngine {
    /// Drives a browser; makes all ids itself.
    Webjs,
    /// Takes ids; answers in the words of its library.
    Noweb,
    /// Takes ids.
    Gows,
}

impl WahaEngine {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Webjs, Self::Noweb, Self::Gows];

    /// What WAHA calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Webjs => "WEBJS",
            Self::Noweb => "NOWEB",
            Self::Gows => "GOWS",
        }
    }

    /// Whether a caller may choose the id of a message.
    pub const fn takes_ids(self) -> bool {
        !matches!(self, Self::Webjs)
    }
}

/// A message that the gateway took to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WahaSent {
    /// Its raw id.
    pub raw_id: String,
    /// Whether the caller chose the id.
    pub is_callers_id: bool,
    /// The chat it went to.
    pub chat: String,
    /// What it says.
    pub text: String,
}

/// A group that the session is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WahaGroup {
    /// Its address.
    pub id: String,
    /// Its name.
    pub subject: String,
    /// Whether it is a community.
    pub is_community: bool,
    /// Whether it is the announcement group of its community.
    pub is_announcement: bool,
    /// The address of its community.
    pub community: Option<String>,
    /// Whether only administrators may write.
    pub announce_only: bool,
    /// Whether the session's number administers it.
    pub is_admin: bool,
}

impl WahaGroup {
    /// A group in which everybody may write.
    pub fn new(id: &str, subject: &str) -> Self {
        Self {
            id: id.to_owned(),
            subject: subject.to_owned(),
            is_community: false,
            is_announcement: false,
            community: None,
            announce_only: false,
            is_admin: false,
        }
    }
}

#[derive(Debug)]
struct State {
    prefix: String,
    session: String,
    api_key: String,
    hmac_key: String,
    engine: WahaEngine,
    status: String,
    is_there: bool,
    is_up: bool,
    me: (String, String),
    now: Timestamp,
    made: u64,
    script: Script,
    sent: Vec<WahaSent>,
    /// What the session keeps, in WAHA's own form, oldest first.
    messages: Vec<Value>,
    /// How the channel writes numbers; `None` for one that is not on it.
    numbers: BTreeMap<String, Option<String>>,
    /// The LIDs of people, by the digits of their phones.
    lids: BTreeMap<String, String>,
    /// Whether messages tell the other name of whom they are from or to.
    reports_names: bool,
    /// Whether the session names its engine.
    reports_engine: bool,
    /// Whether the list of groups tells their members.
    reports_members: bool,
    groups: Vec<WahaGroup>,
    files: BTreeMap<String, Vec<u8>>,
    /// The files of messages that are fetched when they are asked for.
    attached: BTreeMap<String, String>,
    requests: Vec<FakeRequest>,
    violations: Vec<String>,
}

/// WAHA with one session, `loja1`, on a phone with the number 551140028922. Clones share everything.
#[derive(Clone, Debug)]
pub struct FakeWaha(Arc<Mutex<State>>);

impl Default for FakeWaha {
    fn default() -> Self {
        Self::new(WahaEngine::Gows)
    }
}

impl FakeWaha {
    /// A gateway with a working session on this engine.
    pub fn new(engine: WahaEngine) -> Self {
        Self(Arc::new(Mutex::new(State {
            prefix: String::new(),
            session: "loja1".to_owned(),
            api_key: "waha-api-key".to_owned(),
            hmac_key: "waha-hmac-key".to_owned(),
            engine,
            status: "WORKING".to_owned(),
            is_there: true,
            is_up: true,
            me: ("551140028922@c.us".to_owned(), "777@lid".to_owned()),
            now: Timestamp::from_millis(1_795_000_000_000),
            made: 0,
            script: Script::default(),
            sent: Vec::new(),
            messages: Vec::new(),
            numbers: BTreeMap::new(),
            lids: BTreeMap::new(),
            reports_names: true,
            reports_engine: true,
            reports_members: true,
            groups: Vec::new(),
            files: BTreeMap::new(),
            attached: BTreeMap::new(),
            requests: Vec::new(),
            violations: Vec::new(),
        })))
    }

    /// The settings of a connection that reaches the gateway in the process.
    pub fn settings(&self) -> Value {
        self.settings_at(&format!("http://{HOST}"))
    }

    /// The settings of a connection that reaches the gateway at this address, which has no path.
    pub fn settings_at(&self, address: &str) -> Value {
        let state = self.state();
        json!({"base_url": format!("{address}{}", state.prefix), "session": state.session,
            "api_key": state.api_key, "webhook_hmac_key": state.hmac_key})
    }

    /// Lets the gateway live beneath this path.
    pub fn set_prefix(&self, prefix: &str) -> &Self {
        self.with(|state| state.prefix = prefix.to_owned())
    }

    /// What time the gateway believes it is.
    pub fn set_now(&self, now: Timestamp) -> &Self {
        self.with(|state| state.now = now)
    }

    /// The state of the session, in WAHA's word.
    pub fn set_status(&self, status: &str) -> &Self {
        self.with(|state| state.status = status.to_owned())
    }

    /// Restarts the session on another engine.
    pub fn set_engine(&self, engine: WahaEngine) -> &Self {
        self.with(|state| state.engine = engine)
    }

    /// Whether there is a session at all.
    pub fn set_session_there(&self, is_there: bool) -> &Self {
        self.with(|state| state.is_there = is_there)
    }

    /// Whether the gateway accepts connections.
    pub fn set_up(&self, is_up: bool) -> &Self {
        self.with(|state| state.is_up = is_up)
    }

    /// How the channel writes a number; `None` for one that is not on it. Others are as they are.
    pub fn set_number(&self, digits: &str, written: Option<&str>) -> &Self {
        self.with(|state| {
            state.numbers.insert(digits.to_owned(), written.map(str::to_owned));
        })
    }

    /// The LID (`123@lid`) of the person with this phone.
    pub fn set_lid(&self, digits: &str, lid: &str) -> &Self {
        self.with(|state| {
            state.lids.insert(digits.to_owned(), lid.to_owned());
        })
    }

    /// Whether messages tell both names of people; if not, it has to be asked for the other one.
    pub fn set_reports_names(&self, tells: bool) -> &Self {
        self.with(|state| state.reports_names = tells)
    }

    /// Whether the session names its engine.
    pub fn set_reports_engine(&self, tells: bool) -> &Self {
        self.with(|state| state.reports_engine = tells)
    }

    /// Whether the list of groups tells who is in them.
    pub fn set_reports_members(&self, tells: bool) -> &Self {
        self.with(|state| state.reports_members = tells)
    }

    /// The groups that the session is in.
    pub fn set_groups(&self, groups: Vec<WahaGroup>) -> &Self {
        self.with(|state| state.groups = groups)
    }

    /// A file that it keeps, by its name; the address that its messages give for it.
    pub fn add_file(&self, name: &str, bytes: &[u8]) -> String {
        let mut state = self.state();
        state.files.insert(name.to_owned(), bytes.to_vec());
        format!("http://localhost:3000/api/files/{name}")
    }

    /// A file that it will fetch from the channel when it is asked for the message with this id.
    pub fn attach_file(&self, message_id: &str, name: &str, bytes: &[u8]) -> &Self {
        let url = self.add_file(name, bytes);
        self.with(|state| {
            state.attached.insert(message_id.to_owned(), url);
        })
    }

    /// Deletes all files, as it does after a few minutes.
    pub fn expire_files(&self) -> &Self {
        self.with(|state| state.files.clear())
    }

    /// What it does with the next sends, in order.
    pub fn script(&self, behaviours: impl IntoIterator<Item = SendBehaviour>) -> &Self {
        self.with(|state| state.script.extend(behaviours))
    }

    /// What it took to send, in order: what the phones got.
    pub fn accepted(&self) -> Vec<WahaSent> {
        self.state().sent.clone()
    }

    /// All requests that it answered, in order.
    pub fn requests(&self) -> Vec<FakeRequest> {
        self.state().requests.clone()
    }

    /// What was wrong with requests: empty as long as the adapter keeps to the contract.
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, change: impl FnOnce(&mut State)) -> &Self {
        change(&mut self.state());
        self
    }
}

impl State {
    /// An id that the gateway makes itself.
    fn next_id(&mut self) -> String {
        self.made += 1;
        format!("{OWN_IDS}{:018X}", self.made)
    }
}

impl Gateway for FakeWaha {
    fn answer(&self, request: &FakeRequest) -> Reply {
        let mut state = self.state();
        if !state.is_up {
            return Reply::refused();
        }
        state.requests.push(request.clone());
        state.answer(request)
    }

    fn serves(&self, url: &str) -> bool {
        url.split("://").nth(1).is_some_and(|rest| rest.split('/').next() == Some(HOST))
    }
}
