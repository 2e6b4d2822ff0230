//! The search for messages (X17): the text that is stored for a message, and the query.
//!
//! Both sides are folded by [`normalize`], as those of contacts are, so that a search is a plain
//! substring test.

use super::Message;
use crate::contacts::normalize;

/// Ends each field, so that no match spans two of them. No query has it.
const SEPARATOR: char = '\u{1f}';
const MIN_QUERY_CHARS: usize = 3;
const MAX_QUERY_CHARS: usize = 200;

/// The text in which a [`MessageSearch`] searches: what a message says, the caption and the name of
/// its file. It is empty for a message that has none of them.
#[derive(Clone, PartialEq, Eq)]
pub struct MessageText(String);

impl MessageText {
    /// The text of these fields. A field that another one contains is left out, since it adds no
    /// match.
    pub fn of(content: Option<&str>, caption: Option<&str>, filename: Option<&str>) -> Self {
        let mut text = String::new();
        for field in [content, caption, filename].into_iter().flatten().map(normalize) {
            if !field.is_empty() && !text.contains(&field) {
                text.push_str(&field);
                text.push(SEPARATOR);
            }
        }
        Self(text)
    }

    /// The text to store.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Prints no content.
impl std::fmt::Debug for MessageText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("MessageText").field(&self.0.len()).finish()
    }
}

impl Message {
    /// What searches look at (X17).
    pub fn search_text(&self) -> MessageText {
        let (content, media) = (self.content.as_deref(), &self.media);
        MessageText::of(content, media.caption.as_deref(), media.filename.as_deref())
    }
}

/// Why a search is not acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageSearchError {
    /// Too few characters, after trimming.
    #[error("must have at least 3 characters")]
    TooShort,
    /// Too many characters, after trimming.
    #[error("must have at most 200 characters")]
    TooLong,
    /// A control character.
    #[error("must not contain control characters")]
    Control,
}

/// A search for messages: they match when their [`MessageText`] contains it.
#[derive(Clone, PartialEq, Eq)]
pub struct MessageSearch(String);

impl MessageSearch {
    /// Reads a search. What [`normalize`] does not keep, such as accents written by themselves, is
    /// not counted as characters (R300).
    ///
    /// # Errors
    ///
    /// [`MessageSearchError`].
    pub fn parse(input: &str) -> Result<Self, MessageSearchError> {
        let trimmed = input.trim();
        if trimmed.chars().any(char::is_control) {
            return Err(MessageSearchError::Control);
        }
        let folded = normalize(trimmed);
        let least = trimmed.chars().count().min(folded.trim().chars().count());
        if least < MIN_QUERY_CHARS {
            return Err(MessageSearchError::TooShort);
        }
        if trimmed.chars().count() > MAX_QUERY_CHARS {
            return Err(MessageSearchError::TooLong);
        }
        Ok(Self(folded))
    }

    /// The text to search for, as it is written in texts.
    pub fn needle(&self) -> &str {
        &self.0
    }

    /// Whether a message is found: every store must answer as this does.
    pub fn matches(&self, text: &MessageText) -> bool {
        text.as_str().contains(&self.0)
    }
}

/// Prints no content.
impl std::fmt::Debug for MessageSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("MessageSearch").field(&self.0.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::samples::{at, message};
    use super::super::{Direction, Media};
    use super::*;

    fn finds(query: &str, content: &str) -> bool {
        let query = MessageSearch::parse(query).expect("a search");
        query.matches(&MessageText::of(Some(content), None, None))
    }

    /// X17.
    #[test]
    fn case_and_accents_make_no_difference_and_every_character_means_itself() {
        assert!(finds("PROMOCAO", "Aproveite a promoção de hoje"));
        assert!(finds("promoção", "PROMOC\u{327}A\u{303}O"));
        assert!(finds("  oção de ", "a promoção de hoje"));
        assert!(finds("100%", "desconto de 100% hoje"));
        for query in ["a_b", "a%b", "a.b", "a*b"] {
            assert!(finds(query, &format!("x{query}x")));
            assert!(!finds(query, "axb"), "{query}");
        }
        assert!(finds(r#"\'""#, r#"diz \'" e mais"#));
        assert!(!finds("pro  moção", "promoção"));
    }

    /// X17.
    #[test]
    fn content_caption_and_file_name_are_searched_and_nothing_else() {
        let mut message = message(Direction::Inbound, at(0));
        message.content = Some("Segue a nota".to_owned());
        message.media = Media {
            caption: Some("Pagamento".to_owned()),
            filename: Some("Orçamento.pdf".to_owned()),
            mimetype: Some("application/pdf".to_owned()),
            url: Some("https://cdn.example/pedido".to_owned()),
            ..Media::default()
        };
        message.quoted.content = Some("citada".to_owned());
        message.external_id = Some("crm-900".to_owned());
        let found = |query| MessageSearch::parse(query).unwrap().matches(&message.search_text());
        for query in ["a nota", "pagam", "orcamento.PDF", "nto"] {
            assert!(found(query), "{query}");
        }
        for query in ["application", "pedido", "citada", "crm-900", "nota pag", "notapag"] {
            assert!(!found(query), "{query}");
        }
        assert_eq!(MessageText::of(None, None, None).as_str(), "");
        assert_eq!(
            MessageText::of(Some("a.PDF"), Some("b"), Some("A.pdf")).as_str(),
            "a.pdf\u{1f}b\u{1f}"
        );
    }

    /// X17, R300.
    #[test]
    fn a_search_has_3_to_200_characters_and_none_of_control() {
        let short = Err(MessageSearchError::TooShort);
        for query in [
            "",
            "  ",
            "ab",
            "  ab  ",
            "a\u{301}\u{301}\u{301}b",
            "\u{200b}\u{200b}\u{200b}",
            "ßa",
            "a\u{301}\u{200b}",
        ] {
            assert_eq!(MessageSearch::parse(query), short, "{query:?}");
        }
        assert!(MessageSearch::parse(" abc ").is_ok());
        assert!(MessageSearch::parse("a\u{301}bc").is_ok());
        assert!(MessageSearch::parse(&format!(" {} ", "ã".repeat(200))).is_ok());
        assert_eq!(MessageSearch::parse(&"ã".repeat(201)), Err(MessageSearchError::TooLong));
        for query in ["abc\nd", "abc\0", "a\u{1f}bc"] {
            assert_eq!(MessageSearch::parse(query), Err(MessageSearchError::Control));
        }
    }

    #[test]
    fn debug_output_tells_neither_what_is_searched_nor_what_is_found() {
        let query = MessageSearch::parse("segredo").unwrap();
        let text = MessageText::of(Some("segredo"), None, None);
        assert!(!format!("{query:?} {text:?}").contains("segredo"));
    }

    /// R301: texts are stored in this form. If this fails, messages have other texts than those
    /// that existing databases have stored: add a migration that has them made anew.
    #[test]
    fn the_text_is_the_one_that_existing_databases_have_stored() {
        let text = MessageText::of(Some("Olá, É o ŁUIS:\n“50%” – R$ 9"), None, Some("Nº 1.PDF"));
        assert_eq!(text.as_str(), "ola, e o luis: \"50%\" - r$ 9\u{1f}no 1.pdf\u{1f}");
    }

    proptest! {
        #[test]
        fn any_part_of_what_a_message_says_is_found(
            before in any::<String>(),
            part in any::<String>(),
            after in any::<String>(),
        ) {
            let text = MessageText::of(Some(&format!("{before}{part}{after}")), None, None);
            if let Ok(query) = MessageSearch::parse(&part) {
                prop_assert!(query.matches(&text));
            }
        }
    }
}
