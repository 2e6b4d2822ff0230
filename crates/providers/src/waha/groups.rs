//! Groups and communities (D64), in the forms of all engines.

use std::collections::HashMap;

use recado_core::connections::Connection;
use recado_core::gateway::ProviderError;
use recado_core::groups::{Group, GroupCode, GroupList};
use recado_core::transport::Transport;
use serde_json::Value;

use super::address::{ChatAddress, GROUPS, code_of};
use super::api::{Api, ask};
use super::known::{Engine, SessionCache};
use super::own::Own;
use super::{session, text};
use crate::shared::{boolean, text as text_of, text_at};

/// How many groups one answer holds at most.
const PAGE: usize = 100;
/// How many answers are read at most.
const MAX_PAGES: usize = 100;
/// For how many groups one sync requests whether the own number is an administrator.
const MAX_QUESTIONS: usize = 20;
/// How much of one answer is read: it contains the members of groups.
const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// All groups that the connection's number is in.
pub(super) async fn groups(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    suffix: &str,
) -> Result<GroupList, ProviderError> {
    let api = Api::of(connection);
    let own = session::own(transport, known, connection).await?;
    let mut questions = MAX_QUESTIONS;
    let mut without_role: Vec<GroupCode> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut indexes: HashMap<String, usize> = HashMap::new();
    for page in 0..MAX_PAGES {
        let (limit, offset) = (PAGE.to_string(), (page * PAGE).to_string());
        let parameters = [("limit", limit.as_str()), ("offset", offset.as_str())];
        let request = api.get(&[api.session, "groups"], &parameters).with_answer_limit(MAX_ANSWER);
        let reported = ask(transport, request).await?;
        let entries = entries(&reported).ok_or_else(unreadable)?;
        let before = groups.len();
        for (named, entry) in &entries {
            let ParsedGroup { id, mut group, is_member } =
                read(*named, entry, &own, suffix).ok_or_else(unreadable)?;
            let matters = group.announce_only || group.is_announcement;
            let mut role = is_member.then_some(group.is_admin);
            if matters && role.is_none() && questions > 0 {
                questions -= 1;
                role = administers_it(transport, &api, &id, &own).await;
                if role.is_none() {
                    // It would not answer for other groups either.
                    questions = 0;
                }
            }
            match role {
                Some(is_admin) => group.is_admin = is_admin,
                None => without_role.push(group.code.clone()),
            }
            match indexes.get(group.code.as_str()) {
                Some(index) => groups[*index] = group,
                None => {
                    indexes.insert(group.code.as_str().to_owned(), groups.len());
                    groups.push(group);
                }
            }
        }
        // Not every engine applies limit and offset: then the first answer contains everything.
        if entries.len() != PAGE || groups.len() == before {
            // NOWEB also answers an empty list after it failed to fetch the groups.
            let doubtful =
                matches!(known.engine(connection), Some(Engine::Noweb | Engine::TakesIds) | None);
            let is_whole = !(entries.is_empty() && doubtful);
            return Ok(GroupList { is_whole, without_role, ..GroupList::from(groups) });
        }
    }
    Err(ProviderError::Failed("there are more groups than are read".to_owned()))
}

/// A complete list replaces the stored groups, so a part of it would delete the others.
fn unreadable() -> ProviderError {
    ProviderError::Failed("the groups cannot be read".to_owned())
}

/// The entries of an answer, with the keys of the object they are in: a list, or an object by
/// groups' ids. If the number is in no group, there may be no list.
fn entries(reported: &Value) -> Option<Vec<(Option<&str>, &Value)>> {
    let is_group = |name: &String| matches!(ChatAddress::parse(name), Some(ChatAddress::Group(_)));
    match reported {
        Value::Null => Some(Vec::new()),
        Value::Array(entries) => Some(entries.iter().map(|entry| (None, entry)).collect()),
        Value::Object(entries) if entries.keys().all(is_group) => {
            Some(entries.iter().map(|(name, entry)| (Some(name.as_str()), entry)).collect())
        }
        _ => None,
    }
}

/// A parsed group.
struct ParsedGroup {
    /// Its id, without a suffix.
    id: String,
    group: Group,
    /// Whether the own number was found among its members.
    is_member: bool,
}

/// Reads a group of any engine; `None` if it is not one.
fn read(named: Option<&str>, entry: &Value, own: &Own, suffix: &str) -> Option<ParsedGroup> {
    if !entry.is_object() {
        return None;
    }
    let id = address_of(entry, &["id", "JID"]).or_else(|| group_id(named?))?;
    let metadata = entry.get("groupMetadata").filter(|metadata| metadata.is_object());
    let flag = |names: &[&str]| {
        let holds = |index: &Value| names.iter().any(|name| boolean(index, name) == Some(true));
        holds(entry) || metadata.is_some_and(holds)
    };
    let subject = ["subject", "Name", "name", "formattedTitle"]
        .into_iter()
        .find_map(|name| text_of(entry, name))
        .or_else(|| text_of(metadata?, "subject"))
        .and_then(text::short);
    let parent = ["linkedParent", "LinkedParentJID", "parentGroup"];
    let parent = address_of(entry, &parent).or_else(|| address_of(metadata?, &parent));
    let own_entry = own_member(entry, own).or_else(|| own_member(metadata?, own));
    let group = Group {
        subject,
        is_community: flag(&["isCommunity", "IsParent", "isParentGroup"]),
        is_announcement: flag(&["isCommunityAnnounce", "IsDefaultSubGroup", "defaultSubgroup"]),
        announce_only: flag(&["announce", "IsAnnounce"]),
        is_admin: own_entry.is_some_and(administers),
        community_code: parent.map(|parent| code_of(&parent, suffix)),
        ..Group::seen(code_of(&id, suffix))
    };
    Some(ParsedGroup { id, group, is_member: own_entry.is_some() })
}

/// Whether the own number administers a group, if the engine's list does not contain it; `None` if
/// it cannot be requested.
async fn administers_it(
    transport: &dyn Transport,
    api: &Api<'_>,
    id: &str,
    own: &Own,
) -> Option<bool> {
    let chat = format!("{id}@{GROUPS}");
    let path = [api.session, "groups", &chat, "participants", "v2"];
    let request = api.get(&path, &[]).with_timeout(api.question_time());
    let reported = ask(transport, request.with_answer_limit(MAX_ANSWER)).await.ok()?;
    let members = reported.as_array()?;
    Some(members.iter().any(|member| administers(member) && is_own(member, own)))
}

/// The id of a group in one of these fields: a text, or an object that holds one.
fn address_of(entry: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let field = entry.get(name)?;
        let written = field.as_str().or_else(|| text_of(field, "_serialized"))?;
        group_id(written)
    })
}

/// The id of the group with this address.
fn group_id(written: &str) -> Option<String> {
    match ChatAddress::parse(written)? {
        ChatAddress::Group(id) => Some(id),
        ChatAddress::Person(_) | ChatAddress::Nobody => None,
    }
}

/// The own number among the members of a group, as administrator if it is there as one.
fn own_member<'a>(entry: &'a Value, own: &Own) -> Option<&'a Value> {
    let members = ["participants", "Participants"]
        .into_iter()
        .find_map(|name| entry.get(name).and_then(Value::as_array))?;
    let mine: Vec<&Value> = members.iter().filter(|member| is_own(member, own)).collect();
    let admin = mine.iter().find(|member| administers(member));
    admin.or(mine.first()).copied()
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
