//! JSONPath of RFC 9535 (4.9, D46): the compliance suite, and own cases for each kind of selector,
//! so that the code is tested without the suite too.
//!
//! The suite is <https://github.com/jsonpath-standard/jsonpath-compliance-test-suite>, its
//! `cts.json` the file that `RECADO_JSONPATH_SUITE` names.

use std::fs::OpenOptions;
use std::io::Write as _;

use recado_core::json;
use recado_core::json_path::{JsonPath, JsonPathError, StepBudget};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Suite {
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    selector: String,
    #[serde(default)]
    invalid_selector: bool,
    #[serde(default)]
    document: Value,
    result: Option<Vec<Value>>,
    results: Option<Vec<Vec<Value>>>,
}

impl Case {
    /// What is wrong with the result.
    fn failure(&self) -> Option<String> {
        let path = match JsonPath::parse(&self.selector) {
            Ok(_) if self.invalid_selector => return Some("accepted".to_owned()),
            Err(_) if self.invalid_selector => return None,
            Err(error) => return Some(error.to_string()),
            Ok(path) => path,
        };
        let document = json::Value::from(&self.document);
        let found = match path.all(&document, &mut StepBudget::new()) {
            Ok(found) => found,
            Err(error) => return Some(error.to_string()),
        };
        if path.first(&document, &mut StepBudget::new()) != Ok(found.first().copied()) {
            return Some("first() is not the first of all()".to_owned());
        }
        let found: Vec<Value> = found.into_iter().cloned().map(Value::from).collect();
        let mut accepted = self.result.iter().chain(self.results.iter().flatten()).peekable();
        if accepted.peek().is_none() {
            return Some("the case has no result".to_owned());
        }
        if accepted.any(|accepted| *accepted == found) { None } else { Some(format!("{found:?}")) }
    }
}

/// Reports that something was not run, not captured with the test's output.
fn not_run(line: &str) {
    std::io::stderr().write_all(line.as_bytes()).expect("standard error");
    if let Some(file) = std::env::var_os("RECADO_NOT_RUN") {
        let file = OpenOptions::new().create(true).append(true).open(file);
        file.expect("the file").write_all(line.as_bytes()).expect("written");
    }
}

/// R103.
#[test]
fn every_case_of_the_compliance_suite_holds() {
    let Some(file) = std::env::var_os("RECADO_JSONPATH_SUITE") else {
        not_run("NOT RUN: JSONPath compliance suite: RECADO_JSONPATH_SUITE names no file\n");
        return;
    };
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("RECADO_JSONPATH_SUITE {}: {error}", file.display()));
    let suite: Suite = serde_json::from_str(&text).expect("the form of the suite");
    assert!(suite.tests.len() >= 700, "the suite has only {} cases", suite.tests.len());
    let failures: Vec<String> = suite
        .tests
        .iter()
        .filter_map(|case| Some(format!("{} {}: {}", case.name, case.selector, case.failure()?)))
        .collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

fn all(path: &str, document: &json::Value) -> Vec<json::Value> {
    let path = JsonPath::parse(path).unwrap_or_else(|error| panic!("{path} {error}"));
    let found = path.all(document, &mut StepBudget::new()).expect("within the budget");
    assert_eq!(path.first(document, &mut StepBudget::new()), Ok(found.first().copied()), "{path}");
    found.into_iter().cloned().collect()
}

#[track_caller]
fn selects(path: &str, document: &Value, expected: Value) {
    let found = all(path, &document.into()).into_iter().map(Value::from).collect();
    assert_eq!(Value::Array(found), expected, "{path}");
}

fn order() -> Value {
    json!({
        "buyer": {"name": "Ana", "phones": ["11 1", "11 2"], "it's": 1, "ação": 2},
        "items": [
            {"sku": "A-1", "price": 10, "tags": ["x"]},
            {"sku": "B-2", "price": 12.5, "gift": null},
            {"sku": "C-33", "price": 7, "tags": ["y", "z"]},
        ],
        "limit": 10,
        "form": "[A-C]-[0-9]",
    })
}

#[test]
fn selectors_take_what_they_name_in_their_order() {
    let order = order();
    for (path, expected) in [
        ("$.buyer.name", json!(["Ana"])),
        ("$['buyer'][\"name\"]", json!(["Ana"])),
        ("$.buyer['it\\'s','a\\u00e7\\u00E3o']", json!([1, 2])),
        ("$.buyer.ação", json!([2])),
        ("$.buyer.surname", json!([])),
        ("$.buyer.phones[0]", json!(["11 1"])),
        ("$.buyer.phones[-1]", json!(["11 2"])),
        ("$.buyer.phones[2]", json!([])),
        ("$.buyer.phones[-3]", json!([])),
        ("$.buyer.phones.*", json!(["11 1", "11 2"])),
        ("$.items[1:].sku", json!(["B-2", "C-33"])),
        ("$.items[::-1].sku", json!(["C-33", "B-2", "A-1"])),
        ("$.items[-2:-1].sku", json!(["B-2"])),
        ("$.items[9:0:-2].sku", json!(["C-33"])),
        ("$.items[::0].sku", json!([])),
        ("$.items[2, 0, 0].sku", json!(["C-33", "A-1", "A-1"])),
        ("$..sku", json!(["A-1", "B-2", "C-33"])),
        ("$..tags[0]", json!(["x", "y"])),
        ("$ .items [ 0 ] .sku", json!(["A-1"])),
        ("$.items[-9007199254740991:9007199254740991:9007199254740991].sku", json!(["A-1"])),
    ] {
        selects(path, &order, expected);
    }
}

