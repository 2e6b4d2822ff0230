//! The companies of several installations: `recado company list --cells` (D3).

use std::collections::BTreeMap;
use std::path::Path;

use recado_core::halts::HaltSubject;
use recado_core::{Cell, Recado};
use serde_json::Value;

use super::database::with;
use super::{CommandError, output, refused};
use crate::options::{DatabaseLocation, Options, read_cells};

const COLUMNS: [&str; 6] = ["cell", "id", "name", "plan", "features", "default_region"];

/// Prints the companies of all cells that a file names, each with its cell. One that was moved away
/// is shown where it is now.
pub(super) async fn list(options: &Options, json: bool, file: &Path) -> Result<(), CommandError> {
    let cells: BTreeMap<Cell, DatabaseLocation> = read_cells(file)?;
    let mut rows = Vec::new();
    for (cell, database) in cells {
        let number = cell.number();
        let options = Options { database, cell, ..options.clone() };
        let add = async |recado: &Recado| add(recado, number, &mut rows).await;
        let added = with(&options, add).await;
        added.map_err(|error| match error {
            CommandError::NoDatabase(at) => {
                CommandError::NoDatabase(format!("{at} (cell {number})"))
            }
            error => CommandError::Run(format!("cell {number}: {error}")),
        })?;
    }
    output::records(json, &COLUMNS, &rows);
    Ok(())
}

async fn add(recado: &Recado, cell: u16, rows: &mut Vec<Value>) -> Result<(), CommandError> {
    let halted = recado.halts().read().await.map_err(CommandError::run)?;
    for company in recado.access().companies().await.map_err(refused)? {
        let closure = halted.of(HaltSubject::WritingOf(company.id));
        if closure.is_some_and(|closure| closure.is_final()) {
            continue;
        }
        let mut row = serde_json::to_value(&company).map_err(CommandError::run)?;
        if let Some(fields) = row.as_object_mut() {
            fields.insert("cell".to_owned(), cell.into());
        }
        rows.push(row);
    }
    Ok(())
}
