//! The rows of one contact are reassigned to another (D62): all of them, in one change together
//! with the rest of the change set.

use recado_core::contacts::{Contact, ContactFilter};
use recado_core::conversations::{ChannelQuery, Conversation};
use recado_core::deals::Deal;
use recado_core::dispatches::DispatchWindow;
use recado_core::documents::Document;
use recado_core::events::{Event, EventsAbout};
use recado_core::gateway::UnknownEvent;
use recado_core::idempotency::RememberedCall;
use recado_core::ids::{ContactId, EventId};
use recado_core::jobs::{Job, JobKind};
use recado_core::leads::LeadMemory;
use recado_core::links::Link;
use recado_core::lists::List;
use recado_core::messages::{Message, MessageFilter};
use recado_core::page::PageRequest;
use recado_core::prosas::LedgerLine;
use recado_core::store::{Change, ChangeSet, RecordsExt, Row, Stored};
use recado_core::tags::Tag;

use super::Harness;
use super::campaign_scene::{Enrolled, at_once};
use super::channel_scene::{key, wamid};
use super::outbound_scene::{ALL, whole};
use super::scene::{Scene, applied, assert_stale, at, conflict, first};

/// One row of each kind that a contact can have.
struct Owned {
    message: Message,
    deal: Deal,
    document: Document,
    link: Link,
    tag: Tag,
    list: List,
    window: DispatchWindow,
    line: LedgerLine,
    call: RememberedCall,
    conversation: Conversation,
    event: Event,
    job: Job,
    enrolled: Enrolled,
    kept: UnknownEvent,
}

/// Stores one row of each kind for a stored contact.
async fn owned(scene: &Scene, contact: &Contact, name: &str) -> Owned {
    let connection = scene.connection();
    let link = scene.clicked_link(contact, 1, 8);
    let message = scene.outbound(contact, &connection, 5);
    let enrolled = scene.enrolled(0).await;
    let list = scene.list();
    let made = Owned {
        deal: scene.deal(contact, None),
        document: scene.document(contact),
        tag: scene.tag(),
        window: scene.window(contact, 7),
        line: scene.debit(Some(contact.id), 5, 0),
        call: scene.call(name, Some(contact.id)),
        conversation: scene.conversation(contact, &connection),
        event: scene.reported_of(contact.id, 3),
        kept: UnknownEvent { contact: Some(contact.id), ..scene.unknown_event(&connection, name) },
        job: Job { kind: JobKind::EraseEvents { contact: contact.id }, ..scene.job() },
        message,
        link,
        list,
        enrolled,
    };
    let rows: Vec<Row> = vec![
        connection.into(),
        made.message.clone().into(),
        scene.reference(&made.message, name).into(),
        made.deal.clone().into(),
        made.document.clone().into(),
        made.link.clone().into(),
        scene.click(&made.link, 8, true).into(),
        scene.click(&made.link, 9, false).into(),
        made.tag.clone().into(),
        scene.tagged(contact, &made.tag).into(),
        made.list.clone().into(),
        scene.joins(contact, &made.list).into(),
        scene.alias(contact, name).into(),
        scene.alias(contact, &format!("{name}-2")).into(),
        made.window.clone().into(),
        made.line.clone().into(),
        made.call.clone().into(),
        made.conversation.clone().into(),
        scene.lead(contact).into(),
        made.job.clone().into(),
        made.kept.clone().into(),
        scene.waiting(made.enrolled.campaign.id, 1, contact.id).into(),
    ];
    let changes = rows.into_iter().fold(ChangeSet::new(), ChangeSet::insert);
    scene.store.commit(changes.emit(made.event.clone())).await.expect("all can be stored");
    made
}

/// Two stored contacts: the one that rows are moved from, and the one they are moved to.
async fn two(scene: &Scene) -> (Contact, Contact) {
    let (from, into) = (scene.contact(), scene.contact_with_phone("+5534991234567"));
    scene.add_all([from.clone(), into.clone()]).await;
    (from, into)
}

pub(super) fn move_to(scene: &Scene, from: &Contact, into: &Contact) -> Change {
    Change::reassign(scene.company, from.id, into.id)
}

/// The number of a version.
fn version<T>(row: &Stored<T>) -> u64 {
    row.version().number()
}

