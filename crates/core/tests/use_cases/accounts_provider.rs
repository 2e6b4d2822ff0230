//! Signing in at a provider: who is let in, and what of it is kept.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use recado_core::access::{Operator, OperatorRole};
use recado_core::accounts::{
    Audience, IdToken, IsVerified, Login, LoginLink, NewSession, ProviderAnswer, ProviderCode,
    ProviderFailure, ProviderRefused, ProviderRequest, ProviderStep, SignInProvider, SignedIn,
    TokenProblem, TotpSecret,
};
use recado_core::ids::MemberId;
use recado_core::store::RecordsExt;
use recado_core::{Clock as _, Error};
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::json;

const ISSUER: &str = "https://id.example";
const BIA: &str = "bia@example.org";
const PASSWORD: &str = "nove sapos azuis";
const MINUTE: Duration = Duration::from_secs(60);
const CLIENT: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7)));

/// A provider that gives the token it was told to, for the request that came last.
#[derive(Debug, Default)]
struct Fake {
    asked: Mutex<Option<ProviderRequest>>,
    failure: Mutex<Option<ProviderFailure>>,
    token: Mutex<IdToken>,
    redeemed: Mutex<Vec<ProviderCode>>,
    /// Whether others go first while a code is given back.
    is_slow: bool,
}

#[async_trait]
impl SignInProvider for Fake {
    fn name(&self) -> &str {
        "Aurora"
    }

    fn issuer(&self) -> &str {
        ISSUER
    }

    fn client_id(&self) -> &str {
        "recado"
    }

    async fn sign_in_url(&self, request: &ProviderRequest) -> Result<String, ProviderFailure> {
        *self.asked.lock().unwrap() = Some(request.clone());
        Ok(format!("{ISSUER}/authorize?state={}", request.state))
    }

    async fn redeem(&self, code: &ProviderCode) -> Result<IdToken, ProviderFailure> {
        self.redeemed.lock().unwrap().push(code.clone());
        if self.is_slow {
            tokio::task::yield_now().await;
        }
        match self.failure.lock().unwrap().clone() {
            Some(failure) => Err(failure),
            None => Ok(self.token.lock().unwrap().clone()),
        }
    }
}

impl Fake {
    /// What the browser keeps and the state, for a sign-in that was begun.
    async fn begun(&self, kit: &Kit) -> (String, String) {
        let begun = kit.app.accounts().begin_at_provider(self, "/console/inbox").await.unwrap();
        let state = self.asked.lock().unwrap().as_ref().unwrap().state.clone();
        assert_eq!(begun.url, format!("{ISSUER}/authorize?state={state}"));
        (begun.kept.expose().to_owned(), state)
    }

    /// A token about this subject with this address, for the request that came last.
    fn token(&self, kit: &Kit, subject: &str, email: &str, is_verified: bool) -> IdToken {
        let now = kit.clock.now().millis() / 1000;
        IdToken {
            iss: ISSUER.to_owned(),
            sub: subject.to_owned(),
            aud: Audience::One("recado".to_owned()),
            exp: Some(now + 300),
            iat: Some(now),
            nonce: self.asked.lock().unwrap().as_ref().map(|request| request.nonce.clone()),
            email: Some(email.to_owned()),
            email_verified: IsVerified::Flag(is_verified),
            ..IdToken::default()
        }
    }

    /// A whole sign-in of this subject.
    async fn sign_in(
        &self,
        kit: &Kit,
        subject: &str,
        email: &str,
        is_verified: bool,
    ) -> Result<ProviderStep, ProviderRefused> {
        let (kept, state) = self.begun(kit).await;
        *self.token.lock().unwrap() = self.token(kit, subject, email, is_verified);
        self.answered(kit, &kept, &state).await
    }

    async fn answered(
        &self,
        kit: &Kit,
        kept: &str,
        state: &str,
    ) -> Result<ProviderStep, ProviderRefused> {
        let (kept, state, code) = (Some(kept), Some(state), Some("a code"));
        let answer = ProviderAnswer { kept, state, code, issuer: None };
        refusal(kit.app.accounts().answer_of_provider(self, &answer, CLIENT).await)
    }
}

fn refusal<T>(result: Result<T, Error<ProviderRefused>>) -> Result<T, ProviderRefused> {
    result.map_err(|error| match error {
        Error::Rejected(refused) => refused,
        other => panic!("{other:?}"),
    })
}

