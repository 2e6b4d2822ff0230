//! The forms that fields of JSON bodies have: each says how a value is read and how it is
//! documented, so that the two cannot differ (D8, D9).

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;
use std::marker::PhantomData;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::input::Given;
#[cfg(feature = "openapi")]
use crate::openapi::{self, Components, Property};
use crate::text;

/// How a field of a body is read and documented.
pub trait Form {
    /// What is read.
    type Value;

    /// Reads a value that is neither null nor blank.
    ///
    /// # Errors
    ///
    /// Why it is not acceptable.
    fn read(value: &Value) -> Result<Self::Value, String>;

    /// Whether a value counts as null: a blank text does in most forms (D9).
    fn is_blank(_value: &Value) -> bool {
        false
    }

    /// Its schema, without its description and without whether it may be null.
    #[cfg(feature = "openapi")]
    fn schema() -> Property;

    /// Adds the schemas that [`Form::schema`] refers to.
    #[cfg(feature = "openapi")]
    fn components(_all: &mut Components) {}
}

/// A value as JSON of a body; `None` if the field is left out. Secrets are written in full.
pub trait ToJson {
    /// The JSON.
    fn to_json(&self) -> Option<Value>;
}

/// Implements [`ToJson`] by `$json`.
macro_rules! to_json {
    ([$($generics:tt)*] $type:ty, |$value:ident| $json:expr) => {
        impl<$($generics)*> crate::form::ToJson for $type {
            fn to_json(&self) -> Option<serde_json::Value> {
                let $value = self;
                Some($json.into())
            }
        }
    };
    ($type:ty, |$value:ident| $json:expr) => {
        crate::form::to_json!([] $type, |$value| $json);
    };
}

pub(crate) use to_json;

/// The JSON of a value that is written in a body as it is stored.
pub(crate) fn json_of(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("what is stored as JSON can be written")
}

to_json!(String, |text| text.as_str());
to_json!(bool, |flag| *flag);
to_json!(u32, |number| *number);
to_json!(Timestamp, |at| at.to_string());
to_json!(Map<String, Value>, |entries| entries.clone());
to_json!([T: ToJson] Vec<T>, |items| items.iter().filter_map(T::to_json).collect::<Value>());
to_json!([K: ToString, V: ToJson] BTreeMap<K, V>, |entries| {
    let entry = |(key, value): (&K, &V)| Some((key.to_string(), value.to_json()?));
    entries.iter().filter_map(entry).collect::<Value>()
});

/// An ignored field is left out.
impl ToJson for () {
    fn to_json(&self) -> Option<Value> {
        None
    }
}

impl<T: ToJson> ToJson for Option<T> {
    fn to_json(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_json)
    }
}

impl<T: ToJson> ToJson for Given<T> {
    fn to_json(&self) -> Option<Value> {
        match self {
            Self::Absent => None,
            Self::Cleared => Some(Value::Null),
            Self::Value(value) => value.to_json(),
        }
    }
}

/// The two documenting functions of a form whose schema is a component of its own.
macro_rules! component {
    () => {
        crate::form::component!(Self);
    };
    ($type:ty) => {
        #[cfg(feature = "openapi")]
        fn schema() -> crate::openapi::Property {
            crate::openapi::reference::<$type>()
        }

        #[cfg(feature = "openapi")]
        fn components(all: &mut crate::openapi::Components) {
            crate::openapi::add::<$type>(all);
        }
    };
}

pub(crate) use component;

/// Implements [`Form`] for a body that stands inside another one and becomes `$Part`.
macro_rules! inner {
    ($($Draft:ty => $Part:ty, |$draft:ident| $part:expr;)+) => {$(
        impl crate::form::Form for $Draft {
            type Value = $Part;

            fn read(value: &serde_json::Value) -> Result<$Part, String> {
                let object = value.as_object().ok_or("must be an object")?;
                let $draft = Self::parse(object).map_err(|problems| problems.to_string())?;
                Ok($part)
            }

            crate::form::component!();
        }
    )+};
}

pub(crate) use inner;

/// A type that is read out of a text by a function of its own and written by another, and how the
/// text is documented. With `blank is null` a blank text counts as null.
macro_rules! text_form {
    ($type:ty, $parse:expr, $write:expr, $(blank is $null:ident,)? |$text:ident| $schema:expr) => {
        crate::form::to_json!($type, |value| $write(value));

        impl crate::form::Form for $type {
            type Value = Self;

            fn read(value: &serde_json::Value) -> Result<Self, String> {
                crate::form::read_parsed(value, $parse)
            }

            $(
                fn is_blank(value: &serde_json::Value) -> bool {
                    let $null = value;
                    crate::form::is_blank_text($null)
                }
            )?

            #[cfg(feature = "openapi")]
            fn schema() -> crate::openapi::Property {
                crate::openapi::text(|$text| $schema)
            }
        }
    };
}

pub(crate) use text_form;

