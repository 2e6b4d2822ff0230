//! The list of templates, and reading those of a connection from its gateway.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::connections::Capability;
use recado_core::ids::ConnectionId;
use recado_core::templates::{TemplateStatus, TemplateView};
use recado_core::{Error, Kind, Rejection};

use super::LIST;
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge, empty};
use crate::view::field::{FieldErrors, select};
use crate::view::layout::{Area, csrf_field};
use crate::view::table::table;
use crate::view::toast::notice;
use crate::view::when::when_short;
use crate::visit::Visit;

/// Whether a template may be sent.
pub(super) fn state(visit: &Visit, status: TemplateStatus) -> Markup {
    let tone = match status {
        TemplateStatus::Approved => Tone::Good,
        TemplateStatus::Pending | TemplateStatus::Paused => Tone::Warn,
        TemplateStatus::Rejected => Tone::Bad,
    };
    badge(tone, &visit.word_of("templates-status", &status.as_str().to_lowercase()))
}

/// What a template is for.
pub(super) fn category(visit: &Visit, template: &TemplateView) -> String {
    visit.word_of("templates-category", &template.category.as_str().to_lowercase())
}

pub(super) async fn list(ask: Ask) -> Outcome {
    page(&ask.visit, html! {}).await
}

async fn page(visit: &Visit, news: Markup) -> Outcome {
    let all = visit.recado.templates().all(visit.company.id).await?;
    let columns = ["name", "language", "category", "status", "updated"]
        .map(|name| visit.t(&format!("templates-column-{name}")));
    let row = |template: &TemplateView| -> Vec<Markup> {
        vec![
            html! { a href={ (LIST) "/" (template.id) } { bdi { (template.name) } } },
            html! { (template.language) },
            html! { (category(visit, template)) },
            state(visit, template.status),
            when_short(visit, template.updated_at),
        ]
    };
    let rows: Vec<Vec<Markup>> = all.iter().map(row).collect();
    let body = html! {
        (news)
        @if visit.may(OperatorAction::SyncTemplates) { (reading(visit).await?) }
        @if rows.is_empty() {
            (empty(&visit.t("templates-empty")))
        } @else {
            (table(&visit.t("templates-title"), &columns, &rows))
        }
    };
    Reply::page(Area::Templates, visit.t("templates-title"), body)
}

/// The form that reads the templates of a connection; none where no gateway has any.
async fn reading(visit: &Visit) -> Result<Markup, Refusal> {
    let gateways = visit.recado.connections().gateways();
    let with = gateways.iter().filter(|one| one.can.contains(&Capability::TemplateList));
    let with: Vec<_> = with.map(|gateway| &gateway.name).collect();
    let connections = visit.recado.connections().all(visit.company.id).await?;
    let options: Vec<(String, String)> = connections
        .iter()
        .filter(|connection| with.contains(&&connection.gateway))
        .map(|connection| (connection.id.to_string(), connection.name.clone()))
        .collect();
    let label = visit.t("templates-connection");
    Ok(html! {
        @if !options.is_empty() {
            form.stacked method="post" action={ (LIST) "/sync" } {
                (csrf_field(visit))
                (select("connection_id", &label, &options, "", &FieldErrors::default()))
                button.quiet type="submit" { (visit.t("templates-sync")) }
            }
        }
    })
}

pub(super) async fn sync(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let connection = ask.form.get("connection_id").and_then(ConnectionId::parse);
    let connection = connection.ok_or(Refusal::NotFound)?;
    let news = match visit.recado.templates().sync(visit.company.id, connection).await {
        Ok(read) => {
            let count = u64::try_from(read.len()).unwrap_or_default();
            let text = visit.t_with("templates-synced", &[("count", count.into())]);
            notice(Tone::Good, &text)
        }
        Err(Error::Rejected(refused)) if refused.kind() != Kind::NotFound => {
            notice(Tone::Bad, &visit.language.refused(&refused))
        }
        Err(error) => return Err(error.into()),
    };
    page(visit, news).await
}
