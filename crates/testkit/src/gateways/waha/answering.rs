//! Checks requests and answers them.

use serde_json::{Value, json};

use super::super::{FakeRequest, Reply};
use super::{State, WahaEngine, sends};

/// The PNG of every QR code: its signature, as base64.
const PNG: &str = "iVBORw0KGgo=";

pub(super) fn error(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({"statusCode": status, "message": message}))
}

impl State {
    pub(super) fn answer(&mut self, request: &FakeRequest) -> Reply {
        let prefix = self.prefix.clone();
        let Some(path) = request.path.strip_prefix(&prefix) else {
            return self.wrong(404, format!("{} is not beneath {prefix}", request.path));
        };
        match request.header("x-api-key") {
            None => return self.wrong(401, "there is not one X-Api-Key".to_owned()),
            Some(key) if key != self.api_key => return error(401, "Unauthorized"),
            Some(_) => {}
        }
        let below = FakeRequest { path: path.to_owned(), ..request.clone() };
        let segments = below.segments();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let session = self.session.clone();
        match (request.method.as_str(), segments.as_slice()) {
            ("GET", ["api", "sessions", named]) => self.session_info(named, request),
            ("POST", ["api", "sessions", named, "start"]) => self.start(named, request),
            ("GET", ["api", "contacts", "check-exists"]) => self.check_exists(request),
            ("POST", ["api", route]) if sends::ROUTES.contains(route) => self.send(route, request),
            ("POST", ["api", route @ ("sendSeen" | "startTyping" | "stopTyping")]) => {
                self.act(route, request)
            }
            ("POST", ["api", named, "presence"]) if *named == session => self.presence(request),
            ("PUT", ["api", "reaction"]) => self.react(request),
            ("PUT" | "DELETE", ["api", named, "chats", chat, "messages", id])
                if *named == session =>
            {
                self.change(chat, id, request)
            }
            ("GET", ["api", "files", name @ ..]) => match self.files.get(&name.join("/")) {
                Some(bytes) => Reply::bytes(200, bytes.clone()),
                None => error(404, "Not Found"),
            },
            ("GET", ["api", named, rest @ ..]) if *named == session => {
                self.of_session(rest, request)
            }
            ("GET", ["api", _, "auth" | "groups" | "chats" | "lids" | "new-message-id", ..]) => {
                self.no_session()
            }
            _ => self.wrong(404, format!("{} {path} is no route", request.method)),
        }
    }

    fn of_session(&mut self, path: &[&str], request: &FakeRequest) -> Reply {
        if !self.is_there {
            return self.no_session();
        }
        match path {
            ["auth", "qr"] => self.qr(request),
            ["groups"] => self.group_list(request),
            ["groups", group, "participants", "v2"] => self.members(group, request),
            ["lids", lid] => self.phone_of(lid, request),
            ["new-message-id"] => self.new_id(request),
            ["chats", chat, "messages"] => self.message_list(chat, request),
            ["chats", chat, "messages", id] => self.message(chat, id, request),
            _ => self.wrong(404, format!("{path:?} is no route of a session")),
        }
    }

    /// Records and refuses a request that the real gateway would refuse and no adapter should make.
    pub(super) fn wrong(&mut self, status: u16, what: String) -> Reply {
        let reply = error(status, &what);
        self.violations.push(what);
        reply
    }

    pub(super) fn no_session(&self) -> Reply {
        error(404, "We didn't find a session with this name")
    }

    /// The answer if the session does not work.
    pub(super) fn not_working(&self, expected: &str) -> Option<Reply> {
        (self.status != expected).then(|| {
            let text = "Session status is not as expected. Try again later or restart the session";
            let body = json!({"error": text, "session": self.session, "status": self.status,
                "expected": [expected]});
            Reply::json(422, &body)
        })
    }

    /// Records parameters that the route does not have, or that occur twice.
    fn check_query(&mut self, request: &FakeRequest, known: &[&str]) {
        for (name, _) in &request.query {
            if !known.contains(&name.as_str()) || request.parameter(name).is_none() {
                self.violations.push(format!("the parameter {name} is not known, or comes twice"));
            }
        }
        if !request.body.is_empty() {
            self.violations.push("a GET has a body".to_owned());
        }
    }

