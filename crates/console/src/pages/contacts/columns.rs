//! Which columns the list shows: a choice of the browser's user, kept in a cookie.

use http::header::SET_COOKIE;
use maud::{Markup, html};
use recado_core::contacts::ContactListItem;
use recado_core::custom_fields::CustomField;

use crate::ask::Ask;
use crate::cookies::{Cookies, cookie};
use crate::fields::Fields;
use crate::reply::{Outcome, Reply, redirect};
use crate::view::field::checkbox;
use crate::view::layout::csrf_field;
use crate::view::when::when_short;
use crate::visit::Visit;

const COOKIE: &str = "recado-contact-columns";
/// What stands before the slug of a custom field.
const CUSTOM: &str = "custom:";
/// The columns that can be chosen, custom fields aside.
const OWN: [&str; 14] = [
    "phone",
    "email",
    "status",
    "crm",
    "priority",
    "stage",
    "tags",
    "assigned",
    "unread-since",
    "city",
    "organization",
    "last-message",
    "created",
    "ai",
];
const FIRST: [&str; 5] = ["phone", "status", "stage", "tags", "last-message"];

/// The columns of the list, in order.
#[derive(Clone, Debug)]
pub(super) struct Columns(Vec<String>);

impl Columns {
    /// The columns that were chosen, as far as there still are such columns.
    pub(super) fn of(ask: &Ask, fields: &[CustomField]) -> Self {
        let Some(chosen) = cookie(&ask.headers, COOKIE) else {
            return Self(FIRST.map(str::to_owned).to_vec());
        };
        Self::known(chosen.split('.'), fields)
    }

    fn known<'a>(names: impl Iterator<Item = &'a str>, fields: &[CustomField]) -> Self {
        let is_known = |name: &&str| match name.strip_prefix(CUSTOM) {
            Some(slug) => fields.iter().any(|field| field.slug == slug),
            None => OWN.contains(name),
        };
        Self(names.filter(is_known).map(str::to_owned).collect())
    }

    /// The headings.
    pub(super) fn headings(&self, visit: &Visit, fields: &[CustomField]) -> Vec<String> {
        self.0.iter().map(|name| heading(visit, name, fields)).collect()
    }

    /// The cells of a contact.
    pub(super) fn cells<'a>(
        &'a self,
        visit: &'a Visit,
        contact: &'a ContactListItem,
        names: &'a super::list::Names,
    ) -> impl Iterator<Item = Markup> + 'a {
        self.0.iter().map(move |column| cell(visit, column, contact, names))
    }

    /// The form in which they are chosen.
    pub(super) fn chooser(&self, visit: &Visit, fields: &[CustomField], query: &Fields) -> Markup {
        let custom = fields.iter().filter(|field| field.is_active());
        let custom = custom.map(|field| format!("{CUSTOM}{}", field.slug));
        let all: Vec<String> = OWN.map(str::to_owned).into_iter().chain(custom).collect();
        html! {
            details.columns {
                summary { (visit.t("contacts-columns")) }
                form method="post" action="/console/contacts/columns" {
                    (csrf_field(visit))
                    input type="hidden" name="back" value=(query.with("page", ""));
                    fieldset {
                        legend { (visit.t("contacts-columns")) }
                        @for name in &all {
                            (checkbox(&format!("column-{name}"), &heading(visit, name, fields),
                                self.0.contains(name)))
                        }
                    }
                    button type="submit" { (visit.t("contacts-columns-save")) }
                }
            }
        }
    }
}

fn heading(visit: &Visit, name: &str, fields: &[CustomField]) -> String {
    match name.strip_prefix(CUSTOM) {
        Some(slug) => {
            let field = fields.iter().find(|field| field.slug == slug);
            field.map_or_else(|| slug.to_owned(), |field| field.label.clone())
        }
        None => visit.t(&format!("contacts-column-{name}")),
    }
}

fn cell(
    visit: &Visit,
    column: &str,
    contact: &ContactListItem,
    names: &super::list::Names,
) -> Markup {
    let ContactListItem { summary, profile, .. } = contact;
    let text = |text: Option<&str>| html! { (text.unwrap_or("–")) };
    let time = |at| html! { @if let Some(at) = at { (when_short(visit, at)) } @else { "–" } };
    match column {
        "phone" => text(Some(&summary.phone)),
        "email" => text(summary.email.as_deref()),
        "status" => html! { (visit.word_of("contacts-status", summary.inbox_status.as_str())) },
        "crm" => html! { (visit.word_of("contacts-crm", summary.crm_status.as_str())) },
        "priority" => html! { (visit.word_of("contacts-priority", summary.priority.as_str())) },
        "stage" => text(contact.pipeline_stage.as_ref().map(|stage| stage.name.as_str())),
        "tags" => html! {
            @for tag in &contact.tags { span.tag { (tag.name) } " " }
            @if contact.tags.is_empty() { "–" }
        },
        "assigned" => {
            let name = summary.assigned_to_member_id.and_then(|id| names.member(id));
            text(name)
        }
        "unread-since" => time(summary.last_inbound_at),
        "city" => text(profile.city.as_deref()),
        "organization" => html! {
            @match &profile.organization {
                Some(organization) => (organization.name),
                None => "–",
            }
        },
        "last-message" => time(summary.last_message_at),
        "created" => time(Some(summary.created_at)),
        "ai" => {
            let key = if summary.is_ai_enabled { "contacts-yes" } else { "contacts-no" };
            html! { (visit.t(key)) }
        }
        custom => {
            let slug = custom.strip_prefix(CUSTOM).unwrap_or_default();
            text(contact.custom_fields.get(slug).map(String::as_str))
        }
    }
}

/// Keeps the choice.
pub(super) async fn choose(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let fields = visit.recado.custom_fields().all(visit.company.id).await?;
    let names = ask.form.pairs().iter().filter_map(|(name, _)| name.strip_prefix("column-"));
    let chosen = Columns::known(names, &fields).0.join(".");
    // Only the query comes from the form; the path is fixed, so that it leads nowhere else.
    let back =
        Fields::parse(ask.form.get("back").unwrap_or_default().trim_start_matches('?').as_bytes());
    let path = format!("/console/contacts{}", back.with("page", ""));
    let mut response = redirect(&path, ask.is_piece);
    let cookies = Cookies::of(&visit.recado.settings().public_url);
    response.headers_mut().append(SET_COOKIE, cookies.keep_choice(COOKIE, &chosen));
    Ok(Reply::Raw(response))
}
