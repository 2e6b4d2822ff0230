//! What messages hold besides text and file, over HTTP: 2.4, 4.6, 4.7, 6.1; X2, X4.

use recado_tests::{World, both_stores, digits, mobile, text, with};
use serde_json::{Value, json};

#[both_stores]
async fn the_blocks_of_a_message_are_the_same_in_both_listings_and_in_its_event(world: World) {
    let qr = world.qr().await;
    let from = digits(&mobile(1));
    let blocks = json!({
        "location": {"latitude": -23.561_684, "longitude": -46.625_378, "name": "Loja \"Sol\"",
            "address": "Rua A, 1", "url": null, "is_live": false},
        "referral": {"source_type": "ad", "source_id": "1", "source_url": "https://example.com",
            "headline": "Promoção", "body": null, "media_url": null, "click_id": "k"},
        "forwarded": "often",
    });
    let event = with(world.inbound(&from, ""), json!({"type": "location", "content": null}));
    let id = world.stored(&qr, with(event, blocks.clone())).await;

    let listed = world.message(&id).await;
    assert_eq!(listed["content"], "-23.561684,-46.625378 Loja \"Sol\", Rua A, 1");
    let of_contact = world.messages_of(&text(&listed["contact_id"])).await;
    let here = of_contact.iter().find(|message| message["id"] == id).expect("listed");
    let events = world.events_of("message.received").await;
    let reported = events.iter().find(|data| data["message_id"] == id).expect("reported");
    for shown in [&listed, here, reported] {
        for (key, block) in blocks.as_object().expect("an object") {
            assert_eq!(&shown[key], block, "{key} of {shown}");
        }
        for key in [
            "shared_contacts",
            "interactive",
            "order",
            "product",
            "reaction",
            "system",
            "unsupported",
            "deleted_by_sender_at",
        ] {
            assert_eq!(shown.get(key), Some(&Value::Null), "{key} of {shown}");
        }
        assert_eq!(shown["is_voice"], false);
    }
}

/// X2: a block of no form is refused by its name, and the others of the call are stored.
#[both_stores]
async fn a_block_that_cannot_be_read_is_named(world: World) {
    let qr = world.qr().await;
    let event = with(world.inbound(&digits(&mobile(1)), "oi"), json!({"order": {"items": 1}}));
    let result = world.gateway_one(&qr, event).await;
    assert_eq!(result["result"], "refused");
    let reason = text(&result["reason"]);
    assert!(reason.starts_with("order cannot be read"), "{reason}");
}