/// Checks that all rows belong to this contact, at this version.
async fn assert_belongs(scene: &Scene, made: &Owned, name: &str, to: &Contact, at: u64) {
    let (store, company, id) = (&scene.store, scene.company, to.id);
    let message = scene.message_now(made.message.id).await.expect("the message is there");
    assert_eq!(*message.value(), Message { contact: id, ..made.message.clone() });
    let referred =
        store.referred(company, message.connection, &[wamid(name)]).await.expect("works");
    assert_eq!(referred[0].message.as_ref(), Some(&message));
    let deal = store.get::<Deal>((company, made.deal.id)).await.expect("works").expect("there");
    assert_eq!(*deal.value(), Deal { contact_id: id, ..made.deal.clone() });
    assert_eq!(store.deals(company, Some(id)).await.expect("works"), [deal.value().clone()]);
    let document =
        store.get::<Document>((company, made.document.id)).await.expect("works").expect("there");
    assert_eq!(*document.value(), Document { contact_id: id, ..made.document.clone() });
    let documents = store.documents(company, id).await.expect("works");
    assert_eq!(documents, std::slice::from_ref(&document));
    let link = store.get::<Link>((company, made.link.id)).await.expect("works").expect("there");
    assert_eq!(*link.value(), Link { contact: id, ..made.link.clone() });
    let moved = DispatchWindow { contact: id, ..made.window.clone() };
    let window = scene.window_now(&moved).await.expect("the window is there");
    assert_eq!(*window.value(), moved);
    let line =
        store.get::<LedgerLine>((company, made.line.id)).await.expect("works").expect("there");
    assert_eq!(*line.value(), LedgerLine { contact: Some(id), ..made.line.clone() });
    let call = store
        .get::<RememberedCall>((company, made.call.key.clone()))
        .await
        .expect("works")
        .expect("there");
    assert_eq!(*call.value(), RememberedCall { contact: Some(id), ..made.call.clone() });
    let kept = store.get::<UnknownEvent>((company, made.kept.id)).await;
    let kept = kept.expect("works").expect("there");
    assert_eq!(*kept.value(), UnknownEvent { contact: Some(id), ..made.kept.clone() });
    let campaign = made.enrolled.campaign.id;
    let recipient = scene.recipient_now(campaign, 1).await.expect("the recipient is there");
    assert_eq!(*recipient.value(), scene.waiting(campaign, 1, id));
    let page = store.recipient_page(company, campaign, None, PageRequest::FIRST).await;
    let shown = page.expect("works").items.remove(0).contact;
    assert_eq!(shown, Some((to.phone.clone(), to.identifier.clone())));
    let versions = [
        version(&message),
        version(&deal),
        version(&document),
        version(&link),
        version(&window),
        version(&line),
        version(&call),
        version(&recipient),
        version(&kept),
    ];
    assert_eq!(versions, [at; 9]);
    let event = scene.event_now(made.event.id).await.expect("the event is there");
    assert_eq!(event.contact, Some(id));
    assert_shown(scene, made, name, to).await;
}

/// Checks what listings show of the contact that the rows belong to.
async fn assert_shown(scene: &Scene, made: &Owned, name: &str, to: &Contact) {
    let (store, company) = (&scene.store, scene.company);
    let (record, _) = store.contact_record(company, to.id).await.expect("works").expect("there");
    assert_eq!(record.related.tags, std::slice::from_ref(&made.tag));
    let lists: Vec<_> = record.related.lists.iter().map(|list| list.id).collect();
    assert_eq!(lists, [made.list.id]);
    let filter = ContactFilter::default();
    let slice = store.contact_page(company, &filter, PageRequest::FIRST, true).await;
    let mut records = slice.expect("works").records.into_iter();
    let clicks = records.find(|record| record.contact.id == to.id).and_then(|r| r.related.clicks);
    let clicks = clicks.expect("clicks were asked for");
    assert_eq!((clicks.total, clicks.last_at), (1, Some(at(8))));
    for alias in [name, &format!("{name}-2")] {
        assert_eq!(named(scene, alias).await, [to.id]);
    }
    assert_eq!(message_total(scene, to.id).await, 1);
    let list = store.list(company, made.list.id).await.expect("works").expect("there");
    assert_eq!(list.1, 1);
}

