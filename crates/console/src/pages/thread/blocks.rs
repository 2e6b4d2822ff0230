//! What a message holds besides its text and its file (R424).

use maud::{Markup, html};
use recado_core::messages::{
    Answer, Blocks, Interactive, Location, Money, Offer, Order, Product, Reaction, Referral,
    SharedContact, SystemKind, SystemNotice, Unsupported,
};

use crate::i18n::Value;
use crate::visit::Visit;

/// R424. What the blocks of a message hold, and whether its text only says the same for people.
pub(super) fn blocks(visit: &Visit, blocks: &Blocks) -> (Markup, bool) {
    let parts: Vec<Markup> = [
        blocks.location.as_ref().map(|place| location(visit, place)),
        blocks.shared_contacts.as_ref().map(|cards| self::cards(visit, cards)),
        blocks.interactive.as_ref().map(|interactive| match interactive {
            Interactive::Answer(answer) => self::answer(visit, answer),
            Interactive::Offer(offer) => self::offer(visit, offer),
        }),
        blocks.order.as_ref().map(|order| self::order(visit, order)),
        blocks.reaction.as_ref().map(|reaction| self::reaction(visit, reaction)),
        blocks.system.as_ref().map(|notice| system(visit, notice)),
        blocks.unsupported.as_ref().map(|unsupported| self::unsupported(visit, unsupported)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let shown = html! {
        @if let Some(referral) = &blocks.referral { (self::referral(visit, referral)) }
        @if let Some(product) = &blocks.product { (self::product(visit, product)) }
        @for part in &parts { (part) }
    };
    (shown, !parts.is_empty())
}

/// A link to a page of others, if it is a page at all.
pub(super) fn outward(url: &str, text: &str) -> Markup {
    let is_page = url.starts_with("https://") || url.starts_with("http://");
    html! {
        @if is_page {
            a href=(url) target="_blank" rel="noopener noreferrer nofollow" { bdi { (text) } }
        } @else { bdi { (text) } }
    }
}

fn location(visit: &Visit, place: &Location) -> Markup {
    let Location { latitude, longitude, name, address, url, is_live } = place;
    let map = format!("https://www.openstreetmap.org/?mlat={latitude}&mlon={longitude}");
    html! {
        div.block {
            @if *is_live { p { (visit.t("thread-location-live")) } }
            @if let Some(name) = name { p { strong { bdi { (name) } } } }
            @if let Some(address) = address { p { bdi { (address) } } }
            p { (outward(&map, &format!("{latitude}, {longitude}"))) }
            @if let Some(url) = url { p { (outward(url, url)) } }
        }
    }
}

fn cards(visit: &Visit, cards: &[SharedContact]) -> Markup {
    html! {
        ul.block aria-label=(visit.t("thread-cards")) {
            @for card in cards {
                li {
                    @if let Some(name) = &card.name { p { strong { bdi { (name) } } } }
                    @let texts = [&card.title, &card.organization, &card.birthday];
                    @for text in texts.into_iter().flatten() {
                        p { bdi { (text) } }
                    }
                    @for phone in &card.phones {
                        p { bdi { (phone.number) }
                            @if let Some(kind) = &phone.kind { " " bdi.detail { (kind) } } }
                    }
                    @for email in &card.emails { p { bdi { (email.email) } } }
                    @for address in &card.addresses { p { bdi { (address) } } }
                    @for url in &card.urls { p { (outward(url, url)) } }
                }
            }
        }
    }
}

fn offer(visit: &Visit, offer: &Offer) -> Markup {
    let header = offer.header.as_ref().and_then(|header| header.text.as_ref());
    html! {
        div.block {
            @if let Some(header) = header { p { strong dir="auto" { (header) } } }
            @if let Some(body) = &offer.body { p.text dir="auto" { (body) } }
            @if let Some(buttons) = &offer.buttons {
                ul.offers { @for button in buttons {
                    li { bdi { (button.title.as_deref().unwrap_or_default()) } }
                } }
            }
            @if let Some(button) = &offer.button { p { bdi { (button) } } }
            @for section in offer.sections.iter().flatten() {
                @if let Some(title) = &section.title { p { strong { bdi { (title) } } } }
                ul.offers { @for row in &section.rows {
                    li { bdi { (row.title.as_deref().unwrap_or_default()) }
                        @if let Some(text) = &row.description { " " bdi.detail { (text) } } }
                } }
            }
            @if let Some(options) = &offer.options {
                ul.offers { @for option in options {
                    li { bdi { (option.option) } " · "
                        (visit.t_with("thread-votes", &[("votes", Value::from(option.votes))])) }
                } }
            }
            @if let Some(url) = &offer.url {
                p { (outward(url, offer.label.as_deref().unwrap_or(url))) }
            }
            @if let Some(footer) = &offer.footer { p.detail dir="auto" { (footer) } }
        }
    }
}

fn answer(visit: &Visit, answer: &Answer) -> Markup {
    let kind = serde_json::to_value(answer.kind).ok();
    let kind = kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
    let filled = answer.response.as_ref().and_then(serde_json::Value::as_object);
    let is_form = matches!(answer.kind, recado_core::messages::AnswerKind::FlowReply);
    html! {
        div.block {
            p.detail { (visit.word_of("thread-answer", kind)) }
            @if let Some(id) = answer.in_reply_to {
                p { a href={ "#message-" (id) } { (visit.t("thread-answer-to")) } }
            }
            @if let Some(title) = answer.title.as_ref().or(answer.payload.as_ref()) {
                p.text dir="auto" { (title) }
            }
            @if let Some(text) = &answer.description { p dir="auto" { (text) } }
            @if is_form {
                dl.facts { @for (name, value) in filled.into_iter().flatten() {
                    dt { bdi { (name) } }
                    dd { bdi { @match value.as_str() { Some(text) => (text), None => (value) } } }
                } }
            }
        }
    }
}

fn money(money: &Money) -> String {
    format!("{} {}", money.amount, money.currency)
}

fn order(visit: &Visit, order: &Order) -> Markup {
    html! {
        div.block {
            @if let Some(text) = &order.text { p.text dir="auto" { (text) } }
            ul {
                @for item in &order.items {
                    li {
                        (item.quantity.unwrap_or(1)) " × "
                        @let name = item.name.as_ref().or(item.product_id.as_ref());
                        bdi { (name.map_or("", String::as_str)) }
                        @if let Some(price) = &item.price { " · " (money(price)) }
                    }
                }
            }
            @if let Some(total) = &order.total {
                p { strong { (visit.t("thread-order-total")) ": " (money(total)) } }
            }
        }
    }
}

fn product(visit: &Visit, product: &Product) -> Markup {
    let name = product.name.as_ref().or(product.product_id.as_ref());
    html! {
        div.block {
            p.detail { (visit.t("thread-product")) }
            p { bdi { (name.map_or("", String::as_str)) }
                @if let Some(price) = &product.price { " · " (money(price)) } }
        }
    }
}

fn referral(visit: &Visit, referral: &Referral) -> Markup {
    html! {
        div.block {
            p.detail { (visit.t("thread-referral")) }
            @if let Some(headline) = &referral.headline { p { strong { bdi { (headline) } } } }
            @if let Some(body) = &referral.body { p dir="auto" { (body) } }
            @if let Some(url) = &referral.source_url { p { (outward(url, url)) } }
        }
    }
}

fn reaction(visit: &Visit, reaction: &Reaction) -> Markup {
    html! {
        p.block {
            @match &reaction.emoji {
                Some(emoji) => bdi { (emoji) },
                None => (visit.t("thread-reaction-withdrawn")),
            }
            @if let Some(id) = reaction.message_id {
                " " a href={ "#message-" (id) } { (visit.t("thread-reaction-to")) }
            }
        }
    }
}

fn system(visit: &Visit, notice: &SystemNotice) -> Markup {
    let words = match &notice.kind {
        SystemKind::NumberChanged { from, to } => {
            let number = |number: &Option<String>| number.clone().unwrap_or_else(|| "?".to_owned());
            visit.t_with(
                "thread-system-number-changed",
                &[("from", number(from).into()), ("to", number(to).into())],
            )
        }
        SystemKind::IdentityChanged => visit.t("thread-system-identity-changed"),
        SystemKind::MissedCall { video: true } => visit.t("thread-system-missed-video-call"),
        SystemKind::MissedCall { video: false } => visit.t("thread-system-missed-call"),
        SystemKind::Call { video, seconds } => {
            let call = match video {
                true => visit.t("thread-system-video-call"),
                false => visit.t("thread-system-call"),
            };
            match seconds {
                Some(seconds) => format!("{call} · {}:{:02}", seconds / 60, seconds % 60),
                None => call,
            }
        }
        SystemKind::GroupChanged => visit.t("thread-system-group-changed"),
        SystemKind::FileMissing => visit.t("thread-system-file-missing"),
        SystemKind::Other => visit.t("thread-system-other"),
    };
    html! {
        div.block {
            p { bdi { (words) } }
            @if let Some(text) = &notice.text { p.detail dir="auto" { (text) } }
        }
    }
}

fn unsupported(visit: &Visit, unsupported: &Unsupported) -> Markup {
    html! {
        div.block {
            p { (visit.t("thread-unsupported")) }
            @for text in [&unsupported.provider_type, &unsupported.reason].into_iter().flatten() {
                p.detail { bdi { (text) } }
            }
        }
    }
}
