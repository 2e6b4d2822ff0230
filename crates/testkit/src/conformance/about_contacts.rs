//! What is stored about a contact is listed and counted (R411, R412).

use recado_core::Timestamp;
use recado_core::ids::{ContactId, MessageId};
use recado_core::messages::{Direction, Message};
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

/// R422: the last message of each of some contacts, whichever way it went.
pub async fn the_last_messages_of_some_contacts_are_found(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (ana, connection) = scene.pair().await;
    let (bia, silent, left_out) = (scene.contact(), scene.contact(), scene.contact());
    scene.add_all([bia.clone(), silent.clone(), left_out.clone()]).await;
    let came = |of, at| Message { is_history: at == 7, ..scene.inbound(of, &connection, at) };
    let mut last = Vec::new();
    for (of, first, then) in [(&ana, 3, 7), (&bia, 4, 5)] {
        scene.add_all([scene.outbound(of, &connection, first), came(of, first)]).await;
        // Of those that came at once the greatest id is the last.
        let twins = [came(of, then), came(of, then), came(of, then)];
        scene.add_all(twins.clone()).await;
        last.push(twins.iter().map(|message| message.id).max().expect("some"));
    }
    scene.add(scene.outbound(&left_out, &connection, 9)).await;
    let went = scene.outbound(&bia, &connection, 6);
    last[1] = went.id;
    scene.add(went).await;
    let other = scene.another_company().await;
    let found = async |scene: &Scene, contacts: Vec<ContactId>| {
        let listing = Listing::LastMessages { company: scene.company, contacts };
        let rows = scene.store.rows(listing).await.expect("the store works");
        let mut ids: Vec<MessageId> = rows
            .iter()
            .map(|row| match row.value() {
                Row::Message(message) => message.id,
                row => panic!("no message: {row:?}"),
            })
            .collect();
        ids.sort_unstable();
        ids
    };
    last.sort_unstable();
    assert_eq!(found(&scene, vec![ana.id, silent.id, bia.id]).await, last);
    assert_eq!(found(&scene, vec![silent.id]).await, []);
    assert_eq!(found(&scene, vec![]).await, []);
    assert_eq!(found(&other, vec![ana.id]).await, []);
}
