//! Query parameters of the listings: `&`-separated pairs, decoded.

use recado_core::contacts::{ContactFilter, CursorKey, ListQuery};
use recado_core::deliveries::DeliveryRequest;
use recado_core::events::JournalRequest;
use recado_core::ids::CompanyId;
use recado_core::messages::MessageQuery;
use recado_core::page::PageRequest;
use recado_core::prosas::LedgerFilter;
use recado_core::query::Params;
use recado_core::secret::SecretBytes;

/// Takes one input.
pub(crate) fn take(query: &str) {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let params = Params::new(pairs.map(|(name, value)| (name.into(), value.into())).collect());
    let _ = PageRequest::parse(&params);
    let _ = ListQuery::parse(&params);
    let _ = MessageQuery::parse(&params);
    let _ = DeliveryRequest::parse(&params);
    let _ = JournalRequest::parse(&params);
    let _ = LedgerFilter::parse(&params);
    // Nobody makes up a cursor.
    let company = CompanyId::parse("00000000-0000-7000-8000-000000000001").expect("an id");
    let key = CursorKey::new(SecretBytes::new([7; 32]));
    let filter = ContactFilter::default();
    assert_eq!(key.open(company, &filter, query), None);
}
