//! `sslmode` and certificates against servers that encrypt, and one that does not (R246).
#![cfg(feature = "tls")]

mod support;

use std::error::Error;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use recado_core::deliveries::Signals;
use recado_testkit::postgres::OwnPostgres;
use support::Database;
use support::tls::{Authority, Folder, Pair, attempt, connect, encrypted, self_signed, server};

/// A server whose certificate names `localhost`, and its authority.
fn signed() -> &'static (OwnPostgres, Authority) {
    static SERVER: OnceLock<(OwnPostgres, Authority)> = OnceLock::new();
    SERVER.get_or_init(|| {
        let authority = Authority::new("ours");
        let pair = authority.sign("server", &["localhost"]);
        (server(&pair, Some(&authority)), authority)
    })
}

const BY_NAME: &str = "host=localhost user=recado password=geheim";
const BY_ADDRESS: &str = "host=127.0.0.1 user=recado password=geheim";

async fn tried(pairs: &str, more: &str) -> Result<bool, String> {
    let tried = attempt(&signed().0, &format!("{pairs} {more}")).await;
    if let Err(error) = &tried {
        assert!(!error.contains("geheim"), "{error}");
    }
    tried
}

fn of_user(user: &str) -> String {
    format!("host=localhost user={user} password=geheim")
}

/// What the README says to do on Debian, whose servers have a certificate that nobody signed.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_self_signed_certificate_needs_no_parameter() {
    let pair = self_signed(&["debian.example"], false);
    let server = server(&pair, None);
    assert_eq!(attempt(&server, BY_NAME).await, Ok(true));
    let url = format!("postgres://recado:geheim@localhost:{}/postgres", server.port());
    let store = recado_store_postgres::PostgresStore::connect(&url, support::options()).await;
    store.expect("the line of the README works");
    assert_eq!(attempt(&server, &format!("{BY_NAME} sslmode=require")).await, Ok(true));
    // The certificate itself is the root.
    let folder = Folder::new();
    let root = folder.file("root.crt", &pair.certificate);
    let verified = format!("{BY_NAME} sslrootcert={root} sslmode=verify");
    assert_eq!(attempt(&server, &format!("{verified}-ca")).await, Ok(true));
    let refused = attempt(&server, &format!("{verified}-full")).await.unwrap_err();
    assert!(refused.contains("debian.example"), "{refused}");
}

