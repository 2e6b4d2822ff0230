//! What a parsed expression consists of.

use crate::json::Value;

/// A query inside a filter.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) origin: PathRoot,
    pub(super) segments: Vec<Segment>,
}

/// Where a query inside a filter starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathRoot {
    /// `$`: the document.
    Root,
    /// `@`: the node that is tested.
    Current,
}

/// One step from a node to those below it.
#[derive(Debug)]
pub(super) struct Segment {
    /// `..`: the selectors are applied to the node and everything below it.
    pub(super) descendant: bool,
    pub(super) selectors: Vec<Selector>,
}

/// Which of a node's children are selected.
#[derive(Debug)]
pub(super) enum Selector {
    Name(String),
    Wildcard,
    Index(i64),
    Slice(Slice),
    Filter(Test),
}

/// `start:end:step`
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) step: i64,
}

/// A condition that a filter tests on a node.
#[derive(Debug)]
pub(super) enum Test {
    Any(Vec<Test>),
    All(Vec<Test>),
    Not(Box<Test>),
    Exists(Query),
    Compare { left: Operand, relation: Relation, right: Operand },
    Matches { text: Operand, pattern: Operand, extent: Extent },
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// How much of a text a regular expression has to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it: `match()`.
    Whole,
    /// Some part of it: `search()`.
    Part,
}

/// An operand of a comparison: it yields one value, or nothing.
#[derive(Debug)]
pub(super) enum Operand {
    Literal(Value),
    /// A query that selects one node at most: each segment has one name or one index.
    Singular(Query),
    Length(Box<Operand>),
    Count(Query),
    Value(Query),
}

impl Query {
    /// Whether it selects one node at most by its form.
    pub(super) fn is_singular(&self) -> bool {
        self.segments.iter().all(|segment| {
            !segment.descendant
                && matches!(segment.selectors[..], [Selector::Name(_) | Selector::Index(_)])
        })
    }
}
