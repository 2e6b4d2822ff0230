//! What is to be sent, to whom, and under which rules.

use std::fmt;

use super::{Claim, QuotedMessage, SendError};
use crate::Timestamp;
use crate::connections::{Connection, ConnectionKind};
use crate::contacts::{Contact, Phone};
use crate::conversations::{Act, ConversationState};
use crate::gateway::{Content, Providers};
use crate::groups::GroupCode;
use crate::ids::{CompanyId, ConnectionId, ContactId, LedgerLineId, MessageId};
use crate::messages::{Message, ProviderMessageId, Quoted, SenderType};
use crate::prosas::{Brl, Prosas};
use crate::templates::{Composed, TemplateCategory};

/// The recipient of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendTarget {
    /// The contact that has this phone; made a contact if none has it.
    Phone(Phone),
    /// The one that is [meant](crate::conversations::meant_by_phone) where several have this phone;
    /// made a contact if none has it.
    AnyWithPhone(Phone),
    /// A group or community.
    Group(GroupCode),
    /// This contact, a group or a person.
    Contact(ContactId),
}

/// Whose automation a message is, which the flags of a contact may forbid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Automation {
    /// Nobody's: a person wrote it, or it is an approved template.
    None,
    /// The customer's, which goes by `external_ai_enabled` (4.8.3).
    External,
    /// The service's own AI, which goes by `is_ai_enabled` and `ai_paused_until` (D42).
    Service,
}

/// Which states of a contact forbid a message. A blocked contact never gets one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendRules {
    /// Whether a contact that opted out gets none.
    pub heeds_opt_out: bool,
    /// Whose automation it is.
    pub automation: Automation,
}

impl SendRules {
    /// Of free text that software sends (4.8.3).
    pub const FREE_TEXT: Self = Self { heeds_opt_out: true, automation: Automation::External };
    /// Of templates that software sends (4.8.3).
    pub const TEMPLATE: Self = Self { heeds_opt_out: true, automation: Automation::None };
    /// Of what the service's AI writes (D42).
    pub const SERVICE_AI: Self = Self { heeds_opt_out: true, automation: Automation::Service };
    /// Of what a person of the company writes (D42, R23).
    pub const AGENT: Self = Self { heeds_opt_out: false, automation: Automation::None };

    /// What forbids a message to a contact in this state, in the order of D33.
    ///
    /// # Errors
    ///
    /// [`SendError::OptedOut`], [`SendError::Blocked`], [`SendError::ExternalAiDisabled`] or
    /// [`SendError::AiDisabled`].
    pub fn check(self, contact: &Contact, now: Timestamp) -> Result<(), SendError> {
        if self.heeds_opt_out && contact.opted_out_at.is_some() {
            return Err(SendError::OptedOut { contact: Some(contact.id) });
        }
        if contact.is_blocked {
            return Err(SendError::Blocked);
        }
        let state = ConversationState::of(contact);
        match self.automation {
            Automation::External if !state.external_ai_enabled => {
                Err(SendError::ExternalAiDisabled)
            }
            Automation::Service if !state.service_ai_answers(now) => Err(SendError::AiDisabled),
            Automation::None | Automation::External | Automation::Service => Ok(()),
        }
    }
}

/// The debit of an AI turn, booked with the first of its bubbles that is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnDebit {
    /// Its id.
    pub id: LedgerLineId,
    /// Its value in prosas.
    pub prosas: Prosas,
    /// Its cost.
    pub cost: Brl,
}

