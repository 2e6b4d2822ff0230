//! Sends of other kinds than text, and what is done about messages. Every field is checked, as the
//! gateway's own schemas do, and strictly: a field that they do not know is an error.

use serde_json::{Map, Value, json};

use super::requests::failure;
use super::{EvolutionSent, FakeRequest, Reply, State};

/// What is wrong with a body, as the gateway would answer.
type Checked = Result<(), String>;

/// A check of one field.
type Check = fn(&Value) -> bool;

/// A field: its name, whether it has to be there, and its check.
type Field = (&'static str, bool, Check);

fn is_text(value: &Value) -> bool {
    value.is_string()
}

fn is_filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn is_file(value: &Value) -> bool {
    let is_base64 =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    value.as_str().is_some_and(|text| !text.is_empty() && text.len() % 4 == 0 && is_base64(text))
}

fn is_number(value: &Value) -> bool {
    value.is_number()
}

/// The key of a message with what names it.
fn is_key(value: &Value) -> bool {
    let Some(key) = value.as_object() else { return false };
    let known = ["id", "remoteJid", "fromMe", "participant"];
    key.keys().all(|name| known.contains(&name.as_str()))
        && key.get("id").is_some_and(is_filled)
        && key.get("remoteJid").and_then(Value::as_str).is_some_and(|jid| jid.contains('@'))
        && key.get("fromMe").is_some_and(Value::is_boolean)
}

fn is_quote(value: &Value) -> bool {
    value.as_object().is_some_and(|quote| {
        quote.len() == 2
            && quote.get("key").is_some_and(is_key)
            && quote.get("message").is_some_and(Value::is_object)
    })
}

/// A media type that the gateway has an operation for.
fn is_media_type(value: &Value) -> bool {
    matches!(value.as_str(), Some("image" | "document" | "video" | "audio"))
}

/// An array whose entries all are objects that hold these fields and no others.
fn entries(value: &Value, least: usize, most: usize, fields: &[Field]) -> bool {
    let Some(all) = value.as_array() else { return false };
    let fits = |entry: &Value| entry.as_object().is_some_and(|one| check(one, fields).is_ok());
    (least..=most).contains(&all.len()) && all.iter().all(fits)
}

fn is_cards(value: &Value) -> bool {
    let is_phone: Check = |value| value.as_str().is_some_and(|phone| phone.len() >= 10);
    entries(
        value,
        1,
        usize::MAX,
        &[
            ("fullName", true, is_filled),
            ("wuid", false, is_phone),
            ("phoneNumber", true, is_phone),
            ("organization", false, is_text),
            ("email", false, is_text),
        ],
    )
}

fn is_options(value: &Value) -> bool {
    let Some(all) = value.as_array() else { return false };
    (2..=10).contains(&all.len()) && all.iter().all(is_filled)
}

fn is_selectable(value: &Value) -> bool {
    value.as_u64().is_some_and(|count| count <= 10)
}

fn is_rows(value: &Value) -> bool {
    let fields: &[Field] =
        &[("title", true, is_filled), ("rowId", true, is_filled), ("description", true, is_filled)];
    entries(value, 1, usize::MAX, fields)
}

fn is_sections(value: &Value) -> bool {
    entries(value, 1, usize::MAX, &[("title", true, is_filled), ("rows", true, is_rows)])
}

fn is_buttons(value: &Value) -> bool {
    let replies: &[Field] = &[
        ("type", true, |kind| kind == "reply"),
        ("displayText", true, is_filled),
        ("id", true, is_filled),
    ];
    let pages: &[Field] = &[
        ("type", true, |kind| kind == "url"),
        ("displayText", true, is_filled),
        ("url", true, is_filled),
    ];
    entries(value, 1, 3, replies) || entries(value, 1, 1, pages)
}

/// An emoji, as the gateway recognizes one.
fn is_emoji(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.chars().any(|c| !c.is_ascii() && !c.is_alphanumeric()))
}

fn check(body: &Map<String, Value>, fields: &[Field]) -> Checked {
    for (name, is_needed, fits) in fields {
        match body.get(*name) {
            None if *is_needed => return Err(format!("instance requires property \"{name}\"")),
            Some(value) if !fits(value) => return Err(format!("instance.{name} is none")),
            _ => {}
        }
    }
    let known = |name: &String| fields.iter().any(|(field, ..)| field == name);
    match body.keys().find(|name| !known(name)) {
        Some(name) => Err(format!("instance has an unknown property {name:?}")),
        None => Ok(()),
    }
}

