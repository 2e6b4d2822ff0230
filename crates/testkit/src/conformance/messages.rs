//! Reads of messages: by id, by the provider's id, and of those being sent.

use recado_core::connections::{Connection, ConnectionKind, ConnectionStatus};
use recado_core::contacts::Contact;
use recado_core::figures::FigureQuery;
use recado_core::ids::{MessageId, WorkerId};
use recado_core::messages::{Message, MessageStatus, ProviderMessageId, Referred, SenderType};
use recado_core::store::Stored;

use super::Harness;
use super::channel_scene::wamid;
use super::scene::{Scene, at, first};

fn ids(mut messages: Vec<Stored<Message>>) -> Vec<MessageId> {
    messages.sort_by_key(|message| message.id);
    messages.into_iter().map(|message| message.id).collect()
}

async fn abandoned(scene: &Scene, now: i64, limit: u32) -> Vec<MessageId> {
    ids(scene.store.abandoned_messages(at(now), limit).await.expect("the store works"))
}

async fn in_flight(scene: &Scene, sender: WorkerId, limit: u32) -> Vec<MessageId> {
    ids(scene.store.messages_in_flight(sender, limit).await.expect("the store works"))
}

/// The ids may be in any order; each message is answered once.
pub async fn messages_are_read_by_their_ids(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let messages: Vec<_> = (0..120).map(|n| scene.inbound(&contact, &connection, n)).collect();
    scene.add_all(messages.clone()).await;
    let (store, company) = (&scene.store, scene.company);
    assert_eq!(store.messages(company, &[]).await.expect("works"), []);
    let asked = [messages[3].id, MessageId::new(scene.uuid()), messages[1].id, messages[3].id];
    let found = store.messages(company, &asked).await.expect("works");
    assert_eq!(ids(found), [messages[1].id, messages[3].id]);
    let all: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
    assert_eq!(ids(store.messages(company, &all).await.expect("works")), all);
    let other = scene.another_company().await;
    assert_eq!(store.messages(other.company, &all).await.expect("works"), []);
}

/// The answer has what each id refers to: a message or a report, expired or not.
pub async fn provider_ids_tell_what_they_stand_for(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let second = scene.connection();
    scene.add(second.clone()).await;
    let message = scene.outbound(&contact, &connection, 0);
    scene.add(message.clone()).await;
    let reference = scene.reference(&message, "w1");
    let report = scene.report(&connection, "w2", at(-9));
    scene.add_all([reference.clone(), report.clone()]).await;
    scene.add(scene.report(&second, "w3", at(9))).await;

    let ask = async |company, connection, ids: &[&str]| {
        let ids: Vec<ProviderMessageId> = ids.iter().map(|id| wamid(id)).collect();
        let found = scene.store.referred(company, connection, &ids).await;
        let mut found = found.expect("the store works");
        found.sort_by(|a, b| a.reference.provider_id.cmp(&b.reference.provider_id));
        found
    };
    let found = ask(scene.company, connection.id, &["w2", "w3", "w9", "w1", "w2"]).await;
    let message = Referred { reference: first(reference), message: Some(first(message)) };
    let report = Referred { reference: first(report), message: None };
    assert_eq!(found, [message, report]);
    assert_eq!(ask(scene.company, connection.id, &[]).await, []);
    assert_eq!(ask(scene.company, connection.id, &["W1", "w1 "]).await, []);
    assert_eq!(ask(scene.company, second.id, &["w1"]).await, []);
    let other = scene.another_company().await;
    assert_eq!(ask(other.company, connection.id, &["w1", "w2"]).await, []);
}

/// D36: messages of a process that is gone, or whose lease has expired, are abandoned.
pub async fn messages_of_silent_and_unknown_processes_are_abandoned(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let ((contact, connection), theirs) = (scene.pair().await, other.pair().await);
    let (alive, silent, unknown) = (scene.worker(100), scene.worker(50), scene.worker(0));
    scene.add_all([alive, silent]).await;
    let of_alive = scene.pending(&contact, &connection, alive.id);
    let of_silent = scene.pending(&contact, &connection, silent.id);
    let of_unknown = other.pending(&theirs.0, &theirs.1, unknown.id);
    let mut finished = scene.pending(&contact, &connection, unknown.id);
    (finished.status, finished.sender) = (MessageStatus::Failed, None);
    scene.add_all([of_alive.clone(), of_silent.clone(), of_unknown.clone(), finished]).await;
    scene.add(scene.inbound(&contact, &connection, 0)).await;

    let (alive_one, silent_one, lost) = (of_alive.id, of_silent.id, of_unknown.id);
    assert_eq!(abandoned(&scene, 49, 10).await, [lost]);
    assert_eq!(abandoned(&scene, 50, 10).await, [silent_one, lost]);
    assert_eq!(abandoned(&scene, 99, 10).await, [silent_one, lost]);
    assert_eq!(abandoned(&scene, 100, 10).await, [alive_one, silent_one, lost]);
    assert_eq!(abandoned(&scene, 100, 2).await.len(), 2);
    assert_eq!(abandoned(&scene, 100, 0).await, []);

    // A renewed lease counts again; a deleted one does not.
    let mut renewed = silent;
    renewed.leased_until = at(200);
    scene.apply(first(silent).update(renewed)).await;
    scene.apply(first(alive).delete()).await;
    assert_eq!(abandoned(&scene, 49, 10).await, [alive_one, lost]);
    // A message whose sending has ended has no sender.
    let mut sent = of_alive.clone();
    (sent.status, sent.sender) = (MessageStatus::Sent, None);
    scene.apply(first(of_alive).update(sent)).await;
    assert_eq!(abandoned(&scene, 49, 10).await, [lost]);
    let whole = scene.store.abandoned_messages(at(49), 10).await.expect("the store works");
    assert_eq!(whole, [first(of_unknown)]);
}

