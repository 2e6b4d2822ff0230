//! A bounded run of the fuzz targets: mutations of recorded webhooks, the same in every run.
#![cfg(all(feature = "cloud-api", feature = "waha", feature = "evolution"))]

#[path = "../../../fuzz/gateways.rs"]
mod gateways;

use std::path::Path;

use gateways::Fuzzed;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::Value;
use serde_json::value::RawValue;

/// How many mutations of each seed are tried.
const ROUNDS: usize = 400;

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    let entries = std::fs::read_dir(directory).expect("the seeds are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a seed")).collect()
}

struct Mutator(TestRng);

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        self.0.next_u32() as usize % bound.max(1)
    }

    /// Changes bytes: the result is mostly not JSON.
    fn bytes(&mut self, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(body.len());
            match self.below(4) {
                0 => body.truncate(at),
                1 if !body.is_empty() => body[at] = self.0.next_u32() as u8,
                2 => body.insert(at, self.0.next_u32() as u8),
                _ => {
                    let tail = body[at..].to_vec();
                    body.extend_from_slice(&tail);
                }
            }
        }
        body
    }

    /// Changes values and fields: the result is JSON.
    fn value(&mut self, value: &Value) -> Value {
        let mut value = value.clone();
        for _ in 0..=self.below(5) {
            self.change(&mut value, 0);
        }
        value
    }

    fn change(&mut self, value: &mut Value, depth: usize) {
        let stop = depth > 2 && self.below(4) == 0;
        match value {
            Value::Object(fields) if !stop && !fields.is_empty() => {
                let name = fields.keys().nth(self.below(fields.len())).cloned().expect("a field");
                match self.below(8) {
                    0 => drop(fields.remove(&name)),
                    1 => {
                        let taken = fields.remove(&name).expect("there");
                        fields.insert("novelty".to_owned(), taken);
                    }
                    _ => self.change(&mut fields[&name], depth + 1),
                }
            }
            Value::Array(items) if !stop && !items.is_empty() => {
                let at = self.below(items.len());
                match self.below(6) {
                    0 => drop(items.remove(at)),
                    1 => {
                        let again = items[at].clone();
                        items.push(again);
                    }
                    _ => self.change(&mut items[at], depth + 1),
                }
            }
            other => *other = self.leaf(other),
        }
    }

    fn leaf(&mut self, old: &Value) -> Value {
        match self.below(14) {
            0 => Value::Null,
            1 => Value::from(""),
            2 => Value::from(-1),
            3 => Value::from(u64::MAX),
            4 => Value::from(1e300),
            5 => Value::from(true),
            6 => Value::Array(vec![old.clone()]),
            7 => Value::from("\u{0}\u{7f}é👍"),
            8 => Value::from("x".repeat(5000)),
            9 => serde_json::json!({ "a": old }),
            10 => Value::from("@g.us"),
            11 => Value::from("true_@lid__"),
            12 => Value::from("99999999999999999999"),
            _ => Value::from(self.0.next_u64()),
        }
    }
}

fn run(fuzzed: Fuzzed, name: &str) {
    let mut mutator = Mutator(TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let seeds = seeds(name);
    assert!(seeds.len() >= 8, "{name} has seeds");
    for seed in seeds {
        fuzzed.take(&seed);
        let _: &RawValue = serde_json::from_slice(&seed).expect("a seed is JSON");
        // A number that no float holds has no value to change.
        let Ok(value) = serde_json::from_slice::<Value>(&seed) else { continue };
        for _ in 0..ROUNDS {
            fuzzed.take(&mutator.bytes(&seed));
            fuzzed.take(mutator.value(&value).to_string().as_bytes());
        }
    }
}

#[test]
fn no_call_of_the_cloud_api_makes_its_adapter_panic() {
    run(Fuzzed::CloudApi, "cloud_api");
}

#[test]
fn no_call_of_waha_makes_its_adapter_panic() {
    run(Fuzzed::Waha, "waha");
}

#[test]
fn no_call_of_evolution_makes_its_adapter_panic() {
    run(Fuzzed::Evolution, "evolution");
}
