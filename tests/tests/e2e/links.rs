//! Tracked links and their clicks: 2.1 (`link_clicks`), 4.1 (`include`); D60.

use std::time::Duration;

use recado_tests::hooks_in::FORWARDED;
use recado_tests::{
    Request, ScriptedAnswer, Setup, StoreKind, World, both_stores, phone, text, unknown_id,
};
use serde_json::{Value, json};

const BROWSER: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";

async fn link(world: &World, contact: &str) -> String {
    let body = json!({"contact_id": contact, "url": "https://example.com/promo?x=1#top"});
    text(&world.make("C/links", body).await["code"])
}

async fn click(world: &World, code: &str, agent: &str) -> ScriptedAnswer {
    world.send(Request::new("GET", format!("/l/{code}")).header("user-agent", agent)).await
}

async fn clicks(world: &World, contact: &str) -> Value {
    let answer = world.get("/api/v1/contacts?include=link_clicks").await;
    let found = answer.items().into_iter().find(|item| item["id"] == contact).expect("listed");
    found["link_clicks"].clone()
}

#[both_stores]
async fn a_click_redirects_and_is_counted(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let code = link(&world, &id).await;
    assert_eq!(clicks(&world, &id).await, json!({"total": 0, "last_at": null}));
    let answer = click(&world, &code, BROWSER).await;
    assert_eq!(answer.status, 302);
    assert_eq!(answer.header("location"), "https://example.com/promo?x=1#top");
    assert_eq!(answer.header("cache-control"), "no-store");
    let first = clicks(&world, &id).await;
    assert_eq!(first["total"], 1);
    world.advance(Duration::from_secs(60));
    click(&world, &code, BROWSER).await;
    let second = clicks(&world, &id).await;
    assert_eq!(second["total"], 2);
    assert!(text(&second["last_at"]) > text(&first["last_at"]));
}

#[both_stores]
async fn clicks_of_all_links_of_a_contact_are_added_up(world: World) {
    let (a, b) = (
        world.create_id(json!({"phone": phone(1)})).await,
        world.create_id(json!({"phone": phone(2)})).await,
    );
    let (one, two) = (link(&world, &a).await, link(&world, &a).await);
    assert_ne!(one, two);
    click(&world, &one, BROWSER).await;
    click(&world, &two, BROWSER).await;
    assert_eq!(clicks(&world, &a).await["total"], 2);
    assert_eq!(clicks(&world, &b).await["total"], 0);
}

#[both_stores]
async fn link_clicks_show_only_when_asked_for(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    assert!(world.listed(&id).await.get("link_clicks").is_none());
    for query in [
        "include=link_clicks",
        "include=link_clicks,link_clicks",
        "order_by=created_at&include=link_clicks",
    ] {
        let answer = world.get(&format!("/api/v1/contacts?{query}")).await;
        answer.expect(200);
        assert!(answer.items()[0].get("link_clicks").is_some(), "{query}");
    }
}

#[both_stores]
async fn bots_and_previews_are_redirected_but_not_counted(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let code = link(&world, &id).await;
    for agent in [
        "WhatsApp/2.23.20.0",
        "facebookexternalhit/1.1",
        "TelegramBot (like TwitterBot)",
        "Twitterbot/1.0",
        "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
        "Googlebot/2.1 (+http://www.google.com/bot.html)",
        "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
        "LinkedInBot/1.0",
        "curl/8.5.0",
        "Discordbot/2.0",
        "python-requests/2.31",
        "",
    ] {
        let answer = click(&world, &code, agent).await;
        assert_eq!(answer.status, 302, "{agent}");
        assert_eq!(clicks(&world, &id).await["total"], 0, "{agent}");
    }
    let silent = world.send(Request::new("GET", format!("/l/{code}"))).await;
    assert_eq!(silent.status, 302);
    assert_eq!(clicks(&world, &id).await["total"], 0, "no User-Agent");
}

#[both_stores]
async fn an_unknown_code_is_404(world: World) {
    for code in ["nope", "x/y", "%00", "../healthz", "AAAAAAAAAAAAAAAAAAAAAA"] {
        assert_eq!(click(&world, code, BROWSER).await.status, 404, "{code}");
    }
}