/// The contacts that have an alias.
async fn named(scene: &Scene, alias: &str) -> Vec<ContactId> {
    let query = ChannelQuery { keys: vec![key(alias)], ..ChannelQuery::default() };
    let found = scene.store.channel_contacts(scene.company, &query).await;
    found.expect("the store works").into_iter().map(|found| found.contact.id).collect()
}

async fn message_total(scene: &Scene, contact: ContactId) -> u64 {
    let filter = MessageFilter { contact: Some(contact), ..MessageFilter::default() };
    let page = scene.store.message_page(scene.company, &filter, PageRequest::FIRST).await;
    let page = page.expect("the store works");
    assert_eq!(page.items.len() as u64, page.total.min(u64::from(PageRequest::FIRST.limit)));
    page.total
}

async fn conversations(scene: &Scene, contact: ContactId) -> Vec<Stored<Conversation>> {
    let query = ChannelQuery { ids: vec![contact], ..ChannelQuery::default() };
    let found = scene.store.channel_contacts(scene.company, &query).await;
    found.expect("the store works").remove(0).conversations
}

/// The rows named in the contract move, and those with a version get the next one. The contacts
/// themselves, their conversations and lead memories, and jobs do not change (R116).
pub async fn everything_of_a_contact_becomes_anothers(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (from, into) = two(&scene).await;
    let made = owned(&scene, &from, "lid").await;
    assert_belongs(&scene, &made, "lid", &from, 1).await;
    scene.apply(move_to(&scene, &from, &into)).await;
    assert_belongs(&scene, &made, "lid", &into, 2).await;

    assert_eq!(scene.stored(from.id).await, first(from.clone()));
    assert_eq!(scene.stored(into.id).await, first(into.clone()));
    assert_eq!(conversations(&scene, from.id).await, [first(made.conversation.clone())]);
    assert_eq!(conversations(&scene, into.id).await, []);
    let lead = async |id| scene.store.get::<LeadMemory>((scene.company, id)).await.expect("works");
    assert_eq!(lead(from.id).await, Some(first(scene.lead(&from))));
    assert_eq!(lead(into.id).await, None);
    let jobs = scene.store.claim_jobs(at(0), at(9), 10, &[]).await.expect("works");
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].kind, made.job.kind);

    assert_eq!(message_total(&scene, from.id).await, 0);
    assert_eq!(scene.store.documents(scene.company, from.id).await.expect("works"), []);
    assert_eq!(scene.store.deals(scene.company, Some(from.id)).await.expect("works"), []);
    assert_eq!(scene.window_now(&made.window).await, None);
    let record = scene.store.contact_record(scene.company, from.id).await;
    let related = record.expect("works").expect("there").0.related;
    assert_eq!((related.tags, related.lists), (vec![], vec![]));
    // A second reassignment moves nothing.
    scene.apply(move_to(&scene, &from, &into)).await;
    assert_belongs(&scene, &made, "lid", &into, 2).await;
}

/// Rows can only be reassigned to a contact that exists; from a contact without rows nothing moves.
pub async fn a_reassignment_needs_its_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (from, into) = two(&scene).await;
    let (missing, theirs) = (scene.contact(), other.contact());
    other.add(theirs.clone()).await;
    for nobody in [&missing, &theirs] {
        scene.apply(move_to(&scene, &into, nobody)).await;
        scene.apply(move_to(&scene, &missing, nobody)).await;
    }
    scene.apply(move_to(&scene, &missing, &into)).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    // Each of these rows alone makes the reassignment fail.
    let (tag, list) = (scene.tag(), scene.list());
    scene.add(tag.clone()).await;
    scene.add(list.clone()).await;
    let rows: Vec<Row> = vec![
        scene.inbound(&from, &connection, 0).into(),
        scene.deal(&from, None).into(),
        scene.document(&from).into(),
        scene.link(&from).into(),
        scene.alias(&from, "lid").into(),
        scene.tagged(&from, &tag).into(),
        scene.joins(&from, &list).into(),
        scene.window(&from, 1).into(),
        scene.debit(Some(from.id), 1, 0).into(),
        scene.call("k", Some(from.id)).into(),
        UnknownEvent { contact: Some(from.id), ..scene.unknown_event(&connection, "k") }.into(),
    ];
    for row in rows {
        scene.add(row.clone()).await;
        for nobody in [&missing, &theirs] {
            scene.refuses(move_to(&scene, &from, nobody)).await;
        }
        let changes = ChangeSet::new().with(move_to(&scene, &from, &into));
        scene.store.commit(changes).await.expect("somebody is there");
    }
    assert_eq!(message_total(&scene, into.id).await, 1);
}

