//! Reading what is to be sent (4.8, D33, D34, D71).

use serde_json::{Map, Value};

use super::{SendError, SendTarget};
use crate::body::{IntoBody, Optional, Required, body};
use crate::contacts::{Phone, Region};
use crate::form::Form;
use crate::groups::GroupCode;
use crate::ids::{ConnectionId, ContactId, MessageId};
use crate::text;

/// The recipient of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendRecipient {
    /// Whoever has this phone.
    Phone(Phone),
    /// Whoever the channel knows by this number. It was written as channels do, without `+`, and is
    /// no number of the company's region: it means a contact that has it, and is no phone where
    /// nobody has (D14, D16).
    Shown(Phone),
    /// A group or community.
    Group(GroupCode),
}

/// How a send names its recipient (D71).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendAddress {
    /// By `to`.
    To(SendRecipient),
    /// By `contact_id`.
    Contact(ContactId),
    /// By both, which have to mean one contact.
    Both(SendRecipient, ContactId),
}

impl SendAddress {
    /// The address in `to` and `contact_id`, of which one is there. A blank `to` is none.
    ///
    /// # Errors
    ///
    /// [`SendError::InvalidPhone`]; [`SendError::MissingField`] where neither is there.
    pub(super) fn read(
        to: Option<&str>,
        contact: Option<ContactId>,
        group_suffix: &str,
        region: &Region,
    ) -> Result<Self, SendError> {
        let to = to.filter(|to| !to.trim().is_empty());
        let to = to.map(|to| recipient(to, group_suffix, region)).transpose()?;
        match (to, contact) {
            (Some(to), None) => Ok(Self::To(to)),
            (None, Some(contact)) => Ok(Self::Contact(contact)),
            (Some(to), Some(contact)) => Ok(Self::Both(to, contact)),
            (None, None) => Err(SendError::MissingField(vec!["to"])),
        }
    }

    /// The number that has to be a contact's.
    pub(super) const fn shown(&self) -> Option<&Phone> {
        match self {
            Self::To(SendRecipient::Shown(phone)) | Self::Both(SendRecipient::Shown(phone), _) => {
                Some(phone)
            }
            Self::To(_) | Self::Contact(_) | Self::Both(..) => None,
        }
    }

    /// Whom it names, and the contact that this has to be.
    pub(super) fn target(self) -> (SendTarget, Option<ContactId>) {
        let named = |to| match to {
            SendRecipient::Phone(phone) | SendRecipient::Shown(phone) => SendTarget::Phone(phone),
            SendRecipient::Group(code) => SendTarget::Group(code),
        };
        match self {
            Self::To(to) => (named(to), None),
            Self::Contact(contact) => (SendTarget::Contact(contact), None),
            Self::Both(to, contact) => (named(to), Some(contact)),
        }
    }
}

/// The body of a text send, read.
#[derive(Clone, PartialEq, Eq)]
pub struct TextDraft {
    /// The recipient.
    pub to: SendAddress,
    /// The text, as it was given.
    pub message: String,
    /// The connection that was asked for.
    pub connection: Option<ConnectionId>,
    /// The message that it answers.
    pub quoted: Option<MessageId>,
}

impl TextDraft {
    /// Reads `to` or `contact_id`, `message` and `connection_id`.
    ///
    /// # Errors
    ///
    /// In this order: missing fields (null, empty and blank included), all fields of the wrong
    /// type, form or length, a `to` that is no recipient.
    pub fn parse(
        body: impl IntoBody<SendMessage>,
        group_suffix: &str,
        region: &Region,
    ) -> Result<Self, SendError> {
        let body = &*body.into_map();
        require(body, &["message"])?;
        let SendMessage { message, to, contact, connection, quoted } = SendMessage::parse(body)?;
        let to = SendAddress::read(to.as_deref(), contact, group_suffix, region)?;
        Ok(Self { to, message, connection, quoted })
    }
}

impl std::fmt::Debug for TextDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextDraft").field("connection", &self.connection).finish_non_exhaustive()
    }
}

