//! Promise 4 for closures: while the installation, or a company, is closed, nothing that relies on
//! it being open is applied (D76). And what a hold keeps back from claims (D75).

use recado_core::Cell;
use recado_core::halts::{Halt, HaltSubject, Whereabouts};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::jobs::{Job, JobKind};
use recado_core::store::{ChangeSet, Conflict, Precondition, RecordsExt, Stored, UniqueKey};

use super::Harness;
use super::scene::{Scene, applied, at, conflict, first};

fn halt(subject: HaltSubject) -> Halt {
    Halt {
        subject,
        reason: Some("for a test".to_owned()),
        since: at(7),
        whereabouts: Whereabouts::Here,
    }
}

/// A change set that writes for these companies.
fn writing(scene: &Scene, companies: &[CompanyId]) -> ChangeSet {
    let open = Precondition::Open { companies: companies.to_vec() };
    ChangeSet::new().insert(scene.list()).require(open)
}

async fn begin(scene: &Scene, subject: HaltSubject) {
    scene.add(halt(subject)).await;
}

async fn end(scene: &Scene, subject: HaltSubject) {
    let halt = scene.store.get::<Halt>(subject).await.expect("works").expect("it is halted");
    scene.apply(halt.delete()).await;
}

async fn assert_closed(scene: &Scene, companies: &[CompanyId]) {
    let before = scene.store.lists(scene.company).await.expect("works").len();
    let refused = conflict(scene.store.commit(writing(scene, companies)).await);
    assert_eq!(refused, Conflict::Closed);
    let after = scene.store.lists(scene.company).await.expect("works").len();
    assert_eq!(after, before, "nothing of the set was applied");
}

/// Every field is read back, and halts are listed by what they stop.
pub async fn halts_are_read_back_and_listed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert_eq!(scene.store.all::<Halt>(()).await.expect("works"), []);
    let cell = Cell::new(Cell::MAX).expect("a cell");
    let of = |subject, whereabouts| Halt { reason: None, whereabouts, ..halt(subject) };
    let halts = [
        halt(HaltSubject::Sending),
        of(HaltSubject::SendingOf(scene.company), Whereabouts::Elsewhere),
        of(HaltSubject::Writing, Whereabouts::InCell(cell)),
        halt(HaltSubject::WritingOf(scene.company)),
    ];
    for halt in halts.iter().rev() {
        scene.add(halt.clone()).await;
    }
    assert_eq!(scene.store.all::<Halt>(()).await.expect("works"), halts);
    let changed = Halt { reason: None, since: at(8), ..halts[0].clone() };
    scene.apply(first(halts[0].clone()).update(changed.clone())).await;
    let stored = scene.store.get::<Halt>(HaltSubject::Sending).await.expect("works");
    assert_eq!(stored.map(Stored::into_value), Some(changed));
}

/// A closed installation refuses for any company and for none; a held one refuses nothing.
pub async fn a_closed_installation_refuses_what_relies_on_it_being_open(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    begin(&scene, HaltSubject::Sending).await;
    scene.store.commit(writing(&scene, &[scene.company])).await.expect("it is held, not closed");
    begin(&scene, HaltSubject::Writing).await;
    assert_closed(&scene, &[]).await;
    assert_closed(&scene, &[scene.company]).await;
    // What does not rely on it is applied all the same.
    scene.add(scene.list()).await;
    end(&scene, HaltSubject::Writing).await;
    scene.store.commit(writing(&scene, &[scene.company])).await.expect("it is open again");
}

/// A closed company refuses what is written for it, also among others, and nothing else.
pub async fn a_closed_company_refuses_only_its_own(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    begin(&scene, HaltSubject::WritingOf(other.company)).await;
    begin(&scene, HaltSubject::SendingOf(scene.company)).await;
    scene.store.commit(writing(&scene, &[scene.company])).await.expect("another one is closed");
    scene.store.commit(writing(&scene, &[])).await.expect("the installation is open");
    assert_closed(&scene, &[other.company]).await;
    assert_closed(&scene, &[scene.company, other.company]).await;
    end(&scene, HaltSubject::WritingOf(other.company)).await;
    let both = writing(&scene, &[scene.company, other.company]);
    scene.store.commit(both).await.expect("it is open again");
}

