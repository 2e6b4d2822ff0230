//! A message of each kind, for tests of adapters and of rules.
//!
//! ```
//! use recado_core::gateway::MessageKind;
//! use recado_testkit::contents;
//!
//! let poll = contents::of(MessageKind::Poll, "5511987654321").expect("a kind of message");
//! assert_eq!(poll.kind(), MessageKind::Poll);
//! assert_eq!(contents::of(MessageKind::Typing, "5511987654321"), None);
//! ```

use std::sync::Arc;

use recado_core::documents::StoredFile;
use recado_core::gateway::{
    Content, FileKind, InteractiveContent, MediaContent, MessageKind, MessageName, OutgoingFile,
    ReactionContent,
};
use recado_core::ids::{MessageId, UploadId};
use recado_core::messages::{
    Choice, ListRow, ListSection, Location, Offer, OfferHeader, OfferKind, PollOption,
    ProviderMessageId, SharedContact, SharedEmail, SharedPhone,
};
use recado_core::templates::{Parameter, TemplateContent};
use serde_json::Number;
use uuid::Uuid;

use crate::MemoryFiles;

/// The kinds of files, each with a media type, a name and how such a file begins.
const FILES: [(FileKind, &str, &str, &[u8]); 5] = [
    (FileKind::Image, "image/jpeg", "foto.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01"),
    (
        FileKind::Video,
        "video/mp4",
        "filme.mp4",
        b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom",
    ),
    (FileKind::Audio, "audio/mpeg", "som.mp3", b"ID3\x03\x00\x00\x00\x00\x00\x00"),
    (FileKind::Document, "application/pdf", "nota.pdf", b"%PDF-1.4\n%%EOF\n"),
    (
        FileKind::Sticker,
        "image/webp",
        "figurinha.webp",
        b"RIFF\x1a\x00\x00\x00WEBPVP8 \x0e\x00\x00\x00",
    ),
];
/// How a voice note begins: the head of an Ogg page with one segment, and Opus's own head in it.
const VOICE: &[u8] = b"OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\
    \x00\x00\x00\x00\x00\x00\x00\x00\x01\x13\
    OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00";

/// A message of this kind in the conversation `chat`, as the contract allows it; `None` for what is
/// done with messages.
pub fn of(kind: MessageKind, chat: &str) -> Option<Content> {
    Some(match kind {
        MessageKind::Text => Content::Text("Olá, Maria".to_owned()),
        MessageKind::Template => template(),
        MessageKind::Image => media(FileKind::Image, Some("A foto")),
        MessageKind::Video => media(FileKind::Video, Some("O filme")),
        MessageKind::Audio => media(FileKind::Audio, None),
        MessageKind::Voice => voice(),
        MessageKind::Document => media(FileKind::Document, Some("A nota")),
        MessageKind::Sticker => media(FileKind::Sticker, None),
        MessageKind::Buttons => offered(buttons()),
        MessageKind::List => offered(list()),
        MessageKind::CtaUrl => offered(page()),
        MessageKind::LocationRequest => {
            offered(Offer { body: Some("Onde?".into()), ..Offer::new(OfferKind::LocationRequest) })
        }
        MessageKind::Poll => offered(poll()),
        MessageKind::Location => location(),
        MessageKind::Contacts => Content::Contacts(vec![card()]),
        MessageKind::Reaction => Content::Reaction(ReactionContent {
            message: MessageId::new(Uuid::from_u128(0x7000 << 64 | 1 << 63)),
            target: received("wamid.IN1", chat),
            emoji: Some("\u{1F44D}".to_owned()),
        }),
        MessageKind::Read | MessageKind::Typing | MessageKind::Edit | MessageKind::Revoke => {
            return None;
        }
    })
}

/// A message that came from the conversation `chat`.
pub fn received(provider_id: &str, chat: &str) -> MessageName {
    MessageName {
        provider_id: ProviderMessageId::from_stored(provider_id.to_owned()),
        chat: chat.to_owned(),
        is_ours: false,
        participant: None,
        content: Some("Oi".to_owned()),
    }
}

/// A message that we sent to the conversation `chat`.
pub fn sent(provider_id: &str, chat: &str) -> MessageName {
    MessageName { is_ours: true, content: Some("Olá".to_owned()), ..received(provider_id, chat) }
}

/// A file of this kind.
///
/// # Panics
///
/// Never: each kind has one.
pub fn file(kind: FileKind) -> OutgoingFile {
    let (_, mimetype, name, bytes) =
        FILES.iter().find(|(known, ..)| *known == kind).expect("each kind has a file");
    stored(mimetype, name, bytes)
}

