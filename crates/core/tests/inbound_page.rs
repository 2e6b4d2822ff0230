//! Checks the statements of docs/inbound-webhooks.md about mappings.

use recado_core::contacts::Region;
use recado_core::inbound::{Mapped, VariableMapping};
use serde_json::Value;

const PAGE: &str = include_str!("pages/inbound-webhooks.md");

/// The text of a section, up to the next one of its level.
fn section(title: &str) -> &'static str {
    let (_, text) = PAGE.split_once(title).expect("the section");
    text.split("\n## ").next().unwrap_or(text)
}

/// The blocks of JSON in a text.
fn blocks(text: &str) -> Vec<Value> {
    let blocks = text.split("```json\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap_or(block));
    blocks.map(|block| serde_json::from_str(block).expect("JSON")).collect()
}

#[test]
fn each_mapping_of_the_recipes_finds_everything_it_names_in_the_body_above_it() {
    let blocks = blocks(section("\n## Recipes\n"));
    assert!(blocks.len() >= 8 && blocks.len().is_multiple_of(2), "{}", blocks.len());
    for pair in blocks.chunks(2) {
        let [body, entries] = pair else { panic!("a body without a mapping") };
        let mapping = VariableMapping::read(entries).expect("a mapping");
        let mapped = Mapped::new(&mapping, &body.into(), &Region::br()).expect("mapped");
        assert_eq!(mapped.phone.as_str(), "+5511987654321");
        assert_eq!(mapped.name.as_deref(), Some("Ana Lima"));
        assert!(mapped.warnings.is_empty(), "{:?}", mapped.warnings);
        let found: usize =
            [mapped.email.is_some(), mapped.city.is_some(), mapped.observation.is_some()]
                .map(usize::from)
                .iter()
                .sum();
        // Beside phone and name.
        let named = mapping.entries().len() - 2;
        assert_eq!(found + mapped.custom.len(), named, "{entries}");
    }
}

#[test]
fn each_expression_of_the_table_can_be_registered() {
    let rows = section("\n## Writing a mapping\n").lines();
    let rows = rows.filter_map(|line| line.strip_prefix("| `$"));
    let mut seen = 0;
    for row in rows {
        let expression = format!("${}", row.split('`').next().unwrap_or(row));
        let entries = serde_json::json!({ "phone": expression });
        VariableMapping::read(&entries).unwrap_or_else(|error| panic!("{expression}: {error}"));
        seen += 1;
    }
    assert!(seen >= 7, "{seen}");
}