#[track_caller]
fn signed_in(step: Result<ProviderStep, ProviderRefused>) -> NewSession {
    match step {
        Ok(ProviderStep::SignedIn { session, next }) => {
            assert_eq!(next, "/console/inbox");
            session
        }
        other => panic!("{other:?}"),
    }
}

/// A member who was invited with this address.
async fn invited(kit: &Kit, email: &str) -> (MemberId, String) {
    let (accounts, company) = (kit.app.accounts(), kit.company.id);
    let draft = body(json!({"display_name": "Bia"}));
    let member = kit.app.access().create_member(company, &draft).await.unwrap().id;
    let draft = body(json!({"email": email, "role": "agent"}));
    let link = accounts.invite(&Operator::ROOT, company, member, &draft).await.unwrap();
    (member, link.token.expose().to_owned())
}

async fn with_password(kit: &Kit, email: &str) -> MemberId {
    let (member, token) = invited(kit, email).await;
    kit.app.accounts().accept_link(&token, PASSWORD).await.unwrap();
    member
}

async fn login(kit: &Kit, member: MemberId) -> Login {
    let found = kit.app.store().get::<Login>((kit.company.id, member)).await.unwrap();
    found.expect("a login").value().clone()
}

/// Turns the second factor on; answers its secret.
async fn with_totp(kit: &Kit, who: &SignedIn) -> TotpSecret {
    let accounts = kit.app.accounts();
    accounts.begin_totp(who, PASSWORD).await.unwrap();
    let secret = TotpSecret::new(login(kit, who.member).await.totp_secret.unwrap());
    accounts.confirm_totp(who, &code_of(kit, &secret)).await.unwrap();
    secret
}

fn code_of(kit: &Kit, secret: &TotpSecret) -> String {
    secret.code(u64::try_from(kit.clock.now().millis() / 30_000).unwrap())
}

async fn change(kit: &Kit, member: MemberId, patch: serde_json::Value) {
    let (accounts, company) = (kit.app.accounts(), kit.company.id);
    accounts.change_login(&Operator::ROOT, company, member, &body(patch)).await.unwrap();
}

/// R433.
#[tokio::test]
async fn a_verified_address_binds_once_and_then_the_subject_counts() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    let member = with_password(&kit, BIA).await;
    assert_eq!(login(&kit, member).await.subject, None);
    let new = signed_in(fake.sign_in(&kit, "1", BIA, true).await);
    assert_eq!((new.who.member, new.who.role), (member, OperatorRole::Agent));
    assert!(kit.app.accounts().session(new.token.expose()).await.unwrap().is_some());
    let bound = login(&kit, member).await;
    assert!(bound.subject.is_some() && bound.password.is_some());
    // Another address there, verified or not, and the same one of somebody else.
    assert_eq!(signed_in(fake.sign_in(&kit, "1", "b@new.example", false).await).who.member, member);
    assert_eq!(signed_in(fake.sign_in(&kit, "1", BIA, true).await).who.member, member);
    let other = fake.sign_in(&kit, "2", BIA, true).await;
    assert_eq!(other.unwrap_err(), ProviderRefused::NoLogin);
    assert_eq!(login(&kit, member).await.subject, bound.subject);
    assert_eq!(kit.app.accounts().logins(kit.company.id).await.unwrap().len(), 1);
}

/// R433.
#[tokio::test]
async fn nobody_is_let_in_without_a_login_that_works() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    let member = with_password(&kit, BIA).await;
    let unverified = fake.sign_in(&kit, "1", BIA, false).await.unwrap_err();
    let unknown = fake.sign_in(&kit, "1", "eva@example.org", true).await.unwrap_err();
    change(&kit, member, json!({"disabled": true})).await;
    let disabled = fake.sign_in(&kit, "1", BIA, true).await.unwrap_err();
    assert_eq!([unverified, unknown, disabled], [const { ProviderRefused::NoLogin }; 3]);
    assert_eq!(login(&kit, member).await.subject, None);
    change(&kit, member, json!({"disabled": false})).await;
    signed_in(fake.sign_in(&kit, "1", BIA, true).await);
    change(&kit, member, json!({"disabled": true})).await;
    let disabled = fake.sign_in(&kit, "1", BIA, true).await.unwrap_err();
    assert_eq!(disabled, ProviderRefused::NoLogin);
}

