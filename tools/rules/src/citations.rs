//! Finds citations of rules in the text of a comment.
//!
//! Decisions are cited by their numbers, anywhere in a sentence: `D12`, `R7`, `D41–D44a`. A section
//! is a citation where it stands at the beginning of a comment, after `(` or `: `, after the word
//! "section", or in a list with other citations: `(4.3, 8, D20)`. A rule in a numbered list of a
//! section is cited as `4.3.1`.

use std::ops::Range;

/// A rule as it is cited, or a range of rules.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Citation {
    /// `D12`, `4.3`
    One(String),
    /// `D5–D7`, both ends included.
    Range(String, String),
}

/// What a comment cites.
pub(crate) fn citations(text: &str) -> Vec<Citation> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let begins = at == 0 || !is_inside_word(chars[at - 1]);
        match begins.then(|| list(&chars, at)).flatten() {
            Some((cited, end)) => {
                if is_citation(&chars, at..end, &cited) {
                    found.extend(cited);
                }
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// Whether a character before a number makes the number part of something else, such as `v1.2` or
/// `HTTP/1.1`.
fn is_inside_word(before: char) -> bool {
    before.is_alphanumeric()
        || matches!(before, '.' | '_' | '/' | '-' | '`' | '"' | '#' | '$' | '+')
}

/// Whether a list of numbers at this position consists of rules.
fn is_citation(chars: &[char], at: Range<usize>, cited: &[Citation]) -> bool {
    let names = |is: fn(&str) -> bool| {
        cited.iter().any(|citation| match citation {
            Citation::One(name) | Citation::Range(name, _) => is(name),
        })
    };
    let before: String = chars[at.start.saturating_sub(9)..at.start].iter().collect();
    let introduced = before.is_empty() || before.ends_with('(') || before.ends_with(": ");
    names(|name| name.starts_with(['D', 'R', 'X']))
        || before.ends_with("section ")
        || before.ends_with("sections ")
        || introduced && names(|name| name.contains('.'))
        // `(8)` is a citation after other words; at the beginning it numbers a list.
        || before.len() > 1 && before.ends_with('(') && chars.get(at.end) == Some(&')')
}

/// Consecutive citations with commas, semicolons or "and" between them, and the position after
/// them.
fn list(chars: &[char], start: usize) -> Option<(Vec<Citation>, usize)> {
    let (first, mut end) = citation(chars, start)?;
    let mut cited = vec![first];
    while let Some((next, after)) =
        separator(chars, end).and_then(|next_start| citation(chars, next_start))
    {
        cited.push(next);
        end = after;
    }
    Some((cited, end))
}

fn separator(chars: &[char], at: usize) -> Option<usize> {
    [", ", "; ", " and ", " to "].iter().find_map(|separator| {
        let end = at + separator.len();
        let here: String = chars.get(at..end)?.iter().collect();
        (here == *separator).then_some(end)
    })
}

fn citation(chars: &[char], start: usize) -> Option<(Citation, usize)> {
    let (name, end) = name(chars, start)?;
    if matches!(chars.get(end), Some('–' | '-'))
        && let Some((last, end)) = self::name(chars, end + 1)
    {
        return Some((Citation::Range(name, last), end));
    }
    Some((Citation::One(name), end))
}

/// `D12`, `R7`, `D31a`, `4.3`, `4.3.1` or a section of one digit.
fn name(chars: &[char], start: usize) -> Option<(String, usize)> {
    let digits = |from: usize| chars[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut end = start;
    if matches!(chars.get(start)?, 'D' | 'R' | 'X') {
        let count = digits(start + 1);
        end += 1 + count;
        if count == 0 || count > 3 {
            return None;
        }
        if matches!(chars.get(end), Some('a'..='z')) {
            end += 1;
        }
    } else {
        if digits(start) != 1 || chars[start] == '0' {
            return None;
        }
        end += 1;
        while chars.get(end) == Some(&'.') && end + 1 < chars.len() && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
    }
    let ends = chars.get(end).is_none_or(|next| !next.is_alphanumeric() && *next != '_');
    ends.then(|| (chars[start..end].iter().collect(), end))
}

#[cfg(test)]
mod tests {
    use super::{Citation, citations};

    fn one(names: &[&str]) -> Vec<Citation> {
        names.iter().map(|name| Citation::One((*name).to_owned())).collect()
    }

    #[test]
    fn citations_are_found_where_comments_put_them() {
        for (text, cited) in [
            ("A reply after closing (3.1, D41).", one(&["3.1", "D41"])),
            ("3.4, D42: from here on people answer.", one(&["3.4", "D42"])),
            ("Page by page: 2.1, 4.1.2, 8; D7 and R15.", one(&["2.1", "4.1.2", "8", "D7", "R15"])),
            ("Which D31a says, as section 8 does.", one(&["D31a", "8"])),
            ("The organization (4.3 `cnpj`, then more)", one(&["4.3"])),
            ("(3.4: once per block)", one(&["3.4"])),
            ("The page size (8).", one(&["8"])),
        ] {
            assert_eq!(citations(text), cited, "{text}");
        }
        let range = Citation::Range("D41".to_owned(), "D44a".to_owned());
        assert_eq!(citations("All of them (D41–D44a)."), [range]);
    }

    #[test]
    fn other_numbers_are_no_citations() {
        for text in [
            "RFC 9535, 2.3.5.2.2.",
            "(RFC 9110, 12.5.1)",
            "The OpenAPI 3.1 document",
            "HTTP/1.1 over TLS 1.2",
            "1, 2, 4 … at most 60 seconds",
            "(2, 3) What programs were answered",
            "(1) For each order one request",
            "`D12` in quotes, D1234, DR5, 0x4D5, R2D2",
            "2 of 3.5 seconds, https://8.8.8.8/",
        ] {
            assert_eq!(citations(text), [], "{text}");
        }
    }
}
