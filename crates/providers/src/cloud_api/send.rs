//! Sending texts and templates.

use recado_core::contacts::is_scoped_id;
use recado_core::gateway::{Content, Outgoing, SendFailure, SendResult};
use recado_core::messages::DeliveryCode;
use recado_core::transport::Transport;
use serde_json::{Map, Value, json};

use super::answer;
use super::settings::ApiSettings;
use crate::shared::{SEND_IDLE, digits};

/// Sends one message with one request.
pub(super) async fn send(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    outgoing: &Outgoing,
) -> SendResult {
    let body = Value::Object(body(outgoing)?);
    let mut request = access.post(&[access.number, "messages"], &body);
    request.max_idle = Some(SEND_IDLE);
    match transport.send(request).await {
        Ok(answer) => answer::sent(access, &answer),
        Err(error) => Err(SendFailure::of_transport(&error)),
    }
}

fn body(outgoing: &Outgoing) -> Result<Map<String, Value>, SendFailure> {
    if outgoing.group.is_some() {
        let reported = "this kind of connection does not reach groups";
        return Err(SendFailure::refused(DeliveryCode::Group, reported));
    }
    let mut body = Map::new();
    body.insert("messaging_product".to_owned(), json!("whatsapp"));
    body.insert("recipient_type".to_owned(), json!("individual"));
    let (field, name) = recipient(&outgoing.recipient).ok_or_else(|| {
        let reported = "the recipient's name on the channel is neither a phone nor a user id";
        SendFailure::refused(DeliveryCode::RecipientUnreachable, reported)
    })?;
    body.insert(field.to_owned(), json!(name));
    let (kind, content) = content(&outgoing.content)?;
    body.insert("type".to_owned(), json!(kind));
    body.insert(kind.to_owned(), content);
    let reference = outgoing.reference.to_string();
    body.insert("biz_opaque_callback_data".to_owned(), json!(reference));
    Ok(body)
}

/// The field for a recipient and its value. A phone is always sent with `+`: to one without, the
/// API would add the sender's country code.
fn recipient(name: &str) -> Option<(&'static str, String)> {
    let name = name.trim();
    if is_scoped_id(name) {
        return Some(("recipient", name.to_owned()));
    }
    let bare = ["@c.us", "@s.whatsapp.net"].iter().find_map(|suffix| name.strip_suffix(suffix));
    let bare = bare.unwrap_or(name);
    let phone = digits(bare.strip_prefix('+').unwrap_or(bare))?;
    Some(("to", format!("+{phone}")))
}

fn content(content: &Content) -> Result<(&'static str, Value), SendFailure> {
    Ok(match content {
        Content::Text(text) => ("text", json!({"body": text, "preview_url": false})),
        Content::Template { name, language, variables, .. } => {
            let mut template = json!({"name": name, "language": {"code": language}});
            // A component without variables must be left out.
            if !variables.is_empty() {
                let parameters: Vec<Value> =
                    variables.iter().map(|value| json!({"type": "text", "text": value})).collect();
                template["components"] = json!([{"type": "body", "parameters": parameters}]);
            }
            ("template", template)
        }
        other => {
            let reported = format!("this adapter does not send {}", other.kind());
            return Err(SendFailure::refused(DeliveryCode::ContentRejected, reported));
        }
    })
}
