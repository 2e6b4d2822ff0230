//! The lines to try. Each is complete and works as it is printed.

use recado_core::access::Company;
use recado_core::contacts::ContactFilter;
use recado_core::ids::{CompanyId, ConnectionId, ContactId, CustomFieldId};
use recado_core::page::PageRequest;
use recado_core::{Recado, Timestamp};

use super::automation;
use super::credentials::Credentials;
use super::random;
use crate::commands::{CommandError, refused};
use crate::start::RunningServer;

/// The lines, with comments between them.
pub(super) async fn to_try(
    recado: &Recado,
    running: &RunningServer,
    company: &Company,
    credentials: &Credentials,
) -> Result<Vec<String>, CommandError> {
    let filter = ContactFilter { is_group: Some(false), ..ContactFilter::default() };
    let page = PageRequest { page: 1, limit: 100 };
    let slice = recado.store().contact_page(company.id, &filter, page, false).await;
    let records = slice.map_err(CommandError::run)?.records;
    let contacts: Vec<ContactId> = records.iter().map(|record| record.contact.id).collect();
    let fields = recado.custom_fields().all(company.id).await.map_err(refused)?;
    let field = fields.first().map(|field| field.id);
    let key = credentials.key.as_ref().map(|key| key.expose()).unwrap_or_default();
    let (url, operator_url) = (&running.url(), &running.operator_url());
    let token = credentials.operator_token.expose();
    let lines = CurlLines { url, operator_url, key, token };
    let mut all = Vec::new();
    let connections = recado.connections().all(company.id).await.map_err(refused)?;
    let partner = records.iter().map(|record| &record.contact).find_map(|contact| {
        let free = contact.external_ai_enabled && !contact.is_blocked;
        let phone = contact.phone.as_ref().filter(|_| free && contact.opted_out_at.is_none())?;
        Some((contact.id, phone.as_str().to_owned()))
    });
    if let (Some(connection), Some((contact, phone))) = (connections.first(), partner) {
        let exchange = Exchange { company: company.id, connection: connection.id, contact, phone };
        all.extend(lines.exchange(&exchange, recado.now()));
    }
    all.extend(automation::lines(recado, &lines, company.id, credentials).await?);
    all.extend(lines.events(company.id));
    all.extend(lines.records(company, &contacts, field));
    Ok(all)
}

/// The contact and connection of a conversation.
struct Exchange {
    company: CompanyId,
    connection: ConnectionId,
    contact: ContactId,
    phone: String,
}

pub(super) const JSON: &str = " -H 'Content-Type: application/json' -d";

pub(super) struct CurlLines<'a> {
    pub(super) url: &'a str,
    operator_url: &'a str,
    key: &'a str,
    token: &'a str,
}

