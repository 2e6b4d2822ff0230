//! The provider's adapter against a provider in memory, whose keys are real.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKey, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents,
};
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use recado_core::Timestamp;
use recado_core::transport::{Method, TransportError};
use recado_testkit::TestClock;
use serde_json::{Value, json};

use super::cached::{FAILED, FRESH};
use super::*;

const ISSUER: &str = "https://id.example/realms/people";

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key of the provider.
enum Key {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
}

impl Key {
    fn rsa() -> Self {
        let made = RsaKey::generate(KeySize::Rsa2048).expect("a key");
        let der = AsDer::<aws_lc_rs::encoding::Pkcs8V1Der<'_>>::as_der(&made).expect("its bytes");
        Self::Rsa(RsaKeyPair::from_pkcs8(der.as_ref()).expect("a key"))
    }

    fn ec() -> Self {
        let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let made = EcdsaKeyPair::generate_pkcs8(kind, &SystemRandom::new()).expect("a key");
        Self::Ec(EcdsaKeyPair::from_pkcs8(kind, made.as_ref()).expect("a key"))
    }

    fn published(&self, kid: &str) -> Value {
        match self {
            Self::Rsa(key) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(key.public_key());
                let (n, e) = (encoded(public.n), encoded(public.e));
                json!({"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": n, "e": e})
            }
            Self::Ec(key) => {
                let point = key.public_key().as_ref();
                let (x, y) = (encoded(&point[1..33]), encoded(&point[33..]));
                json!({"kty": "EC", "crv": "P-256", "kid": kid, "x": x, "y": y})
            }
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).expect("signs");
                signature
            }
            Self::Ec(key) => key.sign(&random, message).expect("signs").as_ref().to_vec(),
        }
    }

    /// A token with this header.
    fn token(&self, header: &Value) -> String {
        let claims = json!({"iss": ISSUER, "sub": "1", "email_verified": true});
        let signed = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        format!("{signed}.{}", encoded(self.sign(signed.as_bytes())))
    }
}

/// The documents of a provider, and what it answers to a code.
struct Documents {
    keys: Mutex<Value>,
    answer: Mutex<Result<(u16, Value), TransportError>>,
    asked: Mutex<Vec<OutboundRequest>>,
    is_down: AtomicBool,
}

#[async_trait]
impl Transport for Documents {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        let path = request.url.strip_prefix(ISSUER).expect("an address of the provider").to_owned();
        self.asked.lock().unwrap().push(request.clone());
        // As on a network, others go first.
        tokio::task::yield_now().await;
        if self.is_down.load(Ordering::Relaxed) {
            return Err(TransportError::Refused);
        }
        let (status, body) = match path.as_str() {
            "/.well-known/openid-configuration" => (200, description()),
            "/keys" => (200, json!({ "keys": self.keys.lock().unwrap().clone() })),
            "/token" => {
                assert_eq!(request.method, Method::Post);
                self.answer.lock().unwrap().clone()?
            }
            other => panic!("{other}"),
        };
        Ok(OutboundResponse::new(status, body.to_string()))
    }

    async fn check(&self, _: &str) -> Result<(), TransportError> {
        Ok(())
    }
}

fn description() -> Value {
    json!({
        "issuer": ISSUER,
        "authorization_endpoint": format!("{ISSUER}/auth?kind=a"),
        "token_endpoint": format!("{ISSUER}/token"),
        "jwks_uri": format!("{ISSUER}/keys"),
    })
}

struct World {
    documents: Arc<Documents>,
    clock: TestClock,
    provider: OpenIdProvider,
}

impl World {
    fn new(keys: Value) -> Self {
        let documents = Arc::new(Documents {
            keys: Mutex::new(keys),
            answer: Mutex::new(Ok((500, Value::Null))),
            asked: Mutex::default(),
            is_down: AtomicBool::new(false),
        });
        let clock = TestClock::at(Timestamp::from_millis(1_000_000_000));
        let mut options = OpenIdOptions::new(ISSUER, "a client");
        options.client_secret = Some(SecretText::new("hunter2:"));
        let provider =
            OpenIdProvider::new(options, documents.clone(), Arc::new(clock.clone())).unwrap();
        Self { documents, clock, provider }
    }

    fn reads_of(&self, path: &str) -> usize {
        let asked = self.documents.asked.lock().unwrap();
        asked.iter().filter(|request| request.url == format!("{ISSUER}{path}")).count()
    }

