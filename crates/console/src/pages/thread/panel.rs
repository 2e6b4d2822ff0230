//! The panel beside a conversation: who it is, who answers, and what can be done (R424, R425).

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::contacts::{InboxStatus, OperatorContact};
use recado_core::conversations::AiMode;

use super::page_of;
use crate::refusal::Refusal;
use crate::view::confirm::confirm;
use crate::view::empty::{Tone, badge};
use crate::view::field::{FieldErrors, select};
use crate::view::layout::csrf_field;
use crate::view::table::facts;
use crate::view::when::when;
use crate::visit::Visit;

/// For how many hours the AI can be paused.
const PAUSES: [u32; 4] = [1, 4, 24, 168];

/// The panel, for the roles that get a contact by the operator API (R418). As a part of a piece it
/// takes the place of the one that is shown.
pub(super) async fn panel(
    visit: &Visit,
    contact: &OperatorContact,
    is_piece: bool,
) -> Result<Markup, Refusal> {
    if !visit.may(OperatorAction::GetOperatorContact) {
        return Ok(html! {});
    }
    let company = visit.company.id;
    let members = visit.recado.access().members(company).await?;
    let reasons = visit.recado.tags().close_reasons(company).await?;
    let summary = &contact.detail.summary;
    let assigned = summary.assigned_to_member_id.map(|id| id.to_string()).unwrap_or_default();
    let nobody = std::iter::once((String::new(), visit.t("thread-nobody")));
    let members: Vec<(String, String)> = nobody
        .chain(members.iter().map(|member| (member.id.to_string(), member.display_name.clone())))
        .collect();
    let no_reason = std::iter::once((String::new(), visit.t("thread-close-no-reason")));
    let reasons: Vec<(String, String)> = no_reason
        .chain(reasons.iter().map(|reason| (reason.id.to_string(), reason.name.clone())))
        .collect();
    let act = Act { visit, page: page_of(summary.id) };
    let none = FieldErrors::default();
    let is_open = summary.inbox_status == InboxStatus::Open;
    let unread = visit.recado.conversations().unread(company, summary.id).await?;
    Ok(html! {
        aside #panel .panel aria-labelledby="panel-title"
            hx-swap-oob=[is_piece.then_some("true")] {
            h2 #panel-title { (visit.t("thread-panel")) }
            (facts(&known(visit, contact)))
            @if unread > 0 {
                p { (badge(Tone::Warn,
                    &visit.t_with("thread-unread", &[("count", unread.into())]))) }
            }
            (standing(visit, contact, &act))
            section aria-labelledby="panel-acts" {
                h3 #panel-acts { (visit.t("thread-acts")) }
                @if visit.member.is_some() {
                    (act.form("take-over", "t", OperatorAction::TakeOverConversation,
                        if is_open { "thread-take-over" } else { "thread-reopen" }, html! {}))
                }
                (act.form("handoff", "h", OperatorAction::HandOffConversation, "thread-hand-off",
                    html! {}))
                (act.form("assign", "a", OperatorAction::AssignConversation, "thread-assign",
                    select("member_id", &visit.t("thread-assignee"), &members, &assigned, &none)))
                @if is_open {
                    (act.form("close", "c", OperatorAction::CloseConversation, "thread-close",
                        select("close_reason_id", &visit.t("thread-close-reason"), &reasons,
                            "", &none)))
                }
                (act.form("read", "m", OperatorAction::ReadConversation, "thread-mark-read",
                    html! {}))
                @if !summary.is_blocked && visit.may(OperatorAction::BlockContact) {
                    (confirm(visit, &format!("{}/block", act.page), &visit.t("thread-block"),
                        &visit.t("thread-block-question")))
                }
            }
            (ai(visit, contact, &act))
        }
    })
}

struct Act<'a> {
    visit: &'a Visit,
    page: String,
}

impl Act<'_> {
    /// The form of an action, to which a key of the keyboard leads; nothing where the role does not
    /// include it.
    fn form(
        &self,
        path: &str,
        key: &str,
        action: OperatorAction,
        text: &str,
        fields: Markup,
    ) -> Markup {
        let key = (!key.is_empty()).then_some(key);
        html! {
            @if self.visit.may(action) {
                form method="post" action={ (self.page) "/" (path) } data-key=[key] {
                    (csrf_field(self.visit))
                    (fields)
                    button.quiet type="submit" { (self.visit.t(text)) }
                }
            }
        }
    }
}

