//! The page of a conversation, and its messages as a piece of it (R424).

use std::collections::HashMap;

use http::StatusCode;
use maud::{Markup, html};
use recado_core::access::Caller;
use recado_core::contacts::OperatorContact;
use recado_core::ids::{ContactId, MessageId};
use recado_core::messages::{MessagePage, MessageView};

use super::compose::{Quote, forms};
use super::message::{Shown, message};
use super::send::Refused;
use super::{Here, id, page_of, panel};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::pages::inbox::live;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Page, Reply};
use crate::view::empty::empty;
use crate::view::field::FieldErrors;
use crate::view::keys;
use crate::view::layout::Area;
use crate::visit::Visit;

/// R424. The conversation of a contact: its newest messages, the forms to answer, and the panel.
pub(super) async fn show(ask: Ask) -> Outcome {
    let ask = Here::of(ask);
    let page = page(&ask, None, &Fields::default()).await?;
    Ok(Reply::Page(page))
}

/// The conversation with what was refused, and what was written.
pub(super) async fn refused(ask: &Here, refused: &Refused, form: &Fields) -> Outcome {
    let page = page(ask, Some(refused), form).await?;
    Ok(Reply::Page(Page { status: StatusCode::UNPROCESSABLE_ENTITY, ..page }))
}

/// R424. The messages and the panel as a piece, which htmx loads again when something happens.
pub(super) async fn messages(ask: Ask) -> Outcome {
    let ask = Here::of(ask);
    let contact = contact_of(&ask.visit, id(&ask)).await?;
    let found = found(&ask).await?;
    let side = panel::panel(&ask.visit, &contact, true).await?;
    Reply::piece(html! { (list(&ask, &contact, &found)) (side) })
}

async fn contact_of(visit: &Visit, id: ContactId) -> Result<OperatorContact, Refusal> {
    Ok(visit.recado.contacts().get_without_memory(visit.company.id, id).await?)
}

async fn found(ask: &Here) -> Result<MessagePage<MessageView>, Refusal> {
    let visit = &ask.visit;
    // The role was checked for the route.
    let caller = Caller::trusted(&visit.company);
    let params = ask.query.params(&["page", "limit"]);
    Ok(visit.recado.messages().list_of_contact(&caller, id(ask), &params).await?)
}

async fn page(ask: &Here, refused: Option<&Refused>, form: &Fields) -> Result<Page, Refusal> {
    let visit = &ask.visit;
    let contact = contact_of(visit, id(ask)).await?;
    // Before the messages are read, so that what happens meanwhile is told of (R423).
    let after = live::position(visit).await?;
    let found = found(ask).await?;
    let side = panel::panel(visit, &contact, false).await?;
    let quoted = quoted(ask, form).await?;
    let summary = &contact.detail.summary;
    let is_free = summary.assigned_to_member_id.is_none();
    let none = FieldErrors::default();
    let errors = refused.map_or(&none, |refused| &refused.errors);
    let body = html! {
        p { a href="/console/inbox" data-key="u" { (visit.t("thread-back")) } }
        @if let Some(refused) = refused { (refused.show(visit, &["message", "body", "footer"])) }
        div.thread data-contact=(summary.id) data-after=(after) {
            div.conversation {
                (list(ask, &contact, &found))
                (forms(visit, summary.id, quoted.as_ref(), is_free, form, errors))
            }
            (side)
        }
        (help(visit))
    };
    let title = summary.display_name.clone();
    Ok(Page { area: Area::Inbox, title, body, status: StatusCode::OK })
}

