//! Parts of long merges and deletions.

use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ContactId, MessageId};
use recado_core::prosas::LedgerLine;
use recado_core::store::{Collection, Conflict, ManyRows, Row, RowKey, RowKind};

use super::State;
use super::reassign::{Move, moved};
use super::rows::VersionedRow;

/// Events that get another contact when the commit succeeds.
#[derive(Debug)]
pub(super) struct MovingEvents {
    pub(super) company: CompanyId,
    pub(super) from: ContactId,
    pub(super) into: ContactId,
    pub(super) most: usize,
}

/// The rows that were stored first, at most `most`.
fn oldest<T>(rows: impl Iterator<Item = (VersionedRow, T)>, most: usize) -> Vec<(VersionedRow, T)> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|(entry, _)| entry.sequence);
    rows.truncate(most);
    rows
}

impl State {
    /// Moves at most `most` messages, ledger lines and events of `from` to `into`.
    pub(super) fn reassign_some(
        &mut self,
        company: CompanyId,
        from: ContactId,
        into: ContactId,
        most: usize,
    ) -> Result<(), Conflict> {
        if from == into {
            return Ok(());
        }
        let moving = |kind: RowKind| -> Vec<(VersionedRow, Move)> {
            let entries = self.rows.entries(kind);
            let moved = entries
                .filter_map(|entry| Some((entry.clone(), moved(&entry.row, company, from, into)?)));
            oldest(moved, most)
        };
        let moving: Vec<_> =
            moving(RowKind::Message).into_iter().chain(moving(RowKind::LedgerLine)).collect();
        let has_events = self.has_many(company, from, 0).events && most > 0;
        let is_there = self.rows.entry(&RowKey::Contact { company, id: into }).is_some();
        if !is_there && (!moving.is_empty() || has_events) {
            return Err(Conflict::Reference);
        }
        for (before, after) in moving {
            self.move_one(before, after);
        }
        self.moving_events.push(MovingEvents { company, from, into, most });
        Ok(())
    }

    /// Changes the contact of the events that existed before this commit.
    pub(super) fn move_events(&mut self) {
        for MovingEvents { company, from, into, most } in std::mem::take(&mut self.moving_events) {
            for is_erased in [false, true] {
                let moving = self.events.iter_mut().filter(|event| {
                    let record = &event.record;
                    (record.company, record.contact) == (company, Some(from))
                        && record.data.is_none() == is_erased
                });
                for event in moving.take(most) {
                    event.record.contact = Some(into);
                }
            }
        }
    }

    /// Deletes at most `most` messages of a contact with traces of their ids, and takes it out of
    /// at most `most` ledger lines.
    pub(super) fn remove_some(
        &mut self,
        company: CompanyId,
        contact: ContactId,
        expires_at: Timestamp,
        most: usize,
    ) -> Result<(), Conflict> {
        let messages = self.rows.entries(RowKind::Message).filter_map(|entry| match &entry.row {
            Row::Message(own) if (own.company, own.contact) == (company, contact) => {
                Some((entry.clone(), own.id))
            }
            _ => None,
        });
        let going: Vec<MessageId> =
            oldest(messages, most).into_iter().map(|(_, message)| message).collect();
        self.forget_messages(company, contact, expires_at, |message| going.contains(&message.id));
        for id in going {
            self.delete(RowKey::Message { company, id })?;
        }
        let lines = self.rows.entries(RowKind::LedgerLine).filter_map(|entry| match &entry.row {
            Row::LedgerLine(own) if (own.company, own.contact) == (company, Some(contact)) => {
                Some((entry.clone(), own.clone()))
            }
            _ => None,
        });
        for (entry, line) in oldest(lines, most) {
            let row = Row::from(LedgerLine { contact: None, description: None, ..line });
            self.rows.set(row.key(), Some(VersionedRow { row, ..entry }));
        }
        Ok(())
    }

    /// Deletes at most `most` rows of a list, a tag or a campaign; of a campaign the last ones.
    pub(super) fn remove_rows(
        &mut self,
        company: CompanyId,
        of: Collection,
        most: usize,
    ) -> Result<(), Conflict> {
        let place = |row: &Row| match (row, of) {
            (Row::ListMember(own), Collection::List(list)) => {
                ((own.company, own.list) == (company, list)).then_some(0)
            }
            (Row::ContactTag(own), Collection::Tag(tag)) => {
                ((own.company, own.tag) == (company, tag)).then_some(0)
            }
            (Row::Recipient(own), Collection::Campaign(campaign)) => {
                ((own.company, own.campaign) == (company, campaign)).then_some(own.number.0)
            }
            _ => None,
        };
        let kind = match of {
            Collection::List(_) => RowKind::ListMember,
            Collection::Tag(_) => RowKind::ContactTag,
            Collection::Campaign(_) => RowKind::Recipient,
        };
        let entries = self.rows.entries(kind);
        let mut going: Vec<_> = entries
            .filter_map(|entry| Some((std::cmp::Reverse(place(&entry.row)?), entry.row.key())))
            .collect();
        going.sort_by_key(|(place, _)| *place);
        going.into_iter().take(most).try_for_each(|(_, key)| self.delete(key))
    }

    /// Of which kinds a contact has more than `than` rows.
    pub(super) fn has_many(&self, company: CompanyId, contact: ContactId, than: usize) -> ManyRows {
        let rows = |kind| self.referring_to(company, kind, contact).len() > than;
        let events = |is_erased: bool| {
            let about = self.events.iter().filter(|event| {
                let record = &event.record;
                (record.company, record.contact) == (company, Some(contact))
                    && record.data.is_none() == is_erased
            });
            about.count() > than
        };
        ManyRows {
            messages: rows(RowKind::Message),
            ledger_lines: rows(RowKind::LedgerLine),
            events: events(false) || events(true),
        }
    }
}
