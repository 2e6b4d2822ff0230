//! Comparison with another implementation of RFC 9535, `serde_json_path`.

use proptest::prelude::*;
use recado_core::json;
use recado_core::json_path::{JsonPath, JsonPathError, MAX_CHARACTERS, StepBudget};

use crate::generators::{documents, queries, soups};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// R103.
    #[test]
    fn queries_select_what_another_implementation_selects(
        query in queries("$", 2),
        document in documents(),
    ) {
        let oracle = serde_json_path::JsonPath::parse(&query);
        let oracle = oracle.unwrap_or_else(|error| panic!("{query}: {error}"));
        let parsed = JsonPath::parse(&query);
        let own = json::Value::from(&document);
        if query.chars().count() > MAX_CHARACTERS {
            prop_assert_eq!(parsed, Err(JsonPathError::TooLong));
        } else if let Ok(found) = parsed.expect("JSONPath").all(&own, &mut StepBudget::new()) {
            let expected: Vec<json::Value> =
                oracle.query(&document).all().into_iter().map(json::Value::from).collect();
            prop_assert_eq!(found, expected.iter().collect::<Vec<_>>(), "{}", query);
        }
    }

    #[test]
    fn what_another_implementation_accepts_is_accepted_and_nothing_else(soup in soups(9)) {
        for text in [format!("${soup}"), format!("$[?{soup}]")] {
            // The RFC allows space there, the other does not.
            let mut tight = text.clone();
            while tight.contains(" ..") || tight.contains("\n..") {
                tight = tight.replace(" ..", "..").replace("\n..", "..");
            }
            let accepted = serde_json_path::JsonPath::parse(&tight).is_ok();
            prop_assert_eq!(JsonPath::parse(&text).is_ok(), accepted, "{}", text);
        }
    }
}
