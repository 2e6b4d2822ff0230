//! Names: what is dialed is an address that was checked for that very connection, whatever the name
//! resolves to before and after, and whatever address a redirect has (D54).

use recado_core::transport::{Transport, TransportError};

use crate::peer::{OK, Watched, delivery};

const URL: &str = "http://hook.example/path";

#[tokio::test]
async fn a_name_is_dialed_at_exactly_the_address_that_was_checked() {
    for (answer, dialed) in [
        (&["8.8.8.8"][..], "8.8.8.8:80"),
        (&["8.8.4.4", "8.8.8.8"], "8.8.4.4:80"),
        (&["2606:4700::1111", "8.8.8.8"], "[2606:4700::1111]:80"),
    ] {
        let network = Watched::answering(OK).await;
        network.name("hook.example", &[answer]);
        let client = network.guarded();
        assert_eq!(client.check(URL).await, Ok(()));
        assert_eq!((network.asked().len(), network.dialed().len()), (1, 0));
        assert_eq!(client.send(delivery(URL)).await.expect("an answer").status, 200);
        assert_eq!(network.asked(), ["hook.example"], "resolved once for the connection");
        assert_eq!(network.dialed(), [dialed]);
        // The connection is still open; nothing is resolved or dialed again.
        assert_eq!(client.send(delivery(URL)).await.expect("an answer").status, 200);
        assert_eq!((network.asked().len(), network.dialed().len()), (0, 0));
    }
}

#[tokio::test]
async fn a_name_that_turns_special_after_registration_is_refused_at_the_attempt() {
    for special in [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "::1",
        "fd00:ec2::254",
        "fe80::1",
        "::ffff:127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
    ] {
        let network = Watched::answering(OK).await;
        network.name("hook.example", &[&["8.8.8.8"], &[special]]);
        let client = network.guarded();
        assert_eq!(client.check(URL).await, Ok(()));
        assert_eq!(client.send(delivery(URL)).await, Err(TransportError::Forbidden), "{special}");
        assert_eq!(network.dialed(), Vec::<String>::new(), "{special}");
    }
}

#[tokio::test]
async fn a_name_is_resolved_once_so_that_a_second_answer_cannot_slip_in() {
    const CLOSING: &[u8] = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    let network = Watched::answering(CLOSING).await;
    // Every other answer is special.
    network.name("hook.example", &[&["8.8.8.8"], &["127.0.0.1"], &["8.8.4.4"], &["10.0.0.1"]]);
    let client = network.guarded();
    for expected in [Some("8.8.8.8:80"), None, Some("8.8.4.4:80"), None, None] {
        let outcome = client.send(delivery(URL)).await;
        assert_eq!(network.asked().len(), 1);
        match expected {
            Some(dialed) => {
                assert_eq!(outcome.expect("an answer").status, 204);
                assert_eq!(network.dialed(), [dialed]);
            }
            None => {
                assert_eq!(outcome, Err(TransportError::Forbidden));
                assert_eq!(network.dialed(), Vec::<String>::new());
            }
        }
    }
}

#[tokio::test]
async fn a_name_that_turns_special_and_back_serves_registration_and_attempt_each_by_its_answer() {
    let network = Watched::answering(OK).await;
    network.name("hook.example", &[&["127.0.0.1"], &["8.8.8.8"]]);
    let client = network.guarded();
    assert_eq!(client.check(URL).await, Err(TransportError::Forbidden));
    assert_eq!(client.send(delivery(URL)).await.expect("an answer").status, 200);
    assert_eq!(network.dialed(), ["8.8.8.8:80"]);
}

#[tokio::test]
async fn spellings_of_a_name_are_dialed_alike() {
    for (host, port) in [
        ("hook.example", 80),
        ("HOOK.Example", 80),
        ("hook.example.", 80),
        ("hook.example:80", 80),
        ("hook.example:8443", 8443),
        ("a_b.hook.example", 80),
        ("xn--bcher-kva.example", 80),
    ] {
        let network = Watched::answering(OK).await;
        for name in ["hook.example", "a_b.hook.example", "xn--bcher-kva.example"] {
            network.name(name, &[&["8.8.8.8"]]);
        }
        let outcome = network.guarded().send(delivery(&format!("http://{host}/"))).await;
        assert_eq!(outcome.expect(host).status, 200);
        assert_eq!(network.dialed(), [format!("8.8.8.8:{port}")], "{host}");
    }
}

#[tokio::test]
async fn a_name_without_addresses_is_refused_as_one() {
    let network = Watched::answering(OK).await;
    network.name("empty.example", &[&[]]);
    let client = network.guarded();
    for url in ["http://unknown.example/", "https://empty.example/", "http://a..example/"] {
        assert_eq!(client.check(url).await, Err(TransportError::Dns), "{url}");
        assert_eq!(client.send(delivery(url)).await, Err(TransportError::Dns), "{url}");
    }
    assert_eq!(network.dialed(), Vec::<String>::new());
}

#[tokio::test]
async fn names_of_this_machine_are_judged_by_the_systems_resolver() {
    let client = recado_http_hyper::GuardedClient::new(recado_http_hyper::ClientOptions::default());
    for host in ["localhost", "LOCALHOST:8080"] {
        let url = format!("http://{host}/");
        assert_eq!(client.check(&url).await, Err(TransportError::Forbidden), "{host}");
        assert_eq!(client.send(delivery(&url)).await, Err(TransportError::Forbidden), "{host}");
    }
}

#[tokio::test]
async fn no_redirect_leads_anywhere() {
    const ANSWERS: [(u16, &[u8]); 8] = [
        (301, b"HTTP/1.1 301 M\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
        (302, b"HTTP/1.1 302 F\r\nLocation: http://127.0.0.1:22/\r\nContent-Length: 0\r\n\r\n"),
        (303, b"HTTP/1.1 303 S\r\nLocation: http://[::1]/\r\nContent-Length: 0\r\n\r\n"),
        (307, b"HTTP/1.1 307 T\r\nLocation: http://special.example/\r\nContent-Length: 0\r\n\r\n"),
        (308, b"HTTP/1.1 308 P\r\nLocation: //10.0.0.1/\r\nContent-Length: 0\r\n\r\n"),
        (308, b"HTTP/1.1 308 P\r\nLocation: http://other.example/\r\nContent-Length: 0\r\n\r\n"),
        (300, b"HTTP/1.1 300 M\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
        (200, b"HTTP/1.1 200 O\r\nRefresh: 0; url=http://[::1]/\r\nContent-Length: 0\r\n\r\n"),
    ];
    for (status, answer) in ANSWERS {
        let network = Watched::answering(answer).await;
        network.name("hook.example", &[&["8.8.8.8"]]);
        network.name("other.example", &[&["8.8.4.4"]]);
        network.name("special.example", &[&["10.0.0.1"]]);
        let outcome = network.guarded().send(delivery(URL)).await;
        assert_eq!(outcome.expect("an answer").status, status);
        assert_eq!(network.asked(), ["hook.example"]);
        assert_eq!(network.dialed(), ["8.8.8.8:80"]);
    }
}
