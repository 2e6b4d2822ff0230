//! Decodes the path of a request, segment by segment (D73).

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// A path in the form that is compared with the table of paths. Every escape is decoded once,
/// except those of `/` and `%`: with them a segment would become two segments, or could be decoded
/// twice.
pub(crate) struct DecodedPath<'p>(Cow<'p, str>);

impl<'p> DecodedPath<'p> {
    /// Decodes a path. A segment with an invalid escape or invalid UTF-8 stays as it was sent: it
    /// is no fixed part of any path, and no id, slug, code or token.
    pub(crate) fn of(path: &'p str) -> Self {
        if !path.contains('%') {
            return Self(Cow::Borrowed(path));
        }
        let segments = path.split('/').map(|segment| match decode(segment) {
            Some(decoded) => decoded.replace('%', "%25").replace('/', "%2F"),
            None => segment.to_owned(),
        });
        Self(Cow::Owned(segments.collect::<Vec<_>>().join("/")))
    }

    /// The decoded path.
    pub(crate) fn text(&self) -> &str {
        &self.0
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

    fn decoded(path: &str) -> String {
        DecodedPath::of(path).text().to_owned()
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
            assert_eq!(decoded(sent), compared, "{sent}");
        }
        assert_eq!(part("%252F%2F"), "%2F/");
    }

    #[test]
    fn a_segment_with_an_invalid_escape_or_no_utf_8_stays_as_it_was_sent() {
        for path in ["/l/%", "/l/%4", "/l/%zz", "/l/%+1", "/l/a%2", "/l/%ff", "/l/%C3", "/l/%é"] {
            assert_eq!(decoded(path), path);
        }
        assert_eq!(DecodedPath::of("/%61pi/v1/%ff").text(), "/api/v1/%ff");
    }

    #[test]
    fn what_was_encoded_comes_back_as_one_segment() {
        for segment in ["contacts", "%", "/", "%2F", "a/b%25c", "é", "\0", "..", " +"] {
            let encoded: String = segment.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let path = format!("/l/{encoded}");
            let decoded = decoded(&path);
            let parts: Vec<&str> = decoded.split('/').collect();
            assert_eq!(parts.len(), 3, "{segment}");
            assert_eq!(part(parts[2]), segment);
        }
    }
}
