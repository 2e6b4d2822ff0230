//! The choice of the connection for a message to a group (4.8, rules 1 and 2; D33, D64).

use super::{ConnectionGroup, GroupCode};
use crate::connections::{Connection, ConnectionKind};
use crate::conversations::Conversation;
use crate::ids::ConnectionId;
use crate::store::Stored;

/// The company has no such group or community, or the community's announcement group is not known
/// yet (GROUP_NOT_FOUND).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no group or community with this code is known, or its announcement group is not yet")]
pub struct GroupUnknown;

/// Why no connection can be used for a group (CONNECTION_REQUIRED).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionNeeded {
    /// The one that was asked for is not in the group; those of the official API never are.
    #[error("the connection's number is not in the group")]
    NotInGroup,
    /// The one that was asked for is inactive or disconnected.
    #[error("the connection is inactive or disconnected")]
    NotUsable,
    /// No usable one is in the group.
    #[error("no active and connected QR-code connection is in the group")]
    Nobody,
    /// Several usable ones are, and none of them has a conversation with the group.
    #[error("several connections are in the group; name one in connection_id")]
    Several,
}

/// Why a message to a group cannot be routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupRefusal {
    /// There is no connection to use.
    #[error(transparent)]
    ConnectionRequired(#[from] ConnectionNeeded),
    /// Only administrators may write, and the connection's number is none.
    #[error("only administrators may write in the group, and the connection's number is none")]
    AnnounceOnly {
        /// The connection that a message would go through.
        connection: ConnectionId,
    },
}

/// The group that a message to `code` goes to: the group itself, or the announcement group of the
/// community, whichever connection reported it (D64). `rows` is what
/// [`GroupReads::groups_by_code`](super::GroupReads::groups_by_code) answers for the code. With
/// `has_contact`, a group without rows is known too.
///
/// # Errors
///
/// [`GroupUnknown`].
pub fn resolve_group(
    code: &GroupCode,
    rows: &[Stored<ConnectionGroup>],
    has_contact: bool,
) -> Result<GroupCode, GroupUnknown> {
    let own = || rows.iter().filter(|row| row.group.code == *code);
    let of_community = || rows.iter().filter(|row| row.group.community_code.as_ref() == Some(code));
    let is_community = own().any(|row| row.group.is_community)
        || (own().next().is_none() && of_community().next().is_some());
    if !is_community {
        let is_known = own().next().is_some() || has_contact;
        return if is_known { Ok(code.clone()) } else { Err(GroupUnknown) };
    }
    // Outdated rows may name several; one is preferred in which a connection participates.
    of_community()
        .filter(|row| row.group.is_announcement && !row.group.is_community)
        .min_by_key(|row| (!row.group.participates, &row.group.code))
        .map(|row| row.group.code.clone())
        .ok_or(GroupUnknown)
}

/// The connection that a message to the group goes through: the wanted one; else the only possible
/// one; else the one with the group's latest conversation. Only usable QR-code connections whose
/// number is in the group can (4.8.1), and in a group where only administrators write, only those
/// of administrators (D64).
///
/// `rows` may hold other groups too; `conversations` are those of the group's contact. A wanted
/// connection that is not among `connections` counts as not in the group.
///
/// # Errors
///
/// [`GroupRefusal`]; a missing connection is reported before a missing permission to write (D33).
pub fn choose_connection(
    group: &GroupCode,
    rows: &[Stored<ConnectionGroup>],
    connections: &[Stored<Connection>],
    wanted: Option<ConnectionId>,
    conversations: &[Stored<Conversation>],
    is_usable: impl Fn(&Connection) -> bool,
) -> Result<ConnectionId, GroupRefusal> {
    let members: Vec<(&Connection, &ConnectionGroup)> = rows
        .iter()
        .filter(|row| row.group.code == *group && row.group.participates)
        .filter_map(|row| {
            let is_its = |connection: &&Stored<Connection>| connection.id == row.connection;
            Some((connections.iter().find(is_its)?.value(), row.value()))
        })
        .filter(|(connection, _)| connection.kind == ConnectionKind::Qr)
        .collect();
    if let Some(wanted) = wanted {
        let member = members.iter().find(|(connection, _)| connection.id == wanted);
        let (connection, row) = member.ok_or(ConnectionNeeded::NotInGroup)?;
        if !is_usable(connection) {
            return Err(ConnectionNeeded::NotUsable.into());
        }
        return match may_write(row) {
            true => Ok(wanted),
            false => Err(GroupRefusal::AnnounceOnly { connection: wanted }),
        };
    }
    let usable = || members.iter().filter(|(connection, _)| is_usable(connection));
    let Some((first, _)) = usable().next() else {
        return Err(ConnectionNeeded::Nobody.into());
    };
    let candidates: Vec<ConnectionId> =
        usable().filter(|(_, row)| may_write(row)).map(|(connection, _)| connection.id).collect();
    match candidates.as_slice() {
        [] => Err(GroupRefusal::AnnounceOnly { connection: first.id }),
        [only] => Ok(*only),
        several => conversations
            .iter()
            .filter(|conversation| several.contains(&conversation.connection))
            .filter_map(|messaged| Some((messaged.last_inbound_at?, messaged.connection)))
            .max()
            .map(|(_, connection)| connection)
            .ok_or_else(|| ConnectionNeeded::Several.into()),
    }
}

