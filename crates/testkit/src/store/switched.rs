//! The store that is wrapped, and those that took its place.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use recado_core::store::Store;

/// How many stores there can be.
const STORES: usize = 16;

/// Stores that were wrapped one after the other; the last one counts. They are all kept, so that
/// calls under way go on.
#[derive(Clone)]
pub(super) struct Switched(Arc<[OnceLock<Arc<dyn Store>>; STORES]>);

impl Switched {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let stores = Self(Arc::default());
        stores.switch_to(store);
        stores
    }

    pub(super) fn switch_to(&self, store: Arc<dyn Store>) {
        let mut store = Some(store);
        let is_set = self.0.iter().any(|place| match store.take() {
            Some(next) => place.set(next).map_err(|refused| store = Some(refused)).is_ok(),
            None => true,
        });
        assert!(is_set, "a store was switched too often");
    }
}

impl Deref for Switched {
    type Target = dyn Store;

    fn deref(&self) -> &(dyn Store + 'static) {
        let last = self.0.iter().map_while(OnceLock::get).last();
        &**last.expect("there is a store from the beginning on")
    }
}
