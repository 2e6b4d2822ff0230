//! Checks the statements of the page for receivers.

use webhook_receiver::verify;

const PAGE: &str = include_str!("../../../docs/webhooks.md");

/// The text after a word at the beginning of a line.
fn after(word: &str) -> &'static str {
    let mut lines = PAGE.lines().filter_map(|line| line.strip_prefix(word));
    let found = lines.next().unwrap_or_else(|| panic!("the page has no line with {word}"));
    assert!(lines.next().is_none(), "the page has several lines with {word}");
    found.trim_start()
}

#[test]
fn the_vector_of_the_page_for_receivers_verifies() {
    let (secret, body, signature) = (after("secret: "), after("body: "), after("signature: "));
    assert!(verify(secret, body.as_bytes(), signature));
    assert!(!verify(secret, body.replace("Olá", "Ola").as_bytes(), signature));
    // The request shown above it is that of the same delivery.
    assert_eq!(after("X-Service-Signature: "), signature);
    assert!(body.contains(after("X-Service-Delivery: ")));
}
