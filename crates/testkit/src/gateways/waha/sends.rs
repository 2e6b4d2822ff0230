//! The requests that send messages.

use serde_json::{Map, Value, json};

use super::super::{AnswerMode, FakeRequest, Reply, SendBehaviour};
use super::answering::error;
use super::fields::{Field, Form, bytes, check, text};
use super::{State, WahaEngine, WahaSent};

/// The operations.
pub(super) const ROUTES: [&str; 11] = [
    "sendText",
    "sendImage",
    "sendFile",
    "sendVoice",
    "sendVideo",
    "sendSticker",
    "sendButtons",
    "sendList",
    "sendPoll",
    "sendLocation",
    "sendContactVcard",
];
/// The largest body, in bytes.
const MAX_BODY: usize = 50 * 1024 * 1024;
const ALL: [Field; 2] = [("session", Form::Filled, true), ("chatId", Form::Chat, true)];
const ID: [Field; 1] = [("id", Form::Filled, false)];
const QUOTE: [Field; 1] = [("reply_to", Form::MessageId, false)];
const CAPTION: [Field; 1] = [("caption", Form::Text, false)];
const FILE: [Field; 1] = [("file", Form::File, true)];
const CONVERT: [Field; 1] = [("convert", Form::Flag, true)];

/// The fields of an operation.
fn fields(route: &str) -> Vec<&'static [Field]> {
    let own: &[&'static [Field]] = match route {
        "sendText" => &[&ID, &QUOTE, &[("text", Form::Filled, true)]],
        "sendImage" | "sendFile" => &[&ID, &QUOTE, &FILE, &CAPTION],
        "sendVideo" => &[&ID, &QUOTE, &FILE, &[("caption", Form::Text, true)], &CONVERT],
        "sendVoice" => &[&ID, &QUOTE, &FILE, &CONVERT],
        "sendSticker" => &[&ID, &QUOTE, &FILE],
        "sendButtons" => &[&[
            ("header", Form::Text, false),
            ("headerImage", Form::File, false),
            ("body", Form::Text, false),
            ("footer", Form::Text, false),
            ("buttons", Form::List(1, 4), true),
        ]],
        "sendList" => &[&QUOTE, &[("message", Form::Object, true)]],
        "sendPoll" => &[&ID, &QUOTE, &[("poll", Form::Object, true)]],
        "sendContactVcard" => &[&ID, &QUOTE, &[("contacts", Form::List(1, 10), true)]],
        _ => &[
            &ID,
            &QUOTE,
            &[
                ("latitude", Form::Number, true),
                ("longitude", Form::Number, true),
                ("title", Form::Filled, false),
            ],
        ],
    };
    [&[&ALL[..]], own].concat()
}

/// Checks what is within the fields.
fn check_inner(body: &Map<String, Value>) -> Result<(), String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for button in body.get("buttons").map(list).unwrap_or_default() {
        let own: &[Field] = match button["type"].as_str() {
            Some("reply") => &[("id", Form::Filled, true)],
            Some("url") => &[("url", Form::Filled, true)],
            other => return Err(format!("{other:?} is no type of a button")),
        };
        check(&button, &[own, &[("type", Form::Filled, true), ("text", Form::Filled, true)]])?;
    }
    for contact in body.get("contacts").map(list).unwrap_or_default() {
        let required = ["fullName", "phoneNumber", "vcard"].map(|name| (name, Form::Filled, true));
        let others = ["whatsappId", "organization"].map(|name| (name, Form::Filled, false));
        check(&contact, &[&required, &others])?;
        let vcard = contact["vcard"].as_str().unwrap_or_default();
        if !(vcard.starts_with("BEGIN:VCARD\n") && vcard.ends_with("\nEND:VCARD")) {
            return Err("vcard is no card".to_owned());
        }
    }
    if let Some(poll) = body.get("poll") {
        let fields = [
            ("name", Form::Filled, true),
            ("options", Form::List(2, 12), true),
            ("multipleAnswers", Form::Flag, true),
        ];
        check(poll, &[&fields])?;
    }
    if let Some(message) = body.get("message") {
        let fields = [
            ("title", Form::Filled, true),
            ("description", Form::Text, false),
            ("footer", Form::Text, false),
            ("button", Form::Filled, true),
            ("sections", Form::List(1, 10), true),
        ];
        check(message, &[&fields])?;
        for section in list(&message["sections"]) {
            let rows = ("rows", Form::List(1, 10), true);
            check(&section, &[&[("title", Form::Filled, true), rows]])?;
            for row in list(&section["rows"]) {
                let required = ["title", "rowId"].map(|name| (name, Form::Filled, true));
                check(&row, &[&required, &[("description", Form::Text, false)]])?;
            }
        }
    }
    Ok(())
}

