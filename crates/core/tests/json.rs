//! Bodies of JSON: read like other parsers do, with their numbers as written (D46a, R104), and
//! without a change to how the host program reads its own.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use proptest::prelude::*;
use recado_core::form::Form;
use recado_core::json::{self, Number};
use recado_core::prosas::{Brl, Prosas};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn number(written: &str) -> Number {
    Number::parse(written).unwrap()
}

#[test]
fn a_number_is_what_json_says() {
    for good in ["0", "-0", "10", "-1.50", "0.001", "1e5", "1E+05", "0e-0", "1e400"] {
        assert_eq!(number(good).as_str(), good);
    }
    for bad in
        ["", "-", "+1", "01", "-01", ".5", "1.", "1e", "1e+", "1.e5", "1_0", " 1", "1 ", "NaN"]
    {
        assert_eq!(Number::parse(bad), None, "{bad}");
    }
}

#[test]
fn numbers_are_equal_by_value_whatever_their_size() {
    for (left, right) in
        [("1", "1.0"), ("-0", "0e7"), ("1e400", "10E+399"), ("120", "1.2e2"), ("-0.01", "-1e-2")]
    {
        assert!(number(left).equals(&number(right)), "{left} {right}");
    }
    for (left, right) in [
        ("1", "-1"),
        ("9007199254740993", "9007199254740992.0"),
        ("1e400", "1e401"),
        ("0", "1e-999"),
    ] {
        assert!(!number(left).equals(&number(right)), "{left} {right}");
    }
}

#[test]
fn serde_json_keeps_of_a_number_what_it_can() {
    let kept = |written: &str| Value::Number(number(written).to_serde());
    assert_eq!(kept("18446744073709551615"), json!(u64::MAX));
    assert_eq!(kept("-9223372036854775808"), json!(i64::MIN));
    assert_eq!(kept("1.50"), json!(1.5));
    assert_eq!(kept("1E3"), json!(1000.0));
    assert_eq!(kept("-0"), json!(-0.0));
    assert_eq!(kept("0.1"), json!(0.1));
    assert_eq!(kept("1e400"), json!(f64::MAX));
    assert_eq!(kept("-1e400"), json!(f64::MIN));
}

#[test]
fn a_float_that_serde_json_reads_inexactly_is_exact_here() {
    assert_eq!(serde_json::from_str::<Value>("71e50").ok(), Some(json!(7.100000000000001e51)));
    assert_eq!(Value::from(json::read(b"71e50").unwrap()), json!(7.1e51));
}

#[test]
fn a_member_named_as_a_mark_of_the_parser_is_an_ordinary_one() {
    for mark in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
        let read = Value::from(json::read(format!(r#"{{"{mark}": "1"}}"#).as_bytes()).unwrap());
        assert_eq!(read[mark], "1");
    }
}

#[test]
fn a_body_may_be_as_deep_as_serde_json_reads() {
    for depth in [126, 127, 128, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let body = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let ours = json::read(body.as_bytes());
            assert_eq!(ours.is_ok(), depth <= 127);
            match serde_json::from_slice::<Value>(body.as_bytes()) {
                Ok(value) => assert_eq!(Value::from(ours.unwrap()), value),
                Err(error) => {
                    let fault = ours.unwrap_err();
                    assert_eq!((fault.line, fault.column), (error.line(), error.column()));
                }
            }
        }
    }
}

/// Types of a host.
mod host {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Reading { celsius: f64 },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Value(f64),
        Word(String),
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Flattened {
        name: String,
        #[serde(flatten)]
        place: Place,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Place {
        latitude: f64,
        precision: u32,
    }

    /// The feature `arbitrary_precision` of `serde_json` would break each of these.
    #[test]
    fn the_floats_of_the_host_are_read_as_without_recado() {
        let tagged = serde_json::from_str(r#"{"kind": "Reading", "celsius": 21.5}"#);
        assert_eq!(tagged.ok(), Some(Tagged::Reading { celsius: 21.5 }));
        assert_eq!(serde_json::from_str("0.25").ok(), Some(Untagged::Value(0.25)));
        let flattened =
            serde_json::from_str(r#"{"name": "x", "latitude": -18.9186, "precision": 4}"#);
        let place = Place { latitude: -18.9186, precision: 4 };
        assert_eq!(flattened.ok(), Some(Flattened { name: "x".to_owned(), place }));
        let value: Value = serde_json::from_str("1.50").unwrap();
        assert_eq!(value.to_string(), "1.5");
    }
}

/// Numbers of any form, many of the size of amounts.
fn numbers() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,11})(\\.[0-9]{1,20})?",
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?",
    ]
}

