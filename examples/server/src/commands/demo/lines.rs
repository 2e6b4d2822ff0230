//! The lines to try. Each is whole and works as it is printed.

use recado_core::Recado;
use recado_core::access::Company;
use recado_core::contacts::ContactFilter;
use recado_core::ids::{ContactId, CustomFieldId};
use recado_core::page::PageRequest;

use super::credentials::Credentials;
use crate::commands::{Failure, refused};
use crate::random_ids::random;

/// The lines, with comments between them.
pub(super) async fn to_try(
    recado: &Recado,
    url: &str,
    company: &Company,
    credentials: &Credentials,
) -> Result<Vec<String>, Failure> {
    let filter = ContactFilter { is_group: Some(false), ..ContactFilter::default() };
    let page = PageRequest { page: 1, limit: 100 };
    let slice = recado.store().contact_page(company.id, &filter, page, false).await;
    let contacts: Vec<ContactId> =
        slice.map_err(Failure::run)?.records.iter().map(|r| r.contact.id).collect();
    let fields = recado.custom_fields().all(company.id).await.map_err(refused)?;
    let field = fields.first().map(|field| field.id);
    let key = credentials.key.as_ref().map(|key| key.expose()).unwrap_or_default();
    let lines = Lines { url, key, token: credentials.operator_token.expose() };
    Ok(lines.all(company, &contacts, field))
}

struct Lines<'a> {
    url: &'a str,
    key: &'a str,
    token: &'a str,
}

impl Lines<'_> {
    fn public(&self, options: &str, path: &str) -> String {
        let Self { url, key, .. } = self;
        format!("curl -s {options}'{url}/api/v1{path}' -H 'Authorization: Bearer {key}'")
    }

    fn operator(&self, options: &str, path: &str) -> String {
        let Self { url, token, .. } = self;
        format!("curl -s {options}'{url}/operator/v1{path}' -H 'Authorization: Bearer {token}'")
    }

    fn all(
        &self,
        company: &Company,
        contacts: &[ContactId],
        field: Option<CustomFieldId>,
    ) -> Vec<String> {
        const JSON: &str = " -H 'Content-Type: application/json' -d";
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

/// A mobile of São Paulo that is not among the samples, so that the line works at each start.
fn fresh_phone() -> String {
    let chance = u128::from_be_bytes(random()) % 10_000_000;
    format!("+55119 8{chance:07}").replace(' ', "")
}
