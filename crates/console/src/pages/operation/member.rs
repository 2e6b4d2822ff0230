//! A member: its name, its login and its sessions.

use maud::{Markup, html};
use recado_core::access::{Member, OperatorAction, OperatorRole};
use recado_core::accounts::{LoginView, SessionView};
use recado_core::ids::MemberId;
use recado_core::{Error, ManageError, Rejection};

use super::members::{fields, standing};
use super::{MEMBERS, parts};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::confirm::confirm;
use crate::view::empty::empty;
use crate::view::field::{Field, FieldErrors, select};
use crate::view::layout::{Area, csrf_field};
use crate::view::secret::act;
use crate::view::table::{facts, table};
use crate::view::when::when;
use crate::visit::Visit;

/// What the page says besides what is known of the member.
#[derive(Default)]
pub(super) struct News {
    /// Above everything.
    pub(super) above: Option<Markup>,
    /// The errors of the form that was sent: of the member, or of the login.
    pub(super) member: FieldErrors,
    pub(super) login: FieldErrors,
}

impl News {
    /// What is wrong with the form of the login.
    pub(super) fn of_login(visit: &Visit, refused: &dyn Rejection) -> Self {
        Self { login: FieldErrors::of(visit.language, refused), ..Self::default() }
    }

    fn is_refused(&self) -> bool {
        let filled = |errors: &FieldErrors| !errors.summary(&[]).0.is_empty();
        filled(&self.member) || filled(&self.login)
    }
}

pub(super) async fn show(ask: Ask) -> Outcome {
    page(&ask.visit, ask.path.id("id", MemberId::parse), News::default()).await
}

/// The page of a member.
pub(super) async fn page(visit: &Visit, id: MemberId, news: News) -> Outcome {
    let company = visit.company.id;
    let member = visit.recado.access().member(company, id).await?;
    let accounts = visit.recado.accounts();
    let login = match visit.may(OperatorAction::GetLogin) {
        true => accounts.logins(company).await?.into_iter().find(|login| login.member_id == id),
        false => None,
    };
    let sessions = match visit.may(OperatorAction::ListSessions) && login.is_some() {
        true => Some(accounts.sessions(company, id).await?),
        false => None,
    };
    let body = html! {
        (parts(visit, MEMBERS))
        @if let Some(above) = &news.above { (above) }
        (about(visit, &member, &news.member))
        @if visit.may(OperatorAction::GetLogin) {
            h2 { (visit.t("operation-login")) }
            @match &login {
                None => (invitation(visit, &member, &news.login)),
                Some(login) => (of_login(visit, &member, login, &news.login)),
            }
        }
        @if let Some(sessions) = &sessions {
            h2 { (visit.t("operation-sessions")) }
            (listed(visit, id, sessions))
        }
    };
    let title = member.display_name.clone();
    match news.is_refused() {
        true => Reply::refused(Area::Operation, title, body),
        false => Reply::page(Area::Operation, title, body),
    }
}

fn about(visit: &Visit, member: &Member, errors: &FieldErrors) -> Markup {
    let path = format!("{MEMBERS}/{}", member.id);
    html! {
        @if visit.may(OperatorAction::UpdateMember) {
            form method="post" action=(path) {
                (csrf_field(visit))
                (errors.summary(&["display_name", "role"]))
                (fields(visit, &member.display_name, member.role.as_str(), errors))
                button type="submit" { (visit.t("operation-save")) }
            }
        } @else {
            (facts(&[(
                visit.t("operation-column-member-role"),
                html! { (visit.word_of("operation-member-role", member.role.as_str())) },
            )]))
        }
        @if visit.may(OperatorAction::DeleteMember) {
            (confirm(visit, &format!("{path}/delete"), &visit.t("operation-member-delete"),
                &visit.t("operation-member-delete-ask")))
        }
    }
}

fn login_fields(visit: &Visit, email: &str, role: OperatorRole, errors: &FieldErrors) -> Markup {
    let own = visit.operator.role();
    let roles: Vec<_> = OperatorRole::ALL
        .iter()
        .filter(|role| **role <= own)
        .map(|role| (role.as_str().to_owned(), visit.word_of("operation-role", role.as_str())))
        .collect();
    // The member's role has a field of the same name in the form above.
    html! {
        (errors.summary(&["email"]))
        (Field {
            name: "email", label: &visit.t("operation-column-email"), value: email,
            kind: "email", is_required: true,
        }.show(errors))
        (select("login_role", &visit.t("operation-column-role"), &roles, role.as_str(), errors))
    }
}

