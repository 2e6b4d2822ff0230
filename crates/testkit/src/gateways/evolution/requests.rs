//! Checks every part of a request and answers it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recado_core::Timestamp;
use serde_json::{Map, Value, json};

use super::people::{canonical, jid};
use super::{
    API_KEY, EvolutionSent, EvolutionVersion, FakeEvolution, FakeRequest, INSTANCE, PairingAnswer,
    Reply, SendBehaviour, State,
};
use crate::gateways::AnswerMode;

/// The most rows in one answer.
const MAX_PAGE: i64 = 1_000;

impl State {
    pub(super) fn answer(&mut self, request: &FakeRequest) -> Reply {
        self.requests += 1;
        let prefix = self.base.split_once("://").map_or("", |(_, rest)| rest);
        let prefix = prefix.find('/').map_or("", |start| &prefix[start..]);
        let Some(path) = request.path.strip_prefix(prefix) else {
            return self.wrong("another path", 404, json!([format!("Cannot {}", request.method)]));
        };
        let inner = FakeRequest { path: path.to_owned(), ..request.clone() };
        let segments = inner.segments();
        let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
        let [area, operation, instance] = parts.as_slice() else {
            return self.wrong("another path", 404, json!([format!("Cannot {}", request.method)]));
        };
        if !self.is_licensed {
            return Reply::json(
                503,
                &json!({"error": "service not activated",
                "code": "LICENSE_REQUIRED", "register_url": "https://license.example",
                "instance_id": "uuid", "docs_url": "https://docs.example",
                "message": "activate the service"}),
            );
        }
        // The gateway checks that the instance exists before it checks the key.
        if *instance != INSTANCE || !self.exists {
            let text = format!("The \"{instance}\" instance does not exist");
            return failure(404, json!([text]));
        }
        if request.header("apikey") != Some(API_KEY) {
            return failure(401, json!("Unauthorized"));
        }
        if *area == "message"
            && request.method == "POST"
            && let Some(reply) = self.send_kind(operation, &inner)
        {
            return reply;
        }
        if *area == "chat"
            && let Some(reply) = self.mark(&request.method, operation, &inner)
        {
            return reply;
        }
        match (request.method.as_str(), *area, *operation) {
            ("POST", "message", "sendText") => self.send_text(&inner),
            ("POST", "chat", "findMessages") => self.find_messages(&inner),
            ("POST", "chat", "getBase64FromMediaMessage") => self.file(&inner),
            ("GET", "instance", "connectionState") => self.connection_state(&inner),
            ("GET", "instance", "connect") => self.connect(&inner),
            ("GET", "group", "fetchAllGroups") => self.all_groups(&inner),
            ("GET", "group", "participants") => self.participants(&inner),
            _ => {
                let text = format!("Cannot {} {}", request.method, request.path);
                self.wrong(&text.clone(), 404, json!([text]))
            }
        }
    }

    /// Records an error in a request, and answers it.
    pub(super) fn wrong(&mut self, what: &str, status: u16, message: Value) -> Reply {
        self.violations.push(what.to_owned());
        failure(status, message)
    }

    pub(super) fn invalid(&mut self, what: &str) -> Reply {
        self.wrong(what, 400, json!([[what]]))
    }