/// Whether a value is a text without anything but white space.
pub(crate) fn is_blank_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// A text of at most `MAX` characters, trimmed (D9). A blank one counts as null.
#[derive(Debug)]
pub struct Text<const MAX: usize>;

/// A name for people.
pub type Name = Text<{ text::NAME }>;

/// A short text.
pub type Short = Text<{ text::SHORT }>;

/// Notes on a record.
pub type Observation = Text<{ text::OBSERVATION }>;

impl<const MAX: usize> Form for Text<MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        read_text(value, MAX)
    }

    fn is_blank(value: &Value) -> bool {
        is_blank_text(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::text(|text| text.max_length(Some(MAX)))
    }
}

/// A phone or group code that a message goes to, as [`Short`]. Phones that are copied from address
/// books come with characters that change the direction of writing; they are no names (R174).
#[derive(Debug)]
pub struct Destination;

impl Form for Destination {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        read_parsed(value, |text| text::clean(text, text::SHORT))
    }

    fn is_blank(value: &Value) -> bool {
        is_blank_text(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        Short::schema()
    }
}

impl Form for bool {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        read_bool(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::boolean()
    }
}

impl Form for Timestamp {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        read_timestamp(value)
    }

    component!();
}

/// A whole number from `MIN` to `MAX`.
#[derive(Debug)]
pub struct Number<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> Form for Number<MIN, MAX> {
    type Value = u32;

    fn read(value: &Value) -> Result<u32, String> {
        value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| (MIN..=MAX).contains(number))
            .ok_or_else(|| format!("must be a whole number from {MIN} to {MAX}"))
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::whole_number(MIN, MAX)
    }
}

/// The plural name of a kind of record, for error messages.
pub trait Plural {
    /// The word.
    const PLURAL: &'static str;
}

/// An array of at most `MAX` identifiers; each counts once.
#[derive(Debug)]
pub struct Distinct<T, const MAX: usize>(PhantomData<T>);

impl<T, const MAX: usize> Form for Distinct<T, MAX>
where
    T: Form<Value = T> + Plural + Copy + Eq + Hash,
{
    type Value = Vec<T>;

    fn read(value: &Value) -> Result<Vec<T>, String> {
        let entries = value.as_array().ok_or("must be an array of UUIDs")?;
        if entries.len() > MAX {
            return Err(format!("may name at most {MAX} {}", T::PLURAL));
        }
        let mut seen = HashSet::new();
        let mut ids = Vec::with_capacity(entries.len());
        for entry in entries {
            let id = T::read(entry).map_err(|_| "must be an array of UUIDs")?;
            if seen.insert(id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::array(T::schema(), |array| array.max_items(Some(MAX)))
    }

    #[cfg(feature = "openapi")]
    fn components(all: &mut Components) {
        T::components(all);
    }
}

/// An object whose entries are read elsewhere.
#[derive(Debug)]
pub struct Entries;

impl Form for Entries {
    type Value = Map<String, Value>;

    fn read(value: &Value) -> Result<Map<String, Value>, String> {
        value.as_object().cloned().ok_or_else(|| "must be an object".to_owned())
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::any_object()
    }
}

/// Reads a string, trimmed and within its limit (D9). Those as short as a name must not change the
/// direction of writing (R174).
///
/// # Errors
///
/// Why it is not acceptable.
pub fn read_text(value: &Value, max_chars: usize) -> Result<String, String> {
    let text = value.as_str().ok_or("must be a string")?;
    let read = if max_chars <= text::NAME { text::name } else { text::clean };
    read(text, max_chars).map_err(|error| error.to_string())
}

/// Reads a text by `parse`.
///
/// # Errors
///
/// Why it is not acceptable.
pub fn read_parsed<T, E: std::fmt::Display>(
    value: &Value,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, String> {
    parse(value.as_str().ok_or("must be a string")?).map_err(|error| error.to_string())
}

/// Reads a boolean.
///
/// # Errors
///
/// Why it is not acceptable.
pub fn read_bool(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "must be true or false".to_owned())
}

/// Reads a timestamp in ISO 8601 with an offset.
///
/// # Errors
///
/// Why it is not acceptable.
pub fn read_timestamp(value: &Value) -> Result<Timestamp, String> {
    value
        .as_str()
        .and_then(Timestamp::parse)
        .ok_or_else(|| "must be a timestamp such as 2026-11-20T17:31:36.123Z".to_owned())
}

/// Reads an identifier by `parse`.
pub fn read_id<T>(parse: fn(&str) -> Option<T>) -> impl FnOnce(&Value) -> Result<T, String> {
    move |value| value.as_str().and_then(parse).ok_or_else(|| "must be a UUID".to_owned())
}

/// Reads one of a fixed set of words.
pub fn read_word<T>(
    parse: fn(&str) -> Option<T>,
    words: &'static [&'static str],
) -> impl FnOnce(&Value) -> Result<T, String> {
    move |value| {
        value.as_str().and_then(parse).ok_or_else(|| format!("must be one of {}", words.join(", ")))
    }
}
