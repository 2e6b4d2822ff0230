//! Events of the official cloud API: messages from contacts and from the phone, preferences,
//! history. 2.4, 3.4, 6.1; D31, D31a, D42, D42a, D43, D44, D62, D65, D67, D68.

use std::time::Duration;

use recado_tests::{
    Clouded, Request, both_stores, digits, eight_digits, eventually, mobile, path_of, text, wamid,
    with,
};
use serde_json::{Value, json};

const SCOPED: &str = "BR.13491208655302741918";
const FILE: &str = "1003383421387256";

fn body(words: &str) -> Value {
    json!({"type": "text", "text": {"body": words}})
}

/// Waits until the file of a message was fetched, and returns the path of its address.
async fn fetched(world: &Clouded, message: &str) -> String {
    let path = path_of(&world.message(message).await["media_url"]);
    eventually("the file is here", || async {
        let answer = world.send(Request::new("GET", &path)).await;
        (answer.status == 200).then_some(())
    })
    .await;
    path
}

/// Receives a message from a person whose phone is not given.
async fn writes_as(world: &Clouded, names: Value, id: &str) -> String {
    let mut change = world.fake.message("0", id, &body("oi"), world.now());
    let message = change["messages"][0].as_object_mut().expect("a message");
    message.remove("from");
    message.extend(names.as_object().expect("names").clone());
    let mut contact = json!({"profile": {"name": "Maria", "username": "maria.s"}});
    for (from, to) in [("from", "wa_id"), ("from_user_id", "user_id")] {
        if !names[from].is_null() {
            contact[to] = names[from].clone();
        }
    }
    change["contacts"] = json!([contact]);
    world.changes(&[("messages", change)]).await;
    text(&world.message_with(id).await["contact_id"])
}

#[both_stores]
async fn a_text_becomes_a_message_of_a_contact(world: Clouded) {
    let message = world.says(&eight_digits(&mobile(1)), "Oi, tudo bem?").await;
    assert_eq!(message["type"], "text");
    assert_eq!(message["content"], "Oi, tudo bem?");
    assert_eq!(message["direction"], "inbound");
    assert_eq!(message["sender_type"], "contact");
    assert_eq!(message["status"], "received");
    assert_eq!(message["connection_id"], world.connection.as_str());
    let contact = world.detail(&text(&message["contact_id"])).await;
    assert_eq!(contact["phone"], mobile(1));
    assert_eq!(contact["display_name"], "Maria Souza");
    assert_eq!(contact["connections"][0]["unread_count"], 1);
    let events: Vec<String> = world.events().await.into_iter().map(|one| one.event).collect();
    assert_eq!(events, ["contact.created", "message.received"]);
}

#[both_stores]
async fn a_file_is_fetched_with_the_token_and_served_by_a_link_of_ours(world: Clouded) {
    // The first address has already expired, which can happen.
    world.fake.keep_file(FILE, "image/jpeg", b"the bytes of a photo", 1);
    let image = json!({"caption": "olha", "mime_type": "image/jpeg", "sha256": "x", "id": FILE});
    let content = json!({"type": "image", "image": image});
    let message = world.writes(&digits(&mobile(1)), content).await;
    assert_eq!(message["media_mimetype"], "image/jpeg");
    assert_eq!(message["media_caption"], "olha");
    let id = text(&message["id"]);
    // A file that was not available at first is fetched again later.
    let waiting = async {
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            world.advance(Duration::from_secs(30));
        }
    };
    let path = tokio::select! {
        path = fetched(&world, &id) => path,
        () = waiting => unreachable!("it never ends"),
    };
    let file = world.send(Request::new("GET", &path)).await;
    assert_eq!((file.status, &*file.body), (200, b"the bytes of a photo".as_slice()));
    assert_eq!(file.header("content-type"), "image/jpeg");
    assert!(!path.contains(FILE) && !path.contains("EAA"), "{path}");
    world.well_behaved();
}

#[both_stores]
async fn a_file_that_the_api_does_not_find_is_given_up_after_a_week_and_leaves_the_message(
    world: Clouded,
) {
    let content = json!({"type": "audio", "audio": {"mime_type": "audio/ogg", "id": "none"}});
    let message = world.writes(&digits(&mobile(1)), content).await;
    for _ in 0..7 * 4 {
        assert_ne!(world.message(&text(&message["id"])).await["media_url"], Value::Null);
        world.server.run_due_jobs().await;
        world.advance(Duration::from_secs(6 * 3_600));
    }
    // The week is over. The server works on jobs too: it may have given the file up by now, or hold
    // its job.
    world.advance(Duration::from_secs(6 * 3_600));
    eventually("the file is given up", || async {
        world.server.run_due_jobs().await;
        let shown = world.message(&text(&message["id"])).await;
        shown["media_url"].is_null().then_some(())
    })
    .await;
    world.well_behaved();
}