/// A reassignment is a change like others: rows that the set wrote before it move, rows that the
/// set writes after it do not.
pub async fn rows_are_reassigned_in_the_order_of_the_changes(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    let (from, into) = (scene.contact(), scene.contact());
    let (before, after) =
        (scene.inbound(&from, &connection, 0), scene.inbound(&from, &connection, 1));
    let changes = ChangeSet::new()
        .insert(from.clone())
        .insert(before.clone())
        .insert(into.clone())
        .with(move_to(&scene, &from, &into))
        .insert(after.clone());
    scene.store.commit(changes).await.expect("everything is there in its turn");
    let found = scene.message_now(before.id).await.expect("there");
    assert_eq!((found.contact, version(&found)), (into.id, 2));
    assert_eq!(scene.message_now(after.id).await, Some(first(after.clone())));
    // The rows are moved again, in one set with an update of a row that was moved before.
    let edited = Message { content: Some("olá".to_owned()), ..found.value().clone() };
    let changes = ChangeSet::new()
        .with(found.update(edited))
        .with(move_to(&scene, &from, &into))
        .with(move_to(&scene, &into, &from));
    scene.store.commit(changes).await.expect("both moves find what is there");
    let found = scene.message_now(before.id).await.expect("there");
    assert_eq!((found.contact, version(&found)), (from.id, 4));
    let found = scene.message_now(after.id).await.expect("there");
    assert_eq!((found.contact, version(&found)), (from.id, 3));
}

/// A change set that fails moves nothing, and no events either.
pub async fn a_change_set_that_fails_moves_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (from, into) = two(&scene).await;
    let made = owned(&scene, &from, "lid").await;
    let stale = Stored::new(into.clone(), first(()).version().next());
    let changes = ChangeSet::new()
        .with(move_to(&scene, &from, &into))
        .with(first(from.clone()).delete())
        .with(stale.update(into.clone()));
    let found = conflict(scene.store.commit(changes).await);
    assert!(!matches!(found, recado_core::store::Conflict::Reference), "{found:?}");
    assert_belongs_still(&scene, &made, &from).await;
    assert_eq!(conversations(&scene, from.id).await, [first(made.conversation.clone())]);
    let changes = ChangeSet::new().with(move_to(&scene, &from, &into)).insert(into.clone());
    assert!(scene.store.commit(changes).await.is_err());
    assert_belongs_still(&scene, &made, &from).await;
}

async fn assert_belongs_still(scene: &Scene, made: &Owned, from: &Contact) {
    assert_belongs(scene, made, "lid", from, 1).await;
}

/// When the first contact is deleted after the move, none of the moved rows is deleted.
pub async fn the_deletion_of_who_gave_takes_nothing_along(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (from, into) = two(&scene).await;
    let made = owned(&scene, &from, "lid").await;
    let changes =
        ChangeSet::new().with(move_to(&scene, &from, &into)).with(first(from.clone()).delete());
    scene.store.commit(changes).await.expect("nothing of it stands in the way");
    assert!(!scene.has_contact(from.id).await);
    assert_belongs(&scene, &made, "lid", &into, 2).await;
    let lead = scene.store.get::<LeadMemory>((scene.company, from.id)).await.expect("works");
    assert_eq!(lead, None, "what did not move goes with its contact");
    // When the second contact is deleted, they are.
    let document =
        scene.store.get::<Document>((scene.company, made.document.id)).await.expect("works");
    scene.apply(document.expect("there").delete()).await;
    scene.apply(first(into.clone()).delete()).await;
    assert_eq!(scene.message_now(made.message.id).await, None);
    assert_eq!(scene.store.get::<Deal>((scene.company, made.deal.id)).await.expect("works"), None);
    assert_eq!(named(&scene, "lid").await, []);
    let line = scene.store.get::<LedgerLine>((scene.company, made.line.id)).await.expect("works");
    let line = line.expect("a line stays");
    assert_eq!((line.contact, version(&line)), (None, 2));
}

