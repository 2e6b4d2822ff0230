//! What every message keeps to that the core gives to a gateway (X10, X12, X13).

use std::collections::BTreeSet;

use recado_core::gateway::{Content, FileKind, InteractiveContent, MediaContent, Outgoing};
use recado_core::messages::{Offer, OfferKind};

/// The most characters of texts.
const CAPTION: usize = 1_024;
const BODY: usize = 1_024;
const SMALL: usize = 60;
const LABEL: usize = 20;
const CHOICE_ID: usize = 200;

fn at_most(what: &str, text: &str, most: usize) -> Result<(), String> {
    let length = text.chars().count();
    if length == 0 || length > most {
        return Err(format!("{what} has {length} characters, and may have 1 to {most}"));
    }
    Ok(())
}

fn each(what: &str, texts: &[&Option<String>], most: usize) -> Result<(), String> {
    texts.iter().filter_map(|text| text.as_deref()).try_for_each(|text| at_most(what, text, most))
}

/// What is wrong with a message, if anything is.
pub(super) async fn check(outgoing: &Outgoing) -> Result<(), String> {
    match &outgoing.content {
        Content::Text(text) if text.is_empty() => Err("the text is empty".to_owned()),
        Content::Text(_) | Content::Template { .. } => Ok(()),
        Content::Media(media) => self::media(media).await,
        Content::Interactive(offered) => interactive(offered).await,
        Content::Location(place) => {
            let degrees = [(&place.latitude, 90.0), (&place.longitude, 180.0)];
            let fits = |(number, most): &(&serde_json::Number, f64)| {
                number.as_f64().is_some_and(|degrees| degrees.abs() <= *most)
            };
            if degrees.iter().all(fits) { Ok(()) } else { Err(format!("{place:?} is nowhere")) }
        }
        Content::Contacts(cards) => {
            let fits = (1..=10).contains(&cards.len())
                && cards.iter().all(|card| card.name.is_some() && !card.phones.is_empty());
            if fits { Ok(()) } else { Err("cards without a name or a phone".to_owned()) }
        }
        Content::Reaction(reaction) => match reaction.emoji.as_deref() {
            Some("") => Err("an empty emoji".to_owned()),
            _ if outgoing.quoted.is_some() => Err("a reaction quotes".to_owned()),
            _ => Ok(()),
        },
    }
}

async fn media(media: &MediaContent) -> Result<(), String> {
    let has_caption = !matches!(media.kind, FileKind::Audio | FileKind::Sticker);
    if media.caption.is_some() && !has_caption {
        return Err(format!("a {} has a caption", media.kind));
    }
    if media.is_voice && media.kind != FileKind::Audio {
        return Err(format!("a {} is a voice note", media.kind));
    }
    each("a caption", &[&media.caption], CAPTION)?;
    media.file.stored.open().await.map(drop).map_err(|error| error.to_string())
}

async fn interactive(offered: &InteractiveContent) -> Result<(), String> {
    let InteractiveContent { offer, header_file } = offered;
    if let Some((kind, file)) = header_file {
        if !matches!(kind, FileKind::Image | FileKind::Video | FileKind::Document) {
            return Err(format!("a header of the kind {kind}"));
        }
        file.stored.open().await.map(drop).map_err(|error| error.to_string())?;
    }
    at_most("the body", offer.body.as_deref().unwrap_or_default(), BODY)?;
    each("the footer", &[&offer.footer], SMALL)?;
    if let Some(header) = &offer.header {
        each("the header", &[&header.text], SMALL)?;
    }
    match offer.kind {
        OfferKind::Buttons => buttons(offer),
        OfferKind::List => list(offer),
        OfferKind::CtaUrl => {
            at_most("the label", offer.label.as_deref().unwrap_or_default(), LABEL)?;
            let url = offer.url.as_deref().unwrap_or_default();
            if url.starts_with("https://") { Ok(()) } else { Err(format!("the page {url}")) }
        }
        OfferKind::LocationRequest => Ok(()),
        OfferKind::Poll => poll(offer),
        OfferKind::Product | OfferKind::ProductList | OfferKind::Other => {
            Err("an offer that is not sent".to_owned())
        }
    }
}

fn once<'a>(what: &str, texts: impl Iterator<Item = &'a str>) -> Result<usize, String> {
    let mut seen = BTreeSet::new();
    for text in texts {
        if !seen.insert(text) {
            return Err(format!("{what} {text} occurs twice"));
        }
    }
    Ok(seen.len())
}

fn buttons(offer: &Offer) -> Result<(), String> {
    let buttons = offer.buttons.as_deref().unwrap_or_default();
    if !(1..=3).contains(&buttons.len()) {
        return Err(format!("{} buttons", buttons.len()));
    }
    for button in buttons {
        at_most("an id", button.id.as_deref().unwrap_or_default(), CHOICE_ID)?;
        at_most("a title", button.title.as_deref().unwrap_or_default(), LABEL)?;
    }
    once("the id", buttons.iter().filter_map(|button| button.id.as_deref()))?;
    once("the title", buttons.iter().filter_map(|button| button.title.as_deref())).map(drop)
}

fn list(offer: &Offer) -> Result<(), String> {
    at_most("the button", offer.button.as_deref().unwrap_or_default(), LABEL)?;
    let sections = offer.sections.as_deref().unwrap_or_default();
    if sections.len() > 1 && sections.iter().any(|section| section.title.is_none()) {
        return Err("one of several sections has no title".to_owned());
    }
    let rows = || sections.iter().flat_map(|section| &section.rows);
    for row in rows() {
        at_most("an id", row.id.as_deref().unwrap_or_default(), CHOICE_ID)?;
        at_most("a title", row.title.as_deref().unwrap_or_default(), 24)?;
        each("a description", &[&row.description], 72)?;
    }
    let count = once("the id", rows().filter_map(|row| row.id.as_deref()))?;
    if (1..=10).contains(&count) { Ok(()) } else { Err(format!("{count} rows")) }
}

fn poll(offer: &Offer) -> Result<(), String> {
    let options = offer.options.as_deref().unwrap_or_default();
    let count = once("the option", options.iter().map(|option| &*option.option))?;
    let selectable = offer.selectable.unwrap_or(1);
    let fits = (2..=12).contains(&count) && (1..=count).contains(&(selectable as usize));
    if fits { Ok(()) } else { Err(format!("{selectable} of {count} options")) }
}
