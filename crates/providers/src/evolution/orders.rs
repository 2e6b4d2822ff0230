//! Products and orders of a catalogue.

use recado_core::messages::{Blocks, MessageType, Order, OrderItem, Product};
use serde_json::Value;

use super::body::MessageContent;
use super::values::text_in;
use crate::shared::at;
use crate::shared::money::{count, lines, thousandths};

/// The product in a part of a message; `None` if nothing of it is known.
pub(super) fn described(part: &Value) -> Option<Product> {
    let told = at(part, &["product"])?;
    let product = Product {
        catalog_id: None,
        product_id: text_in(told, &["retailerId"]).or_else(|| text_in(told, &["productId"])),
        name: text_in(told, &["title"]),
        price: thousandths(told, "priceAmount1000", &["currencyCode", "currency"]),
    };
    (product != Product::default()).then_some(product)
}

/// A product that was sent or asked about; `None` for one without a name and a text.
pub(super) fn product(part: &Value) -> Option<MessageContent> {
    let product = described(part);
    // The name is the shop's, not the person's: the block has it.
    let text = text_in(part, &["body"]);
    if text.is_none() && product.is_none() {
        return None;
    }
    let blocks = Blocks { product, ..Blocks::default() };
    Some(MessageContent { content: text, ..MessageContent::with(MessageType::Text, blocks) })
}

/// An order of a catalogue: the channel tells how many things were ordered, not which.
pub(super) fn order(part: &Value) -> MessageContent {
    let quantity = count(part, "itemCount");
    let item = |quantity| OrderItem { quantity: Some(quantity), ..OrderItem::default() };
    let order = Order {
        catalog_id: None,
        text: lines([text_in(part, &["orderTitle"]), text_in(part, &["message"])]),
        items: quantity.filter(|count| *count > 0).map(item).into_iter().collect(),
        total: thousandths(part, "totalAmount1000", &["totalCurrencyCode"]),
    };
    let blocks = Blocks { order: Some(order), ..Blocks::default() };
    MessageContent::with(MessageType::Order, blocks)
}
