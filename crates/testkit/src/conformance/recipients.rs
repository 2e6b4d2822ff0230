//! Recipients of campaigns: how they are read, counted and claimed (D58, D66).

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::campaigns::{
    ContactFault, OutcomeTimes, Recipient, RecipientEntry, RecipientFault, RecipientNumber,
    RecipientStatus, RecipientsFrom, TimeSteps,
};
use recado_core::ids::{LedgerLineId, MessageId};
use recado_core::messages::DeliveryCode;
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::LedgerLine;
use recado_core::store::{ChangeSet, Conflict, Row, Stored};

use super::Harness;
use super::campaign_scene::{ALL, Enrolled, at_once, counted};
use super::scene::{Scene, assert_stale, at, conflict, first};

fn faults() -> Vec<RecipientFault> {
    let of_contact = ContactFault::ALL.iter().map(|fault| RecipientFault::Contact(*fault));
    let of_message = DeliveryCode::ALL.iter().map(|code| RecipientFault::Delivery(*code));
    of_contact.chain(of_message).collect()
}

/// R447: as those of a list that is taken in portions are, and what is left of them.
pub async fn recipients_that_were_stored_one_by_one_can_be_removed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, contacts) = scene.crowd(3).await;
    let campaign = scene.campaign();
    scene.add(campaign.clone()).await;
    let all = scene.store.list_candidates(scene.company, list.id, &[], u32::MAX).await;
    let all = all.expect("the store works").first;
    assert_eq!(all.len(), contacts.len());
    let waiting = (1..).zip(all).map(|(n, contact)| scene.waiting(campaign.id, n, contact));
    let waiting: Vec<Recipient> = waiting.collect();
    scene.add_all(waiting.clone()).await;
    let stored: Vec<_> = waiting.into_iter().map(first).collect();
    assert_eq!(scene.recipients_now(campaign.id).await, stored);
    assert_eq!(scene.counts(campaign.id).await, counted(&[(RecipientStatus::Waiting, 3)]));
    let stale = Stored::new(stored[0].value().clone(), stored[0].version().next());
    assert_stale(scene.try_apply(stale.delete()).await);
    let gone = stored[..2].iter().fold(ChangeSet::new(), |gone, one| gone.with(one.delete()));
    scene.store.commit(gone).await.expect("the store works");
    assert_eq!(scene.recipients_now(campaign.id).await, stored[2..]);
    assert_eq!(scene.counts(campaign.id).await, counted(&[(RecipientStatus::Waiting, 1)]));
}

/// All fields of a recipient are read back, and each status can follow each other one.
pub async fn every_field_of_a_recipient_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let faults = faults();
    let enrolled = scene.enrolled(faults.len()).await;
    let id = enrolled.campaign.id;
    for (n, (fault, waiting)) in faults.iter().zip(enrolled.recipients(&scene)).enumerate() {
        let mut stored = waiting;
        for m in 0..RecipientStatus::ALL.len() {
            let full = Recipient {
                status: RecipientStatus::ALL[(n + m * 3) % RecipientStatus::ALL.len()],
                message: Some(MessageId::new(scene.uuid())),
                debit: Some(LedgerLineId::new(scene.uuid())),
                fault: Some(*fault),
                sent_at: Some([at(-1), Timestamp::MIN, Timestamp::MAX][m % 3]),
                outcomes: OutcomeTimes {
                    delivered: Some(at(m as i64)),
                    read: Some(Timestamp::MIN),
                    ended: Some(Timestamp::MAX),
                },
                ..stored.value().clone()
            };
            let plain = Recipient {
                message: None,
                debit: None,
                fault: None,
                sent_at: None,
                outcomes: OutcomeTimes::default(),
                ..full.clone()
            };
            for next in [full, plain] {
                scene.apply(stored.update(next.clone())).await;
                assert_stale(scene.try_apply(stored.update(next.clone())).await);
                let version = stored.version().next();
                stored = scene.recipient_now(id, next.number.0).await.expect("it is there");
                assert_eq!((stored.value(), stored.version()), (&next, version));
                let of_status = scene.store.recipients(
                    scene.company,
                    id,
                    next.status,
                    RecipientsFrom::After(None),
                    ALL,
                );
                assert!(of_status.await.expect("works").contains(&stored));
            }
        }
    }
}

