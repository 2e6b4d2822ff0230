//! The search for messages (X17).

use recado_core::connections::Connection;
use recado_core::contacts::Contact;
use recado_core::ids::MessageId;
use recado_core::messages::{
    Direction, Media, Message, MessageFilter, MessageSearch, MessageStatus, MessageType,
};
use recado_core::page::{Page, PageRequest};
use recado_core::store::{Change, ChangeSet, Stored};

use super::Harness;
use super::scene::{Scene, at, first};

fn search(text: &str) -> MessageFilter {
    let search = MessageSearch::parse(text).expect("acceptable");
    MessageFilter { search: Some(search), ..MessageFilter::default() }
}

async fn page(scene: &Scene, filter: &MessageFilter, page: u32, limit: u32) -> Page<MessageId> {
    let page = scene.store.message_page(scene.company, filter, PageRequest { page, limit }).await;
    let page = page.expect("the store works");
    Page { items: page.items.iter().map(|record| record.message.id).collect(), total: page.total }
}

async fn found(scene: &Scene, filter: &MessageFilter) -> Vec<MessageId> {
    let page = page(scene, filter, 1, 1_000).await;
    assert_eq!(page.total, page.items.len() as u64, "all fit on one page");
    page.items
}

async fn now(scene: &Scene, message: &Message) -> Stored<Message> {
    scene.message_now(message.id).await.expect("it is there")
}

async fn hits(scene: &Scene, text: &str) -> usize {
    found(scene, &search(text)).await.len()
}

fn newest_first<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<MessageId> {
    let mut messages: Vec<&Message> = messages.into_iter().collect();
    messages.sort_by_key(|message| std::cmp::Reverse((message.created_at, message.id)));
    messages.into_iter().map(|message| message.id).collect()
}

/// What messages say, each in one of the three fields.
const TEXTS: &[&str] = &[
    "Promoção de São João",
    "promocao DE sao joao",
    "100% de desconto",
    "100 de desconto",
    "a_b",
    "axb",
    "a\\b\\c",
    "diz \"não\" e 'sim'",
    "d’Ávila",
    "Straße 9, Łódź",
    "東京へようこそ",
    "👩‍👩‍👧 família",
    "linha um\nlinha dois",
    "nota-fiscal_2024.PDF",
    "aaa",
    "aaaaaaaa",
    "",
    "   ",
    "oi",
];

/// Messages of two contacts on two connections with each text in each field.
async fn messaging(scene: &Scene) -> (Vec<Message>, [Contact; 2], [Connection; 2]) {
    let contacts = [scene.contact(), scene.contact()];
    let connections = [scene.connection(), scene.connection()];
    scene.add_all(contacts.clone()).await;
    scene.add_all(connections.clone()).await;
    let quoted = MessageId::new(scene.uuid());
    let mut messages = Vec::new();
    for (n, text) in (0_usize..).zip(TEXTS.iter().cycle().take(6 * TEXTS.len())) {
        let (contact, connection) = (&contacts[n / 5 % 2], &connections[n / 2 % 2]);
        let millis = [5, 1, 3, 1, 9, 3, 1][n % 7];
        let mut message = match n % 4 {
            0 => scene.inbound(contact, connection, millis),
            _ => scene.outbound(contact, connection, millis),
        };
        let text = Some((*text).to_owned());
        let media = Media::default();
        (message.content, message.media) = match n % 3 {
            0 => (text, media),
            1 => (None, Media { caption: text, ..media }),
            _ => (Some("Segue.".to_owned()), Media { filename: text, ..media }),
        };
        message.message_type = [MessageType::Text, MessageType::Document][n / 3 % 2];
        message.quoted.message = n.is_multiple_of(9).then_some(quoted);
        messages.push(message);
    }
    scene.add_all(messages.clone()).await;
    (messages, contacts, connections)
}

const QUERIES: &[&str] = &[
    "promoção",
    "PROMOCAO",
    "sao joao",
    "o de s",
    "100%",
    "00% d",
    "%%%",
    "a_b",
    "a%b",
    "___",
    "a\\b",
    "\\b\\",
    "\"não\"",
    "'sim'",
    "'; --",
    "d'avila",
    "strasse",
    "lodz",
    "東京へ",
    "família",
    "um linha",
    "um\u{a0}linha",
    "fiscal_2024.p",
    "aaa",
    "aaaa",
    "aaaaaaaaa",
    "   ções",
    "segue.promo",
    "oi.",
    "* OR a",
    "NOT aaa",
    "[a-z]",
    "^aaa",
    "aaa$",
];

