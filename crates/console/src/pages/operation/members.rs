//! The list of members, and the form that makes one.

use maud::{Markup, html};
use recado_core::Error;
use recado_core::ManageError;
use recado_core::access::{Member, OperatorAction, Role};
use recado_core::accounts::LoginView;

use super::{MEMBERS, parts};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge, empty};
use crate::view::field::{Field, FieldErrors, select};
use crate::view::layout::{Area, csrf_field};
use crate::view::table::table;
use crate::visit::Visit;

/// How a login stands, in a word, and whether its member signs in at the provider (R433).
pub(super) fn standing(visit: &Visit, login: Option<&LoginView>) -> Markup {
    let is_bound = login.is_some_and(|login| login.has_provider);
    html! {
        (state(visit, login))
        @if is_bound { " " (badge(Tone::Plain, &visit.t("operation-login-provider"))) }
    }
}

fn state(visit: &Visit, login: Option<&LoginView>) -> Markup {
    match login {
        None => badge(Tone::Plain, &visit.t("operation-login-none")),
        Some(login) if login.disabled_at.is_some() => {
            badge(Tone::Bad, &visit.t("operation-login-disabled"))
        }
        Some(login) if !login.was_accepted => {
            badge(Tone::Warn, &visit.t("operation-login-invited"))
        }
        Some(_) => badge(Tone::Good, &visit.t("operation-login-active")),
    }
}

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let members = visit.recado.access().members(visit.company.id).await?;
    let logins = match visit.may(OperatorAction::ListLogins) {
        true => Some(visit.recado.accounts().logins(visit.company.id).await?),
        false => None,
    };
    let mut names = vec!["name", "member-role"];
    if logins.is_some() {
        names.extend(["email", "role", "login"]);
    }
    let columns: Vec<String> =
        names.iter().map(|name| visit.t(&format!("operation-column-{name}"))).collect();
    let rows: Vec<Vec<Markup>> =
        members.iter().map(|member| row(visit, member, logins.as_deref())).collect();
    let body = html! {
        (parts(visit, MEMBERS))
        p { (visit.t("operation-members-about")) }
        @if visit.may(OperatorAction::CreateMember) {
            p { a.button href="/console/operation/members/new" {
                (visit.t("operation-member-new"))
            } }
        }
        @if rows.is_empty() {
            (empty(&visit.t("operation-members-none")))
        } @else {
            (table(&visit.t("operation-members"), &columns, &rows))
        }
    };
    Reply::page(Area::Operation, visit.t("operation-members"), body)
}

fn row(visit: &Visit, member: &Member, logins: Option<&[LoginView]>) -> Vec<Markup> {
    let path = format!("{MEMBERS}/{}", member.id);
    let mut cells = vec![
        html! { a href=(path) { (member.display_name) } },
        html! { (visit.word_of("operation-member-role", member.role.as_str())) },
    ];
    if let Some(logins) = logins {
        let login = logins.iter().find(|login| login.member_id == member.id);
        cells.push(html! { @if let Some(login) = login { (login.email.as_str()) } });
        cells.push(html! {
            @if let Some(login) = login {
                (visit.word_of("operation-role", login.role.as_str()))
            }
        });
        cells.push(standing(visit, login));
    }
    cells
}

/// The fields of a member.
pub(super) fn fields(visit: &Visit, name: &str, role: &str, errors: &FieldErrors) -> Markup {
    let roles: Vec<_> = Role::ALL
        .iter()
        .map(|role| {
            (role.as_str().to_owned(), visit.word_of("operation-member-role", role.as_str()))
        })
        .collect();
    html! {
        (Field {
            name: "display_name", label: &visit.t("operation-column-name"), value: name,
            kind: "text", is_required: true,
        }.show(errors))
        (select("role", &visit.t("operation-column-member-role"), &roles, role, errors))
    }
}

fn form(visit: &Visit, sent: &Fields, errors: &FieldErrors) -> Markup {
    let value = |name: &str| sent.get(name).unwrap_or_default();
    html! {
        (parts(visit, MEMBERS))
        form method="post" action=(MEMBERS) {
            (csrf_field(visit))
            (errors.summary(&["display_name", "role"]))
            (fields(visit, value("display_name"), value("role"), errors))
            button type="submit" { (visit.t("operation-save")) }
        }
    }
}

pub(super) async fn new(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let form = form(visit, &Fields::default(), &FieldErrors::default());
    Reply::page(Area::Operation, visit.t("operation-member-new"), form)
}

pub(super) async fn create(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let body = ask.form.body().text("display_name").optional("role").finish();
    match visit.recado.access().create_member(visit.company.id, &body).await {
        Ok(made) => Reply::goto(format!("{MEMBERS}/{}", made.id)),
        Err(Error::Rejected(refused)) if refused != ManageError::NotFound => {
            let form = form(visit, &ask.form, &FieldErrors::of(visit.language, &refused));
            Reply::refused(Area::Operation, visit.t("operation-member-new"), form)
        }
        Err(error) => Err(error.into()),
    }
}
