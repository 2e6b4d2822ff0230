//! Writes and reads the sealed columns of a record; the other columns pass unchanged.

use std::borrow::Cow;

use recado_core::match_kind;
use recado_core::store::RowKind;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::cell::{CellReader, CellWriter};
use crate::record::{Layout, SealedColumn, TableDef};
use crate::sealing::{OpenError, Place, Sealer};

/// All sealed columns, with their tables.
pub fn sealed_columns() -> impl Iterator<Item = (TableDef, SealedColumn)> {
    let tables = RowKind::ALL.iter().map(|kind| match_kind!(*kind, T => T::TABLE));
    tables.flat_map(|table| table.sealed.iter().map(move |column| (table, *column)))
}

/// Which column of a row comes next, and the key of the row.
struct Row<'s> {
    table: TableDef,
    sealer: &'s Sealer,
    at: usize,
    key: Vec<Vec<u8>>,
}

impl<'s> Row<'s> {
    const fn new(table: TableDef, sealer: &'s Sealer) -> Self {
        Self { table, sealer, at: 0, key: Vec::new() }
    }

    /// Goes on to the next column; the place of this one if it is sealed.
    fn next(&mut self) -> Option<Place> {
        let column = self.table.columns.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        let is_sealed = self.table.sealed.iter().any(|sealed| sealed.name == column);
        is_sealed.then(|| Place::new(self.table.name, column, &self.key))
    }

    /// The value of the column that came last, if that is part of the key.
    fn note(&mut self, value: &[u8]) {
        if self.at <= self.table.key {
            self.key.push(value.to_vec());
        }
    }
}

/// Seals what is written to sealed columns.
pub(crate) struct SealingWriter<'w, 's, W> {
    inner: &'w mut W,
    row: Row<'s>,
}

impl<'w, 's, W> SealingWriter<'w, 's, W> {
    pub(crate) const fn new(inner: &'w mut W, table: TableDef, sealer: &'s Sealer) -> Self {
        Self { inner, row: Row::new(table, sealer) }
    }

    /// The stored form of a text; `None` if the text is stored as it is.
    fn sealed(&mut self, text: &str) -> Option<String> {
        let Some(place) = self.row.next() else {
            self.row.note(text.as_bytes());
            return None;
        };
        match self.row.sealer.seal(&place, text.as_bytes()) {
            Cow::Borrowed(_) => None,
            Cow::Owned(stored) => {
                Some(String::from_utf8(stored).expect("the stored form of a text is a text"))
            }
        }
    }
}

impl<'a, W: CellWriter<'a>> CellWriter<'a> for SealingWriter<'_, '_, W> {
    fn null(&mut self) {
        self.row.next();
        self.inner.null();
    }

    fn bool(&mut self, flag: bool) {
        self.row.next();
        self.inner.bool(flag);
    }

    fn int(&mut self, number: i64) {
        self.row.next();
        self.row.note(&number.to_be_bytes());
        self.inner.int(number);
    }

    fn id(&mut self, id: Uuid) {
        self.row.next();
        self.row.note(id.as_bytes());
        self.inner.id(id);
    }

    fn text(&mut self, text: &'a str) {
        match self.sealed(text) {
            Some(stored) => self.inner.owned_text(stored),
            None => self.inner.text(text),
        }
    }

    fn owned_text(&mut self, text: String) {
        let stored = self.sealed(&text);
        self.inner.owned_text(stored.unwrap_or(text));
    }

    fn word(&mut self, word: &'static str) {
        self.row.next();
        self.row.note(word.as_bytes());
        self.inner.word(word);
    }

    fn words(&mut self, words: Vec<&'static str>) {
        self.row.next();
        self.inner.words(words);
    }

    fn bytes(&mut self, bytes: &'a [u8]) {
        let Some(place) = self.row.next() else {
            self.row.note(bytes);
            return self.inner.bytes(bytes);
        };
        match self.row.sealer.seal(&place, bytes) {
            Cow::Borrowed(bytes) => self.inner.bytes(bytes),
            Cow::Owned(stored) => self.inner.owned_bytes(stored),
        }
    }

    fn owned_bytes(&mut self, bytes: Vec<u8>) {
        let Some(place) = self.row.next() else { return self.inner.owned_bytes(bytes) };
        let stored = self.row.sealer.seal(&place, &bytes).into_owned();
        self.inner.owned_bytes(stored);
    }

    fn json(&mut self, text: Cow<'static, str>) {
        match self.sealed(&text) {
            Some(stored) => self.inner.owned_text(stored),
            None => self.inner.json(text),
        }
    }
}

