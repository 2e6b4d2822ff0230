//! Which types are kept in one column, and which in several.

use recado_core::Timestamp;
use serde_json::Value;

use crate::cell::{CellReader, CellWriter, signed};

/// A type that is kept in one column. Its values are never null; an `Option` of it may be.
pub trait Column: Sized {
    /// Writes the cell.
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W);

    /// Reads the cell; `None` is null.
    fn read_or_null<R: CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error>;
}

/// The type of a field of a record, kept in one column or in several that follow each other.
pub trait Field: Sized {
    /// The number of columns.
    const WIDTH: usize;

    /// Writes the cells.
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W);

    /// Reads the cells back.
    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error>;
}

impl<T: Column> Field for T {
    const WIDTH: usize = 1;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        Column::write(self, writer);
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        T::read_or_null(reader)?.ok_or_else(|| reader.unreadable::<T>())
    }
}

impl<T: Column> Field for Option<T> {
    const WIDTH: usize = 1;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        write_or_null(self.as_ref(), writer);
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        T::read_or_null(reader)
    }
}

/// Two fields side by side.
impl<A: Field, B: Field> Field for (A, B) {
    const WIDTH: usize = A::WIDTH + B::WIDTH;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        self.0.write(writer);
        self.1.write(writer);
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        Ok((A::read(reader)?, B::read(reader)?))
    }
}

/// Writes the cell of an optional value.
pub(crate) fn write_or_null<'a, T: Column, W: CellWriter<'a>>(
    value: Option<&'a T>,
    writer: &mut W,
) {
    match value {
        Some(value) => value.write(writer),
        None => writer.null(),
    }
}

/// The JSON of a value.
pub(crate) fn json_of(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("records hold nothing that JSON cannot write")
}

/// Implements [`Column`] for types that are kept as numbers: how to make the number, and how to
/// read it back.
macro_rules! numbers {
    ($($Type:ty: $write:expr, $read:expr;)+) => {$(
        impl $crate::field::Column for $Type {
            fn write<'a, W: $crate::CellWriter<'a>>(&'a self, writer: &mut W) {
                let number: fn($Type) -> i64 = $write;
                writer.int(number(*self));
            }

            fn read_or_null<R: $crate::CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
                let read: fn(i64) -> Option<Self> = $read;
                let Some(number) = reader.int()? else { return Ok(None) };
                read(number).map(Some).ok_or_else(|| reader.unreadable::<Self>())
            }
        }
    )+};
}
pub(crate) use numbers;

/// Implements [`Column`] for enums that are kept as their words.
macro_rules! words {
    ($($Word:ty),+ $(,)?) => {$(
        impl $crate::field::Column for $Word {
            fn write<'a, W: $crate::CellWriter<'a>>(&'a self, writer: &mut W) {
                writer.word((*self).as_str());
            }

            fn read_or_null<R: $crate::CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
                reader.text(Self::parse)
            }
        }
    )+};
}
pub(crate) use words;

/// Implements [`Column`] for types that are kept as texts: the text of a value, and the value of a
/// text.
macro_rules! texts {
    ($($Text:ty: $write:expr, $read:expr;)+) => {$(
        impl $crate::field::Column for $Text {
            fn write<'a, W: $crate::CellWriter<'a>>(&'a self, writer: &mut W) {
                let text: fn(&$Text) -> &str = $write;
                writer.text(text(self));
            }

            fn read_or_null<R: $crate::CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
                let read: fn(&str) -> Option<Self> = $read;
                reader.text(read)
            }
        }
    )+};
}
pub(crate) use texts;

/// Implements [`Column`] for types that are kept as bytes: the bytes of a value, and the value of
/// bytes.
macro_rules! bytes {
    ($($Bytes:ty: $write:expr, $read:expr;)+) => {$(
        impl $crate::field::Column for $Bytes {
            fn write<'a, W: $crate::CellWriter<'a>>(&'a self, writer: &mut W) {
                let bytes: fn(&$Bytes) -> &[u8] = $write;
                writer.bytes(bytes(self));
            }

            fn read_or_null<R: $crate::CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
                let read: fn(&[u8]) -> Option<Self> = $read;
                reader.bytes(read)
            }
        }
    )+};
}
pub(crate) use bytes;

/// Implements [`Column`] for keyed hashes that are kept as texts, in columns that held the secrets
/// themselves (R224).
macro_rules! hash_texts {
    ($($Hash:ty),+ $(,)?) => {$(
        impl $crate::field::Column for $Hash {
            fn write<'a, W: $crate::CellWriter<'a>>(&'a self, writer: &mut W) {
                writer.owned_text(self.to_text());
            }

            fn read_or_null<R: $crate::CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
                reader.text(Self::from_text)
            }
        }
    )+};
}
pub(crate) use hash_texts;

/// Implements [`Column`] for types that are kept as JSON.
macro_rules! json {
    ($($Json:ty),+ $(,)?) => {$(
        impl $crate::field::Column for $Json {
            fn write<'a, W: $crate::CellWriter<'a>>(&'a self, writer: &mut W) {
                writer.json($crate::field::json_of(self).into());
            }

            fn read_or_null<R: $crate::CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
                reader.json()
            }
        }
    )+};
}
pub(crate) use json;

macro_rules! ids {
    ($($(#[$doc:meta])* $Id:ident;)+) => {$(
        impl Column for recado_core::ids::$Id {
            fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
                writer.id(self.uuid());
            }

            fn read_or_null<R: CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
                Ok(reader.id()?.map(Self::new))
            }
        }
    )+};
}
recado_core::for_each_id!(ids);

impl Column for uuid::Uuid {
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        writer.id(*self);
    }

    fn read_or_null<R: CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
        reader.id()
    }
}

impl Column for bool {
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        writer.bool(*self);
    }

    fn read_or_null<R: CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
        reader.bool()
    }
}

numbers! {
    i64: |number| number, Some;
    u64: signed, |number| number.try_into().ok();
    u32: i64::from, |number| number.try_into().ok();
    u8: i64::from, |number| number.try_into().ok();
    Timestamp: Timestamp::millis, |millis| Some(Timestamp::from_millis(millis));
}

texts! {
    String: |text| text, |text| Some(text.to_owned());
}

bytes! {
    [u8; 16]: |bytes| bytes, |bytes| bytes.try_into().ok();
    [u8; 32]: |bytes| bytes, |bytes| bytes.try_into().ok();
}

json! { Value }
