//! DELETE /contacts/{id}: 4.5, 7.1; D26.

use recado_testkit::files::{FailureAt, FaultyFiles, FileOp};
use recado_tests::{World, both_stores, phone, text, unknown_id};
use serde_json::{Value, json};

const DOCUMENTS: [(&str, &[u8]); 3] =
    [("a.txt", b"first document"), ("b.bin", &[0, 255, 1, 254]), ("c.txt", b"third document")];

async fn with_documents(world: &World) -> (String, Vec<String>) {
    let field = world.field("field").await;
    let list = world.list("list").await;
    let body = json!({
        "phone": phone(1), "name": "Ana", "custom_fields": {&field: "x"}, "list_ids": [list],
    });
    let id = world.create_id(body).await;
    let mut documents = Vec::new();
    for (name, bytes) in DOCUMENTS {
        documents.push(world.document(&id, name, bytes).await);
    }
    (id, documents)
}

async fn assert_whole(world: &World, id: &str, before: &Value, documents: &[String], when: &str) {
    assert_eq!(&world.detail(id).await, before, "the contact is whole {when}");
    assert_eq!(world.list_ids("").await, [id], "it is listed {when}");
    let listed = world.operator_get(&format!("C/contacts/{id}/documents")).await;
    assert_eq!(listed.as_array().expect("a list").len(), DOCUMENTS.len(), "{when}");
    for (document, (_, bytes)) in documents.iter().zip(DOCUMENTS) {
        let found = world.document_bytes(id, document).await;
        let found = found.unwrap_or_else(|answer| panic!("unreadable {when}: {}", answer.show()));
        assert_eq!(found, bytes, "{when}");
    }
}

#[both_stores]
async fn a_deleted_contact_is_gone_everywhere(world: World) {
    let (id, documents) = with_documents(&world).await;
    let stays = world.create_id(json!({"phone": phone(2)})).await;
    let answer = world.delete(&format!("/api/v1/contacts/{id}")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({"success": true}));
    world.get(&format!("/api/v1/contacts/{id}")).await.expect_error(404, "NOT_FOUND");
    world.patch_contact(&id, json!({"name": "x"})).await.expect_error(404, "NOT_FOUND");
    world.delete(&format!("/api/v1/contacts/{id}")).await.expect_error(404, "NOT_FOUND");
    assert_eq!(world.list_ids("").await, [stays.clone()]);
    assert_eq!(world.export(10).await, [stays]);
    assert_eq!(world.get("/api/v1/lists").await.items()[0]["contacts_count"], 0);
    for document in documents {
        let gone = world.document_bytes(&id, &document).await.expect_err("purged");
        gone.expect_error(404, "NOT_FOUND");
    }
}

#[both_stores]
async fn a_deleted_contacts_documents_leave_no_bytes_behind(world: World) {
    let (id, _) = with_documents(&world).await;
    assert!(!world.server.files_on_disk().is_empty());
    world.delete(&format!("/api/v1/contacts/{id}")).await.expect_deleted();
    assert_eq!(world.server.files_on_disk(), Vec::<String>::new());
}

#[both_stores]
async fn deals_links_and_tags_go_with_the_contact(world: World) {
    let tag = world.make("C/tags", json!({"name": "vip", "color": "#ff0000"})).await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    world
        .operator("PATCH", &format!("C/contacts/{id}"), json!({"tag_ids": [tag["id"]]}))
        .await
        .expect(200);
    let deal = text(&world.make("C/deals", json!({"contact_id": id, "title": "d"})).await["id"]);
    let link =
        world.make("C/links", json!({"contact_id": id, "url": "https://example.com/"})).await;
    world.delete(&format!("/api/v1/contacts/{id}")).await.expect_deleted();
    world
        .operator("GET", &format!("C/deals/{deal}"), Value::Null)
        .await
        .expect_error(404, "NOT_FOUND");
    let code = text(&link["code"]);
    let click = world.send(recado_tests::Request::new("GET", format!("/l/{code}"))).await;
    assert_eq!(click.status, 404);
}

#[both_stores]
async fn an_unknown_id_is_404(world: World) {
    for unknown in [unknown_id(), "x".to_owned()] {
        world.delete(&format!("/api/v1/contacts/{unknown}")).await.expect_error(404, "NOT_FOUND");
    }
}