/// A file with these bytes, kept in memory.
pub fn stored(mimetype: &str, name: &str, bytes: &[u8]) -> OutgoingFile {
    let files = MemoryFiles::new();
    files.keep(name, bytes.to_vec());
    OutgoingFile {
        upload: UploadId::new(Uuid::from_u128(0x7000 << 64 | 1 << 63 | bytes.len() as u128)),
        stored: StoredFile::new(Arc::new(files), name, bytes.len() as u64),
        mimetype: mimetype.to_owned(),
        filename: Some(name.to_owned()),
    }
}

/// A message with a file of this kind.
pub fn media(kind: FileKind, caption: Option<&str>) -> Content {
    let mut file = file(kind);
    file.filename = file.filename.filter(|_| kind == FileKind::Document);
    let caption = caption.map(str::to_owned);
    Content::Media(MediaContent { kind, file, caption, is_voice: false })
}

/// An offer, without a file above its text.
pub fn offered(offer: Offer) -> Content {
    Content::Interactive(Box::new(InteractiveContent { offer, header_file: None }))
}

/// An offer with a file above its text.
pub fn headed(offer: Offer, kind: FileKind) -> Content {
    let header_file = Some((kind, file(kind)));
    Content::Interactive(Box::new(InteractiveContent { offer, header_file }))
}

/// Buttons, with texts above and below.
pub fn buttons() -> Offer {
    let choice = |id: &str, title: &str| Choice { id: Some(id.into()), title: Some(title.into()) };
    Offer {
        header: Some(OfferHeader { text: Some("Pedido".into()) }),
        body: Some("Confirma?".into()),
        footer: Some("Padaria do João".into()),
        buttons: Some(vec![choice("sim", "Sim"), choice("nao", "Não")]),
        ..Offer::new(OfferKind::Buttons)
    }
}

/// A list of two sections.
pub fn list() -> Offer {
    let row = |id: &str, title: &str, description: Option<&str>| ListRow {
        id: Some(id.into()),
        title: Some(title.into()),
        description: description.map(Into::into),
    };
    let section = |title: &str, rows| ListSection { title: Some(title.into()), rows };
    Offer {
        body: Some("O que deseja?".into()),
        button: Some("Cardápio".into()),
        sections: Some(vec![
            section("Pães", vec![row("p1", "Francês", Some("Quentinho")), row("p2", "Doce", None)]),
            section("Bolos", vec![row("b1", "Cenoura", None)]),
        ]),
        ..Offer::new(OfferKind::List)
    }
}

/// A button that opens a page.
pub fn page() -> Offer {
    Offer {
        body: Some("Veja as datas.".into()),
        label: Some("Datas".into()),
        url: Some("https://padaria.example/datas".into()),
        ..Offer::new(OfferKind::CtaUrl)
    }
}

/// A poll.
pub fn poll() -> Offer {
    let options =
        ["Sábado", "Domingo"].map(|option| PollOption { option: option.into(), votes: 0 });
    Offer {
        body: Some("Quando?".into()),
        options: Some(options.to_vec()),
        selectable: Some(1),
        ..Offer::new(OfferKind::Poll)
    }
}

/// A place.
pub fn place() -> Location {
    let degrees = |degrees: f64| Number::from_f64(degrees).unwrap_or_else(|| Number::from(0));
    Location {
        latitude: degrees(-18.918_612),
        longitude: degrees(-48.277_245),
        name: Some("Padaria do João".to_owned()),
        address: Some("Rua das Flores, 123".to_owned()),
        url: None,
        is_live: false,
    }
}

/// An address card.
pub fn card() -> SharedContact {
    SharedContact {
        name: Some("João Silva".to_owned()),
        phones: vec![SharedPhone { number: "+55 34 99123-4567".to_owned(), kind: None }],
        emails: vec![SharedEmail { email: "joao@padaria.example".to_owned(), kind: None }],
        organization: Some("Padaria do João".to_owned()),
        ..SharedContact::default()
    }
}

fn template() -> Content {
    let variables = [Parameter::next("Maria")];
    Content::Template(TemplateContent::new("pedido", "pt_BR", variables, "Olá, Maria"))
}

fn voice() -> Content {
    let mut file = stored("audio/ogg; codecs=opus", "voz.ogg", VOICE);
    file.filename = None;
    Content::Media(MediaContent { kind: FileKind::Audio, file, caption: None, is_voice: true })
}

fn location() -> Content {
    Content::Location(place())
}