/// `openssl req -x509` makes such certificates.
#[tokio::test(flavor = "multi_thread")]
async fn a_self_signed_certificate_that_may_sign_others_is_its_own_root() {
    let pair = self_signed(&["localhost"], true);
    let server = server(&pair, None);
    let folder = Folder::new();
    let root = folder.file("root.crt", &pair.certificate);
    let other = folder.file("other.crt", &self_signed(&["localhost"], true).certificate);
    for (root, host, mode, works) in [
        (&root, "localhost", "verify-full", true),
        (&root, "127.0.0.1", "verify-full", false),
        (&root, "127.0.0.1", "verify-ca", true),
        (&other, "localhost", "verify-ca", false),
    ] {
        let pairs =
            format!("host={host} user=recado password=geheim sslrootcert={root} sslmode={mode}");
        let tried = attempt(&server, &pairs).await;
        assert_eq!(tried.is_ok(), works, "{host} {mode}: {tried:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mode_encrypts_as_libpq_does() {
    for (user, mode, expected) in [
        ("recado", "disable", Ok(false)),
        ("recado", "allow", Ok(false)),
        ("recado", "prefer", Ok(true)),
        ("recado", "require", Ok(true)),
        ("tlsonly", "disable", Err("no encryption")),
        ("tlsonly", "allow", Ok(true)),
        ("tlsonly", "prefer", Ok(true)),
        ("tlsonly", "require", Ok(true)),
        ("plainonly", "disable", Ok(false)),
        ("plainonly", "allow", Ok(false)),
        ("plainonly", "prefer", Ok(false)),
        ("plainonly", "require", Err("SSL encryption")),
    ] {
        let found = tried(&of_user(user), &format!("sslmode={mode}")).await;
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{user} {mode}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{user} {mode}: {error}"),
            (found, expected) => panic!("{user} {mode}: {found:?} is not {expected:?}"),
        }
    }
    assert_eq!(tried(BY_NAME, "").await, Ok(true), "prefer is the default");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_is_verified_and_the_name_only_where_it_is_asked_for() {
    let folder = Folder::new();
    let ours = folder.file("ours.crt", &signed().1.certificate);
    let other = folder.file("other.crt", &Authority::new("other").certificate);
    let with = |root: &str, mode: &str| format!("sslrootcert={root} sslmode={mode}");
    assert_eq!(tried(BY_ADDRESS, &with(&ours, "verify-ca")).await, Ok(true));
    assert_eq!(tried(BY_NAME, &with(&ours, "verify-full")).await, Ok(true));
    let wrong_name = tried(BY_ADDRESS, &with(&ours, "verify-full")).await.unwrap_err();
    assert!(wrong_name.contains("127.0.0.1") && wrong_name.contains("verify-full"), "{wrong_name}");
    for mode in ["verify-ca", "verify-full", "require"] {
        let wrong = tried(BY_NAME, &with(&other, mode)).await.unwrap_err();
        assert!(wrong.contains("UnknownIssuer") && wrong.contains(mode), "{wrong}");
        assert!(wrong.contains("localhost port"), "{wrong}");
    }
    // As for libpq: a certificate that is not trusted makes `prefer` go on without one.
    assert_eq!(tried(BY_NAME, &with(&other, "prefer")).await, Ok(false));
    assert!(tried(BY_NAME, "sslrootcert=system").await.is_err());
    let empty = folder.file("empty.crt", "nothing");
    let wrong = tried(BY_NAME, &with(&empty, "verify-ca")).await.unwrap_err();
    assert!(wrong.contains("sslrootcert") && wrong.contains("empty.crt"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_shows_its_certificate() {
    let folder = Folder::new();
    let written = |name: &str, pair: &Pair| {
        let certificate = folder.file(&format!("{name}.crt"), &pair.certificate);
        let key = folder.file(&format!("{name}.key"), &pair.key);
        format!("sslcert={certificate} sslkey={key}")
    };
    let own = written("own", &signed().1.sign("withcert", &[]));
    let others = written("others", &signed().1.sign("somebody", &[]));
    let unknown = written("unknown", &Authority::new("other").sign("withcert", &[]));
    let user = of_user("withcert");
    assert_eq!(tried(&user, &own).await, Ok(true));
    let refused = tried(&user, "").await.unwrap_err();
    assert!(refused.contains("client certificate"), "{refused}");
    let refused = tried(&user, &others).await.unwrap_err();
    assert!(refused.contains("withcert"), "{refused}");
    assert!(tried(&user, &unknown).await.is_err());
    assert!(tried(&user, &format!("{own} sslcertmode=disable")).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn channel_binding_that_is_required_needs_encryption() {
    assert_eq!(tried(BY_NAME, "channel_binding=require").await, Ok(true));
    assert_eq!(tried(BY_NAME, "channel_binding=disable").await, Ok(true));
    assert!(tried(BY_NAME, "channel_binding=require sslmode=disable").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_of_tls_can_be_bounded() {
    for bounds in ["ssl_min_protocol_version=TLSv1.3", "ssl_max_protocol_version=TLSv1.2"] {
        assert_eq!(tried(BY_NAME, &format!("sslmode=require {bounds}")).await, Ok(true));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_its_authority_has_revoked_is_refused() {
    const SERIAL: u64 = 4_711;
    let authority = Authority::new("ours");
    let server = server(&authority.sign_numbered("server", &["localhost"], SERIAL), None);
    let folder = Folder::new();
    let root = folder.file("root.crt", &authority.certificate);
    let other = folder.file("other.crl", &authority.revoke(SERIAL + 1));
    let this = folder.file("this.crl", &authority.revoke(SERIAL));
    let verified = format!("{BY_NAME} sslrootcert={root} sslmode=verify-full");
    assert_eq!(attempt(&server, &verified).await, Ok(true));
    assert_eq!(attempt(&server, &format!("{verified} sslcrl={other}")).await, Ok(true));
    let refused = attempt(&server, &format!("{verified} sslcrl={this}")).await.unwrap_err();
    assert!(refused.contains("Revoked") && !refused.contains("geheim"), "{refused}");
}

/// Encrypts for a server as Postgres 17 does when it is asked directly: the first byte is that of
/// TLS, and the protocol is named in it. Returns the port.
async fn direct(pair: &Pair, server: &'static OwnPostgres) -> u16 {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let certificate = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).expect("PEM");
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).expect("PEM");
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a pair");
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // What asks first whether TLS is spoken, in clear, fails here.
                let Ok(mut outer) = acceptor.accept(stream).await else { return };
                if outer.get_ref().1.alpn_protocol() != Some(b"postgresql") {
                    return;
                }
                let inner = tokio::net::TcpStream::connect(("127.0.0.1", server.port())).await;
                let mut inner = inner.expect("the server answers");
                let _ = tokio::io::copy_bidirectional(&mut outer, &mut inner).await;
            });
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn direct_negotiation_begins_with_tls_and_names_the_protocol() {
    let pair = signed().1.sign("direct", &["localhost"]);
    let port = direct(&pair, &signed().0).await;
    let folder = Folder::new();
    let root = folder.file("root.crt", &signed().1.certificate);
    let verified = format!("port={port} {BY_NAME} sslrootcert={root} sslmode=verify-full");
    let connected = connect(&format!("{verified} sslnegotiation=direct")).await;
    let connected = connected.unwrap_or_else(|error| panic!("{:?}", error.source()));
    assert_eq!(encrypted(&signed().0, &connected.name).await, [false], "decrypted on the way");
    assert!(connect(&verified).await.is_err(), "the other way is not understood there");
    // Before Postgres 17 a server does not understand this one.
    let old = format!("port={} {BY_NAME} sslmode=require", signed().0.port());
    assert_eq!(tried(BY_NAME, "sslmode=require").await, Ok(true));
    assert!(connect(&format!("{old} sslnegotiation=direct")).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_the_servers_refusal() {
    let refused = tried("host=localhost user=recado password=falsch", "").await.unwrap_err();
    assert!(refused.contains("28P01") && !refused.contains("falsch"), "{refused}");
}

/// A socket is not encrypted, whatever the mode is.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_as_host_is_that_of_the_socket() {
    let host = format!("host={} user=recado", signed().0.sockets().display());
    assert_eq!(tried(&host, "").await, Ok(false));
    assert_eq!(tried(&host, "sslmode=require").await, Ok(false));
}

/// R245.
#[tokio::test(flavor = "multi_thread")]
async fn the_pool_the_listener_and_the_notifier_connect_alike() {
    let pairs = format!("port={} {} sslmode=require", signed().0.port(), of_user("tlsonly"));
    let Ok(connected) = connect(&pairs).await else { panic!("it connects") };
    connected.store.notify(&[]);
    let hears = connected.store.notified();
    assert!(tokio::time::timeout(Duration::from_millis(1), hears).await.is_err());
    while encrypted(&signed().0, &connected.name).await.len() < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(encrypted(&signed().0, &connected.name).await, [true; 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_encrypt_is_used_plainly_unless_that_is_required() {
    let database = Database::fresh().await;
    let connect = |more: &str| {
        let url = format!("{}?{more}", database.url());
        async move {
            recado_store_postgres::PostgresStore::connect(&url, support::options()).await.map(drop)
        }
    };
    for mode in ["disable", "allow", "prefer"] {
        connect(&format!("sslmode={mode}")).await.unwrap_or_else(|e| panic!("{mode}: {e}"));
    }
    for more in ["sslmode=require", "channel_binding=require"] {
        assert!(connect(more).await.is_err(), "{more}");
    }
}

/// Tools of some years ago make them, unless told otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_version_1_is_taken_where_it_is_not_verified() {
    let folder = Folder::new();
    let key = folder.file("v1.key", &self_signed(&["localhost"], false).key);
    let request = folder.file("v1.csr", "");
    let extensions = folder.file("none.cnf", "");
    let openssl = |args: &[&str]| Command::new("openssl").args(args).output();
    let asked = ["req", "-new", "-key", &key, "-subj", "/CN=localhost", "-out", &request];
    if openssl(&asked).is_err() {
        println!("NOT RUN: a certificate of version 1 needs openssl");
        return;
    }
    let signing =
        ["x509", "-req", "-in", &request, "-signkey", &key, "-days", "9", "-extfile", &extensions];
    let made = openssl(&signing).expect("it is there").stdout;
    let certificate = String::from_utf8(made).expect("PEM");
    let text = openssl(&["x509", "-in", &folder.file("v1.crt", &certificate), "-noout", "-text"]);
    let text = String::from_utf8_lossy(&text.expect("it is there").stdout).into_owned();
    if !text.contains("Version: 1") {
        println!("NOT RUN: this openssl makes no certificates of version 1");
        return;
    }
    let pair = Pair { certificate, key: std::fs::read_to_string(&key).expect("it was written") };
    assert_eq!(
        attempt(&server(&pair, None), &format!("{BY_NAME} sslmode=require")).await,
        Ok(true)
    );
}
