//! In which order a webhook got the events of each contact (D55).

use std::collections::{BTreeMap, BTreeSet};

use recado_tests::text;
use serde_json::Value;

/// An event: of which contact, what happened, and to what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Told {
    contact: String,
    event: String,
    subject: String,
}

impl Told {
    /// Of an envelope. None for events that are not about a new contact or a new message.
    pub(crate) fn of(envelope: &Value) -> Option<Self> {
        let (event, data) = (text(&envelope["event"]), &envelope["data"]);
        let (contact, subject) = match event.as_str() {
            "contact.created" => (&data["id"], &data["id"]),
            "message.sent" | "message.received" => (&data["contact"]["id"], &data["message_id"]),
            _ => return None,
        };
        Some(Self { contact: text(contact), subject: text(subject), event })
    }
}

/// What came at a webhook after something that happened to the same contact later, or never
/// happened. `journal` has all events in their order, `arrived` those that came. What comes again
/// has no order.
pub(crate) fn late<'a>(journal: &[Told], arrived: &'a [Told]) -> Vec<&'a Told> {
    let places: BTreeMap<&Told, usize> =
        journal.iter().enumerate().map(|(place, told)| (told, place)).collect();
    let (mut seen, mut last) = (BTreeSet::new(), BTreeMap::new());
    let mut late = Vec::new();
    for told in arrived.iter().filter(|told| seen.insert(*told)) {
        let Some(place) = places.get(told) else {
            late.push(told);
            continue;
        };
        let newest = last.entry(&told.contact).or_insert(*place);
        if place < newest {
            late.push(told);
        }
        *newest = (*newest).max(*place);
    }
    late
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(contact: &str, message: &str) -> Told {
        let data = json!({"message_id": message, "contact": {"id": contact}});
        Told::of(&json!({"event": "message.sent", "data": data})).expect("a message")
    }

    #[test]
    fn the_order_is_that_of_each_contact() {
        let [a1, a2, b1] = [sent("a", "1"), sent("a", "2"), sent("b", "3")];
        let journal = [a1.clone(), b1.clone(), a2.clone()];
        let late = |arrived: &[&Told]| {
            let arrived: Vec<Told> = arrived.iter().map(|told| (*told).clone()).collect();
            super::late(&journal, &arrived).into_iter().cloned().collect::<Vec<_>>()
        };
        assert_eq!(late(&[&a1, &b1, &a2]), []);
        assert_eq!(late(&[&b1, &a1, &a2]), [], "of different contacts");
        assert_eq!(late(&[&a1, &a2, &a1]), [], "once more");
        assert_eq!(late(&[&a2, &b1, &a1]), [a1]);
        let unknown = sent("a", "4");
        assert_eq!(late(&[&unknown]), [unknown], "not in the journal");
    }
}
