//! The operator's listing of deliveries (D56a).

use recado_core::deliveries::{Delivery, DeliveryFilter, DeliveryStatus};
use recado_core::events::EventType;
use recado_core::page::{Page, PageRequest};

use super::Harness;
use super::scene::{Scene, at, first};

async fn listed(scene: &Scene, filter: &DeliveryFilter, page: u32, limit: u32) -> Page<Delivery> {
    let page = scene.store.deliveries(scene.company, filter, PageRequest { page, limit }).await;
    page.expect("the store works")
}

/// Deliveries to two webhooks, of every type and status, newest first.
async fn some(scene: &Scene) -> Vec<Delivery> {
    let queues = [scene.queue(), scene.queue()];
    let mut deliveries = Vec::new();
    for n in 0..60_usize {
        let event_type = EventType::ALL[n / 2 % EventType::ALL.len()];
        let event = scene.reported(event_type, (n as i64 * 17) % 23);
        let delivery = match n % 4 {
            0 => scene.fresh(queues[n / 4 % 2], &event),
            1 => scene.delivered(queues[n / 4 % 2], &event),
            2 => Delivery {
                status: DeliveryStatus::Failed,
                due_at: None,
                ..scene.fresh(queues[n / 4 % 2], &event)
            },
            _ => Delivery {
                attempts: 3,
                due_at: Some(at(99)),
                ..scene.fresh(queues[n / 4 % 2], &event)
            },
        };
        deliveries.push(delivery);
    }
    scene.add_all(deliveries.iter().cloned()).await;
    deliveries.sort_by_key(|delivery| std::cmp::Reverse((delivery.created_at, delivery.id)));
    deliveries
}

/// By `created_at` descending, then by id.
pub async fn deliveries_come_newest_first_then_by_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert_eq!(listed(&scene, &DeliveryFilter::default(), 1, 100).await, Page::empty());
    let all = some(&scene).await;
    let page = listed(&scene, &DeliveryFilter::default(), 1, 100).await;
    assert_eq!(page, Page { total: all.len() as u64, items: all });
}

/// Every delivery is on exactly one page.
pub async fn pages_of_deliveries_partition_the_listing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let all = some(&scene).await;
    for limit in [1, 7, 60] {
        let mut seen = Vec::new();
        for page in 1..=60_u32.div_ceil(limit) {
            let part = listed(&scene, &DeliveryFilter::default(), page, limit).await;
            assert_eq!(part.total, 60);
            seen.extend(part.items);
        }
        assert_eq!(seen, all, "pages of {limit}");
    }
    let beyond = listed(&scene, &DeliveryFilter::default(), u32::MAX, 100).await;
    assert_eq!(beyond, Page { items: Vec::new(), total: 60 });
}

/// Filters can be combined, and the total counts the deliveries that pass.
pub async fn every_combination_of_delivery_filters_is_exact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let all = some(&scene).await;
    let mut webhooks = vec![None, Some(scene.queue().webhook)];
    webhooks.extend(all.iter().take(9).map(|delivery| Some(delivery.webhook)));
    webhooks.sort();
    webhooks.dedup();
    let statuses = [None].into_iter().chain(DeliveryStatus::ALL.iter().copied().map(Some));
    let mut found = 0;
    for status in statuses {
        for webhook in &webhooks {
            for event in [None].into_iter().chain(EventType::ALL.iter().copied().map(Some)) {
                let filter = DeliveryFilter { status, webhook: *webhook, event };
                let passes = |delivery: &&Delivery| {
                    status.is_none_or(|status| delivery.status == status)
                        && webhook.is_none_or(|webhook| delivery.webhook == webhook)
                        && event.is_none_or(|event| delivery.event_type == event)
                };
                let expected: Vec<Delivery> = all.iter().filter(passes).cloned().collect();
                let total = expected.len() as u64;
                found += total;
                let page = listed(&scene, &filter, 1, 100).await;
                assert_eq!(page, Page { items: expected.clone(), total }, "{filter:?}");
                let second = listed(&scene, &filter, 2, 3).await;
                let expected: Vec<Delivery> = expected.into_iter().skip(3).take(3).collect();
                assert_eq!(second, Page { items: expected, total }, "{filter:?}");
            }
        }
    }
    assert!(found > 400, "the filters listed something");
}

/// A listing shows deliveries as they are now.
pub async fn a_listing_of_deliveries_follows_every_change(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let new = scene.fresh_at(scene.queue(), 0);
    scene.add(new.clone()).await;
    let finished = Delivery { status: DeliveryStatus::Failed, due_at: None, ..new.clone() };
    let count = async |status| {
        let filter = DeliveryFilter { status: Some(status), ..DeliveryFilter::default() };
        listed(&scene, &filter, 1, 10).await.total
    };
    assert_eq!(count(DeliveryStatus::Pending).await, 1);
    scene.apply(first(new.clone()).update(finished.clone())).await;
    assert_eq!(count(DeliveryStatus::Pending).await, 0);
    assert_eq!(count(DeliveryStatus::Failed).await, 1);
    let page = listed(&scene, &DeliveryFilter::default(), 1, 10).await;
    assert_eq!(page.items, [finished]);
}

/// Promise 8.
pub async fn another_companys_deliveries_are_not_listed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let all = some(&scene).await;
    let other = scene.another_company().await;
    let webhook = Some(all[0].webhook);
    for filter in [DeliveryFilter::default(), DeliveryFilter { webhook, ..Default::default() }] {
        assert_eq!(listed(&other, &filter, 1, 100).await, Page::empty());
    }
}
