//! The audit log of the company.

use maud::{Markup, html};
use recado_core::audit::{ActorKind, AuditEntryView, AuditOutcome, AuditPage, AuditRequest};

use super::{AUDIT, parts};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge, empty};
use crate::view::field::{Field, FieldErrors, select};
use crate::view::layout::Area;
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

const PARAMETERS: &[&str] = &[
    "actor",
    "actor_id",
    "operation",
    "record_kind",
    "record_id",
    "outcome",
    "since",
    "until",
    "cursor",
    "limit",
];

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let request = AuditRequest::parse(&ask.query.params(PARAMETERS))?;
    let found = visit.recado.audit().list(Some(visit.company.id), &request).await?;
    let body = html! {
        (parts(visit, AUDIT))
        (filters(&ask))
        @if found.entries.is_empty() {
            (empty(&visit.t("operation-audit-none")))
        } @else {
            (listed(visit, &found.entries))
        }
        (ways(&ask, &found))
    };
    Reply::page(Area::Operation, visit.t("operation-audit"), body)
}

fn listed(visit: &Visit, entries: &[AuditEntryView]) -> Markup {
    let columns = ["when", "who", "from", "operation", "records", "outcome"]
        .map(|name| visit.t(&format!("operation-column-{name}")));
    let row = |entry: &AuditEntryView| {
        vec![
            when(visit, entry.at),
            html! {
                (visit.word_of("operation-actor", entry.actor.as_str()))
                @if let Some(id) = entry.actor_id { " " code.break { (id) } }
            },
            html! { (entry.from.as_deref().unwrap_or("–")) },
            html! { code { (entry.operation.as_str()) } },
            html! {
                @for record in &entry.records {
                    div { (record.kind) " " code.break { (record.id) } }
                }
                @let more = usize::try_from(entry.record_count).unwrap_or(usize::MAX);
                @if more > entry.records.len() { "+ " (more - entry.records.len()) }
            },
            outcome(visit, entry),
        ]
    };
    let rows: Vec<Vec<Markup>> = entries.iter().map(row).collect();
    table(&visit.t("operation-audit"), &columns, &rows)
}

fn outcome(visit: &Visit, entry: &AuditEntryView) -> Markup {
    let word = visit.word_of("operation-outcome", entry.outcome.as_str());
    let tone = match entry.outcome {
        AuditOutcome::Done => Tone::Good,
        AuditOutcome::Denied => Tone::Bad,
    };
    html! { (badge(tone, &word)) @if let Some(code) = entry.code { " " code { (code) } } }
}

fn filters(ask: &Ask) -> Markup {
    let visit = &ask.visit;
    let none = FieldErrors::default();
    let chosen = |name: &str| ask.query.get(name).unwrap_or_default();
    let label = |name: &str| visit.t(&format!("operation-column-{name}"));
    let any = || (String::new(), visit.t("operation-any"));
    let word = |group: &str, word: &str| (word.to_owned(), visit.word_of(group, word));
    let actors = ActorKind::ALL.iter().map(|actor| word("operation-actor", actor.as_str()));
    let actors: Vec<_> = std::iter::once(any()).chain(actors).collect();
    let outcomes = AuditOutcome::ALL.iter().map(|it| word("operation-outcome", it.as_str()));
    let outcomes: Vec<_> = std::iter::once(any()).chain(outcomes).collect();
    let field = |name: &str, label: String, kind: &str| {
        Field { name, label: &label, value: chosen(name), kind, is_required: false }.show(&none)
    };
    html! {
        form.filters method="get" action=(AUDIT) {
            (select("actor", &label("who"), &actors, chosen("actor"), &none))
            (select("outcome", &label("outcome"), &outcomes, chosen("outcome"), &none))
            (field("operation", label("operation"), "text"))
            (field("record_id", label("records"), "text"))
            (field("since", visit.t("operation-audit-since"), "date"))
            (field("until", visit.t("operation-audit-until"), "date"))
            button type="submit" { (visit.t("operation-filter")) }
        }
    }
}

/// The ways to the newest entries and to those before the ones that are shown.
fn ways(ask: &Ask, found: &AuditPage) -> Markup {
    let visit = &ask.visit;
    let to = |cursor: &str| format!("{AUDIT}{}", ask.query.with("cursor", cursor));
    html! {
        nav.pager aria-label=(visit.t("pager-label")) {
            @if ask.query.filled("cursor").is_some() {
                a href=(to("")) { (visit.t("operation-newest")) }
            }
            @if let Some(cursor) = &found.next_cursor {
                a rel="next" href=(to(cursor)) { (visit.t("operation-older")) }
            }
        }
    }
}
