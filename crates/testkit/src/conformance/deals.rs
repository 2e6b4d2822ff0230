//! Pipelines, deals, and the listings of other small records.

use super::Harness;
use super::scene::{CNPJ, OTHER_CNPJ, Scene, at};
use recado_core::custom_fields::CustomField;
use recado_core::deals::{Pipeline, Stage};
use recado_core::organizations::Organization;
use recado_core::store::RecordsExt;
use recado_core::tags::{CloseReason, Tag};

/// By pipeline and `display_order`.
pub async fn stages_come_by_pipeline_and_order(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let pipelines = [scene.pipeline(), scene.pipeline()];
    scene.add_all(pipelines.clone()).await;
    let mut stages = Vec::new();
    for order in [2, 0, 10, 1] {
        for pipeline in pipelines.iter().rev() {
            let stage = scene.stage(pipeline, order);
            scene.add(stage.clone()).await;
            stages.push(stage);
        }
    }
    stages.sort_by_key(|stage| (stage.pipeline, stage.display_order));
    let listed = scene.store.all_stored::<Stage>(scene.company).await.expect("the store works");
    let listed: Vec<_> = listed.into_iter().map(|stage| stage.into_value()).collect();
    assert_eq!(listed, stages);
    assert!(
        other.store.all_stored::<Stage>(other.company).await.expect("the store works").is_empty()
    );
}

/// By `created_at`, then `id`.
pub async fn deals_are_listed_of_the_company_or_of_one_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ana, bia) = (scene.contact(), scene.contact());
    scene.add_all([ana.clone(), bia.clone()]).await;
    let mut deals = Vec::new();
    for (n, millis) in [5, 1, 5, 3, 2].into_iter().enumerate() {
        let mut deal = scene.deal(if n % 2 == 0 { &ana } else { &bia }, None);
        deal.created_at = at(millis);
        scene.add(deal.clone()).await;
        deals.push(deal);
    }
    deals.sort_by_key(|deal| (deal.created_at, deal.id));
    let (store, company) = (&scene.store, scene.company);
    assert_eq!(store.deals(company, None).await.expect("works"), deals);
    let of_bia: Vec<_> = deals.into_iter().filter(|deal| deal.contact_id == bia.id).collect();
    assert_eq!(store.deals(company, Some(bia.id)).await.expect("works"), of_bia);
    assert_eq!(store.deals(other.company, None).await.expect("works"), []);
}

/// D58.
pub async fn pipelines_tags_reasons_and_organizations_come_by_creation_then_id(
    harness: &dyn Harness,
) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    other.add(other.pipeline()).await;
    other.add(other.tag()).await;
    other.add(other.close_reason()).await;
    other.add(other.organization(CNPJ)).await;
    other.add(other.field("a")).await;
    let (mut pipelines, mut tags, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    let (mut organizations, mut fields) = (Vec::new(), Vec::new());
    for (millis, cnpj) in [(5, CNPJ), (1, OTHER_CNPJ), (5, "11222333000181")] {
        let (mut pipeline, mut tag) = (scene.pipeline(), scene.tag());
        let (mut reason, mut field) = (scene.close_reason(), scene.field(cnpj));
        let mut organization = scene.organization(cnpj);
        (pipeline.created_at, tag.created_at) = (at(millis), at(millis));
        (reason.created_at, field.created_at) = (at(millis), at(millis));
        organization.created_at = at(millis);
        scene.add(pipeline.clone()).await;
        scene.add(tag.clone()).await;
        scene.add(reason.clone()).await;
        scene.add(field.clone()).await;
        scene.add(organization.clone()).await;
        pipelines.push(pipeline);
        tags.push(tag);
        reasons.push(reason);
        fields.push(field);
        organizations.push(organization);
    }
    pipelines.sort_by_key(|row| (row.created_at, row.id));
    tags.sort_by_key(|row| (row.created_at, row.id));
    reasons.sort_by_key(|row| (row.created_at, row.id));
    fields.sort_by_key(|row| (row.created_at, row.id));
    organizations.sort_by_key(|row| (row.created_at, row.id));
    let (store, company) = (&scene.store, scene.company);
    assert_eq!(store.all::<Pipeline>(company).await.expect("works"), pipelines);
    assert_eq!(store.all::<Tag>(company).await.expect("works"), tags);
    assert_eq!(store.all::<CloseReason>(company).await.expect("works"), reasons);
    assert_eq!(store.all::<CustomField>(company).await.expect("works"), fields);
    assert_eq!(store.all::<Organization>(company).await.expect("works"), organizations);
}
