//! Normalization of every event, whichever gateway it comes from: texts without control characters
//! and within limits, names and ids that can be stored. Texts that are too long are cut, as their
//! authors cannot correct them; an event is refused only if it cannot be stored at all.

use crate::gateway::{
    EventMedia, GatewayEvent, GatewayMessage, Incoming, NamesReport, OwnSend, PreferenceReport,
    StatusEvent,
};
use crate::groups::Group;
use crate::messages::{MessageType, ProviderMessageId};
use crate::text::{self, kept, kept_name};

/// The most characters of a message's content; far more than any channel allows.
pub(super) const MAX_CONTENT: usize = 65_536;
/// Most characters of an address of a file.
pub(super) const MAX_URL: usize = 4_096;
/// Most aliases of one person in one event.
pub(super) const MAX_ALIASES: usize = 20;

/// The normalized optional text; `None` if only white space is left.
fn optional(text: Option<String>, max_chars: usize) -> Option<String> {
    text.map(|text| kept(&text, max_chars)).filter(|text| !text.trim().is_empty())
}

/// The normalized optional name; `None` if nothing is left of it (R174).
fn optional_name(text: Option<String>) -> Option<String> {
    text.map(|text| kept_name(&text, text::SHORT).trim().to_owned()).filter(|text| !text.is_empty())
}

fn is_name(name: &str) -> bool {
    let name = name.trim();
    (1..=text::SHORT).contains(&name.chars().count()) && !name.chars().any(char::is_control)
}

fn peer(name: String) -> Result<String, String> {
    if is_name(&name) { Ok(name) } else { Err("names nobody".to_owned()) }
}

fn aliases(names: Vec<String>) -> Vec<String> {
    names.into_iter().filter(|name| is_name(name)).take(MAX_ALIASES).collect()
}

fn provider_id(id: &ProviderMessageId) -> Result<ProviderMessageId, String> {
    ProviderMessageId::parse(id.as_str()).ok_or_else(|| "the provider's id is no id".to_owned())
}

/// The group with its subject normalized. The subject is trimmed, because it becomes the name of
/// the group's contact (D9).
pub(crate) fn tidy_group(group: Group) -> Group {
    let subject = |subject: String| kept_name(subject.trim(), text::NAME).trim().to_owned();
    Group { subject: group.subject.map(subject), ..group }
}

/// The normalized event (R35).
///
/// # Errors
///
/// Why it cannot be stored.
pub(super) fn tidy(event: GatewayEvent) -> Incoming {
    Ok(match event {
        GatewayEvent::Message(reported) => GatewayEvent::Message(message(reported)?),
        GatewayEvent::Echo(reported) => GatewayEvent::Echo(message(reported)?),
        GatewayEvent::Edit { provider_id: id, content, timestamp } => GatewayEvent::Edit {
            provider_id: provider_id(&id)?,
            content: kept(&content, MAX_CONTENT),
            timestamp,
        },
        GatewayEvent::Deleted { provider_id: id, timestamp } => {
            GatewayEvent::Deleted { provider_id: provider_id(&id)?, timestamp }
        }
        GatewayEvent::Status(reported) => GatewayEvent::Status(status(reported)?),
        GatewayEvent::Preference(reported) => GatewayEvent::Preference(PreferenceReport {
            peer: peer(reported.peer)?,
            aliases: aliases(reported.aliases),
            ..reported
        }),
        GatewayEvent::OwnSend(reported) => GatewayEvent::OwnSend(OwnSend {
            provider_id: provider_id(&reported.provider_id)?,
            peer: peer(reported.peer)?,
            aliases: aliases(reported.aliases),
            ..reported
        }),
        GatewayEvent::Names(reported) => GatewayEvent::Names(NamesReport {
            peer: peer(reported.peer)?,
            aliases: aliases(reported.aliases),
        }),
        GatewayEvent::Groups(groups) => GatewayEvent::Groups(groups.tidied()),
        event => event,
    })
}

fn message(mut reported: GatewayMessage) -> Result<GatewayMessage, String> {
    // X5: nobody can show it until its content comes.
    if reported.is_late {
        reported.message_type = MessageType::Unsupported;
        reported.media = None;
    }
    // X1: such a message always has the block (X9).
    if reported.message_type == MessageType::Unsupported {
        reported.blocks.unsupported.get_or_insert_default();
    }
    let mut button = reported.button;
    if let Some(button) = &mut button {
        for part in [&mut button.id, &mut button.payload, &mut button.title] {
            *part = optional(part.take(), MAX_CONTENT);
        }
    }
    Ok(GatewayMessage {
        provider_id: provider_id(&reported.provider_id)?,
        peer: peer(reported.peer)?,
        aliases: aliases(reported.aliases),
        participant: reported.participant.filter(|name| is_name(name)),
        push_name: optional_name(reported.push_name),
        content: reported.content.map(|content| kept(&content, MAX_CONTENT)),
        media: reported.media.map(media),
        blocks: reported.blocks.tidied(),
        quoted: reported.quoted.filter(|id| ProviderMessageId::parse(id.as_str()).is_some()),
        quoted_content: optional(reported.quoted_content, MAX_CONTENT),
        button,
        ..reported
    })
}

