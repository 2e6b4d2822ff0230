//! What was inferred about a contact. Reading it is a use case of its own.

use maud::{Markup, html};

use super::{id, page_of};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::layout::Area;
use crate::view::table::facts;
use crate::view::when::when;

pub(super) async fn show(ask: Ask) -> Outcome {
    let (visit, id) = (&ask.visit, id(&ask));
    let memory = visit.recado.leads().get(visit.company.id, id).await?;
    let body = html! {
        p { a href=(page_of(id)) { (visit.t("contacts-back")) } }
        @match &memory {
            None => (empty(&visit.t("contacts-memory-empty"))),
            Some(memory) => {
                @let known = &memory.inferred;
                @let many = |all: &[String]| html! {
                    ul { @for one in all { li { (one) } } }
                };
                @let pairs: Vec<(String, Markup)> = [
                    ("summary", html! { (known.summary) }),
                    ("sentiment", html! { (known.sentiment) }),
                    ("intent", html! { (known.intent) }),
                    ("consciousness", html! { (known.consciousness_level) }),
                    ("budget", html! { (known.bant.budget) }),
                    ("authority", html! { (known.bant.authority_raw.as_deref().unwrap_or(&known.bant.authority)) }),
                    ("need", html! { (known.bant.need) }),
                    ("timeline", html! { (known.bant.timeline) }),
                    ("facts", many(&known.key_facts)),
                    ("products", many(&known.products_interested)),
                    ("objections", many(&known.objections)),
                    ("topic", html! { (known.last_topic) }),
                    ("updated", when(visit, memory.last_memory_update_at)),
                ].into_iter().map(|(key, value)| (visit.t(&format!("contacts-memory-{key}")), value)).collect();
                (facts(&pairs))
            }
        }
    };
    Reply::page(Area::Contacts, visit.t("contacts-memory"), body)
}
