//! Operators' actions on the state of a conversation (3.1, 3.4, D42–D44a). Their messages are in
//! [`replies`](super::replies).

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::body::{
    AiModeBody, AssignBody, CloseBody, HandoffBody, OptOutBody, PauseAiBody, TakeOverBody,
};
use super::{Act, ConversationState};
use crate::contacts::{Contact, DraftFacts, DraftQuery};
use crate::conversations::{ChannelContact, ChannelQuery};
use crate::error::Error;
use crate::events::{OptOutSource, contact_opted_out};
use crate::ids::{CloseReasonId, CompanyId, ContactId, EventId, MemberId};
use crate::input::Input;
use crate::manage::{ManageError, ManageResult};
use crate::messages::{Direction, Message, MessageFilter};
use crate::page::PageRequest;
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, StoreError};
use crate::use_case::UseCase;
use crate::words::words;
use crate::{Recado, Timestamp};

words! {
    /// An operator's action on a conversation, without a message.
    ActionName {
        /// Closes it.
        Close = "close",
        /// Takes it over.
        TakeOver = "take-over",
        /// Assigns it.
        Assign = "assign",
        /// Pauses the AI.
        PauseAi = "pause-ai",
        /// Lifts the pause.
        ResumeAi = "resume-ai",
        /// Sets another AI mode.
        AiMode = "ai-mode",
        /// Switches the external AI on again.
        EnableExternalAi = "enable-external-ai",
        /// Hands it off to people.
        Handoff = "handoff",
        /// Blocks the contact.
        Block = "block",
        /// Lifts the company's block.
        Unblock = "unblock",
        /// Announces a block of the contact's own.
        OptOut = "opt-out",
        /// Lifts the contact's own block.
        OptIn = "opt-in",
        /// Marks it as read.
        Read = "read",
    }
}

/// A parsed action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A transition of the conversation's state, at the time it is decided.
    Move(Transition),
    /// Everything was read.
    Read,
}

/// A transition, before its time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// As it is.
    Act(Act),
    /// Closing.
    Close {
        /// Why.
        reason: Option<CloseReasonId>,
        /// The member it is assigned to by that.
        member: Option<MemberId>,
    },
    /// Lifting the contact's own block.
    OptIn,
}

impl Transition {
    const fn at(self, now: Timestamp) -> Act {
        match self {
            Self::Act(act) => act,
            Self::Close { reason, member } => Act::Closed { at: now, reason, member },
            Self::OptIn => Act::OptedIn { at: now },
        }
    }

    const fn member(self) -> Option<MemberId> {
        match self {
            Self::Act(Act::TakenOver { member }) => Some(member),
            Self::Act(Act::HandedOff { member } | Act::Assigned { member })
            | Self::Close { member, .. } => member,
            Self::Act(_) | Self::OptIn => None,
        }
    }

    const fn reason(self) -> Option<CloseReasonId> {
        match self {
            Self::Close { reason, .. } => reason,
            Self::Act(_) | Self::OptIn => None,
        }
    }
}

impl Action {
    /// Reads the body of an action.
    ///
    /// # Errors
    ///
    /// All problems of the body.
    pub fn parse(name: ActionName, body: &Map<String, Value>) -> Result<Self, Problems> {
        let bare = |step: Transition| Input::new(body).finish().into_result().map(|()| step);
        let step = match name {
            ActionName::Close => {
                let CloseBody { reason, member } = CloseBody::parse(body)?;
                Transition::Close { reason, member }
            }
            ActionName::TakeOver => {
                Transition::Act(Act::TakenOver { member: TakeOverBody::parse(body)?.member })
            }
            ActionName::Assign => {
                Transition::Act(Act::Assigned { member: AssignBody::parse(body)?.member.value() })
            }
            ActionName::PauseAi => {
                Transition::Act(Act::AiPaused { until: PauseAiBody::parse(body)?.until })
            }
            ActionName::ResumeAi => bare(Transition::Act(Act::AiResumed))?,
            ActionName::AiMode => Transition::Act(Act::AiModePicked(AiModeBody::parse(body)?.mode)),
            ActionName::EnableExternalAi => bare(Transition::Act(Act::ExternalAiEnabled))?,
            ActionName::Handoff => {
                Transition::Act(Act::HandedOff { member: HandoffBody::parse(body)?.member })
            }
            ActionName::Block => bare(Transition::Act(Act::Blocked))?,
            ActionName::Unblock => bare(Transition::Act(Act::Unblocked))?,
            ActionName::OptOut => {
                Transition::Act(Act::OptOutBackfilled { at: OptOutBody::parse(body)?.opted_out_at })
            }
            ActionName::OptIn => bare(Transition::OptIn)?,
            ActionName::Read => {
                Input::new(body).finish().into_result()?;
                return Ok(Self::Read);
            }
        };
        Ok(Self::Move(step))
    }
}

