//! Reading a file of CSV or JSON Lines line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder};
use recado_core::imports::formula::{is_of_escaped, unescaped};
use recado_core::imports::{delimiter, last_digits, person_keys};
use serde_json::{Map, Value};

use super::ImportKind;
use super::columns::{self, ColumnMap};
use super::csv_lines::{LineFinder, read_csv};
use super::encoding::{Decoded, Encoding};
use super::json_lines::read_json;
use crate::commands::CommandError;

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
    pub(super) fn chain(&self) -> Option<String> {
        let body = self.body.as_ref().ok()?;
        match body.get("contact_id").and_then(Value::as_str) {
            Some(id) => Some(id.to_owned()),
            None => body.get("phone").and_then(Value::as_str).map(last_digits),
        }
    }

    /// What two lines must not share to be imported at the same time, as it is written: of a
    /// contact what identifies the person, of a message what identifies it.
    pub(super) fn keys(&self, kind: ImportKind) -> Vec<String> {
        let Ok(body) = &self.body else { return Vec::new() };
        match kind {
            ImportKind::Contacts => person_keys(body),
            ImportKind::Messages => {
                let texts = ["wamid", "external_id"].into_iter().filter_map(|name| {
                    let text = body.get(name)?.as_str()?.trim().to_lowercase();
                    Some(format!("{name} {text}"))
                });
                texts.collect()
            }
        }
    }
}

/// An open file.
pub(super) struct ImportFile {
    /// Where its text is, in UTF-8.
    _decoded: Decoded,
    form: FileFormat,
    size: u64,
    names: Vec<String>,
    /// The field of each column; of JSON, nothing.
    fields: Vec<Option<String>>,
    map: Option<ColumnMap>,
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
    /// Opens a file and determines its format, as far as the options leave it open.
    pub(super) fn open(
        path: &Path,
        encoding: Option<Encoding>,
        delimiter: Option<u8>,
        map: Option<ColumnMap>,
    ) -> Result<Self, CommandError> {
        let fail = |error: std::io::Error| failure(path, &error);
        let decoded = Decoded::open(path, encoding).map_err(fail)?;
        let mut file = BufReader::new(File::open(decoded.path()).map_err(fail)?);
        let size = file.get_ref().metadata().map_err(fail)?.len();
        let mut skipped = 0;
        if file.fill_buf().map_err(fail)?.starts_with(BOM) {
            file.consume(BOM.len());
            skipped = BOM.len() as u64;
        }
        let begin = file.fill_buf().map_err(fail)?;
        let is_json = begin.trim_ascii_start().first() == Some(&b'{');
        let named = delimiter::named(begin).filter(|_| !is_json);
        skipped += named.map_or(0, |(_, length)| length as u64);
        let delimiter = delimiter
            .or(named.map(|(delimiter, _)| delimiter))
            .unwrap_or_else(|| delimiter::most_frequent(begin));
        file.seek(SeekFrom::Start(skipped)).map_err(fail)?;
        let mut source = if is_json {
            let form = FileFormat::Json { reader: file, line: 0, position: skipped };
            let (names, fields) = (Vec::new(), Vec::new());
            Self { _decoded: decoded, form, size, names, fields, map, first: None }
        } else {
            let own = File::open(decoded.path()).map_err(fail)?;
            let first = if named.is_some() { 1 } else { 0 };
            let lines = LineFinder { file: own, offset: skipped, first };
            let mut reader =
                ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(file);
            let names = reader.headers().map_err(|error| failure(path, &error))?;
            let mut names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
            let is_escaped = is_of_escaped(&names);
            if is_escaped {
                for name in &mut names {
                    let meant = unescaped(name.as_bytes()).len();
                    *name = name.split_off(name.len() - meant);
                }
            }
            if names.iter().all(String::is_empty) {
                return Err(CommandError::Usage(format!(
                    "{}: has no column names",
                    path.display()
                )));
            }
            let form = FileFormat::Csv { reader, delimiter, lines, is_escaped };
            let fields = names.iter().cloned().map(Some).collect();
            Self { _decoded: decoded, form, size, names, fields, map, first: None }
        };
        if is_json {
            source.first = source.read()?;
            if let Some(ImportRecord { body: Ok(body), .. }) = &source.first {
                source.names = body.keys().cloned().collect();
            }
        }
        Ok(source)
    }

    /// Decides which column is which field of a file of this kind; what the columns of a CSV file
    /// are is checked.
    ///
    /// # Errors
    ///
    /// What makes that no row can be read.
    ///
    /// R287.
    pub(super) fn name_columns(&mut self, kind: ImportKind) -> Result<&[Option<String>], String> {
        if self.delimiter().is_some() {
            self.fields = columns::fields_of(&self.names, self.map.as_ref(), kind)?;
        }
        Ok(&self.fields)
    }

    /// The names of the fields that its columns or keys stand for, before the kind is known.
    pub(super) fn field_names(&self) -> impl Iterator<Item = &str> {
        let mapped = |name| self.map.as_ref().and_then(|map| map.field_of(name)).unwrap_or(name);
        self.names.iter().map(String::as_str).map(mapped)
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
                read_csv(reader, lines, &self.fields, *is_escaped)
            }
            FileFormat::Json { reader, line, position } => {
                read_json(reader, line, position, self.map.as_ref())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::json_lines::{MAX_LINE, json_body};
    use super::super::refused;
    use super::*;

    fn open(path: &Path) -> ImportFile {
        ImportFile::open(path, Some(Encoding::Utf8), None, None).expect("readable")
    }

    /// A record: its line, and its body.
    type Read = (u64, Result<Value, String>);

    fn read(content: &[u8]) -> (Vec<String>, Vec<Read>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        std::fs::write(&path, content).expect("written");
        let mut source = open(&path);
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
                let mut source = open(&path);
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

    /// R287.
    #[test]
    fn a_line_that_names_the_delimiter_counts_as_a_line() {
        let (names, entries) = read(b"sep=;\r\nphone;name\r\n1;A\r\n");
        assert_eq!(names, ["phone", "name"]);
        assert_eq!(entries, [(3, Ok(json!({"phone": "1", "name": "A"})))]);
    }

    /// R287.
    #[test]
    fn a_map_names_the_keys_of_json_too() {
        let map = ColumnMap::read(&["Fone=phone".to_owned()], None).expect("a map");
        let body =
            json_body(br#"{"fone": "1", "first_name": "A", "last_name": "B"}"#, map.as_ref());
        assert_eq!(body.map(Value::Object), Ok(json!({"phone": "1", "name": "A B"})));
    }

    #[test]
    fn the_forms_of_one_phone_have_one_key() {
        let keys = |phone: &str| {
            let body = json!({"phone": phone}).as_object().cloned().expect("an object");
            let raw = Raw::Json(Vec::new());
            ImportRecord { line: 1, end: 1, body: Ok(body), raw }.keys(ImportKind::Contacts)
        };
        assert_eq!(keys("+55 (11) 98765-4321"), keys("551187654321"));
        assert_ne!(keys("11987654321"), keys("11987654322"));
    }
}
