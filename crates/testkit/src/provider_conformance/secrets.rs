//! Secrets are never shown.

use recado_core::connections::Connection;
use recado_core::gateway::ProviderWebhook;
use recado_core::transport::{OutboundRequest, OutboundResponse, TransportError};
use serde_json::{Value, json};

use super::ProviderCase;
use super::between::{Act, Between};
use super::logs::Logs;

/// The shortest secret that is masked.
const MASKED_FROM: usize = 6;

/// The names and texts of the secret settings, or of the others.
fn texts(case: &ProviderCase, secret: bool) -> Vec<(String, String)> {
    let described = case.description();
    let settings = described.settings().iter().filter(|setting| setting.is_secret() == secret);
    let texts = settings.filter_map(|setting| {
        let value = case.settings.get(setting.name())?.as_str()?;
        Some((setting.name().to_owned(), value.to_owned()))
    });
    texts.filter(|(_, value)| value.len() >= MASKED_FROM).collect()
}

/// A setting that is sent in a header such as `Authorization` is declared as a secret.
pub async fn what_is_sent_as_a_credential_is_declared_secret(case: &ProviderCase) {
    let (_, requests) = case.send(|_, _| Act::Pass).await;
    let secrets = texts(case, true);
    for (request, _) in requests {
        for (header, value) in request.headers {
            // A secret may contain the text of another setting.
            let value = secrets.iter().fold(value, |value, (_, secret)| value.replace(secret, ""));
            for (name, text) in texts(case, false) {
                let is_credential = ["key", "token", "auth", "secret"]
                    .iter()
                    .any(|word| header.to_ascii_lowercase().contains(word));
                assert!(
                    !is_credential || !value.contains(&text),
                    "{name} is sent as {header} and is not declared secret"
                );
            }
        }
    }
}

/// An answer that repeats the request and every secret.
fn echo(status: u16, request: &OutboundRequest, secrets: &[(String, String)]) -> OutboundResponse {
    let said: Vec<Value> = secrets.iter().map(|(_, secret)| json!(secret)).collect();
    let words = secrets.iter().map(|(_, secret)| secret.as_str()).collect::<Vec<_>>().join(" ");
    let body = json!({
        "message": words,
        "error": {"message": words, "code": 190, "error_data": {"details": words}},
        "exception": {"message": words},
        "response": {"message": [words]},
        "details": said,
        "request": String::from_utf8_lossy(&request.body),
    });
    OutboundResponse::new(status, body.to_string().into_bytes())
}

/// No failure, no `Debug` output of the adapter's types and no log line contains a secret, even if
/// the gateway repeats it.
pub async fn no_secret_is_shown_or_logged_whatever_the_gateway_repeats(case: &ProviderCase) {
    let logs = Logs::begin();
    let secrets = texts(case, true);
    let (described, connection) = (case.description(), case.connection());
    let mut shown = format!("{connection:?} {described:?} {:?}", connection.settings);
    let masked = |text: &str| connection.settings.masked(Some(&described), text);
    for status in [200, 400, 401, 403, 404, 422, 429, 500] {
        for only_the_send in [false, true] {
            let repeated = secrets.clone();
            let (sent, _) = case
                .send(move |request, sends| match only_the_send && !sends {
                    true => Act::Pass,
                    false => Act::Instead(Ok(echo(status, request, &repeated))),
                })
                .await;
            // The core masks the texts of gateways before it shows them (R125).
            shown.push_str(&masked(&format!("{sent:?}")));
        }
    }
    let address = secrets.iter().map(|(_, secret)| secret.as_str()).collect::<String>();
    let error = TransportError::InvalidUrl(address);
    let (sent, _) = case.send(move |_, _| Act::Instead(Err(error.clone()))).await;
    shown.push_str(&masked(&format!("{sent:?}")));
    shown.push_str(&questions(case, &connection, &secrets).await);
    let calls = case.sign.is_some() && case.has_webhook();
    for event in case.events.iter().filter(|_| calls) {
        let webhook = case.signed(&connection.settings, event.to_string());
        let wrong = ProviderWebhook { body: b"{}".to_vec(), ..webhook.clone() };
        for webhook in [webhook, wrong] {
            shown.push_str(&format!("{webhook:?} {:?}", case.take(&connection, &webhook)));
        }
    }
    let logged = logs.text();
    for (name, secret) in &secrets {
        assert!(!shown.contains(secret), "{name} is shown");
        assert!(!logged.contains(secret), "{name} is logged");
    }
}

/// The `Debug` output of the answers to all requests that do not send.
async fn questions(
    case: &ProviderCase,
    connection: &Connection,
    secrets: &[(String, String)],
) -> String {
    let described = case.description();
    let repeated = secrets.to_vec();
    let transport =
        Between::new(case, move |request, _| Act::Instead(Ok(echo(500, request, &repeated))));
    let provider = &case.provider;
    let said = [
        format!("{:?}", provider.status(&transport, connection).await),
        format!("{:?}", provider.groups(&transport, connection).await),
        format!("{:?}", provider.pairing(&transport, connection).await),
        format!("{:?}", provider.templates(&transport, connection).await),
        format!("{:?}", provider.names(&transport, connection, "123@lid").await),
    ];
    connection.settings.masked(Some(&described), &said.concat())
}