/// Both halts of writing at once are no less than one.
pub async fn a_company_that_is_closed_twice_is_closed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    begin(&scene, HaltSubject::WritingOf(scene.company)).await;
    begin(&scene, HaltSubject::Writing).await;
    assert_closed(&scene, &[scene.company]).await;
    end(&scene, HaltSubject::Writing).await;
    assert_closed(&scene, &[scene.company]).await;
}

/// Promise 7: a closure by another process is seen by the next commit.
pub async fn a_closure_through_a_second_handle_is_seen_at_once(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let Some(second) = harness.second().await else { return };
    let second = scene.through(second);
    scene.store.commit(writing(&scene, &[scene.company])).await.expect("it is open");
    begin(&second, HaltSubject::Writing).await;
    assert_closed(&scene, &[scene.company]).await;
    end(&second, HaltSubject::Writing).await;
    scene.store.commit(writing(&scene, &[scene.company])).await.expect("it is open again");
}

/// Of commits that go on while it is closed, each is applied before the closure is, or not at all:
/// what was counted after the closure stays so.
pub async fn nothing_is_applied_once_a_closure_is(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let closing = match harness.second().await {
        Some(second) => scene.through(second),
        None => scene.through(scene.store.clone()),
    };
    for _ in 0..5 {
        let mut commits = Vec::new();
        for _ in 0..40 {
            let (store, changes) = (scene.store.clone(), writing(&scene, &[scene.company]));
            commits.push(tokio::spawn(async move { applied(store.commit(changes).await) }));
        }
        tokio::task::yield_now().await;
        let before = scene.store.lists(scene.company).await.expect("works").len();
        begin(&closing, HaltSubject::WritingOf(scene.company)).await;
        let closed_with = closing.store.lists(scene.company).await.expect("works").len();
        for commit in commits {
            commit.await.expect("no panic");
        }
        let in_the_end = scene.store.lists(scene.company).await.expect("works").len();
        assert_eq!(in_the_end, closed_with, "a commit came after the closure");
        assert!(before <= closed_with);
        end(&closing, HaltSubject::WritingOf(scene.company)).await;
    }
}

/// Halts of one installation begin once.
pub async fn a_halt_that_exists_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    begin(&scene, HaltSubject::Sending).await;
    let taken = conflict(scene.try_add(halt(HaltSubject::Sending)).await);
    assert_eq!(taken, Conflict::Taken(UniqueKey::Halt));
}

async fn claim(scene: &Scene, except: &[&'static str]) -> Vec<JobKind> {
    let claimed = scene.store.claim_jobs(at(0), at(0), 10, except).await.expect("works");
    claimed.into_iter().map(|job| job.into_value().kind).collect()
}

/// While the installation is closed no job is claimed, and while a company is closed none of its.
pub async fn jobs_of_who_is_closed_are_not_claimed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let due = |scene: &Scene| Job { due_at: at(0), ..scene.job() };
    let (own, others) = (due(&scene), due(&other));
    scene.add(own.clone()).await;
    other.add(others.clone()).await;
    begin(&scene, HaltSubject::WritingOf(scene.company)).await;
    assert_eq!(claim(&scene, &[]).await, std::slice::from_ref(&others.kind));
    begin(&scene, HaltSubject::Writing).await;
    assert_eq!(claim(&scene, &[]).await, []);
    end(&scene, HaltSubject::Writing).await;
    end(&scene, HaltSubject::WritingOf(scene.company)).await;
    assert_eq!(claim(&scene, &[]).await.len(), 2);
}

/// Jobs of the kinds that are excepted are left where they are.
pub async fn jobs_that_are_excepted_are_not_claimed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = ContactId::new(scene.uuid());
    let (one, another) = (scene.job(), scene.job());
    let one = Job { due_at: at(0), kind: JobKind::purge_of(contact), ..one };
    let another = Job { due_at: at(0), kind: JobKind::EraseEvents { contact }, ..another };
    scene.add(one.clone()).await;
    scene.add(another.clone()).await;
    assert_eq!(claim(&scene, &["purge", "enrich"]).await, std::slice::from_ref(&another.kind));
    assert_eq!(claim(&scene, &["purge", "erase_events"]).await, []);
    assert_eq!(claim(&scene, &["no_such_kind"]).await.len(), 2);
}
