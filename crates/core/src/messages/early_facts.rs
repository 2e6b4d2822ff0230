//! What is read to give a message what was reported before it (D28, X5).

use super::{Early, Message, RefTarget, Referred, naming};
use crate::Timestamp;
use crate::access::Company;
use crate::ids::CompanyId;
use crate::store::{Change, Reads, RecordsExt, StoreError, Stored};

/// What was reported of a message before it was known, with the messages that named it.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlyFacts {
    early: Option<(Early, Timestamp)>,
    named_by: Vec<Stored<Message>>,
    /// Whether the company erases what senders delete; read only where this one was deleted.
    erases: bool,
}

impl EarlyFacts {
    /// Reads what belongs to a reference; nothing, where nothing came before.
    pub(crate) async fn load(
        store: &dyn Reads,
        company: CompanyId,
        referred: Option<&Referred>,
    ) -> Result<Self, StoreError> {
        let target = referred.map(|referred| &referred.reference.target);
        let Some(RefTarget::Early { early, expires_at }) = target else {
            return Ok(Self::default());
        };
        let named_by = match early.named_by.as_slice() {
            [] => Vec::new(),
            named_by => store.messages(company, named_by).await?,
        };
        let erases = early.deleted_at.is_some()
            && store.get::<Company>(company).await?.is_some_and(|it| it.erase_deleted_messages);
        Ok(Self { early: Some((early.clone(), *expires_at)), named_by, erases })
    }

    /// What was reported, unless that has expired.
    pub(crate) fn early(&self, now: Timestamp) -> Option<&Early> {
        self.early.as_ref().filter(|(_, expires_at)| *expires_at > now).map(|(early, _)| early)
    }

    /// The message with the edit, the votes and the deletion that came before it.
    pub(crate) fn applied(&self, message: Message, now: Timestamp) -> Message {
        let named = self.named_by.iter().map(Stored::value);
        match self.early(now) {
            Some(early) => early.applied(message, named, self.erases),
            None => message,
        }
    }

    /// The messages that named it, which refer to it from now on.
    pub(crate) fn changes(&self, message: &Message, now: Timestamp) -> Vec<Change> {
        let named = self.named_by.iter().filter(|_| self.early(now).is_some());
        named.map(|stored| stored.update(naming(stored, message))).collect()
    }
}
