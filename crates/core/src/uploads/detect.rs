//! What a file is by its first bytes (X10). Nothing is decoded or unpacked.

use super::limits::{
    EXCEL, EXCEL_XML, MP4_AUDIO, MP4_VIDEO, OPUS, POWERPOINT, POWERPOINT_XML, TEXT, WORD, WORD_XML,
    allowed_types,
};
use crate::gateway::FileKind;

/// How many first bytes are looked at.
pub(super) const HEAD_BYTES: usize = 8 * 1024;

/// The brands of videos in the form of MP4, as they begin.
const VIDEO_BRANDS: &[&[u8]] = &[
    b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"MSNV", b"dash",
    b"M4V",
];

/// What somebody says of a file, for what its bytes leave open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hints<'a> {
    pub(super) mimetype: Option<&'a str>,
    pub(super) filename: Option<&'a str>,
}

/// What the first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// Exactly this.
    Type(&'static str),
    /// The form of MP4 with both in it.
    SoundOrVideo,
    /// One of Office's old formats.
    OldOffice,
    /// A ZIP that may be one of Office's new formats.
    NewOffice,
    /// Text of any kind.
    Text,
    /// Nothing that could be sent.
    Other,
}

/// The media type of a file that is sent as this kind; `None` if it may not be sent as that (X10,
/// R349). What the bytes leave open, the declared media type and the name decide.
pub(super) fn sent_type(
    kind: FileKind,
    is_voice: bool,
    head: &[u8],
    hints: Hints<'_>,
) -> Option<&'static str> {
    let found = match (found(head), kind) {
        (Found::Type(exact), _) => exact,
        (Found::SoundOrVideo, FileKind::Audio) => MP4_AUDIO,
        (Found::SoundOrVideo, _) => MP4_VIDEO,
        (Found::OldOffice, _) => hints.of(&[WORD, EXCEL, POWERPOINT]).unwrap_or(WORD),
        (Found::NewOffice, _) => hints.of(&[WORD_XML, EXCEL_XML, POWERPOINT_XML])?,
        (Found::Text, _) => TEXT,
        (Found::Other, _) => return None,
    };
    allowed_types(kind, is_voice).iter().find(|allowed| **allowed == found).copied()
}

/// The media type that an upload shows: what its bytes say, else what was declared (X11).
pub(super) fn shown_type(head: &[u8], hints: Hints<'_>) -> String {
    let exact = match found(head) {
        Found::Type(exact) => Some(exact),
        Found::SoundOrVideo => Some(hints.of(&[MP4_AUDIO]).unwrap_or(MP4_VIDEO)),
        Found::OldOffice => Some(hints.of(&[WORD, EXCEL, POWERPOINT]).unwrap_or(WORD)),
        Found::NewOffice => hints.of(&[WORD_XML, EXCEL_XML, POWERPOINT_XML]),
        Found::Text => Some(TEXT),
        Found::Other => None,
    };
    let other = || infer::get(head).map_or("application/octet-stream", |kind| kind.mime_type());
    exact.unwrap_or_else(other).to_owned()
}

impl Hints<'_> {
    /// The type among these that is meant.
    fn of(self, types: &[&'static str]) -> Option<&'static str> {
        let declared = |kind: &&&'static str| {
            self.mimetype.is_some_and(|said| bare(said).eq_ignore_ascii_case(kind))
        };
        let ending = self.filename.and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
        let named = |kind: &&&'static str| {
            ending.is_some_and(|end| ending_of(kind).eq_ignore_ascii_case(end))
        };
        types.iter().find(declared).or_else(|| types.iter().find(named)).copied()
    }
}

/// A media type without its parameters.
fn bare(mimetype: &str) -> &str {
    mimetype.split(';').next().unwrap_or_default().trim()
}

/// The ending of the names of such files.
pub(super) fn ending_of(mimetype: &str) -> &'static str {
    match mimetype {
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "image/webp" => "webp",
        "audio/aac" => "aac",
        "audio/amr" => "amr",
        "audio/mpeg" => "mp3",
        MP4_AUDIO => "m4a",
        OPUS => "ogg",
        MP4_VIDEO => "mp4",
        "video/3gpp" => "3gp",
        "application/pdf" => "pdf",
        WORD => "doc",
        WORD_XML => "docx",
        EXCEL => "xls",
        EXCEL_XML => "xlsx",
        POWERPOINT => "ppt",
        POWERPOINT_XML => "pptx",
        _ => "txt",
    }
}

