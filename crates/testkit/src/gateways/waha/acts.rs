//! Reactions, changes of messages, and what is no message.

use serde_json::{Value, json};

use super::super::{FakeRequest, Reply};
use super::fields::{Field, Form, check, is_message_id, text};
use super::{State, WahaAct, WahaEngine, WahaSent};

/// The fields of every request about a chat.
const CHAT: [Field; 2] = [("session", Form::Filled, true), ("chatId", Form::Chat, true)];

impl State {
    /// Whether the session has a message. Engines without a browser know it by its raw id.
    fn has(&self, id: &str) -> bool {
        let raw = |id: &str| id.split('_').nth(2).map(str::to_owned);
        self.messages
            .iter()
            .filter_map(|message| message["id"].as_str())
            .any(|known| known == id || (self.engine.takes_ids() && raw(known) == raw(id)))
    }

    pub(super) fn react(&mut self, request: &FakeRequest) -> Reply {
        let body = match self.object(request) {
            Ok(body) => body,
            Err(reply) => return reply,
        };
        let fields = [
            ("session", Form::Filled, true),
            ("messageId", Form::MessageId, true),
            ("reaction", Form::Text, true),
        ];
        if let Err(what) = check(&Value::Object(body.clone()), &[&fields]) {
            return self.wrong(400, format!("reaction: {what}"));
        }
        if text(&body, "session") != self.session || !self.is_there {
            return self.no_session();
        }
        if let Some(reply) = self.not_working("WORKING") {
            return reply;
        }
        let id = text(&body, "messageId");
        let order = WahaSent {
            raw_id: self.next_id(),
            is_callers_id: false,
            chat: id.split('_').nth(1).unwrap_or_default().to_owned(),
            text: text(&body, "reaction"),
            route: "reaction".to_owned(),
            body: Value::Object(body),
            file: None,
        };
        self.scripted(order, |state, order| {
            // An engine that drives a browser says nothing, not even that there is no such message.
            if state.engine == WahaEngine::Webjs {
                if state.has(&id) {
                    state.sent.push(order);
                }
                return Reply::bytes(200, Vec::new());
            }
            let message = state.own_message(&order.raw_id, &order.chat, &order.text, "api", 1);
            let answer = state.answer_of(&order, &message);
            state.sent.push(order);
            Reply::json(200, &answer)
        })
    }

    /// Changes a message, or takes it back.
    pub(super) fn change(&mut self, chat: &str, id: &str, request: &FakeRequest) -> Reply {
        if !is_message_id(id) || id.split('_').nth(1) != Some(chat) {
            return self.wrong(500, format!("{id} is not the id of a message in {chat}"));
        }
        let mut act = WahaAct::Revoked { id: id.to_owned() };
        if request.method == "PUT" {
            let body = match self.object(request) {
                Ok(body) => body,
                Err(reply) => return reply,
            };
            let fields = [("text", Form::Filled, true), ("linkPreview", Form::Flag, false)];
            if let Err(what) = check(&Value::Object(body.clone()), &[&fields]) {
                return self.wrong(400, format!("edit: {what}"));
            }
            act = WahaAct::Edited { id: id.to_owned(), text: text(&body, "text") };
        } else if !request.body.is_empty() {
            self.violations.push("a DELETE has a body".to_owned());
        }
        if let Some(reply) = self.not_working("WORKING") {
            return reply;
        }
        let order = WahaSent {
            raw_id: self.next_id(),
            is_callers_id: false,
            chat: chat.to_owned(),
            text: String::new(),
            route: request.method.clone(),
            body: Value::Null,
            file: None,
        };
        let (id, is_edit) = (id.to_owned(), request.method == "PUT");
        self.scripted(order, |state, order| {
            if state.engine == WahaEngine::Webjs {
                let has = state.has(&id);
                if has {
                    state.acts.push(act);
                }
                let answer = if is_edit && has { br#"{"ack": 1}"#.to_vec() } else { Vec::new() };
                return Reply::bytes(200, answer);
            }
            state.acts.push(act);
            let message = state.own_message(&order.raw_id, &order.chat, "", "api", 1);
            Reply::json(200, &state.answer_of(&order, &message))
        })
    }

    /// Marks messages as read, or shows that somebody types, or stops.
    pub(super) fn act(&mut self, route: &str, request: &FakeRequest) -> Reply {
        let body = match self.object(request) {
            Ok(body) => body,
            Err(reply) => return reply,
        };
        let own: &[Field] = match route {
            "sendSeen" => &[("messageIds", Form::List(1, 100), true)],
            _ => &[],
        };
        if let Err(what) = check(&Value::Object(body.clone()), &[&CHAT, own]) {
            return self.wrong(400, format!("{route}: {what}"));
        }
        if text(&body, "session") != self.session || !self.is_there {
            return self.no_session();
        }
        if let Some(reply) = self.not_working("WORKING") {
            return reply;
        }
        let chat = text(&body, "chatId");
        let presence = |state: &str| WahaAct::Presence { chat, state: state.to_owned() };
        let act = match route {
            "startTyping" => presence("typing"),
            "stopTyping" => presence("paused"),
            _ => {
                let ids = body["messageIds"].as_array().into_iter().flatten();
                let ids: Vec<String> =
                    ids.map(|id| id.as_str().unwrap_or_default().to_owned()).collect();
                if let Some(id) = ids.iter().find(|id| !is_message_id(id)) {
                    return self.wrong(500, format!("{id} is not the id of a message"));
                }
                WahaAct::Seen { ids }
            }
        };
        self.acts.push(act);
        match route {
            "sendSeen" => Reply::bytes(201, Vec::new()),
            _ => Reply::json(201, &json!({"result": true})),
        }
    }

    pub(super) fn presence(&mut self, request: &FakeRequest) -> Reply {
        let body = match self.object(request) {
            Ok(body) => body,
            Err(reply) => return reply,
        };
        let fields = [("chatId", Form::Chat, true), ("presence", Form::Filled, true)];
        if let Err(what) = check(&Value::Object(body.clone()), &[&fields]) {
            return self.wrong(400, format!("presence: {what}"));
        }
        let state = text(&body, "presence");
        if !matches!(&*state, "typing" | "recording" | "paused") {
            return self.wrong(500, format!("{state} is no presence in a chat"));
        }
        if let Some(reply) = self.not_working("WORKING") {
            return reply;
        }
        self.acts.push(WahaAct::Presence { chat: text(&body, "chatId"), state });
        Reply::bytes(201, Vec::new())
    }
}
