//! Sending a file, as integrators and operators ask for it (X10).

use super::draft::{RecipientText, require};
use super::{KindSentView, Order, SendAddress, SendError, Sending};
use crate::access::{Caller, Scope};
use crate::body::{IntoBody, Optional, Required, body};
use crate::error::Error;
use crate::form::{Form, Text};
use crate::gateway::{Content, FileKind, MediaContent, OutgoingFile};
use crate::ids::{CompanyId, ConnectionId, ContactId, MemberId, MessageId, UploadId};
use crate::problems::Problems;
use crate::text;
use crate::uploads::{FileSource, FileWish};
use crate::webhooks::WebhookUrl;
use serde_json::Value;

/// The most characters of a caption: the channel's limit.
pub(super) const CAPTION: usize = 1_024;

/// A caption as it is sent.
pub(crate) struct CaptionText;

impl Form for CaptionText {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let caption = value.as_str().ok_or("must be a string")?;
        text::as_sent(caption, CAPTION).map_err(|error| error.to_string())
    }

    fn is_blank(value: &Value) -> bool {
        value.as_str().is_some_and(|caption| caption.trim().is_empty())
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|schema| schema.max_length(Some(CAPTION)))
    }
}

/// A file's name as it is given; what it becomes is another matter.
pub(crate) struct GivenName;

impl Form for GivenName {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let name = value.as_str().ok_or("must be a string")?;
        match name.chars().count() <= 1_000 {
            true => Ok(name.to_owned()),
            false => Err("must have at most 1,000 characters".to_owned()),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|schema| schema.max_length(Some(1_000)))
    }
}

body! {
    /// A file to be sent. Exactly one of `url`, `media_id` and a part `file` has to be there.
    #[derive(Clone, PartialEq, Eq)]
    pub struct SendMedia as "SendMedia" {
        /// What it is sent as; its first bytes have to be of that kind.
        kind as "type": FileKind = Required<FileKind>,
        /// A phone number, or the code of a group or community. Needed where there is no
        /// `contact_id`.
        to: Option<String> = Optional<RecipientText>,
        /// The contact, in place of `to`. Where both are given they have to mean one contact.
        contact as "contact_id": Option<ContactId> = Optional<ContactId>,
        connection as "connection_id": Option<ConnectionId> = Optional<ConnectionId>,
        /// The message of this contact that it answers.
        quoted as "quoted_message_id": Option<MessageId> = Optional<MessageId>,
        /// Where the file is fetched.
        url: Option<WebhookUrl> = Optional<WebhookUrl>,
        /// One of the uploads.
        upload as "media_id": Option<UploadId> = Optional<UploadId>,
        /// The text below it; sound and stickers have none.
        caption: Option<String> = Optional<CaptionText>,
        /// The name of a document; ignored otherwise.
        filename: Option<String> = Optional<GivenName>,
        /// Its media type, for what its first bytes leave open.
        mimetype: Option<String> = Optional<Text<200>>,
        /// Whether it is a voice note: `type` `audio`, OGG with Opus.
        is_voice: Option<bool> = Optional<bool>,
    }
}

body! {
    /// A file that an agent sends. Exactly one of `url`, `media_id` and a part `file` has to be
    /// there.
    #[derive(Clone, PartialEq, Eq)]
    pub struct MediaDraft as "ReplyMedia" {
        /// What it is sent as; its first bytes have to be of that kind.
        kind as "type": FileKind = Required<FileKind>,
        /// The message of this contact that it answers.
        quoted as "quoted_message_id": Option<MessageId> = Optional<MessageId>,
        /// Where the file is fetched.
        url: Option<WebhookUrl> = Optional<WebhookUrl>,
        /// One of the uploads.
        upload as "media_id": Option<UploadId> = Optional<UploadId>,
        /// The text below it; sound and stickers have none.
        caption: Option<String> = Optional<CaptionText>,
        /// The name of a document; ignored otherwise.
        filename: Option<String> = Optional<GivenName>,
        /// Its media type, for what its first bytes leave open.
        mimetype: Option<String> = Optional<Text<200>>,
        /// Whether it is a voice note: `type` `audio`, OGG with Opus.
        is_voice: Option<bool> = Optional<bool>,
        /// Assigns the conversation.
        member as "member_id": Option<MemberId> = Optional<MemberId>,
    }
}

impl From<SendMedia> for MediaDraft {
    fn from(body: SendMedia) -> Self {
        let SendMedia { kind, quoted, url, upload, caption, filename, mimetype, is_voice, .. } =
            body;
        Self { kind, quoted, url, upload, caption, filename, mimetype, is_voice, member: None }
    }
}

