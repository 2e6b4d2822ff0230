//! Moving an installation, or one company, from one database to another.
//!
//! A store reads its rows as [`Moved`] values and writes such values as they are, with their
//! versions and places. What is moved, and in which order, follows from the declared kinds of
//! record ([`Part::order`]). [`copy`] passes the parts on and adds them up; [`compare`] reads the
//! target and compares. [`Order`] is the whole move: it closes the source before, and opens the
//! target afterwards (D76).

mod changes;
mod digest;
mod documents;
mod halting;
mod moved;
mod online;
mod order;
mod part;
mod refusal;
mod run;
mod stores;
mod tables;
mod tally;

pub use changes::{
    CHANGES, ChangeReader, ChangedCell, FollowError, Followed, RowChange, RowChangeKind, Told,
};
pub use documents::DocumentCount;
pub use halting::REASON;
pub use moved::{ExportFrontier, JournalEntry, Moved, Places};
pub use order::{MoveError, Order, Outcome, Plan, Progress};
pub use part::{Part, stays_behind};
pub use refusal::{Refusal, fill};
pub use run::{Counted, Step, TransferError, compare, copy, count, is_same, tallies};
pub use stores::{Fill, Scope, TransferReader, TransferWriter, Transferable, is_full};
pub use tables::{Treatment, filled_tables, moved_tables, unaccounted};
pub use tally::{Tallies, Tally};
