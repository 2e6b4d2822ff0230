//! The ledger of prosas: pages with exact sums (D59).

use recado_core::page::{Page, PageRequest};
use recado_core::prosas::{
    Brl, LedgerFilter, LedgerLine, LedgerPage, LedgerSpan, LedgerTotals, LineKind, Prosas,
    SpanTotals,
};
use recado_core::store::{ChangeSet, RecordsExt};

use super::Harness;
use super::scene::{Scene, assert_stale, at, first};

async fn page(scene: &Scene, filter: LedgerFilter, page: u32, limit: u32) -> LedgerPage {
    let page = scene.store.ledger_page(scene.company, &filter, PageRequest { page, limit }).await;
    page.expect("the store works")
}

/// Debits and refunds at several times, in the order of the listing.
async fn booked(scene: &Scene) -> Vec<LedgerLine> {
    let mut lines: Vec<LedgerLine> = (0..40)
        .map(|n: i64| {
            let millis = [4, 1, 4, 9, 2][n as usize % 5];
            let mut line = scene.debit(None, 1 + n * 7, millis);
            if n % 3 == 0 {
                line.kind = LineKind::Refund;
                (line.prosas, line.cost) = (line.prosas.negated(), line.cost.negated());
            }
            line
        })
        .collect();
    scene.add_all(lines.clone()).await;
    lines.sort_by_key(|line| std::cmp::Reverse((line.created_at, line.id)));
    lines
}

fn sums(lines: &[LedgerLine]) -> (Prosas, Brl) {
    let units = lines.iter().map(|line| line.prosas.units()).sum();
    let cost = lines.iter().map(|line| line.cost.units()).sum();
    (Prosas::from_units(units), Brl::from_units(cost))
}

/// Newest first, then by id. Sums and total are those of all pages.
pub async fn pages_of_the_ledger_partition_it_and_sum_up_all(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let nothing = LedgerPage { page: Page::empty(), prosas: Prosas::ZERO, cost: Brl::ZERO };
    assert_eq!(page(&scene, LedgerFilter::default(), 1, 10).await, nothing);
    let lines = booked(&scene).await;
    let other = scene.another_company().await;
    other.add(other.debit(None, 1_000, 4)).await;
    for limit in [1, 7, 20, 39, 40, 100] {
        let mut listed = Vec::new();
        for number in 1..=40_u32.div_ceil(limit) + 1 {
            let page = page(&scene, LedgerFilter::default(), number, limit).await;
            assert_eq!(page.page.total, 40);
            assert_eq!((page.prosas, page.cost), sums(&lines));
            assert!(page.page.items.len() <= limit as usize);
            listed.extend(page.page.items);
        }
        assert_eq!(listed, lines);
    }
    assert_eq!(page(&other, LedgerFilter::default(), 1, 10).await.prosas.units(), 1_000);
}

/// Both ends of a time span are included.
pub async fn every_combination_of_ledger_filters_is_exact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let lines = booked(&scene).await;
    let times = [None, Some(1), Some(2), Some(3), Some(4), Some(9), Some(10)];
    for kind in [None, Some(LineKind::Debit), Some(LineKind::Refund)] {
        for from in times {
            for to in times {
                let (from, to) = (from.map(at), to.map(at));
                let holds = |line: &&LedgerLine| {
                    kind.is_none_or(|kind| line.kind == kind)
                        && from.is_none_or(|from| from <= line.created_at)
                        && to.is_none_or(|to| line.created_at <= to)
                };
                let wanted: Vec<LedgerLine> = lines.iter().filter(holds).cloned().collect();
                let found = page(&scene, LedgerFilter { from, to, kind }, 1, 100).await;
                assert_eq!((found.prosas, found.cost), sums(&wanted));
                assert_eq!(found.page.total, wanted.len() as u64);
                assert_eq!(found.page.items, wanted);
            }
        }
    }
}

