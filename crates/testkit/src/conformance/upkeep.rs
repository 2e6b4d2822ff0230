//! Housekeeping deletes rows that are not needed any more, and no others.

use recado_core::idempotency::RememberedCall;
use recado_core::ids::WorkerId;
use recado_core::inbound::InboundEndpoint;
use recado_core::messages::ProviderMessageId;
use recado_core::prosas::LedgerLine;
use recado_core::store::{ChangeSet, RecordsExt};
use recado_core::templates::Template;
use recado_core::workers::Worker;

use super::Harness;
use super::channel_scene::wamid;
use super::scene::{Scene, at, first};

const HOUR: i64 = 3_600_000;

/// The number of calls that must be enough for a few rows, although each call does a limited part.
const CALLS: usize = 20;

async fn keep_up(scene: &Scene, now: i64) {
    for _ in 0..CALLS {
        scene.store.upkeep(at(now)).await.expect("the store works");
    }
}

/// D28: reports of messages that never came.
pub async fn reports_that_expired_go_and_references_stay(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let message = scene.inbound(&contact, &connection, 0);
    scene.add(message.clone()).await;
    scene.add(scene.reference(&message, "message")).await;
    scene.add(scene.report(&connection, "early", at(10))).await;
    scene.add(scene.report(&connection, "late", at(11))).await;
    let ids: Vec<ProviderMessageId> = ["early", "late", "message"].map(wamid).to_vec();
    let there = async || {
        let found = scene.store.referred(scene.company, connection.id, &ids).await;
        let mut found: Vec<_> = found
            .expect("the store works")
            .into_iter()
            .map(|referred| referred.reference.provider_id.as_str().to_owned())
            .collect();
        found.sort();
        found
    };
    keep_up(&scene, 9).await;
    assert_eq!(there().await, ["early", "late", "message"]);
    keep_up(&scene, 10).await;
    assert_eq!(there().await, ["late", "message"]);
    keep_up(&scene, HOUR * 24 * 365).await;
    assert_eq!(there().await, ["message"]);
    scene.add(scene.report(&connection, "early", at(10))).await;
}

/// D37.
pub async fn calls_that_expired_go(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut calls = [scene.call("a", None), scene.call("b", None)];
    for (call, millis) in calls.iter_mut().zip([10, 11]) {
        call.expires_at = at(millis);
    }
    scene.add_all(calls.clone()).await;
    let there = async |n: usize| {
        let call = scene.store.get::<RememberedCall>((scene.company, calls[n].key.clone())).await;
        call.expect("the store works").is_some()
    };
    keep_up(&scene, 9).await;
    assert_eq!((there(0).await, there(1).await), (true, true));
    keep_up(&scene, 10).await;
    assert_eq!((there(0).await, there(1).await), (false, true));
    keep_up(&scene, 11).await;
    assert_eq!((there(0).await, there(1).await), (false, false));
    scene.add_all(calls).await;
}

/// D36: the messages of deleted workers are still abandoned.
pub async fn workers_that_are_long_silent_go(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let (old, young) = (scene.worker(0), scene.worker(1));
    scene.add_all([old, young]).await;
    let message = scene.pending(&contact, &connection, old.id);
    scene.add(message.clone()).await;
    let there = async |id: WorkerId| {
        scene.store.get::<Worker>(id).await.expect("the store works").is_some()
    };
    keep_up(&scene, HOUR - 1).await;
    assert_eq!((there(old.id).await, there(young.id).await), (true, true));
    keep_up(&scene, HOUR).await;
    assert_eq!((there(old.id).await, there(young.id).await), (false, true));
    let left = scene.store.abandoned_messages(at(HOUR), 10).await.expect("works");
    assert_eq!(left, [first(message)]);
}

/// Rows that a company relies on are never deleted.
pub async fn upkeep_leaves_everything_else_alone(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let message = scene.outbound(&contact, &connection, 0);
    let (line, job) = (scene.debit(Some(contact.id), 5, 0), scene.job());
    let changes = ChangeSet::new()
        .insert(message.clone())
        .insert(scene.reference(&message, "w1"))
        .insert(scene.conversation(&contact, &connection))
        .insert(scene.alias(&contact, "a-lid"))
        .insert(scene.group(&connection, "g1"))
        .insert(scene.lead(&contact))
        .insert(scene.template(Some(&connection)))
        .insert(line.clone())
        .insert(job);
    scene.store.commit(changes).await.expect("all can be stored");
    let enrolled = scene.enrolled(2).await;
    scene.add(scene.endpoint("loja")).await;
    let (store, company) = (&scene.store, scene.company);
    let everything = async || {
        let record = store.contact_record(company, contact.id).await.expect("works");
        let query = recado_core::conversations::ChannelQuery {
            ids: vec![contact.id],
            ..Default::default()
        };
        let named = store.channel_contacts(company, &query).await.expect("works");
        let referred = store.referred(company, connection.id, &[wamid("w1")]).await.expect("works");
        let groups = store.groups(company, connection.id).await.expect("works");
        let templates = store.all_stored::<Template>(company).await.expect("works");
        let line = store.get::<LedgerLine>((company, line.id)).await.expect("works");
        let endpoints = store.all::<InboundEndpoint>(company).await.expect("works");
        let campaigns = store.campaigns(company).await.expect("works");
        let recipients = scene.recipients_now(enrolled.campaign.id).await;
        let later = (endpoints, campaigns, recipients);
        (record, named, referred, groups, templates, line, later)
    };
    let before = everything().await;
    keep_up(&scene, HOUR * 24 * 365 * 50).await;
    assert!(everything().await == before);
    let claimed = store.claim_jobs(at(HOUR), at(2 * HOUR), 10, &[]).await.expect("works");
    assert_eq!(claimed.len(), 1);
}
