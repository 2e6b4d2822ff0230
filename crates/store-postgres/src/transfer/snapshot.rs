//! Which transactions a snapshot of Postgres sees.

/// A snapshot, as `pg_current_snapshot` writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// Everything before this has ended.
    oldest: u64,
    /// Nothing from this on was begun.
    next: u64,
    /// What was under way between the two.
    under_way: Vec<u64>,
}

impl Snapshot {
    /// Reads `oldest:next:under,way`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let (oldest, next) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let under_way = parts.next()?.split(',').filter(|number| !number.is_empty());
        let under_way = under_way.map(|number| number.parse().ok()).collect::<Option<_>>()?;
        Some(Self { oldest, next, under_way })
    }

    /// Whether it sees what a transaction with this number has committed. Changes name a
    /// transaction by the lower half of its number; the upper one is that of the nearest to the
    /// snapshot.
    pub(super) fn sees(&self, transaction: u32) -> bool {
        let distance = i64::from(transaction.wrapping_sub(self.next as u32).cast_signed());
        let number = self.next.wrapping_add_signed(distance);
        number < self.oldest || (number < self.next && !self.under_way.contains(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R461.
    #[test]
    fn a_snapshot_sees_what_had_ended() {
        let snapshot = Snapshot::parse("100:105:100,103").expect("a snapshot");
        let seen: Vec<u32> = (98..108).filter(|number| snapshot.sees(*number)).collect();
        assert_eq!(seen, [98, 99, 101, 102, 104]);
        let quiet = Snapshot::parse("7:7:").expect("a snapshot");
        assert!(quiet.sees(6) && !quiet.sees(7));
    }

    /// R461.
    #[test]
    fn numbers_go_on_after_four_thousand_million() {
        let next = (3_u64 << 32) + 2;
        let text = format!("{}:{next}:{}", next - 5, next - 1);
        let snapshot = Snapshot::parse(&text).expect("a snapshot");
        // One before and one after the lower half began anew.
        assert!(snapshot.sees(u32::MAX) && snapshot.sees(0));
        assert!(!snapshot.sees(1) && !snapshot.sees(2));
    }

    #[test]
    fn another_text_is_no_snapshot() {
        for text in ["", "1", "1:2", "a:2:", "1:2:x", "1:2:3,x"] {
            assert_eq!(Snapshot::parse(text), None, "{text}");
        }
    }
}
