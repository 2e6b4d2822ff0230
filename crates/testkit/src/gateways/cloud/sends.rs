//! Answers sends.

use std::collections::BTreeSet;

use recado_core::ids::MessageId;
use recado_core::templates::positions;
use serde_json::{Value, json};

use super::check::{self, Media, ReadMark, UsedTemplate, ValidSend};
use super::{AcceptedSend, State, UploadedFile, graph_error};
use crate::gateways::{AnswerMode, FakeRequest, Reply, SendBehaviour};

fn failure(code: u32, details: &str) -> Reply {
    let (status, body) = graph_error(code, details);
    Reply::json(status, &body)
}

impl State {
    /// A send: it is checked, then the script decides its outcome.
    pub(super) fn send(&mut self, request: &FakeRequest) -> Reply {
        let kind = request.header("content-type").unwrap_or_default();
        if kind.split(';').next() != Some("application/json") {
            self.violation("the content type is not JSON");
        }
        if !request.query.is_empty() {
            self.violation("a send has a query");
        }
        let Some(body) = request.json() else {
            self.violation("a send has no JSON body");
            return failure(100, "Invalid parameter");
        };
        if let Some(mark) = check::read_mark(&body) {
            return self.mark(mark);
        }
        let checked = match check::body(&body) {
            Ok(checked) => checked,
            Err(reason) => {
                let reported = failure(100, &reason);
                self.violation(reason);
                return reported;
            }
        };
        let media = match checked.said.media.as_ref().map(|named| self.named(named)).transpose() {
            Ok(media) => media,
            Err(reply) => return reply,
        };
        let behaviour = self.script.next_send();
        match behaviour {
            SendBehaviour::Refuse => return Reply::refused(),
            SendBehaviour::Error(status, body) => return Reply::json(status, &body),
            SendBehaviour::Broken(status) => {
                return Reply::bytes(status, b"<html>Service Unavailable</html>".to_vec());
            }
            _ => {}
        }
        if let Some(reply) =
            checked.said.template.as_ref().and_then(|used| self.refuse_template(used))
        {
            return reply;
        }
        let answer = self.take(&checked, media, body);
        match behaviour {
            SendBehaviour::AcceptThenDrop => Reply::json(200, &answer).with_mode(AnswerMode::Drop),
            SendBehaviour::AcceptLate(wait) => {
                Reply::json(200, &answer).with_mode(AnswerMode::Late(wait))
            }
            SendBehaviour::AcceptWithoutId => {
                Reply::json(200, &json!({"messaging_product": "whatsapp", "messages": []}))
            }
            SendBehaviour::AcceptThenError(status, body) => Reply::json(status, &body),
            _ => Reply::json(200, &answer),
        }
    }

    /// The error of a template, if the account has templates.
    fn refuse_template(&self, used: &UsedTemplate) -> Option<Reply> {
        if self.templates.is_empty() {
            return None;
        }
        let known = self.templates.iter().find(|template| {
            template["name"] == *used.name && template["language"] == *used.language
        });
        let Some(known) = known else {
            return Some(failure(132_001, "template name does not exist in the translation"));
        };
        match known["status"].as_str() {
            Some("APPROVED") => {}
            Some("PAUSED") => return Some(failure(132_015, "template is paused")),
            Some("DISABLED") => return Some(failure(132_016, "template is disabled")),
            _ => return Some(failure(132_001, "template is not approved")),
        }
        let parts = known["components"].as_array()?.iter();
        let body =
            parts.filter(|part| part["type"] == "BODY").find_map(|part| part["text"].as_str());
        let wanted: BTreeSet<u32> = positions(body?);
        let fits = wanted.len() == used.variables;
        (!fits).then(|| failure(132_000, "number of localizable_params does not match"))
    }

    /// The file that a message names: one that was uploaded, and fits what it is sent as.
    fn named(&mut self, named: &Media) -> Result<UploadedFile, Reply> {
        let file = self.uploaded.iter().find(|file| file.id == named.id).cloned();
        let reason = match &file {
            None => format!("nobody uploaded {}", named.id),
            Some(file) if !file.may_be(&named.kind) => {
                format!("{} is sent as {}", file.mimetype, named.kind)
            }
            Some(file) if named.is_voice && file.mimetype != "audio/ogg" => {
                format!("{} is no voice note", file.mimetype)
            }
            Some(file) => return Ok(file.clone()),
        };
        let reply = failure(131_009, &reason);
        self.violation(reason);
        Err(reply)
    }

    /// A mark that a message was read, perhaps with a sign that somebody types.
    fn mark(&mut self, mark: Result<ReadMark, String>) -> Reply {
        let mark = match mark {
            Ok(mark) => mark,
            Err(reason) => {
                let reported = failure(100, &reason);
                self.violation(reason);
                return reported;
            }
        };
        match self.marks_script.next_send() {
            SendBehaviour::Accept => {}
            SendBehaviour::Error(status, body) => return Reply::json(status, &body),
            SendBehaviour::Refuse => return Reply::refused(),
            SendBehaviour::Broken(status) => return Reply::bytes(status, Vec::new()),
            other => panic!("{other:?} is no way to take a mark"),
        }
        self.read.push(mark.message.clone());
        if mark.types {
            self.typed.push(mark.message);
        }
        Reply::json(200, &json!({"success": true}))
    }

    fn take(&mut self, checked: &ValidSend, media: Option<UploadedFile>, body: Value) -> Value {
        let id = format!("wamid.{}-{:06}", self.number, self.accepted.len() + 1);
        let wa_id = if checked.is_scoped { checked.to.clone() } else { wa_id(&checked.to) };
        let name = if checked.is_scoped { "user_id" } else { "wa_id" };
        let reference = body["biz_opaque_callback_data"].as_str().and_then(MessageId::parse);
        self.accepted.push(AcceptedSend {
            id: id.clone(),
            to: checked.to.clone(),
            wa_id: wa_id.clone(),
            reference,
            kind: checked.kind.clone(),
            text: checked.said.text.clone(),
            media,
            body,
        });
        let mut message = json!({ "id": id });
        if checked.said.template.is_some() {
            message["message_status"] = json!("accepted");
        }
        json!({
            "messaging_product": "whatsapp",
            "contacts": [{"input": checked.to, name: wa_id}],
            "messages": [message],
        })
    }
}

/// The channel's id of a phone: Brazilian mobile numbers with area codes from 31 on have no ninth
/// digit, Mexican numbers have a 1 and Argentine ones a 9 behind the country code.
fn wa_id(to: &str) -> String {
    let digits = to.trim_start_matches('+');
    match (digits.len(), digits.split_at_checked(2)) {
        (12, Some(("52", national))) => return format!("521{national}"),
        (12, Some(("54", national))) => return format!("549{national}"),
        _ => {}
    }
    let parts = digits.get(..2).zip(digits.get(2..4)).zip(digits.get(4..5)).zip(digits.get(5..));
    match parts {
        Some(((("55", area), "9"), rest)) if rest.len() == 8 && area >= "31" => {
            format!("55{area}{rest}")
        }
        _ => digits.to_owned(),
    }
}