/// The fields of each operation that sends, beside the number and the quote, and the text that
/// stands for it in the history.
fn operation(name: &str) -> Option<(&'static [Field], &'static str)> {
    Some(match name {
        "sendMedia" => (
            &[
                ("mediatype", true, is_media_type),
                ("mimetype", true, is_filled),
                ("media", true, is_file),
                ("fileName", false, is_filled),
                ("caption", false, is_text),
            ],
            "caption",
        ),
        "sendWhatsAppAudio" => {
            (&[("audio", true, is_file), ("encoding", true, |value| value == false)], "")
        }
        "sendSticker" => (&[("sticker", true, is_file)], ""),
        "sendLocation" => (
            &[
                ("latitude", true, is_number),
                ("longitude", true, is_number),
                ("name", true, is_text),
                ("address", true, is_text),
            ],
            "name",
        ),
        "sendContact" => (&[("contact", true, is_cards)], ""),
        "sendPoll" => (
            &[
                ("name", true, is_filled),
                ("selectableCount", true, is_selectable),
                ("values", true, is_options),
            ],
            "name",
        ),
        "sendButtons" => (
            &[
                ("title", true, is_filled),
                ("description", false, is_text),
                ("footer", false, is_text),
                ("buttons", true, is_buttons),
            ],
            "title",
        ),
        "sendList" => (
            &[
                ("title", true, is_filled),
                ("description", false, is_text),
                ("footerText", true, is_text),
                ("buttonText", true, is_filled),
                ("sections", true, is_sections),
            ],
            "title",
        ),
        _ => return None,
    })
}

impl State {
    /// A send of another kind than text; `None` if the operation is none.
    pub(super) fn send_kind(&mut self, name: &str, request: &FakeRequest) -> Option<Reply> {
        if name == "sendReaction" {
            return Some(self.send_reaction(request));
        }
        let (fields, shown) = operation(name)?;
        let known: Vec<&str> = fields.iter().map(|(field, ..)| *field).collect();
        let body = match self.body(request, &[&known[..], &["number", "quoted"]].concat()) {
            Ok(body) => body,
            Err(reply) => return Some(reply),
        };
        let mut own = body.clone();
        own.remove("number");
        let quote = own.remove("quoted");
        if quote.is_some_and(|quote| !is_quote(&quote)) {
            return Some(self.invalid("instance.quoted is none"));
        }
        if let Err(what) = check(&own, fields) {
            return Some(self.invalid(&what));
        }
        let text = body.get(shown).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.orders.push((name.to_owned(), Value::Object(body.clone())));
        Some(self.addressed(name, body, &text))
    }

    fn send_reaction(&mut self, request: &FakeRequest) -> Reply {
        let body = match self.body(request, &["key", "reaction"]) {
            Ok(body) => body,
            Err(reply) => return reply,
        };
        let fields: &[Field] = &[("key", true, is_key), ("reaction", true, is_text)];
        if let Err(what) = check(&body, fields) {
            return self.invalid(&what);
        }
        if !is_emoji(&body["reaction"]) {
            return self.wrong(
                "a reaction that is none",
                400,
                json!(["\"reaction\" must be an emoji"]),
            );
        }
        self.orders.push(("sendReaction".to_owned(), Value::Object(body.clone())));
        let jid = body["key"]["remoteJid"].as_str().unwrap_or_default().to_owned();
        let text = body["reaction"].as_str().unwrap_or_default().to_owned();
        self.act(EvolutionSent {
            id: String::new(),
            number: jid.clone(),
            remote_jid: jid,
            text,
            operation: "sendReaction".to_owned(),
            body: Value::Object(body),
            file: None,
        })
    }

    /// What is done about a message, or shown; `None` if the operation is none.
    pub(super) fn mark(
        &mut self,
        method: &str,
        name: &str,
        request: &FakeRequest,
    ) -> Option<Reply> {
        let fields: &[Field] = match (method, name) {
            ("POST", "updateMessage") => {
                &[("number", true, is_filled), ("key", true, is_key), ("text", true, is_filled)]
            }
            ("POST", "markMessageAsRead") => &[("readMessages", true, |value| {
                value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_key))
            })],
            ("POST", "sendPresence") => &[
                ("number", true, is_filled),
                ("delay", true, is_number),
                ("presence", true, |value| {
                    matches!(value.as_str(), Some("composing" | "recording" | "paused"))
                }),
            ],
            ("DELETE", "deleteMessageForEveryone") => &[
                ("id", true, is_filled),
                ("remoteJid", true, is_filled),
                ("fromMe", true, |value| value == true),
                ("participant", false, is_filled),
            ],
            _ => return None,
        };
        let known: Vec<&str> = fields.iter().map(|(field, ..)| *field).collect();
        let body = match self.body(request, &known) {
            Ok(body) => body,
            Err(reply) => return Some(reply),
        };
        if let Err(what) = check(&body, fields) {
            return Some(self.invalid(&what));
        }
        self.marks.push((name.to_owned(), Value::Object(body)));
        Some(match self.refuses_marks {
            true => failure(400, json!(["Message not compatible"])),
            false => Reply::json(201, &json!({"message": "Done"})),
        })
    }
}
