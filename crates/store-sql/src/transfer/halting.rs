//! Which halts a move begins with, makes and ends (D75, D76).

use recado_core::halts::{Halt, HaltSubject, Halted};
use recado_core::ids::CompanyId;
use recado_core::store::Row;

use super::moved::Moved;
use super::refusal::Refusal;
use super::stores::Scope;

/// Why the installation, or the company, is halted by a move.
pub const REASON: &str = "recado move";

/// The halts that a move finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Whether an earlier move has closed the source, and was killed.
    pub(super) is_begun: bool,
    /// Whether the operator holds the installation, which then stays held.
    pub(super) is_held: bool,
}

/// Whether a move may begin with these halts.
///
/// R262.
pub(super) fn found(halted: &Halted, scope: Scope) -> Result<Found, Refusal> {
    let own = HaltSubject::writing_of(scope.company());
    let closure = halted.of(own);
    if closure.is_some_and(Halt::is_final) {
        return Err(Refusal::MovedAway);
    }
    let is_of_another = |halt: &&Halt| match (halt.subject, scope) {
        (HaltSubject::Writing, Scope::Company(_)) => true,
        (HaltSubject::WritingOf(_), Scope::Installation) => !halt.is_final(),
        (HaltSubject::SendingOf(company), Scope::Installation) => {
            !halted.of(HaltSubject::WritingOf(company)).is_some_and(Halt::is_final)
        }
        _ => false,
    };
    if halted.halts().iter().any(|halt| is_of_another(&halt)) && closure.is_none() {
        return Err(Refusal::AnotherMove);
    }
    let is_held = halted.hold().is_some_and(|hold| !is_own(hold));
    Ok(Found { is_begun: closure.is_some(), is_held })
}

fn is_own(hold: &Halt) -> bool {
    hold.reason.as_deref() == Some(REASON)
}

/// Whether a row is moved. Of the halts, the operator's hold is, and what says that a company was
/// moved away; not what the move itself has halted.
///
/// R262.
pub(super) fn is_moved(moved: &Moved, scope: Scope) -> bool {
    let Moved::Row { row: Row::Halt(halt), .. } = moved else { return true };
    match halt.subject {
        HaltSubject::Sending => !is_own(halt),
        HaltSubject::WritingOf(_) => halt.is_final() && scope == Scope::Installation,
        HaltSubject::Writing | HaltSubject::SendingOf(_) => false,
    }
}

impl Scope {
    /// The company that is moved alone.
    pub const fn company(self) -> Option<CompanyId> {
        match self {
            Self::Installation => None,
            Self::Company(company) => Some(company),
        }
    }
}

#[cfg(test)]
mod tests {
    use recado_core::Timestamp;
    use recado_core::halts::Whereabouts;
    use recado_core::store::Version;
    use uuid::Uuid;

    use super::*;

    const COMPANY: CompanyId = CompanyId::new(Uuid::from_u128(1));
    const OTHER: CompanyId = CompanyId::new(Uuid::from_u128(2));

    fn halt(subject: HaltSubject, reason: &str, is_final: bool) -> Halt {
        let whereabouts = if is_final { Whereabouts::Elsewhere } else { Whereabouts::Here };
        Halt { subject, reason: Some(reason.to_owned()), since: Timestamp::MIN, whereabouts }
    }

    fn of(halts: &[Halt], scope: Scope) -> Result<Found, Refusal> {
        found(&Halted::new(halts.to_vec()), scope)
    }

    /// R262.
    #[test]
    fn a_killed_move_is_begun_again_and_a_finished_one_is_not() {
        let open = Found { is_begun: false, is_held: false };
        let begun = Found { is_begun: true, is_held: false };
        assert_eq!(of(&[], Scope::Installation), Ok(open));
        for (subject, scope) in [
            (HaltSubject::Writing, Scope::Installation),
            (HaltSubject::WritingOf(COMPANY), Scope::Company(COMPANY)),
        ] {
            assert_eq!(of(&[halt(subject, REASON, false)], scope), Ok(begun));
            assert_eq!(of(&[halt(subject, REASON, true)], scope), Err(Refusal::MovedAway));
        }
        let other = halt(HaltSubject::WritingOf(OTHER), REASON, false);
        assert_eq!(of(std::slice::from_ref(&other), Scope::Company(COMPANY)), Ok(open));
        assert_eq!(of(&[other], Scope::Installation), Err(Refusal::AnotherMove));
        let all = halt(HaltSubject::Writing, REASON, false);
        assert_eq!(of(&[all], Scope::Company(COMPANY)), Err(Refusal::AnotherMove));
        let away = halt(HaltSubject::WritingOf(OTHER), REASON, true);
        assert_eq!(of(&[away], Scope::Installation), Ok(open));
    }

    /// R262.
    #[test]
    fn the_operators_hold_is_moved_and_that_of_the_move_is_not() {
        let row =
            |halt: Halt| Moved::Row { row: halt.into(), version: Version::FIRST, place: None };
        let held = halt(HaltSubject::Sending, "maintenance", false);
        assert_eq!(
            of(std::slice::from_ref(&held), Scope::Installation).map(|found| found.is_held),
            Ok(true)
        );
        let own = halt(HaltSubject::Sending, REASON, false);
        assert_eq!(
            of(std::slice::from_ref(&own), Scope::Installation).map(|found| found.is_held),
            Ok(false)
        );
        let away = halt(HaltSubject::WritingOf(OTHER), REASON, true);
        let closed = halt(HaltSubject::Writing, REASON, false);
        let moved = |halt: &Halt| is_moved(&row(halt.clone()), Scope::Installation);
        assert_eq!([&held, &own, &away, &closed].map(moved), [true, false, true, false]);
        assert!(!is_moved(&row(away), Scope::Company(COMPANY)));
    }
}
