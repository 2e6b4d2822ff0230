//! What is wrong with a path.

/// The most characters an expression may have (D46a, R90).
pub const MAX_CHARACTERS: usize = 500;

/// How deep filters, parentheses and functions of an expression may be nested in each other (R90).
pub const MAX_NESTING: usize = 32;

/// Why a text is not accepted as a JSONPath expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonPathError {
    /// It has more than [`MAX_CHARACTERS`] characters.
    #[error("is longer than {MAX_CHARACTERS} characters")]
    TooLong,
    /// It is nested deeper than [`MAX_NESTING`].
    #[error("nests filters, parentheses and functions more than {MAX_NESTING} deep")]
    TooDeep,
    /// It is not a query of RFC 9535.
    #[error("is not JSONPath (RFC 9535): {problem} at character {character}")]
    Invalid {
        /// Where, counted in characters from 1; one past the end if something is missing there.
        character: usize,
        /// What is wrong there.
        problem: &'static str,
    },
}