/// Opens what is read from sealed columns.
pub(crate) struct OpeningReader<'r, 's, R> {
    inner: &'r mut R,
    row: Row<'s>,
}

impl<'r, 's, R: CellReader> OpeningReader<'r, 's, R> {
    pub(crate) const fn new(inner: &'r mut R, table: TableDef, sealer: &'s Sealer) -> Self {
        Self { inner, row: Row::new(table, sealer) }
    }

    /// What `read` makes of the text of a sealed column.
    fn opened<T>(
        &mut self,
        place: &Place,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, R::Error> {
        let sealer = self.row.sealer;
        let found = self.inner.text(|stored| Some(open_text(sealer, place, stored, read)))?;
        self.value(found)
    }

    fn value<T>(&self, found: Option<Result<Option<T>, OpenError>>) -> Result<Option<T>, R::Error> {
        match found {
            None => Ok(None),
            Some(Ok(Some(value))) => Ok(Some(value)),
            Some(Ok(None)) => Err(self.inner.unreadable::<T>()),
            Some(Err(error)) => Err(self.inner.unopened(error)),
        }
    }
}

fn open_text<T>(
    sealer: &Sealer,
    place: &Place,
    stored: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, OpenError> {
    let value = sealer.open(place, stored.as_bytes())?;
    Ok(std::str::from_utf8(&value).ok().and_then(read))
}

impl<R: CellReader> CellReader for OpeningReader<'_, '_, R> {
    type Error = R::Error;

    fn bool(&mut self) -> Result<Option<bool>, R::Error> {
        self.row.next();
        self.inner.bool()
    }

    fn int(&mut self) -> Result<Option<i64>, R::Error> {
        self.row.next();
        let number = self.inner.int()?;
        self.row.note(&number.unwrap_or_default().to_be_bytes());
        Ok(number)
    }

    fn id(&mut self) -> Result<Option<Uuid>, R::Error> {
        self.row.next();
        let id = self.inner.id()?;
        self.row.note(id.unwrap_or_default().as_bytes());
        Ok(id)
    }

    fn text<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, R::Error> {
        match self.row.next() {
            Some(place) => self.opened(&place, read),
            None => {
                let row = &mut self.row;
                self.inner.text(|text| {
                    row.note(text.as_bytes());
                    read(text)
                })
            }
        }
    }

    fn words<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<Option<Vec<T>>, R::Error> {
        self.row.next();
        self.inner.words(parse)
    }

    fn bytes<T>(&mut self, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<Option<T>, R::Error> {
        let Some(place) = self.row.next() else {
            let row = &mut self.row;
            return self.inner.bytes(|bytes| {
                row.note(bytes);
                read(bytes)
            });
        };
        let sealer = self.row.sealer;
        let opened = |stored: &[u8]| sealer.open(&place, stored).map(|value| read(&value));
        let found = self.inner.bytes(|stored| Some(opened(stored)))?;
        self.value(found)
    }

    fn json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, R::Error> {
        match self.row.next() {
            Some(place) => self.opened(&place, |text| serde_json::from_str(text).ok()),
            None => self.inner.json(),
        }
    }

    fn unreadable<T>(&self) -> R::Error {
        self.inner.unreadable::<T>()
    }

    fn unopened(&self, error: OpenError) -> R::Error {
        self.inner.unopened(error)
    }
}

/// Whether all sealed columns are among the columns, and none is part of the key.
pub(crate) const fn are_columns(columns: &[&str], key: usize, sealed: &[SealedColumn]) -> bool {
    let mut at = 0;
    while at < sealed.len() {
        let (mut column, mut found) = (key, false);
        while column < columns.len() {
            found |= crate::record::is_same(columns[column], sealed[at].name);
            column += 1;
        }
        if !found {
            return false;
        }
        at += 1;
    }
    true
}
