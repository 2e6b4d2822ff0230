//! Jobs: each is claimed by one caller at a time.

use std::collections::BTreeSet;

use recado_core::ids::{ContactId, JobId};
use recado_core::jobs::{Job, JobKind, PurgeStage};
use recado_core::store::{Stored, Version};

use super::Harness;
use super::scene::{Scene, assert_stale, at, first};

async fn claim(scene: &Scene, now: i64, until: i64, limit: u32) -> Vec<Stored<Job>> {
    scene.store.claim_jobs(at(now), at(until), limit, &[]).await.expect("the store works")
}

async fn due(scene: &Scene, millis: i64) -> Job {
    let mut job = scene.job();
    job.due_at = at(millis);
    scene.add(job.clone()).await;
    job
}

/// A claimed job is answered as it is stored: with its lease and its next version.
pub async fn a_due_job_is_claimed_with_a_lease(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let job = due(&scene, 0).await;
    let leased = Job { leased_until: Some(at(50)), ..job };
    assert_eq!(claim(&scene, 0, 50, 10).await, [Stored::new(leased, Version::new(2))]);
}

/// A job is not claimed before it is due, nor with a limit of 0.
pub async fn a_job_that_is_not_due_is_not_claimed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    due(&scene, 10).await;
    assert_eq!(claim(&scene, 9, 50, 10).await, []);
    assert_eq!(claim(&scene, 10, 50, 0).await, []);
    assert_eq!(claim(&scene, 10, 50, 10).await.len(), 1);
}

/// The job can be claimed again when the lease has expired.
pub async fn a_leased_job_is_claimed_by_nobody_else(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    due(&scene, 0).await;
    let mut leased = scene.job();
    leased.leased_until = Some(at(50));
    scene.add(leased.clone()).await;
    assert_eq!(claim(&scene, 0, 50, 10).await.len(), 1);
    for now in [0, 49] {
        assert_eq!(claim(&scene, now, 100, 10).await, []);
    }
}

/// The lease expires after a crash.
pub async fn a_lapsed_lease_is_taken_over(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let job = due(&scene, 0).await;
    claim(&scene, 0, 50, 10).await;
    let taken = claim(&scene, 50, 100, 10).await;
    let leased = Job { leased_until: Some(at(100)), ..job };
    assert_eq!(taken, [Stored::new(leased, Version::new(3))]);
}

/// A caller that has lost the lease cannot finish the job.
pub async fn the_outcome_is_a_commit_on_the_claimed_version(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    due(&scene, 0).await;
    let lost = claim(&scene, 0, 50, 1).await.remove(0);
    let held = claim(&scene, 50, 100, 1).await.remove(0);
    assert_stale(scene.try_apply(lost.delete()).await);
    let later = Job { due_at: at(200), leased_until: None, attempts: 1, ..held.value().clone() };
    scene.apply(held.update(later.clone())).await;
    assert_eq!(claim(&scene, 199, 300, 1).await, []);
    let again = claim(&scene, 200, 300, 1).await.remove(0);
    assert_eq!(again.value(), &Job { leased_until: Some(at(300)), ..later });
    scene.apply(again.delete()).await;
    assert_eq!(claim(&scene, 9_999, 19_999, 1).await, []);
}

/// Oldest `due_at` first.
pub async fn jobs_are_claimed_oldest_first_up_to_the_limit(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for millis in [30, 10, 50, 20, 40] {
        due(&scene, millis).await;
    }
    let claimed = async |limit| {
        let claimed = claim(&scene, 45, 100, limit).await;
        claimed.iter().map(|job| job.due_at).collect::<Vec<_>>()
    };
    assert_eq!(claimed(2).await, [at(10), at(20)]);
    assert_eq!(claimed(10).await, [at(30), at(40)]);
}

/// A claim includes the jobs of all companies.
pub async fn claims_go_over_all_companies(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    due(&scene, 1).await;
    due(&other, 0).await;
    let companies: Vec<_> = claim(&scene, 5, 10, 10).await.iter().map(|job| job.company).collect();
    assert_eq!(companies, [other.company, scene.company]);
}

/// Several callers claim at once, on several handles.
pub async fn concurrent_claims_hand_a_job_to_one_caller_only(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let second = harness.second().await;
    let jobs: Vec<Job> = (0..60).map(|_| scene.job()).collect();
    scene.add_all(jobs.clone()).await;
    let mut workers = Vec::new();
    for worker in 0..4 {
        let store = match (&second, worker % 2) {
            (Some(second), 1) => second.clone(),
            _ => scene.store.clone(),
        };
        workers.push(tokio::spawn(async move {
            let mut claimed: Vec<JobId> = Vec::new();
            // Other callers may have locked the remaining jobs for a moment, so one empty answer
            // does not end the loop.
            let mut empty = 0;
            while empty < 20 {
                let part = store.claim_jobs(at(0), at(50), 3, &[]).await.expect("the store works");
                empty = if part.is_empty() { empty + 1 } else { 0 };
                claimed.extend(part.iter().map(|job| job.id));
                tokio::task::yield_now().await;
            }
            claimed
        }));
    }
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.expect("no panic"));
    }
    assert_eq!(all.len(), jobs.len(), "each job is handed out once");
    let distinct: BTreeSet<JobId> = all.into_iter().collect();
    assert_eq!(distinct, jobs.iter().map(|job| job.id).collect());
}

/// D26: the job that purges a contact's files is found by the contact.
pub async fn the_purge_of_a_contact_is_found(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = ContactId::new(scene.uuid());
    let (mut purge, enrich) = (scene.job(), scene.job());
    purge.kind = JobKind::Purge { contact, documents: Vec::new(), stage: PurgeStage::Removing };
    scene.add_all([purge.clone(), enrich.clone()]).await;
    let (store, company) = (&scene.store, scene.company);
    assert_eq!(
        store.job_like(company, &JobKind::purge_of(contact)).await.expect("works"),
        Some(first(purge))
    );
    let subject = ContactId::new(enrich.kind.subject());
    assert_eq!(store.job_like(company, &JobKind::purge_of(subject)).await.expect("works"), None);
    let other = scene.another_company().await;
    assert_eq!(
        store.job_like(other.company, &JobKind::purge_of(contact)).await.expect("works"),
        None
    );
}
