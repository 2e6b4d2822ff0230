//! Votes in polls (X6), and ids of events that the gateway gives none.

use recado_core::messages::{
    Answer, AnswerKind, Blocks, Interactive, ProviderMessageId, SystemKind, SystemNotice,
};
use serde_json::{Value, json};

use super::proto::plain;

/// How many options are read at most.
const MAX_OPTIONS: usize = 100;
/// The most bytes of a part of an id.
const MAX_PART: usize = 120;

/// The vote for these options; none of them is a vote that was withdrawn.
pub(crate) fn vote(options: &[String]) -> Blocks {
    let title = (!options.is_empty()).then(|| options.join(", "));
    let response = Some(json!({ "options": options }));
    let answer = Answer { title, response, ..Answer::new(AnswerKind::PollVote) };
    Blocks { interactive: Some(Interactive::Answer(answer)), ..Blocks::default() }
}

/// The options that were chosen, as texts or as objects with a name; `None` if it is no list of
/// them, or if one of them is only a hash.
pub(crate) fn options(chosen: Option<&Value>) -> Option<Vec<String>> {
    names_of(chosen?.as_array()?.iter().map(option_name))
}

/// The name of an option, which is a text or an object with it.
pub(crate) fn option_name(option: &Value) -> Option<&str> {
    let named = || ["name", "optionName"].iter().find_map(|name| option.get(*name)?.as_str());
    option.as_str().or_else(named)
}

/// The options with these names, as far as so many are read; `None` if one of them has no name.
pub(crate) fn names_of<'a>(chosen: impl Iterator<Item = Option<&'a str>>) -> Option<Vec<String>> {
    chosen.take(MAX_OPTIONS).map(|name| name.and_then(plain)).collect()
}

/// The blocks of a notice.
pub(crate) fn notice(kind: SystemKind, text: Option<String>) -> Blocks {
    Blocks { system: Some(SystemNotice { kind, text }), ..Blocks::default() }
}

/// An id of an event that the gateway gives none: `sort/part/part…`. The same event has the same
/// id, so that a repeat of it is a duplicate.
pub(crate) fn derived_id(sort: &str, parts: &[&str]) -> Option<ProviderMessageId> {
    let mut id = sort.to_owned();
    for part in parts {
        id.push('/');
        id.push_str(&part[..part.floor_char_boundary(MAX_PART)]);
    }
    ProviderMessageId::parse(&id)
}

/// A short name of a content, to tell two votes apart (FNV-1a).
pub(crate) fn digest(parts: &[String]) -> String {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xFF]));
    let mixed = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    format!("{:016x}", bytes.fold(0xCBF2_9CE4_8422_2325, mixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X6.
    #[test]
    fn a_vote_names_its_options_and_none_when_it_is_withdrawn() {
        let words =
            |options: &[&str]| options.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let read = |options: &[&str]| match vote(&words(options)).interactive {
            Some(Interactive::Answer(answer)) => (answer.title, answer.response),
            other => panic!("no answer: {other:?}"),
        };
        let both = Some("Hoje, Amanhã".to_owned());
        assert_eq!(read(&["Hoje", "Amanhã"]), (both, Some(json!({"options": ["Hoje", "Amanhã"]}))));
        assert_eq!(read(&[]), (None, Some(json!({"options": []}))));
    }

    /// X6.
    #[test]
    fn options_are_texts_or_names_and_no_hashes() {
        let some = Some(vec!["A".to_owned(), "B".to_owned()]);
        assert_eq!(options(Some(&json!(["A", "B"]))), some);
        assert_eq!(options(Some(&json!([{"name": "A"}, {"optionName": "B"}]))), some);
        assert_eq!(options(Some(&json!([]))), Some(Vec::new()));
        for unknown in [json!(null), json!("A"), json!([{"type": "Buffer", "data": [1]}])] {
            assert_eq!(options(Some(&unknown)), None, "{unknown}");
        }
    }

    #[test]
    fn the_same_event_has_the_same_id() {
        let long = "é".repeat(400);
        let id = |part: &str| derived_id("vote", &["3EB0", part]).expect("an id");
        assert_eq!(id("1").as_str(), "vote/3EB0/1");
        assert_eq!(id(&long), id(&long));
        assert_ne!(digest(&["A".to_owned(), "B".to_owned()]), digest(&["AB".to_owned()]));
    }
}
