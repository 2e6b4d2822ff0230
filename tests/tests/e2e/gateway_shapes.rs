//! What the body of a request says at each gateway, for the messages of `SentKind`: the fields of
//! the gateway's contract beside the recipient and the bytes of a file. The fakes refuse other
//! fields.

use serde_json::{Value, json};

const PLACE: (f64, f64) = (-18.918_612, -48.277_245);
const PAGE: &str = "https://padaria.example/datas";
const PHONE: &str = "+55 34 99123-4567";

/// The body at WAHA.
pub(crate) fn at_waha(kind: &str) -> Value {
    let row = |title: &str, id: &str, description: &str| json!({"title": title, "rowId": id, "description": description});
    match kind {
        "text" => json!({"text": "Bom dia"}),
        "image" => json!({"file": {"mimetype": "image/jpeg"}, "caption": "A foto"}),
        "video" => {
            json!({"file": {"mimetype": "video/mp4"}, "caption": "O filme", "convert": false})
        }
        "voice" => json!({"file": {"mimetype": "audio/ogg; codecs=opus"}, "convert": false}),
        "document" => {
            json!({"file": {"mimetype": "application/pdf", "filename": "nota.pdf"},
                "caption": "A nota"})
        }
        "sticker" => json!({"file": {"mimetype": "image/webp"}}),
        "buttons" => json!({"header": "Pedido", "body": "Confirma?", "footer": "Padaria",
            "buttons": [{"type": "reply", "text": "Sim", "id": "sim"},
                {"type": "reply", "text": "Não", "id": "nao"}]}),
        // A list needs a title, a blank one too (R339).
        "list" => json!({"message": {"title": " ", "description": "Qual?", "button": "Ver",
            "sections": [{"title": "Pães", "rows": [row("Francês", "p1", "Quente")]},
                {"title": "Bolos", "rows": [row("Cenoura", "b1", "Novo")]}]}}),
        "cta_url" => json!({"body": "Veja",
            "buttons": [{"type": "url", "text": "Datas", "url": PAGE}]}),
        "poll" => json!({"poll": {"name": "Quando?", "options": ["Sábado", "Domingo"],
            "multipleAnswers": false}}),
        "location" => json!({"latitude": PLACE.0, "longitude": PLACE.1,
            "title": "Padaria do João\nRua das Flores, 123"}),
        "contacts" => json!({"contacts": [{"fullName": "João Silva", "phoneNumber": PHONE,
            "whatsappId": "5534991234567", "organization": "Padaria"}]}),
        other => panic!("WAHA has no {other}"),
    }
}

/// The body at Evolution.
pub(crate) fn at_evolution(kind: &str) -> Value {
    let media = |kind: &str, mimetype: &str| json!({"mediatype": kind, "mimetype": mimetype});
    let with = recado_tests::with;
    let row = |title: &str, id: &str, description: &str| json!({"title": title, "rowId": id, "description": description});
    match kind {
        "text" => json!({"text": "Bom dia"}),
        "image" => with(media("image", "image/jpeg"), json!({"caption": "A foto"})),
        "video" => with(media("video", "video/mp4"), json!({"caption": "O filme"})),
        "audio" => media("audio", "audio/mpeg"),
        "voice" => json!({"encoding": false}),
        "document" => with(
            media("document", "application/pdf"),
            json!({"fileName": "nota.pdf", "caption": "A nota"}),
        ),
        "sticker" => json!({}),
        "buttons" => json!({"title": "Pedido", "description": "Confirma?", "footer": "Padaria",
            "buttons": [{"type": "reply", "displayText": "Sim", "id": "sim"},
                {"type": "reply", "displayText": "Não", "id": "nao"}]}),
        // The gateway writes a title above everything.
        "list" => json!({"title": "Qual?", "buttonText": "Ver", "footerText": "",
            "sections": [{"title": "Pães", "rows": [row("Francês", "p1", "Quente")]},
                {"title": "Bolos", "rows": [row("Cenoura", "b1", "Novo")]}]}),
        "cta_url" => json!({"title": "Veja",
            "buttons": [{"type": "url", "displayText": "Datas", "url": PAGE}]}),
        "poll" => json!({"name": "Quando?", "selectableCount": 1,
            "values": ["Sábado", "Domingo"]}),
        "location" => json!({"latitude": PLACE.0, "longitude": PLACE.1,
            "name": "Padaria do João", "address": "Rua das Flores, 123"}),
        "contacts" => json!({"contact": [{"fullName": "João Silva", "wuid": "5534991234567",
            "phoneNumber": PHONE, "email": "joao@padaria.example", "organization": "Padaria"}]}),
        other => panic!("Evolution has no {other}"),
    }
}

/// The body at the official API.
pub(crate) fn at_the_api(kind: &str) -> Value {
    let reply =
        |id: &str, title: &str| json!({"type": "reply", "reply": {"id": id, "title": title}});
    let row = |id: &str, title: &str, description: &str| json!({"id": id, "title": title, "description": description});
    match kind {
        "text" => json!({"text": {"body": "Bom dia", "preview_url": false}}),
        "template" => json!({"template": {"name": "nota", "language": {"code": "pt_BR"},
            "components": [{"type": "header", "parameters": [{"type": "image"}]},
                {"type": "body", "parameters": [{"type": "text", "text": "Ana"}]},
                {"type": "button", "sub_type": "quick_reply", "index": "0",
                    "parameters": [{"type": "payload", "payload": "certo-77"}]}]}}),
        "image" => json!({"image": {"caption": "A foto"}}),
        "video" => json!({"video": {"caption": "O filme"}}),
        "audio" => json!({"audio": {}}),
        "voice" => json!({"audio": {"voice": true}}),
        "document" => json!({"document": {"caption": "A nota", "filename": "nota.pdf"}}),
        "sticker" => json!({"sticker": {}}),
        "buttons" => json!({"interactive": {"type": "button", "body": {"text": "Confirma?"},
            "header": {"type": "text", "text": "Pedido"}, "footer": {"text": "Padaria"},
            "action": {"buttons": [reply("sim", "Sim"), reply("nao", "Não")]}}}),
        "list" => json!({"interactive": {"type": "list", "body": {"text": "Qual?"},
            "action": {"button": "Ver", "sections": [
                {"title": "Pães", "rows": [row("p1", "Francês", "Quente")]},
                {"title": "Bolos", "rows": [row("b1", "Cenoura", "Novo")]}]}}}),
        "cta_url" => json!({"interactive": {"type": "cta_url", "body": {"text": "Veja"},
            "action": {"name": "cta_url",
                "parameters": {"display_text": "Datas", "url": PAGE}}}}),
        "location_request" => json!({"interactive": {"type": "location_request_message",
            "body": {"text": "Onde?"}, "action": {"name": "send_location"}}}),
        "location" => json!({"location": {"latitude": PLACE.0.to_string(),
            "longitude": PLACE.1.to_string(), "name": "Padaria do João",
            "address": "Rua das Flores, 123"}}),
        "contacts" => json!({"contacts": [{
            "name": {"formatted_name": "João Silva", "first_name": "João Silva"},
            "phones": [{"phone": PHONE, "wa_id": "5534991234567"}],
            "emails": [{"email": "joao@padaria.example"}], "org": {"company": "Padaria"}}]}),
        other => panic!("the official API has no {other}"),
    }
}
