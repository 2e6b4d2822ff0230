//! Phones are read as an independent implementation reads them (D14, D15).
//!
//! The vectors come from `data/generate_phone_vectors.py`: inputs by region with the expected
//! E.164 form, or null where the input must be refused.

use recado_core::contacts::{Phone, Region};

type Vector = (String, String, Option<String>);

fn vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("data/phone_vectors.json")).expect("the vectors are JSON")
}

#[test]
fn every_vector_is_read_as_the_oracle_reads_it() {
    let mut differences = Vec::new();
    for (code, input, expected) in vectors() {
        let region = Region::parse(&code).unwrap();
        let ours = Phone::parse(&input, &region).ok().map(|phone| phone.to_string());
        if ours != expected {
            differences.push(format!("{code} {input:?}: expected {expected:?}, got {ours:?}"));
        }
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn the_vectors_cover_both_answers_at_home_and_abroad() {
    let count = |brazilian: bool, accepted: bool| {
        vectors()
            .iter()
            .filter(|(code, _, e164)| (code == "BR") == brazilian && e164.is_some() == accepted)
            .count()
    };
    assert!(count(true, true) > 1000 && count(true, false) > 500);
    assert!(count(false, true) > 300 && count(false, false) > 100);
}