/// Every store finds what [`MessageSearch::matches`] does: no character is a wildcard.
pub async fn searches_for_messages_answer_as_the_model_does(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (messages, ..) = messaging(&scene).await;
    let mut all = 0;
    for query in QUERIES {
        let filter = search(query);
        let search = filter.search.clone().expect("a search");
        let wanted = messages.iter().filter(|message| search.matches(&message.search_text()));
        let wanted = newest_first(wanted);
        assert_eq!(found(&scene, &filter).await, wanted, "{query}");
        all += wanted.len();
    }
    assert!(all > 50, "something is found");
    for (query, hits_of_each) in [("a_b", 1), ("100%", 1), ("promocao", 2), ("aaaa", 1)] {
        assert_eq!(hits(&scene, query).await, 6 * hits_of_each, "{query}");
    }
}

/// A search narrows every other filter, and its pages partition what it finds.
pub async fn a_search_for_messages_goes_together_with_filters_and_pages(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (messages, contacts, connections) = messaging(&scene).await;
    let few = (scene.contact(), scene.inbound(&contacts[0], &connections[0], 4));
    let few = (few.0.clone(), Message { contact: few.0.id, content: Some("Aaa!".into()), ..few.1 });
    scene.add(few.0.clone()).await;
    scene.add(few.1.clone()).await;
    let messages: Vec<Message> = messages.into_iter().chain([few.1]).collect();
    let quoting = messages.iter().find_map(|message| message.quoted.message);
    let all = search("aaa");
    let mut sizes = Vec::new();
    for filter in [
        all.clone(),
        MessageFilter { contact: Some(contacts[1].id), ..all.clone() },
        // So few of all messages that a store may read them one by one.
        MessageFilter { contact: Some(few.0.id), ..all.clone() },
        MessageFilter { connection: Some(connections[0].id), ..all.clone() },
        MessageFilter { direction: Some(Direction::Inbound), ..all.clone() },
        MessageFilter { message_type: Some(MessageType::Document), ..all.clone() },
        MessageFilter { message_type: Some(MessageType::Sticker), ..all.clone() },
        MessageFilter { status: Some(MessageStatus::Sent), ..all.clone() },
        MessageFilter { quoting, ..all.clone() },
        MessageFilter { quoting, contact: Some(contacts[0].id), ..search("promo") },
        MessageFilter { from: Some(at(3)), to: Some(at(5)), ..all.clone() },
        MessageFilter { from: Some(at(6)), to: Some(at(2)), ..all.clone() },
        MessageFilter {
            contact: Some(contacts[0].id),
            connection: Some(connections[1].id),
            direction: Some(Direction::Outbound),
            from: Some(at(1)),
            ..all.clone()
        },
    ] {
        let wanted = newest_first(messages.iter().filter(|message| {
            filter.contact.is_none_or(|wanted| message.contact == wanted)
                && filter.connection.is_none_or(|wanted| message.connection == wanted)
                && filter.direction.is_none_or(|wanted| message.direction == wanted)
                && filter.message_type.is_none_or(|wanted| message.message_type == wanted)
                && filter.status.is_none_or(|wanted| message.status == wanted)
                && filter.quoting.is_none_or(|quoted| message.quoted.message == Some(quoted))
                && filter.from.is_none_or(|from| from <= message.created_at)
                && filter.to.is_none_or(|to| message.created_at <= to)
                && filter.search.as_ref().is_none_or(|s| s.matches(&message.search_text()))
        }));
        let mut seen = Vec::new();
        for number in 1..=wanted.len().div_ceil(3) + 1 {
            let page = page(&scene, &filter, number as u32, 3).await;
            assert_eq!(page.total, wanted.len() as u64, "{filter:?}");
            seen.extend(page.items);
        }
        assert_eq!(seen, wanted, "{filter:?}");
        sizes.push(wanted.len());
    }
    assert!(sizes.iter().filter(|size| **size > 0).count() >= 9, "{sizes:?}");
}

