//! Tests of the memory budget.

use futures_util::FutureExt;

use super::*;
use crate::fair_shares::tests::sender;

/// Whether there is room at once.
fn grows(share: &mut Share, units: usize) -> bool {
    share.grow(units * UNIT).now_or_never().is_some_and(|grown| grown.is_ok())
}

fn is_cut(share: &Share) -> bool {
    share.cut().now_or_never().is_some()
}

/// A budget that one share exceeds already.
fn budget(units: usize) -> (MemoryBudget, Share) {
    let budget = MemoryBudget::new(units * UNIT);
    let mut beyond = budget.share(sender(0, 0));
    assert!(grows(&mut beyond, units + 1) && budget.0.state().beyond.is_some());
    beyond.arrived().expect("whole");
    (budget, beyond)
}

/// A share of so many units that is there at once.
fn holds(budget: &MemoryBudget, from: (u8, u8), units: usize) -> Share {
    let mut share = budget.share(sender(from.0, from.1));
    assert!(grows(&mut share, units), "{from:?} {units}");
    share
}

#[test]
fn a_share_waits_for_others_to_be_given_back() {
    let (budget, _beyond) = budget(4);
    let [mut first, mut second, mut third] = [(); 3].map(|()| budget.share(sender(1, 1)));
    assert!(grows(&mut first, 1) && grows(&mut first, 3));
    assert!(!grows(&mut second, 2));
    assert!(grows(&mut second, 1), "one is left");
    drop(first);
    assert!(grows(&mut second, 4), "to four, not by four");
    assert!(!grows(&mut third, 1));
}

#[test]
fn who_waits_is_served_in_the_order_of_the_calls() {
    let (budget, _beyond) = budget(4);
    let first = holds(&budget, (1, 1), 4);
    let [mut second, mut third] = [(); 2].map(|()| budget.share(sender(1, 1)));
    let mut large = Box::pin(second.grow(3 * UNIT));
    assert!((&mut large).now_or_never().is_none());
    let mut small = Box::pin(third.grow(2 * UNIT));
    assert!((&mut small).now_or_never().is_none());
    drop(first);
    assert!((&mut small).now_or_never().is_none());
    assert_eq!((&mut large).now_or_never(), Some(Ok(())));
    drop(large);
    drop(second);
    assert_eq!((&mut small).now_or_never(), Some(Ok(())));
}

#[test]
fn one_at_a_time_goes_on_beyond_the_bound() {
    let budget = MemoryBudget::new(4 * UNIT);
    let [mut first, mut second, mut third] = [(); 3].map(|()| budget.share(sender(1, 1)));
    assert!(grows(&mut first, 2) && grows(&mut second, 2));
    // Each holds a part and needs more.
    assert!(grows(&mut first, 3) && grows(&mut first, 1000));
    assert!(!grows(&mut second, 3) && !grows(&mut third, 1));
    drop(first);
    assert!(grows(&mut second, 5) && budget.0.state().beyond.is_some());
    assert!(grows(&mut third, 2));
}

#[test]
fn whoever_gives_up_waiting_keeps_nobody_waiting() {
    let (budget, beyond) = budget(4);
    let [mut first, mut second] = [(); 2].map(|()| budget.share(sender(1, 1)));
    assert!(grows(&mut first, 3));
    assert!(!grows(&mut second, 4) && !grows(&mut second, 9));
    assert_eq!(budget.0.state().held, 3);
    assert!(budget.0.state().waiting.is_empty());
    assert!(grows(&mut first, 4));
    drop(beyond);
    assert!(grows(&mut second, 9));
}

#[test]
fn even_an_empty_budget_lets_somebody_in() {
    let budget = MemoryBudget::new(0);
    assert!(grows(&mut budget.share(sender(1, 1)), 1));
    assert!(grows(&mut budget.share(sender(1, 1)), usize::MAX / UNIT));
}

/// R183.
#[test]
fn strangers_at_another_connection_give_way() {
    let (budget, _beyond) = budget(64);
    let strangers: Vec<Share> = (0..32).map(|n| holds(&budget, (1, n), 2)).collect();
    let mut share = budget.share(sender(2, 1));
    for units in [1, 2, 4, 8, 16] {
        assert!(grows(&mut share, units), "{units}");
    }
    let cut = strangers.iter().filter(|stranger| is_cut(stranger)).count();
    assert_eq!(cut, 8, "as many as it needed");
    assert!(strangers.iter().all(|stranger| is_cut(stranger) == stranger.arrived().is_err()));
    drop(strangers);
    assert_eq!(budget.0.state().held, 16, "what was cut is not given back twice");
}