// 4.5: 500 PURGE_FAILED, "the contact is preserved and nothing is deleted", literally (D26).

#[both_stores]
async fn a_document_store_that_fails_from_any_step_on_leaves_everything_readable(world: World) {
    failing_at_each_step(&world, |files, step, at| files.fail_from(step, at)).await;
}

#[both_stores]
async fn one_failing_step_among_good_ones_leaves_everything_readable_too(world: World) {
    failing_at_each_step(&world, |files, step, at| files.fail_nth(step, at)).await;
}

#[both_stores]
async fn a_failed_delete_succeeds_when_tried_again(world: World) {
    let (id, _) = with_documents(&world).await;
    let path = format!("/api/v1/contacts/{id}");
    for op in [FileOp::Copy, FileOp::Remove] {
        world.server.files.fail_every(op, FailureAt::Before);
        let answer = world.delete(&path).await;
        let failed = world.server.files.failed();
        world.server.files.heal();
        if failed == 0 {
            continue;
        }
        answer.expect_error(500, "PURGE_FAILED");
    }
    world.delete(&path).await.expect_deleted();
    assert_eq!(world.server.files_on_disk(), Vec::<String>::new());
}

#[both_stores]
async fn a_contact_without_documents_needs_no_document_store(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    world.server.files.fail_from(0, FailureAt::Before);
    world.delete(&format!("/api/v1/contacts/{id}")).await.expect_deleted();
}

#[both_stores]
async fn a_document_whose_file_is_missing_counts_as_deleted(world: World) {
    let (id, _) = with_documents(&world).await;
    world.server.lose_all_files();
    world.delete(&format!("/api/v1/contacts/{id}")).await.expect_deleted();
    world.get(&format!("/api/v1/contacts/{id}")).await.expect_error(404, "NOT_FOUND");
}

#[both_stores]
async fn a_restart_after_a_failed_delete_leaves_everything_readable(world: World) {
    let mut world = world;
    let (id, documents) = with_documents(&world).await;
    let before = world.detail(&id).await;
    // The undo fails as well: a durable record must restore everything.
    for step in 1..DOCUMENTS.len() as u64 * 2 {
        world.server.files.fail_from(step, FailureAt::Before);
        world.delete(&format!("/api/v1/contacts/{id}")).await.expect_error(500, "PURGE_FAILED");
        world.server.files.heal();
        world.restart().await;
        assert_whole(&world, &id, &before, &documents, &format!("step {step}")).await;
    }
}

#[both_stores]
async fn documents_are_refused_for_another_companys_contact(world: World) {
    let (id, documents) = with_documents(&world).await;
    let other = world.tenant("Other").await;
    for path in [
        format!("C/contacts/{id}/documents"),
        format!("C/contacts/{id}/documents/{}", documents[0]),
    ] {
        world.operator_for(&other, "GET", &path, Value::Null).await.expect_error(404, "NOT_FOUND");
    }
}

/// Repeats the deletion, with the failure one step later each time, until it succeeds.
async fn failing_at_each_step(world: &World, fail: impl Fn(&FaultyFiles, u64, FailureAt)) {
    for (n, at) in [(1, FailureAt::Before), (2, FailureAt::After)] {
        let id = world.create_id(json!({"phone": phone(n), "name": "Ana"})).await;
        let mut documents = Vec::new();
        for (name, bytes) in DOCUMENTS {
            documents.push(world.document(&id, name, bytes).await);
        }
        let before = world.detail(&id).await;
        let path = format!("/api/v1/contacts/{id}");
        let mut refused = 0;
        for step in 0.. {
            fail(&world.server.files, step, at);
            let answer = world.delete(&path).await;
            world.server.files.heal();
            if answer.status == 200 {
                world.get(&path).await.expect_error(404, "NOT_FOUND");
                break;
            }
            answer.expect_error(500, "PURGE_FAILED");
            let when = format!("after a failure {at:?} step {step}");
            assert_whole(world, &id, &before, &documents, &when).await;
            refused += 1;
            assert!(step < 100, "deleting never succeeds");
        }
        assert!(refused > 0, "a failing document store must be noticed");
    }
}
