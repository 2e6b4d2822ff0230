//! What is left of a deleted person on the disk: nothing, in no file and no backup (R195–R197).

use recado_tests::backend::{Database, Setup};
use recado_tests::hooks_in::{FORWARDED, SECRET, dispatching, incoming, plain, unknown_client};
use recado_tests::receiver::Reply;
use recado_tests::{Hooks, Request, StoreKind, both_stores, text, with};
use serde_json::{Value, json};

/// The digits that all forms of the person's phone have.
const DIGITS: &str = "87650431";
const PHONE: &str = "+5534987650431";

/// The texts by which the person is marked, each in one place; all in small letters, because the
/// search text is.
const MARKS: [&str; 29] = [
    DIGITS,
    "zqname",
    "zqmail",
    "zqobservation",
    "zqrg",
    "zqgenero",
    "zqcivil",
    "zqprofession",
    "zqcity",
    "zqfield",
    "zqpush",
    "zqalias",
    "zqreceived",
    "zqquoted",
    "zqcaption",
    "zqlocation",
    "zqcard",
    "zqsent",
    "zqkey",
    "zqvariable",
    "zqsummary",
    "zqfact",
    "zqdeal",
    "zqdocument",
    "zqlink",
    "zqdebit",
    "zqrefund",
    "zqunknown",
    "zqecho",
];

/// Marks the person everywhere, and returns the id of the contact.
async fn mark(hooks: &Hooks, qr: &str) -> String {
    let field = hooks.field("field").await;
    let list = hooks.list("list").await;
    let body = json!({
        "phone": PHONE, "name": "zqname", "email": "zqmail@example.com",
        "observation": "zqobservation", "rg": "zqrg", "genero": "zqgenero",
        "estado_civil": "zqcivil", "profissao": "zqprofession", "city": "zqcity",
        "custom_fields": {&field: "zqfield"}, "list_ids": [list],
    });
    let id = hooks.create_id(body).await;
    converse(hooks, qr).await;
    hooks.document(&id, "zqdocument.txt", b"bytes of a document").await;
    let memory = json!({"summary": "zqsummary", "key_facts": ["zqfact"]});
    let path = format!("C/contacts/{id}/lead-memory");
    hooks.operator("POST", &path, memory).await.expect(200);
    hooks.make("C/deals", json!({"contact_id": id, "title": "zqdeal"})).await;
    let link = json!({"contact_id": id, "url": "https://example.com/zqlink"});
    let code = text(&hooks.make("C/links", link).await["code"]);
    hooks.send(Request::new("GET", format!("/l/{code}"))).await;
    let debit = json!({
        "scope": "turn", "prosas": 1, "cost_brl": 1, "contact_id": id, "description": "zqdebit",
    });
    let debit = text(&hooks.make("C/prosas/debits", debit).await["consumption_id"]);
    let refund = json!({"consumption_id": debit, "prosas": 1, "cost_brl": 1, "reason": "zqrefund"});
    hooks.make("C/prosas/refunds", refund).await;
    come_in(hooks).await;
    campaign(hooks, &list).await;
    hooks.drain().await;
    id
}

/// Messages in both directions, and one that is not understood.
async fn converse(hooks: &Hooks, qr: &str) {
    let from = "5534987650431";
    let more = json!({
        "push_name": "zqpush", "aliases": ["zqalias"], "quoted_content": "zqquoted",
        "quoted_type": "text", "quoted_provider_message_id": "m0",
    });
    hooks.stored(qr, with(hooks.inbound(from, "zqreceived"), more)).await;
    let image = json!({
        "type": "image", "content": null,
        "media": {"url": "https://example.com/f", "mimetype": "image/png", "caption": "zqcaption"},
    });
    hooks.stored(qr, with(hooks.inbound(from, ""), image)).await;
    let place = json!({
        "type": "location", "content": null,
        "location": {"latitude": 1, "longitude": 2, "name": "zqlocation"},
    });
    hooks.stored(qr, with(hooks.inbound(from, ""), place)).await;
    let card = json!({
        "type": "contacts", "content": null,
        "shared_contacts": [{"name": "zqcard", "phones": []}],
    });
    hooks.stored(qr, with(hooks.inbound(from, ""), card)).await;
    let odd = json!({
        "type": "unsupported", "content": null, "drawn": "zqunknown",
        "unsupported": {"reason": "new", "provider_type": "sketch"},
    });
    hooks.stored(qr, with(hooks.inbound(from, ""), odd)).await;
    let send = json!({"to": PHONE, "message": "zqsent", "connection_id": qr});
    hooks.send(hooks.keyed("/api/v1/send/message", "zqkey", &send)).await.expect(200);
}

