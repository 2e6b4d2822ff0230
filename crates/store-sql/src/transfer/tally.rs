//! Sums of rows: how many, and their checksums.

use std::collections::BTreeMap;

use recado_core::ids::CompanyId;

use super::digest::digest;
use super::moved::Moved;
use super::part::Part;

/// The rows of one part and one company, added up. The order of the rows makes no difference.
///
/// R258.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there are.
    pub rows: u64,
    /// The sum of their checksums.
    sum: [u64; 4],
}

impl Tally {
    fn add(&mut self, digest: [u8; 32]) {
        self.rows += 1;
        let mut words = digest.chunks_exact(8);
        for sum in &mut self.sum {
            let word: [u8; 8] =
                words.next().and_then(|word| word.try_into().ok()).unwrap_or_default();
            *sum = sum.wrapping_add(u64::from_be_bytes(word));
        }
    }
}

/// The rows of a database, added up by part and company.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tallies(BTreeMap<(Part, Option<CompanyId>), Tally>);

impl Tallies {
    /// Adds rows of a part.
    pub fn add(&mut self, part: Part, rows: &[Moved]) {
        for moved in rows {
            self.0.entry((part, moved.company())).or_default().add(digest(moved));
        }
    }

    /// How many rows a part has.
    pub fn rows(&self, part: Part) -> u64 {
        self.0.iter().filter(|((of, _), _)| *of == part).map(|(_, tally)| tally.rows).sum()
    }

    /// The first part and company of which these are not the same rows.
    pub(crate) fn first_difference(&self, other: &Self) -> Option<(Part, Option<CompanyId>)> {
        let keys = self.0.keys().chain(other.0.keys());
        keys.filter(|key| self.0.get(key) != other.0.get(key)).min().copied()
    }

    /// The rows of a part and a company.
    pub(crate) fn of(&self, key: (Part, Option<CompanyId>)) -> Tally {
        self.0.get(&key).copied().unwrap_or_default()
    }
}
