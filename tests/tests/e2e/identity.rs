//! The contact of an event: the ids of one person on a channel. D15, D17, D62, D67.

use recado_tests::{World, both_stores, digits, eight_digits, mobile, text, with};
use serde_json::{Value, json};

const LID: &str = "123456789012345@lid";
const SCOPED: &str = "BR.13491208655302741918";

/// Receives a message from a person with several ids, and returns the id of the contact.
async fn writes(world: &World, connection: &str, from: &str, aliases: &[&str]) -> String {
    let event = with(world.inbound(from, "oi"), json!({"aliases": aliases}));
    let message = world.stored(connection, event).await;
    text(&world.message(&message).await["contact_id"])
}

async fn people(world: &World) -> usize {
    world.list_ids("limit=100").await.len()
}

#[both_stores]
async fn a_phone_that_is_learnt_later_belongs_to_the_contact_known_by_its_lid(world: World) {
    let qr = world.qr().await;
    for (n, name) in (1..).zip([LID, SCOPED]) {
        let phone = mobile(n);
        let contact = writes(&world, &qr, name, &[]).await;
        let before = world.detail(&contact).await;
        assert_eq!(before["phone"], name, "the channel's name stands in for a phone");
        assert_eq!(writes(&world, &qr, &eight_digits(&phone), &[name]).await, contact);
        let after = world.detail(&contact).await;
        assert_eq!(after["phone"], phone);
        assert_eq!(world.full(&contact).await["identifier"], name, "the identifier stays");
        // From now on each id, and each form of the phone, belongs to this contact.
        for from in [name, &digits(&phone), &eight_digits(&phone)] {
            assert_eq!(writes(&world, &qr, from, &[]).await, contact, "{from}");
        }
        assert_eq!(world.sent(&phone, "oi").await["contact_id"], contact.as_str());
        world.post_contact(json!({"phone": phone})).await.expect_error(409, "CONTACT_EXISTS");
    }
    assert_eq!(people(&world).await, 2);
    assert_eq!(world.events_of("contact.created").await.len(), 2);
}

#[both_stores]
async fn two_contacts_that_are_one_person_both_stay_and_a_send_by_phone_is_409(world: World) {
    let qr = world.qr().await;
    let by_phone = world.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    let by_lid = writes(&world, &qr, LID, &[]).await;
    // The gateway reports only now that both ids belong to one person.
    assert_eq!(writes(&world, &qr, LID, &[&digits(&mobile(1))]).await, by_lid);
    assert_eq!(people(&world).await, 2);
    for contact in [&by_phone, &by_lid] {
        assert_eq!(world.detail(contact).await["phone"], mobile(1));
    }
    assert_eq!(world.messages_of(&by_phone).await, Vec::<Value>::new());
    assert_eq!(world.messages_of(&by_lid).await.len(), 2);
    world.send_text(&mobile(1), "oi").await.expect_error(409, "AMBIGUOUS_CONTACT");
    let messages = world.all_messages().await;
    assert!(messages.iter().all(|one| one["direction"] == "inbound"), "{messages:?}");
    // Each id still belongs to the same contact as before.
    assert_eq!(writes(&world, &qr, LID, &[]).await, by_lid);
    assert_eq!(writes(&world, &qr, &digits(&mobile(1)), &[]).await, by_phone);
    assert_eq!(world.events_of("contact.created").await.len(), 2);
}

#[both_stores]
async fn the_names_of_a_company_are_nobodys_elsewhere(world: World) {
    let qr = world.qr().await;
    let ours = writes(&world, &qr, LID, &[&digits(&mobile(1))]).await;
    let them = world.tenant("Rival").await;
    let body = json!({
        "kind": "qr", "name": "x", "identifier": "+551140000000", "gateway": "simulated",
    });
    let theirs = text(&world.make_for(&them, "C/connections", body).await["id"]);
    let path = format!("C/connections/{theirs}/events");
    let events = json!({"events": [world.inbound(LID, "oi")]});
    world.operator_for(&them, "POST", &path, events).await.expect(200);
    let found = world.get_as(&them.key, "/api/v1/contacts").await.items();
    assert_eq!(found.len(), 1);
    assert_ne!(found[0]["id"], ours.as_str());
    assert_eq!(found[0]["phone"], LID);
}
