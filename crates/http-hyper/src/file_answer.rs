//! Answers with the bytes of a document: whole, a part of them, or only their size (R190).

use http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_RANGE, HeaderMap, HeaderValue, IF_RANGE, RANGE,
};
use http::{Method, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use recado_core::Recado;
use recado_core::documents::{AttachError, FileReader};
use recado_core::messages::KeptFile;

use crate::answer::Answer;
use crate::error::{ErrorResponse, Outcome};
use crate::readers::ReaderSlot;

/// What a call wants of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All of it.
    #[default]
    Whole,
    /// Only what is known of it: HEAD.
    Head,
    /// From a byte to another, counted in, or to the end.
    From(u64, Option<u64>),
    /// So many bytes at the end.
    Last(u64),
}

impl Wanted {
    /// What a request asks for. Every `Range` but a single plain one counts as none, as RFC 9110
    /// allows; with `If-Range` too, as files have no validator.
    ///
    /// R190.
    pub(crate) fn of(method: &Method, headers: &HeaderMap) -> Self {
        if method == Method::HEAD {
            return Self::Head;
        }
        let mut lines = headers.get_all(RANGE).iter();
        let line = lines.next().and_then(|line| line.to_str().ok());
        match (line, lines.next(), headers.contains_key(IF_RANGE)) {
            (Some(line), None, false) => Self::parse(line).unwrap_or_default(),
            _ => Self::Whole,
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let (unit, range) = line.split_once('=')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (from, to) = range.trim().split_once('-')?;
        match (from, to) {
            ("", last) => Some(Self::Last(number(last)?)),
            (from, "") => Some(Self::From(number(from)?, None)),
            (from, to) => Some(Self::From(number(from)?, Some(number(to)?))),
        }
    }

    /// The first byte and the number of bytes of the part of a file of `size` bytes; `None` for all
    /// of it, and for a part that is not there.
    fn part(self, size: u64) -> Option<(u64, u64)> {
        let (from, end) = match self {
            Self::Whole | Self::Head => return None,
            Self::From(from, to) => (from, to.map_or(size, |to| size.min(to.saturating_add(1)))),
            Self::Last(bytes) => (size.saturating_sub(bytes), size),
        };
        (from < end).then(|| (from, end - from))
    }
}

/// A number in digits only.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Opens a file from a byte on.
async fn open(recado: &Recado, file: &KeptFile, from: u64) -> Result<FileReader, ErrorResponse> {
    match file {
        KeptFile::Document(document) => Ok(recado.documents().open(document, from).await?),
        KeptFile::Upload(upload) => {
            let opened = recado.uploads().open(upload, from).await;
            let opened =
                opened.map_err(|error| ErrorResponse::rejected(&AttachError::Files(error)))?;
            opened.ok_or_else(ErrorResponse::not_found)
        }
    }
}

/// The answer with a file. Its bytes are read as the other end takes them; the slot is kept for as
/// long.
///
/// R190.
pub(crate) async fn answer(
    recado: &Recado,
    file: &KeptFile,
    content_type: &'static str,
    wanted: Wanted,
    slot: Option<ReaderSlot>,
) -> Outcome {
    let disposition = HeaderValue::try_from(disposition(file.filename()))
        .map_err(|_| ErrorResponse::internal("a file name is no header value"))?;
    let answer = match wanted.part(file.size()) {
        _ if wanted == Wanted::Head => {
            match file {
                KeptFile::Document(document) => recado.documents().check(document).await?,
                // Opening reads none of it.
                KeptFile::Upload(_) => drop(open(recado, file, 0).await?),
            }
            Answer::head_of(content_type, file.size())
        }
        Some((from, bytes)) => {
            let reader = open(recado, file, from).await?.first(bytes);
            let range = format!("bytes {from}-{}/{}", from + bytes - 1, file.size());
            let range = HeaderValue::try_from(range)
                .map_err(|_| ErrorResponse::internal("a range is no header value"))?;
            Answer::file(StatusCode::PARTIAL_CONTENT, content_type, reader, slot)
                .with_header(CONTENT_RANGE, range)
        }
        None => {
            let reader = open(recado, file, 0).await?;
            Answer::file(StatusCode::OK, content_type, reader, slot)
        }
    };
    Ok(answer
        .unkept()
        .with_header(ACCEPT_RANGES, HeaderValue::from_static("bytes"))
        .with_header(CONTENT_DISPOSITION, disposition))
}

/// The characters that RFC 8187 does not require to be encoded.
const ATTR_CHARS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// `Content-Disposition` with the name twice: in plain ASCII for old clients, and unchanged (RFC
/// 6266).
fn disposition(filename: &str) -> String {
    let plain = |c: char| c == ' ' || c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%' | ';');
    let ascii: String = filename.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let exact = utf8_percent_encode(filename, ATTR_CHARS);
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{exact}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(lines: &[&str]) -> Wanted {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(RANGE, HeaderValue::from_str(line).expect("a value"));
        }
        Wanted::of(&Method::GET, &headers)
    }

    /// R190.
    #[test]
    fn a_single_range_is_a_part_of_the_file() {
        for (line, part) in [
            ("bytes=0-0", (0, 1)),
            ("bytes=0-", (0, 10)),
            ("bytes=2-4", (2, 3)),
            ("Bytes=2-99", (2, 8)),
            ("bytes=9-9", (9, 1)),
            ("bytes=-3", (7, 3)),
            ("bytes=-99", (0, 10)),
            ("bytes=0-18446744073709551615", (0, 10)),
        ] {
            assert_eq!(wanted(&[line]).part(10), Some(part), "{line}");
        }
    }

    /// R190.
    #[test]
    fn any_other_range_is_the_whole_file() {
        for line in [
            "bytes=10-",
            "bytes=10-11",
            "bytes=-0",
            "bytes=4-2",
            "bytes=-",
            "bytes=",
            "bytes",
            "bytes=0-1,4-5",
            "bytes=+1-2",
            "bytes=1-x",
            "items=0-1",
            "bytes=0-18446744073709551616",
        ] {
            assert_eq!(wanted(&[line]).part(10), None, "{line}");
        }
        assert_eq!(wanted(&["bytes=0-1", "bytes=0-1"]), Wanted::Whole);
        assert_eq!(wanted(&["bytes=0-", "bytes=-1"]).part(0), None);
        let mut headers = HeaderMap::new();
        headers.insert(RANGE, HeaderValue::from_static("bytes=0-1"));
        assert_eq!(Wanted::of(&Method::HEAD, &headers), Wanted::Head);
        headers.insert(IF_RANGE, HeaderValue::from_static("\"1\""));
        assert_eq!(Wanted::of(&Method::GET, &headers), Wanted::Whole);
    }

    #[test]
    fn a_file_name_cannot_leave_its_quotes() {
        assert_eq!(
            disposition("a\"; filename=evil.exe\r\n"),
            "attachment; filename=\"a__ filename=evil.exe__\"; \
             filename*=UTF-8''a%22%3B%20filename%3Devil.exe%0D%0A"
        );
    }

    #[test]
    fn a_name_in_another_script_is_kept_exactly() {
        assert_eq!(
            disposition("relatório.pdf"),
            "attachment; filename=\"relat_rio.pdf\"; filename*=UTF-8''relat%C3%B3rio.pdf"
        );
    }
}
