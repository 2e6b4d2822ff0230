//! Address cards as the channel sends them: vCard, of any version (X2).

use std::collections::HashMap;

use recado_core::messages::{SharedContact, SharedEmail, SharedPhone};

/// The most bytes of a card that are read: what comes later is lost.
const MAX_CARD: usize = 256 * 1024;
/// The most bytes of one field. Pictures are longer, and are not read.
const MAX_FIELD: usize = 16 * 1024;
/// The most entries of a sort.
const MAX_ENTRIES: usize = 100;
/// Types that do not say what sort of phone or address it is.
const NO_TYPES: [&str; 5] = ["pref", "voice", "internet", "uri", "text"];

/// What an address card says. What cannot be read is left out.
pub(crate) fn card(vcard: &str) -> SharedContact {
    let mut fields = Vec::new();
    for line in unfolded(start(vcard, MAX_CARD)) {
        fields.extend(Field::of(&line));
    }
    let labels = labels(&fields);
    let named = |name| named(&fields, name);
    let texts =
        |name| named(name).filter_map(|field| filled(&unescaped(&field.value))).collect::<Vec<_>>();
    let lists =
        |name| named(name).filter_map(|field| filled(&parts(&field.value).join(", "))).collect();
    let phones = named("TEL").filter_map(|field| {
        let written = unescaped(&field.value);
        let written = written.trim();
        let number = written.strip_prefix("tel:").unwrap_or(written);
        // The channel's own number of the person, if the card has no other.
        let number = filled(number)
            .or_else(|| filled(field.parameter("waid")?).map(|number| format!("+{number}")))?;
        Some(SharedPhone { number, kind: field.kind(&labels) })
    });
    let emails = named("EMAIL").filter_map(|field| {
        let email = filled(&unescaped(&field.value))?;
        Some(SharedEmail { email, kind: field.kind(&labels) })
    });
    let organizations: Vec<String> = lists("ORG");
    SharedContact {
        name: texts("FN").into_iter().next().or_else(|| named("N").find_map(name_of)),
        phones: phones.collect(),
        emails: emails.collect(),
        organization: organizations.into_iter().next(),
        title: texts("TITLE").into_iter().next(),
        urls: texts("URL"),
        addresses: lists("ADR"),
        birthday: texts("BDAY").into_iter().next(),
    }
}

/// The first fields of this name.
fn named<'a>(fields: &'a [Field], name: &'static str) -> impl Iterator<Item = &'a Field> {
    fields.iter().filter(move |field| field.name == name).take(MAX_ENTRIES)
}

/// A field of a card: `group.NAME;KEY=value:text`.
struct Field {
    group: Option<String>,
    /// In upper case.
    name: String,
    parameters: Vec<(String, String)>,
    value: String,
}

impl Field {
    fn of(line: &str) -> Option<Self> {
        let mut quoted = false;
        let end = line.find(|character| {
            quoted ^= character == '"';
            character == ':' && !quoted
        })?;
        let (head, value) = (&line[..end], &line[end + 1..]);
        let mut head = split(head, ';').into_iter();
        let name = head.next()?;
        let (group, name) = match name.rsplit_once('.') {
            Some((group, name)) => (Some(group.to_ascii_uppercase()), name),
            None => (None, name),
        };
        let parameters = head.map(|parameter| match parameter.split_once('=') {
            Some((key, value)) => (key.trim().to_ascii_uppercase(), value.replace('"', "")),
            // The oldest cards write the types alone.
            None => ("TYPE".to_owned(), parameter.to_owned()),
        });
        Some(Self {
            group,
            name: name.trim().to_ascii_uppercase(),
            parameters: parameters.collect(),
            value: value.to_owned(),
        })
    }

    fn parameter(&self, key: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map(|(_, value)| value.as_str())
    }

    /// What the phone or the address is called: its type, else the label of its group.
    fn kind(&self, labels: &HashMap<&str, &str>) -> Option<String> {
        let types = self.parameters.iter().filter(|(name, _)| name == "TYPE");
        let mut types = types.flat_map(|(_, value)| value.split(','));
        let says = |kind: &str| !NO_TYPES.iter().any(|none| kind.eq_ignore_ascii_case(none));
        let kind = types.find_map(|kind| filled(kind).filter(|kind| says(kind)));
        kind.or_else(|| {
            let label = unescaped(labels.get(self.group.as_deref()?)?);
            let plain = label.trim().strip_prefix("_$!<").and_then(|it| it.strip_suffix(">!$_"));
            filled(plain.unwrap_or(&label))
        })
    }
}

/// The first label of each group of fields.
fn labels(fields: &[Field]) -> HashMap<&str, &str> {
    let mut labels = HashMap::new();
    for field in fields.iter().filter(|field| field.name == "X-ABLABEL") {
        if let Some(group) = field.group.as_deref() {
            labels.entry(group).or_insert(field.value.as_str());
        }
    }
    labels
}

/// The lines of a card: one that starts with a space continues the one before.
fn unfolded(card: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in card.lines() {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(rest), Some(last)) => {
                let room = MAX_FIELD.saturating_sub(last.len());
                last.push_str(start(rest, room));
            }
            _ => lines.push(start(line, MAX_FIELD).to_owned()),
        }
    }
    lines
}

/// The first bytes of a text, up to a whole character.
fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The parts between separators that do not stand in quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut quoted = false;
    let parts = text.split(|character| {
        quoted ^= character == '"';
        character == separator && !quoted
    });
    parts.collect()
}