#[both_stores]
async fn an_answer_quotes_what_was_sent(world: Clouded) {
    let sent = world.sent(&mobile(1), "quer?").await;
    let content = with(
        body("quero"),
        json!({
            "context": {"from": "551140028922", "id": sent["wamid"]},
        }),
    );
    let message = world.writes(&digits(&mobile(1)), content).await;
    assert_eq!(message["quoted_message_id"], sent["message_id"]);
    assert_eq!(message["quoted_content"], "quer?");
    assert_eq!(message["contact_id"], sent["contact_id"]);
}

#[both_stores]
async fn an_edit_changes_the_text_and_a_deletion_nothing(world: Clouded) {
    let from = digits(&mobile(1));
    let message = world.says(&from, "ola").await;
    world.advance(Duration::from_secs(60));
    let edit = json!({"type": "edit", "edit": {"original_message_id": message["wamid"],
        "message": {"context": {"id": "M0"}, "type": "text", "text": {"body": "olá"}}}});
    world.changes(&[("messages", world.fake.message(&from, &wamid(), &edit, world.now()))]).await;
    let revoke = json!({"type": "revoke",
        "revoke": {"original_message_id": message["wamid"]}});
    let change = world.fake.message(&from, &wamid(), &revoke, world.now());
    world.changes(&[("messages", change)]).await;
    let all = world.all_messages().await;
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0]["content"], "olá");
    assert_eq!(all[0]["is_edited"], true);
    assert_ne!(all[0]["edited_at"], Value::Null);
}

// Names.

#[both_stores]
async fn somebody_whose_phone_is_not_reported_is_known_and_answered_by_the_scoped_id(
    world: Clouded,
) {
    let names = json!({"from_user_id": SCOPED});
    let contact = writes_as(&world, names.clone(), &wamid()).await;
    assert_eq!(world.detail(&contact).await["phone"], SCOPED);
    assert_eq!(writes_as(&world, names, &wamid()).await, contact);
    let reply = json!({"message": "Olá, Maria!"});
    world.act(&contact, "reply", reply).await.expect(200);
    let sent = world.only_send().await;
    assert_eq!(sent.body["recipient"], SCOPED);
    assert!(sent.body.get("to").is_none(), "{}", sent.body);
    assert_eq!(sent.text.as_deref(), Some("Olá, Maria!"));
    world.reported(&sent, "delivered").await;
    assert_eq!(world.message_with(&sent.id).await["status"], "delivered");
    world.well_behaved();
}

/// D71.
#[both_stores]
async fn a_text_and_a_template_to_a_contact_go_to_its_scoped_id(world: Clouded) {
    let contact = writes_as(&world, json!({"from_user_id": SCOPED}), &wamid()).await;
    world.template("ola", "UTILITY", "Olá {{1}}").await;
    let call = json!({"contact_id": contact, "message": "Olá, Maria!"});
    assert_eq!(world.post_send(call).await.expect(200)["contact_id"], contact.as_str());
    let call = json!({"contact_id": contact, "template": "ola", "variables": {"1": "Maria"}});
    let data = world.post("/api/v1/send/template", call).await.expect(200);
    assert_eq!(data["contact_id"], contact.as_str());
    let accepted = world.fake.accepted();
    assert_eq!(accepted.len(), 2);
    for sent in &accepted {
        assert_eq!(sent.body["recipient"], SCOPED);
        assert!(sent.body.get("to").is_none(), "{}", sent.body);
    }
    assert_eq!(accepted[1].body["template"]["name"], "ola");
    assert_eq!(world.list_ids("").await, [contact]);
    world.well_behaved();
}

#[both_stores]
async fn a_phone_that_is_reported_later_is_the_phone_of_the_contact(world: Clouded) {
    let contact = writes_as(&world, json!({"from_user_id": SCOPED}), &wamid()).await;
    let both = json!({"from_user_id": SCOPED, "from": eight_digits(&mobile(1))});
    assert_eq!(writes_as(&world, both, &wamid()).await, contact);
    assert_eq!(world.detail(&contact).await["phone"], mobile(1));
    assert_eq!(world.receives_from(&digits(&mobile(1))).await, contact);
    assert_eq!(world.list_ids("limit=100").await.len(), 1);
    let sent = world.sent(&mobile(1), "oi").await;
    assert_eq!(sent["contact_id"], contact.as_str());
    world.well_behaved();
}

