//! Imports of many rows: from the cells of a file to the operator's call for each row. What reads
//! files and shows results (a command, a page) is elsewhere and holds no rule of its own.

mod bad_values;
pub mod cells;
mod columns;
mod dates;
pub mod delimiter;
mod encoding;
pub mod formula;
mod guess;
mod labels;
mod outcome;
mod person;
mod row;
mod rows;
mod update;

pub use bad_values::{Skipped, without_bad_values};
pub use columns::{CUSTOM, contact_columns_problem, contact_field_names, is_contact_field};
pub use encoding::TextEncoding;
pub use guess::guessed_fields;
pub use labels::Labels;
pub use outcome::{Imported, RowOutcome, RowProblems};
pub use person::{last_digits, person_keys};
pub use row::{RowImport, RowManner};
pub use rows::{Row, RowTally};