/// The counts are exact after every change.
pub async fn counts_of_recipients_follow_every_change(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (enrolled, other) = (scene.enrolled(9).await, scene.enrolled(2).await);
    let id = enrolled.campaign.id;
    let mut counts = vec![RecipientStatus::Waiting; 9];
    let exact = async |counts: &[RecipientStatus]| {
        let wanted: Vec<_> = counts.iter().map(|status| (*status, 1)).collect();
        assert_eq!(scene.counts(id).await, counted(&wanted));
        let listed = scene.store.campaigns(scene.company).await.expect("works");
        let listed = listed.into_iter().find(|(campaign, _)| campaign.id == id);
        assert_eq!(listed.map(|(_, totals)| totals.counts), Some(counted(&wanted)));
        for status in RecipientStatus::ALL {
            let page = PageRequest { page: 1, limit: 1 };
            let page = scene.store.recipient_page(scene.company, id, Some(*status), page).await;
            assert_eq!(page.expect("works").total, counted(&wanted).of(*status));
        }
    };
    exact(&counts).await;
    for n in 0..40_u32 {
        let (at, status) = ((n * 5 % 9) as usize, RecipientStatus::ALL[(n * 3 % 7) as usize]);
        scene.moves(id, at as u32 + 1, status).await;
        counts[at] = status;
        exact(&counts).await;
    }
    assert_eq!(scene.counts(id).await.total(), 9);
    let others = scene.counts(other.campaign.id).await;
    assert_eq!(others, counted(&[(RecipientStatus::Waiting, 2)]));
}

/// A campaign with 30 recipients of several statuses, and the recipients as they are now.
async fn mixed(scene: &Scene) -> (Enrolled, Vec<Stored<Recipient>>) {
    let enrolled = scene.enrolled(30).await;
    for number in 1..=30 {
        let status = RecipientStatus::ALL[(number * number % 7) as usize];
        if status != RecipientStatus::Waiting {
            scene.moves(enrolled.campaign.id, number, status).await;
        }
    }
    let stored = scene.recipients_now(enrolled.campaign.id).await;
    assert_eq!(stored.len(), 30);
    (enrolled, stored)
}

/// What the campaign runner reads: the next recipients with a status, by number, after a given
/// number, and the last ones.
pub async fn recipients_of_a_status_come_by_number_after_a_number(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (enrolled, all) = mixed(&scene).await;
    let _another = mixed(&scene).await;
    let (company, id) = (scene.company, enrolled.campaign.id);
    for status in RecipientStatus::ALL {
        for after in [None, Some(0), Some(1), Some(7), Some(29), Some(30), Some(u32::MAX)] {
            for limit in [0, 1, 2, 5, ALL] {
                let after = after.map(RecipientNumber);
                let wanted: Vec<_> = all
                    .iter()
                    .filter(|r| r.status == *status && after.is_none_or(|a| r.number > a))
                    .take(limit as usize)
                    .cloned()
                    .collect();
                let found = scene
                    .store
                    .recipients(company, id, *status, RecipientsFrom::After(after), limit)
                    .await;
                assert_eq!(found.expect("works"), wanted, "{status:?} after {after:?}");
            }
        }
        for limit in [0, 1, 2, 5, ALL] {
            let last = all.iter().rev().filter(|r| r.status == *status);
            let wanted: Vec<_> = last.take(limit as usize).cloned().collect();
            let found =
                scene.store.recipients(company, id, *status, RecipientsFrom::Last, limit).await;
            assert_eq!(found.expect("works"), wanted, "the last {limit} {status:?}");
        }
    }
}

fn entries(enrolled: &Enrolled, all: &[Stored<Recipient>]) -> Vec<RecipientEntry> {
    let known = |recipient: &Recipient| {
        let contact = enrolled.contacts.iter().find(|c| Some(c.id) == recipient.contact)?;
        Some((contact.phone.clone(), contact.identifier.clone()))
    };
    let name = |recipient: &Recipient| {
        let contact = enrolled.contacts.iter().find(|c| Some(c.id) == recipient.contact)?;
        Some(contact.display_name.clone())
    };
    let entry = |recipient: &Stored<Recipient>| RecipientEntry {
        recipient: recipient.value().clone(),
        contact: known(recipient.value()),
        name: name(recipient.value()),
        prosa: None,
    };
    all.iter().map(entry).collect()
}

