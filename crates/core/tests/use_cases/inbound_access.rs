//! Access to inbound endpoints, rate limits, and the order of refusals (7.2, 8, D13).

use std::time::Duration;

use recado_core::access::ClientNet;
use recado_core::ids::InboundEndpointId;
use recado_core::inbound::InboundError;
use recado_core::{Error, Recado, Rejection};
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::code;
use super::shop::{Shop, client};

const SECRET: &str = "a-secret-of-16-chars";

async fn endpoint(shop: &Shop, slug: &str, with: Value) -> InboundEndpointId {
    let mut new = json!({
        "slug": slug, "variable_mapping": { "phone": "$.phone" }, "secret": SECRET,
    });
    new.as_object_mut().unwrap().extend(body(with));
    let made = shop.app().inbound().create(shop.kit().company.id, &body(new)).await.unwrap();
    made.endpoint.id
}

async fn change(shop: &Shop, id: InboundEndpointId, with: Value) {
    let inbound = shop.app().inbound();
    inbound.change(shop.kit().company.id, id, &body(with)).await.unwrap();
}

/// The code that a call gets, or `OK`.
async fn call(app: &Recado, slug: &str, client: ClientNet, secrets: &[&str]) -> String {
    let secrets: Vec<&[u8]> = secrets.iter().map(|secret| secret.as_bytes()).collect();
    match app.inbound().admit(slug, client, &secrets).await {
        Ok(_) => "OK".to_owned(),
        refused => code(refused),
    }
}

/// 7.2.
#[tokio::test]
async fn unknown_comes_before_feature_inactive_and_secret_in_this_order() {
    let shop = Shop::new().await;
    let id = endpoint(&shop, "site", json!({})).await;
    let answer = async |n| call(shop.app(), "site", client(n), &[]).await;
    assert_eq!(answer(1).await, "INVALID_SECRET");
    change(&shop, id, json!({ "is_active": false })).await;
    assert_eq!(answer(2).await, "ENDPOINT_INACTIVE");
    shop.set_features(json!({ "inbound_contacts": false })).await;
    assert_eq!(answer(3).await, "FEATURE_DISABLED");
    for unknown in ["other", "SITE", "s", "", "site/", "-site", "ações"] {
        assert_eq!(call(shop.app(), unknown, client(4), &[SECRET]).await, "ENDPOINT_NOT_FOUND");
    }
}

#[tokio::test]
async fn only_the_secret_passes_presented_once() {
    let shop = Shop::new().await;
    endpoint(&shop, "site", json!({})).await;
    assert_eq!(call(shop.app(), "site", client(1), &[SECRET]).await, "OK");
    for wrong in [&[][..], &[""], &["A-SECRET-OF-16-CHARS"], &[SECRET, SECRET], &["wrong"]] {
        assert_eq!(call(shop.app(), "site", client(2), wrong).await, "INVALID_SECRET");
    }
}

#[tokio::test]
async fn a_public_endpoint_needs_no_secret_and_does_not_mind_one() {
    let shop = Shop::new().await;
    endpoint(&shop, "open", json!({ "auth_mode": "public" })).await;
    for any in [&[][..], &["wrong"], &[SECRET], &["two", "headers"]] {
        assert_eq!(call(shop.app(), "open", client(1), any).await, "OK");
    }
}

/// R83.
#[tokio::test]
async fn a_secret_that_was_replaced_is_refused_at_once_and_shown_once() {
    let shop = Shop::new().await;
    let id = endpoint(&shop, "site", json!({})).await;
    let (inbound, company) = (shop.app().inbound(), shop.kit().company.id);
    let new = inbound.rotate_secret(company, id, &body(json!({}))).await.unwrap().secret;
    assert_eq!(call(&shop.other, "site", client(1), &[SECRET]).await, "INVALID_SECRET");
    assert_eq!(call(&shop.other, "site", client(1), &[&new]).await, "OK");
    let shown = serde_json::to_string(&inbound.all(company).await.unwrap()).unwrap();
    assert!(!shown.contains(&new));
    let given = "another-secret-of-mine";
    inbound.rotate_secret(company, id, &body(json!({ "secret": given }))).await.unwrap();
    assert_eq!(call(shop.app(), "site", client(2), &[given]).await, "OK");
}

