use http::StatusCode;
use recado_core::access::OperatorRole;
use recado_core::ids::CompanyId;
use recado_testkit::kit::body;
use serde_json::json;

use crate::harness::Site;

async fn template(site: &Site, company: CompanyId) -> String {
    let new = json!({"name": "order_sent", "category": "UTILITY", "status": "APPROVED",
        "body": "<b>Hi</b> {{1}}, order {{2}}"});
    let made = site.kit.app.templates().create(company, &body(new)).await;
    format!("/console/templates/{}", made.expect("a template").template.id)
}

#[tokio::test]
async fn a_template_is_shown_with_what_is_filled_in_and_escaped() {
    let site = Site::new().await;
    let viewer = site.as_role(OperatorRole::Viewer).await;
    viewer.get("/console/templates").await.has("There is no template yet.");
    let path = template(&site, site.kit.company.id).await;
    viewer.get("/console/templates").await.has("order_sent").has("Approved");
    let page = viewer.get(&format!("{path}?variable-1=%3Ci%3EAna")).await;
    page.has("&lt;b&gt;Hi&lt;/b&gt; &lt;i&gt;Ana, order {{2}}").lacks("<b>Hi").lacks("<i>Ana");
}

#[tokio::test]
async fn templates_are_read_again_by_managers_and_not_for_another_company() {
    let site = Site::new().await;
    let (other, _) = site.kit.another_company("Other").await;
    let foreign = template(&site, other.id).await;
    let manager = site.as_role(OperatorRole::Manager).await;
    manager.get("/console/templates").await.lacks("order_sent");
    assert_eq!(manager.get(&foreign).await.status, StatusCode::NOT_FOUND);
    let fields = [("connection_id", "01939b5e-0000-7000-8000-000000000005")];
    let sync = "/console/templates/sync";
    assert_eq!(manager.post(sync, &fields).await.status, StatusCode::NOT_FOUND);
    let agent = site.as_role(OperatorRole::Agent).await;
    assert_eq!(agent.post(sync, &fields).await.status, StatusCode::FORBIDDEN);
}
