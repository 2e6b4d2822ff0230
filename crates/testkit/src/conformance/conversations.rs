//! Reads of conversations: which contacts a channel's ids refer to, and their newest messages.

use recado_core::contacts::{Contact, Identifier, Phone, Region};
use recado_core::conversations::{ChannelContact, ChannelQuery};
use recado_core::ids::ContactId;
use recado_core::messages::SenderType;

use super::Harness;
use super::channel_scene::{code, key, platform};
use super::scene::{Scene, at, first};

async fn find(scene: &Scene, query: &ChannelQuery) -> Vec<ChannelContact> {
    scene.store.channel_contacts(scene.company, query).await.expect("the store works")
}

async fn found(scene: &Scene, query: ChannelQuery) -> Vec<ContactId> {
    find(scene, &query).await.into_iter().map(|found| found.contact.id).collect()
}

fn identifiers(texts: &[&str]) -> Vec<Identifier> {
    texts.iter().map(|text| Identifier::parse(text).expect("acceptable")).collect()
}

fn phones(texts: &[&str]) -> Vec<Phone> {
    texts.iter().map(|text| Phone::parse(text, &Region::br()).expect("a phone")).collect()
}

/// Empty parts of a query refer to no contact.
pub async fn an_empty_channel_query_names_nobody(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact_with_phone("+5511987654321");
    scene.add(contact.clone()).await;
    scene.add(scene.alias(&contact, "5511987654321")).await;
    assert_eq!(find(&scene, &ChannelQuery::default()).await, []);
    let of_channel =
        ChannelQuery { platform: Some(platform("whatsapp")), ..ChannelQuery::default() };
    assert_eq!(find(&scene, &of_channel).await, []);
}

/// Two contacts of each of two channels that share an identifier, an alias and a phone.
async fn twins(scene: &Scene) -> [Contact; 2] {
    let mut twins = [scene.contact_named("ana"), scene.contact_named("ana")];
    twins[1].source_platform = platform("telegram");
    for twin in &mut twins {
        twin.phone = Phone::parse("+5511987654321", &Region::br()).ok();
        twin.external_chat_id = Some("g1@g.us".to_owned());
    }
    scene.add_all(twins.clone()).await;
    for twin in &twins {
        scene.add(scene.alias(twin, "a-lid")).await;
    }
    twins
}

/// Identifiers and aliases are compared on one channel, or on all if the query has no channel.
pub async fn identifiers_and_aliases_are_looked_for_on_the_channel(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let twins = twins(&scene).await;
    for (channel, wanted) in [
        (Some("whatsapp"), vec![twins[0].id]),
        (Some("telegram"), vec![twins[1].id]),
        (Some("sms"), vec![]),
        (None, vec![twins[0].id, twins[1].id]),
    ] {
        let platform = channel.map(platform);
        let query = ChannelQuery { platform, ..ChannelQuery::default() };
        let by_name = ChannelQuery { identifiers: identifiers(&["bia", "ana"]), ..query.clone() };
        assert_eq!(found(&scene, by_name).await, wanted, "{channel:?}");
        let by_alias = ChannelQuery { keys: vec![key("b-lid"), key("a-lid")], ..query.clone() };
        assert_eq!(found(&scene, by_alias).await, wanted, "{channel:?}");
        // An identifier is not found as an alias, nor the reverse. Both are compared exactly.
        let crossed = ChannelQuery {
            identifiers: identifiers(&["a-lid", "ANA"]),
            keys: vec![key("ana"), key("A-LID")],
            ..query
        };
        assert_eq!(found(&scene, crossed).await, [], "{channel:?}");
    }
}

/// On every channel.
pub async fn ids_phones_and_chats_are_looked_for_on_every_channel(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let twins = twins(&scene).await;
    scene.add(scene.contact()).await;
    for channel in [Some("whatsapp"), Some("sms"), None] {
        let platform = channel.map(platform);
        let query = ChannelQuery { platform, ..ChannelQuery::default() };
        let by_phone =
            ChannelQuery { phones: phones(&["+5511987654321", "+5534991234567"]), ..query.clone() };
        assert_eq!(found(&scene, by_phone).await, [twins[0].id, twins[1].id]);
        let by_chat = ChannelQuery { chats: vec![code("g2"), code("g1")], ..query.clone() };
        assert_eq!(found(&scene, by_chat).await, [twins[0].id, twins[1].id]);
        let by_other = ChannelQuery { chats: vec![code("G1")], ..query.clone() };
        assert_eq!(found(&scene, by_other).await, []);
        let ids = vec![twins[1].id, ContactId::new(scene.uuid())];
        assert_eq!(found(&scene, ChannelQuery { ids, ..query }).await, [twins[1].id]);
    }
}

