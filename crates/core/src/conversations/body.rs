//! The bodies of operators' actions and messages in a conversation (3.1, 3.4, D42–D44a).

use serde_json::Value;

use super::AiMode;
use crate::Timestamp;
use crate::body::{BodyField, Optional, OrDefault, Required, as_form, body};
use crate::form::{Form, Short, to_json};
use crate::gateway::Content;
use crate::ids::{CloseReasonId, MemberId, MessageId};
use crate::input::{Given, Input};
use crate::problems::Problems;
use crate::prosas::{Brl, Prosas};
use crate::sending::{CardDraft, Cards, MessageText, OfferDraft, PlaceDraft, cards_content};
use crate::templates::{
    ButtonValue, ButtonValues, HeaderValue, HeaderValueDraft, VariableValues, Variables,
};
use crate::uploads::FileWish;

/// The most bubbles of one AI turn.
const MAX_BUBBLES: usize = 20;

/// A text as it was written; a blank one is refused.
pub(crate) struct WrittenText;

impl Form for WrittenText {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        match MessageText::read(value)? {
            blank if blank.trim().is_empty() => Err("must not be blank".to_owned()),
            text => Ok(text),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        MessageText::schema()
    }
}

/// The texts of one AI turn.
pub(crate) struct Bubbles;

impl Form for Bubbles {
    type Value = Vec<String>;

    fn read(value: &Value) -> Result<Vec<String>, String> {
        let bubbles = value.as_array().ok_or("must be an array of texts")?;
        if bubbles.is_empty() || bubbles.len() > MAX_BUBBLES {
            return Err(format!("must hold 1 to {MAX_BUBBLES} texts"));
        }
        bubbles.iter().map(WrittenText::read).collect()
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::array(WrittenText::schema(), |texts| {
            texts.min_items(Some(1)).max_items(Some(MAX_BUBBLES))
        })
    }
}

/// Required; null has a meaning of its own.
pub(crate) struct Nullable<F>(std::marker::PhantomData<F>);

impl<F: Form> BodyField for Nullable<F> {
    type Value = Given<F::Value>;
    const REQUIRED: bool = true;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Given<F::Value>> {
        match input.field::<F>(name)? {
            Given::Absent => input.refuse(name, "is required; null assigns it to nobody"),
            given => Some(given),
        }
    }

    as_form!(F);
}

/// The one source from which a block is announced afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Backfill;

to_json!(Backfill, |_source| "backfill");

impl Form for Backfill {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        match value.as_str() {
            Some("backfill") => Ok(Self),
            _ => Err("must be backfill".to_owned()),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|text| text)
    }
}

/// The fields of a reply of which one has to be there.
const CONTENTS: [&str; 4] = ["message", "interactive", "location", "contacts"];

body! {
    /// An agent's message: a text, or one of the other contents.
    #[derive(Clone, PartialEq, Eq)]
    pub struct ReplyDraft as "Reply" {
        /// The text, as it arrives.
        message: Option<String> = Optional<WrittenText>,
        /// Something to choose.
        interactive: Option<OfferDraft> = Optional<OfferDraft>,
        /// A place.
        location: Option<PlaceDraft> = Optional<PlaceDraft>,
        /// Address cards.
        contacts: Option<Vec<CardDraft>> = Optional<Cards>,
        /// The message of this contact that it answers.
        quoted as "quoted_message_id": Option<MessageId> = Optional<MessageId>,
        /// Assigns the conversation.
        member as "member_id": Option<MemberId> = Optional<MemberId>,
    }
    before |input| one_content(input);
}

/// Records a problem unless a reply has exactly one content.
fn one_content(input: &mut Input<'_>) {
    let given = CONTENTS.into_iter().filter(|name| input.raw(name).is_some_and(|v| !v.is_null()));
    match given.collect::<Vec<_>>().as_slice() {
        [] => input.problem("message", "is required, or another content"),
        [_] => {}
        [_, others @ ..] => {
            for name in others {
                input.problem(name, "cannot stand beside another content");
            }
        }
    }
}

