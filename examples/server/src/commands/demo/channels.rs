//! The sample data of the demonstration: connections, a template and messages.

use recado_core::access::Company;
use recado_core::ids::{CompanyId, ConnectionId, ContactId};
use recado_core::messages::ImportMessageError;
use recado_core::secret::SecretText;
use recado_core::{Error, Recado};
use serde_json::json;

use super::credentials::Credentials;
use super::sample::{CONNECTIONS, DIALOGUES, PEOPLE, TEMPLATE};
use super::seed::{ago, object};
use crate::commands::{CommandError, refused};

/// The time between two messages of a conversation.
const PAUSE_SECONDS: u64 = 95;

/// The connections, made if there is none at all.
pub(super) async fn connections(
    recado: &Recado,
    company: CompanyId,
) -> Result<Vec<ConnectionId>, CommandError> {
    let all = recado.connections().all(company).await.map_err(refused)?;
    if !all.is_empty() {
        return Ok(all.iter().map(|connection| connection.id).collect());
    }
    let mut ids = Vec::new();
    for (kind, name, identifier) in CONNECTIONS {
        let body = json!({
            "kind": kind,
            "name": name,
            "identifier": identifier,
            "gateway": "simulated",
        });
        let made = recado.connections().create(company, &object(body)).await.map_err(refused)?;
        ids.push(made.id);
    }
    Ok(ids)
}

/// The template, made if there is none. It names its connection, as otherwise one would have to be
/// chosen for new contacts. Its token is shown only once, so one that the credentials lack is
/// replaced.
pub(super) async fn template(
    recado: &Recado,
    company: CompanyId,
    credentials: &mut Credentials,
) -> Result<(), CommandError> {
    let (name, category, text) = TEMPLATE;
    let all = recado.templates().all(company).await.map_err(refused)?;
    if let Some(known) = all.iter().find(|template| template.name == name) {
        if credentials.template_token.is_none() {
            let shown = recado.templates().rotate_token(company, known.id).await;
            let token = shown.map_err(refused)?.token.to_string();
            credentials.template_token = Some(SecretText::new(token));
        }
        return Ok(());
    }
    if !all.is_empty() {
        return Ok(());
    }
    let connections = recado.connections().all(company).await.map_err(refused)?;
    let body = json!({
        "name": name,
        "category": category,
        "body": text,
        "status": "APPROVED",
        "connection_id": connections.first().map(|connection| connection.id),
    });
    let made = recado.templates().create(company, &object(body)).await.map_err(refused)?;
    credentials.template_token = Some(SecretText::new(made.token.to_string()));
    Ok(())
}

/// A conversation for each sample contact that has one, on one of the connections.
pub(super) async fn messages(
    recado: &Recado,
    company: &Company,
    connections: &[ConnectionId],
    contacts: &[ContactId],
) -> Result<(), CommandError> {
    let now = recado.now();
    for (index, (person, contact)) in PEOPLE.iter().zip(contacts).enumerate() {
        let (Some(hours), false) = (person.quiet_hours, connections.is_empty()) else { continue };
        let connection = connections[index % connections.len()];
        let dialogue = DIALOGUES[index % DIALOGUES.len()];
        let newest = hours * 3600 + index as u64;
        for (place, (inbound, text)) in dialogue.iter().enumerate() {
            let at = ago(now, newest + (dialogue.len() - 1 - place) as u64 * PAUSE_SECONDS);
            let body = json!({
                "contact_id": contact,
                "connection_id": connection,
                "direction": if *inbound { "inbound" } else { "outbound" },
                "type": "text",
                "content": text,
                "status": if *inbound { "received" } else { "read" },
                "sender_type": if *inbound { "contact" } else { "agent" },
                // Fixed, so that a second start recognizes the messages of an interrupted first
                // one.
                "wamid": format!("demo.{index}.{place}"),
                "created_at": at,
                "timestamp": at,
            });
            match recado.messages().import(company.id, &object(body)).await {
                Ok(_) | Err(Error::Rejected(ImportMessageError::Exists { .. })) => {}
                Err(error) => return Err(refused(error)),
            }
        }
    }
    Ok(())
}
