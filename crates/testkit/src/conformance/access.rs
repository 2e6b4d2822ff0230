//! Keys, companies, members and secrets.

use recado_core::access::{ApiKey, Company, Member, Plan, Secret, SecretName};
use recado_core::contacts::{ContactFilter, ExportQuery};
use recado_core::secret::SecretBytes;
use recado_core::store::{RecordsExt, Stored};
use serde_json::json;

use super::Harness;
use super::scene::{Scene, at, first};
use crate::SeededIds;
use crate::kit::{Kit, body};

/// D11: one read for every call gives the key and its company.
pub async fn a_key_is_found_by_its_hash_with_its_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ours, theirs) = (scene.key(), other.key());
    scene.add_all([ours.clone(), scene.key()]).await;
    other.add(theirs.clone()).await;
    for (scene, key) in [(&scene, ours), (&other, theirs)] {
        let found = scene.store.key_by_hash(&key.hash).await.expect("the store works");
        assert_eq!(found, Some((key, scene.company_row(scene.company))));
    }
    let unknown = scene.key().hash;
    assert_eq!(scene.store.key_by_hash(&unknown).await.expect("the store works"), None);
}

/// A call that begins after a key was revoked is refused, in every process.
pub async fn a_revoked_key_is_not_found(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let second = harness.second().await.unwrap_or_else(|| scene.store.clone());
    let key = scene.key();
    scene.add(key.clone()).await;
    assert!(second.key_by_hash(&key.hash).await.expect("the store works").is_some());
    scene.apply(first(key.clone()).delete()).await;
    for store in [&scene.store, &second] {
        assert_eq!(store.key_by_hash(&key.hash).await.expect("the store works"), None);
    }
}

/// A change of plan or rates applies from the next call on (D10, D12).
pub async fn a_change_of_plan_is_seen_with_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let second = harness.second().await.unwrap_or_else(|| scene.store.clone());
    let key = scene.key();
    scene.add(key.clone()).await;
    second.key_by_hash(&key.hash).await.expect("the store works");
    let company = scene.company_row(scene.company);
    let downgraded = Company { plan: Plan::Starter, ..company.clone() };
    scene.apply(first(company).update(downgraded.clone())).await;
    let mut slower = key.clone();
    slower.rate_per_minute = 1;
    scene.apply(first(key).update(slower.clone())).await;
    let found = second.key_by_hash(&slower.hash).await.expect("the store works");
    assert_eq!(found, Some((slower, downgraded)));
}

/// D58.
pub async fn companies_keys_and_members_are_listed_by_creation_then_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (mut keys, mut members) = (Vec::new(), Vec::new());
    for millis in [5, 1, 5, 3] {
        let (mut key, mut member) = (scene.key(), scene.member());
        (key.created_at, member.created_at) = (at(millis), at(millis));
        scene.add(key.clone()).await;
        scene.add(member.clone()).await;
        keys.push(key);
        members.push(member);
    }
    other.add(other.key()).await;
    other.add(other.member()).await;
    keys.sort_by_key(|key| (key.created_at, key.id));
    members.sort_by_key(|member| (member.created_at, member.id));
    let (store, company) = (&scene.store, scene.company);
    assert_eq!(store.all::<ApiKey>(company).await.expect("works"), keys);
    assert_eq!(store.all::<Member>(company).await.expect("works"), members);
    let mut early = scene.company_row(recado_core::ids::CompanyId::new(scene.uuid()));
    early.created_at = at(-1);
    scene.add(early.clone()).await;
    let companies = [early, scene.company_row(company), scene.company_row(other.company)];
    assert_eq!(store.all::<Company>(()).await.expect("works"), companies);
}

/// Secrets are read back byte for byte.
pub async fn a_secret_is_read_back(harness: &dyn Harness) {
    let store = harness.store().await;
    assert_eq!(store.get::<Secret>(SecretName::CursorKey).await.expect("works"), None);
    let bytes: Vec<u8> = (0..=255).collect();
    let secret = Secret { name: SecretName::CursorKey, bytes: SecretBytes::new(bytes) };
    let changes = recado_core::store::ChangeSet::new().insert(secret.clone());
    store.commit(changes).await.expect("it can be stored");
    let kept = store.get::<Secret>(SecretName::CursorKey).await.expect("works");
    assert_eq!(kept.map(Stored::into_value), Some(secret));
}

/// A cursor made by one process is accepted by the others (D25).
pub async fn two_processes_that_start_at_once_share_one_secret(harness: &dyn Harness) {
    let store = harness.store().await;
    let second = harness.second().await.unwrap_or_else(|| store.clone());
    let starts = [(store, 1), (second, 2)].map(|(store, seed)| {
        tokio::spawn(Kit::builder().store(store).ids(SeededIds::new(seed)).start())
    });
    let mut apps = Vec::new();
    for start in starts {
        apps.push(start.await.expect("no panic"));
    }
    let draft = recado_core::access::CompanyDraft::named("Padaria").expect("acceptable");
    let company = apps[0].access().create_company(draft).await.expect("made");
    let scopes = recado_core::access::Scopes::all();
    let draft = recado_core::access::KeyDraft::new("CRM", scopes);
    let key = apps[0].access().create_key(company.id, draft).await.expect("made");
    let caller = apps[1].access().authenticate(key.secret.expose()).await.expect("known");
    for n in 0..3 {
        let new = body(json!({ "phone": format!("+551198765432{n}") }));
        apps[0].contacts().create(&caller, &new).await.expect("created");
    }
    let query =
        |cursor| ExportQuery { filter: ContactFilter::default(), cursor, limit: 2, clicks: false };
    let page = apps[0].contacts().export(&caller, &query(None)).await.expect("exported");
    let rest = apps[1].contacts().export(&caller, &query(page.next_cursor)).await;
    assert_eq!(rest.expect("the cursor is known to both").items.len(), 1);
}

/// Used for readiness probes.
pub async fn a_new_store_is_ready(harness: &dyn Harness) {
    let store = harness.store().await;
    store.ready().await.expect("it was just opened");
    store.upkeep(at(0)).await.expect("it was just opened");
}
