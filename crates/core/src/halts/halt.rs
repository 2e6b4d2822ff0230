//! A halt, and what the halts of an installation mean (D75, D76).

use std::collections::BTreeSet;
use std::time::Duration;

use uuid::Uuid;

use crate::code::Code;
use crate::error::Rejection;
use crate::ids::CompanyId;
use crate::words::words;
use crate::{Cell, Timestamp};

words! {
    /// What a halt stops.
    HaltKind {
        /// Sends, and all else that calls somebody (D75).
        Sending = "sending",
        /// Writes (D76).
        Writing = "writing",
    }
}

/// What a halt stops, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HaltSubject {
    /// Sends, and all else that calls somebody: the installation is on hold (D75).
    Sending,
    /// The same for one company: the first step of moving it, so that nothing is under way when it
    /// is closed.
    SendingOf(CompanyId),
    /// Every write: the installation is closed (D76).
    Writing,
    /// Every write of one company: it is closed (D76).
    WritingOf(CompanyId),
}

impl HaltSubject {
    /// What it stops.
    pub const fn kind(self) -> HaltKind {
        match self {
            Self::Sending | Self::SendingOf(_) => HaltKind::Sending,
            Self::Writing | Self::WritingOf(_) => HaltKind::Writing,
        }
    }

    /// For whom, as stores keep it: the company, or the nil id for the installation.
    pub const fn whose(self) -> Uuid {
        match self {
            Self::Sending | Self::Writing => Uuid::nil(),
            Self::SendingOf(company) | Self::WritingOf(company) => company.uuid(),
        }
    }

    /// A subject as a store keeps it.
    pub const fn of_parts(kind: HaltKind, whose: Uuid) -> Self {
        let company = if whose.is_nil() { None } else { Some(CompanyId::new(whose)) };
        match kind {
            HaltKind::Sending => Self::sending_of(company),
            HaltKind::Writing => Self::writing_of(company),
        }
    }

    /// The halt of sending for a company, or for the installation.
    pub const fn sending_of(company: Option<CompanyId>) -> Self {
        match company {
            Some(company) => Self::SendingOf(company),
            None => Self::Sending,
        }
    }

    /// The halt of writing for a company, or for the installation.
    pub const fn writing_of(company: Option<CompanyId>) -> Self {
        match company {
            Some(company) => Self::WritingOf(company),
            None => Self::Writing,
        }
    }
}

/// Something that is halted, for as long as the row exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    /// What.
    pub subject: HaltSubject,
    /// Why, in the operator's words.
    pub reason: Option<String>,
    /// Since when.
    pub since: Timestamp,
    /// Whether what it closes was moved away.
    pub whereabouts: Whereabouts,
}

impl Halt {
    /// Whether what it closes was moved away completely: then only an explicit order opens it
    /// again (R250).
    pub const fn is_final(&self) -> bool {
        !matches!(self.whereabouts, Whereabouts::Here)
    }
}

/// Where the data is that a halt closes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whereabouts {
    /// Here.
    #[default]
    Here,
    /// In another database.
    Elsewhere,
    /// In the database of another cell, which answers for it (R460).
    InCell(Cell),
}

/// All halts, as one read found them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halted {
    halts: Vec<Halt>,
}

impl Halted {
    /// These halts.
    pub const fn new(halts: Vec<Halt>) -> Self {
        Self { halts }
    }

    /// All of them.
    pub fn halts(&self) -> &[Halt] {
        &self.halts
    }

    /// The halt of a subject.
    pub fn of(&self, subject: HaltSubject) -> Option<&Halt> {
        self.halts.iter().find(|halt| halt.subject == subject)
    }

    /// The hold of the installation, if it is held (D75).
    pub fn hold(&self) -> Option<&Halt> {
        self.of(HaltSubject::Sending)
    }

    /// Whether a company is held, alone or with the installation (D75).
    pub fn is_held_for(&self, company: CompanyId) -> bool {
        self.hold().is_some() || self.of(HaltSubject::SendingOf(company)).is_some()
    }

    /// Whether a move is under way, of the installation or of a company: no housekeeping is done,
    /// so that what was copied can be compared.
    pub fn is_moving(&self) -> bool {
        self.halts.iter().any(|halt| halt.subject.kind() == HaltKind::Writing && !halt.is_final())
    }

    /// The cell that a company was moved to, if it is known (R460).
    pub fn cell_of(&self, company: CompanyId) -> Option<Cell> {
        match self.of(HaltSubject::WritingOf(company))?.whereabouts {
            Whereabouts::InCell(cell) => Some(cell),
            Whereabouts::Here | Whereabouts::Elsewhere => None,
        }
    }

    /// Whether a company was moved to another cell.
    pub fn knows_moved(&self) -> bool {
        self.halts.iter().any(|halt| matches!(halt.whereabouts, Whereabouts::InCell(_)))
    }

