//! The soak as CI runs it. By hand, `scripts/soak 10000` does more.

use std::process::Command;

/// How many kills on each database, and how many servers on every second Postgres database.
const ARGS: [&str; 3] = ["50", "--processes", "8"];

#[test]
fn fifty_kills_on_each_database_lose_nothing_and_do_nothing_twice() {
    let run = Command::new(env!("CARGO_BIN_EXE_recado-soak")).args(ARGS).output();
    let run = run.expect("it runs");
    let (said, why) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    println!("{said}");
    assert!(run.status.success(), "{said}\n{why}");
    let summary = said.lines().last().expect("a summary");
    assert!(summary.starts_with("soak: passed: 100 kills ("), "{summary}");
}
