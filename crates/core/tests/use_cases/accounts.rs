//! How members log in: invitations, signing in, sessions, the second factor, and who manages them.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use recado_core::Error;
use recado_core::access::{Operator, OperatorIdentity, OperatorRole};
use recado_core::accounts::{
    AccountRefused, Login, NewSession, PasswordProblem, Session, SignInRefused, SignedIn,
};
use recado_core::ids::MemberId;
use recado_core::store::RecordsExt;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, TestPasswords};
use serde_json::json;

use super::code;

pub(super) const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
pub(super) const PASSWORD: &str = "nove sapos azuis";
pub(super) const OTHER: &str = "dez macacos verdes";

async fn member(kit: &Kit) -> MemberId {
    let bia = body(json!({"display_name": "Bia"}));
    kit.app.access().create_member(kit.company.id, &bia).await.unwrap().id
}

/// The token of an invitation.
async fn invited(kit: &Kit, member: MemberId, email: &str, role: &str) -> String {
    let draft = body(json!({"email": email, "role": role}));
    let accounts = kit.app.accounts();
    let link = accounts.invite(&Operator::ROOT, kit.company.id, member, &draft).await.unwrap();
    assert_eq!(
        link.url.expose(),
        format!("http://127.0.0.1:8080/console/welcome#{}", link.token.expose())
    );
    link.token.expose().to_owned()
}

/// A member who has chosen a password.
pub(super) async fn with_login(kit: &Kit, email: &str, role: &str) -> MemberId {
    let member = member(kit).await;
    let token = invited(kit, member, email, role).await;
    kit.app.accounts().accept_link(&token, PASSWORD).await.unwrap();
    member
}

pub(super) async fn sign_in(
    kit: &Kit,
    password: &str,
    code: Option<&str>,
) -> Result<NewSession, SignInRefused> {
    refusal(kit.app.accounts().sign_in(" Bia@Example.org ", password, code, None).await)
}

pub(super) fn refusal<T, E: std::fmt::Debug>(result: Result<T, Error<E>>) -> Result<T, E> {
    result.map_err(|error| match error {
        Error::Rejected(refused) => refused,
        error => panic!("{error:?}"),
    })
}

async fn seen(kit: &Kit, session: &NewSession) -> Option<SignedIn> {
    kit.app.accounts().session(session.token.expose()).await.unwrap()
}

/// R394, R396, R397.
#[tokio::test]
async fn who_signs_in_is_an_operator_of_the_own_company_until_signing_out() {
    let kit = Kit::new().await;
    let member = with_login(&kit, "bia@example.org", "manager").await;
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    let who = seen(&kit, &session).await.unwrap();
    assert_eq!(who, session.who);
    assert_eq!((who.member, who.name.as_str()), (member, "Bia"));
    let operator = who.operator();
    assert_eq!(operator.role(), OperatorRole::Manager);
    assert_eq!(operator.company(), Some(kit.company.id));
    let identity =
        OperatorIdentity::Member { company: kit.company.id, member, session: who.session };
    assert_eq!(operator.identity(), identity);
    let other = sign_in(&kit, PASSWORD, None).await.unwrap();
    assert_ne!(other.token.expose(), session.token.expose());
    kit.app.accounts().sign_out(session.token.expose()).await.unwrap();
    assert_eq!(seen(&kit, &session).await, None);
    assert!(seen(&kit, &other).await.is_some());
    assert_eq!(kit.app.accounts().session("rs_").await.unwrap(), None);
}

/// R394: over all companies.
#[tokio::test]
async fn an_address_belongs_to_one_login_of_the_installation() {
    let kit = Kit::new().await;
    with_login(&kit, "bia@example.org", "agent").await;
    let (root, accounts) = (&Operator::ROOT, kit.app.accounts());
    let other = kit.app.access().create_company(&body(json!({"name": "Outra"}))).await.unwrap().id;
    let eva = body(json!({"display_name": "Eva"}));
    let theirs = kit.app.access().create_member(other, &eva).await.unwrap().id;
    let draft = body(json!({"email": "BIA@example.org", "role": "agent"}));
    assert_eq!(code(accounts.invite(root, other, theirs, &draft).await), "EMAIL_TAKEN");
    let draft = body(json!({"email": "eva@example.org", "role": "agent"}));
    accounts.invite(root, other, theirs, &draft).await.unwrap();
    let change = body(json!({"email": "bia@example.org"}));
    assert_eq!(code(accounts.change_login(root, other, theirs, &change).await), "EMAIL_TAKEN");
}

