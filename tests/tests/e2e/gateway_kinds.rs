//! Messages of every kind through the strict fakes of the three gateways: what a gateway carries
//! reaches it in its form, is read back in its kind and gets its reports; everything else is
//! refused by name: X2, X10–X13, X15; R335.

use std::collections::BTreeSet;

use recado_testkit::gateways::WahaEngine;
use recado_tests::backend::Setup;
use recado_tests::sent_kinds::holds;
use recado_tests::{Clouded, SentKind, StoreKind, both_stores, digits, mobile, text, with};
use serde_json::{Value, json};

use crate::gateway_evolution::Evolution;
use crate::gateway_faked::{BY_EVOLUTION, BY_THE_API, Faked, Scripted, carried_by};
use crate::gateway_waha::Waha;

/// What every gateway here can do beside the kinds of messages.
const ACTS: [&str; 5] = ["reaction", "read", "typing", "edit", "revoke"];

/// Sends one message of each kind: those that the gateway carries reach it once, are read back and
/// are reported on; the others are refused by name.
async fn sends_or_refuses_each(
    faked: &impl Scripted,
    kinds: &[SentKind],
    provider: &str,
    (carried, acts): (&[(&str, &str)], &[&str]),
) {
    let supported: BTreeSet<&str> =
        carried.iter().map(|(name, _)| *name).chain(acts.iter().copied()).collect();
    for (n, kind) in (1..).zip(kinds) {
        let to = mobile(n);
        match carried.iter().find(|(name, _)| *name == kind.name) {
            Some((_, operation)) => goes_out(faked, kind, &to, operation).await,
            None => is_refused(faked, kind, &to, provider, &supported).await,
        }
    }
    for (name, _) in carried {
        assert!(kinds.iter().any(|kind| kind.name == *name), "{name} was not tried");
    }
    faked.is_clean();
}

async fn goes_out(faked: &impl Scripted, kind: &SentKind, to: &str, operation: &str) {
    let before = faked.taken().len();
    let data = kind.send(faked.world(), to).await.expect(200);
    let mut taken = faked.taken();
    assert_eq!(taken.len(), before + 1, "{}: it is sent once", kind.name);
    let sent = taken.pop().expect("it was taken");
    assert_eq!((&*sent.operation, &data["wamid"]), (operation, &json!(sent.id)), "{}", kind.name);
    assert!(holds(&sent.body, &faked.shape(kind.name)), "{}: {}", kind.name, sent.body);
    assert!(digits(&sent.to).contains(&digits(to)[5..]), "{}: to {}", kind.name, sent.to);
    assert_eq!(sent.file, kind.file, "{}: the file gets there as it is", kind.name);
    // The answer to a text has none (4.8).
    let answered = if kind.call == "message" { &Value::Null } else { &kind.shows["type"] };
    assert_eq!(data["type"], *answered, "{}", kind.name);
    let id = text(&data["message_id"]);
    let message = faked.world().message(&id).await;
    kind.assert_shown(&message);
    assert_eq!((&message["status"], &message["wamid"]), (&json!("sent"), &json!(sent.id)));
    let events = faked.world().events_of("message.sent").await;
    kind.assert_told(events.last().expect("it is told"));
    faked.delivers(&sent.id).await;
    let told = faked.world().announced(&id).await;
    assert_eq!(told, ["delivered", "read"], "{}", kind.name);
    let message = faked.world().message(&id).await;
    assert_eq!(message["status"], "read", "{}", kind.name);
    kind.assert_shown(&message);
}

async fn is_refused(
    faked: &impl Faked,
    kind: &SentKind,
    to: &str,
    provider: &str,
    supported: &BTreeSet<&str>,
) {
    let (taken, stored) = (faked.taken().len(), faked.world().all_messages().await.len());
    let refused = kind.send(faked.world(), to).await;
    let details = refused.expect_error(422, "NOT_SUPPORTED_BY_CONNECTION");
    assert_eq!((&details["kind"], &details["provider"]), (&json!(kind.name), &json!(provider)));
    let named = details["supported"].as_array().expect("kinds").iter();
    let named: BTreeSet<&str> = named.filter_map(Value::as_str).collect();
    assert_eq!(named, *supported, "{}", kind.name);
    assert_eq!(faked.taken().len(), taken, "{}: nothing is sent", kind.name);
    let messages = faked.world().all_messages().await;
    assert_eq!(messages.len(), stored, "{}: nothing is stored", kind.name);
    if kind.call == "interactive" {
        goes_out_as_text(faked, kind, to).await;
    }
}

