//! The choice of the connection for a message, and of the recipient's name on it (D15, D35, D71).

use crate::connections::{Connection, ConnectionKind};
use crate::contacts::{ChannelKey, Platform, is_scoped_id};
use crate::conversations::ChannelContact;
use crate::ids::ConnectionId;
use crate::store::Stored;

/// Why no connection can be used (CONNECTION_REQUIRED).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoConnection {
    /// The one that was asked for is inactive or disconnected.
    #[error("the connection is inactive or disconnected")]
    NotUsable,
    /// None is active and connected.
    #[error("no active and connected connection can be used")]
    Nobody,
    /// Several are, and the last message of the contact was on none of them.
    #[error("several connections can be used; name one in connection_id")]
    Several,
    /// The contact has no phone, and the connections that could be used know no name of it (D71).
    #[error("the contact has no phone, and no other name that the connection's channel knows")]
    Nameless,
}

/// The connection for a person: the wanted one; else the contact's last one if it can be used; else
/// the company's only usable one (D35). `fits` tells whether a connection can carry the message.
///
/// # Errors
///
/// [`NoConnection`].
pub fn choose_for_person(
    connections: &[Stored<Connection>],
    wanted: Option<ConnectionId>,
    last: Option<ConnectionId>,
    fits: impl Fn(&Connection) -> bool,
) -> Result<&Stored<Connection>, NoConnection> {
    let can = |connection: &&Stored<Connection>| connection.is_usable() && fits(connection);
    if let Some(wanted) = wanted {
        let given = connections.iter().find(|connection| connection.id == wanted);
        return given.filter(can).ok_or(NoConnection::NotUsable);
    }
    let usable: Vec<&Stored<Connection>> = connections.iter().filter(can).collect();
    if let Some(known) = usable.iter().find(|connection| Some(connection.id) == last) {
        return Ok(known);
    }
    match usable.as_slice() {
        [] => Err(NoConnection::Nobody),
        [only] => Ok(only),
        _ => Err(NoConnection::Several),
    }
}

