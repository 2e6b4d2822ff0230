//! Promise 6 for connections, conversations, messages and related rows.

use recado_core::connections::{Connection, StatusHistory};
use recado_core::contacts::Contact;
use recado_core::conversations::ChannelQuery;
use recado_core::idempotency::RememberedCall;
use recado_core::leads::LeadMemory;
use recado_core::messages::{Message, MessageRef, Referred};
use recado_core::prosas::LedgerLine;
use recado_core::store::{ChangeSet, RecordsExt, Row};

use super::Harness;
use super::channel_scene::{code, wamid};
use super::scene::{Scene, at, first};

/// A contact with one row of each kind that messages make.
struct ContactWithRows {
    contact: Contact,
    message: Message,
    reference: MessageRef,
    call: RememberedCall,
    line: LedgerLine,
}

async fn known(scene: &Scene, connection: &Connection, name: &str) -> ContactWithRows {
    let contact = scene.contact();
    let message = scene.inbound(&contact, connection, 0);
    let reference = scene.reference(&message, name);
    let call = scene.call(name, Some(contact.id));
    let description = Some(format!("a reply to {name}"));
    let line = LedgerLine { description, ..scene.debit(Some(contact.id), 5, 0) };
    let rows: Vec<Row> = vec![
        contact.clone().into(),
        scene.alias(&contact, name).into(),
        scene.alias(&contact, &format!("{name}-2")).into(),
        scene.conversation(&contact, connection).into(),
        message.clone().into(),
        reference.clone().into(),
        scene.lead(&contact).into(),
        call.clone().into(),
        line.clone().into(),
    ];
    scene.add_all(rows).await;
    ContactWithRows { contact, message, reference, call, line }
}

async fn referred(scene: &Scene, connection: &Connection, id: &str) -> Vec<Referred> {
    let found = scene.store.referred(scene.company, connection.id, &[wamid(id)]).await;
    found.expect("the store works")
}

/// Whether the rows of a contact exist: all of them, or none.
async fn is_known(
    scene: &Scene,
    connection: &Connection,
    known: &ContactWithRows,
    name: &str,
) -> bool {
    let (store, company) = (&scene.store, scene.company);
    let query =
        ChannelQuery { keys: vec![super::channel_scene::key(name)], ..ChannelQuery::default() };
    let by_alias = store.channel_contacts(company, &query).await.expect("works");
    let call = store.get::<RememberedCall>((company, known.call.key.clone())).await.expect("works");
    let lead = store.get::<LeadMemory>((company, known.contact.id)).await.expect("works");
    let newest = store.newest_inbound_at(company, known.contact.id).await.expect("works");
    let facts = [
        !by_alias.is_empty(),
        call.is_some(),
        lead.is_some(),
        newest.is_some(),
        scene.message_now(known.message.id).await.is_some(),
        !referred(scene, connection, known.reference.provider_id.as_str()).await.is_empty(),
    ];
    assert!(facts.iter().all(|fact| *fact == facts[0]), "a part of a contact is left: {facts:?}");
    facts[0]
}

/// The rows that are deleted with a contact, and those that stay.
pub async fn all_that_messages_left_goes_with_the_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    let gone = known(&scene, &connection, "gone").await;
    let stays = known(&scene, &connection, "stays").await;
    scene.add(scene.report(&connection, "report", at(9))).await;
    scene.add(scene.call("about nobody", None)).await;
    assert!(is_known(&scene, &connection, &gone, "gone").await);
    scene.apply(first(gone.contact.clone()).delete()).await;

    assert!(!is_known(&scene, &connection, &gone, "gone").await);
    assert!(is_known(&scene, &connection, &stays, "stays").await);
    assert_eq!(referred(&scene, &connection, "report").await.len(), 1);
    let call = scene.call("about nobody", None).key;
    let kept =
        scene.store.get::<RememberedCall>((scene.company, call.clone())).await.expect("works");
    assert!(kept.is_some());
    assert!(scene.connection_now(connection.id).await.is_some());
}

