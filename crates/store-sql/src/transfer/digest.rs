//! A checksum of one row, the same from each database.

use std::borrow::Cow;

use recado_core::match_row;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::moved::Moved;
use crate::cell::CellWriter;
use crate::field::Field;
use crate::record::Layout;

/// The checksum of a row: of every cell, of the version and, of an event, of its position. Secrets
/// count as they are when they are open, because each database seals them anew.
///
/// R258.
pub(crate) fn digest(moved: &Moved) -> [u8; 32] {
    let mut cells = Cells(Sha256::new());
    match moved {
        Moved::Row { row, version, .. } => {
            match_row!(row, record => Layout::write(record, &mut cells));
            cells.number(version.number());
        }
        Moved::Frontier(frontier) => {
            frontier.company.write(&mut cells);
            frontier.created_at.write(&mut cells);
        }
        Moved::Event(event) => {
            cells.number(event.place);
            event.company.write(&mut cells);
            event.id.write(&mut cells);
            event.event_type.write(&mut cells);
            Field::write(&event.contact, &mut cells);
            event.at.write(&mut cells);
            Field::write(&event.data, &mut cells);
        }
    }
    cells.0.finalize().into()
}

/// Hashes cells, each with its type and its length.
struct Cells(Sha256);

impl Cells {
    fn cell(&mut self, kind: u8, bytes: &[u8]) {
        self.0.update([kind]);
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    fn number(&mut self, number: u64) {
        self.cell(b'n', &number.to_be_bytes());
    }
}

impl<'a> CellWriter<'a> for Cells {
    fn null(&mut self) {
        self.cell(b'0', &[]);
    }

    fn bool(&mut self, flag: bool) {
        self.cell(b'b', &[flag.into()]);
    }

    fn int(&mut self, number: i64) {
        self.cell(b'i', &number.to_be_bytes());
    }

    fn id(&mut self, id: Uuid) {
        self.cell(b'u', id.as_bytes());
    }

    fn text(&mut self, text: &'a str) {
        self.cell(b't', text.as_bytes());
    }

    fn owned_text(&mut self, text: String) {
        self.cell(b't', text.as_bytes());
    }

    fn word(&mut self, word: &'static str) {
        self.cell(b'w', word.as_bytes());
    }

    fn words(&mut self, words: Vec<&'static str>) {
        self.cell(b'l', words.join(" ").as_bytes());
    }

    fn bytes(&mut self, bytes: &'a [u8]) {
        self.cell(b'x', bytes);
    }

    fn owned_bytes(&mut self, bytes: Vec<u8>) {
        self.cell(b'x', &bytes);
    }

    fn json(&mut self, text: Cow<'static, str>) {
        self.cell(b'j', with_plain_numbers(&text).as_bytes());
    }
}

/// JSON with each number in one form: `1e2`, `100.0` and `100` are one number, and a database may
/// write it back in another form than it was given.
fn with_plain_numbers(json: &str) -> Cow<'_, str> {
    if !json.bytes().any(|byte| byte.is_ascii_digit()) {
        return json.into();
    }
    let is_of_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let mut plain = String::with_capacity(json.len());
    let (bytes, mut at) = (json.as_bytes(), 0);
    while at < bytes.len() {
        let start = at;
        if bytes[at] == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
            plain.push_str(json.get(start..at).unwrap_or_default());
        } else if bytes[at] == b'-' || bytes[at].is_ascii_digit() {
            while at < bytes.len() && is_of_number(bytes[at]) {
                at += 1;
            }
            plain.push_str(&plain_number(&json[start..at]));
        } else {
            at += 1;
            plain.push(char::from(bytes[start]));
        }
    }
    plain.into()
}

fn plain_number(number: &str) -> Cow<'_, str> {
    let is_integer = number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    match number.parse::<f64>() {
        Ok(0.0) => "0".into(),
        Ok(value) if !is_integer => format!("{value}").into(),
        _ => number.into(),
    }
}

#[cfg(test)]
mod tests {
    use recado_core::Timestamp;
    use recado_core::ids::{CompanyId, TagId};
    use recado_core::store::Version;
    use recado_core::tags::Tag;

    use super::*;

    /// R258.
    #[test]
    fn a_number_of_json_counts_as_the_same_in_each_of_its_forms() {
        for (one, other) in [
            (r#"{"a":1e16}"#, r#"{"a":10000000000000000}"#),
            (r#"[100.0,-0.0]"#, r#"[1e2,0]"#),
            (r#"[1.2345678901234567e19]"#, r#"[12345678901234567000]"#),
            (r#"{"é":0.5}"#, r#"{"é":5e-1}"#),
        ] {
            assert_eq!(with_plain_numbers(one), with_plain_numbers(other), "{one}");
        }
        for same in [r#"{"1e2":"1e2 \" 100.0","e":-7}"#, "null", "9007199254740993"] {
            assert_eq!(with_plain_numbers(same), same);
        }
    }

    /// R258.
    #[test]
    fn each_cell_and_the_version_count() {
        let tag = |name: &str, version| Moved::Row {
            row: Tag {
                company: CompanyId::new(Uuid::from_u128(1)),
                id: TagId::new(Uuid::from_u128(2)),
                name: name.to_owned(),
                color: String::new(),
                created_at: Timestamp::from_millis(3),
            }
            .into(),
            version: Version::new(version),
            place: None,
        };
        assert_eq!(digest(&tag("a", 1)), digest(&tag("a", 1)));
        assert_ne!(digest(&tag("a", 1)), digest(&tag("a", 2)));
        assert_ne!(digest(&tag("a", 1)), digest(&tag("b", 1)));
    }
}
