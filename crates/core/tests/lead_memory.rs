//! How lead memories are merged and read (2.3, D45).
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::leads::{
    Bant, Inferred, KEY_FACTS, LeadMemory, LeadMemoryView, MemoryUpdate, WholeMemory,
    display_authority, group_authority, write,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

fn body(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn merged(before: Option<&Inferred>, sent: Value) -> Inferred {
    MemoryUpdate::parse(&body(sent)).unwrap().merged(before)
}

fn put(sent: Value) -> Inferred {
    WholeMemory::parse(&body(sent)).unwrap().as_given()
}

fn refused<T: std::fmt::Debug>(parsed: Result<T, recado_core::Problems>) -> Vec<String> {
    parsed.unwrap_err().fields().map(str::to_owned).collect()
}

fn authority(inferred: &Inferred) -> (&str, Option<&str>) {
    (&inferred.bant.authority, inferred.bant.authority_raw.as_deref())
}

/// R43.
#[test]
fn texts_that_are_sent_replace_and_the_others_stay() {
    let first = merged(
        None,
        json!({ "summary": "Quer um bolo", "sentiment": "positivo", "bant": { "budget": "R$ 200", "need": "bolo" } }),
    );
    assert_eq!((first.summary.as_str(), first.intent.as_str()), ("Quer um bolo", ""));
    let second = merged(
        Some(&first),
        json!({ "summary": "Quer dois bolos", "sentiment": null, "bant": { "need": "dois bolos" } }),
    );
    assert_eq!((second.summary.as_str(), second.sentiment.as_str()), ("Quer dois bolos", ""));
    assert_eq!((second.bant.budget.as_str(), second.bant.need.as_str()), ("R$ 200", "dois bolos"));
    assert_eq!(merged(Some(&second), json!({ "bant": null, "key_facts": null })), second);
}

/// R43.
#[test]
fn a_repeated_item_keeps_its_first_spelling_and_place_and_the_oldest_go_beyond_the_cap() {
    let first = merged(None, json!({ "key_facts": ["Tem loja", "AÇÃO", "tem loja", "  "] }));
    assert_eq!(first.key_facts, ["Tem loja", "AÇÃO"]);
    let second = merged(Some(&first), json!({ "key_facts": ["ação", "Mora em Uberlândia"] }));
    assert_eq!(second.key_facts, ["Tem loja", "AÇÃO", "Mora em Uberlândia"]);
    let many: Vec<String> = (1..=19).map(|n| format!("fato {n}")).collect();
    let third = merged(Some(&second), json!({ "key_facts": many }));
    assert_eq!(third.key_facts.len(), KEY_FACTS);
    assert_eq!(third.key_facts[0], "Mora em Uberlândia");
    assert_eq!(third.key_facts[19], "fato 19");
}

/// D45.
#[test]
fn new_records_write_the_authority_as_a_code_with_the_text_behind_it() {
    let sent = |bant: Value| merged(None, json!({ "bant": bant }));
    for (bant, expected) in [
        (
            json!({ "authority": "influencer", "authority_raw": "esposa do dono" }),
            ("influencer", "esposa do dono"),
        ),
        (json!({ "authority": "Decision_Maker" }), ("decision_maker", "Decision_Maker")),
        (json!({ "authority": "é o dono" }), ("unknown", "é o dono")),
        (json!({ "authority": "chefe", "authority_raw": "é o chefe" }), ("unknown", "é o chefe")),
        (json!({ "authority_raw": "é a sócia" }), ("unknown", "é a sócia")),
        (json!({ "authority_raw": "user" }), ("user", "user")),
        (json!({ "authority": "", "authority_raw": "é a sócia" }), ("unknown", "é a sócia")),
    ] {
        let memory = sent(bant.clone());
        assert_eq!(authority(&memory), (expected.0, Some(expected.1)), "{bant}");
    }
}

/// D45.
#[test]
fn a_record_without_a_word_about_authority_has_the_code_unknown_and_no_text() {
    let silences = [
        json!({}),
        json!({ "bant": null }),
        json!({ "bant": {} }),
        json!({ "bant": { "need": "bolo" } }),
        json!({ "bant": { "authority": null, "authority_raw": "" } }),
        json!({ "bant": { "authority": " " } }),
    ];
    for sent in silences {
        assert_eq!(authority(&merged(None, sent.clone())), ("unknown", None), "{sent}");
        assert_eq!(authority(&put(sent.clone())), ("unknown", None), "PUT {sent}");
    }
    let silent = merged(None, json!({}));
    for (said, expected) in [
        (json!({ "authority": "influencer" }), ("influencer", "influencer")),
        (json!({ "authority_raw": "decision_maker" }), ("decision_maker", "decision_maker")),
        (json!({ "authority_raw": "é a dona" }), ("unknown", "é a dona")),
    ] {
        let memory = merged(Some(&silent), json!({ "bant": said }));
        assert_eq!(authority(&memory), (expected.0, Some(expected.1)), "{said}");
    }
    assert_eq!(
        authority(&put(json!({ "bant": { "authority_raw": "User" } }))),
        ("user", Some("User"))
    );
}

/// R43.
#[test]
fn the_authority_is_merged_key_by_key() {
    let known =
        merged(None, json!({ "bant": { "authority": "influencer", "authority_raw": "a esposa" } }));
    for (bant, expected) in [
        (json!({ "authority_raw": "a esposa do dono" }), ("influencer", "a esposa do dono")),
        (json!({ "authority": "influencer" }), ("influencer", "a esposa")),
        (json!({ "authority": "decision_maker" }), ("decision_maker", "decision_maker")),
        (json!({ "authority": "o dono" }), ("unknown", "o dono")),
        (json!({ "authority_raw": "" }), ("influencer", "")),
        (json!({ "budget": "R$ 1" }), ("influencer", "a esposa")),
    ] {
        let memory = merged(Some(&known), json!({ "bant": bant }));
        assert_eq!(authority(&memory), (expected.0, Some(expected.1)), "{bant}");
    }
    let cleared = merged(Some(&known), json!({ "bant": { "authority": "" } }));
    assert_eq!(authority(&cleared), ("unknown", None));
}

/// D45: PUT stores what is given.
#[test]
fn a_code_whose_text_was_cleared_may_be_put_as_it_was_shown() {
    for code in ["influencer", "unknown"] {
        let shown = json!({ "bant": { "authority": code, "authority_raw": "" } });
        assert_eq!(authority(&put(shown)), (code, Some("")));
    }
    let old = json!({ "bant": { "authority": "Sócio da padaria", "authority_raw": "" } });
    assert_eq!(authority(&put(old)), ("Sócio da padaria", None));
}

/// D45.
#[test]
fn a_memory_of_before_that_says_nothing_of_the_authority_says_unknown_after_the_next_write() {
    let mut old = Inferred::default();
    old.bant.authority = String::new();
    let merged = merged(Some(&old), json!({ "summary": "x" }));
    assert_eq!(authority(&merged), ("unknown", None));
}

#[test]
fn an_old_record_keeps_its_shape_until_something_is_said_about_the_authority() {
    let old = put(json!({ "bant": { "authority": "Sócio da padaria" } }));
    assert_eq!(authority(&old), ("Sócio da padaria", None));
    let same = merged(Some(&old), json!({ "bant": { "budget": "R$ 10" }, "summary": "x" }));
    assert_eq!(authority(&same), ("Sócio da padaria", None));
    let new = merged(Some(&old), json!({ "bant": { "authority_raw": "é sócio" } }));
    assert_eq!(authority(&new), ("unknown", Some("é sócio")));
}

/// 2.3.2.
#[test]
fn the_authority_is_shown_from_the_text_and_grouped_by_the_code() {
    let bant = |authority: &str, raw: Option<&str>| Bant {
        authority: authority.to_owned(),
        authority_raw: raw.map(str::to_owned),
        ..Bant::default()
    };
    let old = bant("Sócio", None);
    assert_eq!((display_authority(&old), group_authority(&old)), ("Sócio", None));
    let new = bant("decision_maker", Some("é o dono"));
    assert_eq!(
        (display_authority(&new), group_authority(&new)),
        ("é o dono", Some("decision_maker"))
    );
    let bare = bant("user", Some(""));
    assert_eq!((display_authority(&bare), group_authority(&bare)), ("user", Some("user")));
}

#[test]
fn a_put_stores_what_is_given_and_nothing_over_the_caps() {
    let given = put(json!({ "key_facts": ["a", "A"], "summary": "s" }));
    assert_eq!((given.key_facts.len(), given.summary.as_str()), (2, "s"));
    for (field, cap) in [("key_facts", 20), ("products_interested", 10), ("objections", 10)] {
        let items = |count: usize| body(json!({ field: vec!["x"; count] }));
        assert_eq!(refused(WholeMemory::parse(&items(cap + 1))), [field]);
        assert!(WholeMemory::parse(&items(cap)).is_ok());
        assert!(MemoryUpdate::parse(&items(cap + 1)).is_ok());
    }
}

/// R43.
#[test]
fn a_put_stores_the_counters_and_times_that_it_is_given_and_a_merge_does_not() {
    let key = (CompanyId::new(Uuid::nil()), ContactId::new(Uuid::nil()));
    let at = Timestamp::from_millis;
    let known = write(key, None, Inferred::default(), at(1));
    let next = write(key, Some(&known), Inferred::default(), at(9_000));
    let sent = json!({
        "version": 40, "interaction_count": 0,
        "first_interaction_at": "1970-01-01T00:00:02.000Z",
        "last_memory_update_at": "1970-01-01T00:00:03.000Z",
    });
    let moved = LeadMemory {
        version: 40,
        interaction_count: 0,
        first_interaction_at: at(2_000),
        last_memory_update_at: at(3_000),
        ..next.clone()
    };
    assert_eq!(WholeMemory::parse(&body(sent.clone())).unwrap().counted(next.clone()), moved);
    assert_eq!(MemoryUpdate::parse(&body(sent.clone())).unwrap(), MemoryUpdate::default());
    for (field, given) in sent.as_object().unwrap() {
        let one = WholeMemory::parse(&body(json!({ field.as_str(): given }))).unwrap();
        let memory = one.counted(next.clone());
        let is_given = [
            memory.version == 40,
            memory.interaction_count == 0,
            memory.first_interaction_at == at(2_000),
            memory.last_memory_update_at == at(3_000),
        ];
        assert_eq!(is_given.iter().filter(|given| **given).count(), 1, "{field}: {memory:?}");
    }
    let nulls = json!({ "version": null, "last_memory_update_at": null });
    assert_eq!(WholeMemory::parse(&body(nulls)).unwrap().counted(next.clone()), next);
    let wrong = json!({
        "version": 0, "interaction_count": -1, "first_interaction_at": "ontem",
        "last_memory_update_at": 5,
    });
    let mut fields = refused(WholeMemory::parse(&body(wrong.clone())));
    fields.sort();
    let all = ["first_interaction_at", "interaction_count", "last_memory_update_at", "version"];
    assert_eq!(fields, all);
    assert!(MemoryUpdate::parse(&body(wrong)).is_ok(), "a merge ignores them");
}

#[test]
fn everything_that_is_wrong_is_named() {
    let wrong = json!({
        "summary": 1, "bant": { "budget": "x", "colour": "y" }, "objections": ["x", 1],
        "key_facts": "x", "mood": "x", "intent": "x".repeat(1_001),
    });
    let mut fields = refused(MemoryUpdate::parse(&body(wrong)));
    fields.sort();
    assert_eq!(fields, ["bant", "intent", "key_facts", "mood", "objections", "summary"]);
}

#[test]
fn counters_and_times_are_ours() {
    let key = (CompanyId::new(Uuid::nil()), ContactId::new(Uuid::nil()));
    let at = Timestamp::from_millis;
    let first = write(key, None, Inferred::default(), at(1));
    assert_eq!((first.version, first.interaction_count), (1, 1));
    let second = write(key, Some(&first), Inferred::default(), at(2));
    assert_eq!((second.version, second.interaction_count), (2, 2));
    assert_eq!((second.first_interaction_at, second.last_memory_update_at), (at(1), at(2)));
}

#[test]
fn a_memory_is_shown_in_the_order_of_the_reference() {
    let key = (CompanyId::new(Uuid::nil()), ContactId::new(Uuid::nil()));
    let inferred = merged(None, json!({ "bant": { "authority": "user" } }));
    let memory = write(key, None, inferred, Timestamp::from_millis(0));
    let shown = serde_json::to_string(&LeadMemoryView::new(&memory)).unwrap();
    assert_eq!(
        shown,
        r#"{"version":1,"summary":"","sentiment":"","intent":"","consciousness_level":"","bant":{"budget":"","authority":"user","authority_raw":"user","need":"","timeline":""},"key_facts":[],"products_interested":[],"objections":[],"last_topic":"","interaction_count":1,"first_interaction_at":"1970-01-01T00:00:00.000Z","last_memory_update_at":"1970-01-01T00:00:00.000Z"}"#
    );
    let old = put(json!({ "bant": { "authority": "dono" } }));
    assert!(!serde_json::to_string(&old).unwrap().contains("authority_raw"));
}

fn lists() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[abcABCéÉ]{1,2}", 0..15)
}

/// The spellings that count as one.
fn key(item: &str) -> String {
    item.to_lowercase()
}

fn objections(before: Option<&Inferred>, sent: &[String]) -> Inferred {
    merged(before, json!({ "objections": sent }))
}

proptest! {
    #[test]
    fn however_often_is_merged_the_caps_hold_and_no_item_is_there_twice(
        rounds in prop::collection::vec(lists(), 1..6),
    ) {
        let mut memory = Inferred::default();
        for sent in &rounds {
            memory = objections(Some(&memory), sent);
            prop_assert!(memory.objections.len() <= 10);
            let distinct: BTreeSet<String> = memory.objections.iter().map(|item| key(item)).collect();
            prop_assert_eq!(distinct.len(), memory.objections.len());
        }
    }

    /// D45.
    #[test]
    fn a_merge_keeps_the_newest_in_the_order_they_first_came(before in lists(), sent in lists()) {
        // By another way: every item at its first spelling and place, then the last ten.
        let mut all: Vec<&String> = Vec::new();
        let known = objections(None, &before);
        for item in known.objections.iter().chain(&sent) {
            if !all.iter().any(|first| key(first) == key(item)) {
                all.push(item);
            }
        }
        let expected = &all[all.len().saturating_sub(10)..];
        let merged = objections(Some(&known), &sent);
        prop_assert_eq!(merged.objections.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn merging_the_same_again_changes_nothing_while_nothing_was_dropped(
        before in prop::collection::vec("[abAB]{1,2}", 0..5),
        sent in prop::collection::vec("[abcABC]", 0..9),
    ) {
        let once = objections(Some(&objections(None, &before)), &sent);
        if once.objections.len() < 10 {
            prop_assert_eq!(objections(Some(&once), &sent), once);
        }
    }
}
