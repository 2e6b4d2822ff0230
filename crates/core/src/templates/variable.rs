//! The names of a template's variables (X15).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest word that names a variable.
const MAX_CHARS: usize = 60;

/// What a variable of a template is called: `{{1}}` by its position, or `{{name}}` by a word. A
/// template has one sort of them (X15).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Variable {
    /// A position, from 1 on.
    Position(u32),
    /// A word: letters, digits and `_`, which no digit begins.
    Name(String),
}

impl Variable {
    /// Reads what stands between `{{` and `}}`; `None` if that names no variable (R305).
    pub fn parse(tag: &str) -> Option<Self> {
        let is_word = tag.len() <= MAX_CHARS
            && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && tag.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
        match position(tag) {
            Some(position) => Some(Self::Position(position)),
            None => is_word.then(|| Self::Name(tag.to_owned())),
        }
    }

    /// The word, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Position(_) => None,
            Self::Name(name) => Some(name),
        }
    }

    /// Whether both are positions, or both words.
    pub const fn is_like(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Position(_), Self::Position(_)) | (Self::Name(_), Self::Name(_))
        )
    }
}

/// The position that a tag names: 1 to 999, without a sign or leading zeros.
pub fn position(tag: &str) -> Option<u32> {
    let is_number = (1..=3).contains(&tag.len())
        && tag.bytes().all(|byte| byte.is_ascii_digit())
        && !tag.starts_with('0');
    is_number.then(|| tag.parse().ok()).flatten()
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(position) => position.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl From<Variable> for String {
    fn from(variable: Variable) -> Self {
        variable.to_string()
    }
}

impl TryFrom<String> for Variable {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("names no variable")
    }
}

impl From<u32> for Variable {
    fn from(position: u32) -> Self {
        Self::Position(position)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// R305.
    #[test]
    fn a_variable_is_a_position_or_a_word() {
        assert_eq!(Variable::parse("12"), Some(Variable::Position(12)));
        for word in ["nome", "_x", "Pedido_2", &"a".repeat(60)] {
            assert_eq!(Variable::parse(word), Some(Variable::Name(word.to_owned())), "{word}");
        }
        for none in ["", "0", "01", "1000", "2x", " nome", "a b", "a-b", "a.b", "ação"] {
            assert_eq!(Variable::parse(none), None, "{none:?}");
        }
        assert_eq!(Variable::parse(&"a".repeat(61)), None);
    }

    /// What was stored by position is read as before.
    #[test]
    fn values_are_stored_under_their_names_with_positions_in_order() {
        let stored = r#"{"2":"b","10":"c","nome":"Ana"}"#;
        let read: BTreeMap<Variable, String> = serde_json::from_str(stored).expect("values");
        assert_eq!(serde_json::to_string(&read).expect("JSON"), stored);
        assert!(serde_json::from_str::<BTreeMap<Variable, String>>(r#"{"a b":"x"}"#).is_err());
    }
}
