//! The file that names the databases of several installations (D3).

use std::collections::BTreeMap;
use std::path::Path;

use recado_core::Cell;

use super::values::read_cell;
use super::{ConfigError, DatabaseLocation, settings};

/// Reads a TOML file with the database of each cell, by its number: `0 = "postgres://…"`. Relative
/// paths are relative to the folder of the file, as in the file of `--config` (R266).
pub(crate) fn read_cells(path: &Path) -> Result<BTreeMap<Cell, DatabaseLocation>, ConfigError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError::one(format!("--cells {shown} cannot be read: {error}")))?;
    parse(&text, path.parent().unwrap_or(Path::new("")))
        .map_err(|problem| ConfigError::one(format!("{shown}: {problem}")))
}

/// The problem names no value, which may hold a password (R176).
fn parse(text: &str, folder: &Path) -> Result<BTreeMap<Cell, DatabaseLocation>, String> {
    let table: toml::Table =
        text.parse().map_err(|_| "it needs a number, `=` and an address in quotes in each line")?;
    let database = settings().iter().find(|setting| setting.name == "database");
    let mut cells = BTreeMap::new();
    for (number, address) in &table {
        let cell = read_cell(number).map_err(|problem| format!("`{number}` {problem}"))?;
        let address = address.as_str().ok_or_else(|| format!("`{number}` must be a string"))?;
        let address = database.map(|setting| setting.in_folder_of(address, folder));
        let address = address.unwrap_or_default().parse();
        let address = address.map_err(|problem| format!("`{number}` {problem}"))?;
        if cells.insert(cell, address).is_some() {
            return Err(format!("`{number}` is given twice"));
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cell_has_its_database_and_files_are_beside_the_list() {
        let text = "0 = \"sqlite:a.db\"\n12 = \"postgres://recado@db/recado\"\n";
        let cells = parse(text, Path::new("/srv")).expect("valid");
        let shown: Vec<String> =
            cells.iter().map(|(cell, at)| format!("{} {at:?}", cell.number())).collect();
        assert_eq!(shown, ["0 sqlite:/srv/a.db", "12 postgres://***"]);
    }

    /// R176.
    #[test]
    fn a_mistake_is_named_without_the_address() {
        for (text, about) in [
            ("a = \"sqlite:x\"", "`a` must be a number from 0 to 999"),
            ("1000 = \"sqlite:x\"", "`1000` must be a number from 0 to 999"),
            ("1 = 2", "`1` must be a string"),
            ("1 = \"hunter2\"", "`1` must be sqlite:PATH or"),
            ("1 = \"sqlite:x\"\n01 = \"sqlite:y\"", "`1` is given twice"),
            ("1 = hunter2", "it needs a number"),
        ] {
            let problem = parse(text, Path::new("")).expect_err(text);
            assert!(problem.contains(about) && !problem.contains("hunter2"), "{text}: {problem}");
        }
    }
}
