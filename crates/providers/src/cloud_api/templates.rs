//! The templates of a business account (D69).

use std::collections::BTreeSet;

use recado_core::gateway::{ProviderError, ProviderTemplate};
use recado_core::templates::{TemplateCategory, TemplateStatus};
use recado_core::transport::Transport;
use serde_json::Value;

use super::answer::GraphError;
use super::people::plain_name;
use super::settings::ApiSettings;
use super::template_shape::{self, Shape};
use crate::shared::{MAX_ANSWER, array, at, parameter, parse, text, text_at, transport_text, word};

const FIELDS: &str = "name,language,status,category,components,parameter_format";
/// How many templates a page has.
const PAGE: &str = "100";
/// How many pages are read: somewhat more than an account may have.
const MAX_PAGES: usize = 70;

/// All templates of the connection's account. An incomplete list is a failure: templates that it
/// lacks would be treated as deleted.
pub(super) async fn templates(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
) -> Result<Vec<ProviderTemplate>, ProviderError> {
    let failed = |reported: &str| ProviderError::Failed(reported.to_owned());
    let account = access
        .account
        .ok_or_else(|| failed("templates are listed by account: set business_account_id"))?;
    let (mut listed, mut cursors) = (Vec::new(), BTreeSet::new());
    let mut after: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let page = page(transport, access, account, after.as_deref()).await?;
        let rows = page.get("data").and_then(Value::as_array);
        let rows = rows.ok_or_else(|| failed("the list of templates cannot be read"))?;
        listed.extend(rows.iter().filter_map(template));
        // The last page has cursors too, but no next one.
        let next = text_at(&page, &["paging", "next"]).unwrap_or_default();
        if next.is_empty() {
            return Ok(listed);
        }
        let cursor = text_at(&page, &["paging", "cursors", "after"]).map(str::to_owned);
        let cursor = cursor.filter(|after| !after.is_empty()).or_else(|| parameter(next, "after"));
        let cursor = cursor.ok_or_else(|| failed("a page of templates names no next one"))?;
        if !cursors.insert(cursor.clone()) {
            return Err(failed("the pages of templates go in a circle"));
        }
        after = Some(cursor);
    }
    Err(failed("the account has more templates than are read"))
}

async fn page(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    account: &str,
    after: Option<&str>,
) -> Result<Value, ProviderError> {
    let mut parameters = vec![("fields", FIELDS), ("limit", PAGE)];
    parameters.extend(after.map(|cursor| ("after", cursor)));
    let request =
        access.get(&[account, "message_templates"], &parameters).with_answer_limit(MAX_ANSWER);
    let answer = transport.send(request).await;
    let answer = answer.map_err(|error| ProviderError::Failed(transport_text(&error)))?;
    let body = parse(&answer.body);
    if let (200, Some(body)) = (answer.status, &body) {
        return Ok(body.clone());
    }
    let error = body.as_ref().and_then(|body| GraphError::of(access, body));
    Err(ProviderError::Failed(match error {
        Some(error) => format!("{}: {}", error.code, error.text),
        None => format!("HTTP {}", answer.status),
    }))
}

fn template(listed: &Value) -> Option<ProviderTemplate> {
    let components = array(listed, "components");
    let is = |component: &&Value, kind: &str| {
        text(component, "type").is_some_and(|given| given.eq_ignore_ascii_case(kind))
    };
    let body = components.iter().find(|component| is(component, "BODY"));
    let body = body.and_then(|component| text(component, "text")).unwrap_or_default();
    let format = at(listed, &["parameter_format"]).map(|it| it.as_str().unwrap_or_default());
    let Shape { components, needs } = template_shape::shape(components, format);
    Some(ProviderTemplate {
        provider_id: word(listed, "id").and_then(|id| plain_name(&id)),
        name: word(listed, "name")?,
        language: word(listed, "language")?,
        category: category(text(listed, "category").unwrap_or_default()),
        status: status(text(listed, "status").unwrap_or_default()),
        body: body.to_owned(),
        components,
        needs,
    })
}

/// The category. An unknown one becomes MARKETING, which has the strictest rules.
pub(super) fn category(word: &str) -> TemplateCategory {
    TemplateCategory::parse(&word.to_ascii_uppercase()).unwrap_or(TemplateCategory::Marketing)
}

/// The status: an unknown one becomes PAUSED, so that the template is not sent (D69).
pub(super) fn status(word: &str) -> TemplateStatus {
    match word.to_ascii_uppercase().as_str() {
        "APPROVED" | "REINSTATED" => TemplateStatus::Approved,
        "PENDING" => TemplateStatus::Pending,
        "REJECTED" => TemplateStatus::Rejected,
        _ => TemplateStatus::Paused,
    }
}