/// A message to be sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Order {
    /// The company that sends.
    pub company: CompanyId,
    /// The recipient.
    pub target: SendTarget,
    /// The contact that the target has to mean, where it was named too (D71).
    pub contact: Option<ContactId>,
    /// The connection that was asked for.
    pub connection: Option<ConnectionId>,
    /// What it says.
    pub content: Content,
    /// The message that it answers.
    pub quoted: Option<QuotedMessage>,
    /// The text that is sent where the connection cannot carry the content (X12).
    pub fallback: Option<String>,
    /// The message of ours that it changes: the reaction to the same message (X7).
    pub again: Option<MessageId>,
    /// The category of the template it is made from.
    pub category: Option<TemplateCategory>,
    /// Who sends it.
    pub sender: SenderType,
    /// Which states of the contact forbid it.
    pub rules: SendRules,
    /// What it does to the conversation once it was accepted. An agent's act is also applied when
    /// the message may have arrived.
    pub act: Option<Act>,
    /// The turn it is a bubble of.
    pub turn: Option<TurnDebit>,
    /// What it has to claim.
    pub claim: Claim,
}

impl Order {
    /// A free text of the company's software (4.8).
    pub const fn text(
        company: CompanyId,
        target: SendTarget,
        connection: Option<ConnectionId>,
        text: String,
    ) -> Self {
        Self {
            company,
            target,
            contact: None,
            connection,
            content: Content::Text(text),
            quoted: None,
            fallback: None,
            again: None,
            category: None,
            sender: SenderType::System,
            rules: SendRules::FREE_TEXT,
            act: None,
            turn: None,
            claim: Claim::Nothing,
        }
    }

    /// A template that software sends: it reopens the conversation once it was accepted (3.1, D51).
    pub fn template(company: CompanyId, target: SendTarget, composed: Composed) -> Self {
        Self {
            connection: composed.connection,
            content: composed.content,
            category: Some(composed.category),
            rules: SendRules::TEMPLATE,
            act: Some(Act::TemplateSent),
            ..Self::text(company, target, None, String::new())
        }
    }

    /// Whether it is made from a template; groups get none (D40).
    pub const fn is_template(&self) -> bool {
        matches!(self.content, Content::Template(_))
    }

    /// Whether a connection can carry it: this program has its gateway, and the gateway sends such
    /// messages.
    pub fn fits(&self, connection: &Connection, gateways: &Providers) -> bool {
        gateways.kinds(connection).contains(&self.content.kind())
    }

    /// Whether a connection that cannot carry it is named in the refusal (X10–X13): texts and
    /// templates have none that would fit otherwise (D35).
    pub const fn is_named_kind(&self) -> bool {
        !matches!(self.content, Content::Text(_) | Content::Template(_))
    }
}

impl Order {
    /// The connection that was asked for; else that of the message it answers, as no other knows it
    /// (R324).
    pub(super) fn wanted_connection(&self) -> Option<ConnectionId> {
        self.connection.or_else(|| self.quoted.as_ref().map(|quoted| quoted.connection))
    }

    /// What its message keeps of the one that it answers.
    pub(super) fn quoted_as_stored(&self) -> Quoted {
        self.quoted.as_ref().map(|quoted| quoted.kept.clone()).unwrap_or_default()
    }

    /// Refuses a quoted message of another contact, as if it did not exist. Who is no contact yet
    /// has no messages.
    ///
    /// X10.
    pub(super) fn check_quoted(&self, contact: Option<ContactId>) -> Result<(), SendError> {
        match &self.quoted {
            Some(quoted) if Some(quoted.contact) != contact => Err(SendError::MessageNotFound),
            _ => Ok(()),
        }
    }

    /// The connection and the id under which our reaction to a message is found (X7).
    pub(super) fn standing(&self) -> Option<(ConnectionId, ProviderMessageId)> {
        let Content::Reaction(reaction) = &self.content else { return None };
        let connection = self.connection?;
        Some((connection, reaction.target.provider_id.own_reaction(connection)))
    }
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Order")
            .field("company", &self.company)
            .field("sender", &self.sender)
            .finish_non_exhaustive()
    }
}

/// A message that its provider accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivered {
    /// The message as it is stored.
    pub message: Message,
    /// The kind of its connection.
    pub kind: ConnectionKind,
    /// The group it went to.
    pub group: Option<GroupCode>,
    /// Whether its contact was made for it.
    pub is_new_contact: bool,
}
