//! Managing webhooks: what is accepted, what is refused, what is shown of secrets (D52a, D54, D56).

use recado_core::deliveries::DeliveryStatus;
use recado_core::ids::{CompanyId, WebhookId};
use recado_core::webhooks::MAX_WEBHOOKS;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::outbound::{OTHER_URL, Outbound, URL};
use super::{code, create_phone, refused};

async fn create(outbound: &Outbound, new: Value) -> Result<Value, (String, Value)> {
    let made = outbound.kit.app.webhooks().create(outbound.kit.company.id, &body(new)).await;
    match made {
        Ok(made) => Ok(serde_json::to_value(made).unwrap()),
        refusal => Err(refused(refusal)),
    }
}

fn fields(refusal: &(String, Value)) -> Vec<&str> {
    assert_eq!(refusal.0, "VALIDATION_ERROR");
    let names = refusal.1["fields"].as_array().unwrap().iter();
    let mut names: Vec<&str> = names.map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_webhook_is_answered_with_its_secret_once() {
    let outbound = Outbound::new().await;
    let new = json!({ "url": URL, "events": ["message.sent", "contact.created", "message.sent"] });
    let made = create(&outbound, new).await.unwrap();
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 49, "{secret}");
    assert_eq!(made["url"], URL);
    assert_eq!(made["events"], json!(["contact.created", "message.sent"]));
    assert_eq!((&made["is_active"], &made["standard_headers"]), (&json!(true), &json!(false)));
    assert_eq!(made["previous_secret_until"], Value::Null);
    let id = WebhookId::parse(made["id"].as_str().unwrap()).unwrap();
    let (webhooks, company) = (outbound.kit.app.webhooks(), outbound.kit.company.id);
    let shown = serde_json::to_value(webhooks.get(company, id).await.unwrap()).unwrap();
    let mut expected = made.clone();
    expected.as_object_mut().unwrap().remove("secret");
    assert_eq!(shown, expected);
    let listed = serde_json::to_value(webhooks.all(company).await.unwrap()).unwrap();
    assert_eq!(listed, json!([expected]));
}

#[tokio::test]
async fn no_two_webhooks_share_a_secret_unless_one_is_given() {
    let outbound = Outbound::new().await;
    let new = json!({ "url": URL, "events": ["*"] });
    let (_, one) = outbound.create(new.clone()).await;
    let (_, two) = outbound.create(new).await;
    assert_ne!(one, two);
    let given = json!({ "url": URL, "events": ["*"], "secret": "sixteen chars ok" });
    assert_eq!(outbound.create(given).await.1, "sixteen chars ok");
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_body_is_named_at_once() {
    let outbound = Outbound::new().await;
    let bad = json!({
        "url": "ftp://receiver.example", "events": [], "secret": "short", "is_active": "yes",
        "standard_headers": 1,
    });
    let refusal = create(&outbound, bad).await.unwrap_err();
    let named = ["events", "is_active", "secret", "standard_headers", "url"];
    assert_eq!(fields(&refusal), named);
    let missing = create(&outbound, json!({})).await.unwrap_err();
    assert_eq!(fields(&missing), ["events", "url"]);
    for events in [json!("*"), json!(["nothing.known"]), json!(["webhook.test"]), json!([1])] {
        let refusal = create(&outbound, json!({ "url": URL, "events": events })).await.unwrap_err();
        assert_eq!(fields(&refusal), ["events"]);
    }
    assert_eq!(outbound.kit.app.webhooks().all(outbound.kit.company.id).await.unwrap(), []);
}

#[tokio::test]
async fn an_address_that_may_not_be_called_is_refused_at_registration_and_at_a_change() {
    let outbound = Outbound::new().await;
    outbound.kit.transport.forbid("10.0.0.1").unname("nowhere.example");
    let id = outbound.webhook(URL, &["*"]).await;
    for url in ["http://10.0.0.1/hook", "https://nowhere.example/", "https://user@example.com/"] {
        let refusal = create(&outbound, json!({ "url": url, "events": ["*"] })).await.unwrap_err();
        assert_eq!(fields(&refusal), ["url"], "{url}");
        let change = body(json!({ "url": url }));
        let webhooks = outbound.kit.app.webhooks();
        let changed = webhooks.change(outbound.kit.company.id, id, &change).await;
        assert_eq!(fields(&refused(changed)), ["url"], "{url}");
    }
    let kept = outbound.kit.app.webhooks().get(outbound.kit.company.id, id).await.unwrap();
    assert_eq!(kept.url, URL);
    assert_eq!(outbound.kit.transport.requests(), [], "nothing was called");
}

#[tokio::test]
async fn webhooks_are_those_of_a_company_that_is_there() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["*"]).await;
    let webhooks = outbound.kit.app.webhooks();
    let nowhere = CompanyId::new(uuid::Uuid::from_u128(1));
    let new = body(json!({ "url": URL, "events": ["*"] }));
    assert_eq!(code(webhooks.create(nowhere, &new).await), "NOT_FOUND");
    let (other, _) = outbound.kit.another_company("Outra").await;
    for company in [nowhere, other.id] {
        let empty = body(json!({}));
        assert_eq!(code(webhooks.get(company, id).await), "NOT_FOUND");
        assert_eq!(code(webhooks.change(company, id, &empty).await), "NOT_FOUND");
        assert_eq!(code(webhooks.delete(company, id).await), "NOT_FOUND");
        assert_eq!(code(webhooks.rotate_secret(company, id, &empty).await), "NOT_FOUND");
        assert_eq!(code(webhooks.test(company, id).await), "NOT_FOUND");
        assert_eq!(webhooks.all(company).await.unwrap(), []);
    }
}

