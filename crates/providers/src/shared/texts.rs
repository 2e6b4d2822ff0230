//! Texts in messages whose kind is not known (X9).

use recado_core::text;
use serde_json::Value;

use super::text_at;

/// How many characters of a person's text are kept.
const MAX_TEXT: usize = 65_536;
/// Where such messages have what stands above their text.
const HEADINGS: [&[&str]; 2] = [&["title"], &["name"]];
/// Where they have their text.
const TEXTS: [&[&str]; 7] = [
    &["text"],
    &["caption"],
    &["contentText"],
    &["body", "text"],
    &["body"],
    &["description"],
    &["note"],
];

/// The text in a part of a message whose kind is not known, beneath its heading.
pub(crate) fn text_of_unknown(part: &Value) -> Option<String> {
    let first = |paths: &[&[&str]]| paths.iter().find_map(|path| plain(text_at(part, path)?));
    let mut lines: Vec<String> = [first(&HEADINGS), first(&TEXTS)].into_iter().flatten().collect();
    lines.dedup();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A person's text without control characters and without spaces around it, cut to the length that
/// is kept; `None` if nothing is left.
pub(crate) fn plain(text: &str) -> Option<String> {
    let kept = text::kept(text.trim(), MAX_TEXT);
    (!kept.trim().is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// X9.
    #[test]
    fn a_text_stands_beneath_its_heading() {
        for (part, expected) in [
            (json!({"title": "Festa", "description": "Sábado"}), Some("Festa\nSábado")),
            (json!({"name": "Quando?"}), Some("Quando?")),
            (json!({"title": "Oi", "text": "Oi"}), Some("Oi")),
            (json!({"body": {"text": "Olá"}}), Some("Olá")),
            (json!({"note": " x "}), Some("x")),
            (json!({"text": " ", "id": "7"}), None),
            (json!("x"), None),
        ] {
            assert_eq!(text_of_unknown(&part).as_deref(), expected, "{part}");
        }
    }
}
