//! Media of inbound messages: 2.4; D26, D31a.

use recado_core::transport::{OutboundResponse, TransportError};
use recado_tests::{Request, World, both_stores, digits, eventually, mobile, text, wamid};
use serde_json::{Value, json};

const SOURCE: &str = "https://gateway.example/files/7";

fn photo(world: &World) -> Value {
    json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": world.time(),
        "from": digits(&mobile(1)), "type": "image",
        "media": {
            "url": SOURCE, "mimetype": "image/jpeg", "filename": "a.jpg", "caption": "olha isso",
        },
    })
}

/// Waits until the file of a message was fetched, and returns the path of its address.
async fn fetched(world: &World, message: &str) -> String {
    let url = eventually("a media_url", || async {
        world.message(message).await["media_url"].as_str().map(str::to_owned)
    })
    .await;
    let (_, path) = url.split_once("://").expect("an address");
    path[path.find('/').expect("a path")..].to_owned()
}

fn serves(world: &World, bytes: &[u8]) {
    let response = OutboundResponse::new(200, bytes.to_vec());
    world.server.transport.otherwise(Ok(response));
}

#[both_stores]
async fn a_message_with_media_is_stored_before_its_file_is_fetched(world: World) {
    let qr = world.qr().await;
    world.server.transport.otherwise(Err(TransportError::Refused));
    let id = world.stored(&qr, photo(&world)).await;
    let shown = world.message(&id).await;
    assert_eq!(shown["type"], "image");
    assert_eq!(shown["media_url"], Value::Null);
    assert_eq!(shown["media_mimetype"], "image/jpeg");
    assert_eq!(shown["media_filename"], "a.jpg");
    assert_eq!(shown["media_caption"], "olha isso");
    let events = world.events_of("message.received").await;
    assert_eq!(events[0]["media_url"], Value::Null);
    assert_eq!(events[0]["media_mimetype"], "image/jpeg");
    assert_eq!(events[0]["media_caption"], "olha isso");
}

#[both_stores]
async fn a_fetched_file_is_read_through_a_link_of_ours(world: World) {
    let qr = world.qr().await;
    serves(&world, b"the bytes of a photo");
    let id = world.stored(&qr, photo(&world)).await;
    let path = fetched(&world, &id).await;
    let asked = world.server.transport.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].url, SOURCE);
    // The link needs no key: its token is the credential.
    let file = world.send(Request::new("GET", &path)).await;
    assert_eq!(file.status, 200, "{}", file.show());
    assert_eq!(file.body.as_ref(), b"the bytes of a photo");
    assert_eq!(file.header("content-type"), "image/jpeg");
}

#[both_stores]
async fn a_forged_link_is_404(world: World) {
    let qr = world.qr().await;
    serves(&world, b"secret");
    let id = world.stored(&qr, photo(&world)).await;
    let path = fetched(&world, &id).await;
    let last = path.chars().next_back().expect("a character");
    let flipped = if last == 'A' { 'B' } else { 'A' };
    let (folder, _) = path.rsplit_once('/').expect("a path");
    for forged in [
        format!("{}{flipped}", &path[..path.len() - 1]),
        path[..path.len() - 1].to_owned(),
        format!("{path}A"),
        format!("{folder}/"),
        folder.to_owned(),
        path.replace(&world.us.id, &recado_tests::unknown_id()),
    ] {
        let answer = world.send(Request::new("GET", &forged)).await;
        assert_eq!(answer.status, 404, "{forged}: {}", answer.show());
        assert!(!answer.body.as_ref().windows(6).any(|window| window == b"secret"));
    }
}

#[both_stores]
async fn a_fetched_file_goes_with_its_contact(world: World) {
    let qr = world.qr().await;
    serves(&world, b"the bytes of a photo");
    let id = world.stored(&qr, photo(&world)).await;
    let path = fetched(&world, &id).await;
    assert_eq!(world.server.files_on_disk().len(), 1);
    let contact = text(&world.message(&id).await["contact_id"]);
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    assert!(world.server.files_on_disk().is_empty());
    assert_eq!(world.send(Request::new("GET", &path)).await.status, 404);
}

#[both_stores]
async fn a_repeated_message_fetches_nothing_again(world: World) {
    let qr = world.qr().await;
    serves(&world, b"the bytes of a photo");
    let event = photo(&world);
    let id = world.stored(&qr, event.clone()).await;
    fetched(&world, &id).await;
    world.gateway_one(&qr, event).await;
    let other = world.stored(&qr, photo(&world)).await;
    fetched(&world, &other).await;
    assert_eq!(world.server.transport.requests().len(), 2);
}
