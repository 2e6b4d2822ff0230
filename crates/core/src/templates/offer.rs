//! What a message made from a template shows beside its text (X2, X15).

use super::{ButtonKind, ButtonPart, Components, GivenButton, SentHeader, TemplateValues};
use crate::messages::{Choice, Offer, OfferHeader, OfferKind};
use std::collections::BTreeMap;

/// The header's text, the footer and the buttons, each as it arrives; `None` if the template has
/// none of them. One link is a `cta_url`, answers alone are `buttons`, and all else is `other`
/// (R307), as in messages that arrive.
pub(super) fn offer(
    components: &Components,
    header: Option<&SentHeader>,
    values: &TemplateValues,
    rendered: &str,
) -> Option<Offer> {
    let text = components.header.as_ref().and_then(|part| match (header, part.variable()) {
        (Some(SentHeader::Text(parameter)), Some(variable)) => {
            let value = BTreeMap::from([(variable, parameter.text.clone())]);
            super::render(part.text.as_deref()?, &value).ok()
        }
        _ => part.text.clone(),
    });
    let Components { footer, buttons, .. } = components;
    if text.is_none() && footer.is_none() && buttons.is_empty() {
        return None;
    }
    let texts = Offer {
        header: text.map(|text| OfferHeader { text: Some(text) }),
        body: Some(rendered.to_owned()),
        footer: footer.clone(),
        ..Offer::new(OfferKind::Other)
    };
    let given = |index: usize| {
        let of_button = values.buttons.iter().find(|button| button.index as usize == index);
        of_button.map(|button| &button.given)
    };
    if let [button] = buttons.as_slice()
        && let Some(url) = url(button, given(0))
    {
        let label = Some(button.text.clone());
        return Some(Offer { kind: OfferKind::CtaUrl, label, url: Some(url), ..texts });
    }
    let choice = |(index, button): (usize, &ButtonPart)| Choice {
        id: match given(index) {
            Some(GivenButton::Payload(payload)) => Some(payload.clone()),
            _ => None,
        },
        title: Some(button.text.clone()),
    };
    let choices: Vec<Choice> = buttons.iter().enumerate().map(choice).collect();
    let are_answers =
        !buttons.is_empty() && buttons.iter().all(|button| button.kind == ButtonKind::QuickReply);
    let kind = if are_answers { OfferKind::Buttons } else { OfferKind::Other };
    Some(Offer { kind, buttons: (!choices.is_empty()).then_some(choices), ..texts })
}

/// The page that a button opens, with what was given for its end.
fn url(button: &ButtonPart, given: Option<&GivenButton>) -> Option<String> {
    match (button.open_url(), given) {
        (Some(page), Some(GivenButton::UrlSuffix(suffix))) => Some(format!("{page}{suffix}")),
        _ => button.url.clone(),
    }
}