/// Sums of the largest amounts are exact, too.
pub async fn sums_of_the_ledger_are_exact_at_the_extremes(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (billion, smallest) = (1_000_000_000_000_000, 1);
    let mut lines: Vec<LedgerLine> = (0..50).map(|_| scene.debit(None, 1, 0)).collect();
    for line in &mut lines {
        line.prosas = Prosas::from_units(billion / 1_000);
        line.cost = Brl::from_units(billion);
    }
    lines[0].cost = Brl::from_units(billion + smallest);
    scene.add_all(lines.clone()).await;
    let found = page(&scene, LedgerFilter::default(), 1, 1).await;
    assert_eq!(found.cost.units(), 50 * billion + smallest);
    assert_eq!(found.prosas.units(), 50 * (billion / 1_000));
    let refund = LedgerLine { cost: Brl::from_units(-billion), ..scene.debit(None, 0, 0) };
    scene.add(refund).await;
    let found = page(&scene, LedgerFilter::default(), 1, 1).await;
    assert_eq!(found.cost.units(), 49 * billion + smallest);
}

/// D59: if two refunds of one debit relied on the same sums, one is applied.
pub async fn refunds_of_one_debit_are_applied_one_after_another(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let debit = scene.debit(None, 1_000, 0);
    scene.add(debit.clone()).await;
    let refund = |units: i64| {
        let mut row = debit.clone();
        row.refunded = (Prosas::from_units(units), Brl::from_units(units * 7));
        let mut line = scene.debit(None, -units, 1);
        (line.kind, line.consumption_id) = (LineKind::Refund, debit.id);
        ChangeSet::new().with(first(debit.clone()).update(row)).insert(line)
    };
    scene.store.commit(refund(600)).await.expect("nothing was given back before");
    assert_stale(scene.store.commit(refund(500)).await);
    let all = page(&scene, LedgerFilter::default(), 1, 10).await;
    assert_eq!((all.page.total, all.prosas.units()), (2, 400));
    let kept = scene.store.get::<LedgerLine>((scene.company, debit.id)).await.expect("works");
    assert_eq!(kept.map(|line| line.refunded.0.units()), Some(600));
}

/// Total, sums and items are read from the same state.
pub async fn sums_of_the_ledger_are_of_the_same_state_as_its_lines(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let lines: Vec<_> = (0..60).map(|n| scene.debit(None, 1 + n, n)).collect();
    let store = scene.store.clone();
    let writer = tokio::spawn(async move {
        for line in lines {
            let changes = ChangeSet::new().insert(line);
            store.commit(changes).await.expect("nothing stands in the way");
        }
    });
    while !writer.is_finished() {
        let found = page(&scene, LedgerFilter::default(), 1, 100).await;
        assert_eq!(found.page.items.len() as u64, found.page.total);
        assert_eq!((found.prosas, found.cost), sums(&found.page.items));
        tokio::task::yield_now().await;
    }
    writer.await.expect("no panic");
    assert_eq!(page(&scene, LedgerFilter::default(), 1, 100).await.page.total, 60);
}

/// R430: both ends of a span are included, spans may overlap, and nothing is in one that ends
/// before it begins.
pub async fn spans_of_the_ledger_have_their_own_sums_by_kind(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let lines = booked(&scene).await;
    let other = scene.another_company().await;
    other.add(other.debit(None, 1_000, 4)).await;
    let span = |from, to| LedgerSpan { from: at(from), to: at(to) };
    let spans = [span(1, 2), span(3, 3), span(4, 9), span(9, 4), span(0, 10), span(10, 20)];
    let found = scene.store.ledger_totals(scene.company, &spans).await.expect("the store works");
    let of = |span: &LedgerSpan, kind| {
        let within = |line: &&LedgerLine| {
            line.kind == kind && span.from <= line.created_at && line.created_at <= span.to
        };
        let (prosas, cost_brl) = sums(&lines.iter().filter(within).cloned().collect::<Vec<_>>());
        LedgerTotals { prosas, cost_brl }
    };
    let wanted: Vec<SpanTotals> = spans
        .iter()
        .map(|span| SpanTotals {
            debits: of(span, LineKind::Debit),
            refunds: of(span, LineKind::Refund),
        })
        .collect();
    assert_eq!(found, wanted);
    let none = scene.store.ledger_totals(scene.company, &[]).await.expect("the store works");
    assert_eq!(none, []);
}
