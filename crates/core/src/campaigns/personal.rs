//! What a campaign says of each contact: `{contact.first_name}`, `{contact.city|your town}` in its
//! variables, its header and its buttons (X16, R354).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::ContactFault;
use crate::Timestamp;
use crate::contacts::{Contact, ContactListItem, ContactRecord, Identifier, Platform, Related};
use crate::custom_fields::CustomField;
use crate::ids::{CompanyId, ContactId};
use crate::store::{Stored, Version};
use crate::templates::{
    ComposeError, Composed, HeaderValue, OPEN, Piece, Template, TemplateValues, TextPlace, compose,
    field_names, literal_tag, pieces, stand_in,
};
use crate::text::MESSAGE;

/// The field that is no field of 2.1: the first word of the name.
const FIRST_NAME: &str = "first_name";
/// What names a custom field by its slug.
const CUSTOM: &str = "custom.";

/// The fields of 2.1, as the list form writes them. Custom fields have a name of their own, and
/// link clicks are only there when they are asked for.
static NATIVE: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let (id, company) = (ContactId::new(Uuid::nil()), CompanyId::new(Uuid::nil()));
    let identifier = Identifier::parse("nobody").expect("a word is an identifier");
    let contact = Contact::new(id, company, Platform::whatsapp(), identifier, None, Timestamp::MIN);
    let contact = Stored::new(contact, Version::FIRST);
    let record = ContactRecord { contact, related: Related::default() };
    let mut names: BTreeSet<String> =
        Person::new(&record, &[]).fields.into_iter().map(|(name, _)| name).collect();
    names.remove("custom_fields");
    names
});

/// Whether what is given names fields of a contact, so that it differs from one to the next.
pub(super) fn is_personal(values: &TemplateValues) -> bool {
    values.texts().into_iter().any(has_field)
}

/// Whether the file in the header is another one for each contact (R354).
pub(super) fn is_file_personal(header: Option<&HeaderValue>) -> bool {
    matches!(header, Some(HeaderValue::Url { url, .. }) if has_field(url))
}

fn has_field(text: &str) -> bool {
    field_names(text).next().is_some()
}

/// The fields that texts name and no contact of the company has (X16): they are none of 2.1, and no
/// custom field has that slug.
pub(super) fn unknown_fields<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    custom: &[CustomField],
) -> BTreeSet<String> {
    let is_known = |name: &str| match name.strip_prefix(CUSTOM) {
        Some(slug) => custom.iter().any(|field| field.slug == slug),
        None => name == FIRST_NAME || NATIVE.contains(name),
    };
    let named = texts.into_iter().flat_map(field_names);
    named.filter(|name| !is_known(name)).map(|name| format!("contact.{name}")).collect()
}

/// Whether all that begins like a field is one, with a default that may stand in a text (R375).
/// What is not closed would be read by everybody. Those whose field is empty would get nothing,
/// were the default itself a tag that was not filled in.
pub(super) fn is_well_formed(text: &str) -> bool {
    let mut by_default = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) if text.contains(OPEN) => return false,
            Piece::Text(text) => by_default.push_str(text),
            Piece::Field { default: Some(default), .. } if default.contains('{') => return false,
            Piece::Field { default, .. } => by_default.push_str(default.unwrap_or("x")),
        }
    }
    !literal_tag(&by_default)
}

/// What a contact fills in: the fields of 2.1, and its custom fields by slug.
pub(super) struct Person {
    fields: Map<String, Value>,
}