    async fn redeem(
        &self,
        answer: Result<(u16, Value), TransportError>,
    ) -> Result<IdToken, ProviderFailure> {
        *self.documents.answer.lock().unwrap() = answer;
        let code = ProviderCode {
            code: SecretText::new("a code"),
            redirect_uri: "https://crm.example/callback".to_owned(),
            verifier: SecretText::new("a verifier"),
        };
        self.provider.redeem(&code).await
    }

    async fn shown(&self, token: &str) -> Result<IdToken, ProviderFailure> {
        self.redeem(Ok((200, json!({ "id_token": token })))).await
    }
}

#[track_caller]
fn refused(result: Result<IdToken, ProviderFailure>) -> String {
    match result {
        Err(ProviderFailure::Token(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// R432.
#[tokio::test]
async fn a_token_is_taken_with_a_signature_of_a_published_key() {
    for (key, algorithm) in [(Key::rsa(), "RS256"), (Key::ec(), "ES256")] {
        let world = World::new(json!([key.published("a"), Key::ec().published("b")]));
        let token = key.token(&json!({"alg": algorithm, "kid": "a"}));
        let claims = world.shown(&token).await.expect("a good token");
        assert_eq!((claims.iss.as_str(), claims.sub.as_str()), (ISSUER, "1"));
        // Another text under the same signature.
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let (header, _) = signed.split_once('.').unwrap();
        let claims = encoded(json!({"iss": ISSUER, "sub": "2"}).to_string());
        let why = refused(world.shown(&format!("{header}.{claims}.{signature}")).await);
        assert!(why.contains("signature"), "{why}");
    }
}

/// R432.
#[tokio::test]
async fn no_other_algorithm_is_taken() {
    let (rsa, ec) = (Key::rsa(), Key::ec());
    let world = World::new(json!([rsa.published("a"), ec.published("b")]));
    let claims = encoded(json!({"iss": ISSUER, "sub": "1"}).to_string());
    let unsigned = format!("{}.{claims}.", encoded(json!({"alg": "none"}).to_string()));
    let public = rsa.published("a")["n"].as_str().unwrap().to_owned();
    let header = encoded(json!({"alg": "HS256", "kid": "a"}).to_string());
    let signed = format!("{header}.{claims}");
    let hmac = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, public.as_bytes());
    let hmac = encoded(aws_lc_rs::hmac::sign(&hmac, signed.as_bytes()));
    for token in [
        unsigned,
        format!("{signed}.{hmac}"),
        // The key of another kind than the algorithm has.
        rsa.token(&json!({"alg": "RS256", "kid": "b"})),
        ec.token(&json!({"alg": "ES256", "kid": "a"})),
        ec.token(&json!({"alg": "RS256", "kid": "b"})),
        rsa.token(&json!({"alg": "RS384", "kid": "a"})),
        rsa.token(&json!({"alg": "PS256", "kid": "a"})),
        rsa.token(&json!({"alg": "RS256", "kid": "a", "crit": ["b64"], "b64": false})),
        "a.b.c".to_owned(),
        String::new(),
        format!("{}.{claims}.", "a".repeat(40_000)),
    ] {
        refused(world.shown(&token).await);
    }
    let none = world.redeem(Ok((200, json!({"access_token": "a"})))).await;
    assert!(refused(none).contains("has none"));
}

/// R432.
#[tokio::test]
async fn a_key_for_encryption_signs_nothing_and_one_without_a_name_has_to_be_the_only_one() {
    let (one, other) = (Key::ec(), Key::ec());
    let mut for_encryption = one.published("a");
    for_encryption["use"] = json!("enc");
    let world = World::new(json!([for_encryption, {"kty": "new"}, 7]));
    let token = one.token(&json!({"alg": "ES256", "kid": "a"}));
    assert!(refused(world.shown(&token).await).contains("does not publish"));
    let nameless = one.token(&json!({"alg": "ES256"}));
    let world = World::new(json!([one.published("a"), Key::rsa().published("b")]));
    assert!(world.shown(&nameless).await.is_ok());
    let world = World::new(json!([one.published("a"), other.published("b")]));
    assert!(refused(world.shown(&nameless).await).contains("does not publish"));
}

/// R435.
#[tokio::test]
async fn an_unknown_key_makes_the_keys_read_again_once_and_not_without_end() {
    let (old, new) = (Key::ec(), Key::ec());
    let world = World::new(json!([old.published("old")]));
    world.shown(&old.token(&json!({"alg": "ES256", "kid": "old"}))).await.expect("known");
    assert_eq!(
        (world.reads_of("/keys"), world.reads_of("/.well-known/openid-configuration")),
        (1, 1)
    );
    *world.documents.keys.lock().unwrap() = json!([new.published("new")]);
    world.shown(&new.token(&json!({"alg": "ES256", "kid": "new"}))).await.expect("read again");
    assert_eq!(world.reads_of("/keys"), 2);
    for _ in 0..20 {
        refused(world.shown(&new.token(&json!({"alg": "ES256", "kid": "none"}))).await);
    }
    assert_eq!(world.reads_of("/keys"), 1 + READS_OF_KEYS as usize);
    world.clock.advance(FRESH);
    world.shown(&new.token(&json!({"alg": "ES256", "kid": "new"}))).await.expect("known");
    assert_eq!(world.reads_of("/keys"), 2 + READS_OF_KEYS as usize);
    assert_eq!(world.reads_of("/.well-known/openid-configuration"), 2);
}

/// R435.
#[tokio::test]
async fn one_call_at_a_time_reads_what_the_provider_publishes() {
    let (old, new) = (Key::ec(), Key::ec());
    let world = World::new(json!([old.published("old")]));
    let reads = || (world.reads_of("/.well-known/openid-configuration"), world.reads_of("/keys"));
    let known = old.token(&json!({"alg": "ES256", "kid": "old"}));
    for shown in join_all((0..20).map(|_| world.shown(&known))).await {
        shown.expect("known");
    }
    assert_eq!(reads(), (1, 1));
    // After a change of keys, one call reads them for more calls than may read them in a minute.
    *world.documents.keys.lock().unwrap() = json!([new.published("new")]);
    let known = new.token(&json!({"alg": "ES256", "kid": "new"}));
    for shown in join_all((0..20).map(|_| world.shown(&known))).await {
        shown.expect("read again");
    }
    assert_eq!(reads(), (1, 2));
}

/// R435.
#[tokio::test]
async fn a_provider_that_is_down_is_asked_once_in_five_seconds() {
    let key = Key::ec();
    let world = World::new(json!([key.published("a")]));
    let reads = || world.documents.asked.lock().unwrap().len();
    let known = key.token(&json!({"alg": "ES256", "kid": "a"}));
    world.documents.is_down.store(true, Ordering::Relaxed);
    let failed = join_all((0..20).map(|_| world.shown(&known))).await;
    assert!(failed.iter().all(|one| matches!(one, Err(ProviderFailure::Unavailable(_)))));
    assert_eq!(reads(), 1);
    world.documents.is_down.store(false, Ordering::Relaxed);
    world.clock.advance(FAILED - Duration::from_millis(1));
    world.shown(&known).await.expect_err("a failure counts for a moment");
    assert_eq!(reads(), 1);
    world.clock.advance(Duration::from_millis(1));
    world.shown(&known).await.expect("it is asked again");
    // Keys that are known are good while others cannot be read.
    *world.documents.keys.lock().unwrap() = json!("none");
    let unknown = key.token(&json!({"alg": "ES256", "kid": "b"}));
    let failed = world.shown(&unknown).await;
    assert!(matches!(failed, Err(ProviderFailure::Unavailable(_))), "{failed:?}");
    world.shown(&known).await.expect("its key is known");
}

/// R432.
#[tokio::test]
async fn the_browser_is_sent_with_everything_that_ties_the_answer_to_it() {
    let world = World::new(json!([]));
    let request = ProviderRequest {
        redirect_uri: "https://crm.example/callback".to_owned(),
        state: "s".to_owned(),
        nonce: "n".to_owned(),
        challenge: "c".to_owned(),
    };
    let url = world.provider.sign_in_url(&request).await.expect("an address");
    assert_eq!(
        url,
        format!(
            "{ISSUER}/auth?kind=a&response_type=code&scope=openid+email&client_id=a+client\
             &redirect_uri=https%3A%2F%2Fcrm.example%2Fcallback&state=s&nonce=n\
             &code_challenge=c&code_challenge_method=S256"
        )
    );
}

/// R432.
#[tokio::test]
async fn the_code_is_given_back_with_the_verifier_and_the_secret_of_the_client() {
    let world = World::new(json!([]));
    let _ = world.redeem(Ok((400, json!({"error": "invalid_grant"})))).await;
    let asked = world.documents.asked.lock().unwrap();
    let request = asked.last().expect("a request");
    let header = |name: &str| {
        let found = request.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    };
    assert_eq!(header("content-type"), Some("application/x-www-form-urlencoded"));
    let basic = format!("Basic {}", STANDARD.encode("a+client:hunter2%3A"));
    assert_eq!(header("authorization"), Some(basic.as_str()));
    assert_eq!(
        String::from_utf8_lossy(&request.body),
        "grant_type=authorization_code&code=a+code\
         &redirect_uri=https%3A%2F%2Fcrm.example%2Fcallback&code_verifier=a+verifier"
    );
    assert!(!request.repeatable);
}

/// R435.
#[tokio::test]
async fn a_refused_code_is_told_from_a_provider_that_does_not_work() {
    let world = World::new(json!([]));
    let refused = world.redeem(Ok((400, json!({"error": "invalid_grant"})))).await;
    assert_eq!(refused, Err(ProviderFailure::Refused("400 invalid_grant".to_owned())));
    let odd = world.redeem(Ok((400, json!({"error": "<script>"})))).await;
    assert_eq!(odd, Err(ProviderFailure::Refused("400".to_owned())));
    for answer in [
        Ok((503, Value::Null)),
        Ok((401, json!({"error": "invalid_client"}))),
        Ok((400, json!({"error": "invalid_client"}))),
        Err(TransportError::Refused),
        Err(TransportError::Forbidden),
    ] {
        let failed = world.redeem(answer.clone()).await;
        assert!(matches!(failed, Err(ProviderFailure::Unavailable(_))), "{answer:?}");
    }
}

/// R435.
#[test]
fn an_issuer_is_an_address_of_https_unless_it_is_on_this_machine() {
    for good in [
        ISSUER,
        "https://id.example:8443",
        "https://10.0.0.7/realms/a",
        "http://127.0.0.1:8089/realms/a",
        "http://[::1]:8089",
        "http://localhost:8089",
    ] {
        assert!(checked_issuer(good).is_ok(), "{good}");
    }
    for (wrong, problem) in [
        ("http://id.example", InvalidIssuer::InClear),
        ("http://10.0.0.7", InvalidIssuer::InClear),
        ("http://localhost.id.example", InvalidIssuer::InClear),
        ("https://id.example?a=b", InvalidIssuer::Query),
        ("https://id.example/#a", InvalidIssuer::Query),
    ] {
        assert_eq!(checked_issuer(wrong).unwrap_err(), problem, "{wrong}");
    }
    for wrong in ["id.example", "ftp://id.example", "https://a@id.example", ""] {
        assert!(matches!(checked_issuer(wrong), Err(InvalidIssuer::Address(_))), "{wrong}");
    }
    assert_eq!(OpenIdOptions::new(ISSUER, "a").name, "id.example");
}

/// R435.
#[test]
fn a_provider_may_be_at_a_private_address_that_its_issuer_names_and_nowhere_else_inside() {
    let permits = |issuer: &str, url: &str, address: &str| {
        let destinations = destinations_of(issuer).expect("an issuer");
        let origin = Origin::of(url).expect("an address");
        let address = address.parse().expect("an address");
        destinations.permits(&origin.host, std::net::SocketAddr::new(address, origin.port))
    };
    assert!(permits("https://id.intern", "https://id.intern/keys", "10.0.0.7"));
    assert!(permits("https://id.intern:8443", "https://id.intern:8443/keys", "10.0.0.7"));
    assert!(permits("http://127.0.0.1:8089", "http://127.0.0.1:8089/keys", "127.0.0.1"));
    assert!(permits("http://[::1]:8089", "http://[::1]:8089/keys", "::1"));
    assert!(permits("https://id.example", "https://keys.example/keys", "8.8.8.8"));
    assert!(!permits("https://id.intern", "https://id.intern:9000/keys", "10.0.0.7"));
    assert!(!permits("https://id.intern", "https://other.intern/keys", "10.0.0.7"));
    assert!(!permits("https://id.intern", "https://id.intern/keys", "169.254.169.254"));
    assert!(!permits("http://127.0.0.1:8089", "http://127.0.0.1:8080/", "127.0.0.1"));
}
