//! Regular expressions of `match()` and `search()`.
//!
//! They are run by a simulation of their automaton that never backtracks: at most one step for each
//! state and byte of the text. The number of steps is computed and taken from the budget before
//! matching.

use std::fmt;

use regex_automata::nfa::thompson::pikevm::{Cache, PikeVM};
use regex_automata::nfa::thompson::{Compiler, Config, WhichCaptures};
use regex_automata::util::syntax;
use regex_syntax::hir::{Hir, HirKind, Look};

use super::ast::Extent;
use super::budget::{StepBudget, TooCostly};

/// The most bytes an expression may have (R90).
const MAX_BYTES: usize = 1_000;

/// The most memory its automaton may take, in bytes.
const MAX_COMPILED: usize = 256 * 1024;

/// How deep its groups and classes may be nested.
const MAX_NESTING: u32 = 32;

/// How many compiled expressions are kept for further nodes.
const KEPT: usize = 8;

/// Expressions compiled lately, the latest last.
#[derive(Default)]
pub(super) struct Patterns(Vec<Pattern>);

struct Pattern {
    source: String,
    extent: Extent,
    /// None if it is not a regular expression.
    program: Option<Program>,
}

struct Program {
    vm: PikeVM,
    cache: Cache,
    /// The estimated number of states per byte of the text.
    states: u64,
}

/// Whether a text matches. The compiled expression is kept.
pub(super) fn matches(
    patterns: &mut Patterns,
    budget: &mut StepBudget,
    source: &str,
    extent: Extent,
    text: &str,
) -> Result<bool, TooCostly> {
    if source.len() > MAX_BYTES {
        return Err(TooCostly);
    }
    budget.charge_bytes(KEPT * source.len())?;
    let kept = &mut patterns.0;
    match kept.iter().rposition(|kept| kept.extent == extent && kept.source == source) {
        Some(at) => kept[at..].rotate_left(1),
        None => {
            let program = compile(source, extent, budget)?;
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push(Pattern { source: source.to_owned(), extent, program });
        }
    }
    let Some(Program { vm, cache, states }) =
        kept.last_mut().and_then(|kept| kept.program.as_mut())
    else {
        return Ok(false);
    };
    budget.charge(states.saturating_mul(text.len() as u64 + 1))?;
    Ok(vm.is_match(cache, text))
}

fn compile(
    source: &str,
    extent: Extent,
    budget: &mut StepBudget,
) -> Result<Option<Program>, TooCostly> {
    // Each of these may stand for hundreds of ranges of characters.
    let classes = source.bytes().filter(|byte| matches!(byte, b'\\' | b'[')).count();
    budget.charge(500 + 10 * source.len() as u64 + 500 * classes as u64)?;
    if has_group_options(source) {
        return Ok(None);
    }
    // `.` is neither line feed nor carriage return: RFC 9485, 5.3.
    let syntax = syntax::Config::new().crlf(true).nest_limit(MAX_NESTING);
    let Ok(hir) = syntax::parse_with(source, &syntax) else {
        return Ok(None);
    };
    let size = Size::of(&hir);
    budget.charge(size.states.saturating_mul(10).saturating_add(size.ranges.saturating_mul(5)))?;
    let hir = match extent {
        Extent::Whole => Hir::concat(vec![Hir::look(Look::Start), hir, Hir::look(Look::End)]),
        Extent::Part => hir,
    };
    let config =
        Config::new().nfa_size_limit(Some(MAX_COMPILED)).which_captures(WhichCaptures::None);
    let nfa = Compiler::new().configure(config).build_from_hir(&hir).map_err(|_| TooCostly)?;
    let vm = PikeVM::new_from_nfa(nfa).map_err(|_| TooCostly)?;
    let cache = vm.create_cache();
    Ok(Some(Program { vm, cache, states: size.states }))
}

/// Whether there is a group that begins with `(?`, or a class inside a class: neither is part of
/// RFC 9485, and options such as ignoring case make large automata.
fn has_group_options(source: &str) -> bool {
    let mut in_class = false;
    let mut bytes = source.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'[' if in_class => return true,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class && bytes.peek() == Some(&b'?') => return true,
            _ => {}
        }
    }
    false
}

/// How large the automaton becomes, with repetitions written out.
#[derive(Clone, Copy)]
struct Size {
    states: u64,
    ranges: u64,
}

impl Size {
    const ONE: Self = Self { states: 1, ranges: 0 };

    /// Recursion is as deep as [`MAX_NESTING`] allows.
    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::ONE,
            HirKind::Literal(literal) => Self { states: literal.0.len() as u64, ranges: 0 },
            HirKind::Class(class) => Self {
                states: 2,
                ranges: match class {
                    regex_syntax::hir::Class::Unicode(class) => class.ranges().len() as u64,
                    regex_syntax::hir::Class::Bytes(class) => class.ranges().len() as u64,
                },
            },
            HirKind::Capture(capture) => Self::of(&capture.sub).and(Self::ONE),
            HirKind::Repetition(repetition) => {
                let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
                Self::of(&repetition.sub).and(Self::ONE).times(times.into())
            }
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                parts.iter().fold(Self::ONE, |size, part| size.and(Self::of(part)).and(Self::ONE))
            }
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            states: self.states.saturating_add(other.states),
            ranges: self.ranges.saturating_add(other.ranges),
        }
    }

    fn times(self, times: u64) -> Self {
        Self {
            states: self.states.saturating_mul(times),
            ranges: self.ranges.saturating_mul(times),
        }
    }
}

impl fmt::Debug for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} patterns", self.0.len())
    }
}
