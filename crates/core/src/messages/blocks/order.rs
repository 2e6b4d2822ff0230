//! Orders, products and their prices (X2).

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Money {
    /// A decimal number in a text.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub amount: Decimal,
    /// The currency, as ISO 4217 writes it.
    pub currency: String,
}

/// An order, or a cart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Order {
    /// The catalogue.
    pub catalog_id: Option<String>,
    /// The text that came with it.
    pub text: Option<String>,
    /// What was ordered.
    pub items: Vec<OrderItem>,
    /// What it costs; null where the gateway reports no total and not all prices are known in one
    /// currency.
    pub total: Option<Money>,
}

/// An item of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct OrderItem {
    /// The product.
    pub product_id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// How many.
    pub quantity: Option<u64>,
    /// The price of one.
    pub price: Option<Money>,
}

/// A product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Product {
    /// The catalogue.
    pub catalog_id: Option<String>,
    /// The product.
    pub product_id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its price.
    pub price: Option<Money>,
}

impl Order {
    /// The order with its total: the reported one, else the sum of its items if all prices and
    /// quantities are known in one currency.
    #[must_use]
    pub fn with_total(mut self) -> Self {
        if self.total.is_none() {
            self.total = sum(&self.items);
        }
        self
    }
}

/// What the items cost together; `None` if a price or a quantity is missing, or if there are two
/// currencies.
fn sum(items: &[OrderItem]) -> Option<Money> {
    let currency = &items.first()?.price.as_ref()?.currency;
    let mut amount = Decimal::ZERO;
    for item in items {
        let price = item.price.as_ref().filter(|price| price.currency == *currency)?;
        let cost = price.amount.checked_mul(Decimal::from(item.quantity?))?;
        amount = amount.checked_add(cost)?;
    }
    Some(Money { amount, currency: currency.clone() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn item(cents: i64, quantity: Option<u64>, currency: &str) -> OrderItem {
        let price = Money { amount: Decimal::new(cents, 2), currency: currency.to_owned() };
        OrderItem { quantity, price: Some(price), ..OrderItem::default() }
    }

    fn total(items: Vec<OrderItem>) -> Option<Money> {
        Order { items, ..Order::default() }.with_total().total
    }

    /// X2.
    #[test]
    fn a_total_needs_every_price_in_one_currency() {
        let sum = total(vec![item(1_050, Some(2), "BRL"), item(25, Some(1), "BRL")]);
        assert_eq!(
            serde_json::to_value(sum).expect("JSON"),
            json!({"amount": "21.25", "currency": "BRL"})
        );
        assert_eq!(total(vec![item(100, Some(1), "BRL"), item(100, Some(1), "USD")]), None);
        assert_eq!(total(vec![item(100, None, "BRL")]), None);
        assert_eq!(total(vec![item(100, Some(1), "BRL"), OrderItem::default()]), None);
        assert_eq!(total(Vec::new()), None);
    }

    /// X2.
    #[test]
    fn a_total_that_the_gateway_reports_stays() {
        let reported = Money { amount: Decimal::new(999, 2), currency: "BRL".to_owned() };
        let order = Order {
            items: vec![item(100, Some(1), "BRL")],
            total: Some(reported.clone()),
            ..Order::default()
        };
        assert_eq!(order.with_total().total, Some(reported));
    }

    proptest! {
        #[test]
        fn no_prices_and_quantities_make_a_total_panic(
            items in prop::collection::vec((any::<i64>(), any::<u64>()), 0..5),
        ) {
            let items = items.into_iter().map(|(cents, many)| item(cents, Some(many), "BRL"));
            let _ = total(items.collect());
        }
    }
}
