//! Debits, refunds and the ledger (2.4, D32, D59).

use std::time::Duration;

use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::Platform;
use recado_core::ids::{ConnectionId, ContactId, MessageId};
use recado_core::messages::{
    Blocks, Direction, Media, Message, MessageStatus, MessageType, Quoted, SenderType,
};
use recado_core::page::PageRequest;
use recado_core::prosas::{LedgerFilter, Prosa, total_of_messages};
use recado_core::query::Params;
use recado_core::store::{ChangeSet, Row};
use recado_core::{Error, Timestamp};
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{code, create_phone, interleaving, refused};

/// A company with a connection and a contact.
struct Scene {
    kit: Kit,
    connection: ConnectionId,
    contact: ContactId,
}

impl Scene {
    async fn new() -> Self {
        Self::on(Kit::new().await).await
    }

    async fn on(kit: Kit) -> Self {
        let connection = ConnectionId::new(Uuid::from_u128(1));
        add(&kit, connection_row(&kit, connection)).await;
        let contact = create_phone(&kit, "34991230001").await;
        Self { kit, connection, contact }
    }

    fn message(&self, n: u128, sender_type: SenderType) -> Message {
        let is_inbound = sender_type == SenderType::Contact;
        let at = self.kit.app.now();
        Message {
            id: MessageId::new(Uuid::from_u128(n)),
            company: self.kit.company.id,
            contact: self.contact,
            connection: self.connection,
            direction: if is_inbound { Direction::Inbound } else { Direction::Outbound },
            message_type: MessageType::Text,
            sender_type,
            status: if is_inbound { MessageStatus::Received } else { MessageStatus::Sent },
            failure: None,
            content: Some("Olá".to_owned()),
            media: Media::default(),
            blocks: Blocks::default(),
            provider_id: None,
            external_id: None,
            quoted: Quoted::default(),
            participant: None,
            template_category: None,
            prosa: None,
            is_history: false,
            edited_at: None,
            sender: None,
            created_at: at,
            timestamp: at,
        }
    }

    async fn add_message(&self, n: u128, sender_type: SenderType) -> MessageId {
        let message = self.message(n, sender_type);
        add(&self.kit, message.clone()).await;
        message.id
    }

    async fn prosas(&self, ids: &[MessageId]) -> Vec<Option<Prosa>> {
        let mut found = self.kit.app.store().messages(self.kit.company.id, ids).await.unwrap();
        found.sort_by_key(|message| message.id);
        found.iter().map(|message| message.prosa).collect()
    }

    async fn debit(&self, debit: Value) -> Result<Value, Error<recado_core::ManageError>> {
        let line = self.kit.app.prosas().debit(self.kit.company.id, &body(debit)).await?;
        Ok(serde_json::to_value(line).expect("a line is JSON"))
    }

    async fn refund(
        &self,
        refund: Value,
    ) -> Result<Value, Error<recado_core::prosas::RefundError>> {
        let line = self.kit.app.prosas().refund(self.kit.company.id, &body(refund)).await?;
        Ok(serde_json::to_value(line).expect("a line is JSON"))
    }

    async fn ledger(&self, query: &[(&str, &str)]) -> (Vec<Value>, u64, Value) {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let params = Params::new(pairs.collect());
        let (filter, page) =
            (LedgerFilter::parse(&params).unwrap(), PageRequest::parse(&params).unwrap());
        let listing = self.kit.app.prosas().consumption(&self.kit.caller, &filter, page).await;
        let listing = listing.unwrap();
        let items = listing.items.iter().map(|line| serde_json::to_value(line).unwrap()).collect();
        (items, listing.total, serde_json::to_value(listing.totals).unwrap())
    }
}

async fn add(kit: &Kit, row: impl Into<Row>) {
    kit.store.commit(ChangeSet::new().insert(row)).await.expect("the row can be added");
}

fn connection_row(kit: &Kit, id: ConnectionId) -> Connection {
    Connection {
        id,
        company: kit.company.id,
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Loja".to_owned(),
        identifier: "551133224455".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
        last_heard_at: None,
    }
}

fn number(text: &str) -> Value {
    serde_json::from_str(text).expect("the text is a JSON number")
}

