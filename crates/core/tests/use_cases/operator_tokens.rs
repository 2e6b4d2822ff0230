//! Tokens of operators: who is admitted with one, and who manages them.

use std::time::Duration;

use recado_core::Clock as _;
use recado_core::access::{NewOperatorToken, Operator, OperatorRole, OperatorToken};
use recado_core::store::RecordsExt;
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::{code, refused};

const HOUR: Duration = Duration::from_secs(60 * 60);

async fn token(kit: &Kit, by: &Operator, more: Value) -> NewOperatorToken {
    let mut new = body(json!({"name": "Ana", "role": "manager"}));
    new.extend(body(more));
    kit.app.access().create_operator_token(by, &new).await.unwrap()
}

async fn admitted(kit: &Kit, new: &NewOperatorToken) -> Option<Operator> {
    kit.app.access().operator(new.secret.expose()).await.unwrap()
}

/// R380, R382.
#[tokio::test]
async fn the_holder_of_a_token_has_its_role_and_reach_until_it_is_revoked() {
    let kit = Kit::new().await;
    let (access, root) = (kit.app.access(), &Operator::ROOT);
    let of_one = token(&kit, root, json!({"company_id": kit.company.id})).await;
    let operator = admitted(&kit, &of_one).await.unwrap();
    assert_eq!(operator.role(), OperatorRole::Manager);
    assert_eq!(operator.company(), Some(kit.company.id));
    assert_eq!(operator.token(), Some(of_one.token.id));
    let change = body(json!({"role": "viewer"}));
    access.change_operator_token(root, of_one.token.id, &change).await.unwrap();
    assert_eq!(admitted(&kit, &of_one).await.unwrap().role(), OperatorRole::Viewer);
    access.revoke_operator_token(root, of_one.token.id).await.unwrap();
    assert_eq!(admitted(&kit, &of_one).await, None);
    for wrong in ["", "ro_", of_one.secret.expose()] {
        assert_eq!(access.operator(wrong).await.unwrap(), None);
    }
}

/// R382.
#[tokio::test]
async fn a_token_is_refused_from_the_moment_of_its_end_on() {
    let kit = Kit::new().await;
    let end = kit.clock.now().plus(HOUR);
    let ending = token(&kit, &Operator::ROOT, json!({"expires_at": end})).await;
    kit.clock.advance(HOUR - Duration::from_millis(1));
    assert!(admitted(&kit, &ending).await.is_some());
    kit.clock.advance(Duration::from_millis(1));
    assert!(admitted(&kit, &ending).await.is_none());
    let past = body(json!({"name": "a", "role": "agent", "expires_at": end}));
    let made = kit.app.access().create_operator_token(&Operator::ROOT, &past).await;
    let (code, details) = refused(made);
    assert_eq!((code.as_str(), &details["fields"]), ("VALIDATION_ERROR", &json!(["expires_at"])));
}

/// R208, R381.
#[tokio::test]
async fn the_tokens_of_a_deleted_company_go_with_it() {
    let kit = Kit::new().await;
    let (access, root) = (kit.app.access(), &Operator::ROOT);
    let of_one = token(&kit, root, json!({"company_id": kit.company.id})).await;
    let of_all = token(&kit, root, json!({})).await;
    access.delete_company(kit.company.id).await.unwrap();
    assert!(admitted(&kit, &of_one).await.is_none() && admitted(&kit, &of_all).await.is_some());
    let left = access.operator_tokens(root).await.unwrap();
    assert_eq!(left.iter().map(|token| token.id).collect::<Vec<_>>(), [of_all.token.id]);
    let gone = body(json!({"name": "a", "role": "agent", "company_id": kit.company.id}));
    let (code, details) = refused(access.create_operator_token(root, &gone).await);
    assert_eq!((code.as_str(), &details["fields"]), ("VALIDATION_ERROR", &json!(["company_id"])));
}

/// R381.
#[tokio::test]
async fn who_reaches_one_company_manages_its_tokens_only() {
    let kit = Kit::new().await;
    let (access, root) = (kit.app.access(), &Operator::ROOT);
    let of_all = token(&kit, root, json!({})).await;
    let owner = token(&kit, root, json!({"role": "owner", "company_id": kit.company.id})).await;
    let owner = admitted(&kit, &owner).await.unwrap();
    let made = token(&kit, &owner, json!({})).await;
    assert_eq!(made.token.company, Some(kit.company.id));
    assert_eq!(access.operator_tokens(&owner).await.unwrap().len(), 2);
    assert_eq!(access.operator_tokens(root).await.unwrap().len(), 3);
    let other = of_all.token.id;
    assert_eq!(code(access.operator_token(&owner, other).await), "NOT_FOUND");
    let change = body(json!({"name": "b"}));
    assert_eq!(code(access.change_operator_token(&owner, other, &change).await), "NOT_FOUND");
    assert_eq!(code(access.revoke_operator_token(&owner, other).await), "NOT_FOUND");
    assert!(admitted(&kit, &of_all).await.is_some());
}

/// R221.
#[tokio::test]
async fn the_use_of_a_token_is_written_to_the_hour() {
    let kit = Kit::new().await;
    let used = token(&kit, &Operator::ROOT, json!({})).await;
    let stored = async || {
        kit.app.upkeep().await.unwrap();
        let stored = kit.store.get::<OperatorToken>(used.token.id).await.unwrap().unwrap();
        (stored.last_used_at, stored.version().number())
    };
    assert_eq!(stored().await, (None, 1));
    admitted(&kit, &used).await.unwrap();
    let (at, version) = stored().await;
    assert!(at.is_some_and(|at| at <= kit.clock.now()));
    admitted(&kit, &used).await.unwrap();
    assert_eq!(stored().await, (at, version), "it is written once an hour");
}

/// R383.
#[tokio::test]
async fn an_installation_has_at_most_a_thousand_tokens() {
    let kit = Kit::new().await;
    for _ in 0..1_000 {
        token(&kit, &Operator::ROOT, json!({})).await;
    }
    let one_more = body(json!({"name": "Ana", "role": "agent"}));
    let made = kit.app.access().create_operator_token(&Operator::ROOT, &one_more).await;
    assert_eq!(code(made), "VALIDATION_ERROR");
}
