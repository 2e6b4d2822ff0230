//! Signing in at a provider of OpenID Connect, on sockets: R432–R435.

use std::time::Duration;

use recado_core::accounts::{Login, TotpSecret};
use recado_core::store::RecordsExt;
use recado_tests::backend::{HandClock, Outside, Setup};
use recado_tests::openid::{OpenId, Signed};
use recado_tests::{FromStore, Request, ScriptedAnswer, StoreKind, World, both_stores, text};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const BIA: &str = "bia@example.org";
const HERE: &str = "/console/sign-in/oidc";
const PASSWORD: &str = "nove sapos azuis";

/// A server, with a provider that its members may sign in with.
struct Realm {
    world: World,
    provider: OpenId,
}

/// What a browser keeps.
#[derive(Default)]
struct Browser {
    sign_in: String,
    session: String,
}

impl FromStore for Realm {
    async fn from_store(kind: StoreKind) -> Self {
        let clock = HandClock::default();
        let provider = OpenId::start(clock.now().millis() / 1000).await;
        let setup = Setup {
            clock: Some(clock),
            outside: Outside::Guarded,
            oidc_issuer: Some(provider.issuer()),
            ..Setup::default()
        };
        Self { world: World::with(kind, setup).await, provider }
    }
}

impl Browser {
    async fn get(&mut self, realm: &Realm, path: &str) -> ScriptedAnswer {
        let request = Request::new("GET", path);
        self.send(realm, request).await
    }

    async fn send(&mut self, realm: &Realm, request: Request) -> ScriptedAnswer {
        let cookies = format!("recado-sign-in={}; recado-session={}", self.sign_in, self.session);
        let answer = realm.world.send(request.header("cookie", cookies)).await;
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().expect("a text").to_owned();
            assert!(line.contains("HttpOnly") && line.contains("SameSite=Lax"), "{line}");
            let pair = line.split(';').next().and_then(|pair| pair.split_once('='));
            let (name, value) = pair.expect("a name and a value");
            match name {
                "recado-sign-in" => value.clone_into(&mut self.sign_in),
                "recado-session" => value.clone_into(&mut self.session),
                other => panic!("{other}"),
            }
        }
        answer
    }

    /// Begins, and signs in at the provider: the path that the browser is sent back to.
    async fn at_provider(&mut self, realm: &Realm) -> String {
        let begun = self.get(realm, &format!("{HERE}?next=/console/contacts")).await;
        assert_eq!(begun.status, 303, "{}", begun.show());
        let back = realm.provider.signs_in(&begun.header("location"));
        back.strip_prefix(&realm.world.server.public_url())
            .expect("an address of the server")
            .to_owned()
    }

    /// A whole sign-in.
    async fn signs_in(&mut self, realm: &Realm) -> ScriptedAnswer {
        let back = self.at_provider(realm).await;
        self.get(realm, &back).await
    }
}

#[track_caller]
fn is_signed_in(browser: &Browser, answer: &ScriptedAnswer) {
    assert_eq!(answer.status, 303, "{}", answer.show());
    assert_eq!(answer.header("location"), "/console/contacts", "{}", answer.show());
    assert!(browser.session.starts_with("rs_") && browser.sign_in.is_empty());
}

#[track_caller]
fn is_refused(browser: &Browser, answer: &ScriptedAnswer, status: u16, words: &str) {
    assert_eq!(answer.status, status, "{}", answer.show());
    assert!(answer.show().contains(words), "{}", answer.show());
    assert!(browser.session.is_empty() && browser.sign_in.is_empty());
}

/// A member who was invited, with the path of the login.
async fn invited(world: &World, email: &str) -> String {
    let made = world.operator("POST", "C/members", json!({"display_name": "Bia"})).await;
    let login = format!("C/members/{}/login", text(&made.expect(201)["id"]));
    let body = json!({"email": email, "role": "agent"});
    world.operator("POST", &login, body).await.expect(201);
    login
}

