//! Variables that say something of each contact: `{contact.first_name}`, `{contact.city|your town}`
//! (X16). They are read here and nowhere else; everywhere else they are literal tags (D49).

use std::collections::{BTreeMap, BTreeSet};
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
    ComposeError, Composed, Template, TemplateValues, VariableValues, compose, literal_tag,
};
use crate::text::MESSAGE;

/// What a field of a contact begins with, and what it ends with.
const OPEN: &str = "{contact.";
const CLOSE: char = '}';

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

/// A part of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Field { name: &'a str, default: Option<&'a str> },
}

/// The parts of a variable. What is opened and not closed is text.
fn pieces(variable: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = variable;
    while let Some(open) = rest.find(OPEN) {
        let inside = &rest[open + OPEN.len()..];
        let Some(close) = inside.find(CLOSE) else { break };
        pieces.push(Piece::Text(&rest[..open]));
        let (name, default) = match inside[..close].split_once('|') {
            Some((name, default)) => (name, Some(default)),
            None => (&inside[..close], None),
        };
        pieces.push(Piece::Field { name, default });
        rest = &inside[close + CLOSE.len_utf8()..];
    }
    pieces.push(Piece::Text(rest));
    pieces
}

fn fields(variable: &str) -> impl Iterator<Item = &str> {
    pieces(variable).into_iter().filter_map(|piece| match piece {
        Piece::Field { name, .. } => Some(name),
        Piece::Text(_) => None,
    })
}

/// Whether variables name fields of a contact, so that they differ from one contact to the next.
pub(super) fn is_personal<K>(variables: &BTreeMap<K, String>) -> bool {
    variables.values().any(|variable| fields(variable).next().is_some())
}

/// The fields that variables name and no contact of the company has (X16): they are none of 2.1,
/// and no custom field has that slug.
pub(super) fn unknown_fields<K>(
    variables: &BTreeMap<K, String>,
    custom: &[CustomField],
) -> BTreeSet<String> {
    let is_known = |name: &str| match name.strip_prefix(CUSTOM) {
        Some(slug) => custom.iter().any(|field| field.slug == slug),
        None => name == FIRST_NAME || NATIVE.contains(name),
    };
    let named = variables.values().flat_map(|variable| fields(variable));
    named.filter(|name| !is_known(name)).map(|name| format!("contact.{name}")).collect()
}

/// The variables in which something begins like a field and is none: it is not closed, or its
/// default holds a brace, or is a tag that was not filled in (R375). Everybody would read it, or
/// those whose field is empty would get nothing.
pub(super) fn malformed<K: ToString>(variables: &BTreeMap<K, String>) -> Vec<String> {
    let wrong = variables.iter().filter(|(_, variable)| !is_well_formed(variable));
    wrong.map(|(key, _)| key.to_string()).collect()
}

fn is_well_formed(variable: &str) -> bool {
    let mut by_default = String::new();
    for piece in pieces(variable) {
        match piece {
            Piece::Text(text) if text.contains(OPEN) => return false,
            Piece::Text(text) => by_default.push_str(text),
            Piece::Field { default: Some(default), .. } if default.contains('{') => return false,
            Piece::Field { default, .. } => by_default.push_str(default.unwrap_or("x")),
        }
    }
    !literal_tag(&by_default)
}

/// Variables with something in the place of each field: what can be said of them without a contact
/// can be said of these.
pub(super) fn stand_ins<K: Ord + Clone>(variables: &BTreeMap<K, String>) -> BTreeMap<K, String> {
    let stand_in = |variable: &String| {
        let pieces = pieces(variable).into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Field { .. } => "x",
        });
        pieces.collect::<String>()
    };
    variables.iter().map(|(key, variable)| (key.clone(), stand_in(variable))).collect()
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

/// The variables of one contact; where a field is empty, its default stands (X16).
///
/// # Errors
///
/// All of them, an empty text for each of those that have a field that is empty without a default.
pub(super) fn fill<K: Ord + Clone>(
    variables: &BTreeMap<K, String>,
    person: &Person,
) -> Result<BTreeMap<K, String>, BTreeMap<K, String>> {
    let mut is_lacking = false;
    let mut filled = BTreeMap::new();
    for (key, variable) in variables {
        let text = filled_in(variable, person);
        is_lacking |= text.is_none();
        filled.insert(key.clone(), text.unwrap_or_default());
    }
    if is_lacking { Err(filled) } else { Ok(filled) }
}

/// A text that is longer than any message is cut: it is refused for its length anyway, and a field
/// that is named again and again must not make a text without end (R372).
fn filled_in(variable: &str, person: &Person) -> Option<String> {
    let mut text = String::with_capacity(variable.len());
    for piece in pieces(variable) {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Field { name, default } => match (person.value(name), default) {
                (value, _) if !value.is_empty() => text.push_str(&value),
                (_, Some(default)) => text.push_str(default),
                (_, None) => return None,
            },
        }
        if let Some((end, _)) = text.char_indices().nth(MESSAGE + 1) {
            text.truncate(end);
            break;
        }
    }
    Some(text)
}

