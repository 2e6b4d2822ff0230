//! Sends through WAHA: the channel's form of a number, LIDs, and the outcomes of sends:
//! docs/gateways/waha.md; D15, D30, D38, D62.

use std::time::Duration;

use recado_testkit::gateways::{SendBehaviour, WahaEngine};
use recado_tests::{StoreKind, both_stores, digits, eight_digits, join_all, mobile, text};
use serde_json::{Value, json};

use crate::gateway_waha::{Waha, chat, raw};

/// Sends, and asserts that the message was certainly not sent, for this reason.
async fn refused(waha: &Waha, to: &str, error_type: &str, delivery_error: &str) {
    let answer = waha.send_text(to, "oi").await;
    let details = answer.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(details["error_type"], error_type, "{}", answer.show());
    assert_eq!(details["delivery_error"], delivery_error, "{}", answer.show());
    let message = waha.message(&text(&details["message_id"])).await;
    assert_eq!(message["status"], "failed");
    assert_eq!(message["error_type"], error_type);
    assert_eq!(message["delivery_error"]["code"], delivery_error);
    for secret in ["waha-api-key", "waha-hmac-key"] {
        assert!(!answer.show().contains(secret), "{}", answer.show());
        assert!(!message.to_string().contains(secret), "{message}");
    }
}

/// The number of requests to a path.
fn asked(waha: &Waha, path: &str) -> usize {
    waha.fake.requests().iter().filter(|request| request.path.ends_with(path)).count()
}

#[both_stores]
async fn a_text_goes_out_once_on_every_engine(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        let data = waha.sent(&mobile(1), "bom dia").await;
        let sent = waha.fake.accepted();
        assert_eq!(sent.len(), 1, "{engine:?}");
        assert_eq!(sent[0].chat, chat(&mobile(1)));
        assert_eq!(sent[0].text, "bom dia");
        assert_eq!(data["wamid"], sent[0].raw_id.as_str());
        assert_eq!(sent[0].is_callers_id, engine.takes_ids(), "{engine:?}");
        if engine.takes_ids() {
            let ours = text(&data["message_id"]).replace('-', "").to_uppercase();
            assert_eq!(sent[0].raw_id, ours, "an id of ours is our message's");
        }
        let message = waha.message(&text(&data["message_id"])).await;
        assert_eq!(message["status"], "sent");
        assert_eq!(data["provider"], "qr");
        waha.well_behaved();
    }
}

#[both_stores]
async fn the_number_is_learnt_before_the_first_text_and_kept(waha: Waha) {
    let (long, short) = (digits(&mobile(1)), eight_digits(&mobile(1)));
    waha.fake.set_number(&long, Some(&short)).set_number(&short, Some(&short));
    let contact = waha.create_id(json!({"phone": mobile(1)})).await;
    for n in 0..2 {
        let data = waha.sent(&mobile(1), &format!("oi {n}")).await;
        assert_eq!(data["contact_id"], contact.as_str());
    }
    let chats: Vec<String> = waha.fake.accepted().into_iter().map(|sent| sent.chat).collect();
    assert_eq!(chats, [format!("{short}@c.us"), format!("{short}@c.us")]);
    assert_eq!(asked(&waha, "/check-exists"), 1, "one number is asked for once");
    let detail = waha.detail(&contact).await;
    assert_eq!((&detail["phone"], &detail["identifier"]), (&json!(mobile(1)), &json!(long)));
    assert_eq!(detail["connections"][0]["identifier"], short.as_str());
    // A message from that number is from the same contact.
    let heard = waha.hears(&format!("{short}@c.us"), "opa").await;
    assert_eq!(heard["contact_id"], contact.as_str());
    assert_eq!(waha.list_ids("limit=100").await, [contact]);
    waha.well_behaved();
}

/// D15.
#[both_stores]
async fn a_mexican_and_an_argentine_number_are_learnt_before_the_first_text(waha: Waha) {
    for (plan, channel) in [("+525512341234", "5215512341234"), ("+541123451234", "5491123451234")]
    {
        waha.fake.set_number(&digits(plan), Some(channel)).set_number(channel, Some(channel));
        let contact = text(&waha.sent(plan, "hola").await["contact_id"]);
        let sent = waha.fake.accepted();
        assert_eq!(sent.last().map(|sent| sent.chat.clone()), Some(format!("{channel}@c.us")));
        let heard = waha.hears(&format!("{channel}@c.us"), "parar").await;
        assert_eq!(heard["contact_id"], contact.as_str());
        waha.send_text(plan, "hola").await.expect_error(403, "CONTACT_OPTED_OUT");
    }
    assert_eq!(waha.list_ids("limit=100").await.len(), 2);
    waha.well_behaved();
}