#[tokio::test]
async fn a_client_gets_ten_calls_a_minute_or_five_of_public_endpoints_and_then_429_before_404() {
    let shop = Shop::new().await;
    endpoint(&shop, "site", json!({})).await;
    endpoint(&shop, "open", json!({ "auth_mode": "public" })).await;
    for (slug, calls, passed) in
        [("site", 10, "OK"), ("open", 5, "OK"), ("none", 10, "ENDPOINT_NOT_FOUND")]
    {
        let client = client(calls + slug.len() as u32 * 100 + u32::from(slug == "none"));
        for n in 0..calls {
            // The limits are those of all processes together.
            let app = shop.apps()[n as usize % 2];
            assert_eq!(call(app, slug, client, &[SECRET]).await, passed, "{slug} {n}");
        }
        assert_eq!(call(shop.app(), slug, client, &[SECRET]).await, "RATE_LIMITED", "{slug}");
    }
}

/// D13.
#[tokio::test]
async fn each_tier_counts_a_client_for_itself_and_an_unknown_slug_counts_as_secret() {
    let shop = Shop::new().await;
    endpoint(&shop, "site", json!({})).await;
    for slug in ["open", "wide"] {
        endpoint(&shop, slug, json!({ "auth_mode": "public" })).await;
    }
    for _ in 0..5 {
        assert_eq!(call(shop.app(), "open", client(1), &[]).await, "OK");
    }
    for slug in ["open", "wide"] {
        assert_eq!(call(shop.app(), slug, client(1), &[]).await, "RATE_LIMITED");
    }
    for _ in 0..5 {
        assert_eq!(call(shop.app(), "site", client(1), &[SECRET]).await, "OK");
        assert_eq!(call(shop.app(), "none", client(1), &[]).await, "ENDPOINT_NOT_FOUND");
    }
    for slug in ["site", "none"] {
        assert_eq!(call(shop.app(), slug, client(1), &[SECRET]).await, "RATE_LIMITED");
    }
}

#[tokio::test]
async fn the_contact_webhook_and_template_dispatch_count_a_client_apart() {
    let shop = Shop::new().await;
    endpoint(&shop, "site", json!({})).await;
    let new = json!({ "name": "a", "category": "UTILITY", "body": "Oi" });
    let template = shop.template(new).await;
    for _ in 0..10 {
        assert_eq!(call(shop.app(), "site", client(1), &[SECRET]).await, "OK");
    }
    let dispatches = shop.app().dispatches();
    for _ in 0..10 {
        dispatches.admit(&template.token, client(1)).await.unwrap();
    }
    let limited = dispatches.admit(&template.token, client(1)).await;
    assert_eq!(code(limited), "RATE_LIMITED");
}

/// R77.
#[tokio::test]
async fn a_caller_without_the_secret_cannot_use_up_an_endpoints_allowance() {
    let shop = Shop::new().await;
    let id = endpoint(&shop, "site", json!({})).await;
    for n in 0..100 {
        assert_eq!(call(shop.app(), "site", client(n), &["wrong"]).await, "INVALID_SECRET");
    }
    change(&shop, id, json!({ "is_active": false })).await;
    for n in 100..200 {
        assert_eq!(call(shop.app(), "site", client(n), &[SECRET]).await, "ENDPOINT_INACTIVE");
    }
    change(&shop, id, json!({ "is_active": true })).await;
    shop.set_features(json!({ "inbound_contacts": false })).await;
    for n in 200..300 {
        assert_eq!(call(shop.app(), "site", client(n), &[SECRET]).await, "FEATURE_DISABLED");
    }
    shop.set_features(json!({ "inbound_contacts": true })).await;
    for n in 300..360 {
        let app = shop.apps()[n as usize % 2];
        assert_eq!(call(app, "site", client(n), &[SECRET]).await, "OK", "{n}");
    }
    assert_eq!(call(shop.app(), "site", client(360), &[SECRET]).await, "RATE_LIMITED");
    // A caller without the secret is answered that the secret is wrong, not that the endpoint's
    // limit is exhausted.
    assert_eq!(call(shop.app(), "site", client(361), &["wrong"]).await, "INVALID_SECRET");
}

