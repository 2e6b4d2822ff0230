//! Splits Rust source into the few tokens that the index needs.

/// A token. Literals, lifetimes and numbers are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// One or more comments in a row.
    Comment {
        /// `//!`: documents the item around it.
        inner: bool,
        /// Without slashes, lines joined by a space.
        text: String,
        /// The line on which the comment begins.
        line: usize,
    },
    /// An identifier or keyword.
    Word(String),
    /// Any other character.
    Mark(char),
}

/// The tokens of a file.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut lexer = Lexer { chars, at: 0, line: 1, tokens: Vec::new(), last_comment: None };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    lexer.tokens
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: usize,
    tokens: Vec<Token>,
    /// The line of the last comment that has a line of its own.
    last_comment: Option<usize>,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn bump(&mut self) -> char {
        let found = self.peek(0);
        self.at += 1;
        if found == '\n' {
            self.line += 1;
        }
        found
    }

    fn push(&mut self, token: Token) {
        self.tokens.push(token);
        self.last_comment = None;
    }

    fn step(&mut self) {
        match self.peek(0) {
            '/' if self.peek(1) == '/' => self.line_comment(),
            '/' if self.peek(1) == '*' => self.block_comment(),
            '"' => self.string(),
            '\'' => self.quote(),
            found if found.is_alphabetic() || found == '_' => self.word(),
            found if found.is_whitespace() || found.is_ascii_digit() => {
                self.bump();
            }
            found => {
                self.bump();
                self.push(Token::Mark(found));
            }
        }
    }

    fn line_comment(&mut self) {
        let line = self.line;
        let mut own_line = true;
        for before in self.chars[..self.at].iter().rev() {
            if *before == '\n' {
                break;
            }
            own_line &= before.is_whitespace();
        }
        let mut text = String::new();
        while self.at < self.chars.len() && self.peek(0) != '\n' {
            text.push(self.bump());
        }
        let inner = text.starts_with("//!");
        let text = text.trim_start_matches(['/', '!']).trim();
        if let (Some(last), Some(Token::Comment { inner: same, text: before, .. })) =
            (self.last_comment, self.tokens.last_mut())
            && own_line
            && last + 1 == line
            && *same == inner
        {
            before.push(' ');
            before.push_str(text);
        } else {
            self.push(Token::Comment { inner, text: text.to_owned(), line });
        }
        self.last_comment = own_line.then_some(line);
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    self.bump();
                    continue;
                }
            }
            self.bump();
            self.bump();
            if depth == 0 {
                break;
            }
        }
    }

    fn string(&mut self) {
        self.bump();
        while self.at < self.chars.len() {
            match self.bump() {
                '\\' => {
                    self.bump();
                }
                '"' => break,
                _ => {}
            }
        }
    }

    /// Reads a character literal or a lifetime.
    fn quote(&mut self) {
        self.bump();
        if self.peek(0) == '\\' {
            self.bump();
            self.bump();
            while self.at < self.chars.len() && self.bump() != '\'' {}
        } else if self.peek(1) == '\'' {
            self.bump();
            self.bump();
        } else {
            while self.peek(0).is_alphanumeric() || self.peek(0) == '_' {
                self.bump();
            }
        }
    }

    fn word(&mut self) {
        let mut word = String::new();
        while self.peek(0).is_alphanumeric() || self.peek(0) == '_' {
            word.push(self.bump());
        }
        let raw = matches!(word.as_str(), "r" | "br" | "cr");
        if raw && matches!(self.peek(0), '"' | '#') && self.raw_string() {
            return;
        }
        self.push(Token::Word(word));
    }

    /// Skips the rest of a raw string. Answers false if this is a raw identifier.
    fn raw_string(&mut self) -> bool {
        let mut hashes = 0;
        while self.peek(hashes) == '#' {
            hashes += 1;
        }
        if self.peek(hashes) != '"' {
            self.bump();
            return false;
        }
        for _ in 0..=hashes {
            self.bump();
        }
        while self.at < self.chars.len() {
            if self.bump() == '"' && (0..hashes).all(|ahead| self.peek(ahead) == '#') {
                break;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Token, tokens};

    fn comments(source: &str) -> Vec<String> {
        tokens(source)
            .into_iter()
            .filter_map(|token| match token {
                Token::Comment { text, .. } => Some(text),
                Token::Word(_) | Token::Mark(_) => None,
            })
            .collect()
    }

    #[test]
    fn lines_of_a_comment_are_joined_and_a_trailing_one_stands_alone() {
        let source = "/// One\n/// two.\nfn f() {\n    g(); // three\n    // four\n}\n";
        assert_eq!(comments(source), ["One two.", "three", "four"]);
    }

    #[test]
    fn text_in_literals_is_no_comment_and_no_code() {
        let source = "f(\"// no {\", r#\"\"// {\"#, '{', '\\'', b\"//\"); /* { // no */ fn g<'a>() -> &'static str {}";
        assert_eq!(comments(source), Vec::<String>::new());
        let braces = tokens(source).iter().filter(|token| **token == Token::Mark('{')).count();
        assert_eq!(braces, 1);
        assert!(!tokens(source).contains(&Token::Word("static".to_owned())));
    }
}