/// Names what is not there of `to`, for which `contact_id` may stand (D71), and `content`: missing,
/// null, empty or blank.
pub(super) fn require(
    body: &Map<String, Value>,
    content: &[&'static str],
) -> Result<(), SendError> {
    let nobody = is_missing(body, "to") && is_missing(body, "contact_id");
    let missing = nobody.then_some("to").into_iter();
    let content = content.iter().filter(|field| is_missing(body, field)).copied();
    let missing: Vec<&'static str> = missing.chain(content).collect();
    if missing.is_empty() { Ok(()) } else { Err(SendError::MissingField(missing)) }
}

/// Whether a field is missing, null, empty or blank.
pub(super) fn is_missing(body: &Map<String, Value>, field: &str) -> bool {
    match body.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}

/// To whom a message goes, as the body of a send names it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SendTo {
    pub(crate) to: Option<String>,
    pub(crate) contact: Option<ContactId>,
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) quoted: Option<MessageId>,
}

/// A `to` ending in `@<group_suffix>` is a group or community code; anything else is a phone, or
/// what a contact without a phone shows as one: the number as its channel writes it (D16, D34).
fn recipient(to: &str, group_suffix: &str, region: &Region) -> Result<SendRecipient, SendError> {
    if GroupCode::is_meant(to, group_suffix) {
        let code = GroupCode::parse(to, group_suffix).ok_or(SendError::InvalidPhone)?;
        return Ok(SendRecipient::Group(code));
    }
    let is_digits = to.trim().bytes().all(|b| b.is_ascii_digit());
    let shown = || Phone::on_channel(to).filter(|_| is_digits).map(SendRecipient::Shown);
    let phone = Phone::parse(to, region).ok().map(SendRecipient::Phone);
    phone.or_else(shown).ok_or(SendError::InvalidPhone)
}

/// `to`, as it was sent.
pub(crate) struct RecipientText;

impl Form for RecipientText {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let to = value.as_str().ok_or("must be a string")?;
        if to.chars().count() > text::SHORT {
            return Err(format!("must have at most {} characters", text::SHORT));
        }
        Ok(to.to_owned())
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|schema| {
            crate::openapi::example(schema.max_length(Some(text::SHORT)), "+55 11 98765-4321")
        })
    }
}

/// A text as it is sent (D9, D34).
pub(crate) struct MessageText;

impl Form for MessageText {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let message = value.as_str().ok_or("must be a string")?;
        text::as_sent(message, text::MESSAGE).map_err(|error| error.to_string())
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|schema| schema.max_length(Some(text::MESSAGE)))
    }
}

/// A text of at most `MAX` characters as it is sent; a blank one counts as null (D9, D34).
pub(crate) struct Said<const MAX: usize>;

impl<const MAX: usize> Form for Said<MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let said = value.as_str().ok_or("must be a string")?;
        text::as_sent(said, MAX).map_err(|error| error.to_string())
    }

    fn is_blank(value: &Value) -> bool {
        crate::form::is_blank_text(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|schema| schema.max_length(Some(MAX)))
    }
}

