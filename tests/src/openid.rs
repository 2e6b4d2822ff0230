//! A small provider of OpenID Connect on a real socket, with real keys. It keeps to the standard:
//! a code is good once, for the client, the redirect and the verifier that it was made for. What it
//! writes into its tokens, and how it signs them, is the test's to say.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as NewRsaKey, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents,
};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The client that the tests' servers are.
pub const CLIENT: &str = "recado";
/// Its secret, with characters that have to be encoded.
pub const SECRET: &str = "hunter2:+%";

/// How tokens are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signed {
    /// By the published key of P-256.
    #[default]
    Ec,
    /// By the published key of RSA.
    Rsa,
    /// Not at all: the algorithm is `none`.
    Not,
    /// By HMAC, with the published key as the secret.
    HmacOfPublicKey,
    /// By a key that is not published, under the name of the one that is.
    OtherKey,
    /// By the published key, under a name that is not published.
    UnknownName,
}

/// What a code was made for.
#[derive(Clone, Debug)]
struct Granted {
    redirect_uri: String,
    challenge: String,
    claims: Value,
}

struct State {
    ec: EcdsaKeyPair,
    rsa: RsaKeyPair,
    other: EcdsaKeyPair,
    /// The name of the published key.
    kid: String,
    claims: Map<String, Value>,
    signed: Signed,
    description: Map<String, Value>,
    is_down: bool,
    codes: HashMap<String, Granted>,
    asked: Vec<String>,
    now: i64,
}

/// A provider.
#[derive(Clone)]
pub struct OpenId {
    /// The address that it listens on.
    pub addr: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl std::fmt::Debug for OpenId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenId").field("addr", &self.addr).finish_non_exhaustive()
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn new_ec() -> EcdsaKeyPair {
    let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let made = EcdsaKeyPair::generate_pkcs8(kind, &SystemRandom::new()).expect("a key");
    EcdsaKeyPair::from_pkcs8(kind, made.as_ref()).expect("a key")
}

fn new_rsa() -> RsaKeyPair {
    let made = NewRsaKey::generate(KeySize::Rsa2048).expect("a key");
    let der = AsDer::<Pkcs8V1Der<'_>>::as_der(&made).expect("its bytes");
    RsaKeyPair::from_pkcs8(der.as_ref()).expect("a key")
}

/// The fields of a form or a query.
pub fn fields(text: &str) -> HashMap<String, String> {
    let decoded = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let digits = [rest.next(), rest.next()].map(|digit| digit.expect("a digit"));
                    let digits = String::from_utf8(digits.to_vec()).expect("digits");
                    u8::from_str_radix(&digits, 16).expect("a byte")
                }
                other => other,
            });
        }
        String::from_utf8(bytes).expect("UTF-8")
    };
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

