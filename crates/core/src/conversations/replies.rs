//! What operators and the service's AI write in a conversation (3.4, D32, D42).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::actions::optional_member;
use super::{Act, Conversations};
use crate::error::Error;
use crate::gateway::Content;
use crate::ids::{CompanyId, ContactId, LedgerLineId, MemberId};
use crate::input::Input;
use crate::messages::{Message, MessageView, SenderType};
use crate::problems::Problems;
use crate::prosas::{Brl, Prosas};
use crate::sending::{
    Order, SendError, SendRules, SendTarget, TurnDebit, read_message, read_variables,
};
use crate::templates::{TemplateStatus, choose, compose};
use crate::text;

/// The most bubbles of one AI turn.
const MAX_BUBBLES: usize = 20;

/// An agent's text, read.
#[derive(Clone, PartialEq, Eq)]
struct ReplyDraft {
    message: String,
    member: Option<MemberId>,
}

impl ReplyDraft {
    fn parse(body: &Map<String, Value>) -> Result<Self, SendError> {
        let mut input = Input::new(body);
        let message = input.required("message", read_written);
        let member = optional_member(&mut input);
        input.finish().into_result()?;
        Ok(Self { message: message.unwrap_or_default(), member })
    }
}

/// An agent's template, read.
#[derive(Clone, PartialEq, Eq)]
struct ReplyTemplateDraft {
    template: String,
    language: Option<String>,
    variables: BTreeMap<u32, String>,
    member: Option<MemberId>,
}

impl ReplyTemplateDraft {
    fn parse(body: &Map<String, Value>) -> Result<Self, SendError> {
        let mut input = Input::new(body);
        let template = input.required_text("template", text::SHORT);
        let language = input.given_text("language", text::SHORT).value();
        let variables = input.given("variables", read_variables).value();
        let member = optional_member(&mut input);
        input.finish().into_result()?;
        Ok(Self {
            template: template.unwrap_or_default(),
            language,
            variables: variables.unwrap_or_default(),
            member,
        })
    }
}

/// A turn of the service's AI, read.
#[derive(Clone, PartialEq, Eq)]
struct TurnDraft {
    messages: Vec<String>,
    prosas: Prosas,
    cost: Brl,
}

impl TurnDraft {
    fn parse(body: &Map<String, Value>) -> Result<Self, SendError> {
        let mut input = Input::new(body);
        let messages = input.required("messages", read_bubbles);
        let prosas = input.required("prosas", Prosas::read);
        let cost = input.required("cost_brl", Brl::read);
        input.finish().into_result()?;
        Ok(Self {
            messages: messages.unwrap_or_default(),
            prosas: prosas.unwrap_or_default(),
            cost: cost.unwrap_or_default(),
        })
    }
}

fn read_bubbles(value: &Value) -> Result<Vec<String>, String> {
    let bubbles = value.as_array().ok_or("must be an array of texts")?;
    if bubbles.is_empty() || bubbles.len() > MAX_BUBBLES {
        return Err(format!("must hold 1 to {MAX_BUBBLES} texts"));
    }
    bubbles.iter().map(read_written).collect()
}

/// A text as it was written, but for a blank one.
fn read_written(value: &Value) -> Result<String, String> {
    match read_message(value)? {
        blank if blank.trim().is_empty() => Err("must not be blank".to_owned()),
        text => Ok(text),
    }
}