    /// The body of a POST: it must be declared as JSON and be an object with no fields but these.
    pub(super) fn body(
        &mut self,
        request: &FakeRequest,
        known: &[&str],
    ) -> Result<Map<String, Value>, Reply> {
        if !request.query.is_empty() {
            return Err(self.invalid("a query"));
        }
        if request.header("content-type") != Some("application/json") {
            return Err(self.invalid("not said to be JSON"));
        }
        let Some(Value::Object(body)) = request.json() else {
            return Err(self.invalid("instance is not of a type(s) object"));
        };
        match body.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(self.invalid(&format!("instance has an unknown property {name:?}"))),
            None => Ok(body),
        }
    }

    fn bare_get(&mut self, request: &FakeRequest) -> Result<(), Reply> {
        if request.body.is_empty() { Ok(()) } else { Err(self.invalid("a GET with a body")) }
    }

    fn send_text(&mut self, request: &FakeRequest) -> Reply {
        let body = match self.body(request, &["number", "text", "quoted"]) {
            Ok(body) => body,
            Err(reply) => return reply,
        };
        let field =
            |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let Some(text) = field("text").map(str::to_owned) else {
            return self.invalid("instance requires property \"text\"");
        };
        self.orders.push(("sendText".to_owned(), Value::Object(body.clone())));
        self.addressed("sendText", body, &text)
    }

    /// A send to the number in the body.
    pub(super) fn addressed(
        &mut self,
        operation: &str,
        body: Map<String, Value>,
        text: &str,
    ) -> Reply {
        let number = body.get("number").and_then(Value::as_str).filter(|text| !text.is_empty());
        let Some(number) = number.map(str::to_owned) else {
            return self.invalid("instance requires property \"number\"");
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let remote = if number.ends_with("@g.us") {
            if !self.groups.iter().any(|group| group["id"] == json!(number)) {
                return failure(400, json!("Group not found"));
            }
            number.clone()
        } else if let Some(user) = number.strip_suffix("@lid") {
            if !digits(user) {
                return self.invalid("a LID that is none");
            }
            let known = self.lids.iter().find(|(_, lid)| **lid == number);
            known.map_or_else(|| number.clone(), |(phone, _)| jid(phone))
        } else if digits(&number) && number.len() < 18 {
            jid(&number)
        } else {
            return self.invalid("a number that is none");
        };
        if self.absent.contains(&canonical(&number)) {
            let reported = json!([{"jid": remote, "exists": false, "number": number}]);
            return failure(400, reported);
        }
        self.act(EvolutionSent {
            id: String::new(),
            number,
            remote_jid: remote,
            text: text.to_owned(),
            operation: operation.to_owned(),
            body: Value::Object(body),
            file: None,
        })
    }

    /// Handles a send as the script says.
    pub(super) fn act(&mut self, order: EvolutionSent) -> Reply {
        let behaviour = self.script.next_send();
        let refuses = matches!(
            behaviour,
            SendBehaviour::Error(..) | SendBehaviour::Broken(_) | SendBehaviour::Refuse
        );
        let record = if refuses { Value::Null } else { self.take(order) };
        let accepted = Reply::json(201, &record);
        match behaviour {
            SendBehaviour::Accept => accepted,
            SendBehaviour::AcceptThenDrop => accepted.with_mode(AnswerMode::Drop),
            SendBehaviour::AcceptLate(wait) => accepted.with_mode(AnswerMode::Late(wait)),
            SendBehaviour::AcceptWithoutId => {
                Reply::json(200, &json!({"error": true, "message": "no answer from the phone"}))
            }
            SendBehaviour::AcceptThenError(status, body) | SendBehaviour::Error(status, body) => {
                Reply::json(status, &body)
            }
            SendBehaviour::Broken(status) => Reply::bytes(status, b"<html>oops</html>".to_vec()),
            SendBehaviour::Refuse => Reply::refused(),
        }
    }

    /// Sends a message, and keeps it.
    fn take(&mut self, mut order: EvolutionSent) -> Value {
        order.id = self.next_id("3EB0", 16);
        for name in ["media", "audio", "sticker"] {
            if let Some(data) = order.body.get_mut(name).map(Value::take) {
                let bytes = data.as_str().and_then(|data| STANDARD.decode(data).ok());
                order.file = Some(bytes.unwrap_or_default());
            }
        }
        let record = self.record_of(&order);
        self.sent.push(order);
        self.keep(&record);
        record
    }

    /// Keeps a message in the history, if messages are kept.
    pub(super) fn keep(&mut self, record: &Value) {
        if !self.keeps {
            return;
        }
        self.made += 1;
        let mut row = record.clone();
        if let Some(fields) = row.as_object_mut() {
            fields.remove("status");
            fields.insert("id".to_owned(), json!(format!("row{}", self.made)));
            fields.insert("MessageUpdate".to_owned(), json!([]));
        }
        self.rows.push(row);
    }

    fn find_messages(&mut self, request: &FakeRequest) -> Reply {
        let body = match self.body(request, &["where", "page", "offset"]) {
            Ok(body) => body,
            Err(reply) => return reply,
        };
        let number = |name: &str| body.get(name).and_then(Value::as_i64);
        let (Some(page @ 1..), Some(size @ 1..=MAX_PAGE)) = (number("page"), number("offset"))
        else {
            return self.invalid("a page that is none");
        };
        let Some(filter) = body.get("where").and_then(Value::as_object) else {
            return self.invalid("a filter that is none");
        };
        if filter.keys().any(|name| name != "key" && name != "messageTimestamp") {
            return self.invalid("a filter by something else");
        }
        let bound = |name: &str| {
            let text = filter.get("messageTimestamp")?.get(name)?.as_str()?;
            Some(Timestamp::parse(text)?.millis().div_euclid(1_000))
        };
        let (Some(from), Some(to)) = (bound("gte"), bound("lte")) else {
            return self.invalid("a filter without both times");
        };
        // Stricter than the gateway: another implementation of this API may need the key.
        let key = filter.get("key").and_then(Value::as_object);
        let chat = match key.map(|key| (key.len(), key.get("remoteJid").and_then(Value::as_str))) {
            Some((0, None)) => None,
            Some((1, Some(chat))) if chat.contains('@') => Some(chat.to_owned()),
            _ => return self.invalid("a filter by a key that is none"),
        };
        let ignores_chat = self.version == EvolutionVersion::V2_3_7;
        let fits = |row: &&Value| {
            let at = row["messageTimestamp"].as_i64().unwrap_or(0);
            let here = chat.as_ref().is_none_or(|chat| {
                let key = &row["key"];
                key["remoteJid"].as_str() == Some(chat)
            });
            (from..=to).contains(&at) && (here || ignores_chat)
        };
        let mut rows: Vec<&Value> = self.rows.iter().filter(fits).collect();
        // Newest first. Of the same second, the message that was kept later comes first.
        rows.reverse();
        rows.sort_by_key(|row| std::cmp::Reverse(row["messageTimestamp"].as_i64().unwrap_or(0)));
        let (size, skip) = (usize::try_from(size), usize::try_from((page - 1) * size));
        let (size, skip) = (size.unwrap_or(1), skip.unwrap_or(0));
        let records: Vec<&Value> = rows.iter().skip(skip).take(size).copied().collect();
        Reply::json(
            200,
            &json!({"messages": {"total": rows.len(),
            "pages": rows.len().div_ceil(size), "currentPage": page, "records": records}}),
        )
    }

    fn file(&mut self, request: &FakeRequest) -> Reply {
        let body = match self.body(request, &["message", "convertToMp4"]) {
            Ok(body) => Value::Object(body),
            Err(reply) => return reply,
        };
        if !body["convertToMp4"].is_boolean() {
            return self.invalid("convertToMp4 is not of a type(s) boolean");
        }
        let Some(id) = body["message"]["key"]["id"].as_str() else {
            return self.invalid("instance.message requires property \"key\"");
        };
        match self.files.get(id) {
            Some(bytes) => Reply::json(
                201,
                &json!({"mediaType": "imageMessage",
                "fileName": format!("{id}.jpeg"), "size": {"fileLength": bytes.len().to_string()},
                "mimetype": "image/jpeg", "base64": STANDARD.encode(bytes), "buffer": null}),
            ),
            None => failure(400, json!(["Message not found"])),
        }
    }

    fn connection_state(&mut self, request: &FakeRequest) -> Reply {
        if let Err(reply) = self.bare_get(request) {
            return reply;
        }
        let state = self.state;
        Reply::json(200, &json!({"instance": {"instanceName": INSTANCE, "state": state}}))
    }

    fn connect(&mut self, request: &FakeRequest) -> Reply {
        if let Err(reply) = self.bare_get(request) {
            return reply;
        }
        if self.state == "open" {
            let instance = json!({"instanceName": INSTANCE, "state": "open"});
            return Reply::json(200, &json!({ "instance": instance }));
        }
        self.codes += 1;
        let code = match self.pairing {
            PairingAnswer::Code => {
                self.state = "connecting";
                let picture = STANDARD.encode(super::picture(self.codes));
                json!({"pairingCode": null, "code": format!("2@{}", self.codes),
                    "base64": format!("data:image/png;base64,{picture}"), "count": self.codes})
            }
            PairingAnswer::NoneYet => json!({"pairingCode": null, "count": 0}),
            PairingAnswer::Failing => json!({"error": true, "message": "Error: Timed Out"}),
            PairingAnswer::LimitReached => {
                json!({"error": true, "message": "QR code limit reached, please login again"})
            }
        };
        Reply::json(200, &code)
    }

    fn all_groups(&mut self, request: &FakeRequest) -> Reply {
        if let Err(reply) = self.bare_get(request) {
            return reply;
        }
        let wanted = request.parameter("getParticipants");
        let with_participants = match wanted {
            Some("true") => true,
            Some("false") => false,
            _ => return self.invalid("The getParticipants needs to be informed in the query"),
        };
        let mut groups = self.groups.clone();
        if !with_participants || !self.lists_participants {
            for fields in groups.iter_mut().filter_map(Value::as_object_mut) {
                fields.remove("participants");
            }
        }
        Reply::json(200, &Value::Array(groups))
    }

    fn participants(&mut self, request: &FakeRequest) -> Reply {
        if let Err(reply) = self.bare_get(request) {
            return reply;
        }
        let Some(jid) = request.parameter("groupJid").map(str::to_owned) else {
            return self.invalid("The group id needs to be informed in the query");
        };
        let group = self.groups.iter().find(|group| group["id"].as_str() == Some(&jid));
        match group.and_then(|group| group.get("participants")) {
            Some(members) => Reply::json(200, &json!({ "participants": members })),
            None => failure(404, json!("Group not found")),
        }
    }
}

