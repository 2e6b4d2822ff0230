//! Deliveries while the database fails: D52, D52a, D53.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use recado_testkit::store::{StoreFailure, StoreOp};
use recado_tests::backend::TestServer;
use recado_tests::world::operator_at;
use recado_tests::{
    Hooks, Outside, Received, Reply, Request, Setup, StoreKind, both_stores, eventually,
    on_postgres, phone, text,
};
use serde_json::{Value, json};

const FAILURES: [StoreFailure; 3] =
    [StoreFailure::Unavailable, StoreFailure::UnknownBefore, StoreFailure::UnknownAfter];

#[both_stores]
async fn a_change_and_its_event_are_stored_together_or_not_at_all(hooks: Hooks) {
    let key = hooks.journal_key().await;
    hooks.hook("/a", &["*"]).await;
    for (n, failure) in (0..).zip(FAILURES) {
        hooks.server.store.fail_nth(StoreOp::Commit, 0, failure);
        let answer = hooks.post_contact(json!({"phone": phone(n)})).await;
        answer.expect_error(503, "UNAVAILABLE");
        hooks.server.store.heal();
    }
    hooks.drain().await;
    let existing: BTreeSet<String> = hooks.export(100).await.into_iter().collect();
    assert_eq!(existing.len(), 1, "the one whose answer alone was lost");
    let reported: Vec<String> =
        hooks.receiver.to("/a").iter().map(|one| text(&one.data()["id"])).collect();
    assert_eq!(reported.iter().cloned().collect::<BTreeSet<_>>(), existing);
    assert_eq!(reported.len(), 1);
    let entries = hooks.journal(&key, "").await.items();
    assert_eq!(entries.len(), 1);
}

#[both_stores]
async fn an_outcome_that_cannot_be_recorded_is_recorded_later_and_the_receiver_asked_once(
    kind: StoreKind,
) {
    let hooks = Hooks::live(kind).await;
    hooks.hook("/a", &["*"]).await;
    for (n, failure) in (1..).zip(FAILURES) {
        hooks.receiver.then("/a", Reply::Held(200));
        hooks.create(json!({"phone": phone(n)})).await;
        let request = hooks.receiver.reaches("/a", n as usize).await.pop();
        let id = request.expect("a request").delivery();
        let commits = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&commits);
        hooks.server.store.plan(move |asked| {
            let is_commit = asked == StoreOp::Commit;
            counted.fetch_add(usize::from(is_commit), Ordering::SeqCst);
            is_commit.then_some(failure)
        });
        hooks.receiver.release();
        eventually("it could not be recorded", || async {
            (commits.load(Ordering::SeqCst) > 0).then_some(())
        })
        .await;
        hooks.server.store.heal();
        hooks.advance(Duration::from_secs(1));
        let delivery = hooks.finished(&id).await;
        assert_eq!(delivery["status"], "delivered", "{failure:?}");
        assert_eq!(delivery["attempts"], 1, "{failure:?}");
        assert_eq!(hooks.receiver.count("/a"), n as usize, "{failure:?}");
    }
}

#[both_stores]
async fn deliveries_go_on_after_the_store_was_away(kind: StoreKind) {
    let hooks = Hooks::live(kind).await;
    hooks.hook("/a", &["*"]).await;
    hooks.receiver.then("/a", Reply::status(500));
    hooks.create(json!({"phone": phone(1)})).await;
    let id = text(&hooks.only_delivery().await["id"]);
    eventually("it was tried", || async {
        (hooks.delivery(&id).await["attempts"] == 1).then_some(())
    })
    .await;
    let failed = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&failed);
    hooks.server.store.plan(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Some(StoreFailure::Unavailable)
    });
    hooks.advance(Duration::from_secs(31));
    eventually("the delivery worker met the failure", || async {
        (failed.load(Ordering::SeqCst) > 3).then_some(())
    })
    .await;
    hooks.server.store.heal();
    hooks.advance(Duration::from_secs(2));
    assert_eq!(hooks.finished(&id).await["attempts"], 2);
    hooks.create(json!({"phone": phone(2)})).await;
    hooks.receiver.reaches("/a", 3).await;
}

#[on_postgres]
async fn a_word_between_processes_that_is_lost_delays_deliveries_only(kind: StoreKind) {
    let hooks = Hooks::live(kind).await;
    let setup = Setup {
        clock: Some(hooks.server.clock.clone()),
        outside: Outside::Open,
        ..Setup::default()
    };
    let other = TestServer::start(&hooks.database, setup).await;
    let paths: Vec<String> = (0..24).map(|n| format!("/{n}")).collect();
    for path in &paths {
        hooks.hook(path, &["*"]).await;
    }
    eventually("both serve some webhooks", || async {
        hooks.advance(Duration::from_millis(200));
        let owners = hooks.database.shard_owners().await;
        (owners.iter().collect::<BTreeSet<_>>().len() == 2).then_some(())
    })
    .await;
    for store in [&hooks.server.store, &other.store] {
        store.plan(|asked| (asked == StoreOp::Notify).then_some(StoreFailure::Unavailable));
    }
    for (n, addr) in (1..).zip([hooks.addr, other.addr]) {
        let body = json!({"phone": phone(n)});
        let create = Request::new("POST", "/api/v1/contacts").bearer(&hooks.us.key);
        create.json(&body).send(addr).await.expect(201);
    }
    eventually("everything came", || async {
        hooks.advance(Duration::from_millis(200));
        paths.iter().all(|path| hooks.receiver.count(path) == 2).then_some(())
    })
    .await;
    let ids: BTreeSet<String> = hooks.receiver.all().iter().map(Received::delivery).collect();
    assert_eq!(ids.len(), 48);
}

#[on_postgres]
async fn a_webhook_deleted_at_one_process_gets_nothing_more_from_another(kind: StoreKind) {
    let hooks = Hooks::live(kind).await;
    let setup = Setup {
        clock: Some(hooks.server.clock.clone()),
        outside: Outside::Open,
        ..Setup::default()
    };
    let other = TestServer::start(&hooks.database, setup).await;
    for n in 0..6 {
        let path = format!("/{n}");
        let hook = hooks.hook(&path, &["*"]).await;
        hooks.create(json!({"phone": phone(n)})).await;
        hooks.receiver.reaches(&path, 1).await;
        let webhook = format!("C/webhooks/{}", hook.id);
        let gone = operator_at(other.addr, &hooks.us.id, "DELETE", &webhook, Value::Null).await;
        gone.expect_deleted();
        hooks.create(json!({"phone": phone(100 + n)})).await;
    }
    // Later deliveries show that all earlier ones were dispatched.
    hooks.hook("/last", &["*"]).await;
    hooks.create(json!({"phone": phone(500)})).await;
    hooks.receiver.reaches("/last", 1).await;
    for n in 0..6 {
        assert_eq!(hooks.receiver.count(&format!("/{n}")), 1);
    }
}