impl State {
    /// The body of a request, which has to be an object; the answer if it is not.
    pub(super) fn object(&mut self, request: &FakeRequest) -> Result<Map<String, Value>, Reply> {
        let json_type =
            request.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
        if !json_type {
            self.violations.push("a body that is not said to be JSON".to_owned());
        }
        match request.json() {
            Some(Value::Object(body)) => Ok(body),
            _ => Err(self.wrong(400, "the body is no object".to_owned())),
        }
    }

    pub(super) fn send(&mut self, route: &str, request: &FakeRequest) -> Reply {
        if route == "sendSticker" && !self.has_stickers {
            return error(404, "Cannot POST /api/sendSticker");
        }
        if request.body.len() > MAX_BODY {
            let exception =
                json!({"message": "request entity too large", "name": "PayloadTooLargeError"});
            return Reply::json(500, &json!({"statusCode": 500, "exception": exception}));
        }
        let body = match self.object(request) {
            Ok(body) => body,
            Err(reply) => return reply,
        };
        let order = match self.read_order(route, body) {
            Ok(order) => order,
            Err(what) => return self.wrong(400, format!("{route}: {what}")),
        };
        if order.body["session"].as_str() != Some(&self.session) || !self.is_there {
            return self.no_session();
        }
        if let Some(reply) = self.not_working("WORKING").or_else(|| self.lacks(&order)) {
            return reply;
        }
        let answers = |state: &mut Self, order| {
            let answer = state.take(order);
            Reply::json(201, &answer)
        };
        self.scripted(order, answers)
    }

    /// The answer where the engine cannot send this.
    fn lacks(&self, order: &WahaSent) -> Option<Reply> {
        let able = match &*order.route {
            "sendButtons" => self.engine == WahaEngine::Noweb,
            "sendList" => self.engine != WahaEngine::Webjs,
            _ => true,
        };
        if !able {
            let engine = self.engine.name();
            let text = format!("The method is not implemented by '{engine}' engine.");
            return Some(error(501, &text));
        }
        let in_group = order.route == "sendList" && order.chat.ends_with("@g.us");
        let text = "List message can only be sent to a direct message chat.";
        in_group.then(|| error(422, text))
    }

    /// Handles a send as the script says; `accept` accepts it. The script applies to sends that
    /// are otherwise valid.
    pub(super) fn scripted(
        &mut self,
        order: WahaSent,
        accept: impl FnOnce(&mut Self, WahaSent) -> Reply,
    ) -> Reply {
        let behaviour = self.script.next_send();
        match &behaviour {
            SendBehaviour::Error(status, body) => return Reply::json(*status, body),
            SendBehaviour::Broken(status) => return Reply::bytes(*status, b"<html>".to_vec()),
            SendBehaviour::Refuse => return Reply::refused(),
            _ => {}
        }
        let reply = accept(self, order);
        match behaviour {
            SendBehaviour::AcceptThenDrop => reply.with_mode(AnswerMode::Drop),
            SendBehaviour::AcceptLate(wait) => reply.with_mode(AnswerMode::Late(wait)),
            SendBehaviour::AcceptWithoutId => Reply::json(201, &json!({})),
            SendBehaviour::AcceptThenError(status, body) => Reply::json(status, &body),
            _ => reply,
        }
    }

    fn read_order(&mut self, route: &str, body: Map<String, Value>) -> Result<WahaSent, String> {
        let mut body = Value::Object(body);
        check(&body, &fields(route))?;
        let object = body.as_object_mut().ok_or("it is no object")?;
        check_inner(object)?;
        let mut file = None;
        for name in ["file", "headerImage"] {
            if let Some(attached) = object.get_mut(name) {
                file = Some(bytes(attached)?);
                attached["data"] = Value::Null;
            }
        }
        let id = text(object, "id");
        let chosen = (!id.is_empty()).then_some(id);
        if let Some(id) = &chosen {
            self.check_id(id)?;
        }
        let shown = if object.contains_key("text") { "text" } else { "caption" };
        let (chat, shown) = (text(object, "chatId"), text(object, shown));
        let is_callers_id = chosen.is_some();
        let raw_id = chosen.unwrap_or_else(|| self.next_id());
        let route = route.to_owned();
        Ok(WahaSent { raw_id, is_callers_id, chat, text: shown, route, body, file })
    }

    fn check_id(&mut self, id: &str) -> Result<(), String> {
        if !self.engine.takes_ids() {
            return Err("this engine takes no id".to_owned());
        }
        let is_hex = id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
        if !is_hex || id.len() < 16 {
            return Err("id is not one of a message".to_owned());
        }
        if self.sent.iter().any(|sent| sent.raw_id == *id) {
            self.violations.push("an id is sent twice".to_owned());
        }
        Ok(())
    }

    /// Accepts a message; answers in the engine's form.
    fn take(&mut self, order: WahaSent) -> Value {
        let message = self.own_message_of(&order);
        self.messages.push(message.clone());
        let answer = self.answer_of(&order, &message);
        self.sent.push(order);
        answer
    }
}