#[both_stores]
async fn a_number_that_the_channel_wrote_is_used_without_asking(waha: Waha) {
    let short = eight_digits(&mobile(1));
    waha.fake.set_number(&short, Some(&short));
    waha.hears(&format!("{short}@c.us"), "oi").await;
    waha.sent(&mobile(1), "olá").await;
    assert_eq!(waha.fake.accepted()[0].chat, format!("{short}@c.us"));
    waha.well_behaved();
}

#[both_stores]
async fn a_number_that_nobody_has_is_refused_and_nothing_is_sent(waha: Waha) {
    waha.fake.set_number(&digits(&mobile(1)), None);
    refused(&waha, &mobile(1), "provider", "RECIPIENT_UNREACHABLE").await;
    assert!(waha.fake.accepted().is_empty());
    assert_eq!(asked(&waha, "/sendText"), 0);
    waha.well_behaved();
}

#[both_stores]
async fn a_foreign_number_goes_out_as_it_is(waha: Waha) {
    waha.sent("+12025550123", "hi").await;
    assert_eq!(waha.fake.accepted()[0].chat, "12025550123@c.us");
    waha.well_behaved();
}

#[both_stores]
async fn somebody_known_by_lid_alone_is_answered_there(waha: Waha) {
    let heard = waha.hears("123456@lid", "oi").await;
    let contact = text(&heard["contact_id"]);
    let detail = waha.detail(&contact).await;
    assert_eq!(detail["identifier"], "123456@lid");
    let said = waha.act(&contact, "reply", json!({"message": "olá"})).await.expect(200);
    assert_eq!(said["messages"][0]["status"], "sent", "{said}");
    assert_eq!(waha.fake.accepted()[0].chat, "123456@lid");
    // Their phone is reported later: they remain one contact, who can be sent messages by the
    // phone.
    waha.fake.set_lid(&digits(&mobile(1)), "123456@lid");
    let again = waha.hears("123456@lid", "sou eu").await;
    assert_eq!(again["contact_id"], contact.as_str());
    assert_eq!(waha.detail(&contact).await["phone"], mobile(1));
    waha.act(&contact, "enable-external-ai", Value::Null).await.expect(200);
    assert_eq!(waha.sent(&mobile(1), "oi").await["contact_id"], contact.as_str());
    assert_eq!(waha.list_ids("limit=100").await, [contact]);
    waha.well_behaved();
}

#[both_stores]
async fn a_lid_and_its_phone_are_one_person_on_both_engines_that_tell(kind: StoreKind) {
    for engine in [WahaEngine::Gows, WahaEngine::Noweb] {
        let waha = Waha::on(kind, engine).await;
        let contact = waha.create_id(json!({"phone": mobile(1)})).await;
        waha.fake.set_lid(&digits(&mobile(1)), "123@lid");
        for from in ["123@lid".to_owned(), chat(&mobile(1)), "123@lid".to_owned()] {
            let heard = waha.hears(&from, "oi").await;
            assert_eq!(heard["contact_id"], contact.as_str(), "{engine:?} {from}");
        }
        assert_eq!(waha.list_ids("limit=100").await, [contact], "{engine:?}");
        waha.sent(&mobile(1), "olá").await;
        waha.well_behaved();
    }
}

#[both_stores]
async fn trouble_of_the_connection_is_reported_as_such(waha: Waha) {
    waha.fake.set_status("SCAN_QR_CODE");
    refused(&waha, &mobile(1), "connection_offline", "CONNECTION_OFFLINE").await;
    waha.jobs().await;
    assert_eq!(waha.status().await, "disconnected", "the failure has it looked at");
    waha.fake.set_status("WORKING");
    waha.asks("check").await.expect(200);
    waha.set(json!({"api_key": "another"})).await;
    refused(&waha, &mobile(2), "config", "CONFIGURATION").await;
    waha.set(json!({"api_key": "waha-api-key"})).await;
    waha.asks("check").await.expect(200);
    waha.fake.set_session_there(false);
    refused(&waha, &mobile(3), "config", "CONFIGURATION").await;
    assert!(waha.fake.accepted().is_empty());
    waha.well_behaved();
}

