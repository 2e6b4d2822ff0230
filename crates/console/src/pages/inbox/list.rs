//! The list of conversations, the newest message first (R422).

use maud::{Markup, html};
use recado_core::access::{Member, OperatorAction};
use recado_core::contacts::{ContactFilter, ContactListItem, InboxStatus};
use recado_core::messages::{Direction, GLANCES_AT_ONCE, Glance};
use recado_core::page::{Page, PageRequest};

use super::filters::{Choices, filter_of, page_of};
use super::live;
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::keys;
use crate::view::layout::Area;
use crate::view::pager::pager;
use crate::view::when::when_short;
use crate::visit::Visit;

/// The keys of the list.
const KEYS: [(&str, &str); 4] = [
    ("j", "inbox-keys-next"),
    ("k", "inbox-keys-previous"),
    ("/", "inbox-keys-search"),
    ("?", "keys-help"),
];

/// R422. The conversations that a query asks for. htmx gets the rows with their counts alone, and
/// asks for them again when something happens.
pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let filter = filter_of(visit, &ask.query)?;
    let page = page_of(&ask.query)?;
    // Before the rows are read, so that what happens meanwhile is told of (R423).
    let after = if ask.is_piece { None } else { Some(live::position(visit).await?) };
    let found = visit.recado.contacts().page_of(visit.company.id, &filter, page, false).await?;
    let glances = glances(visit, &found).await?;
    let counts = Counts::of(visit).await?;
    if ask.is_piece {
        let members = visit.recado.access().members(visit.company.id).await?;
        return Reply::piece(piece(&ask, &counts, &members, (&found, &glances), page));
    }
    let choices = Choices::of(visit).await?;
    let body = html! {
        (choices.form(&ask))
        div data-live data-after=[after] {
            (piece(&ask, &counts, &choices.members, (&found, &glances), page))
        }
        (keys::help(visit, &KEYS))
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
    (found, glances): (&Page<ContactListItem>, &[Glance]),
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
                ul.conversations { @for item in &found.items { (row(visit, item, members, glances)) } }
            }
            (pager(visit, super::LIST, &ask.query, page, found.total))
        }
    }
}

/// R422. The last messages of a page, for those who may read messages. A page of more than 100 has
/// none.
async fn glances(visit: &Visit, found: &Page<ContactListItem>) -> Result<Vec<Glance>, Refusal> {
    let is_long = found.items.len() > GLANCES_AT_ONCE;
    if is_long || !visit.may(OperatorAction::ListOperatorMessages) {
        return Ok(Vec::new());
    }
    let items = found.items.iter();
    let of: Vec<_> = items.map(|item| (item.summary.id, item.has_unread)).collect();
    Ok(visit.recado.messages().glances(visit.company.id, &of).await?)
}

/// How many messages are unread; without a number where it is not known.
fn unread(visit: &Visit, count: Option<u32>) -> String {
    match count {
        None | Some(0) => visit.t("inbox-unread"),
        Some(count) => visit.t_with("inbox-unread-count", &[("count", count.into())]),
    }
}

/// What the last message said, or what it was.
fn excerpt(visit: &Visit, last: &Glance) -> Markup {
    let kind = || visit.word_of("thread-kind", last.message_type.as_str());
    html! {
        p {
            @if last.direction == Direction::Outbound { (visit.t("inbox-own")) " " }
            bdi { (last.excerpt.clone().unwrap_or_else(kind)) }
        }
    }
}

/// One conversation. It is short: a page can have 500 of them.
fn row(visit: &Visit, item: &ContactListItem, members: &[Member], glances: &[Glance]) -> Markup {
    let contact = &item.summary;
    let last = glances.iter().find(|glance| glance.contact == contact.id);
    let assigned = contact.assigned_to_member_id.and_then(|id| {
        let member = members.iter().find(|member| member.id == id);
        member.map(|member| member.display_name.as_str())
    });
    html! {
        li {
            a data-conversation href={ (super::LIST) "/" (contact.id) } {
                bdi { (contact.display_name) }
            }
            @if item.has_unread { b { (unread(visit, last.map(|last| last.unread))) } }
            @if contact.inbox_status == InboxStatus::Resolved {
                i { (visit.word_of("inbox-status", "resolved")) }
            }
            @if let Some(name) = assigned { span { (name) } }
            @for tag in &item.tags { span.tag { (tag.name) } }
            @if let Some(at) = contact.last_message_at { (when_short(visit, at)) }
            @if let Some(last) = last { (excerpt(visit, last)) }
        }
    }
}
