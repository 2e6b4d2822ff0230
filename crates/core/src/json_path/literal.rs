//! Strings, numbers and words in an expression.

use super::parse::{Parsed, Parser};
use crate::json::{Number, Value};

/// `true`, `false` or `null`.
pub(super) fn word(word: &str) -> Option<Value> {
    match word {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "null" => Some(Value::Null),
        _ => None,
    }
}

/// A string as a value.
pub(super) fn text(parser: &mut Parser<'_>) -> Parsed<Value> {
    string(parser).map(Value::String)
}

/// A number, as JSON writes it.
pub(super) fn number(parser: &mut Parser<'_>) -> Parsed<Value> {
    let text = parser.take_while(|c| matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
    let number = Number::parse(text).map(Value::Number);
    number.ok_or_else(|| parser.problem("expected a number before this"))
}

/// A string in either kind of quotes: RFC 9535, 2.3.1.2.
pub(super) fn string(parser: &mut Parser<'_>) -> Parsed<String> {
    let Some(quote) = parser.next() else {
        return Err(parser.problem("expected a string"));
    };
    let mut string = String::new();
    loop {
        let plain = parser.take_while(|c| c != quote && c != '\\' && c >= ' ');
        string.push_str(plain);
        match parser.peek() {
            Some('\\') => string.push(escaped(parser, quote)?),
            Some(c) if c == quote => {
                parser.next();
                return Ok(string);
            }
            Some(_) => return Err(parser.problem("a control character has to be escaped")),
            None => return Err(parser.problem("the string has no end")),
        }
    }
}

fn escaped(parser: &mut Parser<'_>, quote: char) -> Parsed<char> {
    let wrong = parser.problem("there is no such escape");
    parser.next();
    Ok(match parser.next() {
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some(c @ ('/' | '\\')) => c,
        Some(c) if c == quote => c,
        Some('u') => return unicode(parser).ok_or(wrong),
        _ => return Err(wrong),
    })
}

/// After `\u`: four digits, or a pair of surrogates.
fn unicode(parser: &mut Parser<'_>) -> Option<char> {
    let first = hex(parser)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first);
    }
    if !parser.eat("\\u") {
        return None;
    }
    let second = hex(parser)?;
    let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
    char::from_u32(0x10000 + ((first - 0xD800) << 10) + low)
}

fn hex(parser: &mut Parser<'_>) -> Option<u32> {
    let mut value = 0;
    for _ in 0..4 {
        value = value * 16 + parser.next()?.to_digit(16)?;
    }
    Some(value)
}