impl Person {
    /// What a contact fills in, given the definitions of its custom fields.
    pub(super) fn new(record: &ContactRecord, custom: &[CustomField]) -> Self {
        let shown = serde_json::to_value(ContactListItem::new(record, custom));
        let fields = match shown.expect("a form holds nothing that JSON cannot write") {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Self { fields }
    }

    /// What it has in a field; empty where that is nothing, and where it is itself a tag that was
    /// not filled in (D49, R291).
    fn value(&self, name: &str) -> String {
        let text = match name.strip_prefix(CUSTOM) {
            Some(slug) => text_of(self.fields.get("custom_fields").and_then(|all| all.get(slug))),
            None if name == FIRST_NAME => {
                let name = text_of(self.fields.get("name"));
                name.split(' ').next().unwrap_or_default().to_owned()
            }
            None => text_of(self.fields.get(name)),
        };
        if literal_tag(&text) { String::new() } else { text }
    }
}

/// A value as it is written in a message: on one line; of an object its name, of a list each item
/// (R291).
fn text_of(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Object(object)) => text_of(object.get("name")),
        Some(Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(|item| text_of(Some(item))).collect();
            items.join(", ")
        }
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is given, filled in for one contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filled {
    /// All of it; where a field is empty, its default stands (X16). A text with a field that is
    /// empty without a default is empty.
    pub(super) values: TemplateValues,
    /// Whether no field was empty without a default.
    pub(super) is_whole: bool,
}

/// Fills in what is given for one contact.
pub(super) fn fill(values: &TemplateValues, person: &Person) -> Filled {
    let mut is_whole = true;
    let values = values.with_texts(|place, text| {
        let filled = filled_in(place, text, person);
        is_whole &= filled.is_some();
        filled.unwrap_or_default()
    });
    Filled { values, is_whole }
}

/// A text that is longer than any message is cut: it is refused for its length anyway, and a field
/// that is named again and again must not make a text without end (R372).
fn filled_in(place: TextPlace, text: &str, person: &Person) -> Option<String> {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(literal) => filled.push_str(literal),
            Piece::Field { name, default } => {
                let value = Some(person.value(name)).filter(|value| !value.is_empty());
                let value = value.or_else(|| default.map(str::to_owned))?;
                match place {
                    TextPlace::Words => filled.push_str(&value),
                    TextPlace::Address => push_encoded(&mut filled, &value),
                }
            }
        }
        if let Some((end, _)) = filled.char_indices().nth(MESSAGE + 1) {
            filled.truncate(end);
            break;
        }
    }
    match place {
        TextPlace::Address if climbs(&filled) && !climbs(&stand_in(text)) => None,
        TextPlace::Words | TextPlace::Address => Some(filled),
    }
}

/// Whether a part of an address leads to another folder (R354).
fn climbs(address: &str) -> bool {
    let path = address.split('?').next().unwrap_or_default();
    path.split('/').any(|part| matches!(part, "." | ".."))
}

/// Writes a value as a part of an address: what is no letter, digit, `-`, `.`, `_` or `~` is
/// encoded, so that it stays within its part (R354).
fn push_encoded(address: &mut String, value: &str) {
    for byte in value.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => address.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
            byte => {
                // Writing into a string cannot fail.
                let _ = write!(address, "%{byte:02X}");
            }
        }
    }
}

/// Why a campaign has no message for a contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoMessage {
    /// It has none for anybody.
    ForAnybody(ComposeError),
    /// It has none for this contact (X16, R291).
    ForThis(ContactFault),
}

/// A campaign's message to a contact, or why there is none.
pub(super) struct PersonalMessage {
    /// The message.
    pub(super) message: Result<Composed, NoMessage>,
    /// What is given with the template, as far as it is filled in.
    pub(super) values: TemplateValues,
}

