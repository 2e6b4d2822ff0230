//! Campaigns as records: what they refer to, and how they are shown (4.12, D58).

use recado_core::campaigns::RecipientFilter;
use recado_core::ids::CampaignId;
use recado_core::page::PageRequest;
use recado_testkit::kit::body;
use serde_json::json;

use super::campaign_scene::Scene;
use super::shop::refusal;
use super::{code, refused};

#[tokio::test]
async fn the_public_form_has_just_its_fields() {
    let scene = Scene::of(1).await;
    let listed = scene.shop.app().campaigns().list(&scene.shop.kit().caller).await.unwrap();
    let listed = serde_json::to_value(listed).unwrap();
    assert_eq!(
        listed,
        json!([{
            "id": scene.id, "name": "Natal", "status": "draft", "template_id": scene.template.id,
            "list_id": scene.list, "created_at": scene.shop.now(), "started_at": null,
            "finished_at": null, "consumption": { "prosas": 0, "cost_brl": 0 },
            "counts": { "total": 0, "sent": 0, "delivered": 0, "read": 0, "failed": 0, "skipped": 0 },
        }])
    );
}

#[tokio::test]
async fn recipients_are_listed_in_pages_and_by_status() {
    let scene = Scene::of(7).await;
    let provider = &scene.shop.kit().provider;
    provider.then(Err(refusal())).then(Err(refusal()));
    scene.start().await;
    scene.drain().await;
    let caller = &scene.shop.kit().caller;
    let page = async |status: Option<&str>, page, limit| {
        let pairs = status.map(|status| ("status".to_owned(), status.to_owned()));
        let params = recado_core::query::Params::new(pairs.into_iter().collect());
        let filter = RecipientFilter::parse(&params).unwrap();
        let request = PageRequest { page, limit };
        let campaigns = scene.shop.app().campaigns();
        campaigns.recipients_for(caller, scene.id, filter, request).await.unwrap()
    };
    let all = page(None, 1, 100).await;
    assert_eq!((all.total, all.data.len()), (7, 7));
    let second = page(None, 2, 3).await;
    assert_eq!((second.total, second.page, second.limit), (7, 2, 3));
    assert_eq!(second.data, all.data[3..6]);
    let failed = page(Some("failed"), 1, 1).await;
    assert_eq!((failed.total, failed.data.len()), (2, 1));
    assert_eq!(page(Some("waiting"), 1, 50).await.total, 0);
}

#[tokio::test]
async fn a_campaign_of_another_company_is_as_good_as_missing() {
    let scene = Scene::of(1).await;
    let (other, caller) = scene.shop.kit().another_company("Outra").await;
    let campaigns = scene.shop.app().campaigns();
    assert_eq!(code(campaigns.get(other.id, scene.id).await), "NOT_FOUND");
    assert_eq!(code(campaigns.start(other.id, scene.id).await), "NOT_FOUND");
    assert_eq!(code(campaigns.pause(other.id, scene.id).await), "NOT_FOUND");
    assert_eq!(code(campaigns.delete(other.id, scene.id).await), "NOT_FOUND");
    let filter = RecipientFilter::default();
    let hidden = campaigns.recipients_for(&caller, scene.id, filter, PageRequest::FIRST).await;
    assert_eq!(code(hidden), "NOT_FOUND");
    assert_eq!(campaigns.list(&caller).await.unwrap(), []);
    let unknown = CampaignId::new(uuid::Uuid::from_u128(7));
    assert_eq!(code(campaigns.get(scene.shop.kit().company.id, unknown).await), "NOT_FOUND");
}

#[tokio::test]
async fn what_a_campaign_refers_to_has_to_be_there_and_go_together() {
    let scene = Scene::of(1).await;
    let (campaigns, company) = (scene.shop.app().campaigns(), scene.shop.kit().company.id);
    let nobody = json!(uuid::Uuid::from_u128(7));
    let sound = json!({
        "name": "x", "template_id": scene.template.id, "list_id": scene.list,
        "variables": { "1": "você" },
    });
    for (field, value) in [
        ("template_id", nobody.clone()),
        ("list_id", nobody.clone()),
        ("connection_id", nobody),
        ("variables", json!({})),
        ("variables", json!({ "1": "{{name}}" })),
        ("messages_per_second", json!(0)),
        ("messages_per_second", json!(1_001)),
        ("prosas_per_message", json!(-1)),
    ] {
        let mut new = sound.clone();
        new[field] = value;
        let (code, details) = refused(campaigns.create(company, &body(new.clone())).await);
        assert_eq!(
            (code.as_str(), &details["fields"]),
            ("VALIDATION_ERROR", &json!([field])),
            "{new}"
        );
    }
    let inactive = body(json!({ "is_active": false }));
    scene.shop.app().lists().change(company, scene.list, &inactive).await.unwrap();
    assert_eq!(code(campaigns.create(company, &body(sound)).await), "VALIDATION_ERROR");
    scene.start().await;
    let other = scene.shop.list(&[]).await;
    let change = body(json!({ "list_id": other }));
    assert_eq!(code(campaigns.change(company, scene.id, &change).await), "CAMPAIGN_STARTED");
}