pub(super) fn failure(status: u16, message: Value) -> Reply {
    Reply::json(status, &FakeEvolution::error(status, &message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_instance_is_missed_before_the_key_is_looked_at() {
        let fake = FakeEvolution::new();
        let ask = |path: &str| {
            let request = FakeRequest::new("GET", path, Vec::new(), Vec::new());
            crate::gateways::Gateway::answer(&fake, &request).status
        };
        assert_eq!(ask("/instance/connectionState/other"), 404);
        assert_eq!(ask("/instance/connectionState/loja1"), 401);
    }

    #[test]
    fn a_wrong_request_is_a_violation() {
        let fake = FakeEvolution::new();
        let headers = vec![
            ("apikey".to_owned(), API_KEY.to_owned()),
            ("content-type".to_owned(), "application/json".to_owned()),
        ];
        let send = |body: Value| {
            let body = body.to_string().into_bytes();
            let target = "/message/sendText/loja1";
            let request = FakeRequest::new("POST", target, headers.clone(), body);
            crate::gateways::Gateway::answer(&fake, &request).status
        };
        assert_eq!(send(json!({"number": "5511987654321", "text": "Oi"})), 201);
        assert!(fake.violations().is_empty());
        for body in [
            json!({"number": "5511987654321", "text": "Oi", "delay": 5}),
            json!({"number": "x", "text": "Oi"}),
            json!({"number": "123456789012345678", "text": "Oi"}),
            json!({"number": "5511987654321", "text": ""}),
            json!([]),
        ] {
            assert_eq!(send(body), 400);
        }
        assert_eq!((fake.violations().len(), fake.accepted().len()), (5, 1));
    }
}
