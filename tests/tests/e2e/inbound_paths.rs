//! The expressions of a mapping are JSONPath (RFC 9535), with limits: D46, D46a.

use std::time::{Duration, Instant};

use recado_tests::{Intake, both_stores, mobile, text};
use serde_json::{Map, Value, json};

fn store() -> Value {
    json!({
        "phone": mobile(1),
        "wanted": 3,
        "list": [1, 3, 5, 7],
        "a.b": "dotted",
        "quoted key": {"é": "accented", "it's": "apostrophe", "tab\t": "control"},
        "nested": {"deep": {"color": "green"}},
        "store": {
            "bicycle": {"color": "red", "price": 399},
            "book": [
                {"category": "reference", "author": "Nigel Rees", "title": "Sayings of the Century",
                 "price": 8.95, "tags": ["x"]},
                {"category": "fiction", "author": "Evelyn Waugh", "title": "Sword of Honour",
                 "price": 12.99, "tags": ["x", "y"]},
                {"category": "fiction", "author": "Herman Melville", "title": "Moby Dick",
                 "isbn": "0-553-21311-3", "price": 8.99},
                {"category": "fiction", "author": "J. R. R. Tolkien",
                 "title": "The Lord of the Rings", "isbn": "0-395-19395-8", "price": 22.99},
            ],
        },
    })
}

#[both_stores]
async fn expressions_of_every_kind_find_what_the_standard_says(world: Intake) {
    let cases = [
        ("$.store.book[0].title", "Sayings of the Century"),
        ("$['store'][\"book\"][-1]['title']", "The Lord of the Rings"),
        ("$.store.book[1:3].title", "Sword of Honour"),
        ("$.store.book[::-1].title", "The Lord of the Rings"),
        ("$.store.book[-2:].title", "Moby Dick"),
        ("$.store.book[0:4:2].author", "Nigel Rees"),
        ("$.store.book[2,0].author", "Herman Melville"),
        ("$..isbn", "0-553-21311-3"),
        ("$.store..price", "399"),
        ("$.store.*.color", "red"),
        ("$.nested..color", "green"),
        ("$.store.book[?@.price > 10].title", "Sword of Honour"),
        ("$.store.book[?@.price<10 && @.category=='fiction'].title", "Moby Dick"),
        ("$.store.book[?(@.price>20 || @.tags)].author", "Nigel Rees"),
        ("$.store.book[?@.isbn].author", "Herman Melville"),
        ("$.store.book[?!@.tags].title", "Moby Dick"),
        ("$.store.book[?length(@.title) < 10].title", "Moby Dick"),
        ("$.store.book[?count(@.tags[*]) == 2].title", "Sword of Honour"),
        ("$.store.book[?match(@.author, 'J.*')].author", "J. R. R. Tolkien"),
        ("$.store.book[?search(@.title, 'Lord|Dick')].title", "Moby Dick"),
        ("$.store.book[?value(@.tags[1]) == 'y'].author", "Evelyn Waugh"),
        ("$.list[?@ == $.wanted]", "3"),
        ("$.list[?@ >= 5]", "5"),
        ("$['a.b']", "dotted"),
        ("$[\"quoted key\"]['é']", "accented"),
        ("$['quoted key']['it\\'s']", "apostrophe"),
        ("$['quoted key'][\"tab\\u0009\"]", "control"),
        ("$ ['nested'] .deep ['color']", "green"),
    ];
    let mut mapping = Map::from_iter([("phone".to_owned(), json!("$.phone"))]);
    let mut expected = Map::new();
    for (n, (path, value)) in cases.into_iter().enumerate() {
        mapping.insert(format!("case-{n}"), json!(path));
        expected.insert(format!("case-{n}"), json!(value));
    }
    // The RFC does not define the order of an object's members; this expression selects one value.
    mapping.insert("nothing".to_owned(), json!("$.store.book[9].title"));
    let site = world.endpoint("site-leads", Value::Object(mapping)).await;
    let taken = world.taken(&site, store()).await;
    assert_eq!(taken["custom_fields_captured"], cases.len());
    let one = world.listed(&text(&taken["contact_id"])).await;
    for (n, (path, value)) in cases.into_iter().enumerate() {
        assert_eq!(one["custom_fields"][format!("case-{n}")], value, "{path}");
    }
    assert_eq!(one["custom_fields"], Value::Object(expected));
}

#[both_stores]
async fn what_is_no_jsonpath_is_refused_at_registration(world: Intake) {
    let site = world.endpoint("good", json!({"phone": "$.phone"})).await;
    for path in [
        "",
        "name",
        "$.",
        "$[",
        "$[]",
        "$..",
        "$...a",
        "$.a b",
        "$.a.",
        " $.a",
        "$.a ",
        "@.a",
        "$a",
        "$.1a",
        "$[01]",
        "$[-0]",
        "$[1.5]",
        "$['a]",
        "$[a]",
        "$[?]",
        "$[?@.a ==]",
        "$[?@.a = 1]",
        "$[?@.a == 'x]",
        "$[?foo(@.a)]",
        "$[?length(@.*) > 1]",
        "$[?length(@.a)]",
        "$[?count(1) > 0]",
        "$[?match(@.a)]",
        "$[?@.* == 1]",
        "$[?1]",
        "$[9007199254740992]",
        "$.a]",
        "{{name}}",
        "/a/b",
        "$.é\u{0}",
    ] {
        for key in ["phone_number", "plan"] {
            let mut mapping = json!({"phone": "$.phone"});
            mapping[key] = json!(path);
            let body = json!({"slug": "some-leads", "variable_mapping": mapping});
            let answer = world.operator("POST", "C/inbound-endpoints", body).await;
            assert_eq!(answer.status, 422, "{path}: {}", answer.show());
            assert_eq!(answer.expect_invalid(), ["variable_mapping"], "{path}");
        }
        let body = json!({"variable_mapping": {"phone": path}});
        let one = format!("C/inbound-endpoints/{}", site.id);
        let answer = world.operator("PATCH", &one, body).await;
        assert_eq!(answer.expect_invalid(), ["variable_mapping"], "{path}");
    }
    world.taken(&site, json!({"phone": mobile(1)})).await;
}

#[both_stores]
async fn an_expression_that_never_ends_is_given_up(world: Intake) {
    let numbers = vec![1; 30_000];
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let body = json!({"phone": mobile(1), "n": numbers, "deep": deep});
    for (n, path) in [
        "$..[?count($..*) == 1]",
        "$.n[?@ == $.n[?@ == 2]]",
        "$..*..*..*..*..*[?@ == 'none']",
        "$.n[?count($.n[?count($.n[*]) == 0]) == 1]",
    ]
    .into_iter()
    .enumerate()
    {
        let mapping = json!({"phone": "$.phone", "plan": path});
        let body_of = json!({"slug": format!("slow-{n}"), "variable_mapping": mapping});
        let made = world.operator("POST", "C/inbound-endpoints", body_of).await;
        if made.status == 422 {
            // A filter only compares values, so not all of these are expressions.
            continue;
        }
        let made = made.expect(201);
        let request =
            recado_tests::Request::new("POST", format!("/api/webhooks/incoming/slow-{n}"));
        let request = request.header("x-service-secret", text(&made["secret"])).json(&body);
        let began = Instant::now();
        world.knock(request).await.expect_hook_error(400, "MAPPING_FAILED");
        assert!(began.elapsed() < Duration::from_secs(10), "{path}: {:?}", began.elapsed());
    }
    assert!(world.list_ids("").await.is_empty());
}
