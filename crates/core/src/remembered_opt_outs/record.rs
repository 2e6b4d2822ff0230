//! What is kept of a number that asked to stop.

use crate::Timestamp;
use crate::contacts::{ChannelKey, Phone};
use crate::ids::CompanyId;
use crate::keyed_hash::{HashKey, keyed_hash};

keyed_hash! {
    /// The keyed hash of a number within a company (R413).
    OptOutHash of "opt out"
}

/// That a number asked a company to stop, after its contact was deleted (R413). Nobody can read the
/// number out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RememberedOptOut {
    /// The company that was asked.
    pub company: CompanyId,
    /// The number.
    pub hash: OptOutHash,
    /// When it was asked.
    pub since: Timestamp,
}

impl OptOutHash {
    /// The hash of a number: the same for every form of it, and another one in each company.
    ///
    /// R413, D15.
    pub fn of_phone(key: &HashKey, company: CompanyId, phone: &Phone) -> Self {
        let mut named = company.uuid().into_bytes().to_vec();
        named.extend_from_slice(ChannelKey::of_phone(phone).as_str().as_bytes());
        Self::of(key, &named)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::contacts::Region;
    use crate::secret::SecretBytes;

    /// R413.
    #[test]
    fn both_forms_of_a_mobile_are_one_number_and_companies_are_apart() {
        let key = HashKey::new(SecretBytes::new([7; 32]));
        let hash = |company, phone: &str| {
            let phone = Phone::parse(phone, &Region::br()).expect("a phone");
            OptOutHash::of_phone(&key, CompanyId::new(Uuid::from_u128(company)), &phone)
        };
        let one = hash(1, "+5534991230001");
        assert_eq!(hash(1, "+553491230001"), one);
        assert_eq!(hash(1, "(34) 99123-0001"), one);
        assert_ne!(hash(2, "+5534991230001"), one);
        assert_ne!(hash(1, "+5534991230002"), one);
    }
}
