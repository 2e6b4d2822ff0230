//! Reads of messages and of the ledger.

use std::cmp::Reverse;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::contacts::Contact;
use recado_core::ids::{CompanyId, ConnectionId, MessageId, WorkerId};
use recado_core::messages::{
    ContactBrief, Message, MessageFilter, MessageReads, MessageRecord, MessageRef, MessageStatus,
    ProviderMessageId, RefTarget, Referred, is_left_sent,
};
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::{
    LedgerFilter, LedgerLine, LedgerPage, LedgerReads, LedgerSpan, LedgerTotals, LineKind,
    SpanTotals,
};
use recado_core::store::{RowKey, StoreError, Stored};
use recado_core::workers::Worker;

use super::{MemoryStore, State};

/// Whether a message passes a filter.
fn passes(message: &Message, filter: &MessageFilter) -> bool {
    filter.contact.is_none_or(|contact| message.contact == contact)
        && filter.connection.is_none_or(|connection| message.connection == connection)
        && filter.direction.is_none_or(|direction| message.direction == direction)
        && filter.message_type.is_none_or(|kind| message.message_type == kind)
        && filter.status.is_none_or(|status| message.status == status)
        && filter.quoting.is_none_or(|quoted| message.quoted.message == Some(quoted))
        && filter.from.is_none_or(|from| message.created_at >= from)
        && filter.to.is_none_or(|to| message.created_at <= to)
        && filter.search.as_ref().is_none_or(|search| search.matches(&message.search_text()))
}

/// One page of a list.
pub(super) fn page_of<T>(all: Vec<T>, page: PageRequest) -> Page<T> {
    let total = all.len() as u64;
    let before = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    Page { items: all.into_iter().skip(before).take(page.limit as usize).collect(), total }
}

impl State {
    fn brief(&self, message: &Message) -> Option<ContactBrief> {
        let key = RowKey::Contact { company: message.company, id: message.contact };
        let contact = self.rows.get::<Contact>(&key)?;
        Some(ContactBrief {
            id: contact.id,
            phone: contact.shown_phone().to_owned(),
            name: contact.name.clone(),
            display_name: contact.display_name.clone(),
            source_platform: contact.source_platform.as_str().to_owned(),
        })
    }

    /// Whether the process that sends a message has a lease that has not expired.
    fn is_being_sent(&self, message: &Message, now: Timestamp) -> bool {
        let worker = message.sender.and_then(|id| self.rows.get::<Worker>(&RowKey::Worker { id }));
        worker.is_some_and(|worker| worker.leased_until > now)
    }

    /// Whether a message stays at `sent` without a later report.
    pub(super) fn is_left_sent(&self, message: &Message) -> bool {
        let company = message.company;
        let contact = RowKey::Contact { company, id: message.contact };
        let connection = RowKey::Connection { company, id: message.connection };
        let contact = self.rows.get::<Contact>(&contact);
        let connection = self.rows.get::<Connection>(&connection);
        contact
            .zip(connection)
            .is_some_and(|(contact, connection)| is_left_sent(message, &contact, &connection))
    }

    /// Up to `limit` messages being sent that fulfil a condition.
    fn pending(&self, limit: u32, wanted: impl Fn(&Message) -> bool) -> Vec<Stored<Message>> {
        let messages = self.rows.all_stored::<Message>();
        let pending = messages.filter(|m| m.status == MessageStatus::Pending && m.sender.is_some());
        pending.filter(|message| wanted(message)).take(limit as usize).collect()
    }
}

#[async_trait]
impl MessageReads for MemoryStore {
    async fn messages(
        &self,
        company: CompanyId,
        ids: &[MessageId],
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let state = self.state();
        let messages = state.rows.all_stored::<Message>();
        Ok(messages.filter(|m| m.company == company && ids.contains(&m.id)).collect())
    }

    async fn referred(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        ids: &[ProviderMessageId],
    ) -> Result<Vec<Referred>, StoreError> {
        let state = self.state();
        let references = state.rows.all_stored::<MessageRef>().filter(|reference| {
            reference.company == company
                && reference.connection == connection
                && ids.contains(&reference.provider_id)
        });
        Ok(references
            .map(|reference| {
                let message = match &reference.target {
                    RefTarget::Message(id) => state.rows.get(&RowKey::Message { company, id: *id }),
                    RefTarget::Early { .. } | RefTarget::Forgotten { .. } => None,
                };
                Referred { reference, message }
            })
            .collect())
    }

    async fn message_page(
        &self,
        company: CompanyId,
        filter: &MessageFilter,
        page: PageRequest,
    ) -> Result<Page<MessageRecord>, StoreError> {
        let state = self.state();
        let messages = state.sorted(
            |message: &Message| message.company == company && passes(message, filter),
            |message| Reverse((message.created_at, message.id)),
        );
        let Page { items, total } = page_of(messages, page);
        let record = |message: Message| {
            state.brief(&message).map(|contact| MessageRecord { message, contact })
        };
        Ok(Page { items: items.into_iter().filter_map(record).collect(), total })
    }

    async fn abandoned_messages(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let state = self.state();
        Ok(state.pending(limit, |message| !state.is_being_sent(message, now)))
    }

    async fn messages_in_flight(
        &self,
        sender: WorkerId,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        Ok(self.state().pending(limit, |message| message.sender == Some(sender)))
    }
}

#[async_trait]
impl LedgerReads for MemoryStore {
    async fn ledger_page(
        &self,
        company: CompanyId,
        filter: &LedgerFilter,
        page: PageRequest,
    ) -> Result<LedgerPage, StoreError> {
        let passes = |line: &LedgerLine| {
            line.company == company
                && filter.from.is_none_or(|from| line.created_at >= from)
                && filter.to.is_none_or(|to| line.created_at <= to)
                && filter.kind.is_none_or(|kind| line.kind == kind)
        };
        let lines = self.state().sorted(passes, |line| Reverse((line.created_at, line.id)));
        let prosas = lines.iter().map(|line| line.prosas).sum();
        let cost = lines.iter().map(|line| line.cost).sum();
        Ok(LedgerPage { page: page_of(lines, page), prosas, cost })
    }

    async fn ledger_totals(
        &self,
        company: CompanyId,
        spans: &[LedgerSpan],
    ) -> Result<Vec<SpanTotals>, StoreError> {
        let state = self.state();
        let of = |span: &LedgerSpan, kind: LineKind| {
            let lines: Vec<&LedgerLine> = state
                .rows
                .all::<LedgerLine>()
                .filter(|line| {
                    line.company == company
                        && line.kind == kind
                        && (span.from..=span.to).contains(&line.created_at)
                })
                .collect();
            LedgerTotals {
                prosas: lines.iter().map(|line| line.prosas).sum(),
                cost_brl: lines.iter().map(|line| line.cost).sum(),
            }
        };
        let totals = |span| SpanTotals {
            debits: of(span, LineKind::Debit),
            refunds: of(span, LineKind::Refund),
        };
        Ok(spans.iter().map(totals).collect())
    }
}
