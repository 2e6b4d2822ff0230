//! Records of another company behave as if they did not exist (1): status, headers and body of
//! every route are the same for their ids and for ids that no record has.

use recado_tests::{
    OPERATOR, Request, ScriptedAnswer, World, both_stores, phone, text, unknown_id,
};
use serde_json::{Value, json};

/// The visible parts of an answer, with the requested id removed.
fn seen(answer: &ScriptedAnswer, id: &str) -> (u16, Vec<String>, String) {
    let mut headers: Vec<String> = answer
        .headers
        .iter()
        .filter(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap_or_default()))
        .collect();
    headers.sort();
    (answer.status, headers, String::from_utf8_lossy(&answer.body).replace(id, "<id>"))
}

struct Theirs {
    contact: String,
    list: String,
    field: String,
    stage: String,
    tag: String,
    member: String,
    deal: String,
    pipeline: String,
    key: String,
    reason: String,
    document: String,
}

async fn theirs(world: &World) -> Theirs {
    let other = world.tenant("Other").await;
    let id = |value: Value| text(&value["id"]);
    let contact =
        id(world.create_as(&other, json!({"phone": phone(1), "email": "a@example.com"})).await);
    let pipeline = world
        .make_for(
            &other,
            "C/pipelines",
            json!({"name": "p", "stages": [{"name": "s", "color": "#111111"}]}),
        )
        .await;
    let stage = text(&pipeline["stages"][0]["id"]);
    let deal = json!({"contact_id": contact, "title": "d", "stage_id": stage});
    let upload =
        format!("/operator/v1/companies/{}/contacts/{contact}/documents?filename=a", other.id);
    let document = Request::new("POST", upload).bearer(OPERATOR).body("x");
    Theirs {
        list: id(world.make_for(&other, "C/lists", json!({"name": "l"})).await),
        field: id(world
            .make_for(&other, "C/custom-fields", json!({"label": "f", "slug": "fff"}))
            .await),
        tag: id(world.make_for(&other, "C/tags", json!({"name": "t", "color": "#111111"})).await),
        member: id(world.make_for(&other, "C/members", json!({"display_name": "m"})).await),
        deal: id(world.make_for(&other, "C/deals", deal).await),
        key: id(world
            .make_for(&other, "C/keys", json!({"name": "k", "scopes": ["contacts:read"]}))
            .await),
        reason: id(world.make_for(&other, "C/close-reasons", json!({"name": "r"})).await),
        document: id(world.send(document).await.expect(201)),
        pipeline: id(pipeline),
        contact,
        stage,
    }
}

#[both_stores]
async fn on_the_public_api(world: World) {
    let theirs = theirs(&world).await;
    let ours = world.create_id(json!({"phone": phone(5)})).await;
    let contact = |id: &str| format!("/api/v1/contacts/{id}");
    type Ask = Box<dyn Fn(&str) -> Request>;
    let asks: Vec<(&str, &str, Ask)> = vec![
        ("GET contact", &theirs.contact, Box::new(move |id| Request::new("GET", contact(id)))),
        (
            "GET contact with profile",
            &theirs.contact,
            Box::new(move |id| Request::new("GET", format!("{}?include=profile", contact(id)))),
        ),
        ("HEAD contact", &theirs.contact, Box::new(move |id| Request::new("HEAD", contact(id)))),
        (
            "PATCH contact",
            &theirs.contact,
            Box::new(move |id| Request::new("PATCH", contact(id)).json(&json!({"name": "x"}))),
        ),
        (
            "PATCH contact, its phone",
            &theirs.contact,
            Box::new(move |id| {
                Request::new("PATCH", contact(id)).json(&json!({"phone": phone(1)}))
            }),
        ),
        (
            "PATCH contact, another phone",
            &theirs.contact,
            Box::new(move |id| {
                Request::new("PATCH", contact(id)).json(&json!({"phone": phone(9)}))
            }),
        ),
        (
            "DELETE contact",
            &theirs.contact,
            Box::new(move |id| Request::new("DELETE", contact(id))),
        ),
        (
            "POST with a list",
            &theirs.list,
            Box::new(|id| {
                Request::new("POST", "/api/v1/contacts")
                    .json(&json!({"phone": phone(2), "list_ids": [id]}))
            }),
        ),
        (
            "POST with a field",
            &theirs.field,
            Box::new(|id| {
                Request::new("POST", "/api/v1/contacts")
                    .json(&json!({"phone": phone(2), "custom_fields": {id: "x"}}))
            }),
        ),
        (
            "PATCH with a list",
            &theirs.list,
            Box::new({
                let ours = ours.clone();
                move |id| Request::new("PATCH", contact(&ours)).json(&json!({"list_ids": [id]}))
            }),
        ),
        (
            "PATCH with a field",
            &theirs.field,
            Box::new({
                let ours = ours.clone();
                move |id| {
                    Request::new("PATCH", contact(&ours)).json(&json!({"custom_fields": {id: "x"}}))
                }
            }),
        ),
        (
            "filter by stage",
            &theirs.stage,
            Box::new(|id| Request::new("GET", format!("/api/v1/contacts?pipeline_stage_id={id}"))),
        ),
        (
            "export by stage",
            &theirs.stage,
            Box::new(|id| {
                Request::new(
                    "GET",
                    format!("/api/v1/contacts?order_by=created_at&pipeline_stage_id={id}"),
                )
            }),
        ),
        (
            "search by id",
            &theirs.contact,
            Box::new(|id| Request::new("GET", format!("/api/v1/contacts?search={id}"))),
        ),
    ];
    for (what, id, ask) in asks {
        let never = unknown_id();
        let found = seen(&world.call(ask(id)).await, id);
        let nothing = seen(&world.call(ask(&never)).await, &never);
        assert_eq!(found, nothing, "{what}");
    }
}