impl OpenId {
    /// Starts a provider, for clocks that show this time.
    pub async fn start(now: i64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let addr = listener.local_addr().expect("an address");
        let state = State {
            ec: new_ec(),
            rsa: new_rsa(),
            other: new_ec(),
            kid: "first".to_owned(),
            claims: Map::new(),
            signed: Signed::default(),
            description: Map::new(),
            is_down: false,
            codes: HashMap::new(),
            asked: Vec::new(),
            now,
        };
        let provider = Self { addr, state: Arc::new(Mutex::new(state)) };
        let shared = provider.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(shared.clone().serve(stream));
            }
        });
        provider
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its issuer.
    pub fn issuer(&self) -> String {
        format!("http://{}/realms/people", self.addr)
    }

    /// Who signs in from now on.
    pub fn is(&self, subject: &str, email: &str, is_verified: bool) {
        self.claims(&json!({"sub": subject, "email": email, "email_verified": is_verified}));
    }

    /// What tokens say from now on in place of what they should; null leaves a claim out.
    pub fn claims(&self, claims: &Value) {
        let claims = claims.as_object().expect("claims").clone();
        self.state().claims.extend(claims);
    }

    /// Takes back what tokens say.
    pub fn forget(&self, claims: &[&str]) {
        self.state().claims.retain(|name, _| !claims.contains(&name.as_str()));
    }

    /// How tokens are signed from now on.
    pub fn sign(&self, signed: Signed) {
        self.state().signed = signed;
    }

    /// What the description says from now on in place of what it should.
    pub fn describe(&self, description: &Value) {
        self.state().description = description.as_object().expect("fields").clone();
    }

    /// Replaces the published key of P-256.
    pub fn rotate(&self, kid: &str) {
        let mut state = self.state();
        state.ec = new_ec();
        kid.clone_into(&mut state.kid);
    }

    /// Whether it fails from now on.
    pub fn is_down(&self, is_down: bool) {
        self.state().is_down = is_down;
    }

    /// How often this path was asked for.
    pub fn asked(&self, path: &str) -> usize {
        self.state().asked.iter().filter(|asked| *asked == path).count()
    }

    /// What a browser does that was sent here: the person signs in, and the browser is sent back to
    /// this address, with a code.
    ///
    /// # Panics
    ///
    /// If the address does not say what it has to.
    pub fn signs_in(&self, url: &str) -> String {
        let wanted = format!("{}/auth?", self.issuer());
        let query = fields(url.strip_prefix(&wanted).expect("the address to sign in"));
        for (name, value) in [
            ("response_type", "code"),
            ("scope", "openid email"),
            ("client_id", CLIENT),
            ("code_challenge_method", "S256"),
        ] {
            assert_eq!(query[name], value, "{url}");
        }
        let mut state = self.state();
        let mut claims = json!({
            "iss": self.issuer(),
            "aud": CLIENT,
            "iat": state.now,
            "exp": state.now + 300,
            "nonce": query["nonce"],
        });
        let claims_of_person = state.claims.clone();
        for (name, value) in &claims_of_person {
            match value {
                Value::Null => claims.as_object_mut().expect("claims").remove(name),
                value => {
                    claims.as_object_mut().expect("claims").insert(name.clone(), value.clone())
                }
            };
        }
        let (redirect_uri, challenge) =
            (query["redirect_uri"].clone(), query["code_challenge"].clone());
        let code = format!("code-{}", state.codes.len() + state.asked.len());
        let back = format!("{redirect_uri}?code={code}&state={}", query["state"]);
        state.codes.insert(code, Granted { redirect_uri, challenge, claims });
        back
    }

    async fn serve(self, mut stream: TcpStream) {
        let mut request = Vec::new();
        let mut chunk = [0; 4096];
        let (head, length) = loop {
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(n) => request.extend_from_slice(&chunk[..n]),
            }
            let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") else {
                continue;
            };
            let head = String::from_utf8_lossy(&request[..end]).into_owned();
            let length = header(&head, "content-length");
            let length = length.and_then(|length| length.parse::<usize>().ok());
            break (head, end + 4 + length.unwrap_or(0));
        };
        while request.len() < length {
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(n) => request.extend_from_slice(&chunk[..n]),
            }
        }
        let body = head.len() + 4;
        let (status, answer) = self.answer(&head, &String::from_utf8_lossy(&request[body..]));
        let answer = answer.to_string();
        let whole = format!(
            "HTTP/1.1 {status} Answer\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{answer}",
            answer.len()
        );
        let _ = stream.write_all(whole.as_bytes()).await;
    }

    fn answer(&self, head: &str, body: &str) -> (u16, Value) {
        let line = head.lines().next().unwrap_or_default();
        let path = line.split(' ').nth(1).unwrap_or_default();
        let path = path.strip_prefix("/realms/people").unwrap_or(path).to_owned();
        let issuer = self.issuer();
        let mut state = self.state();
        state.asked.push(path.clone());
        match path.as_str() {
            _ if state.is_down => (503, json!({})),
            "/.well-known/openid-configuration" => {
                let mut whole = json!({
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/auth"),
                    "token_endpoint": format!("{issuer}/token"),
                    "jwks_uri": format!("{issuer}/keys"),
                });
                whole.as_object_mut().expect("fields").extend(state.description.clone());
                (200, whole)
            }
            "/keys" => (200, json!({ "keys": state.published() })),
            "/token" => state.token(head, &fields(body)),
            _ => (404, json!({})),
        }
    }
}