    fn session_info(&mut self, named: &str, request: &FakeRequest) -> Reply {
        self.check_query(request, &[]);
        if !self.is_there || named != self.session {
            return error(404, "Session not found");
        }
        let me = json!({"id": self.me.0, "lid": self.me.1, "pushName": "Loja"});
        let is_paired = self.status == "WORKING";
        let info = json!({"name": self.session, "status": self.status, "config": {},
            "me": if is_paired { me } else { Value::Null },
            "engine": if self.reports_engine { json!({"engine": self.engine.name()}) } else { json!({}) },
            "presence": null,
            "timestamps": {"activity": self.now.millis()}});
        Reply::json(200, &info)
    }

    fn start(&mut self, named: &str, request: &FakeRequest) -> Reply {
        if request.json().is_none() {
            self.violations.push("the body of start is no JSON".to_owned());
        }
        if !self.is_there || named != self.session {
            return error(404, "Session not found");
        }
        if matches!(self.status.as_str(), "STOPPED" | "FAILED") {
            self.status = "STARTING".to_owned();
        }
        Reply::json(201, &json!({"name": self.session, "status": self.status}))
    }

    fn qr(&mut self, request: &FakeRequest) -> Reply {
        self.check_query(request, &["format"]);
        if let Some(reply) = self.not_working("SCAN_QR_CODE") {
            return reply;
        }
        match request.parameter("format") {
            Some("raw") => Reply::json(200, &json!({"value": "2@pairing,code"})),
            None if request.header("accept") == Some("application/json") => {
                Reply::json(200, &json!({"mimetype": "image/png", "data": PNG}))
            }
            None => Reply::bytes(200, b"\x89PNG\r\n\x1a\n".to_vec()),
            Some(_) => self.wrong(400, "format is not raw".to_owned()),
        }
    }

