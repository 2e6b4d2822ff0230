//! The text from which a person sees what the blocks hold (X4). Programs read the blocks.

use serde_json::Value;

use super::super::MessageType;
use super::{
    Answer, AnswerKind, Blocks, Interactive, Location, Money, Offer, OfferKind, Order, OrderItem,
    Product, SharedContact, SystemKind, SystemNotice,
};

impl Blocks {
    /// The text for people of a message of this type. A file, or what nobody can show, that asks
    /// about a product does not say its name.
    pub(crate) fn content_of(&self, message_type: MessageType) -> Option<String> {
        let is_about = message_type.is_file() || message_type == MessageType::Unsupported;
        if is_about && self.product.is_some() {
            return Self { product: None, ..self.clone() }.content();
        }
        self.content()
    }

    /// The text for people, in Portuguese where words are needed; `None` where nothing can be
    /// said.
    pub fn content(&self) -> Option<String> {
        let texts = [
            self.reaction.as_ref().and_then(|reaction| reaction.emoji.clone()),
            self.location.as_ref().map(location_text),
            self.shared_contacts.as_ref().map(|cards| lines(cards.iter().map(card_text))),
            self.order.as_ref().map(order_text),
            self.interactive.as_ref().and_then(interactive_text),
            self.system.as_ref().and_then(system_text),
            self.product.as_ref().map(product_text),
        ];
        let mut texts = texts.into_iter().flatten().map(|text| text.trim().to_owned());
        texts.find(|text| !text.is_empty())
    }
}

/// The lines that hold something.
fn lines(lines: impl IntoIterator<Item = String>) -> String {
    joined(lines, "\n")
}

fn joined(parts: impl IntoIterator<Item = String>, separator: &str) -> String {
    let filled = parts.into_iter().filter(|part| !part.trim().is_empty());
    filled.collect::<Vec<_>>().join(separator)
}

/// `lat,lng name, address`.
fn location_text(location: &Location) -> String {
    let Location { latitude, longitude, name, address, .. } = location;
    let place = joined([name, address].into_iter().flatten().cloned(), ", ");
    format!("{latitude},{longitude} {place}")
}

/// `name, phone, e-mail`.
fn card_text(card: &SharedContact) -> String {
    let name = card.name.clone().or_else(|| card.organization.clone());
    let phones = card.phones.iter().map(|phone| phone.number.clone());
    let emails = card.emails.iter().map(|email| email.email.clone());
    joined(name.into_iter().chain(phones).chain(emails), ", ")
}

fn money_text(money: &Money) -> String {
    let Money { amount, currency } = money;
    if currency == "BRL" {
        let (reais, cents) = (amount.round_dp(2).to_string(), "00");
        let (whole, part) = reais.split_once('.').unwrap_or((&reais, cents));
        return format!("R$ {whole},{part:0<2}");
    }
    format!("{amount} {currency}")
}

fn item_text(item: &OrderItem) -> String {
    let name = item.name.clone().or_else(|| item.product_id.clone());
    let name = name.unwrap_or_else(|| "Produto".to_owned());
    let quantity = item.quantity.unwrap_or(1);
    let price = item.price.as_ref().map(|price| format!(" ({})", money_text(price)));
    format!("{quantity} x {name}{}", price.unwrap_or_default())
}

fn order_text(order: &Order) -> String {
    let items = order.items.iter().map(item_text);
    let total = order.total.as_ref().map(|total| format!("Total: {}", money_text(total)));
    lines(order.text.iter().cloned().chain(items).chain(total))
}

fn product_text(product: &Product) -> String {
    let name = product.name.clone().or_else(|| product.product_id.clone());
    joined(name.into_iter().chain(product.price.as_ref().map(money_text)), ", ")
}

fn answer_text(answer: &Answer) -> Option<String> {
    let chosen = || answer.title.clone().or_else(|| answer.payload.clone());
    match answer.kind {
        AnswerKind::FlowReply => {
            let filled = answer.response.as_ref().map(form_text);
            filled.filter(|text| !text.trim().is_empty()).or_else(chosen)
        }
        AnswerKind::ListReply => {
            Some(joined(chosen().into_iter().chain(answer.description.clone()), "\n"))
        }
        AnswerKind::ButtonReply | AnswerKind::PollVote | AnswerKind::CallPermissionReply => {
            chosen().or_else(|| answer.id.clone())
        }
    }
}

