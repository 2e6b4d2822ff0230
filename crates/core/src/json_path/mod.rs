//! JSONPath (RFC 9535) with bounded work.
//!
//! The expressions that map an inbound body to a contact are written by operators and run over what
//! integrators post (section 4.9, D46). Neither is trusted: reading an expression and running it
//! over a document must not panic, exhaust the stack or take long, whatever both hold (D46a).
//!
//! - **Reading** is a descent without backtracking, so its time is linear. Expressions of more than
//!   [`MAX_CHARACTERS`] characters or nested deeper than [`MAX_NESTING`] are refused.
//! - **Running** spends the steps of a [`StepBudget`] that the expressions of one mapping share,
//!   and ends with [`TooCostly`] when none is left. Steps are counted, not timed: the same
//!   expressions over the same document always have the same result. Nodes are found one by one,
//!   depth first, which is the order of the RFC; no list of intermediate nodes is ever held.
//! - **Documents** may be of any depth: the walk and the comparison of values keep their own
//!   stacks. (The parser of JSON refuses more than 128 levels; nothing here relies on it.)
//! - **Regular expressions** of `match()` and `search()` may come from the body. Their length and
//!   the size of what they compile to are limited, and both compiling and matching use steps.
//!
//! # Why not a library
//!
//! The available libraries cannot give these guarantees. The parsers of `serde_json_path` and
//! `jsonpath-rust` backtrack: each further level of nested filters or functions doubles the time,
//! so that an expression of 500 characters is never finished. The first evaluates segment by
//! segment into lists without a way to stop it; the second keeps the path of each node as text,
//! which for one long key is gigabytes. Both compile any regular expression of the body, of any
//! size. Nor do they always agree with the RFC: the second fails cases of its compliance suite, the
//! first finds nothing by `@[-1]` in a comparison. The tests compare results with those of the
//! first.
//!
//! # What the RFC leaves open
//!
//! - Members of an object are taken in the order of their names.
//! - Two integers are compared exactly at any of the sizes an `i128` holds, other numbers as `f64`.
//!   A number beyond an `f64` equals only the same number and is not ordered.
//! - Regular expressions are those of the crate `regex` (a superset of RFC 9485), without `(?`
//!   groups and without a class inside a class. `^` and `$` are anchors. One that is invalid
//!   matches nothing.

mod ast;
mod budget;
mod compare;
mod error;
mod filter;
mod literal;
mod nodes;
mod parse;
mod path;
mod pattern;

pub use budget::{StepBudget, TooCostly};
pub use error::{JsonPathError, MAX_CHARACTERS, MAX_NESTING};
pub use path::JsonPath;
