//! Reads bodies of `multipart/form-data`, strictly.

use super::FakeRequest;

/// A part of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormPart {
    /// The name of its field.
    pub name: String,
    /// The name of its file, if it is one.
    pub filename: Option<String>,
    /// Its media type, if it is given.
    pub mimetype: Option<String>,
    /// Its bytes.
    pub body: Vec<u8>,
}

/// The parts of a form, in order.
///
/// # Errors
///
/// When the request is no form, or anything in it is not as RFC 7578 has it.
pub fn form(request: &FakeRequest) -> Result<Vec<FormPart>, String> {
    let kind = request.header("content-type").unwrap_or_default();
    let boundary = kind
        .strip_prefix("multipart/form-data; boundary=")
        .filter(|boundary| (1..=70).contains(&boundary.len()) && is_token(boundary))
        .ok_or_else(|| format!("{kind} is no form with a boundary"))?;
    let first = format!("--{boundary}\r\n");
    let mut rest = request.body.strip_prefix(first.as_bytes()).ok_or("a form begins otherwise")?;
    let end = format!("\r\n--{boundary}");
    let mut parts = Vec::new();
    loop {
        let length = find(rest, end.as_bytes()).ok_or("a part has no end")?;
        parts.push(part(&rest[..length])?);
        let after = &rest[length + end.len()..];
        rest = match after {
            b"--\r\n" => return Ok(parts),
            [b'\r', b'\n', more @ ..] => more,
            _ => return Err("a boundary is followed by something else".to_owned()),
        };
    }
}

fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let (first, mut at) = (*wanted.first()?, 0);
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == first)?;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
}

fn part(bytes: &[u8]) -> Result<FormPart, String> {
    let end = find(bytes, b"\r\n\r\n").ok_or("a part has no head")?;
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| "a head is no text")?;
    let (mut name, mut filename, mut mimetype) = (None, None, None);
    for line in head.split("\r\n") {
        match line.split_once(": ") {
            Some(("Content-Disposition", value)) if name.is_none() => {
                let named = value.strip_prefix("form-data; name=\"").ok_or("a part has no name")?;
                let (of_field, more) = named.split_once('"').ok_or("a name has no end")?;
                name = Some(of_field.to_owned());
                if !more.is_empty() {
                    let file = more.strip_prefix("; filename=\"");
                    let file = file.and_then(|file| file.strip_suffix('"'));
                    let file = file.filter(|file| !file.contains(['"', '\r', '\n']));
                    filename = Some(file.ok_or("the name of a file is not quoted")?.to_owned());
                }
            }
            Some(("Content-Type", value)) if mimetype.is_none() => {
                mimetype = Some(value.to_owned());
            }
            _ => return Err(format!("a part has the header {line}")),
        }
    }
    let name = name.ok_or("a part has no name")?;
    Ok(FormPart { name, filename, mimetype, body: bytes[end + 4..].to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Vec<FormPart>, String> {
        let kind = "multipart/form-data; boundary=b-1".to_owned();
        let headers = vec![("content-type".to_owned(), kind)];
        form(&FakeRequest::new("POST", "/", headers, body.as_bytes().to_vec()))
    }

    #[test]
    fn a_form_is_read_as_it_was_written_and_nothing_else_is_one() {
        let text = "--b-1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n--b-1\r\n\
                    Content-Disposition: form-data; name=\"f\"; filename=\"x.png\"\r\n\
                    Content-Type: image/png\r\n\r\n--b\r\n--b-1--\r\n";
        let parts = read(text).expect("a form");
        let of = |name: &str, body: &str| FormPart {
            name: name.to_owned(),
            filename: None,
            mimetype: None,
            body: body.as_bytes().to_vec(),
        };
        let file = FormPart {
            filename: Some("x.png".to_owned()),
            mimetype: Some("image/png".to_owned()),
            ..of("f", "--b")
        };
        assert_eq!(parts, [of("a", "1\r\n2"), file]);
        for broken in [
            "",
            "--b-1--\r\n",
            "x--b-1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b-1--\r\n",
            "--b-1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b-1--\r\nx",
            "--b-1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b-1--",
            "--b-1\r\nContent-Disposition: form-data; name=\"a\"\r\n1\r\n--b-1--\r\n",
            "--b-1\r\nX: y\r\n\r\n1\r\n--b-1--\r\n",
        ] {
            assert!(read(broken).is_err(), "{broken:?}");
        }
    }
}
