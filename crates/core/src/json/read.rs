//! Reading JSON (RFC 8259).

use std::collections::BTreeMap;

use super::{Number, Value};

/// How deep arrays and objects may be nested in each other: as deep as `serde_json` reads.
const MAX_DEPTH: usize = 127;

/// A body is not JSON, or nested deeper than 127 levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not JSON (line {line}, column {column})")]
pub struct NotJson {
    /// The line at fault, from 1.
    pub line: usize,
    /// The column at fault, in bytes from 1; 0 if the line has none.
    pub column: usize,
}

/// Reads a JSON value. If a member occurs twice, the last one counts.
///
/// # Errors
///
/// [`NotJson`]; its text quotes nothing.
pub fn read(body: &[u8]) -> Result<Value, NotJson> {
    let read = || {
        let mut reader = Reader { rest: std::str::from_utf8(body).ok()?, depth: 0 };
        let value = reader.value()?;
        reader.skip_space();
        reader.rest.is_empty().then_some(value)
    };
    read().ok_or_else(|| fault(body))
}

/// Line and column of the error, found by `serde_json`, which reports them.
fn fault(body: &[u8]) -> NotJson {
    let error = serde_json::from_slice::<serde_json::Value>(body).err();
    error.map_or(NotJson { line: 0, column: 0 }, |error| NotJson {
        line: error.line(),
        column: error.column(),
    })
}

/// The rest of a body. `None` from any of its methods means that the body is not JSON.
struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn value(&mut self) -> Option<Value> {
        self.skip_space();
        match self.rest.as_bytes().first()? {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'"' => self.string().map(Value::String),
            b'-' | b'0'..=b'9' => self.number().map(Value::Number),
            _ => self.word(),
        }
    }

    /// Past a bracket.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Value>) -> Option<Value> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.rest = &self.rest[1..];
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        if self.eat("]") {
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.eat("]") {
                return Some(Value::Array(items));
            }
            self.eat(",").then_some(())?;
        }
    }

    fn object(&mut self) -> Option<Value> {
        let mut members = BTreeMap::new();
        if self.eat("}") {
            return Some(Value::Object(members));
        }
        loop {
            self.skip_space();
            let name = self.string()?;
            self.eat(":").then_some(())?;
            members.insert(name, self.value()?);
            if self.eat("}") {
                return Some(Value::Object(members));
            }
            self.eat(",").then_some(())?;
        }
    }

    fn word(&mut self) -> Option<Value> {
        let words =
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
        words.into_iter().find_map(|(word, value)| self.eat(word).then_some(value))
    }

    fn number(&mut self) -> Option<Number> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Number::parse(text)
    }

    fn string(&mut self) -> Option<String> {
        let text = self.rest.strip_prefix('"')?;
        let plain = text.bytes().position(|byte| matches!(byte, b'"' | b'\\' | ..b' '))?;
        if text.as_bytes()[plain] == b'"' {
            self.rest = &text[plain + 1..];
            return Some(text[..plain].to_owned());
        }
        let mut escaped = false;
        let end = text.bytes().position(|byte| {
            let is_end = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            is_end
        })?;
        // With its quotes, so that `serde_json` decodes the escapes.
        let (quoted, rest) = self.rest.split_at(end + 2);
        self.rest = rest;
        serde_json::from_str(quoted).ok()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Whether this comes next, after space; if it does, past it.
    fn eat(&mut self, expected: &str) -> bool {
        self.skip_space();
        let after = self.rest.strip_prefix(expected);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }
}
