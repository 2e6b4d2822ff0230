//! Promise 2: the conflict names the unique key that is taken.

use recado_core::access::{Secret, SecretName};
use recado_core::contacts::{Email, Platform};
use recado_core::ids::JobId;
use recado_core::secret::SecretBytes;
use recado_core::store::{RecordsExt, Stored, UniqueKey};

use super::Harness;
use super::scene::{CNPJ, Scene, assert_taken, at, first};

fn email(address: &str) -> Option<Email> {
    Some(Email::parse(address).expect("an address"))
}

/// The primary key of any row.
pub async fn a_taken_id_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, list) = (scene.contact(), scene.list());
    scene.add(contact.clone()).await;
    scene.add(list.clone()).await;
    let mut same_id = scene.contact();
    same_id.id = contact.id;
    assert_taken(scene.try_add(same_id).await, UniqueKey::Id);
    assert_taken(scene.try_add(list).await, UniqueKey::Id);
    assert_taken(scene.try_add(scene.company_row(scene.company)).await, UniqueKey::Id);
    assert_eq!(scene.stored(contact.id).await, first(contact));
}

/// D17.
pub async fn a_taken_identifier_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    scene.add(scene.contact_named("5511987654321")).await;
    let again = scene.contact_named("5511987654321");
    assert_taken(scene.try_add(again).await, UniqueKey::ContactIdentifier);
}

/// D20.
pub async fn a_taken_email_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (mut ana, mut bia, mut shared) = (scene.contact(), scene.contact(), scene.contact());
    ana.email = email("ana@example.com");
    bia.email = email("ana@example.com");
    shared.shared_email = email("ana@example.com");
    scene.add(ana).await;
    assert_taken(scene.try_add(bia).await, UniqueKey::ContactEmail);
    scene.add(shared).await;
}

/// D58.
pub async fn a_taken_slug_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    scene.add(scene.field("cidade")).await;
    assert_taken(scene.try_add(scene.field("cidade")).await, UniqueKey::CustomFieldSlug);
    scene.add(scene.field("Cidade")).await;
}

/// D22.
pub async fn a_taken_cnpj_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    scene.add(scene.organization(CNPJ)).await;
    assert_taken(scene.try_add(scene.organization(CNPJ)).await, UniqueKey::OrganizationCnpj);
}

/// D11: over all companies.
pub async fn a_taken_key_hash_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = scene.key();
    scene.add(key.clone()).await;
    let mut again = scene.another_company().await.key();
    again.hash = key.hash;
    assert_taken(scene.try_add(again).await, UniqueKey::KeyHash);
}

/// D60: over all companies.
pub async fn a_taken_link_code_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let link = scene.link(&contact);
    scene.add(link.clone()).await;
    let other = scene.another_company().await;
    let theirs = other.contact();
    other.add(theirs.clone()).await;
    let mut again = other.link(&theirs);
    again.code_hash = link.code_hash;
    assert_taken(other.try_add(again).await, UniqueKey::LinkCode);
}

/// There is at most one job of a kind for one record.
pub async fn a_second_job_for_one_subject_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let job = scene.job();
    scene.add(job.clone()).await;
    let mut again = scene.job();
    again.kind = job.kind.clone();
    assert_taken(scene.try_add(again).await, UniqueKey::JobSubject);
    let mut purge = scene.job();
    purge.kind = recado_core::jobs::JobKind::Purge {
        contact: recado_core::ids::ContactId::new(job.kind.subject()),
        documents: Vec::new(),
        stage: recado_core::jobs::PurgeStage::Removing,
    };
    scene.add(purge).await;
}

/// There is one secret of each name.
pub async fn a_taken_secret_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let secret =
        |byte: u8| Secret { name: SecretName::CursorKey, bytes: SecretBytes::new([byte; 32]) };
    scene.add(secret(1)).await;
    assert_taken(scene.try_add(secret(2)).await, UniqueKey::SecretName);
    let kept = scene.store.get::<Secret>(SecretName::CursorKey).await.expect("the store works");
    assert_eq!(kept.map(Stored::into_value), Some(secret(1)));
}

/// (list, contact).
pub async fn a_membership_that_exists_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, list) = (scene.contact(), scene.list());
    scene.add(contact.clone()).await;
    scene.add(list.clone()).await;
    scene.add(scene.joins(&contact, &list)).await;
    assert_taken(scene.try_add(scene.joins(&contact, &list)).await, UniqueKey::ListMember);
}

/// (contact, tag).
pub async fn a_tag_that_is_given_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, tag) = (scene.contact(), scene.tag());
    scene.add(contact.clone()).await;
    scene.add(tag.clone()).await;
    scene.add(scene.tagged(&contact, &tag)).await;
    assert_taken(scene.try_add(scene.tagged(&contact, &tag)).await, UniqueKey::ContactTag);
}

/// Unique keys apply to updates, too.
pub async fn an_update_to_a_taken_email_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (mut ana, bia) = (scene.contact(), scene.contact());
    ana.email = email("ana@example.com");
    scene.add_all([ana, bia.clone()]).await;
    let wants = first(bia.clone()).changed(at(1), |c| c.email = email("ana@example.com"));
    assert_taken(scene.try_apply(first(bia).update(wants)).await, UniqueKey::ContactEmail);
}

/// D17: (company, source_platform, identifier).
pub async fn identifiers_are_unique_per_channel_only(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    scene.add(scene.contact_named("5511987654321")).await;
    let mut elsewhere = scene.contact_named("5511987654321");
    elsewhere.source_platform = Platform::parse("telegram").expect("a channel");
    scene.add(elsewhere).await;
}

/// Promise 8.
pub async fn values_taken_in_one_company_are_free_in_another(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    for scene in [&scene, &other] {
        let mut contact = scene.contact_named("5511987654321");
        contact.email = email("ana@example.com");
        scene.add(contact).await;
        scene.add(scene.field("cidade")).await;
        scene.add(scene.organization(CNPJ)).await;
    }
    let mut job = scene.job();
    scene.add(job.clone()).await;
    job.id = JobId::new(scene.uuid());
    job.company = other.company;
    other.add(job).await;
}

/// Only existing rows hold a unique value, not deleted ones.
pub async fn a_value_is_free_again_once_its_row_is_gone(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut contact = scene.contact_named("5511987654321");
    contact.email = email("ana@example.com");
    scene.add(contact.clone()).await;
    let given_up = first(contact.clone()).changed(at(1), |c| c.email = None);
    scene.apply(first(contact.clone()).update(given_up)).await;
    let mut bia = scene.contact();
    bia.email = email("ana@example.com");
    scene.add(bia).await;

    scene.apply(scene.stored(contact.id).await.delete()).await;
    scene.add(scene.contact_named("5511987654321")).await;
}