/// R432, R433, R420.
#[both_stores]
async fn a_member_is_known_by_the_verified_address_once_and_then_by_the_subject(realm: Realm) {
    invited(&realm.world, BIA).await;
    realm.provider.is("sub-1", BIA, true);
    let mut browser = Browser { session: "fixed-by-somebody".to_owned(), ..Browser::default() };
    let answer = browser.signs_in(&realm).await;
    is_signed_in(&browser, &answer);
    assert_eq!(browser.get(&realm, "/console/contacts").await.status, 200);
    // Its login is shown as one that is in use, without anything of who that is there.
    let logins = realm.world.operator("GET", "C/logins", Value::Null).await.expect(200);
    let shown = ["was_accepted", "has_provider", "has_password"].map(|name| &logins[0][name]);
    assert_eq!(shown, [&json!(true), &json!(true), &json!(false)]);
    assert!(logins[0].get("subject").is_none());
    // By RSA, with another address, which is not even verified.
    realm.provider.sign(Signed::Rsa);
    realm.provider.is("sub-1", "other@example.org", false);
    let mut browser = Browser::default();
    let answer = browser.signs_in(&realm).await;
    is_signed_in(&browser, &answer);
    // Somebody else there with the address of the login.
    realm.provider.is("sub-2", BIA, true);
    let mut browser = Browser::default();
    let answer = browser.signs_in(&realm).await;
    is_refused(&browser, &answer, 403, "No login here belongs to that account");
    // The subject is nowhere in the database, and signing in is in the log as with a password.
    let audit = realm.world.operator("GET", "C/audit", Value::Null).await.expect(200);
    let operations: Vec<String> =
        audit.as_array().expect("entries").iter().map(|entry| text(&entry["operation"])).collect();
    assert!(operations.iter().filter(|name| *name == "signIn").count() >= 2, "{operations:?}");
    assert!(!audit.to_string().contains("sub-1"));
}

/// R433.
#[both_stores]
async fn who_has_no_login_is_refused_in_the_same_words_whatever_the_reason(realm: Realm) {
    let login = invited(&realm.world, BIA).await;
    let mut pages = Vec::new();
    for (subject, email, is_verified, is_disabled) in [
        ("sub-1", BIA, false, false),
        ("sub-1", "eva@example.org", true, false),
        ("sub-1", BIA, true, true),
    ] {
        let change = json!({ "disabled": is_disabled });
        realm.world.operator("PATCH", &login, change).await.expect(200);
        realm.provider.is(subject, email, is_verified);
        let mut browser = Browser::default();
        let answer = browser.signs_in(&realm).await;
        is_refused(&browser, &answer, 403, "No login here belongs to that account");
        pages.push(answer.body);
    }
    assert!(pages.iter().all(|page| *page == pages[0]));
    let logins = realm.world.operator("GET", "C/logins", Value::Null).await.expect(200);
    assert_eq!(logins.as_array().map(Vec::len), Some(1), "none was made");
}

/// R432.
#[both_stores]
async fn a_token_that_is_not_the_answer_to_this_sign_in_is_refused(realm: Realm) {
    invited(&realm.world, BIA).await;
    let now = realm.world.server.clock.now().millis() / 1000;
    for wrong in [
        json!({"nonce": "another"}),
        json!({"nonce": null}),
        json!({"aud": "another"}),
        json!({"aud": ["recado", "another"]}),
        json!({"azp": "another"}),
        json!({"iss": "https://evil.example"}),
        json!({"exp": now - 61}),
        json!({"iat": now + 120}),
        json!({"sub": null}),
    ] {
        realm.provider.is("sub-1", BIA, true);
        realm.provider.claims(&wrong);
        let mut browser = Browser::default();
        let answer = browser.signs_in(&realm).await;
        is_refused(&browser, &answer, 502, "cannot be trusted");
        realm.provider.forget(&["nonce", "aud", "azp", "iss", "exp", "iat", "sub"]);
    }
    realm.provider.is("sub-1", BIA, true);
    for signed in [Signed::Not, Signed::HmacOfPublicKey, Signed::OtherKey, Signed::UnknownName] {
        realm.provider.sign(signed);
        let mut browser = Browser::default();
        let answer = browser.signs_in(&realm).await;
        is_refused(&browser, &answer, 502, "cannot be trusted");
    }
    realm.provider.sign(Signed::Ec);
    let mut browser = Browser::default();
    let answer = browser.signs_in(&realm).await;
    is_signed_in(&browser, &answer);
}