#[both_stores]
async fn their_phones_and_emails_do_not_show_either(world: World) {
    theirs(&world).await;
    let contact = world.create(json!({"phone": phone(1), "email": "a@example.com"})).await;
    assert_eq!(contact["shared_email"], Value::Null);
    assert_eq!(world.get("/api/v1/contacts?search=a%40example").await.items().len(), 1);
    assert_eq!(world.get("/api/v1/contacts").await.json()["pagination"]["total"], 1);
    assert_eq!(world.export(10).await.len(), 1);
}

#[both_stores]
async fn on_the_operator_api(world: World) {
    let theirs = theirs(&world).await;
    let ours = world.create_id(json!({"phone": phone(5)})).await;
    let list = world.list("ours").await;
    let company = world.us.id.clone();
    let under = move |rest: &str| format!("/operator/v1/companies/{company}/{rest}");
    type Ask = Box<dyn Fn(&str) -> Request>;
    let mut asks: Vec<(String, String, Ask)> = Vec::new();
    for (place, id) in [
        ("contacts", &theirs.contact),
        ("lists", &theirs.list),
        ("custom-fields", &theirs.field),
        ("tags", &theirs.tag),
        ("members", &theirs.member),
        ("deals", &theirs.deal),
        ("pipelines", &theirs.pipeline),
        ("keys", &theirs.key),
        ("close-reasons", &theirs.reason),
    ] {
        for method in ["GET", "DELETE"] {
            let under = under.clone();
            let ask: Ask =
                Box::new(move |id| Request::new(method, under(&format!("{place}/{id}"))));
            asks.push((format!("{method} {place}"), id.clone(), ask));
        }
    }
    for (place, id, body) in [
        ("contacts", &theirs.contact, json!({"is_pinned": true})),
        ("lists", &theirs.list, json!({"is_active": false})),
        ("custom-fields", &theirs.field, json!({"label": "x"})),
        ("deals", &theirs.deal, json!({"status": "won"})),
        ("keys", &theirs.key, json!({"rate_per_minute": 1})),
    ] {
        let under = under.clone();
        let ask: Ask =
            Box::new(move |id| Request::new("PATCH", under(&format!("{place}/{id}"))).json(&body));
        asks.push((format!("PATCH {place}"), id.clone(), ask));
    }
    let with = |method: &'static str, rest: String, body: Box<dyn Fn(&str) -> Value>| -> Ask {
        let under = under.clone();
        Box::new(move |id| Request::new(method, under(&rest)).json(&body(id)))
    };
    let o = ours.clone();
    asks.push((
        "deal of a contact".into(),
        theirs.contact.clone(),
        with("POST", "deals".into(), Box::new(|id| json!({"contact_id": id, "title": "t"}))),
    ));
    asks.push((
        "deal in a stage".into(),
        theirs.stage.clone(),
        with(
            "POST",
            "deals".into(),
            Box::new(move |id| json!({"contact_id": o, "title": "t", "stage_id": id})),
        ),
    ));
    asks.push((
        "link of a contact".into(),
        theirs.contact.clone(),
        with(
            "POST",
            "links".into(),
            Box::new(|id| json!({"contact_id": id, "url": "https://example.com/"})),
        ),
    ));
    asks.push((
        "list member".into(),
        theirs.contact.clone(),
        with("POST", format!("lists/{list}/contacts"), Box::new(|id| json!({"contact_ids": [id]}))),
    ));
    asks.push((
        "tag of a contact".into(),
        theirs.tag.clone(),
        with("PATCH", format!("contacts/{ours}"), Box::new(|id| json!({"tag_ids": [id]}))),
    ));
    asks.push((
        "import with a member".into(),
        theirs.member.clone(),
        with(
            "POST",
            "contacts".into(),
            Box::new(|id| json!({"phone": phone(8), "assigned_to_member_id": id})),
        ),
    ));
    asks.push((
        "import with a reason".into(),
        theirs.reason.clone(),
        with(
            "POST",
            "contacts".into(),
            Box::new(|id| json!({"phone": phone(8), "last_close_reason_id": id})),
        ),
    ));
    let contact = theirs.contact.clone();
    for method in ["GET", "POST"] {
        let under = under.clone();
        asks.push((
            format!("{method} documents"),
            contact.clone(),
            Box::new(move |id| {
                Request::new(method, under(&format!("contacts/{id}/documents?filename=x")))
                    .body(if method == "POST" { "x" } else { "" })
            }),
        ));
    }
    let under_doc = under.clone();
    asks.push((
        "GET document".into(),
        theirs.document.clone(),
        Box::new(move |id| {
            Request::new("GET", under_doc(&format!("contacts/{ours}/documents/{id}")))
        }),
    ));
    for (what, id, ask) in asks {
        let never = unknown_id();
        let found = seen(&world.send(ask(&id).bearer(OPERATOR)).await, &id);
        let nothing = seen(&world.send(ask(&never).bearer(OPERATOR)).await, &never);
        assert!(found.0 >= 400, "{what} was accepted: {found:?}");
        assert_eq!(found, nothing, "{what}");
    }
}
