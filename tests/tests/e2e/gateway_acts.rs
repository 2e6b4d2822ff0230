//! Reactions, and what is done with messages, through the strict fakes of WAHA and Evolution: X7,
//! X13, X14; R336, R340. Those of the official API are with its kinds.

use std::time::Duration;

use recado_testkit::gateways::{WahaAct, WahaEngine};
use recado_tests::{SentKind, StoreKind, World, both_stores, digits, mobile, text};
use serde_json::{Value, json};

use crate::gateway_evolution::Evolution;
use crate::gateway_faked::Faked;
use crate::gateway_waha::{Waha, chat};

/// Reacts to a message, changes the reaction, and withdraws it; what the gateway got each time.
async fn reacts(faked: &impl Faked, message: &str, emojis: &[Option<&str>]) {
    for emoji in emojis {
        let before = faked.taken().len();
        let reaction = SentKind::reaction(message, *emoji);
        let data = reaction.send(faked.world(), "").await.expect(200);
        reaction.assert_shown(&faked.world().message(&text(&data["message_id"])).await);
        assert_eq!(faked.taken().len(), before + 1, "{emoji:?}");
        faked.world().advance(Duration::from_secs(1));
    }
}

/// Sends a text and a picture, changes what is written in each, and takes them back; their ids at
/// the gateway.
async fn edits_and_revokes(faked: &impl Faked) -> Vec<String> {
    let world = faked.world();
    let mut kinds = SentKind::all(world).await;
    kinds.retain(|kind| matches!(kind.name, "text" | "image"));
    let mut ids = Vec::new();
    for kind in kinds {
        let data = kind.send(world, &mobile(1)).await.expect(200);
        let path = format!("/api/v1/messages/{}", text(&data["message_id"]));
        let edited = world.patch(&path, json!({"message": "Outra"})).await.expect(200);
        let written = if kind.file.is_some() { "media_caption" } else { "content" };
        assert_eq!((&edited[written], &edited["is_edited"]), (&json!("Outra"), &json!(true)));
        let revoked = world.delete(&path).await.expect(200);
        assert!(revoked["deleted_by_sender_at"].is_string(), "{revoked}");
        ids.push(text(&data["wamid"]));
    }
    ids
}

/// Shows somebody that one writes; whether it was shown.
async fn shows(world: &World, contact: &Value, state: &str) -> bool {
    let path = format!("/api/v1/contacts/{}/typing", text(contact));
    let shown = world.post(&path, json!({ "state": state })).await.expect(200)["done"] == true;
    world.advance(Duration::from_secs(2));
    shown
}

/// X7, X13, X14, R336.
#[both_stores]
async fn each_engine_of_waha_reacts_edits_revokes_marks_and_types(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        let heard = waha.hears(&chat(&mobile(1)), "oi").await;
        reacts(&waha, &text(&heard["id"]), &[Some("👍"), Some("🙏"), None]).await;
        let texts: Vec<String> = waha.fake.accepted().into_iter().map(|sent| sent.text).collect();
        assert_eq!(texts, ["👍", "🙏", ""], "{engine:?}");

        let ours = edits_and_revokes(&waha).await;
        let read = format!("/api/v1/messages/{}/read", text(&heard["id"]));
        waha.post(&read, json!({})).await.expect(200);
        for state in ["typing", "recording", "paused"] {
            assert!(shows(&waha, &heard["contact_id"], state).await, "{engine:?} {state}");
        }
        let of = |act: &WahaAct| match act {
            WahaAct::Edited { id, text } => format!("edited {} {text}", id_of(id)),
            WahaAct::Revoked { id } => format!("revoked {}", id_of(id)),
            WahaAct::Seen { ids } => format!("seen {}", id_of(ids.last().expect("an id"))),
            WahaAct::Presence { chat, state } => format!("{state} {chat}"),
        };
        let acts: Vec<String> = waha.fake.acts().iter().map(of).collect();
        let (theirs, them) = (text(&heard["wamid"]), chat(&mobile(1)));
        let expected = [
            format!("edited {} Outra", ours[0]),
            format!("revoked {}", ours[0]),
            format!("edited {} Outra", ours[1]),
            format!("revoked {}", ours[1]),
            format!("seen {theirs}"),
            format!("typing {them}"),
            format!("recording {them}"),
            format!("paused {them}"),
        ];
        assert_eq!(acts, expected, "{engine:?}");
        waha.well_behaved();
    }
}

/// The raw part of a whole id.
fn id_of(id: &str) -> &str {
    id.split('_').nth(2).expect("a whole id")
}

/// X7, X13, X14, R340.
#[both_stores]
async fn evolution_reacts_edits_revokes_marks_and_types(world: Evolution) {
    let heard = world.hears(&mobile(1), "oi").await;
    reacts(&world, &text(&heard["id"]), &[Some("👍"), Some("🙏")]).await;
    let other = world.hears(&mobile(1), "e?").await;
    let withdrawn = SentKind::reaction(&text(&other["id"]), None).send(&world, "").await;
    let details = withdrawn.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(details["delivery_error"], "CONTENT_REJECTED");
    let texts: Vec<String> = world.fake.accepted().into_iter().map(|sent| sent.text).collect();
    assert_eq!(texts, ["👍", "🙏"], "nothing is sent that cannot be withdrawn");

    let ours = edits_and_revokes(&world).await;
    let read = format!("/api/v1/messages/{}/read", text(&heard["id"]));
    world.post(&read, json!({})).await.expect(200);
    for state in ["typing", "recording", "paused"] {
        assert!(shows(&world, &heard["contact_id"], state).await, "{state}");
    }
    let marks = world.fake.marks();
    let names: Vec<&str> = marks.iter().map(|(name, _)| name.as_str()).collect();
    let changes = ["updateMessage", "deleteMessageForEveryone"];
    assert_eq!((&names[..2], &names[2..4]), (&changes[..], &changes[..]));
    assert_eq!(names[4..], ["markMessageAsRead", "sendPresence", "sendPresence", "sendPresence"]);
    for (n, id) in ours.iter().enumerate() {
        let (edit, revocation) = (&marks[2 * n].1, &marks[2 * n + 1].1);
        assert_eq!((&edit["key"]["id"], &edit["text"]), (&json!(id), &json!("Outra")));
        assert_eq!(revocation["id"], json!(id));
    }
    assert_eq!(marks[4].1["readMessages"][0]["id"], heard["wamid"]);
    let shown: Vec<&Value> = marks[5..].iter().map(|(_, body)| &body["presence"]).collect();
    assert_eq!(shown, ["composing", "recording", "paused"]);
    assert!(text(&marks[5].1["number"]).starts_with(&digits(&mobile(1))));
    world.well_behaved();
}
