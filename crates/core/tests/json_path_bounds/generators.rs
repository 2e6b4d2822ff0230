//! Random documents and expressions.

use proptest::prelude::*;
use recado_core::json_path::MAX_CHARACTERS;
use serde_json::Value;

/// Small documents.
pub(crate) fn documents() -> impl Strategy<Value = Value> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d é"]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        prop::sample::select(vec![-1.5, 0.0, 1.0, 2.5]).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "b", "ab", "a|b", "é", "[ab]+", "("])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(name(), inner, 0..4).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

/// Well-formed filters, nested at most so deep. Without some cases in which the oracle is wrong: it
/// finds nothing by a negative index in a singular query, orders `true` and `false`, and does not
/// take nothing for `<=` nothing.
fn filters(depth: u32) -> BoxedStrategy<String> {
    let literal = prop::sample::select(vec![
        "1", "-1.5", "0.0", "1e0", "'a'", "\"ab\"", "true", "false", "null", "''",
    ]);
    let singular = prop::sample::select(vec![
        "@", "$", "@.a", "@['b']", "@[0]", "$.a", "$[1]", "@.a.b", "@ [0] .c",
    ]);
    let found =
        prop_oneof![literal.prop_map(str::to_owned), singular.clone().prop_map(str::to_owned)];
    let positive = |query: String| query.replace("-1", "1");
    let counted = prop_oneof![
        singular.prop_map(|query| format!("length( {query} )")),
        queries("@", depth).prop_map(move |query| format!("count({})", positive(query))),
        queries("@", depth).prop_map(move |query| format!("value({} )", positive(query))),
        queries("$", depth).prop_map(move |query| format!("value( {})", positive(query))),
    ];
    let value = prop_oneof![found, counted];
    let equality = prop::sample::select(vec!["==", " != "]);
    let order = prop::sample::select(vec!["<", "<= ", " >", ">="]);
    let ordered = prop::sample::select(vec!["1", "-1.5", "0.0", "2e0", "'a'", "\"b\"", "''"]);
    let test = prop_oneof![
        queries("@", depth),
        queries("$", depth),
        (value.clone(), order, ordered).prop_map(|(l, r, v)| format!("{l}{r}{v}")),
        (value.clone(), equality, value.clone()).prop_map(|(l, r, v)| format!("{l}{r}{v}")),
        (value.clone(), value).prop_map(|(text, pattern)| format!("match({text} , {pattern})")),
        prop::sample::select(vec!["match(@,'a|b')", "search(@.a, '[ab]')", "search(@,$[0])"])
            .prop_map(str::to_owned),
    ];
    let test = (prop::sample::select(vec!["", "!", "! "]), test).prop_map(|(not, test)| {
        let compares = ["==", "!=", "<", ">"].iter().any(|sign| test.contains(sign));
        if compares && !not.is_empty() { format!("{not}({test})") } else { format!("{not}{test}") }
    });
    prop::collection::vec((test, prop::sample::select(vec!["&&", " || "])), 1..4)
        .prop_map(|tests| {
            let mut filter = String::new();
            for (test, operator) in tests {
                if !filter.is_empty() {
                    filter.push_str(operator);
                }
                filter.push_str(&test);
            }
            filter
        })
        .boxed()
}

/// Well-formed queries, with filters nested at most so deep.
pub(crate) fn queries(origin: &'static str, depth: u32) -> BoxedStrategy<String> {
    let plain = prop::sample::select(vec![
        "'a'",
        "\"b\"",
        "'d \\u00e9'",
        "*",
        "0",
        "-1",
        "2",
        ":",
        "1:",
        ":-1",
        "::2",
        "::-1",
        "2:0:-1",
        "-3::2",
        ":1:0",
    ])
    .prop_map(str::to_owned)
    .boxed();
    let selector = if depth == 0 {
        plain
    } else {
        prop_oneof![3 => plain, 1 => filters(depth - 1).prop_map(|filter| format!("?{filter}"))]
            .boxed()
    };
    let bracketed = prop::collection::vec(selector, 1..3)
        .prop_map(|selectors| format!("[{}]", selectors.join(" ,")));
    let segment = prop_oneof![
        2 => prop::sample::select(vec![".a", ".b", "..c", ".*", "..*"]).prop_map(str::to_owned),
        2 => bracketed.clone(),
        1 => bracketed.prop_map(|bracketed| format!("..{bracketed}")),
    ];
    prop::collection::vec(segment, 0..4)
        .prop_map(move |segments| format!("{origin}{}", segments.concat()))
        .boxed()
}

/// Tokens of the language in any order.
pub(crate) fn soups(tokens: usize) -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "$", "@", ".", "..", "[", "]", "?", "(", ")", "*", ",", ":", "!", "&&", "||", "==", "<",
        "'a'", "\"b\"", "'", "\\", "a", "é", "0", "1", "-", "e5", " ", "\n", "true", "null",
        "length(", "count(", "value(", "match(", "search(", "$.a", "@.a", "[?@.a", "[0]", "..*",
    ]);
    prop::collection::vec(token, 0..tokens)
        .prop_map(|tokens| tokens.concat().chars().take(MAX_CHARACTERS).collect())
}
