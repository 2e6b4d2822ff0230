//! The list of conversations, the newest message first (R422).

use maud::{Markup, html};
use recado_core::access::Member;
use recado_core::contacts::{ContactFilter, ContactListItem, InboxStatus};
use recado_core::page::{Page, PageRequest};

use super::filters::{Choices, filter_of, page_of};
use super::live;
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::layout::Area;
use crate::view::pager::pager;
use crate::view::when::when_short;
use crate::visit::Visit;

/// R422. The conversations that a query asks for. htmx gets the rows with their counts alone, and
/// asks for them again when something happens.
pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let filter = filter_of(visit, &ask.query)?;
    let page = page_of(&ask.query)?;
    // Before the rows are read, so that what happens meanwhile is told of (R423).
    let after = if ask.is_piece { None } else { Some(live::position(visit).await?) };
    let found = visit.recado.contacts().page_of(visit.company.id, &filter, page, false).await?;
    let counts = Counts::of(visit).await?;
    if ask.is_piece {
        let members = visit.recado.access().members(visit.company.id).await?;
        return Reply::piece(piece(&ask, &counts, &members, &found, page));
    }
    let choices = Choices::of(visit).await?;
    let body = html! {
        (choices.form(&ask))
        div data-live data-after=[after] {
            (piece(&ask, &counts, &choices.members, &found, page))
        }
    };
    Reply::page(Area::Inbox, visit.t("inbox-title"), body)
}

/// How many conversations there are.
struct Counts {
    open: u64,
    unread: u64,
    resolved: u64,
}

impl Counts {
    async fn of(visit: &Visit) -> Result<Self, Refusal> {
        let of = async |filter: ContactFilter| -> Result<u64, Refusal> {
            let contacts = visit.recado.contacts();
            let first = PageRequest::first(1);
            Ok(contacts.page_of(visit.company.id, &filter, first, false).await?.total)
        };
        let state = |status| ContactFilter { inbox_status: Some(status), ..Default::default() };
        Ok(Self {
            open: of(state(InboxStatus::Open)).await?,
            unread: of(ContactFilter { unread: Some(true), ..Default::default() }).await?,
            resolved: of(state(InboxStatus::Resolved)).await?,
        })
    }

    fn show(&self, ask: &Ask) -> Markup {
        let visit = &ask.visit;
        let all = [
            ("open", "?inbox_status=open", self.open),
            ("unread", "?unread=true", self.unread),
            ("resolved", "?inbox_status=resolved", self.resolved),
        ];
        html! {
            nav.counts aria-label=(visit.t("inbox-counts")) {
                @for (word, query, count) in all {
                    a href={ (super::LIST) (query) } {
                        (visit.word_of("inbox-status", word)) " (" (count) ")"
                    }
                    " "
                }
            }
        }
    }
}

fn piece(
    ask: &Ask,
    counts: &Counts,
    members: &[Member],
    found: &Page<ContactListItem>,
    page: PageRequest,
) -> Markup {
    let visit = &ask.visit;
    let own = format!("{}{}", super::LIST, ask.query.with("page", &page.page.to_string()));
    html! {
        section #conversations aria-label=(visit.t("inbox-title")) hx-get=(own)
            hx-trigger="inbox-changed" hx-swap="outerHTML" {
            (counts.show(ask))
            @if found.items.is_empty() {
                (empty(&visit.t("inbox-empty")))
            } @else {
                ul.conversations { @for item in &found.items { (row(visit, item, members)) } }
            }
            (pager(visit, super::LIST, &ask.query, page, found.total))
        }
    }
}

/// One conversation. It is short: a page can have 500 of them.
fn row(visit: &Visit, item: &ContactListItem, members: &[Member]) -> Markup {
    let contact = &item.summary;
    let assigned = contact.assigned_to_member_id.and_then(|id| {
        let member = members.iter().find(|member| member.id == id);
        member.map(|member| member.display_name.as_str())
    });
    html! {
        li {
            a data-conversation href={ (super::LIST) "/" (contact.id) } {
                bdi { (contact.display_name) }
            }
            @if item.has_unread { b { (visit.t("inbox-unread")) } }
            @if contact.inbox_status == InboxStatus::Resolved {
                i { (visit.word_of("inbox-status", "resolved")) }
            }
            @if let Some(name) = assigned { span { (name) } }
            @for tag in &item.tags { span.tag { (tag.name) } }
            @if let Some(at) = contact.last_message_at { (when_short(visit, at)) }
        }
    }
}
