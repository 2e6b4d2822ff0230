//! One message: who wrote it, what it says and holds, and what became of it (R424).

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::contacts::OperatorContact;
use recado_core::messages::{
    Direction, Forwarded, MessageStatus, MessageType, MessageView, SenderType,
};

use super::{blocks, file, page_of};
use crate::view::empty::{Tone, badge};
use crate::view::layout::csrf_field;
use crate::view::when::{moment, when};
use crate::visit::Visit;

/// What the reactions of the form are.
const EMOJIS: [&str; 6] = ["👍", "❤️", "😂", "😮", "😢", "🙏"];

/// A message with what is shown at it.
pub(super) struct Shown<'a> {
    pub(super) message: &'a MessageView,
    pub(super) contact: &'a OperatorContact,
    /// The reactions to it.
    pub(super) reactions: &'a [&'a MessageView],
}

/// R424. A message of any kind. Every text of it is shown as a text, never as HTML.
pub(super) fn message(visit: &Visit, shown: &Shown<'_>) -> Markup {
    let Shown { message, contact, reactions } = shown;
    let blocks = &message.blocks;
    html! {
        p.head {
            span.hidden { (visit.word_of("thread-direction", message.direction.as_str())) ": " }
            bdi.who { (who(visit, message, contact)) }
            " · " (when(visit, message.timestamp))
            @if let Some(at) = message.edited_at {
                " · " span title=(moment(visit, at)) { (visit.t("thread-edited")) }
            }
        }
        @match blocks.forwarded {
            Some(Forwarded::Once) => p.detail { (visit.t("thread-forwarded")) },
            Some(Forwarded::Often) => p.detail { (visit.t("thread-forwarded-often")) },
            None => {}
        }
        (quote(visit, message))
        @if let Some(at) = blocks.deleted_by_sender_at {
            p.detail { (badge(Tone::Warn, &visit.t("thread-deleted"))) " " (when(visit, at)) }
        }
        (content(visit, message, contact))
        @if !reactions.is_empty() {
            ul.reactions aria-label=(visit.t("thread-reactions")) {
                @for reaction in *reactions {
                    li {
                        bdi { (emoji(reaction).unwrap_or_default()) }
                        " " bdi.detail { (who(visit, reaction, contact)) }
                    }
                }
            }
        }
        (outcome(visit, message))
        (ways_on(visit, message, contact))
    }
}

fn emoji(message: &MessageView) -> Option<&str> {
    message.blocks.reaction.as_ref()?.emoji.as_deref()
}

/// Who wrote it: in a group the person, else the contact; of ours what wrote it.
fn who(visit: &Visit, message: &MessageView, contact: &OperatorContact) -> String {
    if let Some(person) = &message.participant {
        let name = person.name.as_ref().or(person.phone.as_ref());
        return name.unwrap_or(&person.identifier).clone();
    }
    match message.sender_type {
        SenderType::Contact => contact.detail.summary.display_name.clone(),
        other => visit.word_of("thread-sender", other.as_str()),
    }
}

fn quote(visit: &Visit, message: &MessageView) -> Markup {
    if message.quoted_message_id.is_none() && message.quoted_content.is_none() {
        return html! {};
    }
    let kind = || message.quoted_type.map(|kind| visit.word_of("thread-kind", kind.as_str()));
    let text = message.quoted_content.clone().or_else(kind);
    let text = text.unwrap_or_else(|| visit.t("thread-quoted-unknown"));
    html! {
        blockquote.quoted dir="auto" {
            @if let Some(id) = message.quoted_message_id {
                a href={ "#message-" (id) } { (text) }
            } @else { (text) }
        }
    }
}

fn content(visit: &Visit, message: &MessageView, contact: &OperatorContact) -> Markup {
    let kind = message.message_type;
    let (known, is_said) = blocks::blocks(visit, &message.blocks);
    let word = visit.word_of("thread-kind", kind.as_str());
    html! {
        @if !matches!(kind, MessageType::Text) {
            p.detail { (badge(Tone::Plain, &word)) }
        }
        @if message.media_url.is_some() || message.media_filename.is_some() {
            (file::inline(visit, contact.detail.summary.id, message))
        }
        (known)
        @if !is_said || kind.is_text() {
            @if let Some(text) = &message.content { p.text dir="auto" { (text) } }
        }
        @if let Some(caption) = &message.media_caption {
            @if message.content.as_ref() != Some(caption) { p.text dir="auto" { (caption) } }
        }
    }
}

/// What became of a message of ours, in words, and what to do about it.
fn outcome(visit: &Visit, message: &MessageView) -> Markup {
    if message.direction == Direction::Inbound {
        return html! {};
    }
    let tone = match message.status {
        MessageStatus::Failed => Tone::Bad,
        MessageStatus::Pending => Tone::Warn,
        _ => Tone::Plain,
    };
    let status = message.status.as_str();
    html! {
        p.outcome { (badge(tone, &visit.word_of("thread-status", status))) }
        @if let Some(error) = &message.delivery_error {
            @let code = error.code.as_str().to_lowercase();
            p.error {
                (visit.word_of("thread-failure", &code)) " "
                (visit.word_of("thread-advice", &code))
            }
            p.detail { code { (error.code.as_str()) }
                @if let Some(said) = &message.error_message { " " bdi { (said) } } }
        }
    }
}

/// Quoting it, and reacting to it.
fn ways_on(visit: &Visit, message: &MessageView, contact: &OperatorContact) -> Markup {
    if matches!(message.message_type, MessageType::System | MessageType::Reaction) {
        return html! {};
    }
    let page = page_of(contact.detail.summary.id);
    html! {
        div.ways {
            @if visit.may(OperatorAction::ReplyToContact) {
                a href={ (page) "?quote=" (message.id) "#answer" } data-key="q" {
                    (visit.t("thread-quote"))
                }
            }
            @if visit.may(OperatorAction::ReactToMessage) {
                details data-key="x" {
                    summary { (visit.t("thread-react")) }
                    form method="post" action={ (page) "/messages/" (message.id) "/reaction" } {
                        (csrf_field(visit))
                        @for emoji in EMOJIS {
                            button.quiet type="submit" name="emoji" value=(emoji) { (emoji) }
                        }
                        button.quiet type="submit" name="emoji" value="" {
                            (visit.t("thread-react-none"))
                        }
                    }
                }
            }
        }
    }
}