impl MediaDraft {
    /// The content of the message, whose file is pending, and the file that is wished for.
    /// `received` is a file that came beside the body.
    ///
    /// # Errors
    ///
    /// A caption where there can be none, a voice note that is no sound, and no source of the file,
    /// or several.
    pub(crate) fn content(
        self,
        received: Option<UploadId>,
    ) -> Result<(Content, FileWish), Problems> {
        let mut problems = Problems::new();
        let is_voice = self.is_voice.unwrap_or_default();
        if self.caption.is_some() && matches!(self.kind, FileKind::Audio | FileKind::Sticker) {
            problems.add("caption", "sound and stickers have none");
        }
        if is_voice && self.kind != FileKind::Audio {
            problems.add("is_voice", "is for audio only");
        }
        let source = match FileSource::of(self.url, self.upload, received) {
            Ok(source) if problems.is_empty() => source,
            Ok(_) => return Err(problems),
            Err(others) => {
                problems.merge(others);
                return Err(problems);
            }
        };
        let kind = self.kind;
        let file = OutgoingFile::pending();
        let media = MediaContent { kind, file, caption: self.caption, is_voice };
        let (mimetype, filename) = (self.mimetype, self.filename);
        Ok((Content::Media(media), FileWish { source, kind, is_voice, mimetype, filename }))
    }
}

impl Sending<'_> {
    /// Sends a file to a phone, group or community, or to a contact (X10). `received` is a file
    /// that came with the call and is stored already; it is removed again if the send is refused.
    ///
    /// # Errors
    ///
    /// [`SendError`], in the order of D33; what is wrong with the file comes after what would
    /// refuse the send without it, and a file is not fetched for a send that is refused anyway.
    pub async fn send_media(
        &self,
        caller: &Caller,
        body: impl IntoBody<SendMedia>,
        received: Option<UploadId>,
    ) -> Result<KindSentView, Error<SendError>> {
        let order = self.media_order(caller, body, received).await;
        match order {
            Ok((order, wish)) => {
                Ok(KindSentView::from(&self.deliver_with_file(order, Some(wish)).await?))
            }
            Err(refused) => {
                self.drop_received(caller.company(), received).await;
                Err(refused)
            }
        }
    }

    async fn media_order(
        &self,
        caller: &Caller,
        body: impl IntoBody<SendMedia>,
        received: Option<UploadId>,
    ) -> Result<(Order, FileWish), Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        let suffix = &self.app.settings().group_suffix;
        let invalid = |problems: Problems| Error::Rejected(SendError::from(problems));
        let body = &*body.into_map();
        require(body, &["type"]).map_err(Error::Rejected)?;
        let body = SendMedia::parse(body).map_err(invalid)?;
        let (to, contact, connection) = (body.to.clone(), body.contact, body.connection);
        let draft = MediaDraft::from(body);
        let quoted = draft.quoted;
        let (content, wish) = draft.content(received).map_err(invalid)?;
        let address = SendAddress::read(to.as_deref(), contact, suffix, caller.region());
        let address = address.map_err(Error::Rejected)?;
        let (target, contact) = self.target(caller.company(), address).await?;
        let quoted = self.quoted(caller.company(), quoted).await?;
        let order = Order::text(caller.company(), target, connection, String::new());
        Ok((Order { content, contact, quoted, ..order }, wish))
    }

    /// Removes a file that came with a call that is refused.
    pub(crate) async fn drop_received(&self, company: CompanyId, received: Option<UploadId>) {
        if let Some(id) = received {
            self.app.uploads().release(company, id).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: Value) -> Result<(Content, FileWish), Vec<String>> {
        let body = body.as_object().expect("an object").clone();
        let read = MediaDraft::parse(&body).and_then(|draft| draft.content(None));
        read.map_err(|problems| problems.fields().map(str::to_owned).collect())
    }

    /// X10.
    #[test]
    fn a_caption_is_for_what_shows_one_and_a_voice_note_is_sound() {
        let url = "https://a.example/b";
        for kind in ["image", "video", "document"] {
            assert!(read(json!({"type": kind, "url": url, "caption": "Oi"})).is_ok(), "{kind}");
        }
        for kind in ["audio", "sticker"] {
            let refused = read(json!({"type": kind, "url": url, "caption": "Oi"}));
            assert_eq!(refused.unwrap_err(), ["caption"], "{kind}");
        }
        let voice = |kind| read(json!({"type": kind, "url": url, "is_voice": true}));
        assert_eq!(voice("image").unwrap_err(), ["is_voice"]);
        let (content, wish) = voice("audio").expect("valid");
        assert!(wish.is_voice && content.kind() == crate::gateway::MessageKind::Voice);
        assert!(content.file().is_some_and(OutgoingFile::is_pending));
    }

    /// X10.
    #[test]
    fn one_source_is_needed_and_all_that_is_wrong_is_named() {
        assert_eq!(read(json!({"type": "image"})).unwrap_err(), ["url"]);
        let body = json!({"type": "gif", "url": "file:///etc/passwd", "media_id": 5, "x": 1});
        assert_eq!(read(body).unwrap_err(), ["type", "url", "media_id", "x"]);
    }
}
