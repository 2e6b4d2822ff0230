use http::StatusCode;
use recado_core::Timestamp;
use recado_core::access::OperatorRole;
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::json;

use crate::harness::Site;
use crate::last_hour::{Backlog, Counters, LastHour};
use crate::{Console, ConsoleOptions};

/// R430.
#[tokio::test]
async fn usage_is_drawn_from_data_that_stands_in_a_table_too() {
    let site = Site::new().await;
    let debit = body(json!({ "scope": "turn", "prosas": 2.5, "cost_brl": 0.125 }));
    site.kit.app.prosas().debit(site.kit.company.id, &debit).await.expect("a debit");
    let viewer = site.as_role(OperatorRole::Viewer).await;
    let page = viewer.get("/console/operation").await;
    page.has("data-plot=").has("<td data-label=\"Spent (prosas)\">2.5</td>").has("0.125");
    page.has("&quot;bars&quot;:true");
}

/// R431.
#[tokio::test]
async fn the_last_hour_is_drawn_where_the_program_keeps_it() {
    let site = Site::new().await;
    let owner = site.owner().await;
    owner.get("/console/operation/process").await.has("keeps no figures");

    let hour = LastHour::new();
    let mut site = Site::of(Kit::new().await);
    let options = ConsoleOptions { last_hour: Some(hour.clone()), ..ConsoleOptions::default() };
    site.console = Console::new(site.kit.app.clone(), options);
    let owner = site.owner().await;
    owner.get("/console/operation/process").await.has("no figures yet");
    for n in 0..3_i32 {
        let counters = Counters { requests: f64::from(n) * 70.0, ..Counters::default() };
        let backlog = Backlog { deliveries: Some(5.0), jobs: None };
        hour.record(Timestamp::from_millis(i64::from(n) * 10_000), counters, backlog);
    }
    let page = owner.get("/console/operation/process").await;
    page.has("Throughput").has("<td data-label=\"Requests (/s)\">7</td>").has("Backlog");
    let manager = site.as_role(OperatorRole::Manager).await;
    let refused = manager.get("/console/operation/process").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_member_is_made_invited_and_disabled() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let list = "/console/operation/members";
    let made = owner.post(list, &[("display_name", "<b>Ana"), ("role", "agent")]).await;
    let path = made.location().to_owned();
    owner.get(&path).await.has("&lt;b&gt;Ana").has("This member has no login.");
    let fields = [("email", "ana@example.org"), ("login_role", "manager")];
    let invited = owner.post(&format!("{path}/invite"), &fields).await;
    invited.has("/console/welcome#").has("hand this link");
    owner.get(&path).await.has("invited").lacks("/console/welcome#");
    owner.get(list).await.has("ana@example.org");
    owner.post(&format!("{path}/state"), &[("disabled", "on")]).await;
    owner.get(&path).await.has("Enable login");
    owner.post(&format!("{path}/login/delete"), &[]).await;
    owner.get(&path).await.has("This member has no login.");
    owner.post(&format!("{path}/delete"), &[]).await;
    assert_eq!(owner.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_wrong_with_a_member_or_a_login_stands_at_its_fields() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let list = "/console/operation/members";
    let refused = owner.post(list, &[("display_name", " ")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("id=\"field-display_name-error\"");
    let path = owner.post(list, &[("display_name", "Ana")]).await.location().to_owned();
    let fields = [("email", "no address"), ("login_role", "agent")];
    let refused = owner.post(&format!("{path}/invite"), &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("id=\"field-email-error\"");
}

#[tokio::test]
async fn a_manager_gives_no_role_above_the_own_one() {
    let site = Site::new().await;
    let manager = site.as_role(OperatorRole::Manager).await;
    let list = "/console/operation/members";
    let path = manager.post(list, &[("display_name", "Ana")]).await.location().to_owned();
    manager.get(&path).await.has("value=\"manager\"").lacks("value=\"owner\"");
    let fields = [("email", "ana@example.org"), ("login_role", "owner")];
    let refused = manager.post(&format!("{path}/invite"), &fields).await;
    assert!(refused.status.is_client_error());
    refused.lacks("/console/welcome#");
    let viewer = site.as_role(OperatorRole::Viewer).await;
    viewer.get(&path).await.lacks("E-mail");
}

#[tokio::test]
async fn a_token_is_of_the_company_shown_once_and_revoked() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let list = "/console/operation/tokens";
    let fields = [("name", "robot"), ("role", "viewer"), ("expires_at", "")];
    owner.post(list, &fields).await.has("Copy it now");
    let tokens = owner.get(list).await;
    tokens.has("robot").has("never");
    let revoke = tokens.html.split("action=\"").find(|it| it.contains("/revoke\""));
    let revoke = revoke.and_then(|it| it.split('"').next()).expect("a token").to_owned();
    owner.post(&revoke, &[]).await;
    owner.get(list).await.has("There is no operator token");
    let refused = owner.post(list, &[("name", ""), ("role", "viewer")]).await;
    refused.has("id=\"field-name-error\"");
}

#[tokio::test]
async fn another_companys_members_look_missing() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let access = site.kit.app.access();
    let other = access.create_company(&body(json!({ "name": "Other" }))).await.expect("a company");
    let eva = body(json!({ "display_name": "Eva" }));
    let stranger = access.create_member(other.id, &eva).await.expect("a member").id;
    let path = format!("/console/operation/members/{stranger}");
    assert_eq!(owner.get(&path).await.status, StatusCode::NOT_FOUND);
    for act in ["/delete", "/invite", "/reset", "/state", "/login/delete", "/totp/delete"] {
        let fields = [("email", "x@example.org"), ("login_role", "viewer")];
        let answer = owner.post(&format!("{path}{act}"), &fields).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{act}");
    }
}
