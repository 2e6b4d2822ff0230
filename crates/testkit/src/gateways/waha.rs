//! A fake of WAHA with one session on any of its engines. It checks requests as strictly as the
//! real one.

mod acts;
mod answering;
mod fields;
mod kinds;
mod sends;
mod shapes;
mod webhooks;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::Timestamp;
use serde_json::{Value, json};

use super::{FakeRequest, Gateway, Reply, Script, SendBehaviour};

/// The host of a fake that is called within the process.
const HOST: &str = "waha.test:3000";
/// The prefix of the ids that the gateway makes.
const OWN_IDS: &str = "3EB0";

/// The engine of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WahaEngine {
    /// Runs a browser. Makes all ids itself.
    Webjs,
    /// Accepts ids of callers. Answers in the form of its library.
    Noweb,
    /// Accepts ids of callers.
    Gows,
}

impl WahaEngine {
    /// All engines.
    pub const ALL: [Self; 3] = [Self::Webjs, Self::Noweb, Self::Gows];

    /// WAHA's name of the engine.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Webjs => "WEBJS",
            Self::Noweb => "NOWEB",
            Self::Gows => "GOWS",
        }
    }

    /// Whether a caller can choose the id of a message.
    pub const fn takes_ids(self) -> bool {
        !matches!(self, Self::Webjs)
    }
}

/// A message that the gateway accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WahaSent {
    /// The raw id of the message.
    pub raw_id: String,
    /// Whether the caller chose the id.
    pub is_callers_id: bool,
    /// The chat that the message was sent to.
    pub chat: String,
    /// The text of the message, or the caption of its file.
    pub text: String,
    /// The operation that sent it, such as `sendImage`; `reaction` of a reaction.
    pub route: String,
    /// The whole request; of a file without its bytes.
    pub body: Value,
    /// The bytes of its file.
    pub file: Option<Vec<u8>>,
}

/// A change of a message, or something that is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WahaAct {
    /// A message has another text.
    Edited {
        /// The id of the message.
        id: String,
        /// Its text.
        text: String,
    },
    /// A message was taken back.
    Revoked {
        /// The id of the message.
        id: String,
    },
    /// Messages were marked as read.
    Seen {
        /// Their ids.
        ids: Vec<String>,
    },
    /// A person or group is shown this: `typing`, `recording` or `paused`.
    Presence {
        /// The chat.
        chat: String,
        /// What it is shown.
        state: String,
    },
}

/// A group that the session is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WahaGroup {
    /// The address of the group.
    pub id: String,
    /// The name of the group.
    pub subject: String,
    /// Whether the group is a community.
    pub is_community: bool,
    /// Whether the group is the announcement group of its community.
    pub is_announcement: bool,
    /// The address of the group's community.
    pub community: Option<String>,
    /// Whether only administrators may send messages.
    pub announce_only: bool,
    /// Whether the session's number is an administrator.
    pub is_admin: bool,
}

impl WahaGroup {
    /// A group in which all members may send messages.
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
    acts: Vec<WahaAct>,
    /// Whether the version has stickers.
    has_stickers: bool,
    /// The session's messages in WAHA's form, oldest first.
    messages: Vec<Value>,
    /// The channel's form of numbers; `None` for a number without an account.
    numbers: BTreeMap<String, Option<String>>,
    /// The LIDs of people, by the digits of their phones.
    lids: BTreeMap<String, String>,
    /// Whether messages have both ids of a person.
    reports_names: bool,
    /// Whether the session reports its engine.
    reports_engine: bool,
    /// Whether the list of groups has their members.
    reports_members: bool,
    groups: Vec<WahaGroup>,
    files: BTreeMap<String, Vec<u8>>,
    /// What becomes of the files of messages, by message, when the messages are asked for.
    attached: BTreeMap<String, Value>,
    requests: Vec<FakeRequest>,
    violations: Vec<String>,
}

