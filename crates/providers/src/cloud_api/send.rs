//! Sending: a file is uploaded first, then one request sends.

use recado_core::contacts::is_scoped_id;
use recado_core::gateway::{Content, Outgoing, SendFailure, SendResult};
use recado_core::messages::DeliveryCode;
use recado_core::transport::Transport;
use serde_json::{Map, Value, json};

use super::budget::TimeBudget;
use super::settings::ApiSettings;
use super::upload::UploadedFiles;
use super::{answer, outbound};
use crate::shared::{SEND_IDLE, digits};

/// Sends one message with one request.
pub(super) async fn send(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    uploaded: &UploadedFiles,
    outgoing: &Outgoing,
) -> SendResult {
    let mut body = envelope(outgoing)?;
    if let Some(reason) = outbound::unable(&outgoing.content) {
        return Err(SendFailure::refused(DeliveryCode::ContentRejected, reason));
    }
    let file = outbound::file_of(&outgoing.content);
    let budget = TimeBudget::new(transport, access.timeout, file.is_some());
    let id = match file {
        Some(file) => Some(uploaded.id_of(&budget, access, outgoing.reference, file).await?),
        None => None,
    };
    let (kind, content) = outbound::content(&outgoing.content, id.as_deref());
    body.insert("type".to_owned(), json!(kind));
    body.insert(kind.to_owned(), content);
    let mut request = access.post(&[access.number, "messages"], &Value::Object(body));
    request.max_idle = Some(SEND_IDLE);
    request.timeout = budget.for_the_send();
    let sent = match transport.send(request).await {
        Ok(answer) => answer::sent(access, &answer),
        Err(error) => Err(SendFailure::of_transport(&error)),
    };
    if let (Some(file), Err(SendFailure::Refused(_))) = (file, &sent) {
        uploaded.forget(access, file);
    }
    sent
}

/// What stands around the content.
fn envelope(outgoing: &Outgoing) -> Result<Map<String, Value>, SendFailure> {
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
    // A reaction names its message itself, and the API takes none that quotes.
    let quotes = !matches!(outgoing.content, Content::Reaction(_));
    if let Some(quoted) = outgoing.quoted.as_ref().filter(|_| quotes) {
        let context = json!({"message_id": quoted.provider_id.as_str()});
        body.insert("context".to_owned(), context);
    }
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
