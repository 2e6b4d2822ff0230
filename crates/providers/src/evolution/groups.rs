//! The groups and communities of the instance's number.

use recado_core::connections::Connection;
use recado_core::gateway::ProviderError;
use recado_core::groups::Group;
use recado_core::transport::Transport;
use serde_json::Value;

use super::answer::{Trouble, is_success, unreachable};
use super::names::Names;
use super::settings::Place;
use super::values::{filled, short};
use crate::shared::{array, boolean, parse, text};

/// How much of the answer is read: every participant of every group is in it.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Asks for all groups with their participants, among whom the own role is found.
pub(super) async fn groups(
    names: Names<'_>,
    transport: &dyn Transport,
    connection: &Connection,
) -> Result<Vec<Group>, ProviderError> {
    let path = ["group", "fetchAllGroups"];
    let mut request = Place::of(connection).get(path, &[("getParticipants", "true")]);
    request.answer_limit = MAX_ANSWER;
    let response = transport.send(request).await.map_err(|error| unreachable(&error))?;
    if !is_success(response.status) {
        return Err(Trouble::read(&response).provider_error());
    }
    // What is read replaces what was known: a part of the groups would delete the others.
    let groups: Option<Vec<Group>> = match parse(&response.body) {
        Some(Value::Array(entries)) => entries.iter().map(|entry| group(names, entry)).collect(),
        _ => None,
    };
    let unreadable = || "the gateway's answer is no list of groups".to_owned();
    groups.ok_or_else(|| ProviderError::Failed(unreadable()))
}

/// One group; `None` for an entry without a usable code.
fn group(names: Names<'_>, entry: &Value) -> Option<Group> {
    let flag = |name| boolean(entry, name).unwrap_or(false);
    Some(Group {
        subject: filled(entry, "subject").and_then(short),
        is_community: flag("isCommunity"),
        community_code: filled(entry, "linkedParent").and_then(|parent| names.group(parent)),
        is_announcement: flag("isCommunityAnnounce"),
        announce_only: flag("announce"),
        is_admin: array(entry, "participants").iter().any(|member| is_own_admin(names, member)),
        ..Group::met(names.group(text(entry, "id")?)?)
    })
}

/// Whether a participant is the connection's own number and administers the group.
fn is_own_admin(names: Names<'_>, member: &Value) -> bool {
    let administers = matches!(text(member, "admin"), Some("admin" | "superadmin"));
    let called = ["phoneNumber", "id", "jid"];
    administers
        && called.iter().any(|name| text(member, name).is_some_and(|name| names.is_own(name)))
}