#[both_stores]
async fn a_number_change_adds_a_name_and_a_line(world: Clouded) {
    let contact = world.receives_from(&digits(&mobile(1))).await;
    let system = json!({"type": "system", "system": {
        "body": "User changed", "wa_id": digits(&mobile(2)), "type": "user_changed_number"}});
    let mut change = world.fake.message(&digits(&mobile(1)), &wamid(), &system, world.now());
    change.as_object_mut().expect("a value").remove("contacts");
    world.changes(&[("messages", change)]).await;
    let all = world.all_messages().await;
    assert_eq!(all.len(), 2, "a line of the same contact");
    assert_eq!((&all[0]["type"], &all[0]["contact_id"]), (&json!("system"), &json!(contact)));
    assert_eq!(all[0]["system"]["to"], digits(&mobile(2)));
    assert_eq!(world.receives_from(&digits(&mobile(2))).await, contact);
    assert_eq!(world.receives_from(&digits(&mobile(1))).await, contact);
    let full = world.full(&contact).await;
    assert_eq!(full["phone"], mobile(1));
    assert_eq!(full["identifier"], digits(&mobile(1)).as_str());
}

// Opt-outs.

#[both_stores]
async fn a_word_or_a_block_button_opts_out(world: Clouded) {
    for (n, content) in (1..).zip([
        body("PARAR!"),
        json!({"type": "button", "button": {"payload": "x1", "text": "Parar promoções"}}),
        json!({"type": "button", "button": {"payload": "STOP", "text": "Não quero"}}),
        json!({"type": "interactive", "interactive": {"type": "button_reply",
            "button_reply": {"id": "bloquear mensagens", "title": "x"}}}),
    ]) {
        let message = world.writes(&digits(&mobile(n)), content.clone()).await;
        let full = world.full(&text(&message["contact_id"])).await;
        assert_ne!(full["opted_out_at"], Value::Null, "{content}");
    }
    let events = world.events_of("contact.opted_out").await;
    assert_eq!(events.len(), 4);
    for event in events {
        assert_eq!(event["source"], "official_cloud_inbound", "{event}");
    }
    let kept = world
        .writes(
            &digits(&mobile(9)),
            json!({"type": "button",
        "button": {"payload": "SIM", "text": "Quero"}}),
        )
        .await;
    let full = world.full(&text(&kept["contact_id"])).await;
    assert_eq!(full["opted_out_at"], Value::Null);
}

#[both_stores]
async fn a_preference_stops_and_resumes(world: Clouded) {
    let from = eight_digits(&mobile(1));
    let contact = world.receives_from(&from).await;
    let at = world.now();
    world.takes(&world.fake.webhook_preference(&from, "stop", at)).await;
    let stopped = world.full(&contact).await;
    assert_ne!(stopped["opted_out_at"], Value::Null);
    world.takes(&world.fake.webhook_preference(&from, "stop", at)).await;
    let events = world.events_of("contact.opted_out").await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["source"], "official_cloud_inbound");
    let answer = world.send_text(&mobile(1), "oi").await;
    answer.expect_error(403, "CONTACT_OPTED_OUT");
    world.advance(Duration::from_secs(60));
    world.takes(&world.fake.webhook_preference(&from, "resume", world.now())).await;
    assert_eq!(world.full(&contact).await["opted_out_at"], Value::Null);
    // The external AI stays as the contact's request left it (D44).
    world.act(&contact, "enable-external-ai", json!({})).await.expect(200);
    world.sent(&mobile(1), "oi").await;
    world.advance(Duration::from_secs(60));
    world.takes(&world.fake.webhook_preference(&from, "stop", world.now())).await;
    assert_eq!(world.events_of("contact.opted_out").await.len(), 2, "a new request is news");
    world.takes(&world.fake.webhook_preference(&from, "maybe", world.now())).await;
}

// The phone.

#[both_stores]
async fn what_the_operator_writes_on_the_phone_is_an_agents_message(world: Clouded) {
    let contact = world.receives_from(&eight_digits(&mobile(1))).await;
    world.act(&contact, "enable-external-ai", json!({})).await.expect(200);
    world.advance(Duration::from_secs(60));
    let call = world.fake.webhook_echo(
        &eight_digits(&mobile(1)),
        "wamid.E1",
        "Já te respondo",
        world.now(),
    );
    for _ in 0..2 {
        world.takes(&call).await;
    }
    let echo = world.message_with("wamid.E1").await;
    assert_eq!(echo["direction"], "outbound");
    assert_eq!(echo["sender_type"], "agent");
    assert_eq!(echo["status"], "sent");
    assert_eq!(echo["content"], "Já te respondo");
    assert_eq!(echo["contact_id"], contact.as_str());
    assert_eq!(world.events_of("message.sent").await.len(), 1);
    let detail = world.detail(&contact).await;
    assert_eq!(detail["connections"][0]["unread_count"], 0);
    assert_eq!(world.full(&contact).await["external_ai_enabled"], false, "a person answers");
    assert!(world.fake.accepted().is_empty(), "nothing is sent for it");
}