/// R435.
#[both_stores]
async fn a_new_key_of_the_provider_is_found_and_its_documents_are_read_seldom(realm: Realm) {
    invited(&realm.world, BIA).await;
    realm.provider.is("sub-1", BIA, true);
    for _ in 0..2 {
        let mut browser = Browser::default();
        let answer = browser.signs_in(&realm).await;
        is_signed_in(&browser, &answer);
    }
    let description = "/.well-known/openid-configuration";
    assert_eq!((realm.provider.asked("/keys"), realm.provider.asked(description)), (1, 1));
    realm.provider.rotate("second");
    let mut browser = Browser::default();
    let answer = browser.signs_in(&realm).await;
    is_signed_in(&browser, &answer);
    assert_eq!((realm.provider.asked("/keys"), realm.provider.asked(description)), (2, 1));
    realm.provider.sign(Signed::UnknownName);
    for _ in 0..10 {
        let mut browser = Browser::default();
        let answer = browser.signs_in(&realm).await;
        is_refused(&browser, &answer, 502, "cannot be trusted");
    }
    assert!(realm.provider.asked("/keys") <= 8, "{}", realm.provider.asked("/keys"));
}

/// R432.
#[both_stores]
async fn an_answer_counts_once_and_in_its_own_browser_only(realm: Realm) {
    invited(&realm.world, BIA).await;
    realm.provider.is("sub-1", BIA, true);
    let mut victim = Browser::default();
    let mut attacker = Browser::default();
    // The attacker's own answer in the browser of somebody else, and without any sign-in.
    let back = attacker.at_provider(&realm).await;
    victim.at_provider(&realm).await;
    let answer = victim.get(&realm, &back).await;
    is_refused(&victim, &answer, 400, "not begun in this browser");
    let mut nobody = Browser::default();
    let answer = nobody.get(&realm, &back).await;
    is_refused(&nobody, &answer, 400, "not begun in this browser");
    let forged = back.replace("state=", "state=A");
    let kept = attacker.sign_in.clone();
    let answer = attacker.get(&realm, &forged).await;
    is_refused(&attacker, &answer, 400, "not begun in this browser");
    // The right browser, twice.
    attacker.sign_in.clone_from(&kept);
    let answer = attacker.get(&realm, &back).await;
    is_signed_in(&attacker, &answer);
    let mut again = Browser { sign_in: kept, ..Browser::default() };
    let answer = again.get(&realm, &back).await;
    is_refused(&again, &answer, 400, "not begun in this browser");
    // Another sign-in with the code of this one: the provider takes it once.
    let code = back.split(['?', '&']).find(|part| part.starts_with("code=")).expect("a code");
    let mut other = Browser::default();
    let own = other.at_provider(&realm).await;
    let state = own.split(['?', '&']).find(|part| part.starts_with("state=")).expect("a state");
    let answer = other.get(&realm, &format!("{HERE}/callback?{code}&{state}")).await;
    is_refused(&other, &answer, 502, "cannot be trusted");
    // Too late.
    let mut late = Browser::default();
    let back = late.at_provider(&realm).await;
    realm.world.advance(Duration::from_secs(600));
    let answer = late.get(&realm, &back).await;
    is_refused(&late, &answer, 400, "too long ago");
}