/// R395.
#[tokio::test]
async fn a_hash_is_made_anew_at_the_next_login_after_the_parameters_grew() {
    let passwords = TestPasswords::new();
    let kit = Kit::builder().passwords(passwords.clone()).build().await;
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let hash = async || {
        let login = kit.store.get::<Login>((kit.company.id, member)).await.unwrap().unwrap();
        login.password.clone().unwrap().expose().to_owned()
    };
    let before = hash().await;
    sign_in(&kit, PASSWORD, None).await.unwrap();
    assert_eq!(hash().await, before);
    passwords.raise();
    sign_in(&kit, PASSWORD, None).await.unwrap();
    assert!(before.contains("t=1") && hash().await.contains("t=2"));
    sign_in(&kit, PASSWORD, None).await.unwrap();
}

/// R395.
#[tokio::test]
async fn a_password_that_may_not_be_chosen_leaves_the_link() {
    let kit = Kit::new().await;
    let token = invited(&kit, member(&kit).await, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    let refused = refusal(accounts.accept_link(&token, "curta").await);
    let problem = PasswordProblem::TooShort;
    assert_eq!(refused.unwrap_err(), AccountRefused::Password(problem));
    accounts.accept_link(&token, PASSWORD).await.unwrap();
}

/// R396.
#[tokio::test]
async fn an_unknown_address_a_disabled_login_and_a_wrong_password_take_the_same_work() {
    let passwords = TestPasswords::new();
    let kit = Kit::builder().passwords(passwords.clone()).build().await;
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    let work = async |email: &str, password: &str| {
        let before = passwords.counted();
        let refused = refusal(accounts.sign_in(email, password, None, None).await).unwrap_err();
        assert_eq!(refused, SignInRefused::Wrong, "{email}");
        let after = passwords.counted();
        (after.0 - before.0, after.1 - before.1)
    };
    let too_long = "a".repeat(10_000);
    for (email, password) in [
        ("bia@example.org", OTHER),
        ("nobody@example.org", PASSWORD),
        ("no address", PASSWORD),
        ("bia@example.org", ""),
        ("nobody@example.org", too_long.as_str()),
    ] {
        assert_eq!(work(email, password).await, (0, 1), "{email}");
    }
    let off = body(json!({"disabled": true}));
    accounts.change_login(&Operator::ROOT, kit.company.id, member, &off).await.unwrap();
    assert_eq!(work("bia@example.org", PASSWORD).await, (0, 1));
}

/// R397.
#[tokio::test]
async fn a_session_ends_after_12_idle_hours_and_after_14_days() {
    let kit = Kit::new().await;
    with_login(&kit, "bia@example.org", "agent").await;
    let idle = sign_in(&kit, PASSWORD, None).await.unwrap();
    let used = sign_in(&kit, PASSWORD, None).await.unwrap();
    for _ in 0..33 {
        kit.clock.advance(10 * HOUR);
        assert!(seen(&kit, &used).await.is_some());
        kit.app.upkeep().await.unwrap();
    }
    assert_eq!(seen(&kit, &idle).await, None);
    kit.clock.advance(6 * HOUR);
    assert_eq!(seen(&kit, &used).await, None);
}

/// R397.
#[tokio::test]
async fn that_a_session_was_used_is_written_once_in_five_minutes() {
    let kit = Kit::new().await;
    with_login(&kit, "bia@example.org", "agent").await;
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    let key = (kit.company.id, session.who.session);
    for (minutes, version) in [(4, 1), (1, 2), (4, 2), (1, 3)] {
        kit.clock.advance(minutes * MINUTE);
        seen(&kit, &session).await.unwrap();
        kit.app.upkeep().await.unwrap();
        let stored = kit.store.get::<Session>(key).await.unwrap().unwrap();
        assert_eq!(stored.version().number(), version);
    }
}

/// R397.
#[tokio::test]
async fn the_oldest_of_more_than_50_sessions_ends() {
    let kit = Kit::new().await;
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let first = sign_in(&kit, PASSWORD, None).await.unwrap();
    for _ in 0..50 {
        assert!(seen(&kit, &first).await.is_some());
        kit.clock.advance(Duration::from_secs(1));
        sign_in(&kit, PASSWORD, None).await.unwrap();
    }
    assert_eq!(seen(&kit, &first).await, None);
    let left = kit.app.accounts().sessions(kit.company.id, member).await.unwrap();
    assert_eq!(left.len(), 50);
}

/// R398.
#[tokio::test]
async fn five_wrong_passwords_make_the_address_wait_whether_it_has_a_login_or_not() {
    let kit = Kit::new().await;
    with_login(&kit, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    for email in ["bia@example.org", "nobody@example.org"] {
        let attempt = async |password| {
            refusal(accounts.sign_in(email, password, None, None).await).unwrap_err()
        };
        for _ in 0..5 {
            assert_eq!(attempt(OTHER).await, SignInRefused::Wrong);
        }
        // The right one waits, too.
        let limited = SignInRefused::Limited { retry_after: 3 * MINUTE };
        assert_eq!(attempt(PASSWORD).await, limited);
        assert_eq!(attempt(OTHER).await, limited);
    }
    kit.clock.advance(3 * MINUTE);
    sign_in(&kit, PASSWORD, None).await.unwrap();
}

/// R398.
#[tokio::test]
async fn right_passwords_are_not_counted() {
    let kit = Kit::new().await;
    with_login(&kit, "bia@example.org", "agent").await;
    for _ in 0..20 {
        sign_in(&kit, PASSWORD, None).await.unwrap();
    }
}

/// R398.
#[tokio::test]
async fn one_client_tries_30_wrong_passwords_in_a_quarter_of_an_hour() {
    let kit = Kit::new().await;
    let client = |n| Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, n)));
    let attempt = async |n: u32, from| {
        let email = format!("a{n}@example.org");
        refusal(kit.app.accounts().sign_in(&email, PASSWORD, None, client(from)).await).unwrap_err()
    };
    for n in 0..30 {
        assert_eq!(attempt(n, 1).await, SignInRefused::Wrong);
    }
    assert!(matches!(attempt(30, 1).await, SignInRefused::Limited { .. }));
    assert_eq!(attempt(30, 2).await, SignInRefused::Wrong);
}