/// R429: what happened to the messages of a campaign is counted by steps of time.
pub async fn outcomes_are_counted_by_steps_of_time(harness: &dyn Harness) {
    use RecipientStatus::{Delivered, Failed, Read, Sending, Sent, Skipped};
    let scene = Scene::of(harness).await;
    let (enrolled, other) = (scene.enrolled(8).await, scene.enrolled(1).await);
    let times = |delivered: Option<i64>, read: Option<i64>, ended: Option<i64>| OutcomeTimes {
        delivered: delivered.map(at),
        read: read.map(at),
        ended: ended.map(at),
    };
    let made = [
        (Sent, Some(99), times(None, None, None)),
        (Sent, Some(100), times(None, None, None)),
        (Delivered, Some(109), times(Some(110), None, None)),
        (Read, Some(109), times(Some(119), Some(129), None)),
        (Read, Some(90), times(Some(129), Some(130), None)),
        (Failed, Some(110), times(None, None, Some(111))),
        (Skipped, None, times(None, None, Some(120))),
        // What it ended with before counts only while it is so.
        (Sending, None, times(None, None, Some(120))),
    ];
    for (waiting, (status, sent, outcomes)) in enrolled.recipients(&scene).into_iter().zip(made) {
        let sent_at = sent.map(at);
        let moved = Recipient { status, sent_at, outcomes, ..waiting.value().clone() };
        scene.apply(waiting.update(moved)).await;
    }
    for waiting in other.recipients(&scene) {
        let sent = Recipient { status: Sent, sent_at: Some(at(105)), ..waiting.value().clone() };
        scene.apply(waiting.update(sent)).await;
    }
    let (company, id) = (scene.company, enrolled.campaign.id);
    let steps = TimeSteps { from: at(100), step: Duration::from_millis(10), count: 3 };
    let found = async |company, steps| {
        let totals = scene.store.campaign_totals(company, id, steps).await.expect("works");
        let steps = totals.steps.iter().map(|of| (of.step, of.status, of.count));
        (totals.counts.total(), steps.collect::<Vec<_>>())
    };
    let wanted = vec![
        (0, Sent, 3),
        (1, Sent, 1),
        (1, Delivered, 2),
        (1, Failed, 1),
        (2, Delivered, 1),
        (2, Read, 1),
        (2, Skipped, 1),
    ];
    assert_eq!(found(company, Some(steps)).await, (8, wanted));
    assert_eq!(found(company, None).await, (8, vec![]));
    let none = TimeSteps { count: 0, ..steps };
    assert_eq!(found(company, Some(none)).await, (8, vec![]));
    let another = scene.another_company().await;
    assert_eq!(found(another.company, Some(steps)).await, (0, vec![]));
}

/// Every recipient is on exactly one page, of all recipients and of those with its status.
pub async fn pages_of_recipients_partition_the_listing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (enrolled, all) = mixed(&scene).await;
    let _another = mixed(&scene).await;
    let (company, id) = (scene.company, enrolled.campaign.id);
    let entries = entries(&enrolled, &all);
    let statuses = RecipientStatus::ALL.iter().copied().map(Some);
    for status in std::iter::once(None).chain(statuses) {
        let wanted: Vec<RecipientEntry> = entries
            .iter()
            .filter(|entry| status.is_none_or(|status| entry.recipient.status == status))
            .cloned()
            .collect();
        let total = wanted.len() as u64;
        for limit in [1, 4, 7, 29, 30, 100] {
            let mut listed = Vec::new();
            for page in 1..=30_u32.div_ceil(limit) + 1 {
                let page = PageRequest { page, limit };
                let found = scene.store.recipient_page(company, id, status, page).await;
                let found = found.expect("works");
                assert_eq!(found.total, total, "{status:?} in {page:?}");
                assert!(found.items.len() <= limit as usize);
                listed.extend(found.items);
            }
            assert_eq!(listed, wanted, "{status:?} by {limit}");
        }
        let far = PageRequest { page: u32::MAX, limit: 100 };
        let found = scene.store.recipient_page(company, id, status, far).await.expect("works");
        assert_eq!(found, Page { items: Vec::new(), total });
    }
}