/// D32.
#[tokio::test]
async fn one_debit_covers_every_bubble_of_a_turn() {
    let scene = Scene::new().await;
    let a = scene.add_message(10, SenderType::Ai).await;
    let b = scene.add_message(11, SenderType::Ai).await;
    let line = scene
        .debit(json!({
            "scope": "turn", "prosas": number("1.5"), "cost_brl": number("0.045000"),
            "message_ids": [a, b, a], "description": "Resposta",
        }))
        .await
        .unwrap();
    assert_eq!(line["consumption_id"], line["id"]);
    assert_eq!(line["contact_id"], json!(scene.contact));
    assert_eq!(
        (&line["kind"], &line["prosas"], &line["cost_brl"]),
        (&json!("debit"), &number("1.5"), &number("0.045"))
    );
    let prosas = scene.prosas(&[a, b]).await;
    assert_eq!(prosas[0], prosas[1]);
    let prosa = prosas[0].expect("the message is covered");
    assert_eq!(json!(prosa.consumption_id), line["id"]);
    assert_eq!(prosa.scope.as_str(), "turn");
    let (prosas, cost) = total_of_messages(prosas);
    assert_eq!((prosas.to_string(), cost.to_string()), ("1.5".to_owned(), "0.045".to_owned()));
}

#[tokio::test]
async fn a_debit_covers_all_of_its_messages_or_nothing() {
    let scene = Scene::new().await;
    let ai = scene.add_message(10, SenderType::Ai).await;
    let system = scene.add_message(11, SenderType::System).await;
    let mut refusals = vec![MessageId::new(Uuid::from_u128(99))];
    for (n, sender) in
        [SenderType::Contact, SenderType::Agent, SenderType::Campaign].iter().enumerate()
    {
        refusals.push(scene.add_message(20 + n as u128, *sender).await);
    }
    let other = create_phone(&scene.kit, "34991230002").await;
    let foreign = Message { contact: other, ..scene.message(30, SenderType::Ai) };
    add(&scene.kit, foreign.clone()).await;
    refusals.push(foreign.id);
    for refusal in refusals {
        let debit =
            json!({ "scope": "turn", "prosas": 1, "cost_brl": 0, "message_ids": [ai, refusal] });
        let (code, details) = refused(scene.debit(debit).await);
        assert_eq!(
            (code.as_str(), &details["fields"]),
            ("VALIDATION_ERROR", &json!(["message_ids"]))
        );
    }
    assert_eq!(scene.prosas(&[ai, system]).await, [None, None]);
    assert_eq!(scene.ledger(&[]).await.1, 0);
    let debit = |id| json!({ "scope": "message", "prosas": 1, "cost_brl": 0, "message_ids": [id] });
    scene.debit(debit(system)).await.unwrap();
    let (code, details) = refused(scene.debit(debit(system)).await);
    assert_eq!((code.as_str(), &details["fields"]), ("VALIDATION_ERROR", &json!(["message_ids"])));
    assert_eq!(scene.ledger(&[]).await.1, 1);
}

/// R53, D32.
#[tokio::test]
async fn what_is_wrong_with_a_debit_is_named() {
    let scene = Scene::new().await;
    let a = scene.add_message(10, SenderType::Ai).await;
    let b = scene.add_message(11, SenderType::Ai).await;
    let other = create_phone(&scene.kit, "34991230002").await;
    let (_, stranger) = scene.kit.another_company("Outra").await;
    let stranger =
        scene.kit.app.contacts().create(&stranger, &body(json!({ "phone": "34991230003" }))).await;
    for (debit, field) in [
        (json!({ "prosas": 1, "cost_brl": 1 }), "scope"),
        (json!({ "scope": "turn", "cost_brl": 1 }), "prosas"),
        (json!({ "scope": "turn", "prosas": 1 }), "cost_brl"),
        (json!({ "scope": "turn", "prosas": number("0.0005"), "cost_brl": 1 }), "prosas"),
        (json!({ "scope": "turn", "prosas": 1, "cost_brl": number("0.0000001") }), "cost_brl"),
        (json!({ "scope": "turn", "prosas": -1, "cost_brl": 1 }), "prosas"),
        (json!({ "scope": "turn", "prosas": "1", "cost_brl": 1 }), "prosas"),
        (
            json!({ "scope": "message", "prosas": 1, "cost_brl": 1, "message_ids": [a, b] }),
            "message_ids",
        ),
        (
            json!({ "scope": "turn", "prosas": 1, "cost_brl": 1, "message_ids": [a], "contact_id": other }),
            "contact_id",
        ),
        (
            json!({ "scope": "turn", "prosas": 1, "cost_brl": 1, "contact_id": stranger.unwrap().contact.id }),
            "contact_id",
        ),
        (json!({ "scope": "turn", "prosas": 1, "cost_brl": 1, "kind": "debit" }), "kind"),
    ] {
        let (code, details) = refused(scene.debit(debit).await);
        assert_eq!((code.as_str(), &details["fields"]), ("VALIDATION_ERROR", &json!([field])));
    }
}

