//! What the channel notes in a chat: calls, new numbers, new keys (X1).

use recado_core::messages::{SystemKind, SystemNotice};
use serde_json::Value;

use super::address::ChatAddress;
use super::content::{MessageContent, Said};
use crate::shared::stub::{Stub, stub};
use crate::shared::{array, at, call_log, text as text_of};

/// The notice about a person in an engine's own data.
pub(super) fn of(data: &Value) -> Option<Said> {
    match (text_of(data, "type"), text_of(data, "subtype")) {
        (Some("e2e_notification"), Some("identity")) => {
            let notice = SystemNotice::new(SystemKind::IdentityChanged);
            Some(Said::Content(Box::new(MessageContent::notice(notice))))
        }
        (Some("notification_template"), Some("change_number")) => {
            let to = person(data.get("to"));
            let names = array(data, "templateParams").iter();
            let from =
                names.filter_map(|name| person(Some(name))).find(|name| to != Some(name.clone()));
            Some(number_changed(from, to))
        }
        (Some("gp2"), Some("modify")) => {
            let new = person(array(data, "recipients").first());
            new_name(person(data.get("author")), new)
        }
        _ => match stub(data)? {
            Stub::NumberChanged(to) => {
                let mut from = ["participant", "remoteJid"].iter();
                let from = from.find_map(|name| person(at(data, &["key", name])));
                Some(number_changed(from, to.as_deref().and_then(ChatAddress::person)))
            }
            Stub::MemberNumberChanged(to) => {
                let from = person(at(data, &["key", "participant"]));
                let from = from.or_else(|| person(data.get("participant")));
                new_name(from, to.as_deref().and_then(ChatAddress::person))
            }
            Stub::Notice(notice) => Some(Said::Content(Box::new(MessageContent::notice(notice)))),
            _ => None,
        },
    }
}

/// A person in any engine's form.
fn person(written: Option<&Value>) -> Option<String> {
    let written = written?;
    ChatAddress::person(written.as_str().or_else(|| text_of(written, "_serialized"))?)
}

/// The person of the chat has a new number.
fn number_changed(from: Option<String>, to: Option<String>) -> Said {
    let notice =
        SystemNotice::new(SystemKind::NumberChanged { from: from.clone(), to: to.clone() });
    let mut said = MessageContent::notice(notice);
    said.names = from.into_iter().chain(to).collect();
    Said::Content(Box::new(said))
}

/// A member of a group has a new number, which is no line of a chat.
fn new_name(from: Option<String>, to: Option<String>) -> Option<Said> {
    Some(from.zip(to).map_or(Said::Nothing, |(from, to)| Said::NewName(from, to)))
}

/// The note of a call.
pub(super) fn call(payload: &Value, proto: Option<&Value>) -> Option<SystemNotice> {
    let data = payload.get("_data")?;
    let of_channel = proto.and_then(|proto| at(proto, &["callLogMesssage"]));
    let in_browser = || (text_of(data, "type") == Some("call_log")).then_some(data);
    if let Some(log) = of_channel.or_else(in_browser) {
        return Some(SystemNotice::new(call_log(log)));
    }
    match stub(data)? {
        Stub::Notice(notice @ SystemNotice { kind: SystemKind::MissedCall { .. }, .. }) => {
            Some(notice)
        }
        _ => None,
    }
}
