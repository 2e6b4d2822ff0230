//! How single cells are written and read: what a dialect supplies.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use uuid::Uuid;

/// Takes the cells of a record, one after the other. `'a` is how long the record lives: what
/// borrows from it need not be copied.
pub trait CellWriter<'a> {
    /// Nothing.
    fn null(&mut self);

    /// A truth value.
    fn bool(&mut self, flag: bool);

    /// A number.
    fn int(&mut self, number: i64);

    /// An identifier.
    fn id(&mut self, id: Uuid);

    /// A text of the record.
    fn text(&mut self, text: &'a str);

    /// A text that is made for the cell.
    fn owned_text(&mut self, text: String);

    /// One of a set of words.
    fn word(&mut self, word: &'static str);

    /// Several words.
    fn words(&mut self, words: Vec<&'static str>);

    /// Bytes of the record.
    fn bytes(&mut self, bytes: &'a [u8]);

    /// A text that is JSON.
    fn json(&mut self, text: Cow<'static, str>);
}

/// Gives the cells of a record, one after the other; `None` is null.
///
/// Where a cell holds what its type does not know, `read` answers `None` and the reader fails.
pub trait CellReader {
    /// Why a cell could not be read.
    type Error;

    /// A truth value.
    fn bool(&mut self) -> Result<Option<bool>, Self::Error>;

    /// A number.
    fn int(&mut self) -> Result<Option<i64>, Self::Error>;

    /// An identifier.
    fn id(&mut self) -> Result<Option<Uuid>, Self::Error>;

    /// A text.
    fn text<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, Self::Error>;

    /// Several words.
    fn words<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<Option<Vec<T>>, Self::Error>;

    /// Bytes.
    fn bytes<T>(&mut self, read: impl FnOnce(&[u8]) -> Option<T>)
    -> Result<Option<T>, Self::Error>;

    /// JSON of a type.
    fn json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Self::Error>;

    /// The error of a cell just read, or of several, that make no `T`.
    fn unreadable<T>(&self) -> Self::Error;
}

/// A number as databases keep it; one that is too large stays at the end.
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
