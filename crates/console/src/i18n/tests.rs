use std::collections::BTreeSet;

use super::*;

/// The keys of a file, in order.
fn keys(file: &str) -> Vec<&str> {
    let lines =
        file.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
    lines.filter_map(|line| line.split_once('=')).map(|(key, _)| key.trim()).collect()
}

/// The variables of a file.
fn variables(file: &str) -> BTreeSet<&str> {
    let parts = file.split('$').skip(1);
    let end = |part: &str| part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
    parts.map(|part| &part[..end(part).unwrap_or(part.len())]).collect()
}

/// R421.
#[test]
fn no_language_lacks_a_key_or_has_one_twice() {
    for (english, portuguese) in ENGLISH.iter().zip(PORTUGUESE) {
        for file in [english, portuguese] {
            assert!(FluentResource::try_new((*file).to_owned()).is_ok(), "{file}");
        }
        assert_eq!(keys(english), keys(portuguese));
        assert_eq!(variables(english), variables(portuguese));
    }
    let all: Vec<&str> = ENGLISH.iter().flat_map(|file| keys(file)).collect();
    let once: BTreeSet<&str> = all.iter().copied().collect();
    let twice: Vec<_> =
        once.iter().filter(|key| all.iter().filter(|k| k == key).count() > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

fn sources(folder: &std::path::Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(std::fs::read_to_string(path).expect("a text"));
        }
    }
}

/// R421.
#[test]
fn every_key_in_the_code_has_a_text() {
    let mut files = Vec::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut missing = BTreeSet::new();
    for file in &files {
        for call in [".t(\"", ".t_with(\"", ".text(\"", "key: \""] {
            for part in file.split(call).skip(1) {
                let key = part.split('"').next().unwrap_or_default();
                let is_key = key.contains('-') && !key.contains(['{', ' ', ':', '/', '_']);
                if is_key && !Language::English.has(key) {
                    missing.insert(key.to_owned());
                }
            }
        }
        for part in file.split(".t_with(\n").skip(1) {
            let key = part.split('"').nth(1).unwrap_or_default();
            if key.contains('-') && !key.contains(' ') && !Language::English.has(key) {
                missing.insert(key.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// R421.
#[test]
fn the_choice_comes_before_what_the_browser_prefers() {
    let of = |choice, accepted: &'static str| {
        let value = http::HeaderValue::from_static(accepted);
        Language::of(choice, &HeaderMap::from_iter([(ACCEPT_LANGUAGE, value)]))
    };
    assert_eq!(of(Some("en"), "pt-BR"), Language::English);
    assert_eq!(of(Some("xx"), "pt-BR,en;q=0.8"), Language::Portuguese);
    assert_eq!(of(None, "de, en;q=0.4, pt;q=0.5"), Language::Portuguese);
    assert_eq!(of(None, "de"), Language::English);
}
