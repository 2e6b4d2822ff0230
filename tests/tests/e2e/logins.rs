//! Logins of members over the operator API: R394–R402.

use recado_tests::{World, both_stores, text, unknown_id};
use serde_json::{Value, json};

const PASSWORD: &str = "nove sapos azuis";

/// A member, with its path.
async fn member(world: &World) -> (String, String) {
    let made = world.operator("POST", "C/members", json!({"display_name": "Bia"})).await;
    let id = text(&made.expect(201)["id"]);
    let path = format!("C/members/{id}");
    (id, path)
}

/// The token in the address of a one-time link.
fn token(link: &Value) -> String {
    let url = text(&link["url"]);
    let (page, token) = url.split_once('#').expect("a fragment");
    assert!(page.ends_with("/console/welcome"), "{page}");
    token.to_owned()
}

async fn sign_in(world: &World, password: &str) -> Option<String> {
    let accounts = world.server.recado().accounts();
    let session = accounts.sign_in("bia@example.org", password, None, None).await.ok()?;
    Some(session.token.expose().to_owned())
}

async fn is_open(world: &World, session: &str) -> bool {
    world.server.recado().accounts().session(session).await.expect("works").is_some()
}

/// R394, R399, R401.
#[both_stores]
async fn an_invited_member_signs_in_and_is_shown_without_secrets(world: World) {
    let (id, path) = member(&world).await;
    let login = format!("{path}/login");
    let body = json!({"email": " Bia@Example.org", "role": "agent"});
    let link = world.operator("POST", &login, body.clone()).await.expect(201);
    assert_eq!((&link["member_id"], &link["purpose"]), (&json!(id), &json!("invitation")));
    let shown = world.operator("GET", &login, Value::Null).await.expect(200);
    assert_eq!(
        (&shown["email"], &shown["has_password"], &shown["has_totp"]),
        (&json!("bia@example.org"), &json!(false), &json!(false))
    );
    let accounts = world.server.recado().accounts();
    accounts.accept_link(&token(&link), PASSWORD).await.expect("it works");
    let session = sign_in(&world, PASSWORD).await.expect("signed in");
    assert!(is_open(&world, &session).await);
    let listed = world.operator("GET", "C/logins", Value::Null).await.expect(200);
    assert_eq!(
        (&listed[0]["has_password"], listed.as_array().map(Vec::len)),
        (&json!(true), Some(1))
    );
    assert!(!listed.to_string().contains("argon2"));
    world.operator("POST", &login, body).await.expect_error(409, "LOGIN_EXISTS");
    let (_, other) = member(&world).await;
    let taken = json!({"email": "bia@example.org", "role": "viewer"});
    world.operator("POST", &format!("{other}/login"), taken).await.expect_error(409, "EMAIL_TAKEN");
}

/// R397, R402.
#[both_stores]
async fn sessions_are_listed_and_ended_and_a_new_role_ends_them(world: World) {
    let (_, path) = member(&world).await;
    let login = format!("{path}/login");
    let body = json!({"email": "bia@example.org", "role": "agent"});
    let link = world.operator("POST", &login, body).await.expect(201);
    let accounts = world.server.recado().accounts();
    accounts.accept_link(&token(&link), PASSWORD).await.expect("it works");
    let sessions = format!("{path}/sessions");
    let [first, second] = [
        sign_in(&world, PASSWORD).await.expect("signed in"),
        sign_in(&world, PASSWORD).await.expect("signed in"),
    ];
    let listed = world.operator("GET", &sessions, Value::Null).await.expect(200);
    let one = format!("{sessions}/{}", text(&listed[0]["id"]));
    world.operator("DELETE", &one, Value::Null).await.expect(200);
    world.operator("DELETE", &one, Value::Null).await.expect_error(404, "NOT_FOUND");
    let open = [is_open(&world, &first).await, is_open(&world, &second).await];
    assert_eq!(open.iter().filter(|open| **open).count(), 1);
    world.operator("PATCH", &login, json!({"role": "viewer"})).await.expect(200);
    let third = sign_in(&world, PASSWORD).await.expect("signed in");
    assert!(!is_open(&world, &first).await && !is_open(&world, &second).await);
    world.operator("DELETE", &sessions, Value::Null).await.expect(200);
    assert!(!is_open(&world, &third).await);
    let nobody = format!("C/members/{}/sessions", unknown_id());
    world.operator("GET", &nobody, Value::Null).await.expect_error(404, "NOT_FOUND");
}

/// R399, R402.
#[both_stores]
async fn a_login_is_reset_disabled_and_removed(world: World) {
    let (_, path) = member(&world).await;
    let login = format!("{path}/login");
    let body = json!({"email": "bia@example.org", "role": "agent"});
    let link = world.operator("POST", &login, body).await.expect(201);
    let accounts = world.server.recado().accounts();
    accounts.accept_link(&token(&link), PASSWORD).await.expect("it works");
    let reset = format!("{login}/reset");
    let link = world.operator("POST", &reset, Value::Null).await.expect(201);
    assert_eq!(link["purpose"], "reset");
    assert!(sign_in(&world, PASSWORD).await.is_some());
    accounts.accept_link(&token(&link), "dez macacos verdes").await.expect("it works");
    assert!(sign_in(&world, PASSWORD).await.is_none());
    let off = world.operator("PATCH", &login, json!({"disabled": true})).await.expect(200);
    assert!(off["disabled_at"].is_string());
    assert!(sign_in(&world, "dez macacos verdes").await.is_none());
    world.operator("PATCH", &login, json!({"disabled": false})).await.expect(200);
    assert!(sign_in(&world, "dez macacos verdes").await.is_some());
    world.operator("DELETE", &format!("{login}/totp"), Value::Null).await.expect(200);
    world.operator("DELETE", &login, Value::Null).await.expect(200);
    world.operator("GET", &login, Value::Null).await.expect_error(404, "NOT_FOUND");
    world.operator("DELETE", &path, Value::Null).await.expect(200);
}