/// WAHA with one session, `loja1`, on a phone with the number 551140028922. Clones share one state.
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
            acts: Vec::new(),
            has_stickers: true,
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

    /// The settings of a connection to the gateway within the process.
    pub fn settings(&self) -> Value {
        self.settings_at(&format!("http://{HOST}"))
    }

    /// The settings of a connection to the gateway at this address, which has no path.
    pub fn settings_at(&self, address: &str) -> Value {
        let state = self.state();
        json!({"base_url": format!("{address}{}", state.prefix), "session": state.session,
            "api_key": state.api_key, "webhook_hmac_key": state.hmac_key})
    }

    /// Puts the gateway's API below this path.
    pub fn set_prefix(&self, prefix: &str) -> &Self {
        self.with(|state| state.prefix = prefix.to_owned())
    }

    /// Sets the gateway's clock.
    pub fn set_now(&self, now: Timestamp) -> &Self {
        self.with(|state| state.now = now)
    }

    /// Sets the state of the session, in WAHA's words.
    pub fn set_status(&self, status: &str) -> &Self {
        self.with(|state| state.status = status.to_owned())
    }

    /// Restarts the session on another engine.
    pub fn set_engine(&self, engine: WahaEngine) -> &Self {
        self.with(|state| state.engine = engine)
    }

    /// Sets whether the session exists.
    pub fn set_session_there(&self, is_there: bool) -> &Self {
        self.with(|state| state.is_there = is_there)
    }

    /// Sets whether the gateway accepts connections.
    pub fn set_up(&self, is_up: bool) -> &Self {
        self.with(|state| state.is_up = is_up)
    }

    /// Sets the channel's form of a number; `None` for a number without an account. Other numbers
    /// are unchanged.
    pub fn set_number(&self, digits: &str, written: Option<&str>) -> &Self {
        self.with(|state| {
            state.numbers.insert(digits.to_owned(), written.map(str::to_owned));
        })
    }

    /// Sets the LID (`123@lid`) of the person with this phone.
    pub fn set_lid(&self, digits: &str, lid: &str) -> &Self {
        self.with(|state| {
            state.lids.insert(digits.to_owned(), lid.to_owned());
        })
    }

    /// Sets whether messages have both ids of a person. If not, the gateway has to be asked for the
    /// other id.
    pub fn set_reports_names(&self, tells: bool) -> &Self {
        self.with(|state| state.reports_names = tells)
    }

    /// Sets whether the session reports its engine.
    pub fn set_reports_engine(&self, tells: bool) -> &Self {
        self.with(|state| state.reports_engine = tells)
    }

    /// Sets whether the list of groups has their members.
    pub fn set_reports_members(&self, tells: bool) -> &Self {
        self.with(|state| state.reports_members = tells)
    }

    /// Sets the groups of the session.
    pub fn set_groups(&self, groups: Vec<WahaGroup>) -> &Self {
        self.with(|state| state.groups = groups)
    }

    /// Stores a file under a name. Answers its address, as in messages.
    pub fn add_file(&self, name: &str, bytes: &[u8]) -> String {
        let mut state = self.state();
        state.files.insert(name.to_owned(), bytes.to_vec());
        format!("http://localhost:3000/api/files/{name}")
    }

    /// Adds a file that the gateway fetches when it is asked for the message with this id.
    pub fn attach_file(&self, message_id: &str, name: &str, bytes: &[u8]) -> &Self {
        let url = self.add_file(name, bytes);
        self.with(|state| {
            state.attached.insert(message_id.to_owned(), json!({ "url": url }));
        })
    }

    /// Lets the gateway fail to fetch the file of the message with this id.
    pub fn fail_file(&self, message_id: &str) -> &Self {
        let error = json!({"code": "ECONNREFUSED", "message": "connect ECONNREFUSED"});
        let media =
            json!({"url": null, "mimetype": "image/jpeg", "filename": null, "error": error});
        self.with(|state| {
            state.attached.insert(message_id.to_owned(), media);
        })
    }

    /// Deletes all files, as the gateway does after a few minutes.
    pub fn expire_files(&self) -> &Self {
        self.with(|state| state.files.clear())
    }

    /// Sets the outcomes of the next sends, in order.
    pub fn script(&self, behaviours: impl IntoIterator<Item = SendBehaviour>) -> &Self {
        self.with(|state| state.script.extend(behaviours))
    }

    /// The messages that it accepted, in order.
    pub fn accepted(&self) -> Vec<WahaSent> {
        self.state().sent.clone()
    }

    /// The changes of messages, and what is no message, in order.
    pub fn acts(&self) -> Vec<WahaAct> {
        self.state().acts.clone()
    }

    /// Sets whether the version has the operation that sends stickers.
    pub fn set_has_stickers(&self, has: bool) -> &Self {
        self.with(|state| state.has_stickers = has)
    }

    /// All requests that it answered, in order.
    pub fn requests(&self) -> Vec<FakeRequest> {
        self.state().requests.clone()
    }

    /// The errors in requests. Empty if the adapter follows the contract.
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