/// A form's answer as `label: value` lines. The token that the sender of the form gave is no
/// answer.
fn form_text(response: &Value) -> String {
    let Value::Object(fields) = response else { return value_text(response) };
    if let (Some(raw), 1) = (fields.get("raw"), fields.len()) {
        return value_text(raw);
    }
    let answers = fields.iter().filter(|(label, _)| *label != "flow_token");
    lines(answers.map(|(label, value)| format!("{label}: {}", value_text(value))))
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(yes) => if *yes { "sim" } else { "não" }.to_owned(),
        Value::Array(items) => joined(items.iter().map(value_text), ", "),
        Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn interactive_text(interactive: &Interactive) -> Option<String> {
    match interactive {
        Interactive::Answer(answer) => answer_text(answer),
        Interactive::Offer(offer) => Some(offer_text(offer)),
    }
}

fn offer_text(offer: &Offer) -> String {
    let header = offer.header.as_ref().and_then(|header| header.text.clone());
    let buttons = offer.buttons.iter().flatten().filter_map(|button| button.title.clone());
    let sections = offer.sections.iter().flatten().flat_map(|section| {
        let rows = section.rows.iter().map(|row| {
            let parts = [&row.title, &row.description];
            item_line(&joined(parts.into_iter().flatten().cloned(), ": "))
        });
        section.title.iter().cloned().chain(rows).collect::<Vec<_>>()
    });
    let options = offer.options.iter().flatten().map(|option| item_line(&option.option));
    let title = match offer.kind {
        OfferKind::Poll => offer.body.as_ref().map(|question| format!("Enquete: {question}")),
        _ => offer.body.clone(),
    };
    let text = header.into_iter().chain(title).chain(options);
    let choices = buttons.map(|title| item_line(&title)).chain(sections);
    let link = offer.label.iter().chain(&offer.url).cloned();
    lines(text.chain(choices).chain([joined(link, ": ")]).chain(offer.footer.clone()))
}

fn item_line(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!("- {text}") }
}