/// R435.
#[both_stores]
async fn a_provider_that_is_down_or_says_no_is_a_page_in_words(realm: Realm) {
    invited(&realm.world, BIA).await;
    realm.provider.is_down(true);
    let mut browser = Browser::default();
    let answer = browser.get(&realm, HERE).await;
    is_refused(&browser, &answer, 502, "cannot be used now");
    assert!(answer.show().contains("name=\"password\""), "{}", answer.show());
    realm.provider.is_down(false);
    // That it was down counts for a moment.
    realm.world.advance(Duration::from_secs(5));
    let back = browser.at_provider(&realm).await;
    realm.provider.is_down(true);
    let answer = browser.get(&realm, &back).await;
    is_refused(&browser, &answer, 502, "cannot be used now");
    realm.provider.is_down(false);
    let back = browser.at_provider(&realm).await;
    let denied = back.replace("code=", "error=access_denied&none=");
    let answer = browser.get(&realm, &denied).await;
    is_refused(&browser, &answer, 403, "You were not signed in there");
}

/// R435.
#[both_stores]
async fn a_description_leads_to_no_private_address_but_the_issuers_own(realm: Realm) {
    invited(&realm.world, BIA).await;
    realm.provider.is("sub-1", BIA, true);
    let inside = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", inside.local_addr().expect("an address"));
    for (name, wrong) in [
        ("token_endpoint", format!("{url}/token")),
        ("jwks_uri", format!("{url}/keys")),
        ("token_endpoint", "http://169.254.169.254/token".to_owned()),
        ("issuer", "https://evil.example".to_owned()),
    ] {
        realm.provider.describe(&json!({ name: wrong }));
        // What was read before counts for an hour.
        realm.world.advance(Duration::from_secs(3600));
        let now = realm.world.server.clock.now().millis() / 1000;
        realm.provider.claims(&json!({"iat": now, "exp": now + 300}));
        let mut browser = Browser::default();
        let answer = match name {
            "issuer" => browser.get(&realm, HERE).await,
            _ => browser.signs_in(&realm).await,
        };
        is_refused(&browser, &answer, 502, "cannot be used now");
    }
    let called = tokio::time::timeout(Duration::from_millis(100), inside.accept()).await;
    assert!(called.is_err(), "the address inside was called");
}

/// R434.
#[both_stores]
async fn a_login_with_a_second_factor_asks_for_its_code_too(realm: Realm) {
    let world = &realm.world;
    let login = invited(world, BIA).await;
    let link = world.operator("POST", &format!("{login}/reset"), Value::Null).await.expect(201);
    let url = text(&link["url"]);
    let token = url.split_once('#').expect("a fragment").1;
    let accounts = world.server.recado().accounts();
    accounts.accept_link(token, PASSWORD).await.expect("it works");
    let new = accounts.sign_in(BIA, PASSWORD, None, None).await.expect("signed in");
    accounts.begin_totp(&new.who, PASSWORD).await.expect("begun");
    let key = (new.who.company, new.who.member);
    let kept = world.server.recado().store().get::<Login>(key).await.expect("works");
    let secret = kept.and_then(|login| login.totp_secret.clone()).expect("a secret");
    let secret = TotpSecret::new(secret);
    let code = || {
        let step = world.server.clock.now().millis() / 30_000;
        secret.code(u64::try_from(step).expect("a step"))
    };
    accounts.confirm_totp(&new.who, &code()).await.expect("on");
    world.advance(Duration::from_secs(60));

    let now = world.server.clock.now().millis() / 1000;
    realm.provider.claims(&json!({"iat": now, "exp": now + 300}));
    realm.provider.is("sub-1", BIA, true);
    let mut browser = Browser::default();
    let answer = browser.signs_in(&realm).await;
    assert_eq!(answer.header("location"), format!("{HERE}/code"), "{}", answer.show());
    assert!(browser.session.is_empty() && !browser.sign_in.is_empty());
    let post = |code: &str| {
        let request = Request::new("POST", format!("{HERE}/code"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.header("sec-fetch-site", "same-origin").body(format!("code={code}"))
    };
    let wrong = browser.send(&realm, post("nothing")).await;
    assert_eq!(wrong.status, 422, "{}", wrong.show());
    let answer = browser.send(&realm, post(&code())).await;
    is_signed_in(&browser, &answer);
}
