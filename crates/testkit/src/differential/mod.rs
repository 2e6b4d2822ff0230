//! Compares a store with the model. Both get the same random commands, through the same use cases,
//! with the same time and the same ids. Every answer must be the same.

mod bodies;
mod command;
mod everything;
mod messaging;
mod messaging_bodies;
mod outbound;
mod pools;
mod rows;
mod side;
mod world;

use std::fmt::Write as _;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

pub use command::{Command, Mix, Verb, command, commands};

use crate::MemoryStore;
use crate::conformance::Harness;
use side::Side;
use world::World;

/// The use cases of a seed: the same in every run.
pub fn commands_of(seed: u64, count: usize) -> Vec<Command> {
    commands_of_mix(Mix::UseCases, seed, count)
}

/// The commands of a mix and a seed: the same in every run.
pub fn commands_of_mix(mix: Mix, seed: u64, count: usize) -> Vec<Command> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let tree = commands(mix, count..count + 1).new_tree(&mut runner);
    tree.expect("no command is ever rejected").current()
}

/// Runs the same commands on the model and on every store. Compares every answer, and finally the
/// answers of all reads. Each store must be new and empty.
///
/// # Panics
///
/// If an answer differs. The message has the command and those before it.
pub async fn differential(stores: &[(&str, &dyn Harness)], commands: &[Command]) {
    differential_with(stores, commands, async |_| ()).await;
}

/// The same. Before each command `meanwhile` is called with its number.
///
/// # Panics
///
/// As `differential`.
pub async fn differential_with(
    stores: &[(&str, &dyn Harness)],
    commands: &[Command],
    meanwhile: impl AsyncFn(usize),
) {
    let model = MemoryStore::new();
    let mut sides = vec![Side::start("model", &model).await];
    for (name, harness) in stores {
        sides.push(Side::start(name, *harness).await);
    }
    let mut world = World::default();
    for (number, command) in commands.iter().enumerate() {
        meanwhile(number).await;
        let mut answers = Vec::new();
        for side in &sides {
            answers.push(side.run(command, &world).await);
        }
        for (side, answer) in sides.iter().zip(&answers).skip(1) {
            assert!(
                *answer == answers[0],
                "{} differs at command {number}, {command:?}\n model: {}\n store: {answer}\n{}",
                side.name,
                answers[0],
                history(&commands[..number]),
            );
        }
        world.learn(command, &answers[0]);
    }
    let mut ends = Vec::new();
    for side in &sides {
        ends.push(side.everything(&world).await);
    }
    for (side, end) in sides.iter().zip(&ends).skip(1) {
        for (ours, models) in end.iter().zip(&ends[0]) {
            assert!(
                ours == models,
                "{} ends differently\n model: {models}\n store: {ours}\n{}",
                side.name,
                history(commands),
            );
        }
    }
}

fn history(commands: &[Command]) -> String {
    let mut history = String::from("after:");
    for (number, command) in commands.iter().enumerate() {
        let _ = write!(history, "\n {number}: {command:?}");
    }
    history
}