fn found(head: &[u8]) -> Found {
    if let Some(brand) = head.get(8..12).filter(|_| head.get(4..8) == Some(b"ftyp")) {
        return match brand {
            b"M4A " | b"M4B " => Found::Type(MP4_AUDIO),
            _ if brand.starts_with(b"3gp") => Found::Type("video/3gpp"),
            _ if VIDEO_BRANDS.iter().any(|known| brand.starts_with(known)) => Found::SoundOrVideo,
            _ => Found::Other,
        };
    }
    if head.starts_with(b"OggS") {
        // The first page has one header, after 28 bytes.
        let is_opus = head.get(28..36) == Some(b"OpusHead");
        return if is_opus { Found::Type(OPUS) } else { Found::Other };
    }
    if head.starts_with(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
        return Found::OldOffice;
    }
    let known = infer::get(head).map(|kind| kind.mime_type());
    match known {
        Some("image/webp") if !head.starts_with(b"RIFF") => Found::Other,
        Some("audio/mpeg") => Found::Type("audio/mpeg"),
        Some("audio/aac") => Found::Type("audio/aac"),
        Some("audio/amr") => Found::Type("audio/amr"),
        Some(
            exact @ ("image/jpeg" | "image/png" | "image/webp" | "application/pdf" | WORD_XML
            | EXCEL_XML | POWERPOINT_XML),
        ) => Found::Type(exact),
        _ if head.starts_with(b"PK\x03\x04") && holds(head, b"[Content_Types].xml") => {
            Found::NewOffice
        }
        Some(other) if !other.starts_with("text/") => Found::Other,
        _ if is_text(head) => Found::Text,
        _ => Found::Other,
    }
}

fn holds(head: &[u8], part: &[u8]) -> bool {
    head.windows(part.len()).any(|window| window == part)
}

