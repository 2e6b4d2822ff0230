//! The list of contacts, with the filters of the API (4.1).

use std::collections::BTreeSet;

use maud::{Markup, html};
use recado_core::access::{Member, OperatorAction};
use recado_core::connections::ConnectionView;
use recado_core::contacts::ContactFilter;
use recado_core::deals::PipelineView;
use recado_core::ids::{ConnectionId, MemberId};
use recado_core::lists::ListView;
use recado_core::page::PageRequest;
use recado_core::tags::Tag;

use super::columns::Columns;
use super::form::{any, pairs};
use super::link;
use crate::ask::Ask;
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::field::{Field, FieldErrors, select};
use crate::view::layout::Area;
use crate::view::pager::pager;
use crate::view::table::table;
use crate::visit::Visit;

/// The parameters of [`ContactFilter`] that the page passes on.
const FILTERS: &[&str] = &[
    "search",
    "inbox_status",
    "assigned_to",
    "unread",
    "tag_id",
    "list_id",
    "pipeline_stage_id",
    "crm_status",
    "source_platform",
    "is_ai_enabled",
    "is_group",
    "active_since",
    "updated_since",
];

/// The filter of a query: that of the API, the connection, and those who asked not to be written
/// to.
///
/// # Errors
///
/// The first parameter that is not acceptable.
pub(super) fn filter_of(visit: &Visit, query: &Fields) -> Result<ContactFilter, Refusal> {
    let mut filter = ContactFilter::parse(&query.params(FILTERS))?;
    let params = query.params(&["connection_id"]);
    filter.connection = params.read("connection_id", "a UUID", ConnectionId::parse)?;
    filter.opted_out_of = (query.get("opted_out") == Some("true")).then_some(visit.company.id);
    Ok(filter)
}

/// The records that contacts refer to, by name.
pub(super) struct Names {
    members: Vec<Member>,
    connections: Vec<ConnectionView>,
    pub(super) tags: Vec<Tag>,
    pub(super) lists: Vec<ListView>,
    pub(super) pipelines: Vec<PipelineView>,
}

impl Names {
    /// Those of the visit's company.
    pub(super) async fn of(visit: &Visit) -> Result<Self, Refusal> {
        let (recado, company) = (&visit.recado, visit.company.id);
        Ok(Self {
            members: recado.access().members(company).await?,
            connections: recado.connections().all(company).await?,
            tags: recado.tags().all(company).await?,
            lists: recado.lists().all(company).await?,
            pipelines: recado.deals().pipelines(company).await?,
        })
    }

    /// The name of a member.
    pub(super) fn member(&self, id: MemberId) -> Option<&str> {
        let member = self.members.iter().find(|member| member.id == id);
        member.map(|member| member.display_name.as_str())
    }

    /// The stages as choices, named with their pipelines.
    pub(super) fn stages(&self) -> Vec<(String, String)> {
        let of = |pipeline: &PipelineView| {
            let name = pipeline.name.clone();
            pipeline
                .stages
                .clone()
                .into_iter()
                .map(move |stage| (stage.id.to_string(), format!("{name}: {}", stage.name)))
        };
        self.pipelines.iter().flat_map(of).collect()
    }
}

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let filter = filter_of(visit, &ask.query)?;
    let page = PageRequest::parse(&ask.query.params(&["page", "limit"]))?;
    let contacts = visit.recado.contacts();
    let found = contacts.page_of(visit.company.id, &filter, page, false).await?;
    let fields = visit.recado.custom_fields().all(visit.company.id).await?;
    let names = Names::of(visit).await?;
    let columns = Columns::of(&ask, &fields);
    let mut headings = vec![visit.t("contacts-column-name")];
    headings.extend(columns.headings(visit, &fields));
    let rows: Vec<Vec<Markup>> = found
        .items
        .iter()
        .map(|contact| {
            let name = link(visit, contact.summary.id, &contact.summary.display_name);
            std::iter::once(name).chain(columns.cells(visit, contact, &names)).collect()
        })
        .collect();
    let body = html! {
        (actions(&ask))
        (filters(&ask, &names))
        (columns.chooser(visit, &fields, &ask.query))
        @if rows.is_empty() {
            (empty(&visit.t("contacts-empty")))
        } @else {
            (table(&visit.t("contacts-title"), &headings, &rows))
        }
        (pager(visit, super::LIST, &ask.query, page, found.total))
    };
    Reply::page(Area::Contacts, visit.t("contacts-title"), body)
}

