//! Forms within the bodies of this folder.

use serde_json::Value;

use crate::form::{Form, Text};

/// An array of 1 to `MAX` entries.
pub(crate) struct Several<T, const MAX: usize>(std::marker::PhantomData<T>);

impl<T: Form<Value = T>, const MAX: usize> Form for Several<T, MAX> {
    type Value = Vec<T>;

    fn read(value: &Value) -> Result<Vec<T>, String> {
        let entries = value.as_array().ok_or("must be an array")?;
        if entries.is_empty() || entries.len() > MAX {
            return Err(format!("must hold 1 to {MAX} entries"));
        }
        let read = |(index, entry): (usize, &Value)| {
            T::read(entry).map_err(|reason| format!("[{index}] {reason}"))
        };
        entries.iter().enumerate().map(read).collect()
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::array(T::schema(), |all| all.min_items(Some(1)).max_items(Some(MAX)))
    }

    #[cfg(feature = "openapi")]
    fn components(all: &mut crate::openapi::Components) {
        T::components(all);
    }
}

/// A text that is not blank, within an array.
pub(crate) struct RequiredText<const MAX: usize>;

impl<const MAX: usize> Form for RequiredText<MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        match Text::<MAX>::read(value)? {
            text if text.is_empty() => Err("must not be blank".to_owned()),
            text => Ok(text),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        Text::<MAX>::schema()
    }
}

/// Reads a body within another one.
macro_rules! nested {
    ($($type:ty),+) => {
        $(
            impl Form for $type {
                type Value = Self;

                fn read(value: &Value) -> Result<Self, String> {
                    let object = value.as_object().ok_or("must be an object")?;
                    Self::parse(object).map_err(|problems| problems.to_string())
                }

                component!();
            }
        )+
    };
}

pub(crate) use nested;
