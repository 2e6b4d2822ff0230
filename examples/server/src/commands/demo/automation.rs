//! The demonstration's inbound endpoint, template dispatch and campaign, and the lines to try them.

use recado_core::Recado;
use recado_core::ids::CompanyId;
use recado_core::inbound::RotateEndpointSecret;
use recado_core::secret::SecretText;
use recado_core::templates::TemplateStatus;
use serde_json::json;

use super::credentials::Credentials;
use super::lines::{CurlLines, JSON};
use super::random;
use super::sample::{ENDPOINT, LISTS, TEMPLATE};
use super::seed::object;
use crate::commands::{CommandError, refused};

/// The phone in these lines; no sample contact has it.
const PHONE: &str = "+5511980001234";
const CAMPAIGN: &str = "Boas-vindas";

/// The endpoint, made if there is none. Its secret is shown only once, so one that the credentials
/// lack is replaced.
pub(super) async fn endpoint(
    recado: &Recado,
    company: CompanyId,
    credentials: &mut Credentials,
) -> Result<(), CommandError> {
    let all = recado.inbound().all(company).await.map_err(refused)?;
    if let Some(known) = all.iter().find(|endpoint| endpoint.slug == ENDPOINT) {
        if credentials.endpoint_secret.is_none() {
            let rotation = RotateEndpointSecret::default();
            let shown = recado.inbound().rotate_secret(company, known.id, rotation).await;
            credentials.endpoint_secret = Some(SecretText::new(shown.map_err(refused)?.secret));
        }
        return Ok(());
    }
    if !all.is_empty() {
        return Ok(());
    }
    let body = json!({
        "slug": ENDPOINT,
        "variable_mapping": {
            "phone_number": "$.lead.telefone",
            "first_name": "$.lead.nome",
            "city": "$.lead.cidade",
            "origem": "$.origem",
        },
    });
    let made = recado.inbound().create(company, &object(body)).await.map_err(refused)?;
    credentials.endpoint_secret = Some(SecretText::new(made.secret));
    Ok(())
}

/// A campaign to start, made if there is none and its list and template exist.
pub(super) async fn campaign(recado: &Recado, company: CompanyId) -> Result<(), CommandError> {
    if !recado.campaigns().all(company).await.map_err(refused)?.is_empty() {
        return Ok(());
    }
    let lists = recado.lists().all(company).await.map_err(refused)?;
    let templates = recado.templates().all(company).await.map_err(refused)?;
    let connections = recado.connections().all(company).await.map_err(refused)?;
    let list = lists.iter().find(|list| list.name == LISTS[0]);
    let template = templates.iter().find(|template| template.name == TEMPLATE.0);
    let (Some(list), Some(template), Some(connection)) = (list, template, connections.first())
    else {
        return Ok(());
    };
    let body = json!({
        "name": CAMPAIGN,
        "template_id": template.id,
        "list_id": list.id,
        "connection_id": connection.id,
        "variables": {"1": "cliente", "2": "de maio"},
        "cost_brl_per_message": 0.35,
    });
    recado.campaigns().create(company, &object(body)).await.map(drop).map_err(refused)
}

/// The lines to try them.
pub(super) async fn lines(
    recado: &Recado,
    to: &CurlLines<'_>,
    company: CompanyId,
    credentials: &Credentials,
) -> Result<Vec<String>, CommandError> {
    let mut lines = Vec::new();
    let mut add = |what: &str, line: String| lines.push(format!("# {what}\n{line}"));
    let url = to.url;
    let endpoints = recado.inbound().all(company).await.map_err(refused)?;
    let is_there = endpoints.iter().any(|endpoint| endpoint.slug == ENDPOINT);
    if let Some(secret) = credentials.endpoint_secret.as_ref().filter(|_| is_there) {
        let secret = secret.expose();
        add(
            "another system reports a person, who becomes a contact or is updated",
            format!(
                "curl -s -X POST '{url}/api/webhooks/incoming/{ENDPOINT}' \
                 -H 'X-Service-Secret: {secret}'{JSON} '{{\"origem\": \"Site\", \"lead\": \
                 {{\"nome\": \"Íris Fontoura\", \"telefone\": \"{PHONE}\", \
                 \"cidade\": \"Recife\"}}}}'"
            ),
        );
    }
    let templates = recado.templates().all(company).await.map_err(refused)?;
    let connections = recado.connections().all(company).await.map_err(refused)?;
    let approved = templates.iter().find(|template| {
        template.name == TEMPLATE.0 && template.status == TemplateStatus::Approved
    });
    if let (Some(template), Some(connection)) = (approved, connections.first()) {
        let (name, connection) = (&template.name, connection.id);
        // A new one at each start, as the same dispatch is refused for ten minutes.
        let order = u128::from_be_bytes(random()) % 1_000_000;
        add(
            "send her a template",
            format!(
                "{}{JSON} '{{\"to\": \"{PHONE}\", \"template\": \"{name}\", \"variables\": \
                 {{\"1\": \"Íris\", \"2\": \"{order}\"}}, \"connection_id\": \"{connection}\"}}'",
                to.public("-X POST ", "/send/template"),
            ),
        );
        if let Some(token) = credentials.template_token.as_ref().map(SecretText::expose) {
            add(
                "another system has it sent by the token alone; the same again is refused for a \
                 while",
                format!(
                    "curl -s -X POST '{url}/api/webhooks/template-dispatch/{token}'{JSON} \
                     '{{\"phone_number\": \"{PHONE}\", \"variables\": {{\"1\": \"Íris\", \
                     \"2\": \"{order}\"}}}}'"
                ),
            );
        }
    }
    let campaigns = recado.campaigns().all(company).await.map_err(refused)?;
    if let Some(campaign) = campaigns.iter().find(|known| known.campaign.name == CAMPAIGN) {
        let id = campaign.campaign.id;
        add(
            "operator: start the campaign: a template to everybody in a list, once",
            format!(
                "{}{JSON} '{{}}'",
                to.operator("-X POST ", &format!("/companies/{company}/campaigns/{id}/start")),
            ),
        );
        add("how far it is", to.public("", "/campaigns"));
        add("and with whom", to.public("", &format!("/campaigns/{id}/recipients?limit=5")));
    }
    Ok(lines)
}
