//! The names of files (R350).

use super::detect::ending_of;
use crate::text;

/// The most characters of an ending that is kept when a name is cut.
const MAX_ENDING: usize = 20;

/// A name as it is kept: the last part of a path, without control characters and such as change the
/// direction of writing, and with at most 200 characters; `None` if nothing is left of it (R350).
pub(super) fn cleaned(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_kept = |c: &char| !c.is_control() && !is_unseen(*c);
    let plain: String = last.chars().filter(is_kept).collect();
    // A name of dots, or one that begins with them, is a path or hidden.
    let plain = plain.trim().trim_start_matches('.').trim();
    (!plain.is_empty()).then(|| shortened(plain))
}

/// Characters that are not seen, or turn the direction of what follows.
const fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// The name within its length, with its ending kept.
fn shortened(name: &str) -> String {
    let excess = name.chars().count().saturating_sub(text::SHORT);
    match name.rsplit_once('.') {
        Some((stem, ending)) if excess > 0 && ending.chars().count() < MAX_ENDING => {
            let kept = stem.chars().count().saturating_sub(excess);
            format!("{}.{ending}", stem.chars().take(kept).collect::<String>())
        }
        _ => name.chars().take(text::SHORT).collect(),
    }
}

/// The name that a document is sent with: a given one, or one made from its media type (X10).
pub(super) fn document_name(given: Option<&str>, mimetype: &str) -> String {
    given.and_then(cleaned).unwrap_or_else(|| format!("document.{}", ending_of(mimetype)))
}

/// The name that the address of a file ends with.
pub(super) fn of_address(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?.split_once("://")?.1.split_once('/')?.1;
    let last = path.rsplit('/').next()?;
    cleaned(&decoded(last)?).filter(|name| name.contains('.'))
}

/// A part of a path without its percent signs; `None` if it is no UTF-8.
fn decoded(part: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(part.len()), part.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let pair = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte =
            pair.and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// R350.
    #[test]
    fn paths_and_what_cannot_be_seen_go_from_names() {
        let cases = [
            ("nota fiscal.pdf", Some("nota fiscal.pdf")),
            ("../../etc/passwd", Some("passwd")),
            ("C:\\Users\\ana\\a.pdf", Some("a.pdf")),
            ("a\r\n\0b.pdf", Some("ab.pdf")),
            ("fatura\u{202E}fdp.exe", Some("faturafdp.exe")),
            (".htaccess", Some("htaccess")),
            ("..", None),
            ("a/", None),
            (" \u{200B} ", None),
        ];
        for (given, expected) in cases {
            assert_eq!(cleaned(given).as_deref(), expected, "{given:?}");
        }
        let long = cleaned(&format!("{}.pdf", "á".repeat(300))).expect("a name");
        assert_eq!((long.chars().count(), long.ends_with("á.pdf")), (200, true));
    }

    /// X10.
    #[test]
    fn a_document_without_a_name_gets_one() {
        assert_eq!(document_name(None, "application/pdf"), "document.pdf");
        assert_eq!(document_name(Some("a/b.pdf"), "application/pdf"), "b.pdf");
        assert_eq!(
            of_address("https://a.example/x/nota%20fiscal.pdf?k=/b"),
            Some("nota fiscal.pdf".to_owned())
        );
        for none in
            ["https://a.example", "https://a.example/", "https://a.example/x", "https://a/%ff.p"]
        {
            assert_eq!(of_address(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn every_name_that_is_kept_is_safe(name in any::<String>(), long in "[a-zé.]{0,300}") {
            if let Some(name) = cleaned(&(name + &long)) {
                prop_assert!((1..=text::SHORT).contains(&name.chars().count()));
                prop_assert!(!name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\')));
                prop_assert!(!name.starts_with('.'));
            }
        }
    }
}
