//! Products, orders and requests to pay (X2).

use recado_core::messages::{Money, Order, OrderItem, Product};
use rust_decimal::Decimal;
use serde_json::Value;

use super::proto::{first, whole};
use super::text;
use crate::shared::{array, at, text as text_of, text_at};

/// How many items are read at most.
const MAX_ITEMS: usize = 100;

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
    let quantity = whole(reported, "itemCount").and_then(|count| u64::try_from(count).ok());
    let items = quantity
        .filter(|count| *count > 0)
        .map(|count| OrderItem { quantity: Some(count), ..OrderItem::default() });
    Some(Order {
        catalog_id: None,
        text: field(reported, &["message"]),
        items: items.into_iter().collect(),
        total: thousandths(reported, "totalAmount1000", &["totalCurrencyCode"]),
    })
}

/// The order that a person is asked to pay, in the details of a button.
pub(super) fn to_pay(details: &Value, body: Option<&str>) -> Option<Order> {
    let currency = text_of(details, "currency").and_then(text::short)?;
    let money = |amount: Option<&Value>| {
        let amount = amount?;
        let (value, offset) = (whole(amount, "value")?, whole(amount, "offset").unwrap_or(1));
        let amount = Decimal::from(value).checked_div(Decimal::from(offset))?.normalize();
        Some(Money { amount, currency: currency.clone() })
    };
    let items = at(details, &["order"]).map_or(&[][..], |order| array(order, "items"));
    let items = items.iter().take(MAX_ITEMS).map(|item| OrderItem {
        product_id: field(item, &["retailer_id", "product_id"]),
        name: field(item, &["name"]),
        quantity: whole(item, "quantity").and_then(|count| u64::try_from(count).ok()),
        price: money(item.get("amount")),
    });
    Some(Order {
        catalog_id: None,
        text: body.and_then(|body| text::long(body.trim())),
        items: items.collect(),
        total: money(details.get("total_amount")),
    })
}

/// What engines that drive a browser have of a message of this type.
fn in_browser<'a>(payload: &'a Value, kind: &str) -> Option<&'a Value> {
    (text_at(payload, &["_data", "type"]) == Some(kind)).then(|| payload.get("_data"))?
}

fn field(value: &Value, names: &[&str]) -> Option<String> {
    first(value, names).and_then(|text| text::long(text.trim()))
}

/// An amount in thousandths of a currency.
fn thousandths(value: &Value, name: &str, currency: &[&str]) -> Option<Money> {
    let amount = Decimal::new(whole(value, name)?, 3).normalize();
    Some(Money { amount, currency: field(value, currency)? })
}
