//! A company with conversations, and members who sign in.

use serde_json::{Value, json};

use super::site::Site;
use crate::baseline::server::Server;
use crate::client::{Call, Client};
use crate::people;
use crate::stores::AnyError;
use crate::target::Target;

/// The password of every member.
const PASSWORD: &str = "nove-sapos-azuis";
/// Events in one call.
const BATCH: u64 = 100;

/// What was made.
#[derive(Debug)]
pub(super) struct Stage {
    emails: Vec<String>,
}

/// Makes a company in which so many people wrote one message, and so many members.
///
/// # Errors
///
/// When the server refuses something.
pub(super) async fn make(
    server: &Server,
    conversations: u64,
    members: usize,
) -> Result<Stage, AnyError> {
    let mut operator = Client::new(server.target(), server.token());
    let company = json!({"name": "Console", "plan": "enterprise"});
    let company = made(&mut operator, "/operator/v1/companies".to_owned(), company).await?;
    let base = format!("/operator/v1/companies/{}", word(&company, "id")?);
    let connection = json!({"kind": "qr", "name": "Loja", "identifier": "+551140000000",
        "gateway": "simulated", "settings": {"reports": false}});
    let connection = made(&mut operator, format!("{base}/connections"), connection).await?;
    let events = format!("{base}/connections/{}/events", word(&connection, "id")?);
    let now = crate::dataset::now().to_string();
    let mut random = fastrand::Rng::with_seed(1);
    let mut next = 0;
    while next < conversations {
        let end = conversations.min(next + BATCH);
        let batch: Vec<Value> = (next..end)
            .map(|n| {
                json!({"kind": "message", "provider_message_id": format!("m{n}"),
                    "timestamp": now, "from": people::phone(n).trim_start_matches('+'),
                    "push_name": people::name(&mut random),
                    "type": "text", "content": "Bom dia! O pedido de ontem já saiu?"})
            })
            .collect();
        made(&mut operator, events.clone(), json!({ "events": batch })).await?;
        next = end;
    }
    let mut emails = Vec::new();
    for n in 0..members {
        let email = format!("member{n}@example.com");
        let member = json!({"display_name": format!("Member {n}")});
        let member = made(&mut operator, format!("{base}/members"), member).await?;
        let path = format!("{base}/members/{}/login", word(&member, "id")?);
        // The first one sees every page.
        let role = if n == 0 { "owner" } else { "agent" };
        let link = made(&mut operator, path, json!({"email": email, "role": role})).await?;
        let url = word(&link, "url")?;
        let (_, token) = url.split_once('#').ok_or("a link without a token")?;
        let form = format!("token={token}&password={PASSWORD}");
        let chosen = Site::new(server.target()).post("/console/welcome/password", &form).await?;
        if chosen.status != 303 {
            return Err(format!("{email}: {}", chosen.head).into());
        }
        emails.push(email);
    }
    Ok(Stage { emails })
}

impl Stage {
    /// Signs everybody in.
    ///
    /// # Errors
    ///
    /// When somebody is refused.
    pub(super) async fn sign_in(&self, target: &Target) -> Result<Vec<Site>, AnyError> {
        let mut sites = Vec::new();
        for email in &self.emails {
            let mut site = Site::new(target);
            let form = format!("email={}&password={PASSWORD}", email.replace('@', "%40"));
            let answer = site.post("/console/sign-in", &form).await?;
            let cookie = answer.head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("set-cookie").then_some(value)
            });
            let cookie = cookie.and_then(|cookie| cookie.split(';').next());
            cookie.ok_or_else(|| format!("{email}: {}", answer.head))?.clone_into(&mut site.cookie);
            sites.push(site);
        }
        Ok(sites)
    }
}

async fn made(client: &mut Client, path: String, body: Value) -> Result<Value, AnyError> {
    data(client, Call::Post(path.into(), body.to_string())).await
}

async fn data(client: &mut Client, call: Call) -> Result<Value, AnyError> {
    let answer = client.call(&call).await?;
    if !(200..300).contains(&answer.status) {
        let said = String::from_utf8_lossy(answer.body);
        return Err(format!("{call:?}: {} {said}", answer.status).into());
    }
    let mut body: Value = serde_json::from_slice(answer.body)?;
    Ok(body["data"].take())
}

fn word(value: &Value, name: &str) -> Result<String, AnyError> {
    let word = value[name].as_str().ok_or_else(|| format!("no {name} in {value}"))?;
    Ok(word.to_owned())
}
