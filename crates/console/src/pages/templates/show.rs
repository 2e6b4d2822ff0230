//! A template with a preview: what it looks like with these variables.

use std::collections::BTreeMap;

use maud::{Markup, html};
use recado_core::ids::TemplateId;
use recado_core::templates::{TemplateView, Variable, render, variables};

use super::LIST;
use super::list::{category, state};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::reply::{Outcome, Reply};
use crate::view::field::{Field, FieldErrors};
use crate::view::layout::Area;
use crate::view::table::facts;
use crate::view::when::when;
use crate::visit::Visit;

pub(super) async fn show(ask: Ask) -> Outcome {
    let (visit, id) = (&ask.visit, ask.path.id("id", TemplateId::parse));
    let template = visit.recado.templates().get(visit.company.id, id).await?;
    let shown = preview(&template, &ask.query);
    if ask.is_piece {
        return Reply::piece(shown);
    }
    let path = format!("{LIST}/{id}");
    let name = |key: &str| visit.t(&format!("templates-column-{key}"));
    let body = html! {
        p { a href=(LIST) { (visit.t("templates-back")) } }
        (facts(&[
            (name("status"), state(visit, template.status)),
            (name("category"), html! { (category(visit, &template)) }),
            (name("language"), html! { (template.language) }),
            (name("updated"), when(visit, template.updated_at)),
        ]))
        h2 { (visit.t("templates-preview")) }
        (fields(visit, &path, &template, &ask.query))
        (shown)
    };
    Reply::page(Area::Templates, template.name.clone(), body)
}

/// The fields of the variables; what is written is shown at once where there is script.
fn fields(visit: &Visit, path: &str, template: &TemplateView, given: &Fields) -> Markup {
    let none = FieldErrors::default();
    let header = (template.needs.header.as_deref() == Some("text"))
        .then(|| ("header".to_owned(), visit.t("templates-header")));
    let named = template.needs.variables.iter().map(|name| {
        let label = visit.t_with("templates-variable", &[("name", name.as_str().into())]);
        (format!("variable-{name}"), label)
    });
    let all: Vec<(String, String)> = header.into_iter().chain(named).collect();
    html! {
        @if !all.is_empty() {
            form.stacked method="get" action=(path) hx-get=(path)
                hx-trigger="input delay:300ms" hx-target="#template-preview" hx-swap="outerHTML" {
                @for (name, label) in &all {
                    @let value = given.get(name).unwrap_or_default();
                    (Field { name, label, value, kind: "text", is_required: false }.show(&none))
                }
                button.quiet type="submit" { (visit.t("templates-fill")) }
            }
        }
    }
}

/// A text with what is filled in; what is not stays as the template writes it.
fn filled(text: &str, given: impl Fn(&Variable) -> Option<String>) -> String {
    let value = |variable: Variable| {
        let value = given(&variable).unwrap_or_else(|| format!("{{{{{variable}}}}}"));
        (variable, value)
    };
    let values: BTreeMap<Variable, String> = variables(text).into_iter().map(value).collect();
    render(text, &values).unwrap_or_else(|_| text.to_owned())
}

fn preview(template: &TemplateView, given: &Fields) -> Markup {
    let written = |name: &str| given.filled(name).map(str::to_owned);
    let body = filled(&template.body, |variable| written(&format!("variable-{variable}")));
    let parts = &template.components;
    html! {
        div.block #template-preview aria-live="polite" {
            @if let Some(header) = &parts.header {
                @match &header.text {
                    Some(text) => p { strong dir="auto" { (filled(text, |_| written("header"))) } },
                    None => p.detail { (header.kind.as_str()) },
                }
            }
            p.text dir="auto" { (body) }
            @if let Some(footer) = &parts.footer { p.detail dir="auto" { (footer) } }
            @if !parts.buttons.is_empty() {
                ul { @for button in &parts.buttons { li { bdi { (button.text) } } } }
            }
        }
    }
}
