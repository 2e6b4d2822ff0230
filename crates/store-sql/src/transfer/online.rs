//! Moving a company while it is in use (R461): copy one state of it, repeat in the target what
//! changes meanwhile, and hold it only for the last of that.

use std::collections::{BTreeMap, BTreeSet};

use recado_core::halts::{NOTICED_AFTER, Whereabouts};
use recado_core::ids::CompanyId;

use super::changes::{ChangeReader, ChangedCell, FollowError, Followed, RowChange, Told};
use super::digest::digest;
use super::documents;
use super::halting::REASON;
use super::moved::Moved;
use super::order::{LOOK_AGAIN, MoveError, Order, Outcome, Progress, UNDER_WAY, uncommitted};
use super::part::Part;
use super::refusal::Refusal;
use super::run::{Counted, Step, TransferError, compare, copy};
use super::stores::{Fill, ONLY_POSTGRES, TransferReader, TransferWriter};

/// The company is held once no more changes are left than this: they are repeated within a
/// fraction of a second.
const FEW: usize = 200;
/// How many times both sides are compared in the end.
const ATTEMPTS: u32 = 3;
/// How many rows are compared at once.
const COMPARED: usize = 2_000;

/// The company on its way.
struct OnItsWay<'a, 'b> {
    order: &'a Order<'b>,
    company: CompanyId,
    changes: &'a mut dyn ChangeReader,
    target: Box<dyn TransferWriter>,
    /// Rows whose changes were repeated and which have not been found the same since.
    uncertain: BTreeSet<(Part, Vec<ChangedCell>)>,
    /// How many changes were repeated.
    repeated: u64,
}

