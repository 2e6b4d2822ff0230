//! What a supervisor and a container see: the health check, and the notifications of systemd.
#![cfg(unix)]

mod common;

use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Duration;

use common::{Server, recado};

#[test]
fn the_health_check_tells_whether_the_server_is_ready() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(folder.path(), &["serve"], "listening");
    let addr = server.addr();
    let ask = |arguments: &[&str]| {
        let output = recado(folder.path()).arg("health").args(arguments).output().expect("it runs");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        (output.status.code(), text)
    };
    let ready = ask(&["--listen", &addr]);
    assert_eq!(ready, (Some(0), format!("http://{addr}/readyz answered 200\n")));
    let live = ask(&["--url", &format!("http://{addr}/"), "--live", "--json"]);
    assert!(live.0 == Some(0) && live.1.contains("/healthz"), "{live:?}");
    let other = ask(&["--url", &format!("http://{addr}/nothing")]);
    assert!(other.0 == Some(1) && other.1.contains("answered 404"), "{other:?}");
    server.stop();
    let gone = ask(&["--listen", &addr]);
    assert_eq!(gone.0, Some(1), "{}", gone.1);
}

#[test]
fn a_supervisor_is_told_when_the_server_serves_and_when_it_stops() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
    let told = || {
        let mut buffer = [0; 256];
        let length = socket.recv(&mut buffer).expect("a notification");
        String::from_utf8_lossy(&buffer[..length]).trim().to_owned()
    };
    let mut child = recado(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("NOTIFY_SOCKET", &path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    assert_eq!(told(), "READY=1");
    let stop = std::process::Command::new("kill").arg(child.id().to_string()).status();
    assert!(stop.expect("kill runs").success());
    assert_eq!(told(), "STOPPING=1");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
