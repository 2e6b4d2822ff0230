//! Rows on their way from one database to another.

use recado_core::Timestamp;
use recado_core::events::EventType;
use recado_core::ids::{CompanyId, ContactId, EventId};
use recado_core::match_kind;
use recado_core::store::{Row, Version};

use super::part::Part;
use crate::cell::CellReader;
use crate::field::Field;
use crate::record::Layout;
use crate::sealing::Sealer;

/// A row as it is moved.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all are rows")]
pub enum Moved {
    /// A record.
    Row {
        /// The record.
        row: Row,
        /// How often it was written.
        version: Version,
        /// Its place, if rows of its kind have places.
        place: Option<u64>,
    },
    /// How far exports have read.
    Frontier(ExportFrontier),
    /// An event of the journal.
    Event(JournalEntry),
}

impl Moved {
    /// Reads a row of a part. Of a record, these are [`TableDef::read_columns`] and its place, if
    /// it has one; of others, their fields in order.
    ///
    /// [`TableDef::read_columns`]: crate::TableDef::read_columns
    ///
    /// # Errors
    ///
    /// When a value cannot be read.
    pub fn read<R: CellReader>(
        part: Part,
        reader: &mut R,
        sealer: &Sealer,
    ) -> Result<Self, R::Error> {
        Ok(match part {
            Part::Rows(kind) => {
                let (row, version) = match_kind!(kind, T => {
                    let row = T::read_sealed(reader, sealer)?;
                    let version = match T::TABLE.versioned {
                        true => Version::new(Field::read(reader)?),
                        false => Version::FIRST,
                    };
                    (Row::from(row), version)
                });
                let place = if part.has_places() { Some(Field::read(reader)?) } else { None };
                Self::Row { row, version, place }
            }
            Part::ExportFrontiers => Self::Frontier(ExportFrontier {
                company: Field::read(reader)?,
                created_at: Field::read(reader)?,
            }),
            Part::Events => Self::Event(JournalEntry {
                place: Field::read(reader)?,
                company: Field::read(reader)?,
                id: Field::read(reader)?,
                event_type: Field::read(reader)?,
                contact: Field::read(reader)?,
                at: Field::read(reader)?,
                data: Field::read(reader)?,
            }),
        })
    }

    /// The company whose row it is; `None` for rows of the installation.
    pub fn company(&self) -> Option<CompanyId> {
        match self {
            Self::Row { row, .. } => row.key().company(),
            Self::Frontier(frontier) => Some(frontier.company),
            Self::Event(event) => Some(event.company),
        }
    }
}

/// The creation time up to which the exports of a company have read (D25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportFrontier {
    /// The company.
    pub company: CompanyId,
    /// The time.
    pub created_at: Timestamp,
}

/// An event with its position in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// The position.
    pub place: u64,
    /// The company it happened in.
    pub company: CompanyId,
    /// Its id.
    pub id: EventId,
    /// What happened.
    pub event_type: EventType,
    /// The contact it is about.
    pub contact: Option<ContactId>,
    /// The time of the change.
    pub at: Timestamp,
    /// Its data; `None` once it is erased.
    pub data: Option<String>,
}

/// The highest places that were ever given, also to rows that are deleted since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Of events.
    pub events: u64,
    /// Of deliveries.
    pub deliveries: u64,
}