impl CurlLines<'_> {
    pub(super) fn public(&self, options: &str, path: &str) -> String {
        let Self { url, key, .. } = self;
        format!("curl -s {options}'{url}/api/v1{path}' -H 'Authorization: Bearer {key}'")
    }

    pub(super) fn operator(&self, options: &str, path: &str) -> String {
        let Self { operator_url: url, token, .. } = self;
        format!("curl -s {options}'{url}/operator/v1{path}' -H 'Authorization: Bearer {token}'")
    }

    /// A conversation: a send, a reply, resolving, and reopening.
    fn exchange(&self, exchange: &Exchange, now: Timestamp) -> Vec<String> {
        let Exchange { company, connection, contact, phone } = exchange;
        let mut lines = Vec::new();
        let mut add = |what: &str, line: String| lines.push(format!("# {what}\n{line}"));
        add(
            "send a text",
            format!(
                "{}{JSON} '{{\"to\": \"{phone}\", \"message\": \"Olá! Seu pedido saiu para entrega.\", \
                 \"connection_id\": \"{connection}\"}}'",
                self.public("-X POST ", "/send/message"),
            ),
        );
        add(
            "a moment later it was delivered, then read",
            self.public("", &format!("/contacts/{contact}/messages?limit=1")),
        );
        add(
            "operator: resolve the conversation",
            format!(
                "{}{JSON} '{{}}'",
                self.operator(
                    "-X POST ",
                    &format!("/companies/{company}/contacts/{contact}/close")
                ),
            ),
        );
        let from = phone.trim_start_matches('+');
        add(
            "operator: a reply comes in, as a gateway would tell of it",
            format!(
                "{}{JSON} '{{\"events\": [{{\"kind\": \"message\", \"from\": \"{from}\", \"type\": \"text\", \
                 \"content\": \"Oba, obrigado!\", \"provider_message_id\": \"demo.{}\", \
                 \"timestamp\": \"{now}\"}}]}}'",
                self.operator(
                    "-X POST ",
                    &format!("/companies/{company}/connections/{connection}/events"),
                ),
                now.millis(),
            ),
        );
        add(
            "the conversation is open again, and the AI is off",
            self.public("", &format!("/contacts/{contact}")),
        );
        add("all messages, newest first", self.public("", "/messages?limit=5"));
        add("those that failed", self.public("", "/messages?status=failed"));
        add(
            "operator: read the conversation",
            format!(
                "{}{JSON} '{{}}'",
                self.operator("-X POST ", &format!("/companies/{company}/contacts/{contact}/read")),
            ),
        );
        add(
            "operator: connections",
            self.operator("", &format!("/companies/{company}/connections")),
        );
        lines
    }

    /// Events: webhooks and the journal.
    fn events(&self, company: CompanyId) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |what: &str, line: String| lines.push(format!("# {what}\n{line}"));
        add("all that happened so far, oldest first", self.public("", "/events?limit=5"));
        add(
            "operator: have it posted to a program on port 4000, signed with the secret answered",
            format!(
                "{}{JSON} '{{\"url\": \"http://127.0.0.1:4000/\", \"events\": [\"*\"]}}'",
                self.operator("-X POST ", &format!("/companies/{company}/webhooks")),
            ),
        );
        add(
            "operator: what became of the deliveries",
            self.operator("", &format!("/companies/{company}/deliveries?limit=5")),
        );
        lines
    }

    /// Contacts and what belongs to them.
    fn records(
        &self,
        company: &Company,
        contacts: &[ContactId],
        field: Option<CustomFieldId>,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |what: &str, line: String| lines.push(format!("# {what}\n{line}"));
        let phone = fresh_phone();
        add(
            "make a contact",
            format!(
                "{}{JSON} '{{\"phone\": \"{phone}\", \"name\": \"Zélia Sampaio\", \
             \"email\": \"{}\"}}'",
                self.public("-X POST ", "/contacts"),
                format_args!("zelia.{}@example.com", &phone[phone.len() - 6..]),
            ),
        );
        add("a page of contacts", self.public("", "/contacts?limit=5"));
        add("filter and search", self.public("", "/contacts?inbox_status=open&search=joao"));
        add(
            "export, in the order of creation",
            self.public("", "/contacts?order_by=created_at&limit=10"),
        );
        if let Some(contact) = contacts.first() {
            add("one contact", self.public("", &format!("/contacts/{contact}")));
            let fields = field
                .map(|field| format!(", \"custom_fields\": {{\"{field}\": \"Indicação\"}}"))
                .unwrap_or_default();
            add(
                "change it",
                format!(
                    "{}{JSON} '{{\"city\": \"Olinda\"{fields}}}'",
                    self.public("-X PATCH ", &format!("/contacts/{contact}")),
                ),
            );
        }
        if let Some(contact) = contacts.last().filter(|_| contacts.len() > 1) {
            add("delete another", self.public("-X DELETE ", &format!("/contacts/{contact}")));
        }
        add("custom fields", self.public("", "/custom-fields"));
        add("lists", self.public("", "/lists"));
        let id = company.id;
        add("operator: companies", self.operator("", "/companies"));
        add(
            "operator: another key",
            format!(
                "{}{JSON} '{{\"name\": \"read only\", \"scopes\": [\"contacts:read\"]}}'",
                self.operator("-X POST ", &format!("/companies/{id}/keys")),
            ),
        );
        if let Some(contact) = contacts.first() {
            add(
                "operator: a document",
                format!(
                    "{} --data-binary 'Olá'",
                    self.operator(
                        "-X POST ",
                        &format!("/companies/{id}/contacts/{contact}/documents?filename=ola.txt"),
                    ),
                ),
            );
            add(
                "operator: a tracked link",
                format!(
                    "{}{JSON} '{{\"contact_id\": \"{contact}\", \"url\": \"https://example.com\"}}'",
                    self.operator("-X POST ", &format!("/companies/{id}/links")),
                ),
            );
        }
        lines
    }
}

/// A random mobile of São Paulo that no sample contact has, so that the line works at each start.
fn fresh_phone() -> String {
    let chance = u128::from_be_bytes(random()) % 10_000_000;
    format!("+55119 8{chance:07}").replace(' ', "")
}
