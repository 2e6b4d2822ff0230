//! The classification of the API's error codes, for a send and its connection.

use std::ops::RangeInclusive;

/// The consequence of an error code for the message and its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Not sent, and never will be in this form.
    Refused,
    /// Not sent, because of the account, its number or its token.
    Connection,
    /// Not sent; the same message may be accepted later.
    TryLater,
    /// It may have been sent.
    Uncertain,
}

use ErrorClass::{Connection, Refused, TryLater, Uncertain};

/// The classes by code. The API decides by code and details only; texts change.
const TABLE: &[(RangeInclusive<u32>, ErrorClass)] = &[
    // Authentication and permissions.
    (0..=0, Connection),
    (3..=3, Connection),
    (10..=10, Connection),
    (33..=33, Connection),
    (190..=190, Connection),
    (200..=299, Connection),
    (368..=368, Connection),
    (131_005..=131_005, Connection),
    (131_031..=131_031, Connection),
    // The state of the account and its number.
    (131_037..=131_037, Connection),
    (131_042..=131_042, Connection),
    (131_044..=131_045, Connection),
    (133_000..=133_000, Connection),
    (133_005..=133_006, Connection),
    (133_008..=133_010, Connection),
    (133_016..=133_016, Connection),
    // An internal failure, before or after the message was sent.
    (1..=2, Uncertain),
    (131_000..=131_000, Uncertain),
    (131_016..=131_016, Uncertain),
    // Limits and maintenance.
    (4..=4, TryLater),
    (17..=17, TryLater),
    (32..=32, TryLater),
    (613..=613, TryLater),
    (80_007..=80_007, TryLater),
    (130_429..=130_429, TryLater),
    (131_048..=131_048, TryLater),
    (131_056..=131_057, TryLater),
    (132_069..=132_069, TryLater),
    (133_004..=133_004, TryLater),
    (133_015..=133_015, TryLater),
    // The request, the recipient, the content.
    (100..=100, Refused),
    (130_472..=130_472, Refused),
    (130_497..=130_497, Refused),
    (131_008..=131_009, Refused),
    (131_020..=131_021, Refused),
    (131_026..=131_026, Refused),
    (131_030..=131_030, Refused),
    (131_041..=131_041, Refused),
    (131_047..=131_047, Refused),
    (131_049..=131_053, Refused),
    (131_055..=131_055, Refused),
    (131_059..=131_059, Refused),
    (131_062..=131_064, Refused),
    (131_201..=131_215, Refused),
    (132_000..=132_001, Refused),
    (132_005..=132_005, Refused),
    (132_007..=132_008, Refused),
    (132_012..=132_012, Refused),
    (132_015..=132_016, Refused),
    (132_018..=132_018, Refused),
    (132_068..=132_068, Refused),
    (134_011..=134_011, Refused),
    (134_100..=134_102, Refused),
    (135_000..=135_000, Refused),
    (137_000..=137_000, Refused),
    (2_593_107..=2_593_109, Refused),
];

/// The class of a code; `None` for one that is not known.
pub fn class_of(code: u32) -> Option<ErrorClass> {
    TABLE.iter().find(|(codes, _)| codes.contains(&code)).map(|(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use recado_core::messages::DeliveryCode;

    use super::*;

    #[test]
    fn no_code_is_in_two_rows() {
        for (index, (codes, _)) in TABLE.iter().enumerate() {
            for (others, _) in &TABLE[index + 1..] {
                let apart = codes.end() < others.start() || others.end() < codes.start();
                assert!(apart, "{codes:?} {others:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_code_is_uncertain_here_exactly_when_the_catalogue_says_so(
            code in prop_oneof![0..400_u32, 79_000..81_000_u32, 130_000..138_000_u32, any::<u32>()],
        ) {
            let uncertain = class_of(code) == Some(Uncertain);
            let catalogued = DeliveryCode::of_official(code) == DeliveryCode::DeliveryUncertain;
            prop_assert_eq!(uncertain, catalogued);
        }

        #[test]
        fn every_code_of_the_catalogue_has_a_class(
            code in prop_oneof![0..400_u32, 79_000..81_000_u32, 130_000..138_000_u32],
        ) {
            let catalogued = DeliveryCode::of_official(code) != DeliveryCode::Unknown;
            prop_assert!(!catalogued || class_of(code).is_some(), "{}", code);
        }
    }
}
