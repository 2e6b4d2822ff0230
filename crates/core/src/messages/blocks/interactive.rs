//! What was offered to choose from, and the answers to it (X2).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::MessageId;

/// An answer, or what was offered; its `kind` says which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Interactive {
    /// An answer.
    Answer(Answer),
    /// What was offered.
    Offer(Box<Offer>),
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// A pressed button.
    ButtonReply,
    /// A chosen row of a list.
    ListReply,
    /// A filled form.
    FlowReply,
    /// A vote in a poll.
    PollVote,
    /// Whether the company may call.
    CallPermissionReply,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Answer {
    /// What it is.
    pub kind: AnswerKind,
    /// The id of what was chosen.
    #[serde(default)]
    pub id: Option<String>,
    /// Its title; of a vote the chosen options, joined by `, `.
    #[serde(default)]
    pub title: Option<String>,
    /// Its description.
    #[serde(default)]
    pub description: Option<String>,
    /// The payload of the button.
    #[serde(default)]
    pub payload: Option<String>,
    /// The object that a form answered, or `{"raw": text}` if it is none; of a vote
    /// `{"options": [text]}`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub response: Option<Value>,
    /// The message that it answers, if it is stored.
    #[serde(default)]
    pub in_reply_to: Option<MessageId>,
}

impl Answer {
    /// An answer of this kind without any details.
    pub const fn new(kind: AnswerKind) -> Self {
        Self {
            kind,
            id: None,
            title: None,
            description: None,
            payload: None,
            response: None,
            in_reply_to: None,
        }
    }
}

/// What was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OfferKind {
    /// Buttons.
    Buttons,
    /// A list.
    List,
    /// A button that opens a page.
    CtaUrl,
    /// A request for a place.
    LocationRequest,
    /// A poll.
    Poll,
    /// A product.
    Product,
    /// Products.
    ProductList,
    /// Anything else that holds text and can be answered.
    Other,
}

/// What was offered: a text with what can be chosen. Keys that a kind lacks are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Offer {
    /// What it is.
    pub kind: OfferKind,
    /// What stands above the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<OfferHeader>,
    /// The text; of a poll the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What stands below the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footer: Option<String>,
    /// The buttons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buttons: Option<Vec<Choice>>,
    /// The label of the button that opens the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub button: Option<String>,
    /// The sections of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sections: Option<Vec<ListSection>>,
    /// The label of the button that opens a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The options of a poll.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<PollOption>>,
    /// How many options of a poll one person may choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selectable: Option<u32>,
}

impl Offer {
    /// An offer of this kind without any details.
    pub const fn new(kind: OfferKind) -> Self {
        Self {
            kind,
            header: None,
            body: None,
            footer: None,
            buttons: None,
            button: None,
            sections: None,
            label: None,
            url: None,
            options: None,
            selectable: None,
        }
    }

    /// A poll with these options, without votes.
    pub fn poll(question: impl Into<String>, options: impl IntoIterator<Item = String>) -> Self {
        let options = options.into_iter().map(|option| PollOption { option, votes: 0 });
        Self {
            body: Some(question.into()),
            options: Some(options.collect()),
            ..Self::new(OfferKind::Poll)
        }
    }
}

/// What stands above the text of an offer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct OfferHeader {
    /// Its text.
    pub text: Option<String>,
}

/// A button.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Choice {
    /// Its id.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

/// A section of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct ListSection {
    /// Its title.
    pub title: Option<String>,
    /// Its rows.
    pub rows: Vec<ListRow>,
}

/// A row of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct ListRow {
    /// Its id.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
}

/// An option of a poll.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct PollOption {
    /// Its text.
    pub option: String,
    /// How many people have chosen it.
    pub votes: u64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// X2.
    #[test]
    fn a_kind_says_whether_it_is_an_answer_or_what_was_offered() {
        let read = |value: Value| serde_json::from_value::<Interactive>(value);
        for kind in
            ["button_reply", "list_reply", "flow_reply", "poll_vote", "call_permission_reply"]
        {
            assert!(matches!(read(json!({ "kind": kind })), Ok(Interactive::Answer(_))), "{kind}");
        }
        for kind in [
            "buttons",
            "list",
            "cta_url",
            "location_request",
            "poll",
            "product",
            "product_list",
            "other",
        ] {
            assert!(matches!(read(json!({ "kind": kind })), Ok(Interactive::Offer(_))), "{kind}");
        }
        assert!(read(json!({"kind": "new"})).is_err());
    }
}
