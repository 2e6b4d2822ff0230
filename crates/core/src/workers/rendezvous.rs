//! Which of several processes something falls to (rendezvous hashing): all that know the same ones
//! agree without a message, and when one comes or goes only what is its own moves.

use sha2::{Digest, Sha256};

use crate::ids::WorkerId;

/// How much a process weighs for a subject; it falls to the heaviest. No two weigh the same.
pub(crate) fn weight(worker: WorkerId, subject: &[u8]) -> ([u8; 32], WorkerId) {
    let mut hash = Sha256::new();
    hash.update(worker.uuid().as_bytes());
    hash.update(subject);
    (hash.finalize().into(), worker)
}

/// Whether a subject falls to a process among those that are known. One that is not known yet
/// takes what no other would (R67, R98).
pub(crate) fn falls_to(own: WorkerId, known: &[WorkerId], subject: &[u8]) -> bool {
    let heaviest = known.iter().map(|worker| weight(*worker, subject)).max();
    heaviest.is_none_or(|(_, worker)| worker == own)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    proptest! {
        #[test]
        fn a_subject_falls_to_exactly_one_of_those_that_are_known(
            ids in prop::collection::btree_set(any::<u128>(), 1..9),
            subject in any::<[u8; 16]>(),
        ) {
            let workers: Vec<WorkerId> =
                ids.into_iter().map(|id| WorkerId::new(Uuid::from_u128(id))).collect();
            let takers = workers.iter().filter(|own| falls_to(**own, &workers, &subject));
            prop_assert_eq!(takers.count(), 1);
        }
    }

    #[test]
    fn where_nobody_is_known_whoever_asks_takes_it() {
        assert!(falls_to(WorkerId::new(Uuid::from_u128(1)), &[], b"subject"));
    }
}
