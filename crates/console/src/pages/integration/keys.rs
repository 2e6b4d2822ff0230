//! API keys.

use maud::{Markup, html};
use recado_core::Error;
use recado_core::ManageError;
use recado_core::access::{ApiKey, OperatorAction, Scope};
use recado_core::ids::KeyId;
use serde_json::{Map, Value};

use super::{KEYS, parts};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::reply::{Outcome, Reply};
use crate::view::confirm::confirm;
use crate::view::date::beginning_of;
use crate::view::empty::{Tone, badge, empty};
use crate::view::field::{Field, FieldErrors};
use crate::view::layout::{Area, csrf_field};
use crate::view::secret::secret;
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let all = visit.recado.access().keys(visit.company.id).await?;
    let columns = ["name", "scopes", "rates", "expires", "last-used", "acts"]
        .map(|name| visit.t(&format!("integration-column-{name}")));
    let rows: Vec<Vec<Markup>> = all.iter().map(|key| row(visit, key)).collect();
    let body = html! {
        (parts(visit, KEYS))
        p { (visit.t("integration-keys-about")) }
        @if visit.may(OperatorAction::CreateKey) {
            p { a.button href="/console/integration/keys/new" { (visit.t("integration-key-new")) } }
        }
        @if rows.is_empty() {
            (empty(&visit.t("integration-keys-none")))
        } @else {
            (table(&visit.t("integration-keys"), &columns, &rows))
        }
    };
    Reply::page(Area::Integration, visit.t("integration-keys"), body)
}

fn row(visit: &Visit, key: &ApiKey) -> Vec<Markup> {
    let scopes: Vec<&str> = key.scopes.iter().map(Scope::as_str).collect();
    let revoke = format!("{KEYS}/{}/revoke", key.id);
    vec![
        html! { (key.name) },
        html! { (scopes.join(", ")) },
        html! { (key.rate_per_minute) " / " (key.export_rate_per_minute) },
        html! {
            @match key.expires_at {
                Some(at) => {
                    (when(visit, at))
                    @if key.has_ended(visit.recado.now()) {
                        " " (badge(Tone::Bad, &visit.t("integration-key-ended")))
                    }
                }
                None => (visit.t("integration-never")),
            }
        },
        html! {
            @match key.last_used_at {
                Some(at) => (when(visit, at)),
                None => (visit.t("integration-not-yet")),
            }
        },
        html! {
            @if visit.may(OperatorAction::DeleteKey) {
                (confirm(visit, &revoke, &visit.t("integration-revoke"),
                    &visit.t_with("integration-key-revoke-ask",
                        &[("name", key.name.as_str().into())])))
            }
        },
    ]
}

fn body(visit: &Visit, form: &Fields) -> Map<String, Value> {
    let end = form.filled("expires_at").map(|date| Value::from(beginning_of(visit, date)));
    let body = form.body().text("name").list("scopes").put("expires_at", end);
    body.number("rate_per_minute").number("export_rate_per_minute").finish()
}

fn form(visit: &Visit, sent: &Fields, errors: &FieldErrors) -> Markup {
    let value = |name: &str| sent.get(name).unwrap_or_default().to_owned();
    let field = |name: &str, kind: &str, is_required: bool| {
        let label = visit.t(&format!("integration-key-{}", name.replace('_', "-")));
        Field { name, label: &label, value: &value(name), kind, is_required }.show(errors)
    };
    let scope_error = errors.get("scopes");
    let shown = ["name", "scopes", "rate_per_minute", "export_rate_per_minute", "expires_at"];
    html! {
        (parts(visit, KEYS))
        form method="post" action=(KEYS) {
            (csrf_field(visit))
            (errors.summary(&shown))
            (field("name", "text", true))
            fieldset aria-describedby=[scope_error.map(|_| "scopes-error")] {
                legend { (visit.t("integration-column-scopes")) }
                @if let Some(error) = scope_error { p.error #scopes-error { (error) } }
                @for scope in Scope::ALL {
                    label.check {
                        input type="checkbox" name="scopes" value=(scope.as_str())
                            checked[sent.all("scopes").any(|known| known == scope.as_str())];
                        " " code { (scope.as_str()) }
                    }
                }
            }
            (field("rate_per_minute", "number", false))
            (field("export_rate_per_minute", "number", false))
            (field("expires_at", "date", false))
            button type="submit" { (visit.t("integration-key-create")) }
        }
    }
}

pub(super) async fn new(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let form = form(visit, &Fields::default(), &FieldErrors::default());
    Reply::page(Area::Integration, visit.t("integration-key-new"), form)
}

pub(super) async fn create(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let body = body(visit, &ask.form);
    match visit.recado.access().create_key(visit.company.id, &body).await {
        Ok(made) => {
            let body = html! {
                (parts(visit, KEYS))
                (secret(visit, &made.key.name, made.secret.expose()))
                p { a href=(KEYS) { (visit.t("integration-keys")) } }
            };
            Reply::page(Area::Integration, visit.t("integration-key-made"), body)
        }
        Err(Error::Rejected(refused)) if refused != ManageError::NotFound => {
            let form = form(visit, &ask.form, &FieldErrors::of(visit.language, &refused));
            Reply::refused(Area::Integration, visit.t("integration-key-new"), form)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn revoke(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", KeyId::parse);
    visit.recado.access().revoke_key(visit.company.id, id).await?;
    Reply::goto(KEYS)
}
