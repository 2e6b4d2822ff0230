//! Products, orders and requests to pay (X2).

use recado_core::messages::{Order, OrderItem, Product};
use serde_json::Value;

use super::proto::first;
use super::text;
use crate::shared::money::{count, lines, thousandths};
use crate::shared::{at, text_at};

/// The product in a message.
pub(super) fn product(payload: &Value, proto: Option<&Value>) -> Option<Product> {
    let of_channel = proto.and_then(|proto| at(proto, &["productMessage", "product"]));
    product_of(of_channel.or_else(|| in_browser(payload, "product"))?)
}

fn product_of(reported: &Value) -> Option<Product> {
    let product = Product {
        catalog_id: None,
        product_id: field(reported, &["retailerId", "retailerID", "productId", "productID"]),
        name: field(reported, &["title"]),
        price: thousandths(reported, "priceAmount1000", &["currencyCode", "currency"]),
    };
    (product != Product::default()).then_some(product)
}

/// The order in a message. The engines report how many items it has, and not which.
pub(super) fn order(payload: &Value, proto: Option<&Value>) -> Option<Order> {
    let of_channel = proto.and_then(|proto| at(proto, &["orderMessage"]));
    let reported = of_channel.or_else(|| in_browser(payload, "order"))?;
    let items = count(reported, "itemCount")
        .filter(|count| *count > 0)
        .map(|count| OrderItem { quantity: Some(count), ..OrderItem::default() });
    Some(Order {
        catalog_id: None,
        text: lines([field(reported, &["orderTitle"]), field(reported, &["message"])]),
        items: items.into_iter().collect(),
        total: thousandths(reported, "totalAmount1000", &["totalCurrencyCode"]),
    })
}

/// What engines that drive a browser have of a message of this type.
fn in_browser<'a>(payload: &'a Value, kind: &str) -> Option<&'a Value> {
    (text_at(payload, &["_data", "type"]) == Some(kind)).then(|| payload.get("_data"))?
}

fn field(value: &Value, names: &[&str]) -> Option<String> {
    first(value, names).and_then(|text| text::long(text.trim()))
}