/// Whether it may be text, in UTF-8 or in an encoding of one byte.
fn is_text(head: &[u8]) -> bool {
    let is_written = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C) || *byte >= 0x20;
    !head.is_empty() && head.iter().all(|byte| is_written(byte) && *byte != 0x7F)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const JPEG: &[u8] = &[0xFF, 0xD8, 0xFF, 0xE0, 0, 16, b'J', b'F', b'I', b'F'];

    fn ogg(codec: &[u8]) -> Vec<u8> {
        [b"OggS", &[0; 24][..], codec, &[0; 40]].concat()
    }

    fn mp4(brand: &[u8; 4]) -> Vec<u8> {
        [&[0, 0, 0, 32][..], b"ftyp", brand, &[0; 20]].concat()
    }

    fn sent(kind: FileKind, head: &[u8]) -> Option<&'static str> {
        sent_type(kind, false, head, Hints::default())
    }

    /// X10.
    #[test]
    fn the_first_bytes_say_what_a_file_may_be_sent_as() {
        let webp = b"RIFF\x10\0\0\0WEBPVP8 ....";
        let cases: &[(FileKind, &[u8], &str)] = &[
            (FileKind::Image, JPEG, "image/jpeg"),
            (FileKind::Image, PNG, "image/png"),
            (FileKind::Sticker, webp, "image/webp"),
            (FileKind::Audio, b"ID3\x04\0\0\0\0", "audio/mpeg"),
            (FileKind::Audio, b"#!AMR\n......", "audio/amr"),
            (FileKind::Audio, &[0xFF, 0xF1, 0x50, 0x80], "audio/aac"),
            (FileKind::Audio, &mp4(b"M4A "), "audio/mp4"),
            (FileKind::Audio, &mp4(b"isom"), "audio/mp4"),
            (FileKind::Audio, &ogg(b"OpusHead"), OPUS),
            (FileKind::Video, &mp4(b"isom"), "video/mp4"),
            (FileKind::Video, &mp4(b"3gp5"), "video/3gpp"),
            (FileKind::Document, b"%PDF-1.7\n", "application/pdf"),
            (FileKind::Document, b"Nome;Valor\nAna;\xe1", "text/plain"),
            (FileKind::Document, b"<?xml version=\"1.0\"?><nfe/>", "text/plain"),
        ];
        for (kind, head, expected) in cases {
            assert_eq!(sent(*kind, head), Some(*expected), "{kind:?} {expected}");
        }
    }

    /// X10: the name and the declared type change nothing about that.
    #[test]
    fn what_is_no_file_of_the_kind_is_refused_whatever_it_says_of_itself() {
        let hints = Hints { mimetype: Some("image/png"), filename: Some("a.png") };
        let exe = b"MZ\x90\0\x03\0\0\0\x04\0\0\0";
        let zip = b"PK\x03\x04\x14\0\0\0\x08\0aaaaaaaaaaaaaaaabomb.png";
        for head in [
            &exe[..],
            zip,
            b"<html>",
            b"\0\0\0\0",
            b"",
            b"GIF89a",
            b"%PDF-1.7",
            &ogg(b"\x01vorbis"),
        ] {
            assert_eq!(sent_type(FileKind::Image, false, head, hints), None, "{head:?}");
        }
        for head in [&exe[..], zip, PNG, b"\x7fELF\x02\x01", &[0; 50]] {
            assert_eq!(sent(FileKind::Document, head), None, "{head:?}");
        }
        assert_eq!(sent(FileKind::Audio, &ogg(b"\x01vorbis")), None);
        assert_eq!(sent(FileKind::Video, &mp4(b"qt  ")), None);
        assert_eq!(sent(FileKind::Sticker, PNG), None);
    }

    /// X10.
    #[test]
    fn voice_notes_are_opus_in_ogg_only() {
        let voice = |head: &[u8]| sent_type(FileKind::Audio, true, head, Hints::default());
        assert_eq!(voice(&ogg(b"OpusHead")), Some(OPUS));
        assert_eq!((voice(b"ID3\x04\0\0\0\0"), voice(&mp4(b"M4A "))), (None, None));
    }

    /// R349.
    #[test]
    fn what_the_bytes_leave_open_is_decided_by_the_declared_type_and_then_by_the_name() {
        let old = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1, 0, 0];
        let with = |mimetype, filename| {
            sent_type(FileKind::Document, false, &old, Hints { mimetype, filename })
        };
        assert_eq!(with(Some("application/vnd.ms-excel"), Some("a.doc")), Some(EXCEL));
        assert_eq!(with(Some("application/pdf"), Some("a.PPT")), Some(POWERPOINT));
        assert_eq!(with(None, None), Some(WORD));
        let new = b"PK\x03\x04\x14\0\0\0\0\0aaaaaaaaaaaaaaaaaaaa[Content_Types].xml...";
        let named = |filename| {
            sent_type(FileKind::Document, false, new, Hints { mimetype: None, filename })
        };
        assert_eq!((named(Some("a.xlsx")), named(Some("a.zip"))), (Some(EXCEL_XML), None));
    }

    /// X11.
    #[test]
    fn an_upload_shows_what_its_bytes_are() {
        let shown = |head: &[u8]| shown_type(head, Hints::default());
        assert_eq!(shown(PNG), "image/png");
        assert_eq!(shown(b"GIF89a......"), "image/gif");
        assert_eq!(shown(&[0; 9]), "application/octet-stream");
        assert_eq!(shown(b"Ol\xc3\xa1"), "text/plain");
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(
            start in prop::sample::select(vec![
                &b""[..], b"PK\x03\x04", b"RIFF", b"OggS", b"\0\0\0\x20ftyp", b"%PDF", b"\x1aE\xdf\xa3",
                b"PK\x03\x04\x14\0\0\0\0\0aaaa\xff\xff\xff\xffaaaaaaaa[Content_Types].xml",
            ]),
            rest in prop::collection::vec(any::<u8>(), 0..600),
        ) {
            let head = [start, &rest].concat();
            for kind in FileKind::ALL {
                let _ = sent_type(*kind, false, &head, Hints::default());
            }
            let _ = shown_type(&head, Hints::default());
        }
    }
}