/// A page shows the contact as it is now, with or without a phone.
pub async fn a_page_of_recipients_shows_their_contacts(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(2).await;
    let id = enrolled.campaign.id;
    let shown = async || {
        let page = scene.store.recipient_page(scene.company, id, None, PageRequest::FIRST).await;
        let items = page.expect("works").items;
        items.into_iter().map(|entry| entry.contact).collect::<Vec<_>>()
    };
    let of = |contact: &recado_core::contacts::Contact| {
        Some((contact.phone.clone(), contact.identifier.clone()))
    };
    let (one, other) = (&enrolled.contacts[0], &enrolled.contacts[1]);
    assert_eq!(shown().await, [of(one), of(other)]);
    assert_eq!(one.phone, None);
    let reached = scene.contact_with_phone("+5511987654321");
    let reached = first(one.clone()).changed(at(1), |contact| {
        contact.phone = reached.phone.clone();
        contact.identifier = reached.identifier.clone();
    });
    scene.apply(first(one.clone()).update(reached.clone())).await;
    assert_eq!(shown().await, [of(&reached), of(other)]);
    assert!(reached.phone.is_some());
}

/// D58: each with the debit that it names, also once the contact is gone and something was
/// refunded.
pub async fn a_page_of_recipients_shows_their_debits(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(3).await;
    let id = enrolled.campaign.id;
    let contact = enrolled.contacts[0].clone();
    let debit = LedgerLine { campaign: Some(id), ..scene.debit(Some(contact.id), 1_500, 0) };
    let debits = [Some(debit.id), Some(LedgerLineId::new(scene.uuid()))];
    scene.add(debit.clone()).await;
    for (recipient, debit) in enrolled.recipients(&scene).iter().zip(debits) {
        scene.apply(recipient.update(Recipient { debit, ..recipient.value().clone() })).await;
    }
    let shown = async || {
        let page = scene.store.recipient_page(scene.company, id, None, PageRequest::FIRST).await;
        page.expect("works").items.into_iter().map(|entry| entry.prosa).collect::<Vec<_>>()
    };
    assert_eq!(shown().await, [Some(debit.prosa()), None, None]);
    let refunded = LedgerLine { refunded: (debit.prosas, debit.cost), ..debit.clone() };
    scene.apply(first(debit.clone()).update(refunded)).await;
    scene.apply(first(contact).delete()).await;
    assert_eq!(shown().await, [Some(debit.prosa()), None, None]);
}

/// A status report finds its recipients by their messages, each once.
pub async fn recipients_are_found_by_their_messages(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let campaigns = [scene.enrolled(4).await, scene.enrolled(4).await];
    let theirs = other.enrolled(1).await;
    let mut sent = Vec::new();
    for enrolled in campaigns.iter().rev() {
        for recipient in enrolled.recipients(&scene).iter().rev().take(3) {
            let way = scene.on_its_way(recipient.value());
            scene.apply(recipient.update(way.clone())).await;
            sent.push(Stored::new(way, recipient.version().next()));
        }
    }
    let foreign = &theirs.recipients(&other)[0];
    let foreign_way = other.on_its_way(foreign.value());
    other.apply(foreign.update(foreign_way.clone())).await;
    sent.sort_by_key(|recipient| (recipient.campaign, recipient.number));
    let of = async |messages: &[MessageId]| {
        scene.store.recipients_of(scene.company, messages).await.expect("works")
    };
    let messages: Vec<MessageId> = sent.iter().filter_map(|recipient| recipient.message).collect();
    assert_eq!(of(&[]).await, []);
    assert_eq!(of(&[MessageId::new(scene.uuid())]).await, []);
    for (message, recipient) in messages.iter().zip(&sent) {
        assert_eq!(of(&[*message]).await.as_slice(), std::slice::from_ref(recipient));
        assert_eq!(of(&[*message, *message]).await.as_slice(), std::slice::from_ref(recipient));
    }
    let mut asked: Vec<_> = messages.iter().rev().copied().collect();
    asked.push(MessageId::new(scene.uuid()));
    asked.extend(foreign_way.message);
    assert_eq!(of(&asked).await, sent, "by campaign and number");
    // Many at once, as in a batch of reports.
    asked.extend((0..2_000).map(|_| MessageId::new(scene.uuid())));
    assert_eq!(of(&asked).await, sent);
    // A recipient is found as long as it refers to the message.
    let freed = Recipient { message: None, ..sent[0].value().clone() };
    scene.apply(sent[0].update(freed)).await;
    assert_eq!(of(&messages).await, sent[1..]);
}