/// A message is not found by what it says no longer (D31a, D74, X3).
pub async fn a_changed_or_deleted_message_is_found_as_it_is_now(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let said = |message: &Message, content: Option<&str>| Message {
        content: content.map(str::to_owned),
        ..message.clone()
    };
    let empty = said(&scene.inbound(&contact, &connection, 0), None);
    scene.add(empty.clone()).await;
    // Content that came late, an edit, a status, and an erasure.
    let late = said(&empty, Some("girafa"));
    scene.apply(first(empty).update(late.clone())).await;
    assert_eq!((hits(&scene, "girafa").await, hits(&scene, "elefante").await), (1, 0));
    let edited = said(&late, Some("Elefante"));
    scene.apply(now(&scene, &late).await.update(edited.clone())).await;
    assert_eq!((hits(&scene, "girafa").await, hits(&scene, "elefante").await), (0, 1));
    let seen = Message { status: MessageStatus::Read, ..edited.clone() };
    scene.apply(now(&scene, &edited).await.update(seen.clone())).await;
    assert_eq!((hits(&scene, "girafa").await, hits(&scene, "elefante").await), (0, 1));
    let named = Media { filename: Some("girafa.pdf".to_owned()), ..Media::default() };
    let file = Message { media: named, ..said(&seen, None) };
    scene.apply(now(&scene, &seen).await.update(file.clone())).await;
    assert_eq!((hits(&scene, "girafa").await, hits(&scene, "elefante").await), (1, 0));
    let erased = Message { media: Media::default(), ..file.clone() };
    scene.apply(now(&scene, &file).await.update(erased.clone())).await;
    assert_eq!((hits(&scene, "girafa").await, hits(&scene, "elefante").await), (0, 0));
    let again = said(&erased, Some("girafa"));
    scene.apply(now(&scene, &erased).await.update(again.clone())).await;
    assert_eq!(hits(&scene, "girafa").await, 1);
    scene.apply(now(&scene, &again).await.delete()).await;
    assert_eq!(hits(&scene, "girafa").await, 0);
    // With its contact.
    scene.add(said(&scene.inbound(&contact, &connection, 1), Some("Elefante"))).await;
    assert_eq!(hits(&scene, "elefante").await, 1);
    scene.apply(scene.stored(contact.id).await.delete()).await;
    assert_eq!(hits(&scene, "elefante").await, 0);
}

/// What a change set wrote that failed is not found.
pub async fn a_change_set_that_fails_leaves_nothing_to_be_found(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let mut message = scene.inbound(&contact, &connection, 0);
    message.content = Some("girafa".to_owned());
    let changes = ChangeSet::new().insert(message.clone()).insert(contact.clone());
    scene.store.commit(changes).await.expect_err("the contact is there already");
    assert_eq!(hits(&scene, "girafa").await, 0);
    scene.add(message.clone()).await;
    let mut edited = message.clone();
    edited.content = Some("elefante".to_owned());
    let update = first(message).update(edited);
    let changes = ChangeSet::new().with(update).insert(contact);
    scene.store.commit(changes).await.expect_err("the contact is there already");
    assert_eq!((hits(&scene, "girafa").await, hits(&scene, "elefante").await), (1, 0));
}

/// A message that was reassigned with its contact is found as one of the other contact (D62).
pub async fn a_reassigned_message_is_found_as_one_of_its_new_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let into = scene.contact();
    scene.add(into.clone()).await;
    let mut message = scene.inbound(&contact, &connection, 0);
    message.content = Some("girafa".to_owned());
    scene.add(message.clone()).await;
    let of = |contact: &Contact| MessageFilter { contact: Some(contact.id), ..search("girafa") };
    let reassign = Change::reassign(scene.company, contact.id, into.id);
    let gone = scene.stored(contact.id).await.delete();
    let changes = ChangeSet::new().with(reassign).with(gone);
    scene.store.commit(changes).await.expect("nothing stands in the way");
    assert_eq!(found(&scene, &of(&contact)).await, []);
    assert_eq!(found(&scene, &of(&into)).await, [message.id]);
    assert_eq!(found(&scene, &search("girafa")).await, [message.id]);
}

/// R199: what another company's messages say makes no difference.
pub async fn another_companys_messages_are_not_found(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    for of in [&scene, &other] {
        let (contact, connection) = of.pair().await;
        let mut message = of.inbound(&contact, &connection, 0);
        message.content = Some("girafa".to_owned());
        of.add(message.clone()).await;
        assert_eq!(found(of, &search("girafa")).await, [message.id]);
        let theirs = MessageFilter { contact: Some(contact.id), ..search("girafa") };
        let elsewhere = if std::ptr::eq(of, &scene) { &other } else { &scene };
        assert_eq!(page(elsewhere, &theirs, 1, 9).await, Page::empty());
    }
}

/// The total agrees with the items, whatever is written meanwhile.
pub async fn a_total_of_a_search_is_of_the_same_state_as_its_items(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let texts = ["girafa", "elefante"];
    let messages: Vec<_> = (0..40)
        .map(|n| {
            let mut message = scene.inbound(&contact, &connection, n);
            message.content = Some(texts[n as usize % 2].to_owned());
            message
        })
        .collect();
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
        let page = page(&scene, &search("girafa"), 1, 100).await;
        assert_eq!(page.items.len() as u64, page.total);
        tokio::task::yield_now().await;
    }
    writer.await.expect("no panic");
    assert_eq!(hits(&scene, "girafa").await, 0);
}
