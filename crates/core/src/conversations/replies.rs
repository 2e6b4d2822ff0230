//! Messages of operators and of the service's AI in a conversation (3.4, D32, D42).

use super::body::{ReplyContent, ReplyDraft, ReplyTemplateDraft, TurnDraft};
use super::{Act, Conversations};
use crate::access::Member;
use crate::body::IntoBody;
use crate::contacts::Contact;
use crate::error::Error;
use crate::gateway::Content;
use crate::ids::{CompanyId, ContactId, LedgerLineId, MemberId, MessageId, UploadId};
use crate::messages::{Message, MessageView, SenderType};
use crate::problems::Problems;
use crate::sending::{MediaDraft, Order, ReactDraft, SendError, SendRules, SendTarget, TurnDebit};
use crate::store::{RecordsExt, StoreError, Stored};
use crate::templates::{Template, TemplateStatus, TemplateValues, choose, compose};
use crate::uploads::FileWish;

fn invalid(problems: Problems) -> Error<SendError> {
    Error::Rejected(problems.into())
}

impl Conversations<'_> {
    /// Sends an agent's text, or another content, to a contact. Once it was accepted the
    /// conversation is open, the AI is off, and nothing in it is unread. An opt-out or an external
    /// AI that is off does not refuse it; a block of the contact does.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn reply(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: impl IntoBody<ReplyDraft>,
    ) -> Result<Vec<MessageView>, Error<SendError>> {
        let draft = ReplyDraft::parse(body).map_err(invalid)?;
        let ReplyContent { content, fallback, file } = draft.content().map_err(invalid)?;
        let quoted = self.app.sending().quoted(company, draft.quoted).await?;
        let order = self.agents(company, contact, content, draft.member).await?;
        let order = Order { fallback, quoted, ..order };
        let delivered = self.app.sending().deliver_with_file(order, file).await?;
        self.show(&[delivered.message]).await
    }

    /// Reacts to a message for an agent (X13), as [`Conversations::reply`] sends a text.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn react(
        &self,
        company: CompanyId,
        message: MessageId,
        body: impl IntoBody<ReactDraft>,
    ) -> Result<MessageView, Error<SendError>> {
        let ReactDraft { emoji, .. } = ReactDraft::parse(body).map_err(invalid)?;
        let agents =
            |order: Order| Order { sender: SenderType::Agent, rules: SendRules::AGENT, ..order };
        let delivered = self.app.sending().react(company, message, emoji, agents).await?;
        let links = self.app.media_links().await?;
        Ok(MessageView::new(&delivered.message, &links))
    }

    /// Sends an approved template to a contact for an agent, as [`Conversations::reply`] sends a
    /// text (R89, R370).
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn reply_template(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: impl IntoBody<ReplyTemplateDraft>,
    ) -> Result<Vec<MessageView>, Error<SendError>> {
        let ReplyTemplateDraft { template, language, variables, header, buttons, member, quoted } =
            ReplyTemplateDraft::parse(body).map_err(invalid)?;
        let values = TemplateValues { variables, header, buttons };
        if self.app.store().get::<Contact>((company, contact)).await?.is_none() {
            return Err(Error::Rejected(SendError::ContactNotFound));
        }
        let quoted = self.app.sending().quoted(company, quoted).await?;
        let templates = self.app.store().all_stored::<Template>(company).await?;
        let template = choose(&templates, &template, language.as_deref(), None)
            .ok_or(Error::Rejected(SendError::TemplateNotFound))?;
        if template.status != TemplateStatus::Approved {
            return Err(Error::Rejected(SendError::TemplateNotApproved));
        }
        let composed =
            compose(template, &values).map_err(|error| Error::Rejected(SendError::from(error)))?;
        let order = self.agents(company, contact, composed.content, member).await?;
        let (connection, category) = (composed.connection, Some(composed.category));
        let order = Order { connection, category, quoted, ..order };
        let delivered = self.app.sending().deliver_with_file(order, composed.file).await?;
        self.show(&[delivered.message]).await
    }

    /// Sends a file to a contact for an agent, as [`Conversations::reply`] sends a text (X10).
    /// `received` is a file that came with the call; it is removed again if the send is refused.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn reply_media(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: impl IntoBody<MediaDraft>,
        received: Option<UploadId>,
    ) -> Result<Vec<MessageView>, Error<SendError>> {
        let sending = self.app.sending();
        let (order, wish) = match self.agents_media(company, contact, body, received).await {
            Ok(order) => order,
            Err(refused) => {
                sending.drop_received(company, received).await;
                return Err(refused);
            }
        };
        let delivered = sending.deliver_with_file(order, Some(wish)).await?;
        self.show(&[delivered.message]).await
    }

    async fn agents_media(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: impl IntoBody<MediaDraft>,
        received: Option<UploadId>,
    ) -> Result<(Order, FileWish), Error<SendError>> {
        let draft = MediaDraft::parse(body).map_err(invalid)?;
        let (member, quoted) = (draft.member, draft.quoted);
        let (content, wish) = draft.content(received).map_err(invalid)?;
        let quoted = self.app.sending().quoted(company, quoted).await?;
        let order = self.agents(company, contact, content, member).await?;
        Ok((Order { quoted, ..order }, wish))
    }

    /// Sends the bubbles of one turn of the service's AI, one after the other. Each is refused
    /// while that AI is off or paused for the contact (D42). The debit of the turn is booked with
    /// the first one that the provider accepts. The first one that it does not accept ends the
    /// turn. Returns the messages that were stored (R24). If the store cannot be read then, the one
    /// that was not accepted is left out.
    ///
    /// # Errors
    ///
    /// [`SendError`] when no bubble was accepted.
    pub async fn ai_turn(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: impl IntoBody<TurnDraft>,
    ) -> Result<Vec<MessageView>, Error<SendError>> {
        let draft = TurnDraft::parse(body).map_err(invalid)?;
        let app = self.app.clone();
        // As one piece of work, so that a turn is not interrupted.
        let taken = self
            .app
            .tasks()
            .run(async move { app.conversations().take_turn(company, contact, draft).await });
        let cut_off = |cut_off| Err(Error::Store(StoreError::outcome_unknown(cut_off)));
        let stored = taken.await.unwrap_or_else(cut_off)?;
        self.show(&stored).await
    }

    async fn take_turn(
        &self,
        company: CompanyId,
        contact: ContactId,
        draft: TurnDraft,
    ) -> Result<Vec<Message>, Error<SendError>> {
        let id = LedgerLineId::new(self.app.uuid(self.app.now()));
        let turn = TurnDebit { id, prosas: draft.prosas, cost: draft.cost };
        let mut stored = Vec::new();
        for text in draft.messages {
            let order = Order {
                sender: SenderType::Ai,
                rules: SendRules::SERVICE_AI,
                turn: Some(turn),
                ..Order::text(company, SendTarget::Contact(contact), None, text)
            };
            match self.app.sending().deliver(order).await {
                Ok(delivered) => stored.push(delivered.message),
                Err(refused) if stored.is_empty() => return Err(refused),
                Err(refused) => {
                    // Without an error: bubbles were sent, and an error would say that none was.
                    stored.extend(self.failed(company, refused).await.ok().flatten());
                    break;
                }
            }
        }
        Ok(stored)
    }

    /// The order for an agent's message.
    async fn agents(
        &self,
        company: CompanyId,
        contact: ContactId,
        content: Content,
        member: Option<MemberId>,
    ) -> Result<Order, Error<SendError>> {
        if let Some(id) = member
            && self.app.store().get::<Member>((company, id)).await?.is_none()
        {
            let reason = "names a member that the company does not have";
            return Err(invalid(Problems::of("member_id", reason)));
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

    /// The message that a provider did not accept, as it is stored.
    async fn failed(
        &self,
        company: CompanyId,
        refused: Error<SendError>,
    ) -> Result<Option<Message>, StoreError> {
        let (Error::Rejected(SendError::Provider { message, .. })
        | Error::Rejected(SendError::Uncertain { message, .. })) = refused
        else {
            return Ok(None);
        };
        let stored = self.app.store().messages(company, &[message]).await?.pop();
        Ok(stored.map(Stored::into_value))
    }

    async fn show(&self, messages: &[Message]) -> Result<Vec<MessageView>, Error<SendError>> {
        let links = self.app.media_links().await?;
        Ok(messages.iter().map(|message| MessageView::new(message, &links)).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn faults<T>(read: Result<T, Problems>) -> Vec<String> {
        let Err(problems) = read else { panic!("not refused") };
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
        assert!(turn("1.0051").is_err());
        assert!(turn("-1").is_err());
    }

    #[test]
    fn blank_bubbles_are_refused() {
        let body = json!({"messages": ["Oi", "  "], "prosas": 1, "cost_brl": 1});
        assert!(TurnDraft::parse(&object(body)).is_err());
    }
}
