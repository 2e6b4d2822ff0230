//! What happened to a contact: its messages, and what was made or decided about it.

use maud::{Markup, html};
use recado_core::Timestamp;
use recado_core::access::Caller;
use recado_core::contacts::OperatorContact;
use recado_core::ids::ContactId;
use recado_core::links::LinkView;
use recado_core::messages::MessageView;
use recado_core::query::Params;

use super::list::Names;
use crate::refusal::Refusal;
use crate::view::when::when;
use crate::visit::Visit;

/// How many of the latest messages the page shows.
const MESSAGES: &str = "20";

/// What happened, with when.
type Entry = (Timestamp, Markup);

/// The latest messages, each leading to its place in the thread, and what else is known with its
/// time; the newest first.
pub(super) async fn section(
    visit: &Visit,
    contact: &OperatorContact,
    links: &[&LinkView],
    names: &Names,
) -> Result<Markup, Refusal> {
    let id = contact.detail.summary.id;
    let params = Params::new(vec![("limit".to_owned(), MESSAGES.to_owned())]);
    // The role was checked for the route.
    let caller = Caller::trusted(&visit.company);
    let found = visit.recado.messages().list_of_contact(&caller, id, &params).await?;
    let is_all = found.pagination.total <= found.items.len() as u64;
    let said = found.items.iter().map(|message| (message.created_at, line(visit, id, message)));
    let mut entries: Vec<Entry> = said.collect();
    entries.extend(known(visit, contact));
    entries.extend(made(visit, id, links, names).await?);
    entries.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    Ok(html! {
        section aria-labelledby="history" {
            h2 #history { (visit.t("contacts-history")) }
            ol.history reversed { @for (_, entry) in &entries { li { (entry) } } }
            @if !is_all {
                p { a href={ "/console/inbox/" (id) } { (visit.t("contacts-history-all")) } }
            }
        }
    })
}

fn event(visit: &Visit, at: Timestamp, key: &str, name: Option<&str>) -> Entry {
    let entry = html! {
        (visit.t(key)) " · " (when(visit, at))
        @if let Some(name) = name { " " bdi { (name) } }
    };
    (at, entry)
}

/// What the contact itself says.
fn known(visit: &Visit, contact: &OperatorContact) -> Vec<Entry> {
    let summary = &contact.detail.summary;
    let times = [
        ("contacts-event-created", Some(summary.created_at)),
        ("contacts-event-closed", summary.last_closed_at),
        ("contacts-event-opted-out", contact.opted_out_at),
    ];
    let times = times.into_iter().filter_map(|(key, at)| Some((key, at?)));
    times.map(|(key, at)| event(visit, at, key, None)).collect()
}

/// Deals, documents and links.
async fn made(
    visit: &Visit,
    id: ContactId,
    links: &[&LinkView],
    names: &Names,
) -> Result<Vec<Entry>, Refusal> {
    let company = visit.company.id;
    let deals = visit.recado.deals().of_contact(company, id).await?;
    let documents = visit.recado.documents().list(company, id).await?;
    let stages = names.stages();
    let mut all = Vec::new();
    for deal in &deals {
        let made = deal.created_at;
        all.push(event(visit, made, "contacts-event-deal", Some(&deal.title)));
        let stage = deal.stage_id.map(|id| id.to_string());
        let stage = stages.iter().find(|(id, _)| Some(id) == stage.as_ref());
        if let (Some(at), Some((_, name))) = (deal.stage_entered_at, stage)
            && at != made
        {
            let name = format!("{}: {name}", deal.title);
            all.push(event(visit, at, "contacts-event-stage", Some(&name)));
        }
    }
    let added = documents.iter().map(|it| (it.created_at, it.filename.as_str()));
    all.extend(added.map(|(at, name)| event(visit, at, "contacts-event-document", Some(name))));
    let made = links.iter().map(|link| (link.created_at, link.url.as_str()));
    all.extend(made.map(|(at, url)| event(visit, at, "contacts-event-link", Some(url))));
    Ok(all)
}

fn line(visit: &Visit, id: ContactId, message: &MessageView) -> Markup {
    let text = message.content.as_deref().or(message.media_caption.as_deref());
    let text = text.or(message.media_filename.as_deref());
    let kind = visit.word_of("thread-kind", message.message_type.as_str());
    html! {
        a href={ "/console/inbox/" (id) "#message-" (message.id) } {
            (visit.word_of("contacts-direction", message.direction.as_str()))
            " · " (when(visit, message.created_at))
        }
        " " bdi { (text.unwrap_or(&kind)) }
    }
}