    fn check_exists(&mut self, request: &FakeRequest) -> Reply {
        self.check_query(request, &["phone", "session"]);
        if request.parameter("session") != Some(&self.session) || !self.is_there {
            return self.no_session();
        }
        let Some(phone) = request.parameter("phone").map(str::to_owned) else {
            return self.wrong(400, "phone is missing".to_owned());
        };
        if phone.is_empty() || !phone.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.wrong(400, "phone is not in digits".to_owned());
        }
        if let Some(reply) = self.not_working("WORKING") {
            return reply;
        }
        match self.numbers.get(&phone).cloned().unwrap_or(Some(phone)) {
            Some(written) => {
                let chat = format!("{written}@c.us");
                Reply::json(200, &json!({"numberExists": true, "chatId": chat}))
            }
            None => Reply::json(200, &json!({"numberExists": false})),
        }
    }

    fn members(&mut self, id: &str, request: &FakeRequest) -> Reply {
        self.check_query(request, &[]);
        let Some(group) = self.groups.iter().find(|group| group.id == id) else {
            return error(404, "Group not found");
        };
        let role = if group.is_admin { "admin" } else { "participant" };
        Reply::json(
            200,
            &json!([{"id": "9@lid", "pn": null, "role": "superadmin"},
                {"id": self.me.1, "pn": self.me.0, "role": role}]),
        )
    }

    fn new_id(&mut self, request: &FakeRequest) -> Reply {
        self.check_query(request, &[]);
        if !self.engine.takes_ids() {
            return error(422, "The method is not implemented by the engine.");
        }
        let id = self.next_id();
        Reply::json(200, &json!({ "id": id }))
    }

    fn phone_of(&mut self, lid: &str, request: &FakeRequest) -> Reply {
        self.check_query(request, &[]);
        let is_lid = lid.strip_suffix("@lid").is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        });
        if !is_lid {
            return self.wrong(400, format!("{lid} is no LID"));
        }
        if let Some(reply) = self.not_working("WORKING") {
            return reply;
        }
        let known = self.lids.iter().find(|(_, known)| *known == lid);
        let phone = known.map(|(digits, _)| format!("{digits}@c.us"));
        Reply::json(200, &json!({"lid": lid, "pn": phone}))
    }

    fn group_list(&mut self, request: &FakeRequest) -> Reply {
        self.check_query(request, &["limit", "offset", "exclude", "sortBy", "sortOrder"]);
        if let Some(reply) = self.not_working("WORKING") {
            return reply;
        }
        let entries = self.groups.iter().map(|group| self.group_of(group));
        if self.engine == WahaEngine::Noweb {
            let names = self.groups.iter().map(|group| group.id.clone());
            return Reply::json(200, &Value::Object(names.zip(entries).collect()));
        }
        let number = |name: &str| request.parameter(name)?.parse::<usize>().ok();
        let (limit, offset) =
            (number("limit").unwrap_or(usize::MAX), number("offset").unwrap_or(0));
        let page: Vec<Value> = entries.skip(offset).take(limit).collect();
        Reply::json(200, &Value::Array(page))
    }

    fn message_list(&mut self, chat: &str, request: &FakeRequest) -> Reply {
        let known = [
            "limit",
            "offset",
            "downloadMedia",
            "sortBy",
            "sortOrder",
            "filter.timestamp.gte",
            "filter.timestamp.lte",
            "filter.fromMe",
            "filter.ack",
        ];
        self.check_query(request, &known);
        let Some(limit) = request.parameter("limit").and_then(|n| n.parse::<usize>().ok()) else {
            return self.wrong(400, "limit is missing".to_owned());
        };
        if let Some(reply) = self.not_working("WORKING") {
            return reply;
        }
        if chat == "all" && self.engine == WahaEngine::Webjs {
            return error(422, "'all' is not supported by this engine");
        }
        let number = |name: &str| request.parameter(name)?.parse::<i64>().ok();
        let (gte, lte) = (number("filter.timestamp.gte"), number("filter.timestamp.lte"));
        let from_me = request.parameter("filter.fromMe").map(|flag| flag == "true");
        let offset = number("offset").and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let mut found: Vec<&Value> = self
            .messages
            .iter()
            .filter(|message| {
                let at = message["timestamp"].as_i64().unwrap_or_default();
                let of_chat =
                    || message["id"].as_str().is_some_and(|id| id.split('_').nth(1) == Some(chat));
                (chat == "all" || of_chat())
                    && gte.is_none_or(|gte| at >= gte)
                    && lte.is_none_or(|lte| at <= lte)
                    && from_me.is_none_or(|own| message["fromMe"] == own)
            })
            .collect();
        found.sort_by_key(|message| message["timestamp"].as_i64());
        if request.parameter("sortOrder") != Some("asc") {
            found.reverse();
        }
        let page: Vec<Value> = found.into_iter().skip(offset).take(limit).cloned().collect();
        Reply::json(200, &Value::Array(page))
    }

    fn message(&mut self, chat: &str, id: &str, request: &FakeRequest) -> Reply {
        self.check_query(request, &["downloadMedia"]);
        if let Some(reply) = self.not_working("WORKING") {
            return reply;
        }
        if chat == "all" && !self.engine.takes_ids() {
            return error(422, "'all' is not supported by this engine");
        }
        let downloads = request.parameter("downloadMedia") != Some("false");
        let found = self.messages.iter().find(|message| {
            let full = message["id"].as_str().unwrap_or_default();
            let parts: Vec<&str> = full.split('_').collect();
            let is_chat = chat == "all" || parts.get(1) == Some(&chat);
            is_chat && (full == id || (chat == "all" && parts.get(2) == Some(&id)))
        });
        match found {
            Some(message) => {
                let mut message = message.clone();
                let full = message["id"].as_str().unwrap_or_default();
                if let (true, Some(media)) = (downloads, self.attached.get(full)) {
                    message["hasMedia"] = true.into();
                    message["media"] = media.clone();
                }
                Reply::json(200, &message)
            }
            None => error(404, "Message not found"),
        }
    }
}
