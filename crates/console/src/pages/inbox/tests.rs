//! The list of conversations, and what pages hear, without a browser.

use std::time::Duration;

use http::{Method, StatusCode};
use http_body_util::{BodyExt, Full};
use recado_core::access::OperatorRole;
use recado_core::conversations::ActionName;
use recado_core::ids::{ConnectionId, ContactId};
use recado_testkit::kit::body;
use serde_json::json;

use crate::body::ConsoleBody;
use crate::harness::{Browser, Site};
use crate::{Console, ConsoleOptions};

async fn site() -> (Site, ConnectionId) {
    let site = Site::new().await;
    let connection = site.kit.connection("qr").await;
    (site, connection)
}

async fn contact(site: &Site, n: u32, name: &str) -> ContactId {
    let new = body(json!({"phone": format!("+55119876{n:05}"), "name": name}));
    site.kit.app.contacts().import(&site.kit.company, &new).await.expect("a contact").0
}

/// Opens the stream; what comes first is read off it.
async fn listen(
    site: &Site,
    browser: &Browser<'_>,
    query: &str,
    last: Option<&str>,
) -> ConsoleBody {
    let mut request = browser.request(Method::GET, &format!("/console/live{query}"));
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let request = request.body(Full::new(bytes::Bytes::new())).expect("a request");
    let response = site.console.answer(request).await.expect("an answer");
    assert_eq!(response.status(), StatusCode::OK);
    assert!(response.headers()["content-type"].to_str().expect("text").contains("event-stream"));
    let mut body = response.into_body();
    assert_eq!(next(&mut body).await.as_deref(), Some("retry: 3000\n\n"));
    body
}

/// The next piece; `None` at the end.
async fn next(body: &mut ConsoleBody) -> Option<String> {
    let frame = tokio::time::timeout(Duration::from_secs(5), body.frame()).await;
    let data = frame.expect("a piece in time")?.expect("a frame").into_data().expect("data");
    Some(String::from_utf8_lossy(&data).into_owned())
}

/// The next event about a contact, and its position.
async fn about(body: &mut ConsoleBody, contact: ContactId) -> String {
    loop {
        let piece = next(body).await.expect("an event");
        if piece.contains(&contact.to_string()) {
            let id = piece.strip_prefix("id: ").and_then(|rest| rest.split('\n').next());
            return id.expect("a position").to_owned();
        }
    }
}

fn after_of(html: &str) -> String {
    let (_, rest) = html.split_once("data-after=\"").expect("a position");
    format!("?after={}", rest.split('"').next().expect("a value"))
}

