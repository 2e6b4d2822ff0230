//! The guide shows this example as it is.

const GUIDE: &str = include_str!("../../../docs/writing-a-provider.md");
const SOURCE: &str = include_str!("../src/lib.rs");
const SUITE: &str = include_str!("conformance.rs");

#[test]
fn the_guide_shows_the_provider_and_its_suite_as_they_are() {
    for file in [SOURCE, SUITE] {
        let title = file.lines().next().unwrap_or_default();
        assert!(GUIDE.contains(&format!("```rust\n{file}```\n")), "another text: {title}");
    }
}

#[test]
fn the_gateway_has_60_lines_at_most() {
    let count = SOURCE.lines().count();
    assert!(count <= 60, "{count} lines");
}
