//! How single cells are written and read. Each dialect implements these traits.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::sealing::OpenError;

/// Takes the cells of a record, one after the other. `'a` is the lifetime of the record: a value
/// that is borrowed from it is not copied.
pub trait CellWriter<'a> {
    /// Writes null.
    fn null(&mut self);

    /// Writes a boolean.
    fn bool(&mut self, flag: bool);

    /// Writes a number.
    fn int(&mut self, number: i64);

    /// Writes an identifier.
    fn id(&mut self, id: Uuid);

    /// Writes a text that is borrowed from the record.
    fn text(&mut self, text: &'a str);

    /// Writes a text that was made for the cell.
    fn owned_text(&mut self, text: String);

    /// Writes the stored word of an enum.
    fn word(&mut self, word: &'static str);

    /// Writes the stored words of several enum values.
    fn words(&mut self, words: Vec<&'static str>);

    /// Writes bytes that are borrowed from the record.
    fn bytes(&mut self, bytes: &'a [u8]);

    /// Writes bytes that were made for the cell.
    fn owned_bytes(&mut self, bytes: Vec<u8>);

    /// Writes a text that is JSON.
    fn json(&mut self, text: Cow<'static, str>);
}

/// Gives the cells of a record, one after the other; `None` is null.
///
/// `read` and `parse` answer `None` for a cell that is no value of the type; the reader then fails.
pub trait CellReader {
    /// Why a cell could not be read.
    type Error;

    /// Reads a boolean.
    fn bool(&mut self) -> Result<Option<bool>, Self::Error>;

    /// Reads a number.
    fn int(&mut self) -> Result<Option<i64>, Self::Error>;

    /// Reads an identifier.
    fn id(&mut self) -> Result<Option<Uuid>, Self::Error>;

    /// Reads a text.
    fn text<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, Self::Error>;

    /// Reads several words.
    fn words<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<Option<Vec<T>>, Self::Error>;

    /// Reads bytes.
    fn bytes<T>(&mut self, read: impl FnOnce(&[u8]) -> Option<T>)
    -> Result<Option<T>, Self::Error>;

    /// Reads JSON of a type.
    fn json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Self::Error>;

    /// The error for a cell, or several cells, just read that are no value of `T`.
    fn unreadable<T>(&self) -> Self::Error;

    /// The error for a sealed cell, just read, that cannot be opened.
    fn unopened(&self, error: OpenError) -> Self::Error;
}

/// A number as databases keep it: signed. A number that is too large becomes the largest one.
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
