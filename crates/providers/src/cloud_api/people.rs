//! The persons in a webhook: phones, business-scoped ids and names.

use std::collections::HashMap;

use recado_core::contacts::ChannelKey;
use serde_json::Value;

use crate::shared::{array, digits, text_at, word};

/// The longest name of a person on the channel.
const MAX_NAME: usize = 200;

/// A name of a person as the core writes it: a phone is bare digits; `None` if the text is not a
/// name.
pub(super) fn plain_name(written: &str) -> Option<String> {
    let written = written.trim();
    let fits = !written.is_empty()
        && written.len() <= MAX_NAME
        && !written.chars().any(|c| c.is_control() || c.is_whitespace());
    let bare = written.strip_prefix('+').filter(|rest| digits(rest).is_some()).unwrap_or(written);
    fits.then(|| bare.to_owned())
}

/// A name of a person for comparisons: a phone is equal with and without its ninth digit.
pub(super) fn key(written: &str) -> Option<ChannelKey> {
    plain_name(written).as_deref().and_then(ChannelKey::parse)
}

/// A person with all its names in an event, the phone first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedPerson {
    names: Vec<String>,
    pub(super) push_name: Option<String>,
}

impl NamedPerson {
    /// The person that these fields of `value` name, with its further names in `contacts`.
    pub(super) fn of(value: &Value, fields: &[&str], contacts: &Contacts<'_>) -> Self {
        let mut person = Self::default();
        fields.iter().for_each(|field| person.add(value, field));
        if let Some(contact) = person.entry_in(contacts) {
            NAMES.iter().for_each(|field| person.add(contact, field));
            let name = text_at(contact, &["profile", "name"]).unwrap_or_default();
            let name: String = name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
            person.push_name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        }
        // Phones before scoped ids, which change with usernames.
        person.names.sort_by_key(|name| digits(name).is_none());
        person
    }

    /// The entry of `contacts` for the person that these fields of `value` name.
    pub(super) fn entry<'a>(
        value: &Value,
        fields: &[&str],
        contacts: &Contacts<'a>,
    ) -> Option<&'a Value> {
        let mut person = Self::default();
        fields.iter().for_each(|field| person.add(value, field));
        person.entry_in(contacts)
    }

    fn entry_in<'a>(&self, contacts: &Contacts<'a>) -> Option<&'a Value> {
        let first = self.names.iter().filter_map(|name| contacts.by_name.get(name)).min();
        let named = first.and_then(|index| contacts.entries.get(*index));
        named.or_else(|| self.only_one(contacts))
    }

    /// The only contact in `contacts`, unless it may be a different person.
    fn only_one<'a>(&self, contacts: &Contacts<'a>) -> Option<&'a Value> {
        let [contact] = contacts.entries else { return None };
        if contacts.is_sender {
            return Some(contact);
        }
        let keys: Vec<ChannelKey> = names_of(contact).filter_map(|name| key(&name)).collect();
        let is_same = |name: &String| key(name).is_some_and(|own| keys.contains(&own));
        let fits = self.names.is_empty() || keys.is_empty() || self.names.iter().any(is_same);
        fits.then_some(contact)
    }

    /// Its names that hide the phone (X8).
    pub(super) fn hidden_names(&self) -> Vec<String> {
        self.names.iter().filter(|name| digits(name).is_none()).cloned().collect()
    }

    /// Whether it has a name other than a phone.
    pub(super) fn has_scoped_name(&self) -> bool {
        self.names.len() > 1 && self.names.iter().any(|name| digits(name).is_none())
    }

    fn add(&mut self, value: &Value, field: &str) {
        let name = word(value, field).and_then(|name| plain_name(&name));
        self.names.extend(name.filter(|name| !self.names.contains(name)));
    }

    /// The first name, and the others; `None` if it has no name.
    pub(super) fn split(self) -> Option<(String, Vec<String>)> {
        let mut names = self.names.into_iter();
        Some((names.next()?, names.collect()))
    }
}

/// The fields of a message that name its sender.
pub(super) const SENDER: [&str; 3] = ["from", "from_user_id", "from_parent_user_id"];
/// The fields of a contact that name it.
const NAMES: [&str; 3] = ["wa_id", "user_id", "parent_user_id"];

