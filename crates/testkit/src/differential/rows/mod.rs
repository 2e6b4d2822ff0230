//! Single rows, written and read without the core: combinations that use cases rarely make.

mod accounts;
mod find;
mod make;
mod reach;
mod reach_make;
mod reads;
mod replace;
mod shown;
mod uploads;

use std::sync::Arc;
use std::time::Duration;

use recado_core::access::{Company, Features, Plan, TimeZone};
use recado_core::contacts::{Contact, Region};
use recado_core::ids::CompanyId;
use recado_core::store::{
    Change, ChangeSet, Collection, CommitError, Conflict, RecordsExt, Row, Store, Stored,
};
use recado_core::{Ids as _, Timestamp};
use serde_json::{Value, json};

use super::command::{Command, Verb};
use super::world::World;
use crate::{SeededIds, TestClock};
pub(super) use make::KINDS;
use make::Maker;
pub(super) use reach_make::REACH_KINDS;
use replace::replacing;

/// More rows than any contact has here.
const ALL: u32 = 10_000;

/// A company whose rows are written only here.
pub(super) struct CompanyRows {
    store: Arc<dyn Store>,
    company: CompanyId,
    ids: SeededIds,
}

/// The outcome of a commit. If there are several conflicts, each store may name another one.
fn outcome(outcome: Result<(), CommitError>) -> &'static str {
    match outcome {
        Ok(()) => "applied",
        Err(CommitError::Conflict(Conflict::Stale(_))) => "stale",
        Err(CommitError::Conflict(_)) => "conflict",
        Err(CommitError::Store(_)) => "failed",
    }
}

impl CompanyRows {
    pub(super) async fn start(store: Arc<dyn Store>) -> Self {
        let ids = SeededIds::new(11);
        let company = CompanyId::new(ids.uuid(TestClock::START));
        let row = Company {
            id: company,
            name: "Linhas".to_owned(),
            plan: Plan::Enterprise,
            features: Features::default(),
            default_region: Region::br(),
            time_zone: TimeZone::default(),
            erase_deleted_messages: false,
            created_at: TestClock::START,
            updated_at: TestClock::START,
            deleted_at: None,
        };
        store.commit(ChangeSet::new().insert(row)).await.expect("the store is empty");
        Self { store, company, ids }
    }

    /// Runs a command; answers its result as JSON.
    pub(super) async fn run(&self, command: &Command, world: &World, now: Timestamp) -> Value {
        let fresh = self.ids.uuid(now);
        let maker = Maker { command, world, company: self.company, now, fresh };
        let is_reach = matches!(
            command.verb,
            Verb::InsertReach
                | Verb::ChangeReach
                | Verb::DeleteReach
                | Verb::MoveReach
                | Verb::ReadReach
        );
        let kind = command.pick(0, if is_reach { REACH_KINDS } else { KINDS });
        match command.verb {
            Verb::InsertRow | Verb::InsertReach => {
                let outcome = self.try_apply(maker.change(kind)).await;
                json!({ "kind": kind, "id": fresh, "outcome": outcome })
            }
            Verb::ReadRows => json!({ "found": self.read(&maker).await }),
            Verb::ReadReach => json!({ "found": self.read_reach(&maker).await }),
            Verb::MoveRows | Verb::MoveReach => self.reassign(&maker).await,
            Verb::Claim => self.claim(&maker).await,
            _ => {
                let Some(found) = self.find(kind, &maker).await else {
                    return json!({ "kind": kind, "found": null });
                };
                let before = shown::stored(&found);
                let read = match command.once_in(60, 8) {
                    true => Stored::new(found.value().clone(), found.version().next()),
                    false => found,
                };
                let fixed = matches!(read.value(), Row::Alias(_) | Row::ListMember(_));
                // A recipient is only deleted with its campaign.
                let changes = matches!(command.verb, Verb::ChangeRow | Verb::ChangeReach)
                    || matches!(read.value(), Row::Recipient(_));
                let change = match changes && !fixed {
                    true => read.update(replacing(read.value(), maker.row(kind))),
                    false => read.delete(),
                };
                // Rows without a version cannot be stale.
                let outcome = match fixed && command.once_in(60, 8) {
                    true => "skipped",
                    false => self.try_apply_all(preceding(command, &read, now).with(change)).await,
                };
                let after = self.find(kind, &maker).await;
                let after = after.as_ref().map(shown::stored);
                json!({ "kind": kind, "found": before, "outcome": outcome, "after": after })
            }
        }
    }

    /// Reassigns the rows of one contact to another, which sometimes does not exist. Sometimes the
    /// first contact is deleted in the same set.
    async fn reassign(&self, maker: &Maker<'_>) -> Value {
        let (from, into) = (maker.contact_id(1), maker.contact_id(2));
        if from == into {
            return json!({ "outcome": "skipped" });
        }
        let mut changes = ChangeSet::new();
        // A part that is all of it: which rows a smaller one takes, each store chooses.
        if maker.command.once_in(4, 2) {
            changes = changes.with(Change::reassign_some(self.company, from, into, ALL));
        }
        changes = changes.with(Change::reassign(self.company, from, into));
        let given = self.store.get::<Contact>((self.company, from)).await.expect("works");
        if let Some(given) = given.filter(|_| maker.command.once_in(3, 4)) {
            changes = changes.with(given.delete());
        }
        json!({ "outcome": outcome(self.store.commit(changes).await) })
    }

    async fn try_apply(&self, change: Change) -> &'static str {
        self.try_apply_all(ChangeSet::new().with(change)).await
    }

    async fn try_apply_all(&self, changes: ChangeSet) -> &'static str {
        outcome(self.store.commit(changes).await)
    }
}

/// Sometimes keeps the ids of a contact's messages as forgotten before the contact is written, or
/// removes rows of a list, a tag or a campaign before it is.
fn preceding(command: &Command, read: &Stored<Row>, now: Timestamp) -> ChangeSet {
    match read.value() {
        Row::Contact(contact) if command.once_in(61, 2) => {
            let until = now.plus(Duration::from_secs(1 + command.number(62) as u64 % 4));
            let (company, contact) = (contact.company, contact.id);
            match command.once_in(63, 2) {
                true => ChangeSet::new().with(Change::remove_some(company, contact, until, ALL)),
                false => ChangeSet::new().with(Change::forget_messages(company, contact, until)),
            }
        }
        Row::List(list) if command.once_in(61, 2) => {
            ChangeSet::new().with(Change::remove_rows(list.company, Collection::List(list.id), ALL))
        }
        Row::Tag(tag) if command.once_in(61, 2) => {
            ChangeSet::new().with(Change::remove_rows(tag.company, Collection::Tag(tag.id), ALL))
        }
        Row::Campaign(campaign) if command.once_in(61, 2) => {
            let (most, of) = (command.number(62) as u32 % 3, Collection::Campaign(campaign.id));
            ChangeSet::new().with(Change::remove_rows(campaign.company, of, most))
        }
        _ => ChangeSet::new(),
    }
}