impl Order<'_> {
    /// Moves a company while it is in use. It is held for the last changes only, for as long as
    /// every process needs to notice and sends under way need to end. Afterwards everything is as
    /// after [`Order::run`].
    ///
    /// R461.
    ///
    /// # Errors
    ///
    /// [`MoveError`]. In every case the same order can be given again.
    pub async fn run_online(
        &self,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Outcome, MoveError> {
        let Some(company) = self.scope.company() else { return Err(Refusal::NoCompany.into()) };
        let (found, fill) = self.begin().await?;
        let Some(fill) = fill.filter(|_| !found.is_begun) else {
            // An earlier move has closed it: it is not in use.
            return self.run(progress).await;
        };
        if !self.to.can_repeat() {
            return Err(MoveError::Unsupported(ONLY_POSTGRES.to_owned()));
        }
        self.source.make_secrets().await?;
        progress(Progress::Planned(self.counted(fill).await?));
        let followed = self.from.follow(company).await.map_err(|error| match error {
            FollowError::Unsupported(reason) => MoveError::Unsupported(reason),
            FollowError::Store(error) => error.into(),
        })?;
        let Followed { state, mut changes } = followed;
        let moved = self.move_followed(company, state, &mut *changes, fill, progress).await;
        // The slot ends with its connection in any case.
        let _ = changes.end().await;
        match moved {
            Err(error @ MoveError::Uncertain(_)) => Err(error),
            Err(error) => {
                self.open_again(found).await?;
                Err(error)
            }
            Ok(outcome) => {
                let whereabouts = self.whereabouts();
                self.source.halts().close(Some(company), Some(REASON), whereabouts).await?;
                Ok(outcome)
            }
        }
    }

    async fn move_followed(
        &self,
        company: CompanyId,
        mut state: Box<dyn TransferReader>,
        changes: &mut dyn ChangeReader,
        fill: Fill,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Outcome, MoveError> {
        let mut target = self.to.transfer_in(self.scope, fill).await?;
        let mut outcome = Outcome::default();
        let mut step = |step| {
            if let Step::Copied(Counted { part, rows }) = step {
                *outcome.rows.entry(part.table()).or_default() += rows;
            }
            progress(Progress::Step(step));
        };
        let copied = copy(&mut *state, &mut *target, self.scope, fill, &mut step).await?;
        compare(&copied, target.written().await?, self.scope, fill, &mut step).await?;
        if let Some(files) = self.files {
            outcome.documents = documents::copy(&mut *state, files, progress).await?;
        }
        drop(state);
        let (order, uncertain) = (self, BTreeSet::new());
        let mut moving = OnItsWay { order, company, changes, target, uncertain, repeated: 0 };
        let mut before = usize::MAX;
        while let (count, is_all) = moving.catch_up(progress).await?
            && !is_caught_up(before, count, is_all)
        {
            before = count;
        }
        let held_since = self.source.now();
        moving.hold(progress).await?;
        moving.finish(progress).await?;
        outcome.repeated = moving.repeated;
        moving.target.commit().await.map_err(uncommitted)?;
        outcome.held = Some(self.source.now().since(held_since));
        Ok(outcome)
    }
}

impl OnItsWay<'_, '_> {
    /// Repeats the next changes: how many that were, and whether none are left that were committed
    /// before.
    async fn catch_up(
        &mut self,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(usize, bool), MoveError> {
        let Told { changes, is_all } = self.changes.next().await?;
        let count = changes.len();
        self.target.repeat(&changes).await?;
        self.uncertain.extend(changes.into_iter().flat_map(keys));
        self.repeated += count as u64;
        progress(Progress::CaughtUp { changes: self.repeated });
        self.compare_changed().await?;
        Ok((count, is_all))
    }

    /// Repeats everything that was committed before.
    async fn catch_up_wholly(
        &mut self,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(), MoveError> {
        while let (_, false) = self.catch_up(progress).await? {}
        Ok(())
    }

    /// Finds rows of which both sides have the same by now. Others have changed again since, and
    /// their change is told in the next round.
    async fn compare_changed(&mut self) -> Result<(), MoveError> {
        let mut of_part: BTreeMap<Part, Vec<Vec<ChangedCell>>> = BTreeMap::new();
        for (part, key) in std::mem::take(&mut self.uncertain) {
            of_part.entry(part).or_default().push(key);
        }
        if of_part.is_empty() {
            return Ok(());
        }
        let mut source = self.order.from.transfer_out(self.order.scope, false).await?;
        for (part, keys) in of_part {
            for keys in keys.chunks(COMPARED) {
                let ours = source.rows_of(part, keys).await?;
                let theirs = self.target.written().await?.rows_of(part, keys).await?;
                if sums(&ours) != sums(&theirs) {
                    self.uncertain.extend(keys.iter().map(|key| (part, key.clone())));
                }
            }
        }
        Ok(())
    }

    /// Holds the company, waits for what is under way, and closes it.
    async fn hold(&mut self, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<(), MoveError> {
        let order = self.order;
        let (halts, scope) = (order.source.halts(), order.scope);
        progress(Progress::Closing);
        let is_used = order.is_used().await?;
        if is_used {
            halts.hold_company(self.company, Some(REASON)).await?;
            // Until it is noticed there is time for most of what is left.
            let held_at = order.source.now();
            self.catch_up_wholly(progress).await?;
            let taken = order.source.now().since(held_at);
            order.timer.sleep(NOTICED_AFTER.saturating_sub(taken)).await;
        }
        let until = order.source.now().plus(UNDER_WAY);
        loop {
            let now = order.source.now();
            if is_used && now < until && order.from.under_way(scope, now).await? > 0 {
                order.timer.sleep(LOOK_AGAIN).await;
                continue;
            }
            halts.close(Some(self.company), Some(REASON), Whereabouts::Here).await?;
            // What began between the two has to end, too.
            let now = order.source.now();
            if !is_used || now >= until || order.from.under_way(scope, now).await? == 0 {
                return Ok(());
            }
            halts.reopen(self.company).await?;
        }
    }

    /// Repeats the last changes and compares. Housekeeping that was under way when the company was
    /// closed may still remove rows, which is told, too.
    async fn finish(
        &mut self,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(), MoveError> {
        let mut attempts = 0;
        while let Err(difference) = self.finished(progress).await? {
            attempts += 1;
            if attempts == ATTEMPTS {
                return Err(difference.into());
            }
        }
        let mut source = self.order.from.transfer_out(self.order.scope, true).await?;
        // They are not closed, and nothing is told of them.
        for part in Part::order().into_iter().filter(|part| part.may_be_of_company()) {
            self.target.clear(part).await?;
            source.open(part).await?;
            while let Some(rows) = source.next().await? {
                self.target.write(part, rows).await?;
            }
        }
        if let Some(files) = self.order.files {
            documents::copy(&mut *source, files, progress).await?;
        }
        self.target.finish(source.places().await?).await?;
        Ok(())
    }

    /// Repeats what is left; whether both sides have the same then.
    async fn finished(
        &mut self,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Result<(), TransferError>, MoveError> {
        self.catch_up_wholly(progress).await?;
        let mut source = self.order.from.transfer_out(self.order.scope, true).await?;
        for part in Part::order().into_iter().filter(|part| is_told(*part)) {
            let ours = source.count(part).await?;
            let theirs = self.target.written().await?.count(part).await?;
            let differs = self.uncertain.iter().any(|(of, _)| *of == part);
            if ours != theirs || differs {
                let company = Some(self.company);
                let (source_rows, target_rows) = (ours, theirs);
                return Ok(Err(TransferError::Differs { part, company, source_rows, target_rows }));
            }
        }
        Ok(Ok(()))
    }
}

/// Whether the company can be held after a round that had so many changes, all that were left: they
/// were few, or no fewer come while as many are repeated, which does not change by waiting.
const fn is_caught_up(before: usize, now: usize, is_all: bool) -> bool {
    is_all && (now <= FEW || before / 2 <= now)
}

/// Whether changes of a part are told.
fn is_told(part: Part) -> bool {
    part.company_column().is_some() && !part.may_be_of_company() && !part.is_log()
}

/// The rows that a change is about: where its key changed, the one before and the one after.
fn keys(change: RowChange) -> Vec<(Part, Vec<ChangedCell>)> {
    let part = Part::order().into_iter().find(|part| part.table() == change.table);
    let Some(part) = part else { return Vec::new() };
    let of_key = |cell: &&ChangedCell| change.key.iter().any(|key| key.column == cell.column);
    let after: Vec<ChangedCell> = change.values.iter().filter(of_key).cloned().collect();
    let mut keys = vec![(part, change.key.clone())];
    if after.len() == change.key.len() && after != change.key {
        keys.push((part, after));
    }
    keys
}

/// The checksums of rows, whatever their order.
fn sums(rows: &[Moved]) -> Vec<[u8; 32]> {
    let mut sums: Vec<_> = rows.iter().map(digest).collect();
    sums.sort_unstable();
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::RowChangeKind;

    fn cell(column: &str, value: &str) -> ChangedCell {
        ChangedCell { column: column.to_owned(), value: Some(value.to_owned()) }
    }

    /// R461.
    #[test]
    fn a_company_is_held_once_waiting_longer_leaves_no_fewer_changes() {
        for (before, now, is_held) in [
            (usize::MAX, 10_000, false),
            (5_000, 1_000, false),
            (1_000, 500, true),
            (1_000, 499, false),
            (usize::MAX, FEW, true),
            (usize::MAX, 0, true),
        ] {
            assert_eq!(is_caught_up(before, now, true), is_held, "{before} {now}");
            assert!(!is_caught_up(before, now, false), "more are left");
        }
    }

    /// R461.
    #[test]
    fn a_change_is_about_the_row_before_and_the_row_after() {
        let part = Part::Rows(recado_core::store::RowKind::Tag);
        let change = |key: &str, values: Vec<ChangedCell>| RowChange {
            table: part.table().to_owned(),
            kind: RowChangeKind::Update,
            key: vec![cell("id", key)],
            values,
        };
        let same = change("1", vec![cell("id", "1"), cell("name", "a")]);
        assert_eq!(keys(same), [(part, vec![cell("id", "1")])]);
        let other = change("1", vec![cell("id", "2"), cell("name", "a")]);
        assert_eq!(keys(other), [(part, vec![cell("id", "1")]), (part, vec![cell("id", "2")])]);
        assert_eq!(keys(change("1", Vec::new())), [(part, vec![cell("id", "1")])]);
        let derived = RowChange { table: "contact_search".to_owned(), ..change("1", Vec::new()) };
        assert_eq!(keys(derived), []);
    }

    /// R461: only what a closure does not close is copied anew.
    #[test]
    fn changes_of_all_rows_of_a_company_are_told_but_for_its_operator_tokens() {
        let untold = |part: &Part| part.company_column().is_some() && !is_told(*part);
        let untold: Vec<Part> = Part::order().into_iter().filter(untold).collect();
        assert!(untold.iter().all(|part| part.may_be_of_company()), "{untold:?}");
    }
}
