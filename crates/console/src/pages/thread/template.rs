//! Answering by an approved template, with a preview of what arrives (R425).

use std::collections::BTreeMap;

use maud::{Markup, html};
use recado_core::templates::{
    HeaderPart, TemplateStatus, TemplateView, Variable, render, variables,
};
use serde_json::{Map, Value, json};

use super::compose::{Quote, common, common_fields, compared, draft_kept};
use super::send::{Once, Refused};
use super::{Here, id, page_of};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::field::{FieldErrors, select};
use crate::view::layout::Area;
use crate::visit::Visit;

/// The page: which template, its variables, and the preview.
pub(super) async fn form(ask: Ask) -> Outcome {
    let ask = Here::of(ask);
    let body = page(&ask, &ask.query, None).await?;
    Reply::page(Area::Inbox, ask.visit.t("thread-template-title"), body)
}

/// R425. The text as it will arrive, as a piece: variables that are not filled yet stay as they
/// are written in the template.
pub(super) async fn preview(ask: Ask) -> Outcome {
    let ask = Here::of(ask);
    let templates = approved(&ask.visit).await?;
    let template = chosen(&templates, &ask.query).ok_or(Refusal::NotFound)?;
    Reply::piece(preview_of(&ask.visit, template, &ask.query))
}

/// Sends the template of the form.
pub(super) async fn send(ask: Ask) -> Outcome {
    let ask = Here::of(ask);
    let (visit, contact) = (&ask.visit, id(&ask));
    let templates = approved(visit).await?;
    let mut body = Map::new();
    body.insert("template".to_owned(), ask.form.get("template").unwrap_or_default().into());
    if let Some(template) = chosen(&templates, &ask.form) {
        values(template, &ask.form, &mut body);
    }
    common(visit, &ask.form, &mut body);
    let compared = compared(&ask.form);
    let key = ask.form.get("key").unwrap_or_default();
    let once = Once { visit, contact, operation: "template", key, compared: &compared };
    let (recado, company) = (visit.recado.clone(), visit.company.id);
    let send = async move {
        recado.conversations().reply_template(company, contact, &body).await.map(|_| ())
    };
    match once.run(send).await? {
        Ok(()) => Reply::goto(format!("{}#answer", page_of(contact))),
        Err(refused) => {
            let body = page(&ask, &ask.form, Some(&refused)).await?;
            Reply::refused(Area::Inbox, visit.t("thread-template-title"), body)
        }
    }
}

async fn approved(visit: &Visit) -> Result<Vec<TemplateView>, Refusal> {
    let mut all = visit.recado.templates().all(visit.company.id).await?;
    all.retain(|template| template.status == TemplateStatus::Approved);
    Ok(all)
}

fn chosen<'a>(templates: &'a [TemplateView], fields: &Fields) -> Option<&'a TemplateView> {
    let wanted = fields.filled("template")?;
    templates.iter().find(|template| template.id.to_string() == wanted)
}

/// The values of the form as the core reads them. A field that is not filled is left out, so that
/// the core names it.
fn values(template: &TemplateView, form: &Fields, body: &mut Map<String, Value>) {
    let given = |name: &str| form.filled(name).map(Value::from);
    let mut variables = Map::new();
    for name in &template.needs.variables {
        if let Some(value) = given(&format!("variable-{name}")) {
            variables.insert(name.clone(), value);
        }
    }
    body.insert("variables".to_owned(), variables.into());
    let header = match template.needs.header.as_deref() {
        Some("text") => given("header-text").map(|text| json!({"text": text})),
        Some("location") => place(form).map(|place| json!({"location": place})),
        Some(_) => given("header-url").map(|url| json!({"url": url})),
        None => None,
    };
    if let Some(header) = header {
        body.insert("header".to_owned(), header);
    }
    let buttons = template.needs.buttons.iter().filter_map(|button| {
        let value = given(&format!("button-{}", button.index))?;
        Some(json!({"index": button.index, key_of(&button.kind): value}))
    });
    body.insert("buttons".to_owned(), buttons.collect::<Vec<_>>().into());
}

fn place(form: &Fields) -> Option<Value> {
    let fields = ["latitude", "longitude"].map(|name| (name, format!("header-{name}")));
    let mut place = Map::new();
    for (name, field) in fields {
        let text = form.filled(&field)?;
        let number = serde_json::from_str::<serde_json::Number>(text);
        place.insert(name.to_owned(), number.map_or_else(|_| text.into(), Value::from));
    }
    if let Some(name) = form.filled("header-name") {
        place.insert("name".to_owned(), name.into());
    }
    Some(place.into())
}

/// The key under which the core takes what is given for a button of this kind.
fn key_of(kind: &str) -> &'static str {
    match kind {
        "url" => "url_suffix",
        "copy_code" | "otp" => "code",
        _ => "payload",
    }
}

