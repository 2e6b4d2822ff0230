//! Events whose contact cannot be read at the time: 6.1.

use recado_testkit::store::{StoreFailure, StoreOp};
use recado_tests::{Setup, StoreKind, World, both_stores, mobile, text};
use serde_json::{Value, json};

/// A world in which only the test's calls read, so that the n-th read is theirs.
async fn alone(kind: StoreKind) -> World {
    World::with(kind, Setup { no_background: true, ..Setup::default() }).await
}

/// A contact whose service AI is off, so that its stored state differs from the default one.
async fn contact(world: &World) -> String {
    let id = world.create_id(json!({"phone": mobile(1)})).await;
    world.act(&id, "ai-mode", json!({"mode": "external"})).await.expect(200);
    id
}

/// Whether an event has the default state. Fails if it has neither that nor the stored state.
fn is_substitute(data: &Value) -> bool {
    assert_eq!(data["contact"]["external_ai_enabled"], true, "{data}");
    data["contact"]["is_ai_enabled"].as_bool().expect("a boolean")
}

#[both_stores]
async fn a_send_whose_contact_cannot_be_read_afterwards_says_true_twice(kind: StoreKind) {
    let world = alone(kind).await;
    world.silent("qr").await;
    let id = contact(&world).await;
    world.sent(&mobile(2), "oi").await;
    let mut substitutes = 0;
    for n in 0..10 {
        let before = world.events_of("message.sent").await.len();
        // The commit of the outcome has a conflict, and of the reads that follow the n-th fails.
        let (mut commits, mut reads) = (0, 0);
        world.server.store.plan(move |asked| {
            commits += usize::from(asked == StoreOp::Commit);
            let lost = asked == StoreOp::Commit && commits == 2;
            reads += usize::from(asked == StoreOp::Read && commits >= 2);
            let unreadable = asked == StoreOp::Read && reads == n + 1;
            match (lost, unreadable) {
                (true, _) => Some(StoreFailure::Contended),
                (_, true) => Some(StoreFailure::Unavailable),
                _ => None,
            }
        });
        let answer = world.send_text(&mobile(1), "oi").await;
        world.server.store.heal();
        // The background work records an outcome that could not be recorded at once.
        world.server.recover_sends().await;
        assert!([200, 502].contains(&answer.status), "read {n}: {}", answer.show());
        let events = world.events_of("message.sent").await;
        assert_eq!(events.len(), before + 1, "read {n}: an accepted send is announced");
        substitutes += events[before..].iter().filter(|data| is_substitute(data)).count();
        assert!(world.message_ids("status=pending").await.is_empty(), "read {n}");
    }
    assert!(substitutes > 0, "it was never unreadable");
    assert_eq!(world.full(&id).await["is_ai_enabled"], false);
}

#[both_stores]
async fn a_report_whose_contact_cannot_be_read_says_true_twice(kind: StoreKind) {
    let world = alone(kind).await;
    let qr = world.silent("qr").await;
    contact(&world).await;
    let mut substitutes = 0;
    for n in 0..20 {
        let sent = world.sent(&mobile(1), "oi").await;
        let report = world.report(&text(&sent["wamid"]), "delivered");
        let before = world.events_of("message.status_updated").await.len();
        world.server.store.fail_nth(StoreOp::Read, n, StoreFailure::Unavailable);
        let answer = world.post_events(&qr, vec![report]).await;
        world.server.store.heal();
        let events = world.events_of("message.status_updated").await;
        let status = world.message(&text(&sent["message_id"])).await["status"].clone();
        if status == "delivered" {
            assert_eq!(answer.status, 200, "read {n}: {}", answer.show());
            assert_eq!(events.len(), before + 1, "read {n}");
            substitutes += events[before..].iter().filter(|data| is_substitute(data)).count();
        } else {
            assert_eq!(events.len(), before, "no event without the change: read {n}");
        }
    }
    assert!(substitutes > 0, "it was never unreadable");
}
