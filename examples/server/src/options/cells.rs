//! The installations (cells) that share the companies out: the file of their databases (D3), and
//! where they answer (R460).

use std::collections::BTreeMap;
use std::path::Path;

use recado_core::Cell;
use recado_http_hyper::{CellAddress, Cells};

use super::values::{read_cell, read_list};
use super::{ConfigError, DatabaseLocation, Options, settings};

/// Where cells answer: `1=https://c1.example.com,2=http://10.0.0.2:8080`.
pub(super) fn read_cell_urls(text: &str) -> Result<BTreeMap<Cell, String>, String> {
    let mut urls = BTreeMap::new();
    for entry in read_list(text) {
        let (number, url) = entry.split_once('=').unwrap_or((entry, ""));
        let url = url.trim();
        let cell = read_cell(number).map_err(|_| wrong(entry))?;
        CellAddress::parse(url, None).ok_or_else(|| wrong(entry))?;
        if urls.insert(cell, url.to_owned()).is_some() {
            return Err(format!("names cell {} twice", cell.number()));
        }
    }
    Ok(urls)
}

fn wrong(entry: &str) -> String {
    format!("holds {entry:?}, which is no cell with its address, such as 1=https://c1.example.com")
}

/// Every cell whose operator API has an address needs one for all else.
pub(super) fn check(options: &Options) -> Result<(), String> {
    let lacking =
        options.cell_operator_urls.keys().find(|cell| !options.cell_urls.contains_key(cell));
    match lacking {
        None => Ok(()),
        Some(cell) => {
            let number = cell.number();
            Err(format!("--cell-operator-urls names cell {number}, and --cell-urls does not"))
        }
    }
}

impl Options {
    /// Where the cells answer.
    pub(crate) fn cells(&self) -> Cells {
        let address = |(cell, url): (&Cell, &String)| {
            let operator = self.cell_operator_urls.get(cell).map(String::as_str);
            Some((*cell, CellAddress::parse(url, operator)?))
        };
        Cells { own: self.cell, others: self.cell_urls.iter().filter_map(address).collect() }
    }
}

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

    /// R460.
    #[test]
    fn addresses_of_cells_are_read_and_mistakes_named() {
        let urls =
            read_cell_urls("1=https://c1.example.com, 12=http://10.0.0.2:8080/").expect("two");
        let numbers: Vec<u16> = urls.keys().map(|cell| cell.number()).collect();
        assert_eq!(numbers, [1, 12]);
        for (text, about) in [
            ("https://c1.example.com", "which is no cell with its address"),
            ("1000=https://c1.example.com", "\"1000=https"),
            ("1=c1.example.com", "\"1=c1"),
            ("1=https://c1.example.com/recado", "\"1=https"),
            ("1=https://user@c1.example.com", "\"1=https"),
            ("1=http://a,1=http://b", "names cell 1 twice"),
        ] {
            let problem = read_cell_urls(text).expect_err(text);
            assert!(problem.contains(about), "{text}: {problem}");
        }
    }

    /// R460.
    #[test]
    fn the_operator_api_of_a_cell_may_have_an_address_of_its_own() {
        let operator = read_cell_urls("1=http://10.0.0.1:9191").expect("one");
        let mut options = Options { cell_operator_urls: operator, ..Options::default() };
        assert!(check(&options).expect_err("no other").contains("cell 1"));
        options.cell_urls = read_cell_urls("1=http://c1.example.com").expect("one");
        assert_eq!(check(&options), Ok(()));
        let found = options.cells().others.into_values().next();
        let expected = CellAddress::parse("http://c1.example.com", Some("http://10.0.0.1:9191"));
        assert_eq!(found, expected);
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