fn may_write(row: &ConnectionGroup) -> bool {
    !row.group.announce_only || row.group.is_admin
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::Timestamp;
    use crate::connections::{ConnectionSettings, ConnectionStatus, GatewayName};
    use crate::contacts::Platform;
    use crate::groups::Group;
    use crate::ids::{CompanyId, ContactId};
    use crate::store::Version;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    fn company() -> CompanyId {
        CompanyId::new(Uuid::from_u128(1))
    }

    fn id(n: u128) -> ConnectionId {
        ConnectionId::new(Uuid::from_u128(n))
    }

    fn code(text: &str) -> GroupCode {
        GroupCode::parse(text, "g.us").expect("a test writes codes")
    }

    fn stored<T>(value: T) -> Stored<T> {
        Stored::new(value, Version::FIRST)
    }

    /// A usable QR-code connection.
    fn connection(n: u128) -> Connection {
        Connection {
            id: id(n),
            company: company(),
            kind: ConnectionKind::Qr,
            platform: Platform::whatsapp(),
            name: format!("Connection {n}"),
            identifier: "5511900000000".to_owned(),
            gateway: GatewayName::new("simulated"),
            settings: ConnectionSettings::default(),
            is_active: true,
            status: ConnectionStatus::Connected,
            created_at: NOW,
            updated_at: NOW,
            last_heard_at: None,
        }
    }

    fn row(connection: u128, group: Group) -> Stored<ConnectionGroup> {
        stored(ConnectionGroup { company: company(), connection: id(connection), group })
    }

    fn member(connection: u128) -> Stored<ConnectionGroup> {
        row(connection, Group::seen(code("1@g.us")))
    }

    fn closed(connection: u128, is_admin: bool) -> Stored<ConnectionGroup> {
        row(connection, Group { announce_only: true, is_admin, ..Group::seen(code("1@g.us")) })
    }

    fn conversation(connection: u128, inbound: Option<i64>) -> Stored<Conversation> {
        stored(Conversation {
            company: company(),
            contact: ContactId::new(Uuid::from_u128(9)),
            connection: id(connection),
            identifier: "1@g.us".to_owned(),
            last_message_at: Some(NOW),
            last_inbound_at: inbound.map(Timestamp::from_millis),
            unread: 0,
        })
    }

    fn choose(
        rows: &[Stored<ConnectionGroup>],
        connections: &[Connection],
        wanted: Option<u128>,
        conversations: &[Stored<Conversation>],
    ) -> Result<ConnectionId, GroupRefusal> {
        let connections: Vec<_> = connections.iter().cloned().map(stored).collect();
        choose_connection(
            &code("1@g.us"),
            rows,
            &connections,
            wanted.map(id),
            conversations,
            Connection::is_usable,
        )
    }

    #[test]
    fn a_known_group_is_itself_and_an_unknown_one_is_refused() {
        let group = code("1@g.us");
        assert_eq!(resolve_group(&group, &[member(1)], false), Ok(group.clone()));
        assert_eq!(resolve_group(&group, &[], false), Err(GroupUnknown));
        assert_eq!(resolve_group(&group, &[row(1, Group::seen(code("2@g.us")))], false), {
            Err(GroupUnknown)
        });
    }

    #[test]
    fn a_group_that_only_its_contact_is_left_of_exists_and_has_nobody_in_it() {
        let group = code("1@g.us");
        assert_eq!(resolve_group(&group, &[], true), Ok(group));
        let answer = choose(&[], &[connection(1)], None, &[conversation(1, Some(5))]);
        assert_eq!(answer, Err(ConnectionNeeded::Nobody.into()));
    }

    fn community(connection: u128) -> Stored<ConnectionGroup> {
        row(connection, Group { is_community: true, ..Group::seen(code("9@g.us")) })
    }

    fn of_community(group: &str, is_announcement: bool) -> Group {
        let community_code = Some(code("9@g.us"));
        Group { community_code, is_announcement, ..Group::seen(code(group)) }
    }

    #[test]
    fn a_community_is_its_announcement_group_whichever_connection_reported_either() {
        let rows = [
            community(1),
            row(2, of_community("3@g.us", false)),
            row(2, of_community("4@g.us", true)),
        ];
        assert_eq!(resolve_group(&code("9@g.us"), &rows, false), Ok(code("4@g.us")));
        assert_eq!(resolve_group(&code("9@g.us"), &rows[1..], false), Ok(code("4@g.us")));
    }

    #[test]
    fn a_community_without_a_known_announcement_group_is_refused() {
        let rows = [community(1), row(1, of_community("3@g.us", false))];
        assert_eq!(resolve_group(&code("9@g.us"), &rows, false), Err(GroupUnknown));
        assert_eq!(resolve_group(&code("9@g.us"), &rows, true), Err(GroupUnknown));
        assert_eq!(resolve_group(&code("9@g.us"), &rows[1..], false), Err(GroupUnknown));
    }

    #[test]
    fn of_two_announcement_groups_the_one_that_somebody_is_in_counts() {
        let left = Group { participates: false, ..of_community("3@g.us", true) };
        let rows = [community(1), row(1, left), row(2, of_community("4@g.us", true))];
        assert_eq!(resolve_group(&code("9@g.us"), &rows, false), Ok(code("4@g.us")));
    }

    #[test]
    fn the_only_member_is_chosen_without_any_message() {
        let connections = [connection(1), connection(2)];
        assert_eq!(choose(&[member(2)], &connections, None, &[]), Ok(id(2)));
    }

    #[test]
    fn of_several_members_the_group_last_wrote_in_one() {
        let connections = [connection(1), connection(2), connection(3)];
        let rows = [member(1), member(2), member(3)];
        let conversations =
            [conversation(1, Some(10)), conversation(2, Some(20)), conversation(3, None)];
        assert_eq!(choose(&rows, &connections, None, &conversations), Ok(id(2)));
    }

    #[test]
    fn of_several_members_without_inbound_messages_one_must_be_named() {
        let connections = [connection(1), connection(2)];
        let rows = [member(1), member(2)];
        let answer = choose(&rows, &connections, None, &[conversation(1, None)]);
        assert_eq!(answer, Err(ConnectionNeeded::Several.into()));
        assert_eq!(choose(&rows, &connections, Some(2), &[]), Ok(id(2)));
    }

    #[test]
    fn messages_in_a_connection_that_cannot_be_used_does_not_count() {
        let off = Connection { is_active: false, ..connection(3) };
        let connections = [connection(1), connection(2), off];
        let rows = [member(1), member(2), member(3)];
        let conversations = [conversation(1, Some(10)), conversation(3, Some(30))];
        assert_eq!(choose(&rows, &connections, None, &conversations), Ok(id(1)));
    }

    #[test]
    fn a_wanted_connection_is_taken_even_when_the_group_wrote_elsewhere() {
        let connections = [connection(1), connection(2)];
        let rows = [member(1), member(2)];
        assert_eq!(choose(&rows, &connections, Some(1), &[conversation(2, Some(9))]), Ok(id(1)));
    }

    #[test]
    fn a_wanted_connection_outside_the_group_is_refused() {
        let left = row(1, Group { participates: false, ..Group::seen(code("1@g.us")) });
        let connections = [connection(1), connection(2)];
        for rows in [vec![member(2)], vec![left, member(2)]] {
            let answer = choose(&rows, &connections, Some(1), &[]);
            assert_eq!(answer, Err(ConnectionNeeded::NotInGroup.into()));
        }
    }

    #[test]
    fn inactive_and_disconnected_connections_cannot_be_used() {
        let inactive = Connection { is_active: false, ..connection(1) };
        let away = Connection { status: ConnectionStatus::Disconnected, ..connection(1) };
        for unusable in [inactive, away] {
            let wanted = choose(&[member(1)], std::slice::from_ref(&unusable), Some(1), &[]);
            assert_eq!(wanted, Err(ConnectionNeeded::NotUsable.into()));
            let any = choose(&[member(1)], &[unusable], None, &[]);
            assert_eq!(any, Err(ConnectionNeeded::Nobody.into()));
        }
    }

    #[test]
    fn the_official_api_never_sends_to_groups() {
        let cloud = Connection { kind: ConnectionKind::OfficialCloud, ..connection(1) };
        let wanted = choose(&[member(1)], std::slice::from_ref(&cloud), Some(1), &[]);
        assert_eq!(wanted, Err(ConnectionNeeded::NotInGroup.into()));
        assert_eq!(choose(&[member(1)], &[cloud], None, &[]), Err(ConnectionNeeded::Nobody.into()));
    }

    #[test]
    fn where_only_administrators_write_only_their_connections_are_candidates() {
        let connections = [connection(1), connection(2)];
        let rows = [closed(1, false), closed(2, true)];
        assert_eq!(choose(&rows, &connections, None, &[conversation(1, Some(9))]), Ok(id(2)));
        let closed_to = |n| Err(GroupRefusal::AnnounceOnly { connection: id(n) });
        assert_eq!(choose(&rows, &connections, Some(1), &[]), closed_to(1));
        assert_eq!(choose(&rows, &connections, Some(2), &[]), Ok(id(2)));
        assert_eq!(choose(&rows[..1], &connections, None, &[]), closed_to(1));
    }

    #[test]
    fn that_no_connection_can_be_used_comes_before_that_it_may_not_write() {
        let away = Connection { status: ConnectionStatus::Disconnected, ..connection(1) };
        let wanted = choose(&[closed(1, false)], std::slice::from_ref(&away), Some(1), &[]);
        assert_eq!(wanted, Err(ConnectionNeeded::NotUsable.into()));
        let any = choose(&[closed(1, false)], &[away], None, &[]);
        assert_eq!(any, Err(ConnectionNeeded::Nobody.into()));
    }

    prop_compose! {
        fn view()(active: bool, connected: bool, qr: bool, inside: bool, closed: bool, admin: bool,
            messaged in proptest::option::of(0_i64..4)) -> (Connection, Group, Option<i64>) {
            let connection = Connection {
                is_active: active,
                status: if connected { ConnectionStatus::Connected }
                    else { ConnectionStatus::Disconnected },
                kind: if qr { ConnectionKind::Qr } else { ConnectionKind::OfficialCloud },
                ..connection(0)
            };
            let group = Group { participates: inside, announce_only: closed, is_admin: admin,
                ..Group::seen(code("1@g.us")) };
            (connection, group, messaged)
        }
    }

    proptest! {
        #[test]
        fn whatever_is_chosen_may_send(
            views in proptest::collection::vec(view(), 0..5),
            wanted in proptest::option::of(0_u128..6),
        ) {
            let numbered = || views.iter().zip(1_u128..);
            let connections: Vec<Connection> = numbered()
                .map(|((connection, ..), n)| Connection { id: id(n), ..connection.clone() })
                .collect();
            let rows: Vec<_> =
                numbered().map(|((_, group, _), n)| row(n, group.clone())).collect();
            let conversations: Vec<_> = numbered().map(|((.., messaged), n)| conversation(n, *messaged)).collect();
            let able: Vec<ConnectionId> = numbered()
                .filter(|((connection, group, _), _)| {
                    connection.is_usable()
                        && connection.kind == ConnectionKind::Qr
                        && group.participates
                        && (!group.announce_only || group.is_admin)
                })
                .map(|(_, n)| id(n))
                .collect();
            match choose(&rows, &connections, wanted, &conversations) {
                Ok(chosen) => {
                    prop_assert!(able.contains(&chosen));
                    prop_assert!(wanted.is_none_or(|wanted| id(wanted) == chosen));
                }
                Err(refusal) => {
                    let could = match wanted {
                        Some(wanted) => able.contains(&id(wanted)),
                        None => able.len() == 1,
                    };
                    prop_assert!(!could, "{refusal}");
                    let several = refusal == ConnectionNeeded::Several.into();
                    prop_assert_eq!(several, wanted.is_none() && able.len() > 1);
                }
            }
        }
    }
}
