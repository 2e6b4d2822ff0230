//! Answering by a text, by buttons, and by a reaction (R425).

use maud::{Markup, html};
use recado_core::Error;
use recado_core::access::OperatorAction;
use recado_core::ids::{ContactId, MessageId};
use recado_core::sending::SendError;
use serde_json::{Map, Value, json};

use super::send::{Once, Refused, key_field};
use super::{Here, id, page_of, show};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::field::{Field, FieldErrors};
use crate::view::layout::csrf_field;
use crate::visit::Visit;

/// How many buttons the form has fields for.
const BUTTONS: usize = 3;

/// The fields that every answer has: the message that is quoted, and whose conversation it becomes.
pub(super) fn common(visit: &Visit, form: &Fields, body: &mut Map<String, Value>) {
    if let Some(quoted) = form.filled("quoted_message_id") {
        body.insert("quoted_message_id".to_owned(), quoted.into());
    }
    if let (Some(_), Some(member)) = (form.get("assign"), &visit.member) {
        body.insert("member_id".to_owned(), member.id.to_string().into());
    }
}

/// By what two posts of a form are compared: all but its token.
pub(super) fn compared(form: &Fields) -> Vec<u8> {
    let pairs = form.pairs().iter().filter(|(name, _)| name != crate::csrf::FIELD);
    json!(pairs.collect::<Vec<_>>()).to_string().into_bytes()
}

/// What follows a send: the conversation, with the refusal where there was one.
pub(super) async fn answered(ask: &Here, sent: Result<(), Refused>, form: &Fields) -> Outcome {
    match sent {
        Ok(()) => Reply::goto(format!("{}#answer", page_of(id(ask)))),
        Err(refused) => show::refused(ask, &refused, form).await,
    }
}

/// Sends the text of the form.
pub(super) async fn text(ask: Ask) -> Outcome {
    let ask = Here::of(ask);
    let mut body = ask.form.body().text("message").finish();
    common(&ask.visit, &ask.form, &mut body);
    reply(&ask, "reply", body).await
}

/// Sends a text with buttons.
pub(super) async fn buttons(ask: Ask) -> Outcome {
    let ask = Here::of(ask);
    let titles = ask.form.all("button").map(str::trim).filter(|title| !title.is_empty());
    let buttons: Vec<Value> = (1..)
        .zip(titles)
        .map(|(number, title)| json!({"id": number.to_string(), "title": title}))
        .collect();
    let mut offer = ask.form.body().optional("footer").finish();
    offer.insert("kind".to_owned(), "buttons".into());
    offer.insert("body".to_owned(), ask.form.get("body").unwrap_or_default().into());
    offer.insert("buttons".to_owned(), buttons.into());
    if ask.form.get("fallback").is_some() {
        offer.insert("fallback".to_owned(), "text".into());
    }
    let mut body = Map::new();
    body.insert("interactive".to_owned(), offer.into());
    common(&ask.visit, &ask.form, &mut body);
    reply(&ask, "buttons", body).await
}

async fn reply(ask: &Here, operation: &str, body: Map<String, Value>) -> Outcome {
    let (visit, contact) = (&ask.visit, id(ask));
    let (recado, company) = (visit.recado.clone(), visit.company.id);
    let key = ask.form.get("key").unwrap_or_default();
    let compared = compared(&ask.form);
    let once = Once { visit, contact, operation, key, compared: &compared };
    let send =
        async move { recado.conversations().reply(company, contact, &body).await.map(|_| ()) };
    let sent = once.run(send).await?;
    answered(ask, sent, &ask.form).await
}

/// Reacts to a message, or withdraws the reaction.
pub(super) async fn react(ask: Ask) -> Outcome {
    let ask = Here::of(ask);
    let (visit, contact) = (&ask.visit, id(&ask));
    let message = of_contact(visit, contact, &ask).await?;
    let emoji = ask.form.filled("emoji").map_or(Value::Null, Value::from);
    let body = Map::from_iter([("emoji".to_owned(), emoji)]);
    let conversations = visit.recado.conversations();
    match conversations.react(visit.company.id, message, &body).await {
        Ok(_) => Reply::goto(format!("{}#message-{message}", page_of(contact))),
        Err(Error::Rejected(refused)) => {
            show::refused(&ask, &Refused::of(ask.visit.language, &refused), &Fields::default())
                .await
        }
        Err(error) => Err(error.into()),
    }
}

