//! What is closed (D76), as the writer reads it: nothing else writes between that and the commit.

use recado_core::halts::{HaltKind, HaltSubject};
use recado_core::ids::CompanyId;
use uuid::Uuid;

use crate::database::Connection;

const CLOSED: &str = "SELECT subject FROM halts WHERE kind = ?1";

/// What is closed: the installation, or companies.
pub(crate) struct Closed(Vec<HaltSubject>);

impl Closed {
    /// What is closed now.
    pub(crate) fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let mut statement = conn.prepare_cached(CLOSED)?;
        let subject = |row: &rusqlite::Row<'_>| {
            let whose = Uuid::from_bytes(row.get(0)?);
            Ok(HaltSubject::of_parts(HaltKind::Writing, whose))
        };
        let subjects = statement.query_map([HaltKind::Writing.as_str()], subject)?;
        Ok(Self(subjects.collect::<Result<_, _>>()?))
    }

    /// Whether nothing is written at all.
    pub(crate) fn is_everything(&self) -> bool {
        self.0.contains(&HaltSubject::Writing)
    }

    /// Whether nothing is written for a company.
    pub(crate) fn includes(&self, company: CompanyId) -> bool {
        self.is_everything() || self.0.contains(&HaltSubject::WritingOf(company))
    }
}
