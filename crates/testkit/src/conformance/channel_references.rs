//! Promise 5 for connections, conversations, messages and related rows.

use recado_core::connections::Connection;
use recado_core::contacts::Contact;
use recado_core::messages::RefTarget;
use recado_core::store::{Change, ChangeSet, Row};

use super::Harness;
use super::scene::{Scene, applied, at, first};

/// Every row except workers belongs to a company.
pub async fn a_row_of_a_channel_needs_its_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut nowhere = scene.through(scene.store.clone());
    nowhere.company = recado_core::ids::CompanyId::new(scene.uuid());
    nowhere.refuses(Change::insert(nowhere.connection())).await;
    nowhere.refuses(Change::insert(nowhere.template(None))).await;
    nowhere.refuses(Change::insert(nowhere.debit(None, 1, 0))).await;
    nowhere.refuses(Change::insert(nowhere.call("k", None))).await;
    nowhere.add(nowhere.worker(0)).await;
}

/// Rows of `scene` that refer to `lost`, a pair that is not stored, and otherwise to `here`, a pair
/// that is.
fn dangling(scene: &Scene, here: &(Contact, Connection), lost: &(Contact, Connection)) -> Vec<Row> {
    let message = scene.inbound(&here.0, &here.1, 0);
    vec![
        scene.inbound(&lost.0, &here.1, 0).into(),
        scene.inbound(&here.0, &lost.1, 0).into(),
        scene.conversation(&lost.0, &here.1).into(),
        scene.conversation(&here.0, &lost.1).into(),
        scene.reference(&message, "w1").into(),
        scene.report(&lost.1, "w1", at(9)).into(),
        scene.alias(&lost.0, "a-lid").into(),
        scene.statuses(&lost.1).into(),
        scene.group(&lost.1, "g1").into(),
        scene.lead(&lost.0).into(),
        scene.template(Some(&lost.1)).into(),
        scene.call("k", Some(lost.0.id)).into(),
        scene.debit(Some(lost.0.id), 1, 0).into(),
    ]
}

async fn all_are_refused(scene: &Scene, rows: Vec<Row>) {
    for row in rows {
        scene.refuses(Change::insert(row)).await;
    }
}

/// Inserts with a missing reference are refused.
pub async fn a_row_of_a_channel_needs_what_it_refers_to(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let here = scene.pair().await;
    let lost = (scene.contact(), scene.connection());
    all_are_refused(&scene, dangling(&scene, &here, &lost)).await;
    // All of the rows can be stored once their references exist.
    scene.add(lost.0.clone()).await;
    scene.add(lost.1.clone()).await;
    for row in dangling(&scene, &here, &lost) {
        if !matches!(&row, Row::MessageRef(r) if matches!(r.target, RefTarget::Message(_))) {
            scene.add(row).await;
        }
    }
}

/// Promise 8.
pub async fn a_channel_of_another_company_is_no_reference(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (here, theirs) = (scene.pair().await, other.pair().await);
    all_are_refused(&scene, dangling(&scene, &here, &theirs)).await;
    let message = other.inbound(&theirs.0, &theirs.1, 0);
    other.add(message.clone()).await;
    let mut reference = scene.reference(&message, "w1");
    reference.connection = here.1.id;
    scene.refuses(Change::insert(reference)).await;
}

/// Updates to a missing reference are refused.
pub async fn an_update_cannot_lead_a_channels_row_to_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let message = scene.inbound(&contact, &connection, 0);
    let (template, line) = (scene.template(Some(&connection)), scene.debit(None, 5, 0));
    let (call, report) = (scene.call("k", None), scene.report(&connection, "w1", at(9)));
    let rows: Vec<Row> = vec![
        message.clone().into(),
        template.clone().into(),
        line.clone().into(),
        call.clone().into(),
        report.clone().into(),
    ];
    scene.add_all(rows).await;
    let (nobody, nowhere) = (scene.contact().id, scene.connection().id);
    let mut changed = message.clone();
    changed.contact = nobody;
    scene.refuses(first(message.clone()).update(changed)).await;
    let mut changed = message.clone();
    changed.connection = nowhere;
    scene.refuses(first(message.clone()).update(changed)).await;
    let mut changed = template.clone();
    changed.connection = Some(nowhere);
    scene.refuses(first(template).update(changed)).await;
    let mut changed = line.clone();
    changed.contact = Some(nobody);
    scene.refuses(first(line).update(changed)).await;
    let mut changed = call.clone();
    changed.contact = Some(nobody);
    scene.refuses(first(call).update(changed)).await;
    let mut changed = report.clone();
    changed.target = RefTarget::Message(scene.inbound(&contact, &connection, 0).id);
    scene.refuses(first(report).update(changed)).await;
    assert_eq!(scene.message_now(message.id).await, Some(first(message)));
}

/// A message may mention rows that do not exist: the quoted message, a document, a process, a
/// campaign, the contact's last connection.
pub async fn what_a_message_only_mentions_may_be_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (mut contact, connection) = (scene.contact(), scene.connection());
    contact.last_connection_id = Some(scene.connection().id);
    scene.add(contact.clone()).await;
    scene.add(connection.clone()).await;
    let mut message = scene.pending(&contact, &connection, scene.worker(0).id);
    message.quoted.message = Some(scene.inbound(&contact, &connection, 0).id);
    message.media.document = Some(scene.document(&contact).id);
    scene.add(message.clone()).await;
    assert_eq!(scene.message_now(message.id).await, Some(first(message)));
    let debit = scene.debit(None, 5, 0);
    let mut refund = scene.debit(None, -5, 0);
    refund.consumption_id = debit.id;
    refund.campaign = Some(recado_core::ids::CampaignId::new(scene.uuid()));
    scene.add(refund).await;
}

/// Deletions of a connection that is in use are refused.
pub async fn a_connection_that_is_in_use_stays(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    for case in 0..3 {
        let connection = scene.connection();
        scene.add(connection.clone()).await;
        let message = scene.inbound(&contact, &connection, 0);
        let conversation = scene.conversation(&contact, &connection);
        let template = scene.template(Some(&connection));
        let goes = first(connection.clone()).delete();
        let (row, frees): (Row, _) = match case {
            0 => (message.clone().into(), first(message).delete()),
            1 => (conversation.clone().into(), first(conversation).delete()),
            _ => (template.clone().into(), first(template).delete()),
        };
        scene.add(row).await;
        scene.refuses(goes.clone()).await;
        let both = ChangeSet::new().with(frees).with(goes);
        scene.store.commit(both).await.expect("nothing refers to it any more");
        assert_eq!(scene.connection_now(connection.id).await, None);
    }
}

/// Promise 5 with concurrent commits: no message is left without its contact.
pub async fn a_message_is_never_left_without_its_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    for _ in 0..40 {
        let contact = scene.contact();
        scene.add(contact.clone()).await;
        let message = scene.inbound(&contact, &connection, 0);
        let comes = ChangeSet::new().insert(message.clone());
        let goes = ChangeSet::new().with(first(contact.clone()).delete());
        let (one, other) = (scene.store.clone(), scene.store.clone());
        let came = tokio::spawn(async move { applied(one.commit(comes).await) });
        let went = tokio::spawn(async move { applied(other.commit(goes).await) });
        let (came, went) = (came.await.expect("no panic"), went.await.expect("no panic"));
        assert_eq!(scene.has_contact(contact.id).await, !went);
        assert_eq!(scene.message_now(message.id).await.is_some(), came && !went);
    }
}
