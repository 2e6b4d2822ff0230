//! Reading a file of CSV or JSON Lines line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder};
use recado_core::json;
use serde_json::{Map, Value};

use super::formula::unescaped;
use super::{record, refused};
use crate::commands::CommandError;

/// The longest line of JSON.
const MAX_LINE: u64 = 1024 * 1024;
const BOM: &[u8] = "\u{feff}".as_bytes();

/// One record of a file.
#[derive(Debug)]
pub(super) struct ImportRecord {
    /// The line it begins on, from 1.
    pub(super) line: u64,
    /// Where it ends, in bytes.
    pub(super) end: u64,
    /// Its body, or why it cannot be read.
    pub(super) body: Result<Map<String, Value>, String>,
    /// The record as it was written.
    pub(super) raw: Raw,
}

/// A record as it was written.
#[derive(Debug)]
pub(super) enum Raw {
    /// Cells.
    Csv(ByteRecord),
    /// A line.
    Json(Vec<u8>),
}

impl ImportRecord {
    /// The contact of a message.
    pub(super) fn chain(&self) -> Option<&str> {
        self.body.as_ref().ok()?.get("contact_id")?.as_str()
    }

    /// The identifiers of its person or message, as they are written.
    pub(super) fn keys(&self) -> Vec<String> {
        const DIGITS: usize = 8;
        let Ok(body) = &self.body else { return Vec::new() };
        let texts =
            ["identifier", "email", "wamid", "external_id"].into_iter().filter_map(|name| {
                let text = body.get(name)?.as_str()?.trim().to_lowercase();
                Some(format!("{name} {text}"))
            });
        // The same phone can be written in several ways, but its last digits are always the same.
        let phone = body.get("phone").and_then(Value::as_str).map(|phone| {
            let digits: Vec<char> = phone.chars().filter(char::is_ascii_digit).collect();
            let from = digits.len().saturating_sub(DIGITS);
            format!("phone {}", digits[from..].iter().collect::<String>())
        });
        texts.chain(phone).collect()
    }
}

/// An open file.
pub(super) struct ImportFile {
    form: FileFormat,
    size: u64,
    names: Vec<String>,
    /// The first record, which was read for the names and is not returned yet.
    first: Option<ImportRecord>,
}

enum FileFormat {
    Csv {
        reader: csv::Reader<BufReader<File>>,
        delimiter: u8,
        lines: LineFinder,
        /// Whether its cells are escaped.
        is_escaped: bool,
    },
    Json {
        reader: BufReader<File>,
        line: u64,
        position: u64,
    },
}

fn failure(path: &Path, error: &dyn std::fmt::Display) -> CommandError {
    CommandError::Run(format!("{}: {error}", path.display()))
}

impl ImportFile {
    /// Opens a file and determines its format.
    pub(super) fn open(path: &Path) -> Result<Self, CommandError> {
        let fail = |error: std::io::Error| failure(path, &error);
        let mut file = BufReader::new(File::open(path).map_err(fail)?);
        let size = file.get_ref().metadata().map_err(fail)?.len();
        let mut skipped = 0;
        if file.fill_buf().map_err(fail)?.starts_with(BOM) {
            file.consume(BOM.len());
            skipped = BOM.len() as u64;
        }
        let begin = file.fill_buf().map_err(fail)?;
        let is_json = begin.trim_ascii_start().first() == Some(&b'{');
        let head = begin.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
        let delimiter = delimiter(head);
        file.seek(SeekFrom::Start(skipped)).map_err(fail)?;
        let mut source = if is_json {
            let form = FileFormat::Json { reader: file, line: 0, position: skipped };
            Self { form, size, names: Vec::new(), first: None }
        } else {
            let lines = LineFinder { file: File::open(path).map_err(fail)?, offset: skipped };
            let mut reader =
                ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(file);
            let names = reader.headers().map_err(|error| failure(path, &error))?;
            let mut names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
            let is_escaped = refused::is_of_refused_lines(&names);
            if is_escaped {
                for name in &mut names {
                    let meant = unescaped(name.as_bytes()).len();
                    *name = name.split_off(name.len() - meant);
                }
            }
            if names.iter().all(String::is_empty) {
                return Err(failure(path, &"has no column names"));
            }
            let form = FileFormat::Csv { reader, delimiter, lines, is_escaped };
            Self { form, size, names, first: None }
        };
        if is_json {
            source.first = source.read()?;
            if let Some(ImportRecord { body: Ok(body), .. }) = &source.first {
                source.names = body.keys().cloned().collect();
            }
        }
        Ok(source)
    }

