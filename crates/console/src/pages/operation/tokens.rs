//! Operator tokens of the company.

use maud::{Markup, html};
use recado_core::access::{OperatorAction, OperatorRole, OperatorTokenView};
use recado_core::ids::OperatorTokenId;
use recado_core::{Error, ManageError};
use serde_json::{Map, Value};

use super::{TOKENS, parts};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::reply::{Outcome, Reply};
use crate::view::confirm::confirm;
use crate::view::date::beginning_of;
use crate::view::empty::empty;
use crate::view::field::{Field, FieldErrors, select};
use crate::view::layout::{Area, csrf_field};
use crate::view::secret::secret;
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let all = visit.recado.access().operator_tokens(&visit.operator).await?;
    let of_company: Vec<&OperatorTokenView> =
        all.iter().filter(|token| token.company_id == Some(visit.company.id)).collect();
    let columns = ["name", "role", "ends", "last-used", "acts"]
        .map(|name| visit.t(&format!("operation-column-{name}")));
    let rows: Vec<Vec<Markup>> = of_company.iter().map(|token| row(visit, token)).collect();
    let body = html! {
        (parts(visit, TOKENS))
        p { (visit.t("operation-tokens-about")) }
        @if visit.may(OperatorAction::CreateOperatorToken) {
            p { a.button href="/console/operation/tokens/new" { (visit.t("operation-token-new")) } }
        }
        @if rows.is_empty() {
            (empty(&visit.t("operation-tokens-none")))
        } @else {
            (table(&visit.t("operation-tokens"), &columns, &rows))
        }
    };
    Reply::page(Area::Operation, visit.t("operation-tokens"), body)
}

fn row(visit: &Visit, token: &OperatorTokenView) -> Vec<Markup> {
    let moment = |at: Option<_>, none: &str| match at {
        Some(at) => when(visit, at),
        None => html! { (visit.language.text(none)) },
    };
    let revoke = format!("{TOKENS}/{}/revoke", token.id);
    vec![
        html! { (token.name) },
        html! { (visit.word_of("operation-role", token.role.as_str())) },
        moment(token.expires_at, "operation-never"),
        moment(token.last_used_at, "operation-not-yet"),
        html! {
            @if visit.may(OperatorAction::DeleteOperatorToken) {
                (confirm(visit, &revoke, &visit.t("operation-token-revoke"),
                    &visit.t_with("operation-token-revoke-ask",
                        &[("name", token.name.as_str().into())])))
            }
        },
    ]
}

fn body(visit: &Visit, form: &Fields) -> Map<String, Value> {
    let end = form.filled("expires_at").map(|date| Value::from(beginning_of(visit, date)));
    let company = Some(Value::from(visit.company.id.to_string()));
    let body = form.body().text("name").optional("role");
    body.put("company_id", company).put("expires_at", end).finish()
}

fn form(visit: &Visit, sent: &Fields, errors: &FieldErrors) -> Markup {
    let value = |name: &str| sent.get(name).unwrap_or_default();
    let roles: Vec<_> = OperatorRole::ALL
        .iter()
        .map(|role| (role.as_str().to_owned(), visit.word_of("operation-role", role.as_str())))
        .collect();
    html! {
        (parts(visit, TOKENS))
        form method="post" action=(TOKENS) {
            (csrf_field(visit))
            (errors.summary(&["name", "role", "expires_at"]))
            (Field {
                name: "name", label: &visit.t("operation-column-name"), value: value("name"),
                kind: "text", is_required: true,
            }.show(errors))
            (select("role", &visit.t("operation-column-role"), &roles, value("role"), errors))
            (Field {
                name: "expires_at", label: &visit.t("operation-token-ends"),
                value: value("expires_at"), kind: "date", is_required: false,
            }.show(errors))
            button type="submit" { (visit.t("operation-token-create")) }
        }
    }
}

pub(super) async fn new(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let form = form(visit, &Fields::default(), &FieldErrors::default());
    Reply::page(Area::Operation, visit.t("operation-token-new"), form)
}

pub(super) async fn create(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let body = body(visit, &ask.form);
    match visit.recado.access().create_operator_token(&visit.operator, &body).await {
        Ok(made) => {
            let body = html! {
                (parts(visit, TOKENS))
                (secret(visit, &made.token.name, made.secret.expose()))
                p { a href=(TOKENS) { (visit.t("operation-tokens")) } }
            };
            Reply::page(Area::Operation, visit.t("operation-token-made"), body)
        }
        Err(Error::Rejected(refused)) if refused != ManageError::NotFound => {
            let form = form(visit, &ask.form, &FieldErrors::of(visit.language, &refused));
            Reply::refused(Area::Operation, visit.t("operation-token-new"), form)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn revoke(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", OperatorTokenId::parse);
    visit.recado.access().revoke_operator_token(&visit.operator, id).await?;
    Reply::goto(TOKENS)
}
