//! Tests of a filter, and the values they are about.

use super::ast::{Operand, PathRoot, Query, Test};
use super::budget::{StepBudget, TooCostly};
use super::compare::{self, OperandValue};
use super::nodes::{self, Nodes};
use crate::json::Value;

impl Test {
    /// Whether it holds for a node of a document. Recursion is as deep as the expression is nested.
    pub(super) fn holds(
        &self,
        node: &Value,
        root: &Value,
        budget: &mut StepBudget,
    ) -> Result<bool, TooCostly> {
        budget.charge(1)?;
        match self {
            Self::Any(tests) => {
                for test in tests {
                    if test.holds(node, root, budget)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::All(tests) => {
                for test in tests {
                    if !test.holds(node, root, budget)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Not(test) => Ok(!test.holds(node, root, budget)?),
            Self::Exists(query) if query.is_singular() => {
                Ok(query.single(node, root, budget)?.is_some())
            }
            Self::Exists(query) => Ok(query.nodes(node, root).next(budget)?.is_some()),
            Self::Compare { left, relation, right } => {
                let left = left.find(node, root, budget)?;
                let right = right.find(node, root, budget)?;
                compare::holds(left, *relation, right, budget)
            }
            Self::Matches { text, pattern, extent } => {
                let text = text.find(node, root, budget)?;
                let pattern = pattern.find(node, root, budget)?;
                match (text, pattern) {
                    (
                        OperandValue::Value(Value::String(text)),
                        OperandValue::Value(Value::String(pattern)),
                    ) => budget.matches(pattern, *extent, text),
                    _ => Ok(false),
                }
            }
        }
    }
}

impl Operand {
    fn find<'v>(
        &'v self,
        node: &'v Value,
        root: &'v Value,
        budget: &mut StepBudget,
    ) -> Result<OperandValue<'v>, TooCostly> {
        budget.charge(1)?;
        Ok(match self {
            Self::Literal(value) => OperandValue::Value(value),
            Self::Singular(query) => {
                query.single(node, root, budget)?.map_or(OperandValue::Nothing, OperandValue::Value)
            }
            Self::Length(of) => match of.find(node, root, budget)? {
                OperandValue::Value(Value::String(text)) => {
                    budget.charge_bytes(text.len())?;
                    OperandValue::Number(text.chars().count())
                }
                OperandValue::Value(Value::Array(array)) => OperandValue::Number(array.len()),
                OperandValue::Value(Value::Object(members)) => OperandValue::Number(members.len()),
                _ => OperandValue::Nothing,
            },
            Self::Count(query) => {
                let mut nodes = query.nodes(node, root);
                let mut count = 0;
                while nodes.next(budget)?.is_some() {
                    count += 1;
                }
                OperandValue::Number(count)
            }
            Self::Value(query) => {
                let mut nodes = query.nodes(node, root);
                match (nodes.next(budget)?, nodes.next(budget)?) {
                    (Some(value), None) => OperandValue::Value(value),
                    _ => OperandValue::Nothing,
                }
            }
        })
    }
}

impl Query {
    fn origin<'d>(&self, node: &'d Value, root: &'d Value) -> &'d Value {
        match self.origin {
            PathRoot::Root => root,
            PathRoot::Current => node,
        }
    }

    fn nodes<'q, 'd>(&'q self, node: &'d Value, root: &'d Value) -> Nodes<'q, 'd> {
        Nodes::new(&self.segments, self.origin(node, root), root)
    }

    /// The node that a singular query selects.
    fn single<'d>(
        &self,
        node: &'d Value,
        root: &'d Value,
        budget: &mut StepBudget,
    ) -> Result<Option<&'d Value>, TooCostly> {
        budget.charge(1 + self.segments.len() as u64)?;
        let origin = self.origin(node, root);
        Ok(self
            .segments
            .iter()
            .flat_map(|segment| &segment.selectors)
            .try_fold(origin, |at, selector| nodes::child(selector, at)))
    }
}
