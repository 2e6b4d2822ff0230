//! The file of refused lines: of the same form as the one imported, each line with its number and
//! the reason, so that it can be corrected and imported.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use csv::WriterBuilder;
use recado_core::imports::cells::is_remark;
use recado_core::imports::formula::escaped;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, from_slice, json};

use super::source::{ImportFile, ImportRecord, Raw};
use crate::commands::CommandError;

/// The columns or keys of remarks.
const LINE: &str = "_line";
const REASON: &str = "_reason";
/// A line that is not a JSON object, as it was written.
const TEXT: &str = "_text";

/// The refused lines. The file is made with the first of them.
pub(super) struct RefusedLines {
    path: PathBuf,
    names: Vec<String>,
    delimiter: Option<u8>,
    out: Option<Out>,
}

enum Out {
    Csv(Box<csv::Writer<File>>),
    Json(BufWriter<File>),
}

impl RefusedLines {
    pub(super) fn new(path: PathBuf, source: &ImportFile) -> Self {
        let names = source.names().map(str::to_owned).collect();
        Self { path, names, delimiter: source.delimiter(), out: None }
    }

    /// Adds a line.
    pub(super) fn add(&mut self, entry: &ImportRecord, reason: &str) -> Result<(), CommandError> {
        let out = match &mut self.out {
            Some(out) => out,
            none => none.insert(create(&self.path, &self.names, self.delimiter)?),
        };
        match (out, &entry.raw) {
            (Out::Csv(writer), Raw::Csv(cells)) => {
                let line = entry.line.to_string();
                let of_line = cells.iter().zip(&self.names);
                let own = of_line.filter(|(_, name)| !is_remark(name)).map(|(cell, _)| cell);
                // Cells beyond the last column are kept too, after the reason.
                let surplus = cells.iter().skip(self.names.len());
                let remarks = [line.as_bytes(), reason.as_bytes()];
                let missing = self.names.iter().skip(cells.len()).filter(|name| !is_remark(name));
                let blanks = missing.map(|_| b"".as_slice());
                let all = own.chain(blanks).chain(remarks).chain(surplus).map(escaped);
                writer.write_record(all.collect::<Vec<_>>()).map_err(CommandError::run)
            }
            (Out::Json(writer), Raw::Json(text)) => {
                let raw = |value: Value| to_raw_value(&value).map_err(CommandError::run);
                // Numbers stay as they are written.
                let record: Result<BTreeMap<String, Box<RawValue>>, _> = from_slice(text);
                let mut record = match record {
                    Ok(record) => record,
                    Err(_) => {
                        let text = String::from_utf8_lossy(text).into();
                        BTreeMap::from([(TEXT.to_owned(), raw(text)?)])
                    }
                };
                record.insert(LINE.to_owned(), raw(json!(entry.line))?);
                record.insert(REASON.to_owned(), raw(json!(reason))?);
                let record = serde_json::to_string(&record).map_err(CommandError::run)?;
                writeln!(writer, "{record}").map_err(CommandError::run)
            }
            // All records of a source have the same form.
            (Out::Csv(_), Raw::Json(_)) | (Out::Json(_), Raw::Csv(_)) => Ok(()),
        }
    }

    /// Completes the file; `None` if there is none.
    pub(super) fn finish(self) -> Result<Option<PathBuf>, CommandError> {
        match self.out {
            None => return Ok(None),
            Some(Out::Csv(mut writer)) => writer.flush().map_err(CommandError::run)?,
            Some(Out::Json(mut writer)) => writer.flush().map_err(CommandError::run)?,
        }
        Ok(Some(self.path))
    }
}

fn create(path: &PathBuf, names: &[String], delimiter: Option<u8>) -> Result<Out, CommandError> {
    let file = File::create(path)
        .map_err(|error| CommandError::Run(format!("{}: {error}", path.display())))?;
    let Some(delimiter) = delimiter else { return Ok(Out::Json(BufWriter::new(file))) };
    let mut writer = WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(file);
    let own = names.iter().map(String::as_str).filter(|name| !is_remark(name));
    let all = own.chain([LINE, REASON]).map(|name| escaped(name.as_bytes()));
    writer.write_record(all.collect::<Vec<_>>()).map_err(CommandError::run)?;
    Ok(Out::Csv(Box::new(writer)))
}
