//! What files of each kind may be: their size and their media types (X10).

use crate::gateway::FileKind;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// The largest file of any kind (X10).
pub const MAX_FILE_BYTES: u64 = contract_limit(FileKind::Document);

/// The most bytes of a file of this kind, where the gateway has no limit of its own (X10).
pub const fn contract_limit(kind: FileKind) -> u64 {
    match kind {
        FileKind::Image => 5 * MIB,
        FileKind::Sticker => 500 * KIB,
        FileKind::Audio | FileKind::Video => 16 * MIB,
        FileKind::Document => 100 * MIB,
    }
}

/// OGG with Opus in it, which voice notes are.
pub(super) const OPUS: &str = "audio/ogg; codecs=opus";
pub(super) const TEXT: &str = "text/plain";
pub(super) const MP4_AUDIO: &str = "audio/mp4";
pub(super) const MP4_VIDEO: &str = "video/mp4";
pub(super) const WORD: &str = "application/msword";
pub(super) const EXCEL: &str = "application/vnd.ms-excel";
pub(super) const POWERPOINT: &str = "application/vnd.ms-powerpoint";
pub(super) const WORD_XML: &str =
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
pub(super) const EXCEL_XML: &str =
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
pub(super) const POWERPOINT_XML: &str =
    "application/vnd.openxmlformats-officedocument.presentationml.presentation";

/// The media types that a file of this kind may have: those of the official API (R349).
pub const fn allowed_types(kind: FileKind, is_voice: bool) -> &'static [&'static str] {
    match kind {
        FileKind::Image => &["image/jpeg", "image/png"],
        FileKind::Sticker => &["image/webp"],
        FileKind::Audio if is_voice => &[OPUS],
        FileKind::Audio => &["audio/aac", "audio/amr", "audio/mpeg", MP4_AUDIO, OPUS],
        FileKind::Video => &[MP4_VIDEO, "video/3gpp"],
        FileKind::Document => {
            &["application/pdf", WORD, WORD_XML, EXCEL, EXCEL_XML, POWERPOINT, POWERPOINT_XML, TEXT]
        }
    }
}