/// Why a campaign has no message for a contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoMessage {
    /// It has none for anybody.
    ForAnybody(ComposeError),
    /// It has none for this contact (X16, R291).
    ForThis(ContactFault),
}

/// A campaign's message to a contact, and the variables in it. Without a contact, stand-ins take
/// the place of its fields.
///
/// # Errors
///
/// Why there is none, with the variables as far as they are filled in.
pub(super) fn personal_message(
    template: &Template,
    values: &TemplateValues,
    person: Option<&Person>,
) -> Result<(Composed, VariableValues), (NoMessage, VariableValues)> {
    let with = |variables: &VariableValues| TemplateValues {
        variables: variables.clone(),
        ..values.clone()
    };
    let stand_ins = stand_ins(&values.variables);
    let usual = match compose(template, &with(&stand_ins)) {
        Ok(usual) => usual,
        Err(error) => return Err((NoMessage::ForAnybody(error), stand_ins)),
    };
    let Some(person) = person else { return Ok((usual, stand_ins)) };
    let this = |fault, filled| Err((NoMessage::ForThis(fault), filled));
    let filled = match fill(&values.variables, person) {
        Ok(filled) => filled,
        Err(filled) => return this(ContactFault::EmptyVariable, filled),
    };
    match compose(template, &with(&filled)) {
        Ok(composed) => Ok((composed, filled)),
        Err(ComposeError::TooLong | ComposeError::HeaderTooLong) => {
            this(ContactFault::TextTooLong, filled)
        }
        Err(ComposeError::Lacking(_) | ComposeError::LiteralTag(_) | ComposeError::Surplus(_)) => {
            this(ContactFault::EmptyVariable, filled)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

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

    fn filled(variable: &str) -> Option<String> {
        let variables = BTreeMap::from([(1, variable.to_owned())]);
        fill(&variables, &ana()).ok().map(|filled| filled[&1].clone())
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
        let variables =
            BTreeMap::from([(1, "{contact.city}".into()), (2, "{contact.name}".into())]);
        let lacking = fill(&variables, &ana()).expect_err("something is empty");
        assert_eq!((lacking[&1].as_str(), lacking[&2].as_str()), ("", "Ana Maria Souza"));
    }

    /// R372.
    #[test]
    fn a_field_that_is_named_again_and_again_makes_no_text_without_end() {
        let person = person(json!({"name": "é".repeat(200), "observation": "x".repeat(10_000)}));
        for variable in ["{contact.name}".repeat(290), "{contact.observation}".repeat(195)] {
            let filled = filled_in(&variable, &person).expect("nothing is empty");
            assert_eq!(filled.chars().count(), MESSAGE + 1, "it is known to be too long");
        }
        let fits = filled_in(&"{contact.name}".repeat(20), &person).expect("nothing is empty");
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
        let unknown = |variable: &str| {
            let variables = BTreeMap::from([(1, variable.to_owned())]);
            unknown_fields(&variables, std::slice::from_ref(&custom)).into_iter().next()
        };
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
        let named = |variable: &str| malformed(&BTreeMap::from([(7, variable.to_owned())]));
        for fine in [
            "Oi",
            "{contact.name}",
            "{contact.name|amigo} de {contact.city|}",
            "{contact.name|a|b}",
            "{ contact.name",
            "R${contact.custom.valor}",
        ] {
            assert_eq!(named(fine), [""; 0], "{fine}");
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
            assert_eq!(named(wrong), ["7"], "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_variable_without_fields_is_what_it_was(text in "[a-zé {}|.$]{0,30}") {
            prop_assume!(!text.contains(OPEN));
            let variables = BTreeMap::from([(1, text.clone())]);
            prop_assert!(!is_personal(&variables));
            prop_assert_eq!(stand_ins(&variables), variables.clone());
            prop_assert_eq!(fill(&variables, &ana()), Ok(variables));
        }

        /// A contact's value is never read again as a field.
        #[test]
        fn what_a_contact_has_is_not_read_for_fields(
            before in "[a-z ]{0,5}", name in "[a-zA-Z{}.|]{1,20}", after in "[a-z ]{0,5}",
        ) {
            let person = person(json!({"name": name, "city": "Recife"}));
            let variables = BTreeMap::from([(1, format!("{before}{{contact.name}}{after}"))]);
            let expected = (!literal_tag(&name))
                .then(|| BTreeMap::from([(1, format!("{before}{name}{after}"))]));
            prop_assert_eq!(fill(&variables, &person).ok(), expected);
        }

        #[test]
        fn any_text_is_read_without_panic(text in "(\\{contact\\.|[{}|a-zé.]){0,20}") {
            let variables = BTreeMap::from([(1, text)]);
            let _ = (stand_ins(&variables), unknown_fields(&variables, &[]), fill(&variables, &ana()));
        }
    }
}
