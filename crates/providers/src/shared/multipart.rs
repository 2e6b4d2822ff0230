//! Bodies of `multipart/form-data` around a file, which is read while the request is written.

use recado_core::documents::StoredFile;
use recado_core::ids::MessageId;
use recado_core::transport::{AttachedFile, FileEncoding, OutboundRequest};

/// The part of a form that holds the file. It is the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilePart<'a> {
    /// The name of the field.
    pub(crate) field: &'a str,
    /// The name of the file.
    pub(crate) filename: &'a str,
    /// The media type of the file.
    pub(crate) mimetype: &'a str,
    /// Its bytes.
    pub(crate) file: &'a StoredFile,
}

/// The request with a form as its body: these fields, then the file.
///
/// The boundary is made from the id of the message, which is random and younger than the file: no
/// file can be made to contain it, and so to add fields of its own (R334).
pub(crate) fn with_form(
    request: OutboundRequest,
    message: MessageId,
    fields: &[(&str, &str)],
    part: &FilePart<'_>,
) -> OutboundRequest {
    let boundary = format!("recado-{message}");
    let mut body = Vec::new();
    for (name, value) in fields {
        let head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(value.as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    let FilePart { field, filename, mimetype, file } = *part;
    let (filename, mimetype) = (quoted(filename), one_line(mimetype));
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"; \
         filename=\"{filename}\"\r\nContent-Type: {mimetype}\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    let tail = format!("\r\n--{boundary}--\r\n").into_bytes();
    let attached = AttachedFile { file: file.clone(), encoding: FileEncoding::Raw, tail };
    OutboundRequest { body, ..request }
        .header("content-type", format!("multipart/form-data; boundary={boundary}"))
        .with_file(attached)
}

/// A file's name between quotes, as browsers write it.
fn quoted(name: &str) -> String {
    one_line(name).replace('"', "%22")
}

/// A text without control characters, which would end the line.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use recado_core::documents::Files;
    use recado_testkit::MemoryFiles;

    use super::*;

    const MESSAGE: &str = "0193a5c0-0000-7000-8000-000000000001";

    /// R334.
    #[tokio::test]
    async fn a_form_has_its_fields_and_then_the_file_as_it_is() {
        let files = Arc::new(MemoryFiles::new());
        files.put("k", b"\x89PNG\r\n--x".to_vec()).await.expect("kept");
        let file = StoredFile::new(files, "k", 9);
        let part = FilePart {
            field: "file",
            filename: "a\"b\r\nç.png",
            mimetype: "image/png\r\nx: y",
            file: &file,
        };
        let message = MessageId::parse(MESSAGE).expect("an id");
        let request = OutboundRequest::get("https://a.example");
        let fields = [("messaging_product", "whatsapp"), ("type", "image/png")];
        let request = with_form(request, message, &fields, &part);
        let kind = format!("multipart/form-data; boundary=recado-{MESSAGE}");
        assert_eq!(request.headers, [("content-type".to_owned(), kind)]);
        let whole = request.whole_body().await.expect("read");
        let expected = format!(
            "--recado-{MESSAGE}\r\n\
             Content-Disposition: form-data; name=\"messaging_product\"\r\n\r\nwhatsapp\r\n\
             --recado-{MESSAGE}\r\n\
             Content-Disposition: form-data; name=\"type\"\r\n\r\nimage/png\r\n\
             --recado-{MESSAGE}\r\n\
             Content-Disposition: form-data; name=\"file\"; filename=\"a%22bç.png\"\r\n\
             Content-Type: image/pngx: y\r\n\r\n"
        );
        let end = format!("\r\n--recado-{MESSAGE}--\r\n");
        let expected = [expected.as_bytes(), b"\x89PNG\r\n--x", end.as_bytes()].concat();
        assert_eq!(String::from_utf8_lossy(&whole), String::from_utf8_lossy(&expected));
        assert_eq!(whole, expected);
    }
}
