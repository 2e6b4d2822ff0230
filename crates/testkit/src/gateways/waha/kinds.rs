//! Own messages of every kind, in the forms of the engines.

use serde_json::{Value, json};

use super::{State, WahaEngine, WahaSent};

/// The content of a message as the channel writes it.
fn proto(order: &WahaSent) -> Value {
    let body = &order.body;
    let file = |name: &str| {
        let mut part = json!({"mimetype": body["file"]["mimetype"]});
        if !order.text.is_empty() {
            part["caption"] = order.text.as_str().into();
        }
        if let Some(name) = body["file"]["filename"].as_str() {
            part["fileName"] = name.into();
        }
        json!({ name: part })
    };
    match &*order.route {
        "sendImage" => file("imageMessage"),
        "sendVideo" => file("videoMessage"),
        "sendFile" => file("documentMessage"),
        "sendSticker" => file("stickerMessage"),
        "sendVoice" => {
            let mut voice = file("audioMessage");
            voice["audioMessage"]["ptt"] = true.into();
            voice
        }
        "sendLocation" => json!({"locationMessage": {"degreesLatitude": body["latitude"],
            "degreesLongitude": body["longitude"], "name": body["title"]}}),
        "sendContactVcard" => {
            let contacts = body["contacts"].as_array().into_iter().flatten();
            let contacts: Vec<Value> = contacts
                .map(|it| json!({"displayName": it["fullName"], "vcard": it["vcard"]}))
                .collect();
            json!({"contactsArrayMessage": {"contacts": contacts}})
        }
        "sendPoll" => {
            let options = body["poll"]["options"].as_array().into_iter().flatten();
            let options: Vec<Value> =
                options.map(|option| json!({ "optionName": option })).collect();
            let many = if body["poll"]["multipleAnswers"] == true { options.len() } else { 1 };
            json!({"pollCreationMessageV3": {"name": body["poll"]["name"], "options": options,
                "selectableOptionsCount": many}})
        }
        "sendList" => {
            let message = &body["message"];
            json!({"listMessage": {"title": message["title"],
                "description": message["description"], "buttonText": message["button"],
                "footerText": message["footer"], "sections": message["sections"]}})
        }
        "sendButtons" => {
            let buttons = body["buttons"].as_array().into_iter().flatten();
            let buttons: Vec<Value> = buttons
                .map(|button| {
                    let name = if button["type"] == "url" { "cta_url" } else { "quick_reply" };
                    let details = json!({"display_text": button["text"], "id": button["id"],
                        "url": button["url"]});
                    json!({"name": name, "buttonParamsJson": details.to_string()})
                })
                .collect();
            json!({"interactiveMessage": {"header": {"title": body["header"]},
                "body": {"text": body["body"]}, "footer": {"text": body["footer"]},
                "nativeFlowMessage": {"buttons": buttons}}})
        }
        _ => json!({"conversation": order.text}),
    }
}

/// The type of a message by the names of the browser.
fn type_in_browser(route: &str) -> &'static str {
    match route {
        "sendImage" => "image",
        "sendVideo" => "video",
        "sendFile" => "document",
        "sendSticker" => "sticker",
        "sendVoice" => "ptt",
        "sendLocation" => "location",
        "sendContactVcard" => "vcard",
        "sendPoll" => "poll_creation",
        _ => "chat",
    }
}

impl State {
    /// A message that the gateway accepted, as the session keeps it.
    pub(super) fn own_message_of(&self, order: &WahaSent) -> Value {
        let mut message = self.own_message(&order.raw_id, &order.chat, &order.text, "api", 1);
        match self.engine {
            WahaEngine::Gows => message["_data"]["Message"] = proto(order),
            WahaEngine::Noweb => message["_data"]["message"] = proto(order),
            WahaEngine::Webjs => {
                message["_data"]["type"] = type_in_browser(&order.route).into();
                let body = &order.body;
                if order.route == "sendPoll" {
                    message["_data"]["pollName"] = body["poll"]["name"].clone();
                    message["_data"]["pollOptions"] = body["poll"]["options"].clone();
                }
            }
        }
        let body = &order.body;
        if order.file.is_some() && order.route != "sendButtons" {
            message["hasMedia"] = true.into();
            message["media"] = json!({"url": null, "mimetype": body["file"]["mimetype"],
                "filename": body["file"]["filename"], "error": null});
        }
        if order.route == "sendLocation" {
            message["location"] = json!({"latitude": body["latitude"],
                "longitude": body["longitude"], "description": body["title"]});
        }
        if order.route == "sendContactVcard" {
            let contacts = body["contacts"].as_array().into_iter().flatten();
            message["vCards"] = contacts.map(|it| it["vcard"].clone()).collect();
        }
        message
    }

    /// What NOWEB answers of a message beside its key.
    pub(super) fn proto_of(&self, order: &WahaSent) -> Value {
        match &*order.route {
            "sendText" => json!({"extendedTextMessage": {"text": order.text}}),
            "reaction" => json!({"reactionMessage": {"text": order.text}}),
            _ => proto(order),
        }
    }
}
