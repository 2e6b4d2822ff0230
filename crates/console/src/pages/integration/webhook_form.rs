//! The forms that make and change a webhook.

use maud::{Markup, html};
use recado_core::Error;
use recado_core::events::EventType;
use recado_core::ids::WebhookId;
use recado_core::webhooks::ALL_EVENTS;
use serde_json::{Map, Value};

use super::{WEBHOOKS, parts};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::reply::{Outcome, Reply};
use crate::view::field::{Field, FieldErrors, checkbox};
use crate::view::layout::{Area, csrf_field};
use crate::view::secret::secret;
use crate::visit::Visit;

/// What stands in the form.
struct Shown {
    url: String,
    events: Vec<String>,
    is_active: bool,
    standard_headers: bool,
}

impl Shown {
    fn sent(form: &Fields) -> Self {
        Self {
            url: form.get("url").unwrap_or_default().to_owned(),
            events: form.all("events").map(str::to_owned).collect(),
            is_active: form.get("is_active").is_some(),
            standard_headers: form.get("standard_headers").is_some(),
        }
    }
}

fn body(form: &Fields) -> Map<String, Value> {
    let body = form.body().text("url").list("events");
    body.checked("is_active").checked("standard_headers").finish()
}

fn form(visit: &Visit, action: &str, shown: &Shown, errors: &FieldErrors) -> Markup {
    let has = |event: &str| shown.events.iter().any(|known| known == event);
    let error = errors.get("events");
    html! {
        (parts(visit, WEBHOOKS))
        form method="post" action=(action) {
            (csrf_field(visit))
            (errors.summary(&["url", "events"]))
            (Field {
                name: "url", label: &visit.t("integration-webhook-url"), value: &shown.url,
                kind: "url", is_required: true,
            }.show(errors))
            fieldset aria-describedby=[error.map(|_| "events-error")] {
                legend { (visit.t("integration-webhook-events")) }
                @if let Some(error) = error { p.error #events-error { (error) } }
                label.check {
                    input type="checkbox" name="events" value=(ALL_EVENTS) checked[has(ALL_EVENTS)];
                    " " (visit.t("integration-webhook-all-events"))
                }
                @for event in EventType::public() {
                    label.check {
                        input type="checkbox" name="events" value=(event.as_str())
                            checked[has(event.as_str())];
                        " " code { (event.as_str()) }
                    }
                }
            }
            (checkbox("standard_headers", &visit.t("integration-webhook-standard"),
                shown.standard_headers))
            (checkbox("is_active", &visit.t("integration-active"), shown.is_active))
            button type="submit" { (visit.t("integration-save")) }
        }
    }
}

pub(super) async fn new(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let shown = Shown {
        url: String::new(),
        events: vec![ALL_EVENTS.to_owned()],
        is_active: true,
        standard_headers: false,
    };
    let form = form(visit, "/console/integration/webhooks", &shown, &FieldErrors::default());
    Reply::page(Area::Integration, visit.t("integration-webhook-new"), form)
}

pub(super) async fn create(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let made = visit.recado.webhooks().create(visit.company.id, &body(&ask.form)).await;
    match made {
        Ok(made) => {
            let path = format!("/console/integration/webhooks/{}", made.webhook.id);
            let body = html! {
                (parts(visit, WEBHOOKS))
                (secret(visit, &visit.t("integration-webhook-secret"), &made.secret))
                p { a.break href=(path) { (made.webhook.url) } }
            };
            Reply::page(Area::Integration, visit.t("integration-webhook-made"), body)
        }
        Err(Error::Rejected(refused)) => {
            let errors = FieldErrors::of(visit.language, &refused);
            let shown = Shown::sent(&ask.form);
            let form = form(visit, "/console/integration/webhooks", &shown, &errors);
            Reply::refused(Area::Integration, visit.t("integration-webhook-new"), form)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn edit(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", WebhookId::parse);
    let webhook = visit.recado.webhooks().get(visit.company.id, id).await?;
    let shown = Shown {
        url: webhook.url,
        events: webhook.events.iter().map(|event| (*event).to_owned()).collect(),
        is_active: webhook.is_active,
        standard_headers: webhook.standard_headers,
    };
    let action = format!("/console/integration/webhooks/{id}");
    let form = form(visit, &action, &shown, &FieldErrors::default());
    Reply::page(Area::Integration, visit.t("integration-webhook-edit"), form)
}

pub(super) async fn change(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", WebhookId::parse);
    let action = format!("/console/integration/webhooks/{id}");
    let changed = visit.recado.webhooks().change(visit.company.id, id, &body(&ask.form)).await;
    match changed {
        Ok(_) => Reply::goto(action),
        Err(Error::Rejected(refused))
            if refused != recado_core::webhooks::WebhookError::NotFound =>
        {
            let form = form(
                visit,
                &action,
                &Shown::sent(&ask.form),
                &FieldErrors::of(visit.language, &refused),
            );
            Reply::refused(Area::Integration, visit.t("integration-webhook-edit"), form)
        }
        Err(error) => Err(error.into()),
    }
}
