//! Rows of documents.

use recado_core::documents::DocumentState;
use recado_core::store::Version;

use super::Harness;
use super::scene::{Scene, at, first};

/// Documents whose upload is only announced are listed too, with their versions.
pub async fn documents_are_listed_in_any_state_by_creation_then_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, other) = (scene.contact(), scene.contact());
    scene.add_all([contact.clone(), other.clone()]).await;
    let mut documents = Vec::new();
    for (n, millis) in [5, 1, 5, 3].into_iter().enumerate() {
        let mut document = scene.document(&contact);
        document.created_at = at(millis);
        if n % 2 == 0 {
            document.state = DocumentState::Uploading;
        }
        scene.add(document.clone()).await;
        documents.push(document);
    }
    scene.add(scene.document(&other)).await;
    documents.sort_by_key(|document| (document.created_at, document.id));
    let listed = async || {
        let listed = scene.store.documents(scene.company, contact.id).await;
        listed.expect("the store works")
    };
    assert_eq!(listed().await, documents.iter().cloned().map(first).collect::<Vec<_>>());

    let mut stored = documents[0].clone();
    stored.state = DocumentState::Stored;
    scene.apply(first(documents[0].clone()).update(stored.clone())).await;
    let changed = &listed().await[0];
    assert_eq!((changed.value(), changed.version()), (&stored, Version::new(2)));
}
