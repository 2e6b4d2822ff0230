//! The phone of a LID, if the gateway knows it.

use recado_core::connections::Connection;
use recado_core::gateway::ProviderError;
use recado_core::transport::Transport;

use super::address::ChatAddress;
use super::api::{Api, RequestError, ask};
use crate::shared::{text, text_at};

/// The phone of a person with a LID; none if the gateway does not know it.
pub(super) async fn names(
    transport: &dyn Transport,
    connection: &Connection,
    name: &str,
) -> Result<Vec<String>, ProviderError> {
    let bare = name.strip_suffix("@lid").ok_or(ProviderError::Unsupported)?;
    let api = Api::of(connection);
    // It is written with its suffix everywhere else; gateways that expect the digits refuse that.
    let mut reported = ask(transport, api.get(&[api.session, "lids", name], &[])).await;
    if matches!(reported, Err(RequestError::Status(400 | 404, _))) {
        reported = ask(transport, api.get(&[api.session, "lids", bare], &[])).await;
    }
    let reported = match reported {
        Ok(reported) => reported,
        Err(RequestError::Status(404, _)) => return Ok(Vec::new()),
        Err(trouble) if trouble.is_not_implemented() => return Err(ProviderError::Unsupported),
        Err(trouble) => return Err(trouble.into()),
    };
    let phone = text(&reported, "pn").or_else(|| text_at(&reported, &["pn", "_serialized"]));
    let phone = phone.and_then(ChatAddress::person).filter(|phone| !phone.contains('@'));
    Ok(phone.into_iter().collect())
}