/// Whether two values are the same, floats as near as `serde_json` reads them: without its
/// feature `float_roundtrip` the last places of a float may be off.
fn same_but_for_last_places(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(one, other)| same_but_for_last_places(one, other))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(name, value)| {
                    theirs.get(name).is_some_and(|other| same_but_for_last_places(value, other))
                })
        }
        (Value::Number(ours), Value::Number(theirs)) if ours.is_f64() && theirs.is_f64() => {
            match (ours.as_f64(), theirs.as_f64()) {
                (Some(one), Some(other)) => (one - other).abs() <= other.abs() * 4.0 * f64::EPSILON,
                _ => false,
            }
        }
        _ => ours == theirs,
    }
}

/// The amount of a body with this number.
fn in_body<F: Form>(written: &str) -> Result<F::Value, String> {
    F::read(&json::read(written.as_bytes()).unwrap().into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn texts_are_read_and_refused_as_serde_json_does(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"\\u00e9\"", "\"\\ud83d\"", "\"\n\"",
            "\"", "\\", "0", "-0", "1.5", "01", "1e5", "-", "7", "true", "nul",
            "null", "false", " ", "\n", "\u{feff}", "é", "{\"a\":", "[1,", "\"\\\"\":",
        ]), 0..12),
    ) {
        let text = tokens.concat();
        let theirs = serde_json::from_slice::<Value>(text.as_bytes());
        // Numbers beyond a float are read here, and refused there.
        let beyond = |error: &serde_json::Error| error.to_string().starts_with("number out of");
        prop_assume!(!theirs.as_ref().is_err_and(beyond));
        match (json::read(text.as_bytes()), theirs) {
            (Ok(ours), Ok(theirs)) => {
                let ours = Value::from(ours);
                prop_assert!(same_but_for_last_places(&ours, &theirs), "{text}: {ours} {theirs}");
            }
            (Err(ours), Err(theirs)) => {
                prop_assert_eq!((ours.line, ours.column), (theirs.line(), theirs.column()));
            }
            (ours, theirs) => prop_assert!(false, "{text}: {ours:?} {theirs:?}"),
        }
    }

    #[test]
    fn values_are_read_as_they_were_written(
        texts in prop::collection::vec(any::<String>(), 0..5),
        whole in any::<i64>(),
    ) {
        let value = json!({ "texts": texts, "whole": whole, "none": null, "flags": [true, false] });
        for written in [value.to_string(), format!("{value:#}")] {
            prop_assert_eq!(&Value::from(json::read(written.as_bytes()).unwrap()), &value);
        }
    }

    /// D59.
    #[test]
    fn an_amount_in_a_body_is_read_exactly_or_refused(written in numbers()) {
        let exact = number(&written);
        prop_assert_eq!(in_body::<Prosas>(&written).ok(), Prosas::parse(&exact).ok());
        prop_assert_eq!(in_body::<Brl>(&written).ok(), Brl::parse(&exact).ok());
        // One that is both too large and too fine may be called either.
        if exact.as_f64().is_some_and(|amount| !(1e9..1e10).contains(&amount)) {
            let reason = Prosas::parse(&exact).err().map(|error| error.to_string());
            prop_assert_eq!(in_body::<Prosas>(&written).err(), reason);
            let reason = Brl::parse(&exact).err().map(|error| error.to_string());
            prop_assert_eq!(in_body::<Brl>(&written).err(), reason);
        }
    }

    #[test]
    fn only_whole_numbers_are_whole(written in numbers()) {
        let kept = number(&written).to_serde();
        let is_zero_below = written == "-0";
        prop_assert_eq!(kept.as_u64(), written.parse().ok().filter(|_| !is_zero_below));
        prop_assert_eq!(kept.as_i64(), written.parse().ok().filter(|_| !is_zero_below));
    }
}
