//! The listing of messages (4.6, 4.7, D29).

use recado_core::connections::Connection;
use recado_core::contacts::{Contact, Phone, Region};
use recado_core::ids::MessageId;
use recado_core::messages::{
    ContactBrief, Direction, Message, MessageFilter, MessageRecord, MessageStatus, MessageType,
};
use recado_core::page::{Page, PageRequest};
use recado_core::store::ChangeSet;

use super::Harness;
use super::channel_scene::platform;
use super::scene::{Scene, at, first};

async fn page(scene: &Scene, filter: &MessageFilter, page: u32, limit: u32) -> Page<MessageRecord> {
    let page = scene.store.message_page(scene.company, filter, PageRequest { page, limit }).await;
    page.expect("the store works")
}

async fn listed(scene: &Scene, filter: &MessageFilter) -> Vec<Message> {
    let page = page(scene, filter, 1, 100).await;
    assert_eq!(page.total, page.items.len() as u64, "all fit on one page");
    page.items.into_iter().map(|record| record.message).collect()
}

/// Two contacts on two connections with messages of every kind. Several have equal times.
async fn messaging(scene: &Scene) -> (Vec<Message>, [Contact; 2], [Connection; 2]) {
    let contacts = [scene.contact(), scene.contact()];
    let connections = [scene.connection(), scene.connection()];
    scene.add_all(contacts.clone()).await;
    scene.add_all(connections.clone()).await;
    let quoted = [MessageId::new(scene.uuid()), MessageId::new(scene.uuid())];
    let types = [MessageType::Text, MessageType::Image, MessageType::Reaction];
    let statuses = [MessageStatus::Sent, MessageStatus::Read, MessageStatus::Failed];
    let mut messages: Vec<Message> = (0..90)
        .map(|n: usize| {
            let (contact, connection) = (&contacts[n % 2], &connections[n / 2 % 2]);
            let millis = [5, 1, 3, 1, 9, 3, 1][n % 7];
            let mut message = match n % 3 {
                0 => scene.inbound(contact, connection, millis),
                _ => scene.outbound(contact, connection, millis),
            };
            message.message_type = types[n / 4 % 3];
            if message.direction == Direction::Outbound {
                message.status = statuses[n / 5 % 3];
            }
            message.is_history = n.is_multiple_of(11);
            message.quoted.message = quoted.get(n % 8).copied();
            // The listing is ordered by the time of storage, not by the provider's time.
            message.timestamp = at(-(n as i64));
            message
        })
        .collect();
    scene.add_all(messages.iter().rev().cloned().collect::<Vec<_>>()).await;
    messages.sort_by_key(|message| std::cmp::Reverse((message.created_at, message.id)));
    (messages, contacts, connections)
}

/// D29.
pub async fn messages_come_newest_first_then_by_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (messages, contacts, _) = messaging(&scene).await;
    assert!(listed(&scene, &MessageFilter::default()).await == messages);
    let filter = MessageFilter { contact: Some(contacts[1].id), ..MessageFilter::default() };
    let theirs: Vec<_> = messages.iter().filter(|m| m.contact == contacts[1].id).cloned().collect();
    assert!(listed(&scene, &filter).await == theirs);
}

/// Each page is a part of the listing, and all have the same total.
pub async fn pages_of_messages_partition_the_listing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (messages, ..) = messaging(&scene).await;
    let everything = MessageFilter::default();
    for limit in [1, 7, 45, 89, 90, 100] {
        let mut listed = Vec::new();
        for number in 1..=90_u32.div_ceil(limit) {
            let page = page(&scene, &everything, number, limit).await;
            assert_eq!(page.total, 90);
            assert!(page.items.len() <= limit as usize);
            listed.extend(page.items.into_iter().map(|record| record.message));
        }
        assert!(listed == messages, "in pages of {limit}");
    }
    for number in [91, 1_000, u32::MAX] {
        let beyond = page(&scene, &everything, number, 1).await;
        assert_eq!((beyond.items.len(), beyond.total), (0, 90));
    }
    let nobody = MessageFilter { contact: Some(scene.contact().id), ..everything };
    assert_eq!(page(&scene, &nobody, 1, 10).await, Page::empty());
}

fn options<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    std::iter::once(None).chain(values.iter().copied().map(Some)).collect()
}

