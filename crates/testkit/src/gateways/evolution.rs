//! A fake of the Evolution API. It checks requests strictly, and its answers vary as those of the
//! real one do, in the forms of four versions.

mod kinds;
mod people;
mod records;
mod requests;
mod webhooks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::Timestamp;
use serde_json::{Map, Value, json};

use super::{FakeRequest, Gateway, Reply, Script, SendBehaviour};

/// The name of the fake's instance.
const INSTANCE: &str = "loja1";
/// The instance's key.
const API_KEY: &str = "T-1";
/// The token in the address of the instance's webhook.
const TOKEN: &str = "hook-token";

/// How a version writes the key of a person who is known by a LID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvolutionVersion {
    /// Version 2.3.0 to 2.3.3: the LID, with the phone in `senderPn`.
    V2_3_3,
    /// Version 2.3.6: the LID, with the phone in `remoteJidAlt`.
    V2_3_6,
    /// Version 2.3.7: only the phone. Its history ignores the filter by conversation.
    #[default]
    V2_3_7,
    /// Version 2.4: the phone, with the LID in `remoteJidAlt`. It needs a licence.
    V2_4,
}

/// A placeholder for the picture of a pairing code: the beginning of a PNG, and the number of the
/// code.
fn picture(code: u64) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n", code.to_string().as_bytes()].concat()
}

/// A message that the gateway accepted and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvolutionSent {
    /// The id of the message.
    pub id: String,
    /// The number in the request.
    pub number: String,
    /// The conversation that the message was sent to.
    pub remote_jid: String,
    /// The text of the message, or what stands for it.
    pub text: String,
    /// The operation that sent it, such as `sendMedia`.
    pub operation: String,
    /// The whole request; of a file without its bytes.
    pub body: Value,
    /// The bytes of its file.
    pub file: Option<Vec<u8>>,
}

struct State {
    version: EvolutionVersion,
    base: String,
    script: Script,
    now: Timestamp,
    made: u64,
    sent: Vec<EvolutionSent>,
    violations: Vec<String>,
    requests: usize,
    rows: Vec<Value>,
    keeps: bool,
    groups: Vec<Value>,
    lists_participants: bool,
    files: BTreeMap<String, Vec<u8>>,
    state: &'static str,
    codes: u64,
    pairing: PairingAnswer,
    exists: bool,
    is_licensed: bool,
    lids: BTreeMap<String, String>,
    absent: BTreeSet<String>,
    orders: Vec<(String, Value)>,
    marks: Vec<(String, Value)>,
    refuses_marks: bool,
}

/// The answer to a request for a pairing code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PairingAnswer {
    Code,
    NoneYet,
    Failing,
    LimitReached,
}

/// The gateway with one connected instance. Clones share one state.
#[derive(Clone)]
pub struct FakeEvolution(Arc<Mutex<State>>);

impl std::fmt::Debug for FakeEvolution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FakeEvolution").finish_non_exhaustive()
    }
}

impl Default for FakeEvolution {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeEvolution {
    /// The gateway at `http://evolution.example:8080`.
    pub fn new() -> Self {
        Self::at("http://evolution.example:8080")
    }

    /// The gateway at another address, which may have a path.
    pub fn at(base: &str) -> Self {
        Self(Arc::new(Mutex::new(State {
            version: EvolutionVersion::default(),
            base: base.trim_end_matches('/').to_owned(),
            script: Script::default(),
            now: Timestamp::from_millis(1_760_000_000_000),
            made: 0,
            sent: Vec::new(),
            violations: Vec::new(),
            requests: 0,
            rows: Vec::new(),
            keeps: true,
            groups: Vec::new(),
            lists_participants: true,
            files: BTreeMap::new(),
            state: "open",
            codes: 0,
            pairing: PairingAnswer::Code,
            exists: true,
            is_licensed: true,
            lids: BTreeMap::new(),
            absent: BTreeSet::new(),
            orders: Vec::new(),
            marks: Vec::new(),
            refuses_marks: false,
        })))
    }

    /// The same gateway in another version.
    pub fn version(&self, version: EvolutionVersion) -> &Self {
        self.with(|state| state.version = version)
    }

    /// The settings of a connection to it.
    pub fn settings(&self) -> Map<String, Value> {
        let base = self.state().base.clone();
        let settings = json!({"base_url": base, "instance": INSTANCE, "api_key": API_KEY,
            "webhook_token": TOKEN});
        settings.as_object().cloned().unwrap_or_default()
    }

