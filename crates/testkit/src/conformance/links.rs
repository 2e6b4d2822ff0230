//! Tracked links.

use recado_core::links::{Link, LinkCodeHash};
use recado_core::store::{RecordsExt, Stored, Version};

use super::Harness;
use super::scene::{Scene, at};

/// D60, R222: the code alone authorizes the call, and its hash finds the link.
pub async fn a_link_is_found_by_its_code_whatever_the_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    for scene in [&scene, &other] {
        let contact = scene.contact();
        let link = scene.link(&contact);
        scene.add(contact).await;
        scene.add(link.clone()).await;
        let found = scene.store.link_by_code(&link.code_hash).await.expect("the store works");
        assert_eq!(found, Some(Stored::new(link, Version::FIRST)));
    }
    let unknown = LinkCodeHash::from_bytes(scene.random());
    assert_eq!(scene.store.link_by_code(&unknown).await.expect("the store works"), None);
    // Hashes whose texts differ in case only are different hashes.
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    for text in [format!("{}A", "a".repeat(42)), "A".repeat(43)] {
        let mut link = scene.link(&contact);
        link.code_hash = LinkCodeHash::from_text(&text).expect("a hash");
        scene.add(link.clone()).await;
        let found = scene.store.link_by_code(&link.code_hash).await.expect("the store works");
        assert_eq!(found, Some(Stored::new(link, Version::FIRST)));
    }
}

/// D58.
pub async fn links_are_listed_by_creation_then_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let mut links = Vec::new();
    for millis in [5, 1, 5, 3] {
        let mut link = scene.link(&contact);
        link.created_at = at(millis);
        scene.add(link.clone()).await;
        links.push(link);
    }
    links.sort_by_key(|link| (link.created_at, link.id));
    assert_eq!(scene.store.all::<Link>(scene.company).await.expect("the store works"), links);
    assert_eq!(scene.store.all::<Link>(other.company).await.expect("the store works"), []);
}
