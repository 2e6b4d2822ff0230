//! The search for contacts (D24): the text that is stored for a contact, and the query.
//!
//! Both sides go through [`normalize`], so a search is a plain substring test, which a trigram
//! index can answer. Phone digits are written in an alphabet of their own, apart from all other
//! text: `(34) 99` finds phones that contain 3499, and not a name that does.

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

use super::email::Email;
use super::phone::Phone;

/// Ends each field. Two of them end the whole, so that even the last one or two characters of a
/// field begin a trigram (R4).
const SEPARATOR: char = '\u{1f}';
/// The private character of the digit 0; the other digits follow it.
const PRIVATE_ZERO: u32 = 0xe000;
const MAX_QUERY_CHARS: usize = 200;
const MIN_PHONE_DIGITS: usize = 3;

/// Folds a text for comparison: lower case, without accents and other combining marks, letters such
/// as `ß`, `ø` and `ł` as their plain neighbours, typographic variants as the usual character,
/// without invisible characters. Line breaks, control characters and the private characters of
/// [`SearchText`] become spaces.
///
/// Every character is folded separately, so a part of a text folds to a part of its folding.
/// Folding a second time changes nothing.
pub fn normalize(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            folded.push(if c.is_ascii_control() { ' ' } else { c.to_ascii_lowercase() });
        } else {
            decompose_compatible(c, |part| {
                if canonical_combining_class(part) == 0 {
                    part.to_lowercase().for_each(|lower| fold(lower, &mut folded));
                }
            });
        }
    }
    folded
}

fn fold(c: char, folded: &mut String) {
    let plain = match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ŧ' => "t",
        'ŋ' => "n",
        'ı' => "i",
        'ς' => "σ",
        '‘' | '’' | 'ʼ' | '‛' => "'",
        '“' | '”' | '„' | '‟' => "\"",
        '‐' | '–' | '—' | '―' | '−' => "-",
        // Found only if a longer character was decomposed: its marks are removed already.
        _ if canonical_combining_class(c) != 0 || is_invisible(c) => "",
        _ if c.is_control() || private_digit(c) => " ",
        _ => return folded.push(c),
    };
    folded.push_str(plain);
}

/// Joiners, direction marks, soft hyphens and variation selectors.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
    )
}

fn private_digit(c: char) -> bool {
    (PRIVATE_ZERO..PRIVATE_ZERO + 10).contains(&u32::from(c))
}

/// The digits of a text in the private alphabet; everything else is left out.
fn encode_digits(text: &str) -> String {
    text.chars()
        .filter_map(|c| c.to_digit(10))
        .filter_map(|digit| char::from_u32(PRIVATE_ZERO + digit))
        .collect()
}

/// The text that a store indexes for a contact and in which a [`SearchQuery`] searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchText(String);

impl SearchText {
    /// The search text of a contact. The phone, or an identifier that is one, is in it as text and,
    /// in the private alphabet, as the digits of every form it has. A field that another one
    /// contains is left out, since it adds no match.
    pub fn of(
        name: &str,
        display_name: &str,
        email: Option<&Email>,
        identifier: &str,
        phone: Option<&Phone>,
    ) -> Self {
        let phone_text = phone.map(Phone::as_str);
        let fields = [
            Some(name),
            Some(display_name),
            email.map(Email::as_str),
            phone_text,
            Some(identifier),
        ];
        let number = phone.cloned().or_else(|| Phone::on_channel(identifier));
        let aliases = number.as_ref().map(Phone::aliases).unwrap_or_default();
        let digits = aliases.iter().map(|alias| encode_digits(alias));

        let mut text = String::new();
        for field in fields.into_iter().flatten().map(normalize).chain(digits) {
            if !field.is_empty() && !text.contains(&field) {
                text.push_str(&field);
                text.push(SEPARATOR);
            }
        }
        text.push(SEPARATOR);
        Self(text)
    }

    /// The text to store and index.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a search is not acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// Too many characters, after trimming.
    #[error("must have at most 200 characters")]
    TooLong,
    /// A control character.
    #[error("must not contain control characters")]
    Control,
}

/// A search for contacts: they match when their [`SearchText`] contains one of its needles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    needles: Vec<String>,
}

