//! Sends that name a contact in place of a phone, and people who have none: 4.8; D16, D33, D34,
//! D40, D62, D71.

use recado_tests::{
    Campaigning, World, both_stores, digits, mobile, steered, text, unknown_id, with,
};
use serde_json::{Value, json};

use crate::gateway_evolution::Evolution;
use crate::gateway_waha::Waha;

const LID: &str = "123456789012@lid";
const SCOPED: &str = "BR.13491208655302741918";

/// A text to a contact.
fn to(contact: &str) -> Value {
    json!({"contact_id": contact, "message": "Olá!"})
}

/// The contact of the group with this code, of which a QR connection is a member.
async fn group(world: &World, code: &str) -> String {
    let qr = world.qr().await;
    let groups = json!([{"code": code, "subject": "Clientes"}]);
    world.put_groups(&qr, groups).await.expect(200);
    text(&world.group_contact(code).await["id"])
}

/// Somebody who writes under a name that is no phone; the contact.
async fn writes_as(world: &World, connection: &str, name: &str) -> String {
    let message = world.receive(connection, name, "oi").await;
    text(&world.message(&message).await["contact_id"])
}

// The body.

#[both_stores]
async fn a_contact_id_stands_in_place_of_to(world: World) {
    world.qr().await;
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    for absent in [json!({}), json!({"to": null}), json!({"to": " "})] {
        let sent = world.post_send(with(to(&contact), absent)).await.expect(200);
        assert_eq!(sent["contact_id"], contact.as_str());
    }
    assert_eq!(world.list_ids("").await, [contact.clone()]);
    let refused = world.post_send(json!({"contact_id": null})).await;
    assert_eq!(refused.expect_error(400, "MISSING_FIELD")["fields"], json!(["to", "message"]));
    for wrong in [json!("x"), json!(5), json!([contact])] {
        let body = json!({"contact_id": wrong, "message": "oi"});
        assert_eq!(world.post_send(body).await.expect_invalid(), ["contact_id"]);
    }
}

#[both_stores]
async fn an_unknown_contact_or_one_of_another_company_is_404(world: World) {
    world.qr().await;
    let other = world.tenant("Other").await;
    let theirs = world.post_as(&other.key, "/api/v1/contacts", json!({"phone": mobile(1)})).await;
    let theirs = text(&theirs.expect(201)["contact"]["id"]);
    world.template("ola", "UTILITY", "Olá").await;
    for contact in [unknown_id(), theirs] {
        world.post_send(to(&contact)).await.expect_error(404, "NOT_FOUND");
        let both = with(to(&contact), json!({"to": mobile(1)}));
        world.post_send(both).await.expect_error(404, "NOT_FOUND");
        let template = json!({"contact_id": contact, "template": "ola"});
        world.post("/api/v1/send/template", template).await.expect_error(404, "NOT_FOUND");
    }
    assert!(world.all_messages().await.is_empty());
}

#[both_stores]
async fn to_and_contact_id_have_to_mean_one_contact(world: World) {
    world.template("ola", "UTILITY", "Olá").await;
    let (one, two) = (
        world.create_id(json!({"phone": mobile(1)})).await,
        world.create_id(json!({"phone": mobile(2)})).await,
    );
    let group = group(&world, "77@g.us").await;
    for (name, contact) in
        [(mobile(1), &two), (mobile(3), &one), ("77@g.us".to_owned(), &one), (mobile(1), &group)]
    {
        let refused = world.post_send(with(to(contact), json!({"to": name}))).await;
        assert_eq!(refused.expect_invalid(), ["contact_id", "to"], "{name}");
    }
    let template = json!({"contact_id": two, "to": mobile(1), "template": "ola"});
    let refused = world.post("/api/v1/send/template", template).await;
    assert_eq!(refused.expect_invalid(), ["contact_id", "to"]);
    assert!(world.all_messages().await.is_empty());
    assert_eq!(world.list_ids("is_group=false").await.len(), 2, "nobody was made");
    let mine = with(to(&one), json!({"to": mobile(1)}));
    assert_eq!(world.post_send(mine).await.expect(200)["contact_id"], one.as_str());
    let wrong = with(to(&one), json!({"to": "12"}));
    world.post_send(wrong).await.expect_error(400, "INVALID_PHONE");
}