/// R433.
#[tokio::test]
async fn an_invited_member_needs_no_password_and_the_invitation_ends() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    let (member, token) = invited(&kit, BIA).await;
    let new = signed_in(fake.sign_in(&kit, "1", BIA, true).await);
    assert!(kit.app.accounts().session(new.token.expose()).await.unwrap().is_some());
    assert!(login(&kit, member).await.password.is_none());
    let link = kit.app.store().get::<LoginLink>((kit.company.id, member)).await.unwrap();
    assert!(link.is_none() && kit.app.accounts().link(&token).await.unwrap().is_none());
    // No password opens a login that has none.
    assert!(kit.app.accounts().sign_in(BIA, "", None, None).await.is_err());
    assert!(kit.app.accounts().sign_in(BIA, PASSWORD, None, None).await.is_err());
    // Another address makes it a login of nobody: its sessions end.
    change(&kit, member, json!({"email": "eva@example.org"})).await;
    assert!(kit.app.accounts().session(new.token.expose()).await.unwrap().is_none());
    assert_eq!(fake.sign_in(&kit, "1", BIA, true).await.unwrap_err(), ProviderRefused::NoLogin);
    signed_in(fake.sign_in(&kit, "9", "eva@example.org", true).await);
    // They stay ended when it works again, for somebody else.
    assert!(kit.app.accounts().session(new.token.expose()).await.unwrap().is_none());
}

/// R402, R433.
#[tokio::test]
async fn another_address_ends_the_sessions_of_a_bound_login_that_has_a_password_too() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    let member = with_password(&kit, BIA).await;
    let is_open = async |new: &NewSession| {
        kit.app.accounts().session(new.token.expose()).await.unwrap().is_some()
    };
    let before = kit.app.accounts().sign_in(BIA, PASSWORD, None, None).await.unwrap();
    change(&kit, member, json!({"email": "ana@example.org"})).await;
    assert!(is_open(&before).await, "it was bound to nobody");
    let new = signed_in(fake.sign_in(&kit, "1", "ana@example.org", true).await);
    change(&kit, member, json!({"email": BIA})).await;
    assert!(!is_open(&before).await && !is_open(&new).await);
}

/// R433.
#[tokio::test]
async fn a_login_is_shown_as_accepted_and_bound_once_its_member_signed_in_at_the_provider() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    let (member, _) = invited(&kit, BIA).await;
    let shown = async || {
        let view = kit.app.accounts().login(kit.company.id, member).await.unwrap();
        (view.was_accepted, view.has_provider, view.has_password)
    };
    assert_eq!(shown().await, (false, false, false));
    signed_in(fake.sign_in(&kit, "1", BIA, true).await);
    assert_eq!(shown().await, (true, true, false));
    let other = with_password(&kit, "eva@example.org").await;
    let other = kit.app.accounts().login(kit.company.id, other).await.unwrap();
    assert_eq!((other.was_accepted, other.has_provider, other.has_password), (true, false, true));
}

/// R433.
#[tokio::test]
async fn an_address_that_is_another_one_in_lower_case_opens_no_login() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    let member = with_password(&kit, "kim@example.org").await;
    let refused = fake.sign_in(&kit, "1", "\u{212a}im@example.org", true).await.unwrap_err();
    assert_eq!(refused, ProviderRefused::NoLogin);
    assert_eq!(login(&kit, member).await.subject, None);
    signed_in(fake.sign_in(&kit, "2", "Kim@Example.org", true).await);
}

/// R432.
#[tokio::test]
async fn an_answer_counts_once_in_the_browser_that_asked_and_for_ten_minutes() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    with_password(&kit, BIA).await;
    let (kept, state) = fake.begun(&kit).await;
    let (other_kept, other_state) = fake.begun(&kit).await;
    let (late, late_state) = fake.begun(&kit).await;
    *fake.token.lock().unwrap() = fake.token(&kit, "1", BIA, true);
    for (kept, state) in [(&*kept, &*other_state), (&*other_kept, &*state), ("", &*state)] {
        let refused = fake.answered(&kit, kept, state).await.unwrap_err();
        assert_eq!(refused, ProviderRefused::Stale);
    }
    assert!(fake.redeemed.lock().unwrap().is_empty());
    signed_in(fake.answered(&kit, &late, &late_state).await);
    let again = fake.answered(&kit, &late, &late_state).await.unwrap_err();
    assert_eq!(again, ProviderRefused::Stale);
    assert_eq!(fake.redeemed.lock().unwrap().len(), 1);
    kit.clock.advance(10 * MINUTE);
    let refused = fake.answered(&kit, &kept, &state).await.unwrap_err();
    assert_eq!(refused, ProviderRefused::Stale);
}