/// Each contact once, the oldest first.
pub async fn named_contacts_come_once_by_creation_then_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts: Vec<Contact> = [7, 3, 3, 9]
        .into_iter()
        .enumerate()
        .map(|(n, millis)| {
            let mut contact = scene.contact_named(&format!("lid-{n}"));
            contact.phone = Phone::parse("+5511987654321", &Region::br()).ok();
            contact.external_chat_id = Some("g1@g.us".to_owned());
            contact.created_at = at(millis);
            contact
        })
        .collect();
    scene.add_all(contacts.iter().rev().cloned().collect::<Vec<_>>()).await;
    scene.add(scene.alias(&contacts[3], "x")).await;
    scene.add(scene.alias(&contacts[3], "y")).await;
    let query = ChannelQuery {
        platform: Some(platform("whatsapp")),
        ids: vec![contacts[3].id, contacts[0].id],
        identifiers: identifiers(&["lid-3", "lid-1"]),
        keys: vec![key("y"), key("x")],
        phones: phones(&["+5511987654321"]),
        chats: vec![code("g1")],
        per_phone: None,
    };
    let order = [contacts[1].id, contacts[2].id, contacts[0].id, contacts[3].id];
    assert_eq!(found(&scene, query).await, order);
    let by_alias = ChannelQuery { keys: vec![key("y"), key("x")], ..ChannelQuery::default() };
    assert_eq!(found(&scene, by_alias).await, [contacts[3].id]);
}

/// Of the contacts of a channel that share a phone as many as are asked for: those that asked to
/// stop first, then by `created_at`, then `id`. They come in the order of all others (R161).
pub async fn of_many_contacts_with_a_phone_those_who_asked_to_stop_come_first(
    harness: &dyn Harness,
) {
    let scene = Scene::of(harness).await;
    let mut contacts: Vec<Contact> = (0..8)
        .map(|n| {
            let mut contact = scene.contact_named(&format!("crm-{n}"));
            contact.phone = Phone::parse("+5511987654321", &Region::br()).ok();
            contact.created_at = at(if n == 7 { 1 } else { 5 });
            contact
        })
        .collect();
    contacts[4].opted_out_at = Some(at(9));
    contacts[6].opted_out_at = Some(at(2));
    contacts[5].source_platform = platform("telegram");
    scene.add_all(contacts.clone()).await;
    let id = |n: usize| contacts[n].id;
    let phones = phones(&["+5511987654321", "+5534991234567"]);
    let per_phone = |most: u32| ChannelQuery {
        phones: phones.clone(),
        per_phone: Some(most),
        ..ChannelQuery::default()
    };
    assert_eq!(found(&scene, per_phone(0)).await, []);
    assert_eq!(found(&scene, per_phone(1)).await, [id(4), id(5)]);
    assert_eq!(found(&scene, per_phone(2)).await, [id(4), id(5), id(6)]);
    assert_eq!(found(&scene, per_phone(3)).await, [id(7), id(4), id(5), id(6)]);
    assert_eq!(found(&scene, per_phone(4)).await, [id(7), id(0), id(4), id(5), id(6)]);
    assert_eq!(found(&scene, per_phone(100)).await.len(), 8);
    // Who is found by another name too is found.
    let other = ChannelQuery { identifiers: identifiers(&["crm-3"]), ..per_phone(1) };
    assert_eq!(found(&scene, other).await, [id(3), id(4), id(5)]);
    let by_id = ChannelQuery { ids: vec![id(2)], keys: vec![key("x")], ..per_phone(1) };
    assert_eq!(found(&scene, by_id).await, [id(2), id(4), id(5)]);
}

/// A campaign or a batch of status reports asks for many at once.
pub async fn many_names_are_looked_for_at_once(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts: Vec<Contact> =
        (0..300).map(|n| scene.contact_named(&format!("lid-{n}"))).collect();
    scene.add_all(contacts.clone()).await;
    let aliases = contacts.iter().enumerate().map(|(n, c)| scene.alias(c, &format!("alias-{n}")));
    scene.add_all(aliases).await;
    let all: Vec<ContactId> = contacts.iter().map(|contact| contact.id).collect();
    let keys = (0..300).map(|n| key(&format!("alias-{n}"))).collect();
    let by_alias = ChannelQuery { keys, ..ChannelQuery::default() };
    assert_eq!(found(&scene, by_alias).await, all);
    let identifiers = contacts.iter().map(|contact| contact.identifier.clone()).collect();
    let by_name = ChannelQuery { identifiers, ..ChannelQuery::default() };
    assert_eq!(found(&scene, by_name).await, all);
    let by_id = ChannelQuery { ids: all.clone(), ..ChannelQuery::default() };
    assert_eq!(found(&scene, by_id).await, all);
}

