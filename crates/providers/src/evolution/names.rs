//! The sender and recipient of a message: the gateway's addresses, which differ between four
//! versions of it.

use recado_core::connections::Connection;
use recado_core::contacts::{ChannelKey, Phone, Region};
use recado_core::groups::GroupCode;
use serde_json::Value;

use super::values::filled;
use crate::shared::{digits, text};

/// The gateway's own suffix of groups.
const GROUP: &str = "g.us";

/// The meaning of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChatAddress {
    /// A person: digits of a phone, or a LID with its `@lid`.
    Person(String),
    /// A group: its id without a suffix.
    Group(String),
    /// No person or group: statuses, broadcasts, newsletters, the channel itself.
    Nobody,
}

impl ChatAddress {
    /// Reads an address; `None` if it is not one.
    pub(super) fn parse(written: &str) -> Option<Self> {
        let Some((user, server)) = written.split_once('@') else {
            return person(written).map(Self::Person);
        };
        // The name may be followed by a device of the person.
        let name = user.split(':').next().unwrap_or(user);
        match server {
            "s.whatsapp.net" | "c.us" | "hosted" if name == "0" => Some(Self::Nobody),
            "s.whatsapp.net" | "c.us" | "hosted" => person(name).map(Self::Person),
            "lid" | "hosted.lid" => person(name).map(|name| Self::Person(format!("{name}@lid"))),
            GROUP if !user.is_empty() => Some(Self::Group(user.to_owned())),
            "broadcast" | "newsletter" | "bot" | "call" => Some(Self::Nobody),
            _ => None,
        }
    }
}

fn person(name: &str) -> Option<String> {
    digits(name).filter(|name| name.len() <= 20).map(str::to_owned)
}

