//! The messages of `pgoutput`, the form in which Postgres tells changes to its own subscribers:
//! version 1 of the protocol, values as text. The form is part of Postgres's documentation
//! ("Logical Replication Message Formats") and stays the same over its versions.

use std::collections::HashMap;

use recado_store_sql::transfer::{ChangedCell, RowChange, RowChangeKind};

/// A message that is not in this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The changes of a transaction follow.
    Begin {
        /// Its number.
        transaction: u32,
    },
    /// A change.
    Change(RowChange),
    /// Something else.
    Other,
}

/// A table of the source, as a message before its first change describes it.
#[derive(Clone, Debug)]
struct Relation {
    table: String,
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    is_key: bool,
}

/// Reads messages one after the other.
#[derive(Debug, Default)]
pub(super) struct Decoder(HashMap<u32, Relation>);

impl Decoder {
    /// What a message says.
    pub(super) fn read(&mut self, message: &[u8]) -> Result<Message, Unreadable> {
        let mut bytes = Bytes(message);
        Ok(match bytes.byte()? {
            b'B' => {
                bytes.take(8 + 8)?;
                Message::Begin { transaction: bytes.number()? }
            }
            b'R' => {
                let id = bytes.number()?;
                self.0.insert(id, bytes.relation()?);
                Message::Other
            }
            b'I' => Message::Change(self.change(RowChangeKind::Insert, &mut bytes)?),
            b'U' => Message::Change(self.change(RowChangeKind::Update, &mut bytes)?),
            b'D' => Message::Change(self.change(RowChangeKind::Delete, &mut bytes)?),
            _ => Message::Other,
        })
    }

    fn change(&self, kind: RowChangeKind, bytes: &mut Bytes<'_>) -> Result<RowChange, Unreadable> {
        let relation = self.0.get(&bytes.number()?).ok_or(Unreadable)?;
        let (mut old, mut new) = (None, None);
        while !bytes.0.is_empty() {
            match bytes.byte()? {
                b'K' | b'O' => old = Some(bytes.row(relation)?),
                b'N' => new = Some(bytes.row(relation)?),
                _ => return Err(Unreadable),
            }
        }
        let of_key = |row: &[(ChangedCell, bool)]| {
            row.iter().filter(|(_, is_key)| *is_key).map(|(cell, _)| cell.clone()).collect()
        };
        let key = of_key(old.as_ref().or(new.as_ref()).ok_or(Unreadable)?);
        let values = new.unwrap_or_default().into_iter().map(|(cell, _)| cell).collect();
        Ok(RowChange { table: relation.table.clone(), kind, key, values })
    }
}

