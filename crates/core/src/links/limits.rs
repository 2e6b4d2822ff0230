//! How many visits of tracked links are recorded (R205, R206).

use super::Clicker;
use crate::access::{Gcra, RateCheck, RateKey};
use crate::ids::LinkId;

/// How many visits are recorded in a minute (R205).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClickRates {
    /// Of one link.
    pub per_link: u32,
    /// Of one client, on all links of a company.
    pub per_client: u32,
}

/// The limits of what is recorded (R205).
pub const fn rates() -> ClickRates {
    ClickRates { per_link: 60, per_client: 120 }
}

/// What a visit has to be within to be recorded: the limits of its link and its client (R205), and
/// for a person one click a minute on the same link (R206). A visit that is not recorded is charged
/// to none of them.
pub(super) fn click_checks(link: LinkId, clicker: Option<Clicker>, human: bool) -> Vec<RateCheck> {
    let rates = rates();
    let limit = |key, rate| RateCheck { key, allowance: Gcra::per_minute(rate) };
    let mut checks = vec![limit(RateKey::LinkClicks(link), rates.per_link)];
    if let Some(clicker) = clicker {
        checks.push(limit(RateKey::Clicker(clicker), rates.per_client));
        if human {
            checks.push(limit(RateKey::PersonsClick(link, clicker), 1));
        }
    }
    checks
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::access::ClientNet;
    use crate::contacts::CursorKey;
    use crate::ids::CompanyId;
    use crate::secret::SecretBytes;

    /// R206: not of programs, and not of clients that nobody knows.
    #[test]
    fn only_a_known_person_has_one_click_a_minute() {
        let (key, company) =
            (CursorKey::new(SecretBytes::new([1; 32])), CompanyId::new(Uuid::nil()));
        let client = Clicker::of(&key, company, ClientNet::of([203, 0, 113, 7].into()));
        let link = LinkId::new(Uuid::from_u128(1));
        let kinds = |clicker, human| click_checks(link, clicker, human).len();
        assert_eq!((kinds(Some(client), true), kinds(Some(client), false)), (3, 2));
        assert_eq!((kinds(None, true), kinds(None, false)), (1, 1));
    }
}