/// The message that the next answer quotes: the query or the refused form names it.
async fn quoted(ask: &Here, form: &Fields) -> Result<Option<Quote>, Refusal> {
    let named = form.filled("quoted_message_id").or_else(|| ask.query.filled("quote"));
    let Some(message) = named.and_then(MessageId::parse) else { return Ok(None) };
    let messages = ask.visit.recado.messages();
    let Ok(found) = messages.get(ask.visit.company.id, message).await else { return Ok(None) };
    let view = &found.message;
    let kind = || ask.visit.word_of("thread-kind", view.message_type.as_str());
    let text = view.content.clone().or_else(|| view.media_caption.clone());
    let text = text.or_else(|| view.media_filename.clone()).unwrap_or_else(kind);
    Ok((found.contact_id == id(ask)).then_some(Quote { id: message, text }))
}

/// The messages, the oldest first, and the ways to others.
fn list(ask: &Here, contact: &OperatorContact, found: &MessagePage<MessageView>) -> Markup {
    let visit = &ask.visit;
    let page = page_of(contact.detail.summary.id);
    let number = found.pagination.page;
    let is_last = u64::from(number) * u64::from(found.pagination.limit) >= found.pagination.total;
    let to = |number: u32| format!("{page}{}", ask.query.with("page", &number.to_string()));
    let piece = format!("{page}/messages{}", ask.query.with("quote", ""));
    let reactions = reactions(&found.items);
    let is_here = |id: &MessageId| found.items.iter().any(|message| message.id == *id);
    html! {
        section #messages aria-label=(visit.t("thread-messages")) hx-get=(piece)
            hx-trigger="thread-changed" hx-swap="outerHTML" {
            @if !is_last {
                p.earlier { a rel="prev" href=(to(number + 1)) { (visit.t("thread-earlier")) } }
            }
            @if found.items.is_empty() {
                (empty(&visit.t("thread-empty")))
            } @else {
                ol.messages {
                    @for one in found.items.iter().rev() {
                        @if !is_placed(one, &is_here) {
                            li id={ "message-" (one.id) } .message.(one.direction.as_str())
                                tabindex="-1" {
                                @let given = reactions.get(&one.id).map(Vec::as_slice);
                                (message(visit, &Shown {
                                    message: one,
                                    contact,
                                    reactions: given.unwrap_or_default(),
                                }))
                            }
                        }
                    }
                }
            }
            @if number > 1 {
                p.later { a rel="next" href=(to(number - 1)) { (visit.t("thread-later")) } }
            }
        }
    }
}

/// Whether it is a reaction that is shown at the message it is about.
fn is_placed(message: &MessageView, is_here: &impl Fn(&MessageId) -> bool) -> bool {
    let reaction = message.blocks.reaction.as_ref();
    reaction.and_then(|reaction| reaction.message_id.as_ref()).is_some_and(is_here)
}

/// The reactions of a page, by the message that each is about. One that was withdrawn is none.
fn reactions(items: &[MessageView]) -> HashMap<MessageId, Vec<&MessageView>> {
    let mut all: HashMap<MessageId, Vec<&MessageView>> = HashMap::new();
    for message in items {
        let reaction = message.blocks.reaction.as_ref().filter(|given| given.emoji.is_some());
        if let Some(target) = reaction.and_then(|reaction| reaction.message_id) {
            all.entry(target).or_default().push(message);
        }
    }
    all
}

/// The keys of the page.
fn help(visit: &Visit) -> Markup {
    let keys = [
        ("r", "thread-help-answer"),
        ("j", "thread-help-next"),
        ("k", "thread-help-previous"),
        ("q", "thread-help-quote"),
        ("x", "thread-help-react"),
        ("Ctrl + Enter", "thread-help-send"),
        ("f", "thread-help-file"),
        ("b", "thread-help-buttons"),
        ("e", "thread-help-template"),
        ("t", "thread-help-take-over"),
        ("h", "thread-help-hand-off"),
        ("a", "thread-help-assign"),
        ("c", "thread-help-to-close"),
        ("m", "thread-help-read"),
        ("i", "thread-help-ai"),
        ("p", "thread-help-pause"),
        ("u", "thread-help-back"),
        ("?", "keys-help"),
    ];
    keys::help(visit, &keys)
}
