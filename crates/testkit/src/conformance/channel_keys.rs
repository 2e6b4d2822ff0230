//! Promise 2 for connections, conversations, messages and related rows.

use recado_core::idempotency::RememberedCall;
use recado_core::ids::MessageId;
use recado_core::store::{ChangeSet, RecordsExt, Row, UniqueKey};

use super::Harness;
use super::channel_scene::{platform, wamid};
use super::scene::{Scene, applied, assert_taken, at, conflict, first};

/// Each conflict names the identity of its kind.
pub async fn a_taken_identity_names_its_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let message = scene.inbound(&contact, &connection, 0);
    scene.add(message.clone()).await;
    let rows: Vec<(Row, UniqueKey)> = vec![
        (connection.clone().into(), UniqueKey::Id),
        (message.into(), UniqueKey::Id),
        (scene.template(None).into(), UniqueKey::Id),
        (scene.debit(None, 5, 0).into(), UniqueKey::Id),
        (scene.worker(0).into(), UniqueKey::Id),
        (scene.alias(&contact, "a-lid").into(), UniqueKey::AliasKey),
        (scene.statuses(&connection).into(), UniqueKey::Id),
        (scene.group(&connection, "g1").into(), UniqueKey::GroupCode),
        (scene.conversation(&contact, &connection).into(), UniqueKey::Conversation),
        (scene.report(&connection, "w1", at(9)).into(), UniqueKey::ProviderMessage),
        (scene.lead(&contact).into(), UniqueKey::LeadMemory),
        (scene.call("k", None).into(), UniqueKey::CallKey),
    ];
    for (row, key) in rows {
        let _ = scene.try_add(row.clone()).await;
        assert_taken(scene.try_add(row).await, key);
    }
}

/// D62: an alias belongs to one contact of a channel.
pub async fn an_alias_belongs_to_one_contact_per_channel(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (ana, bia, mut elsewhere) = (scene.contact(), scene.contact(), scene.contact());
    elsewhere.source_platform = platform("telegram");
    scene.add_all([ana.clone(), bia.clone(), elsewhere.clone()]).await;
    scene.add(scene.alias(&ana, "5534991234567")).await;
    let taken = scene.try_add(scene.alias(&bia, "5534991234567")).await;
    assert_taken(taken, UniqueKey::AliasKey);
    scene.add(scene.alias(&elsewhere, "5534991234567")).await;
    scene.add(scene.alias(&ana, "553491234567")).await;
    // Aliases are compared byte by byte: neither case nor accents are ignored.
    scene.add(scene.alias(&ana, "lid")).await;
    scene.add(scene.alias(&bia, "LID")).await;
    scene.add(scene.alias(&bia, "líd")).await;
    let other = scene.another_company().await;
    let theirs = other.contact();
    other.add(theirs.clone()).await;
    other.add(other.alias(&theirs, "5534991234567")).await;
    scene.apply(first(scene.alias(&ana, "5534991234567")).delete()).await;
    scene.add(scene.alias(&bia, "5534991234567")).await;
}

/// D31: on one connection a provider's id refers to one thing only, whichever row came first.
pub async fn a_provider_id_stands_for_one_thing_per_connection(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let second = scene.connection();
    scene.add(second.clone()).await;
    let message = scene.inbound(&contact, &connection, 0);
    let elsewhere = scene.inbound(&contact, &second, 0);
    scene.add_all([message.clone(), elsewhere.clone()]).await;
    scene.add(scene.report(&connection, "w1", at(9))).await;
    let held = scene.try_add(scene.reference(&message, "w1")).await;
    assert_taken(held, UniqueKey::ProviderMessage);
    scene.add(scene.reference(&message, "w2")).await;
    let held = scene.try_add(scene.report(&connection, "w2", at(9))).await;
    assert_taken(held, UniqueKey::ProviderMessage);
    scene.add(scene.reference(&elsewhere, "w1")).await;
    scene.add(scene.reference(&message, "W1")).await;
}

