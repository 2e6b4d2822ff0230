//! Where a promise failed: a panic inside a helper names the line of the suite that called the
//! helper.

use std::fmt::{self, Debug, Display};
use std::panic::Location;

use recado_core::store::{
    Change, ChangeKind, CommitError, Conflict, REFERENCES, Reference, Row, RowKey, StoreError,
};

use super::scene::Scene;

/// The line that called a helper. The compiler cannot pass it to an async function
/// (`#[track_caller]`). Therefore a helper is a plain function that takes the line and returns a
/// future.
#[derive(Clone, Copy)]
pub(super) struct CallSite(&'static Location<'static>);

impl Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in the promise at {}", self.0)
    }
}

impl CallSite {
    #[track_caller]
    pub(super) fn here() -> Self {
        Self(Location::caller())
    }

    /// The answer of the store; panics if the store failed.
    pub(super) fn works<T>(self, answer: Result<T, StoreError>) -> T {
        answer.unwrap_or_else(|error| panic!("{self}: the store failed: {error}"))
    }

    /// The value that must be there; panics if it is missing.
    pub(super) fn finds<T>(self, what: &str, found: Option<T>) -> T {
        found.unwrap_or_else(|| panic!("{self}: {what} is not there"))
    }
}

/// The change as an error message names it.
fn named(change: &Change) -> String {
    match change.kind() {
        ChangeKind::Insert(row) => format!("the insert of {:?}", row.key()),
        ChangeKind::Update { row, .. } => format!("the update of {:?}", row.key()),
        ChangeKind::Delete { key, .. } => format!("the deletion of {key:?}"),
        other => format!("{other:?}"),
    }
}

fn listed(references: &[Reference]) -> String {
    let listed: Vec<String> = references.iter().map(Reference::to_string).collect();
    listed.join("; ")
}

impl Scene {
    /// The references of a row whose targets are missing although they must exist.
    async fn dangling(&self, row: &Row) -> Result<Vec<Reference>, StoreError> {
        let mut missing = Vec::new();
        for (reference, key) in row.references() {
            if reference.is_enforced() && self.store.row(&key).await?.is_none() {
                missing.push(reference);
            }
        }
        Ok(missing)
    }

    /// Why a change was not applied, in a text that names its rows.
    async fn why_not(&self, change: &Change, error: &CommitError) -> String {
        let name = named(change);
        let what = match change.kind() {
            ChangeKind::Insert(row) | ChangeKind::Update { row, .. }
                if matches!(error, CommitError::Conflict(Conflict::Reference)) =>
            {
                match self.dangling(row).await {
                    Ok(missing) if missing.is_empty() => {
                        let references =
                            row.references().into_iter().map(|(reference, _)| reference);
                        let references: Vec<_> = references.collect();
                        format!("though all is there that it refers to: {}", listed(&references))
                    }
                    Ok(missing) => format!("what it refers to is missing: {}", listed(&missing)),
                    Err(error) => format!("and the store cannot tell why: {error}"),
                }
            }
            _ => "it should be".to_owned(),
        };
        format!("{name} was not applied: {error}; {what}")
    }

    /// Applies changes one by one. Each must succeed.
    pub(super) async fn applies(
        &self,
        caller: CallSite,
        changes: impl IntoIterator<Item = Change>,
    ) {
        for change in changes {
            if let Err(error) = self.try_apply(change.clone()).await {
                panic!("{caller}: {}", self.why_not(&change, &error).await);
            }
        }
    }

    /// Checks that a change is refused because of a reference: the row refers to a missing row, or
    /// the row to delete is referred to.
    #[track_caller]
    pub(super) fn refuses(&self, change: Change) -> impl Future<Output = ()> {
        let caller = CallSite::here();
        async move {
            let name = named(&change);
            let why = match change.kind() {
                ChangeKind::Insert(row) | ChangeKind::Update { row, .. } => {
                    let missing = caller.works(self.dangling(row).await);
                    assert!(
                        !missing.is_empty(),
                        "{caller}: {name} dangles nowhere: a wrong promise"
                    );
                    format!("what it refers to is missing: {}", listed(&missing))
                }
                ChangeKind::Delete { key, .. } => {
                    format!("rows refer to it: {}", listed(&leading_to(key)))
                }
                _ => "what it needs is not there".to_owned(),
            };
            match self.try_apply(change).await {
                Err(CommitError::Conflict(Conflict::Reference)) => {}
                outcome => panic!(
                    "{caller}: {name} must answer Conflict::Reference and answered {outcome:?}; {why}"
                ),
            }
        }
    }
}

/// The references that can keep a row from being deleted.
fn leading_to(key: &RowKey) -> Vec<Reference> {
    let refuses = |reference: &&Reference| {
        reference.to == key.kind() && reference.on_delete == recado_core::store::OnDelete::Restrict
    };
    REFERENCES.iter().filter(refuses).copied().collect()
}

/// Checks that a row was read as it was stored. The panic shows in full what differs.
#[track_caller]
pub(super) fn assert_same<T: PartialEq + Debug>(read: &T, wanted: &T) {
    if read != wanted {
        let (read, wanted) = (format!("{read:-#?}"), format!("{wanted:-#?}"));
        let differs = |(read, wanted): &(&str, &str)| read != wanted;
        let lines: Vec<String> = (read.lines().zip(wanted.lines()))
            .filter(differs)
            .map(|(read, wanted)| format!("  read {}, stored {}", read.trim(), wanted.trim()))
            .collect();
        panic!("a row is not read as it was stored:\n{}", lines.join("\n"));
    }
}