fn names_of(contact: &Value) -> impl Iterator<Item = String> {
    NAMES.iter().filter_map(|field| word(contact, field))
}

/// The `contacts` of a change.
pub(super) struct Contacts<'a> {
    entries: &'a [Value],
    /// The first entry with each name: a history has thousands of messages and of people.
    by_name: HashMap<String, usize>,
    /// Whether the only entry is the sender of the messages, whatever number they name: the
    /// channel's id of a person is not always the phone.
    is_sender: bool,
}

impl<'a> Contacts<'a> {
    /// The entries, any of which may be the person in question.
    pub(super) fn of(value: &'a Value) -> Self {
        Self::listed(array(value, "contacts"))
    }

    fn listed(entries: &'a [Value]) -> Self {
        let mut by_name = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            for name in names_of(entry).filter_map(|name| plain_name(&name)) {
                by_name.entry(name).or_insert(index);
            }
        }
        Self { entries, by_name, is_sender: false }
    }

    /// The entries of a change with messages from contacts. A lone entry is their sender, unless
    /// they come from several people.
    pub(super) fn of_senders(value: &'a Value) -> Self {
        let sender = |message: &Value| SENDER.map(|field| word(message, field));
        let messages = array(value, "messages");
        let is_sender = messages.windows(2).all(|pair| sender(&pair[0]) == sender(&pair[1]));
        Self { is_sender, ..Self::of(value) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(entries: &[Value]) -> Contacts<'_> {
        Contacts::listed(entries)
    }

    #[test]
    fn a_phone_comes_before_a_scoped_id_whoever_names_it() {
        let message = json!({"from_user_id": "BR.1"});
        let contacts = [
            json!({"user_id": "BR.2", "wa_id": "1"}),
            json!({"user_id": "BR.1", "wa_id": "553491234567", "profile": {"name": " Maria "}}),
        ];
        let person = NamedPerson::of(&message, &["from", "from_user_id"], &listed(&contacts));
        assert_eq!(person.push_name.as_deref(), Some("Maria"));
        assert_eq!(person.split(), Some(("553491234567".to_owned(), vec!["BR.1".to_owned()])));
    }

    #[test]
    fn a_contact_that_is_somebody_else_brings_no_name() {
        let contacts = [json!({"wa_id": "2", "user_id": "BR.2", "profile": {"name": "Ana"}})];
        let person = NamedPerson::of(&json!({"from": "+1"}), &["from"], &listed(&contacts));
        assert_eq!(person, NamedPerson { names: vec!["1".to_owned()], push_name: None });
        assert_eq!(NamedPerson::of(&json!({}), &["from"], &listed(&[])).split(), None);
    }

    #[test]
    fn the_only_contact_is_meant_unless_it_is_somebody_else() {
        let ana = json!({"wa_id": "5534991234567", "user_id": "BR.2", "profile": {"name": "Ana"}});
        let names = |message: Value, contacts: &[Value]| {
            let person = NamedPerson::of(&message, &["from"], &listed(contacts));
            (person.push_name.clone(), person.names)
        };
        let both = vec!["5534991234567".to_owned(), "BR.2".to_owned()];
        assert_eq!(names(json!({}), std::slice::from_ref(&ana)), (Some("Ana".to_owned()), both));
        let reported = names(json!({"from": "553491234567"}), std::slice::from_ref(&ana));
        assert_eq!((reported.0.as_deref(), &*reported.1[0]), (Some("Ana"), "553491234567"));
        assert!(reported.1.contains(&"BR.2".to_owned()));
        let nameless = json!({"profile": {"name": "Ana"}});
        let reported = names(json!({"from": "1"}), &[nameless]);
        assert_eq!(reported, (Some("Ana".to_owned()), vec!["1".to_owned()]));
        let other = names(json!({"from": "551140028922"}), std::slice::from_ref(&ana));
        assert_eq!(other, (None, vec!["551140028922".to_owned()]));
        assert_eq!(names(json!({}), &[ana.clone(), ana]), (None, Vec::new()));
    }
}