    /// The names of its columns, or of the fields of its first line.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Its length in bytes.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// The delimiter of its columns; `None` for JSON.
    pub(super) const fn delimiter(&self) -> Option<u8> {
        match self.form {
            FileFormat::Csv { delimiter, .. } => Some(delimiter),
            FileFormat::Json { .. } => None,
        }
    }

    /// The default path for its refused lines.
    pub(super) fn refused_path(&self, path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(if self.delimiter().is_some() { ".refused.csv" } else { ".refused.jsonl" });
        PathBuf::from(name)
    }

    /// The next record; blank lines are skipped.
    pub(super) fn next(&mut self) -> Result<Option<ImportRecord>, CommandError> {
        match self.first.take() {
            Some(entry) => Ok(Some(entry)),
            None => self.read(),
        }
    }

    fn read(&mut self) -> Result<Option<ImportRecord>, CommandError> {
        match &mut self.form {
            FileFormat::Csv { reader, lines, is_escaped, .. } => {
                read_csv(reader, lines, &self.names, *is_escaped)
            }
            FileFormat::Json { reader, line, position } => read_json(reader, line, position),
        }
    }
}

/// The most frequent of the possible delimiters.
fn delimiter(head: &[u8]) -> u8 {
    let count = |wanted: u8| head.iter().filter(|byte| **byte == wanted).count();
    let [comma, semicolon, tab] = [b',', b';', b'\t'].map(count);
    if semicolon > comma && semicolon >= tab {
        b';'
    } else if tab > comma {
        b'\t'
    } else {
        b','
    }
}

/// Finds the line on which a record of CSV begins. The reader reports the end of the previous
/// record; the blank lines between them, and the second character of a line end, are read from the
/// file.
struct LineFinder {
    file: File,
    /// Where the reader began.
    offset: u64,
}