fn media(reported: EventMedia) -> EventMedia {
    let is_address = |url: &String| {
        url.chars().count() <= MAX_URL && !url.chars().any(char::is_control) && !url.is_empty()
    };
    EventMedia {
        url: reported.url.filter(is_address),
        mimetype: optional(reported.mimetype, text::SHORT),
        filename: optional_name(reported.filename),
        caption: optional(reported.caption, MAX_CONTENT),
    }
}

fn status(reported: StatusEvent) -> Result<StatusEvent, String> {
    let mut failure = reported.failure;
    if let Some(failure) = &mut failure {
        failure.message = optional(failure.message.take(), text::MESSAGE);
    }
    Ok(StatusEvent {
        provider_id: provider_id(&reported.provider_id)?,
        failure,
        names: aliases(reported.names),
        ..reported
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::messages::Blocks;

    fn reported(peer: &str, content: &str) -> GatewayMessage {
        GatewayMessage {
            provider_id: ProviderMessageId::from_stored("3A0F".to_owned()),
            peer: peer.to_owned(),
            aliases: vec!["\u{0}".to_owned(), "123@lid".to_owned()],
            participant: None,
            push_name: Some(content.to_owned()),
            message_type: MessageType::Text,
            content: Some(content.to_owned()),
            media: None,
            blocks: Blocks::default(),
            quoted: None,
            quoted_content: None,
            quoted_type: None,
            button: None,
            history: false,
            is_late: false,
            timestamp: None,
            raw: None,
        }
    }

    /// R35.
    #[test]
    fn a_text_that_holds_what_no_store_takes_is_kept_without_it() {
        let Ok(GatewayEvent::Message(message)) =
            tidy(GatewayEvent::Message(reported("5511987654321", "a\u{0}b\r\nc\u{7f}\rd")))
        else {
            panic!("it is taken")
        };
        assert_eq!(message.content.as_deref(), Some("ab\nc\nd"));
        assert_eq!(message.aliases, ["123@lid"]);
    }

    /// R174.
    #[test]
    fn names_that_a_gateway_reports_do_not_change_the_direction_of_writing() {
        let text = "\u{202E}anA\u{2069} ";
        let mut reported = reported("5511987654321", text);
        reported.media =
            Some(EventMedia { filename: Some(text.to_owned()), ..EventMedia::default() });
        let Ok(GatewayEvent::Message(message)) = tidy(GatewayEvent::Message(reported)) else {
            panic!("it is taken")
        };
        assert_eq!(message.push_name.as_deref(), Some("anA"));
        assert_eq!(message.media.and_then(|media| media.filename).as_deref(), Some("anA"));
        assert_eq!(message.content.as_deref(), Some(text), "a message stays as it is");
        let code = crate::groups::GroupCode::from_stored("1@g.us".to_owned());
        let group = Group { subject: Some(text.to_owned()), ..Group::seen(code) };
        assert_eq!(tidy_group(group).subject.as_deref(), Some("anA"));
    }

    #[test]
    fn what_names_nobody_or_has_no_id_is_refused() {
        for peer in ["", "  ", "a\u{0}", &"9".repeat(201)] {
            assert!(tidy(GatewayEvent::Message(reported(peer, "oi"))).is_err(), "{peer:?}");
        }
        let nameless = GatewayMessage {
            provider_id: ProviderMessageId::from_stored(String::new()),
            ..reported("5511987654321", "oi")
        };
        assert!(tidy(GatewayEvent::Echo(nameless)).is_err());
    }

    proptest! {
        #[test]
        fn every_text_is_within_limits_and_tidying_twice_changes_nothing(text in ".{0,300}") {
            let Ok(once) = tidy(GatewayEvent::Message(reported("5511987654321", &text))) else {
                return Err(TestCaseError::fail("a text is no reason to refuse"));
            };
            let GatewayEvent::Message(message) = &once else { unreachable!("a message") };
            prop_assert!(message.push_name.as_ref().is_none_or(|n| n.chars().count() <= 200));
            prop_assert_eq!(tidy(once.clone()), Ok(once));
        }
    }
}