    /// Adds outcomes of the next sends.
    pub fn script(&self, behaviours: impl IntoIterator<Item = SendBehaviour>) -> &Self {
        self.with(|state| state.script.extend(behaviours))
    }

    /// Sets the clock of the gateway, which does not advance.
    pub fn set_now(&self, now: Timestamp) -> &Self {
        self.with(|state| state.now = now)
    }

    /// The messages that it sent, in order.
    pub fn accepted(&self) -> Vec<EvolutionSent> {
        self.state().sent.clone()
    }

    /// The requests that send, by operation with their bodies, in order.
    pub fn orders(&self) -> Vec<(String, Value)> {
        self.state().orders.clone()
    }

    /// What it was asked about messages, by operation, in order: changes, withdrawals, marks as
    /// read, and what people were shown.
    pub fn marks(&self) -> Vec<(String, Value)> {
        self.state().marks.clone()
    }

    /// Makes it refuse changes of messages, as it does for those that it cannot change.
    pub fn refuse_marks(&self) -> &Self {
        self.with(|state| state.refuses_marks = true)
    }

    /// The errors in requests.
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// The number of requests.
    pub fn requests(&self) -> usize {
        self.state().requests
    }

    /// The rows of its history, oldest first.
    pub fn rows(&self) -> Vec<Value> {
        self.state().rows.clone()
    }

    /// Sets whether the gateway keeps messages.
    pub fn keep_messages(&self, keeps: bool) -> &Self {
        self.with(|state| state.keeps = keeps)
    }

    /// Adds a group, as an object of the list of groups.
    pub fn add_group(&self, group: Value) -> &Self {
        self.with(|state| state.groups.push(group))
    }

    /// Makes the list of groups leave out participants, even if they are asked for. They are
    /// answered for each group separately.
    pub fn list_no_participants(&self) -> &Self {
        self.with(|state| state.lists_participants = false)
    }

    /// Adds the file of a message.
    pub fn add_file(&self, message: &str, bytes: &[u8]) -> &Self {
        self.with(|state| {
            state.files.insert(message.to_owned(), bytes.to_vec());
        })
    }

    /// Sets the instance's state: `open`, `connecting` or `close`.
    pub fn set_state(&self, to: &'static str) -> &Self {
        self.with(|state| state.state = to)
    }

    /// Makes the gateway have no pairing code yet, as after a start.
    pub fn no_code_yet(&self) -> &Self {
        self.with(|state| state.pairing = PairingAnswer::NoneYet)
    }

    /// Makes requests for a pairing code fail, which the gateway answers with status 200.
    pub fn fail_pairing(&self) -> &Self {
        self.with(|state| state.pairing = PairingAnswer::Failing)
    }

    /// Makes the gateway have reached its limit of pairing codes.
    pub fn reach_code_limit(&self) -> &Self {
        self.with(|state| state.pairing = PairingAnswer::LimitReached)
    }

    /// Removes the instance.
    pub fn remove_instance(&self) -> &Self {
        self.with(|state| state.exists = false)
    }

    /// Makes every answer say that the gateway is not activated.
    pub fn lose_license(&self) -> &Self {
        self.with(|state| state.is_licensed = false)
    }

    /// Makes a number have no account on the channel.
    pub fn remove_number(&self, digits: &str) -> &Self {
        self.with(|state| {
            state.absent.insert(people::canonical(digits));
        })
    }

    /// Gives the person with this number a LID, too.
    pub fn add_lid(&self, digits: &str, lid: &str) -> &Self {
        self.with(|state| {
            state.lids.insert(people::canonical(digits), lid.to_owned());
        })
    }

    /// The body of an error with this `message`.
    pub fn error(status: u16, message: &Value) -> Value {
        let name = match status {
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            _ => "Internal Server Error",
        };
        json!({"status": status, "error": name, "response": {"message": message}})
    }

    fn with(&self, change: impl FnOnce(&mut State)) -> &Self {
        change(&mut self.state());
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next_id(&mut self, start: &str, digits: usize) -> String {
        self.made += 1;
        format!("{start}{:0digits$X}", self.made)
    }

    fn seconds(&self) -> i64 {
        self.now.millis().div_euclid(1_000)
    }
}

impl Gateway for FakeEvolution {
    fn answer(&self, request: &FakeRequest) -> Reply {
        self.state().answer(request)
    }

    fn serves(&self, url: &str) -> bool {
        let state = self.state();
        url.strip_prefix(&state.base).is_some_and(|rest| rest.starts_with('/'))
    }
}
