//! Groups and communities (D64): each engine tells of them in its own words.

use std::collections::HashMap;

use recado_core::connections::Connection;
use recado_core::gateway::ProviderError;
use recado_core::groups::Group;
use recado_core::transport::Transport;
use serde_json::Value;

use super::address::{Address, code_of};
use super::api::{Api, ask};
use super::known::Known;
use super::own::Own;
use super::{session, text};
use crate::shared::{boolean, text as text_of, text_at};

/// How many groups one answer holds at most.
const PAGE: usize = 100;
/// How many answers are read at most.
const MAX_PAGES: usize = 100;
/// How much of one answer is read: groups come with their members.
const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// All groups that the connection's number is in.
pub(super) async fn groups(
    transport: &dyn Transport,
    known: &Known,
    connection: &Connection,
    suffix: &str,
) -> Result<Vec<Group>, ProviderError> {
    let api = Api::of(connection);
    let session = session::look(transport, known, connection, api.timeout).await?;
    let own = Own::of(connection, session.me.as_ref());
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for page in 0..MAX_PAGES {
        let (limit, offset) = (PAGE.to_string(), (page * PAGE).to_string());
        let parameters = [("limit", limit.as_str()), ("offset", offset.as_str())];
        let request = api.get(&[api.session, "groups"], &parameters).with_answer_limit(MAX_ANSWER);
        let told = ask(transport, request).await?;
        let entries = entries(&told).ok_or_else(unreadable)?;
        let before = groups.len();
        for entry in &entries {
            let group = read(entry, &own, suffix).ok_or_else(unreadable)?;
            match places.get(group.code.as_str()) {
                Some(place) => groups[*place] = group,
                None => {
                    places.insert(group.code.as_str().to_owned(), groups.len());
                    groups.push(group);
                }
            }
        }
        // Not every engine minds the bounds: then the first answer holds everything.
        if entries.len() != PAGE || groups.len() == before {
            return Ok(groups);
        }
    }
    Err(ProviderError::Failed("there are more groups than are read".to_owned()))
}

/// What is read replaces what was known: a part of the groups would delete the others.
fn unreadable() -> ProviderError {
    ProviderError::Failed("the groups cannot be read".to_owned())
}

/// The entries of an answer: a list, or an object that names each by its group.
fn entries(told: &Value) -> Option<Vec<&Value>> {
    let is_group = |name: &String| matches!(Address::parse(name), Some(Address::Group(_)));
    match told {
        Value::Array(entries) => Some(entries.iter().collect()),
        Value::Object(entries) => entries.keys().all(is_group).then(|| entries.values().collect()),
        _ => None,
    }
}

/// Reads a group of any engine; `None` for what is none.
fn read(entry: &Value, own: &Own, suffix: &str) -> Option<Group> {
    let id = address_of(entry, &["id", "JID"])?;
    let metadata = entry.get("groupMetadata").filter(|metadata| metadata.is_object());
    let flag = |names: &[&str]| {
        let holds = |place: &Value| names.iter().any(|name| boolean(place, name) == Some(true));
        holds(entry) || metadata.is_some_and(holds)
    };
    let subject = ["subject", "Name", "name", "formattedTitle"]
        .into_iter()
        .find_map(|name| text_of(entry, name))
        .or_else(|| text_of(metadata?, "subject"))
        .and_then(text::short);
    let parent = ["linkedParent", "LinkedParentJID", "parentGroup"];
    let parent = address_of(entry, &parent).or_else(|| address_of(metadata?, &parent));
    Some(Group {
        subject,
        is_community: flag(&["isCommunity", "IsParent", "isParentGroup"]),
        is_announcement: flag(&["isCommunityAnnounce", "IsDefaultSubGroup", "defaultSubgroup"]),
        announce_only: flag(&["announce", "IsAnnounce"]),
        is_admin: is_admin(entry, own) || metadata.is_some_and(|inner| is_admin(inner, own)),
        community_code: parent.map(|parent| code_of(&parent, suffix)),
        ..Group::met(code_of(&id, suffix))
    })
}

/// The id of a group in one of these fields: a text, or an object that holds one.
fn address_of(entry: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let field = entry.get(name)?;
        let written = field.as_str().or_else(|| text_of(field, "_serialized"))?;
        match Address::parse(written)? {
            Address::Group(id) => Some(id),
            Address::Person(_) | Address::Nobody => None,
        }
    })
}

/// Whether the own number is among the administrators of a group.
fn is_admin(entry: &Value, own: &Own) -> bool {
    let members = ["participants", "Participants"]
        .into_iter()
        .find_map(|name| entry.get(name).and_then(Value::as_array));
    members.is_some_and(|members| {
        members.iter().any(|member| administers(member) && is_own(member, own))
    })
}

fn administers(member: &Value) -> bool {
    let flag = |name| boolean(member, name) == Some(true);
    let role = ["admin", "role", "rank"].into_iter().find_map(|name| text_of(member, name));
    role.is_some_and(|role| matches!(role, "admin" | "superadmin"))
        || ["isAdmin", "isSuperAdmin", "IsAdmin", "IsSuperAdmin", "admin"].into_iter().any(flag)
}

fn is_own(member: &Value, own: &Own) -> bool {
    let plain = ["id", "jid", "lid", "pn", "phoneNumber", "JID", "LID", "PhoneNumber"];
    let texts = plain.into_iter().filter_map(|name| text_of(member, name));
    let written = texts.chain(text_at(member, &["id", "_serialized"]));
    written.into_iter().any(|name| own.has(name))
}
