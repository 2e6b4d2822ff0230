//! Which of two rows of one kind stays when both contacts of a merge have one (D62).
//!
//! Stores apply it in [`Change::reassign`](crate::store::Change::reassign), in one step, however
//! many rows there are. Of two memberships of a list or a tag that of the contact which stays is
//! kept; both rows have the same content.

use crate::campaigns::{Recipient, RecipientStatus};
use crate::dispatches::{DispatchWindow, WindowState};

/// Whose row stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stays {
    /// That of the contact which stays.
    Own,
    /// That of the contact which is deleted.
    Theirs,
}

impl Stays {
    const fn theirs_if(is_theirs: bool) -> Self {
        if is_theirs { Self::Theirs } else { Self::Own }
    }
}

/// Which of two dispatch windows with one key stays: one that was sent rather than a reserved one,
/// whose message may still be refused; then the one that ends later, so that no dispatch is
/// accepted too early (D50); on a tie the contact's own.
#[must_use]
pub fn window_that_stays(own: &DispatchWindow, theirs: &DispatchWindow) -> Stays {
    let rank = |window: &DispatchWindow| (window.state == WindowState::Sent, window.ends_at);
    Stays::theirs_if(rank(theirs) > rank(own))
}

/// Which of two recipients of one campaign: the contact's own, unless it still waits and theirs
/// does not, so that no person is written to twice (D66). The other one loses its contact.
#[must_use]
pub fn recipient_that_stays(own: &Recipient, theirs: &Recipient) -> Stays {
    let waits = |recipient: &Recipient| recipient.status == RecipientStatus::Waiting;
    Stays::theirs_if(waits(own) && !waits(theirs))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::Timestamp;
    use crate::campaigns::{OutcomeTimes, RecipientNumber};
    use crate::dispatches::WindowKey;
    use crate::ids::{CampaignId, CompanyId, ContactId, MessageId};

    fn window((state, ends_at): (WindowState, i64)) -> DispatchWindow {
        DispatchWindow {
            company: CompanyId::new(Uuid::nil()),
            contact: ContactId::new(Uuid::nil()),
            key: WindowKey::from_bytes([0; 32]),
            message: MessageId::new(Uuid::nil()),
            sent_at: Timestamp::from_millis(0),
            state,
            ends_at: Timestamp::from_millis(ends_at),
        }
    }

    fn recipient(status: RecipientStatus) -> Recipient {
        Recipient {
            company: CompanyId::new(Uuid::nil()),
            campaign: CampaignId::new(Uuid::nil()),
            number: RecipientNumber(1),
            contact: None,
            status,
            message: None,
            debit: None,
            fault: None,
            sent_at: None,
            outcomes: OutcomeTimes::default(),
        }
    }

    #[test]
    fn a_sent_window_stays_then_the_later_one_then_the_own_one() {
        use WindowState::{Reserved, Sent};
        for (own, theirs, stays) in [
            ((Reserved, 9), (Sent, 1), Stays::Theirs),
            ((Sent, 1), (Reserved, 9), Stays::Own),
            ((Sent, 1), (Sent, 2), Stays::Theirs),
            ((Sent, 2), (Sent, 1), Stays::Own),
            ((Sent, 1), (Sent, 1), Stays::Own),
            ((Reserved, 1), (Reserved, 2), Stays::Theirs),
            ((Reserved, 2), (Reserved, 1), Stays::Own),
            ((Reserved, 1), (Reserved, 1), Stays::Own),
        ] {
            let found = window_that_stays(&window(own), &window(theirs));
            assert_eq!(found, stays, "{own:?} {theirs:?}");
        }
    }

    #[test]
    fn a_recipient_gives_way_only_while_it_waits_and_only_to_one_that_does_not() {
        for own in RecipientStatus::ALL {
            for theirs in RecipientStatus::ALL {
                let found = recipient_that_stays(&recipient(*own), &recipient(*theirs));
                let waiting = RecipientStatus::Waiting;
                let expected = match (*own == waiting, *theirs == waiting) {
                    (true, false) => Stays::Theirs,
                    (true, true) | (false, _) => Stays::Own,
                };
                assert_eq!(found, expected, "{own:?} {theirs:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn after_a_merge_no_template_passes_earlier_than_before(
            one in (prop::sample::select(WindowState::ALL), 0_i64..4),
            other in (prop::sample::select(WindowState::ALL), 0_i64..4),
        ) {
            let (own, theirs) = (window(one), window(other));
            let stays = match window_that_stays(&own, &theirs) {
                Stays::Own => &own,
                Stays::Theirs => &theirs,
            };
            // Independent of which of the contacts stays.
            let swapped = match window_that_stays(&theirs, &own) {
                Stays::Own => &theirs,
                Stays::Theirs => &own,
            };
            prop_assert_eq!((stays.state, stays.ends_at), (swapped.state, swapped.ends_at));
            for window in [&own, &theirs].into_iter().filter(|w| w.state == WindowState::Sent) {
                prop_assert!(stays.state == WindowState::Sent && stays.ends_at >= window.ends_at);
            }
        }
    }
}
