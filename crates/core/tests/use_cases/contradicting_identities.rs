//! Messages whose names are those of different contacts: shown to the operator, merged by nobody's
//! guess (X9).

use recado_core::gateway::{GatewayEvent, GatewayMessage, NamesReport};
use serde_json::json;

use super::gateway_scene::*;
use super::unknown_events::{kept, listed, replay, replayed};

/// X9: an event with the names of two contacts is kept once, and nobody is merged.
#[tokio::test]
async fn identities_that_contradict_each_other_are_kept() {
    let scene = scene("waha").await;
    let other = "5511987654321";
    scene.call(here([heard("m1", PEER), heard("m2", other)])).await.unwrap();
    let torn =
        |id: &str| GatewayMessage { aliases: vec![other.to_owned()], ..text(id, PEER, "segredo") };
    for id in ["m3", "m4"] {
        scene.call(here([Ok(GatewayEvent::Message(torn(id)))])).await.unwrap();
    }
    let listed = listed(&scene).await;
    assert_eq!(listed.len(), 1, "once for its names: {listed:?}");
    assert_eq!(listed[0]["reason"], "contradicting_identities");
    assert_eq!(
        (&listed[0]["body"]["from"], &listed[0]["body"]["aliases"]),
        (&json!(PEER), &json!([other]))
    );
    assert!(!listed[0].to_string().contains("segredo"));
    assert_eq!(scene.messaging.messages().await.len(), 4);
    assert_eq!(replay(&scene).await, replayed(1, 0));
    let contacts: Vec<_> =
        scene.messaging.messages().await.iter().map(|m| m["contact_id"].clone()).collect();
    let (one, two) = (
        contacts.iter().min_by_key(|c| c.to_string()).unwrap(),
        contacts.iter().max_by_key(|c| c.to_string()).unwrap(),
    );
    assert_ne!(one, two);
    scene.merge(one, two).await;
    assert_eq!(replay(&scene).await, replayed(1, 1), "they are one now");
}

/// X9, D15: two forms of a number, and several contacts of one number, are no contradiction.
#[tokio::test]
async fn forms_of_one_number_contradict_nothing() {
    let scene = scene("waha").await;
    scene.call(here([heard("m1", PEER), heard("m2", "77712345678901@lid")])).await.unwrap();
    let forms =
        GatewayMessage { aliases: vec!["5534991230001".to_owned()], ..text("m3", PEER, "Oi") };
    scene.call(here([Ok(GatewayEvent::Message(forms))])).await.unwrap();
    let new =
        GatewayMessage { aliases: vec!["88812345678901@lid".to_owned()], ..text("m4", PEER, "Oi") };
    scene
        .call(here([
            Ok(GatewayEvent::Message(new.clone())),
            Ok(GatewayEvent::Message(GatewayMessage { provider_id: wamid("m5"), ..new })),
        ]))
        .await
        .unwrap();
    assert_eq!(kept(&scene).await, []);
    let names = NamesReport::new("77712345678901@lid", vec!["551140001111".to_owned()]);
    scene.call(here([Ok(GatewayEvent::Names(names))])).await.unwrap();
    assert_eq!(kept(&scene).await, []);
}