/// R18.
#[both_stores]
async fn only_http_and_https_targets_are_taken(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    for url in [
        "javascript:alert(1)",
        "ftp://example.com/",
        "data:text/html,x",
        "//example.com",
        "example.com",
        "",
        "https://",
        "https://exa mple.com/\r\nx: y",
    ] {
        let answer = world.operator("POST", "C/links", json!({"contact_id": id, "url": url})).await;
        assert_eq!(answer.expect_invalid(), ["url"], "{url}");
    }
    for url in ["http://example.com/", "https://example.com/"] {
        world.make("C/links", json!({"contact_id": id, "url": url})).await;
    }
}

#[both_stores]
async fn the_short_url_is_the_public_address_and_the_code(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let made =
        world.make("C/links", json!({"contact_id": id, "url": "https://example.com/"})).await;
    let short = text(&made["short_url"]);
    assert!(short.ends_with(&format!("/l/{}", text(&made["code"]))), "{short}");
    assert!(short.starts_with("http"), "{short}");
    // R223: they are shown once.
    let one = world.operator_get(&format!("C/links/{}", text(&made["id"]))).await;
    assert_eq!(one["url"], made["url"]);
    for shown in [&one, &world.operator_get("C/links").await[0]] {
        assert_eq!((shown.get("code"), shown.get("short_url")), (None, None), "{shown}");
    }
}

/// A world in which callers may say who their client is.
async fn believing(kind: StoreKind) -> World {
    World::with(kind, Setup { trusted_proxies: &["127.0.0.0/8"], ..Setup::default() }).await
}

async fn click_of(world: &World, code: &str, client: usize) -> ScriptedAnswer {
    let client = format!("198.51.{}.{}", client / 250, client % 250);
    let request = Request::new("GET", format!("/l/{code}")).header(FORWARDED, &client);
    world.send(request.header("user-agent", BROWSER)).await
}

#[both_stores]
async fn simultaneous_clicks_are_all_counted(kind: StoreKind) {
    let world = believing(kind).await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let code = link(&world, &id).await;
    recado_tests::join_all((0..20).map(|client| click_of(&world, &code, client)).collect()).await;
    assert_eq!(clicks(&world, &id).await["total"], 20);
}

/// R206.
#[both_stores]
async fn a_person_clicks_a_link_once_a_minute(kind: StoreKind) {
    let world = believing(kind).await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let (one, two) = (link(&world, &id).await, link(&world, &id).await);
    let total = async || clicks(&world, &id).await["total"].clone();
    for _ in 0..5 {
        let answer = click_of(&world, &one, 1).await;
        assert_eq!(answer.status, 302);
        assert_eq!(answer.header("location"), "https://example.com/promo?x=1#top");
    }
    assert_eq!(total().await, 1);
    click_of(&world, &one, 2).await;
    assert_eq!(total().await, 2, "another client");
    click_of(&world, &two, 1).await;
    assert_eq!(total().await, 3, "another link");
    world.advance(Duration::from_secs(59));
    click_of(&world, &one, 1).await;
    assert_eq!(total().await, 3);
    world.advance(Duration::from_secs(1));
    click_of(&world, &one, 1).await;
    assert_eq!(total().await, 4);
}

/// R205: the answer is the same beyond the limits.
#[both_stores]
async fn visits_beyond_the_limit_of_a_link_are_redirected_and_not_recorded(kind: StoreKind) {
    let world = believing(kind).await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let (flooded, calm) = (link(&world, &id).await, link(&world, &id).await);
    for client in 0..70 {
        assert_eq!(click_of(&world, &flooded, client).await.status, 302);
    }
    assert_eq!(clicks(&world, &id).await["total"], 60);
    assert_eq!(click_of(&world, &calm, 1).await.status, 302);
    assert_eq!(clicks(&world, &id).await["total"], 61);
}

#[both_stores]
async fn clicks_do_not_change_updated_at_or_the_order(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let before = world.detail(&id).await;
    let code = link(&world, &id).await;
    world.advance(Duration::from_secs(1));
    click(&world, &code, BROWSER).await;
    assert_eq!(world.detail(&id).await, before);
}

#[both_stores]
async fn a_link_needs_a_contact_of_the_company(world: World) {
    let other = world.tenant("Other").await;
    let foreign = text(&world.create_as(&other, json!({"phone": phone(1)})).await["id"]);
    for wrong in [foreign, unknown_id()] {
        let body = json!({"contact_id": wrong, "url": "https://example.com/"});
        let answer = world.operator("POST", "C/links", body).await;
        assert_eq!(answer.expect_invalid(), ["contact_id"]);
    }
}
