//! Own messages of every kind, as the gateway keeps and reports them.

use serde_json::{Value, json};

use super::{EvolutionSent, State};

/// The protocol's name of the kind of a message that was sent, and its content.
fn content(sent: &EvolutionSent) -> (&'static str, Value) {
    let body = &sent.body;
    let listed = |name: &str| body[name].as_array().cloned().unwrap_or_default().into_iter();
    let file = |kind: &'static str| {
        let mut part = json!({"mimetype": body["mimetype"]});
        for (ours, theirs) in [("caption", "caption"), ("fileName", "fileName")] {
            if let Some(text) = body[ours].as_str() {
                part[theirs] = text.into();
            }
        }
        (kind, part)
    };
    match &*sent.operation {
        "sendMedia" => file(match body["mediatype"].as_str() {
            Some("image") => "imageMessage",
            Some("video") => "videoMessage",
            Some("audio") => "audioMessage",
            _ => "documentMessage",
        }),
        "sendWhatsAppAudio" => {
            ("audioMessage", json!({"mimetype": "audio/ogg; codecs=opus", "ptt": true}))
        }
        "sendSticker" => ("stickerMessage", json!({"mimetype": "image/webp"})),
        "sendLocation" => (
            "locationMessage",
            json!({"degreesLatitude": body["latitude"], "degreesLongitude": body["longitude"],
                "name": body["name"], "address": body["address"]}),
        ),
        "sendContact" => {
            let cards: Vec<Value> = listed("contact").map(|contact| card(&contact)).collect();
            match cards.as_slice() {
                [card] => ("contactMessage", card.clone()),
                cards => ("contactsArrayMessage", json!({ "contacts": cards })),
            }
        }
        "sendPoll" => {
            let options: Vec<Value> =
                listed("values").map(|option| json!({ "optionName": option })).collect();
            (
                "pollCreationMessageV3",
                json!({"name": body["name"], "options": options,
                    "selectableOptionsCount": body["selectableCount"]}),
            )
        }
        "sendList" => (
            "listMessage",
            json!({"title": body["title"], "description": body["description"],
                "buttonText": body["buttonText"], "footerText": body["footerText"],
                "sections": body["sections"]}),
        ),
        "sendButtons" => ("viewOnceMessage", buttons(body)),
        "sendReaction" => {
            ("reactionMessage", json!({"key": body["key"], "text": body["reaction"]}))
        }
        _ => ("conversation", sent.text.as_str().into()),
    }
}

fn card(contact: &Value) -> Value {
    let text = |name: &str| contact[name].as_str().unwrap_or_default().to_owned();
    let (name, phone) = (text("fullName"), text("phoneNumber"));
    let vcard = format!(
        "BEGIN:VCARD\nVERSION:3.0\nN:{name}\nFN:{name}\n\
         item1.TEL;waid={}:{phone}\nitem1.X-ABLabel:Celular\nEND:VCARD",
        text("wuid")
    );
    json!({"displayName": name, "vcard": vcard})
}

/// Buttons, with the title in bold above the description.
fn buttons(body: &Value) -> Value {
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    let mut said = format!("*{}*", text("title"));
    if !text("description").is_empty() {
        said = format!("{said}\n\n{}\n", text("description"));
    }
    let buttons: Vec<Value> =
        body["buttons"].as_array().into_iter().flatten().map(button).collect();
    json!({"message": {"interactiveMessage": {"body": {"text": said},
        "footer": {"text": body["footer"]}, "nativeFlowMessage": {"buttons": buttons}}}})
}

fn button(button: &Value) -> Value {
    let name = if button["type"] == "url" { "cta_url" } else { "quick_reply" };
    let details = json!({"display_text": button["displayText"], "id": button["id"],
        "url": button["url"]});
    json!({"name": name, "buttonParamsJson": details.to_string()})
}

impl State {
    /// The gateway's record of a message that it sent.
    pub(super) fn record_of(&self, sent: &EvolutionSent) -> Value {
        let key = match sent.remote_jid.strip_suffix("@s.whatsapp.net") {
            Some(phone) => self.key(phone, &sent.id, true),
            None => json!({"remoteJid": sent.remote_jid, "fromMe": true, "id": sent.id}),
        };
        let (kind, content) = content(sent);
        json!({"key": key, "pushName": "Você", "status": "PENDING", "message": { kind: content },
            "contextInfo": null, "messageType": kind, "messageTimestamp": self.seconds(),
            "instanceId": "uuid", "source": "unknown"})
    }
}
