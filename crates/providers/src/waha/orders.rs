//! The requests that send: which one for which content, and its fields (X10–X13).

use recado_core::documents::StoredFile;
use recado_core::gateway::{Content, FileKind, MediaContent, OutgoingFile, SendFailure};
use recado_core::messages::{DeliveryCode, Location};
use serde_json::{Map, Value, json};

use super::{cards, choices};

/// The media type by which the channel knows a voice note.
const VOICE: &str = "audio/ogg; codecs=opus";

/// A request that sends, without the fields that all have.
pub(super) struct Order {
    /// The operation.
    pub(super) route: &'static str,
    /// Its own fields.
    pub(super) fields: Map<String, Value>,
    /// A file, and where it stands in the body.
    pub(super) file: Option<(&'static [&'static str], StoredFile)>,
    /// Whether the message's id can be given.
    pub(super) takes_id: bool,
    /// Whether it can quote.
    pub(super) quotes: bool,
}

impl Order {
    /// A request with these fields, which are an object.
    pub(super) fn new(route: &'static str, fields: Value) -> Self {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Self { route, fields, file: None, takes_id: true, quotes: true }
    }

    /// Adds a text, if there is one.
    pub(super) fn with_text(mut self, name: &str, text: Option<&str>) -> Self {
        if let Some(text) = text {
            self.fields.insert(name.to_owned(), text.into());
        }
        self
    }

    /// Puts a file at the end of the path, in base64.
    pub(super) fn with_file(mut self, path: &'static [&'static str], file: &OutgoingFile) -> Self {
        self.file = Some((path, file.stored.clone()));
        self
    }
}

/// The failure of a message that this gateway cannot carry as it is.
pub(super) fn cannot(reason: &str) -> SendFailure {
    SendFailure::refused(DeliveryCode::ContentRejected, reason)
}

/// The request that sends this content; reactions have one of their own.
pub(super) fn order(content: &Content) -> Result<Order, SendFailure> {
    match content {
        Content::Text(text) => Ok(Order::new("sendText", json!({ "text": text }))),
        Content::Media(media) => of_file(media),
        Content::Interactive(content) => choices::order(content),
        Content::Location(place) => Ok(of_place(place)),
        Content::Contacts(shared) => {
            let contacts: Vec<Value> = shared.iter().map(cards::contact).collect();
            Ok(Order::new("sendContactVcard", json!({ "contacts": contacts })))
        }
        Content::Template { .. } | Content::Reaction(_) => {
            let reason = "this kind of connection has no templates";
            Err(SendFailure::refused(DeliveryCode::TemplateRejected, reason))
        }
    }
}

/// The fields of a file, without its bytes.
pub(super) fn file_fields(file: &OutgoingFile, mimetype: &str) -> Value {
    let mut fields = json!({ "mimetype": mimetype });
    if let Some(name) = &file.filename {
        fields["filename"] = name.as_str().into();
    }
    fields
}

/// A file goes as it is: the gateway converts nothing (R337).
fn of_file(media: &MediaContent) -> Result<Order, SendFailure> {
    let MediaContent { kind, file, caption, is_voice } = media;
    let route = match kind {
        FileKind::Image => "sendImage",
        FileKind::Video => "sendVideo",
        FileKind::Audio if *is_voice => "sendVoice",
        // It would go out as a voice note.
        FileKind::Audio => return Err(cannot("the gateway sends sound as voice notes only")),
        FileKind::Document => "sendFile",
        FileKind::Sticker => "sendSticker",
    };
    let mimetype = if *is_voice { VOICE } else { file.mimetype.as_str() };
    let mut fields = json!({ "file": file_fields(file, mimetype) });
    if matches!(kind, FileKind::Audio | FileKind::Video) {
        fields["convert"] = false.into();
    }
    // WAHA writes a caption of its own under a video whose caption is missing.
    let caption = caption.as_deref().or((*kind == FileKind::Video).then_some(""));
    let order = Order::new(route, fields).with_text("caption", caption);
    Ok(order.with_file(&["file", "data"], file))
}

/// A place has one text, which holds the name and, in the next line, the address (R338).
fn of_place(place: &Location) -> Order {
    let lines: Vec<&str> =
        [&place.name, &place.address].into_iter().flatten().map(|line| &**line).collect();
    let title = (!lines.is_empty()).then(|| lines.join("\n"));
    let fields = json!({"latitude": place.latitude, "longitude": place.longitude});
    Order::new("sendLocation", fields).with_text("title", title.as_deref())
}
