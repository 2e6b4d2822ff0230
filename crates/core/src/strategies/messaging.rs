//! Messages, and the events of gateways about them.

use proptest::option::of as maybe;
use proptest::prelude::*;
use proptest::sample::select;

use super::{brazilian_mobiles, company, ids, names, times};
use crate::connections::ConnectionStatus;
use crate::gateway::{
    GatewayEvent, GatewayMessage, NamesReport, OwnSend, Preference, PreferenceReport, StatusEvent,
};
use crate::ids::{ConnectionId, ContactId, MessageId, WorkerId};
use crate::messages::{
    Blocks, DeliveryCode, Direction, Failure, Media, Message, MessageStatus, MessageType,
    ProviderMessageId, Quoted, SenderType,
};

/// What people write: short texts, requests to stop, and text that is awkward to store.
pub fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Za-zçãéõ?!]{1,8}( [a-zçãéõ?!]{1,8}){0,4}",
        1 => select(vec!["sair", "PARAR", "Pare.", "stop", "não quero receber"])
            .prop_map(str::to_owned),
        1 => "\\PC{1,20}",
    ]
}

/// The ids that a provider gives to messages: few, so that several events concern the same message.
pub fn provider_ids() -> impl Strategy<Value = ProviderMessageId> {
    (1..=6_u8).prop_map(|n| ProviderMessageId::from_stored(format!("wamid.{n}")))
}

/// Why messages fail.
pub fn failures() -> impl Strategy<Value = Failure> {
    (select(DeliveryCode::ALL), maybe("[a-z ]{1,12}"))
        .prop_map(|(code, message)| Failure::new(code, message))
}

/// Messages of one contact, inbound and outbound, in any status.
pub fn messages() -> impl Strategy<Value = Message> {
    let outbound = prop_oneof![
        ids(WorkerId::new).prop_map(|sender| (MessageStatus::Pending, None, Some(sender))),
        select(vec![MessageStatus::Sent, MessageStatus::Delivered, MessageStatus::Read])
            .prop_map(|status| (status, None, None)),
        failures().prop_map(|failure| (MessageStatus::Failed, Some(failure), None)),
    ];
    let by =
        select(vec![SenderType::System, SenderType::Agent, SenderType::Ai, SenderType::Campaign]);
    let way = prop_oneof![
        Just((Direction::Inbound, SenderType::Contact, (MessageStatus::Received, None, None))),
        (by, outbound).prop_map(|(sender, state)| (Direction::Outbound, sender, state)),
    ];
    (
        ids(MessageId::new),
        ids(ConnectionId::new),
        way,
        maybe(texts()),
        maybe(provider_ids()),
        times(),
    )
        .prop_map(|(id, connection, (direction, sender_type, state), content, known, at)| {
            let (status, failure, sender) = state;
            let is_known = status != MessageStatus::Pending;
            Message {
                id,
                company: company(),
                contact: ContactId::new(uuid::Uuid::from_u128(1)),
                connection,
                direction,
                message_type: MessageType::Text,
                sender_type,
                status,
                failure,
                content,
                media: Media::default(),
                blocks: Blocks::default(),
                provider_id: known.filter(|_| is_known),
                external_id: None,
                quoted: Quoted::default(),
                participant: None,
                template_category: None,
                prosa: None,
                is_history: false,
                edited_at: None,
                sender,
                created_at: at,
                timestamp: at,
            }
        })
}

/// A phone as gateways write it: digits alone.
fn peers() -> impl Strategy<Value = String> {
    brazilian_mobiles().prop_map(|phone| phone.as_str().trim_start_matches('+').to_owned())
}

fn gateway_messages() -> impl Strategy<Value = GatewayMessage> {
    (provider_ids(), peers(), texts(), maybe(names()), any::<bool>(), maybe(times())).prop_map(
        |(provider_id, peer, content, push_name, history, timestamp)| GatewayMessage {
            provider_id,
            peer,
            aliases: Vec::new(),
            participant: None,
            push_name,
            message_type: MessageType::Text,
            content: Some(content),
            media: None,
            blocks: Blocks::default(),
            quoted: None,
            quoted_content: None,
            quoted_type: None,
            button: None,
            history,
            is_late: false,
            timestamp,
            raw: None,
        },
    )
}

fn status_events() -> impl Strategy<Value = StatusEvent> {
    let reported = prop_oneof![
        select(vec![MessageStatus::Sent, MessageStatus::Delivered, MessageStatus::Read])
            .prop_map(|status| (status, None)),
        failures().prop_map(|failure| (MessageStatus::Failed, Some(failure))),
    ];
    (provider_ids(), reported, maybe(times())).prop_map(
        |(provider_id, (status, failure), timestamp)| StatusEvent {
            provider_id,
            reference: None,
            status,
            failure,
            timestamp,
            names: Vec::new(),
        },
    )
}

/// Events of gateways, except those about groups and templates and those that no adapter
/// recognizes.
pub fn gateway_events() -> impl Strategy<Value = GatewayEvent> {
    let preferences = (peers(), select(Preference::ALL), maybe(times())).prop_map(
        |(peer, preference, timestamp)| PreferenceReport {
            peer,
            aliases: Vec::new(),
            preference,
            timestamp,
            history: false,
        },
    );
    let own = (provider_ids(), peers(), maybe(texts()), maybe(times())).prop_map(
        |(provider_id, peer, content, timestamp)| OwnSend {
            provider_id,
            reference: None,
            peer,
            aliases: Vec::new(),
            message_type: None,
            content,
            timestamp,
        },
    );
    prop_oneof![
        4 => gateway_messages().prop_map(GatewayEvent::Message),
        2 => gateway_messages().prop_map(GatewayEvent::Echo),
        3 => status_events().prop_map(GatewayEvent::Status),
        1 => (provider_ids(), texts(), maybe(times())).prop_map(
            |(provider_id, content, timestamp)| GatewayEvent::Edit {
                provider_id,
                content,
                timestamp,
            },
        ),
        1 => select(ConnectionStatus::ALL).prop_map(GatewayEvent::Connection),
        1 => preferences.prop_map(GatewayEvent::Preference),
        1 => own.prop_map(GatewayEvent::OwnSend),
        1 => (peers(), peers()).prop_map(|(peer, alias)| {
            GatewayEvent::Names(NamesReport { peer, aliases: vec![alias] })
        }),
    ]
}
