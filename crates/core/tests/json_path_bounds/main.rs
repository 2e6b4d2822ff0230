//! JSONPath under hostile expressions and bodies (D46a): nothing panics, overflows or runs long.

mod generators;
mod oracle;

use generators::{documents, soups};
use proptest::prelude::*;
use recado_core::json::{self, Number, Value as Document};
use recado_core::json_path::{
    JsonPath, JsonPathError, MAX_CHARACTERS, MAX_NESTING, StepBudget, TooCostly,
};
use serde_json::{Value, json};

fn path(text: &str) -> JsonPath {
    JsonPath::parse(text).unwrap_or_else(|error| panic!("{text} {error}"))
}

/// The longest text of the form `front`, units, `middle`, closing units.
fn filled(front: &str, unit: &str, middle: &str, closing: &str) -> String {
    let room = MAX_CHARACTERS - front.len() - middle.len();
    let times = room / (unit.len() + closing.len());
    format!("{front}{}{middle}{}", unit.repeat(times), closing.repeat(times))
}

/// R90.
#[test]
fn an_expression_has_at_most_500_characters_of_any_size() {
    let longest = format!("$.{}", "ç".repeat(MAX_CHARACTERS - 2));
    assert_eq!(path(&longest).as_str(), longest);
    assert_eq!(JsonPath::parse(&format!("{longest}ç")), Err(JsonPathError::TooLong));
}

/// On a quarter of the stack that a thread usually has.
fn on_a_small_stack(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(test);
    thread.expect("a thread").join().expect("no panic");
}

/// R90.
#[test]
fn nesting_is_accepted_up_to_its_limit() {
    on_a_small_stack(nest_up_to_the_limit);
}

fn nest_up_to_the_limit() {
    for (unit, closing) in [("(", ")"), ("!(", ")"), ("@[?", "]"), ("$..[?", "]")] {
        // The outermost filter is one level.
        let nested = |levels: usize| {
            format!("$[?{}@.a{}]", unit.repeat(levels - 1), closing.repeat(levels - 1))
        };
        let deepest = path(&nested(MAX_NESTING));
        let document = Document::from(&json!([[[{"a": 1}]]]));
        assert!(deepest.all(&document, &mut StepBudget::new()).is_ok(), "{deepest}");
        assert_eq!(JsonPath::parse(&nested(MAX_NESTING + 1)), Err(JsonPathError::TooDeep));
    }
    let functions = |levels: usize| {
        format!("$[?{}@{}==1]", "length(".repeat(levels - 1), ")".repeat(levels - 1))
    };
    assert!(JsonPath::parse(&functions(MAX_NESTING)).is_ok());
    assert_eq!(JsonPath::parse(&functions(MAX_NESTING + 1)), Err(JsonPathError::TooDeep));
}

#[test]
fn the_longest_expressions_of_each_kind_are_answered_at_once() {
    on_a_small_stack(answer_the_longest);
}

fn answer_the_longest() {
    let body = Document::from(&json!({"a": [1, {"a": [[], "x", {"b": null}]}]}));
    for text in [
        filled("$", "..*", "", ""),
        filled("$", "..[*,*]", "", ""),
        filled("$[0", ",0", "]", ""),
        filled("$[?@", "||@", "]", ""),
        filled("$[?!@", "&&!@", "]", ""),
        filled("$[?1==1", "&&1==1", "]", ""),
        filled("$[?", "(", "@", ")"),
        filled("$[?", "!", "@]", ""),
        filled("$[?", "!(", "@", ""),
        filled("$[?", "(", "", ""),
        filled("$", "[?@", "", ""),
        filled("$", "[?@", "", "]"),
        filled("$", "[", "", ""),
        filled("$", "[?count(@", "", ""),
        filled("$[?", "length(", "@", ")"),
        filled("$[?", "match(@,", "", ""),
        filled("$[?", "match(", "", ""),
        filled("$['", "\\u00e7", "']", ""),
        filled("$['", "\\ud83d\\ude00", "']", ""),
        filled("$['", "\\", "']", ""),
        filled("$[", "9", "]", ""),
        filled("$[?@==", "9", "]", ""),
        filled("$[?@==1.", "9", "e9]", ""),
        filled("$[?@==1e", "9", "]", ""),
        filled("$", " ", ".a", ""),
        filled("$[?@", " ", "]", ""),
        filled("$.", "a", "", ""),
        filled("$.", "😀", "", ""),
        filled("$", "$", "", ""),
        filled("", "(", "", ""),
    ] {
        if let Ok(path) = JsonPath::parse(&text) {
            let _ = path.all(&body, &mut StepBudget::new());
        }
    }
}