    /// The companies for which nobody may be called, besides those of [`Halted::is_quiet`].
    pub fn quiet_companies(&self) -> BTreeSet<CompanyId> {
        let company = |halt: &Halt| match halt.subject {
            HaltSubject::SendingOf(company) | HaltSubject::WritingOf(company) => Some(company),
            HaltSubject::Sending | HaltSubject::Writing => None,
        };
        self.halts.iter().filter_map(company).collect()
    }

    /// Whether nothing is written at all (D76).
    pub fn is_closed(&self) -> bool {
        self.of(HaltSubject::Writing).is_some()
    }

    /// Whether nothing is written for a company (D76).
    pub fn is_closed_for(&self, company: CompanyId) -> bool {
        self.is_closed() || self.of(HaltSubject::WritingOf(company)).is_some()
    }

    /// Whether nobody may be called for any company: the installation is held or closed.
    pub fn is_quiet(&self) -> bool {
        self.hold().is_some() || self.is_closed()
    }

    /// Whether nobody may be called for a company: neither a gateway nor a receiver.
    pub fn is_quiet_for(&self, company: CompanyId) -> bool {
        self.is_closed_for(company) || self.is_held_for(company)
    }
}

/// The installation is on hold: nothing is sent (D75).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the installation is on hold: nothing is sent until its operator resumes")]
pub struct OnHold;

impl OnHold {
    /// When to try again.
    pub const RETRY_AFTER: Duration = Duration::from_secs(60);
}

impl Rejection for OnHold {
    fn code(&self) -> Code {
        Code::OnHold
    }

    fn retry_after(&self) -> Option<Duration> {
        Some(Self::RETRY_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPANY: CompanyId = CompanyId::new(Uuid::from_u128(1));
    const OTHER: CompanyId = CompanyId::new(Uuid::from_u128(2));

    fn halted(subjects: &[HaltSubject]) -> Halted {
        let halt = |subject: &HaltSubject| Halt {
            subject: *subject,
            reason: None,
            since: Timestamp::MIN,
            whereabouts: Whereabouts::Here,
        };
        Halted::new(subjects.iter().map(halt).collect())
    }

    /// D75, D76.
    #[test]
    fn a_hold_stops_calls_and_a_closure_stops_writes_too_for_one_company_or_for_all() {
        let open = halted(&[]);
        assert!(!open.is_quiet_for(COMPANY) && !open.is_closed_for(COMPANY));
        let held = halted(&[HaltSubject::Sending]);
        assert!(held.is_quiet() && held.is_quiet_for(COMPANY));
        assert!(!held.is_closed() && !held.is_closed_for(COMPANY));
        let closed = halted(&[HaltSubject::Writing]);
        assert!(closed.is_quiet() && closed.is_closed() && closed.is_closed_for(OTHER));
        let one = halted(&[HaltSubject::WritingOf(COMPANY)]);
        assert!(!one.is_quiet() && !one.is_closed());
        assert!(one.is_quiet_for(COMPANY) && one.is_closed_for(COMPANY));
        assert!(!one.is_quiet_for(OTHER) && !one.is_closed_for(OTHER));
        let held = halted(&[HaltSubject::SendingOf(COMPANY)]);
        assert!(held.is_quiet_for(COMPANY) && held.is_held_for(COMPANY));
        assert!(!held.is_closed_for(COMPANY) && !held.is_quiet_for(OTHER) && !held.is_quiet());
        assert!(held.quiet_companies().contains(&COMPANY) && !held.is_moving());
        assert!(one.quiet_companies().contains(&COMPANY) && one.is_moving());
    }

    /// R460.
    #[test]
    fn only_a_company_that_moved_to_a_cell_is_answered_for_elsewhere() {
        let cell = Cell::new(7).expect("a cell");
        let mut halted = halted(&[HaltSubject::WritingOf(COMPANY)]);
        for (whereabouts, known) in [
            (Whereabouts::Here, None),
            (Whereabouts::Elsewhere, None),
            (Whereabouts::InCell(cell), Some(cell)),
        ] {
            halted.halts[0].whereabouts = whereabouts;
            assert_eq!(halted.cell_of(COMPANY), known, "{whereabouts:?}");
            assert_eq!((halted.cell_of(OTHER), halted.knows_moved()), (None, known.is_some()));
        }
    }

    #[test]
    fn a_subject_is_read_back_from_its_parts() {
        let of = [None, Some(COMPANY)];
        let all =
            of.map(HaltSubject::sending_of).into_iter().chain(of.map(HaltSubject::writing_of));
        for subject in all {
            assert_eq!(HaltSubject::of_parts(subject.kind(), subject.whose()), subject);
        }
    }
}