#[both_stores]
async fn what_the_operator_writes_to_somebody_new_makes_a_contact(world: Clouded) {
    let call = world.fake.webhook_echo(&digits(&mobile(3)), "wamid.E2", "Olá!", world.now());
    world.takes(&call).await;
    let echo = world.message_with("wamid.E2").await;
    assert_eq!(world.detail(&text(&echo["contact_id"])).await["phone"], mobile(3));
}

// History.

#[both_stores]
async fn history_is_stored_without_its_events_but_new_contacts_and_opt_outs_count(world: Clouded) {
    let (calm, angry) = (digits(&mobile(1)), digits(&mobile(2)));
    let own = "551140028922";
    let line = |from: &str, to: &str, id: &str, words: &str, status: &str| {
        json!({"from": from, "to": to, "id": id, "timestamp": "1750000000", "type": "text",
            "text": {"body": words}, "history_context": {"status": status}})
    };
    let history = json!({"history": [{
        "metadata": {"phase": 1, "chunk_order": 1, "progress": 55},
        "threads": [
            {"id": calm, "messages": [
                line(own, &calm, "wamid.H1", "bom dia", "READ"),
                line(&calm, own, "wamid.H2", "bom dia!", "READ"),
            ]},
            {"id": angry, "messages": [line(&angry, own, "wamid.H3", "Parar", "READ")]},
        ],
    }]});
    let change = world.fake.value(history);
    for _ in 0..2 {
        world.changes(&[("history", change.clone())]).await;
    }
    let all = world.all_messages().await;
    assert_eq!(all.len(), 3, "{all:?}");
    let ours = world.message_with("wamid.H1").await;
    assert_eq!((&ours["direction"], &ours["status"]), (&json!("outbound"), &json!("read")));
    let theirs = world.message_with("wamid.H2").await;
    assert_eq!(theirs["direction"], "inbound");
    assert_eq!(theirs["contact_id"], ours["contact_id"]);
    let events: Vec<String> = world.events().await.into_iter().map(|one| one.event).collect();
    // D65: both are new.
    assert_eq!(events, ["contact.created", "contact.created", "contact.opted_out"]);
    let stopped = text(&world.message_with("wamid.H3").await["contact_id"]);
    assert_ne!(world.full(&stopped).await["opted_out_at"], Value::Null);
    let detail = world.detail(&text(&theirs["contact_id"])).await;
    assert_eq!(detail["last_message_at"], Value::Null);
    assert_eq!(detail["last_inbound_at"], Value::Null);
}

#[both_stores]
async fn a_webhook_repeated_after_a_deletion_does_not_bring_the_contact_back(world: Clouded) {
    let from = eight_digits(&mobile(1));
    let change = world.fake.message(&from, "wamid.A", &body("segredo"), world.now());
    let webhook = world.fake.webhook_changes(&[("messages", change.clone())]);
    world.takes(&webhook).await;
    let contact = text(&world.message_with("wamid.A").await["contact_id"]);
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    let reported = world.events().await.len();
    for _ in 0..2 {
        world.takes(&webhook).await;
    }
    // Also in a call with a new message from another contact.
    let new = world.fake.message(&eight_digits(&mobile(2)), "wamid.B", &body("oi"), world.now());
    world.changes(&[("messages", change), ("messages", new)]).await;
    let all = world.all_messages().await;
    assert_eq!(all.iter().map(|one| text(&one["wamid"])).collect::<Vec<_>>(), ["wamid.B"]);
    assert_eq!(world.events().await.len(), reported + 2, "a contact and a message");
    assert_eq!(world.list_ids("").await.len(), 1);
    // A new message is not a repetition.
    let again = world.receives_from(&from).await;
    assert_ne!(again, contact);
}

#[both_stores]
async fn a_refused_history_is_taken_in_silence(world: Clouded) {
    let reported = json!({"history": [{"errors": [{"code": 2_593_109, "title": "declined"}]}]});
    world.changes(&[("history", world.fake.value(reported))]).await;
    assert!(world.all_messages().await.is_empty());
}
