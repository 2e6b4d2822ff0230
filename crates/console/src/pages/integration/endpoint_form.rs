//! The forms that make and change an inbound endpoint.

use std::collections::BTreeMap;

use maud::{Markup, html};
use recado_core::Error;
use recado_core::ManageError;
use recado_core::ids::InboundEndpointId;
use recado_core::inbound::AuthMode;
use serde_json::{Map, Value};

use super::{ENDPOINTS, parts};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::reply::{Outcome, Reply};
use crate::view::field::{Field, FieldErrors, area, checkbox, select};
use crate::view::layout::{Area, csrf_field};
use crate::view::secret::secret;
use crate::visit::Visit;

/// What stands in the form.
struct Shown {
    slug: String,
    mapping: String,
    auth_mode: String,
    is_active: bool,
}

impl Shown {
    fn sent(form: &Fields) -> Self {
        let text = |name: &str| form.get(name).unwrap_or_default().to_owned();
        Self {
            slug: text("slug"),
            mapping: text("variable_mapping"),
            auth_mode: text("auth_mode"),
            is_active: form.get("is_active").is_some(),
        }
    }
}

/// A mapping as lines of `key = expression`.
pub(super) fn as_lines(mapping: &BTreeMap<String, String>) -> String {
    mapping.iter().map(|(key, expression)| format!("{key} = {expression}\n")).collect()
}

/// Lines of `key = expression` as a mapping. A line without `=` becomes a key without an
/// expression, which the use case refuses by its name.
pub(super) fn of_lines(text: &str) -> Value {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let entry = |line: &str| {
        let (key, expression) = line.split_once('=').unwrap_or((line, ""));
        (key.trim().to_owned(), Value::from(expression.trim()))
    };
    Value::Object(lines.map(entry).collect())
}

fn body(form: &Fields) -> Map<String, Value> {
    let mapping = form.get("variable_mapping").map(of_lines);
    let body = form.body().text("slug").put("variable_mapping", mapping);
    body.optional("auth_mode").checked("is_active").finish()
}

fn form(visit: &Visit, action: &str, shown: &Shown, errors: &FieldErrors) -> Markup {
    let modes: Vec<_> = AuthMode::ALL
        .iter()
        .map(|mode| (mode.as_str().to_owned(), visit.word_of("integration-mode", mode.as_str())))
        .collect();
    html! {
        (parts(visit, ENDPOINTS))
        form method="post" action=(action) {
            (csrf_field(visit))
            (errors.summary(&["slug", "variable_mapping", "auth_mode"]))
            (Field {
                name: "slug", label: &visit.t("integration-endpoint-slug"), value: &shown.slug,
                kind: "text", is_required: true,
            }.show(errors))
            (area("variable_mapping", &visit.t("integration-mapping"), &shown.mapping, errors))
            p.hint { (visit.t("integration-mapping-hint")) }
            (select("auth_mode", &visit.t("integration-column-mode"), &modes, &shown.auth_mode,
                errors))
            (checkbox("is_active", &visit.t("integration-active"), shown.is_active))
            button type="submit" { (visit.t("integration-save")) }
        }
    }
}

pub(super) async fn new(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let shown = Shown {
        slug: String::new(),
        mapping: "phone_number = $.phone\nfirst_name = $.name\n".to_owned(),
        auth_mode: AuthMode::SecretRequired.as_str().to_owned(),
        is_active: true,
    };
    let form = form(visit, ENDPOINTS, &shown, &FieldErrors::default());
    Reply::page(Area::Integration, visit.t("integration-endpoint-new"), form)
}

pub(super) async fn create(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let title = visit.t("integration-endpoint-new");
    match visit.recado.inbound().create(visit.company.id, &body(&ask.form)).await {
        Ok(made) => {
            let path = format!("{ENDPOINTS}/{}", made.endpoint.id);
            let body = html! {
                (parts(visit, ENDPOINTS))
                (secret(visit, &visit.t("integration-endpoint-secret"), &made.secret))
                p { a href=(path) { (made.endpoint.slug) } }
            };
            Reply::page(Area::Integration, visit.t("integration-endpoint-made"), body)
        }
        Err(Error::Rejected(refused)) if refused != ManageError::NotFound => {
            let errors = FieldErrors::of(visit.language, &refused);
            let form = form(visit, ENDPOINTS, &Shown::sent(&ask.form), &errors);
            Reply::refused(Area::Integration, title, form)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn edit(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", InboundEndpointId::parse);
    let endpoint = visit.recado.inbound().get(visit.company.id, id).await?;
    let shown = Shown {
        slug: endpoint.slug,
        mapping: as_lines(&endpoint.variable_mapping),
        auth_mode: endpoint.auth_mode.as_str().to_owned(),
        is_active: endpoint.is_active,
    };
    let form = form(visit, &format!("{ENDPOINTS}/{id}"), &shown, &FieldErrors::default());
    Reply::page(Area::Integration, visit.t("integration-endpoint-edit"), form)
}

pub(super) async fn change(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", InboundEndpointId::parse);
    let path = format!("{ENDPOINTS}/{id}");
    match visit.recado.inbound().change(visit.company.id, id, &body(&ask.form)).await {
        Ok(_) => Reply::goto(path),
        Err(Error::Rejected(refused)) if refused != ManageError::NotFound => {
            let errors = FieldErrors::of(visit.language, &refused);
            let form = form(visit, &path, &Shown::sent(&ask.form), &errors);
            Reply::refused(Area::Integration, visit.t("integration-endpoint-edit"), form)
        }
        Err(error) => Err(error.into()),
    }
}