#[tokio::test]
async fn a_public_endpoint_takes_thirty_calls_a_minute() {
    let shop = Shop::new().await;
    endpoint(&shop, "open", json!({ "auth_mode": "public" })).await;
    for n in 0..30 {
        assert_eq!(call(shop.app(), "open", client(n), &[]).await, "OK");
    }
    assert_eq!(call(shop.app(), "open", client(30), &[]).await, "RATE_LIMITED");
    shop.advance(Duration::from_secs(2));
    assert_eq!(call(shop.app(), "open", client(31), &[]).await, "OK");
    assert_eq!(call(shop.app(), "open", client(32), &[]).await, "RATE_LIMITED");
}

/// R77.
#[tokio::test]
async fn a_call_that_is_limited_is_charged_nothing_on_either_counter() {
    let shop = Shop::new().await;
    endpoint(&shop, "site", json!({})).await;
    for n in 0..60 {
        assert_eq!(call(shop.app(), "site", client(n / 10), &[SECRET]).await, "OK");
    }
    // The endpoint's limit is exhausted: these calls do not count against their client either.
    for _ in 0..30 {
        assert_eq!(call(shop.app(), "site", client(50), &[SECRET]).await, "RATE_LIMITED");
    }
    for _ in 0..10 {
        assert_eq!(call(shop.app(), "none", client(50), &[]).await, "ENDPOINT_NOT_FOUND");
    }
    // The client's limit is exhausted: its calls do not count against the endpoint either.
    for _ in 0..30 {
        assert_eq!(call(shop.app(), "site", client(50), &[SECRET]).await, "RATE_LIMITED");
    }
    shop.advance(Duration::from_secs(1));
    assert_eq!(call(shop.app(), "site", client(60), &[SECRET]).await, "OK");
    assert_eq!(call(shop.app(), "site", client(61), &[SECRET]).await, "RATE_LIMITED");
}

#[tokio::test]
async fn a_refusal_names_the_wait_after_which_a_call_passes() {
    let shop = Shop::new().await;
    endpoint(&shop, "site", json!({})).await;
    for _ in 0..10 {
        call(shop.app(), "site", client(1), &[SECRET]).await;
    }
    let refused = shop.app().inbound().admit("site", client(1), &[SECRET.as_bytes()]).await;
    let Err(Error::Rejected(error)) = refused else { panic!("not refused") };
    assert_eq!(error, InboundError::RateLimited { retry_after: Duration::from_secs(6) });
    assert_eq!(error.retry_after(), Some(Duration::from_secs(6)));
    shop.advance(Duration::from_millis(5_999));
    assert_eq!(call(shop.app(), "site", client(1), &[SECRET]).await, "RATE_LIMITED");
    shop.advance(Duration::from_millis(1));
    assert_eq!(call(shop.app(), "site", client(1), &[SECRET]).await, "OK");
}

#[tokio::test]
async fn a_network_of_ipv6_addresses_is_one_client() {
    let shop = Shop::new().await;
    endpoint(&shop, "site", json!({})).await;
    let of = |address: String| ClientNet::of(address.parse().unwrap());
    for n in 0..10 {
        let client = of(format!("2001:db8:1:2::{n}"));
        assert_eq!(call(shop.app(), "site", client, &[SECRET]).await, "OK");
    }
    for (address, answer) in
        [("2001:db8:1:2:ffff::1", "RATE_LIMITED"), ("2001:db8:1:3::1", "OK"), ("10.0.0.1", "OK")]
    {
        assert_eq!(call(shop.app(), "site", of(address.to_owned()), &[SECRET]).await, answer);
    }
    for _ in 0..9 {
        let mapped = of("::ffff:10.0.0.1".to_owned());
        assert_eq!(call(shop.app(), "site", mapped, &[SECRET]).await, "OK");
    }
    let plain = of("10.0.0.1".to_owned());
    assert_eq!(call(shop.app(), "site", plain, &[SECRET]).await, "RATE_LIMITED");
}