#[both_stores]
async fn of_several_who_share_a_phone_the_named_one_gets_it(world: World) {
    world.qr().await;
    let one = world.import(json!({"phone": mobile(1), "identifier": "a"})).await;
    world.import(json!({"phone": mobile(1), "identifier": "b"})).await;
    world.send_text(&mobile(1), "oi").await.expect_error(409, "AMBIGUOUS_CONTACT");
    for body in [to(&one), with(to(&one), json!({"to": mobile(1)}))] {
        assert_eq!(world.post_send(body).await.expect(200)["contact_id"], one.as_str());
    }
}

#[both_stores]
async fn the_connection_is_looked_for_before_the_contact_and_its_state_after_it(world: World) {
    let contact = world.import(json!({"phone": mobile(1), "opted_out_at": world.time()})).await;
    let body = with(to(&unknown_id()), json!({"connection_id": unknown_id()}));
    let refused = world.post_send(body).await;
    refused.expect_error(404, "NOT_FOUND");
    assert!(text(&refused.json()["message"]).contains("connection"), "{}", refused.show());
    world.post_send(to(&contact)).await.expect_error(403, "CONTACT_OPTED_OUT");
    world.act(&contact, "opt-in", json!({})).await.expect(200);
    world.post_send(to(&contact)).await.expect_error(422, "CONNECTION_REQUIRED");
    assert!(world.all_messages().await.is_empty());
}

#[both_stores]
async fn the_contact_of_a_group_works_like_its_code_and_gets_no_template(world: World) {
    let group = group(&world, "77@g.us").await;
    world.template("ola", "UTILITY", "Olá").await;
    for body in [to(&group), with(to(&group), json!({"to": "77@g.us"}))] {
        let sent = world.post_send(body).await.expect(200);
        assert_eq!((&sent["group_jid"], &sent["contact_id"]), (&json!("77@g.us"), &json!(group)));
    }
    let body = json!({"contact_id": group, "template": "ola"});
    world.post("/api/v1/send/template", body).await.expect_error(400, "INVALID_PHONE");
    let reply = world.act(&group, "reply-template", json!({"template": "ola"})).await;
    reply.expect_error(400, "INVALID_PHONE");
    assert_eq!(world.all_messages().await.len(), 2);
}

#[both_stores]
async fn a_repeat_with_the_same_key_gets_the_first_answer(world: World) {
    world.qr().await;
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let call = || world.keyed("/api/v1/send/message", "k", &to(&contact));
    let first = world.send(call()).await.expect(200);
    assert_eq!(world.send(call()).await.expect(200), first);
    assert_eq!(world.all_messages().await.len(), 1);
}

// People without a phone.

#[both_stores]
async fn somebody_known_only_by_a_lid_is_answered_over_waha(waha: Waha) {
    let contact = text(&waha.hears(LID, "oi").await["contact_id"]);
    assert_eq!(waha.detail(&contact).await["phone"], LID);
    let turn = json!({"messages": ["Sou a IA"], "prosas": 1, "cost_brl": 0});
    waha.act(&contact, "ai-turn", turn).await.expect(200);
    waha.post_send(to(&contact)).await.expect(200);
    waha.act(&contact, "reply", json!({"message": "Bom dia"})).await.expect(200);
    let accepted = waha.fake.accepted();
    let chats: Vec<&str> = accepted.iter().map(|sent| sent.chat.as_str()).collect();
    assert_eq!(chats, [LID; 3]);
    assert_eq!(waha.list_ids("").await, [contact]);
    waha.well_behaved();
}

#[both_stores]
async fn somebody_known_only_by_a_lid_is_answered_over_evolution(world: Evolution) {
    let mut record = world.fake.incoming(&digits(&mobile(1)), "oi");
    record["key"] = json!({"remoteJid": LID, "fromMe": false, "id": record["key"]["id"],
        "participant": "", "addressingMode": "lid"});
    let contact = text(&world.brings(&record).await["contact_id"]);
    assert_eq!(world.detail(&contact).await["phone"], LID);
    world.post_send(to(&contact)).await.expect(200);
    world.act(&contact, "reply", json!({"message": "Bom dia"})).await.expect(200);
    let numbers: Vec<String> = world.fake.accepted().into_iter().map(|sent| sent.number).collect();
    assert_eq!(numbers, [LID, LID]);
    assert_eq!(world.list_ids("").await, [contact]);
}