/// What a reply sends.
pub(crate) struct ReplyContent {
    /// The content.
    pub(crate) content: Content,
    /// The text in its place where the gateway cannot show it (X12).
    pub(crate) fallback: Option<String>,
    /// The file above an offer, which is still to be got.
    pub(crate) file: Option<FileWish>,
}

impl ReplyDraft {
    /// What is sent (R323).
    ///
    /// # Errors
    ///
    /// What is wrong with an offer.
    pub(crate) fn content(&self) -> Result<ReplyContent, Problems> {
        if let Some(offer) = &self.interactive {
            let within = |problems: Problems| Problems::of("interactive", problems.to_string());
            let (content, file) = offer.content().map_err(within)?;
            let fallback = offer.fallback_text().map_err(within)?;
            return Ok(ReplyContent { content, fallback, file });
        }
        let other = self.location.clone().map(PlaceDraft::content);
        let other = other.or_else(|| self.contacts.clone().map(cards_content));
        let text = || Content::Text(self.message.clone().unwrap_or_default());
        let content = other.unwrap_or_else(text);
        Ok(ReplyContent { content, fallback: None, file: None })
    }
}

body! {
    /// An agent's template.
    #[derive(Clone, PartialEq, Eq)]
    pub struct ReplyTemplateDraft as "ReplyTemplate" {
        /// Its name or id.
        template: String = Required<Short>,
        /// Its language, where several have the name.
        language: Option<String> = Optional<Short>,
        /// By position or name.
        variables: VariableValues = OrDefault<Variables>,
        /// What the template's header needs.
        header: Option<HeaderValue> = Optional<HeaderValueDraft>,
        /// What the template's buttons need.
        buttons: Vec<ButtonValue> = OrDefault<ButtonValues>,
        /// Assigns the conversation.
        member as "member_id": Option<MemberId> = Optional<MemberId>,
        /// The message of this contact that it answers.
        quoted as "quoted_message_id": Option<MessageId> = Optional<MessageId>,
    }
}

body! {
    /// A turn of the service's AI.
    #[derive(Clone, PartialEq, Eq)]
    pub struct TurnDraft as "AiTurn" {
        /// The texts, each sent as a message of its own, in this order.
        messages: Vec<String> = Required<Bubbles>,
        prosas: Prosas = Required<Prosas>,
        cost as "cost_brl": Brl = Required<Brl>,
    }
}

body! {
    /// Closing a conversation.
    #[derive(Clone, Copy, Debug)]
    pub struct CloseBody as "Close" {
        reason as "close_reason_id": Option<CloseReasonId> = Optional<CloseReasonId>,
        /// Assigns the conversation.
        member as "member_id": Option<MemberId> = Optional<MemberId>,
    }
}

body! {
    /// Taking a conversation over.
    #[derive(Clone, Copy, Debug)]
    pub struct TakeOverBody as "TakeOver" {
        member as "member_id": MemberId = Required<MemberId>,
    }
}

body! {
    /// Assigning a conversation; null removes the assignment.
    #[derive(Clone, Copy, Debug)]
    pub struct AssignBody as "Assign" {
        member as "member_id": Given<MemberId> = Nullable<MemberId>,
    }
}

body! {
    /// Pausing the AI.
    #[derive(Clone, Copy, Debug)]
    pub struct PauseAiBody as "PauseAi" {
        until: Timestamp = Required<Timestamp>,
    }
}

body! {
    /// Setting the AI mode.
    #[derive(Clone, Copy, Debug)]
    pub struct AiModeBody as "PickAiMode" {
        mode: AiMode = Required<AiMode>,
    }
}

body! {
    /// Handing a conversation off to people.
    #[derive(Clone, Copy, Debug)]
    pub struct HandoffBody as "Handoff" {
        /// Assigns the conversation.
        member as "member_id": Option<MemberId> = Optional<MemberId>,
    }
}

body! {
    /// Announcing a block.
    #[derive(Clone, Copy, Debug)]
    pub struct OptOutBody as "OptOut" {
        /// `backfill`.
        source: Backfill = Required<Backfill>,
        opted_out_at: Timestamp = Required<Timestamp>,
    }
}
