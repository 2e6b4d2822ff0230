//! The permissions of the files that the binary makes and finds: docs/operations.md, R163.

#![cfg(unix)]

use std::fs::{Permissions, read_dir, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recado_tests::binary::Process;
use recado_tests::world::tenant_at;
use recado_tests::{OPERATOR, Request, phone, text};
use serde_json::json;

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(future)
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

/// Everything below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(below(&path));
        }
        all.push(path);
    }
    all
}

fn assert_private(folder: &Path) {
    for path in below(folder) {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), wanted, "{}: {:o}", path.display(), mode(&path));
    }
}

const SERVE: [&str; 7] = [
    "serve",
    "--listen",
    "127.0.0.1:0",
    "--database",
    "sqlite:recado.db",
    "--operator-token",
    OPERATOR,
];

/// R163.
#[test]
fn what_the_server_makes_is_for_its_user_alone_and_wider_files_are_named() {
    block_on(async {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let process = Process::start(Arc::clone(&folder), &SERVE).await;
        let us = tenant_at(process.addr, "Acme", "enterprise").await;
        let contact = Request::new("POST", "/api/v1/contacts").bearer(&us.key);
        let contact = contact.json(&json!({"phone": phone(1)})).send(process.addr).await;
        let id = text(&contact.expect(201)["contact"]["id"]);
        let company = format!("/operator/v1/companies/{}", us.id);
        let document = format!("{company}/contacts/{id}/documents?filename=a.txt");
        let document = Request::new("POST", document).bearer(OPERATOR).body("content");
        document.send(process.addr).await.expect(201);
        let made = below(folder.path());
        for name in ["recado.db", "recado.db-wal", "recado.db-shm", "recado-documents"] {
            assert!(made.contains(&folder.path().join(name)), "{name} is missing: {made:?}");
        }
        assert_private(folder.path());
        let output = process.output();
        assert!(!output.contains("other users"), "there is nothing to warn of: {output}");
        process.kill().await;

        let wide = [("recado.db", 0o644), ("recado-documents", 0o755)];
        for (name, mode) in wide {
            set_permissions(folder.path().join(name), Permissions::from_mode(mode)).expect("set");
        }
        let process = Process::start(Arc::clone(&folder), &SERVE).await;
        let output = process.kill_and_read().await;
        for (name, wide) in wide {
            let named = format!("\"path\":\"{name}\"");
            let mut warned = output.lines().filter(|line| line.contains("other users"));
            assert!(warned.any(|line| line.contains(&named)), "{name}: {output}");
            assert_eq!(mode(&folder.path().join(name)), wide, "{name} is left as it is");
        }
    });
}

/// R163.
#[test]
fn the_demo_takes_its_own_files_from_others() {
    block_on(async {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let demo = ["demo", "--listen", "127.0.0.1:0"];
        let process = Process::start(Arc::clone(&folder), &demo).await;
        assert_private(folder.path());
        process.signal("TERM").await;
        process.ended().await;
        for path in below(folder.path()).iter().filter(|path| path.is_file()) {
            set_permissions(path, Permissions::from_mode(0o644)).expect("set");
        }
        let process = Process::start(Arc::clone(&folder), &demo).await;
        assert_private(folder.path());
        process.kill().await;
    });
}
