//! Kept events of a person: they are erased with the contact (X9).

use super::{Contact, Phone};
use crate::Timestamp;
use crate::conversations::ChannelQuery;
use crate::gateway::{KeptOrder, KeptQuery, UnknownEvent};
use crate::ids::UnknownEventId;
use crate::store::{Reads, StoreError, Stored};

/// How many events are read at a time.
const STEP: u32 = 50;
/// The fewest digits of a number that is looked for without its context.
const DIGITS: usize = 8;
/// The shortest other name that is looked for.
const NAME: usize = 3;

/// What identifies a person in the text of an event.
#[derive(Debug, Default)]
struct PersonNames {
    /// Numbers in every form of D15.
    numbers: Vec<String>,
    /// Other names of the channel, as they are written.
    others: Vec<String>,
}

impl PersonNames {
    fn of<'a>(contact: &'a Contact, aliases: impl Iterator<Item = &'a str>) -> Self {
        let mut names = Self::default();
        for name in aliases.chain([contact.identifier.as_str()]) {
            let phone = Phone::on_channel(name);
            names.numbers.extend(phone.iter().flat_map(Phone::aliases));
            let digits: String = name.chars().filter(char::is_ascii_digit).collect();
            let is_number = name.strip_suffix("@lid").unwrap_or(name) == digits;
            match is_number && digits.len() >= DIGITS {
                true => names.numbers.push(digits),
                false => names.others.push(name.to_owned()),
            }
        }
        names.numbers.extend(contact.phone.iter().flat_map(Phone::aliases));
        names.numbers.retain(|digits| digits.len() >= DIGITS);
        names.others.retain(|name| name.chars().count() >= NAME);
        for names in [&mut names.numbers, &mut names.others] {
            names.sort();
            names.dedup();
        }
        names
    }

    /// Whether a text names the person. Between the digits of a number may be what people write
    /// there.
    fn are_in(&self, text: &str) -> bool {
        let between = |c: &char| matches!(c, ' ' | '-' | '(' | ')' | '.' | '\u{a0}');
        let squeezed: String = text.chars().filter(|c| !between(c)).collect();
        self.numbers.iter().any(|digits| squeezed.contains(digits.as_str()))
            || self.others.iter().any(|name| stands_in(text, name))
    }
}

/// Whether a name stands in a text, and not as a part of a longer one.
fn stands_in(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Reads the kept events of a contact's company that are about the contact or name it (X9). There
/// are few of them, and mostly none.
#[derive(Debug)]
pub(crate) struct KeptOfPerson<'a> {
    contact: &'a Contact,
    names: Option<PersonNames>,
    after: Option<(Timestamp, UnknownEventId)>,
    is_done: bool,
}

impl<'a> KeptOfPerson<'a> {
    pub(crate) const fn new(contact: &'a Contact) -> Self {
        Self { contact, names: None, after: None, is_done: false }
    }

    /// Some more of them; `None` after the last.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn next(
        &mut self,
        store: &dyn Reads,
    ) -> Result<Option<Vec<Stored<UnknownEvent>>>, StoreError> {
        if self.is_done {
            return Ok(None);
        }
        let (contact, order) = (self.contact, KeptOrder::OldestFirst { after: self.after });
        let query = KeptQuery { connection: None, kind: None, order, limit: STEP };
        let page = store.unknown_events(contact.company, &query).await?.events;
        self.is_done = page.len() < STEP as usize;
        if self.names.is_none() && !page.is_empty() {
            let query = ChannelQuery { ids: vec![contact.id], ..ChannelQuery::default() };
            let known = store.channel_contacts(contact.company, &query).await?;
            let aliases = known.iter().flat_map(|known| &known.aliases).map(|key| key.as_str());
            self.names = Some(PersonNames::of(contact, aliases));
        }
        self.after = page.last().map(|event| (event.received_at, event.id));
        let is_of_it = |event: &Stored<UnknownEvent>| {
            event.contact == Some(contact.id) || self.are_in(event.body.expose())
        };
        Ok(Some(page.into_iter().filter(is_of_it).collect()))
    }

    /// Whether a text of an event names the contact. Nothing does before the first event was read.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        self.names.as_ref().is_some_and(|names| names.are_in(text))
    }
}

/// All of [`KeptOfPerson`].
///
/// # Errors
///
/// When the store fails.
pub(super) async fn kept_of(
    store: &dyn Reads,
    contact: &Contact,
) -> Result<Vec<Stored<UnknownEvent>>, StoreError> {
    let (mut found, mut kept) = (Vec::new(), KeptOfPerson::new(contact));
    while let Some(page) = kept.next(store).await? {
        found.extend(page);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::Timestamp;
    use crate::contacts::{Identifier, Platform};
    use crate::ids::{CompanyId, ContactId};

    fn names(identifier: &str, aliases: &[&str]) -> PersonNames {
        let contact = Contact::new(
            ContactId::new(Uuid::from_u128(1)),
            CompanyId::new(Uuid::from_u128(2)),
            Platform::whatsapp(),
            Identifier::parse(identifier).expect("an identifier"),
            Phone::on_channel(identifier),
            Timestamp::from_millis(0),
        );
        PersonNames::of(&contact, aliases.iter().copied())
    }

    /// X9, D15.
    #[test]
    fn a_body_names_a_person_by_any_form_of_a_number() {
        let person = names("553491230001", &["123456789012345@lid"]);
        for body in [
            r#"{"from":"553491230001@c.us"}"#,
            r#"{"from":"5534991230001@c.us"}"#,
            r#"{"tel":"+55 (34) 99123-0001"}"#,
            r#"{"sender":"123456789012345@lid"}"#,
            r#"{"sender":{"user":"123456789012345"}}"#,
        ] {
            assert!(person.are_in(body), "{body}");
        }
        for body in [r#"{"from":"5534991230002@c.us"}"#, r#"{"at":1763000000000}"#, "{}"] {
            assert!(!person.are_in(body), "{body}");
        }
    }

    /// X9: a name that is no number counts as a whole word only.
    #[test]
    fn other_names_stand_alone() {
        let person = names("BR.abc", &["x"]);
        assert!(person.are_in(r#"{"user_id":"BR.abc"}"#));
        assert!(!person.are_in(r#"{"user_id":"BR.abcd","x":"xBR.abc"}"#));
        assert!(!person.are_in(r#"{"x":"x"}"#), "too short to mean anybody");
    }
}
