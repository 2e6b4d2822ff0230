//! The only way to commit: it adds the deliveries of a change set's events (6.1, D52, D52a) and
//! notifies the delivery workers.
//!
//! No other code has the store's [`Commit`](crate::store::Commit), so that nothing can be written
//! in another way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::Timestamp;
use crate::audit::{Acting, entry_of};
use crate::deliveries::{
    Delivery, DueReads, FanOut, KnownRoutes, QueueKey, Signals, Touch, fan_out, touched,
};
use crate::events::Outbox;
use crate::idempotency::CallState;
use crate::ids::{AuditEntryId, CompanyId, DeliveryId, Ids};
use crate::store::{
    Change, ChangeKind, ChangeSet, Claims, CommitError, Conflict, Precondition, Reads, RecordsExt,
    Row, RowKey, RowKind, Store, StoreError, Upkeep,
};
use crate::webhooks::Routes;

/// The database: its reads are public, and [`Database::commit`] writes.
pub(crate) struct Database {
    store: Arc<dyn Store>,
    /// In place of the store's own (R463).
    signals: Option<Arc<dyn Signals>>,
    ids: Arc<dyn Ids>,
    fan_out: FanOut,
    /// Whether nothing is written (R286).
    is_rehearsal: bool,
}

impl Database {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        signals: Option<Arc<dyn Signals>>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        Self { store, signals, ids, fan_out: FanOut::default(), is_rehearsal: false }
    }

    /// The same database, to which nothing is written (R286).
    pub(crate) fn rehearsal(&self) -> Self {
        let (store, ids) = (Arc::clone(&self.store), Arc::clone(&self.ids));
        Self { is_rehearsal: true, ..Self::new(store, self.signals.clone(), ids) }
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    pub(crate) fn reads(&self) -> &dyn Reads {
        &*self.store
    }

    pub(crate) fn upkeep(&self) -> &dyn Upkeep {
        &*self.store
    }

    pub(crate) fn claims(&self) -> &dyn Claims {
        &*self.store
    }

    pub(crate) fn due(&self) -> &dyn DueReads {
        &*self.store
    }

    pub(crate) fn outbox(&self) -> &dyn Outbox {
        &*self.store
    }

    /// The notifications between processes: the store's own, unless others were given.
    ///
    /// R463.
    pub(crate) fn signals(&self) -> &dyn Signals {
        match &self.signals {
            Some(signals) => &**signals,
            None => &*self.store,
        }
    }

    /// The signals that were given in place of the store's own.
    pub(crate) fn given_signals(&self) -> Option<Arc<dyn Signals>> {
        self.signals.clone()
    }

    pub(crate) fn fan_out(&self) -> &FanOut {
        &self.fan_out
    }

    /// Commits a change set with the deliveries of its events (D52), and the entry of the audit
    /// log, in the name of who acts (R384).
    ///
    /// # Errors
    ///
    /// As [`Commit::commit`](crate::store::Commit::commit), and [`StoreError::Closed`] while the
    /// installation, or a company that the set writes for, is closed (D76). A concurrent change of
    /// a webhook is a conflict: decide again.
    pub(crate) async fn commit(
        &self,
        mut changes: ChangeSet,
        acting: &Acting,
        now: Timestamp,
    ) -> Result<(), CommitError> {
        if self.is_rehearsal {
            return Ok(());
        }
        // Before deliveries are added, which follow from the changes.
        let id = || AuditEntryId::new(self.ids.uuid(now));
        if let Some(entry) = entry_of(&changes, acting, now, id) {
            changes = changes.insert(entry);
        }
        let companies: BTreeSet<CompanyId> = changes
            .events
            .iter()
            .filter(|event| event.event_type.is_public())
            .map(|event| event.company)
            .collect();
        for company in companies {
            let known = self.routes(company).await?;
            let read_at = known.as_ref().map(|(version, _)| *version);
            changes.requires.push(Precondition::Routed { company, read_at });
            let Some((_, routes)) = known else { continue };
            let events = changes.events.iter().filter(|event| event.company == company);
            let id = |at| DeliveryId::new(self.ids.uuid(at));
            let made: Vec<Delivery> =
                events.flat_map(|event| fan_out(event, &routes, || id(event.at))).collect();
            changes.changes.extend(made.into_iter().map(Change::insert));
        }
        let touched = touched(&changes.changes);
        let committed = self.commit_unnotified(changes, acting).await;
        match &committed {
            // The changes may have been written.
            Ok(()) | Err(CommitError::Store(_)) => self.notify(&touched),
            Err(CommitError::Conflict(Conflict::Stale(RowKey::Routes { company }))) => {
                self.fan_out.forget(*company);
            }
            Err(CommitError::Conflict(_)) => {}
        }
        committed
    }

    /// Commits what a delivery worker recorded in its own queues: no other process has to be
    /// notified.
    ///
    /// # Errors
    ///
    /// As [`Commit::commit`](crate::store::Commit::commit).
    pub(crate) async fn commit_unnotified(
        &self,
        mut changes: ChangeSet,
        _acting: &Acting,
    ) -> Result<(), CommitError> {
        if self.is_rehearsal {
            return Ok(());
        }
        if let Some(companies) = written_companies(&changes) {
            changes.requires.push(Precondition::Open { companies });
        }
        match self.store.commit(changes).await {
            Err(CommitError::Conflict(Conflict::Closed)) => Err(StoreError::Closed.into()),
            committed => committed,
        }
    }

    async fn routes(&self, company: CompanyId) -> Result<KnownRoutes, StoreError> {
        if let Some(known) = self.fan_out.known(company) {
            return Ok(known);
        }
        let read = self.store.get::<Routes>(company).await?;
        let known = read.map(|stored| (stored.version(), Arc::new(stored.into_value())));
        self.fan_out.remember(company, known.clone());
        Ok(known)
    }

    /// Notifies the delivery workers of these queues.
    fn notify(&self, queues: &BTreeMap<QueueKey, Touch>) {
        if queues.is_empty() {
            return;
        }
        self.fan_out.notify(queues);
        let queues = self.fan_out.of_others(queues);
        if !queues.is_empty() {
            self.signals().notify(&queues);
        }
    }
}