/// R53.
#[tokio::test]
async fn all_refunds_of_a_debit_together_never_exceed_it() {
    let scene = Scene::new().await;
    let debit = json!({ "scope": "turn", "prosas": 2, "cost_brl": number("0.5"), "contact_id": scene.contact });
    let id = scene.debit(debit).await.unwrap()["id"].clone();
    let refund = |prosas: &str, cost: &str| json!({ "consumption_id": id, "prosas": number(prosas), "cost_brl": number(cost), "reason": "Falha" });
    let line = scene.refund(refund("1.5", "0.1")).await.unwrap();
    assert_eq!((&line["kind"], &line["consumption_id"]), (&json!("refund"), &id));
    assert_eq!((&line["prosas"], &line["cost_brl"]), (&number("-1.5"), &number("-0.1")));
    assert_eq!((&line["scope"], &line["description"]), (&json!("turn"), &json!("Falha")));
    assert_eq!(line["contact_id"], json!(scene.contact));
    for (prosas, cost) in [("0.501", "0"), ("0", "0.400001"), ("0.5", "0.5")] {
        assert_eq!(code(scene.refund(refund(prosas, cost)).await), "REFUND_EXCEEDS_DEBIT");
    }
    scene.refund(refund("0.5", "0")).await.unwrap();
    scene.refund(refund("0", "0.4")).await.unwrap();
    assert_eq!(code(scene.refund(refund("0.001", "0")).await), "REFUND_EXCEEDS_DEBIT");
    assert_eq!(
        scene.ledger(&[]).await.2,
        json!({ "prosas": number("0"), "cost_brl": number("0") })
    );
}

#[tokio::test]
async fn only_a_debit_of_the_company_can_be_given_back() {
    let scene = Scene::new().await;
    let debit = json!({ "scope": "turn", "prosas": 2, "cost_brl": 2 });
    let debit = scene.debit(debit).await.unwrap()["id"].clone();
    let refund = |id: &Value| json!({ "consumption_id": id, "prosas": 1, "cost_brl": 0 });
    let refund_id = scene.refund(refund(&debit)).await.unwrap()["id"].clone();
    assert_eq!(code(scene.refund(refund(&refund_id)).await), "NOT_FOUND");
    let unknown = json!(Uuid::from_u128(5));
    assert_eq!(code(scene.refund(refund(&unknown)).await), "NOT_FOUND");
    let (other, _) = scene.kit.another_company("Outra").await;
    let foreign = scene.kit.app.prosas().refund(other.id, &body(refund(&debit))).await;
    assert_eq!(code(foreign), "NOT_FOUND");
    let nothing = json!({ "consumption_id": debit, "prosas": 0, "cost_brl": number("0.0") });
    assert_eq!(code(scene.refund(nothing).await), "VALIDATION_ERROR");
    let negative = json!({ "consumption_id": debit, "prosas": -1, "cost_brl": 0 });
    assert_eq!(code(scene.refund(negative).await), "VALIDATION_ERROR");
}

#[tokio::test]
async fn refunds_at_once_cannot_both_take_what_is_left() {
    let scene = Scene::on(interleaving().await).await;
    let debit = json!({ "scope": "turn", "prosas": 1, "cost_brl": 1 });
    let id = scene.debit(debit).await.unwrap()["id"].clone();
    let refund = || scene.refund(json!({ "consumption_id": id, "prosas": 1, "cost_brl": 1 }));
    let (a, b) = tokio::join!(refund(), refund());
    assert_eq!(usize::from(a.is_ok()) + usize::from(b.is_ok()), 1);
    assert_eq!(scene.ledger(&[]).await.1, 2);
}

#[tokio::test]
async fn debits_at_once_cannot_both_cover_a_message() {
    let scene = Scene::on(interleaving().await).await;
    let message = scene.add_message(10, SenderType::Ai).await;
    let debit = |scope: &str| {
        scene.debit(json!({ "scope": scope, "prosas": 1, "cost_brl": 1, "message_ids": [message] }))
    };
    let (a, b) = tokio::join!(debit("turn"), debit("message"));
    assert_eq!(usize::from(a.is_ok()) + usize::from(b.is_ok()), 1);
    let prosa = scene.prosas(&[message]).await[0].expect("the message is covered");
    let (lines, total, _) = scene.ledger(&[]).await;
    assert_eq!((total, &lines[0]["id"]), (1, &json!(prosa.consumption_id)));
}

