//! An inbound endpoint: its facts, a trial of its mapping, and its last calls (R437).

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::ids::InboundEndpointId;
use recado_core::inbound::{
    AuthMode, CallOutcome, EndpointView, RecentCall, Trial, TrialError, UpsertAction,
};
use recado_core::{Error, Rejection};
use serde_json::Map;

use super::endpoint_form::{as_lines, of_lines};
use super::endpoints::address;
use super::webhooks::state;
use super::{ENDPOINTS, parts};
use crate::ask::Ask;
use crate::i18n::Refused;
use crate::reply::{Outcome, Reply};
use crate::view::confirm::confirm;
use crate::view::empty::{Tone, badge, empty};
use crate::view::field::{FieldErrors, area};
use crate::view::layout::{Area, csrf_field};
use crate::view::secret::secret;
use crate::view::table::{facts, table};
use crate::view::toast::notice;
use crate::view::when::when;
use crate::visit::Visit;

/// A trial that was asked for.
#[derive(Default)]
struct Tried {
    mapping: Option<String>,
    body: String,
    errors: FieldErrors,
    outcome: Option<Markup>,
}

pub(super) async fn show(ask: Ask) -> Outcome {
    let id = ask.path.id("id", InboundEndpointId::parse);
    page(&ask.visit, id, html! {}, Tried::default()).await
}

async fn page(visit: &Visit, id: InboundEndpointId, news: Markup, tried: Tried) -> Outcome {
    let endpoint = visit.recado.inbound().get(visit.company.id, id).await?;
    let calls = visit.recado.inbound().recent_calls(id);
    let body = html! {
        (parts(visit, ENDPOINTS))
        (news)
        (known(visit, &endpoint))
        (acts(visit, &endpoint))
        h2 #trial { (visit.t("integration-trial")) }
        (trial_form(visit, &endpoint, &tried))
        h2 { (visit.t("integration-calls")) }
        p { (visit.t("integration-calls-about")) }
        @if calls.is_empty() {
            (empty(&visit.t("integration-calls-none")))
        } @else {
            (last(visit, &calls))
        }
    };
    Reply::page(Area::Integration, visit.t("integration-endpoint"), body)
}

fn known(visit: &Visit, endpoint: &EndpointView) -> Markup {
    let name = |key: &str| visit.t(&format!("integration-column-{key}"));
    facts(&[
        (name("url"), html! { code.break { (address(visit, &endpoint.slug)) } }),
        (name("mode"), html! { (visit.word_of("integration-mode", endpoint.auth_mode.as_str())) }),
        (name("state"), state(visit, endpoint.is_active)),
        (
            visit.t("integration-mapping"),
            html! { pre.code tabindex="0" { code { (as_lines(&endpoint.variable_mapping)) } } },
        ),
        (name("created"), when(visit, endpoint.created_at)),
        (name("updated"), when(visit, endpoint.updated_at)),
    ])
}

fn acts(visit: &Visit, endpoint: &EndpointView) -> Markup {
    let to = |act: &str| format!("{ENDPOINTS}/{}/{act}", endpoint.id);
    html! {
        div.actions {
            @if visit.may(OperatorAction::UpdateInboundEndpoint) {
                a.button href=(to("edit")) { (visit.t("integration-edit")) }
            }
            @if visit.may(OperatorAction::RotateInboundEndpointSecret)
                && endpoint.auth_mode != AuthMode::Public {
                (confirm(visit, &to("rotate"), &visit.t("integration-rotate"),
                    &visit.t("integration-endpoint-rotate-ask")))
            }
            @if visit.may(OperatorAction::DeleteInboundEndpoint) {
                (confirm(visit, &to("delete"), &visit.t("integration-delete"),
                    &visit.t("integration-endpoint-delete-ask")))
            }
        }
    }
}

fn trial_form(visit: &Visit, endpoint: &EndpointView, tried: &Tried) -> Markup {
    let mapping = tried.mapping.clone();
    let mapping = mapping.unwrap_or_else(|| as_lines(&endpoint.variable_mapping));
    let action = format!("{ENDPOINTS}/{}/trial#trial", endpoint.id);
    html! {
        p { (visit.t("integration-trial-about")) }
        @if let Some(outcome) = &tried.outcome { (outcome) }
        form method="post" action=(action) {
            (csrf_field(visit))
            (area("variable_mapping", &visit.t("integration-mapping"), &mapping, &tried.errors))
            (area("body", &visit.t("integration-trial-body"), &tried.body, &tried.errors))
            button type="submit" { (visit.t("integration-trial-run")) }
        }
    }
}

