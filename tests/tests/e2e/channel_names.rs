//! The identifiers and aliases by which a channel knows a contact, and the ninth digit of Brazilian
//! mobile numbers: D15, D17, D62, D67.

use recado_tests::{World, both_stores, digits, eight_digits, mobile, steered, text, with};
use serde_json::json;

/// The identifier of the contact on its only connection.
async fn identifier(world: &World, contact: &str) -> String {
    text(&world.detail(contact).await["connections"][0]["identifier"])
}

async fn contact_of(world: &World, message: &str) -> String {
    text(&world.message(message).await["contact_id"])
}

#[both_stores]
async fn a_message_in_either_form_of_a_mobile_reaches_the_one_contact(world: World) {
    let qr = world.qr().await;
    let id = world.create_id(json!({"phone": mobile(1)})).await;
    for form in [eight_digits(&mobile(1)), digits(&mobile(1)), eight_digits(&mobile(1))] {
        let message = world.receive(&qr, &form, "oi").await;
        assert_eq!(contact_of(&world, &message).await, id, "{form}");
    }
    assert_eq!(world.list_ids("").await, [id]);
}

#[both_stores]
async fn a_send_to_either_form_of_a_mobile_reaches_the_one_contact(world: World) {
    world.qr().await;
    let id = world.create_id(json!({"phone": mobile(1)})).await;
    let short = format!("+{}", eight_digits(&mobile(1)));
    for to in [mobile(1), short.clone(), digits(&mobile(1)), short[3..].to_owned()] {
        assert_eq!(world.sent(&to, "oi").await["contact_id"], id.as_str(), "{to}");
    }
    assert_eq!(world.list_ids("").await, [id]);
}

#[both_stores]
async fn the_channels_own_name_is_kept_and_changes_neither_phone_nor_identifier(world: World) {
    let qr = world.qr().await;
    let id = world.create_id(json!({"phone": mobile(1)})).await;
    world.receive(&qr, &eight_digits(&mobile(1)), "oi").await;
    assert_eq!(identifier(&world, &id).await, eight_digits(&mobile(1)));
    let detail = world.detail(&id).await;
    assert_eq!(detail["phone"], mobile(1));
    assert_eq!(detail["identifier"], digits(&mobile(1)));
}

#[both_stores]
async fn a_send_uses_the_name_that_the_channel_knows_on_that_connection(world: World) {
    // The simulated gateway refuses a phone that ends in 0001, but no other kind of identifier.
    let (first, second) = (world.qr().await, world.qr().await);
    let phone = steered(1);
    let lid = "120363000000000003@lid";
    let event = with(world.inbound(lid, "oi"), json!({"aliases": [digits(&phone)]}));
    let message = world.stored(&first, event).await;
    let id = contact_of(&world, &message).await;
    let sent = world.send_through(&first, &phone).await.expect(200);
    assert_eq!(sent["contact_id"], id.as_str());
    assert_eq!(identifier(&world, &id).await, lid);
    world.send_through(&second, &phone).await.expect_error(502, "PROVIDER_ERROR");
}

#[both_stores]
async fn a_contact_made_by_an_event_has_the_channels_name_as_identifier(world: World) {
    let qr = world.qr().await;
    let from = eight_digits(&mobile(1));
    let message = world.receive(&qr, &from, "oi").await;
    let id = contact_of(&world, &message).await;
    let detail = world.detail(&id).await;
    assert_eq!(detail["identifier"], from.as_str());
    assert_eq!(detail["phone"], mobile(1), "the stored phone has its ninth digit");
    let again = world.post_contact(json!({"phone": mobile(1)})).await;
    again.expect_error(409, "CONTACT_EXISTS");
    assert_eq!(again.json()["contact_id"], id.as_str());
}

#[both_stores]
async fn an_alias_belongs_to_one_company(world: World) {
    let other = world.tenant("Other").await;
    let (ours, theirs) = (world.qr().await, world.connection_of(&other, "qr", json!({})).await);
    world.contact_by_message(&ours, &mobile(1)).await;
    let path = format!("C/connections/{theirs}/events");
    let event = world.inbound(&digits(&mobile(1)), "oi");
    let body = json!({"events": [event]});
    world.operator_for(&other, "POST", &path, body).await.expect(200);
    assert_eq!(world.all_messages().await.len(), 1);
    assert_eq!(world.get_as(&other.key, "/api/v1/messages").await.items().len(), 1);
    assert_eq!(world.get_as(&other.key, "/api/v1/contacts").await.items().len(), 1);
}

#[both_stores]
async fn two_contacts_with_one_phone_from_different_channels_are_ambiguous(world: World) {
    world.qr().await;
    let imports = [
        json!({"phone": mobile(1), "identifier": "a", "source_platform": "whatsapp"}),
        json!({"phone": mobile(1), "identifier": "b", "source_platform": "telegram"}),
    ];
    for body in imports {
        world.import(body).await;
    }
    for to in [mobile(1), format!("+{}", eight_digits(&mobile(1)))] {
        world.send_text(&to, "oi").await.expect_error(409, "AMBIGUOUS_CONTACT");
    }
    assert!(world.all_messages().await.is_empty());
}