async fn page(ask: &Here, fields: &Fields, refused: Option<&Refused>) -> Result<Markup, Refusal> {
    let (visit, contact) = (&ask.visit, id(ask));
    let known = visit.recado.contacts().get_without_memory(visit.company.id, contact).await?;
    let is_free = known.detail.summary.assigned_to_member_id.is_none();
    let templates = approved(visit).await?;
    let chosen = chosen(&templates, fields);
    let page = page_of(contact);
    let options: Vec<(String, String)> = templates
        .iter()
        .map(|template| {
            (template.id.to_string(), format!("{} ({})", template.name, template.language))
        })
        .collect();
    let current = fields.get("template").unwrap_or_default();
    let none = FieldErrors::default();
    Ok(html! {
        p {
            a href=(page) {
                (visit.t("thread-template-back")) " " bdi { (known.detail.summary.display_name) }
            }
        }
        @if let Some(refused) = refused { (refused.show(visit, &[])) }
        @if templates.is_empty() {
            (empty(&visit.t("thread-template-empty")))
        } @else {
            form method="get" action={ (page) "/template" } {
                (select("template", &visit.t("thread-template-which"), &options, current, &none))
                button.quiet type="submit" { (visit.t("thread-template-choose")) }
            }
        }
        @if let Some(template) = chosen {
            form.answer method="post" action={ (page) "/template" }
                hx-get={ (page) "/template/preview" } hx-trigger="input delay:300ms"
                hx-target="#preview" hx-params="not csrf,key" {
                (common_fields(visit, None::<&Quote>, is_free))
                input type="hidden" name="template" value=(template.id);
                @for (name, label) in inputs(visit, template) {
                    div.field {
                        label for=(name) { (label) }
                        input id=(name) name=(name) type="text" dir="auto"
                            data-draft={ (contact) "-" (template.id) "-" (name) }
                            value=(fields.get(&name).unwrap_or_default());
                    }
                }
                @for other in &template.needs.other {
                    p.notice.warn { (visit.t("thread-template-other")) " " bdi { (other) } }
                }
                h2 { (visit.t("thread-template-preview")) }
                div #preview aria-live="polite" { (preview_of(visit, template, fields)) }
                button type="submit" { (visit.t("thread-send")) }
                " " (draft_kept(visit))
            }
        }
    })
}

/// The fields of a template, with what people read.
fn inputs(visit: &Visit, template: &TemplateView) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    match template.needs.header.as_deref() {
        Some("text") => fields.push(("header-text".into(), visit.t("thread-template-header-text"))),
        Some("location") => {
            for (name, key) in [
                ("latitude", "thread-template-latitude"),
                ("longitude", "thread-template-longitude"),
                ("name", "thread-template-place"),
            ] {
                fields.push((format!("header-{name}"), visit.t(key)));
            }
        }
        Some(_) => fields.push(("header-url".into(), visit.t("thread-template-header-url"))),
        None => {}
    }
    for name in &template.needs.variables {
        let label = visit.t_with("thread-template-variable", &[("name", name.as_str().into())]);
        fields.push((format!("variable-{name}"), label));
    }
    for button in &template.needs.buttons {
        let shown = template.components.buttons.get(button.index as usize);
        let text = shown.map_or(button.kind.as_str(), |shown| shown.text.as_str());
        let label = visit.t_with("thread-template-button", &[("button", text.into())]);
        fields.push((format!("button-{}", button.index), label));
    }
    fields
}

/// A text with what is filled in; what is not stays as the template writes it.
fn filled(text: &str, given: impl Fn(&Variable) -> Option<String>) -> String {
    let values: BTreeMap<Variable, String> = variables(text)
        .into_iter()
        .map(|variable| {
            let value = given(&variable).unwrap_or_else(|| format!("{{{{{variable}}}}}"));
            (variable, value)
        })
        .collect();
    render(text, &values).unwrap_or_else(|_| text.to_owned())
}

fn preview_of(visit: &Visit, template: &TemplateView, fields: &Fields) -> Markup {
    let body = filled(&template.body, |variable| {
        fields.filled(&format!("variable-{variable}")).map(str::to_owned)
    });
    let header = template.components.header.as_ref();
    let above = |header: &HeaderPart| {
        let text = header.text.as_deref()?;
        Some(filled(text, |_| fields.filled("header-text").map(str::to_owned)))
    };
    html! {
        div.block {
            @if let Some(header) = header {
                @match above(header) {
                    Some(text) => p { strong dir="auto" { (text) } },
                    None => p.detail {
                        (visit.word_of("thread-kind", header.kind.as_str()))
                        @if let Some(url) = fields.filled("header-url") { " " bdi { (url) } }
                    },
                }
            }
            p.text dir="auto" { (body) }
            @if let Some(footer) = &template.components.footer { p.detail dir="auto" { (footer) } }
            @if !template.components.buttons.is_empty() {
                ul.offers {
                    @for button in &template.components.buttons { li { bdi { (button.text) } } }
                }
            }
        }
    }
}