/// What is left of a message.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, left) = self.0.split_at_checked(count).ok_or(Unreadable)?;
        self.0 = left;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Unreadable> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn short(&mut self) -> Result<u16, Unreadable> {
        let bytes = self.take(2)?.try_into().map_err(|_| Unreadable)?;
        Ok(u16::from_be_bytes(bytes))
    }

    fn number(&mut self) -> Result<u32, Unreadable> {
        let bytes = self.take(4)?.try_into().map_err(|_| Unreadable)?;
        Ok(u32::from_be_bytes(bytes))
    }

    /// A text that ends with a zero byte.
    fn name(&mut self) -> Result<String, Unreadable> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or(Unreadable)?;
        let name = self.take(end)?;
        self.take(1)?;
        String::from_utf8(name.to_vec()).map_err(|_| Unreadable)
    }

    fn relation(&mut self) -> Result<Relation, Unreadable> {
        let _schema = self.name()?;
        let table = self.name()?;
        let _identity = self.byte()?;
        let mut columns = Vec::new();
        for _ in 0..self.short()? {
            let is_key = self.byte()? & 1 == 1;
            let name = self.name()?;
            // Its type and the modifier of that.
            self.take(4 + 4)?;
            columns.push(Column { name, is_key });
        }
        Ok(Relation { table, columns })
    }

    /// The values of a row, and whether each is of the key; large ones that stayed are left out.
    fn row(&mut self, relation: &Relation) -> Result<Vec<(ChangedCell, bool)>, Unreadable> {
        if usize::from(self.short()?) != relation.columns.len() {
            return Err(Unreadable);
        }
        let mut row = Vec::with_capacity(relation.columns.len());
        for column in &relation.columns {
            let value = match self.byte()? {
                b'n' => None,
                b'u' => continue,
                b't' => {
                    let length = usize::try_from(self.number()?).map_err(|_| Unreadable)?;
                    let text = self.take(length)?.to_vec();
                    Some(String::from_utf8(text).map_err(|_| Unreadable)?)
                }
                _ => return Err(Unreadable),
            };
            row.push((ChangedCell { column: column.name.clone(), value }, column.is_key));
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table `t` with the key `id` and two other columns.
    const RELATION: &[u8] =
        b"R\0\0\0\x07public\0t\0d\0\x03\x01id\0\0\0\0\x19\0\0\0\0\0a\0\0\0\0\x19\
        \0\0\0\0\0b\0\0\0\0\x19\0\0\0\0";

    fn cell(column: &str, value: Option<&str>) -> ChangedCell {
        ChangedCell { column: column.to_owned(), value: value.map(str::to_owned) }
    }

    fn change(message: &[u8]) -> Result<Message, Unreadable> {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.read(RELATION), Ok(Message::Other));
        decoder.read(message)
    }

    fn expected(kind: RowChangeKind, key: &str, values: Vec<ChangedCell>) -> Message {
        let key = vec![cell("id", Some(key))];
        Message::Change(RowChange { table: "t".to_owned(), kind, key, values })
    }

    /// R461.
    #[test]
    fn a_new_row_is_told_with_all_its_values() {
        let values = vec![cell("id", Some("1")), cell("a", None), cell("b", Some("xy"))];
        assert_eq!(
            change(b"I\0\0\0\x07N\0\x03t\0\0\0\x011nt\0\0\0\x02xy"),
            Ok(expected(RowChangeKind::Insert, "1", values))
        );
    }

    /// R461.
    #[test]
    fn a_large_value_that_stayed_is_left_out_of_a_change() {
        let values = vec![cell("id", Some("1")), cell("b", None)];
        assert_eq!(
            change(b"U\0\0\0\x07N\0\x03t\0\0\0\x011un"),
            Ok(expected(RowChangeKind::Update, "1", values))
        );
    }

    /// R461.
    #[test]
    fn a_row_is_found_by_the_key_that_it_had() {
        let values = vec![cell("id", Some("2")), cell("a", None), cell("b", None)];
        assert_eq!(
            change(b"U\0\0\0\x07K\0\x03t\0\0\0\x011nnN\0\x03t\0\0\0\x012nn"),
            Ok(expected(RowChangeKind::Update, "1", values))
        );
        assert_eq!(
            change(b"D\0\0\0\x07K\0\x03t\0\0\0\x011nn"),
            Ok(expected(RowChangeKind::Delete, "1", Vec::new()))
        );
    }

    /// R461.
    #[test]
    fn a_transaction_is_told_by_its_number() {
        let begin = b"B\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\x01\x00";
        assert_eq!(change(begin), Ok(Message::Begin { transaction: 256 }));
        for other in [&b"C\0"[..], b"O", b"Y\0"] {
            assert_eq!(change(other), Ok(Message::Other));
        }
    }

    /// R461.
    #[test]
    fn what_is_cut_off_or_of_an_unknown_table_is_unreadable() {
        let whole = b"I\0\0\0\x07N\0\x03t\0\0\0\x011nt\0\0\0\x02xy";
        for end in [0, 1, 4, 6, 8, 12, whole.len() - 1] {
            assert_eq!(change(&whole[..end]), Err(Unreadable), "{end}");
        }
        assert_eq!(Decoder::default().read(whole), Err(Unreadable));
        assert_eq!(change(b"I\0\0\0\x07X"), Err(Unreadable));
        assert_eq!(change(b"I\0\0\0\x07N\0\x01n"), Err(Unreadable));
    }
}
