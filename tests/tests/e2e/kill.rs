//! A killed process (SIGKILL) loses nothing that was acknowledged: docs/operator-api.md; D22, D26.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::registry::FakeRegistry;
use recado_tests::world::{export_at, tenant_at};
use recado_tests::{OPERATOR, Request, StoreKind, both_stores, eventually, join_all, phone, text};
use serde_json::json;

#[both_stores]
async fn a_killed_process_loses_no_acknowledged_contact(kind: StoreKind) {
    let database = Database::migrated(kind);
    let mut process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let mut acknowledged = Vec::new();
    for round in 0..3_u32 {
        let addr = process.addr;
        let made = AtomicUsize::new(0);
        let creators = (0..8_u32).map(|worker| {
            let (us, made) = (&us, &made);
            async move {
                let mut ids = Vec::new();
                for n in 0..10_000 {
                    let number = round * 1_000_000 + worker * 100_000 + n;
                    let body = json!({"phone": phone(number), "name": format!("c{number}")});
                    let request =
                        Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
                    let Some(answer) = request.try_send(addr).await else { break };
                    if answer.status != 201 {
                        break;
                    }
                    ids.push((text(&answer.data()["contact"]["id"]), format!("c{number}")));
                    made.fetch_add(1, Ordering::SeqCst);
                }
                ids
            }
        });
        let killer = async {
            eventually("more than forty creations", || async {
                (made.load(Ordering::SeqCst) > 40).then_some(())
            })
            .await;
            process.kill().await;
        };
        let (ids, ()) = tokio::join!(join_all(creators.collect()), killer);
        let ids: Vec<_> = ids.into_iter().flatten().collect();
        assert!(ids.len() > 40, "there was a load: {}", ids.len());
        acknowledged.extend(ids);
        process = Process::serve(&database, &[]).await;
        let exported = export_at(process.addr, &us.key, 100).await;
        for (id, name) in &acknowledged {
            assert!(exported.contains(id), "{name} was acknowledged and is lost");
        }
        let path = "/api/v1/contacts?limit=1";
        let answer = Request::new("GET", path).bearer(&us.key).send(process.addr).await;
        assert_eq!(
            answer.json()["pagination"]["total"],
            exported.len(),
            "the total is exact after a crash"
        );
    }
    let (id, name) = acknowledged.last().expect("a contact");
    let path = format!("/api/v1/contacts/{id}");
    let answer = Request::new("GET", path).bearer(&us.key).send(process.addr).await;
    assert_eq!(answer.expect(200)["name"], name.as_str());
}

#[both_stores]
async fn a_killed_process_loses_no_acknowledged_change(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let addr = process.addr;
    let create =
        Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&json!({"phone": phone(1)}));
    let id = text(&create.send(addr).await.expect(201)["contact"]["id"]);
    let path = format!("/api/v1/contacts/{id}");
    for n in 0..50 {
        let body = json!({"name": format!("n{n}")});
        Request::new("PATCH", &path).bearer(&us.key).json(&body).send(addr).await.expect(200);
    }
    process.kill().await;
    let process = Process::serve(&database, &[]).await;
    let answer = Request::new("GET", &path).bearer(&us.key).send(process.addr).await;
    assert_eq!(answer.expect(200)["name"], "n49");
}

#[both_stores]
async fn a_restart_while_the_registry_was_being_asked_still_enriches(kind: StoreKind) {
    let database = Database::migrated(kind);
    let registry = FakeRegistry::start().await;
    let url = format!("http://{}", registry.addr);
    let args = ["--cnpj-registry", url.as_str(), "--allow-private-destinations"];
    let process = Process::serve(&database, &args).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let body = json!({"phone": phone(1), "cnpj": "19.131.243/0001-97"});
    let create = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
    create.send(process.addr).await.expect(201);
    assert_eq!(registry.given_up(), 0, "the request does not wait for the registry");
    eventually("the question", || async { (registry.asked() > 0).then_some(()) }).await;
    process.kill().await;
    registry.answer();
    let process = Process::serve(&database, &args).await;
    let restarted = Instant::now();
    let organization = eventually("enrichment", || async {
        let list = Request::new("GET", "/api/v1/contacts").bearer(&us.key).send(process.addr).await;
        let organization = list.items()[0]["organization"].clone();
        (!organization["enriched_at"].is_null()).then_some(organization)
    })
    .await;
    assert_eq!(organization["name"], "Aurora");
    assert_eq!(organization["razao_social"], "PADARIA AURORA LTDA");
    assert!(restarted.elapsed() < Duration::from_secs(15), "{:?}", restarted.elapsed());
}

#[both_stores]
async fn a_process_killed_while_deleting_leaves_each_contact_whole_or_gone(kind: StoreKind) {
    let database = Database::migrated(kind);
    let mut process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let mut contacts = Vec::new();
    for n in 0..8 {
        let body = json!({"phone": phone(n)});
        let create = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
        let id = text(&create.send(process.addr).await.expect(201)["contact"]["id"]);
        let documents = format!("/operator/v1/companies/{}/contacts/{id}/documents", us.id);
        let uploads = (0..12).map(|n| {
            let path = format!("{documents}?filename=d{n}");
            Request::new("POST", path).bearer(OPERATOR).body(format!("{id} {n}")).send(process.addr)
        });
        for answer in join_all(uploads.collect()).await {
            answer.expect(201);
        }
        contacts.push((id, documents));
    }
    let folder = process.folder.clone();
    let addr = process.addr;
    let first = AtomicBool::new(false);
    let deletions = contacts.iter().map(|(id, _)| {
        let (us, first) = (&us, &first);
        async move {
            let path = format!("/api/v1/contacts/{id}");
            let answer = Request::new("DELETE", path).bearer(&us.key).try_send(addr).await?;
            first.store(true, Ordering::SeqCst);
            Some(answer.status)
        }
    });
    let killer = async {
        eventually("a deletion", || async { first.load(Ordering::SeqCst).then_some(()) }).await;
        process.kill().await;
    };
    let (answers, ()) = tokio::join!(join_all(deletions.collect()), killer);
    process = Process::serve_in(folder, &database, &[]).await;
    for ((id, documents), answer) in contacts.iter().zip(answers) {
        let path = format!("/api/v1/contacts/{id}");
        let found = Request::new("GET", &path).bearer(&us.key).send(process.addr).await;
        if answer == Some(200) {
            found.expect_error(404, "NOT_FOUND");
        }
        if found.status == 404 {
            continue;
        }
        found.expect(200);
        let listed = Request::new("GET", documents).bearer(OPERATOR).send(process.addr).await;
        assert_eq!(listed.items().len(), 12, "{}", listed.show());
        for document in listed.items() {
            let one = format!("{documents}/{}", text(&document["id"]));
            let bytes = Request::new("GET", one).bearer(OPERATOR).send(process.addr).await;
            assert_eq!(bytes.status, 200, "{}", bytes.show());
            assert!(bytes.body.starts_with(id.as_bytes()));
        }
    }
}
