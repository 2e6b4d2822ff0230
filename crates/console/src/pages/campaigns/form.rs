//! The form of a campaign.

use maud::{Markup, html};
use recado_core::access::TimeZone;
use recado_core::campaigns::CampaignRecord;
use recado_core::templates::TemplateStatus;

use super::body::{json_text, local_text, variables_text};
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::view::field::{Field, FieldErrors, area, select};
use crate::view::layout::csrf_field;
use crate::visit::Visit;

const NAMES: [&str; 12] = [
    "name",
    "template_id",
    "list_id",
    "connection_id",
    "variables",
    "header",
    "buttons",
    "messages_per_second",
    "prosas_per_message",
    "cost_brl_per_message",
    "scheduled_at",
    "send_between",
];

/// What the form of a campaign shows at first.
pub(super) fn of(record: &CampaignRecord, zone: TimeZone) -> Fields {
    let campaign = &record.campaign;
    let pairs = [
        ("name", campaign.name.clone()),
        ("template_id", campaign.template_id.to_string()),
        ("list_id", campaign.list_id.to_string()),
        ("connection_id", record.connection_id.map(|id| id.to_string()).unwrap_or_default()),
        ("variables", variables_text(record)),
        ("header", json_text(&record.header)),
        ("buttons", json_text(&record.buttons)),
        ("messages_per_second", record.messages_per_second.to_string()),
        ("prosas_per_message", record.prosas_per_message.to_string()),
        ("cost_brl_per_message", record.cost_brl_per_message.to_string()),
        ("scheduled_at", record.scheduled_at.map(|at| local_text(zone, at)).unwrap_or_default()),
        ("send_between", json_text(&record.send_between)),
        ("stop_after_failures", json_text(&record.stop_after_failures)),
    ];
    Fields::new(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The form. The list of a campaign that `has_begun` cannot be chosen any more.
pub(super) async fn form(
    visit: &Visit,
    action: &str,
    fields: &Fields,
    has_begun: bool,
    errors: &FieldErrors,
) -> Result<Markup, Refusal> {
    let company = visit.company.id;
    let value = |name: &str| fields.get(name).unwrap_or_default().to_owned();
    let label = |name: &str| visit.t(&format!("campaigns-field-{name}"));
    let templates = visit.recado.templates().all(company).await?;
    let current = value("template_id");
    let templates: Vec<(String, String)> = templates
        .iter()
        .filter(|t| t.status == TemplateStatus::Approved || t.id.to_string() == current)
        .map(|t| (t.id.to_string(), format!("{} ({})", t.name, t.language)))
        .collect();
    let lists = visit.recado.lists().all(company).await?;
    let lists: Vec<(String, String)> = lists
        .iter()
        .map(|list| (list.id.to_string(), format!("{} ({})", list.name, list.contacts_count)))
        .collect();
    let mut connections = vec![(String::new(), visit.t("campaigns-any-connection"))];
    let known = visit.recado.connections().all(company).await?;
    connections.extend(known.iter().map(|one| (one.id.to_string(), one.name.clone())));
    let line = |name: &'static str, kind: &'static str, is_required: bool| {
        let (label, value) = (label(name), value(name));
        Field { name, label: &label, value: &value, kind, is_required }.show(errors)
    };
    let several = |name: &str| area(name, &label(name), &value(name), errors);
    let choice = |name: &str, options: &[(String, String)]| {
        select(name, &label(name), options, &value(name), errors)
    };
    let mut shown = NAMES.to_vec();
    shown.push("stop_after_failures");
    Ok(html! {
        form.stacked method="post" action=(action) {
            (csrf_field(visit))
            (errors.summary(&shown))
            (line("name", "text", true))
            (choice("template_id", &templates))
            @if !has_begun { (choice("list_id", &lists)) }
            (choice("connection_id", &connections))
            (several("variables"))
            p.hint { (visit.t("campaigns-variables-hint")) }
            (line("scheduled_at", "datetime-local", false))
            (line("messages_per_second", "number", false))
            (line("prosas_per_message", "text", false))
            (line("cost_brl_per_message", "text", false))
            details open[errors.whole.is_none() && shown.iter().any(|n| errors.get(n).is_some())] {
                summary { (visit.t("campaigns-more")) }
                p.hint { (visit.t("campaigns-json-hint")) }
                (several("header"))
                (several("buttons"))
                (several("send_between"))
                (several("stop_after_failures"))
            }
            div.buttons { button type="submit" { (visit.t("campaigns-save")) } }
        }
    })
}
