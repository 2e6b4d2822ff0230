//! The second factor of a login (R400).

use std::time::Duration;

use futures_util::future::join_all;
use recado_core::Clock as _;
use recado_core::access::Operator;
use recado_core::accounts::{AccountRefused, Login, SignInRefused, SignedIn, TotpSecret};
use recado_core::store::RecordsExt;
use recado_testkit::Kit;

use super::accounts::{MINUTE, OTHER, PASSWORD, refusal, sign_in, with_login, yielding};

/// Turns the second factor on; answers its secret as it is stored, and the recovery codes.
async fn with_totp(kit: &Kit, who: &SignedIn) -> (TotpSecret, Vec<String>) {
    let accounts = kit.app.accounts();
    let begun = accounts.begin_totp(who, PASSWORD).await.unwrap();
    let login = kit.store.get::<Login>((who.company, who.member)).await.unwrap().unwrap();
    let secret = TotpSecret::new(login.totp_secret.clone().unwrap());
    assert_eq!(secret.text().expose(), begun.secret.expose());
    assert_eq!(accounts.totp(who).await.unwrap(), None);
    let wrong = refusal(accounts.confirm_totp(who, "000000").await).unwrap_err();
    assert_eq!(wrong, AccountRefused::WrongCode);
    let codes = accounts.confirm_totp(who, &code_of(kit, &secret)).await.unwrap();
    (secret, codes.iter().map(|code| code.expose().to_owned()).collect())
}

fn code_of(kit: &Kit, secret: &TotpSecret) -> String {
    secret.code(u64::try_from(kit.clock.now().millis() / 30_000).unwrap())
}

/// R400.
#[tokio::test]
async fn a_code_is_asked_for_after_the_right_password_only_and_is_good_once() {
    let kit = Kit::new().await;
    with_login(&kit, "bia@example.org", "agent").await;
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    let (secret, codes) = with_totp(&kit, &session.who).await;
    assert_eq!(codes.len(), 10);
    // That code was used to turn it on.
    let used = code_of(&kit, &secret);
    assert_eq!(sign_in(&kit, PASSWORD, Some(&used)).await.unwrap_err(), SignInRefused::Wrong);
    kit.clock.advance(MINUTE);
    let next = code_of(&kit, &secret);
    assert_eq!(sign_in(&kit, OTHER, None).await.unwrap_err(), SignInRefused::Wrong);
    assert_eq!(sign_in(&kit, OTHER, Some(&next)).await.unwrap_err(), SignInRefused::Wrong);
    assert_eq!(sign_in(&kit, PASSWORD, None).await.unwrap_err(), SignInRefused::CodeNeeded);
    sign_in(&kit, PASSWORD, Some(&next)).await.unwrap();
    assert_eq!(sign_in(&kit, PASSWORD, Some(&next)).await.unwrap_err(), SignInRefused::Wrong);
}

/// R400.
#[tokio::test]
async fn a_recovery_code_replaces_a_code_once() {
    let kit = Kit::new().await;
    with_login(&kit, "bia@example.org", "agent").await;
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    let (_, codes) = with_totp(&kit, &session.who).await;
    sign_in(&kit, PASSWORD, Some(&codes[3])).await.unwrap();
    assert_eq!(sign_in(&kit, PASSWORD, Some(&codes[3])).await.unwrap_err(), SignInRefused::Wrong);
    assert_eq!(kit.app.accounts().totp(&session.who).await.unwrap(), Some(9));
}

/// R400, R401.
#[tokio::test]
async fn the_second_factor_is_removed_by_the_password_or_by_an_operator() {
    let kit = Kit::new().await;
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    with_totp(&kit, &session.who).await;
    let twice = refusal(accounts.begin_totp(&session.who, PASSWORD).await).unwrap_err();
    assert_eq!(twice, AccountRefused::TotpOn);
    let wrong = refusal(accounts.remove_totp(&session.who, OTHER).await).unwrap_err();
    assert_eq!(wrong, AccountRefused::WrongPassword);
    accounts.remove_totp(&session.who, PASSWORD).await.unwrap();
    sign_in(&kit, PASSWORD, None).await.unwrap();
    with_totp(&kit, &session.who).await;
    accounts.remove_member_totp(&Operator::ROOT, kit.company.id, member).await.unwrap();
    sign_in(&kit, PASSWORD, None).await.unwrap();
}

/// R400.
#[tokio::test]
async fn a_second_factor_is_begun_by_the_password_and_not_by_a_session_alone() {
    let kit = Kit::new().await;
    with_login(&kit, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    for wrong in ["", OTHER] {
        let refused = refusal(accounts.begin_totp(&session.who, wrong).await).unwrap_err();
        assert_eq!(refused, AccountRefused::WrongPassword);
    }
    let login = kit.store.get::<Login>((session.who.company, session.who.member)).await.unwrap();
    assert!(login.unwrap().totp_secret.is_none());
    accounts.begin_totp(&session.who, PASSWORD).await.unwrap();
}

/// R398, R400.
#[tokio::test]
async fn of_many_codes_at_once_the_right_one_waits_too() {
    let kit = yielding().await;
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    let who = sign_in(&kit, PASSWORD, None).await.unwrap().who;
    accounts.begin_totp(&who, PASSWORD).await.unwrap();
    let login = kit.app.store().get::<Login>((kit.company.id, member)).await.unwrap().unwrap();
    let right = code_of(&kit, &TotpSecret::new(login.totp_secret.clone().unwrap()));
    let guesses = ["x"; 8].into_iter().chain([right.as_str()]);
    let guessed = join_all(guesses.map(|code| accounts.confirm_totp(&who, code))).await;
    let limited = guessed.into_iter().map(refusal).skip(5);
    for refused in limited {
        assert!(matches!(refused.unwrap_err(), AccountRefused::Limited { .. }));
    }
    assert_eq!(accounts.totp(&who).await.unwrap(), None);
    kit.clock.advance(Duration::from_secs(3 * 60));
    let right = code_of(&kit, &TotpSecret::new(login.totp_secret.clone().unwrap()));
    accounts.confirm_totp(&who, &right).await.unwrap();
}
