//! Media types and the endings of file names.

/// Media types and their endings. A type may have several endings and an ending several types: the
/// first entry is used.
const KINDS: &[(&str, &str)] = &[
    ("image/jpeg", "jpg"),
    ("image/jpeg", "jpeg"),
    ("image/jpg", "jpg"),
    ("image/png", "png"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/heic", "heic"),
    ("image/bmp", "bmp"),
    ("audio/ogg", "ogg"),
    ("audio/ogg", "oga"),
    ("audio/opus", "opus"),
    ("audio/mpeg", "mp3"),
    ("audio/mp4", "m4a"),
    ("audio/aac", "aac"),
    ("audio/amr", "amr"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("video/mp4", "mp4"),
    ("video/3gpp", "3gp"),
    ("video/quicktime", "mov"),
    ("video/webm", "webm"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
    ("application/msword", "doc"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.ms-powerpoint", "ppt"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/json", "json"),
    ("text/plain", "txt"),
    ("text/csv", "csv"),
    ("text/vcard", "vcf"),
];

/// The ending of file names for a media type such as `audio/ogg; codecs=opus`.
pub(super) fn ending_of(mimetype: &str) -> Option<&'static str> {
    let bare = mimetype.split(';').next().unwrap_or_default().trim();
    KINDS.iter().find(|(kind, _)| kind.eq_ignore_ascii_case(bare)).map(|(_, ending)| *ending)
}

/// The same media type, if it is a known one.
pub(super) fn known_type(mimetype: &str) -> Option<&'static str> {
    let bare = mimetype.split(';').next().unwrap_or_default();
    KINDS.iter().find(|(kind, _)| *kind == bare).map(|(kind, _)| *kind)
}

/// The media type of a file by the ending of its name.
pub(super) fn mimetype_of(filename: &str) -> Option<&'static str> {
    let (_, ending) = filename.rsplit_once('.')?;
    KINDS.iter().find(|(_, known)| known.eq_ignore_ascii_case(ending)).map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_do_not_hide_a_kind() {
        assert_eq!(ending_of("audio/ogg; codecs=opus"), Some("ogg"));
        assert_eq!(ending_of("IMAGE/JPEG"), Some("jpg"));
        assert_eq!(ending_of("application/x-unheard-of"), None);
        assert_eq!(mimetype_of("Foto.JPEG"), Some("image/jpeg"));
        assert_eq!(mimetype_of("foto"), None);
        assert_eq!(mimetype_of("pagina.html"), None, "nothing that a browser runs");
    }

    #[test]
    fn a_name_made_for_a_kind_gives_the_kind_again() {
        for (kind, _) in KINDS {
            let ending = ending_of(kind).expect("a known kind");
            assert!(mimetype_of(&format!("a.{ending}")).is_some(), "{kind}");
        }
    }
}