impl LineFinder {
    fn of(&mut self, position: &csv::Position) -> std::io::Result<u64> {
        let mut line = position.line();
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

fn read_csv(
    reader: &mut csv::Reader<BufReader<File>>,
    lines: &mut LineFinder,
    names: &[String],
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
    let body = csv_body(&raw, names);
    Ok(Some(ImportRecord { line, end: reader.position().byte(), body, raw: Raw::Csv(raw) }))
}

fn csv_body(raw: &ByteRecord, names: &[String]) -> Result<Map<String, Value>, String> {
    if raw.len() != names.len() {
        return Err(format!("has {} cells in {} columns", raw.len(), names.len()));
    }
    let cells: Result<Vec<&str>, _> = raw.iter().map(str::from_utf8).collect();
    let cells = cells.map_err(|_| "is not UTF-8".to_owned())?;
    Ok(record::body(names.iter().map(String::as_str).zip(cells)))
}

fn read_json(
    reader: &mut BufReader<File>,
    line: &mut u64,
    position: &mut u64,
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
            true => json_body(text),
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

fn json_body(text: &[u8]) -> Result<Map<String, Value>, String> {
    match json::read(text).map(Value::from) {
        Ok(Value::Object(mut body)) => {
            body.retain(|name, _| !record::is_remark(name));
            Ok(body)
        }
        Ok(_) => Err("is not a JSON object".to_owned()),
        Err(fault) => Err(format!("is not JSON (column {})", fault.column)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A record: its line, and its body.
    type Read = (u64, Result<Value, String>);

    fn read(content: &[u8]) -> (Vec<String>, Vec<Read>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        std::fs::write(&path, content).expect("written");
        let mut source = ImportFile::open(&path).expect("readable");
        let names = source.names().map(str::to_owned).collect();
        let mut entries = Vec::new();
        let mut end = 0;
        while let Some(entry) = source.next().expect("readable") {
            assert!(entry.end > end);
            end = entry.end;
            entries.push((entry.line, entry.body.map(Value::Object)));
        }
        (names, entries)
    }

    #[test]
    fn csv_may_have_a_byte_order_mark_and_any_usual_delimiter() {
        for (delimiter, bom) in [(",", ""), (";", "\u{feff}"), ("\t", "")] {
            let text = format!("{bom}phone;name\r\n1;\"A, b\r\nc\"\r\n\r\n2;B\r\n")
                .replace(';', delimiter);
            let (names, entries) = read(text.as_bytes());
            assert_eq!(names, ["phone", "name"]);
            let expected = [
                (2, Ok(json!({"phone": "1", "name": "A, b\r\nc"}))),
                (5, Ok(json!({"phone": "2", "name": "B"}))),
            ];
            assert_eq!(entries, expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// R175.
        #[test]
        fn refused_lines_are_read_as_they_were_however_often(
            cells in vec("['=+@\t\r-]{0,2}[a-z,;\" \n]{0,4}", 2),
        ) {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let mut path = folder.path().join("file.csv");
            let mut writer = csv::Writer::from_path(&path).expect("written");
            writer.write_record(["=a", "b"]).expect("written");
            writer.write_record(&cells).expect("written");
            writer.flush().expect("written");
            for _ in 0..3 {
                let mut source = ImportFile::open(&path).expect("readable");
                let entry = source.next().expect("readable").expect("a record");
                let Raw::Csv(raw) = &entry.raw else { panic!("cells") };
                let read: Vec<&[u8]> = raw.iter().take(2).collect();
                prop_assert_eq!(read, cells.iter().map(String::as_bytes).collect::<Vec<_>>());
                prop_assert_eq!(source.names().next(), Some("=a"));
                let next = source.refused_path(&path);
                let mut refused = refused::RefusedLines::new(next.clone(), &source);
                refused.add(&entry, "=reason").expect("written");
                path = refused.finish().expect("written").expect("a file");
                let text = std::fs::read_to_string(&next).expect("readable");
                prop_assert!(text.starts_with("'=a,b,_line,_reason"), "{}", text);
                prop_assert!(text.contains(",'=reason"), "{}", text);
            }
        }
    }

    /// R175.
    #[test]
    fn a_file_that_is_not_of_refused_lines_is_read_as_it_is() {
        let (_, entries) = read(b"name\n'=1\n");
        assert_eq!(entries, [(2, Ok(json!({"name": "'=1"})))]);
    }

    #[test]
    fn a_line_that_cannot_be_read_does_not_lose_the_others() {
        let (_, entries) = read(b"phone,name\n1,2,3\n\xff,x\n4,D\n");
        assert_eq!(entries[0], (2, Err("has 3 cells in 2 columns".to_owned())));
        assert_eq!(entries[1], (3, Err("is not UTF-8".to_owned())));
        assert_eq!(entries[2], (4, Ok(json!({"phone": "4", "name": "D"}))));

        let long = format!("{{\"name\": \"{}\"}}", "x".repeat(2 * MAX_LINE as usize));
        let text = format!("{{\"phone\": \"1\", \"_line\": 7}}\n\n[1]\n{{\n{long}\n{{}}");
        let (names, entries) = read(text.as_bytes());
        assert_eq!(names, ["phone"]);
        assert_eq!(entries[0], (1, Ok(json!({"phone": "1"}))));
        assert_eq!(entries[1], (3, Err("is not a JSON object".to_owned())));
        assert!(entries[2].1.as_ref().is_err_and(|reason| reason.starts_with("is not JSON")));
        assert!(entries[3].1.as_ref().is_err_and(|reason| reason.contains("longer")));
        assert_eq!(entries[4], (6, Ok(json!({}))));
    }

    #[test]
    fn the_forms_of_one_phone_have_one_key() {
        let keys = |phone: &str| {
            let body = json!({"phone": phone}).as_object().cloned().expect("an object");
            ImportRecord { line: 1, end: 1, body: Ok(body), raw: Raw::Json(Vec::new()) }.keys()
        };
        assert_eq!(keys("+55 (11) 98765-4321"), keys("551187654321"));
        assert_ne!(keys("11987654321"), keys("11987654322"));
    }
}
