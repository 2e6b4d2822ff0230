//! A person's rights: the export of everything about it, receipts of deletions, and opt-outs that
//! outlive a deletion.

use recado_tests::{
    Setup, StoreKind, World, both_stores, digits, eight_digits, mobile, unknown_id,
};
use serde_json::{Value, json};

fn has(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// R410, R411.
#[both_stores]
async fn an_export_is_a_zip_with_what_is_about_the_contact(world: World) {
    let id = world.create_id(json!({"phone": mobile(1), "name": "marker-ana"})).await;
    let other = world.create_id(json!({"phone": mobile(2), "name": "marker-caio"})).await;
    world.document(&id, "a.txt", b"marker-file-ana").await;
    world.document(&other, "a.txt", b"marker-file-caio").await;
    world.make("C/deals", json!({"contact_id": id, "title": "marker-deal"})).await;
    let connection = world.qr().await;
    world.receive(&connection, &digits(&mobile(1)), "marker-message").await;
    let path = format!("C/contacts/{id}/export");
    let answer = world.operator("GET", &path, Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    assert_eq!(answer.header("content-type"), "application/zip");
    let bytes = answer.body.to_vec();
    assert_eq!(&bytes[..4], b"PK\x03\x04", "a ZIP");
    assert!(has(&bytes[bytes.len() - 22..], "PK\x05\x06"), "it has its directory");
    for marker in
        ["manifest.json", "marker-ana", "marker-file-ana", "marker-deal", "marker-message"]
    {
        assert!(has(&bytes, marker), "{marker}");
    }
    for marker in ["marker-caio", "marker-file-caio", &other] {
        assert!(!has(&bytes, marker), "{marker}");
    }
}

/// R410.
#[both_stores]
async fn there_is_no_export_of_a_contact_that_does_not_exist(world: World) {
    let path = format!("C/contacts/{}/export", unknown_id());
    world.operator("GET", &path, Value::Null).await.expect_error(404, "NOT_FOUND");
}

/// R412.
#[both_stores]
async fn a_deletion_answers_with_a_receipt_if_it_is_asked_for(world: World) {
    for is_public in [true, false] {
        let id = world.create_id(json!({"phone": mobile(1), "name": "marker-ana"})).await;
        world.document(&id, "a.txt", b"bytes").await;
        world.make("C/deals", json!({"contact_id": id, "title": "d"})).await;
        let answer = if is_public {
            world.delete(&format!("/api/v1/contacts/{id}?receipt=true")).await
        } else {
            let path = format!("C/contacts/{id}?receipt=true");
            world.operator("DELETE", &path, Value::Null).await
        };
        let receipt = answer.expect(200)["receipt"].clone();
        assert_eq!(receipt["contact_id"], json!(id));
        assert_eq!(receipt["removed"]["documents"], 1);
        assert_eq!(receipt["removed"]["deals"], 1);
        assert_eq!(receipt["removed"]["messages"], 0);
        assert!(!receipt.to_string().contains("marker-ana"), "{receipt}");
        world.get(&format!("/api/v1/contacts/{id}")).await.expect_error(404, "NOT_FOUND");
    }
}

async fn comes_back_opted_out(kind: StoreKind) {
    // One of them comes back with the other form of its number.
    let setup = Setup { remember_opt_outs: true, ..Setup::default() };
    let world = World::with(kind, setup).await;
    let connection = world.qr().await;
    for n in [1, 2, 3] {
        let id = world.create_id(json!({"phone": mobile(n)})).await;
        let body = json!({"source": "backfill", "opted_out_at": "2024-05-06T07:08:09.000Z"});
        world.act(&id, "opt-out", body).await.expect(200);
        world.delete(&format!("/api/v1/contacts/{id}")).await.expect_deleted();
    }
    let refused = world.send_text(&mobile(1), "olá").await;
    let refused = refused.expect_error(403, "CONTACT_OPTED_OUT");
    assert_eq!(refused["contact_id"], Value::Null, "{refused}");
    assert_eq!(world.list_ids("").await, Vec::<String>::new(), "nothing was made");

    let by_api = world.create_id(json!({"phone": eight_digits(&mobile(1))})).await;
    let by_import = world.import(json!({"phone": mobile(2)})).await;
    world.receive(&connection, &digits(&mobile(3)), "oi").await;
    let ids = world.list_ids("").await;
    assert_eq!(ids.len(), 3);
    assert!(ids.contains(&by_api) && ids.contains(&by_import));
    for id in ids {
        let shown = world.full(&id).await;
        assert!(shown["opted_out_at"].is_string(), "{shown}");
        assert_eq!(shown["is_opt_out_remembered"], true);
    }
    let other = world.create_id(json!({"phone": mobile(4)})).await;
    assert_eq!(world.full(&other).await["opted_out_at"], Value::Null);
}

/// R413, R414, R415.
#[tokio::test]
async fn a_number_that_asked_to_stop_comes_back_opted_out_on_sqlite() {
    comes_back_opted_out(StoreKind::Sqlite).await;
}

/// R413, R414, R415.
#[tokio::test]
async fn a_number_that_asked_to_stop_comes_back_opted_out_on_postgres() {
    comes_back_opted_out(StoreKind::Postgres).await;
}
