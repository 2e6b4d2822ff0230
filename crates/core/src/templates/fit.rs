//! Which of what is given fits which part of a template (D69, X15).

use super::{
    ButtonKind, ButtonNeed, ButtonValue, GivenButton, GivenPart, HeaderKind, HeaderPart,
    HeaderValue, Parameter, SentButton, SentHeader, Template, TemplateNeeds, TemplateValues,
};
use crate::gateway::{FileKind, OutgoingFile};
use crate::uploads::{FileSource, FileWish};
use crate::webhooks::WebhookUrl;

/// What is sent for the parts of a template, what lacks, and what it has no place for.
pub(super) struct Fitted {
    pub(super) header: Option<SentHeader>,
    pub(super) buttons: Vec<(u32, SentButton)>,
    pub(super) lacking: TemplateNeeds,
    pub(super) surplus: Vec<GivenPart>,
    /// The file of the header, which is still to be got.
    pub(super) file: Option<FileWish>,
}

/// Fits what is given to the parts of a template. What lacks has to be given; what is given for a
/// part that takes nothing, or another thing, is surplus (R308). The payload of an answer may be
/// given and need not.
pub(super) fn fit(template: &Template, values: &TemplateValues) -> Fitted {
    let needs = &template.needs;
    let mut fitted = Fitted {
        header: None,
        buttons: Vec::new(),
        lacking: TemplateNeeds { other: needs.other.clone(), ..TemplateNeeds::default() },
        surplus: Vec::new(),
        file: None,
    };
    match (&needs.header, &values.header) {
        (None, None) => {}
        (None, Some(_)) => fitted.surplus.push(GivenPart::Header),
        (Some(kind), given) => {
            fitted.header = given.as_ref().and_then(|given| header(template, kind, given));
            fitted.file = given.as_ref().and_then(|given| wish(kind, given));
            if fitted.header.is_none() {
                fitted.lacking.header = Some(kind.clone());
            }
        }
    }
    for need in &needs.buttons {
        let given = values.buttons.iter().find(|given| given.index == need.index);
        match given.and_then(|given| needed(need, &given.given)) {
            Some(sent) => fitted.buttons.push((need.index, sent)),
            None => fitted.lacking.buttons.push(need.clone()),
        }
    }
    let is_needed = |given: &ButtonValue| needs.buttons.iter().any(|it| it.index == given.index);
    for given in values.buttons.iter().filter(|given| !is_needed(given)) {
        let part = template.components.buttons.get(given.index as usize);
        match (&given.given, part.map(|part| part.kind)) {
            (GivenButton::Payload(payload), Some(ButtonKind::QuickReply)) => {
                fitted.buttons.push((given.index, SentButton::Payload(payload.clone())));
            }
            _ => fitted.surplus.push(GivenPart::Button(given.index)),
        }
    }
    fitted.buttons.sort_by_key(|(index, _)| *index);
    fitted
}

/// What is sent for a header of this kind; `None` if something else was given.
fn header(template: &Template, kind: &str, given: &HeaderValue) -> Option<SentHeader> {
    match (HeaderKind::parse(kind)?, given) {
        (HeaderKind::Text, HeaderValue::Text { text }) if !text.trim().is_empty() => {
            let variable = template.components.header.as_ref().and_then(HeaderPart::variable);
            let name = variable.and_then(|variable| variable.name().map(str::to_owned));
            Some(SentHeader::Text(Parameter { name, text: text.clone() }))
        }
        (HeaderKind::Image | HeaderKind::Video | HeaderKind::Document, given) => {
            wish(kind, given).map(|wish| SentHeader::File(wish.kind, OutgoingFile::pending()))
        }
        (HeaderKind::Location, HeaderValue::Location { location }) => {
            Some(SentHeader::Location(location.clone()))
        }
        _ => None,
    }
}

/// The file that is wished for in a header of this kind; `None` if it takes none, or none was
/// given.
fn wish(kind: &str, given: &HeaderValue) -> Option<FileWish> {
    let kind = match HeaderKind::parse(kind)? {
        HeaderKind::Image => FileKind::Image,
        HeaderKind::Video => FileKind::Video,
        HeaderKind::Document => FileKind::Document,
        HeaderKind::Text | HeaderKind::Location => return None,
    };
    let (source, filename) = match given {
        HeaderValue::Url { url, filename } => {
            (FileSource::Url(WebhookUrl::parse(url).ok()?), filename.clone())
        }
        HeaderValue::Upload { media_id, filename } => {
            (FileSource::Upload(*media_id), filename.clone())
        }
        HeaderValue::Text { .. } | HeaderValue::Location { .. } => return None,
    };
    Some(FileWish { filename, ..FileWish::new(kind, source) })
}

/// What is sent for a button that needs something; `None` if something else was given.
fn needed(need: &ButtonNeed, given: &GivenButton) -> Option<SentButton> {
    let kind = ButtonKind::parse(&need.kind).filter(|_| !given.text().trim().is_empty())?;
    match (kind, given) {
        (ButtonKind::Url, GivenButton::UrlSuffix(end)) => Some(SentButton::UrlSuffix(end.clone())),
        (ButtonKind::CopyCode, GivenButton::Code(code)) => Some(SentButton::CopyCode(code.clone())),
        (ButtonKind::Otp, GivenButton::Code(code)) => Some(SentButton::Otp(code.clone())),
        _ => None,
    }
}
