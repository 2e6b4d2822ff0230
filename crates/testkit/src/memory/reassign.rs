//! Reassigns the rows of one contact to another.

use recado_core::campaigns::Recipient;
use recado_core::contacts::{Stays, recipient_that_stays, window_that_stays};
use recado_core::dispatches::DispatchWindow;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{Conflict, Row, RowKey};

use super::State;
use super::portions::MovingEvents;
use super::rows::VersionedRow;

/// How a row of the contact `from` changes.
pub(super) enum Move {
    /// The new row, with the next version.
    Next(Row),
    /// The new row, of a kind without versions.
    Silent(Row),
}

/// The row with the other contact, if it is of a kind that moves.
pub(super) fn moved(
    row: &Row,
    company: CompanyId,
    from: ContactId,
    into: ContactId,
) -> Option<Move> {
    let of = |own: CompanyId, contact: ContactId| own == company && contact == from;
    match row.clone() {
        Row::Message(mut message) if of(message.company, message.contact) => {
            message.contact = into;
            Some(Move::Next(message.into()))
        }
        Row::Deal(mut deal) if of(deal.company, deal.contact_id) => {
            deal.contact_id = into;
            Some(Move::Next(deal.into()))
        }
        Row::Document(mut document) if of(document.company, document.contact_id) => {
            document.contact_id = into;
            Some(Move::Next(document.into()))
        }
        Row::Link(mut link) if of(link.company, link.contact) => {
            link.contact = into;
            Some(Move::Next(link.into()))
        }
        Row::DispatchWindow(mut window) if of(window.company, window.contact) => {
            window.contact = into;
            Some(Move::Next(window.into()))
        }
        Row::LedgerLine(mut line) if line.company == company && line.contact == Some(from) => {
            line.contact = Some(into);
            Some(Move::Next(line.into()))
        }
        Row::RememberedCall(mut call) if call.company == company && call.contact == Some(from) => {
            call.contact = Some(into);
            Some(Move::Next(call.into()))
        }
        Row::UnknownEvent(mut event) if event.company == company && event.contact == Some(from) => {
            event.contact = Some(into);
            Some(Move::Next(event.into()))
        }
        Row::Recipient(mut recipient)
            if recipient.company == company && recipient.contact == Some(from) =>
        {
            recipient.contact = Some(into);
            Some(Move::Next(recipient.into()))
        }
        Row::Click(mut click) if of(click.company, click.contact) => {
            click.contact = into;
            Some(Move::Silent(click.into()))
        }
        Row::Alias(mut alias) if of(alias.company, alias.contact) => {
            alias.contact = into;
            Some(Move::Silent(alias.into()))
        }
        Row::ContactTag(mut tag) if of(tag.company, tag.contact) => {
            tag.contact = into;
            Some(Move::Silent(tag.into()))
        }
        Row::ListMember(mut member) if of(member.company, member.contact) => {
            member.contact = into;
            Some(Move::Silent(member.into()))
        }
        _ => None,
    }
}

impl State {
    /// Moves all rows of `from` to `into`.
    pub(super) fn reassign(
        &mut self,
        company: CompanyId,
        from: ContactId,
        into: ContactId,
    ) -> Result<(), Conflict> {
        if from == into {
            return Ok(());
        }
        let moving: Vec<(VersionedRow, Move)> = self
            .rows
            .every_entry()
            .filter_map(|entry| Some((entry.clone(), moved(&entry.row, company, from, into)?)))
            .collect();
        let is_there = self.rows.entry(&RowKey::Contact { company, id: into }).is_some();
        if !is_there && !moving.is_empty() {
            return Err(Conflict::Reference);
        }
        self.give_way(company, from, into);
        for (before, after) in moving {
            self.move_one(before, after);
        }
        self.moving_events.push(MovingEvents { company, from, into, most: usize::MAX });
        Ok(())
    }

    /// Removes the windows of `into`, and the contact of its recipients, where the row of `from` is
    /// the one to keep.
    fn give_way(&mut self, company: CompanyId, from: ContactId, into: ContactId) {
        let yields = |row: &Row| match row {
            Row::DispatchWindow(own) if own.company == company && own.contact == into => {
                self.rows.all::<DispatchWindow>().any(|other| {
                    (other.company, other.contact, other.key) == (company, from, own.key)
                        && window_that_stays(own, other) == Stays::Theirs
                })
            }
            Row::Recipient(own) if own.company == company && own.contact == Some(into) => {
                self.rows.all::<Recipient>().any(|other| {
                    (other.company, other.contact) == (company, Some(from))
                        && other.campaign == own.campaign
                        && recipient_that_stays(own, other) == Stays::Theirs
                })
            }
            _ => false,
        };
        let yielding: Vec<VersionedRow> =
            self.rows.every_entry().filter(|entry| yields(&entry.row)).cloned().collect();
        for VersionedRow { row, version, sequence } in yielding {
            let key = row.key();
            let left = match row {
                Row::Recipient(mut recipient) => {
                    recipient.contact = None;
                    Some(VersionedRow { row: recipient.into(), version: version.next(), sequence })
                }
                _ => None,
            };
            self.rows.set(key, left);
        }
    }

    /// Moves one row, and increments its version if it has one. A row that `into` has already is
    /// kept.
    pub(super) fn move_one(&mut self, before: VersionedRow, after: Move) {
        let (row, version) = match after {
            Move::Next(row) => (row, before.version.next()),
            Move::Silent(row) => (row, before.version),
        };
        let (old, new) = (before.row.key(), row.key());
        let row = match row {
            Row::Recipient(recipient) if self.is_doubled(&recipient) => {
                let mut left_over = recipient;
                left_over.contact = None;
                left_over.into()
            }
            row => row,
        };
        let is_taken = old != new && self.rows.entry(&new).is_some();
        if old != new {
            self.rows.set(old, None);
        }
        if !is_taken {
            self.rows.set(new, Some(VersionedRow { row, version, sequence: before.sequence }));
        }
    }

    /// Whether the contact of a recipient has another number in the same campaign.
    fn is_doubled(&self, recipient: &Recipient) -> bool {
        self.rows.all::<Recipient>().any(|other| {
            other.company == recipient.company
                && other.campaign == recipient.campaign
                && other.number != recipient.number
                && other.contact == recipient.contact
        })
    }
}