#[both_stores]
async fn a_refused_connection_is_the_networks_fault(waha: Waha) {
    waha.gateway.stop().await;
    refused(&waha, &mobile(1), "network", "NETWORK").await;
    waha.gateway.resume().await;
    waha.sent(&mobile(1), "de novo").await;
    assert_eq!(waha.fake.accepted().len(), 1);
    waha.well_behaved();
}

#[both_stores]
async fn a_refusal_is_reported_as_such(waha: Waha) {
    let nest = |status: u16| json!({"statusCode": status, "message": "no", "error": "Bad"});
    for (status, code) in [
        (400, "CONTENT_REJECTED"),
        (413, "CONTENT_REJECTED"),
        (422, "CONTENT_REJECTED"),
        (429, "RATE_LIMITED_BY_PROVIDER"),
    ] {
        waha.fake.script([SendBehaviour::Error(status, nest(status))]);
        refused(&waha, &mobile(1), "provider", code).await;
    }
    assert!(waha.fake.accepted().is_empty());
    waha.well_behaved();
}

#[both_stores]
async fn a_number_check_that_is_slow_leaves_too_little_time_for_nothing(waha: Waha) {
    // All requests of a send share its time limit: the answer comes within it.
    waha.set(json!({"timeout_ms": 3_000})).await;
    waha.fake.script([SendBehaviour::AcceptLate(Duration::from_secs(8))]);
    let began = std::time::Instant::now();
    let answer = waha.send_text(&mobile(1), "oi").await;
    let details = answer.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(details["error_type"], "delivery_uncertain");
    assert!(began.elapsed() < Duration::from_secs(7), "{:?}", began.elapsed());
    waha.well_behaved();
}

#[both_stores]
async fn repeated_sends_with_one_key_go_out_once(waha: Waha) {
    let body = json!({"to": mobile(1), "message": "uma vez"});
    let calls = (0..4).map(|_| {
        let request = waha.keyed("/api/v1/send/message", "k1", &body);
        waha.world.send(request)
    });
    let answers = join_all(calls.collect()).await;
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 409), "{}", answer.show());
    }
    let last = waha.world.send(waha.keyed("/api/v1/send/message", "k1", &body)).await;
    last.expect(200);
    assert_eq!(waha.fake.accepted().len(), 1);
    waha.well_behaved();
}

#[both_stores]
async fn a_person_who_opted_out_is_not_sent_to(waha: Waha) {
    let heard = waha.hears(&chat(&mobile(1)), "Sair!").await;
    let contact = text(&heard["contact_id"]);
    waha.send_text(&mobile(1), "oi").await.expect_error(403, "CONTACT_OPTED_OUT");
    assert!(waha.fake.accepted().is_empty());
    let reported = waha.events_of("contact.opted_out").await;
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0]["contact_id"], contact.as_str());
    assert_eq!(reported[0]["source"], "qr_inbound");
    let second = waha.hears(&chat(&mobile(1)), "PARAR").await;
    assert_eq!(second["contact_id"], contact.as_str());
    assert_eq!(waha.events_of("contact.opted_out").await.len(), 1);
    waha.well_behaved();
}

#[both_stores]
async fn an_own_message_that_the_gateway_shows_is_no_echo(waha: Waha) {
    waha.hears(&chat(&mobile(1)), "oi").await;
    waha.pass(Duration::from_secs(30));
    let id = waha.sends(&mobile(1), "olá").await;
    let kept = waha.fake.sent_message(&id).expect("it was sent");
    waha.takes(&waha.fake.webhook_message(&kept)).await;
    assert_eq!(raw(&kept), id);
    assert_eq!(waha.all_messages().await.len(), 2);
    let contact = text(&waha.known(&id).await["contact_id"]);
    assert_eq!(waha.full(&contact).await["external_ai_enabled"], true);
    let senders: Vec<Value> =
        waha.all_messages().await.iter().map(|one| one["sender_type"].clone()).collect();
    assert_eq!(senders, ["system", "contact"]);
}
