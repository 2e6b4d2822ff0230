//! Enums that are written as fixed words.

/// Declares an enum whose variants are written as fixed words, with `WORDS`, `as_str` and `parse`.
macro_rules! words {
    (
        $(#[doc = $doc:literal])*
        $name:ident { $($(#[doc = $meaning:literal])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $meaning])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word it is written as.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Reads the word; `None` for any other.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        crate::form::to_json!($name, |word| word.as_str());

        impl crate::form::Form for $name {
            type Value = Self;

            fn read(value: &serde_json::Value) -> Result<Self, String> {
                crate::form::read_word(Self::parse, Self::WORDS)(value)
            }

            crate::form::component!();
        }

        // Not derived: the derive macro does not accept names that another macro passes on.
        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                crate::openapi::words(
                    concat!($($doc, "\n",)*),
                    &[$(($word, concat!($($meaning, "\n",)*))),+],
                )
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;
