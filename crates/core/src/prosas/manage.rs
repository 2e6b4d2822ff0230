//! Booking debits and refunds.

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::handle::ProsaLedger;
use super::{
    Brl, DebitDraft, LedgerLine, LedgerLineView, LineKind, Prosas, RefundDraft, Spent, debit_line,
    give_back, why_not_covered,
};
use crate::Timestamp;
use crate::body::IntoBody;
use crate::code::Code;
use crate::contacts::Contact;
use crate::error::{Error, Rejection, object};
use crate::ids::{CompanyId, ContactId, LedgerLineId};
use crate::manage::{ManageError, ManageResult, invalid};
use crate::messages::Message;
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;

/// Books a debit and puts it on every message it covers, in one commit.
#[derive(Clone, Debug)]
pub struct BookDebit {
    company: CompanyId,
    id: LedgerLineId,
    draft: DebitDraft,
}

#[async_trait]
impl UseCase for BookDebit {
    type Loaded = (Vec<Stored<Message>>, Option<Stored<Contact>>);
    type Output = LedgerLine;
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let mut messages = match self.draft.messages.as_slice() {
            [] => Vec::new(),
            ids => store.messages(self.company, ids).await?,
        };
        // Stores return the messages in any order; a refusal must not depend on it.
        messages.sort_by_key(|message| message.id);
        let contact = match self.draft.contact {
            None => None,
            Some(id) => store.get::<Contact>((self.company, id)).await?,
        };
        Ok((messages, contact))
    }

    fn decide(
        &self,
        (messages, contact): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<LedgerLine>, ManageError> {
        let mut problems = Problems::new();
        if self.draft.contact.is_some() && contact.is_none() {
            problems.add("contact_id", "names a contact that the company does not have");
        }
        if messages.len() < self.draft.messages.len() {
            problems.add("message_ids", "names a message that the company does not have");
        }
        if let Some(reason) = messages.iter().find_map(|message| why_not_covered(message)) {
            problems.add("message_ids", reason);
        }
        let of_messages = messages.first().map(|message| message.contact);
        if messages.iter().any(|message| Some(message.contact) != of_messages) {
            problems.add("message_ids", "names messages of several contacts");
        }
        if let (Some(given), Some(derived)) = (self.draft.contact, of_messages)
            && given != derived
        {
            problems.add("contact_id", "is not the contact of the messages");
        }
        problems.into_result()?;
        let line = debit_line(self.id, self.spent(of_messages), now);
        let mut changes = ChangeSet::new().insert(line.clone());
        for message in &messages {
            let covered = Message { prosa: Some(line.prosa()), ..message.value().clone() };
            changes = changes.with(message.update(covered));
        }
        Ok(Decided::new(changes, line))
    }
}

impl BookDebit {
    fn spent(&self, of_messages: Option<ContactId>) -> Spent {
        Spent {
            company: self.company,
            scope: self.draft.scope,
            prosas: self.draft.prosas,
            cost: self.draft.cost,
            contact: self.draft.contact.or(of_messages),
            campaign: None,
            description: self.draft.description.clone(),
        }
    }
}

/// Why a refund was not booked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefundError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such debit in the company.
    #[error("no such debit")]
    NotFound,
    /// More than what is left of the debit.
    #[error("the refund exceeds what is left of the debit")]
    ExceedsDebit {
        /// The prosas that are left.
        prosas: Prosas,
        /// The money that is left.
        cost: Brl,
    },
}

impl Rejection for RefundError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound => Code::NotFound,
            Self::ExceedsDebit { .. } => Code::RefundExceedsDebit,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::NotFound => None,
            Self::ExceedsDebit { prosas, cost } => {
                Some(object([("refundable", json!({ "prosas": prosas, "cost_brl": cost }))]))
            }
        }
    }
}

/// Books a refund.
#[derive(Clone, Debug)]
pub struct BookRefund {
    company: CompanyId,
    id: LedgerLineId,
    draft: RefundDraft,
}

#[async_trait]
impl UseCase for BookRefund {
    type Loaded = Option<Stored<LedgerLine>>;
    type Output = LedgerLine;
    type Error = RefundError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        store.get::<LedgerLine>((self.company, self.draft.debit)).await
    }

    fn decide(
        &self,
        debit: Option<Stored<LedgerLine>>,
        now: Timestamp,
    ) -> Result<Decided<LedgerLine>, RefundError> {
        let debit = debit.filter(|line| line.kind == LineKind::Debit);
        let debit = debit.ok_or(RefundError::NotFound)?;
        let Some((changed, line)) = give_back(self.id, &debit, self.draft.back(), now) else {
            let (prosas, cost) = debit.refundable();
            return Err(RefundError::ExceedsDebit { prosas, cost });
        };
        let changes = ChangeSet::new().with(debit.update(changed)).insert(line.clone());
        Ok(Decided::new(changes, line))
    }
}

impl ProsaLedger<'_> {
    /// Books a debit and sets it on the messages that it names, in one commit.
    ///
    /// # Errors
    ///
    /// What is wrong with the body: also when a message has a debit already, is inbound, an
    /// operator's or a campaign's, or when they are of several contacts (D32).
    pub async fn debit(
        &self,
        company: CompanyId,
        body: impl IntoBody<DebitDraft>,
    ) -> ManageResult<LedgerLineView> {
        let draft = DebitDraft::parse(body).map_err(invalid)?;
        let id = self.new_line();
        let line = self.app.run(&BookDebit { company, id, draft }).await?;
        Ok(LedgerLineView::new(&line))
    }

    /// Books a refund of a debit. Atomic; all refunds of a debit together never exceed it.
    ///
    /// # Errors
    ///
    /// [`RefundError`]; nothing was booked.
    pub async fn refund(
        &self,
        company: CompanyId,
        body: impl IntoBody<RefundDraft>,
    ) -> Result<LedgerLineView, Error<RefundError>> {
        let draft =
            RefundDraft::parse(body).map_err(|problems| Error::Rejected(problems.into()))?;
        let id = self.new_line();
        let line = self.app.run(&BookRefund { company, id, draft }).await?;
        Ok(LedgerLineView::new(&line))
    }

    fn new_line(&self) -> LedgerLineId {
        LedgerLineId::new(self.app.uuid(self.app.now()))
    }
}