/// A body of about 100,000 bytes: `[unit,unit,…]`.
fn many(unit: &str) -> Document {
    let times = 102_000 / (unit.len() + 1);
    json::read(format!("[{}]", vec![unit; times].join(",")).as_bytes()).expect("JSON")
}

/// R90.
#[test]
fn a_search_through_the_largest_body_is_within_the_budget_and_hostile_ones_are_not() {
    let deep = format!("{}0{}", "{\"a\":1,\"b\":[".repeat(40), "]}".repeat(40));
    for body in [many("0"), many("[]"), many("[0]"), many("{\"a\":1}"), many(&deep)] {
        let mut budget = StepBudget::new();
        for _ in 0..15 {
            assert_eq!(path("$..phone").first(&body, &mut budget), Ok(None));
        }
        for text in [
            "$..[?$..[?$..[?$..x]]]".to_owned(),
            "$[?count($..*) == count($..*) && @.none]".to_owned(),
            filled("$..[?", "@..none||", "@.none]", ""),
        ] {
            assert_eq!(path(&text).first(&body, &mut StepBudget::new()), Err(TooCostly), "{text}");
        }
    }
    let deep = many(&deep);
    for text in [filled("$", "..*", ".none", ""), filled("$", "..[*,*,*]", ".none", "")] {
        assert_eq!(path(&text).first(&deep, &mut StepBudget::new()), Err(TooCostly), "{text}");
    }
}

