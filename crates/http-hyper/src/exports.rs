//! How many exports of contacts are made at the same time (R410).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::ids::CompanyId;

/// How many exports of contacts of one company are made at the same time.
const PER_COMPANY: u32 = 2;
/// How many exports are made at the same time in all.
const IN_ALL: u32 = 8;

/// The exports that are being made. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exports(Arc<Mutex<HashMap<CompanyId, u32>>>);

/// The place of an export, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ExportSlot {
    exports: Exports,
    company: CompanyId,
}

impl Exports {
    /// A place for one more export; `None` if there are as many as are allowed.
    ///
    /// R410.
    pub(crate) fn admit(&self, company: CompanyId) -> Option<ExportSlot> {
        let mut counts = self.counts();
        let of_company = counts.get(&company).copied().unwrap_or(0);
        if of_company >= PER_COMPANY || counts.values().sum::<u32>() >= IN_ALL {
            return None;
        }
        counts.insert(company, of_company + 1);
        Some(ExportSlot { exports: self.clone(), company })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<CompanyId, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ExportSlot {
    fn drop(&mut self) {
        let mut counts = self.exports.counts();
        if let Some(count) = counts.get_mut(&self.company) {
            *count -= 1;
        }
        counts.retain(|_, count| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn company(n: u8) -> CompanyId {
        let id = format!("00000000-0000-0000-0000-0000000000{n:02x}");
        CompanyId::parse(&id).expect("an id")
    }

    /// R410.
    #[test]
    fn a_company_has_two_exports_at_once_and_all_have_eight() {
        let exports = Exports::default();
        let mut made: Vec<_> = (0..8).map(|n| exports.admit(company(n / 2))).collect();
        assert!(made.iter().all(Option::is_some));
        assert!(exports.admit(company(9)).is_none(), "eight are made");
        made.pop();
        assert!(exports.admit(company(0)).is_none(), "this company has two");
        assert!(exports.admit(company(9)).is_some());
        drop(made);
        assert!(exports.counts().is_empty());
    }
}
