//! Which column of a file is which field: by its name, or by a map (R287).

use std::collections::BTreeMap;
use std::path::Path;

use recado_core::imports::cells::is_remark;
use recado_core::imports::{CUSTOM, contact_columns_problem, is_contact_field};
use recado_core::messages::ImportedMessage;

use super::ImportKind;

/// Fields of messages that name their contact and connection without ids.
const OF_MESSAGES: [&str; 2] = ["phone", "connection"];
/// How many names an error shows.
const SHOWN: usize = 10;

/// Columns with the fields they stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnMap {
    /// By the name of the column in lower case.
    fields: BTreeMap<String, String>,
    /// Columns that must be there, as they are written.
    needed: Vec<String>,
}

impl ColumnMap {
    /// The map of options (`column=field`), whose columns must be there, and of a file of such
    /// lines, whose columns may be missing. An option counts before the file.
    pub(super) fn read(options: &[String], file: Option<&Path>) -> Result<Option<Self>, String> {
        if options.is_empty() && file.is_none() {
            return Ok(None);
        }
        let mut map = Self::default();
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("--map-file {}: {error}", path.display()))?;
            for (number, line) in text.lines().enumerate() {
                let line = line.trim().trim_start_matches('\u{feff}');
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                map.add(line).map_err(|problem| {
                    format!("--map-file {}, line {}: {problem}", path.display(), number + 1)
                })?;
            }
        }
        for option in options {
            let column = map.add(option).map_err(|problem| format!("--map {option}: {problem}"))?;
            map.needed.push(column);
        }
        Ok(Some(map))
    }

    fn add(&mut self, line: &str) -> Result<String, String> {
        // A column's name may have the sign, a field's never has.
        let (column, field) = line.rsplit_once('=').ok_or("must be column=field")?;
        let (column, field) = (column.trim(), field.trim());
        if column.is_empty() || field.is_empty() {
            return Err("must be column=field".to_owned());
        }
        self.fields.insert(column.to_lowercase(), field.to_owned());
        Ok(column.to_owned())
    }

    /// The field of a column.
    pub(super) fn field_of(&self, column: &str) -> Option<&str> {
        self.fields.get(&column.trim().to_lowercase()).map(String::as_str)
    }
}

/// Whether a file of this kind may have the field.
fn is_field(kind: ImportKind, name: &str) -> bool {
    match kind {
        ImportKind::Contacts => is_contact_field(name),
        ImportKind::Messages => {
            let block = name.split_once('.').map_or(name, |(block, _)| block);
            OF_MESSAGES.contains(&name) || ImportedMessage::FIELDS.contains(&block)
        }
    }
}