/// A row that was read before it moved is stale.
pub async fn what_was_read_before_it_moved_is_stale(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (from, into) = two(&scene).await;
    let made = owned(&scene, &from, "lid").await;
    let read = scene.message_now(made.message.id).await.expect("there");
    scene.apply(move_to(&scene, &from, &into)).await;
    assert_stale(scene.try_apply(read.update(made.message.clone())).await);
    assert_stale(scene.try_apply(read.delete()).await);
    let relies = ChangeSet::new().insert(scene.list()).require(read.unchanged());
    assert_stale(scene.store.commit(relies).await);
    assert_stale(scene.try_apply(first(made.window.clone()).delete()).await);
    let recipient = first(scene.waiting(made.enrolled.campaign.id, 1, from.id));
    assert_stale(scene.try_apply(recipient.update(recipient.value().clone())).await);
    let read = scene.message_now(made.message.id).await.expect("there");
    scene.apply(read.update(read.value().clone())).await;
}

/// Promise 8.
pub async fn rows_are_reassigned_within_one_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (from, into) = two(&scene).await;
    let theirs = other.contact();
    other.add(theirs.clone()).await;
    let made = owned(&scene, &from, "lid").await;
    for taker in [&into, &theirs] {
        other.apply(move_to(&other, &from, taker)).await;
    }
    assert_belongs(&scene, &made, "lid", &from, 1).await;
}

/// D26: the events of both contacts are erased when the remaining contact is deleted.
pub async fn events_of_both_contacts_are_erased_with_the_taker(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (from, into) = two(&scene).await;
    let events = [
        scene.reported_of(from.id, 0),
        scene.reported_of(into.id, 1),
        scene.reported_of(from.id, 2),
    ];
    let key = scene.queue();
    let pending = scene.fresh(key, &events[2]);
    scene.tell(&events, std::slice::from_ref(&pending)).await;
    scene.apply(move_to(&scene, &from, &into)).await;
    let kept: Vec<EventId> = events.iter().map(|event| event.id).collect();
    assert_eq!(scene.journal_ids().await, kept, "places stay as they were");
    let queue = scene.read_queue(whole(key)).await;
    assert_eq!(queue.fresh[0].contact, Some(into.id));
    assert_eq!(queue.fresh[0].delivery, first(pending));
    let erase = async |id| {
        let erased = scene.store.erase_events(scene.company, EventsAbout::contact(id), ALL);
        let erased = erased.await.expect("works");
        (erased.events, erased.left)
    };
    assert_eq!(erase(from.id).await, (0, false));
    assert_eq!(erase(into.id).await, (2, true));
    for (event, is_whole) in events.iter().zip([false, false, true]) {
        let event = scene.event_now(event.id).await.expect("an event stays");
        assert_eq!((event.contact, event.data.is_some()), (Some(into.id), is_whole));
    }
}

/// One change moves any number of rows.
pub async fn a_long_history_moves_in_one_step(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (from, into) = two(&scene).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    let messages: Vec<_> = (0..3_000).map(|n| scene.inbound(&from, &connection, n)).collect();
    scene.add_all(messages).await;
    scene.add(scene.inbound(&into, &connection, 0)).await;
    scene.apply(move_to(&scene, &from, &into)).await;
    assert_eq!(message_total(&scene, from.id).await, 0);
    assert_eq!(message_total(&scene, into.id).await, 3_001);
}

/// A message that is inserted while its contact is merged is refused or moved; it is never lost.
pub async fn nothing_that_comes_meanwhile_is_lost(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    let into = scene.contact();
    scene.add(into.clone()).await;
    let mut expected = 0;
    for _ in 0..40 {
        let from = scene.contact();
        scene.add(from.clone()).await;
        let merge =
            ChangeSet::new().with(move_to(&scene, &from, &into)).with(first(from.clone()).delete());
        let messages: Vec<_> = (0..4).map(|n| scene.inbound(&from, &connection, n)).collect();
        let mut changes = vec![merge];
        changes.extend(messages.iter().map(|message| ChangeSet::new().insert(message.clone())));
        let mut outcomes = at_once(harness, &scene, changes).await.into_iter();
        outcomes.next().expect("the merge has an outcome").expect("nothing stands in its way");
        for (message, outcome) in messages.iter().zip(outcomes) {
            let found = scene.message_now(message.id).await;
            let stored = applied(outcome);
            expected += u64::from(stored);
            assert_eq!(found.map(|found| found.contact), stored.then_some(into.id));
        }
    }
    assert_eq!(message_total(&scene, into.id).await, expected);
}
