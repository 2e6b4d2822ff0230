//! Reading the parts of an offer: what stands above it, and what can be chosen (X12).

use std::collections::HashSet;

use serde_json::Value;

use super::forms::{RequiredText, Several, nested};
use crate::body::{Optional, Required, body};
use crate::form::{Form, Text, component};
use crate::gateway::FileKind;
use crate::ids::UploadId;
use crate::problems::Problems;
use crate::uploads::{FileSource, FileWish};
use crate::webhooks::WebhookUrl;
use crate::words::words;

/// The most characters above and below the text.
pub(super) const AROUND: usize = 60;
/// The most buttons.
pub(super) const MAX_BUTTONS: usize = 3;
/// The most characters of an id.
const ID: usize = 200;
/// The most characters of a button's title.
pub(super) const TITLE: usize = 20;
/// The most rows of a list, over all its sections.
pub(super) const MAX_ROWS: usize = 10;
/// The most characters of the title of a row or section.
const ROW_TITLE: usize = 24;
/// The most characters of a row's description.
const ROW_DESCRIPTION: usize = 72;
/// The options of a poll.
const OPTIONS: std::ops::RangeInclusive<usize> = 2..=12;
/// The most characters of an option.
const OPTION: usize = 100;

words! {
    /// What a file above an offer is (X12).
    HeaderFileKind {
        /// A picture.
        Image = "image",
        /// A video.
        Video = "video",
        /// Any file.
        Document = "document",
    }
}

body! {
    /// What stands above the text: a text, or a file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HeaderDraft as "OfferHeaderBody" {
        /// Its text.
        text: Option<String> = Optional<Text<AROUND>>,
        /// What the file is, in place of a text.
        kind as "type": Option<HeaderFileKind> = Optional<HeaderFileKind>,
        /// The address of the file.
        url: Option<WebhookUrl> = Optional<WebhookUrl>,
        /// An uploaded file.
        media_id: Option<UploadId> = Optional<UploadId>,
    }
}

impl HeaderDraft {
    /// The file above the text, if it is one.
    ///
    /// # Errors
    ///
    /// Unless it is either a text or a file.
    pub(super) fn file(&self) -> Result<Option<FileWish>, Problems> {
        let Self { text, kind, url, media_id } = self;
        let has_file = url.is_some() || media_id.is_some();
        match (text, kind) {
            (Some(_), None) if !has_file => Ok(None),
            (None, Some(kind)) => {
                let source = FileSource::of(url.clone(), *media_id, None)
                    .map_err(|_| Problems::of("header", "needs one of url and media_id"))?;
                let kind = match kind {
                    HeaderFileKind::Image => FileKind::Image,
                    HeaderFileKind::Video => FileKind::Video,
                    HeaderFileKind::Document => FileKind::Document,
                };
                Ok(Some(FileWish::new(kind, source)))
            }
            _ => Err(Problems::of("header", "must be a text, or a type with url or media_id")),
        }
    }
}

body! {
    /// A button to send.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ButtonDraft as "OfferButton" {
        /// What the answer names; unique.
        id: String = Required<Text<ID>>,
        /// What stands on it; unique.
        title: String = Required<Text<TITLE>>,
    }
}

body! {
    /// A row of a list to send.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RowDraft as "OfferRow" {
        /// What the answer names; unique in the list.
        id: String = Required<Text<ID>>,
        /// What stands in it.
        title: String = Required<Text<ROW_TITLE>>,
        /// What stands below the title.
        description: Option<String> = Optional<Text<ROW_DESCRIPTION>>,
    }
}

body! {
    /// A section of a list to send.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SectionDraft as "OfferSection" {
        /// Needed where there are several sections.
        title: Option<String> = Optional<Text<ROW_TITLE>>,
        rows: Vec<RowDraft> = Required<Several<RowDraft, MAX_ROWS>>,
    }
}

nested!(HeaderDraft, ButtonDraft, RowDraft, SectionDraft);

/// The options of a poll: 2 to 12 texts, each once.
pub(crate) struct PollOptions;

impl Form for PollOptions {
    type Value = Vec<String>;

    fn read(value: &Value) -> Result<Vec<String>, String> {
        let entries = value.as_array().ok_or("must be an array of texts")?;
        if !OPTIONS.contains(&entries.len()) {
            let (least, most) = (OPTIONS.start(), OPTIONS.end());
            return Err(format!("must hold {least} to {most} texts"));
        }
        let read: Result<Vec<String>, String> = entries.iter().map(OptionText::read).collect();
        let read = read?;
        match read.iter().collect::<HashSet<_>>().len() == read.len() {
            true => Ok(read),
            false => Err("may hold each text once only".to_owned()),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::array(OptionText::schema(), |options| {
            options.min_items(Some(*OPTIONS.start())).max_items(Some(*OPTIONS.end()))
        })
    }
}

type OptionText = RequiredText<OPTION>;