pub(super) async fn try_out(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", InboundEndpointId::parse);
    let text = |name: &str| ask.form.get(name).unwrap_or_default().to_owned();
    let (lines, body) = (text("variable_mapping"), text("body"));
    let mapping = of_lines(&lines);
    let trial = visit.recado.inbound();
    let trial = trial.trial(visit.company.id, id, Some(&mapping), body.as_bytes()).await;
    let (outcome, errors) = match trial {
        Ok(trial) => (Some(would(visit, &trial)), FieldErrors::default()),
        Err(Error::Rejected(TrialError::Refused(refusal))) => {
            let reason = visit.language.refused(&refusal);
            let reason = format!("{} {reason}", refusal.code().as_str());
            let text = visit.t_with("integration-trial-refused", &[("reason", reason.into())]);
            (Some(notice(Tone::Bad, &text)), FieldErrors::default())
        }
        Err(Error::Rejected(TrialError::Invalid(problems))) => {
            (None, FieldErrors::of(visit.language, &TrialError::Invalid(problems)))
        }
        Err(error) => return Err(error.into()),
    };
    page(visit, id, html! {}, Tried { mapping: Some(lines), body, errors, outcome }).await
}

/// What a call would do.
fn would(visit: &Visit, trial: &Trial) -> Markup {
    let key = match trial.would.action {
        UpsertAction::Created => "integration-trial-creates",
        UpsertAction::Updated => "integration-trial-updates",
    };
    let columns = [visit.t("integration-column-key"), visit.t("integration-column-value")];
    let rows: Vec<Vec<Markup>> = trial
        .found
        .iter()
        .map(|(key, value)| vec![html! { code { (key) } }, html! { (value) }])
        .collect();
    html! {
        div.notice.good role="status" {
            p { (visit.t(key)) }
            @if trial.would.action == UpsertAction::Updated {
                p { a href={ "/console/contacts/" (trial.would.contact_id) } {
                    (visit.t("integration-contact"))
                } }
            }
            @for field in &trial.would.new_pending_definitions {
                p { (visit.t_with("integration-trial-field",
                    &[("slug", field.slug.as_str().into())])) }
            }
            @for warning in &trial.would.warnings {
                p { code { (warning.code) } " " (visit.language.warning(warning)) }
            }
        }
        (table(&visit.t("integration-trial-found"), &columns, &rows))
    }
}

fn last(visit: &Visit, calls: &[RecentCall]) -> Markup {
    let columns =
        ["when", "times", "outcome"].map(|name| visit.t(&format!("integration-column-{name}")));
    let outcome = |outcome: &CallOutcome| match outcome {
        CallOutcome::Accepted { action, contact_id } => html! {
            (badge(Tone::Good, &visit.word_of("integration-upsert", action.as_str()))) " "
            a href={ "/console/contacts/" (contact_id) } { (visit.t("integration-contact")) }
        },
        CallOutcome::Refused { code, message } => html! {
            (badge(Tone::Bad, code.as_str())) " "
            (Refused::told(*code, message.as_str()).words(visit.language))
        },
    };
    let row = |call: &RecentCall| {
        vec![when(visit, call.at), html! { (call.times) }, outcome(&call.outcome)]
    };
    let rows: Vec<Vec<Markup>> = calls.iter().map(row).collect();
    table(&visit.t("integration-calls"), &columns, &rows)
}

pub(super) async fn rotate(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", InboundEndpointId::parse);
    let rotated = visit.recado.inbound().rotate_secret(visit.company.id, id, &Map::new()).await?;
    let news = secret(visit, &visit.t("integration-endpoint-secret"), &rotated.secret);
    page(visit, id, news, Tried::default()).await
}

pub(super) async fn delete(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", InboundEndpointId::parse);
    visit.recado.inbound().delete(visit.company.id, id).await?;
    Reply::goto(ENDPOINTS)
}