#[both_stores]
async fn each_connection_uses_the_name_that_its_channel_knows(world: World) {
    let (qr, cloud) = (world.qr().await, world.cloud().await);
    world.template("ola", "UTILITY", "Olá").await;
    let event = with(world.inbound(LID, "oi"), json!({"aliases": [SCOPED]}));
    let message = world.stored(&qr, event).await;
    let contact = text(&world.message(&message).await["contact_id"]);
    for (connection, name) in [(&qr, LID), (&cloud, SCOPED)] {
        let body = with(to(&contact), json!({"connection_id": connection}));
        world.post_send(body).await.expect(200);
        let template =
            json!({"contact_id": contact, "template": "ola", "connection_id": connection});
        world.post("/api/v1/send/template", template).await.expect(200);
        let known = world.detail(&contact).await["connections"].clone();
        let here = known.as_array().expect("connections").iter();
        let here = here.clone().find(|known| known["id"] == connection.as_str());
        assert_eq!(here.expect("talked on")["identifier"], name);
    }
    world.act(&contact, "reply-template", json!({"template": "ola"})).await.expect(200);
}

#[both_stores]
async fn a_connection_whose_channel_knows_no_name_is_refused_and_nothing_stored(world: World) {
    let (qr, cloud) = (world.qr().await, world.cloud().await);
    world.template("ola", "UTILITY", "Olá").await;
    let by_lid = writes_as(&world, &qr, LID).await;
    let by_scoped = writes_as(&world, &cloud, SCOPED).await;
    let before = world.all_messages().await.len();
    for (contact, connection) in [(&by_lid, &cloud), (&by_scoped, &qr)] {
        let body = with(to(contact), json!({"connection_id": connection}));
        let refused = world.post_send(body).await;
        refused.expect_error(422, "CONNECTION_REQUIRED");
        assert!(text(&refused.json()["message"]).contains("no phone"), "{}", refused.show());
        let template =
            json!({"contact_id": contact, "template": "ola", "connection_id": connection});
        let refused = world.post("/api/v1/send/template", template).await;
        refused.expect_error(422, "CONNECTION_REQUIRED");
    }
    // Where the last connection cannot be used, the other one is no way either.
    let offline =
        json!({"kind": "connection", "status": "disconnected", "timestamp": world.time()});
    world.gateway_one(&qr, offline).await;
    world.post_send(to(&by_lid)).await.expect_error(422, "CONNECTION_REQUIRED");
    let reply = world.act(&by_lid, "reply", json!({"message": "oi"})).await;
    reply.expect_error(422, "CONNECTION_REQUIRED");
    assert_eq!(world.all_messages().await.len(), before);
    world.post_send(to(&by_scoped)).await.expect(200);
}

#[both_stores]
async fn somebody_of_another_channel_is_reached_by_the_phone_alone(world: World) {
    let qr = world.qr().await;
    let hidden = world.import(json!({"identifier": "987", "source_platform": "telegram"})).await;
    world.post_send(to(&hidden)).await.expect_error(422, "CONNECTION_REQUIRED");
    let phoned = json!({
        "identifier": "988", "source_platform": "telegram", "phone": steered(1), "name": "Ana",
    });
    let phoned = world.import(phoned).await;
    // The simulated gateway refuses this phone, and no other name.
    let body = with(to(&phoned), json!({"connection_id": qr}));
    world.post_send(body).await.expect_error(502, "PROVIDER_ERROR");
}

#[both_stores]
async fn a_campaign_goes_on_past_somebody_it_cannot_reach(world: Campaigning) {
    let by_lid = world.import(json!({"identifier": LID})).await;
    let by_phone = world.contact(&mobile(1)).await;
    let list = world.list_of(&[by_lid.clone(), by_phone.clone()]).await;
    let id = world.campaign(&list, json!({})).await;
    assert_eq!(world.start_and_run(&id).await["status"], "finished");
    let unreached = world.recipient(&id, &by_lid).await;
    assert_eq!(unreached["status"], "failed");
    assert_eq!(unreached["error_code"], "CONNECTION_REQUIRED");
    assert_eq!(world.recipient(&id, &by_phone).await["status"], "sent");
}