/// D26, R196: the ledger keeps its lines and their sums, without the contact and without what was
/// written about them. The lines keep their versions, because no change set wrote them.
pub async fn ledger_lines_stay_without_their_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    let gone = known(&scene, &connection, "gone").await;
    let stays = known(&scene, &connection, "stays").await;
    scene.apply(first(gone.contact.clone()).delete()).await;
    let line = |id| scene.store.get::<LedgerLine>((scene.company, id));
    let anonymous = LedgerLine { contact: None, description: None, ..gone.line.clone() };
    assert_eq!(line(gone.line.id).await.expect("works"), Some(first(anonymous.clone())));
    assert_eq!(line(stays.line.id).await.expect("works"), Some(first(stays.line.clone())));
    // The line can still be updated.
    let mut refunded = anonymous.clone();
    refunded.refunded = (anonymous.prosas, anonymous.cost);
    scene.apply(first(anonymous).update(refunded)).await;
}

/// No row is left that a contact with the same id would get, or that would conflict with its rows.
pub async fn a_contact_that_comes_back_finds_nothing_of_the_old(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    let gone = known(&scene, &connection, "gone").await;
    scene.apply(first(gone.contact.clone()).delete()).await;
    scene.add(gone.contact.clone()).await;
    assert!(!is_known(&scene, &connection, &gone, "gone").await);
    let record = scene.store.contact_record(scene.company, gone.contact.id).await;
    let (record, _) = record.expect("the store works").expect("the contact is there");
    assert_eq!((record.related.conversations, record.related.lead_memory), (vec![], None));
    let line = scene.store.get::<LedgerLine>((scene.company, gone.line.id)).await.expect("works");
    assert_eq!(line.and_then(|line| line.contact), None);
    // Every unique key can be used again.
    let rows: Vec<Row> = vec![
        scene.alias(&gone.contact, "gone").into(),
        scene.conversation(&gone.contact, &connection).into(),
        gone.message.clone().into(),
        gone.reference.clone().into(),
        scene.lead(&gone.contact).into(),
        gone.call.clone().into(),
    ];
    scene.add_all(rows).await;
    assert!(is_known(&scene, &connection, &gone, "gone").await);
}

/// The references of provider ids to a message are deleted with it.
pub async fn references_go_with_their_message(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let (message, other) =
        (scene.inbound(&contact, &connection, 0), scene.inbound(&contact, &connection, 0));
    scene.add_all([message.clone(), other.clone()]).await;
    scene.add_all([scene.reference(&message, "w1"), scene.reference(&message, "w2")]).await;
    scene.add(scene.reference(&other, "w3")).await;
    scene.apply(first(message).delete()).await;
    assert_eq!(referred(&scene, &connection, "w1").await, []);
    assert_eq!(referred(&scene, &connection, "w2").await, []);
    assert_eq!(referred(&scene, &connection, "w3").await.len(), 1);
}

/// The groups, statuses and reports of a connection are deleted with it.
pub async fn groups_and_reports_go_with_the_connection(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (gone, stays) = (scene.connection(), scene.connection());
    scene.add_all([gone.clone(), stays.clone()]).await;
    for connection in [&gone, &stays] {
        scene.add(scene.group(connection, "g1")).await;
        scene.add(scene.statuses(connection)).await;
        scene.add(scene.report(connection, "w1", at(9))).await;
    }
    scene.apply(first(gone.clone()).delete()).await;
    assert_eq!(referred(&scene, &gone, "w1").await, []);
    assert_eq!(referred(&scene, &stays, "w1").await.len(), 1);
    let groups = scene.store.groups_by_code(scene.company, &[code("g1")]).await.expect("works");
    assert_eq!(groups, [first(scene.group(&stays, "g1"))]);
    for (connection, kept) in [(&gone, None), (&stays, Some(first(scene.statuses(&stays))))] {
        let key = (scene.company, connection.id);
        assert_eq!(scene.store.get::<StatusHistory>(key).await.expect("works"), kept);
    }
    // A connection with the same id gets none of the deleted rows.
    let again = ChangeSet::new()
        .insert(gone.clone())
        .insert(scene.group(&gone, "g1"))
        .insert(scene.statuses(&gone))
        .insert(scene.report(&gone, "w1", at(9)));
    scene.store.commit(again).await.expect("every key is free again");
}
