//! The behaviour for a message, by its recipient.

use recado_core::gateway::Outgoing;

/// What the simulated gateway does with a message, by the last four digits of the phone. Groups,
/// and people whose name on the channel is not a phone, get [`Behaviour::Accept`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Any other digits: accepted; reported sent, delivered and read.
    Accept,
    /// `0001`: refused.
    Refuse,
    /// `0002`: it is not known whether it was sent.
    Uncertain,
    /// `0003`: the connection does not reach the channel.
    ConnectionLost,
    /// `0004`: accepted, and reported failed later.
    FailLater,
    /// `0005`: accepted, after 15 seconds.
    Slow,
}

impl Behaviour {
    /// The behaviour towards this message's recipient.
    pub fn towards(outgoing: &Outgoing) -> Self {
        if outgoing.group.is_some() {
            return Self::Accept;
        }
        Self::of(&outgoing.recipient)
    }

    /// The behaviour towards the person or group with this name on the channel.
    pub fn of(name: &str) -> Self {
        match phone_digits(name).map(last_four) {
            Some("0001") => Self::Refuse,
            Some("0002") => Self::Uncertain,
            Some("0003") => Self::ConnectionLost,
            Some("0004") => Self::FailLater,
            Some("0005") => Self::Slow,
            _ => Self::Accept,
        }
    }
}

/// The digits of a recipient that is a phone, also in the forms of QR gateways.
fn phone_digits(recipient: &str) -> Option<&str> {
    let bare = ["@c.us", "@s.whatsapp.net"]
        .iter()
        .find_map(|suffix| recipient.strip_suffix(suffix))
        .unwrap_or(recipient);
    let digits = bare.strip_prefix('+').unwrap_or(bare);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)
}

fn last_four(digits: &str) -> &str {
    digits.get(digits.len().saturating_sub(4)..).unwrap_or(digits)
}

#[cfg(test)]
mod tests {
    use recado_core::gateway::Content;
    use recado_core::groups::GroupCode;
    use recado_core::ids::MessageId;

    use super::*;

    fn to(recipient: &str, group: Option<GroupCode>) -> Behaviour {
        let reference = MessageId::parse("0193a5c0-0000-7000-8000-000000000001").expect("an id");
        let content = Content::Text("Olá".to_owned());
        Behaviour::towards(&Outgoing { group, ..Outgoing::new(reference, recipient, content) })
    }

    #[test]
    fn the_last_four_digits_of_a_phone_steer() {
        for (digits, behaviour) in [
            ("0001", Behaviour::Refuse),
            ("0002", Behaviour::Uncertain),
            ("0003", Behaviour::ConnectionLost),
            ("0004", Behaviour::FailLater),
            ("0005", Behaviour::Slow),
            ("0000", Behaviour::Accept),
            ("0006", Behaviour::Accept),
            ("1000", Behaviour::Accept),
        ] {
            for written in [
                format!("551199000{digits}"),
                format!("+551199000{digits}"),
                format!("551199000{digits}@c.us"),
                format!("551199000{digits}@s.whatsapp.net"),
            ] {
                assert_eq!(to(&written, None), behaviour, "{written}");
            }
        }
    }

    #[test]
    fn only_phones_are_steered() {
        for recipient in ["120363000000000001@lid", "BR.0001", "", "0001@g.us"] {
            assert_eq!(to(recipient, None), Behaviour::Accept, "{recipient}");
        }
    }
}