/// The messages whose sends a process has to end before it stops.
pub async fn messages_in_flight_are_reported_by_their_process(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let ((contact, connection), theirs) = (scene.pair().await, other.pair().await);
    let (mine, another) = (scene.worker(100).id, scene.worker(100).id);
    let here = scene.pending(&contact, &connection, mine);
    let there = other.pending(&theirs.0, &theirs.1, mine);
    let foreign = scene.pending(&contact, &connection, another);
    scene.add_all([here.clone(), there.clone(), foreign.clone()]).await;
    scene.add(scene.outbound(&contact, &connection, 0)).await;
    assert_eq!(in_flight(&scene, mine, 10).await, [here.id, there.id]);
    assert_eq!(in_flight(&scene, mine, 1).await.len(), 1);
    assert_eq!(in_flight(&scene, another, 10).await, [foreign.id]);
    assert_eq!(in_flight(&scene, WorkerId::new(scene.uuid()), 10).await, []);
    let mut failed = here.clone();
    (failed.status, failed.sender) = (MessageStatus::Failed, None);
    scene.apply(first(here).update(failed)).await;
    let whole = scene.store.messages_in_flight(mine, 10).await.expect("the store works");
    assert_eq!(whole, [first(there)]);
}

/// Messages that a QR gateway accepted and never reported on. The test checks each condition, and
/// both ends of the time span (R123).
pub async fn messages_that_came_no_further_are_counted(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let ((contact, connection), theirs) = (scene.pair().await, other.pair().await);
    let group = Contact { is_group: true, ..scene.contact() };
    scene.add(group.clone()).await;
    let of = |kind, is_active, status| Connection { kind, is_active, status, ..scene.connection() };
    let cloud = of(ConnectionKind::OfficialCloud, true, ConnectionStatus::Connected);
    let off = of(ConnectionKind::Qr, false, ConnectionStatus::Connected);
    let offline = of(ConnectionKind::Qr, true, ConnectionStatus::Disconnected);
    scene.add_all([cloud.clone(), off.clone(), offline.clone()]).await;
    let count = async |from, to| {
        let query = FigureQuery { left_sent: (at(from), at(to)), ..FigureQuery::at(at(to)) };
        scene.store.figures(&query).await.expect("the store works").left_sent
    };
    assert_eq!(count(0, 100).await, 0);
    for status in MessageStatus::ALL.iter().filter(|status| **status != MessageStatus::Sent) {
        let further = scene.outbound(&contact, &connection, 50);
        scene.add(Message { status: *status, ..further }).await;
    }
    let mut history = scene.outbound(&contact, &connection, 50);
    history.is_history = true;
    let mut received = scene.inbound(&contact, &connection, 50);
    received.status = MessageStatus::Sent;
    let other_ways = [
        history,
        received,
        scene.outbound(&group, &connection, 50),
        scene.outbound(&contact, &cloud, 50),
        scene.outbound(&contact, &off, 50),
        scene.outbound(&contact, &offline, 50),
    ];
    scene.add_all(other_ways).await;
    assert_eq!(count(0, 100).await, 0);

    let left = scene.outbound(&contact, &connection, 50);
    scene.add(left.clone()).await;
    assert_eq!([count(0, 100).await, count(50, 50).await], [1, 1]);
    assert_eq!([count(0, 49).await, count(51, 100).await, count(51, 49).await], [0; 3]);
    // With every sender type.
    for (n, sender_type) in (0..).zip(SenderType::ALL) {
        scene
            .add(Message {
                sender_type: *sender_type,
                ..scene.outbound(&contact, &connection, 60 + n)
            })
            .await;
    }
    other.add(other.outbound(&theirs.0, &theirs.1, 50)).await;
    let senders = SenderType::ALL.len() as u64;
    assert_eq!([count(50, 50).await, count(0, 100).await], [2, 2 + senders]);
    // The count changes with the message, its contact and its connection.
    let delivered = Message { status: MessageStatus::Delivered, ..left.clone() };
    scene.apply(first(left).update(delivered)).await;
    assert_eq!(count(50, 50).await, 1);
    let lost = Connection { status: ConnectionStatus::Disconnected, ..connection.clone() };
    scene.apply(first(connection).update(lost)).await;
    assert_eq!(count(0, 100).await, 1);
    let back = Connection { status: ConnectionStatus::Connected, ..offline.clone() };
    scene.apply(first(offline).update(back)).await;
    assert_eq!(count(0, 100).await, 2);
}