/// R432, R398.
#[tokio::test]
async fn an_answer_that_a_limit_stops_is_not_used_up() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    with_password(&kit, BIA).await;
    let (kept, state) = fake.begun(&kit).await;
    let right = fake.token(&kit, "1", BIA, true);
    for _ in 0..30 {
        let refused = fake.sign_in(&kit, "2", "eva@example.org", true).await.unwrap_err();
        assert_eq!(refused, ProviderRefused::NoLogin);
    }
    *fake.token.lock().unwrap() =
        IdToken { nonce: right.nonce, ..fake.token(&kit, "1", BIA, true) };
    for _ in 0..3 {
        let refused = fake.answered(&kit, &kept, &state).await.unwrap_err();
        assert!(matches!(refused, ProviderRefused::Limited { .. }), "{refused:?}");
    }
    kit.clock.advance(MINUTE);
    signed_in(fake.answered(&kit, &kept, &state).await);
    assert_eq!(fake.answered(&kit, &kept, &state).await.unwrap_err(), ProviderRefused::Stale);
}

/// R432.
#[tokio::test]
async fn an_answer_that_says_no_or_names_another_issuer_is_not_used_up() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    with_password(&kit, BIA).await;
    let (kept, state) = fake.begun(&kit).await;
    *fake.token.lock().unwrap() = fake.token(&kit, "1", BIA, true);
    for (code, issuer) in [(None, None), (Some("a code"), Some("https://evil.example"))] {
        let answer = ProviderAnswer { kept: Some(&kept), state: Some(&state), code, issuer };
        let answered = kit.app.accounts().answer_of_provider(&fake, &answer, CLIENT).await;
        refusal(answered).unwrap_err();
    }
    signed_in(fake.answered(&kit, &kept, &state).await);
}

/// R432, R398.
#[tokio::test]
async fn four_answers_and_codes_of_one_client_are_examined_at_once() {
    let (kit, fake) = (Kit::new().await, Fake { is_slow: true, ..Fake::default() });
    with_password(&kit, BIA).await;
    let mut begun = Vec::new();
    for _ in 0..7 {
        begun.push(fake.begun(&kit).await);
    }
    *fake.token.lock().unwrap() = fake.token(&kit, "1", BIA, true);
    let limited = ProviderRefused::Limited { retry_after: Duration::from_secs(1) };
    let answers = begun.iter().map(|(kept, state)| fake.answered(&kit, kept, state));
    let answers = join_all(answers).await;
    let too_many = answers.iter().filter(|answer| answer.as_ref().err() == Some(&limited)).count();
    assert_eq!((too_many, fake.redeemed.lock().unwrap().len()), (3, 4));
    // The turns of those are over, and the others are not used up.
    *fake.token.lock().unwrap() = fake.token(&kit, "1", BIA, true);
    let (kept, state) = &begun[6];
    signed_in(fake.answered(&kit, kept, state).await);
}

/// R432.
#[tokio::test]
async fn the_verifier_of_the_challenge_is_given_back_with_the_code() {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use sha2::{Digest, Sha256};

    let (kit, fake) = (Kit::new().await, Fake::default());
    with_password(&kit, BIA).await;
    signed_in(fake.sign_in(&kit, "1", BIA, true).await);
    let asked = fake.asked.lock().unwrap().clone().unwrap();
    let redeemed = fake.redeemed.lock().unwrap()[0].clone();
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(redeemed.verifier.expose()));
    assert_eq!(challenge, asked.challenge);
    assert_eq!(redeemed.redirect_uri, asked.redirect_uri);
    assert_eq!(asked.redirect_uri, "http://127.0.0.1:8080/console/sign-in/oidc/callback");
    assert_eq!(redeemed.code.expose(), "a code");
}

