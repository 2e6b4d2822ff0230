//! Blocks within limits (X2). A gateway's message is never refused for the size of its blocks.

use serde_json::Value;

use super::degrees::rounded;
use super::{Blocks, Interactive};
use crate::text::kept;

/// The most characters of a text in a block.
const MAX_TEXT: usize = 4_096;
/// The most entries of a list in a block, and of the object that a form answered.
const MAX_ENTRIES: usize = 100;
/// The most bytes of all blocks of a message, as JSON. If they have more, texts and lists are cut
/// again, at lower limits: lists may stand in lists.
const MAX_BLOCKS: usize = 256 * 1024;
/// The lower limits of texts and of lists.
const LOWER: [(usize, usize); 3] = [(512, 100), (128, 20), (32, 5)];
/// The most bytes of the object that a form answered.
const MAX_RESPONSE: usize = 65_536;
/// How deep the object that a form answered is at most: readers of JSON refuse what is too deep.
const MAX_DEPTH: usize = 32;

impl Blocks {
    /// The blocks with texts of at most 4,096 characters, without control characters, with the
    /// first 100 entries of each list, and with at most nine decimals of degrees. A longer text
    /// ends in `…`. The total of an order is that of all its items.
    #[must_use]
    pub fn tidied(mut self) -> Self {
        if self.is_empty() {
            return self;
        }
        if let Some(Interactive::Answer(answer)) = &mut self.interactive {
            answer.response = answer.response.take().map(response);
            *answer = answer.clone().with_choice();
        }
        self.order = self.order.map(super::Order::with_total);
        if let Some(location) = &mut self.location {
            for degrees in [&mut location.latitude, &mut location.longitude] {
                *degrees = rounded(degrees);
            }
        }
        let mut value = serde_json::to_value(&self).expect("blocks are JSON");
        cut(&mut value, MAX_TEXT, MAX_ENTRIES);
        for (max_text, max_entries) in LOWER {
            if value.to_string().len() > MAX_BLOCKS {
                cut(&mut value, max_text, max_entries);
            }
        }
        serde_json::from_value(value).expect("shorter texts and lists are still blocks")
    }
}

/// The answer of a form: an object, and not a large one.
fn response(given: Value) -> Value {
    let text = given.to_string();
    match given {
        Value::Object(_) if text.len() <= MAX_RESPONSE && is_within(&given, MAX_DEPTH) => given,
        Value::String(raw) => serde_json::json!({ "raw": raw }),
        _ => serde_json::json!({ "raw": text }),
    }
}

fn is_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| is_within(item, depth - 1)),
        Value::Object(fields) => {
            depth > 0 && fields.values().all(|field| is_within(field, depth - 1))
        }
        _ => true,
    }
}

fn cut_text(text: &str, max: usize) -> String {
    let mut short = kept(text, max + 1);
    if let Some((end, _)) = short.char_indices().nth(max) {
        let last = short[..end].char_indices().next_back().map_or(0, |(last, _)| last);
        short.truncate(last);
        short.push('…');
    }
    short
}

fn cut(value: &mut Value, max_text: usize, max_entries: usize) {
    match value {
        Value::String(text) => *text = cut_text(text, max_text),
        Value::Array(items) => {
            items.truncate(max_entries);
            items.iter_mut().for_each(|item| cut(item, max_text, max_entries));
        }
        Value::Object(fields) => {
            let entries = std::mem::take(fields).into_iter().take(MAX_ENTRIES);
            fields.extend(entries.map(|(name, mut value)| {
                cut(&mut value, max_text, max_entries);
                (cut_text(&name, max_text), value)
            }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{Answer, AnswerKind, Referral, SharedContact};
    use super::*;

    fn with_headline(text: String) -> Blocks {
        let referral = Referral { headline: Some(text), ..Referral::default() };
        Blocks { referral: Some(referral), ..Blocks::default() }
    }

    fn headline(blocks: &Blocks) -> &str {
        blocks.referral.as_ref().and_then(|it| it.headline.as_deref()).expect("a headline")
    }

    /// X2.
    #[test]
    fn a_long_text_is_cut_at_4096_characters_the_last_of_which_is_an_ellipsis() {
        let fits = "é".repeat(4_096);
        assert_eq!(headline(&with_headline(fits.clone()).tidied()), fits);
        let cut = with_headline("é".repeat(4_097)).tidied();
        assert_eq!(headline(&cut), "é".repeat(4_095) + "…");
    }

    /// X2.
    #[test]
    fn control_characters_go_and_lists_keep_their_first_100_entries() {
        assert_eq!(headline(&with_headline("a\u{0}b\u{7}c".to_owned()).tidied()), "abc");
        let cards = vec![SharedContact::default(); 101];
        let blocks = Blocks { shared_contacts: Some(cards), ..Blocks::default() }.tidied();
        assert_eq!(blocks.shared_contacts.map(|cards| cards.len()), Some(100));
    }

    /// X2: a page of messages stays of a size that can be read.
    #[test]
    fn lists_in_lists_of_long_texts_are_cut_further() {
        let text = "x".repeat(4_096);
        let card = SharedContact {
            urls: vec![text.clone(); 100],
            addresses: vec![text; 100],
            ..SharedContact::default()
        };
        let blocks = Blocks { shared_contacts: Some(vec![card; 100]), ..Blocks::default() };
        let once = blocks.tidied();
        let bytes = serde_json::to_string(&once).expect("JSON").len();
        assert!(bytes <= 256 * 1024, "{bytes}");
        assert!(once.shared_contacts.as_ref().is_some_and(|cards| !cards.is_empty()));
        assert_eq!(once.clone().tidied(), once);
    }

    /// X2.
    #[test]
    fn the_answer_of_a_form_that_is_no_object_or_too_large_is_raw() {
        let answered = |response: Value| {
            let answer = Answer { response: Some(response), ..Answer::new(AnswerKind::FlowReply) };
            let interactive = Some(Interactive::Answer(answer));
            match (Blocks { interactive, ..Blocks::default() }).tidied().interactive {
                Some(Interactive::Answer(answer)) => answer.response.expect("a response"),
                other => panic!("no answer: {other:?}"),
            }
        };
        assert_eq!(answered(json!({"a": 1})), json!({"a": 1}));
        assert_eq!(answered(json!("Sim")), json!({"raw": "Sim"}));
        assert_eq!(answered(json!([1])), json!({"raw": "[1]"}));
        let deep = (0..40).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert_eq!(answered(deep.clone()), json!({"raw": deep.to_string()}));
        assert_eq!(answered(json!({"a\u{0}b": {"\u{7}": "c"}})), json!({"ab": {"": "c"}}));
        let large = answered(json!({"a": "x".repeat(70_000)}));
        assert_eq!(large["raw"].as_str().map(str::len), Some(4_095 + '…'.len_utf8()));
    }

    proptest! {
        #[test]
        fn tidying_twice_changes_nothing(text in ".{0,80}", copies in 1..80_usize) {
            let once = with_headline(text.repeat(copies)).tidied();
            prop_assert!(headline(&once).chars().count() <= 4_096);
            prop_assert_eq!(once.clone().tidied(), once);
        }
    }
}