#[tokio::test]
async fn a_slug_is_taken_for_all_companies_also_by_one_of_many_at_once() {
    let shop = Shop::new().await;
    endpoint(&shop, "site", json!({})).await;
    let (other, _) = shop.kit().another_company("Outra").await;
    let new =
        |slug: &str| body(json!({ "slug": slug, "variable_mapping": { "phone": "$.phone" } }));
    let taken = shop.app().inbound().create(other.id, &new("site")).await;
    assert_eq!(code(taken), "SLUG_TAKEN");
    let news: Vec<_> = (0..20).map(|_| new("both")).collect();
    let companies = [shop.kit().company.id, other.id];
    let makes = news.iter().enumerate().map(|(n, new)| {
        let app = shop.apps()[n / 2 % 2];
        async move { app.inbound().create(companies[n % 2], new).await }
    });
    let made = futures_util::future::join_all(makes).await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
    for refused in made.into_iter().filter(|made| made.is_err()) {
        assert_eq!(code(refused), "SLUG_TAKEN");
    }
}

#[tokio::test]
async fn an_endpoint_that_is_gone_or_renamed_is_unknown_and_frees_its_slug() {
    let shop = Shop::new().await;
    let (inbound, company) = (shop.app().inbound(), shop.kit().company.id);
    let id = endpoint(&shop, "site", json!({})).await;
    change(&shop, id, json!({ "slug": "page" })).await;
    assert_eq!(call(shop.app(), "site", client(1), &[SECRET]).await, "ENDPOINT_NOT_FOUND");
    assert_eq!(call(shop.app(), "page", client(1), &[SECRET]).await, "OK");
    endpoint(&shop, "site", json!({})).await;
    inbound.delete(company, id).await.unwrap();
    assert_eq!(call(shop.app(), "page", client(1), &[SECRET]).await, "ENDPOINT_NOT_FOUND");
    assert_eq!(code(inbound.get(company, id).await), "NOT_FOUND");
}

#[tokio::test]
async fn an_endpoint_of_another_company_is_as_good_as_missing() {
    let shop = Shop::new().await;
    let id = endpoint(&shop, "site", json!({})).await;
    let (other, _) = shop.kit().another_company("Outra").await;
    let (inbound, nothing) = (shop.app().inbound(), body(json!({})));
    assert_eq!(code(inbound.get(other.id, id).await), "NOT_FOUND");
    assert_eq!(code(inbound.change(other.id, id, &nothing).await), "NOT_FOUND");
    assert_eq!(code(inbound.rotate_secret(other.id, id, &nothing).await), "NOT_FOUND");
    assert_eq!(code(inbound.delete(other.id, id).await), "NOT_FOUND");
    assert_eq!(inbound.all(other.id).await.unwrap(), []);
}

#[tokio::test]
async fn a_mapping_that_could_never_work_is_refused_when_it_is_registered() {
    let shop = Shop::new().await;
    let (inbound, company) = (shop.app().inbound(), shop.kit().company.id);
    let many: serde_json::Map<String, Value> =
        (0..101).map(|n| (format!("k{n}"), json!("$.x"))).collect();
    for mapping in [
        json!({}),
        json!({ "first_name": "$.name" }),
        json!({ "phone": "name" }),
        json!({ "phone": "$[" }),
        json!({ "phone": 5 }),
        json!({ "phone": "$.p", "no slug!": "$.x" }),
        json!({ "phone": format!("$.{}", "x".repeat(499)) }),
        json!(many),
        json!([]),
    ] {
        let new = body(json!({ "slug": "site", "variable_mapping": mapping }));
        let refused = inbound.create(company, &new).await;
        assert_eq!(code(refused), "VALIDATION_ERROR", "{mapping}");
    }
}