/// Calls of inbound webhooks: a form that names the person, and a dispatch of a template.
async fn come_in(hooks: &Hooks) {
    let path = format!("/companies/{}", hooks.us.id);
    let features = json!({"inbound_contacts": true, "template_dispatch": true});
    hooks.operator("PATCH", &path, json!({"features": features})).await.expect(200);
    let endpoint = json!({"slug": "form", "variable_mapping": plain()});
    let secret = text(&hooks.make("C/inbound-endpoints", endpoint).await["secret"]);
    let form = Request::new("POST", incoming("form")).header(SECRET, &secret);
    let form = form.json(&json!({"phone": PHONE, "name": "zqname"}));
    hooks.send(form.header(FORWARDED, unknown_client())).await.expect_ok();
    hooks.cloud().await;
    let token = text(&hooks.template("dispatched", "UTILITY", "Oi {{1}}").await["token"]);
    let dispatch = json!({"phone_number": PHONE, "variables": {"1": "zqvariable"}});
    let dispatch = Request::new("POST", dispatching(&token)).json(&dispatch);
    hooks.send(dispatch.header(FORWARDED, unknown_client())).await.expect_ok();
}

async fn campaign(hooks: &Hooks, list: &str) {
    let template = hooks.template("campaign", "UTILITY", "Oi").await;
    let campaign = json!({"name": "c", "template_id": template["id"], "list_id": list});
    let id = text(&hooks.make("C/campaigns", campaign).await["id"]);
    let path = format!("C/campaigns/{id}/start");
    hooks.operator("POST", &path, Value::Null).await.expect(200);
    hooks.server.drain_campaigns().await;
}

/// The marks that are in the files.
fn found(files: &[u8]) -> Vec<&'static str> {
    let files = String::from_utf8_lossy(files);
    MARKS.into_iter().filter(|mark| files.contains(mark)).collect()
}

/// R195, R196, R197.
#[both_stores]
async fn no_file_and_no_backup_tells_of_a_person_who_was_deleted(kind: StoreKind) {
    let trusted_proxies: &[&str] = &["127.0.0.0/8"];
    let setup = Setup { no_background: true, trusted_proxies, ..Setup::default() };
    let hooks = Hooks::with(kind, setup).await;
    let qr = hooks.qr().await;
    for n in 1..40 {
        let body = json!({"phone": recado_tests::phone(n), "name": format!("somebody {n}")});
        hooks.create_id(body).await;
    }
    hooks.hook("/a", &["*"]).await;
    hooks.receiver.answers("/a", Reply::body(200, "thank you, zqecho"));
    let id = mark(&hooks, &qr).await;
    let stored = hooks.database.everything().await;
    assert_eq!(found(stored.as_bytes()), MARKS, "they are stored before");
    assert_ne!(found(&hooks.database.files().await), [""; 0], "and in the files");

    hooks.delete(&format!("/api/v1/contacts/{id}")).await.expect_deleted();
    hooks.server.run_due_jobs().await;
    hooks.server.upkeep().await;
    // A snapshot that another session of Postgres has for a moment holds dead rows back.
    for _ in 0..10 {
        hooks.database.vacuum().await;
        if found(&hooks.database.files().await).is_empty() {
            break;
        }
    }
    assert_eq!(found(hooks.database.everything().await.as_bytes()), [""; 0]);
    assert_eq!(found(&hooks.database.files().await), [""; 0]);
    assert_eq!(hooks.server.files_on_disk(), Vec::<String>::new());
    if let Database::Sqlite(_) = &hooks.database {
        assert_eq!(found(&hooks.database.backups()), [""; 0]);
    }
    let ledger = hooks.get("/api/v1/prosas/consumption?limit=100").await;
    ledger.expect(200);
    let booked = ledger.items();
    assert!(booked.len() >= 2, "the amounts stay: {booked:?}");
    assert!(booked.iter().all(|line| line["description"] == Value::Null), "{booked:?}");
}