/// The message and the debit that a recipient refers to need not exist.
pub async fn what_a_recipient_names_may_be_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(1).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    let message = scene.outbound(&enrolled.contacts[0], &connection, 0);
    let debit = scene.debit(Some(enrolled.contacts[0].id), 5, 0);
    scene.add(message.clone()).await;
    scene.add(debit.clone()).await;
    let recipient = &enrolled.recipients(&scene)[0];
    let way = Recipient {
        message: Some(message.id),
        debit: Some(debit.id),
        ..scene.on_its_way(recipient.value())
    };
    scene.apply(recipient.update(way.clone())).await;
    // The message is deleted with its contact. The recipient stays and still has the message's id.
    scene.apply(first(enrolled.contacts[0].clone()).delete()).await;
    assert_eq!(scene.message_now(message.id).await, None);
    let left = scene.recipient_now(enrolled.campaign.id, 1).await.expect("it stays");
    assert_eq!(left.value(), &Recipient { contact: None, ..way });
}

/// D26, promise 6: the campaign keeps its numbers, without the contacts (R99).
pub async fn recipients_stay_without_their_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(5).await;
    let second = scene.enrolled(1).await;
    let id = enrolled.campaign.id;
    let way = scene.on_its_way(enrolled.recipients(&scene)[1].value());
    scene.apply(enrolled.recipients(&scene)[1].update(way.clone())).await;
    for gone in &enrolled.contacts[1..4] {
        scene.apply(first(gone.clone()).delete()).await;
    }
    let left = scene.recipients_now(id).await;
    let contacts: Vec<_> = left.iter().map(|recipient| recipient.contact).collect();
    let (one, last) = (enrolled.contacts[0].id, enrolled.contacts[4].id);
    assert_eq!(contacts, [Some(one), None, None, None, Some(last)]);
    assert_eq!(left[1].value(), &Recipient { contact: None, ..way.clone() });
    let versions: Vec<u64> = left.iter().map(|recipient| recipient.version().number()).collect();
    assert_eq!(versions, [1, 2, 1, 1, 1], "nobody wrote them");
    let of_company: Vec<_> = left.iter().map(|r| (r.company, r.campaign, r.number.0)).collect();
    assert_eq!(of_company, (1..=5).map(|n| (scene.company, id, n)).collect::<Vec<_>>());
    let wanted = counted(&[(RecipientStatus::Waiting, 4), (RecipientStatus::Sending, 1)]);
    assert_eq!(scene.counts(id).await, wanted);

    // A page shows them all, without phones.
    let page = scene.store.recipient_page(scene.company, id, None, PageRequest::FIRST).await;
    let page = page.expect("works");
    assert_eq!(page.total, 5);
    assert_eq!(page.items, entries(&enrolled, &left));
    assert!(page.items[1..4].iter().all(|entry| entry.contact.is_none()));

    // They can still be updated, and found by their messages.
    let message = way.message.expect("it has one");
    let found = scene.store.recipients_of(scene.company, &[message]).await.expect("works");
    assert_eq!(found, [left[1].clone()]);
    for (number, status) in [(2, RecipientStatus::Sent), (3, RecipientStatus::Skipped)] {
        scene.moves(id, number, status).await;
    }
    let wanted = counted(&[
        (RecipientStatus::Waiting, 3),
        (RecipientStatus::Sent, 1),
        (RecipientStatus::Skipped, 1),
    ]);
    assert_eq!(scene.counts(id).await, wanted);
    // A new contact with the same id is not their contact.
    scene.add(enrolled.contacts[1].clone()).await;
    let left = scene.recipient_now(id, 2).await.expect("it stays");
    assert_eq!(left.contact, None);
    let untouched = scene.recipients_now(second.campaign.id).await;
    assert_eq!(untouched, second.recipients(&scene));
}

/// Promise 5: a recipient cannot be updated to a contact that does not exist.
pub async fn a_recipient_cannot_be_led_to_a_missing_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let enrolled = scene.enrolled(1).await;
    let (unknown, theirs) = (scene.contact(), other.contact());
    other.add(theirs.clone()).await;
    let recipient = &enrolled.recipients(&scene)[0];
    for contact in [unknown.id, theirs.id] {
        let led = Recipient { contact: Some(contact), ..recipient.value().clone() };
        scene.refuses(recipient.update(led)).await;
    }
    assert_eq!(scene.recipient_now(enrolled.campaign.id, 1).await, Some(recipient.clone()));
}