fn system_text(system: &SystemNotice) -> Option<String> {
    let words = match &system.kind {
        SystemKind::NumberChanged { to: Some(to), .. } => format!("Novo número: {to}"),
        SystemKind::NumberChanged { to: None, .. } => "Número alterado".to_owned(),
        SystemKind::IdentityChanged => "Código de segurança alterado".to_owned(),
        SystemKind::MissedCall { video: false } => "Chamada perdida".to_owned(),
        SystemKind::MissedCall { video: true } => "Chamada de vídeo perdida".to_owned(),
        SystemKind::Call { video, seconds } => {
            let name = if *video { "Chamada de vídeo" } else { "Chamada" };
            match seconds {
                Some(seconds) => format!("{name} ({}:{:02})", seconds / 60, seconds % 60),
                None => name.to_owned(),
            }
        }
        SystemKind::FileMissing => "Arquivo não disponível".to_owned(),
        SystemKind::GroupChanged => {
            return Some(system.text.clone().unwrap_or_else(|| "Grupo alterado".to_owned()));
        }
        SystemKind::Other => return system.text.clone(),
    };
    Some(words)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content(blocks: Value) -> Option<String> {
        serde_json::from_value::<Blocks>(blocks).expect("blocks").tidied().content()
    }

    /// X4, D31a.
    #[test]
    fn a_place_is_its_coordinates_its_name_and_its_address() {
        for (name, address, text) in [
            (None, None, "-23.5,-46.6"),
            (Some("Loja"), None, "-23.5,-46.6 Loja"),
            (Some("Loja"), Some("Rua A, 1"), "-23.5,-46.6 Loja, Rua A, 1"),
            (None, Some("Rua A, 1"), "-23.5,-46.6 Rua A, 1"),
        ] {
            let location = json!({"latitude": -23.5, "longitude": -46.6, "name": name,
                "address": address});
            assert_eq!(content(json!({ "location": location })).as_deref(), Some(text));
        }
    }

    /// X4.
    #[test]
    fn a_card_is_its_name_and_its_phones() {
        let cards = json!([
            {"name": "Ana", "phones": [{"number": "+55 11 98765-4321", "type": "CELL"}],
                "emails": [{"email": "ana@example.com"}]},
            {"organization": "Loja", "phones": []},
        ]);
        assert_eq!(
            content(json!({ "shared_contacts": cards })).as_deref(),
            Some("Ana, +55 11 98765-4321, ana@example.com\nLoja")
        );
    }

    /// X4.
    #[test]
    fn an_order_is_its_text_its_items_with_quantities_and_its_total() {
        let price = |amount: &str| json!({"amount": amount, "currency": "BRL"});
        let order = json!({"text": "Por favor", "items": [
            {"name": "Caneca", "quantity": 2, "price": price("10.5")},
            {"product_id": "sku-1", "quantity": 1, "price": price("3")},
        ]});
        assert_eq!(
            content(json!({ "order": order })).as_deref(),
            Some("Por favor\n2 x Caneca (R$ 10,50)\n1 x sku-1 (R$ 3,00)\nTotal: R$ 24,00")
        );
        let foreign = json!({"items": [{"quantity": 1, "price": {"amount": "9.9",
            "currency": "USD"}}]});
        assert_eq!(
            content(json!({ "order": foreign })).as_deref(),
            Some("1 x Produto (9.9 USD)\nTotal: 9.9 USD")
        );
    }

    /// X4.
    #[test]
    fn a_form_is_its_labels_and_values_without_the_token() {
        let answer = json!({"kind": "flow_reply", "response": {"flow_token": "t", "Nome": "Ana",
            "Aceita": true, "Dias": ["seg", "ter"]}});
        let text = content(json!({ "interactive": answer })).expect("a text");
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["Aceita: sim", "Dias: seg, ter", "Nome: Ana"]);
        let raw = json!({"kind": "flow_reply", "response": "texto"});
        assert_eq!(content(json!({ "interactive": raw })).as_deref(), Some("texto"));
    }

    /// X4, D31a.
    #[test]
    fn an_answer_is_what_was_chosen() {
        for (answer, text) in [
            (json!({"kind": "button_reply", "id": "1", "title": "Sim"}), "Sim"),
            (
                json!({"kind": "list_reply", "title": "Plano", "description": "R$ 10"}),
                "Plano\nR$ 10",
            ),
            (json!({"kind": "poll_vote", "title": "Seg, Ter"}), "Seg, Ter"),
        ] {
            assert_eq!(content(json!({ "interactive": answer })).as_deref(), Some(text));
        }
    }

    /// X4.
    #[test]
    fn what_was_offered_is_its_texts_and_its_choices() {
        let poll = json!({"kind": "poll", "body": "Quando?", "options": [
            {"option": "Hoje", "votes": 0}, {"option": "Amanhã", "votes": 2}]});
        assert_eq!(
            content(json!({ "interactive": poll })).as_deref(),
            Some("Enquete: Quando?\n- Hoje\n- Amanhã")
        );
        let list = json!({"kind": "list", "header": {"text": "Loja"}, "body": "Escolha",
            "button": "Abrir", "footer": "Até já", "sections": [{"title": "Planos", "rows": [
                {"id": "1", "title": "A", "description": "barato"}, {"id": "2", "title": "B"}]}]});
        assert_eq!(
            content(json!({ "interactive": list })).as_deref(),
            Some("Loja\nEscolha\nPlanos\n- A: barato\n- B\nAté já")
        );
        let link = json!({"kind": "cta_url", "body": "Veja", "label": "Site",
            "url": "https://example.com"});
        assert_eq!(
            content(json!({ "interactive": link })).as_deref(),
            Some("Veja\nSite: https://example.com")
        );
    }

    /// X4.
    #[test]
    fn a_notice_says_in_portuguese_what_happened() {
        for (system, text) in [
            (json!({"kind": "missed_call"}), "Chamada perdida"),
            (json!({"kind": "missed_call", "video": true}), "Chamada de vídeo perdida"),
            (json!({"kind": "call", "seconds": 65}), "Chamada (1:05)"),
            (json!({"kind": "number_changed", "to": "5511"}), "Novo número: 5511"),
            (json!({"kind": "identity_changed"}), "Código de segurança alterado"),
            (json!({"kind": "group_changed", "text": "Ana saiu"}), "Ana saiu"),
            (json!({"kind": "file_missing"}), "Arquivo não disponível"),
            (json!({"kind": "other", "text": "Outro"}), "Outro"),
        ] {
            assert_eq!(content(json!({ "system": system })).as_deref(), Some(text));
        }
    }

    /// X4, X2.
    #[test]
    fn a_voice_note_about_a_product_does_not_say_its_name() {
        let product = json!({"product": {"name": "Caneca"}});
        let blocks: Blocks = serde_json::from_value(product).expect("blocks");
        assert_eq!(blocks.content_of(MessageType::Audio), None);
        assert_eq!(blocks.content_of(MessageType::Unsupported), None);
        assert_eq!(blocks.content_of(MessageType::Text).as_deref(), Some("Caneca"));
    }

    /// X4.
    #[test]
    fn an_empty_form_is_its_title() {
        for response in [json!({}), json!({"flow_token": "t"})] {
            let answer = json!({"kind": "flow_reply", "title": "Quero", "response": response});
            assert_eq!(content(json!({ "interactive": answer })).as_deref(), Some("Quero"));
        }
    }

    /// X4, X7.
    #[test]
    fn a_reaction_is_its_emoji_and_nothing_once_withdrawn() {
        assert_eq!(content(json!({"reaction": {"emoji": "👍"}})).as_deref(), Some("👍"));
        assert_eq!(content(json!({"reaction": {"emoji": null}})), None);
        assert_eq!(content(json!({"forwarded": "often"})), None);
    }

    /// X4.
    #[test]
    fn an_offer_without_a_text_is_its_product() {
        let blocks = json!({"interactive": {"kind": "product"}, "product": {"name": "Caneca",
            "price": {"amount": "10.5", "currency": "BRL"}}});
        assert_eq!(content(blocks).as_deref(), Some("Caneca, R$ 10,50"));
    }
}
