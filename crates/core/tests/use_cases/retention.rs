//! Which messages are not removed yet, however old they are: R210.

use std::sync::Arc;
use std::time::Duration;

use recado_core::ids::MessageId;
use recado_core::{Recado, Settings};
use recado_testkit::Kit;
use recado_testkit::ids::SeededIds;

use super::gateway_scene::*;

/// Another process on the data of a kit, which keeps messages for a second.
async fn forgetful(kit: &Kit) -> Recado {
    let mut settings = Settings::new("https://recado.example");
    settings.message_retention = Some(Duration::from_secs(1));
    let builder = Kit::builder().store(Arc::clone(&kit.store)).clock(kit.clock.clone());
    builder.ids(SeededIds::new(7)).settings(settings).start().await
}

async fn is_there(kit: &Kit, id: MessageId) -> bool {
    !kit.store.messages(kit.company.id, &[id]).await.unwrap().is_empty()
}

/// R210.
#[tokio::test]
async fn an_uncertain_message_stays_while_its_gateway_is_asked_about_it() {
    let scene = scene("waha").await;
    scene.kit.provider.find(Ok(None));
    let id = scene.send_uncertainly("Oi").await;
    let other = forgetful(&scene.kit).await;
    scene.kit.clock.advance(Duration::from_secs(2));
    assert!(!other.retention().sweep().await.unwrap());
    assert!(is_there(&scene.kit, id).await);
    // After four questions nothing is awaited any more.
    for wait in [5, 30, 120, 600] {
        scene.after(wait).await;
    }
    assert!(is_there(&scene.kit, id).await);
    other.retention().sweep().await.unwrap();
    assert!(!is_there(&scene.kit, id).await);
}
