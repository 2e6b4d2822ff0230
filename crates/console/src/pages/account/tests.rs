use http::StatusCode;

use crate::harness::Site;

#[tokio::test]
async fn language_and_colours_can_be_chosen() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let page = owner.get("/console/account").await;
    page.has("Português (Brasil)").has("name=\"theme\"").has("/console/choices");
    assert_eq!(page.status, StatusCode::OK);
}