fn actions(ask: &Ask) -> Markup {
    let visit = &ask.visit;
    let export = format!("/console/contacts/export{}", ask.query.with("page", ""));
    html! {
        nav.actions aria-label=(visit.t("contacts-actions")) {
            @if visit.may(OperatorAction::ImportContact) {
                a.button href="/console/contacts/new" { (visit.t("contacts-new")) }
                a.button href="/console/contacts/import" { (visit.t("contacts-import")) }
            }
            a.button href=(export) download { (visit.t("contacts-export")) }
            a.button href="/console/contacts/duplicates" { (visit.t("contacts-duplicates")) }
        }
    }
}

fn filters(ask: &Ask, names: &Names) -> Markup {
    let visit = &ask.visit;
    let none = FieldErrors::default();
    let chosen = |name: &str| ask.query.get(name).unwrap_or_default().to_owned();
    let choice = |name: &str, key: &str, options: Vec<(String, String)>| {
        select(name, &visit.t(key), &any(visit, options), &chosen(name), &none)
    };
    let words = |group: &str, all: &[&str]| -> Vec<(String, String)> {
        all.iter().map(|word| ((*word).to_owned(), visit.word_of(group, word))).collect()
    };
    let yes_or_no = || words("contacts-flag", &["true", "false"]);
    let connections = &names.connections;
    let platforms: BTreeSet<&str> = connections.iter().map(|it| it.platform.as_str()).collect();
    let platforms = platforms.into_iter().map(|name| (name.to_owned(), name.to_owned())).collect();
    let date = |name: &str, key: &str| {
        let (label, value) = (visit.t(key), chosen(name));
        Field { name, label: &label, value: &value, kind: "date", is_required: false }.show(&none)
    };
    let mut members = vec![("none".to_owned(), visit.t("contacts-nobody"))];
    members.extend(pairs(names.members.iter().map(|m| (m.id.to_string(), &m.display_name))));
    html! {
        form.filters method="get" action=(super::LIST) role="search" {
            (Field {
                name: "search", label: &visit.t("contacts-search"), value: &chosen("search"),
                kind: "search", is_required: false,
            }.show(&none))
            (choice("inbox_status", "contacts-column-status", words("contacts-status", &["open", "resolved"])))
            (choice("assigned_to", "contacts-column-assigned", members))
            (choice("unread", "contacts-unread", yes_or_no()))
            (choice("tag_id", "contacts-tag", pairs(names.tags.iter().map(|t| (t.id.to_string(), &t.name)))))
            (choice("list_id", "contacts-list", pairs(names.lists.iter().map(|l| (l.id.to_string(), &l.name)))))
            (choice("pipeline_stage_id", "contacts-column-stage", names.stages()))
            (choice("crm_status", "contacts-column-crm",
                words("contacts-crm", &["lead", "prospect", "customer", "inactive", "lost"])))
            (choice("opted_out", "contacts-opted-out", words("contacts-flag", &["true"])))
            (choice("is_group", "contacts-group", yes_or_no()))
            (choice("is_ai_enabled", "contacts-column-ai", yes_or_no()))
            (choice("source_platform", "contacts-platform", platforms))
            (choice("connection_id", "contacts-last-connection",
                pairs(connections.iter().map(|it| (it.id.to_string(), &it.name)))))
            (date("active_since", "contacts-active-since"))
            (date("updated_since", "contacts-updated-since"))
            div.buttons {
                button type="submit" { (visit.t("contacts-filter")) }
                a href=(super::LIST) { (visit.t("contacts-filter-clear")) }
            }
        }
    }
}