/// A message must match every given filter. Both ends of a time span are included.
pub async fn every_combination_of_message_filters_is_exact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (messages, contacts, connections) = messaging(&scene).await;
    let holds = |message: &Message, filter: &MessageFilter| {
        [
            filter.contact.is_none_or(|wanted| message.contact == wanted),
            filter.connection.is_none_or(|wanted| message.connection == wanted),
            filter.direction.is_none_or(|wanted| message.direction == wanted),
            filter.message_type.is_none_or(|wanted| message.message_type == wanted),
            filter.status.is_none_or(|wanted| message.status == wanted),
            filter.quoting.is_none_or(|quoted| message.quoted.message == Some(quoted)),
            filter.from.is_none_or(|from| from <= message.created_at),
            filter.to.is_none_or(|to| message.created_at <= to),
        ]
        .iter()
        .all(|holds| *holds)
    };
    let quoted = messages.iter().find_map(|message| message.quoted.message);
    let mut found = 0;
    for contact in options(&[contacts[0].id]) {
        for connection in options(&[connections[1].id]) {
            for direction in options(&[Direction::Inbound, Direction::Outbound]) {
                for message_type in options(&[MessageType::Image, MessageType::Video]) {
                    for status in options(&[MessageStatus::Read, MessageStatus::Received]) {
                        for (quoting, from, to) in [
                            (None, None, None),
                            (None, Some(3), Some(5)),
                            (None, Some(4), Some(2)),
                            (quoted, None, None),
                            (quoted, Some(3), Some(5)),
                        ] {
                            let (from, to) = (from.map(at), to.map(at));
                            let filter = MessageFilter {
                                contact,
                                connection,
                                direction,
                                message_type,
                                status,
                                quoting,
                                from,
                                to,
                                search: None,
                            };
                            let wanted: Vec<_> =
                                messages.iter().filter(|m| holds(m, &filter)).cloned().collect();
                            assert!(listed(&scene, &filter).await == wanted, "{filter:?}");
                            found += wanted.len();
                        }
                    }
                }
            }
        }
    }
    assert!(found > 500, "the filters let some pass");
    for (from, to, count) in [(Some(9), None, 13), (Some(10), None, 0), (None, Some(0), 0)] {
        let (from, to) = (from.map(at), to.map(at));
        let filter = MessageFilter { from, to, ..MessageFilter::default() };
        assert_eq!(page(&scene, &filter, 1, 1).await.total, count);
    }
}

/// 2.4: the contact as it is now; a contact without a phone is shown with its identifier (D16).
pub async fn a_listed_message_shows_its_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (mut contact, connection) = (scene.contact_named("a-lid"), scene.connection());
    contact.source_platform = platform("telegram");
    contact.derive();
    scene.add(contact.clone()).await;
    scene.add(connection.clone()).await;
    let message = scene.inbound(&contact, &connection, 0);
    scene.add(message.clone()).await;
    let shown = async || page(&scene, &MessageFilter::default(), 1, 10).await.items;
    let brief = ContactBrief {
        id: contact.id,
        phone: "a-lid".to_owned(),
        name: String::new(),
        display_name: "a-lid".to_owned(),
        source_platform: "telegram".to_owned(),
    };
    let record = MessageRecord { message: message.clone(), contact: brief };
    assert!(shown().await == [record]);

    let changed = first(contact.clone()).changed(at(1), |contact| {
        contact.name = "Ana".to_owned();
        contact.phone = Phone::parse("+5511987654321", &Region::br()).ok();
    });
    scene.apply(first(contact.clone()).update(changed)).await;
    let brief = ContactBrief {
        id: contact.id,
        phone: "+5511987654321".to_owned(),
        name: "Ana".to_owned(),
        display_name: "Ana".to_owned(),
        source_platform: "telegram".to_owned(),
    };
    assert!(shown().await == [MessageRecord { message, contact: brief }]);
}

/// Promise 8.
pub async fn another_companys_messages_are_not_listed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (contact, connection) = scene.pair().await;
    scene.add(scene.inbound(&contact, &connection, 0)).await;
    assert_eq!(page(&other, &MessageFilter::default(), 1, 10).await, Page::empty());
    let filter = MessageFilter {
        contact: Some(contact.id),
        connection: Some(connection.id),
        ..MessageFilter::default()
    };
    assert_eq!(page(&other, &filter, 1, 10).await, Page::empty());
    assert_eq!(page(&scene, &filter, 1, 10).await.total, 1);
}

/// The listing shows messages as they are now, without deleted ones.
pub async fn a_listing_of_messages_follows_every_change(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let message = scene.outbound(&contact, &connection, 0);
    scene.add(message.clone()).await;
    let total = async |status| {
        let filter = MessageFilter { status: Some(status), ..MessageFilter::default() };
        page(&scene, &filter, 1, 10).await.total
    };
    assert_eq!((total(MessageStatus::Sent).await, total(MessageStatus::Read).await), (1, 0));
    let mut read = message.clone();
    read.status = MessageStatus::Read;
    scene.apply(first(message).update(read)).await;
    assert_eq!((total(MessageStatus::Sent).await, total(MessageStatus::Read).await), (0, 1));
    scene.apply(scene.stored(contact.id).await.delete()).await;
    assert_eq!((total(MessageStatus::Sent).await, total(MessageStatus::Read).await), (0, 0));
    assert_eq!(page(&scene, &MessageFilter::default(), 1, 10).await, Page::empty());
}

/// The total agrees with the items, whatever is written meanwhile.
pub async fn a_total_of_messages_is_of_the_same_state_as_its_items(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let messages: Vec<_> = (0..60).map(|n| scene.inbound(&contact, &connection, n)).collect();
    let store = scene.store.clone();
    let writer = tokio::spawn(async move {
        for message in &messages {
            let changes = ChangeSet::new().insert(message.clone());
            store.commit(changes).await.expect("nothing stands in the way");
        }
        for message in messages {
            let changes = ChangeSet::new().with(first(message).delete());
            store.commit(changes).await.expect("nothing stands in the way");
        }
    });
    while !writer.is_finished() {
        let page = page(&scene, &MessageFilter::default(), 1, 100).await;
        assert_eq!(page.items.len() as u64, page.total);
        tokio::task::yield_now().await;
    }
    writer.await.expect("no panic");
    assert_eq!(page(&scene, &MessageFilter::default(), 1, 100).await, Page::empty());
}
