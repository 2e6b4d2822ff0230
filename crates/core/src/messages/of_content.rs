//! What a message that we send shows afterwards: the blocks and the text that a received message of
//! its kind would have (X2, X4).

use super::{Blocks, Interactive, Media, MessageType, Reaction};
use crate::gateway::{Content, MediaContent, OutgoingFile};
use crate::templates::{SentHeader, TemplateContent};

/// A message's own part of what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) message_type: MessageType,
    pub(crate) content: Option<String>,
    pub(crate) media: Media,
    pub(crate) blocks: Blocks,
}

impl Shown {
    /// What a message with this content shows (X2, X4).
    pub(crate) fn of(content: &Content) -> Self {
        let message_type = content.message_type();
        let blocks = blocks(content);
        let said = match content {
            Content::Text(text) => Some(text.clone()),
            Content::Template(template) => Some(template.rendered.clone()),
            Content::Media(_) => None,
            Content::Interactive(_)
            | Content::Location(_)
            | Content::Contacts(_)
            | Content::Reaction(_) => blocks.content_of(message_type),
        };
        Self { message_type, content: said, media: media(content), blocks }
    }

    /// The same offer as a text, for a gateway that cannot show it (X12).
    pub(crate) fn into_text(self, text: String) -> Self {
        Self { message_type: MessageType::Text, content: Some(text), ..self }
    }
}

fn media(content: &Content) -> Media {
    let of = |file: &OutgoingFile, caption: Option<String>| Media {
        upload: Some(file.upload),
        mimetype: Some(file.mimetype.clone()),
        filename: file.filename.clone(),
        caption,
        ..Media::default()
    };
    match content {
        Content::Media(MediaContent { file, caption, .. }) => of(file, caption.clone()),
        Content::Interactive(content) => match &content.header_file {
            Some((_, file)) => of(file, None),
            None => Media::default(),
        },
        Content::Template(TemplateContent { header: Some(SentHeader::File(_, file)), .. }) => {
            of(file, None)
        }
        Content::Text(_)
        | Content::Template(_)
        | Content::Location(_)
        | Content::Contacts(_)
        | Content::Reaction(_) => Media::default(),
    }
}

fn blocks(content: &Content) -> Blocks {
    let none = Blocks::default();
    match content {
        Content::Text(_) => none,
        Content::Template(template) => Blocks {
            location: match &template.header {
                Some(SentHeader::Location(place)) => Some(place.clone()),
                Some(SentHeader::Text(_) | SentHeader::File(..)) | None => None,
            },
            interactive: template.offer.clone().map(Interactive::Offer),
            ..none
        },
        Content::Media(media) => Blocks { is_voice: media.is_voice, ..none },
        Content::Interactive(content) => {
            let offer = Box::new(content.offer.clone());
            Blocks { interactive: Some(Interactive::Offer(offer)), ..none }
        }
        Content::Location(place) => Blocks { location: Some(place.clone()), ..none },
        Content::Contacts(cards) => Blocks { shared_contacts: Some(cards.clone()), ..none },
        Content::Reaction(reaction) => {
            let block = Reaction {
                emoji: reaction.emoji.clone(),
                message_id: Some(reaction.message),
                provider_message_id: Some(reaction.target.provider_id.as_str().to_owned()),
            };
            Blocks { reaction: Some(block), ..none }
        }
    }
}
