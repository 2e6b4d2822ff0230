//! What a server says at `/metrics`, and what the rules make of it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use recado_tests::{Request, not_run};
use serde_json::{Value, json};

/// The rules.
pub(crate) const RULES: &str = include_str!("../../../deploy/monitoring/recado.rules.yml");
/// How many minutes everything is well, at first: longer than any rule looks back.
const WELL: usize = 130;
/// How many minutes what was read last goes on.
const BROKEN: usize = 90;

/// The folder of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository")
}

/// Where promtool is; `None` where it cannot be had.
fn promtool() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let script = repository().join("scripts/check-alerts");
        let found = Command::new(script).arg("--find").output().expect("the script runs");
        let path = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        (!path.is_empty()).then(|| PathBuf::from(path))
    };
    let found = FOUND.get_or_init(find).as_deref();
    if found.is_none() {
        not_run("the alerts", "promtool is not installed and cannot be had");
    }
    found
}

/// The samples of one scrape, by their series; none if the server did not answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scrape(BTreeMap<String, f64>);

impl Scrape {
    /// What the server at an address says.
    pub(crate) async fn of(addr: SocketAddr) -> Self {
        let answer = Request::new("GET", "/metrics").send(addr).await;
        assert_eq!(answer.status, 200, "{}", answer.show());
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut samples: BTreeMap<String, f64> = lines
            .map(|line| {
                let (series, value) = line.rsplit_once(' ').expect("a series and its value");
                (labelled(series), value.parse().expect("a number"))
            })
            .collect();
        samples.insert(labelled("up"), 1.0);
        Self(samples)
    }

    /// What Prometheus stores where nobody answers.
    pub(crate) fn down() -> Self {
        Self([(labelled("up"), 0.0)].into())
    }

    /// The names of its metrics.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.0.keys().map(|series| name_of(series).to_owned()).collect()
    }

    /// The sum of all series of a metric; 0 if there is none.
    pub(crate) fn sum(&self, name: &str) -> f64 {
        let of = self.0.iter().filter(|(series, _)| name_of(series) == name);
        of.map(|(_, value)| value).sum()
    }

    /// The value of the only series of a metric with these labels.
    pub(crate) fn value(&self, name: &str, labels: &[&str]) -> f64 {
        let is_one = |series: &&String| {
            name_of(series) == name && labels.iter().all(|label| series.contains(label))
        };
        let found: Vec<&String> = self.0.keys().filter(is_one).collect();
        let [one] = found.as_slice() else { panic!("{name} {labels:?}: {found:?}") };
        self.0[*one]
    }
}

fn name_of(series: &str) -> &str {
    series.split('{').next().unwrap_or_default()
}

/// The series as Prometheus stores it, with the labels of the scrape.
fn labelled(series: &str) -> String {
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let separator = if labels == "}" { "" } else { "," };
    format!("{name}{{job=\"recado\",instance=\"test\"{separator}{labels}")
}

/// The samples of a series, one for each minute: the first scrape for a long time, then each
/// further one, and the last for a while.
fn values(series: &str, scrapes: &[Scrape]) -> String {
    let shown = |scrape: &Scrape| {
        scrape.0.get(series).map_or_else(|| "_".to_owned(), |value| format!("{value:?}"))
    };
    let [first, between @ .., last] = scrapes else { panic!("at least two scrapes") };
    let mut all = vec![shown(first); WELL];
    all.extend(between.iter().map(shown));
    all.extend(vec![shown(last); BROKEN]);
    all.join(" ")
}

/// Lets the rules see scrapes that were made a minute apart. At the first one everything was well:
/// no alert may fire then. After the others, the alert must, or must not. How full the disks of
/// this machine are does not count.
pub(crate) fn assert_fires(alert: &str, scrapes: &[Scrape], fires: bool) {
    let Some(promtool) = promtool() else { return };
    let names: BTreeSet<&str> = scrapes
        .iter()
        .flat_map(|scrape| scrape.0.keys().map(|series| series.as_str()))
        .filter(|series| RULES.contains(name_of(series)))
        .collect();
    let series: Vec<Value> = names
        .into_iter()
        .map(|series| json!({"series": series, "values": values(series, scrapes)}))
        .collect();
    let fired = format!("ALERTS{{alertname=\"{alert}\",alertstate=\"firing\"}}");
    let well = "count(ALERTS{alertname!~\"RecadoDisk.+\",alertstate=\"firing\"}) or vector(0)";
    let expect = |expr: String, minute: usize, value: u32| {
        let exp_samples = json!([{"labels": "{}", "value": value}]);
        json!({"expr": expr, "eval_time": format!("{minute}m"), "exp_samples": exp_samples})
    };
    let end = WELL + scrapes.len() + BROKEN - 4;
    let test = json!({
        "rule_files": [repository().join("deploy/monitoring/recado.rules.yml")],
        "evaluation_interval": "1m",
        "tests": [{
            "interval": "1m",
            "input_series": series,
            "promql_expr_test": [
                expect(well.to_owned(), WELL - 1, 0),
                expect(
                    format!("(count(count_over_time({fired}[{BROKEN}m])) or vector(0)) > bool 0"),
                    end,
                    u32::from(fires),
                ),
            ],
        }],
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("test.yml");
    std::fs::write(&file, test.to_string()).expect("written");
    let run = Command::new(promtool).args(["test", "rules"]).arg(&file).output().expect("it runs");
    let said = [run.stdout.as_slice(), &run.stderr].concat();
    assert!(run.status.success(), "{alert}: {}", String::from_utf8_lossy(&said));
}

/// The rules hold for promtool.
#[test]
fn the_rules_are_valid() {
    let Some(promtool) = promtool() else { return };
    let rules = repository().join("deploy/monitoring/recado.rules.yml");
    let run = Command::new(promtool).args(["check", "rules"]).arg(rules).output().expect("it runs");
    let said = [run.stdout.as_slice(), &run.stderr].concat();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&said));
}