#[test]
fn comparing_what_is_long_is_paid_for() {
    let zeros = vec![0; 10_000];
    let zeros = json!(zeros).to_string();
    let text = json!("a".repeat(40_000)).to_string();
    for (long, other) in
        [(text.clone(), text), ("1".repeat(40_000), "1".to_owned()), (zeros.clone(), zeros.clone())]
    {
        let body = format!(r#"{{"list": {zeros}, "long": {long}, "other": {other}}}"#);
        let body = json::read(body.as_bytes()).expect("JSON");
        for relation in ["$.long != $.long", "$.long < $.other", "length($.long) == 0"] {
            let text = format!("$.list[?{relation} && $.long != $.other]");
            let mut budget = StepBudget::new();
            let found = path(&text).all(&body, &mut budget);
            assert!(found.is_err() || budget.left() > 0, "{text}");
            if relation == "$.long != $.long" {
                assert_eq!(found, Err(TooCostly), "{text}");
            }
        }
    }
}

/// How many of the body's objects have a text that their own pattern matches.
fn matching(body: &Value) -> Result<usize, TooCostly> {
    let body = Document::from(body);
    let found = path("$[?match(@.text, @.pattern)]").all(&body, &mut StepBudget::new())?;
    Ok(found.len())
}

/// R90.
#[test]
fn regular_expressions_of_the_body_are_bounded() {
    let body = |pattern: &str, text: &str| json!([{"text": text, "pattern": pattern}]);
    for pattern in [
        "(((a{30}){30}){30}){30}".to_owned(),
        "a{1000000}".to_owned(),
        "\\pL".repeat(300),
        "a".repeat(1_001),
        "\\p{L}{900}".to_owned(),
    ] {
        assert_eq!(matching(&body(&pattern, "a")), Err(TooCostly), "{pattern}");
    }
    // Too deep, with options, or no regular expressions, or of nothing: no match.
    for pattern in [
        "(".repeat(900),
        format!("{}{}", "(".repeat(400), ")".repeat(400)),
        format!("a{}", "*".repeat(900)),
        "[".repeat(900),
        "(?i)a".to_owned(),
        "(?x) a # text".to_owned(),
        "[a[b]]".to_owned(),
        "a{2,1}".to_owned(),
        "(((){1000}){1000}){4000000000}".to_owned(),
    ] {
        assert_eq!(matching(&body(&pattern, "a")), Ok(0), "{pattern}");
    }
    let ordinary = body("\\(?[1-9]{2}\\)? ?9?[0-9]{4}-?[(?0-9]{4}", "(11) 98765-4321");
    assert_eq!(matching(&ordinary), Ok(1));
    // Where backtracking never ends.
    let text = "a".repeat(5_000);
    assert_eq!(matching(&body("(a*)*b", &text)), Ok(0));
    assert_eq!(matching(&body("(a?){50}a{50}(a*)*", &text)), Ok(1));
}

#[test]
fn different_regular_expressions_for_each_node_are_paid_for() {
    let nodes: Vec<Value> =
        (0..1_500).map(|n| json!({"text": "a", "pattern": format!("\\p{{L}}+{n}")})).collect();
    assert_eq!(matching(&Value::Array(nodes)), Err(TooCostly));
    // One for all is compiled once.
    let nodes: Vec<Value> = (0..1_500).map(|n| json!({"text": format!("é{n}")})).collect();
    let found = path("$[?match(@.text, '\\\\p{L}+[0-9]+')]")
        .all(&Document::from(&Value::Array(nodes)), &mut StepBudget::new())
        .map(|found| found.len());
    assert_eq!(found, Ok(1_500));
}

#[test]
fn a_document_deeper_than_json_may_be_parsed_is_no_danger() {
    let one = || Document::Number(Number::parse("1").expect("a number"));
    let nest = |levels: usize| (0..levels).fold(one(), |inner, _| Document::Array(vec![inner]));
    let members = [("one", nest(2_000)), ("two", nest(2_000)), ("three", nest(1_999))];
    let members = members.map(|(name, value)| (name.to_owned(), value));
    let body = Document::Object(members.into());
    let found = |text: &str| path(text).all(&body, &mut StepBudget::new()).map(|found| found.len());
    assert_eq!(found("$..*"), Ok(3 + 2_000 + 2_000 + 1_999));
    assert_eq!(found("$[?@ == $.two]"), Ok(2));
    assert_eq!(found("$[?@..[?@ == 1]]"), Ok(3));
}

#[test]
fn a_budget_is_shared_and_stays_spent() {
    let body = Document::from(&json!({"a": 1}));
    let mut budget = StepBudget::of(20);
    let path = path("$.a");
    assert_eq!(path.first(&body, &mut budget), Ok(Some(&Document::from(&json!(1)))));
    assert!(budget.left() < 20 && budget.left() > 0);
    while path.first(&body, &mut budget).is_ok() {}
    assert_eq!(budget.left(), 0);
    assert_eq!(path.first(&body, &mut budget), Err(TooCostly));
}

fn evaluate(text: &str, document: &Value) -> Result<(), TestCaseError> {
    let Ok(path) = JsonPath::parse(text) else { return Ok(()) };
    let mut budget = StepBudget::of(5_000);
    let document = Document::from(document);
    if let Ok(all) = path.all(&document, &mut budget) {
        let first = path.first(&document, &mut StepBudget::new());
        prop_assert_eq!(first, Ok(all.first().copied()));
    } else {
        prop_assert_eq!(budget.left(), 0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,500}", document in documents()) {
        evaluate(&text, &document)?;
        evaluate(&format!("$[?{text}]"), &document)?;
    }

    #[test]
    fn any_tokens_are_parsed_or_refused(soup in soups(200), document in documents()) {
        evaluate(&soup, &document)?;
        evaluate(&format!("${soup}"), &document)?;
        evaluate(&format!("$[?{soup}]"), &document)?;
    }

    #[test]
    fn any_pattern_is_compiled_or_refused(pattern in "[\\\\\\[\\](){}*+?|.^$a-cpLNw,0-9-]{0,60}") {
        let mut budget = StepBudget::new();
        let body = Document::from(&json!([{"text": "abc", "pattern": pattern}]));
        let _ = path("$[?search(@.text, @.pattern)]").all(&body, &mut budget);
    }
}
