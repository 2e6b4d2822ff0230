//! Who of a group wrote a message (D72).

use serde::Serialize;

use crate::contacts::{ChannelKey, Phone};
use crate::secret::hides;

/// Who of a group wrote a message, as it was known when the message came.
#[derive(Clone, PartialEq, Eq)]
pub struct Participant {
    /// As the gateway writes it: the digits of a phone, a LID, a business-scoped id.
    pub identifier: String,
    /// Their phone, if it was known.
    pub phone: Option<Phone>,
    /// The name they gave themselves, if it was known.
    pub name: Option<String>,
}

hides! {
    Participant {
        shows { phone }
        hides {
            identifier, name,
        }
    }
}

impl Participant {
    /// Their phone: the one that was known, or the one that they are called by.
    pub fn phone(&self) -> Option<Phone> {
        let called = || ChannelKey::parse(&self.identifier).and_then(|key| key.phone());
        self.phone.clone().or_else(called)
    }
}

/// Who of a group wrote a message, as it is shown (D72).
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Participant))]
#[non_exhaustive]
pub struct ParticipantView {
    /// The channel's name of them.
    pub identifier: String,
    /// Their phone; null where it is not known.
    pub phone: Option<String>,
    /// The name they gave themselves; null where it is not known.
    pub name: Option<String>,
}

impl std::fmt::Debug for ParticipantView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ParticipantView(***)")
    }
}

impl From<&Participant> for ParticipantView {
    fn from(participant: &Participant) -> Self {
        Self {
            identifier: participant.identifier.clone(),
            phone: participant.phone().map(|phone| phone.as_str().to_owned()),
            name: participant.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contacts::Region;

    /// D72.
    #[test]
    fn a_phone_is_shown_where_it_was_known_or_they_are_called_by_it() {
        let known = Phone::parse("+5511987654321", &Region::br()).expect("valid");
        for (identifier, phone, shown) in [
            ("553491234567", None, Some("+5534991234567")),
            ("123456@lid", None, None),
            ("123456@lid", Some(known), Some("+5511987654321")),
            ("BR.77", None, None),
        ] {
            let participant = Participant { identifier: identifier.to_owned(), phone, name: None };
            let view = ParticipantView::from(&participant);
            assert_eq!(view.phone.as_deref(), shown, "{identifier}");
        }
    }
}
