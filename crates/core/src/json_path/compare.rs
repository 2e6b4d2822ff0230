//! Comparison of values: RFC 9535, 2.3.5.2.2.

use std::cmp::Ordering;

use super::ast::Relation;
use super::budget::{StepBudget, TooCostly};
use crate::json::{Number, Value};

/// The steps for finding a member of an object by its name, besides those for the name's length.
const LOOKUP: u64 = 16;

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub(super) enum OperandValue<'v> {
    Nothing,
    Value(&'v Value),
    /// The result of `length()` or `count()`.
    Number(usize),
}

/// Whether two values stand in a relation.
pub(super) fn holds(
    left: OperandValue<'_>,
    relation: Relation,
    right: OperandValue<'_>,
    budget: &mut StepBudget,
) -> Result<bool, TooCostly> {
    Ok(match relation {
        Relation::Equal => equal(left, right, budget)?,
        Relation::NotEqual => !equal(left, right, budget)?,
        Relation::Less => less(left, right, budget)?,
        Relation::Greater => less(right, left, budget)?,
        Relation::LessOrEqual => less(left, right, budget)? || equal(left, right, budget)?,
        Relation::GreaterOrEqual => less(right, left, budget)? || equal(left, right, budget)?,
    })
}

fn equal(
    left: OperandValue<'_>,
    right: OperandValue<'_>,
    budget: &mut StepBudget,
) -> Result<bool, TooCostly> {
    match (left, right) {
        (OperandValue::Nothing, OperandValue::Nothing) => Ok(true),
        (OperandValue::Value(left), OperandValue::Value(right)) => {
            equal_values(left, right, budget)
        }
        _ => match (Numeric::of(left, budget)?, Numeric::of(right, budget)?) {
            (Some(left), Some(right)) => Ok(left.compare(right) == Some(Ordering::Equal)),
            _ => Ok(false),
        },
    }
}

/// Without recursion, as documents may be deep.
fn equal_values(left: &Value, right: &Value, budget: &mut StepBudget) -> Result<bool, TooCostly> {
    if !equal_outside(left, right, budget)? {
        return Ok(false);
    }
    let mut open = Vec::from_iter(has_content(left).then_some((left, right)));
    while let Some((left, right)) = open.pop() {
        match (left, right) {
            (Value::Array(left), Value::Array(right)) => {
                for (left, right) in left.iter().zip(right) {
                    if !equal_outside(left, right, budget)? {
                        return Ok(false);
                    }
                    open.extend(has_content(left).then_some((left, right)));
                }
            }
            (Value::Object(left), Value::Object(right)) => {
                for (name, left) in left {
                    budget.charge(LOOKUP)?;
                    budget.charge_bytes(name.len())?;
                    match right.get(name) {
                        Some(right) if equal_outside(left, right, budget)? => {
                            open.extend(has_content(left).then_some((left, right)));
                        }
                        _ => return Ok(false),
                    }
                }
            }
            _ => {}
        }
    }
    Ok(true)
}

fn has_content(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// Whether two values are equal, apart from what they contain.
fn equal_outside(left: &Value, right: &Value, budget: &mut StepBudget) -> Result<bool, TooCostly> {
    budget.charge(1)?;
    Ok(match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::String(left), Value::String(right)) => {
            budget.charge_bytes(left.len().min(right.len()))?;
            left == right
        }
        (Value::Number(left), Value::Number(right)) => {
            budget.charge_bytes(left.as_str().len() + right.as_str().len())?;
            if left.equals(right) {
                return Ok(true);
            }
            let left = Numeric::of_json(left, budget)?;
            let right = Numeric::of_json(right, budget)?;
            left.compare(right) == Some(Ordering::Equal)
        }
        (Value::Array(left), Value::Array(right)) => left.len() == right.len(),
        (Value::Object(left), Value::Object(right)) => left.len() == right.len(),
        _ => false,
    })
}

fn less(
    left: OperandValue<'_>,
    right: OperandValue<'_>,
    budget: &mut StepBudget,
) -> Result<bool, TooCostly> {
    if let (OperandValue::Value(Value::String(left)), OperandValue::Value(Value::String(right))) =
        (left, right)
    {
        budget.charge_bytes(left.len().min(right.len()))?;
        // Bytes of UTF-8 are in the order of the characters.
        return Ok(left < right);
    }
    match (Numeric::of(left, budget)?, Numeric::of(right, budget)?) {
        (Some(left), Some(right)) => Ok(left.compare(right) == Some(Ordering::Less)),
        _ => Ok(false),
    }
}

/// A number to compare with others.
#[derive(Debug, Clone, Copy)]
struct Numeric {
    integer: Option<i128>,
    /// None beyond the range of an `f64`.
    float: Option<f64>,
}

impl Numeric {
    fn of(found: OperandValue<'_>, budget: &mut StepBudget) -> Result<Option<Self>, TooCostly> {
        Ok(match found {
            OperandValue::Number(number) => {
                Some(Self { integer: Some(number as i128), float: Some(number as f64) })
            }
            OperandValue::Value(Value::Number(number)) => Some(Self::of_json(number, budget)?),
            _ => None,
        })
    }

    fn of_json(number: &Number, budget: &mut StepBudget) -> Result<Self, TooCostly> {
        // It is kept as text, which may be as long as the document.
        budget.charge(1 + number.as_str().len() as u64 / 4)?;
        Ok(Self { integer: number.as_i128(), float: number.as_f64() })
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        match (self.integer, other.integer) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => self.float?.partial_cmp(&other.float?),
        }
    }
}
