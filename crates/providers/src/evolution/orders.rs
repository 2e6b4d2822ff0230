//! Products and orders of a catalogue.

use recado_core::messages::{Blocks, MessageType, Money, Order, OrderItem, Product};
use rust_decimal::Decimal;
use serde_json::Value;

use super::body::MessageContent;
use super::values::{filled, short, text_in, whole};
use crate::shared::{at, listed};

/// A product that was sent or asked about; `None` for one without a name and a text.
pub(super) fn product(part: &Value) -> Option<MessageContent> {
    let told = at(part, &["product"]).unwrap_or(&Value::Null);
    let product = Product {
        catalog_id: None,
        product_id: text_in(told, &["productId"]).or_else(|| text_in(told, &["retailerId"])),
        name: text_in(told, &["title"]),
        price: thousandths(told, "priceAmount1000", "currencyCode"),
    };
    // The name is the shop's, not the person's: the block has it.
    let text = text_in(part, &["body"]);
    if text.is_none() && product == Product::default() {
        return None;
    }
    let blocks = Blocks { product: Some(product), ..Blocks::default() };
    Some(MessageContent { content: text, ..MessageContent::with(MessageType::Text, blocks) })
}

/// An order of a catalogue: the channel tells how many things were ordered, not which.
pub(super) fn order(part: &Value) -> MessageContent {
    let quantity = whole(part, "itemCount").and_then(|count| u64::try_from(count).ok());
    let item = |quantity| OrderItem { quantity: Some(quantity), ..OrderItem::default() };
    let order = Order {
        catalog_id: None,
        text: lines([text_in(part, &["orderTitle"]), text_in(part, &["message"])]),
        items: quantity.filter(|count| *count > 0).map(item).into_iter().collect(),
        total: thousandths(part, "totalAmount1000", "totalCurrencyCode"),
    };
    let blocks = Blocks { order: Some(order), ..Blocks::default() };
    MessageContent::with(MessageType::Order, blocks)
}

/// The order that a request for payment is about, if it names things; `text` is the request's.
pub(super) fn requested(request: &Value, text: Option<String>) -> Option<Order> {
    let currency = filled(request, "currency").and_then(short);
    let price = |value: &Value, name: &str| {
        Some(Money { amount: scaled(value.get(name)?)?, currency: currency.clone()? })
    };
    let listed = at(request, &["order"]).map_or(&[][..], |order| listed(order, "items"));
    let items: Vec<OrderItem> = listed
        .iter()
        .map(|item| OrderItem {
            product_id: text_in(item, &["retailer_id"]).or_else(|| text_in(item, &["product_id"])),
            name: text_in(item, &["name"]),
            quantity: whole(item, "quantity").and_then(|count| u64::try_from(count).ok()),
            price: price(item, "amount"),
        })
        .collect();
    let total = price(request, "total_amount");
    (!items.is_empty()).then_some(Order { catalog_id: None, text, items, total })
}

/// An amount as a whole number and what it is divided by.
fn scaled(amount: &Value) -> Option<Decimal> {
    let value = Decimal::from(whole(amount, "value")?);
    let offset = Decimal::from(whole(amount, "offset").unwrap_or(1));
    Some(value.checked_div(offset)?.round_dp(3).normalize())
}

/// An amount in thousandths with its currency.
fn thousandths(value: &Value, amount: &str, currency: &str) -> Option<Money> {
    let amount = Decimal::new(whole(value, amount)?, 3).normalize();
    Some(Money { amount, currency: filled(value, currency).and_then(short)? })
}

/// The texts that are there, each on a line of its own, and none twice.
fn lines(texts: [Option<String>; 2]) -> Option<String> {
    let mut lines: Vec<String> = texts.into_iter().flatten().collect();
    lines.dedup();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
