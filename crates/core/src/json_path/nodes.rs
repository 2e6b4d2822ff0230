//! The nodes a query selects, found one by one.

use std::collections::btree_map::Values;

use super::ast::{Segment, Selector, Slice, Test};
use super::budget::{StepBudget, TooCostly};
use crate::json::Value;

/// A walk through a document that stops at each node that the segments select. What remains to be
/// done is kept as a stack, never deeper than twice the document.
pub(super) struct Nodes<'q, 'd> {
    root: &'d Value,
    /// The node to go on from, and what has to be done with it.
    entered: Option<(&'d Value, &'q [Segment])>,
    open: Vec<Open<'q, 'd>>,
}

/// Work begun at a node and not yet finished.
enum Open<'q, 'd> {
    /// Selectors to be applied to the node.
    Selecting {
        node: &'d Value,
        selectors: &'q [Selector],
        chosen: Chosen<'q, 'd>,
        rest: &'q [Segment],
    },
    /// Children that are still to be visited for the first of these segments, a descendant segment.
    Descending { children: Children<'d>, segments: &'q [Segment] },
}

/// The children that one selector selects.
enum Chosen<'q, 'd> {
    None,
    One(&'d Value),
    Every(Children<'d>),
    Slice { array: &'d [Value], at: i64, end: i64, step: i64 },
    Tested(Children<'d>, &'q Test),
}

/// The children of a node, in order.
enum Children<'d> {
    None,
    Array(std::slice::Iter<'d, Value>),
    Object(Values<'d, String, Value>),
}

impl<'q, 'd> Nodes<'q, 'd> {
    /// A walk over the nodes that `segments` select from `start`; `root` is what `$` means in
    /// filters.
    pub(super) fn new(segments: &'q [Segment], start: &'d Value, root: &'d Value) -> Self {
        Self { root, entered: Some((start, segments)), open: Vec::new() }
    }

    /// The next node, or none if there are no more.
    pub(super) fn next(&mut self, budget: &mut StepBudget) -> Result<Option<&'d Value>, TooCostly> {
        loop {
            budget.charge(1)?;
            if let Some((node, segments)) = self.entered.take() {
                let Some((segment, rest)) = segments.split_first() else {
                    return Ok(Some(node));
                };
                if segment.descendant {
                    self.descend(node, segments);
                }
                self.select(node, &segment.selectors, rest);
                continue;
            }
            match self.open.last_mut() {
                None => return Ok(None),
                Some(Open::Selecting { node, selectors, chosen, rest }) => {
                    self.entered = chosen.next(self.root, budget)?.map(|found| (found, *rest));
                    while self.entered.is_none() {
                        let Some((selector, others)) = selectors.split_first() else {
                            self.open.pop();
                            break;
                        };
                        budget.charge(1)?;
                        *selectors = others;
                        *chosen = Chosen::new(selector, node);
                        self.entered = chosen.next(self.root, budget)?.map(|found| (found, *rest));
                    }
                }
                Some(Open::Descending { children, segments }) => {
                    let segments: &'q [Segment] = segments;
                    match (children.next(), segments.split_first()) {
                        (Some(child), Some((segment, rest))) => {
                            self.descend(child, segments);
                            self.select(child, &segment.selectors, rest);
                        }
                        _ => {
                            self.open.pop();
                        }
                    }
                }
            }
        }
    }

    fn descend(&mut self, node: &'d Value, segments: &'q [Segment]) {
        if has_children(node) {
            self.open.push(Open::Descending { children: Children::of(node), segments });
        }
    }

    fn select(&mut self, node: &'d Value, selectors: &'q [Selector], rest: &'q [Segment]) {
        if has_children(node) {
            self.open.push(Open::Selecting { node, selectors, chosen: Chosen::None, rest });
        }
    }
}

impl<'q, 'd> Chosen<'q, 'd> {
    fn new(selector: &'q Selector, node: &'d Value) -> Self {
        match selector {
            Selector::Name(_) | Selector::Index(_) => {
                child(selector, node).map_or(Self::None, Self::One)
            }
            Selector::Wildcard => Self::Every(Children::of(node)),
            Selector::Slice(slice) => match node {
                Value::Array(array) => Self::slice(*slice, array),
                _ => Self::None,
            },
            Selector::Filter(test) => Self::Tested(Children::of(node), test),
        }
    }

    /// RFC 9535, 2.3.4.2.2.
    fn slice(slice: Slice, array: &'d [Value]) -> Self {
        let len = array.len() as i64;
        let normal = |index: i64| if index < 0 { len.saturating_add(index) } else { index };
        let step = slice.step;
        if step > 0 {
            let at = normal(slice.start.unwrap_or(0)).clamp(0, len);
            let end = slice.end.map_or(len, |end| normal(end).clamp(0, len));
            Self::Slice { array, at, end, step }
        } else {
            let at = slice.start.map_or(len - 1, |start| normal(start).clamp(-1, len - 1));
            let end = slice.end.map_or(-1, |end| normal(end).clamp(-1, len - 1));
            Self::Slice { array, at, end, step }
        }
    }

    fn next(
        &mut self,
        root: &'d Value,
        budget: &mut StepBudget,
    ) -> Result<Option<&'d Value>, TooCostly> {
        Ok(match self {
            Self::None => None,
            Self::One(node) => {
                let node = *node;
                *self = Self::None;
                Some(node)
            }
            Self::Every(children) => children.next(),
            Self::Slice { array, at, end, step } => {
                let within = if *step > 0 { *at < *end } else { *step < 0 && *at > *end };
                let index = usize::try_from(*at).ok().filter(|_| within);
                *at = at.saturating_add(*step);
                index.and_then(|index| array.get(index))
            }
            Self::Tested(children, test) => {
                for node in children.by_ref() {
                    if test.holds(node, root, budget)? {
                        return Ok(Some(node));
                    }
                }
                None
            }
        })
    }
}

fn has_children(node: &Value) -> bool {
    match node {
        Value::Array(array) => !array.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    }
}

/// The child that a name or an index selects.
pub(super) fn child<'d>(selector: &Selector, node: &'d Value) -> Option<&'d Value> {
    match (selector, node) {
        (Selector::Name(name), Value::Object(members)) => members.get(name),
        (Selector::Index(index), Value::Array(array)) => {
            let index = usize::try_from(*index)
                .or_else(|_| usize::try_from((array.len() as i64).saturating_add(*index)));
            array.get(index.ok()?)
        }
        _ => None,
    }
}

impl<'d> Children<'d> {
    fn of(node: &'d Value) -> Self {
        match node {
            Value::Array(array) => Self::Array(array.iter()),
            Value::Object(members) => Self::Object(members.values()),
            _ => Self::None,
        }
    }
}

impl<'d> Iterator for Children<'d> {
    type Item = &'d Value;

    fn next(&mut self) -> Option<&'d Value> {
        match self {
            Self::None => None,
            Self::Array(values) => values.next(),
            Self::Object(values) => values.next(),
        }
    }
}
