//! The settings of a gateway from a file: they hold secrets, which no command line should show.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::super::CommandError;

/// The most bytes of settings.
const MOST: u64 = 64 * 1024;

/// Reads a JSON object; `-` is standard input.
pub(super) fn read(path: &Path) -> Result<Value, CommandError> {
    let mut text = String::new();
    let read = match path.to_str() {
        Some("-") => std::io::stdin().take(MOST).read_to_string(&mut text),
        _ => std::fs::File::open(path).and_then(|file| file.take(MOST).read_to_string(&mut text)),
    };
    let shown = path.display();
    read.map_err(|error| {
        CommandError::Usage(format!("--settings {shown} cannot be read: {error}"))
    })?;
    // The parser's reason might show a secret.
    let settings: Value = serde_json::from_str(&text).unwrap_or_default();
    match settings.is_object() {
        true => Ok(settings),
        false => Err(CommandError::Usage(format!("--settings {shown} holds no JSON object"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R176.
    #[test]
    fn what_is_no_object_is_refused_without_being_shown() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("settings.json");
        std::fs::write(&path, r#"{"api_key": "hunter2"}"#).expect("written");
        assert_eq!(read(&path).expect("an object")["api_key"], "hunter2");
        for text in ["", "[\"hunter2\"]", "{\"api_key\": hunter2}"] {
            std::fs::write(&path, text).expect("written");
            let error = read(&path).expect_err("no object").to_string();
            assert!(error.contains("--settings") && !error.contains("hunter2"), "{error}");
        }
        assert!(read(&folder.path().join("none")).is_err());
    }
}