impl Conversations<'_> {
    /// Sends an agent's text to a contact. Once it was accepted the conversation is open, people
    /// answer it, and nothing in it is unread; an opt-out and the external AI do not matter, a
    /// block of the contact does.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn reply(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: &Map<String, Value>,
    ) -> Result<Vec<MessageView>, Error<SendError>> {
        let draft = ReplyDraft::parse(body).map_err(Error::Rejected)?;
        let text = Content::Text(draft.message);
        self.send(self.agents(company, contact, text, draft.member).await?).await
    }

    /// Sends an approved template to a contact for an agent, as [`Conversations::reply`] sends a
    /// text.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn reply_template(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: &Map<String, Value>,
    ) -> Result<Vec<MessageView>, Error<SendError>> {
        let draft = ReplyTemplateDraft::parse(body).map_err(Error::Rejected)?;
        let templates = self.app.store().templates(company).await?;
        let template = choose(&templates, &draft.template, draft.language.as_deref(), None)
            .ok_or(Error::Rejected(SendError::TemplateNotFound))?;
        if template.status != TemplateStatus::Approved {
            return Err(Error::Rejected(SendError::TemplateNotApproved));
        }
        let composed = compose(template, &draft.variables)
            .map_err(|error| Error::Rejected(SendError::from(error)))?;
        let order = self.agents(company, contact, composed.content, draft.member).await?;
        let (connection, category) = (composed.connection, Some(composed.category));
        self.send(Order { connection, category, ..order }).await
    }

    /// Sends the bubbles of one turn of the service's AI, one after the other, under the rules of
    /// free text. The first one that the provider accepts books the turn's debit; the first one
    /// that it does not ends the turn. Answers the messages that were stored.
    ///
    /// # Errors
    ///
    /// [`SendError`] when no bubble was accepted.
    pub async fn ai_turn(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: &Map<String, Value>,
    ) -> Result<Vec<MessageView>, Error<SendError>> {
        let draft = TurnDraft::parse(body).map_err(Error::Rejected)?;
        let id = LedgerLineId::new(self.app.uuid(self.app.now()));
        let turn = TurnDebit { id, prosas: draft.prosas, cost: draft.cost };
        let mut stored = Vec::new();
        for text in draft.messages {
            let order = Order {
                sender: SenderType::Ai,
                turn: Some(turn),
                ..Order::text(company, SendTarget::Contact(contact), None, text)
            };
            match self.app.sending().deliver(order).await {
                Ok(delivered) => stored.push(delivered.message),
                Err(refused) if stored.is_empty() => return Err(refused),
                Err(refused) => {
                    stored.extend(self.failed(company, refused).await?);
                    break;
                }
            }
        }
        self.show(&stored).await
    }

    /// The order for what an agent writes.
    async fn agents(
        &self,
        company: CompanyId,
        contact: ContactId,
        content: Content,
        member: Option<MemberId>,
    ) -> Result<Order, Error<SendError>> {
        if let Some(id) = member
            && self.app.store().member(company, id).await?.is_none()
        {
            let reason = "names a member that the company does not have";
            return Err(Error::Rejected(Problems::of("member_id", reason).into()));
        }
        let text = Order::text(company, SendTarget::Contact(contact), None, String::new());
        Ok(Order {
            content,
            sender: SenderType::Agent,
            rules: SendRules::AGENT,
            act: Some(Act::AgentReplied { member }),
            ..text
        })
    }

    async fn send(&self, order: Order) -> Result<Vec<MessageView>, Error<SendError>> {
        let delivered = self.app.sending().deliver(order).await?;
        self.show(&[delivered.message]).await
    }

    /// The message that a provider did not take, as it is stored.
    async fn failed(
        &self,
        company: CompanyId,
        refused: Error<SendError>,
    ) -> Result<Option<Message>, Error<SendError>> {
        let (Error::Rejected(SendError::Provider { message, .. })
        | Error::Rejected(SendError::Uncertain { message, .. })) = refused
        else {
            return Ok(None);
        };
        let stored = self.app.store().messages(company, &[message]).await?.pop();
        Ok(stored.map(crate::store::Stored::into_value))
    }

    async fn show(&self, messages: &[Message]) -> Result<Vec<MessageView>, Error<SendError>> {
        let links = self.app.media_links().await?;
        Ok(messages.iter().map(|message| MessageView::new(message, links)).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn faults<T>(read: Result<T, SendError>) -> Vec<String> {
        let Err(SendError::Invalid(problems)) = read else { panic!("not refused as invalid") };
        problems.fields().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_missing_is_named_with_all_else_that_is_wrong() {
        assert_eq!(faults(TurnDraft::parse(&Map::new())), ["messages", "prosas", "cost_brl"]);
        for blank in [json!(null), json!(""), json!("  ")] {
            let reply = object(json!({"message": blank, "member_id": 1, "key": 1}));
            assert_eq!(faults(ReplyDraft::parse(&reply)), ["message", "member_id", "key"]);
            let template = object(json!({"template": blank, "variables": 1}));
            assert_eq!(faults(ReplyTemplateDraft::parse(&template)), ["template", "variables"]);
        }
    }

    #[test]
    fn the_amounts_of_a_turn_are_never_rounded() {
        let turn = |prosas: &str| {
            let body = format!(r#"{{"messages":["Oi"],"prosas":{prosas},"cost_brl":0.1}}"#);
            TurnDraft::parse(&object(serde_json::from_str(&body).expect("JSON")))
        };
        assert!(turn("1.005").is_ok());
        assert!(matches!(turn("1.0051"), Err(SendError::Invalid(_))));
        assert!(matches!(turn("-1"), Err(SendError::Invalid(_))));
    }

    #[test]
    fn blank_bubbles_are_refused() {
        let body = json!({"messages": ["Oi", "  "], "prosas": 1, "cost_brl": 1});
        assert!(matches!(TurnDraft::parse(&object(body)), Err(SendError::Invalid(_))));
    }
}