fn known(visit: &Visit, contact: &OperatorContact) -> Vec<(String, Markup)> {
    let (detail, summary) = (&contact.detail, &contact.detail.summary);
    let page = format!("/console/contacts/{}", summary.id);
    let name = html! { a href=(page) { bdi { (summary.display_name) } } };
    let mut known = vec![
        (visit.t("thread-name"), name),
        (visit.t("thread-phone"), html! { bdi { (summary.phone) } }),
        (
            visit.t("thread-conversation"),
            html! { (visit.word_of("thread-inbox", summary.inbox_status.as_str())) },
        ),
    ];
    let assigned = detail.assigned_to.as_ref();
    let assigned = assigned.map_or_else(|| visit.t("thread-nobody"), |to| to.display_name.clone());
    known.push((visit.t("thread-assignee"), html! { bdi { (assigned) } }));
    if let Some(stage) = &detail.pipeline_stage {
        known.push((visit.t("thread-stage"), html! { bdi { (stage.name) } }));
    }
    if !detail.tags.is_empty() {
        let tags = html! { @for tag in &detail.tags { span.tag { bdi { (tag.name) } } " " } };
        known.push((visit.t("thread-tags"), tags));
    }
    for connection in &detail.connections {
        known.push((visit.t("thread-connection"), html! { bdi { (connection.name) } }));
    }
    known
}

/// R424. What stands in the way of sending, and what it stops.
fn standing(visit: &Visit, contact: &OperatorContact, act: &Act<'_>) -> Markup {
    html! {
        @if let Some(at) = contact.opted_out_at {
            div.notice.bad {
                p { (badge(Tone::Bad, &visit.t("thread-opted-out"))) " " (when(visit, at)) }
                p { (visit.t("thread-opted-out-means")) }
                @if contact.is_opt_out_remembered { p { (visit.t("thread-opted-out-remembered")) } }
                @if visit.may(OperatorAction::OptInContact) {
                    (confirm(visit, &format!("{}/opt-in", act.page), &visit.t("thread-opt-in"),
                        &visit.t("thread-opt-in-question")))
                }
            }
        }
        @if contact.detail.summary.is_blocked {
            div.notice.bad {
                p { (badge(Tone::Bad, &visit.t("thread-blocked"))) }
                p { (visit.t("thread-blocked-means")) }
                (act.form("unblock", "", OperatorAction::UnblockContact, "thread-unblock",
                    html! {}))
            }
        }
    }
}

fn ai(visit: &Visit, contact: &OperatorContact, act: &Act<'_>) -> Markup {
    let paused = contact.ai_paused_until.filter(|until| *until > visit.recado.now());
    let is_on = contact.detail.summary.is_ai_enabled;
    let (state, mode) = match (is_on, contact.external_ai_enabled) {
        (true, _) => ("thread-ai-service", AiMode::Service),
        (false, true) => ("thread-ai-external", AiMode::External),
        (false, false) => ("thread-ai-off", AiMode::Off),
    };
    let modes: Vec<(String, String)> = AiMode::ALL
        .iter()
        .map(|mode| (mode.as_str().to_owned(), visit.word_of("thread-ai-mode", mode.as_str())))
        .collect();
    let hours: Vec<(String, String)> = PAUSES
        .iter()
        .map(|n| (n.to_string(), visit.t_with("thread-ai-hours", &[("hours", (*n).into())])))
        .collect();
    let none = FieldErrors::default();
    html! {
        section aria-labelledby="panel-ai" {
            h3 #panel-ai { (visit.t("thread-ai")) }
            p { (visit.t(state)) }
            @if let Some(until) = paused {
                p { (badge(Tone::Warn, &visit.t("thread-ai-paused"))) " " (when(visit, until)) }
            }
            (act.form("ai-mode", "i", OperatorAction::PickAiMode, "thread-ai-pick",
                select("mode", &visit.t("thread-ai-who"), &modes, mode.as_str(), &none)))
            @if !contact.external_ai_enabled {
                (act.form("enable-external-ai", "", OperatorAction::EnableExternalAi,
                    "thread-ai-external-on", html! {}))
            }
            @if paused.is_some() {
                (act.form("resume-ai", "p", OperatorAction::ResumeAi, "thread-ai-resume",
                    html! {}))
            } @else {
                (act.form("pause-ai", "p", OperatorAction::PauseAi, "thread-ai-pause",
                    select("hours", &visit.t("thread-ai-how-long"), &hours, "4", &none)))
            }
        }
    }
}
