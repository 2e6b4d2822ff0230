//! The groups and communities of the instance's number.

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::gateway::ProviderError;
use recado_core::groups::{Group, GroupList};
use recado_core::transport::Transport;
use serde_json::Value;

use super::answer::{ErrorAnswer, is_success, unreachable};
use super::names::InstanceNames;
use super::settings::InstanceAddress;
use super::values::{filled, short};
use crate::shared::{array, boolean, parse, text};

/// How much of the answer is read: it contains all participants of all groups.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// For how many groups the participants are requested in one sync.
const MAX_LOOKS: usize = 50;
/// After how many failed requests for participants no more are made.
const MAX_FAILURES: usize = 3;
/// How long one of these requests may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Requests all groups with their participants, which show the number's own role. If the list has
/// no participants, they are requested for each group in which only administrators may write.
pub(super) async fn groups(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
) -> Result<GroupList, ProviderError> {
    let path = ["group", "fetchAllGroups"];
    let mut request = InstanceAddress::of(connection).get(path, &[("getParticipants", "true")]);
    request.answer_limit = MAX_ANSWER;
    let response = transport.send(request).await.map_err(|error| unreachable(&error))?;
    if !is_success(response.status) {
        return Err(ErrorAnswer::read(&response).provider_error());
    }
    let unreadable = || ProviderError::Failed("the gateway's answer is no list of groups".into());
    let Some(Value::Array(entries)) = parse(&response.body) else { return Err(unreadable()) };
    let mut list = reported(names, &entries);
    if list.groups.is_empty() && !entries.is_empty() {
        return Err(unreadable());
    }
    // An entry that cannot be read may be any group, so the list is not complete.
    list.is_whole = list.groups.len() == entries.len();
    ask_roles(names, transport, connection, &mut list).await;
    Ok(list)
}

/// The groups among entries; those that cannot be read are left out. The list may be incomplete.
pub(super) fn reported(names: InstanceNames<'_>, entries: &[Value]) -> GroupList {
    let mut list = GroupList::default();
    for entry in entries {
        let Some(group) = group(names, entry) else { continue };
        // Participants given as names only have no role, and every group has participants.
        if !array(entry, "participants").iter().any(Value::is_object) {
            list.without_role.push(group.code.clone());
        }
        list.groups.push(group);
    }
    list
}

/// Requests the participants of groups in which the role decides whether the number may write.
/// Roles that cannot be found stay unknown.
async fn ask_roles(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
    list: &mut GroupList,
) {
    let GroupList { groups, without_role, .. } = list;
    let decides = groups.iter_mut().filter(|group| {
        group.announce_only && !group.is_community && without_role.contains(&group.code)
    });
    let (mut learnt, mut failures) = (Vec::new(), 0);
    for group in decides.take(MAX_LOOKS) {
        let address = names.group_address(&group.code);
        match is_admin(names, transport, connection, &address).await {
            Some(is_admin) => {
                group.is_admin = is_admin;
                learnt.push(group.code.clone());
            }
            None => failures += 1,
        }
        if failures == MAX_FAILURES {
            break;
        }
    }
    without_role.retain(|code| !learnt.contains(code));
}

/// Whether the connection's number administers a group; `None` if the gateway does not report it.
async fn is_admin(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
    address: &str,
) -> Option<bool> {
    let mut request =
        InstanceAddress::of(connection).get(["group", "participants"], &[("groupJid", address)]);
    request.timeout = request.timeout.min(PATIENCE);
    let response = transport.send(request).await.ok().filter(|found| is_success(found.status))?;
    let answer = parse(&response.body)?;
    let members = answer.get("participants").unwrap_or(&answer).as_array()?;
    let has_roles = members.iter().any(Value::is_object);
    has_roles.then(|| members.iter().any(|member| is_own_admin(names, member)))
}

/// One group; `None` for an entry without a usable code.
fn group(names: InstanceNames<'_>, entry: &Value) -> Option<Group> {
    let flag = |name| boolean(entry, name).unwrap_or(false);
    Some(Group {
        subject: filled(entry, "subject").and_then(short),
        is_community: flag("isCommunity"),
        community_code: filled(entry, "linkedParent").and_then(|parent| names.group(parent)),
        is_announcement: flag("isCommunityAnnounce"),
        announce_only: flag("announce"),
        is_admin: array(entry, "participants").iter().any(|member| is_own_admin(names, member)),
        ..Group::seen(names.group(text(entry, "id")?)?)
    })
}

/// Whether a participant is the connection's own number and administers the group.
fn is_own_admin(names: InstanceNames<'_>, member: &Value) -> bool {
    let administers = matches!(text(member, "admin"), Some("admin" | "superadmin"));
    let called = ["phoneNumber", "id", "jid"];
    administers
        && called.iter().any(|name| text(member, name).is_some_and(|name| names.is_own(name)))
}
