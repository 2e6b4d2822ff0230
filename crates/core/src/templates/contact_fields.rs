//! Texts with fields of a contact: `{contact.first_name}`, `{contact.city|your town}` (X16).
//! Campaigns fill them in; everywhere else they are literal tags (D49).

/// What a field of a contact begins with, and what it ends with.
pub(crate) const OPEN: &str = "{contact.";
const CLOSE: char = '}';

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// What is written as it is.
    Text(&'a str),
    /// A field, and what is written where it is empty.
    Field {
        /// Its name, without `contact.`.
        name: &'a str,
        /// What stands in its place where it is empty.
        default: Option<&'a str>,
    },
}

/// The parts of a text. What is opened and not closed is text.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
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

/// The names of the fields in a text.
pub(crate) fn field_names(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Field { name, .. } => Some(name),
        Piece::Text(_) => None,
    })
}

/// A text with one character in the place of each field: what can be said of it without a contact
/// can be said of this.
pub(crate) fn stand_in(text: &str) -> String {
    let stand_in = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Field { .. } => "x",
    };
    pieces(text).into_iter().map(stand_in).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// X16.
    #[test]
    fn a_field_has_a_name_and_may_have_a_default() {
        let field = |name, default| Piece::Field { name, default };
        let text = "a {contact.name} b {contact.city|c|d}{contact.x|}";
        let expected = [
            Piece::Text("a "),
            field("name", None),
            Piece::Text(" b "),
            field("city", Some("c|d")),
            Piece::Text(""),
            field("x", Some("")),
            Piece::Text(""),
        ];
        assert_eq!(pieces(text), expected);
        assert_eq!(field_names(text).collect::<Vec<_>>(), ["name", "city", "x"]);
        assert_eq!(stand_in(text), "a x b xx");
        assert_eq!(pieces("{contact.name"), [Piece::Text("{contact.name")]);
    }

    proptest! {
        #[test]
        fn a_text_without_fields_stands_for_itself(text in "[a-zé {}|.$]{0,30}") {
            prop_assume!(!text.contains(OPEN));
            prop_assert_eq!(stand_in(&text), text.clone());
            prop_assert_eq!(field_names(&text).count(), 0);
        }

        #[test]
        fn any_text_is_read_without_panic(text in "(\\{contact\\.|[{}|a-zé.]){0,20}") {
            let _ = (stand_in(&text), field_names(&text).count());
        }
    }
}