/// A contact comes with all of its own aliases and conversations, and with no others.
pub async fn a_named_contact_comes_with_its_aliases_and_conversations(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, other) = (scene.contact(), scene.contact());
    scene.add_all([contact.clone(), other.clone()]).await;
    let mut connections = [scene.connection(), scene.connection(), scene.connection()];
    // The order is by connection id, not by creation.
    connections[0].created_at = at(9);
    scene.add_all(connections.clone()).await;
    for name in ["b", "B", "é", "a", "10", "9"] {
        scene.add(scene.alias(&contact, name)).await;
    }
    scene.add(scene.alias(&other, "c")).await;
    for connection in connections.iter().rev() {
        scene.add(scene.conversation(&contact, connection)).await;
    }
    scene.add(scene.conversation(&other, &connections[0])).await;
    let before = scene.conversation(&contact, &connections[1]);
    let mut after = before.clone();
    (after.unread, after.last_message_at) = (7, None);
    scene.apply(first(before).update(after.clone())).await;

    let query = ChannelQuery { ids: vec![contact.id], ..ChannelQuery::default() };
    let found = find(&scene, &query).await;
    assert_eq!(found.len(), 1);
    assert!(found[0].contact == first(contact.clone()));
    assert_eq!(found[0].aliases, ["10", "9", "B", "a", "b", "é"].map(key));
    let [left, middle, right] = &found[0].conversations[..] else { panic!("three conversations") };
    assert_eq!(*left, first(scene.conversation(&contact, &connections[0])));
    assert_eq!((middle.value(), middle.version().number()), (&after, 2));
    assert_eq!(*right, first(scene.conversation(&contact, &connections[2])));
}

/// Promise 8.
pub async fn nobody_of_another_company_is_named(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let twins = twins(&scene).await;
    let query = ChannelQuery {
        platform: None,
        ids: vec![twins[0].id],
        identifiers: identifiers(&["ana"]),
        keys: vec![key("a-lid")],
        phones: phones(&["+5511987654321"]),
        chats: vec![code("g1")],
        per_phone: None,
    };
    assert_eq!(find(&other, &query).await, []);
    assert_eq!(find(&scene, &query).await.len(), 2);
}

/// D42a: the provider's time of the newest received message; D43: the sender type of the newest
/// sent message. Messages from a history do not count.
pub async fn the_newest_message_of_each_direction_is_reported(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let other = scene.contact();
    scene.add(other.clone()).await;
    let (store, company) = (&scene.store, scene.company);
    let inbound =
        async || store.newest_inbound_at(company, contact.id).await.expect("the store works");
    let outbound = async || store.newest_outbound_sender(company, contact.id).await.expect("works");
    assert_eq!((inbound().await, outbound().await), (None, None));

    let mut old = scene.inbound(&contact, &connection, 1);
    old.timestamp = at(99);
    let mut history = scene.inbound(&contact, &connection, 50);
    history.is_history = true;
    let mut echo = scene.outbound(&contact, &connection, 50);
    (echo.is_history, echo.sender_type) = (true, SenderType::Campaign);
    scene.add_all([history, echo, scene.inbound(&other, &connection, 60)]).await;
    scene.add(scene.outbound(&other, &connection, 60)).await;
    assert_eq!((inbound().await, outbound().await), (None, None));
    scene.add(old).await;
    assert_eq!((inbound().await, outbound().await), (Some(at(99)), None));

    // Of two messages at the same time, the one with the greater id counts, whichever was stored
    // first.
    let mut left = scene.inbound(&contact, &connection, 5);
    let mut right = scene.inbound(&contact, &connection, 5);
    (left.timestamp, right.timestamp) = (at(30), at(20));
    scene.add(right.clone()).await;
    scene.add(left).await;
    assert_eq!(inbound().await, Some(at(20)));
    let mut agent = scene.outbound(&contact, &connection, 4);
    let mut ai = scene.outbound(&contact, &connection, 4);
    (agent.sender_type, ai.sender_type) = (SenderType::Agent, SenderType::Ai);
    scene.add(ai).await;
    scene.add(agent).await;
    assert_eq!(outbound().await, Some(SenderType::Ai));
    scene.apply(first(right).delete()).await;
    assert_eq!(inbound().await, Some(at(30)));
    let elsewhere = scene.another_company().await.company;
    let theirs = store.newest_inbound_at(elsewhere, contact.id).await.expect("works");
    assert_eq!(theirs, None);
    let theirs = store.newest_outbound_sender(elsewhere, contact.id).await.expect("works");
    assert_eq!(theirs, None);
}