#[test]
fn descendants_come_parents_first_and_in_order() {
    let document = json!([[1, [2]], {"a": [3]}]);
    selects("$..*", &document, json!([[1, [2]], {"a": [3]}, 1, [2], 2, [3], 3]));
    selects("$..[0]", &document, json!([[1, [2]], 1, 2, 3]));
}

#[test]
fn filters_test_comparisons_existence_and_functions() {
    let order = order();
    for (filter, expected) in [
        ("@.tags", json!(["A-1", "C-33"])),
        ("!@.tags", json!(["B-2"])),
        ("@.gift", json!(["B-2"])),
        ("@.gift == null", json!(["B-2"])),
        ("@.gift == @.none", json!(["A-1", "C-33"])),
        ("@.none <= $.none", json!(["A-1", "B-2", "C-33"])),
        ("@.tags[-1] == 'z'", json!(["C-33"])),
        ("@.price > $.limit", json!(["B-2"])),
        ("@.price <= $.limit", json!(["A-1", "C-33"])),
        ("@.price == 1e1", json!(["A-1"])),
        ("@.price != 10.0", json!(["B-2", "C-33"])),
        ("@.sku < 'B'", json!(["A-1"])),
        ("@.price > 'B'", json!([])),
        ("@.tags == $.items[0].tags", json!(["A-1"])),
        ("@.price < 8 || @.price > 12 && @.tags", json!(["C-33"])),
        ("(@.price < 8 || @.price > 12) && !(@.tags)", json!(["B-2"])),
        ("length(@.sku) == 4", json!(["C-33"])),
        ("length(@.tags) >= 1", json!(["A-1", "C-33"])),
        ("count(@.tags.*) == 2", json!(["C-33"])),
        ("value(@..['sku']) == 'B-2'", json!(["B-2"])),
        ("value(@.*) == 'B-2'", json!([])),
        ("match(@.sku, 'C')", json!([])),
        ("match(@.sku, 'C.*')", json!(["C-33"])),
        ("!search(@.sku, '[12]$')", json!(["C-33"])),
        ("match(@.sku, $.form)", json!(["A-1", "B-2"])),
        ("match(@.sku, '(')", json!([])),
        ("match(@.sku, 'A|B)-(1|2')", json!([])),
        ("@.tags[?@ == 'z']", json!(["C-33"])),
    ] {
        selects(&format!("$.items[?{filter}].sku"), &order, expected);
    }
}

#[test]
fn numbers_are_compared_by_value_and_found_as_written() {
    let document = json::read(
        br#"{"l": [9007199254740993, 1.50, -0, 123456789012345678901234567890.10, 1e400]}"#,
    )
    .expect("JSON");
    let texts = |path: &str| -> Vec<String> {
        let text = |value: &json::Value| match value {
            json::Value::Number(number) => number.to_string(),
            other => panic!("{other:?} is no number"),
        };
        all(path, &document).iter().map(text).collect()
    };
    assert_eq!(texts("$.l[?@ == 1.5]"), ["1.50"]);
    assert_eq!(texts("$.l[?@ == 0]"), ["-0"]);
    assert_eq!(texts("$.l[3]"), ["123456789012345678901234567890.10"]);
    assert_eq!(texts("$.l[?@ == 9007199254740992]"), [""; 0]);
    assert_eq!(texts("$.l[?@ == 9007199254740993]"), ["9007199254740993"]);
    assert_eq!(texts("$.l[?@ == 1e400]"), ["1e400"]);
    assert_eq!(texts("$.l[?@ == 10E+399]"), ["1e400"]);
    assert_eq!(texts("$.l[?@ > 9e99]"), [""; 0]);
}

#[test]
fn what_the_rfc_does_not_know_is_refused_with_a_reason() {
    let invalid = |problem, character| JsonPathError::Invalid { character, problem };
    for (text, character, problem) in [
        ("", 1, "expected '$'"),
        ("nome", 1, "expected '$'"),
        ("$nome", 2, "expected '.', '[' or the end"),
        ("$.ação !", 7, "expected '.', '[' or the end"),
        ("$.", 3, "expected a name that begins with a letter or '_'"),
        ("$['a'", 6, "expected ',' or ']'"),
        ("$['a", 5, "the string has no end"),
        ("$['\\x']", 4, "there is no such escape"),
        ("$[01]", 3, "expected an integer as JSONPath writes it"),
        ("$[?length(@) > 1 & 2]", 18, "expected ',' or ']'"),
        ("$[?length(@.*) > 1]", 11, "a query that may select several nodes is no single value"),
        ("$[?in(@, 'a')]", 4, "there is no such function"),
        ("$[?match(@, 'a') == true]", 4, "match() and search() are no values"),
        ("$[?(@.a]", 8, "expected ')', '&&' or '||'"),
        ("$[?true]", 8, "expected a comparison"),
    ] {
        assert_eq!(JsonPath::parse(text), Err(invalid(problem, character)), "{text}");
    }
    assert_eq!(
        JsonPath::parse("$[").map_err(|error| error.to_string()),
        Err("is not JSONPath (RFC 9535): expected a name in quotes, an index, ':', '*' or '?' \
             at character 3"
            .to_owned())
    );
}

#[test]
fn equality_and_display_are_those_of_the_text() {
    let path = JsonPath::parse("$ .a").expect("JSONPath");
    assert_eq!(path.to_string(), "$ .a");
    assert_eq!(path, path.clone());
    assert_ne!(path, JsonPath::parse("$.a").expect("JSONPath"));
}
