//! Rendezvous hashing: which of several processes a subject is assigned to. Processes that know the
//! same set agree without communication. When a process starts or ends, only its own subjects are
//! reassigned.

use sha2::{Digest, Sha256};

use crate::ids::WorkerId;

/// The weight of a process for a subject. A subject is assigned to the process with the largest
/// weight; no two weights are equal.
fn weight(worker: WorkerId, subject: &[u8]) -> ([u8; 32], WorkerId) {
    let mut hash = Sha256::new();
    hash.update(worker.uuid().as_bytes());
    hash.update(subject);
    (hash.finalize().into(), worker)
}

/// Whether a subject is assigned to `own` among the known processes. If none is known, it is (R67,
/// R98).
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
