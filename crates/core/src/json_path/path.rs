//! A path: parsed once, applied to many values.

use std::fmt;
use std::sync::Arc;

use super::ast::Segment;
use super::nodes::Nodes;
use super::parse::Parser;
use super::{JsonPathError, MAX_CHARACTERS, StepBudget, TooCostly};
use crate::json::Value;

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

    /// The first node of the document that the expression selects, in the order of the RFC. The
    /// evaluation stops there: nodes after it use no steps.
    ///
    /// # Errors
    ///
    /// [`TooCostly`] if the budget does not suffice to find it, or to find that there is none.
    pub fn first<'d>(
        &self,
        document: &'d Value,
        budget: &mut StepBudget,
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
        budget: &mut StepBudget,
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