body! {
    /// A text to be sent.
    #[derive(Clone, PartialEq, Eq)]
    pub struct SendMessage as "SendMessage" {
        /// The text, as it arrives.
        message: String = Required<MessageText>,
        /// A phone number, or the code of a group or community. Needed where there is no
        /// `contact_id`.
        to: Option<String> = Optional<RecipientText>,
        /// The contact, in place of `to`: it is reached by the name that the connection's channel
        /// knows it by. Where both are given they have to mean one contact.
        contact as "contact_id": Option<ContactId> = Optional<ContactId>,
        connection as "connection_id": Option<ConnectionId> = Optional<ConnectionId>,
        /// The message of this contact that it answers.
        quoted as "quoted_message_id": Option<MessageId> = Optional<MessageId>,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parse(body: Value) -> Result<TextDraft, SendError> {
        let body = body.as_object().expect("an object").clone();
        TextDraft::parse(&body, "g.us", &Region::br())
    }

    #[test]
    fn what_is_missing_comes_before_everything_else() {
        for blank in [json!(null), json!(""), json!("  ")] {
            let body = json!({"to": blank, "message": 5, "wrong": 1, "connection_id": "x"});
            assert_eq!(parse(body), Err(SendError::MissingField(vec!["to"])));
        }
        assert_eq!(parse(json!({})), Err(SendError::MissingField(vec!["to", "message"])));
    }

    #[test]
    fn all_that_is_wrong_is_named_at_once_before_the_phone_is_read() {
        let body = json!({
            "to": "no phone", "message": 5, "wrong": 1, "connection_id": "x", "contact_id": "y",
        });
        let Err(SendError::Invalid(problems)) = parse(body) else { panic!("not refused") };
        let fields: Vec<&str> = problems.fields().collect();
        assert_eq!(fields, ["message", "contact_id", "connection_id", "wrong"]);
    }

    #[test]
    fn a_draft_is_printed_without_its_recipient_and_its_text() {
        let draft = parse(json!({"to": "+55 11 98765-4321", "message": "secret"})).expect("read");
        let printed = format!("{draft:?}");
        assert!(printed.starts_with("TextDraft"), "{printed}");
        assert!(!printed.contains("98765") && !printed.contains("secret"), "{printed}");
    }

    #[test]
    fn a_recipient_has_at_most_200_characters() {
        for (count, is_read) in [(200, true), (201, false), (202, false)] {
            let to = Value::String("é".repeat(count));
            assert_eq!(RecipientText::read(&to).is_ok(), is_read, "{count}");
        }
    }

    /// D71.
    #[test]
    fn a_contact_stands_in_place_of_to_or_beside_it() {
        let id = ContactId::new(uuid::Uuid::from_u128(7));
        let to = |body: Value| parse(body).map(|draft| draft.to);
        for absent in [json!(null), json!(""), json!(" ")] {
            let body = json!({"to": absent, "contact_id": id, "message": "Oi"});
            assert_eq!(to(body), Ok(SendAddress::Contact(id)));
        }
        let both = to(json!({"to": "+5511987654321", "contact_id": id, "message": "Oi"}));
        assert!(
            matches!(both, Ok(SendAddress::Both(SendRecipient::Phone(_), known)) if known == id)
        );
        let neither = json!({"contact_id": null, "message": " "});
        assert_eq!(to(neither), Err(SendError::MissingField(vec!["to", "message"])));
        let wrong = json!({"to": "12", "contact_id": id, "message": "Oi"});
        assert_eq!(to(wrong), Err(SendError::InvalidPhone));
        for wrong in [json!("x"), json!(5), json!({})] {
            let body = json!({"contact_id": wrong, "message": "Oi"});
            assert!(matches!(to(body), Err(SendError::Invalid(_))), "{wrong}");
        }
    }

    /// D34.
    #[test]
    fn what_ends_like_a_group_is_one_and_all_else_is_a_phone() {
        let to = |to: &str| parse(json!({"to": to, "message": "Oi"})).map(|draft| draft.to);
        let group = to("120363041234567890@g.us");
        assert!(matches!(group, Ok(SendAddress::To(SendRecipient::Group(_)))));
        let phone = to("+55 11 98765-4321");
        assert!(matches!(phone, Ok(SendAddress::To(SendRecipient::Phone(_)))));
        for wrong in ["@g.us", "a b@g.us", "120@x.us", "123", "abc"] {
            assert_eq!(to(wrong), Err(SendError::InvalidPhone), "{wrong}");
        }
    }

    /// D14, D16.
    #[test]
    fn digits_of_another_country_without_plus_may_be_what_a_contact_shows() {
        let to = |to: &str| parse(json!({"to": to, "message": "Oi"})).map(|draft| draft.to);
        for (digits, phone) in
            [("5215512345678", "+525512345678"), ("351912345678", "+351912345678")]
        {
            let Ok(address) = to(digits) else { panic!("{digits} is refused") };
            assert_eq!(address.shown().map(Phone::as_str), Some(phone));
        }
        assert_eq!(to("5215512345678@c.us"), Err(SendError::InvalidPhone));
        for phone in ["+5215512345678", "5511987654321", "+351912345678"] {
            let Ok(address) = to(phone) else { panic!("{phone} is refused") };
            assert_eq!(address.shown(), None, "{phone} is a phone, whoever has it");
        }
    }

    /// D34.
    #[test]
    fn a_text_is_kept_as_it_was_sent() {
        let draft = parse(json!({"to": "+5511987654321", "message": "  Oi \r\n"})).expect("valid");
        assert_eq!(draft.message, "  Oi \n");
    }

    /// D9.
    #[test]
    fn the_limit_of_a_text_is_4096_characters_with_the_white_space_around_it() {
        let send = |message: String| parse(json!({"to": "+5511987654321", "message": message}));
        for longest in ["ã".repeat(4096), format!("{}Oi", " ".repeat(4094)), "\r\na".repeat(2048)]
        {
            assert!(send(longest.clone()).is_ok());
            assert!(matches!(send(longest + " "), Err(SendError::Invalid(_))));
        }
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(to in any::<String>(), message in any::<String>()) {
            let _ = parse(json!({"to": to, "message": message}));
        }
    }
}
