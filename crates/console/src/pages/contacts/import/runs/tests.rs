//! What is kept of imports, and for how long.

use super::*;

fn company(n: usize) -> CompanyId {
    CompanyId::parse(&format!("00000000-0000-0000-0000-{n:012}")).expect("an id")
}

fn keep(imports: &Imports, n: usize) -> Option<Arc<Run>> {
    keep_file(imports, n, b"phone\n1\n")
}

/// Keeps a file, unless there is no room for its cells or for it.
fn keep_file(imports: &Imports, n: usize, file: &[u8]) -> Option<Arc<Run>> {
    let sheet = Sheet::read(file, company(n), imports).ok()?;
    let now = Timestamp::from_millis(0);
    imports.keep(company(n), now, "a.csv".to_owned(), sheet, Plan::default())
}

fn begin(run: &Run) {
    run.state().progress = Some(Progress::default());
}

fn is_kept(imports: &Imports, run: &Arc<Run>) -> bool {
    imports.known().runs.iter().any(|known| Arc::ptr_eq(known, run))
}

/// R426.
#[tokio::test(start_paused = true)]
async fn the_file_that_nobody_looked_at_for_the_longest_time_makes_room() {
    let imports = Imports::default();
    let mut runs = Vec::new();
    for n in 0..OF_PROCESS {
        runs.push(keep(&imports, n).expect("kept"));
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    begin(&runs[1]);
    imports.find(company(0), &runs[0].id).expect("known");
    keep(&imports, 90).expect("kept");
    assert!(is_kept(&imports, &runs[0]) && is_kept(&imports, &runs[1]));
    assert!(!is_kept(&imports, &runs[2]));
    assert_eq!(imports.known().runs.len(), OF_PROCESS);
}

/// R426. Few files can have as many cells as a process may hold.
#[tokio::test]
async fn the_cells_of_all_files_have_a_bound() {
    let imports = Imports::default();
    let large = format!("{}\n", ",".repeat(199)).repeat(10_000);
    let keep_large = |n: usize| keep_file(&imports, n, large.as_bytes()).expect("kept");
    let (theirs, first, second) = (keep_large(2), keep_large(1), keep_large(1));
    assert!(is_kept(&imports, &theirs), "three files of 2,000,000 cells have room");
    for run in [&theirs, &first, &second] {
        begin(run);
    }
    assert!(keep(&imports, 3).is_none(), "imports under way hold all of them");
    let is_left = Arc::downgrade(&first);
    theirs.carry_out(async { Ok(()) }).await;
    first.carry_out(async { Ok(()) }).await;
    drop(first);
    assert!(keep(&imports, 1).is_some());
    assert!(is_left.upgrade().is_none(), "a file of the company makes room first");
    assert!(is_kept(&imports, &theirs));
}

/// R426.
#[tokio::test]
async fn five_files_of_a_company_are_kept() {
    let imports = Imports::default();
    let runs: Vec<_> = (0..6).map(|_| keep(&imports, 1).expect("kept")).collect();
    assert!(!is_kept(&imports, &runs[0]));
    assert!(runs[1..].iter().all(|run| is_kept(&imports, run)));
}

/// R426.
#[tokio::test]
async fn no_file_is_taken_while_as_many_imports_are_under_way_as_are_kept() {
    let imports = Imports::default();
    let runs: Vec<_> = (0..OF_PROCESS).map(|n| keep(&imports, n).expect("kept")).collect();
    runs.iter().for_each(|run| begin(run));
    assert!(keep(&imports, 90).is_none());
    runs[7].carry_out(async { Ok(()) }).await;
    assert!(keep(&imports, 90).is_some());
    assert!(!is_kept(&imports, &runs[7]));
}

/// R426.
#[tokio::test(start_paused = true)]
async fn a_file_is_forgotten_two_hours_after_it_was_last_looked_at_though_no_other_comes() {
    let imports = Imports::default();
    let (seen, unseen) = (keep(&imports, 1).expect("kept"), keep(&imports, 2).expect("kept"));
    tokio::time::sleep(KEPT / 2).await;
    imports.find(company(1), &seen.id).expect("known");
    tokio::time::sleep(KEPT / 2 + Duration::from_secs(1)).await;
    assert!(is_kept(&imports, &seen) && !is_kept(&imports, &unseen));
    tokio::time::sleep(KEPT / 2).await;
    assert!(!is_kept(&imports, &seen));
}

/// R426.
#[tokio::test(start_paused = true)]
async fn an_import_under_way_is_kept_and_its_report_two_hours_longer() {
    let imports = Imports::default();
    let run = keep(&imports, 1).expect("kept");
    begin(&run);
    tokio::time::sleep(KEPT * 2 + Duration::from_secs(1)).await;
    assert!(is_kept(&imports, &run));
    run.carry_out(async { Ok(()) }).await;
    tokio::time::sleep(KEPT - Duration::from_secs(1)).await;
    assert!(is_kept(&imports, &run));
    tokio::time::sleep(KEPT).await;
    assert!(!is_kept(&imports, &run));
}

/// R426.
#[tokio::test]
async fn an_import_that_panics_is_over_and_says_so() {
    let imports = Imports::default();
    let run = keep(&imports, 1).expect("kept");
    begin(&run);
    run.carry_out(async { panic!("a row that nobody expected") }).await;
    let progress = run.progress().expect("it was begun");
    assert!(progress.is_over && progress.stopped.is_some());
    assert!(!run.is_under_way());
}

/// R426.
#[tokio::test]
async fn who_asks_how_far_an_import_is_copies_none_of_its_rows() {
    let imports = Imports::default();
    let run = keep(&imports, 1).expect("kept");
    begin(&run);
    let refused = |progress: &mut Progress, report: &mut Report| {
        for index in 0..10_000 {
            let outcome = RowOutcome::refused(RowProblems::whole("is wrong"));
            progress.tally.count(&outcome);
            report.refused.push((index, RowProblems::whole("is wrong")));
        }
    };
    run.change(refused);
    let Progress { tally, stopped, is_over: false, is_rehearsal: false } =
        run.progress().expect("it was begun")
    else {
        panic!("it is under way");
    };
    assert_eq!((tally.rows, tally.refused, stopped), (10_000, 10_000, None));
    assert!(Arc::ptr_eq(&run.report(), &run.report()), "the report is shared");
    assert_eq!(run.report().refused.len(), 10_000);
    run.forget_progress();
    assert!(run.report().refused.is_empty());
}
