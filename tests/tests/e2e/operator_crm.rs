//! Tags, close reasons, pipelines, deals and documents of the operator API: docs/operator-api.md.

use recado_tests::{OPERATOR, Request, World, both_stores, phone, text};
use serde_json::{Value, json};

async fn tagged(world: &World) -> (String, String) {
    let tag = text(&world.make("C/tags", json!({"name": "vip", "color": "#ff0000"})).await["id"]);
    let id = world.create_id(json!({"phone": phone(1)})).await;
    world
        .operator("PATCH", &format!("C/contacts/{id}"), json!({"tag_ids": [tag]}))
        .await
        .expect(200);
    (id, tag)
}

#[both_stores]
async fn a_renamed_tag_shows_on_its_contacts(world: World) {
    let (id, tag) = tagged(&world).await;
    world
        .operator("PATCH", &format!("C/tags/{tag}"), json!({"name": "ouro", "color": "#00ff00"}))
        .await
        .expect(200);
    assert_eq!(
        world.detail(&id).await["tags"],
        json!([{"id": tag, "name": "ouro", "color": "#00ff00"}])
    );
}

#[both_stores]
async fn a_deleted_tag_is_taken_off_its_contacts(world: World) {
    let (id, tag) = tagged(&world).await;
    let answer = world.operator("DELETE", &format!("C/tags/{tag}"), Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    assert_eq!(world.detail(&id).await["tags"], json!([]));
    assert_eq!(world.operator_get("C/tags").await, json!([]));
}

#[both_stores]
async fn tag_ids_replace_the_tags_of_a_contact(world: World) {
    let (id, _) = tagged(&world).await;
    let other = text(&world.make("C/tags", json!({"name": "b", "color": "#111111"})).await["id"]);
    world
        .operator("PATCH", &format!("C/contacts/{id}"), json!({"tag_ids": [other]}))
        .await
        .expect(200);
    assert_eq!(world.detail(&id).await["tags"][0]["id"], other.as_str());
    world.operator("PATCH", &format!("C/contacts/{id}"), json!({"tag_ids": []})).await.expect(200);
    assert_eq!(world.detail(&id).await["tags"], json!([]));
}

#[both_stores]
async fn tags_and_reasons_and_pipelines_name_what_is_wrong(world: World) {
    for (path, wrong) in [
        ("C/tags", vec!["color", "name", "nope"]),
        ("C/close-reasons", vec!["name", "nope"]),
        ("C/pipelines", vec!["name", "nope", "stages"]),
        ("C/deals", vec!["contact_id", "nope", "title"]),
        ("C/lists", vec!["name", "nope"]),
        ("C/links", vec!["contact_id", "nope", "url"]),
    ] {
        let answer = world.operator("POST", path, json!({"nope": 1})).await;
        assert_eq!(answer.expect_invalid(), wrong, "{path}");
    }
}

#[both_stores]
async fn close_reasons_are_kept(world: World) {
    let made = world.make("C/close-reasons", json!({"name": "Resolvido"})).await;
    let all = world.operator_get("C/close-reasons").await;
    assert_eq!(all[0]["id"], made["id"]);
    assert_eq!(all[0]["name"], "Resolvido");
}

#[both_stores]
async fn a_pipeline_has_its_stages_in_order_from_zero(world: World) {
    let stage = |name: &str| json!({"name": name, "color": "#abcdef"});
    let body = json!({"name": "Vendas", "stages": [stage("a"), stage("b"), stage("c")]});
    let pipeline = world.make("C/pipelines", body).await;
    let stages = pipeline["stages"].as_array().expect("stages");
    for (n, (stage, name)) in stages.iter().zip(["a", "b", "c"]).enumerate() {
        assert_eq!(stage["name"], name);
        assert_eq!(stage["color"], "#abcdef");
        assert_eq!(stage["display_order"], n);
        assert!(stage["id"].is_string());
    }
    let id = text(&pipeline["id"]);
    assert_eq!(
        world.operator_get(&format!("C/pipelines/{id}")).await["stages"],
        pipeline["stages"]
    );
}

#[both_stores]
async fn a_deal_is_open_unless_said_otherwise_and_keeps_its_title(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let deal = world.make("C/deals", json!({"contact_id": id, "title": "Bolo"})).await;
    assert_eq!(deal["status"], "open");
    assert_eq!(deal["title"], "Bolo");
    assert_eq!(deal["contact_id"], id.as_str());
    for status in ["won", "lost", "open"] {
        let path = format!("C/deals/{}", text(&deal["id"]));
        assert_eq!(
            world.operator("PATCH", &path, json!({"status": status})).await.expect(200)["status"],
            status
        );
    }
}

// Documents

#[both_stores]
async fn a_documents_bytes_come_back_as_they_were(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let document = world.document(&id, "contrato%20final.pdf", b"%PDF-1.7 \x00\xff bytes").await;
    let bytes = world.document_bytes(&id, &document).await.expect("readable");
    assert_eq!(bytes, b"%PDF-1.7 \x00\xff bytes");
    let listed = world.operator_get(&format!("C/contacts/{id}/documents")).await;
    assert_eq!(listed[0]["id"], document.as_str());
    assert_eq!(listed[0]["filename"], "contrato final.pdf");
}

#[both_stores]
async fn a_document_may_have_25_mebibytes(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let path = format!("/operator/v1/companies/{}/contacts/{id}/documents?filename=a", world.us.id);
    let upload = |size: usize| Request::new("POST", &path).bearer(OPERATOR).body(vec![7; size]);
    let document = text(&world.send(upload(25 * 1024 * 1024)).await.expect(201)["id"]);
    assert_eq!(
        world.document_bytes(&id, &document).await.expect("readable").len(),
        25 * 1024 * 1024
    );
    world.send(upload(25 * 1024 * 1024 + 1)).await.expect_error(413, "PAYLOAD_TOO_LARGE");
}

#[both_stores]
async fn a_hostile_file_name_stays_a_name(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    for name in ["..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "a%0D%0Ax-evil:%201", "%22%3B%20x"] {
        let path = format!(
            "/operator/v1/companies/{}/contacts/{id}/documents?filename={name}",
            world.us.id
        );
        let answer = world.send(Request::new("POST", path).bearer(OPERATOR).body("x")).await;
        if answer.status == 201 {
            let document = text(&answer.data()["id"]);
            let got = world
                .operator("GET", &format!("C/contacts/{id}/documents/{document}"), Value::Null)
                .await;
            assert_eq!(got.status, 200, "{}", got.show());
            assert_eq!(&got.body[..], b"x");
            assert!(got.headers.get("x-evil").is_none());
        } else {
            assert!([400, 422].contains(&answer.status), "{}", answer.show());
        }
    }
    for file in world.server.files_on_disk() {
        assert!(!file.contains("passwd"), "{file}");
    }
}

#[both_stores]
async fn a_document_without_a_name_is_refused(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let path = format!("/operator/v1/companies/{}/contacts/{id}/documents", world.us.id);
    let answer = world.send(Request::new("POST", path).bearer(OPERATOR).body("x")).await;
    assert!([400, 422].contains(&answer.status), "{}", answer.show());
}

#[both_stores]
async fn documents_survive_a_restart(world: World) {
    let mut world = world;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let document = world.document(&id, "a", b"bytes").await;
    world.restart().await;
    assert_eq!(world.document_bytes(&id, &document).await.expect("readable"), b"bytes");
}