/// Whether a change writes what belongs to running processes, or a halt. So does the end of a
/// remembered call, which its process has begun before the closure: otherwise nobody would know
/// what became of the call (R262).
fn is_of_process(change: &Change, key: &RowKey) -> bool {
    match change.kind() {
        ChangeKind::Update { row: Row::RememberedCall(call), .. } => {
            matches!(call.state, CallState::Answered { .. })
        }
        ChangeKind::Delete { key: RowKey::RememberedCall { .. }, .. } => true,
        _ => matches!(key.kind(), RowKind::Worker | RowKind::Shard | RowKind::Halt),
    }
}

/// The companies that a change set writes for, each once; none where it writes only for the
/// installation. `None` for a set that a closed installation takes as well (D76): one that writes
/// only what belongs to running processes, and halts themselves.
fn written_companies(changes: &ChangeSet) -> Option<Vec<CompanyId>> {
    let mut companies = BTreeSet::new();
    let mut only_of_processes = changes.events.is_empty();
    for change in &changes.changes {
        let key = match change.kind() {
            ChangeKind::Insert(row) | ChangeKind::Update { row, .. } => row.key(),
            ChangeKind::Delete { key, .. } => key.clone(),
            ChangeKind::Enroll { company, .. }
            | ChangeKind::Reassign { company, .. }
            | ChangeKind::ForgetMessages { company, .. }
            | ChangeKind::ReassignSome { company, .. }
            | ChangeKind::RemoveSome { company, .. }
            | ChangeKind::RemoveRows { company, .. } => {
                companies.insert(*company);
                only_of_processes = false;
                continue;
            }
        };
        // The entry of a change is written where the change is (R384); what removes entries is
        // itself the change (R389).
        let is_entry = matches!(change.kind(), ChangeKind::Insert(Row::AuditEntry(_)));
        if !is_entry || changes.changes.len() == 1 {
            only_of_processes &= is_of_process(change, &key);
        }
        companies.extend(key.company());
    }
    companies.extend(changes.events.iter().map(|event| event.company));
    (!only_of_processes).then(|| companies.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::audit::{AuditEntry, RecordRefs};
    use crate::deliveries::{Shard, ShardNumber};
    use crate::halts::{Halt, HaltSubject, Whereabouts};
    use crate::idempotency::{CallKey, RememberedCall};
    use crate::ids::{CampaignId, ListId, TagId, WorkerId};
    use crate::store::{Stored, Version};
    use crate::tags::Tag;

    fn company(n: u128) -> CompanyId {
        CompanyId::new(Uuid::from_u128(n))
    }

    fn tag(n: u128) -> Tag {
        Tag {
            id: TagId::new(Uuid::from_u128(n)),
            company: company(n),
            name: "VIP".to_owned(),
            color: "#000000".to_owned(),
            created_at: Timestamp::MIN,
        }
    }

    /// D76.
    #[test]
    fn a_closed_installation_takes_only_what_belongs_to_processes_and_halts() {
        let shard = Shard { number: ShardNumber::new(1).expect("a shard"), owner: None };
        let subject = HaltSubject::WritingOf(company(1));
        let halt =
            Halt { subject, reason: None, since: Timestamp::MIN, whereabouts: Whereabouts::Here };
        let of_processes = ChangeSet::new().insert(shard).insert(halt);
        assert_eq!(written_companies(&of_processes), None);
        let both = of_processes.insert(tag(2)).insert(tag(1)).insert(tag(2));
        assert_eq!(written_companies(&both), Some(vec![company(1), company(2)]));
        let (campaign, list) = (CampaignId::new(Uuid::nil()), ListId::new(Uuid::nil()));
        let enrolls = ChangeSet::new().with(Change::enroll(company(3), campaign, list));
        assert_eq!(written_companies(&enrolls), Some(vec![company(3)]));
    }

    /// R384, R389.
    #[test]
    fn a_closed_installation_takes_the_entry_of_a_halt_and_removes_no_entries() {
        let entry = |n| {
            let id = AuditEntryId::new(Uuid::from_u128(n));
            let acting = Acting::program("company close");
            AuditEntry::new(id, Timestamp::MIN, &acting, None, RecordRefs::default())
        };
        let subject = HaltSubject::WritingOf(company(1));
        let halt =
            Halt { subject, reason: None, since: Timestamp::MIN, whereabouts: Whereabouts::Here };
        let halted = ChangeSet::new().insert(halt).insert(entry(1));
        assert_eq!(written_companies(&halted), None);
        assert_eq!(written_companies(&ChangeSet::new().insert(entry(1))), Some(Vec::new()));
        let swept = [1, 2].map(|n| Stored::new(entry(n), Version::FIRST).delete());
        let swept = swept.into_iter().fold(ChangeSet::new(), ChangeSet::with);
        assert_eq!(written_companies(&swept), Some(Vec::new()));
    }

    /// R262.
    #[test]
    fn a_closed_installation_lets_calls_end_and_none_begin() {
        let call = |state| RememberedCall {
            company: company(1),
            key: CallKey::parse("POST /contacts", "a").expect("a key"),
            body_hash: [0; 32],
            state,
            contact: None,
            expires_at: Timestamp::MIN,
        };
        let begun = call(CallState::InFlight { worker: WorkerId::new(Uuid::nil()) });
        let answered = call(CallState::Answered { answer: "{}".to_owned() });
        let stored = Stored::new(begun.clone(), Version::FIRST);
        let set = |change| ChangeSet::new().with(change);
        assert_eq!(written_companies(&set(stored.update(answered))), None);
        assert_eq!(written_companies(&set(stored.delete())), None);
        let one = Some(vec![company(1)]);
        assert_eq!(written_companies(&set(stored.update(begun.clone()))), one);
        assert_eq!(written_companies(&set(Change::insert(begun))), one);
    }
}
