//! Which of several installations an identifier or an API key is of (D3, D11).

use uuid::{Uuid, Variant};

/// The bits of an identifier after its time, version and variant.
const TAIL_BITS: u32 = 74;
/// The bits that hold the cell, where an identifier has one.
const CELL_BITS: u32 = 10;
/// The bits of the tail before the variant.
const HEAD_BITS: u32 = 12;

/// An installation with a database of its own, among others that share its companies out: 0 to 999.
/// One that is alone is cell 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(u16);

impl Cell {
    /// The highest number.
    pub const MAX: u16 = 999;

    /// The cell of this number; none above [`Cell::MAX`].
    pub const fn new(number: u16) -> Option<Self> {
        match number {
            0..=Self::MAX => Some(Self(number)),
            _ => None,
        }
    }

    /// Its number.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// How many bits of an identifier are left for chance.
    pub const fn tail_bits(self) -> u32 {
        match self.0 {
            0 => TAIL_BITS,
            _ => TAIL_BITS - CELL_BITS,
        }
    }

    /// The identifier with this time, in milliseconds, and the last [`Cell::tail_bits`] bits of
    /// `tail` (D3): UUIDv7 in cell 0; in another one UUIDv8 with the cell in the ten bits that
    /// follow the variant. Identifiers of one cell sort by their time, then by their tail.
    pub fn uuid(self, millis: u64, tail: u128) -> Uuid {
        let rest = self.tail_bits() - HEAD_BITS;
        let head = (tail >> rest) & bits(HEAD_BITS);
        let version = if self.0 == 0 { 7 } else { 8 };
        let cell = u128::from(self.0) << (TAIL_BITS - HEAD_BITS - CELL_BITS);
        let time = u128::from(millis) & bits(48);
        let tail = cell | tail & bits(rest);
        Uuid::from_u128(time << 80 | version << 76 | head << 64 | 0b10 << 62 | tail)
    }

    /// The cell in which an identifier was made (D3). None if it was not made by Recado.
    pub fn of_uuid(id: Uuid) -> Option<Self> {
        match (id.get_variant(), id.get_version_num()) {
            (Variant::RFC4122, 7) => Some(Self(0)),
            (Variant::RFC4122, 8) => {
                let cell = (id.as_u128() >> (TAIL_BITS - HEAD_BITS - CELL_BITS)) & bits(CELL_BITS);
                Self::new(u16::try_from(cell).ok()?).filter(|cell| *cell != Self(0))
            }
            _ => None,
        }
    }

    /// What its API keys begin with (D11): `rk_`, in cell 7 `rk7_`.
    pub fn key_prefix(self) -> String {
        match self.0 {
            0 => "rk_".to_owned(),
            number => format!("rk{number}_"),
        }
    }

    /// The cell in which an API key was made (D11). None for a text that no key begins like.
    pub fn of_key(key: &str) -> Option<Self> {
        let (prefix, _) = key.split_once('_')?;
        let number = match prefix.strip_prefix("rk")? {
            "" => 0,
            digits => digits.parse().ok()?,
        };
        Self::new(number).filter(|cell| key.starts_with(&cell.key_prefix()))
    }
}

/// So many bits that are set.
const fn bits(count: u32) -> u128 {
    (1 << count) - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells() -> impl Strategy<Value = Cell> {
        (0..=Cell::MAX).prop_map(|number| Cell::new(number).expect("at most 999"))
    }

    proptest! {
        /// D3.
        #[test]
        fn an_identifier_says_its_cell_and_its_time(
            cell in cells(), millis in 0..1_u64 << 48, tail: u128,
        ) {
            let id = cell.uuid(millis, tail);
            prop_assert_eq!(Cell::of_uuid(id), Some(cell));
            prop_assert_eq!(id.get_version_num(), if cell.number() == 0 { 7 } else { 8 });
            prop_assert_eq!(id.get_variant(), Variant::RFC4122);
            prop_assert_eq!(id.as_u128() >> 80, u128::from(millis));
        }

        /// D3.
        #[test]
        fn identifiers_of_a_cell_sort_by_time_and_tail(
            cell in cells(), one: (u16, u64), other: (u16, u64),
        ) {
            let id = |(millis, tail): (u16, u64)| cell.uuid(millis.into(), tail.into());
            prop_assert_eq!(one.cmp(&other), id(one).cmp(&id(other)));
        }

        /// D11.
        #[test]
        fn a_key_says_its_cell(cell in cells(), rest in "[A-Za-z0-9_-]{43}") {
            prop_assert_eq!(Cell::of_key(&format!("{}{rest}", cell.key_prefix())), Some(cell));
        }
    }

    /// D3: ten bits follow the variant.
    #[test]
    fn the_cell_stands_after_the_variant() {
        let cell = Cell::new(0x2a5).expect("a cell");
        let id = cell.uuid(0x0193_a5c0_1234, u128::MAX);
        assert_eq!(id.to_string(), "0193a5c0-1234-8fff-aa5f-ffffffffffff");
        let id = Cell::default().uuid(0x0193_a5c0_1234, 0);
        assert_eq!(id.to_string(), "0193a5c0-1234-7000-8000-000000000000");
    }

    /// D3, D11.
    #[test]
    fn what_was_not_made_by_a_cell_has_none() {
        assert_eq!(Cell::new(1000), None);
        for id in ["0193a5c0-1234-4fff-aa5f-ffffffffffff", "0193a5c0-1234-8fff-bf5f-ffffffffffff"] {
            assert_eq!(Cell::of_uuid(id.parse().expect("an id")), None, "{id}");
        }
        for key in ["", "rk", "rk0_a", "rk01_a", "rk1000_a", "rk-1_a", "rk+1_a", "ro_a", "xrk_a"] {
            assert_eq!(Cell::of_key(key), None, "{key}");
        }
    }
}
