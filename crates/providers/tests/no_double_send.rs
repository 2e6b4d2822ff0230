//! Tests that no message of any kind is sent twice: thousands of seeded runs of the core with the
//! real adapters against fake gateways, in which answers are lost, late or wrong, webhooks come
//! early, twice, out of order or never, processes die and the database fails, each at a random
//! moment.
//!
//! `RECADO_TEST_SEEDS=from..to` tries other seeds. A failed run prints its seed, which repeats the
//! same run.
#![cfg(all(feature = "cloud-api", feature = "waha", feature = "evolution"))]
#![expect(unreachable_pub, reason = "modules of one test program")]

#[path = "no_double_send/checks.rs"]
mod checks;
#[path = "no_double_send/client.rs"]
mod client;
#[path = "no_double_send/dice.rs"]
mod dice;
#[path = "no_double_send/files.rs"]
mod files;
#[path = "no_double_send/gateway.rs"]
mod gateway;
#[path = "no_double_send/kinds.rs"]
mod kinds;
#[path = "no_double_send/recovery.rs"]
mod recovery;
#[path = "no_double_send/tally.rs"]
mod tally;
#[path = "no_double_send/wire.rs"]
mod wire;
#[path = "no_double_send/world.rs"]
mod world;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tally::Tally;
use world::World;

/// The seeds that are tried every time.
const SEEDS: Range<u64> = 0..10_000;
/// The variable with other seeds, as `from..to`.
const VARIABLE: &str = "RECADO_TEST_SEEDS";

/// The seeds in the variable.
fn asked() -> Option<Range<u64>> {
    let asked = std::env::var(VARIABLE).ok()?;
    let parts = asked.split_once("..").expect("from..to");
    let number = |text: &str| text.trim().parse().expect("from and to are numbers");
    Some(number(parts.0)..number(parts.1))
}

/// Prints the seed of a run that fails.
struct Named<'a>(u64, &'a AtomicBool);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.1.store(true, Ordering::SeqCst);
            let seed = self.0;
            eprintln!("it happens again with {VARIABLE}={seed}..{}", seed + 1);
        }
    }
}

/// One run; returns its counts.
fn run(seed: u64) -> Tally {
    let mut world = World::new(seed);
    world.play();
    world.end();
    checks::check(&world)
}

#[test]
fn nothing_is_ever_sent_twice() {
    let seeds = asked().unwrap_or(SEEDS);
    let (next, failed) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let total = Mutex::new(Tally::default());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !failed.load(Ordering::SeqCst) {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if !seeds.contains(&seed) {
                        break;
                    }
                    let named = Named(seed, &failed);
                    let tally = run(seed);
                    total.lock().unwrap_or_else(PoisonError::into_inner).add(&tally);
                    drop(named);
                }
            });
        }
    });
    let total = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{total:?}");
    if asked().is_none() {
        total.assert_enough();
    }
}

#[test]
fn a_seed_does_the_same_every_time() {
    for seed in 0..30 {
        let trace = || {
            let mut world = World::new(seed);
            world.play();
            world.end();
            world.trace()
        };
        assert_eq!(trace(), trace(), "{seed}");
    }
}
