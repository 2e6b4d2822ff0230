//! Reading address cards (X13).

use serde_json::Value;

use super::declare::sent_content;
use super::forms::{RequiredText, Several, nested};
use crate::body::{Optional, Required, body};
use crate::form::{Form, Name, component};
use crate::gateway::Content;
use crate::messages::{SharedContact, SharedEmail, SharedPhone};

/// The most cards of a message.
const MAX_CARDS: usize = 10;
/// The most phones, or addresses, of a card.
const MAX_LINES: usize = 10;
/// The most characters of a phone or address.
const LINE: usize = 200;

/// 1 to 10 texts.
pub(crate) struct Lines;

impl Form for Lines {
    type Value = Vec<String>;

    fn read(value: &Value) -> Result<Vec<String>, String> {
        let entries = value.as_array().ok_or("must be an array of texts")?;
        if entries.is_empty() || entries.len() > MAX_LINES {
            return Err(format!("must hold 1 to {MAX_LINES} texts"));
        }
        entries.iter().map(RequiredText::<LINE>::read).collect()
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::array(RequiredText::<LINE>::schema(), |lines| {
            lines.min_items(Some(1)).max_items(Some(MAX_LINES))
        })
    }
}

/// A phone as it is written on a card: it has a digit.
pub(crate) struct Phones;

impl Form for Phones {
    type Value = Vec<String>;

    fn read(value: &Value) -> Result<Vec<String>, String> {
        let phones = Lines::read(value)?;
        match phones.iter().all(|phone| phone.bytes().any(|byte| byte.is_ascii_digit())) {
            true => Ok(phones),
            false => Err("must hold phone numbers".to_owned()),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        Lines::schema()
    }
}

body! {
    /// An address card to send.
    #[derive(Clone, PartialEq, Eq)]
    pub struct CardDraft as "ContactCard" {
        /// The name on it.
        name: String = Required<Name>,
        /// At least one.
        phones: Vec<String> = Required<Phones>,
        /// The e-mail addresses on it.
        emails: Option<Vec<String>> = Optional<Lines>,
        /// The organization on it.
        organization: Option<String> = Optional<Name>,
    }
}

nested!(CardDraft);

/// 1 to 10 cards.
pub(crate) type Cards = Several<CardDraft, MAX_CARDS>;

sent_content! {
    /// Address cards.
    SendContacts as "SendContacts", CardsDraft as "ContactCards" {
        /// 1 to 10.
        contacts: Vec<CardDraft> = Required<Cards>,
    }
    names: contacts
}

impl CardsDraft {
    /// The message's content.
    pub(crate) fn content(self) -> Content {
        content(self.contacts)
    }
}

/// The content of a message with these cards.
pub(crate) fn content(cards: Vec<CardDraft>) -> Content {
    let phone = |number: String| SharedPhone { number, kind: None };
    let email = |email: String| SharedEmail { email, kind: None };
    let card = |card: CardDraft| SharedContact {
        name: Some(card.name),
        phones: card.phones.into_iter().map(phone).collect(),
        emails: card.emails.into_iter().flatten().map(email).collect(),
        organization: card.organization,
        ..SharedContact::default()
    };
    Content::Contacts(cards.into_iter().map(card).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_read(cards: Value) -> bool {
        let body = json!({ "contacts": cards });
        CardsDraft::parse(body.as_object().expect("an object")).is_ok()
    }

    /// X13.
    #[test]
    fn a_card_has_a_name_and_at_least_one_phone() {
        let card = json!({"name": "Ana", "phones": ["+55 11 98765-4321"], "emails": ["a@b.c"]});
        assert!(is_read(json!([card])));
        assert!(is_read(json!(vec![card.clone(); 10])) && !is_read(json!(vec![card; 11])));
        for wrong in [
            json!([]),
            json!({}),
            json!([{"phones": ["1"]}]),
            json!([{"name": "Ana"}]),
            json!([{"name": "Ana", "phones": []}]),
            json!([{"name": "Ana", "phones": ["none"]}]),
            json!([{"name": "Ana", "phones": ["1"], "nickname": "A"}]),
        ] {
            assert!(!is_read(wrong.clone()), "{wrong}");
        }
    }
}