/// The value of a header of a request.
fn header<'h>(head: &'h str, wanted: &str) -> Option<&'h str> {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let mut lines = lines.map(|(name, value)| (name, value.trim()));
    lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
}

impl State {
    fn modulus(&self) -> Vec<u8> {
        RsaPublicKeyComponents::<Vec<u8>>::from(self.rsa.public_key()).n
    }

    fn published(&self) -> Value {
        let point = self.ec.public_key().as_ref();
        let (x, y) = (encoded(&point[1..33]), encoded(&point[33..]));
        let rsa = RsaPublicKeyComponents::<Vec<u8>>::from(self.rsa.public_key());
        let (n, e) = (encoded(rsa.n), encoded(rsa.e));
        json!([
            {"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.kid,
             "x": x, "y": y},
            {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "rsa", "n": n, "e": e},
        ])
    }

    /// Gives the token for a code, once, to the client and the browser that it was made for.
    fn token(&mut self, head: &str, form: &HashMap<String, String>) -> (u16, Value) {
        let plain = |text: &str| text.replace('%', "%25").replace(':', "%3A").replace('+', "%2B");
        let client = STANDARD.encode(format!("{CLIENT}:{}", plain(SECRET)));
        let basic = format!("Basic {client}");
        if header(head, "authorization") != Some(basic.as_str()) {
            return (401, json!({"error": "invalid_client"}));
        }
        let granted = self.codes.remove(form.get("code").map_or("", String::as_str));
        let Some(granted) = granted else { return (400, json!({"error": "invalid_grant"})) };
        let verifier = form.get("code_verifier").map_or("", String::as_str);
        let is_own = form.get("redirect_uri") == Some(&granted.redirect_uri)
            && encoded(Sha256::digest(verifier)) == granted.challenge
            && form.get("grant_type").map(String::as_str) == Some("authorization_code");
        if !is_own {
            return (400, json!({"error": "invalid_grant"}));
        }
        let token = self.signed_token(&granted.claims);
        (200, json!({"access_token": "none", "token_type": "Bearer", "id_token": token}))
    }

    fn signed_token(&self, claims: &Value) -> String {
        let (algorithm, kid) = match self.signed {
            Signed::Ec | Signed::OtherKey => ("ES256", self.kid.as_str()),
            Signed::UnknownName => ("ES256", "unknown"),
            Signed::Rsa => ("RS256", "rsa"),
            Signed::Not => ("none", self.kid.as_str()),
            Signed::HmacOfPublicKey => ("HS256", "rsa"),
        };
        let head = json!({"alg": algorithm, "kid": kid, "typ": "JWT"});
        let signed = format!("{}.{}", encoded(head.to_string()), encoded(claims.to_string()));
        let (message, random) = (signed.as_bytes(), SystemRandom::new());
        let signature = match self.signed {
            Signed::Ec | Signed::UnknownName => {
                self.ec.sign(&random, message).expect("signs").as_ref().to_vec()
            }
            Signed::OtherKey => self.other.sign(&random, message).expect("signs").as_ref().to_vec(),
            Signed::Rsa => {
                let mut signature = vec![0; self.rsa.public_modulus_len()];
                let signed = self.rsa.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
                signed.expect("signs");
                signature
            }
            Signed::Not => Vec::new(),
            Signed::HmacOfPublicKey => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, &self.modulus());
                hmac::sign(&key, message).as_ref().to_vec()
            }
        };
        format!("{signed}.{}", encoded(signature))
    }
}
