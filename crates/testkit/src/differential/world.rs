//! The records that a run of commands has made so far.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::command::{Command, Verb};
use super::rows;

/// The known records, taken from the model's answers.
#[derive(Debug, Default)]
pub(super) struct World {
    /// The ids of each kind of record, including deleted records.
    pub(super) ids: BTreeMap<&'static str, Vec<String>>,
    /// The codes of links.
    pub(super) codes: Vec<String>,
    /// An export under way: its parameters and its cursor.
    pub(super) export: Option<(Vec<(String, String)>, String)>,
}

impl World {
    /// Remembers what a command made.
    pub(super) fn learn(&mut self, command: &Command, answer: &Value) {
        let kind = match command.verb {
            Verb::CreateContact | Verb::ImportContact => "contact",
            Verb::CreateList => "list",
            Verb::CreateTag => "tag",
            Verb::CreateReason => "reason",
            Verb::CreateMember => "member",
            Verb::CreateField => "field",
            Verb::CreatePipeline => "pipeline",
            Verb::CreateDeal => "deal",
            Verb::CreateLink => "link",
            Verb::Attach => "document",
            Verb::CreateConnection => "connection",
            Verb::CreateTemplate => "template",
            Verb::CreateWebhook => "webhook",
            Verb::TestWebhook => "delivery",
            Verb::Debit => "debit",
            Verb::ImportMessage => "message",
            Verb::Send => return self.learn_sent(&answer["ok"]),
            Verb::Reply | Verb::ReplyTemplate | Verb::AiTurn => {
                answer["ok"].as_array().into_iter().flatten().for_each(|one| self.learn_sent(one));
                return;
            }
            Verb::Receive => return self.learn_received(&answer["ok"]),
            Verb::ListDeliveries => {
                for item in answer["ok"]["items"].as_array().into_iter().flatten() {
                    self.remember("delivery", &item["id"]);
                }
                return;
            }
            Verb::InsertRow | Verb::InsertReach => return self.learn_row(answer),
            Verb::Export => {
                let cursor = answer["ok"]["next_cursor"].as_str();
                let params = serde_json::from_value(answer["ok"]["params"].clone()).ok();
                self.export = params.zip(cursor.map(str::to_owned));
                return;
            }
            _ => return,
        };
        let made = &answer["ok"];
        if let Some(id) = made["id"].as_str() {
            self.ids.entry(kind).or_default().push(id.to_owned());
        }
        if let Some(code) = made["code"].as_str() {
            self.codes.push(code.to_owned());
        }
        for stage in made["stages"].as_array().into_iter().flatten() {
            if let Some(id) = stage["id"].as_str() {
                self.ids.entry("stage").or_default().push(id.to_owned());
            }
        }
        let organization = made["organization_id"].as_str();
        if let Some(id) = organization {
            self.ids.entry("organization").or_default().push(id.to_owned());
        }
    }

    fn remember(&mut self, kind: &'static str, id: &Value) {
        if let Some(id) = id.as_str() {
            let known = self.ids.entry(kind).or_default();
            if !known.iter().any(|known| known == id) {
                known.push(id.to_owned());
            }
        }
    }

    /// Remembers a message that was sent, and to whom.
    fn learn_sent(&mut self, sent: &Value) {
        for name in ["message_id", "id"] {
            self.remember("message", &sent[name]);
            self.remember("outbound", &sent[name]);
        }
        self.remember("contact", &sent["contact_id"]);
    }

    /// Remembers the messages that events made.
    fn learn_received(&mut self, results: &Value) {
        for result in results.as_array().into_iter().flatten() {
            self.remember("message", &result["message_id"]);
        }
    }

    /// Remembers a stored row.
    fn learn_row(&mut self, answer: &Value) {
        let kind = answer["kind"].as_str().unwrap_or_default();
        let known = rows::KINDS.iter().chain(rows::REACH_KINDS).find(|known| **known == kind);
        if let (Some(kind), Some(id), Some("applied")) =
            (known, answer["id"].as_str(), answer["outcome"].as_str())
        {
            self.ids.entry(kind).or_default().push(id.to_owned());
        }
    }

    /// An id of this kind. Sometimes it is one that no record has.
    pub(super) fn id(&self, kind: &str, command: &Command, n: usize) -> String {
        let known = self.ids.get(kind).map(Vec::as_slice).unwrap_or_default();
        match known.get(command.number(n) % (known.len() + 1 + known.len() / 8)) {
            Some(id) => id.clone(),
            None => Uuid::from_u128(0xdead).to_string(),
        }
    }

    pub(super) fn ids_of(
        &self,
        kind: &str,
        command: &Command,
        n: usize,
        most: usize,
    ) -> Vec<String> {
        (0..command.number(n) % (most + 1)).map(|i| self.id(kind, command, n + 1 + i)).collect()
    }
}
