//! Updates that say that only the activity of a row differs (R466): the row is then as if it had
//! been replaced as a whole.

use recado_core::contacts::Contact;
use recado_core::ids::MessageId;
use recado_core::messages::{DeliveryCode, Failure, Message, MessageStatus};
use recado_core::store::{ChangeKind, ChangeSet, Conflict, Record, Stored, UpdatedPart, Version};

use super::Harness;
use super::call_site::assert_same;
use super::channel_scene::wamid;
use super::message_rows::full_message;
use super::rows::full_contact;
use super::scene::{Scene, assert_stale, at, conflict};

/// The message when its activity is this.
fn reported(message: &Message, status: MessageStatus, number: i64) -> Message {
    let failure = Failure::new(DeliveryCode::MarketingLimited, Some("limited".to_owned()));
    Message {
        status,
        failure: (status == MessageStatus::Failed).then_some(failure),
        provider_id: (number % 2 == 0).then(|| wamid(&format!("reported-{number}"))),
        sender: None,
        timestamp: at(number),
        ..message.clone()
    }
}

/// R466.
pub async fn the_activity_of_a_message_is_replaced(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let full = full_message(&scene, &contact, &connection);
    let plain =
        Message { id: MessageId::new(scene.uuid()), ..scene.outbound(&contact, &connection, 0) };
    scene.add_all([full.clone(), plain.clone()]).await;
    for message in [full, plain] {
        for (number, status) in (1..).zip(MessageStatus::ALL) {
            let stored = scene.message_now(message.id).await.expect("the message is there");
            let after = reported(&message, *status, number);
            let change = stored.update_activity(after.clone());
            let part = |kind: &ChangeKind| match kind {
                ChangeKind::Update { part, .. } => Some(*part),
                _ => None,
            };
            assert_eq!(part(change.kind()), Some(UpdatedPart::Activity));
            scene.apply(change).await;
            let now = scene.message_now(message.id).await.expect("the message is there");
            assert_same(now.value(), &after);
            assert_eq!(now.version(), stored.version().next());
        }
        let old = Stored::new(message.clone(), Version::FIRST);
        let change = old.update_activity(reported(&message, MessageStatus::Read, 40));
        assert_stale(scene.try_apply(change).await);
    }
}

/// The record with one field of another one, for each field in turn. The lists name every field, or
/// this does not compile: what a store leaves alone must be noticed for a new field, too.
macro_rules! field_by_field {
    ($before:expr, $other:expr, $Record:ident { $($kept:ident)+ } { $($field:ident)+ }) => {{
        let before = $before;
        let $Record { $($kept: _,)+ $($field),+ } = $other;
        vec![$($Record { $field, ..before.clone() }),+]
    }};
}

/// R466. Whatever differs, the row is then as it was to be: a change that says that only the
/// activity differs leaves nothing out.
pub async fn no_field_of_a_message_is_left_out(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let full = full_message(&scene, &contact, &connection);
    let plain = scene.outbound(&contact, &connection, 0);
    scene.add(plain.clone()).await;
    let before = plain.clone();
    let changed = field_by_field!(plain, full, Message {
        id company contact connection direction
    } {
        message_type sender_type status failure content media blocks provider_id external_id quoted
        participant template_category prosa is_history edited_at sender created_at timestamp
    });
    for after in changed {
        let stored = scene.message_now(after.id).await.expect("the message is there");
        scene.apply(stored.update_activity(after.clone())).await;
        let stored = scene.message_now(after.id).await.expect("the message is there");
        assert_same(stored.value(), &after);
        scene.apply(stored.update_activity(before.clone())).await;
        let stored = scene.message_now(after.id).await.expect("the message is there");
        assert_same(stored.value(), &before);
    }
}

