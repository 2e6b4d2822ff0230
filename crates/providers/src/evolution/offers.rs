//! What was offered to choose from: polls, buttons, lists, templates, invitations.

use recado_core::messages::{Choice, Interactive, MessageType, Offer, OfferKind};
use serde_json::Value;

use super::body::MessageContent;
use super::native;
use super::values::{text_in, whole};
use crate::shared::{at, listed};

/// A message that offers something.
pub(super) fn offered(offer: Offer) -> MessageContent {
    let message_type = match offer.kind {
        OfferKind::Poll => MessageType::Poll,
        _ => MessageType::Interactive,
    };
    MessageContent::interactive(message_type, Interactive::Offer(Box::new(offer)))
}

/// A message that offers something, unless nothing of it is known.
pub(super) fn offered_if_any(offer: Offer) -> Option<MessageContent> {
    (offer != Offer::new(offer.kind)).then(|| offered(offer))
}

pub(super) use crate::shared::native::header;

/// A list that is not empty.
pub(super) fn some<T>(items: Vec<T>) -> Option<Vec<T>> {
    (!items.is_empty()).then_some(items)
}

/// A poll. A number of 0 means that all options may be chosen.
pub(super) fn poll(part: &Value) -> Option<MessageContent> {
    let question = text_in(part, &["name"]);
    let options = listed(part, "options").iter();
    let options: Vec<String> =
        options.filter_map(|option| text_in(option, &["optionName"])).collect();
    if question.is_none() && options.is_empty() {
        return None;
    }
    let all = u32::try_from(options.len()).unwrap_or(u32::MAX);
    let selectable = whole(part, "selectableOptionsCount").map(|count| match count {
        0 => all,
        count => u32::try_from(count).unwrap_or(all),
    });
    let poll = Offer::poll(question.unwrap_or_default(), options);
    Some(offered(Offer { selectable: selectable.filter(|count| *count > 0), ..poll }))
}

/// An invitation to a group.
pub(super) fn invitation(part: &Value) -> Option<MessageContent> {
    offered_if_any(Offer {
        header: header(text_in(part, &["groupName"])),
        body: text_in(part, &["caption"]),
        ..Offer::new(OfferKind::Other)
    })
}

/// Buttons beneath a text.
pub(super) fn buttons(part: &Value) -> Option<MessageContent> {
    let buttons = listed(part, "buttons").iter().map(|button| Choice {
        id: text_in(button, &["buttonId"]),
        title: text_in(button, &["buttonText", "displayText"]),
    });
    offered_if_any(Offer {
        header: header(text_in(part, &["text"])),
        body: text_in(part, &["contentText"]),
        footer: text_in(part, &["footerText"]),
        buttons: some(buttons.collect()),
        ..Offer::new(OfferKind::Buttons)
    })
}

/// A template: its text with its variables filled in.
pub(super) fn template(part: &Value) -> Option<MessageContent> {
    if let Some(inner) = at(part, &["interactiveMessageTemplate"]) {
        return native::interactive(inner);
    }
    let names = ["hydratedTemplate", "hydratedFourRowTemplate"];
    let template = names.iter().find_map(|name| at(part, &[name]))?;
    let buttons: Vec<TemplateButton> =
        listed(template, "hydratedButtons").iter().filter_map(template_button).collect();
    let link = match buttons.as_slice() {
        [button] => button.url.clone(),
        _ => None,
    };
    let texts = Offer {
        header: header(text_in(template, &["hydratedTitleText"])),
        body: text_in(template, &["hydratedContentText"]),
        footer: text_in(template, &["hydratedFooterText"]),
        ..Offer::new(OfferKind::Other)
    };
    offered_if_any(match link {
        Some(url) => {
            let label = buttons.into_iter().find_map(|button| button.choice.title);
            Offer { kind: OfferKind::CtaUrl, label, url: Some(url), ..texts }
        }
        None => {
            let all_replies = !buttons.is_empty() && buttons.iter().all(|button| button.is_reply);
            let kind = if all_replies { OfferKind::Buttons } else { OfferKind::Other };
            let choices = buttons.into_iter().map(|button| button.choice).collect();
            Offer { kind, buttons: some(choices), ..texts }
        }
    })
}

/// A button of a template: it answers, opens a page or calls.
struct TemplateButton {
    choice: Choice,
    is_reply: bool,
    url: Option<String>,
}

fn template_button(button: &Value) -> Option<TemplateButton> {
    let kinds = ["quickReplyButton", "urlButton", "callButton"];
    let (kind, told) = kinds.iter().find_map(|kind| Some((*kind, at(button, &[kind])?)))?;
    Some(TemplateButton {
        choice: Choice { id: text_in(told, &["id"]), title: text_in(told, &["displayText"]) },
        is_reply: kind == "quickReplyButton",
        url: text_in(told, &["url"]).filter(|_| kind == "urlButton"),
    })
}
