//! A fake of the official cloud API.

mod check;
mod check_content;
mod check_offer;
mod reads;
mod sends;
#[cfg(test)]
mod strictness;
mod uploads;
mod webhooks;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::ids::MessageId;
use serde_json::{Map, Value, json};
pub use uploads::UploadedFile;

use super::{FakeRequest, Gateway, Reply, Script, SendBehaviour};

/// The host of a fake that is called within the process.
const HOST: &str = "graph.fake.example";
const VERSION: &str = "v23.0";

/// A message that the fake accepted, as its recipient's phone would get it.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceptedSend {
    /// The id that the fake gave it.
    pub id: String,
    /// The recipient as it was written in the request: `+` and digits, or a business-scoped id.
    pub to: String,
    /// The channel's id of the recipient: digits (old Brazilian numbers without the ninth digit),
    /// or the business-scoped id.
    pub wa_id: String,
    /// The reference in the request.
    pub reference: Option<MessageId>,
    /// Its type, such as `text` or `image`.
    pub kind: String,
    /// Its text: of a file the caption, of a place and of cards the name, of a reaction the emoji.
    pub text: Option<String>,
    /// Its file, or that of its header.
    pub media: Option<UploadedFile>,
    /// The whole body.
    pub body: Value,
}

/// A stored file.
#[derive(Clone, Debug)]
struct File {
    mime: String,
    bytes: Vec<u8>,
    /// How many more downloads answer 404, like an address that has expired.
    expired: usize,
}

#[derive(Debug)]
struct State {
    number: String,
    account: String,
    display: String,
    token: String,
    app_secret: String,
    verify_token: String,
    script: Script,
    accepted: Vec<AcceptedSend>,
    violations: Vec<String>,
    templates: Vec<Value>,
    page: usize,
    files: BTreeMap<String, File>,
    uploads_script: Script,
    uploaded: Vec<UploadedFile>,
    marks_script: Script,
    /// The messages that were marked as read, and those at which somebody typed.
    read: Vec<String>,
    typed: Vec<String>,
    /// The answer to requests for the number, if it is not the number's state.
    state: Option<(u16, Value)>,
    /// Whether the token is revoked.
    revoked: bool,
    requests: usize,
}

/// The official cloud API with one number and one account. Clones share one state.
///
/// It checks every request at least as strictly as the real API. A request that no adapter should
/// make is recorded as a [violation](Self::violations), and is answered with the error of the real
/// API.
#[derive(Clone, Debug)]
pub struct FakeCloud(Arc<Mutex<State>>);

impl Default for FakeCloud {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeCloud {
    /// A fake with the number of the API's examples.
    pub fn new() -> Self {
        Self::numbered("106540352242922", "551140028922")
    }

    /// A fake with this `phone_number_id` and number.
    pub fn numbered(number: &str, display: &str) -> Self {
        Self(Arc::new(Mutex::new(State {
            number: number.to_owned(),
            account: format!("9{number}"),
            display: display.to_owned(),
            token: format!("EAA-token-of-{number}"),
            app_secret: "app-secret".to_owned(),
            verify_token: "verify-token".to_owned(),
            script: Script::default(),
            accepted: Vec::new(),
            violations: Vec::new(),
            templates: Vec::new(),
            page: 100,
            files: BTreeMap::new(),
            uploads_script: Script::default(),
            uploaded: Vec::new(),
            marks_script: Script::default(),
            read: Vec::new(),
            typed: Vec::new(),
            state: None,
            revoked: false,
            requests: 0,
        })))
    }

    /// The settings of a connection to this fake. `api_base` is its address; for a fake that is
    /// called within the process it is [`FakeCloud::base`].
    pub fn settings(&self, api_base: &str) -> Map<String, Value> {
        let state = self.state();
        let settings = json!({
            "phone_number_id": state.number,
            "business_account_id": state.account,
            "access_token": state.token,
            "app_secret": state.app_secret,
            "verify_token": state.verify_token,
            "api_base": api_base,
        });
        match settings {
            Value::Object(settings) => settings,
            _ => Map::new(),
        }
    }

    /// The address of a fake that is called within the process.
    pub fn base() -> String {
        format!("https://{HOST}")
    }

    /// Sets what happens to the next sends, in order. Later sends are accepted.
    pub fn script(&self, behaviours: impl IntoIterator<Item = SendBehaviour>) {
        self.state().script.extend(behaviours);
    }

    /// Sets what happens to the next uploads, in order. Later uploads are accepted.
    pub fn script_uploads(&self, behaviours: impl IntoIterator<Item = SendBehaviour>) {
        self.state().uploads_script.extend(behaviours);
    }