/// R399.
#[tokio::test]
async fn a_link_works_once_and_a_new_one_ends_it() {
    let kit = Kit::new().await;
    let (accounts, member) = (kit.app.accounts(), member(&kit).await);
    let first = invited(&kit, member, "bia@example.org", "viewer").await;
    let second = invited(&kit, member, "bia@example.org", "agent").await;
    assert!(accounts.link(&first).await.unwrap().is_none());
    let view = accounts.link(&second).await.unwrap().unwrap();
    assert_eq!((view.name.as_str(), view.email.as_str()), ("Bia", "bia@example.org"));
    accounts.accept_link(&second, PASSWORD).await.unwrap();
    let again = refusal(accounts.accept_link(&second, OTHER).await).unwrap_err();
    assert_eq!(again, AccountRefused::LinkEnded);
    assert_eq!(sign_in(&kit, PASSWORD, None).await.unwrap().who.role, OperatorRole::Agent);
}

/// R399.
#[tokio::test]
async fn an_invitation_is_good_for_7_days_and_a_reset_for_24_hours() {
    let kit = Kit::new().await;
    let (accounts, member) = (kit.app.accounts(), member(&kit).await);
    let token = invited(&kit, member, "bia@example.org", "agent").await;
    kit.clock.advance(7 * DAY - MINUTE);
    assert!(accounts.link(&token).await.unwrap().is_some());
    kit.clock.advance(MINUTE);
    assert!(accounts.link(&token).await.unwrap().is_none());
    let token = invited(&kit, member, "bia@example.org", "agent").await;
    accounts.accept_link(&token, PASSWORD).await.unwrap();
    let reset = accounts.reset_link(&Operator::ROOT, kit.company.id, member).await.unwrap();
    kit.clock.advance(DAY);
    assert!(accounts.link(reset.token.expose()).await.unwrap().is_none());
}