/// Whether two names are one person's: the same, or the two forms of one Brazilian mobile.
pub(super) fn same_person(one: &str, other: &str) -> bool {
    match (ChannelKey::parse(one), ChannelKey::parse(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// The last eight digits of an address without its device and server, in reverse order.
fn last_digits(name: &str) -> Vec<u8> {
    let user = name.split(['@', ':']).next().unwrap_or(name);
    user.bytes().rev().filter(u8::is_ascii_digit).take(8).collect()
}

/// The installation's suffix of group codes, and the connection's own number.
#[derive(Clone, Copy)]
pub(super) struct InstanceNames<'a> {
    suffix: &'a str,
    own: &'a str,
}

/// The conversation that a message belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chat {
    /// The other side: digits, a LID, or a group code.
    pub(super) peer: String,
    /// Other names of the same person.
    pub(super) aliases: Vec<String>,
    /// The group's participant who wrote it.
    pub(super) participant: Option<String>,
}

impl<'a> InstanceNames<'a> {
    /// Names with the installation's suffix of group codes.
    pub(super) fn new(suffix: &'a str, connection: &'a Connection) -> Self {
        Self { suffix, own: &connection.identifier }
    }

    /// The code of a group by its id or its whole address at the gateway.
    pub(super) fn group(&self, id: &str) -> Option<GroupCode> {
        let id = id.strip_suffix("@g.us").unwrap_or(id);
        GroupCode::parse(&format!("{id}@{}", self.suffix), self.suffix)
    }

    /// Whether this is the code of a group.
    pub(super) fn is_group(&self, peer: &str) -> bool {
        GroupCode::parse(peer, self.suffix).is_some()
    }

    /// A group's address at the gateway.
    pub(super) fn group_address(&self, code: &GroupCode) -> String {
        let code = code.as_str();
        let id = code.strip_suffix(self.suffix).and_then(|id| id.strip_suffix('@'));
        format!("{}@{GROUP}", id.unwrap_or(code))
    }

    /// The gateway's address of a person or group that the core knows by this name.
    pub(super) fn jid(&self, name: &str) -> String {
        if let Some(code) = GroupCode::parse(name, self.suffix) {
            return self.group_address(&code);
        }
        match ChatAddress::parse(name) {
            Some(ChatAddress::Person(name)) if !name.contains('@') => {
                format!("{name}@s.whatsapp.net")
            }
            Some(ChatAddress::Person(name)) => name,
            Some(ChatAddress::Group(_) | ChatAddress::Nobody) | None => name.to_owned(),
        }
    }

    /// Whether this is the connection's own number, which may be stored in any notation.
    pub(super) fn is_own(&self, name: &str) -> bool {
        // Most names have other last digits, and need not be parsed.
        last_digits(name) == last_digits(self.own)
            && match Phone::parse(self.own, &Region::br()) {
                Ok(phone) => same_person(name, phone.digits()),
                Err(_) => same_person(name, self.own),
            }
    }

    /// The conversation of a message, by its key and the record around it; `Ok(None)` for one
    /// without another person or group, such as notes to oneself.
    ///
    /// # Errors
    ///
    /// Why the key names no conversation.
    pub(super) fn chat(&self, record: &Value) -> Result<Option<Chat>, String> {
        Ok(self.any_chat(record)?.filter(|chat| !self.is_own(&chat.peer)))
    }

    /// The same, including the conversation with oneself, as a message may be sent to the own
    /// number.
    pub(super) fn any_chat(&self, record: &Value) -> Result<Option<Chat>, String> {
        let key = record.get("key").ok_or("it has no key")?;
        let written = filled(key, "remoteJid").ok_or("its key has no remoteJid")?;
        match ChatAddress::parse(written).ok_or("its remoteJid is no address")? {
            ChatAddress::Nobody => Ok(None),
            ChatAddress::Group(id) => {
                let code = self.group(&id).ok_or("its remoteJid is no group code")?;
                let peer = code.as_str().to_owned();
                let participant = is_incoming(key).then(|| participant(record, key)).flatten();
                Ok(Some(Chat { peer, aliases: Vec::new(), participant }))
            }
            ChatAddress::Person(first) => {
                let mut names = vec![first];
                let others = ["remoteJidAlt", "previousRemoteJid"].iter();
                // The sender of an own message is the own number.
                let sender: &[&str] =
                    if is_incoming(key) { &["senderPn", "senderLid"] } else { &[] };
                let found = others.chain(sender).filter_map(|name| person_in(record, key, name));
                for name in found {
                    if !names.contains(&name) && !self.is_own(&name) {
                        names.push(name);
                    }
                }
                let peer = names.remove(phone_first(&names));
                Ok(Some(Chat { peer, aliases: names, participant: None }))
            }
        }
    }

    /// The channel's name for the recipient of a message, by the message's key, and other names.
    pub(super) fn recipient(&self, record: &Value) -> (Option<String>, Vec<String>) {
        match self.any_chat(record) {
            Ok(Some(chat)) if GroupCode::parse(&chat.peer, self.suffix).is_none() => {
                (Some(chat.peer), chat.aliases)
            }
            _ => (None, Vec::new()),
        }
    }
}

/// Whether a message was not sent by the own number, by its key.
pub(super) fn is_incoming(key: &Value) -> bool {
    key.get("fromMe").and_then(Value::as_bool) != Some(true)
}

/// The sender of a group's message: the phone if it is given.
fn participant(record: &Value, key: &Value) -> Option<String> {
    let fields = ["participant", "participantAlt", "participantPn", "senderPn"];
    let names: Vec<String> =
        fields.iter().filter_map(|name| person_in(record, key, name)).collect();
    names.get(phone_first(&names)).cloned()
}

/// A person named by a field of the key, or, in some versions, of the record.
fn person_in(record: &Value, key: &Value, field: &str) -> Option<String> {
    [key, record].iter().find_map(|location| match ChatAddress::parse(text(location, field)?)? {
        ChatAddress::Person(name) => Some(name),
        ChatAddress::Group(_) | ChatAddress::Nobody => None,
    })
}

/// The index of the first phone among names, or else of the first name.
fn phone_first(names: &[String]) -> usize {
    names.iter().position(|name| digits(name).is_some()).unwrap_or(0)
}
