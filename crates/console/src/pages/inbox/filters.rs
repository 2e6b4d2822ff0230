//! Which conversations are listed (R422).

use maud::{Markup, html};
use recado_core::access::Member;
use recado_core::connections::ConnectionView;
use recado_core::contacts::ContactFilter;
use recado_core::deals::PipelineView;
use recado_core::ids::ConnectionId;
use recado_core::page::PageRequest;
use recado_core::query::{InvalidParameter, Params};
use recado_core::tags::Tag;

use crate::ask::Ask;
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::view::field::{Field, FieldErrors, select};
use crate::visit::Visit;

/// The parameters of [`ContactFilter`] that the page passes on.
const FILTERS: &[&str] =
    &["search", "inbox_status", "assigned_to", "unread", "tag_id", "pipeline_stage_id"];
/// What stands for the member who looks.
const ME: &str = "me";
/// Conversations on a page: as many as people look through.
const PER_PAGE: u32 = 50;
/// The most that can be asked for.
const MOST_PER_PAGE: u32 = 500;

/// R422. The filter of a query. Somebody who is no member has no conversations.
///
/// # Errors
///
/// The first parameter that is not acceptable.
pub(super) fn filter_of(visit: &Visit, query: &Fields) -> Result<ContactFilter, Refusal> {
    let me = visit.member.as_ref().map(|member| member.id.to_string());
    let own = |(name, value): &(String, String)| match (name.as_str(), value.as_str(), &me) {
        ("assigned_to", ME, Some(me)) => (name.clone(), me.clone()),
        _ => (name.clone(), value.clone()),
    };
    let query = Fields::new(query.pairs().iter().map(own).collect());
    let params = query.params(&["connection_id"]);
    let connection = params.read("connection_id", "a UUID", ConnectionId::parse)?;
    Ok(ContactFilter { connection, ..ContactFilter::parse(&query.params(FILTERS))? })
}

/// R422. The page of a query: 50 conversations, or up to 500 by `per_page`.
///
/// # Errors
///
/// The first parameter that is not acceptable.
pub(super) fn page_of(query: &Fields) -> Result<PageRequest, InvalidParameter> {
    let mut page = PageRequest::parse(&query.params(&["page"]))?;
    let params: Params = query.params(&["per_page"]);
    page.limit = params.number("per_page", 1, MOST_PER_PAGE)?.unwrap_or(PER_PAGE);
    Ok(page)
}

/// What conversations are filtered by.
pub(super) struct Choices {
    pub(super) members: Vec<Member>,
    connections: Vec<ConnectionView>,
    tags: Vec<Tag>,
    pipelines: Vec<PipelineView>,
}

impl Choices {
    /// Those of the visit's company.
    pub(super) async fn of(visit: &Visit) -> Result<Self, Refusal> {
        let (recado, company) = (&visit.recado, visit.company.id);
        Ok(Self {
            members: recado.access().members(company).await?,
            connections: recado.connections().all(company).await?,
            tags: recado.tags().all(company).await?,
            pipelines: recado.deals().pipelines(company).await?,
        })
    }

    fn stages(&self) -> Vec<(String, String)> {
        let named = |pipeline: &PipelineView| {
            let (name, stages) = (pipeline.name.clone(), pipeline.stages.clone());
            let named = stages.into_iter();
            named.map(move |stage| (stage.id.to_string(), format!("{name}: {}", stage.name)))
        };
        self.pipelines.iter().flat_map(named).collect()
    }

    /// The form.
    pub(super) fn form(&self, ask: &Ask) -> Markup {
        let visit = &ask.visit;
        let none = FieldErrors::default();
        let chosen = |name: &str| ask.query.get(name).unwrap_or_default().to_owned();
        let choice = |name: &str, label: String, options: Vec<(String, String)>| {
            let any = std::iter::once((String::new(), visit.t("inbox-any")));
            select(name, &label, &any.chain(options).collect::<Vec<_>>(), &chosen(name), &none)
        };
        let word = |word: &str| (word.to_owned(), visit.word_of("inbox-status", word));
        let mut members = vec![
            ("none".to_owned(), visit.t("inbox-nobody")),
            (ME.to_owned(), visit.t("inbox-me")),
        ];
        members.extend(self.members.iter().map(|m| (m.id.to_string(), m.display_name.clone())));
        let connections = self.connections.iter();
        let connections = connections.map(|it| (it.id.to_string(), it.name.clone())).collect();
        let tags = self.tags.iter().map(|tag| (tag.id.to_string(), tag.name.clone())).collect();
        let unread = vec![("true".to_owned(), visit.t("inbox-unread-only"))];
        html! {
            form.filters method="get" action=(super::LIST) role="search" {
                (Field {
                    name: "search", label: &visit.t("inbox-search"), value: &chosen("search"),
                    kind: "search", is_required: false,
                }.show(&none))
                (choice("inbox_status", visit.t("inbox-state"), vec![word("open"), word("resolved")]))
                (choice("assigned_to", visit.t("inbox-assigned"), members))
                (choice("unread", visit.t("inbox-messages"), unread))
                (choice("connection_id", visit.t("inbox-connection"), connections))
                (choice("tag_id", visit.t("inbox-tag"), tags))
                (choice("pipeline_stage_id", visit.t("inbox-stage"), self.stages()))
                @if let Some(per_page) = ask.query.filled("per_page") {
                    input type="hidden" name="per_page" value=(per_page);
                }
                div.buttons {
                    button type="submit" { (visit.t("inbox-filter")) }
                    a href=(super::LIST) { (visit.t("inbox-filter-clear")) }
                }
            }
        }
    }
}
