//! DELETE /operator/v1/companies/{id}: R208, R209.

use std::time::Duration;

use recado_tests::backend::Database;
use recado_tests::hooks_in::{Intake, dispatching};
use recado_tests::{
    Hooks, Reply, Request, Tenant, World, both_stores, mobile, path_of, phone, text, wamid,
};
use serde_json::{Value, json};

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

async fn delete(world: &World, company: &str) {
    let path = format!("/companies/{company}");
    world.operator("DELETE", &path, Value::Null).await.expect_deleted();
}

/// The audit log, which outlives a company until its own retention (R389).
const AUDIT: &str = "audit_entries";

/// How many rows have the id of a company, in all tables.
async fn rows_of(database: &Database, company: &str) -> Vec<String> {
    let url = database.url();
    let Some(file) = url.strip_prefix("sqlite:") else {
        let all = database.everything().await;
        let of_company = all.lines().filter(|line| line.contains(company));
        return of_company.filter(|line| !line.contains(AUDIT)).map(str::to_owned).collect();
    };
    let conn = rusqlite::Connection::open(file).expect("opens");
    let tables = "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
                  WHERE m.type = 'table' AND c.name = 'company_id'";
    let mut statement = conn.prepare(tables).expect("a statement");
    let names = statement.query_map([], |row| row.get::<_, String>(0)).expect("tables");
    let id = company.replace('-', "");
    let mut found = Vec::new();
    for name in names.map(|name| name.expect("a name")).filter(|name| name != AUDIT) {
        let count = format!("SELECT count(*) FROM {name} WHERE hex(company_id) = upper(?1)");
        let count: i64 = conn.query_row(&count, [&id], |row| row.get(0)).expect("a count");
        found.extend((count > 0).then(|| format!("{name}: {count}")));
    }
    found
}

/// Records of many kinds, with a file and events.
async fn live(world: &World, tenant: &Tenant) {
    let connection = world.connection_of(tenant, "qr", json!({})).await;
    let contact = world.create_as(tenant, json!({"phone": mobile(7), "cnpj": "11222333000181"}));
    let contact = text(&contact.await["id"]);
    let list = text(&world.make_for(tenant, "C/lists", json!({"name": "l"})).await["id"]);
    let tag = json!({"name": "vip", "color": "#ff0000"});
    let tag = text(&world.make_for(tenant, "C/tags", tag).await["id"]);
    let patch = json!({"tag_ids": [tag]});
    let path = format!("C/contacts/{contact}");
    world.operator_for(tenant, "PATCH", &path, patch).await.expect(200);
    let members = json!({"contact_ids": [contact]});
    world.operator_for(tenant, "POST", &format!("C/lists/{list}/contacts"), members).await;
    world.make_for(tenant, "C/deals", json!({"contact_id": contact, "title": "d"})).await;
    let link = json!({"contact_id": contact, "url": "https://example.com/"});
    let code = text(&world.make_for(tenant, "C/links", link).await["code"]);
    let click = Request::new("GET", format!("/l/{code}")).header("user-agent", BROWSER);
    assert_eq!(world.send(click).await.status, 302);
    let event = json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": world.time(),
        "from": "5534991230077", "type": "text", "content": "oi",
    });
    let path = format!("C/connections/{connection}/events");
    world.operator_for(tenant, "POST", &path, json!({"events": [event]})).await;
    assert!(world.get_as(&tenant.key, "/api/v1/contacts?search=7").await.status == 200);
}

#[both_stores]
async fn nothing_of_a_deleted_company_is_left_and_all_of_another_one(world: World) {
    let gone = world.tenant("Sai").await;
    live(&world, &gone).await;
    let contact = world.create_id(json!({"phone": phone(1)})).await;
    let document = world.document(&contact, "a.txt", b"stays").await;
    let before = world.detail(&contact).await;
    assert!(!rows_of(&world.database, &gone.id).await.is_empty());
    delete(&world, &gone.id).await;
    world.server.run_due_jobs().await;
    recado_tests::eventually("everything is removed", || async {
        world.advance(Duration::from_secs(10));
        world.server.run_due_jobs().await;
        rows_of(&world.database, &gone.id).await.is_empty().then_some(())
    })
    .await;
    assert_eq!(world.server.files_on_disk().len(), 1);
    assert_eq!(world.detail(&contact).await, before);
    assert_eq!(world.document_bytes(&contact, &document).await.expect("readable"), b"stays");
}

#[both_stores]
async fn the_files_of_a_deleted_company_go(world: World) {
    let contact = world.create_id(json!({"phone": phone(1)})).await;
    world.document(&contact, "a.txt", b"bytes").await;
    delete(&world, &world.us.id).await;
    recado_tests::eventually("the file is gone", || async {
        world.server.run_due_jobs().await;
        world.advance(Duration::from_secs(10));
        world.server.files_on_disk().is_empty().then_some(())
    })
    .await;
}

#[both_stores]
async fn a_deleted_company_is_unknown_at_every_door(intake: Intake) {
    let world = &intake.world;
    let endpoint = intake.public("porta").await;
    let token = intake.token("oi", "UTILITY", "Oi").await;
    let contact = world.create_id(json!({"phone": phone(1)})).await;
    let link = json!({"contact_id": contact, "url": "https://example.com/"});
    let code = text(&world.make("C/links", link).await["code"]);
    let connection = world.qr().await;
    let media = json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": world.time(),
        "from": "5534991230077", "type": "image", "media": {"url": "https://gateway.example/1"},
    });
    let message = world.stored(&connection, media).await;
    let media = path_of(&world.message(&message).await["media_url"]);
    let unused = intake.endpoint("frei", json!({"phone_number": "$.phone"})).await;
    delete(world, &world.us.id).await;

    world.get("/api/v1/contacts").await.expect_error(401, "UNAUTHORIZED");
    for path in ["C/contacts", "C/connections", "C/webhooks"] {
        world.operator("GET", path, Value::Null).await.expect_error(404, "NOT_FOUND");
    }
    let one = format!("/companies/{}", world.us.id);
    for method in ["GET", "DELETE"] {
        world.operator(method, &one, Value::Null).await.expect_error(404, "NOT_FOUND");
    }
    let listed = world.operator("GET", "/companies", Value::Null).await;
    assert!(!listed.ids().contains(&world.us.id));
    for slug in [&endpoint, &unused] {
        let call = Request::new("POST", slug.path()).json(&json!({"phone": phone(2)}));
        intake.knock(call).await.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
    }
    let call = Request::new("POST", dispatching(&token)).json(&json!({"phone": mobile(3)}));
    intake.knock(call).await.expect_hook_error(404, "TEMPLATE_NOT_FOUND");
    assert_eq!(world.send(Request::new("GET", format!("/l/{code}"))).await.status, 404);
    assert_eq!(world.send(Request::new("GET", media)).await.status, 404);
    let call = Request::new("POST", format!("/api/webhooks/provider/{connection}"));
    assert_eq!(world.send(call.json(&json!({}))).await.status, 404);
}

#[both_stores]
async fn nothing_is_delivered_for_a_deleted_company(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    hooks.receiver.answers("/a", Reply::status(500));
    hooks.create_id(json!({"phone": phone(1)})).await;
    hooks.drain().await;
    let before = hooks.receiver.to("/a").len();
    assert_eq!(before, 1);
    delete(&hooks.world, &hooks.us.id).await;
    for wait in [30, 120, 600, 1_800] {
        hooks.pass(Duration::from_secs(wait)).await;
    }
    assert_eq!(hooks.receiver.to("/a").len(), before);
}
