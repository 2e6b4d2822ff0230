//! Making and changing connections.

use maud::{Markup, html};
use recado_core::connections::GatewayView;
use recado_core::{Error, ManageError};
use serde_json::{Map, Value};

use super::form::{Shown, form, settings};
use super::show::gateway_of;
use super::{LIST, id, page_of};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, empty};
use crate::view::field::{FieldErrors, select};
use crate::view::layout::Area;
use crate::view::toast::notice;
use crate::visit::Visit;

const NEW: &str = "/console/connections/new";

fn known(visit: &Visit, name: Option<&str>) -> Option<GatewayView> {
    let mut gateways = visit.recado.connections().gateways().into_iter();
    gateways.find(|gateway| Some(gateway.name.as_str()) == name)
}

/// The choice of the gateway, from which the other fields follow.
fn chooser(visit: &Visit, chosen: &str) -> Markup {
    let gateways = visit.recado.connections().gateways();
    let names = gateways.iter().map(|gateway| gateway.name.as_str());
    let options: Vec<_> = names.map(|name| (name.to_owned(), name.to_owned())).collect();
    let label = visit.t("connections-column-gateway");
    html! {
        p { a href=(LIST) { (visit.t("connections-back")) } }
        @if options.is_empty() {
            (empty(&visit.t("connections-no-gateways")))
        } @else {
            form.stacked method="get" action=(NEW) {
                (select("gateway", &label, &options, chosen, &FieldErrors::default()))
                button.quiet type="submit" { (visit.t("connections-choose")) }
            }
        }
    }
}

pub(super) async fn new(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let gateway = known(visit, ask.query.get("gateway"));
    let body = html! {
        (chooser(visit, ask.query.get("gateway").unwrap_or_default()))
        @if let Some(gateway) = &gateway {
            (form(visit, NEW, Some(gateway), &Shown::new(), false, &FieldErrors::default()))
        }
    };
    Reply::page(Area::Connections, visit.t("connections-new"), body)
}

fn fields(ask: &Ask) -> Map<String, Value> {
    ask.form.body().text("name").text("identifier").checked("is_active").finish()
}

pub(super) async fn create(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let gateway = known(visit, ask.form.get("gateway"));
    let mut body = fields(&ask);
    for name in ["kind", "gateway"] {
        body.extend(ask.form.get(name).map(|value| (name.to_owned(), value.into())));
    }
    if let Some(gateway) = &gateway {
        body.insert("settings".to_owned(), settings(&ask.form, gateway, false));
    }
    match visit.recado.connections().create(visit.company.id, &body).await {
        Ok(made) => Reply::goto(page_of(made.id)),
        Err(Error::Rejected(refused)) if refused != ManageError::NotFound => {
            let (errors, shown) = (
                FieldErrors::of(visit.language, &refused),
                Shown::sent(&ask.form, gateway.as_ref()),
            );
            let body = html! {
                (chooser(visit, ask.form.get("gateway").unwrap_or_default()))
                (form(visit, NEW, gateway.as_ref(), &shown, false, &errors))
            };
            Reply::refused(Area::Connections, visit.t("connections-new"), body)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn edit(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let connection = visit.recado.connections().get(visit.company.id, id(&ask)).await?;
    let gateway = gateway_of(visit, &connection);
    let action = format!("{}/edit", page_of(connection.id));
    let errors = FieldErrors::default();
    let body = html! {
        p { a href=(page_of(connection.id)) { bdi { (connection.name) } } }
        @if gateway.is_none() { (notice(Tone::Warn, &visit.t("connections-no-gateway"))) }
        (form(visit, &action, gateway.as_ref(), &Shown::of(&connection), true, &errors))
    };
    Reply::page(Area::Connections, visit.t("connections-edit"), body)
}

pub(super) async fn change(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let connection = visit.recado.connections().get(visit.company.id, id(&ask)).await?;
    let gateway = gateway_of(visit, &connection);
    let mut body = fields(&ask);
    if let Some(gateway) = &gateway {
        let settings = settings(&ask.form, gateway, true);
        if settings.as_object().is_some_and(|settings| !settings.is_empty()) {
            body.insert("settings".to_owned(), settings);
        }
    }
    let path = page_of(connection.id);
    match visit.recado.connections().change(visit.company.id, connection.id, &body).await {
        Ok(_) => Reply::goto(path),
        Err(Error::Rejected(refused)) if refused != ManageError::NotFound => {
            let errors = FieldErrors::of(visit.language, &refused);
            let shown = Shown::sent(&ask.form, gateway.as_ref());
            let action = format!("{path}/edit");
            let form = form(visit, &action, gateway.as_ref(), &shown, true, &errors);
            Reply::refused(Area::Connections, visit.t("connections-edit"), form)
        }
        Err(error) => Err(error.into()),
    }
}
