//! Reading of an expression: one pass, no backtracking, recursion limited.

use super::ast::{Extent, Operand, PathRoot, Query, Relation, Segment, Selector, Slice, Test};
use super::{JsonPathError, MAX_NESTING, literal};

pub(super) type Parsed<T> = Result<T, JsonPathError>;

/// Reads a text from the front.
pub(super) struct Parser<'t> {
    text: &'t str,
    /// In bytes, always between two characters.
    at: usize,
    nesting: usize,
}

/// The largest integer an index may be: RFC 9535, 2.1.
const MAX_INTEGER: i64 = (1 << 53) - 1;

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, nesting: 0 }
    }

    /// The whole text as a query.
    pub(super) fn whole(mut self) -> Parsed<Vec<Segment>> {
        self.expect("$", "expected '$'")?;
        let segments = self.segments()?;
        if self.at < self.text.len() {
            return Err(self.problem("expected '.', '[' or the end"));
        }
        Ok(segments)
    }

    fn segments(&mut self) -> Parsed<Vec<Segment>> {
        let mut segments = Vec::new();
        loop {
            let before = self.at;
            self.skip_space();
            let descendant = self.eat("..");
            if self.eat("[") {
                let selectors = self.bracketed()?;
                segments.push(Segment { descendant, selectors });
            } else if descendant || self.eat(".") {
                let selector = if self.eat("*") {
                    Selector::Wildcard
                } else {
                    Selector::Name(self.shorthand()?)
                };
                segments.push(Segment { descendant, selectors: vec![selector] });
            } else {
                // White space belongs to a query only if a further segment follows.
                self.at = before;
                return Ok(segments);
            }
        }
    }

    /// After the opening bracket.
    fn bracketed(&mut self) -> Parsed<Vec<Selector>> {
        let mut selectors = Vec::new();
        loop {
            self.skip_space();
            selectors.push(self.selector()?);
            self.skip_space();
            if self.eat("]") {
                return Ok(selectors);
            }
            self.expect(",", "expected ',' or ']'")?;
        }
    }

    fn selector(&mut self) -> Parsed<Selector> {
        match self.peek() {
            Some('\'' | '"') => Ok(Selector::Name(literal::string(self)?)),
            Some('*') => {
                self.at += 1;
                Ok(Selector::Wildcard)
            }
            Some('?') => {
                self.at += 1;
                self.skip_space();
                self.nested(|parser| Ok(Selector::Filter(parser.any()?)))
            }
            Some('-' | '0'..='9' | ':') => self.index_or_slice(),
            _ => Err(self.problem("expected a name in quotes, an index, ':', '*' or '?'")),
        }
    }

    fn index_or_slice(&mut self) -> Parsed<Selector> {
        let start = self.integer()?;
        let after_start = self.at;
        self.skip_space();
        if !self.eat(":") {
            self.at = after_start;
            return match start {
                Some(index) => Ok(Selector::Index(index)),
                None => Err(self.problem("expected an index")),
            };
        }
        self.skip_space();
        let end = self.integer()?;
        self.skip_space();
        let mut step = None;
        if self.eat(":") {
            self.skip_space();
            step = self.integer()?;
        }
        Ok(Selector::Slice(Slice { start, end, step: step.unwrap_or(1) }))
    }

    fn integer(&mut self) -> Parsed<Option<i64>> {
        let start = self.at;
        let negative = self.eat("-");
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() && !negative {
            return Ok(None);
        }
        let value = digits.parse().ok().filter(|value| *value <= MAX_INTEGER);
        match value {
            Some(0) if digits.len() == 1 && !negative => Ok(Some(0)),
            Some(value) if !digits.starts_with('0') => {
                Ok(Some(if negative { -value } else { value }))
            }
            _ => {
                self.at = start;
                Err(self.problem("expected an integer as JSONPath writes it"))
            }
        }
    }

    fn shorthand(&mut self) -> Parsed<String> {
        let first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
        if !self.peek().is_some_and(first) {
            return Err(self.problem("expected a name that begins with a letter or '_'"));
        }
        Ok(self.take_while(|c| first(c) || c.is_ascii_digit()).to_owned())
    }

    /// Tests joined by `||`.
    fn any(&mut self) -> Parsed<Test> {
        let mut tests = self.joined("||", Self::all)?;
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::Any(tests) })
    }

    /// Tests joined by `&&`.
    fn all(&mut self) -> Parsed<Test> {
        let mut tests = self.joined("&&", Self::test)?;
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::All(tests) })
    }

    fn joined(
        &mut self,
        operator: &str,
        part: impl Fn(&mut Self) -> Parsed<Test>,
    ) -> Parsed<Vec<Test>> {
        let mut tests = vec![part(self)?];
        loop {
            let before = self.at;
            self.skip_space();
            if !self.eat(operator) {
                self.at = before;
                return Ok(tests);
            }
            self.skip_space();
            tests.push(part(self)?);
        }
    }

    fn test(&mut self) -> Parsed<Test> {
        if self.eat("!") {
            self.skip_space();
            let test = match self.peek() {
                Some('(') => self.parenthesized()?,
                _ => self.existence()?,
            };
            return Ok(Test::Not(Box::new(test)));
        }
        if self.peek() == Some('(') {
            return self.parenthesized();
        }
        let start = self.at;
        let term = self.term()?;
        let after_term = self.at;
        self.skip_space();
        match (self.relation(), term) {
            (Some(relation), term) => {
                let left = self.comparable(term, start)?;
                self.skip_space();
                let start = self.at;
                let right = self.term()?;
                let right = self.comparable(right, start)?;
                Ok(Test::Compare { left, relation, right })
            }
            (None, Term::Query(query)) => {
                self.at = after_term;
                Ok(Test::Exists(query))
            }
            (None, Term::Test(test)) => {
                self.at = after_term;
                Ok(test)
            }
            (None, Term::Operand(_)) => Err(self.problem("expected a comparison")),
        }
    }

    fn parenthesized(&mut self) -> Parsed<Test> {
        self.expect("(", "expected '('")?;
        self.skip_space();
        let test = self.nested(Self::any)?;
        self.skip_space();
        self.expect(")", "expected ')', '&&' or '||'")?;
        Ok(test)
    }

    /// What stands after `!`.
    fn existence(&mut self) -> Parsed<Test> {
        let start = self.at;
        match self.term()? {
            Term::Query(query) => Ok(Test::Exists(query)),
            Term::Test(test) => Ok(test),
            Term::Operand(_) => {
                self.at = start;
                Err(self.problem("a value is no test"))
            }
        }
    }

    fn relation(&mut self) -> Option<Relation> {
        // The longer ones first.
        [
            ("==", Relation::Equal),
            ("!=", Relation::NotEqual),
            ("<=", Relation::LessOrEqual),
            (">=", Relation::GreaterOrEqual),
            ("<", Relation::Less),
            (">", Relation::Greater),
        ]
        .into_iter()
        .find_map(|(sign, relation)| self.eat(sign).then_some(relation))
    }

    fn comparable(&mut self, term: Term, start: usize) -> Parsed<Operand> {
        match term {
            Term::Operand(operand) => Ok(operand),
            Term::Query(query) if query.is_singular() => Ok(Operand::Singular(query)),
            Term::Query(_) => {
                self.at = start;
                Err(self.problem("a query that may select several nodes is no single value"))
            }
            Term::Test(_) => {
                self.at = start;
                Err(self.problem("match() and search() are no values"))
            }
        }
    }

    /// A literal, query or function.
    fn term(&mut self) -> Parsed<Term> {
        match self.peek() {
            Some('@') => self.query(PathRoot::Current),
            Some('$') => self.query(PathRoot::Root),
            Some('a'..='z') => {
                let start = self.at;
                let word = self.take_while(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'));
                if self.eat("(") {
                    return self.nested(|parser| parser.function(word, start));
                }
                match literal::word(word) {
                    Some(value) => Ok(Term::Operand(Operand::Literal(value))),
                    None => {
                        self.at = start;
                        Err(self.problem("expected '@', '$', a literal or a function"))
                    }
                }
            }
            Some('\'' | '"') => Ok(Term::Operand(Operand::Literal(literal::text(self)?))),
            Some('-' | '0'..='9') => Ok(Term::Operand(Operand::Literal(literal::number(self)?))),
            _ => Err(self.problem("expected '@', '$', a literal or a function")),
        }
    }

    fn query(&mut self, origin: PathRoot) -> Parsed<Term> {
        self.at += 1;
        Ok(Term::Query(Query { origin, segments: self.segments()? }))
    }

    /// After the opening parenthesis.
    fn function(&mut self, name: &str, start: usize) -> Parsed<Term> {
        let term = match name {
            "length" => Term::Operand(Operand::Length(Box::new(self.value_argument()?))),
            "count" => Term::Operand(Operand::Count(self.nodes_argument()?)),
            "value" => Term::Operand(Operand::Value(self.nodes_argument()?)),
            "match" => self.matching(Extent::Whole)?,
            "search" => self.matching(Extent::Part)?,
            _ => {
                self.at = start;
                return Err(self.problem("there is no such function"));
            }
        };
        self.skip_space();
        self.expect(")", "expected ')'")?;
        Ok(term)
    }

    fn matching(&mut self, extent: Extent) -> Parsed<Term> {
        let text = self.value_argument()?;
        self.skip_space();
        self.expect(",", "expected ','")?;
        let pattern = self.value_argument()?;
        Ok(Term::Test(Test::Matches { text, pattern, extent }))
    }

    fn value_argument(&mut self) -> Parsed<Operand> {
        self.skip_space();
        let start = self.at;
        let term = self.term()?;
        self.comparable(term, start)
    }

    fn nodes_argument(&mut self) -> Parsed<Query> {
        self.skip_space();
        let start = self.at;
        match self.term()? {
            Term::Query(query) => Ok(query),
            _ => {
                self.at = start;
                Err(self.problem("expected a query"))
            }
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == MAX_NESTING {
            return Err(JsonPathError::TooDeep);
        }
        self.nesting += 1;
        let read = read(self);
        self.nesting -= 1;
        read
    }

    pub(super) fn problem(&self, problem: &'static str) -> JsonPathError {
        let character = self.text[..self.at].chars().count() + 1;
        JsonPathError::Invalid { character, problem }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The next character, and past it.
    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Whether the text goes on so; if it does, past it.
    pub(super) fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    fn expect(&mut self, expected: &str, problem: &'static str) -> Parsed<()> {
        if self.eat(expected) { Ok(()) } else { Err(self.problem(problem)) }
    }

    pub(super) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let len = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn skip_space(&mut self) {
        self.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
    }
}

/// What may stand on either side of a comparison or be an argument, by its type in the RFC.
enum Term {
    /// NodesType, or by its form ValueType.
    Query(Query),
    /// ValueType.
    Operand(Operand),
    /// LogicalType.
    Test(Test),
}
