//! The output of commands: readable lines, or JSON with `--json`.

use std::fmt::Display;
use std::io::{Write, stdout};

use serde::Serialize;
use serde_json::Value;

/// Prints a line. A closed pipe, such as that of `head`, is not a failure.
pub(super) fn line(text: impl Display) {
    let _ = writeln!(stdout(), "{text}");
}

/// Prints a value as JSON.
pub(super) fn json(value: &Value) {
    line(format_args!("{value:#}"));
}

/// Prints one record: a line for each of `columns`.
pub(super) fn record(json: bool, columns: &[&str], record: &impl Serialize) {
    let record = value(record);
    if json {
        return self::json(&record);
    }
    let width = columns.iter().map(|column| column.len()).max().unwrap_or(0);
    for column in columns {
        if let Some(value) = record.get(column) {
            line(format_args!("{column:width$}  {}", cell(value)));
        }
    }
}

/// Prints records: a table of `columns`.
pub(super) fn records(json: bool, columns: &[&str], records: &[impl Serialize]) {
    let records = value(records);
    if json {
        return self::json(&records);
    }
    line(table(columns, records.as_array().map(Vec::as_slice).unwrap_or_default()));
}

fn value(record: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(record).unwrap_or(Value::Null)
}

fn table(columns: &[&str], records: &[Value]) -> String {
    let mut rows: Vec<Vec<String>> = vec![columns.iter().map(|c| c.to_uppercase()).collect()];
    rows.extend(records.iter().map(|record| columns.iter().map(|c| cell(&record[*c])).collect()));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns.len()).map(|c| width(c).unwrap_or(0)).collect();
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A value as text for a table.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().map(cell).collect::<Vec<_>>().join(","),
        Value::Object(fields) => {
            let on: Vec<String> = fields
                .iter()
                .filter_map(|(name, value)| match value {
                    Value::Bool(true) => Some(name.clone()),
                    Value::String(text) => Some(format!("{name}={text}")),
                    _ => None,
                })
                .collect();
            if on.is_empty() { "-".to_owned() } else { on.join(",") }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_aligned() {
        let records = [
            json!({"id": "1", "name": "Padaria São João", "features": {"a": true, "b": false}}),
            json!({"id": "22", "name": null, "features": {}}),
        ];
        assert_eq!(
            table(&["id", "name", "features"], &records),
            "ID  NAME              FEATURES\n1   Padaria São João  a\n22  -                 -"
        );
    }
}