/// The message of the path, if it is of the contact of the path.
async fn of_contact(visit: &Visit, contact: ContactId, ask: &Here) -> Result<MessageId, Refusal> {
    let message = ask.path.id("message_id", MessageId::parse);
    let found = visit.recado.messages().get(visit.company.id, message).await?;
    match found.contact_id == contact {
        true => Ok(message),
        false => Err(Refusal::of(&SendError::MessageNotFound)),
    }
}

/// The fields for the message that is quoted, and for whose conversation it becomes.
pub(super) fn common_fields(visit: &Visit, quoted: Option<&Quote>, is_free: bool) -> Markup {
    html! {
        (csrf_field(visit))
        (key_field(visit))
        @if let Some(quoted) = quoted {
            input type="hidden" name="quoted_message_id" value=(quoted.id);
        }
        @if visit.member.is_some() {
            label.check {
                input type="checkbox" name="assign" value="on" checked[is_free];
                " " (visit.t("thread-assign-me"))
            }
        }
    }
}

/// R425. Where it is said that what stands in a form is kept in the browser.
pub(super) fn draft_kept(visit: &Visit) -> Markup {
    html! { span.detail role="status" data-kept=(visit.t("thread-draft-kept")) {} }
}

/// The message that an answer quotes.
pub(super) struct Quote {
    pub(super) id: MessageId,
    pub(super) text: String,
}

/// R425. The forms below a conversation.
pub(super) fn forms(
    visit: &Visit,
    contact: ContactId,
    quoted: Option<&Quote>,
    is_free: bool,
    form: &Fields,
    errors: &FieldErrors,
) -> Markup {
    let page = page_of(contact);
    let written = form.get("message").unwrap_or_default();
    html! {
        section #answer aria-labelledby="answer-title" {
            h2 #answer-title { (visit.t("thread-answer")) }
            @if let Some(quoted) = quoted {
                div.quoted {
                    p { (visit.t("thread-quoting")) }
                    blockquote dir="auto" { (quoted.text) }
                    p { a href={ (page) "#answer" } { (visit.t("thread-quote-none")) } }
                }
            }
            @if visit.may(OperatorAction::ReplyToContact) {
                form.answer method="post" action={ (page) "/reply" } {
                    (common_fields(visit, quoted, is_free))
                    @let error = errors.get("message");
                    div.field {
                        label for="answer-text" { (visit.t("thread-text")) }
                        textarea #answer-text name="message" rows="4" dir="auto"
                            data-draft=(contact) aria-invalid=[error.map(|_| "true")]
                            aria-describedby=[error.map(|_| "answer-text-error")] { (written) }
                        @if let Some(error) = error { p.error #answer-text-error { (error) } }
                    }
                    button type="submit" { (visit.t("thread-send")) }
                    " " span.detail { (visit.t("thread-keys")) }
                    " " (draft_kept(visit))
                }
            }
            @if visit.may(OperatorAction::ReplyWithMedia) {
                details data-key="f" open[form.get("caption").is_some()] {
                    summary { (visit.t("thread-file")) }
                    (super::upload::form(visit, contact, quoted, is_free, form))
                }
            }
            @if visit.may(OperatorAction::ReplyToContact) {
                details data-key="b" open[form.get("button").is_some()] {
                    summary { (visit.t("thread-buttons")) }
                    (button_form(visit, &page, quoted, is_free, form, errors))
                }
            }
            @if visit.may(OperatorAction::ReplyWithTemplate) {
                p {
                    a.button href={ (page) "/template" } data-key="e" {
                        (visit.t("thread-template"))
                    }
                }
            }
        }
    }
}

fn button_form(
    visit: &Visit,
    page: &str,
    quoted: Option<&Quote>,
    is_free: bool,
    form: &Fields,
    errors: &FieldErrors,
) -> Markup {
    let titles: Vec<&str> = form.all("button").collect();
    let field = |name, key: &str| {
        let value = form.get(name).unwrap_or_default();
        Field { name, label: &visit.t(key), value, kind: "text", is_required: false }.show(errors)
    };
    html! {
        form.answer method="post" action={ (page) "/buttons" } {
            (common_fields(visit, quoted, is_free))
            (field("body", "thread-buttons-body"))
            (field("footer", "thread-buttons-footer"))
            @for n in 0..BUTTONS {
                div.field {
                    label for={ "button-" (n) } {
                        (visit.t_with("thread-button", &[("number", (n + 1).into())]))
                    }
                    input id={ "button-" (n) } type="text" name="button" maxlength="20"
                        value=(titles.get(n).copied().unwrap_or_default());
                }
            }
            label.check {
                input type="checkbox" name="fallback" value="text" checked;
                " " (visit.t("thread-buttons-fallback"))
            }
            button type="submit" { (visit.t("thread-send")) }
        }
    }
}
