//! The TOML file of `--config`: the names of the options as keys, with hyphens or underscores.

use std::path::Path;

use toml::Value;

use super::settings::OptionFormat;
use super::{ConfigError, Layer, Setting, settings};

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<Layer, ConfigError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError::one(format!("--config {shown} cannot be read: {error}")))?;
    let layer = parse(&text).map_err(|problems| {
        ConfigError(problems.into_iter().map(|problem| format!("{shown}: {problem}")).collect())
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(layer.into_iter().map(|(name, value)| (name, rebased(name, value, folder))).collect())
}

/// A relative path of the file is relative to the folder of the file.
///
/// R266.
fn rebased(name: &str, value: String, folder: &Path) -> String {
    match settings().iter().find(|setting| setting.name == name) {
        Some(setting) => setting.in_folder_of(&value, folder),
        None => value,
    }
}

fn parse(text: &str) -> Result<Layer, Vec<String>> {
    let table: toml::Table = text.parse().map_err(|error| vec![unreadable(text, &error)])?;
    let mut layer = Layer::new();
    let mut problems = Vec::new();
    for (key, value) in &table {
        let Some(setting) = settings().iter().find(|s| s.name == key.replace('_', "-")) else {
            problems.push(format!("`{key}` is not an option"));
            continue;
        };
        match written(setting, value) {
            Ok(value) => {
                if layer.insert(setting.name, value).is_some() {
                    problems.push(format!("`{}` is given twice", setting.name));
                }
            }
            Err(problem) => problems.push(format!("`{key}` {problem}")),
        }
    }
    if problems.is_empty() { Ok(layer) } else { Err(problems) }
}

/// Where a file is no TOML. The line itself may hold a secret, and so may the parser's reason:
/// neither is shown (R176).
fn unreadable(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map_or(1, |before| before.matches('\n').count() + 1);
    format!(
        "line {line} is no TOML: it needs a key, `=` and a value, texts in quotes, no key twice"
    )
}

/// The value as a flag would have it.
fn written(setting: &Setting, value: &Value) -> Result<String, &'static str> {
    match (setting.form, value) {
        (_, Value::String(text)) => Ok(text.clone()),
        (OptionFormat::Switch, Value::Boolean(on)) => Ok(on.to_string()),
        (OptionFormat::Number, Value::Integer(number)) => Ok(number.to_string()),
        (OptionFormat::List, Value::Array(entries)) => {
            let entries: Option<Vec<&str>> = entries.iter().map(Value::as_str).collect();
            Ok(entries.ok_or("must be an array of strings")?.join(","))
        }
        (OptionFormat::Text | OptionFormat::Path | OptionFormat::Place, _) => {
            Err("must be a string")
        }
        (OptionFormat::Number, _) => Err("must be a number"),
        (OptionFormat::List, _) => Err("must be an array of strings"),
        (OptionFormat::Switch, _) => Err("must be true or false"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_with_hyphens_or_underscores() {
        let layer =
            parse("public-url = \"https://a.example\"\nno_migrate = true\n").expect("valid");
        assert_eq!(layer["public-url"], "https://a.example");
        assert_eq!(layer["no-migrate"], "true");
    }

    /// R266.
    #[test]
    fn relative_paths_are_relative_to_the_folder_of_the_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("recado.toml");
        let read = |text: &str, name: &str| {
            std::fs::write(&path, text).expect("written");
            super::read(&path).expect("valid")[name].clone()
        };
        let inside = |name: &str| folder.path().join(name).display().to_string();
        for (key, written, meant) in [
            ("database", "sqlite:a.db", format!("sqlite:{}", inside("a.db"))),
            ("database", "sqlite://data/a.db", format!("sqlite:{}", inside("data/a.db"))),
            ("database", "sqlite:/srv/a.db", "sqlite:/srv/a.db".to_owned()),
            ("database", "sqlite:///srv/a.db", "sqlite:/srv/a.db".to_owned()),
            ("database", "sqlite::memory:", "sqlite::memory:".to_owned()),
            ("database", "postgres://a@b/c", "postgres://a@b/c".to_owned()),
            ("documents", "file:docs", format!("file:{}", inside("docs"))),
            ("documents", "s3://bucket/docs", "s3://bucket/docs".to_owned()),
            ("operator-token-file", "token", inside("token")),
            ("operator-token-file", "", String::new()),
            ("secret-key-file", "/etc/key", "/etc/key".to_owned()),
            ("public-url", "a.db", "a.db".to_owned()),
        ] {
            assert_eq!(read(&format!("{key} = \"{written}\""), key), meant, "{key} {written}");
        }
    }

    #[test]
    fn lists_are_arrays_or_text() {
        let layer = parse(
            "trusted-proxies = [\"10.0.0.0/8\", \"::1\"]\nwebhook-retry-waits = \"1s,2s,3s,4s\"",
        )
        .expect("valid");
        assert_eq!(layer["trusted-proxies"], "10.0.0.0/8,::1");
        assert_eq!(layer["webhook-retry-waits"], "1s,2s,3s,4s");
    }

    /// R176.
    #[test]
    fn no_mistake_shows_a_secret() {
        for mistake in [
            "operator-token = hunter2",
            "operator-token = 'hunter2",
            "operator-token = \"hunter2",
            "operator-token = \"hunter2\\q\"",
            "operator-token = \"hunter2\" hunter2",
            "operator-token hunter2",
            "operator-token = [\"hunter2\"",
            "operator-token = [\"hunter2\"]",
            "operator-token = \"hunter2\"\noperator-token = \"hunter2\"",
            "database = postgres://a:hunter2@b/c",
            "database = { url = \"hunter2\" }",
        ] {
            let problems = parse(&format!("# a comment\n{mistake}\n")).expect_err(mistake);
            let shown = problems.join(" ");
            assert!(!shown.contains("hunter2"), "{shown}");
            assert!(shown.contains("line ") || shown.contains("must be a string"), "{shown}");
        }
        let problems = parse("log = \"info\"\n\nlisten = :\n").expect_err("no TOML");
        assert!(problems[0].starts_with("line 3 "), "{problems:?}");
    }

    #[test]
    fn everything_that_is_wrong_is_named() {
        let problems = parse("lisen = \"a\"\nlisten = 8080\n[database]\nurl = \"x\"\n")
            .expect_err("three mistakes");
        assert_eq!(
            problems,
            [
                "`database` must be a string",
                "`lisen` is not an option",
                "`listen` must be a string",
            ]
        );
        assert_eq!(parse("log = \"a\"\nlog = \"b\"").expect_err("twice").len(), 1);
        assert_eq!(parse("no-migrate = true\nno_migrate = true").expect_err("twice").len(), 1);
        assert_eq!(parse("config = \"other.toml\"").expect_err("no option of the file").len(), 1);
    }
}
