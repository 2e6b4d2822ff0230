//! Calls to gateways: only where the installation allows them, checked at the address that is
//! dialed (R230).

use recado_core::transport::{Transport, TransportError};
use recado_http_hyper::Reach;

use crate::peer::{OK, Watched, delivery};

fn reach(destinations: &str) -> Reach {
    Reach::Gateways(destinations.parse().expect(destinations))
}

/// R230.
#[tokio::test]
async fn a_gateway_is_dialed_where_it_may_be_and_nowhere_else() {
    for (destinations, url, resolves_to, dialed) in [
        ("all", "http://gw.example/", "10.0.0.1", Some("10.0.0.1:80")),
        ("all", "http://gw.example:3000/", "127.0.0.1", Some("127.0.0.1:3000")),
        ("all", "http://gw.example/", "169.254.169.254", None),
        ("all", "http://gw.example/", "fd00:ec2::254", None),
        ("all", "http://gw.example/", "::ffff:169.254.169.254", None),
        ("all", "http://169.254.169.254/", "", None),
        ("all", "http://0xa9fea9fe/", "", None),
        ("public", "http://gw.example/", "8.8.8.8", Some("8.8.8.8:80")),
        ("public", "http://gw.example/", "10.0.0.1", None),
        ("public", "http://127.0.0.1:9/", "", None),
        ("gw.example:81", "http://GW.example.:81/", "10.0.0.1", Some("10.0.0.1:81")),
        ("gw.example:81", "http://gw.example:82/", "10.0.0.1", None),
        ("gw.example:81", "http://10.0.0.1:81/", "", None),
        ("gw.example", "http://gw.example/", "169.254.169.254", None),
        ("10.0.0.0/8:81", "http://gw.example:81/", "10.9.9.9", Some("10.9.9.9:81")),
        ("10.0.0.0/8:81", "http://gw.example:81/", "11.9.9.9", None),
        ("10.0.0.0/8:81", "http://10.9.9.9:82/", "", None),
    ] {
        let network = Watched::answering(OK).await;
        let answers: &[&str] = if resolves_to.is_empty() { &[] } else { &[resolves_to] };
        network.name("gw.example", &[answers]);
        let outcome = network.reaching(reach(destinations)).send(delivery(url)).await;
        let expected: Vec<&str> = dialed.into_iter().collect();
        assert_eq!(network.dialed(), expected, "{destinations} {url} {resolves_to}");
        match dialed {
            Some(_) => assert_eq!(outcome.expect("an answer").status, 200),
            None => assert_eq!(outcome, Err(TransportError::Forbidden), "{destinations} {url}"),
        }
    }
}

/// R230.
#[tokio::test]
async fn a_name_of_which_one_address_is_forbidden_is_refused() {
    let network = Watched::answering(OK).await;
    network.name("gw.example", &[&["10.0.0.1", "169.254.169.254"], &["10.0.0.1"]]);
    let client = network.reaching(reach("all"));
    let url = "http://gw.example/";
    assert_eq!(client.send(delivery(url)).await, Err(TransportError::Forbidden));
    assert_eq!(client.send(delivery(url)).await.expect("an answer").status, 200);
    assert_eq!(network.dialed(), ["10.0.0.1:80"]);
}