/// R399.
#[tokio::test]
async fn a_reset_keeps_the_password_until_it_is_used_and_then_ends_all_sessions() {
    let kit = Kit::new().await;
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    let reset = accounts.reset_link(&Operator::ROOT, kit.company.id, member).await.unwrap();
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    accounts.accept_link(reset.token.expose(), OTHER).await.unwrap();
    assert_eq!(seen(&kit, &session).await, None);
    assert_eq!(sign_in(&kit, PASSWORD, None).await.unwrap_err(), SignInRefused::Wrong);
    sign_in(&kit, OTHER, None).await.unwrap();
}

/// R403.
#[tokio::test]
async fn changing_the_own_password_ends_the_other_sessions_and_a_link() {
    let kit = Kit::new().await;
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    let own = sign_in(&kit, PASSWORD, None).await.unwrap();
    let other = sign_in(&kit, PASSWORD, None).await.unwrap();
    let reset = accounts.reset_link(&Operator::ROOT, kit.company.id, member).await.unwrap();
    let wrong = refusal(accounts.change_password(&own.who, OTHER, OTHER).await).unwrap_err();
    assert_eq!(wrong, AccountRefused::WrongPassword);
    accounts.change_password(&own.who, PASSWORD, OTHER).await.unwrap();
    assert!(seen(&kit, &own).await.is_some());
    assert_eq!(seen(&kit, &other).await, None);
    assert!(accounts.link(reset.token.expose()).await.unwrap().is_none());
    sign_in(&kit, OTHER, None).await.unwrap();
}

/// R401.
#[tokio::test]
async fn a_member_with_a_password_is_not_invited_again() {
    let kit = Kit::new().await;
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let (root, accounts) = (&Operator::ROOT, kit.app.accounts());
    let draft = body(json!({"email": "bia@example.org", "role": "agent"}));
    assert_eq!(code(accounts.invite(root, kit.company.id, member, &draft).await), "LOGIN_EXISTS");
    accounts.remove_login(root, kit.company.id, member).await.unwrap();
    assert_eq!(code(accounts.login(kit.company.id, member).await), "NOT_FOUND");
    accounts.invite(root, kit.company.id, member, &draft).await.unwrap();
}

/// R402.
#[tokio::test]
async fn a_new_role_and_disabling_end_the_sessions() {
    let kit = Kit::new().await;
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    let change = async |json| {
        accounts.change_login(&Operator::ROOT, kit.company.id, member, &body(json)).await.unwrap()
    };
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    change(json!({"role": "agent"})).await;
    assert!(seen(&kit, &session).await.is_some());
    change(json!({"role": "viewer"})).await;
    assert_eq!(seen(&kit, &session).await, None);
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    change(json!({"disabled": true})).await;
    assert_eq!(seen(&kit, &session).await, None);
    assert_eq!(sign_in(&kit, PASSWORD, None).await.unwrap_err(), SignInRefused::Wrong);
    change(json!({"disabled": false})).await;
    assert_eq!(seen(&kit, &session).await, None);
    sign_in(&kit, PASSWORD, None).await.unwrap();
}

