//! The rules that each item of a Rust file cites.

use crate::{
    citations::{Citation, citations},
    lex::{Token, tokens},
};

/// A citation and the item that it belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cited {
    pub(crate) citation: Citation,
    /// A path such as `Contact::create`; empty for the file itself.
    pub(crate) item: String,
    /// Whether the item is a test by its attribute, or is in a module for tests.
    pub(crate) in_test: bool,
    pub(crate) line: usize,
}

/// The citations of a file, in their order.
pub(crate) fn cited(source: &str) -> Vec<Cited> {
    let mut reader = Reader::default();
    let tokens = tokens(source);
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Comment { inner, text, line } => reader.comment(*inner, text, *line),
            Token::Word(word) => reader.word(word, &tokens, index),
            Token::Mark(mark) => reader.mark(*mark, &tokens, index),
        }
    }
    reader.cited
}

/// The kind of an item, as far as the parser needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `mod`, `impl` and `trait`: comments in it belong to the items that follow them.
    Container,
    /// Ends with its closing brace, or with a semicolon if it has no braces.
    Braced,
    /// `const`, `static` and `type`: ends with a semicolon.
    Semicolon,
}

#[derive(Debug)]
struct Item {
    kind: Kind,
    /// Empty for `mod`.
    name: String,
    is_test: bool,
    depth: usize,
    is_open: bool,
}

#[derive(Default)]
struct Reader {
    items: Vec<Item>,
    depth: usize,
    /// Comments before the next item.
    waiting: Vec<(Citation, usize)>,
    /// The depth of the attribute being read, if any, and whether it makes a test.
    attribute: Option<usize>,
    is_test: bool,
    cited: Vec<Cited>,
}

impl Reader {
    fn comment(&mut self, inner: bool, text: &str, line: usize) {
        for citation in citations(text) {
            if !inner && self.is_container() {
                self.waiting.push((citation, line));
            } else {
                self.add(citation, line);
            }
        }
    }

    /// Whether items are expected here, and not statements.
    fn is_container(&self) -> bool {
        self.items.last().is_none_or(|item| item.kind == Kind::Container && item.is_open)
    }

    fn add(&mut self, citation: Citation, line: usize) {
        let names: Vec<&str> = self
            .items
            .iter()
            .map(|item| item.name.as_str())
            .filter(|name| !name.is_empty())
            .take(2)
            .collect();
        let in_test = self.items.iter().any(|item| item.is_test);
        self.cited.push(Cited { citation, item: names.join("::"), in_test, line });
    }

    fn add_waiting(&mut self) {
        for (citation, line) in std::mem::take(&mut self.waiting) {
            self.add(citation, line);
        }
    }

    fn word(&mut self, word: &str, tokens: &[Token], index: usize) {
        if self.attribute.is_some() {
            // `#[cfg(not(test))]` is not used in this workspace.
            self.is_test |= matches!(word, "test" | "both_stores");
            return;
        }
        let waits_for_body = self.items.last().is_some_and(|item| !item.is_open);
        let is_pointer = index > 0 && tokens[index - 1] == Token::Mark('*');
        if waits_for_body || is_pointer {
            return;
        }
        let next = match tokens.get(index + 1) {
            Some(Token::Word(next)) => next.as_str(),
            _ => "",
        };
        match word {
            "impl" if self.is_container() => {
                self.open(Kind::Container, implemented(&tokens[index + 1..]))
            }
            "trait" if !next.is_empty() => self.open(Kind::Container, next.to_owned()),
            "mod" if !next.is_empty() => self.open(Kind::Container, String::new()),
            "fn" | "struct" | "enum" if !next.is_empty() => {
                self.open(Kind::Braced, next.to_owned())
            }
            "macro_rules" => {
                if let Some(Token::Word(name)) = tokens.get(index + 2) {
                    self.open(Kind::Braced, name.clone());
                }
            }
            "const" | "static" | "type"
                if !next.is_empty()
                    && !matches!(next, "fn" | "unsafe" | "async" | "move" | "mut") =>
            {
                self.open(Kind::Semicolon, next.to_owned());
            }
            _ => {}
        }
    }

    fn open(&mut self, kind: Kind, name: String) {
        let is_test = std::mem::take(&mut self.is_test);
        self.items.push(Item {
            kind,
            name,
            is_test,
            depth: self.depth,
            is_open: kind == Kind::Semicolon,
        });
        self.add_waiting();
    }