fn is_digits(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a name is a number, however gateways write it.
fn is_number(name: &str) -> bool {
    ChannelKey::parse(name).is_some_and(|key| is_digits(key.as_str()))
}

/// Whether a contact is still addressed as `known` although the channel reports the name `reported`
/// now. A number that is the contact's is not replaced by a LID or a business-scoped id, as those
/// change.
pub(crate) fn keeps_number(
    known: &str,
    reported: &str,
    is_its: impl Fn(&ChannelKey) -> bool,
) -> bool {
    is_number(known)
        && !is_number(reported)
        && ChannelKey::parse(known).is_some_and(|key| is_its(&key))
}

/// Whether a connection's channel may know a person by a name that is no number: LIDs belong to
/// connections of the QR-code kind, business-scoped ids to the official API. Other names, and names
/// on other channels, are left to the gateway (D71).
fn takes(connection: &Connection, name: &str) -> bool {
    if connection.platform != Platform::whatsapp() {
        return true;
    }
    match connection.kind {
        ConnectionKind::Qr => !is_scoped_id(name),
        ConnectionKind::OfficialCloud => !name.ends_with("@lid"),
    }
}

/// The recipient's name for a contact on a connection, the first of these that exists: the name
/// reported there; the digits that the channel used last on another connection; the contact's
/// identifier, if it is digits and a form of its phone, or if it has no phone; its phone; its
/// identifier, if it is a LID or another id of the channel; another alias (D15, D71). If the
/// channel has reported the contact's phone, digits are also preferred to a business-scoped id that
/// was reported there (R138, R39). On a connection of another channel than the contact's: the name
/// reported there, else the phone.
///
/// `None` if the connection's channel knows the contact by no name.
pub fn recipient_on(found: &ChannelContact, connection: &Connection) -> Option<String> {
    let ChannelContact { contact, aliases, conversations } = found;
    let known_phone = contact.phone.as_ref().map(ChannelKey::of_phone);
    let has_number =
        known_phone.as_ref().is_some_and(|key| aliases.iter().any(|alias| key.is(alias)));
    let here = conversations.iter().find(|known| known.connection == connection.id);
    let here = here
        .map(|known| known.identifier.as_str())
        .filter(|name| takes(connection, name) && !(has_number && is_scoped_id(name)));
    let phone = contact.phone.as_ref().map(|phone| phone.digits());
    if contact.source_platform != connection.platform {
        return here.or(phone).map(str::to_owned);
    }
    let elsewhere = conversations
        .iter()
        .filter(|known| is_digits(&known.identifier))
        .max_by_key(|known| known.last_message_at)
        .map(|known| known.identifier.as_str());
    let identifier = contact.identifier.as_str();
    // An import may give a number of another system as identifier: it is nobody's on the channel.
    let is_its = |name: &str| {
        known_phone.is_none() || ChannelKey::parse(name).as_ref() == known_phone.as_ref()
    };
    let number = Some(identifier).filter(|name| is_digits(name) && is_its(name));
    let names = std::iter::once(identifier).chain(aliases.iter().map(ChannelKey::as_str));
    let other = || names.into_iter().find(|name| takes(connection, name));
    let name = here.or(elsewhere).or(number).or(phone).or_else(other);
    name.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::Timestamp;
    use crate::connections::{ConnectionSettings, ConnectionStatus, GatewayName};
    use crate::contacts::{Contact, Identifier, Phone, Region};
    use crate::conversations::Conversation;
    use crate::ids::{CompanyId, ContactId};
    use crate::store::Version;

    fn company() -> CompanyId {
        CompanyId::new(Uuid::from_u128(1))
    }

    fn id(n: u128) -> ConnectionId {
        ConnectionId::new(Uuid::from_u128(n))
    }

    fn connection(n: u128, active: bool, connected: bool) -> Stored<Connection> {
        let at = Timestamp::from_millis(0);
        let connection = Connection {
            id: id(n),
            company: company(),
            kind: ConnectionKind::Qr,
            platform: Platform::whatsapp(),
            name: String::new(),
            identifier: String::new(),
            gateway: GatewayName::new("simulated"),
            settings: ConnectionSettings::default(),
            is_active: active,
            status: if connected {
                ConnectionStatus::Connected
            } else {
                ConnectionStatus::Disconnected
            },
            created_at: at,
            updated_at: at,
            last_heard_at: None,
        };
        Stored::new(connection, Version::FIRST)
    }

    fn conversation(n: u128, identifier: &str, at: i64) -> Stored<Conversation> {
        let conversation = Conversation {
            company: company(),
            contact: ContactId::new(Uuid::from_u128(9)),
            connection: id(n),
            identifier: identifier.to_owned(),
            last_message_at: Some(Timestamp::from_millis(at)),
            last_inbound_at: None,
            unread: 0,
        };
        Stored::new(conversation, Version::FIRST)
    }

    fn contact() -> Contact {
        let phone = Phone::parse("+5534991234567", &Region::br()).expect("valid");
        Contact::new(
            ContactId::new(Uuid::from_u128(9)),
            company(),
            Platform::whatsapp(),
            Identifier::of_phone(&phone),
            Some(phone),
            Timestamp::from_millis(0),
        )
    }

    /// What a contact is called on connection `n` of this kind.
    fn called_by(
        kind: ConnectionKind,
        contact: Contact,
        aliases: &[&str],
        known: &[Stored<Conversation>],
        n: u128,
    ) -> Option<String> {
        let alias = |key: &&str| ChannelKey::from_stored((*key).to_owned());
        let found = ChannelContact {
            contact: Stored::new(contact, Version::FIRST),
            aliases: aliases.iter().map(alias).collect(),
            conversations: known.to_vec(),
        };
        let connection = Connection { kind, ..connection(n, true, true).value().clone() };
        recipient_on(&found, &connection)
    }

    /// The same on a connection of the QR-code kind.
    fn called(known: &[Stored<Conversation>], n: u128) -> String {
        called_by(ConnectionKind::Qr, contact(), &[], known, n).expect("a name")
    }

    /// R39.
    #[test]
    fn the_name_learnt_on_the_connection_is_used_there() {
        let known = [conversation(1, "553491234567", 1), conversation(2, "123@lid", 2)];
        assert_eq!(called(&known, 1), "553491234567");
        assert_eq!(called(&known, 2), "123@lid");
    }

    #[test]
    fn digits_come_before_a_scoped_id_but_not_before_a_lid_once_the_channel_knows_the_phone() {
        let called = |contact: Contact, known: &[Stored<Conversation>], name: &str| {
            let kind =
                if name.contains('@') { ConnectionKind::Qr } else { ConnectionKind::OfficialCloud };
            called_by(kind, contact, &["5534991234567"], known, 2).expect("a name")
        };
        let known = [conversation(1, "553491234567", 1), conversation(2, "BR.77", 2)];
        assert_eq!(called(contact(), &known, "BR.77"), "553491234567");
        assert_eq!(called(contact(), &known[1..], "BR.77"), "5534991234567");
        let lid = [conversation(1, "553491234567", 1), conversation(2, "123@lid", 2)];
        assert_eq!(called(contact(), &lid, "123@lid"), "123@lid");
        let hidden = Contact { phone: None, ..contact() };
        assert_eq!(called(hidden, &known, "BR.77"), "BR.77");
    }

    /// R39.
    #[test]
    fn elsewhere_digits_that_the_channel_wrote_are_used_and_lids_are_not() {
        let known = [conversation(1, "553491234567", 1), conversation(2, "123@lid", 2)];
        assert_eq!(called(&known, 3), "553491234567");
        assert_eq!(called(&known[1..], 3), "5534991234567");
    }

    /// R39.
    #[test]
    fn a_contact_without_a_channel_name_is_addressed_by_its_phone() {
        assert_eq!(called(&[], 1), "5534991234567");
    }

    /// R39.
    #[test]
    fn an_identifier_that_is_no_form_of_the_phone_is_not_written_to() {
        let made_as = |identifier: &str| {
            let identifier = Identifier::parse(identifier).expect("valid");
            called_by(ConnectionKind::Qr, Contact { identifier, ..contact() }, &[], &[], 1)
        };
        assert_eq!(made_as("10023").as_deref(), Some("5534991234567"));
        assert_eq!(made_as("5511987654321").as_deref(), Some("5534991234567"));
        assert_eq!(made_as("553491234567").as_deref(), Some("553491234567"), "its other form");
    }

    /// R39.
    #[test]
    fn a_name_of_another_system_is_no_scoped_id() {
        let name = "SP.loja-1";
        let called = called_by(ConnectionKind::Qr, hidden(name), &[], &[], 1);
        assert_eq!(called.as_deref(), Some(name));
    }

    /// Somebody without a phone, made under this name.
    fn hidden(identifier: &str) -> Contact {
        let identifier = Identifier::parse(identifier).expect("valid");
        Contact { phone: None, identifier, ..contact() }
    }

    /// D71.
    #[test]
    fn somebody_without_a_phone_is_called_by_a_name_that_the_kind_of_connection_knows() {
        use ConnectionKind::{OfficialCloud, Qr};
        let known = [conversation(1, "123@lid", 1)];
        for (kind, identifier, aliases, name) in [
            (Qr, "123@lid", &[][..], Some("123@lid")),
            (Qr, "BR.77", &[], None),
            (Qr, "BR.77", &["BR.77", "123@lid"], Some("123@lid")),
            (OfficialCloud, "BR.77", &[], Some("BR.77")),
            (OfficialCloud, "123@lid", &["123@lid"], None),
            (OfficialCloud, "123@lid", &["123@lid", "BR.77"], Some("BR.77")),
            (OfficialCloud, "12", &[], Some("12")),
        ] {
            for known in [&[][..], &known] {
                let called = called_by(kind, hidden(identifier), aliases, known, 3);
                assert_eq!(called.as_deref(), name, "{kind:?} {identifier} {aliases:?}");
            }
        }
        // A name that an import wrote down for the connection is none of its channel's.
        let imported = [conversation(2, "123@lid", 1)];
        assert_eq!(called_by(OfficialCloud, hidden("123@lid"), &[], &imported, 2), None);
    }

    /// D71.
    #[test]
    fn on_another_channel_a_contact_is_known_by_its_phone_only() {
        let platform = Platform::parse("telegram").expect("valid");
        let called = |contact: Contact, known: &[Stored<Conversation>]| {
            let contact = Contact { source_platform: platform.clone(), ..contact };
            called_by(ConnectionKind::Qr, contact, &["987"], known, 1)
        };
        assert_eq!(called(hidden("987"), &[]), None);
        assert_eq!(called(contact(), &[]).as_deref(), Some("5534991234567"));
        let known = [conversation(1, "123@lid", 1), conversation(2, "553491234567", 1)];
        assert_eq!(called(contact(), &known).as_deref(), Some("123@lid"));
        assert_eq!(called(contact(), &known[1..]).as_deref(), Some("5534991234567"));
    }

    fn chosen(
        connections: &[Stored<Connection>],
        wanted: Option<u128>,
        last: Option<u128>,
    ) -> Result<ConnectionId, NoConnection> {
        choose_for_person(connections, wanted.map(id), last.map(id), |_| true)
            .map(|connection| connection.id)
    }

    /// D35.
    #[test]
    fn of_several_the_last_one_is_used_unless_it_is_off() {
        let all =
            [connection(1, true, true), connection(2, true, true), connection(3, true, false)];
        assert_eq!(chosen(&all, None, Some(2)), Ok(id(2)));
        assert_eq!(chosen(&all, None, Some(3)), Err(NoConnection::Several));
        assert_eq!(chosen(&all[1..], None, Some(3)), Ok(id(2)));
        assert_eq!(chosen(&all, Some(3), Some(2)), Err(NoConnection::NotUsable));
        assert_eq!(chosen(&[], None, None), Err(NoConnection::Nobody));
    }

    /// A connection that is mostly active, connected and able to carry the message.
    fn state() -> impl Strategy<Value = [bool; 3]> {
        std::array::from_fn(|_| prop::bool::weighted(0.8))
    }

    proptest! {
        #[test]
        fn each_choice_and_each_refusal_has_its_reason(
            states in prop::collection::vec(state(), 0..5),
            wanted in proptest::option::of(0_u128..6),
            last in proptest::option::of(0_u128..6),
        ) {
            let all: Vec<_> = (0_u128..)
                .zip(&states)
                .map(|(n, [active, connected, _])| connection(n, *active, *connected))
                .collect();
            let numbered = (0_u128..).zip(&states);
            let usable: Vec<_> =
                numbered.filter(|(_, state)| **state == [true; 3]).map(|(n, _)| id(n)).collect();
            let (wanted, last) = (wanted.map(id), last.map(id));
            let fits = |connection: &Connection| {
                (0_u128..).zip(&states).any(|(n, [_, _, fits])| *fits && id(n) == connection.id)
            };
            let last_usable = last.filter(|last| usable.contains(last));
            let chosen = choose_for_person(&all, wanted, last, fits).map(|chosen| chosen.id);
            match (chosen, wanted) {
                (Ok(chosen), Some(wanted)) => {
                    prop_assert_eq!(chosen, wanted);
                    prop_assert!(usable.contains(&wanted));
                }
                (Ok(chosen), None) => match last_usable {
                    Some(last) => prop_assert_eq!(chosen, last),
                    None => prop_assert_eq!(&usable, &[chosen]),
                },
                (Err(NoConnection::NotUsable), Some(wanted)) => {
                    prop_assert!(!usable.contains(&wanted));
                }
                (Err(NoConnection::Nobody), None) => prop_assert!(usable.is_empty()),
                (Err(NoConnection::Several), None) => {
                    prop_assert!(usable.len() > 1 && last_usable.is_none());
                }
                (Err(reason), wanted) => prop_assert!(false, "{reason:?} for {wanted:?}"),
            }
        }
    }
}
