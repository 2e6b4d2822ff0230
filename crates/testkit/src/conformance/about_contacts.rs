//! What is stored about a contact is listed and counted (R411, R412).

use recado_core::Timestamp;
use recado_core::ids::MessageId;
use recado_core::messages::Direction;
use recado_core::store::{ChangeSet, Conflict, Listing, Precondition, Row, RowKind};
use uuid::Uuid;

use super::Harness;
use super::scene::{Scene, conflict, first};

/// R412: what was counted about a contact holds when the contact is deleted.
pub async fn rows_that_were_counted_stop_the_change_set_when_there_are_more(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, tag) = (scene.contact(), scene.tag());
    scene.add(contact.clone()).await;
    scene.add(tag.clone()).await;
    let kind = RowKind::ContactTag;
    let count = scene.store.count_about(scene.company, kind, contact.id).await;
    let count = count.expect("the store works");
    assert_eq!(count, 0);
    let delete = || {
        let (company, contact_id) = (scene.company, contact.id);
        ChangeSet::new()
            .require(Precondition::Counted { company, kind, contact: contact_id, count })
            .with(first(contact.clone()).delete())
    };
    scene.add(scene.tagged(&contact, &tag)).await;
    let found = conflict(scene.store.commit(delete()).await);
    assert_eq!(found, Conflict::Stale(Row::from(contact.clone()).key()));
    assert_eq!(scene.store.count_about(scene.company, kind, contact.id).await.expect("works"), 1);
    scene.apply(first(scene.tagged(&contact, &tag)).delete()).await;
    scene.store.commit(delete()).await.expect("as many as were counted");
    assert!(!scene.has_contact(contact.id).await);
}

/// R411: rows about a contact are listed by their ids, page by page, and counted; those about
/// another contact are not.
pub async fn rows_about_a_contact_are_listed_and_counted(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, other) = (scene.contact(), scene.contact());
    scene.add(contact.clone()).await;
    scene.add(other.clone()).await;
    for of in [&contact, &contact, &contact, &other] {
        scene.add(scene.document(of)).await;
    }
    let (company, kind, mut after) = (scene.company, RowKind::Document, Uuid::nil());
    let count = scene.store.count_about(company, kind, contact.id).await;
    assert_eq!(count.expect("the store works"), 3);
    let mut found = Vec::new();
    loop {
        let about = Listing::About { company, kind, contact: contact.id, after, limit: 2 };
        let page = scene.store.rows(about).await.expect("the store works");
        for row in &page {
            let Row::Document(document) = row.value() else { panic!("no document: {row:?}") };
            assert_eq!(document.contact_id, contact.id);
            assert!(document.id.uuid() > after, "they are in order");
            after = document.id.uuid();
            found.push(document.id);
        }
        if page.len() < 2 {
            break;
        }
    }
    assert_eq!(found.len(), 3);
}

/// R411: the messages of a contact are listed by direction and time, page by page.
pub async fn the_messages_of_a_contact_are_listed_page_by_page(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let mut made = Vec::new();
    for millis in [5, 3, 4] {
        let message = scene.outbound(&contact, &connection, millis);
        made.push((message.created_at, message.id));
        scene.add(message).await;
    }
    made.sort();
    let (company, contact) = (scene.company, contact.id);
    let mut after = (Timestamp::MIN, MessageId::new(Uuid::nil()));
    let mut found = Vec::new();
    loop {
        let listing = Listing::MessagesOf {
            company,
            contact,
            direction: Direction::Outbound,
            is_history: false,
            after,
            limit: 2,
        };
        let page = scene.store.rows(listing).await.expect("the store works");
        for row in &page {
            let Row::Message(message) = row.value() else { panic!("no message: {row:?}") };
            after = (message.created_at, message.id);
            found.push(after);
        }
        if page.len() < 2 {
            break;
        }
    }
    assert_eq!(found, made);
}