/// R402.
#[tokio::test]
async fn a_link_ends_when_the_login_gets_another_role_or_address_or_is_disabled() {
    let kit = Kit::new().await;
    let bia = with_login(&kit, "bia@example.org", "agent").await;
    let (accounts, company) = (kit.app.accounts(), kit.company.id);
    let changed = async |member, json| {
        accounts.change_login(&Operator::ROOT, company, member, &body(json)).await.unwrap();
    };
    let works = async |token: &str| accounts.link(token).await.unwrap().is_some();
    for change in [json!({"role": "manager"}), json!({"email": "b@example.org"})] {
        let reset = accounts.reset_link(&Operator::ROOT, company, bia).await.unwrap();
        changed(bia, json!({"disabled": false})).await;
        assert!(works(reset.token.expose()).await);
        changed(bia, change).await;
        assert!(!works(reset.token.expose()).await);
    }
    let new = member(&kit).await;
    let invitation = invited(&kit, new, "eva@example.org", "agent").await;
    changed(new, json!({"disabled": true})).await;
    changed(new, json!({"disabled": false})).await;
    assert!(!works(&invitation).await, "enabling it brings no link back");
}

/// R402.
#[tokio::test]
async fn a_manager_touches_no_owner_and_makes_none() {
    let kit = Kit::new().await;
    let (accounts, company) = (kit.app.accounts(), kit.company.id);
    let owner = with_login(&kit, "ana@example.org", "owner").await;
    with_login(&kit, "bia@example.org", "manager").await;
    let new = member(&kit).await;
    let by = &sign_in(&kit, PASSWORD, None).await.unwrap().who.operator();
    let denied = "INSUFFICIENT_ROLE";
    let draft = body(json!({"email": "eva@example.org", "role": "owner"}));
    assert_eq!(code(accounts.invite(by, company, new, &draft).await), denied);
    let off = body(json!({"disabled": true}));
    assert_eq!(code(accounts.change_login(by, company, owner, &off).await), denied);
    assert_eq!(code(accounts.reset_link(by, company, owner).await), denied);
    assert_eq!(code(accounts.remove_login(by, company, owner).await), denied);
    assert_eq!(code(accounts.remove_member_totp(by, company, owner).await), denied);
    assert_eq!(code(accounts.revoke_all(by, company, owner).await), denied);
    assert_eq!(code(accounts.delete_member(by, company, owner).await), denied);
    let draft = body(json!({"email": "eva@example.org", "role": "manager"}));
    accounts.invite(by, company, new, &draft).await.unwrap();
    let up = body(json!({"role": "owner"}));
    assert_eq!(code(accounts.change_login(by, company, new, &up).await), denied);
    accounts.delete_member(by, company, new).await.unwrap();
}

/// R402.
#[tokio::test]
async fn a_deleted_member_has_no_login_no_link_and_no_session() {
    let kit = Kit::new().await;
    let (accounts, company) = (kit.app.accounts(), kit.company.id);
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    let reset = accounts.reset_link(&Operator::ROOT, company, member).await.unwrap();
    accounts.delete_member(&Operator::ROOT, company, member).await.unwrap();
    assert_eq!(seen(&kit, &session).await, None);
    assert!(accounts.link(reset.token.expose()).await.unwrap().is_none());
    assert!(accounts.logins(company).await.unwrap().is_empty());
    assert_eq!(sign_in(&kit, PASSWORD, None).await.unwrap_err(), SignInRefused::Wrong);
}

/// A kit whose reads and commits let other tasks go first, as with a real database.
pub(super) async fn yielding() -> Kit {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    Kit::builder().store(Arc::new(store)).build().await
}

/// Lets others go first so many times.
async fn after_turns(turns: usize) {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}

/// R402.
#[tokio::test]
async fn a_member_is_not_deleted_with_a_login_that_gets_a_higher_role_meanwhile() {
    let orders = (0..10).flat_map(|turns| [(turns, 0), (0, turns)]);
    for ((first, second), was_invited) in orders.flat_map(|order| [(order, true), (order, false)]) {
        let kit = yielding().await;
        let (accounts, company) = (kit.app.accounts(), kit.company.id);
        with_login(&kit, "bia@example.org", "manager").await;
        let by = &sign_in(&kit, PASSWORD, None).await.unwrap().who.operator();
        let eva = member(&kit).await;
        if was_invited {
            invited(&kit, eva, "eva@example.org", "agent").await;
        }
        let raise = async {
            after_turns(first).await;
            let draft = body(json!({"email": "eva@example.org", "role": "owner"}));
            accounts.invite(&Operator::ROOT, company, eva, &draft).await.is_ok()
        };
        let deletion = async {
            after_turns(second).await;
            accounts.delete_member(by, company, eva).await.is_ok()
        };
        let (raised, deleted) = tokio::join!(raise, deletion);
        assert_ne!(raised, deleted, "after {first} and {second} turns, invited: {was_invited}");
    }
}