fn invitation(visit: &Visit, member: &Member, errors: &FieldErrors) -> Markup {
    html! {
        p { (visit.t("operation-login-without")) }
        @if visit.may(OperatorAction::InviteMember) {
            form method="post" action={ (MEMBERS) "/" (member.id) "/invite" } {
                (csrf_field(visit))
                (login_fields(visit, "", OperatorRole::Agent, errors))
                button type="submit" { (visit.t("operation-invite")) }
            }
        }
    }
}

fn of_login(visit: &Visit, member: &Member, login: &LoginView, errors: &FieldErrors) -> Markup {
    let to = |act: &str| format!("{MEMBERS}/{}/{act}", member.id);
    let is_disabled = login.disabled_at.is_some();
    let totp = if login.has_totp { "operation-totp-on" } else { "operation-totp-off" };
    let mut pairs = vec![
        (visit.t("operation-column-login"), standing(visit, Some(login))),
        (visit.t("operation-totp"), html! { (visit.language.text(totp)) }),
        (visit.t("operation-column-created"), when(visit, login.created_at)),
    ];
    if let Some(at) = login.disabled_at {
        pairs.push((visit.t("operation-login-disabled"), when(visit, at)));
    }
    html! {
        (facts(&pairs))
        @if visit.may(OperatorAction::UpdateLogin) && login.role <= visit.operator.role() {
            form method="post" action=(to("login")) {
                (csrf_field(visit))
                (login_fields(visit, login.email.as_str(), login.role, errors))
                button type="submit" { (visit.t("operation-save")) }
            }
            div.actions {
                @if visit.may(OperatorAction::ResetLogin) && !is_disabled {
                    (act(visit, &to("reset"), &visit.t("operation-reset")))
                }
                form.inline method="post" action=(to("state")) {
                    (csrf_field(visit))
                    @if is_disabled {
                        button type="submit" { (visit.t("operation-enable")) }
                    } @else {
                        input type="hidden" name="disabled" value="on";
                        button type="submit" { (visit.t("operation-disable")) }
                    }
                }
                @if login.has_totp && visit.may(OperatorAction::DeleteLoginTotp) {
                    (confirm(visit, &to("totp/delete"), &visit.t("operation-totp-remove"),
                        &visit.t("operation-totp-remove-ask")))
                }
                @if visit.may(OperatorAction::DeleteLogin) {
                    (confirm(visit, &to("login/delete"), &visit.t("operation-login-remove"),
                        &visit.t("operation-login-remove-ask")))
                }
            }
        }
    }
}

fn listed(visit: &Visit, member: MemberId, sessions: &[SessionView]) -> Markup {
    let columns = ["signed-in", "last-seen", "ends", "acts"]
        .map(|name| visit.t(&format!("operation-column-{name}")));
    let row = |session: &SessionView| {
        let end = format!("{MEMBERS}/{member}/sessions/{}/delete", session.id);
        vec![
            when(visit, session.created_at),
            when(visit, session.last_seen_at),
            when(visit, session.ends_at),
            html! {
                @if visit.may(OperatorAction::DeleteSession) {
                    (act(visit, &end, &visit.t("operation-session-end")))
                }
            },
        ]
    };
    let rows: Vec<Vec<Markup>> = sessions.iter().map(row).collect();
    html! {
        @if rows.is_empty() {
            (empty(&visit.t("operation-sessions-none")))
        } @else {
            (table(&visit.t("operation-sessions"), &columns, &rows))
            @if visit.may(OperatorAction::DeleteSessions) {
                (act(visit, &format!("{MEMBERS}/{member}/sessions/delete"),
                    &visit.t("operation-sessions-end")))
            }
        }
    }
}

pub(super) async fn change(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", MemberId::parse);
    let body = ask.form.body().text("display_name").optional("role").finish();
    match visit.recado.access().change_member(visit.company.id, id, &body).await {
        Ok(_) => Reply::goto(format!("{MEMBERS}/{id}")),
        Err(Error::Rejected(refused)) if refused != ManageError::NotFound => {
            let member = FieldErrors::of(visit.language, &refused);
            page(visit, id, News { member, ..News::default() }).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn delete(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", MemberId::parse);
    let accounts = visit.recado.accounts();
    accounts.delete_member(&visit.operator, visit.company.id, id).await?;
    Reply::goto(MEMBERS)
}
