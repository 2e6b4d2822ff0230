//! What became of a row (R289).

use std::fmt;

use serde_json::Value;

use super::Skipped;
use crate::error::{Error, Rejection};
use crate::ids::ContactId;
use crate::manage::ManageError;

/// Why a row was refused: the reason of each field, as the operator's call names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowProblems {
    /// Each field with what is wrong with it; empty if the whole row is refused.
    pub fields: Vec<(String, String)>,
    /// What is said of the row where no field is named.
    pub message: String,
}

impl RowProblems {
    /// What a call refused.
    pub fn of(rejection: &impl Rejection) -> Self {
        let details = rejection.details();
        let reasons = details.as_ref().and_then(|details| details.get("reasons")?.as_object());
        let text = |reason: &Value| reason.as_str().unwrap_or_default().to_owned();
        let fields = reasons.into_iter().flatten();
        let fields = fields.map(|(field, reason)| (field.clone(), text(reason))).collect();
        Self { fields, message: rejection.to_string() }
    }

    /// A reason that no field has.
    pub fn whole(message: impl Into<String>) -> Self {
        Self { fields: Vec::new(), message: message.into() }
    }
}

impl fmt::Display for RowProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fields.is_empty() {
            return f.write_str(&self.message);
        }
        let all = self.fields.iter().map(|(field, reason)| format!("{field} {reason}"));
        f.write_str(&all.collect::<Vec<_>>().join("; "))
    }
}

/// The outcome of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It was stored.
    Made,
    /// It exists already, from an earlier import or another source.
    AlreadyThere,
    /// It existed already, and was changed.
    Updated,
    /// It cannot be stored, for this reason.
    Refused(RowProblems),
}

/// The outcome of a row, its contact, and the values that were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOutcome {
    /// What became of it.
    pub imported: Imported,
    /// Its contact; of a refused row and of a new one in a dry run none.
    pub contact: Option<ContactId>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

impl RowOutcome {
    /// A row that is refused.
    pub const fn refused(problems: RowProblems) -> Self {
        Self { imported: Imported::Refused(problems), contact: None, skipped: Vec::new() }
    }
}

/// A failure that is no refusal, as one of another use case.
pub(super) fn failed<E>(error: Error<E>) -> Error<ManageError> {
    error.map(|_| ManageError::NotFound)
}
