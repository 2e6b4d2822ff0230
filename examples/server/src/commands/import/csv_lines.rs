//! Reading CSV record by record.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use csv::ByteRecord;
use recado_core::imports::cells;
use recado_core::imports::formula::unescaped;
use serde_json::{Map, Value};

use super::source::{ImportRecord, Raw};
use crate::commands::CommandError;

/// Finds the line on which a record of CSV begins. The reader reports the end of the previous
/// record; the blank lines between them, and the second character of a line end, are read from the
/// file.
pub(super) struct LineFinder {
    pub(super) file: File,
    /// Where the reader began.
    pub(super) offset: u64,
    /// How many lines are before that.
    pub(super) first: u64,
}

impl LineFinder {
    fn of(&mut self, position: &csv::Position) -> std::io::Result<u64> {
        let mut line = self.first + position.line();
        self.file.seek(SeekFrom::Start(self.offset + position.byte()))?;
        let mut buffer = [0; 64];
        loop {
            let read = self.file.read(&mut buffer)?;
            let between = buffer[..read].iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
            let (mut length, mut ends) = (0, 0);
            for byte in between {
                length += 1;
                ends += u64::from(*byte == b'\n');
            }
            line += ends;
            if length < read || read == 0 {
                return Ok(line);
            }
        }
    }
}

/// The next record, with its line and its body.
pub(super) fn read_csv(
    reader: &mut csv::Reader<BufReader<File>>,
    lines: &mut LineFinder,
    fields: &[Option<String>],
    is_escaped: bool,
) -> Result<Option<ImportRecord>, CommandError> {
    let mut raw = ByteRecord::new();
    if !reader.read_byte_record(&mut raw).map_err(CommandError::run)? {
        return Ok(None);
    }
    let line = match raw.position() {
        Some(position) => lines.of(position).map_err(CommandError::run)?,
        None => 0,
    };
    if is_escaped {
        raw = raw.iter().map(unescaped).collect();
    }
    let body = csv_body(&raw, fields);
    Ok(Some(ImportRecord { line, end: reader.position().byte(), body, raw: Raw::Csv(raw) }))
}

fn csv_body(raw: &ByteRecord, fields: &[Option<String>]) -> Result<Map<String, Value>, String> {
    if raw.len() != fields.len() {
        return Err(format!("has {} cells in {} columns", raw.len(), fields.len()));
    }
    let cells: Result<Vec<&str>, _> = raw.iter().map(str::from_utf8).collect();
    let cells = cells.map_err(|_| "is not UTF-8".to_owned())?;
    let named =
        fields.iter().zip(cells).filter_map(|(field, cell)| Some((field.as_deref()?, cell)));
    Ok(cells::body(named))
}
