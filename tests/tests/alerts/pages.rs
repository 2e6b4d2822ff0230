//! The rules, the dashboard and the page of alerts say the same, and name what servers say.

use std::collections::BTreeSet;

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::{Hooks, Setup, StoreKind, eventually, mobile, phone};
use serde_json::{Value, json};

use crate::gateways::unknown;
use crate::prometheus::{RULES, Scrape};
use crate::watched::alone;

const DASHBOARD: &str = include_str!("../../../deploy/monitoring/grafana/recado.json");
const PAGE: &str = include_str!("../../../docs/alerts.md");
const OPERATIONS: &str = include_str!("../../../docs/operations.md");
const TESTS: [&str; 5] = [
    include_str!("deliveries.rs"),
    include_str!("gateways.rs"),
    include_str!("machine.rs"),
    include_str!("requests.rs"),
    include_str!("store.rs"),
];

/// The names of the alerts, in the order of the rules.
fn alerts() -> Vec<&'static str> {
    RULES.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect()
}

/// The names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("recado_") || word.starts_with("process_"))
        .map(str::to_owned)
        .collect()
}

/// R282.
#[test]
fn every_alert_has_a_section_and_a_test_in_which_it_fires() {
    let sections: Vec<&str> = PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("## Recado").map(|_| &line[3..]))
        .collect();
    assert_eq!(sections, alerts(), "the sections of docs/alerts.md, in the order of the rules");
    for alert in alerts() {
        let fires = format!(".fires(\"{alert}\")");
        assert!(TESTS.iter().any(|test| test.contains(&fires)), "{alert} fires in no test");
        let link = format!("runbook: docs/alerts.md#{}\n", alert.to_lowercase());
        assert!(RULES.contains(&link), "{alert} does not say where its section is");
    }
}

/// What the servers of both stores say when everything has happened once.
async fn all_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for kind in [StoreKind::Sqlite, StoreKind::Postgres] {
        let _alone = alone().await;
        let world = Hooks::with(kind, Setup { no_background: true, ..Setup::default() }).await;
        world.hook("/hook", &["contact.created"]).await;
        world.post_contact(json!({"phone": phone(1)})).await.expect(201);
        world.drain().await;
        let connection = world.qr().await;
        world.sent(&mobile(1), "oi").await;
        world.stored(&connection, unknown(&world, "dance")).await;
        assert!(world.server.read_figures().await);
        names.extend(Scrape::of(world.addr).await.names());
    }
    let database = Database::migrated(StoreKind::Postgres);
    let ended = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/alerts/ended.pem");
    let process = Process::serve_with_env(&database, &[], &[("PGSSLROOTCERT", ended)]).await;
    let more = eventually("the figures are read", || async {
        let more = Scrape::of(process.addr).await.names();
        more.contains("recado_certificate_seconds_left").then_some(more)
    });
    names.extend(more.await);
    process.kill().await;
    names
}

/// R282.
#[tokio::test(flavor = "multi_thread")]
async fn every_metric_that_rules_dashboard_or_documents_name_is_there() {
    let there = all_names().await;
    for (place, text) in
        [("the rules", RULES), ("the dashboard", DASHBOARD), ("docs/alerts.md", PAGE)]
    {
        for name in metrics(text) {
            let is_there = there.contains(&name)
                || ["_bucket", "_sum", "_count"]
                    .iter()
                    .any(|part| there.contains(&format!("{name}{part}")));
            assert!(is_there, "{name}, which {place} names, is not at /metrics: {there:?}");
        }
    }
    // The other way round, each is in the table of docs/operations.md.
    let documented = metrics(OPERATIONS);
    for name in &there {
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part));
        let known = |name: &str| documented.contains(name);
        let is_named = known(name) || base.is_some_and(known) || name == "up";
        assert!(is_named, "{name} is not in docs/operations.md");
    }
}

/// R282: no panel without an expression, and all of one data source that is chosen.
#[test]
fn the_dashboard_is_one_that_grafana_can_import() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).expect("JSON");
    assert_eq!(dashboard["uid"], "recado");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut ids = BTreeSet::new();
    for panel in panels {
        let title = panel["title"].as_str().expect("a title");
        assert!(ids.insert(panel["id"].as_u64().expect("an id")), "{title}");
        if panel["type"] == "row" {
            continue;
        }
        let targets = panel["targets"].as_array().expect("targets");
        assert!(!targets.is_empty(), "{title}");
        for target in targets {
            let names = metrics(target["expr"].as_str().expect("an expression"));
            assert!(!names.is_empty(), "{title}");
            assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
        }
    }
    assert!(panels.len() > 15);
}
