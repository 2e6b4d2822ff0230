//! Campaigns whose clock is corrected (D66).

use std::time::Duration;

use serde_json::json;

use super::campaign_process::{Process, SECOND, TENTH, pass};
use super::campaign_scene::Scene;
use super::shop::Shop;

const HOUR: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn a_clock_that_is_set_back_by_an_hour_holds_a_campaign_up_for_a_moment_only() {
    for per_second in [1, 10, 1_000] {
        let with = json!({ "messages_per_second": per_second });
        let scene = Scene::with(Shop::new().await, 40, with).await;
        let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
        scene.start().await;
        // It may be waiting for its rate, for its next poll, or for nothing.
        pass(&scene, 12, TENTH).await;
        let before = scene.shop.calls();
        assert!(before > 0);
        scene.shop.kit().clock.set_back(HOUR);
        pass(&scene, 50, TENTH).await;
        let expected = (before + 3 * per_second).min(40);
        assert!(scene.shop.calls() >= expected, "{per_second}: {} messages", scene.shop.calls());
        pass(&scene, 60, SECOND).await;
        assert_eq!((scene.shop.calls(), scene.status().await.0.as_str()), (40, "finished"));
        process.stop().await;
        scene.check().await;
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_by_half_a_minute_holds_a_campaign_up_no_longer_than_that() {
    for per_second in [1, 10, 1_000] {
        let with = json!({ "messages_per_second": per_second });
        let scene = Scene::with(Shop::new().await, 40, with).await;
        let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
        scene.start().await;
        pass(&scene, 12, TENTH).await;
        scene.shop.kit().clock.set_back(Duration::from_secs(30));
        pass(&scene, 80, SECOND).await;
        assert_eq!((scene.shop.calls(), scene.status().await.0.as_str()), (40, "finished"));
        process.stop().await;
        scene.check().await;
    }
}

#[tokio::test]
async fn a_campaign_that_starts_after_the_clock_was_set_back_is_found() {
    let scene = Scene::of(5).await;
    let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    pass(&scene, 3, SECOND).await;
    scene.shop.kit().clock.set_back(HOUR);
    scene.start().await;
    pass(&scene, 3, SECOND).await;
    assert_eq!((scene.shop.calls(), scene.status().await.0.as_str()), (5, "finished"));
    process.stop().await;
}
