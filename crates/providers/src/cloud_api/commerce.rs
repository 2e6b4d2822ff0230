//! Orders, products and advertisements (X2).

use recado_core::messages::{Money, Order, OrderItem, Product, Referral};
use rust_decimal::Decimal;
use serde_json::Value;

use super::content::words;
use crate::shared::{integer, listed};

/// An order, or a cart; `None` if it is no object.
pub(super) fn order(body: &Value) -> Option<Order> {
    body.is_object().then(|| Order {
        catalog_id: words(body, "catalog_id"),
        text: words(body, "text"),
        items: listed(body, "product_items").iter().map(item).collect(),
        total: None,
    })
}

fn item(item: &Value) -> OrderItem {
    OrderItem {
        product_id: words(item, "product_retailer_id"),
        name: words(item, "name"),
        quantity: integer(item, "quantity").and_then(|quantity| u64::try_from(quantity).ok()),
        price: price(item),
    }
}

/// The price of one; `None` if its amount or its currency is missing.
fn price(item: &Value) -> Option<Money> {
    let written = words(item, "item_price")?;
    let amount = written.parse().or_else(|_| Decimal::from_scientific(&written)).ok()?;
    Some(Money { amount, currency: words(item, "currency")? })
}

/// The product that these fields name.
pub(super) fn product(named: &Value) -> Option<Product> {
    let product_id = words(named, "product_retailer_id");
    let catalog_id = words(named, "catalog_id");
    let is_named = product_id.is_some() || catalog_id.is_some();
    is_named.then(|| Product { catalog_id, product_id, ..Product::default() })
}

/// The advertisement or post that led here.
pub(super) fn referral(body: &Value) -> Option<Referral> {
    let media = ["image_url", "video_url", "thumbnail_url"];
    body.is_object().then(|| Referral {
        source_type: words(body, "source_type"),
        source_id: words(body, "source_id"),
        source_url: words(body, "source_url"),
        headline: words(body, "headline"),
        body: words(body, "body"),
        media_url: media.iter().find_map(|field| words(body, field)),
        click_id: words(body, "ctwa_clid"),
    })
}