/// The parts of a value that has several, without the empty ones.
fn parts(value: &str) -> Vec<String> {
    all_parts(value).iter().filter_map(|part| filled(part)).collect()
}

fn all_parts(value: &str) -> Vec<String> {
    let mut escaped = false;
    let parts = value.split(|character| {
        let ends = character == ';' && !escaped;
        escaped = character == '\\' && !escaped;
        ends
    });
    parts.map(unescaped).collect()
}

/// A name from `family;given;others;before;after`.
fn name_of(field: &Field) -> Option<String> {
    let parts = all_parts(&field.value);
    let order = [3, 1, 2, 0, 4].into_iter().filter_map(|index| filled(parts.get(index)?));
    filled(&order.collect::<Vec<_>>().join(" "))
}

/// A text with its escaped characters as they were written.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n' | 'N') => plain.push('\n'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
            other => plain.push(other),
        }
    }
    plain
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn phone(number: &str, kind: Option<&str>) -> SharedPhone {
        SharedPhone { number: number.to_owned(), kind: kind.map(str::to_owned) }
    }

    /// X2.
    #[test]
    fn a_card_says_all_that_is_on_it() {
        let read = card(
            "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Souza;Ana;Maria;Dra.;\r\nFN:Ana Souza\r\n\
             item1.TEL;waid=5511987654321:+55 11 98765-4321\r\nitem1.X-ABLabel:Celular\r\n\
             TEL;type=WORK;type=VOICE:1133334444\r\nEMAIL;TYPE=INTERNET,HOME:ana@example.com\r\n\
             ORG:Loja;Vendas\r\nTITLE:Gerente\r\nURL:https://example.com/a\r\n\
             ADR;TYPE=HOME:;;Rua A\\, 1;São Paulo;SP;01000-000;Brasil\r\nBDAY:1990-01-31\r\n\
             PHOTO;BASE64:AAAA\r\n BBBB\r\nEND:VCARD\r\n",
        );
        let expected = SharedContact {
            name: Some("Ana Souza".to_owned()),
            phones: vec![
                phone("+55 11 98765-4321", Some("Celular")),
                phone("1133334444", Some("WORK")),
            ],
            emails: vec![SharedEmail {
                email: "ana@example.com".to_owned(),
                kind: Some("HOME".to_owned()),
            }],
            organization: Some("Loja, Vendas".to_owned()),
            title: Some("Gerente".to_owned()),
            urls: vec!["https://example.com/a".to_owned()],
            addresses: vec!["Rua A, 1, São Paulo, SP, 01000-000, Brasil".to_owned()],
            birthday: Some("1990-01-31".to_owned()),
        };
        assert_eq!(read, expected);
    }

    /// X2.
    #[test]
    fn a_card_without_a_written_name_or_number_has_those_that_it_tells_otherwise() {
        let read = card("N:Souza;Ana;;;\nTEL;CELL;PREF;waid=5511987654321:\nTEL:\nTEL:tel:+123");
        assert_eq!(read.name.as_deref(), Some("Ana Souza"));
        assert_eq!(read.phones, [phone("+5511987654321", Some("CELL")), phone("+123", None)]);
        let label = card("item1.TEL:1\nitem1.X-ABLabel:_$!<Mobile>!$_\nitem2.TEL:2");
        assert_eq!(label.phones, [phone("1", Some("Mobile")), phone("2", None)]);
    }

    /// X2.
    #[test]
    fn lines_are_unfolded_and_quotes_and_escapes_undone() {
        let read = card("FN:Ana\n  Maria \\; Filhos\nTITLE;X=\"a:b;c\":Dona\nNOTE;:x\nbroken");
        assert_eq!(read.name.as_deref(), Some("Ana Maria ; Filhos"));
        assert_eq!(read.title.as_deref(), Some("Dona"));
        assert_eq!(card(""), SharedContact::default());
    }

    /// X2.
    #[test]
    fn a_large_card_keeps_its_beginning() {
        let read = card(&format!("FN:Ana\n{}", "TEL:1\nADR:x\n".repeat(30_000)));
        assert_eq!((read.phones.len(), read.addresses.len()), (MAX_ENTRIES, MAX_ENTRIES));
        let long = card(&format!("FN:{}\n {}", "é".repeat(10_000), "é".repeat(10_000)));
        assert!(long.name.is_some_and(|name| name.len() <= MAX_FIELD));
    }

    proptest! {
        #[test]
        fn no_card_makes_it_panic(text in "(\\PC|[\n;:,.\\\\\"= ]|TEL|FN|N|ADR){0,60}") {
            let _ = card(&text);
        }
    }

    /// X2.
    #[test]
    fn each_phone_of_a_long_card_has_the_label_of_its_group() {
        let lines: Vec<String> = (0..90)
            .map(|n| format!("item{n}.TEL:+55349912{n:05}\nitem{n}.X-ABLabel:_$!<Label{n}>!$_"))
            .collect();
        let phones = card(&format!("BEGIN:VCARD\n{}\nEND:VCARD", lines.join("\n"))).phones;
        assert_eq!(phones.len(), 90);
        for (n, phone) in phones.iter().enumerate() {
            assert_eq!(phone.kind.as_deref(), Some(&*format!("Label{n}")));
        }
    }
}
