//! Connections to the official cloud API, and sends through them: 3.2, 4.8, 7.1; D28, D30, D38,
//! D40, D61, D67; docs/operator-api.md.

use std::time::Duration;

use recado_testkit::gateways::{FakeCloud, SendBehaviour, graph_error, graph_failure};
use recado_tests::{
    Clouded, GatewayServer, StoreKind, World, both_stores, digits, eight_digits, eventually, keys,
    mobile, text,
};
use serde_json::{Value, json};

/// A mobile number whose form on the channel has no ninth digit, because of its area code.
const OLD: &str = "+5534991234567";

async fn send_template(world: &World, to: &str) -> Value {
    let body = json!({"to": to, "template": "ola", "variables": {"1": "Ana"}});
    world.post("/api/v1/send/template", body).await.expect(200)
}

// The connection.

#[both_stores]
async fn a_connection_is_connected_once_its_number_was_seen(world: World) {
    let fake = FakeCloud::new();
    let gateway = GatewayServer::start(fake.clone()).await;
    let settings = fake.settings(&gateway.url());
    let connection =
        world.gateway_connection("official_cloud", "cloud_api", settings, json!({})).await;
    world.connection_is(&connection, "connected").await;
    let data = world.sent(&mobile(1), "oi").await;
    assert_eq!(data["provider"], "official_cloud");
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[both_stores]
async fn a_base_address_may_name_the_version(world: World) {
    let fake = FakeCloud::new();
    let gateway = GatewayServer::start(fake.clone()).await;
    let settings = fake.settings(&format!("{}/v23.0/", gateway.url()));
    let connection =
        world.gateway_connection("official_cloud", "cloud_api", settings, json!({})).await;
    world.connection_is(&connection, "connected").await;
    world.sent(&mobile(1), "oi").await;
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[both_stores]
async fn a_given_status_holds_where_nobody_answers_for_the_number(world: Clouded) {
    for code in [100, 1] {
        world.fake.set_state(Some(graph_error(code, "Unsupported get request")));
        let path = format!("C/connections/{}/check", world.connection);
        let checked = world.operator("POST", &path, json!({})).await.expect(200);
        assert_eq!(checked["answered"], false, "{code}");
        assert_eq!(checked["connection"]["status"], "connected", "{code}");
    }
    world.sent(&mobile(1), "oi").await;
}

#[both_stores]
async fn a_connection_with_a_bad_token_is_not_connected_until_it_is_corrected(world: World) {
    let fake = FakeCloud::new();
    fake.revoke_token(true);
    let gateway = GatewayServer::start(fake.clone()).await;
    let settings = fake.settings(&gateway.url());
    let connection =
        world.gateway_connection("official_cloud", "cloud_api", settings, json!({})).await;
    eventually("it was looked at", || async { (fake.requests() > 0).then_some(()) }).await;
    let check = format!("C/connections/{connection}/check");
    let checked = world.operator("POST", &check, json!({})).await;
    let checked = checked.expect(200);
    assert_eq!(checked["connection"]["status"], "disconnected", "{checked}");
    fake.revoke_token(false);
    world.advance(Duration::from_secs(61));
    world.connection_is(&connection, "connected").await;
}

#[both_stores]
async fn a_given_status_holds(world: World) {
    let fake = FakeCloud::new();
    let gateway = GatewayServer::start(fake.clone()).await;
    gateway.stop().await;
    for status in ["connected", "disconnected"] {
        let reported = json!({"status": status});
        let settings = fake.settings(&gateway.url());
        let connection =
            world.gateway_connection("official_cloud", "cloud_api", settings, reported).await;
        world.server.run_due_jobs().await;
        assert_eq!(world.connection_view(&connection).await["status"], status);
    }
    assert_eq!(fake.requests(), 0);
}

#[both_stores]
async fn a_gateway_that_cannot_be_asked_leaves_the_state_as_it_was(world: Clouded) {
    world.gateway.stop().await;
    let path = format!("C/connections/{}/check", world.connection);
    let checked = world.operator("POST", &path, json!({})).await.expect(200);
    assert_eq!(checked["answered"], false);
    assert_eq!(checked["connection"]["status"], "connected");
}

#[both_stores]
async fn a_token_that_expires_disconnects_and_a_new_one_connects(world: Clouded) {
    world.fake.revoke_token(true);
    world.send_text(&mobile(1), "oi").await.expect_error(502, "PROVIDER_ERROR");
    let message = world.all_messages().await.remove(0);
    assert_eq!(message["error_type"], "config");
    assert_eq!(message["delivery_error"]["code"], "CONFIGURATION");
    world.connection_is(&world.connection, "disconnected").await;
    world.fake.revoke_token(false);
    world.advance(Duration::from_secs(61));
    world.connection_is(&world.connection, "connected").await;
    world.sent(&mobile(1), "oi").await;
}

#[both_stores]
async fn news_of_the_account_make_it_look_at_once(world: Clouded) {
    world.fake.revoke_token(true);
    let value = json!({"event": "DISABLED_UPDATE", "ban_info": {"waba_ban_state": "DISABLE"}});
    world.changes(&[("account_update", value)]).await;
    world.connection_is(&world.connection, "disconnected").await;
}

#[both_stores]
async fn settings_that_are_missing_or_unknown_are_named_and_secrets_never_shown(world: World) {
    let body = |settings: Value| {
        json!({
            "kind": "official_cloud", "name": "x", "identifier": "+551140028922",
            "gateway": "cloud_api", "settings": settings,
        })
    };
    let answer = world.operator("POST", "C/connections", body(json!({}))).await;
    let named = answer.expect_invalid();
    for field in ["phone_number_id", "access_token", "app_secret", "verify_token"] {
        assert!(named.iter().any(|name| name.contains(field)), "{field} in {named:?}");
    }
    let qr = json!({
        "kind": "qr", "name": "x", "identifier": "+551140028922", "gateway": "cloud_api",
        "settings": FakeCloud::new().settings("http://127.0.0.1:9"),
    });
    assert_eq!(world.operator("POST", "C/connections", qr).await.expect_invalid(), ["gateway"]);
}

// Sends.

#[both_stores]
async fn a_text_is_sent_as_the_api_wants_it(world: Clouded) {
    let words = "  Olá, *Ana*!\n\n<b>& \"você\"</b> 🙂  ";
    let data = world.sent(&mobile(1), words).await;
    assert_eq!(keys(&data), ["contact_id", "message_id", "provider", "wamid"]);
    let sent = world.only_send().await;
    assert_eq!(sent.to, mobile(1));
    assert_eq!(sent.text.as_deref(), Some(words));
    assert_eq!(data["wamid"], sent.id.as_str());
    assert_eq!(sent.body["biz_opaque_callback_data"], data["message_id"]);
    assert_eq!(sent.body["type"], "text");
    let message = world.message_with(&sent.id).await;
    assert_eq!(message["status"], "sent");
    assert_eq!(message["connection_id"], world.connection.as_str());
    world.well_behaved();
}

#[both_stores]
async fn a_template_is_sent_with_its_variables_in_order(world: Clouded) {
    let body = "Olá {{1}}, pedido {{2}} de {{1}}";
    world.template("pedido", "UTILITY", body).await;
    let call = json!({
        "to": mobile(1), "template": "pedido", "variables": {"2": "A-123", "1": "Ana"},
    });
    let data = world.post("/api/v1/send/template", call).await.expect(200);
    let sent = world.only_send().await;
    let template = &sent.body["template"];
    assert_eq!(template["name"], "pedido");
    assert_eq!(template["language"]["code"], "pt_BR");
    assert_eq!(
        template["components"],
        json!([{"type": "body", "parameters": [
            {"type": "text", "text": "Ana"}, {"type": "text", "text": "A-123"},
        ]}])
    );
    assert_eq!(data["wamid"], sent.id.as_str());
    world.template("simples", "UTILITY", "Olá").await;
    let call = json!({"to": mobile(1), "template": "simples"});
    world.post("/api/v1/send/template", call).await.expect(200);
    world.well_behaved();
}

#[both_stores]
async fn the_channels_form_of_a_number_is_learnt_and_used_from_then_on(world: Clouded) {
    let contact = text(&world.sent(OLD, "um").await["contact_id"]);
    assert_eq!(world.sent(OLD, "dois").await["contact_id"], contact.as_str());
    let accepted = world.fake.accepted();
    assert_eq!(accepted[0].to, OLD);
    assert_eq!(accepted[0].wa_id, "553491234567");
    assert_eq!(accepted[1].to, "+553491234567");
    let full = world.full(&contact).await;
    assert_eq!(full["phone"], OLD);
    assert_eq!(full["identifier"], digits(OLD).as_str());
    let shown = world.detail(&contact).await["connections"][0].clone();
    assert_eq!(shown["identifier"], eight_digits(OLD).as_str());
    // An answer has the channel's form of the number, and belongs to the same contact.
    assert_eq!(world.receives_from(&eight_digits(OLD)).await, contact);
    world.well_behaved();
}

/// D15.
#[both_stores]
async fn a_mexican_and_an_argentine_are_one_contact_under_the_form_of_the_channel(world: Clouded) {
    for (plan, channel) in [("+525512341234", "5215512341234"), ("+541123451234", "5491123451234")]
    {
        let contact = text(&world.sent(plan, "um").await["contact_id"]);
        assert_eq!(world.sent(plan, "dois").await["contact_id"], contact.as_str());
        let sent = world.fake.accepted();
        assert_eq!(sent.last().map(|sent| sent.to.as_str()), Some(&*format!("+{channel}")));
        assert_eq!(world.receives_from(channel).await, contact);
        world.takes(&world.fake.webhook_preference(channel, "stop", world.now())).await;
        world.send_text(plan, "três").await.expect_error(403, "CONTACT_OPTED_OUT");
        let full = world.full(&contact).await;
        assert_eq!((&full["phone"], &full["identifier"]), (&json!(plan), &json!(digits(plan))));
    }
    assert_eq!(world.list_ids("limit=100").await.len(), 2);
    world.well_behaved();
}

// Outcomes.

#[both_stores]
async fn every_outcome_has_its_answer_and_its_error(world: Clouded) {
    let uncertain = ("DELIVERY_UNCERTAIN", "delivery_uncertain", "DELIVERY_UNCERTAIN");
    let refused = |code| ("PROVIDER_ERROR", "provider", code);
    let cases = [
        (SendBehaviour::AcceptThenDrop, uncertain),
        (SendBehaviour::AcceptWithoutId, uncertain),
        (SendBehaviour::Broken(500), uncertain),
        (SendBehaviour::Broken(503), uncertain),
        (graph_failure(131_000, "Something went wrong"), uncertain),
        (graph_failure(131_016, "Service unavailable"), uncertain),
        (graph_failure(2, "Temporary"), uncertain),
        (graph_failure(1, "Unknown"), uncertain),
        (SendBehaviour::AcceptThenError(500, json!({"oops": true})), uncertain),
        (graph_failure(131_026, "Undeliverable"), refused("RECIPIENT_UNREACHABLE")),
        (graph_failure(131_047, "Re-engagement"), refused("OUTSIDE_SERVICE_WINDOW")),
        (graph_failure(130_429, "Rate limit"), refused("RATE_LIMITED_BY_PROVIDER")),
        (graph_failure(131_056, "Pair rate"), refused("RATE_LIMITED_BY_PROVIDER")),
        (graph_failure(190, "Expired"), ("PROVIDER_ERROR", "config", "CONFIGURATION")),
        (graph_failure(10, "Denied"), ("PROVIDER_ERROR", "config", "CONFIGURATION")),
        (graph_failure(987_654, "New"), ("PROVIDER_ERROR", "provider", "UNKNOWN")),
    ];
    for (n, (behaviour, (code, kind, delivery))) in (1..).zip(cases) {
        let what = format!("{behaviour:?}");
        world.fake.script([behaviour]);
        let to = mobile(n);
        let answer = world.send_through(&world.connection, &to).await;
        assert_eq!((answer.status, &answer.json()["code"]), (502, &json!(code)), "{what}");
        let all = world.all_messages().await;
        let contact = world.list_ids(&format!("phone={}", digits(&to))).await;
        let message = all.iter().find(|one| contact.contains(&text(&one["contact_id"])));
        let message = message.unwrap_or_else(|| panic!("{what}: no message in {all:?}"));
        assert_eq!(message["status"], "failed", "{what}");
        assert_eq!(message["error_type"], kind, "{what}");
        assert_eq!(message["delivery_error"]["code"], delivery, "{what}");
        assert!(!text(&message["error_message"]).is_empty(), "{what}");
        assert_eq!(message["wamid"], Value::Null, "{what}");
    }
    world.well_behaved();
}

#[both_stores]
async fn a_refused_connection_is_a_network_failure_and_nothing_was_sent(world: Clouded) {
    world.gateway.stop().await;
    world.send_text(&mobile(1), "oi").await.expect_error(502, "PROVIDER_ERROR");
    let message = world.all_messages().await.remove(0);
    assert_eq!(message["error_type"], "network");
    assert_eq!(message["delivery_error"]["code"], "NETWORK");
    assert!(world.fake.accepted().is_empty());
    world.gateway.resume().await;
    world.sent(&mobile(1), "oi").await;
}

#[both_stores]
async fn an_answer_later_than_the_timeout_is_uncertain_and_never_sent_again(kind: StoreKind) {
    let world = Clouded::from_impatient(kind).await;
    world.fake.script([SendBehaviour::AcceptLate(Duration::from_secs(5))]);
    world.send_text(&mobile(1), "oi").await.expect_error(502, "DELIVERY_UNCERTAIN");
    world.advance(Duration::from_secs(3600));
    world.server.run_due_jobs().await;
    world.server.recover_sends().await;
    assert_eq!(world.fake.accepted().len(), 1);
    let message = world.all_messages().await.remove(0);
    assert_eq!(message["error_type"], "delivery_uncertain");
}

#[both_stores]
async fn a_report_with_our_reference_proves_an_uncertain_send(world: Clouded) {
    world.fake.script([SendBehaviour::AcceptThenDrop]);
    world.send_text(&mobile(1), "oi").await.expect_error(502, "DELIVERY_UNCERTAIN");
    let sent = world.only_send().await;
    let id = sent.reference.expect("a reference").to_string();
    assert_eq!(world.message(&id).await["status"], "failed");
    assert!(world.events_of("message.sent").await.is_empty());
    world.reported(&sent, "sent").await;
    let proved = world.message(&id).await;
    assert_eq!(proved["status"], "sent");
    assert_eq!(proved["wamid"], sent.id.as_str());
    for cleared in ["error_type", "error_message", "failure_reason", "delivery_error"] {
        assert_eq!(proved[cleared], Value::Null, "{cleared}");
    }
    world.reported(&sent, "delivered").await;
    world.reported(&sent, "read").await;
    assert_eq!(world.message(&id).await["status"], "read");
    // D28: a real change of status that does not begin at pending.
    assert_eq!(world.announced(&id).await, ["failed", "sent", "delivered", "read"]);
    assert!(world.events_of("message.sent").await.is_empty());
    assert_eq!(world.fake.accepted().len(), 1, "never sent again");
}

#[both_stores]
async fn a_report_that_skips_sent_proves_an_uncertain_send_too(world: Clouded) {
    world.fake.script([SendBehaviour::AcceptWithoutId]);
    world.send_text(&mobile(1), "oi").await.expect_error(502, "DELIVERY_UNCERTAIN");
    let sent = world.only_send().await;
    let id = sent.reference.expect("a reference").to_string();
    world.reported(&sent, "read").await;
    let proved = world.message(&id).await;
    assert_eq!((&proved["status"], &proved["error_type"]), (&json!("read"), &Value::Null));
    assert_eq!(world.announced(&id).await, ["failed", "read"]);
}

#[both_stores]
async fn a_report_before_the_answer_is_not_lost(world: Clouded) {
    world.fake.script([SendBehaviour::AcceptLate(Duration::from_millis(1_500))]);
    let to = mobile(1);
    let (answer, ()) = tokio::join!(world.send_text(&to, "oi"), async {
        let sent = world.only_send().await;
        world.reported(&sent, "delivered").await;
    });
    let id = text(&answer.expect(200)["message_id"]);
    world.reaches(&id, "delivered").await;
    let reported: Vec<String> = world.events().await.into_iter().map(|one| one.event).collect();
    let sent = reported.iter().position(|event| event == "message.sent").expect("it was sent");
    let updated = reported.iter().position(|event| event == "message.status_updated");
    assert!(updated.is_some_and(|updated| sent < updated), "{reported:?}");
    assert_eq!(reported.iter().filter(|event| *event == "message.sent").count(), 1);
}

#[both_stores]
async fn reports_in_any_order_and_number_only_move_on(world: Clouded) {
    let data = world.sent(&mobile(1), "oi").await;
    let id = text(&data["message_id"]);
    let sent = world.only_send().await;
    for status in ["delivered", "sent", "delivered", "read", "delivered", "sent", "read"] {
        world.reported(&sent, status).await;
    }
    assert_eq!(world.message(&id).await["status"], "read");
    assert_eq!(world.announced(&id).await, ["delivered", "read"]);
    world.takes(&world.fake.webhook_failed(&sent, 131_026, "late", world.now())).await;
    assert_eq!(world.message(&id).await["status"], "read", "what was read has not failed");
}

#[both_stores]
async fn a_thousand_reports_in_one_call_are_taken(world: Clouded) {
    let mut wanted = Vec::new();
    for n in 0..5 {
        wanted.push(text(&world.sent(&mobile(n), "oi").await["message_id"]));
    }
    let accepted = world.fake.accepted();
    let now = world.now();
    let statuses: Vec<Value> = (0..1_000)
        .map(|n| {
            let status = ["sent", "delivered", "read", "delivered"][n % 4];
            FakeCloud::status(&accepted[n % 5], status, now)
        })
        .collect();
    world.takes(&world.fake.webhook_statuses(&statuses)).await;
    for id in wanted {
        assert_eq!(world.message(&id).await["status"], "read");
        assert_eq!(world.announced(&id).await.last().map(String::as_str), Some("read"));
    }
}

#[both_stores]
async fn a_message_may_fail_after_it_was_accepted(world: Clouded) {
    let data = world.sent(&mobile(1), "oi").await;
    let id = text(&data["message_id"]);
    let sent = world.only_send().await;
    world.advance(Duration::from_secs(3600));
    let reported = "Message failed to send because more than 24 hours have passed";
    world.takes(&world.fake.webhook_failed(&sent, 131_047, reported, world.now())).await;
    let message = world.message(&id).await;
    assert_eq!(message["status"], "failed");
    assert_eq!(message["error_type"], "provider");
    assert_eq!(message["delivery_error"]["code"], "OUTSIDE_SERVICE_WINDOW");
    assert_eq!(message["wamid"], sent.id.as_str());
    assert_eq!(world.announced(&id).await, ["failed"]);
    world.reported(&sent, "delivered").await;
    assert_eq!(world.message(&id).await["status"], "failed", "failed is final");
}

#[both_stores]
async fn a_recipient_who_stopped_marketing_is_opted_out_by_the_failure(world: Clouded) {
    world.template("ola", "MARKETING", "Olá {{1}}").await;
    let data = send_template(&world, &mobile(1)).await;
    let sent = world.only_send().await;
    let reported = "User stopped marketing messages";
    world.takes(&world.fake.webhook_failed(&sent, 131_050, reported, world.now())).await;
    let message = world.message(&text(&data["message_id"])).await;
    assert_eq!(message["status"], "failed");
    assert_eq!(message["delivery_error"]["code"], "RECIPIENT_OPTED_OUT");
    let full = world.full(&text(&data["contact_id"])).await;
    assert_ne!(full["opted_out_at"], Value::Null);
    let events = world.events_of("contact.opted_out").await;
    assert_eq!(events.len(), 1);
    let again = world.send_text(&mobile(1), "oi").await;
    again.expect_error(403, "CONTACT_OPTED_OUT");
    assert_eq!(world.fake.accepted().len(), 1);
}

#[both_stores]
async fn a_report_of_somebody_elses_message_changes_nothing(world: Clouded) {
    let data = world.sent(&mobile(1), "oi").await;
    let mut sent = world.only_send().await;
    sent.id = "wamid.never".to_owned();
    sent.reference = None;
    world.reported(&sent, "read").await;
    assert_eq!(world.message(&text(&data["message_id"])).await["status"], "sent");
}

#[both_stores]
async fn a_report_whose_reference_is_another_companys_message_changes_nothing(world: Clouded) {
    let them = world.tenant("Rival").await;
    let second = FakeCloud::numbered("222222222222", "551140020000");
    let gateway = GatewayServer::start(second.clone()).await;
    let reported = json!({"status": "connected"});
    let settings = second.settings(&gateway.url());
    world.gateway_connection_of(&them, "official_cloud", "cloud_api", settings, reported).await;
    second.script([SendBehaviour::AcceptThenDrop]);
    let body = json!({"to": mobile(1), "message": "oi"});
    world
        .post_as(&them.key, "/api/v1/send/message", body)
        .await
        .expect_error(502, "DELIVERY_UNCERTAIN");
    let theirs = second.accepted().remove(0);
    // Reported at the address of our connection, with our number.
    world.reported(&theirs, "read").await;
    let listed = world.get_as(&them.key, "/api/v1/messages").await.items();
    assert_eq!(listed[0]["status"], "failed");
}

#[both_stores]
async fn a_group_is_not_reached_by_the_official_channel(world: Clouded) {
    let answer = world.send_text("123@g.us", "oi").await;
    assert!((400..500).contains(&answer.status), "{}", answer.show());
    assert!(world.fake.accepted().is_empty());
}

#[both_stores]
async fn an_error_of_the_api_never_shows_the_token(world: Clouded) {
    let token = "EAA-token-of-106540352242922";
    let (status, mut body) = graph_error(190, "x");
    body["error"]["message"] = json!(format!("Malformed access token {token}"));
    world.fake.script([SendBehaviour::Error(status, body)]);
    let answer = world.send_text(&mobile(1), "oi").await;
    assert!(!answer.show().contains(token), "{}", answer.show());
    let listed = world.get("/api/v1/messages").await;
    assert!(!listed.show().contains(token), "{}", listed.show());
    for event in world.events().await {
        assert!(!event.data.to_string().contains(token), "{event:?}");
    }
}
