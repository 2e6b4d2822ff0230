//! The search of the two listings of messages (X17, 4.6, 4.7).

use std::time::Duration;

use recado_tests::{World, both_stores, digits, mobile, unknown_id, with};
use serde_json::{Value, json};

fn encoded(term: &str) -> String {
    term.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn found(world: &World, term: &str) -> Vec<String> {
    world.message_ids(&format!("search={}", encoded(term))).await
}

async fn found_of(world: &World, contact: &str, term: &str) -> Vec<String> {
    let query = format!("limit=100&search={}", encoded(term));
    let answer = world.get(&format!("/api/v1/contacts/{contact}/messages?{query}")).await;
    answer.expect(200);
    answer.ids()
}

/// A contact and the connection that its messages came through.
struct Chat {
    contact: String,
    connection: String,
}

impl Chat {
    async fn new(world: &World, n: u32) -> Self {
        let connection = world.silent("qr").await;
        Self { contact: world.create_id(json!({"phone": mobile(n)})).await, connection }
    }

    async fn import(&self, world: &World, more: Value) -> String {
        let message = json!({
            "contact_id": self.contact, "connection_id": self.connection, "direction": "inbound",
            "type": "text",
        });
        world.import_message(with(message, more)).await
    }

    async fn says(&self, world: &World, content: &str) -> String {
        self.import(world, json!({"content": content})).await
    }
}

/// X17.
#[both_stores]
async fn a_search_finds_parts_of_content_captions_and_file_names(world: World) {
    let chat = Chat::new(&world, 1).await;
    let content = chat.says(&world, "Aproveite a Promoção de São João").await;
    let file = json!({
        "type": "document", "media_url": "https://cdn.example/segredo",
        "media_mimetype": "application/pdf", "media_caption": "Segue o orçamento",
        "media_filename": "Relatório Ágil.PDF",
    });
    let file = chat.import(&world, file).await;
    chat.says(&world, "Nada disso").await;
    for (term, id) in [
        ("promocao", &content),
        ("PROMOÇÃO DE SAO", &content),
        ("moc\u{327}a\u{303}o", &content),
        ("  são joão  ", &content),
        ("ORCAMENTO", &file),
        ("gue o orç", &file),
        ("relatorio agil.pdf", &file),
        ("RIO Á", &file),
    ] {
        assert_eq!(found(&world, term).await, [id.clone()], "{term}");
        assert_eq!(found_of(&world, &chat.contact, term).await, [id.clone()], "{term}");
    }
    for term in ["promoçãoo", "joao promocao", "segredo", "application", "inbound", "orcamentorel"]
    {
        assert!(found(&world, term).await.is_empty(), "{term}");
        assert!(found_of(&world, &chat.contact, term).await.is_empty(), "{term}");
    }
}

/// X17.
#[both_stores]
async fn wildcards_and_quotes_mean_themselves(world: World) {
    let chat = Chat::new(&world, 1).await;
    let odd = chat.says(&world, r#"50%_off "now" \o/ it's * [x] -- ok"#).await;
    chat.says(&world, "500 off now its x ok").await;
    for term in
        ["50%_", "%_o", "\"now\"", " \\o/", "it's", "\" \\", "s * ", "[x]", "-- ok", "s * ["]
    {
        assert_eq!(found(&world, term).await, [odd.clone()], "{term}");
        assert_eq!(found_of(&world, &chat.contact, term).await, [odd.clone()], "{term}");
    }
    for term in
        ["5%0", "50_", "50%%", "%off%", "___", "%%%", "\\\\o", "a* OR b", "' OR ''='", "NEAR("]
    {
        assert!(found(&world, term).await.is_empty(), "{term}");
        assert!(found_of(&world, &chat.contact, term).await.is_empty(), "{term}");
    }
}

/// X17, R300.
#[both_stores]
async fn a_search_has_3_to_200_characters_and_none_of_control(world: World) {
    let chat = Chat::new(&world, 1).await;
    chat.says(&world, "oi, tudo bem?").await;
    let of_contact = format!("/api/v1/contacts/{}/messages", chat.contact);
    let long = "a".repeat(201);
    for path in ["/api/v1/messages", &of_contact] {
        for (term, reason) in [
            ("", "at least 3"),
            ("oi", "at least 3"),
            ("  oi  ", "at least 3"),
            ("o\u{301}i", "at least 3"),
            (long.as_str(), "at most 200"),
            ("oi\n, ", "control"),
        ] {
            let answer = world.get(&format!("{path}?search={}", encoded(term))).await;
            let details = answer.expect_error(400, "INVALID_PARAMETER");
            assert_eq!(details["parameter"], "search");
            let told = details["reason"].as_str().unwrap_or_default();
            assert!(told.contains(reason), "{term:?}: {told}");
        }
        world
            .get(&format!("{path}?search=abc&search=abc"))
            .await
            .expect_error(400, "INVALID_PARAMETER");
        world.get(&format!("{path}?search=%FF%FE%FF")).await.expect_error(400, "INVALID_PARAMETER");
        world.get(&format!("{path}?search={}", encoded(" oi, "))).await.expect(200);
        world.get(&format!("{path}?search={}", "a".repeat(200))).await.expect(200);
    }
    let nobody = format!("/api/v1/contacts/{}/messages?search=abc", unknown_id());
    world.get(&nobody).await.expect_error(404, "NOT_FOUND");
}

/// X17.
#[both_stores]
async fn a_search_goes_together_with_filters_and_pages(world: World) {
    let (one, other) = (Chat::new(&world, 1).await, Chat::new(&world, 2).await);
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    let mut times = Vec::new();
    for n in 0..7 {
        times.push(world.time());
        ones.push(one.says(&world, &format!("Pedido {n}")).await);
        others.push(other.says(&world, &format!("pedido {n}")).await);
        one.says(&world, &format!("Outra coisa {n}")).await;
        world.advance(Duration::from_secs(60));
    }
    let file = json!({"type": "image", "media_caption": "PEDIDO 7", "direction": "outbound"});
    let file = one.import(&world, file).await;
    let newest_first = |ids: &[String]| ids.iter().rev().cloned().collect::<Vec<_>>();
    let all = found(&world, "pedido").await;
    assert_eq!(all.len(), 15);
    let mut paged = Vec::new();
    for page in 1..=6 {
        let path = format!("/api/v1/messages?search=PEDIDO&limit=3&page={page}");
        let answer = world.get(&path).await;
        answer.expect(200);
        let pagination = json!({"page": page, "limit": 3, "total": 15, "total_pages": 5});
        assert_eq!(answer.json()["pagination"], pagination);
        paged.extend(answer.ids());
    }
    assert_eq!(paged, all);
    let ids = async |query: &str| world.message_ids(&format!("search=pedido&{query}")).await;
    let of_one = ids(&format!("contact_id={}", one.contact)).await;
    assert_eq!(of_one, newest_first(&[&ones[..], std::slice::from_ref(&file)].concat()));
    assert_eq!(found_of(&world, &one.contact, "pedido").await, of_one);
    assert_eq!(ids(&format!("connection_id={}", other.connection)).await, newest_first(&others));
    assert_eq!(ids("direction=outbound").await, [file.clone()]);
    assert_eq!(ids("type=image").await, [file]);
    assert_eq!(ids("type=text&status=received").await.len(), 14);
    assert!(ids("status=failed").await.is_empty());
    let span = format!("from={}&to={}", encoded(&times[2]), encoded(&times[3]));
    let contact = format!("contact_id={}&{span}", one.contact);
    assert_eq!(ids(&contact).await, newest_first(&ones[2..4]));
    assert_eq!(ids(&format!("{span}&contact_id={}", unknown_id())).await, [""; 0]);
    let page = format!("/api/v1/contacts/{}/messages?search=pedido&limit=2&page=2", other.contact);
    let page = world.get(&page).await;
    assert_eq!(page.ids(), newest_first(&others[3..5]));
    assert_eq!(page.json()["pagination"]["total"], 7);
    // The operator's listing has the same parameters.
    let listed = world.operator("GET", "C/messages?search=PEDIDO%207", Value::Null).await;
    assert_eq!(listed.ids().len(), 1);
}

/// R199.
#[both_stores]
async fn messages_of_another_company_are_never_found(world: World) {
    let ours = Chat::new(&world, 1).await.says(&world, "girafa").await;
    let theirs = world.tenant("Other").await;
    let connection = world.connection_of(&theirs, "qr", json!({})).await;
    let events = json!({"events": [world.inbound(&digits(&mobile(1)), "Girafa")]});
    let path = format!("C/connections/{connection}/events");
    world.operator_for(&theirs, "POST", &path, events).await.expect(200);
    assert_eq!(found(&world, "girafa").await, [ours.clone()]);
    let answer = world.get_as(&theirs.key, "/api/v1/messages?search=girafa").await;
    let their_ids = answer.ids();
    assert_eq!(their_ids.len(), 1);
    assert_ne!(their_ids, [ours]);
    let contact = answer.items()[0]["contact_id"].as_str().unwrap_or_default().to_owned();
    let path = format!("/api/v1/contacts/{contact}/messages?search=girafa");
    world.get(&path).await.expect_error(404, "NOT_FOUND");
    assert!(world.message_ids(&format!("search=girafa&contact_id={contact}")).await.is_empty());
}

/// D31a, X3, X5: what came late, was edited or erased, and what went with its contact.
#[both_stores]
async fn a_message_is_found_by_what_it_says_now(world: World) {
    let qr = world.qr().await;
    let event = world.inbound(&digits(&mobile(1)), "girafa");
    let wamid = &event["provider_message_id"];
    let id = world.stored(&qr, event.clone()).await;
    let about =
        |kind: &str, more: Value| with(json!({"kind": kind, "provider_message_id": wamid}), more);
    let edit = about("edit", json!({"content": "Elefante"}));
    world.gateway_one(&qr, edit).await;
    assert!(found(&world, "girafa").await.is_empty());
    assert_eq!(found(&world, "elefante").await, [id.clone()]);
    let path = format!("/companies/{}", world.us.id);
    world.operator("PATCH", &path, json!({"erase_deleted_messages": true})).await.expect(200);
    world.gateway_one(&qr, about("deleted", json!({}))).await;
    assert_eq!(world.message(&id).await["content"], Value::Null);
    assert!(found(&world, "elefante").await.is_empty());
    // Late content.
    let event = world.inbound(&digits(&mobile(1)), "zebra");
    let missing = json!({
        "type": "unsupported", "content": null, "is_late": true, "unsupported": {"reason": "131060"},
    });
    let id = world.stored(&qr, with(event.clone(), missing)).await;
    assert!(found(&world, "zebra").await.is_empty());
    world.gateway_one(&qr, event).await;
    assert_eq!(found(&world, "zebra").await, [id.clone()]);
    let contact = world.message(&id).await["contact_id"].as_str().unwrap_or_default().to_owned();
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect(200);
    assert!(found(&world, "zebra").await.is_empty());
}
