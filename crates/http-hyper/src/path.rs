//! Decodes the path of a request, segment by segment (D73).

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// A path in the form that is compared with the table of paths. Every escape is decoded once, except
/// those of `/` and `%`: with them a segment would become two segments, or could be decoded twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodedPath<'p> {
    text: Cow<'p, str>,
    is_whole: bool,
}

impl<'p> DecodedPath<'p> {
    /// Decodes a path. A segment with an invalid escape or invalid UTF-8 stays as it was sent.
    pub(crate) fn of(path: &'p str) -> Self {
        if !path.contains('%') {
            return Self { text: Cow::Borrowed(path), is_whole: true };
        }
        let mut is_whole = true;
        let segments = path.split('/').map(|segment| match decode(segment) {
            Some(decoded) => decoded.replace('%', "%25").replace('/', "%2F"),
            None => {
                is_whole = false;
                segment.to_owned()
            }
        });
        let text = segments.collect::<Vec<_>>().join("/");
        Self { text: Cow::Owned(text), is_whole }
    }

    /// The path as far as it could be decoded: enough to know its surface.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The path, if every segment could be decoded. Any other path is unknown.
    pub(crate) fn whole(&self) -> Option<&str> {
        self.is_whole.then_some(&self.text)
    }
}

/// The decoded segment; `None` if it has an invalid escape or invalid UTF-8.
fn decode(segment: &str) -> Option<String> {
    let is_escape = |rest: &str| {
        rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    };
    if !segment.split('%').skip(1).all(is_escape) {
        return None;
    }
    percent_decode_str(segment).decode_utf8().ok().map(Cow::into_owned)
}

/// A part of a [`DecodedPath`] with its last escapes decoded.
pub(crate) fn part(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(path: &str) -> Option<String> {
        DecodedPath::of(path).whole().map(str::to_owned)
    }

    /// D73.
    #[test]
    fn each_segment_is_decoded_once() {
        for (sent, compared) in [
            ("/api/v1/contacts", "/api/v1/contacts"),
            ("/api/v1/%63ontacts", "/api/v1/contacts"),
            ("/%61%70%69/v1/c%6F%6etacts", "/api/v1/contacts"),
            ("/api/v1/%2563ontacts", "/api/v1/%2563ontacts"),
            ("/api%2Fv1/contacts", "/api%2Fv1/contacts"),
            ("/api%2fv1/contacts", "/api%2Fv1/contacts"),
            ("/l/%C3%A9", "/l/é"),
            ("/l/%00", "/l/\0"),
            ("/l/+", "/l/+"),
        ] {
            assert_eq!(whole(sent).as_deref(), Some(compared), "{sent}");
        }
        assert_eq!(part("%252F%2F"), "%2F/");
    }

    #[test]
    fn an_escape_that_is_none_and_what_is_no_utf_8_name_nothing() {
        for path in ["/l/%", "/l/%4", "/l/%zz", "/l/%+1", "/l/a%2", "/l/%ff", "/l/%C3", "/l/%é"] {
            assert_eq!(whole(path), None, "{path}");
        }
        assert_eq!(DecodedPath::of("/%61pi/v1/%ff").text(), "/api/v1/%ff");
    }

    #[test]
    fn what_was_encoded_comes_back_as_one_segment() {
        for segment in ["contacts", "%", "/", "%2F", "a/b%25c", "é", "\0", "..", " +"] {
            let encoded: String = segment.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let path = format!("/l/{encoded}");
            let decoded = whole(&path).expect("sound");
            let parts: Vec<&str> = decoded.split('/').collect();
            assert_eq!(parts.len(), 3, "{segment}");
            assert_eq!(part(parts[2]), segment);
        }
    }
}