/// R466. The same of contacts.
pub async fn no_field_of_a_contact_is_left_out(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (full, plain) = (full_contact(&scene).await, scene.contact());
    scene.add(plain.clone()).await;
    let before = plain.clone();
    let changed = field_by_field!(plain, full, Contact { id company } {
        source_platform identifier phone email shared_email name wa_profile_name wa_push_name
        display_name avatar_url observation inbox_status priority crm_status is_ai_enabled
        external_ai_enabled ai_paused_until opted_out_at opt_out_backfilled opted_in_at is_archived
        is_pinned is_muted is_blocked is_group is_simulated has_unread external_chat_id
        first_message_at last_message_at last_inbound_at last_read_at last_closed_at
        last_close_reason_id address profile organization_id pipeline_stage_id
        assigned_to_member_id last_connection_id custom_fields created_at updated_at
    });
    for after in changed {
        let stored = scene.stored(after.id).await;
        scene.apply(stored.update_activity(after.clone())).await;
        let stored = scene.stored(after.id).await;
        assert_same(stored.value(), &after);
        scene.apply(stored.update_activity(before.clone())).await;
        assert_same(scene.stored(after.id).await.value(), &before);
    }
}

/// R466.
pub async fn the_activity_of_several_messages_is_replaced_or_that_of_none(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let messages: Vec<Message> = (0..4)
        .map(|number| Message {
            id: MessageId::new(scene.uuid()),
            ..scene.outbound(&contact, &connection, number)
        })
        .collect();
    scene.add_all(messages.clone()).await;
    let sender = scene.worker(0).id;
    let after = |round: i64| -> Vec<Message> {
        let statuses = [MessageStatus::Failed, MessageStatus::Sent, MessageStatus::Pending];
        let statuses = statuses.iter().cycle();
        let mut after: Vec<Message> = messages
            .iter()
            .zip(statuses.skip(round.unsigned_abs() as usize))
            .map(|(message, status)| reported(message, *status, round))
            .collect();
        for message in after.iter_mut().filter(|one| one.status == MessageStatus::Pending) {
            message.sender = Some(sender);
        }
        after
    };
    let read = async || {
        let mut read = Vec::new();
        for message in &messages {
            read.push(scene.message_now(message.id).await.expect("the message is there"));
        }
        read
    };
    let changes = |before: &[Stored<Message>], after: &[Message]| {
        let pairs = before.iter().zip(after);
        pairs.fold(ChangeSet::new(), |all, (before, after)| {
            all.with(before.update_activity(after.clone()))
        })
    };
    let old = read().await;
    for round in [1, 3] {
        scene.store.commit(changes(&read().await, &after(round))).await.expect("nothing changed");
        for (now, wanted) in read().await.iter().zip(after(round)) {
            assert_same(now.value(), &wanted);
        }
    }
    let mut mixed = read().await;
    mixed[2] = old[2].clone();
    let refused = conflict(scene.store.commit(changes(&mixed, &after(5))).await);
    assert_eq!(refused, Conflict::Stale(messages[2].row_key()));
    for (now, wanted) in read().await.iter().zip(after(3)) {
        assert_same(now.value(), &wanted);
    }
}

/// R466.
pub async fn the_activity_of_contacts_is_replaced_with_other_contacts(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (first, connection) = scene.pair().await;
    let second = scene.contact_named("second");
    let third = scene.contact_named("third");
    scene.add_all([second.clone(), third.clone()]).await;
    let mut expected = Vec::new();
    // The first change set has the activity of all, the second one that of some.
    for round in 1..=2 {
        let mut changes = ChangeSet::new();
        expected.clear();
        for (number, id) in (1_i64..).zip([first.id, second.id, third.id]) {
            let stored = scene.stored(id).await;
            let through = (number == round).then_some(connection.id);
            let mut after = Contact {
                first_message_at: Some(at(1)),
                last_message_at: Some(at(10 * round + number)),
                last_inbound_at: (number == 2).then(|| at(round)),
                last_connection_id: through,
                ..stored.value().clone()
            };
            if round == 2 && number == 2 {
                after.name = "Somebody else".to_owned();
                after.derive();
            }
            changes = changes.with(stored.update_activity(after.clone()));
            expected.push(after);
        }
        scene.store.commit(changes).await.expect("nothing has changed since");
        for after in &expected {
            let now = scene.stored(after.id).await;
            assert_same(now.value(), after);
        }
    }
    let listed = scene.page(&recado_core::contacts::ContactFilter::default(), 1, 10).await;
    let order: Vec<_> = listed.records.iter().map(|record| record.contact.id).collect();
    assert_eq!(order, [third.id, second.id, first.id], "the newest messages come first");
}