/// R422.
#[tokio::test]
async fn conversations_are_filtered_and_names_escaped() {
    let (site, connection) = site().await;
    site.kit.contact_writes(connection, "5511987654321", "Oi").await;
    let writer = site.kit.contact_by_phone("+5511987654321").await.expect("the contact");
    let writer = format!("href=\"/console/inbox/{writer}\"");
    contact(&site, 1, "<script>Ana").await;
    let bia = contact(&site, 2, "Bia").await;
    let viewer = site.as_role(OperatorRole::Viewer).await;
    let all = viewer.get("/console/inbox").await;
    all.has("&lt;script&gt;Ana").has("Bia").has(&writer).lacks("<script>Ana");
    all.has(&format!("href=\"/console/inbox/{bia}\""));
    let unread = viewer.get("/console/inbox?unread=true").await;
    unread.has(&writer).lacks("Bia").has("<b>1 new</b>").has("Unread (1)");
    viewer.get("/console/inbox?search=Bia&inbox_status=&tag_id=").await.has("Bia").lacks("Ana<");
    viewer.get("/console/inbox?assigned_to=none").await.has("Bia");
    let mine = viewer.get("/console/inbox?assigned_to=me").await;
    mine.has("No conversations here.");
    for wrong in ["tag_id=x", "connection_id=x", "assigned_to=x", "per_page=501", "page=0"] {
        let wrong = viewer.get(&format!("/console/inbox?{wrong}")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(viewer.get("/console").await.location(), "/console/inbox");
}

/// R422.
#[tokio::test]
async fn one_finds_ones_own_conversations() {
    let (site, _) = site().await;
    let ana = contact(&site, 1, "Ana").await;
    contact(&site, 2, "Bia").await;
    let owner = site.owner().await;
    let change = body(json!({ "member_id": owner.member.id }));
    let conversations = site.kit.app.conversations();
    let assigned = conversations.act(site.kit.company.id, ana, ActionName::Assign, &change).await;
    assigned.expect("the change");
    owner.get("/console/inbox?assigned_to=me").await.has("Ana").lacks("Bia");
}

/// R422.
#[tokio::test]
async fn conversations_are_filtered_by_connection_tag_and_stage() {
    let (site, connection) = site().await;
    let (app, company) = (&site.kit.app, site.kit.company.id);
    let other = site.kit.connection("qr").await;
    site.kit.contact_writes(connection, "5511987654321", "Oi").await;
    site.kit.contact_writes(other, "5511987654322", "Oi").await;
    let link_of = async |phone| {
        let id = site.kit.contact_by_phone(phone).await.expect("the contact");
        (id, format!("href=\"/console/inbox/{id}\""))
    };
    let ((ana, of_ana), (_, of_bia)) =
        (link_of("+5511987654321").await, link_of("+5511987654322").await);
    let owner = site.owner().await;
    let page = owner.get("/console/inbox").await;
    page.has(&format!("value=\"{other}\"")).has(&of_ana).has(&of_bia);
    let found = async |query: String| owner.get(&format!("/console/inbox?{query}")).await;
    found(format!("connection_id={connection}")).await.has(&of_ana).lacks(&of_bia);
    let kept = found(format!("connection_id={other}&inbox_status=open")).await;
    kept.has(&of_bia).lacks(&of_ana).has(&format!("value=\"{other}\" selected"));

    let tag = app
        .tags()
        .create(company, &body(json!({ "name": "VIP", "color": "#aa0000" })))
        .await
        .expect("a tag");
    let changes = body(json!({ "tag_ids": [tag.id] }));
    app.contacts().patch_as_operator(company, ana, &changes).await.expect("the change");
    found(format!("tag_id={}", tag.id)).await.has(&of_ana).lacks(&of_bia).has("VIP");
    found(format!("tag_id={}&connection_id={other}", tag.id)).await.has("No conversations here.");

    let stages = json!([{ "name": "New", "color": "#aa0000" }]);
    let sales = body(json!({ "name": "Sales", "stages": stages }));
    let sales = app.deals().create_pipeline(company, &sales).await.expect("a pipeline");
    let stage = sales.stages[0].id;
    let deal = body(json!({ "title": "A car", "stage_id": stage, "contact_id": ana }));
    app.deals().create(company, &deal).await.expect("a deal");
    found(format!("pipeline_stage_id={stage}")).await.has(&of_ana).lacks(&of_bia);
}

/// R422.
#[tokio::test]
async fn a_conversation_says_what_came_last_and_how_much_is_unread() {
    let (site, connection) = site().await;
    site.kit.contact_writes(connection, "5511987654321", "Bom dia").await;
    site.kit.clock.advance(Duration::from_secs(1));
    site.kit.contact_writes(connection, "5511987654321", "<b>Tem\n\nnovidade?").await;
    let viewer = site.as_role(OperatorRole::Viewer).await;
    let page = viewer.get("/console/inbox").await;
    page.has("<bdi>&lt;b&gt;Tem novidade?</bdi>").has("<b>2 new</b>").lacks("Bom dia");
    let long = viewer.get("/console/inbox?per_page=500").await;
    long.has("<b>2 new</b>");
    let id = site.kit.contact_by_phone("+5511987654321").await.expect("the contact");
    let agent = site.as_role(OperatorRole::Agent).await;
    let answer = [("key", "a"), ("message", "Claro!"), ("assign", "on")];
    let reply = agent.post(&format!("/console/inbox/{id}/reply"), &answer).await;
    assert_eq!(reply.status, StatusCode::SEE_OTHER, "{}", reply.html);
    viewer.get("/console/inbox").await.has("Sent: <bdi>Claro!</bdi>").lacks("novidade");
}

/// R422.
#[tokio::test]
async fn a_page_has_50_conversations_and_at_most_500_within_150_kb() {
    let (site, _) = site().await;
    for n in 0..510 {
        contact(&site, n, &format!("Contact number {n}")).await;
    }
    let owner = site.owner().await;
    let rows = |html: &str| html.matches("data-conversation").count();
    let first = owner.get("/console/inbox?inbox_status=open").await;
    assert_eq!(rows(&first.html), 50);
    first.has("inbox_status=open&amp;page=2");
    let most = owner.get("/console/inbox?per_page=500").await;
    assert_eq!(rows(&most.html), 500);
    assert!(most.html.len() <= 150_000, "{}", most.html.len());
    assert_eq!(rows(&owner.get("/console/inbox?per_page=500&page=2").await.html), 10);
}

/// R422.
#[tokio::test]
async fn htmx_gets_the_rows_alone() {
    let (site, _) = site().await;
    contact(&site, 1, "Ana").await;
    let mut owner = site.owner().await;
    owner.headers.insert("hx-request", "true".parse().expect("a header"));
    let piece = owner.get("/console/inbox").await;
    piece.has("id=\"conversations\"").has("Ana").lacks("<h1>").lacks("data-after");
}

/// R423.
#[tokio::test]
async fn a_page_hears_of_a_message_without_its_content_and_goes_on_after_the_last_one() {
    let (site, connection) = site().await;
    let owner = site.owner().await;
    let after = after_of(&owner.get("/console/inbox").await.html);
    site.kit.contact_writes(connection, "5511987654321", "a secret").await;
    let ana = site.kit.contact_by_phone("+5511987654321").await.expect("the contact");
    let mut stream = listen(&site, &owner, &after, None).await;
    let mut heard = String::new();
    while !heard.contains("message.received") {
        heard.push_str(&next(&mut stream).await.expect("an event"));
    }
    assert!(heard.contains(&ana.to_string()) && !heard.contains("secret"), "{heard}");
    let last = heard.rsplit("id: ").next().and_then(|rest| rest.split('\n').next());
    let last = last.expect("a position").to_owned();
    // One that is received while the page listens comes by the reader.
    site.kit.contact_writes(connection, "5511987654322", "Oi").await;
    let bia = site.kit.contact_by_phone("+5511987654322").await.expect("the contact");
    about(&mut stream, bia).await;
    drop(stream);
    // After the last event of the first contact only the second one is told of.
    let mut again = listen(&site, &owner, &after, Some(&last)).await;
    let first = next(&mut again).await.expect("an event");
    assert!(first.contains(&bia.to_string()), "{first}");
}

/// R423.
#[tokio::test]
async fn another_company_is_not_heard() {
    let (site, connection) = site().await;
    let owner = site.owner().await;
    let (other, _) = site.kit.another_company("Other").await;
    let new = body(json!({"phone": "+5511987654399", "name": "Zoe"}));
    let zoe = site.kit.app.contacts().import(&other, &new).await.expect("a contact").0;
    site.kit.contact_writes(connection, "5511987654321", "Oi").await;
    let mut stream = listen(&site, &owner, "", None).await;
    let mut heard = String::new();
    while !heard.contains("message.received") {
        heard.push_str(&next(&mut stream).await.expect("an event"));
    }
    assert!(!heard.contains(&zoe.to_string()));
    owner.get("/console/inbox").await.lacks("Zoe");
    let foreign = site.kit.app.events().position_now(other.id).await.expect("a position");
    let refused = owner.get(&format!("/console/live?after={foreign}")).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
}

/// R423.
#[tokio::test]
async fn pages_beyond_the_bounds_are_refused_and_a_closed_one_makes_room() {
    let (mut site, _) = site().await;
    let mut options = ConsoleOptions::default();
    (options.live_pages_per_member, options.live_pages) = (1, 2);
    site.console = Console::new(site.kit.app.clone(), options);
    let (one, two) = (site.owner().await, site.owner().await);
    let three = site.owner().await;
    let first = listen(&site, &one, "", None).await;
    assert_eq!(one.get("/console/live").await.status, StatusCode::SERVICE_UNAVAILABLE);
    let _second = listen(&site, &two, "", None).await;
    assert_eq!(three.get("/console/live").await.status, StatusCode::SERVICE_UNAVAILABLE);
    drop(first);
    tokio::time::sleep(Duration::from_millis(100)).await;
    listen(&site, &three, "", None).await;
}

/// R423.
#[tokio::test]
async fn pages_that_listen_end_with_the_server() {
    let (site, _) = site().await;
    let owner = site.owner().await;
    let mut stream = listen(&site, &owner, "", None).await;
    site.console.end_live_pages();
    while next(&mut stream).await.is_some() {}
    assert_eq!(owner.get("/console/live").await.status, StatusCode::SERVICE_UNAVAILABLE);
}

/// R423.
#[tokio::test(start_paused = true)]
async fn a_page_ends_within_a_minute_after_its_session() {
    let (site, _) = site().await;
    let owner = site.owner().await;
    let mut stream = listen(&site, &owner, "", None).await;
    owner.post("/console/sign-out", &[]).await;
    let ended = tokio::time::timeout(Duration::from_secs(61), async {
        while stream.frame().await.is_some() {}
    });
    ended.await.expect("it ends");
}

/// R423.
#[tokio::test]
async fn who_is_not_signed_in_hears_nothing() {
    let (site, _) = site().await;
    let shown = site.get("/console/live").await;
    assert_eq!(shown.status, StatusCode::SEE_OTHER);
}