/// Promises 3 and 4.
pub async fn a_stale_change_of_a_recipient_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(2).await;
    let id = enrolled.campaign.id;
    let [one, other] = <[_; 2]>::try_from(enrolled.recipients(&scene)).expect("there are two");
    scene.moves(id, 1, RecipientStatus::Skipped).await;
    let sending = scene.on_its_way(one.value());
    assert_stale(scene.try_apply(one.update(sending.clone())).await);
    // A change set with a stale change makes no other change either.
    let moved = scene.on_its_way(other.value());
    let both = ChangeSet::new().with(other.update(moved)).with(one.update(sending));
    assert_stale(scene.store.commit(both).await);
    assert_eq!(scene.recipient_now(id, 2).await, Some(other.clone()));
    let relying =
        |read: &Stored<Recipient>| ChangeSet::new().insert(scene.list()).require(read.unchanged());
    let key = Row::from(one.value().clone()).key();
    assert_eq!(conflict(scene.store.commit(relying(&one)).await), Conflict::Stale(key));
    scene.store.commit(relying(&other)).await.expect("it is as it was read");
    let now = scene.recipient_now(id, 1).await.expect("it is there");
    assert_eq!((now.status, now.version().number()), (RecipientStatus::Skipped, 2));
    scene.apply(first(enrolled.campaign.clone()).delete()).await;
    assert_stale(scene.try_apply(now.update(now.value().clone())).await);
}

/// Promise 8: no read finds it.
pub async fn a_recipient_of_another_company_is_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let enrolled = scene.enrolled(2).await;
    let id = enrolled.campaign.id;
    let way = scene.on_its_way(enrolled.recipients(&scene)[0].value());
    scene.apply(enrolled.recipients(&scene)[0].update(way.clone())).await;
    assert_eq!(other.recipient_now(id, 1).await, None);
    assert_eq!(other.recipients_now(id).await, []);
    assert_eq!(other.counts(id).await, counted(&[]));
    let page = other.store.recipient_page(other.company, id, None, PageRequest::FIRST).await;
    assert_eq!(page.expect("works"), Page::empty());
    let message = way.message.expect("it has one");
    let found = other.store.recipients_of(other.company, &[message]).await.expect("works");
    assert_eq!(found, []);
    let read = scene.recipient_now(id, 2).await.expect("it is there");
    let theirs = Recipient { company: other.company, ..read.value().clone() };
    assert_stale(other.try_apply(first(theirs.clone()).update(theirs)).await);
    assert_eq!(scene.recipient_now(id, 2).await, Some(read));
}

/// D66, D67, R98: at most one of several claims of the recipient succeeds.
pub async fn of_many_claims_of_one_recipient_one_wins(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(5).await;
    let campaign = first(enrolled.campaign.clone());
    for waiting in enrolled.recipients(&scene) {
        let claims: Vec<Recipient> = (0..20).map(|_| scene.on_its_way(waiting.value())).collect();
        let changes = claims.iter().map(|claim| {
            ChangeSet::new().with(waiting.update(claim.clone())).require(campaign.unchanged())
        });
        let outcomes = at_once(harness, &scene, changes.collect()).await;
        let winners: Vec<usize> = (0..20).filter(|n| outcomes[*n].is_ok()).collect();
        assert_eq!(winners.len(), 1);
        outcomes.into_iter().filter(Result::is_err).for_each(assert_stale);
        let stored = scene.recipient_now(waiting.campaign, waiting.number.0).await;
        let stored = stored.expect("it is there");
        assert_eq!((stored.value(), stored.version().number()), (&claims[winners[0]], 2));
    }
    let counts = scene.counts(enrolled.campaign.id).await;
    assert_eq!(counts, counted(&[(RecipientStatus::Sending, 5)]));
}

/// The total agrees with the recipients, while others write.
pub async fn a_total_of_recipients_is_of_the_same_state_as_its_items(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(40).await;
    let id = enrolled.campaign.id;
    let writer = {
        let scene = scene.through(scene.store.clone());
        tokio::spawn(async move {
            for number in 1..=40 {
                scene.moves(id, number, RecipientStatus::Sent).await;
            }
        })
    };
    while !writer.is_finished() {
        let (status, page) = (Some(RecipientStatus::Sent), PageRequest { page: 1, limit: 100 });
        let page = scene.store.recipient_page(scene.company, id, status, page).await;
        let page = page.expect("works");
        assert_eq!(page.items.len() as u64, page.total);
        assert_eq!(scene.counts(id).await.total(), 40, "nobody is counted twice or not at all");
        tokio::task::yield_now().await;
    }
    writer.await.expect("no panic");
}
