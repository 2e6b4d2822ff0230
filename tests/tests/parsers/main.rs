//! A bounded run of the fuzz targets: each seed and mutations of it, the same in every run.

mod mutator;

#[path = "../../../fuzz/parsers/contact.rs"]
mod contact;
#[path = "../../../fuzz/parsers/dispatch.rs"]
mod dispatch;
#[path = "../../../fuzz/parsers/gateways.rs"]
mod gateways;
#[path = "../../../fuzz/parsers/http.rs"]
mod http;
#[path = "../../../fuzz/parsers/inbound.rs"]
mod inbound;
#[path = "../../../fuzz/parsers/json.rs"]
mod json;
#[path = "../../../fuzz/parsers/json_path.rs"]
mod json_path;
#[path = "../../../fuzz/parsers/query.rs"]
mod query;
#[path = "../../../fuzz/parsers/values.rs"]
mod values;

use std::path::PathBuf;

use gateways::Fuzzed;
use mutator::Mutator;
use serde_json::Value;
use serde_json::value::RawValue;

fn fuzz() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz"))
}

/// The files of a directory, in the order of their names.
fn files(directory: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("it is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let paths = files(fuzz().join("seeds").join(target));
    paths.iter().map(|path| std::fs::read(path).expect("a seed")).collect()
}

/// Has a parser take the seeds of its target and so many mutations of each. Where a seed is JSON,
/// half of them are, too.
fn run(target: &str, mutations: usize, take: impl Fn(&[u8])) {
    let mut mutator = Mutator::new();
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "{target} has seeds");
    for seed in &seeds {
        take(seed);
        // A number that no float holds has no value to change.
        let value = serde_json::from_slice::<Value>(seed).ok();
        for round in 0..mutations {
            match &value {
                Some(value) if round % 2 == 0 => {
                    take(mutator.value(value).to_string().as_bytes());
                }
                _ => take(&mutator.bytes(seed)),
            }
        }
    }
}

/// The same of a parser that reads text.
fn run_text(target: &str, mutations: usize, take: impl Fn(&str)) {
    run(target, mutations, |input| take(&String::from_utf8_lossy(input)));
}

/// The same of a gateway: its seeds are calls as they were recorded.
fn run_gateway(target: &str, fuzzed: Fuzzed) {
    let seeds = seeds(target);
    assert!(seeds.len() >= 8, "{target} has calls of many kinds");
    for seed in &seeds {
        let _: &RawValue = serde_json::from_slice(seed).expect("a recorded call is JSON");
    }
    run(target, 800, |input| fuzzed.take(input));
}

#[test]
fn each_fuzz_target_is_built_and_runs_here() {
    let (here, manifest) = (include_str!("main.rs"), include_str!("../../../fuzz/Cargo.toml"));
    for target in files(fuzz().join("targets")) {
        let name = target.file_stem().expect("a name").to_str().expect("text").to_owned();
        let run = ["run", "run_text", "run_gateway"].map(|run| format!("{run}(\"{name}\","));
        assert!(run.iter().any(|run| here.contains(run)), "{name} does not run");
        assert!(manifest.contains(&format!("targets/{name}.rs\"")), "{name} is not built");
    }
}

#[test]
fn no_call_of_the_cloud_api_makes_its_adapter_panic() {
    run_gateway("cloud_api", Fuzzed::CloudApi);
}

#[test]
fn no_call_of_waha_makes_its_adapter_panic() {
    run_gateway("waha", Fuzzed::Waha);
}

#[test]
fn no_call_of_evolution_makes_its_adapter_panic() {
    run_gateway("evolution", Fuzzed::Evolution);
}

#[test]
fn no_body_of_a_contact_makes_its_reader_panic() {
    run("contact", 5_000, contact::take);
}

#[test]
fn no_call_of_a_template_dispatch_makes_its_reader_panic() {
    run_text("dispatch", 5_000, dispatch::take);
}

#[test]
fn no_call_of_an_inbound_endpoint_makes_its_mapping_panic() {
    run_text("inbound", 5_000, inbound::take);
}

#[test]
fn what_is_json_is_read_as_json_and_nothing_else_is() {
    run("json", 10_000, json::take);
}

#[test]
fn no_expression_of_a_mapping_makes_its_evaluation_panic() {
    run_text("json_path", 5_000, json_path::take);
}

#[test]
fn no_parameters_of_a_listing_make_their_reader_panic() {
    run_text("query", 5_000, query::take);
}

#[test]
fn what_is_accepted_of_a_contact_is_accepted_as_it_is_kept() {
    run_text("values", 1_000, values::take);
}

#[test]
fn no_request_makes_the_server_fail() {
    run_text("http", 500, http::take);
}