/// R71.
#[tokio::test]
async fn a_change_writes_what_was_sent_and_nothing_else() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["message.sent"]).await;
    let (webhooks, company) = (outbound.kit.app.webhooks(), outbound.kit.company.id);
    let before = webhooks.get(company, id).await.unwrap();
    outbound.advance(5);
    let same = webhooks.change(company, id, &body(json!({ "url": URL }))).await.unwrap();
    assert_eq!(same, before, "nothing changed, not even updated_at");
    let change = body(json!({ "url": OTHER_URL, "events": ["*"], "standard_headers": true }));
    let changed = webhooks.change(company, id, &change).await.unwrap();
    assert_eq!((changed.url.as_str(), &changed.events), (OTHER_URL, &vec!["*"]));
    assert!(changed.standard_headers && changed.is_active);
    assert_eq!(changed.created_at, before.created_at);
    assert_eq!(changed.updated_at, outbound.kit.app.now());
    let secret = body(json!({ "secret": "0123456789abcdef" }));
    assert_eq!(fields(&refused(webhooks.change(company, id, &secret).await)), ["secret"]);
    let cleared = body(json!({ "url": null, "events": null }));
    let refusal = refused(webhooks.change(company, id, &cleared).await);
    assert_eq!(fields(&refusal), ["events", "url"]);
}

#[tokio::test]
async fn a_rotation_answers_the_new_secret_and_until_when_the_old_one_signs() {
    let outbound = Outbound::new().await;
    let (id, first) = outbound.create(json!({ "url": URL, "events": ["*"] })).await;
    let (webhooks, company) = (outbound.kit.app.webhooks(), outbound.kit.company.id);
    let rotated = webhooks.rotate_secret(company, id, &body(json!({}))).await.unwrap();
    assert_ne!(rotated.secret, first);
    let until = rotated.webhook.previous_secret_until.unwrap();
    assert_eq!(until.since(outbound.kit.app.now()).as_secs(), 24 * 3600);
    let given = body(json!({ "secret": "a secret of our own" }));
    let rotated = webhooks.rotate_secret(company, id, &given).await.unwrap();
    assert_eq!(rotated.secret, "a secret of our own");
    let bad = body(json!({ "secret": "short" }));
    let refusal = refused(webhooks.rotate_secret(company, id, &bad).await);
    assert_eq!(fields(&refusal), ["secret"]);
    outbound.advance(24 * 3600);
    let later = webhooks.get(company, id).await.unwrap();
    assert_eq!(later.previous_secret_until, None);
}

