//! Whether a message asks to receive no more messages (3.4, D43).

use crate::contacts::normalize;
use crate::gateway::Button;
use crate::messages::MessageType;

/// The default stop words.
const DEFAULT: [&str; 12] = [
    "sair",
    "parar",
    "pare",
    "stop",
    "cancelar",
    "descadastrar",
    "remover",
    "unsubscribe",
    "nao quero receber",
    "nao quero mais receber",
    "nao quero receber mensagens",
    "pare de enviar mensagens",
];
/// The texts of buttons that block messages; they count on every kind of connection.
const BLOCK_BUTTONS: [&str; 4] =
    ["bloquear mensagens", "parar mensagens", "parar promocoes", "stop promotions"];

/// The messages that ask to stop, folded for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopWords(Vec<String>);

impl StopWords {
    /// These words; a word that is empty after folding is left out.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Self(words.into_iter().map(fold).filter(|word| !word.is_empty()).collect())
    }

    fn holds(&self, text: &str) -> bool {
        [fold(text), closed(text)].iter().any(|folded| self.0.contains(folded))
    }
}

impl Default for StopWords {
    fn default() -> Self {
        Self::new(DEFAULT)
    }
}

/// Without case, accents, punctuation and surrounding space; runs of space count as one.
fn fold(text: &str) -> String {
    let plain: String =
        normalize(text).chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same with punctuation taken out and nothing in its place, as in `s.a.i.r`.
fn closed(text: &str) -> String {
    let plain: String =
        normalize(text).chars().filter(|c| c.is_alphanumeric() || c.is_whitespace()).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a message asks to receive no more messages: a text that as a whole is a stop word, or
/// the press of a button whose id, payload or title is one or belongs to a block-messages button.
/// Captions do not count (D43, R51).
pub fn asks_to_stop(
    message_type: MessageType,
    content: Option<&str>,
    button: Option<&Button>,
    words: &StopWords,
) -> bool {
    // No request is this long, and folding a long text takes time.
    let short = |text: &&str| text.len() <= 400;
    let says_so = |text: &str| words.holds(text);
    let pressed = |text: &str| says_so(text) || BLOCK_BUTTONS.contains(&fold(text).as_str());
    let text = match message_type {
        MessageType::Text => content.filter(short).is_some_and(says_so),
        MessageType::Interactive => content.filter(short).is_some_and(pressed),
        _ => false,
    };
    let parts = button.into_iter().flat_map(|b| [&b.id, &b.payload, &b.title]).flatten();
    text || parts.map(String::as_str).filter(short).any(pressed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_asks(text: &str) -> bool {
        asks_to_stop(MessageType::Text, Some(text), None, &StopWords::default())
    }

    #[test]
    fn every_default_word_is_a_request_in_any_dress() {
        for word in DEFAULT {
            for dressed in [
                word.to_uppercase(),
                format!("  {word}!  "),
                format!("{word}."),
                word.replace("nao", "Não"),
                format!("*{word}* 🛑"),
                word.replacen('a', "-a.", 1),
            ] {
                assert!(text_asks(&dressed), "{dressed}");
            }
        }
    }

    #[test]
    fn a_word_inside_a_longer_message_is_no_request() {
        for text in ["quero sair com você", "não pare", "stop it", "sairei", "", "!!", "s a i r"]
        {
            assert!(!text_asks(text), "{text}");
        }
    }

    #[test]
    fn a_caption_does_not_count() {
        assert!(!asks_to_stop(MessageType::Image, Some("sair"), None, &StopWords::default()));
    }

    #[test]
    fn any_part_of_a_button_counts() {
        let say = |text: &str| Some(text.to_owned());
        let buttons = [
            Button { id: say("STOP"), ..Button::default() },
            Button { payload: say("Parar promoções"), ..Button::default() },
            Button { title: say("Bloquear mensagens"), ..Button::default() },
        ];
        for button in buttons {
            let asks = |kind| asks_to_stop(kind, None, Some(&button), &StopWords::default());
            assert!(asks(MessageType::Interactive), "{button:?}");
        }
        let harmless = Button { title: say("Sim"), ..Button::default() };
        let words = StopWords::default();
        assert!(!asks_to_stop(MessageType::Interactive, Some("Sim"), Some(&harmless), &words));
    }

    #[test]
    fn the_label_of_a_block_button_typed_as_text_is_no_request() {
        assert!(!text_asks("parar promoções"));
    }

    /// R51.
    #[test]
    fn a_press_without_fields_counts_by_its_text_and_no_text_over_400_bytes_is_a_request() {
        let words = StopWords::default();
        assert!(asks_to_stop(MessageType::Interactive, Some("parar promoções"), None, &words));
        let padded = |count: usize| format!("sair{}", "!".repeat(count));
        assert!(text_asks(&padded(396)));
        assert!(!text_asks(&padded(397)));
    }

    #[test]
    fn configured_words_replace_the_defaults() {
        let words = StopWords::new(["chega!"]);
        assert!(asks_to_stop(MessageType::Text, Some("CHEGA"), None, &words));
        assert!(!asks_to_stop(MessageType::Text, Some("sair"), None, &words));
    }

    proptest! {
        /// R51.
        #[test]
        fn case_and_punctuation_around_never_matter(
            index in 0..DEFAULT.len(),
            before in "[ .!?,;:\"'()*_-]{0,4}",
            after in "[ .!?,;:\"'()*_-]{0,4}",
            upper in any::<bool>(),
        ) {
            let word = DEFAULT[index];
            let word = if upper { word.to_uppercase() } else { word.to_owned() };
            let dressed = format!("{before}{word}{after}");
            prop_assert!(text_asks(&dressed));
        }
    }
}
