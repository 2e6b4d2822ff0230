//! What a connection can be asked to carry or do (X10–X15).

use super::content::FileKind;
use crate::messages::OfferKind;
use crate::words::words;

words! {
    /// A kind of message, or what can be done with one.
    MessageKind {
        /// Free text.
        Text = "text",
        /// A message made from an approved template.
        Template = "template",
        /// A picture.
        Image = "image",
        /// A video.
        Video = "video",
        /// Sound.
        Audio = "audio",
        /// A voice note.
        Voice = "voice",
        /// A file.
        Document = "document",
        /// A sticker.
        Sticker = "sticker",
        /// A text with buttons.
        Buttons = "buttons",
        /// A text with a list.
        List = "list",
        /// A text with a button that opens a page.
        CtaUrl = "cta_url",
        /// A request for a place.
        LocationRequest = "location_request",
        /// A poll.
        Poll = "poll",
        /// A place.
        Location = "location",
        /// Address cards.
        Contacts = "contacts",
        /// A reaction.
        Reaction = "reaction",
        /// Marking as read.
        Read = "read",
        /// Showing that somebody types.
        Typing = "typing",
        /// Changing a message that was sent.
        Edit = "edit",
        /// Taking a message back.
        Revoke = "revoke",
    }
}

impl MessageKind {
    /// A message with such a file, no voice note.
    pub const fn of_file(kind: FileKind) -> Self {
        match kind {
            FileKind::Image => Self::Image,
            FileKind::Video => Self::Video,
            FileKind::Audio => Self::Audio,
            FileKind::Document => Self::Document,
            FileKind::Sticker => Self::Sticker,
        }
    }

    /// A message with such an offer. Products are not offered by us.
    pub const fn of_offer(kind: OfferKind) -> Self {
        match kind {
            OfferKind::List | OfferKind::Product | OfferKind::ProductList => Self::List,
            OfferKind::Buttons | OfferKind::Other => Self::Buttons,
            OfferKind::CtaUrl => Self::CtaUrl,
            OfferKind::LocationRequest => Self::LocationRequest,
            OfferKind::Poll => Self::Poll,
        }
    }
}
