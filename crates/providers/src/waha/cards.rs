//! Sending address cards (X13).

use recado_core::messages::{SharedContact, SharedPhone};
use serde_json::{Value, json};

/// The digits of the shortest number that may be known to the channel.
const SHORTEST: usize = 8;

/// A card in WAHA's form. The card as a vCard says all of it; engines that cannot send one take the
/// other fields.
pub(super) fn contact(card: &SharedContact) -> Value {
    let name = card.name.as_deref().unwrap_or_default();
    let phone = card.phones.first();
    let number = phone.map(|phone| phone.number.as_str()).unwrap_or_default();
    let mut fields = json!({"fullName": name, "phoneNumber": number, "vcard": vcard(card)});
    if let Some(id) = phone.and_then(whatsapp_id) {
        fields["whatsappId"] = id.into();
    }
    if let Some(organization) = &card.organization {
        fields["organization"] = organization.as_str().into();
    }
    fields
}

/// The digits by which the channel knows a number that is written with its country.
fn whatsapp_id(phone: &SharedPhone) -> Option<String> {
    let written = phone.number.trim().strip_prefix('+')?;
    let digits: String = written.chars().filter(char::is_ascii_digit).collect();
    (digits.len() >= SHORTEST).then_some(digits)
}

/// The card as a vCard of version 3.0.
fn vcard(card: &SharedContact) -> String {
    let name = escaped(card.name.as_deref().unwrap_or_default());
    let mut lines = vec![
        "BEGIN:VCARD".to_owned(),
        "VERSION:3.0".to_owned(),
        format!("N:;{name};;;"),
        format!("FN:{name}"),
    ];
    if let Some(organization) = &card.organization {
        lines.push(format!("ORG:{};", escaped(organization)));
    }
    lines.extend(card.phones.iter().map(|phone| {
        let id = whatsapp_id(phone).map(|id| format!(";waid={id}")).unwrap_or_default();
        format!("TEL;type=CELL;type=VOICE{id}:{}", escaped(&phone.number))
    }));
    let emails = card.emails.iter();
    lines.extend(emails.map(|it| format!("EMAIL;type=INTERNET:{}", escaped(&it.email))));
    lines.push("END:VCARD".to_owned());
    lines.join("\n")
}

/// A text in a field of a card: what would end the field, or divide it, is escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | ',' | ';' => escaped.extend(['\\', character]),
            '\n' => escaped.push_str("\\n"),
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use recado_core::messages::SharedEmail;

    use super::*;
    use crate::shared::card as read;

    #[test]
    fn a_card_is_read_as_it_was_written() {
        let phone = |number: &str| SharedPhone { number: number.to_owned(), kind: None };
        let card = SharedContact {
            name: Some("Souza, Ana; \\x\nEND:VCARD".to_owned()),
            phones: vec![phone("+55 34 99123-4567"), phone("190")],
            emails: vec![SharedEmail { email: "ana@x.example".to_owned(), kind: None }],
            organization: Some("A; B".to_owned()),
            ..SharedContact::default()
        };
        let written = contact(&card);
        let vcard = written["vcard"].as_str().expect("a text");
        assert!(vcard.starts_with("BEGIN:VCARD\n") && vcard.contains("waid=5534991234567:+55 34"));
        assert!(vcard.contains("VOICE:190"));
        let back = read(vcard);
        assert_eq!((&back.name, &back.organization), (&card.name, &card.organization));
        let numbers: Vec<&str> = back.phones.iter().map(|phone| &*phone.number).collect();
        assert_eq!(numbers, ["+55 34 99123-4567", "190"]);
        assert_eq!(back.emails[0].email, "ana@x.example");
        assert_eq!(written["whatsappId"], "5534991234567");
        assert_eq!(contact(&SharedContact::default()).get("whatsappId"), None);
    }
}
