//! Concurrent use cases on this store.

use std::sync::Arc;

use recado_core::access::Caller;
use recado_core::contacts::{ContactFilter, CreateContactError, Created};
use recado_core::ids::ContactId;
use recado_core::jobs::JobKind;
use recado_core::organizations::Organization;
use recado_core::store::RecordsExt;
use recado_core::{Error, ManageError, Recado, Timestamp};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::Harness;
use super::scene::{CNPJ, Scene, applied, at};
use crate::SeededIds;
use crate::kit::{Kit, body};

type Creation = Result<Created, Error<CreateContactError>>;

/// Several instances of the core, as if in different processes, on one or two handles.
async fn processes(harness: &dyn Harness, count: u64) -> (Kit, Vec<Recado>) {
    let kit = Kit::on(harness.store().await).await;
    let second = harness.second().await;
    let mut apps = Vec::new();
    for n in 0..count {
        let store = match (&second, n % 2) {
            (Some(second), 1) => second.clone(),
            _ => harness.store().await,
        };
        apps.push(Kit::builder().store(store).ids(SeededIds::new(50 + n)).start().await);
    }
    (kit, apps)
}

/// Creates contacts at the same time, one in each process.
async fn create_at_once(apps: &[Recado], caller: &Caller, bodies: Vec<Value>) -> Vec<Creation> {
    let barrier = Arc::new(Barrier::new(bodies.len()));
    let mut tasks = Vec::new();
    for (app, new) in apps.iter().zip(bodies) {
        let (app, caller, barrier) = (app.clone(), caller.clone(), barrier.clone());
        tasks.push(tokio::spawn(async move {
            barrier.wait().await;
            app.contacts().create(&caller, &body(new)).await
        }));
    }
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.expect("no panic"));
    }
    outcomes
}

/// Promise 3: five writers that read and write a contact ten times each make exactly fifty updates.
pub async fn concurrent_updates_of_one_contact_lose_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut contact = scene.contact();
    contact.observation = Some("0".to_owned());
    scene.add(contact.clone()).await;
    let second = harness.second().await;
    let mut workers = Vec::new();
    for worker in 0..5 {
        let store = match (&second, worker % 2) {
            (Some(second), 1) => second.clone(),
            _ => scene.store.clone(),
        };
        let (scene, id) = (scene.through(store), contact.id);
        workers.push(tokio::spawn(async move {
            let mut done = 0;
            while done < 10 {
                let read = scene.stored(id).await;
                let count: u64 = read.observation.as_ref().expect("set").parse().expect("a number");
                let raised = read.changed(at(1), |c| c.observation = Some((count + 1).to_string()));
                if applied(scene.try_apply(read.update(raised)).await) {
                    done += 1;
                }
            }
        }));
    }
    for worker in workers {
        worker.await.expect("no panic");
    }
    let read = scene.stored(contact.id).await;
    assert_eq!(read.observation.as_deref(), Some("50"));
    assert_eq!(read.version().number(), 51);
}

/// The same with use cases: in the end the contact has the field of every writer.
pub async fn concurrent_patches_of_one_contact_lose_nothing(harness: &dyn Harness) {
    let (kit, apps) = processes(harness, 5).await;
    let fields = ["name", "observation", "rg", "city", "profissao"];
    let new = body(json!({ "phone": "+5511987654321" }));
    let created = kit.app.contacts().create(&kit.caller, &new).await.expect("created");
    let id = created.contact.id;
    let mut tasks = Vec::new();
    for (app, field) in apps.into_iter().zip(fields) {
        let caller = kit.caller.clone();
        tasks.push(tokio::spawn(async move {
            for n in 1..=10 {
                let change = body(json!({ field: format!("{field} {n}") }));
                let updated = app.contacts().update(&caller, id, &change).await;
                updated.expect("contention is not the caller's trouble");
            }
        }));
    }
    for task in tasks {
        task.await.expect("no panic");
    }
    let found = kit.app.contacts().get(&kit.caller, id, true).await.expect("there");
    let found = serde_json::to_value(found).expect("JSON");
    for field in fields {
        assert_eq!(found[field], json!(format!("{field} 10")));
    }
}

/// 4.3: of two creations with the same phone, one succeeds and the other names the contact.
pub async fn two_creations_of_one_phone_one_wins_and_the_other_learns_who(harness: &dyn Harness) {
    let (kit, apps) = processes(harness, 3).await;
    for round in 0..12 {
        // The last notation is the channel's, without the ninth digit.
        let notations = [
            format!("+55 34 99123{round:04}"),
            format!("(34) 99123-{round:04}"),
            format!("34 9123{round:04}"),
        ];
        let bodies = notations.iter().map(|phone| json!({ "phone": phone })).collect();
        let outcomes = create_at_once(&apps, &kit.caller, bodies).await;
        let winners: Vec<ContactId> =
            outcomes.iter().filter_map(|o| o.as_ref().ok()).map(|made| made.contact.id).collect();
        assert_eq!(winners.len(), 1, "round {round}: {outcomes:?}");
        for outcome in &outcomes {
            if let Err(error) = outcome {
                let Error::Rejected(CreateContactError::PhoneTaken { by }) = error else {
                    panic!("the phone is taken, not {error:?}");
                };
                assert_eq!(*by, winners[0]);
            }
        }
    }
    let events = harness.events(kit.company.id).await;
    assert_eq!(events.len(), 12, "one event for each contact that was created");
}