/// A message that is committed after a report of it conflicts with the report, and replaces it in a
/// second commit.
pub async fn a_report_gives_way_to_its_message(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let report = scene.report(&connection, "w1", at(9));
    scene.add(report.clone()).await;
    let message = scene.outbound(&contact, &connection, 0);
    let reference = scene.reference(&message, "w1");
    let blind = ChangeSet::new().insert(message.clone()).insert(reference.clone());
    assert_taken(scene.store.commit(blind).await, UniqueKey::ProviderMessage);
    assert_eq!(scene.message_now(message.id).await, None);
    let informed =
        ChangeSet::new().insert(message.clone()).with(first(report).update(reference.clone()));
    scene.store.commit(informed).await.expect("the report is as it was read");
    let found = scene.store.referred(scene.company, connection.id, &[wamid("w1")]).await;
    let found = found.expect("the store works");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].reference.value(), &reference);
    assert_eq!(found[0].reference.version().number(), 2);
    assert_eq!(found[0].message, Some(first(message)));
}

/// 4.10: tokens are unique over all companies.
pub async fn a_taken_template_token_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let template = scene.template(None);
    scene.add(template.clone()).await;
    let mut theirs = other.template(None);
    theirs.token_hash = template.token_hash;
    assert_taken(other.try_add(theirs).await, UniqueKey::TemplateToken);
    let (spare, mut wants) = (scene.template(None), scene.template(None));
    scene.add(spare.clone()).await;
    (wants.id, wants.token_hash) = (spare.id, template.token_hash);
    assert_taken(scene.try_apply(first(spare).update(wants)).await, UniqueKey::TemplateToken);
}

/// D37: calls are distinguished by operation and by company, too.
pub async fn calls_are_distinguished_by_operation_key_and_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let call = scene.call("k", None);
    let mut elsewhere = scene.call("k", None);
    elsewhere.key.operation = "POST /v1/templates".to_owned();
    scene.add_all([call.clone(), elsewhere.clone(), scene.call("K", None)]).await;
    other.add(other.call("k", None)).await;
    for wanted in [call, elsewhere] {
        let found = scene.store.get::<RememberedCall>((scene.company, wanted.key.clone())).await;
        assert_eq!(found.expect("the store works"), Some(first(wanted)));
    }
}

/// D28 with concurrent commits: of a message and a report of it, at least one commit sees the
/// other.
pub async fn of_a_message_and_its_report_one_learns_of_the_other(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let second = match harness.second().await {
        Some(second) => scene.through(second),
        None => scene.through(scene.store.clone()),
    };
    let (contact, connection) = scene.pair().await;
    let mut passed = 0;
    for round in 0..40 {
        let id = format!("w{round}");
        let mut message = scene.outbound(&contact, &connection, 0);
        message.id = MessageId::new(scene.uuid());
        let reference = scene.reference(&message, &id);
        let sends = ChangeSet::new().insert(message.clone()).insert(reference);
        let reports = ChangeSet::new().insert(scene.report(&connection, &id, at(9)));
        let (one, other) = (scene.store.clone(), second.store.clone());
        let sent = tokio::spawn(async move { applied(one.commit(sends).await) });
        let reported = tokio::spawn(async move { applied(other.commit(reports).await) });
        let (sent, reported) = (sent.await.expect("no panic"), reported.await.expect("no panic"));
        assert!(!(sent && reported), "both hold the id");
        passed += u32::from(sent) + u32::from(reported);
        assert_eq!(scene.message_now(message.id).await.is_some(), sent);
        let found = scene.store.referred(scene.company, connection.id, &[wamid(&id)]).await;
        let found = found.expect("the store works");
        assert_eq!(found.len(), usize::from(sent || reported));
        assert_eq!(found.iter().any(|referred| referred.message.is_some()), sent);
    }
    assert!(passed > 0, "contention may stop some, not all");
}

/// D62 with concurrent commits: two commits for one person make one contact.
pub async fn of_two_contacts_with_one_alias_one_is_made(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut passed = 0;
    for round in 0..40 {
        let name = format!("55349912345{round:02}");
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let contact = scene.contact();
                let alias = scene.alias(&contact, &name);
                let (store, changes) =
                    (scene.store.clone(), ChangeSet::new().insert(contact).insert(alias));
                tokio::spawn(async move { store.commit(changes).await })
            })
            .collect();
        let mut made = 0;
        for task in tasks {
            match task.await.expect("no panic") {
                Ok(()) => made += 1,
                lost => {
                    conflict(lost);
                }
            }
        }
        assert!(made <= 1, "two contacts were made");
        passed += made;
    }
    assert!(passed > 0, "contention may stop some, not all");
}