/// R398.
#[tokio::test]
async fn four_attempts_of_one_client_are_examined_at_once() {
    let kit = yielding().await;
    with_login(&kit, "bia@example.org", "agent").await;
    let accounts = kit.app.accounts();
    let client = |n| Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, n)));
    let limited = Err(SignInRefused::Limited { retry_after: Duration::from_secs(1) });
    // Each of another address, so that no other limit is reached.
    let attempt = async |n: u8, client| {
        let email = format!("a{n}@example.org");
        refusal(accounts.sign_in(&email, OTHER, None, client).await).map(|_| ())
    };
    // The first of all makes a key.
    assert_eq!(attempt(40, None).await, Err(SignInRefused::Wrong));
    let of_one = join_all((0..7).map(|n| attempt(n, client(1)))).await;
    assert_eq!(of_one.iter().filter(|answer| **answer == limited).count(), 3);
    let of_others = join_all((10..17).map(|n| attempt(n, client(n)))).await;
    let unknown = join_all((20..27).map(|n| attempt(n, None))).await;
    for answer in of_others.into_iter().chain(unknown) {
        assert_eq!(answer, Err(SignInRefused::Wrong));
    }
    assert_eq!(attempt(30, client(1)).await, Err(SignInRefused::Wrong), "its turns are over");
}

/// R381, R401.
#[tokio::test]
async fn who_reaches_another_company_invites_nobody_here() {
    let kit = Kit::new().await;
    let member = member(&kit).await;
    let draft = body(json!({"email": "bia@example.org", "role": "agent"}));
    let other = recado_core::ids::CompanyId::new(uuid::Uuid::from_u128(1));
    let session = recado_core::ids::SessionId::new(uuid::Uuid::from_u128(2));
    let by = Operator::member(other, member, session, OperatorRole::Owner);
    let accounts = kit.app.accounts();
    assert_eq!(code(accounts.invite(&by, kit.company.id, member, &draft).await), "NOT_FOUND");
    assert!(accounts.logins(kit.company.id).await.unwrap().is_empty());
}

/// R397.
#[tokio::test]
async fn one_session_is_revoked_or_all_but_the_own_one() {
    let kit = Kit::new().await;
    let (accounts, company) = (kit.app.accounts(), kit.company.id);
    let member = with_login(&kit, "bia@example.org", "agent").await;
    let [a, b, c] = [
        sign_in(&kit, PASSWORD, None).await.unwrap(),
        sign_in(&kit, PASSWORD, None).await.unwrap(),
        sign_in(&kit, PASSWORD, None).await.unwrap(),
    ];
    accounts.revoke_session(&Operator::ROOT, company, member, a.who.session).await.unwrap();
    assert!(seen(&kit, &a).await.is_none() && seen(&kit, &b).await.is_some());
    let gone = accounts.revoke_session(&Operator::ROOT, company, member, a.who.session).await;
    assert_eq!(code(gone), "NOT_FOUND");
    accounts.revoke_all(&b.who.operator(), company, member).await.unwrap();
    assert!(seen(&kit, &b).await.is_some() && seen(&kit, &c).await.is_none());
}

/// R394, R208.
#[tokio::test]
async fn nobody_of_a_deleted_company_signs_in() {
    let kit = Kit::new().await;
    with_login(&kit, "bia@example.org", "owner").await;
    let session = sign_in(&kit, PASSWORD, None).await.unwrap();
    kit.app.access().delete_company(kit.company.id).await.unwrap();
    assert_eq!(seen(&kit, &session).await, None);
    assert_eq!(sign_in(&kit, PASSWORD, None).await.unwrap_err(), SignInRefused::Wrong);
}
