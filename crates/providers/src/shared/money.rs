//! Amounts of money in messages of the channel.

use recado_core::messages::{Money, Order, OrderItem};
use rust_decimal::{Decimal, RoundingStrategy};
use serde_json::Value;

use super::proto::{said, whole};
use super::{array, at};

/// How many items are read at most; the core keeps fewer.
const MAX_ITEMS: usize = 1_000;
/// Currencies without a smaller unit.
const NO_DECIMALS: [&str; 16] = [
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV",
    "XAF", "XOF", "XPF",
];
/// Currencies whose smaller unit is a thousandth.
const THREE_DECIMALS: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

/// How many decimals amounts in a currency have.
fn decimals(currency: &str) -> u32 {
    match currency.to_ascii_uppercase().as_str() {
        code if NO_DECIMALS.contains(&code) => 0,
        code if THREE_DECIMALS.contains(&code) => 3,
        _ => 2,
    }
}

fn money(amount: Decimal, currency: String) -> Money {
    let nearest = RoundingStrategy::MidpointAwayFromZero;
    let amount = amount.round_dp_with_strategy(decimals(&currency), nearest).normalize();
    Money { amount, currency }
}

/// An amount in thousandths of a currency.
pub(crate) fn thousandths(value: &Value, name: &str, currency: &[&str]) -> Option<Money> {
    let amount = Decimal::new(whole(value, name)?, 3);
    Some(money(amount, said(value, currency)?))
}

/// An amount that is a whole number and what it is divided by.
fn scaled(amount: &Value, currency: Option<&String>) -> Option<Money> {
    let value = Decimal::from(whole(amount, "value")?);
    let offset = Decimal::from(whole(amount, "offset").unwrap_or(1));
    Some(money(value.checked_div(offset)?, currency?.clone()))
}

/// How many; `None` for a number that is no count.
pub(crate) fn count(value: &Value, name: &str) -> Option<u64> {
    whole(value, name).and_then(|count| u64::try_from(count).ok())
}

/// The texts that are there, each on a line of its own, and none twice.
pub(crate) fn lines(texts: [Option<String>; 2]) -> Option<String> {
    let mut lines: Vec<String> = texts.into_iter().flatten().collect();
    lines.dedup();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The order that a request for payment is about, if it names things or a total; `text` is the
/// text of the request.
pub(crate) fn requested(request: &Value, text: Option<String>) -> Option<Order> {
    let currency = said(request, &["currency"]);
    let price = |amount: Option<&Value>| scaled(amount?, currency.as_ref());
    let items = at(request, &["order"]).map_or(&[][..], |order| array(order, "items"));
    let items: Vec<OrderItem> = items
        .iter()
        .take(MAX_ITEMS)
        .map(|item| OrderItem {
            product_id: said(item, &["retailer_id", "product_id"]),
            name: said(item, &["name"]),
            quantity: count(item, "quantity"),
            price: price(item.get("amount")),
        })
        .collect();
    let total = price(request.get("total_amount"));
    let says_any = !items.is_empty() || total.is_some();
    says_any.then_some(Order { catalog_id: None, text, items, total })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// X2.
    #[test]
    fn an_amount_has_the_decimals_of_its_currency() {
        for (amount, currency, expected) in [
            (10_500, "BRL", "10.5"),
            (10_505, "BRL", "10.51"),
            (10_504, "BRL", "10.5"),
            (10_500, "JPY", "11"),
            (10_505, "KWD", "10.505"),
            (-10_505, "USD", "-10.51"),
        ] {
            let value = json!({"priceAmount1000": amount, "currencyCode": currency});
            let read = thousandths(&value, "priceAmount1000", &["currencyCode"]).expect("money");
            assert_eq!(read.amount.to_string(), expected, "{amount} {currency}");
        }
        assert_eq!(thousandths(&json!({"priceAmount1000": 1}), "priceAmount1000", &["c"]), None);
    }

    /// X2.
    #[test]
    fn what_is_to_be_paid_is_its_items_and_its_total() {
        let request = json!({"currency": "CLP", "total_amount": {"value": 21_005, "offset": 10},
            "order": {"items": [{"name": "Caneca", "quantity": -1,
                "amount": {"value": 1, "offset": 0}}]}});
        let order = requested(&request, None).expect("an order");
        assert_eq!(order.total.map(|total| total.amount.to_string()).as_deref(), Some("2101"));
        assert_eq!((order.items[0].quantity, &order.items[0].price), (None, &None));
        assert_eq!(requested(&json!({"currency": "BRL"}), None), None);
    }
}
