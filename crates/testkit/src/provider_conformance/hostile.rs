//! Bodies that a correct gateway never sends.

use serde_json::{Value, json};

/// The number of places of a body that are changed.
const PLACES: usize = 120;

/// Bodies of every bad kind: not JSON, not text, with NUL, with wrong types, deep, huge.
pub(super) fn bodies() -> Vec<Vec<u8>> {
    let mut bodies: Vec<Vec<u8>> = [
        &b""[..],
        b"\0",
        b"\xff\xfe{",
        b"<html><body>502 Bad Gateway</body></html>",
        b"{",
        b"{\"id\":",
        b"{\"id\": \"\xff\"}",
        b"{\"id\": \"a\0b\"}",
        br#"{"id": "\u0000"}"#,
        br#"{"id": "\ud800"}"#,
        br#"{"id": 1e999}"#,
        br#"{"id": -99999999999999999999999999999999999999}"#,
        br#"{"id": {}, "id": []}"#,
        b"null",
        b"true",
        b"7",
        b"\"text\"",
        b"[]",
        b"[[], {}, null]",
        b"{}",
    ]
    .map(<[u8]>::to_vec)
    .into();
    bodies.push(b"[".repeat(100_000));
    bodies.push(br#"{"a":"#.repeat(50_000));
    bodies.push([&b"[".repeat(120)[..], &b"]".repeat(120)].concat());
    bodies.push(json!({"id": "x".repeat(2_000_000)}).to_string().into_bytes());
    bodies.push(json!(vec![json!({"id": null}); 20_000]).to_string().into_bytes());
    bodies
}

/// Copies of the body, each with one value replaced by a value of another type or an absurd one.
pub(super) fn spoilt(body: &Value) -> Vec<Value> {
    let mut places = Vec::new();
    collect(body, String::new(), &mut places);
    let mut spoilt = Vec::new();
    for place in places.into_iter().take(PLACES) {
        for wrong in [
            json!(null),
            json!(true),
            json!(-1),
            json!(1.5e300),
            json!(u64::MAX),
            json!(""),
            json!("a\u{0}b"),
            json!("x".repeat(20_000)),
            json!([]),
            json!({"a": [{}]}),
        ] {
            let mut copy = body.clone();
            if let Some(value) = copy.pointer_mut(&place) {
                *value = wrong;
            }
            spoilt.push(copy);
        }
    }
    spoilt
}

fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(value, format!("{place}/{name}"), places);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, format!("{place}/{index}"), places);
            }
        }
        _ => {}
    }
    places.push(place);
}
