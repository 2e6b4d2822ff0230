//! A person who reads GET /messages alone can tell of each kind of message what was sent, by whom,
//! and to what it answers: 4.6; D27, D72, X1–X4, X6, X7, X9.

use recado_tests::{World, both_stores, digits, mobile, with};
use serde_json::{Value, json};

/// The line of an inbox for one message, made from its item of the listing and nothing else.
fn line(item: &Value) -> String {
    let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let who = match (&item["direction"], item["participant"]["name"].as_str()) {
        (_, Some(name)) => name.to_owned(),
        (direction, None) if direction == "outbound" => "nós".to_owned(),
        _ => item["contacts"]["display_name"].as_str().unwrap_or_default().to_owned(),
    };
    let kind = if item["is_voice"] == true { "voice".to_owned() } else { text("type") };
    let file = text("media_filename");
    let said = [text("content"), text("media_caption"), file];
    let said: Vec<&str> = said.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let mut line = format!("{who} [{kind}] {}", said.join(" | ").replace('\n', " / "));
    if let Some(reason) = item["unsupported"]["reason"].as_str() {
        line += &format!("({reason})");
    }
    if item["quoted_type"] != Value::Null {
        line += &format!(" << {}: {}", text("quoted_type"), text("quoted_content"));
    }
    for (is_so, word) in [
        (item["forwarded"] != Value::Null, "forwarded"),
        (item["is_edited"] == true, "edited"),
        (item["deleted_by_sender_at"] != Value::Null, "deleted"),
        (item["referral"] != Value::Null, "from an advertisement"),
    ] {
        line += &if is_so { format!(" ({word})") } else { String::new() };
    }
    line.trim().to_owned()
}

/// What a gateway reports, and the line that a person reads.
fn kinds() -> Vec<(Value, &'static str)> {
    let money = |amount: &str| json!({"amount": amount, "currency": "BRL"});
    vec![
        (json!({"type": "text", "content": "Oi"}), "Ana [text] Oi"),
        (
            json!({"type": "text", "content": "Sim", "quoted_type": "image",
                "quoted_content": "Este?"}),
            "Ana [text] Sim << image: Este?",
        ),
        (
            json!({"type": "text", "content": "Veja", "forwarded": "often"}),
            "Ana [text] Veja (forwarded)",
        ),
        (
            json!({"type": "text", "content": "Quanto?", "referral": {"headline": "Promoção"}}),
            "Ana [text] Quanto? (from an advertisement)",
        ),
        (
            json!({"type": "image", "media": {"url": "m:1", "caption": "A loja"}}),
            "Ana [image] A loja",
        ),
        (
            json!({"type": "document", "media": {"url": "m:1", "filename": "nota.pdf"}}),
            "Ana [document] nota.pdf",
        ),
        (json!({"type": "audio", "is_voice": true, "media": {"url": "m:1"}}), "Ana [voice]"),
        (
            json!({"type": "location", "location": {"latitude": -23.5, "longitude": -46.6,
                "name": "Loja", "address": "Rua A, 1"}}),
            "Ana [location] -23.5,-46.6 Loja, Rua A, 1",
        ),
        (
            json!({"type": "contacts", "shared_contacts": [{"name": "Bia",
                "phones": [{"number": "+551133334444"}], "emails": [{"email": "b@x.com"}]}]}),
            "Ana [contacts] Bia, +551133334444, b@x.com",
        ),
        (
            json!({"type": "interactive", "interactive": {"kind": "button_reply", "title": "Sim"},
                "quoted_type": "interactive", "quoted_content": "Confirma?"}),
            "Ana [interactive] Sim << interactive: Confirma?",
        ),
        (
            json!({"type": "interactive", "interactive": {"kind": "list_reply", "title": "Pizza",
                "description": "Grande"}}),
            "Ana [interactive] Pizza / Grande",
        ),
        (
            json!({"type": "interactive", "interactive": {"kind": "flow_reply",
                "response": {"Dia": "segunda", "Hora": "9h"}}}),
            "Ana [interactive] Dia: segunda / Hora: 9h",
        ),
        (
            json!({"type": "order", "order": {"items": [{"name": "Caneca", "quantity": 2,
                "price": money("10.50")}]}}),
            "Ana [order] 2 x Caneca (R$ 10,50) / Total: R$ 21,00",
        ),
        (
            json!({"type": "text", "product": {"name": "Caneca", "price": money("10.50")}}),
            "Ana [text] Caneca, R$ 10,50",
        ),
        (
            json!({"type": "poll", "interactive": {"kind": "poll", "body": "Quando?",
                "options": [{"option": "Hoje", "votes": 0}]}}),
            "Ana [poll] Enquete: Quando? / - Hoje",
        ),
        (
            json!({"type": "interactive", "quoted_type": "poll", "quoted_content": "Quando?",
                "interactive": {"kind": "poll_vote", "response": {"options": ["Hoje"]}}}),
            "Ana [interactive] Hoje << poll: Quando?",
        ),
        (
            json!({"type": "reaction", "reaction": {"emoji": "👍"}, "quoted_type": "text",
                "quoted_content": "Pronto"}),
            "Ana [reaction] 👍 << text: Pronto",
        ),
        (
            json!({"type": "system", "system": {"kind": "missed_call", "video": false}}),
            "Ana [system] Chamada perdida",
        ),
        (
            json!({"type": "unsupported", "content": "um texto", "unsupported":
                {"reason": "this type is new", "provider_type": "hologram"}}),
            "Ana [unsupported] um texto(this type is new)",
        ),
    ]
}

#[both_stores]
async fn each_kind_of_message_is_understood_from_the_listing_alone(world: World) {
    let qr = world.qr().await;
    let from = digits(&mobile(1));
    world.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    for (fields, expected) in kinds() {
        let event = with(with(world.inbound(&from, ""), json!({"content": null})), fields);
        let id = world.stored(&qr, event).await;
        assert_eq!(line(&world.message(&id).await), expected);
    }
}

/// D72, D42a, X3, X5a.
#[both_stores]
async fn who_wrote_and_what_became_of_it_is_understood_too(world: World) {
    let qr = world.qr().await;
    let (from, group) = (digits(&mobile(1)), "120363025550001@g.us");
    world.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    let question = world.echo(&from, "Confirma?");
    let asked = world.stored(&qr, question.clone()).await;
    assert_eq!(line(&world.message(&asked).await), "nós [text] Confirma?");
    let answer = with(
        world.inbound(&from, "Sim"),
        json!({"quoted_provider_message_id": question["provider_message_id"]}),
    );
    let answered = world.stored(&qr, answer).await;
    let item = world.message(&answered).await;
    assert_eq!(line(&item), "Ana [text] Sim << text: Confirma?");
    assert_eq!(item["quoted_message_id"], asked);
    let of_group = with(
        world.inbound(group, "Bom dia"),
        json!({"participant": digits(&mobile(2)), "push_name": "Rita"}),
    );
    let id = world.stored(&qr, of_group.clone()).await;
    assert_eq!(line(&world.message(&id).await), "Rita [text] Bom dia");
    let provider_id = &of_group["provider_message_id"];
    for (event, expected) in [
        (json!({"kind": "edit", "content": "Boa tarde"}), "Rita [text] Boa tarde (edited)"),
        (json!({"kind": "deleted"}), "Rita [text] Boa tarde (edited) (deleted)"),
    ] {
        let event = with(event, json!({"provider_message_id": provider_id}));
        assert_eq!(world.gateway_one(&qr, event).await["result"], "stored");
        assert_eq!(line(&world.message(&id).await), expected);
    }
}
