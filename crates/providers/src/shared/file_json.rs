//! A body of JSON that holds a file in base64, around the file: the file itself is written while
//! the request is.

use recado_core::documents::StoredFile;
use recado_core::transport::{AttachedFile, FileEncoding};
use serde_json::{Map, Value};

/// A body with the file as base64 at the end of the path: what is before the file, and the file
/// with what is after it. The fields of the path come last in their objects; one that is not
/// there, or no object, is made.
pub(crate) fn json_with_file(
    body: &Map<String, Value>,
    path: &[&str],
    file: StoredFile,
) -> (Vec<u8>, AttachedFile) {
    let (mut head, mut tail) = (String::new(), String::new());
    open(&mut head, &mut tail, body, path);
    let encoding = FileEncoding::Base64;
    (head.into_bytes(), AttachedFile { file, encoding, tail: tail.into_bytes() })
}

/// Writes an object as far as the file, and closes it after the file.
fn open(head: &mut String, tail: &mut String, body: &Map<String, Value>, path: &[&str]) {
    let Some((last, deeper)) = path.split_first() else {
        head.push('"');
        tail.insert(0, '"');
        return;
    };
    head.push('{');
    for (name, value) in body.iter().filter(|(name, _)| name != last) {
        head.push_str(&format!("{}:{value},", Value::from(name.as_str())));
    }
    head.push_str(&format!("{}:", Value::from(*last)));
    tail.insert(0, '}');
    let none = Map::new();
    let inner = body.get(*last).and_then(Value::as_object).unwrap_or(&none);
    open(head, tail, inner, deeper);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use recado_testkit::MemoryFiles;
    use serde_json::json;

    use super::*;

    /// The body with this text in place of the file's bytes.
    fn whole(body: Value, path: &[&str]) -> Value {
        let Value::Object(body) = body else { panic!("an object") };
        let file = StoredFile::new(Arc::new(MemoryFiles::default()), "key", 3);
        let (head, attached) = json_with_file(&body, path, file);
        assert_eq!(attached.encoding, FileEncoding::Base64);
        let whole = [&head[..], b"QUJD", &attached.tail].concat();
        serde_json::from_slice(&whole).expect("JSON")
    }

    #[test]
    fn the_file_is_in_its_place_and_the_rest_is_kept() {
        let rest = json!({"a": "x\"y\n", "file": {"mimetype": "image/png", "n": [1, {"b": null}]}});
        let mut expected = rest.clone();
        expected["file"]["data"] = "QUJD".into();
        assert_eq!(whole(rest, &["file", "data"]), expected);
        assert_eq!(whole(json!({"a": 1}), &["media"]), json!({"a": 1, "media": "QUJD"}));
        assert_eq!(whole(json!({}), &["a", "b"]), json!({"a": {"b": "QUJD"}}));
        assert_eq!(whole(json!({"a": "old"}), &["a"]), json!({"a": "QUJD"}));
    }
}
