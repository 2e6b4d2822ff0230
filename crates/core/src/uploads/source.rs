//! Which file is to be sent, as bodies name it (X10).

use crate::gateway::FileKind;
use crate::ids::UploadId;
use crate::input::Input;
use crate::problems::Problems;
use crate::webhooks::WebhookUrl;

/// Where a file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// An address: `url`.
    Url(WebhookUrl),
    /// One of the company's uploads: `media_id`.
    Upload(UploadId),
    /// A file that came with the same call, and is stored already.
    Received(UploadId),
    /// A file that was got for another message of the same campaign (R374).
    Shared(UploadId),
}

/// A file that is to be sent, and as what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWish {
    /// Where it comes from.
    pub source: FileSource,
    /// What it is sent as.
    pub kind: FileKind,
    /// Whether it is a voice note; only of sound.
    pub is_voice: bool,
    /// Its declared media type, for what its bytes leave open.
    pub mimetype: Option<String>,
    /// The name of a document.
    pub filename: Option<String>,
}

impl FileWish {
    /// A file that is sent as this kind.
    pub const fn new(kind: FileKind, source: FileSource) -> Self {
        Self { source, kind, is_voice: false, mimetype: None, filename: None }
    }
}

impl FileSource {
    /// Whether the file is this message's alone, so that it goes if the send is refused.
    pub const fn is_own(&self) -> bool {
        matches!(self, Self::Url(_) | Self::Received(_))
    }

    /// The one source among those that a body may name; `received` is a file that came beside it.
    ///
    /// # Errors
    ///
    /// When there is none, or more than one.
    pub fn of(
        url: Option<WebhookUrl>,
        upload: Option<UploadId>,
        received: Option<UploadId>,
    ) -> Result<Self, Problems> {
        match (url, upload, received) {
            (Some(url), None, None) => Ok(Self::Url(url)),
            (None, Some(id), None) => Ok(Self::Upload(id)),
            (None, None, Some(id)) => Ok(Self::Received(id)),
            (None, None, None) => Err(Problems::of("url", "is required, or media_id")),
            _ => Err(Problems::of("url", "only one of url, media_id and file may be given")),
        }
    }
}

/// Reads `url` or `media_id`, of which exactly one has to be there. `None` means that a problem was
/// recorded.
pub fn read_source(input: &mut Input<'_>) -> Option<FileSource> {
    let (url, upload) = (input.field::<WebhookUrl>("url"), input.field::<UploadId>("media_id"));
    match FileSource::of(url?.value(), upload?.value(), None) {
        Ok(source) => Some(source),
        Err(problems) => {
            input.problems().merge(problems);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    /// X10.
    #[test]
    fn exactly_one_source_is_named() {
        let id = UploadId::new(Uuid::from_u128(7));
        let read = |body: serde_json::Value| {
            let body = body.as_object().expect("an object").clone();
            let mut input = Input::new(&body);
            let source = read_source(&mut input);
            source.filter(|_| input.finish().is_empty())
        };
        let url = WebhookUrl::parse("https://a.example/b").expect("valid");
        assert_eq!(read(json!({"url": url.as_str()})), Some(FileSource::Url(url.clone())));
        assert_eq!(read(json!({"media_id": id, "url": null})), Some(FileSource::Upload(id)));
        for wrong in [
            json!({}),
            json!({"url": url.as_str(), "media_id": id}),
            json!({"url": "ftp://a.example/b"}),
            json!({"media_id": "x"}),
        ] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
        assert_eq!(FileSource::of(None, None, Some(id)), Ok(FileSource::Received(id)));
        assert!(FileSource::of(Some(url), None, Some(id)).is_err());
    }
}