/// R183.
#[test]
fn other_clients_at_the_same_connection_give_way() {
    let (budget, _beyond) = budget(64);
    let strangers: Vec<Share> = (0..4).map(|n| holds(&budget, (1, n), 16)).collect();
    let mut share = budget.share(sender(1, 9));
    assert!(grows(&mut share, 8) && grows(&mut share, 15));
    assert_eq!(strangers.iter().filter(|stranger| is_cut(stranger)).count(), 1);
    assert!(!grows(&mut share, 33), "it would be the heaviest itself");
    let mut other = budget.share(sender(1, 1));
    assert!(grows(&mut other, 1), "what was cut and not needed is free");
}

/// R183.
#[test]
fn a_known_sender_finds_room_however_many_strangers_there_are() {
    let (budget, _beyond) = budget(64);
    budget.knows(sender(1, 1));
    let strangers: Vec<Share> = (0..64).map(|n| holds(&budget, (n, 200), 1)).collect();
    assert!(!grows(&mut budget.share(sender(1, 2)), 3), "it is not known");
    let mut known = budget.share(sender(1, 1));
    assert!(grows(&mut known, 3) && grows(&mut known, 60));
    assert_eq!(strangers.iter().filter(|stranger| is_cut(stranger)).count(), 60);
    // No stranger takes any of it.
    assert!(!grows(&mut budget.share(sender(3, 3)), 5));
    assert!(!is_cut(&known));
    // Of two who are known, the one that holds much gives way.
    budget.knows(sender(2, 1));
    assert!(grows(&mut budget.share(sender(2, 1)), 10));
    assert!(is_cut(&known));
}

/// R183.
#[test]
fn the_last_clients_of_a_connection_are_known() {
    let budget = MemoryBudget::new(UNIT);
    let is_known = |from: (u8, u8)| {
        let (number, _) = budget.0.state().begin(sender(from.0, from.1));
        let state = budget.0.state();
        state.bodies[&number].is_known
    };
    budget.knows(sender(2, 1));
    for client in 0..=MOST_KNOWN {
        budget.knows(sender(1, u8::try_from(client).expect("few")));
    }
    assert!(!is_known((1, 0)) && is_known((1, 1)) && is_known((2, 1)) && !is_known((2, 2)));
}

/// R183.
#[test]
fn a_body_that_has_arrived_is_not_cut_off() {
    let (budget, _beyond) = budget(64);
    let whole = holds(&budget, (1, 1), 64);
    whole.arrived().expect("not cut");
    assert!(!grows(&mut budget.share(sender(2, 1)), 1));
    drop(whole);
    assert!(grows(&mut budget.share(sender(2, 1)), 1));
}

/// R183.
#[test]
fn who_waits_for_more_and_has_to_give_way_is_told() {
    let (budget, _beyond) = budget(64);
    let mut stranger = holds(&budget, (1, 1), 60);
    let waiting = stranger.grow(70 * UNIT);
    let mut waiting = Box::pin(waiting);
    assert!((&mut waiting).now_or_never().is_none());
    assert!(grows(&mut budget.share(sender(2, 1)), 10));
    assert_eq!((&mut waiting).now_or_never(), Some(Err(Cut)));
    drop(waiting);
    assert!(!grows(&mut stranger, 1), "it stays cut");
    assert!(budget.0.state().waiting.is_empty());
}

#[test]
fn whatever_happens_the_bound_holds_and_nothing_is_left_in_the_end() {
    let budget = MemoryBudget::new(32 * UNIT);
    budget.knows(sender(0, 0));
    let mut shares: Vec<Share> = Vec::new();
    let mut seed = 0x5eed_u64;
    let mut roll = |sides: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % sides
    };
    for _ in 0..5_000 {
        let small = |n: u64| u8::try_from(n).expect("small");
        match roll(4) {
            0 => shares.push(budget.share(sender(small(roll(3)), small(roll(3))))),
            1 if !shares.is_empty() => {
                let which = usize::try_from(roll(shares.len() as u64)).expect("small");
                drop(shares.swap_remove(which));
            }
            2 if !shares.is_empty() => {
                let which = usize::try_from(roll(shares.len() as u64)).expect("small");
                let _ = shares[which].arrived();
            }
            _ if !shares.is_empty() => {
                let which = usize::try_from(roll(shares.len() as u64)).expect("small");
                grows(&mut shares[which], usize::try_from(roll(20)).expect("small"));
            }
            _ => {}
        }
        let state = budget.0.state();
        let held: usize = state.bodies.values().map(|body| body.units).sum();
        assert!(held == state.held && held <= 32, "{held} {}", state.held);
    }
    drop(shares);
    let state = budget.0.state();
    assert!(state.held == 0 && state.bodies.is_empty() && state.waiting.is_empty());
    assert!(state.strangers.is_empty() && state.known.is_empty() && state.beyond.is_none());
}
