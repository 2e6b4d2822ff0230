//! Reading JSON Lines record by record.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use recado_core::imports::cells;
use recado_core::json;
use serde_json::{Map, Value};

use super::columns::ColumnMap;
use super::source::{ImportRecord, Raw};
use crate::commands::CommandError;

/// The longest line of JSON.
pub(super) const MAX_LINE: u64 = 1024 * 1024;

/// The next line that is not blank.
pub(super) fn read_json(
    reader: &mut BufReader<File>,
    line: &mut u64,
    position: &mut u64,
    map: Option<&ColumnMap>,
) -> Result<Option<ImportRecord>, CommandError> {
    loop {
        let mut raw = Vec::new();
        let read =
            reader.take(MAX_LINE).read_until(b'\n', &mut raw).map_err(CommandError::run)? as u64;
        if read == 0 {
            return Ok(None);
        }
        *line += 1;
        *position += read;
        let is_whole = raw.ends_with(b"\n") || read < MAX_LINE;
        if !is_whole {
            *position += skip_line(reader)?;
        }
        let text = raw.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let body = match is_whole {
            true => json_body(text, map),
            false => Err(format!("is longer than {MAX_LINE} bytes")),
        };
        let raw = Raw::Json(text.to_vec());
        return Ok(Some(ImportRecord { line: *line, end: *position, body, raw }));
    }
}

fn skip_line(reader: &mut BufReader<File>) -> Result<u64, CommandError> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf().map_err(CommandError::run)?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        reader.consume(length);
        skipped += length as u64;
        if end.is_some() || length == 0 {
            return Ok(skipped);
        }
    }
}

pub(super) fn json_body(
    text: &[u8],
    map: Option<&ColumnMap>,
) -> Result<Map<String, Value>, String> {
    match json::read(text).map(Value::from) {
        Ok(Value::Object(body)) => {
            let named = |name: String| match map.and_then(|map| map.field_of(&name)) {
                Some(field) => field.to_owned(),
                None => name,
            };
            let own = body.into_iter().filter(|(name, _)| !cells::is_remark(name));
            let mut body = own.map(|(name, value)| (named(name), value)).collect();
            cells::join_names(&mut body);
            Ok(body)
        }
        Ok(_) => Err("is not a JSON object".to_owned()),
        Err(fault) => Err(format!("is not JSON (column {})", fault.column)),
    }
}