impl SearchQuery {
    /// Reads a search. `None` means no filter: nothing is left after trimming, or nothing but
    /// what [`normalize`] does not keep (R2).
    ///
    /// # Errors
    ///
    /// [`SearchError`] when it holds a control character or is too long.
    pub fn parse(input: &str) -> Result<Option<Self>, SearchError> {
        let trimmed = input.trim();
        if trimmed.chars().any(char::is_control) {
            return Err(SearchError::Control);
        }
        if trimmed.chars().count() > MAX_QUERY_CHARS {
            return Err(SearchError::TooLong);
        }
        let folded = normalize(trimmed);
        if folded.trim().is_empty() {
            return Ok(None);
        }
        let digits = encode_digits(&folded);
        let phone_like = folded.chars().all(|c| c.is_ascii_digit() || " +-().".contains(c))
            && digits.chars().count() >= MIN_PHONE_DIGITS;
        let needles = if phone_like { vec![folded, digits] } else { vec![folded] };
        Ok(Some(Self { needles }))
    }

    /// The texts to search for; never empty, and no needle is empty. The second one, where there is
    /// one, is the digits of a phone.
    pub fn needles(&self) -> &[String] {
        &self.needles
    }

    /// Whether the contact is found: every store must answer as this does.
    pub fn matches(&self, text: &SearchText) -> bool {
        self.needles.iter().any(|needle| text.as_str().contains(needle))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    use super::super::Region;
    use super::*;
    use crate::strategies;

    fn named(name: &str) -> SearchText {
        SearchText::of(name, "", None, "", None)
    }

    fn with_phone(phone: &str) -> SearchText {
        let phone = Phone::parse(phone, &Region::br()).unwrap();
        SearchText::of("Sala 3499", "", None, phone.digits(), Some(&phone))
    }

    fn finds(query: &str, text: &SearchText) -> bool {
        SearchQuery::parse(query).unwrap().unwrap().matches(text)
    }

    #[test]
    fn case_and_accents_make_no_difference() {
        assert!(finds("joao", &named("João da Conceição")));
        assert!(finds("CONCEICAO", &named("João da Conceição")));
        assert!(finds("joão", &named("Joao")));
        assert!(finds("jo\u{e3}o", &named("joa\u{303}o")));
        assert!(finds("d'avila", &named("D’Ávila")));
        assert!(finds("strasse", &named("Straße")));
        assert!(finds("soren", &named("Søren")));
        assert!(finds("lodz", &named("Łódź")));
        assert!(finds("istanbul", &named("İstanbul")));
        assert!(finds("σοφος", &named("ΣΟΦΌΣ")));
        assert!(!finds("maria", &named("João")));
    }

    #[test]
    fn letters_without_a_decomposition_are_found_by_the_ones_they_are_written_with() {
        for (written, query) in [
            ("Æsop", "aesop"),
            ("Œuvre", "oeuvre"),
            ("Þór", "thor"),
            ("Đorđe", "dorde"),
            ("Ħal", "hal"),
            ("Ŧara", "tara"),
            ("Ŋgo", "ngo"),
            ("Aydın", "aydin"),
            ("“Ana”", "\"ana\""),
            ("Ana–Lu", "ana-lu"),
        ] {
            assert!(finds(query, &named(written)), "{written}");
        }
    }

    #[test]
    fn every_native_field_is_searched() {
        let phone = Phone::parse("34 99123-4567", &Region::br()).unwrap();
        let email = Email::parse("ana@x.com").unwrap();
        let text = SearchText::of("Ana", "Aninha", Some(&email), "g-77", Some(&phone));
        for query in ["ana", "NINHA", "@x.com", "g-77", "+55349", "67"] {
            assert!(finds(query, &text), "{query}");
        }
        assert!(!finds("ana aninha", &text), "a match does not span fields");
    }

    #[test]
    fn phone_digits_match_whatever_the_punctuation_with_and_without_the_ninth() {
        let text = with_phone("+55 34 99123-4567");
        for query in [
            "34991234567",
            "(34) 99123-4567",
            "(34) 9123-4567",
            "+55 34 9123.4567",
            "553491234567",
            "9123-4567",
            "123 4567",
            "4.5.6",
        ] {
            assert!(finds(query, &text), "{query}");
        }
        assert!(!finds("(34) 8123-4567", &text));
        assert!(!finds("34 x 99123", &text), "other characters make it a text search");
        assert!(!finds("9-9", &text), "fewer than three digits make it a text search");
    }

    /// D15.
    #[test]
    fn phone_digits_match_in_every_form_of_the_number() {
        let abroad = |phone: &str| {
            let phone = Phone::parse(phone, &Region::br()).unwrap();
            SearchText::of("", "", None, "123@lid", Some(&phone))
        };
        for phone in ["+52 55 1234 5678", "+5215512345678"] {
            for query in ["+52 1 55 1234-5678", "52 55 1234 5678", "1 55 12", "(55) 1234"] {
                assert!(finds(query, &abroad(phone)), "{query}");
            }
        }
        for phone in ["+54 11 2345 6789", "+54 9 11 2345 6789"] {
            for query in ["+54 9 11 2345-6789", "54 11 2345 6789", "9 11 23", "(11) 2345"] {
                assert!(finds(query, &abroad(phone)), "{query}");
            }
        }
        let by_identifier = SearchText::of("", "", None, "5215512345678", None);
        assert!(finds("+52 55 1234-5678", &by_identifier));
        assert!(!finds("+52 55 1234-5679", &by_identifier));
    }

    #[test]
    fn a_phone_search_does_not_find_digits_of_a_name() {
        let text = named("Sala 3499");
        assert!(finds("3499", &text));
        assert!(!finds("34-99", &text));
        assert!(finds("34-99", &with_phone("34 99123-4567")));
    }

    #[test]
    fn the_private_alphabet_cannot_be_forged() {
        let forged: String = encode_digits("34991234567");
        assert!(!finds("34-991234567", &named(&forged)));
        assert_eq!(SearchQuery::parse(&forged), Ok(None));
        assert!(!finds(&format!("a{forged}"), &with_phone("34 99123-4567")));
        assert_eq!(named("a\u{1f}b\nc").as_str(), "a b c\u{1f}\u{1f}");
    }

    #[test]
    fn fields_are_terminated_and_not_repeated() {
        let text = SearchText::of("Ana", "ANA", None, "an", None);
        assert_eq!(text.as_str(), "ana\u{1f}\u{1f}");
        assert_eq!(SearchText::of("", "", None, "", None).as_str(), "\u{1f}");
    }

    #[test]
    fn an_empty_search_is_no_filter() {
        for query in ["", "   ", "\n", "\u{301}", "\u{200b}"] {
            assert_eq!(SearchQuery::parse(query), Ok(None), "{query:?}");
        }
    }

    /// R2.
    #[test]
    fn long_searches_and_control_characters_are_refused() {
        assert!(SearchQuery::parse(&format!(" {} ", "ã".repeat(200))).is_ok());
        assert_eq!(SearchQuery::parse(&"ã".repeat(201)), Err(SearchError::TooLong));
        for query in ["a\nb", "a\tb", "a\0b", "a\u{1f}b"] {
            assert_eq!(SearchQuery::parse(query), Err(SearchError::Control));
        }
    }

    #[test]
    fn folding_any_character_twice_changes_nothing_more() {
        for c in '\0'..=char::MAX {
            let once = normalize(c.encode_utf8(&mut [0; 4]));
            assert_eq!(normalize(&once), once, "U+{:04X}", u32::from(c));
            assert!(!once.chars().any(|c| c.is_control() || private_digit(c)));
        }
    }

    proptest! {
        #[test]
        fn composed_and_decomposed_texts_fold_alike(input in any::<String>()) {
            let folded = normalize(&input);
            prop_assert_eq!(&normalize(&input.nfc().collect::<String>()), &folded);
            prop_assert_eq!(&normalize(&input.nfd().collect::<String>()), &folded);
            prop_assert_eq!(&normalize(&input.nfkc().collect::<String>()), &folded);
        }

        #[test]
        fn any_part_of_any_name_is_found(
            before in any::<String>(),
            part in any::<String>(),
            after in any::<String>(),
        ) {
            let text = named(&format!("{before}{part}{after}"));
            if let Ok(Some(query)) = SearchQuery::parse(&part) {
                prop_assert!(query.matches(&text));
            }
        }

        #[test]
        fn a_name_is_found_in_capitals(name in strategies::names()) {
            prop_assert!(finds(&name.to_uppercase(), &named(&name)));
        }

        #[test]
        fn a_phone_is_found_in_any_notation_of_its_number(phone in strategies::phones()) {
            let text = SearchText::of("", "", None, "", Some(&phone));
            prop_assert!(finds(&phone.international(), &text));
            for alias in phone.aliases() {
                prop_assert!(finds(&alias, &text));
                let punctuated = format!("({}) {}", &alias[..3], &alias[3..]);
                prop_assert!(finds(&punctuated, &text));
            }
        }

        /// R4.
        #[test]
        fn every_short_part_begins_a_trigram(name in strategies::names()) {
            let text = named(&name);
            let chars: Vec<char> = text.as_str().chars().collect();
            let trigrams: Vec<String> = chars.windows(3).map(|w| w.iter().collect()).collect();
            for part in chars.windows(2).filter(|w| w.iter().all(|c| *c != SEPARATOR)) {
                let two: String = part.iter().collect();
                prop_assert!(trigrams.iter().any(|t| t.starts_with(&two)));
                prop_assert!(trigrams.iter().any(|t| t.starts_with(part[1])));
            }
        }
    }
}
