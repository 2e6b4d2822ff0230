//! JSONPath (RFC 9535) with bounded work.
//!
//! The expressions that map an inbound body to a contact are written by operators and run over what
//! integrators post (section 4.9, D46). Neither is trusted: reading an expression and running it
//! over a document must not panic, exhaust the stack or take long, whatever both hold (D46a).
//!
//! - **Reading** is a descent without backtracking, so its time is linear. Expressions of more than
//!   [`MAX_CHARACTERS`] characters or nested deeper than [`MAX_NESTING`] are refused.
//! - **Running** spends the steps of a [`Budget`] that the expressions of one mapping share, and ends
//!   with [`TooCostly`] when none is left. Steps are counted, not timed: the same expressions over
//!   the same document always end alike. Nodes are found one by one, depth first, which is the order
//!   of the RFC; no list of intermediate nodes is ever held.
//! - **Documents** may be of any depth: the walk and the comparison of values keep their own stacks.
//!   (The parser of JSON refuses more than 128 levels; nothing here relies on it.)
//! - **Regular expressions** of `match()` and `search()` may come from the body. Their length and
//!   the size of what they compile to are limited, and both compiling and matching are paid for.
//!
//! # Why not a library
//!
//! Those at hand do not allow these promises. The parsers of `serde_json_path` and `jsonpath-rust`
//! backtrack: each further level of nested filters or functions doubles the time, so that 500
//! characters never end. The first evaluates segment by segment into lists without a way to stop it;
//! the second keeps the path of each node as text, which for one long key is gigabytes. Both compile
//! whatever regular expression the body brings. Nor do they always agree with the RFC: the second
//! fails cases of its compliance suite, the first finds nothing by `@[-1]` in a comparison.
//! It is an oracle in the tests instead.
//!
//! # What the RFC leaves open
//!
//! - Members of an object are taken in the order that [`serde_json::Map`] gives.
//! - Two integers are compared exactly at any of the sizes an `i128` holds, other numbers as `f64`.
//!   A number beyond an `f64` equals only the same text and is not ordered.
//! - Regular expressions are those of the crate `regex` (a superset of RFC 9485), without `(?`
//!   groups and without a class inside a class. `^` and `$` are anchors. One that is invalid matches
//!   nothing.

mod ast;
mod budget;
mod compare;
mod filter;
mod literal;
mod nodes;
mod parse;
mod pattern;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use budget::{Budget, TooCostly};

use ast::Segment;
use nodes::Nodes;
use parse::Parser;

/// The most characters an expression may have (D46a, R90).
pub const MAX_CHARACTERS: usize = 500;

/// How deep filters, parentheses and functions of an expression may be nested in each other (R90).
pub const MAX_NESTING: usize = 32;

/// A parsed JSONPath expression. Cheap to clone; equal to another of the same text (R103).
#[derive(Clone)]
pub struct JsonPath {
    text: Arc<str>,
    segments: Arc<[Segment]>,
}

impl JsonPath {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// [`JsonPathError`], with a reason for people, if it is too long, too deeply nested, or not a
    /// well-formed and well-typed query of RFC 9535 with the functions defined there.
    pub fn parse(text: &str) -> Result<Self, JsonPathError> {
        if text.chars().nth(MAX_CHARACTERS).is_some() {
            return Err(JsonPathError::TooLong);
        }
        let segments = Parser::new(text).whole()?;
        Ok(Self { text: text.into(), segments: segments.into() })
    }

    /// The expression as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first node of the document that the expression selects, in the order of the RFC. Stops
    /// there: what comes after is not paid for. A number still has its digits
    /// ([`serde_json::Number::as_str`]).
    ///
    /// # Errors
    ///
    /// [`TooCostly`] if the budget does not suffice to find it, or to find that there is none.
    pub fn first<'d>(
        &self,
        document: &'d Value,
        budget: &mut Budget,
    ) -> Result<Option<&'d Value>, TooCostly> {
        self.nodes(document).next(budget)
    }

    /// All nodes of the document that the expression selects, in the order of the RFC.
    ///
    /// # Errors
    ///
    /// [`TooCostly`] if the budget does not suffice to find all.
    pub fn all<'d>(
        &self,
        document: &'d Value,
        budget: &mut Budget,
    ) -> Result<Vec<&'d Value>, TooCostly> {
        let mut nodes = self.nodes(document);
        let mut found = Vec::new();
        while let Some(node) = nodes.next(budget)? {
            found.push(node);
        }
        Ok(found)
    }

    fn nodes<'d>(&self, document: &'d Value) -> Nodes<'_, 'd> {
        Nodes::new(&self.segments, document, document)
    }
}

impl PartialEq for JsonPath {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for JsonPath {}

impl fmt::Debug for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonPath").field(&self.text).finish()
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

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