/// R57.
#[tokio::test]
async fn a_deleted_webhook_is_as_good_as_missing_and_its_pending_deliveries_are_given_up() {
    let outbound = Outbound::new().await;
    let (gone, stays) =
        (outbound.webhook(URL, &["*"]).await, outbound.webhook(OTHER_URL, &["*"]).await);
    // More than are given up at once.
    for n in 0..45 {
        create_phone(&outbound.kit, &format!("+55349912300{n:02}")).await;
    }
    let (webhooks, company) = (outbound.kit.app.webhooks(), outbound.kit.company.id);
    webhooks.delete(company, gone).await.unwrap();
    assert_eq!(code(webhooks.get(company, gone).await), "NOT_FOUND");
    assert_eq!(code(webhooks.delete(company, gone).await), "NOT_FOUND");
    assert_eq!(code(webhooks.change(company, gone, &body(json!({}))).await), "NOT_FOUND");
    assert_eq!(webhooks.all(company).await.unwrap().len(), 1);
    for delivery in outbound.all().await {
        let expected = if delivery.webhook_id == gone {
            DeliveryStatus::Failed
        } else {
            DeliveryStatus::Pending
        };
        assert_eq!((delivery.status, delivery.attempts), (expected, 0));
    }
    create_phone(&outbound.kit, "+5534991231000").await;
    assert_eq!(outbound.types_for(gone).await.len(), 45);
    assert_eq!(outbound.types_for(stays).await.len(), 46);
}

/// D56a.
#[tokio::test]
async fn a_test_goes_to_the_webhook_that_is_tested_and_to_no_other() {
    let outbound = Outbound::new().await;
    let tested = outbound.webhook(URL, &["message.sent"]).await;
    let other = outbound.webhook(OTHER_URL, &["*"]).await;
    let (webhooks, company) = (outbound.kit.app.webhooks(), outbound.kit.company.id);
    let made = webhooks.test(company, tested).await.unwrap();
    assert_eq!((made.webhook_id, made.event.as_str()), (tested, "webhook.test"));
    assert_eq!((made.status, made.attempts), (DeliveryStatus::Pending, 0));
    assert_eq!(outbound.types_for(tested).await, ["webhook.test"]);
    assert_eq!(outbound.types_for(other).await, Vec::<&str>::new());
    let reported: Value =
        serde_json::from_str(&outbound.detail(made.id).await.body.unwrap()).unwrap();
    assert_eq!(reported["data"], json!({ "webhook_id": tested }));
    assert_eq!(reported["event"], "webhook.test");
}

/// R58.
#[tokio::test]
async fn a_test_needs_an_active_webhook_and_a_plan_that_fires() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["*"]).await;
    outbound.change(id, json!({ "is_active": false })).await;
    let (webhooks, company) = (outbound.kit.app.webhooks(), outbound.kit.company.id);
    assert_eq!(code(webhooks.test(company, id).await), "WEBHOOK_INACTIVE");
    outbound.set_plan("starter").await;
    let (code, details) = refused(webhooks.test(company, id).await);
    assert_eq!(code, "PLAN_REQUIRED");
    assert!(details.to_string().contains("professional"), "{details}");
    assert_eq!(outbound.all().await, []);
}

/// R60.
#[tokio::test]
async fn a_company_has_a_bounded_number_of_webhooks() {
    let outbound = Outbound::new().await;
    let new = json!({ "url": URL, "events": ["*"] });
    let (first, _) = outbound.create(new.clone()).await;
    for _ in 1..MAX_WEBHOOKS {
        outbound.create(new.clone()).await;
    }
    let refusal = create(&outbound, new.clone()).await.unwrap_err();
    assert_eq!(refusal.0, "TOO_MANY_WEBHOOKS");
    outbound.kit.app.webhooks().delete(outbound.kit.company.id, first).await.unwrap();
    create(&outbound, new).await.unwrap();
}
