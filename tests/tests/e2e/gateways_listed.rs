//! The gateways of a process, and connections to a gateway that it does not have:
//! docs/operator-api.md; R150.

use std::sync::Arc;

use recado_core::gateway::Providers;
use recado_testkit::{ScriptedProvider, descriptions};
use recado_tests::binary::run_recado;
use recado_tests::{Request, World, both_stores, mobile, text, with};
use serde_json::{Value, json};

fn named<'a>(listed: &'a Value, name: &str) -> &'a Value {
    let mut all = listed.as_array().expect("a list").iter();
    all.find(|gateway| gateway["name"] == name).expect("it is listed")
}

fn waha() -> Value {
    json!({
        "kind": "qr", "name": "Loja", "identifier": "+551140000001", "gateway": "waha",
        "status": "connected", "settings": {
            "base_url": "http://127.0.0.1:1", "session": "default",
            "api_key": "the-secret-api-key", "webhook_hmac_key": "the-secret-hmac-key",
        },
    })
}

/// Restarts the process without WAHA.
async fn without_waha(world: &mut World) {
    let provider = Arc::new(ScriptedProvider::new());
    let only = Providers::none().with_described(descriptions::simulated(), provider);
    world.server.set_providers(only);
    world.restart().await;
}

#[both_stores]
async fn gateways_are_listed_with_their_settings_and_what_they_can_do(world: World) {
    let listed = world.operator_get("/gateways").await;
    let names: Vec<&Value> =
        listed.as_array().expect("a list").iter().map(|gateway| &gateway["name"]).collect();
    assert_eq!(names, ["simulated", "cloud_api", "waha", "evolution"]);
    assert_eq!(
        *named(&listed, "waha"),
        json!({
            "name": "waha",
            "kind": "qr",
            "settings": [
                {"name": "base_url", "type": "url", "required": true, "secret": false},
                {"name": "session", "type": "text", "required": true, "secret": false},
                {"name": "api_key", "type": "text", "required": true, "secret": true},
                {"name": "webhook_hmac_key", "type": "text", "required": true, "secret": true},
                {"name": "engine", "type": "text", "required": false, "secret": false},
                {"name": "timeout_ms", "type": "integer", "required": false, "secret": false},
            ],
            "can": ["text", "groups", "history", "qr", "state", "webhook", "find_sent", "names"],
            "kinds": [
                "text", "image", "video", "voice", "document", "sticker", "buttons", "list",
                "cta_url", "poll", "location", "contacts", "reaction", "read", "typing", "edit",
                "revoke",
            ],
        })
    );
    let simulated = named(&listed, "simulated");
    assert_eq!(simulated["kind"], Value::Null, "both");
    assert_eq!(simulated["settings"][1]["type"], "boolean");
    assert_eq!(named(&listed, "cloud_api")["kind"], "official_cloud");
}

#[both_stores]
async fn a_gateway_that_the_process_lacks_is_refused_by_name(world: World) {
    for gateway in [json!("house"), json!("Waha"), json!(7), json!("")] {
        let body = with(waha(), json!({"gateway": gateway}));
        let answer = world.operator("POST", "C/connections", body).await;
        assert_eq!(answer.expect_invalid(), ["gateway"], "{gateway}");
    }
}

#[both_stores]
async fn a_connection_whose_gateway_is_gone_is_unavailable_and_sends_nothing(mut world: World) {
    let made = world.make("C/connections", waha()).await;
    assert_eq!(made["status"], "connected");
    let id = text(&made["id"]);
    let one = format!("C/connections/{id}");
    without_waha(&mut world).await;
    assert_eq!(world.operator_get("/gateways").await.as_array().expect("a list").len(), 1);

    let shown = world.operator_get(&one).await;
    assert_eq!(shown["status"], "unavailable");
    assert_eq!((&shown["gateway"], &shown["webhook_url"]), (&json!("waha"), &Value::Null));
    assert_eq!(shown["settings"], json!({}), "nobody says which are secret");
    let listed = world.operator_get("C/connections").await;
    assert!(!listed.to_string().contains("secret"), "{listed}");

    for body in [json!({"connection_id": id}), json!({})] {
        let body = with(body, json!({"to": mobile(1), "message": "Oi"}));
        world.post_send(body).await.expect_error(422, "CONNECTION_REQUIRED");
    }

    let settings = json!({"settings": {"session": "other"}});
    let refused = world.operator("PATCH", &one, settings).await;
    assert_eq!(refused.expect_invalid(), ["settings"]);
    let again = world.operator("POST", "C/connections", waha()).await;
    assert_eq!(again.expect_invalid(), ["gateway"]);
    let renamed = world.operator("PATCH", &one, json!({"name": "Matriz"})).await.expect(200);
    assert_eq!((&renamed["name"], &renamed["status"]), (&json!("Matriz"), &json!("unavailable")));

    let event = json!({"kind": "message", "from": mobile(2), "type": "text", "content": "Oi",
        "provider_message_id": "m1", "timestamp": world.time()});
    assert_eq!(world.gateway_one(&id, event).await["result"], "stored", "what comes is kept");
}

#[both_stores]
async fn a_connection_is_as_it_was_once_its_gateway_is_back(mut world: World) {
    let made = world.make("C/connections", waha()).await;
    let one = format!("C/connections/{}", text(&made["id"]));
    without_waha(&mut world).await;
    let provider = Arc::new(ScriptedProvider::new());
    world.server.set_providers(provider.everywhere());
    world.restart().await;
    let shown = world.operator_get(&one).await;
    // The address has the port of the server, which is now another one.
    assert!(shown["webhook_url"].is_string(), "{shown}");
    assert_eq!(with(shown, json!({"webhook_url": made["webhook_url"]})), made);
    world.post_send(json!({"to": mobile(1), "message": "Oi"})).await.expect(200);
    assert_eq!(provider.sent().len(), 1);
}

#[tokio::test]
async fn the_command_line_lists_the_gateways() {
    let ended = run_recado(["connection", "gateways", "--json"], &[]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let listed: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(named(&listed, "waha")["settings"][2]["secret"], true);
    let ended = run_recado(["connection", "gateways"], &[]).await;
    for word in ["SETTINGS", "evolution", "webhook_token"] {
        assert!(ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
}

/// docs/operator-api.md: the OpenAPI document lists the gateways of GET /gateways.
#[both_stores]
async fn the_openapi_document_names_the_gateways_of_the_process_and_their_settings(
    mut world: World,
) {
    let document = world.send(Request::new("GET", "/api/openapi.json")).await.json();
    let schemas = &document["components"]["schemas"];
    let gateway = &schemas["CreateConnection"]["properties"]["gateway"];
    assert_eq!(gateway["enum"], json!(["simulated", "cloud_api", "waha", "evolution"]));
    let waha = &schemas["SettingsOf.waha"];
    assert_eq!(waha["required"], json!(["base_url", "session", "api_key", "webhook_hmac_key"]));
    assert_eq!(waha["properties"]["base_url"]["format"], "uri");
    assert_eq!(waha["properties"]["api_key"]["writeOnly"], true);
    without_waha(&mut world).await;
    let document = world.send(Request::new("GET", "/api/openapi.json")).await.json();
    assert_eq!(document["components"]["schemas"]["SettingsOf.waha"], Value::Null);
}
