//! Packages of npm and PyPI, in the versions that the files beside this one pin. scripts/test
//! installs them and names their folder in `RECADO_VERIFIERS`.

use std::path::{Path, PathBuf};
use std::process::Command;

use webhook_receiver::{PREVIOUS, SIGNATURE};

use crate::drivers::{compare, line, not_run, path};
use crate::vectors::{Vector, given, made, standard_vectors, vectors};

fn installed(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("RECADO_VERIFIERS")?).join(name);
    folder.join("installed").exists().then_some(folder)
}

fn standard(form: &str, vector: Vector) -> (String, Vector) {
    let [id, timestamp, signature] =
        ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| vector.header(name));
    let line = line(&[form, &vector.secret, &vector.body, id, timestamp, signature]);
    (line, Vector { name: format!("{form}: {}", vector.name), ..vector })
}

/// Every form of a secret that the page for receivers names.
fn asked() -> Vec<(String, Vector)> {
    let made_ones = standard_vectors(&made(1), &made(2));
    let given_ones = standard_vectors(&given(3), &given(4));
    let whole = made_ones.iter().chain(&given_ones).map(|it| standard("whole", it.clone()));
    let rewritten = made_ones.iter().map(|it| standard("rewritten", it.clone()));
    let text = given_ones.iter().filter(|it| it.secret.ends_with('='));
    let text = text.map(|it| standard("text", it.clone()));
    whole.chain(rewritten).chain(text).collect()
}

fn driver(folder: &Path, name: &str) -> PathBuf {
    // Node searches for packages next to the script.
    let copy = folder.join(name);
    std::fs::copy(path("tests/verifiers/drivers").join(name), &copy).expect("copied");
    copy
}

#[test]
fn the_packages_of_npm_verify_what_is_sent() {
    let Some(folder) = installed("node") else {
        return not_run(
            "@octokit/webhooks-methods and standardwebhooks of npm",
            "not installed; scripts/test does it where Node and npm are",
        );
    };
    let mut all = asked();
    let ours = vectors(&made(1), &made(2)).into_iter().chain(vectors(&given(3), &made(4)));
    all.extend(ours.map(|it| {
        let (signature, previous) = (it.header(SIGNATURE), it.header(PREVIOUS));
        (line(&["octokit", &it.secret, &it.body, signature, previous]), it)
    }));
    let mut command = Command::new("node");
    command.arg(driver(&folder, "packages.mjs"));
    compare("npm", command, &all);
}

#[test]
fn the_package_of_pypi_verifies_what_is_sent() {
    let Some(folder) = installed("python") else {
        return not_run(
            "standardwebhooks of PyPI",
            "not installed; scripts/test does it where Python with venv and pip is",
        );
    };
    let mut command = Command::new(folder.join("bin/python"));
    command.arg(driver(&folder, "packages.py"));
    compare("PyPI", command, &asked());
}