    fn mark(&mut self, mark: char, tokens: &[Token], index: usize) {
        match mark {
            '#' if self.attribute.is_none() && tokens.get(index + 1) == Some(&Token::Mark('[')) => {
                self.attribute = Some(self.depth);
            }
            '(' | '[' | '{' => {
                if mark == '{'
                    && let Some(item) = self.items.last_mut()
                    && item.depth == self.depth
                {
                    item.is_open = true;
                }
                self.depth += 1;
            }
            ')' | ']' | '}' => self.close(mark),
            ';' if self.attribute.is_none() => {
                if self.is_container() {
                    self.add_waiting();
                }
                self.is_test = false;
                let ends = |item: &Item| {
                    item.depth == self.depth && (item.kind == Kind::Semicolon || !item.is_open)
                };
                if self.items.last().is_some_and(ends) {
                    self.items.pop();
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, mark: char) {
        if mark == '}' && self.is_container() {
            self.add_waiting();
        }
        self.depth = self.depth.saturating_sub(1);
        if mark == ']' && self.attribute == Some(self.depth) {
            self.attribute = None;
        }
        let ends =
            |item: &Item| item.depth == self.depth && item.kind != Kind::Semicolon && item.is_open;
        if mark == '}' && self.items.last().is_some_and(ends) {
            self.items.pop();
        }
    }
}

/// The type name of an `impl`. `tokens` are those after the keyword.
fn implemented(tokens: &[Token]) -> String {
    let mut name = String::new();
    let mut angles = 0_i32;
    let mut is_dash = false;
    for token in tokens {
        let after_dash = std::mem::replace(&mut is_dash, *token == Token::Mark('-'));
        match token {
            Token::Mark('<') => angles += 1,
            Token::Mark('>') if !after_dash => angles -= 1,
            Token::Mark('{') => break,
            Token::Word(word) if angles == 0 => match word.as_str() {
                "for" => name.clear(),
                "where" => break,
                "dyn" | "const" | "mut" => {}
                // The last part of a path is the name of the type.
                _ => name.clone_from(word),
            },
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::cited;
    use crate::citations::Citation;

    /// The name of the rule, the item, and whether it is a test.
    fn found(source: &str) -> Vec<(String, String, bool)> {
        cited(source)
            .into_iter()
            .map(|cited| match cited.citation {
                Citation::One(name) => (name, cited.item, cited.in_test),
                Citation::Range(first, last) => {
                    (format!("{first}–{last}"), cited.item, cited.in_test)
                }
            })
            .collect()
    }

    fn expect(source: &str, expected: &[(&str, &str, bool)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(rule, item, test)| ((*rule).to_owned(), (*item).to_owned(), *test))
            .collect();
        assert_eq!(found(source), expected);
    }

    #[test]
    fn a_citation_belongs_to_the_item_that_it_documents() {
        expect(
            "//! Contacts (D1).\nuse a::{B, C};\n\n/// D2\n#[derive(Debug)]\npub struct Contact {\n    /// D3\n    \
             name: Option<[u8; 2]>,\n}\n\nimpl<T: Fn() -> u8> Show for Contact<T> {\n    /// D4\n    \
             pub(crate) const fn f(g: impl Fn(), x: *const u8) -> [u8; 2] {\n        if x { h() } // D5\n        \
             let y: fn() = g;\n    }\n    // D6\n}\n\n/// D7\nconst ALL: &[A] = &[A { b: 1 }, /* */\n    // D8\n    \
             A {}];\n\n/// D9\nmod x;\n/// D10\nfn last() {}\n",
            &[
                ("D1", "", false),
                ("D2", "Contact", false),
                ("D3", "Contact", false),
                ("D4", "Contact::f", false),
                ("D5", "Contact::f", false),
                ("D6", "Contact", false),
                ("D7", "ALL", false),
                ("D8", "ALL", false),
                ("D9", "", false),
                ("D10", "last", false),
            ],
        );
    }

    #[test]
    fn methods_of_traits_and_what_macros_hold_are_items() {
        expect(
            "trait Store {\n    /// D1\n    fn get(&self);\n    /// D2\n    fn put(&self) {}\n}\n\
             proptest! {\n    /// D3\n    #[test]\n    fn holds(a in 0..3) { prop_assert!(a < 3); }\n}\n",
            &[("D1", "Store::get", false), ("D2", "Store::put", false), ("D3", "holds", true)],
        );
    }

    #[test]
    fn tests_are_known_by_their_attributes() {
        expect(
            "/// D1\nfn rule() {}\n#[cfg(test)]\nmod tests {\n    //! D2\n    /// D3\n    fn helper() {}\n}\n\
             #[tokio::test(flavor = \"multi_thread\")]\nasync fn works() {\n    // D4\n    check();\n}\n\
             /// D5\nfn other() {}\n",
            &[
                ("D1", "rule", false),
                ("D2", "", true),
                ("D3", "helper", true),
                ("D4", "works", true),
                ("D5", "other", false),
            ],
        );
    }
}