/// Changes a conversation's state.
#[derive(Clone, Debug)]
pub struct MoveConversation {
    company: CompanyId,
    contact: ContactId,
    step: Transition,
    event: EventId,
}

#[async_trait]
impl UseCase for MoveConversation {
    type Loaded = DraftFacts;
    type Output = ();
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<DraftFacts, StoreError> {
        let query = DraftQuery {
            contact: Some(self.contact),
            member: self.step.member(),
            close_reason: self.step.reason(),
            ..DraftQuery::default()
        };
        store.draft_facts(self.company, &query).await
    }

    fn decide(&self, facts: DraftFacts, now: Timestamp) -> Result<Decided<()>, ManageError> {
        let stored = facts.contact.as_ref().ok_or(ManageError::NotFound)?;
        let mut problems = Problems::new();
        if self.step.member().is_some() && !facts.member {
            problems.add("member_id", "names a member that the company does not have");
        }
        if self.step.reason().is_some() && !facts.close_reason {
            problems.add("close_reason_id", "names a close reason that the company does not have");
        }
        problems.into_result()?;
        let act = self.step.at(now);
        let before = ConversationState::of(stored);
        let after = before.after(act);
        let contact = stored.changed(now, |contact| after.write_to(contact));
        let mut changes = ChangeSet::new();
        if contact != *stored.value() {
            changes = changes.with(stored.update(contact.clone()));
        }
        if before.announces_opt_out(&act) {
            let source = OptOutSource::Backfill;
            changes = changes.emit(contact_opted_out(self.event, &contact, None, source, now));
        }
        Ok(Decided::new(changes, ()))
    }
}

/// Marks everything a contact wrote as read (D44a).
#[derive(Clone, Copy, Debug)]
pub struct ReadConversation {
    company: CompanyId,
    contact: ContactId,
}

#[async_trait]
impl UseCase for ReadConversation {
    type Loaded = Option<ChannelContact>;
    type Output = ();
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let query = ChannelQuery { ids: vec![self.contact], ..ChannelQuery::default() };
        Ok(store.channel_contacts(self.company, &query).await?.pop())
    }

    fn decide(&self, found: Self::Loaded, now: Timestamp) -> Result<Decided<()>, ManageError> {
        let found = found.ok_or(ManageError::NotFound)?;
        let read = |contact: &mut Contact| contact.last_read_at = Some(now);
        let mut contact = found.contact.changed(now, read);
        contact.has_unread = false;
        let mut changes = ChangeSet::new();
        if contact != *found.contact.value() {
            changes = changes.with(found.contact.update(contact));
        }
        for conversation in found.conversations.iter().filter(|known| known.unread > 0) {
            let mut read = conversation.value().clone();
            read.unread = 0;
            changes = changes.with(conversation.update(read));
        }
        Ok(Decided::new(changes, ()))
    }
}

/// Marks what a contact wrote on one connection up to a message as read (X14).
#[derive(Clone, Copy, Debug)]
struct ReadUpTo<'a> {
    message: &'a Message,
}