/// The field of each column; `None` for a column that is left out.
///
/// # Errors
///
/// What makes that no row can be read: columns of a map that are missing or stand for no field,
/// and, without a map, columns that are no fields.
///
/// R287.
pub(super) fn fields_of(
    names: &[String],
    map: Option<&ColumnMap>,
    kind: ImportKind,
) -> Result<Vec<Option<String>>, String> {
    if let Some(map) = map {
        let is_missing =
            |needed: &&String| !names.iter().any(|name| name.trim().eq_ignore_ascii_case(needed));
        if let Some(missing) = map.needed.iter().find(is_missing) {
            return Err(format!("--map names the column {missing:?}, which the file lacks"));
        }
        if let Some(wrong) = map.fields.values().find(|field| !is_field(kind, field)) {
            return Err(format!("{wrong:?} is no field of {}", kind.as_str()));
        }
    }
    let mut unknown = Vec::new();
    let mut fields = Vec::with_capacity(names.len());
    for name in names {
        let mapped = map.and_then(|map| map.field_of(name));
        fields.push(match mapped {
            Some(field) => Some(field.to_owned()),
            None if is_remark(name) => None,
            None if is_field(kind, name) => Some(name.clone()),
            None => {
                unknown.push(name.as_str());
                None
            }
        });
    }
    if map.is_none() && !unknown.is_empty() {
        let more = unknown.len().saturating_sub(SHOWN);
        unknown.truncate(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        return Err(format!(
            "these columns are no fields of {}: {}{more}; say which field each is by --map \
             'column=field', or leave them out by a map that does not name them",
            kind.as_str(),
            unknown.join(", ")
        ));
    }
    Ok(fields)
}

/// Whether rows with these fields can name their person, and a message its connection.
///
/// # Errors
///
/// What is missing.
///
/// R287.
pub(super) fn check_identity(
    fields: &[Option<String>],
    kind: ImportKind,
    has_one_connection: bool,
) -> Result<(), String> {
    let has = |wanted: &[&str]| fields.iter().flatten().any(|f| wanted.contains(&f.as_str()));
    match kind {
        ImportKind::Contacts => {
            contact_columns_problem(fields).map_or(Ok(()), |problem| Err(problem.to_owned()))
        }
        ImportKind::Messages if !has(&["contact_id", "phone"]) => {
            Err("no column is the contact_id or the phone of a message's contact".to_owned())
        }
        ImportKind::Messages if !has(&["connection_id", "connection"]) && !has_one_connection => {
            Err("no column is the connection of a message, and the company has not exactly one"
                .to_owned())
        }
        ImportKind::Messages if !has(&["direction"]) => {
            Err("no column is the direction of a message".to_owned())
        }
        ImportKind::Messages => Ok(()),
    }
}

/// The custom fields that columns name by slug.
pub(super) fn custom_slugs(fields: &[Option<String>]) -> impl Iterator<Item = &str> {
    fields.iter().flatten().filter_map(|field| field.strip_prefix(CUSTOM))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn map(options: &[&str]) -> ColumnMap {
        ColumnMap::read(&names(options), None).expect("a map").expect("not empty")
    }

    /// R287.
    #[test]
    fn a_map_names_fields_and_leaves_out_what_is_neither_mapped_nor_a_field() {
        let map = map(&["Telefone=phone", "E-mail = email"]);
        let header = names(&["telefone", "E-MAIL", "name", "Record ID", "_line"]);
        let fields = fields_of(&header, Some(&map), ImportKind::Contacts).expect("a header");
        let fields: Vec<_> = fields.iter().map(|field| field.as_deref().unwrap_or("-")).collect();
        assert_eq!(fields, ["phone", "email", "name", "-", "-"]);
    }

    /// R287.
    #[test]
    fn without_a_map_a_column_that_is_no_field_is_named() {
        let header = names(&["phone", "Nome", "custom_fields.origem"]);
        let error = fields_of(&header, None, ImportKind::Contacts).expect_err("unknown");
        assert!(error.contains(": Nome;"), "{error}");
        assert!(fields_of(&header[..1], None, ImportKind::Contacts).is_ok());
    }

    /// R287.
    #[test]
    fn a_map_with_a_missing_column_or_a_wrong_field_is_refused() {
        let header = names(&["Telefone"]);
        let missing = map(&["Fone=phone"]);
        assert!(fields_of(&header, Some(&missing), ImportKind::Contacts).is_err());
        let wrong = map(&["Telefone=telephone"]);
        assert!(fields_of(&header, Some(&wrong), ImportKind::Contacts).is_err());
        for wrong in ["phone", "=phone", "Telefone="] {
            assert!(ColumnMap::read(&names(&[wrong]), None).is_err(), "{wrong}");
        }
    }

    /// R287.
    #[test]
    fn a_file_of_a_map_may_name_columns_that_are_missing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.map");
        std::fs::write(&path, "# people\n\nPhone Number=phone\nMobile=phone\n").expect("written");
        let map = ColumnMap::read(&[], Some(&path)).expect("a map").expect("not empty");
        let fields = fields_of(&names(&["Mobile"]), Some(&map), ImportKind::Contacts);
        assert_eq!(fields, Ok(vec![Some("phone".to_owned())]));
    }

    /// R287.
    #[test]
    fn a_header_needs_what_names_a_person() {
        let fields = |names: &[&str]| -> Vec<Option<String>> {
            names.iter().map(|name| Some((*name).to_owned())).collect()
        };
        let check = |names: &[&str], kind, one| check_identity(&fields(names), kind, one);
        assert!(check(&["name"], ImportKind::Contacts, true).is_err());
        assert!(check(&["identifier"], ImportKind::Contacts, true).is_ok());
        let messages = ["phone", "direction"];
        assert!(check(&messages, ImportKind::Messages, true).is_ok());
        assert!(check(&messages, ImportKind::Messages, false).is_err());
        assert!(check(&messages[..1], ImportKind::Messages, true).is_err());
    }
}