/// D20: an e-mail never prevents a creation.
pub async fn two_creations_with_one_email_both_succeed_one_with_shared_email(
    harness: &dyn Harness,
) {
    let (kit, apps) = processes(harness, 2).await;
    for round in 0..12 {
        let email = format!("ana{round}@example.com");
        let bodies = ["+55349912340", "+55349912350"]
            .map(|phone| json!({ "phone": format!("{phone}{round:02}"), "email": email }));
        let outcomes = create_at_once(&apps, &kit.caller, bodies.to_vec()).await;
        let created: Vec<Created> =
            outcomes.into_iter().map(|outcome| outcome.expect("both succeed")).collect();
        let held = created.iter().filter(|made| made.contact.email.is_some()).count();
        let shared = created.iter().filter(|made| made.contact.shared_email.is_some()).count();
        assert_eq!((held, shared), (1, 1));
        for made in created {
            let warned = made.warnings.iter().any(|w| w.code == "EMAIL_BELONGS_TO_ANOTHER_CONTACT");
            assert_eq!(warned, made.contact.shared_email.is_some());
        }
    }
}

/// D22: one organization per cnpj, one job per organization.
pub async fn two_creations_with_one_cnpj_share_one_organization_and_one_job(harness: &dyn Harness) {
    let (kit, apps) = processes(harness, 4).await;
    let bodies =
        (0..4).map(|n| json!({ "phone": format!("+553499123000{n}"), "cnpj": CNPJ })).collect();
    let outcomes = create_at_once(&apps, &kit.caller, bodies).await;
    let organizations = kit.app.store().all::<Organization>(kit.company.id).await.expect("works");
    assert_eq!(organizations.len(), 1);
    for outcome in outcomes {
        let contact = outcome.expect("created").contact;
        assert_eq!(contact.organization_id, Some(organizations[0].id));
    }
    let now = kit.app.now();
    let jobs = kit.store.claim_jobs(now, Timestamp::MAX, 10, &[]).await.expect("works");
    let kinds: Vec<_> = jobs.iter().map(|job| job.kind.clone()).collect();
    assert_eq!(kinds, [JobKind::Enrich { organization: organizations[0].id }]);
}

/// D58: a slug is unique.
pub async fn one_slug_is_given_once(harness: &dyn Harness) {
    let (kit, apps) = processes(harness, 3).await;
    let barrier = Arc::new(Barrier::new(3));
    let mut tasks = Vec::new();
    for app in apps {
        let (company, barrier) = (kit.company.id, barrier.clone());
        tasks.push(tokio::spawn(async move {
            barrier.wait().await;
            let new = body(json!({ "label": "Cidade", "slug": "cidade" }));
            app.custom_fields().create(company, &new).await
        }));
    }
    let mut made = 0;
    for task in tasks {
        match task.await.expect("no panic") {
            Ok(_) => made += 1,
            Err(error) => {
                assert!(matches!(error, Error::Rejected(ManageError::SlugTaken)), "{error:?}");
            }
        }
    }
    assert_eq!(made, 1);
}

/// Promise 4 with use cases: after the deactivation of a field was answered, no value of it is
/// written.
pub async fn a_custom_field_that_is_deactivated_takes_no_value_afterwards(harness: &dyn Harness) {
    let (kit, apps) = processes(harness, 2).await;
    for round in 0..8 {
        let new = body(json!({ "label": "Cidade", "slug": format!("cidade-{round}") }));
        let field = kit.app.custom_fields().create(kit.company.id, &new).await.expect("made");
        let barrier = Arc::new(Barrier::new(2));
        let writer = {
            let (app, caller, barrier) = (apps[0].clone(), kit.caller.clone(), barrier.clone());
            tokio::spawn(async move {
                barrier.wait().await;
                let mut written = 0;
                for n in 0..15 {
                    let fields = json!({ field.id.to_string(): "Uberlândia" });
                    let phone = format!("+55349{round}12{n:04}");
                    let new = body(json!({ "phone": phone, "custom_fields": fields }));
                    written += u32::from(app.contacts().create(&caller, &new).await.is_ok());
                }
                written
            })
        };
        barrier.wait().await;
        let inactive = body(json!({ "status": "inactive" }));
        let changed = apps[1].custom_fields().change(kit.company.id, field.id, &inactive).await;
        changed.expect("changed");
        let counted = holding(&kit, field.id).await;
        let written = writer.await.expect("no panic");
        assert_eq!(holding(&kit, field.id).await, written);
        assert!(counted == written, "{written} were written, {counted} before the change answered");
    }
}

/// How many contacts have a value of the field.
async fn holding(kit: &Kit, field: recado_core::ids::CustomFieldId) -> u32 {
    let filter = ContactFilter::default();
    let all = kit.app.store().contact_export(kit.company.id, &filter, None, 1_000, false).await;
    let records = all.expect("the store works").records;
    let holds = records.iter().filter(|r| r.contact.custom_fields.contains_key(&field));
    u32::try_from(holds.count()).expect("few")
}