/// X12.
async fn goes_out_as_text(faked: &impl Faked, kind: &SentKind, to: &str) {
    let before = faked.taken().len();
    let mut instead = kind.clone();
    instead.body["fallback"] = "text".into();
    let data = instead.send(faked.world(), to).await.expect(200);
    assert_eq!(data["type"], "text", "{}", kind.name);
    let message = faked.world().message(&text(&data["message_id"])).await;
    let words = text(&message["content"]);
    instead.shows = with(kind.shows.clone(), json!({"type": "text", "content": words}));
    instead.assert_shown(&message);
    assert!(words.contains(&text(&kind.body["body"])), "{words}");
    let mut taken = faked.taken();
    assert_eq!(taken.len(), before + 1, "{}: it is sent once", kind.name);
    let sent = taken.pop().expect("it was taken");
    assert!(matches!(&*sent.operation, "text" | "sendText"), "{}", sent.operation);
    let said = match sent.operation.as_str() {
        "text" => &sent.body["text"]["body"],
        _ => &sent.body["text"],
    };
    assert_eq!(*said, json!(words), "{}", kind.name);
}

/// R335.
#[both_stores]
async fn each_engine_of_waha_carries_its_kinds_and_refuses_the_others(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        waha.asks("check").await.expect(200);
        let kinds = SentKind::all(&waha).await;
        sends_or_refuses_each(&waha, &kinds, "qr", (&carried_by(engine), &ACTS)).await;
    }
}

/// R335: where WAHA does not report its engine, that of the settings counts.
#[both_stores]
async fn an_engine_that_is_not_reported_is_that_of_the_settings(kind: StoreKind) {
    for (engine, set) in [(WahaEngine::Webjs, "WPP"), (WahaEngine::Noweb, "NOWEB")] {
        let waha = Waha::on(kind, engine).await;
        waha.fake.set_reports_engine(false);
        waha.set(json!({ "engine": set })).await;
        let kinds = SentKind::all(&waha).await;
        sends_or_refuses_each(&waha, &kinds, "qr", (&carried_by(engine), &ACTS)).await;
    }
}

#[both_stores]
async fn evolution_carries_its_kinds_and_refuses_the_others(world: Evolution) {
    let kinds = SentKind::all(&world).await;
    sends_or_refuses_each(&world, &kinds, "qr", (&BY_EVOLUTION, &ACTS)).await;
}

/// X15.
#[both_stores]
async fn the_official_api_carries_its_kinds_and_refuses_the_others(world: Clouded) {
    let mut kinds = SentKind::all(&world).await;
    kinds.push(SentKind::template(&world).await);
    let acts = ["reaction", "read", "typing"];
    sends_or_refuses_each(&world, &kinds, "official_cloud", (&BY_THE_API, &acts)).await;
}

/// R320: templates, which no QR gateway has, are refused as by a company without a connection.
#[both_stores]
async fn a_template_is_not_sent_through_a_qr_gateway(kind: StoreKind) {
    let (waha, evolution) = tokio::join!(
        Waha::on(kind, WahaEngine::Noweb),
        Evolution::with(kind, Setup::default(), json!({"status": "connected"})),
    );
    let faked: [&dyn Faked; 2] = [&waha, &evolution];
    for faked in faked {
        let template = SentKind::template(faked.world()).await;
        let refused = template.send(faked.world(), &mobile(1)).await;
        refused.expect_error(422, "CONNECTION_REQUIRED");
        assert!(faked.taken().is_empty() && faked.world().all_messages().await.is_empty());
        faked.is_clean();
    }
}
