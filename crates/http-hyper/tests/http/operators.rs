//! Who may call the operator API: guesses of its token, and a listener of its own.

use std::time::Duration;

use recado_core::access::Operator;
use recado_core::audit::{AuditEntryView, AuditRequest};
use recado_core::query::Params;
use recado_http_hyper::Paths;
use recado_testkit::kit::body;
use serde_json::json;

use crate::site::{Reply, Setup, Site, TOKEN};

/// As many as are free (R181).
const FREE: usize = 20;

async fn site() -> Site {
    Setup { trusted: &["127.0.0.0/8"], ..Setup::new().await }.start().await
}

async fn ask(site: &Site, client: u8, token: &str) -> Reply {
    let headers =
        format!("Authorization: Bearer {token}\r\nX-Forwarded-For: 203.0.113.{client}\r\n");
    site.send("GET", "/operator/v1/companies", &headers, b"").await
}

/// Guesses until it is refused; how many guesses were free.
async fn guess(site: &Site, client: u8) -> usize {
    for number in 0..100 {
        let reply = ask(site, client, &format!("wrong-{number}")).await;
        if reply.status == 429 {
            assert_eq!(reply.refusal(), (429, "RATE_LIMITED".to_owned()));
            assert_eq!(reply.header("retry-after"), Some("3"));
            return number;
        }
        assert_eq!(reply.refusal(), (401, "UNAUTHORIZED".to_owned()));
    }
    unreachable!("nothing bounds guesses");
}

/// R181.
#[tokio::test]
async fn wrong_tokens_are_refused_beyond_an_allowance_for_each_client() {
    let site = site().await;
    assert_eq!(guess(&site, 1).await, FREE);
    assert_eq!(ask(&site, 1, TOKEN).await.status, 429, "or a guess would learn that it is right");
    assert_eq!(ask(&site, 2, "wrong").await.status, 401, "another client");
    assert_eq!(ask(&site, 2, TOKEN).await.status, 200);
    // A call without a token is no guess, and no other path is concerned.
    let from = "X-Forwarded-For: 203.0.113.1\r\n";
    assert_eq!(site.send("GET", "/operator/v1/companies", from, b"").await.status, 401);
    assert_eq!(site.api("GET", "/contacts", "").await.status, 200);

    site.kit.clock.advance(Duration::from_millis(2_999));
    assert_eq!(ask(&site, 1, "wrong").await.status, 429);
    site.kit.clock.advance(Duration::from_millis(1));
    assert_eq!(ask(&site, 1, TOKEN).await.status, 200, "one in three seconds");
}

/// R181.
#[tokio::test]
async fn who_has_shown_the_token_is_not_locked_out_by_the_guesses_of_others_at_its_address() {
    let site = site().await;
    assert_eq!(ask(&site, 1, TOKEN).await.status, 200);
    assert!(guess(&site, 1).await <= FREE);
    for _ in 0..2 * FREE {
        assert_eq!(ask(&site, 1, TOKEN).await.status, 200);
    }
    assert_eq!(ask(&site, 1, "wrong").await.status, 429);
    // It is forgotten a day after its last call.
    site.kit.clock.advance(Duration::from_secs(24 * 60 * 60));
    assert_eq!(guess(&site, 1).await, FREE);
    assert_eq!(ask(&site, 1, TOKEN).await.status, 429);
}

/// The entries of an operation in the log of the kit's company.
async fn logged(site: &Site, operation: &str) -> Vec<AuditEntryView> {
    let filter = vec![("operation".to_owned(), operation.to_owned())];
    let request = AuditRequest::parse(&Params::new(filter)).expect("acceptable filters");
    let log = site.kit.app.audit().list(Some(site.kit.company.id), &request).await;
    log.expect("the store works").entries
}

/// R387, R388.
#[tokio::test]
async fn an_ended_token_of_a_company_is_refused_and_is_in_its_log_as_its_revocation_is() {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    let site = site().await;
    let new = body(json!({
        "name": "Ana",
        "role": "agent",
        "company_id": site.kit.company.id,
        "expires_at": site.kit.app.now().plus(HOUR),
    }));
    let access = site.kit.app.access();
    let made = access.create_operator_token(&Operator::ROOT, &new).await.expect("a token");
    let (id, secret) = (made.token.id, made.secret.expose());
    assert_eq!(ask(&site, 1, secret).await.status, 200);
    assert!(logged(&site, "listCompanies").await.is_empty());
    site.kit.clock.advance(HOUR);
    for shown in [secret, &format!("{}A", &secret[..secret.len() - 1]), secret] {
        assert_eq!(ask(&site, 1, shown).await.refusal(), (401, "UNAUTHORIZED".to_owned()));
    }
    let denied = logged(&site, "listCompanies").await;
    assert_eq!(denied.len(), 1, "{denied:?}");
    assert_eq!((denied[0].actor_id, denied[0].code), (Some(id.uuid()), Some("UNAUTHORIZED")));
    assert_eq!(denied[0].from.as_deref(), Some("203.0.113.1"));

    let path = format!("/operator/v1/operator-tokens/{id}");
    let revoked =
        site.send("DELETE", &path, &format!("Authorization: Bearer {TOKEN}\r\n"), b"").await;
    assert!(revoked.status < 300, "{}", revoked.status);
    let revocation = logged(&site, "deleteOperatorToken").await;
    assert_eq!(revocation.len(), 1);
    assert_eq!(revocation[0].records[0].id, id.to_string());
    site.kit.clock.advance(HOUR);
    assert_eq!(ask(&site, 1, secret).await.status, 401);
    assert_eq!(logged(&site, "listCompanies").await.len(), 1, "nothing is known of it any more");
}

/// R182.
#[tokio::test]
async fn a_service_of_some_paths_answers_all_others_as_if_they_did_not_exist() {
    let get = async |site: &Site, path: &str, headers: &str| {
        let reply = site.send("GET", path, headers, b"").await;
        (reply.status, String::from_utf8_lossy(&reply.body).into_owned())
    };
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    for (paths, answered, others) in [
        (
            Paths::Public,
            &["/healthz", "/readyz", "/api/openapi.json"][..],
            &["/metrics", "/operator/v1/companies", "/operator/v1/x", "/%6fperator/v1/companies"],
        ),
        (
            Paths::Operator,
            &["/healthz", "/readyz", "/metrics", "/operator/v1/companies"],
            &["/api/openapi.json", "/api/v1/contacts", "/api/webhooks/incoming/x", "/l/x"],
        ),
    ] {
        let site = Setup { paths, ..Setup::new().await }.start().await;
        let unknown = get(&site, "/nothing", "").await;
        assert_eq!(unknown.0, 404);
        for path in answered {
            assert_eq!(get(&site, path, &token).await.0, 200, "{path}");
        }
        for path in others {
            for headers in ["", &token, &site.bearer()] {
                assert_eq!(get(&site, path, headers).await, unknown, "{path}");
            }
            assert_eq!(site.send("POST", path, &token, b"{}").await.status, 404, "{path}");
        }
    }
}
