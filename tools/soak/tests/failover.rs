//! The fail-overs of a Postgres that Patroni keeps, as `scripts/soak --failover` plays them.

use std::process::Command;

/// R28, R247, R457, R458, D25. Fails where a part of the cluster cannot be installed.
#[test]
fn fail_overs_lose_nothing_and_do_nothing_twice() {
    let run = Command::new(env!("CARGO_BIN_EXE_recado-soak")).arg("--failover").output();
    let run = run.expect("it runs");
    let (said, why) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    println!("{said}");
    assert!(run.status.success(), "{said}\n{why}");
    let summary = said.lines().last().expect("a summary");
    assert!(summary.starts_with("soak: passed: "), "{summary}");
}