    /// Sets what happens to the next marks that a message was read, in order: accepted, or an
    /// error. Later marks are accepted.
    pub fn script_marks(&self, behaviours: impl IntoIterator<Item = SendBehaviour>) {
        self.state().marks_script.extend(behaviours);
    }

    /// Every file that was uploaded, in order.
    pub fn uploaded(&self) -> Vec<UploadedFile> {
        self.state().uploaded.clone()
    }

    /// The messages that were marked as read, in order.
    pub fn read(&self) -> Vec<String> {
        self.state().read.clone()
    }

    /// The messages as whose answer somebody typed, in order.
    pub fn typed(&self) -> Vec<String> {
        self.state().typed.clone()
    }

    /// Every accepted message, in order.
    pub fn accepted(&self) -> Vec<AcceptedSend> {
        self.state().accepted.clone()
    }

    /// The requests that no adapter should make.
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// The number of requests.
    pub fn requests(&self) -> usize {
        self.state().requests
    }

    /// Sets the templates of the account, in the form of its list, and how many are on one page.
    /// Sends of templates are checked against them. Without templates, all sends of templates are
    /// accepted.
    pub fn set_templates(&self, templates: Vec<Value>, page: usize) {
        let mut state = self.state();
        state.templates = templates;
        state.page = page.max(1);
    }

    /// Stores a file. The first `expired` downloads of it answer 404.
    pub fn keep_file(&self, id: &str, mime: &str, bytes: &[u8], expired: usize) {
        let file = File { mime: mime.to_owned(), bytes: bytes.to_vec(), expired };
        self.state().files.insert(id.to_owned(), file);
    }

    /// Revokes the token, or makes it valid again.
    pub fn revoke_token(&self, revoked: bool) {
        self.state().revoked = revoked;
    }

    /// Sets the answer to requests for the number; `None` answers its state.
    pub fn set_state(&self, answer: Option<(u16, Value)>) {
        self.state().state = answer;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error in the API's form, with the HTTP status of its code.
pub fn graph_error(code: u32, details: &str) -> (u16, Value) {
    let status = match code {
        0 | 190 => 401,
        10 | 200..=299 | 368 | 130_497 | 131_005 | 131_031 => 403,
        3 | 131_000 | 131_016 | 131_045 | 131_057 | 133_000 => 500,
        2 | 133_004 => 503,
        132_001 => 404,
        _ => 400,
    };
    let mut error = json!({
        "message": format!("(#{code}) {details}"),
        "type": "OAuthException",
        "code": code,
        "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
    });
    // General errors of the platform have no details.
    if code >= 1_000 {
        error["error_data"] = json!({"messaging_product": "whatsapp", "details": details});
    }
    (status, json!({ "error": error }))
}

/// A send that answers with an error of the API.
pub fn graph_failure(code: u32, details: &str) -> SendBehaviour {
    let (status, body) = graph_error(code, details);
    SendBehaviour::Error(status, body)
}

impl Gateway for FakeCloud {
    fn answer(&self, request: &FakeRequest) -> Reply {
        let mut state = self.state();
        state.requests += 1;
        if let Err(reply) = state.authorize(request) {
            return reply;
        }
        let segments = request.segments();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (number, account) = (state.number.clone(), state.account.clone());
        match (&*request.method, segments.as_slice()) {
            ("GET", ["file", id]) => state.file(id),
            ("POST", [VERSION, id, "messages"]) if *id == number => state.send(request),
            ("POST", [VERSION, id, "media"]) if *id == number => state.upload(request),
            ("GET", [VERSION, id]) if *id == number => state.number(request),
            ("GET", [VERSION, id, "message_templates"]) if *id == account => {
                state.list_templates(request)
            }
            ("GET", [VERSION, id]) => state.media(request, id),
            _ => {
                state.violation(format!("{} {}", request.method, request.path));
                let (status, body) = graph_error(100, "Unsupported request");
                Reply::json(status, &body)
            }
        }
    }

    fn serves(&self, url: &str) -> bool {
        url.strip_prefix("https://").is_some_and(|rest| {
            rest.strip_prefix(HOST).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

impl State {
    fn violation(&mut self, reported: impl Into<String>) {
        self.violations.push(reported.into());
    }

    /// Every request needs the token, including requests for files.
    fn authorize(&mut self, request: &FakeRequest) -> Result<(), Reply> {
        let expected = format!("Bearer {}", self.token);
        let is_right = request.header("authorization") == Some(&expected);
        if !is_right {
            self.violation("the authorization header is missing or wrong");
        }
        if request.method == "GET" && !request.body.is_empty() {
            self.violation("a GET has a body");
        }
        if is_right && !self.revoked {
            return Ok(());
        }
        let (status, body) = graph_error(190, "Error validating access token");
        Err(Reply::json(status, &body))
    }
}