/// R432.
#[tokio::test]
async fn a_token_for_another_request_an_error_and_another_issuer_are_refused() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    with_password(&kit, BIA).await;
    let (_, _) = fake.begun(&kit).await;
    let earlier = fake.token(&kit, "1", BIA, true);
    let (kept, state) = fake.begun(&kit).await;
    *fake.token.lock().unwrap() = earlier;
    let refused = fake.answered(&kit, &kept, &state).await.unwrap_err();
    assert_eq!(refused, ProviderRefused::Token(TokenProblem::Nonce));
    for (code, issuer, expected) in [
        (None, None, ProviderRefused::Declined),
        (Some(""), Some(ISSUER), ProviderRefused::Declined),
        (
            Some("a code"),
            Some("https://evil.example"),
            ProviderRefused::Token(TokenProblem::Issuer),
        ),
    ] {
        let (kept, state) = fake.begun(&kit).await;
        let answer = ProviderAnswer { kept: Some(&kept), state: Some(&state), code, issuer };
        let answered = kit.app.accounts().answer_of_provider(&fake, &answer, CLIENT).await;
        assert_eq!(refusal(answered).unwrap_err(), expected);
    }
}

/// R434.
#[tokio::test]
async fn a_second_factor_is_asked_for_before_anything_is_bound() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    let accounts = kit.app.accounts();
    let member = with_password(&kit, BIA).await;
    let session = accounts.sign_in(BIA, PASSWORD, None, None).await.unwrap();
    let secret = with_totp(&kit, &session.who).await;
    let now = || code_of(&kit, &secret);
    kit.clock.advance(MINUTE);

    let step = fake.sign_in(&kit, "1", BIA, true).await.unwrap();
    let ProviderStep::CodeNeeded { kept } = step else { panic!("{step:?}") };
    assert_eq!(login(&kit, member).await.subject, None);
    let call = async |kept: &str, code: &str| {
        refusal(kit.app.accounts().code_after_provider(kept, code, CLIENT).await)
    };
    assert_eq!(call(kept.expose(), " ").await.unwrap_err(), ProviderRefused::CodeNeeded);
    assert_eq!(call(kept.expose(), "nothing").await.unwrap_err(), ProviderRefused::WrongCode);
    assert_eq!(login(&kit, member).await.subject, None);
    let right = now();
    let (new, next) = call(kept.expose(), &right).await.unwrap();
    assert_eq!((new.who.member, next.as_str()), (member, "/console/inbox"));
    assert!(login(&kit, member).await.subject.is_some());
    // A code is good once, and what the browser kept is not enough without one.
    assert_eq!(call(kept.expose(), &right).await.unwrap_err(), ProviderRefused::WrongCode);
    kit.clock.advance(5 * MINUTE);
    assert_eq!(call(kept.expose(), &now()).await.unwrap_err(), ProviderRefused::Stale);
}

/// R434.
#[tokio::test]
async fn wrong_codes_after_the_provider_are_limited_as_wrong_passwords_are() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    let accounts = kit.app.accounts();
    with_password(&kit, BIA).await;
    let session = accounts.sign_in(BIA, PASSWORD, None, None).await.unwrap();
    with_totp(&kit, &session.who).await;
    let step = fake.sign_in(&kit, "1", BIA, true).await.unwrap();
    let ProviderStep::CodeNeeded { kept } = step else { panic!("{step:?}") };
    let mut refused = Vec::new();
    for _ in 0..6 {
        let answered = accounts.code_after_provider(kept.expose(), "nothing", None).await;
        refused.push(refusal(answered).unwrap_err());
    }
    assert!(refused[..5].iter().all(|refused| *refused == ProviderRefused::WrongCode));
    assert!(matches!(refused[5], ProviderRefused::Limited { .. }), "{refused:?}");
}

/// R434.
#[tokio::test]
async fn refused_sign_ins_of_one_client_are_limited_and_a_provider_that_is_down_costs_nothing() {
    let (kit, fake) = (Kit::new().await, Fake::default());
    with_password(&kit, BIA).await;
    *fake.failure.lock().unwrap() = Some(ProviderFailure::Unavailable("down".to_owned()));
    for _ in 0..40 {
        let refused = fake.sign_in(&kit, "1", BIA, true).await.unwrap_err();
        assert!(matches!(refused, ProviderRefused::Provider(_)), "{refused:?}");
    }
    *fake.failure.lock().unwrap() = None;
    for _ in 0..30 {
        let refused = fake.sign_in(&kit, "2", "eva@example.org", true).await.unwrap_err();
        assert_eq!(refused, ProviderRefused::NoLogin);
    }
    let redeemed = fake.redeemed.lock().unwrap().len();
    let refused = fake.sign_in(&kit, "1", BIA, true).await.unwrap_err();
    assert!(matches!(refused, ProviderRefused::Limited { .. }), "{refused:?}");
    assert_eq!(fake.redeemed.lock().unwrap().len(), redeemed);
}
