//! Random changes of inputs, the same in every run.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::Value;

/// Changes inputs.
pub(crate) struct Mutator(TestRng);

impl Mutator {
    /// One that changes the same inputs in the same way each time.
    pub(crate) fn new() -> Self {
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0.next_u32() as usize % bound.max(1)
    }

    /// Any byte; half of the time one that a format gives a meaning.
    fn byte(&mut self) -> u8 {
        const MEANINGS: &[u8] = b"\n \"{}[]():,.$@?*&=%+-/\\'0";
        match self.below(2) {
            0 => MEANINGS[self.below(MEANINGS.len())],
            _ => self.0.next_u32() as u8,
        }
    }

    /// Changes bytes: the result is mostly not JSON.
    pub(crate) fn bytes(&mut self, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(body.len());
            match self.below(4) {
                0 => body.truncate(at),
                1 if !body.is_empty() => body[at] = self.byte(),
                2 => body.insert(at, self.byte()),
                _ => {
                    let tail = body[at..].to_vec();
                    body.extend_from_slice(&tail);
                }
            }
        }
        body
    }

    /// Changes values and fields: the result is JSON.
    pub(crate) fn value(&mut self, value: &Value) -> Value {
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