#[tokio::test]
async fn the_ledger_is_newest_first_with_totals_over_all_pages() {
    let scene = Scene::new().await;
    let mut ids = Vec::new();
    for prosas in 1..=3 {
        let debit = json!({ "scope": "message", "prosas": prosas, "cost_brl": number("0.1") });
        ids.push(scene.debit(debit).await.unwrap()["id"].clone());
        scene.kit.clock.advance(Duration::from_secs(60));
    }
    let refund = json!({ "consumption_id": ids[0], "prosas": 1, "cost_brl": 0 });
    ids.push(scene.refund(refund).await.unwrap()["id"].clone());
    ids.reverse();
    let of = |lines: &[Value]| lines.iter().map(|line| line["id"].clone()).collect::<Vec<_>>();
    let (lines, total, totals) = scene.ledger(&[]).await;
    assert_eq!((of(&lines), total), (ids.clone(), 4));
    assert_eq!(totals, json!({ "prosas": number("5"), "cost_brl": number("0.3") }));
    let (lines, total, same) = scene.ledger(&[("page", "2"), ("limit", "3")]).await;
    assert_eq!((of(&lines), total, same), (ids[3..].to_vec(), 4, totals));
    let (lines, _, totals) = scene.ledger(&[("kind", "refund")]).await;
    assert_eq!(of(&lines), ids[..1]);
    assert_eq!(totals, json!({ "prosas": number("-1"), "cost_brl": number("0") }));
    let since = lines[0]["created_at"].as_str().expect("a timestamp").to_owned();
    assert_eq!(of(&scene.ledger(&[("from", &since)]).await.0), ids[..1]);
    assert_eq!(of(&scene.ledger(&[("to", &since), ("kind", "debit")]).await.0), ids[1..]);
    assert_eq!(scene.ledger(&[("to", "2000-01-01")]).await.1, 0);
    assert_eq!(scene.ledger(&[("from", &since[..10]), ("to", &since[..10])]).await.1, 4);
}

#[tokio::test]
async fn the_ledger_outlives_its_contact() {
    let scene = Scene::new().await;
    let message = scene.add_message(10, SenderType::Ai).await;
    let debit = json!({ "scope": "turn", "prosas": 1, "cost_brl": 1, "message_ids": [message] });
    let id = scene.debit(debit).await.unwrap()["id"].clone();
    scene.kit.app.contacts().delete(&scene.kit.caller, scene.contact).await.unwrap();
    let (lines, _, _) = scene.ledger(&[]).await;
    assert_eq!((&lines[0]["id"], &lines[0]["contact_id"]), (&id, &Value::Null));
    scene.refund(json!({ "consumption_id": id, "prosas": 1, "cost_brl": 1 })).await.unwrap();
}

#[tokio::test]
async fn the_ledger_needs_the_scope_to_read_messages() {
    use recado_core::access::{KeyDraft, Scope, Scopes};
    let scene = Scene::new().await;
    let draft = KeyDraft::new("r", Scopes::of(&[Scope::ContactsRead]));
    let made = scene.kit.app.access().create_key(scene.kit.company.id, draft).await.unwrap();
    let caller = scene.kit.app.access().authenticate(made.secret.expose()).await.unwrap();
    let filter = LedgerFilter::default();
    let denied = scene.kit.app.prosas().consumption(&caller, &filter, PageRequest::FIRST).await;
    assert!(matches!(denied, Err(Error::Denied(_))), "{denied:?}");
}

/// R430.
#[tokio::test]
async fn usage_is_summed_by_the_days_of_the_companys_time_zone() {
    let scene = Scene::new().await;
    let company = scene.kit.company.id;
    let debit = body(json!({ "scope": "turn", "prosas": 2.5, "cost_brl": 0.1 }));
    scene.kit.app.prosas().debit(company, &debit).await.unwrap();
    scene.kit.clock.advance(Duration::from_secs(24 * 60 * 60));
    scene.kit.app.prosas().debit(company, &debit).await.unwrap();
    scene.kit.app.prosas().debit(company, &debit).await.unwrap();
    let usage = scene.kit.app.prosas().usage(company).await.unwrap();
    assert_eq!(usage.len(), 30);
    let last: Vec<String> =
        usage[28..].iter().map(|day| day.totals.debits.prosas.to_string()).collect();
    assert_eq!(last, ["2.5", "5"]);
    assert!(usage[28].date < usage[29].date);
    scene.kit.clock.advance(Duration::from_secs(30 * 24 * 60 * 60));
    let usage = scene.kit.app.prosas().usage(company).await.unwrap();
    assert!(usage.iter().all(|day| day.totals.debits.prosas.units() == 0), "{usage:?}");
}
