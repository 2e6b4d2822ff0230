//! From the cells of a CSV line to the body of the operator's call.

use serde_json::{Map, Value};

use super::dates;
use crate::json::Number;

/// Fields that are true or false.
const FLAGS: [&str; 11] = [
    "is_ai_enabled",
    "external_ai_enabled",
    "is_archived",
    "is_pinned",
    "is_muted",
    "is_blocked",
    "is_group",
    "is_simulated",
    "is_edited",
    "is_history",
    "history",
];
/// Fields that are numbers.
const NUMBERS: [&str; 2] = ["prosas", "cost_brl"];
/// Fields that are lists of ids.
const LISTS: [&str; 1] = ["tag_ids"];

/// Fields that are days.
const DAYS: [&str; 1] = ["birthday"];
/// Names that together make the field `name`.
const NAMES: [&str; 2] = ["first_name", "last_name"];

/// Whether a column or key is a remark about the line itself.
pub fn is_remark(name: &str) -> bool {
    name.is_empty() || name.starts_with('_')
}

/// The body for these fields and cells. A value that does not have its field's form stays as
/// written, so that the refusal names it. Of several cells of one field the first that is filled
/// counts.
pub fn body<'a>(cells: impl Iterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    let mut body = Map::new();
    for (column, cell) in cells {
        if is_remark(column) || cell.trim().is_empty() {
            continue;
        }
        match column.split_once('.') {
            None => {
                body.entry(column).or_insert_with(|| value(column, cell));
            }
            Some((block, field)) => {
                let inner =
                    body.entry(block).or_insert_with(|| Value::Object(Map::new())).as_object_mut();
                // An earlier column of the same name without a point has priority.
                if let Some(inner) = inner {
                    let custom = block == "custom_fields";
                    let value = if custom { cell.into() } else { value(field, cell) };
                    inner.entry(field).or_insert(value);
                }
            }
        }
    }
    join_names(&mut body);
    body
}

/// A first and a last name make the name, where none is given.
///
/// R287.
pub fn join_names(body: &mut Map<String, Value>) {
    let parts = NAMES.map(|part| body.remove(part));
    let filled: Vec<&str> =
        parts.iter().flatten().filter_map(Value::as_str).map(str::trim).collect();
    if !filled.is_empty() && !body.contains_key("name") {
        body.insert("name".to_owned(), filled.join(" ").trim().into());
    }
}

fn value(field: &str, cell: &str) -> Value {
    let text = || Value::from(cell);
    let trimmed = cell.trim();
    if FLAGS.contains(&field) {
        return match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" => true.into(),
            "false" | "0" => false.into(),
            _ => text(),
        };
    }
    if NUMBERS.contains(&field) {
        let number = Number::parse(trimmed).map(|number| number.to_serde());
        return number.map_or_else(text, Value::Number);
    }
    if LISTS.contains(&field) {
        let entries = trimmed.split([';', ',', '|', ' ']).filter(|entry| !entry.is_empty());
        return entries.map(Value::from).collect();
    }
    if DAYS.contains(&field) {
        return dates::date(trimmed).into();
    }
    if field == "timestamp" || field.ends_with("_at") {
        return dates::time(trimmed).into();
    }
    text()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(cells: &[(&str, &str)]) -> Value {
        Value::Object(body(cells.iter().copied()))
    }

    #[test]
    fn cells_get_the_types_of_their_fields() {
        let cells = [
            ("phone", "+55 11 99000-1001"),
            ("name", "true"),
            ("is_blocked", "TRUE"),
            ("is_pinned", "0"),
            ("is_muted", "perhaps"),
            ("tag_ids", "a; b"),
            ("prosa.cost_brl", "0.120"),
            ("prosa.scope", "turn"),
            ("custom_fields.origem", "1"),
        ];
        let expected = json!({
            "phone": "+55 11 99000-1001",
            "name": "true",
            "is_blocked": true,
            "is_pinned": false,
            "is_muted": "perhaps",
            "tag_ids": ["a", "b"],
            "prosa": {"cost_brl": 0.12, "scope": "turn"},
            "custom_fields": {"origem": "1"},
        });
        assert_eq!(read(&cells), expected);
    }

    /// R287.
    #[test]
    fn names_are_joined_and_the_first_filled_cell_of_a_field_counts() {
        let cells = [
            ("phone", " "),
            ("phone", "+5511987654321"),
            ("phone", "+5511987654322"),
            ("first_name", "Ana"),
            ("last_name", "de Souza"),
            ("birthday", "17/05/1990"),
        ];
        let expected =
            json!({"phone": "+5511987654321", "name": "Ana de Souza", "birthday": "1990-05-17"});
        assert_eq!(read(&cells), expected);
        let named = [("name", "Dona Ana"), ("first_name", "Ana")];
        assert_eq!(read(&named), json!({"name": "Dona Ana"}));
        assert_eq!(read(&[("last_name", "Souza")]), json!({"name": "Souza"}));
    }

    #[test]
    fn empty_cells_and_remarks_are_left_out() {
        let cells = [("phone", "1"), ("email", " "), ("_reason", "phone: is wrong"), ("", "x")];
        assert_eq!(read(&cells), json!({"phone": "1"}));
    }
}
