//! Logins of members, their one-time links and sessions.

use recado_core::access::{KeyHash, Member, OperatorRole};
use recado_core::accounts::{
    LinkPurpose, Login, LoginLink, LoginSubjectHash, PasswordHash, RecoveryHashes, Session,
};
use recado_core::contacts::Email;
use recado_core::ids::SessionId;
use recado_core::secret::SecretBytes;
use recado_core::store::{CommitError, Conflict, RecordsExt, UniqueKey};

use super::Harness;
use super::scene::{Scene, at, first};

pub(super) fn login(member: &Member, email: &str) -> Login {
    Login {
        company: member.company,
        member: member.id,
        email: Email::parse(email).expect("an address"),
        role: OperatorRole::Manager,
        password: None,
        disabled_at: None,
        totp_secret: None,
        totp_confirmed_at: None,
        totp_step: None,
        recovery: None,
        password_set_at: None,
        subject: None,
        created_at: at(0),
    }
}

pub(super) fn link(member: &Member) -> LoginLink {
    LoginLink {
        company: member.company,
        member: member.id,
        hash: KeyHash::of("hunter2"),
        purpose: LinkPurpose::Reset,
        expires_at: at(9),
        created_at: at(1),
    }
}

pub(super) fn session(scene: &Scene, member: &Member, millis: i64) -> Session {
    Session {
        company: member.company,
        id: SessionId::new(scene.uuid()),
        member: member.id,
        hash: KeyHash::of("hunter2"),
        last_seen_at: at(7),
        created_at: at(millis),
    }
}

async fn member(scene: &Scene) -> Member {
    let member = scene.member();
    scene.add(member.clone()).await;
    member
}

/// R394: in whatever company.
pub async fn a_login_is_found_by_its_address_with_every_field(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ours, theirs) = (member(&scene).await, member(&other).await);
    let full = Login {
        password: Some(PasswordHash::from_stored("$argon2id$v=19$m=8,t=1,p=1$a$b".to_owned())),
        disabled_at: Some(at(3)),
        totp_secret: Some(SecretBytes::new([7; 20])),
        totp_confirmed_at: Some(at(4)),
        totp_step: Some(59_000_000),
        recovery: RecoveryHashes::from_bytes(&[9; 64]),
        password_set_at: Some(at(5)),
        subject: Some(LoginSubjectHash::from_bytes([5; 32])),
        ..login(&ours, "ana@example.org")
    };
    let empty = login(&theirs, "eva@example.org");
    scene.add(full.clone()).await;
    other.add(empty.clone()).await;
    for login in [&full, &empty] {
        let found = scene.store.login_by_email(&login.email).await.expect("works");
        assert_eq!(found, Some(first(login.clone())));
        let got = scene.store.get::<Login>((login.company, login.member)).await.expect("works");
        assert_eq!(got, Some(first(login.clone())));
    }
    let by_subject = |byte| {
        let (store, subject) = (scene.store.clone(), LoginSubjectHash::from_bytes([byte; 32]));
        async move { store.login_by_subject(&subject).await.expect("works") }
    };
    assert_eq!(by_subject(5).await, Some(first(full.clone())));
    assert_eq!(by_subject(6).await, None);
    let unknown = Email::parse("bia@example.org").expect("an address");
    assert_eq!(scene.store.login_by_email(&unknown).await.expect("works"), None);
    let ours = scene.store.all::<Login>(scene.company).await.expect("works");
    assert_eq!(ours, [full]);
}

/// R433: over all companies; any number of logins are bound to nobody.
pub async fn a_taken_subject_of_a_login_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ours, theirs) = (member(&scene).await, member(&other).await);
    let bound = |login: Login| {
        let subject = Some(LoginSubjectHash::from_bytes([5; 32]));
        Login { subject, ..login }
    };
    scene.add(login(&member(&scene).await, "eva@example.org")).await;
    scene.add(bound(login(&ours, "ana@example.org"))).await;
    let result = scene.try_add(bound(login(&theirs, "bia@example.org"))).await;
    let Err(CommitError::Conflict(Conflict::Taken(key))) = result else { panic!("{result:?}") };
    assert_eq!(key, UniqueKey::LoginSubject);
    other.add(login(&theirs, "bia@example.org")).await;
}

/// R394: over all companies.
pub async fn a_taken_address_of_a_login_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ours, theirs) = (member(&scene).await, member(&other).await);
    scene.add(login(&ours, "ana@example.org")).await;
    let taken = |key| {
        move |result: Result<(), CommitError>| {
            let is_taken = matches!(
                &result,
                Err(CommitError::Conflict(Conflict::Taken(found))) if *found == key
            );
            assert!(is_taken, "{result:?}");
        }
    };
    taken(UniqueKey::LoginEmail)(scene.try_add(login(&theirs, "ana@example.org")).await);
    taken(UniqueKey::LoginMember)(scene.try_add(login(&ours, "eva@example.org")).await);
    scene.add(link(&ours)).await;
    taken(UniqueKey::LoginMember)(scene.try_add(link(&ours)).await);
}

/// R397.
pub async fn the_sessions_of_a_member_are_listed_by_creation_then_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (one, another) = (member(&scene).await, member(&scene).await);
    let mut sessions = Vec::new();
    for millis in [5, 1, 5, 3] {
        let session = session(&scene, &one, millis);
        scene.add(session.clone()).await;
        sessions.push(first(session));
    }
    scene.add(session(&scene, &another, 2)).await;
    sessions.sort_by_key(|session| (session.created_at, session.id));
    let listed = scene.store.sessions_of(scene.company, one.id).await.expect("works");
    assert_eq!(listed, sessions);
    let other = scene.another_company().await;
    let none = scene.store.sessions_of(other.company, one.id).await.expect("works");
    assert!(none.is_empty());
}

/// Promise 6; R402.
pub async fn a_login_its_link_and_its_sessions_go_with_the_member(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (gone, stays) = (member(&scene).await, member(&scene).await);
    for (member, email) in [(&gone, "ana@example.org"), (&stays, "eva@example.org")] {
        scene.add(login(member, email)).await;
        scene.add(link(member)).await;
        scene.add(session(&scene, member, 1)).await;
    }
    scene.apply(first(gone.clone()).delete()).await;
    for (member, left) in [(&gone, 0), (&stays, 1)] {
        let (store, key) = (&scene.store, (member.company, member.id));
        let sessions = store.sessions_of(key.0, key.1).await.expect("works");
        let login = store.get::<Login>(key).await.expect("works");
        let link = store.get::<LoginLink>(key).await.expect("works");
        let found = [sessions.len(), login.iter().count(), link.iter().count()];
        assert_eq!(found, [left; 3]);
    }
}