/// Compares a store with the model over the commands of several seeds. The environment variable
/// `RECADO_SEED` selects one seed instead.
///
/// # Panics
///
/// If an answer differs. The message has the seed.
pub async fn differential_over_seeds<H: Harness>(
    name: &str,
    fresh: impl AsyncFn() -> H,
    mix: Mix,
    seeds: std::ops::Range<u64>,
    count: usize,
) {
    let picked = std::env::var("RECADO_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = picked.map_or(seeds, |seed: u64| seed..seed + 1);
    for seed in seeds {
        eprintln!("RECADO_SEED={seed}");
        let harness = fresh().await;
        differential(&[(name, &harness)], &commands_of_mix(mix, seed, count)).await;
    }
}

/// Makes tests that compare a store with the model. Takes the name of an async function without
/// arguments that makes a [`crate::conformance::Harness`].
#[macro_export]
macro_rules! differential_suite {
    ($fresh:ident) => {
        mod differential {
            use $crate::differential::{Mix, differential_over_seeds};

            #[tokio::test(flavor = "multi_thread")]
            async fn random_commands_are_answered_as_the_model_does() {
                let (name, mix) = (module_path!(), Mix::UseCases);
                differential_over_seeds(name, super::$fresh, mix, 0..6, 250).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn random_messaging_is_answered_as_the_model_does() {
                let (name, mix) = (module_path!(), Mix::Messaging);
                differential_over_seeds(name, super::$fresh, mix, 0..5, 350).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn random_webhooks_are_answered_as_the_model_does() {
                let (name, mix) = (module_path!(), Mix::Webhooks);
                differential_over_seeds(name, super::$fresh, mix, 0..5, 400).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn random_rows_are_kept_as_the_model_keeps_them() {
                let (name, mix) = (module_path!(), Mix::Rows);
                differential_over_seeds(name, super::$fresh, mix, 0..4, 600).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn random_campaigns_and_endpoints_are_kept_as_the_model_keeps_them() {
                let (name, mix) = (module_path!(), Mix::Reach);
                differential_over_seeds(name, super::$fresh, mix, 0..4, 600).await;
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// How often each verb succeeds on the model, and how often with a warning.
    async fn successes(mix: Mix, count: usize) -> (BTreeMap<String, usize>, usize) {
        let mut successes: BTreeMap<String, usize> = BTreeMap::new();
        let mut warned = 0;
        for seed in 0..4 {
            let model = MemoryStore::new();
            let side = Side::start("model", &model).await;
            let mut world = World::default();
            for command in commands_of_mix(mix, seed, count) {
                let answer = side.run(&command, &world).await;
                let succeeded = answer.get("rejected").is_none()
                    && answer.get("failed").is_none()
                    && answer.get(0).is_none_or(|first| first.get("rejected").is_none())
                    && answer.get("outcome").is_none_or(|outcome| outcome == "applied")
                    && answer.get("found").is_none_or(|found| !found.is_null());
                let kind = answer["kind"].as_str().unwrap_or_default();
                *successes.entry(format!("{:?} {kind}", command.verb)).or_default() +=
                    usize::from(succeeded);
                warned += usize::from(answer["ok"]["warnings"][0].is_object());
                world.learn(&command, &answer);
            }
        }
        (successes, warned)
    }

    /// If all commands were refused, nothing would be compared.
    #[tokio::test]
    async fn the_commands_of_the_seeds_succeed_in_every_use_case() {
        let (successes, warned) = successes(Mix::UseCases, 375).await;
        assert!(successes.values().all(|count| *count > 0), "{successes:#?}");
        assert!(warned > 0, "some e-mail belonged to another contact");
    }

    #[tokio::test]
    async fn the_commands_of_the_seeds_succeed_of_messaging() {
        let (successes, _) = successes(Mix::Messaging, 600).await;
        assert!(successes.values().all(|count| *count > 1), "{successes:#?}");
    }

    #[tokio::test]
    async fn the_commands_of_the_seeds_succeed_around_webhooks() {
        let (successes, _) = successes(Mix::Webhooks, 400).await;
        assert!(successes.values().all(|count| *count > 1), "{successes:#?}");
    }

    #[tokio::test]
    async fn the_commands_of_the_seeds_write_every_kind_of_row() {
        let (mut successes, _) = successes(Mix::Rows, 600).await;
        // An alias is never updated: all of its columns are its key.
        successes.remove("ChangeRow row alias");
        assert!(successes.values().all(|count| *count > 0), "{successes:#?}");
    }

    #[tokio::test]
    async fn the_commands_of_the_seeds_write_every_kind_of_row_around_campaigns() {
        let (successes, _) = successes(Mix::Reach, 900).await;
        assert!(successes.values().all(|count| *count > 0), "{successes:#?}");
        assert!(successes["ChangeReach row recipient"] > 20, "{successes:#?}");
        assert!(successes["Claim "] > 20, "{successes:#?}");
    }
}