/// A campaign's message to a contact. Without a contact, stand-ins take the place of its fields.
pub(super) fn personal_message(
    template: &Template,
    values: &TemplateValues,
    person: Option<&Person>,
) -> PersonalMessage {
    let stand_ins = values.with_texts(|_, text| stand_in(text));
    let usual = compose(template, &stand_ins).map_err(NoMessage::ForAnybody);
    let (Ok(_), Some(person)) = (&usual, person) else {
        return PersonalMessage { message: usual, values: stand_ins };
    };
    let Filled { values, is_whole } = fill(values, person);
    let message = match is_whole {
        false => Err(ContactFault::EmptyVariable),
        true if values.is_too_long() => Err(ContactFault::TextTooLong),
        true => compose(template, &values).map_err(|error| match error {
            ComposeError::TooLong | ComposeError::HeaderTooLong => ContactFault::TextTooLong,
            ComposeError::Lacking(_) | ComposeError::LiteralTag(_) | ComposeError::Surplus(_) => {
                ContactFault::EmptyVariable
            }
        }),
    };
    PersonalMessage { message: message.map_err(NoMessage::ForThis), values }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::templates::{ButtonValue, GivenButton, Variable, VariableValues};

    fn person(fields: Value) -> Person {
        let Value::Object(fields) = fields else { panic!("no object") };
        Person { fields }
    }

    fn ana() -> Person {
        person(json!({
            "name": "Ana  Maria\nSouza", "city": null, "email": " ", "is_group": false,
            "observation": "[NOME]", "birthday": "1990-05-12",
            "organization": {"id": "1", "name": "Padaria"}, "tags": [{"name": "vip"}, {"name": "x"}],
            "custom_fields": {"pedido": "77", "a.b": "{{x}}"},
        }))
    }

    fn given(variables: &[&str]) -> TemplateValues {
        let pair = |(at, text): (u32, &&str)| (Variable::from(at), (*text).to_owned());
        (1..).zip(variables).map(pair).collect::<VariableValues>().into()
    }

    fn filled(variable: &str) -> Option<String> {
        let Filled { values, is_whole } = fill(&given(&[variable]), &ana());
        is_whole.then(|| values.texts().concat())
    }

    /// X16.
    #[test]
    fn a_field_is_what_the_contact_has_or_else_its_default() {
        for (variable, expected) in [
            ("{contact.first_name}", "Ana"),
            ("Oi {contact.name}!", "Oi Ana Maria Souza!"),
            ("{contact.custom.pedido} de {contact.first_name}", "77 de Ana"),
            ("R${contact.custom.pedido}", "R$77"),
            ("{contact.city|sua cidade}", "sua cidade"),
            ("{contact.email|sem e-mail}", "sem e-mail"),
            ("em {contact.city|}", "em "),
            ("{contact.custom.none|a|b}", "a|b"),
            ("{contact.birthday}", "1990-05-12"),
            ("{contact.is_group}", "false"),
            ("{contact.organization}", "Padaria"),
            ("{contact.tags}", "vip, x"),
            ("{contact.name", "{contact.name"),
            ("no fields { } |", "no fields { } |"),
        ] {
            assert_eq!(filled(variable).as_deref(), Some(expected), "{variable}");
        }
    }

    /// X16, R291.
    #[test]
    fn a_field_that_is_empty_or_a_tag_itself_and_has_no_default_leaves_nothing_to_say() {
        for variable in [
            "{contact.city}",
            "Oi {contact.email}",
            "{contact.city|Recife} {contact.city}",
            "{contact.custom.none}",
            "{contact.observation}",
            "{contact.custom.a.b}",
        ] {
            assert_eq!(filled(variable), None, "{variable}");
        }
        assert_eq!(filled("{contact.observation|amigo}").as_deref(), Some("amigo"));
        let lacking = fill(&given(&["{contact.city}", "{contact.name}"]), &ana());
        assert_eq!((lacking.is_whole, lacking.values), (false, given(&["", "Ana Maria Souza"])));
    }

    /// R372.
    #[test]
    fn a_field_that_is_named_again_and_again_makes_no_text_without_end() {
        let person = person(json!({"name": "é".repeat(200), "observation": "x".repeat(10_000)}));
        for variable in ["{contact.name}".repeat(290), "{contact.observation}".repeat(195)] {
            let filled = filled_in(TextPlace::Words, &variable, &person).expect("nothing is empty");
            assert_eq!(filled.chars().count(), MESSAGE + 1, "it is known to be too long");
        }
        let fits = filled_in(TextPlace::Words, &"{contact.name}".repeat(20), &person)
            .expect("nothing is empty");
        assert_eq!(fits.chars().count(), 4_000);
    }

    /// X16.
    #[test]
    fn a_field_is_one_of_the_list_form_the_first_name_or_a_custom_field_of_the_company() {
        let custom = CustomField {
            id: crate::ids::CustomFieldId::new(Uuid::nil()),
            company: CompanyId::new(Uuid::nil()),
            slug: "pedido".to_owned(),
            label: "Pedido".to_owned(),
            field_type: crate::custom_fields::FieldType::Text,
            status: crate::custom_fields::FieldStatus::Inactive,
            created_at: Timestamp::MIN,
        };
        let unknown =
            |text: &str| unknown_fields([text], std::slice::from_ref(&custom)).into_iter().next();
        for known in [
            "first_name",
            "name",
            "phone",
            "identifier",
            "display_name",
            "city",
            "address_complement",
            "birthday",
            "cpf",
            "cargo",
            "wa_push_name",
            "crm_status",
            "pipeline_stage",
            "tags",
            "last_inbound_at",
            "organization",
            "custom.pedido",
            "name|amigo",
        ] {
            assert_eq!(unknown(&format!("{{contact.{known}}}")), None, "{known}");
        }
        for other in [
            "nome",
            "Name",
            " name",
            "",
            "custom",
            "custom.",
            "custom.Pedido",
            "custom_fields",
            "link_clicks",
            "lead_memory",
            "is_pinned",
            "external_ai_enabled",
        ] {
            let named = unknown(&format!("a {{contact.{other}|b}}"));
            assert_eq!(named, Some(format!("contact.{other}")));
        }
        assert_eq!(unknown("{nome} {contact.nome"), None);
    }

    /// R375.
    #[test]
    fn a_field_that_is_not_closed_and_a_default_that_is_no_text_are_malformed() {
        for fine in [
            "Oi",
            "{contact.name}",
            "{contact.name|amigo} de {contact.city|}",
            "{contact.name|a|b}",
            "{ contact.name",
            "R${contact.custom.valor}",
        ] {
            assert!(is_well_formed(fine), "{fine}");
        }
        for wrong in [
            "{contact.name",
            "oi {contact.name|amigo",
            "{contact.name} {contact.",
            "{contact.city|{contact.name}}",
            "{contact.name|{{x}}}",
            "{contact.name|[NOME]}",
            "{contact.name|%%}nome{contact.name|%%}",
        ] {
            assert!(!is_well_formed(wrong), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_text_without_fields_is_what_it_was(text in "[a-zé {}|.$]{0,30}") {
            prop_assume!(!text.contains("{contact."));
            let values = given(&[&text]);
            prop_assert!(!is_personal(&values));
            prop_assert_eq!(fill(&values, &ana()), Filled { values, is_whole: true });
        }

        /// A contact's value is never read again as a field.
        #[test]
        fn what_a_contact_has_is_not_read_for_fields(
            before in "[a-z ]{0,5}", name in "[a-zA-Z{}.|]{1,20}", after in "[a-z ]{0,5}",
        ) {
            let person = person(json!({"name": name, "city": "Recife"}));
            let values = given(&[&format!("{before}{{contact.name}}{after}")]);
            let filled = fill(&values, &person);
            prop_assert_eq!(filled.is_whole, !literal_tag(&name));
            if filled.is_whole {
                prop_assert_eq!(filled.values, given(&[&format!("{before}{name}{after}")]));
            }
        }

        /// R354: whatever a contact has, it stays within its part of the address.
        #[test]
        fn what_a_contact_has_ends_no_part_of_an_address(name in any::<String>()) {
            let person = person(json!({"name": name}));
            let url = "https://loja.example/{contact.name|x}/a?b=1".to_owned();
            let header = Some(HeaderValue::Url { url, filename: None });
            let filled = fill(&TemplateValues { header, ..TemplateValues::default() }, &person);
            // `.` and `..` count as empty.
            prop_assume!(filled.is_whole);
            let Some(HeaderValue::Url { url, .. }) = filled.values.header else { panic!() };
            prop_assert!(crate::webhooks::WebhookUrl::parse(&url).is_ok() || url.len() > 2_048);
            let rest = url.strip_prefix("https://loja.example/").and_then(|rest| rest.strip_suffix("/a?b=1"));
            prop_assert!(rest.is_some_and(|part| !part.contains(['/', '?', '#', '@'])));
        }

        #[test]
        fn any_text_is_read_without_panic(text in "(\\{contact\\.|[{}|a-zé.]){0,20}") {
            let _ = (unknown_fields([text.as_str()], &[]), fill(&given(&[&text]), &ana()));
        }
    }

    /// X16, R354.
    #[test]
    fn header_and_buttons_are_filled_in_too_and_addresses_are_encoded() {
        let button = |index, given| ButtonValue { index, given };
        let values = |url: &str, suffix: &str, payload: &str| TemplateValues {
            variables: VariableValues::new(),
            header: Some(HeaderValue::Url {
                url: url.to_owned(),
                filename: Some("{contact.first_name}.pdf".to_owned()),
            }),
            buttons: vec![
                button(0, GivenButton::UrlSuffix(suffix.to_owned())),
                button(1, GivenButton::Payload(payload.to_owned())),
            ],
        };
        let personal = values(
            "https://loja.example/{contact.name}/{contact.custom.pedido}.pdf",
            "p?n={contact.city|São Luís}",
            "sim {contact.first_name}",
        );
        assert!(is_personal(&personal) && is_file_personal(personal.header.as_ref()));
        let filled = fill(&personal, &ana());
        let mut expected = values(
            "https://loja.example/Ana%20Maria%20Souza/77.pdf",
            "p?n=S%C3%A3o%20Lu%C3%ADs",
            "sim Ana",
        );
        if let Some(HeaderValue::Url { filename, .. }) = &mut expected.header {
            *filename = Some("Ana.pdf".to_owned());
        }
        assert_eq!(filled, Filled { values: expected, is_whole: true });
        assert!(!is_file_personal(Some(&HeaderValue::Text { text: "{contact.name}".to_owned() })));
        let lacking = fill(&values("https://loja.example/a", "p", "{contact.city}"), &ana());
        assert!(!lacking.is_whole);
        for (name, is_whole) in [("..", false), (".", false), ("...", true), ("a..", true)] {
            let person = person(json!({"name": name}));
            let filled =
                fill(&values("https://loja.example/a/{contact.name}/b", "p", "x"), &person);
            // The file's name has the first name.
            let file_name = filled_in(TextPlace::Words, "{contact.first_name}", &person);
            assert_eq!((filled.is_whole, file_name.is_some()), (is_whole, true), "{name}");
        }
    }
}
