//! What is moved, and in which order.

use recado_core::match_kind;
use recado_core::store::RowKind;

use crate::record::Layout;

/// A part of a database that is moved: the rows of one kind, or what stores keep beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The rows of a kind of record.
    Rows(RowKind),
    /// How far exports of the companies have read (D25).
    ExportFrontiers,
    /// The journal, with its positions (D52).
    Events,
}

/// Why the rows of a kind are not moved; `None` for all others, so that a new kind is moved.
///
/// R257.
pub const fn stays_behind(kind: RowKind) -> Option<&'static str> {
    match kind {
        RowKind::Worker => Some("a process that runs on this database"),
        RowKind::Shard => Some("which process of this database sends to which webhooks"),
        _ => None,
    }
}

impl Part {
    /// All parts. Each comes after those that its rows refer to.
    ///
    /// R257.
    pub fn order() -> Vec<Self> {
        let of_company = RowKind::removal_order();
        let of_installation = RowKind::ALL.iter().copied().filter(|kind| !kind.is_of_company());
        of_installation
            .chain(of_company.into_iter().rev())
            .filter(|kind| stays_behind(*kind).is_none())
            .map(Self::Rows)
            .chain([Self::ExportFrontiers, Self::Events])
            .collect()
    }

    /// The name of its table.
    pub fn table(self) -> &'static str {
        match self {
            Self::Rows(kind) => match_kind!(kind, T => T::TABLE.name),
            Self::ExportFrontiers => "export_frontiers",
            Self::Events => "events",
        }
    }

    /// Whether its rows belong to the installation, and to no company.
    pub fn is_of_installation(self) -> bool {
        match self {
            Self::Rows(kind) => {
                kind != RowKind::Company && !kind.is_of_company() && !self.may_be_of_company()
            }
            Self::ExportFrontiers | Self::Events => false,
        }
    }

    /// Whether some of its rows belong to a company, and others to the installation. A company that
    /// moves alone takes its own along.
    ///
    /// R257.
    pub const fn may_be_of_company(self) -> bool {
        matches!(self, Self::Rows(RowKind::OperatorToken))
    }

    /// Whether its rows say what was done. The source goes on with them after a move has copied
    /// everything, and a company that moves alone leaves them behind.
    ///
    /// R257, R390.
    pub const fn is_log(self) -> bool {
        matches!(self, Self::Rows(RowKind::AuditEntry))
    }

    /// The column that has the company of a row; `None` if none has.
    pub fn company_column(self) -> Option<&'static str> {
        match self {
            Self::Rows(RowKind::Company) => Some("id"),
            part if part.is_of_installation() => None,
            _ => Some("company_id"),
        }
    }

    /// Whether its rows have a place, an ascending number over all companies.
    pub fn has_places(self) -> bool {
        matches!(self, Self::Events | Self::Rows(RowKind::Delivery))
    }
}

#[cfg(test)]
mod tests {
    use recado_core::store::REFERENCES;

    use super::*;

    /// R257.
    #[test]
    fn every_kind_is_moved_once_unless_it_says_why_it_stays() {
        let order = Part::order();
        for kind in RowKind::ALL.iter().copied() {
            let times = order.iter().filter(|part| **part == Part::Rows(kind)).count();
            assert_eq!(times, usize::from(stays_behind(kind).is_none()), "{kind:?}");
        }
    }

    /// R257.
    #[test]
    fn a_part_comes_after_those_that_its_rows_refer_to() {
        let order = Part::order();
        let place = |kind| order.iter().position(|part| *part == Part::Rows(kind));
        for reference in REFERENCES.iter().filter(|reference| reference.is_enforced()) {
            assert!(place(reference.to) <= place(reference.from), "{reference}");
        }
        let company = place(RowKind::Company);
        let of_company =
            |part: &&Part| part.company_column() == Some("company_id") && !part.may_be_of_company();
        for part in order.iter().filter(of_company) {
            assert!(company < order.iter().position(|other| other == part), "{part:?}");
        }
    }

    /// R257, R390: of what has no company in its key, only operator tokens go with one company.
    #[test]
    fn the_audit_log_is_of_the_installation_and_operator_tokens_may_be_of_a_company() {
        let log = Part::Rows(RowKind::AuditEntry);
        assert!(log.is_log() && log.is_of_installation() && log.company_column().is_none());
        let may_be: Vec<Part> =
            Part::order().into_iter().filter(|part| part.may_be_of_company()).collect();
        assert_eq!(may_be, [Part::Rows(RowKind::OperatorToken)]);
        assert!(may_be.iter().all(|part| !part.is_log() && !part.is_of_installation()));
    }

    #[test]
    fn rows_of_a_company_are_found_by_a_column_of_their_key() {
        for part in Part::order() {
            let (Part::Rows(kind), Some(column)) = (part, part.company_column()) else { continue };
            let table = match_kind!(kind, T => T::TABLE);
            if part.may_be_of_company() {
                assert!(table.columns.contains(&column), "{part:?}");
            } else {
                assert_eq!(table.columns[0], column, "{part:?}");
            }
        }
    }
}
