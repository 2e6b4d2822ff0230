//! Records of another company behave as if they did not exist (1), in the ways of asking that
//! [the matrix](crate::matrix) of all routes and ids does not have.

use recado_tests::{Request, ScriptedAnswer, World, both_stores, phone, text, unknown_id};
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
    stage: String,
}

async fn theirs(world: &World) -> Theirs {
    let other = world.tenant("Other").await;
    let contact = json!({"phone": phone(1), "email": "a@example.com"});
    let contact = text(&world.create_as(&other, contact).await["id"]);
    let stages = json!({"name": "p", "stages": [{"name": "s", "color": "#111111"}]});
    let pipeline = world.make_for(&other, "C/pipelines", stages).await;
    let stage = text(&pipeline["stages"][0]["id"]);
    let deal = json!({"contact_id": contact, "title": "d", "stage_id": stage});
    world.make_for(&other, "C/deals", deal).await;
    Theirs { contact, stage }
}

#[both_stores]
async fn in_other_ways_of_asking(world: World) {
    let theirs = theirs(&world).await;
    world.create_id(json!({"phone": phone(5)})).await;
    let contact = |id: &str| format!("/api/v1/contacts/{id}");
    let patch = |id: &str, n| Request::new("PATCH", contact(id)).json(&json!({"phone": phone(n)}));
    let get = |path: String| Request::new("GET", path);
    type Ask<'a> = &'a dyn Fn(&str) -> Request;
    let asks: [(&str, &str, Ask<'_>); 6] = [
        ("with profile", &theirs.contact, &|id| get(format!("{}?include=profile", contact(id)))),
        ("HEAD", &theirs.contact, &|id| Request::new("HEAD", contact(id))),
        ("PATCH, its phone", &theirs.contact, &|id| patch(id, 1)),
        ("PATCH, another phone", &theirs.contact, &|id| patch(id, 9)),
        ("export by stage", &theirs.stage, &|id| {
            get(format!("/api/v1/contacts?order_by=created_at&pipeline_stage_id={id}"))
        }),
        ("search by id", &theirs.contact, &|id| get(format!("/api/v1/contacts?search={id}"))),
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
