//! Messages of every kind through the simulated gateway: it gets each once, with its file, reports
//! on it, and ends it as it ends a text to the same number: X10–X13; R332.

use std::sync::Arc;
use std::time::Duration;

use recado_core::gateway::Providers;
use recado_providers::simulated::{Reports, SeenAct, SeenRequests, Simulated};
use recado_testkit::{SeededIds, TestClock};
use recado_tests::backend::Setup;
use recado_tests::{
    SentKind, StoreKind, World, both_stores, digits, join_all, mobile, steered, text,
};
use serde_json::json;

use crate::gateway_kinds_outcomes::ended_alike;

/// A world whose only gateway is a simulated one, without background work.
struct Observed {
    world: World,
    seen: SeenRequests,
    reports: Reports,
}

impl Observed {
    async fn on(kind: StoreKind) -> Self {
        let ids = Arc::new(SeededIds::new(7));
        let (gateway, reports) = Simulated::new(Arc::new(TestClock::default()), ids);
        let seen = gateway.watch();
        let providers = Some(Providers::none().with(Arc::new(gateway)));
        let setup = Setup { providers, no_background: true, ..Setup::default() };
        Self { world: World::with(kind, setup).await, seen, reports }
    }

    /// Passes on the reports of all messages to their last one.
    async fn pass_reports_on(&mut self) {
        while self.reports.waiting() > 0 {
            for batch in self.reports.next().await.expect("the gateway is there") {
                let inbox = self.world.server.recado().inbox();
                inbox.receive(batch.company, batch.connection, batch.events).await.expect("taken");
            }
        }
    }

    /// What was sent so far: the reference, the kind, and the size of the file.
    fn sends(&self) -> Vec<(String, String, Option<u64>)> {
        let sends = self.seen.all().into_iter().filter_map(|request| match request.act {
            SeenAct::Send { outgoing, file_bytes } => Some((
                outgoing.reference.to_string(),
                outgoing.content.kind().as_str().to_owned(),
                file_bytes,
            )),
            _ => None,
        });
        sends.collect()
    }

    /// One message of each kind that a connection of this sort carries.
    async fn kinds(&self, sort: &str) -> Vec<SentKind> {
        let mut kinds = SentKind::all(&self.world).await;
        match sort {
            "qr" => {}
            _ => {
                kinds.retain(|kind| kind.name != "poll");
                kinds.push(SentKind::template(&self.world).await);
            }
        }
        kinds
    }
}

/// R332.
#[both_stores]
async fn the_simulated_gateway_gets_each_kind_once_and_reports_on_it(kind: StoreKind) {
    for sort in ["qr", "official_cloud"] {
        let mut it = Observed::on(kind).await;
        it.world.connection(sort, json!({"settings": {"delay_ms": 0}})).await;
        for (n, kind) in (1..).zip(it.kinds(sort).await) {
            let before = it.sends().len();
            let data = kind.send(&it.world, &mobile(n)).await.expect(200);
            let id = text(&data["message_id"]);
            let file = kind.file.as_ref().map(|file| file.len() as u64);
            let sent = (id.clone(), kind.name.to_owned(), file);
            assert_eq!(it.sends()[before..], [sent], "{sort}");
            let message = it.world.message(&id).await;
            kind.assert_shown(&message);
            assert_eq!((&message["status"], &message["wamid"]), (&json!("sent"), &data["wamid"]));
            it.pass_reports_on().await;
            assert_eq!(it.world.announced(&id).await, ["delivered", "read"], "{}", kind.name);
        }
    }
}

/// The endings 0001, 0002, 0003 and 0005 of a number: refused, uncertain, offline, and too late.
#[both_stores]
async fn each_kind_ends_at_the_simulated_gateway_as_a_text_to_the_same_number(kind: StoreKind) {
    let it = Observed::on(kind).await;
    let settings = json!({"reports": false, "timeout_ms": 1_000});
    let connection = it.world.connection("qr", json!({"settings": settings})).await;
    let kinds = it.kinds("qr").await;
    for ending in [1, 2, 3] {
        let mut answers = Vec::new();
        it.world.advance(Duration::from_secs(1));
        for (n, kind) in (1..).zip(with_reaction(&it, &connection, &kinds, ending).await) {
            let before = it.sends().len();
            let to = steered(10_000 * n + ending);
            answers.push((kind.name, kind.send(&it.world, &to).await));
            assert_eq!(it.sends().len(), before + 1, "{}", kind.name);
        }
        let end = ended_alike(&it.world, &answers, &format!("at {ending}")).await;
        let uncertain = end.error_type == "delivery_uncertain";
        assert_eq!(uncertain, ending == 2, "{end:?}");
    }
    let before = it.sends().len();
    let sends = (1..).zip(with_reaction(&it, &connection, &kinds, 5).await).map(|(n, kind)| {
        let world = &it.world;
        async move { (kind.name, kind.send(world, &steered(10_000 * n + 5)).await) }
    });
    it.world.advance(Duration::from_secs(1));
    let answers = join_all(sends.collect()).await;
    let end = ended_alike(&it.world, &answers, "late").await;
    assert_eq!(end.error_type, "delivery_uncertain");
    it.world.server.run_due_jobs().await;
    it.world.server.recover_sends().await;
    assert_eq!(it.sends().len(), before + kinds.len() + 1, "nothing is sent again");
}

/// The ending 0004: accepted, and reported as failed.
#[both_stores]
async fn each_kind_is_reported_as_failed_by_the_simulated_gateway(kind: StoreKind) {
    let mut it = Observed::on(kind).await;
    it.world.connection("qr", json!({"settings": {"delay_ms": 0}})).await;
    let kinds = it.kinds("qr").await;
    let mut ids = Vec::new();
    for (n, kind) in (1..).zip(&kinds) {
        let data = kind.send(&it.world, &steered(10_000 * n + 4)).await.expect(200);
        ids.push(text(&data["message_id"]));
    }
    it.pass_reports_on().await;
    for (kind, id) in kinds.iter().zip(&ids) {
        let message = it.world.message(id).await;
        assert_eq!(message["status"], "failed", "{}", kind.name);
        assert_eq!(message["delivery_error"]["code"], "RECIPIENT_UNREACHABLE", "{}", kind.name);
        kind.assert_shown(&message);
    }
    assert_eq!(it.sends().len(), kinds.len(), "nothing is sent again");
}

/// The kinds, and a reaction to a message of somebody whose number has this ending.
async fn with_reaction(
    it: &Observed,
    connection: &str,
    kinds: &[SentKind],
    ending: u32,
) -> Vec<SentKind> {
    let heard = it.world.receive(connection, &digits(&steered(500_000 + ending)), "oi").await;
    let mut kinds = kinds.to_vec();
    kinds.push(SentKind::reaction(&heard, Some("👍")));
    kinds
}