#[async_trait]
impl UseCase for ReadUpTo<'_> {
    /// The contact, and how many of its messages came after the one that was read.
    type Loaded = (Option<ChannelContact>, u64);
    type Output = ();
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let Message { company, contact, connection, created_at, .. } = *self.message;
        let query = ChannelQuery { ids: vec![contact], ..ChannelQuery::default() };
        let found = store.channel_contacts(company, &query).await?.pop();
        let later = MessageFilter {
            contact: Some(contact),
            connection: Some(connection),
            direction: Some(Direction::Inbound),
            from: Some(created_at.plus(Duration::from_millis(1))),
            ..MessageFilter::default()
        };
        let page = store.message_page(company, &later, PageRequest::first(1)).await?;
        Ok((found, page.total))
    }

    fn decide(
        &self,
        (found, later): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<()>, ManageError> {
        let found = found.ok_or(ManageError::NotFound)?;
        let mut changes = ChangeSet::new();
        let mut unread = 0;
        for known in &found.conversations {
            let mut conversation = known.value().clone();
            if conversation.connection == self.message.connection {
                let later = u32::try_from(later).unwrap_or(u32::MAX);
                conversation.unread = conversation.unread.min(later);
            }
            unread += u64::from(conversation.unread);
            if conversation != *known.value() {
                changes = changes.with(known.update(conversation));
            }
        }
        let mut contact = found.contact.changed(now, |contact| contact.last_read_at = Some(now));
        contact.has_unread &= unread > 0;
        if contact != *found.contact.value() {
            changes = changes.with(found.contact.update(contact));
        }
        Ok(Decided::new(changes, ()))
    }
}

/// The use cases on conversations. Made by [`Recado::conversations`].
#[derive(Clone, Copy, Debug)]
pub struct Conversations<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Operators' actions on conversations.
    pub fn conversations(&self) -> Conversations<'_> {
        Conversations { app: self }
    }
}

impl Conversations<'_> {
    /// Marks a message, and what came before it on its connection, as read.
    ///
    /// # Errors
    ///
    /// Only of the store; a contact that is gone has nothing unread.
    pub(crate) async fn read_up_to(
        &self,
        company: CompanyId,
        message: &Message,
    ) -> Result<(), StoreError> {
        debug_assert_eq!(company, message.company);
        match self.app.run(&ReadUpTo { message }).await {
            Ok(()) | Err(Error::Rejected(_) | Error::Denied(_)) => Ok(()),
            Err(Error::Busy) => Err(StoreError::Unavailable(None)),
            Err(Error::Store(error)) => Err(error),
        }
    }

    /// How many messages the contact has written since an agent last replied or read (D44a).
    ///
    /// # Errors
    ///
    /// Only of the store; a contact that is gone has nothing unread.
    pub async fn unread(&self, company: CompanyId, contact: ContactId) -> Result<u64, StoreError> {
        let query = ChannelQuery { ids: vec![contact], ..ChannelQuery::default() };
        let found = self.app.store().channel_contacts(company, &query).await?;
        let known = found.iter().flat_map(|found| &found.conversations);
        Ok(known.map(|conversation| u64::from(conversation.unread)).sum())
    }

    /// Does an operator's action with the events it causes, in one commit. Idempotent except for
    /// the times it writes.
    ///
    /// # Errors
    ///
    /// [`ManageError::Invalid`], [`ManageError::NotFound`]; nothing was changed.
    pub async fn act(
        &self,
        company: CompanyId,
        contact: ContactId,
        action: ActionName,
        body: &Map<String, Value>,
    ) -> ManageResult<()> {
        let action = Action::parse(action, body).map_err(crate::manage::invalid)?;
        self.perform(company, contact, action).await
    }

    /// [`Conversations::act`] for a typed action.
    ///
    /// # Errors
    ///
    /// [`ManageError`](crate::ManageError); nothing was changed.
    pub async fn perform(
        &self,
        company: CompanyId,
        contact: ContactId,
        action: Action,
    ) -> ManageResult<()> {
        match action {
            Action::Read => self.app.run(&ReadConversation { company, contact }).await,
            Action::Move(step) => {
                let event = EventId::new(self.app.uuid(self.app.now()));
                self.app.run(&MoveConversation { company, contact, step, event }).await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(name: ActionName, body: Value) -> Vec<String> {
        let body = body.as_object().expect("an object");
        let problems = Action::parse(name, body).expect_err("not refused");
        problems.fields().map(str::to_owned).collect()
    }

    #[test]
    fn everything_that_is_wrong_with_a_backfill_is_named_at_once() {
        assert_eq!(faults(ActionName::OptOut, json!({})), ["source", "opted_out_at"]);
        let wrong = json!({"source": "me", "opted_out_at": "2026-01-01T00:00:00Z"});
        assert_eq!(faults(ActionName::OptOut, wrong), ["source"]);
        let wrong = json!({"source": "backfill", "opted_out_at": "then"});
        assert_eq!(faults(ActionName::OptOut, wrong), ["opted_out_at"]);
    }
}
