//! Splits Rust source into the few kinds of tokens that paths consist of.

/// A token. Literals, lifetimes and comments are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a keyword.
    Word(String),
    /// `::`
    Path,
    /// Any other sign.
    Sign(char),
}

impl Token {
    /// Whether the token is this word.
    pub(crate) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }

    /// Whether the token is this sign.
    pub(crate) fn is_sign(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }

    /// The word of the token.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Path | Self::Sign(_) => None,
        }
    }
}

/// The tokens of a source text.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let text: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        let next = text.get(at + 1).copied();
        at = match c {
            '/' if next == Some('/') => line_end(&text, at),
            '/' if next == Some('*') => comment_end(&text, at),
            '"' => string_end(&text, at + 1),
            '\'' => quote_end(&text, at),
            ':' if next == Some(':') => {
                tokens.push(Token::Path);
                at + 2
            }
            c if c.is_alphanumeric() || c == '_' => {
                let end = word_end(&text, at);
                let word: String = text[at..end].iter().collect();
                match (word.as_str(), text.get(end)) {
                    ("b" | "c", Some('"')) => string_end(&text, end + 1),
                    ("b", Some('\'')) => quote_end(&text, end),
                    ("r" | "br" | "cr", Some('"' | '#')) => match raw_end(&text, end) {
                        Some(end) => end,
                        // A raw identifier: its name comes next.
                        None => end + 1,
                    },
                    _ => {
                        if !c.is_numeric() {
                            tokens.push(Token::Word(word));
                        }
                        end
                    }
                }
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(Token::Sign(c));
                }
                at + 1
            }
        };
    }
    tokens
}

fn line_end(text: &[char], at: usize) -> usize {
    text[at..].iter().position(|c| *c == '\n').map_or(text.len(), |length| at + length)
}

fn word_end(text: &[char], at: usize) -> usize {
    let length = text[at..].iter().position(|c| !c.is_alphanumeric() && *c != '_');
    length.map_or(text.len(), |length| at + length)
}

/// The end of a block comment. Block comments can be nested.
fn comment_end(text: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (0_u32, start);
    while at < text.len() {
        match (text[at], text.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth.saturating_sub(1), at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string_end(text: &[char], mut at: usize) -> usize {
    while let Some(c) = text.get(at) {
        match c {
            '"' => return at + 1,
            '\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// The end of a raw string whose `#`s or quote are at `at`; `None` if it is not a raw string.
fn raw_end(text: &[char], at: usize) -> Option<usize> {
    let hashes = text[at..].iter().take_while(|c| **c == '#').count();
    if text.get(at + hashes) != Some(&'"') {
        return None;
    }
    let closes = |from: usize| {
        text[from] == '"' && text[from + 1..].iter().take_while(|c| **c == '#').count() >= hashes
    };
    let end = (at + hashes + 1..text.len()).find(|from| closes(*from));
    Some(end.map_or(text.len(), |end| end + 1 + hashes))
}

/// The end of a character literal, or of a lifetime.
fn quote_end(text: &[char], at: usize) -> usize {
    match (text.get(at + 1), text.get(at + 2)) {
        (Some('\\'), _) => {
            let end = text[at + 3..].iter().position(|c| *c == '\'');
            end.map_or(text.len(), |length| at + 4 + length)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => word_end(text, at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        tokens(source).iter().filter_map(Token::word).map(str::to_owned).collect()
    }

    #[test]
    fn only_code_is_read() {
        let source = r##"
            // a comment /* "
            /* nested /* comments */ */
            fn one<'a>(c: char) -> &'a str { match c { '"' | '\'' | '\\' | '\u{1}' => r#"raw " one"#, _ => "two \" three" } }
            const TWO: u8 = b'"'; const R: &[u8] = br"x\"; fn r#type() {}
        "##;
        let expected = "fn one c char str match c _ const TWO u8 const R u8 fn type";
        assert_eq!(words(source), expected.split(' ').collect::<Vec<_>>());
    }

    #[test]
    fn a_path_has_separators_of_its_own() {
        let expected = [
            Token::Word("a".to_owned()),
            Token::Path,
            Token::Word("b".to_owned()),
            Token::Sign(':'),
        ];
        assert_eq!(tokens("a::b:"), expected);
    }
}
