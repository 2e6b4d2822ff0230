//! The sender of a message: four versions write people with a LID in four ways.

use recado_core::gateway::GatewayEvent;
use recado_testkit::gateways::EvolutionVersion;
use serde_json::{Value, json};

use crate::scene::Scene;

const PHONE: &str = "5534991234567";
/// The channel's form of the number.
const CANONICAL: &str = "553491234567";
const LID: &str = "123456@lid";

fn from(key: Value) -> Value {
    json!({"key": key, "pushName": "Maria", "message": {"conversation": "Oi"},
        "messageType": "conversation", "messageTimestamp": 1_760_000_000})
}

#[test]
fn a_person_with_a_lid_is_called_by_phone_where_a_version_reports_it() {
    for (version, aliases) in [
        (EvolutionVersion::V2_3_3, &[LID][..]),
        (EvolutionVersion::V2_3_6, &[LID]),
        (EvolutionVersion::V2_3_7, &[]),
        (EvolutionVersion::V2_4, &[LID]),
    ] {
        let scene = Scene::new();
        scene.fake.version(version).add_lid(PHONE, LID);
        let message = scene.message(scene.fake.incoming(PHONE, "Oi"));
        assert_eq!(message.peer, CANONICAL, "{version:?}");
        assert_eq!(message.aliases, aliases, "{version:?}");
        assert_eq!(message.push_name.as_deref(), Some("Maria"));
    }
}

#[test]
fn a_lid_alone_stays_a_lid() {
    let scene = Scene::new();
    let key = json!({"remoteJid": "123456:7@lid", "fromMe": false, "id": "3A0F"});
    let message = scene.message(from(key));
    assert_eq!((message.peer.as_str(), message.aliases.len()), (LID, 0));
}

#[test]
fn an_address_loses_its_server_and_its_device() {
    let scene = Scene::new();
    for written in
        ["553491234567@s.whatsapp.net", "553491234567:12@s.whatsapp.net", "553491234567@c.us"]
    {
        let key = json!({"remoteJid": written, "fromMe": false, "id": "3A0F", "participant": ""});
        assert_eq!(scene.message(from(key)).peer, CANONICAL, "{written}");
    }
}

#[test]
fn what_a_record_or_its_key_calls_the_sender_is_an_alias() {
    let scene = Scene::new();
    let mut record = from(json!({"remoteJid": LID, "fromMe": false, "id": "3A0F",
        "previousRemoteJid": LID}));
    record["senderPn"] = json!("553491234567@s.whatsapp.net");
    let message = scene.message(record);
    assert_eq!((message.peer.as_str(), message.aliases), (CANONICAL, vec![LID.to_owned()]));
}

#[test]
fn the_own_number_is_nobody_elses_alias() {
    let scene = Scene::new();
    // The connection's number is +55 (11) 98765-4000.
    for own in ["5511987654000@s.whatsapp.net", "551187654000:3@s.whatsapp.net"] {
        let key = json!({"remoteJid": LID, "remoteJidAlt": own, "senderPn": own, "fromMe": true,
            "id": "3A0F"});
        match scene.event("messages.upsert", from(key)) {
            GatewayEvent::Echo(echo) => {
                assert_eq!((echo.peer.as_str(), echo.aliases.len()), (LID, 0));
            }
            other => panic!("not an echo: {other:?}"),
        }
    }
}

#[test]
fn notes_to_oneself_are_left_out() {
    let scene = Scene::new();
    // The connection's number is +55 (11) 98765-4000.
    for own in ["5511987654000@s.whatsapp.net", "551187654000:3@s.whatsapp.net"] {
        for from_me in [true, false] {
            let key = json!({"remoteJid": own, "remoteJidAlt": "777@lid", "senderPn": own,
                "fromMe": from_me, "id": "3A0F"});
            for event in ["messages.upsert", "messages.set"] {
                assert_eq!(scene.reported(event, json!([from(key.clone())])), [], "{event} {own}");
            }
        }
    }
}

#[test]
fn a_message_in_a_group_names_the_group_and_who_wrote_it() {
    let group = "120363041234567890@g.us";
    for version in [EvolutionVersion::V2_3_6, EvolutionVersion::V2_4] {
        let scene = Scene::new();
        scene.fake.version(version).add_lid(PHONE, LID);
        let message = scene.message(scene.fake.incoming_in_group(group, PHONE, "Oi"));
        assert_eq!(message.peer, "120363041234567890@grupos.example");
        assert_eq!(message.participant.as_deref(), Some(CANONICAL), "{version:?}");
    }
    let scene = Scene::new();
    let key = json!({"remoteJid": group, "fromMe": false, "id": "3A0F", "participant": LID});
    assert_eq!(scene.message(from(key)).participant.as_deref(), Some(LID));
}

#[test]
fn statuses_broadcasts_and_newsletters_are_left_out() {
    let scene = Scene::new();
    for written in ["status@broadcast", "123@broadcast", "120363@newsletter", "0@s.whatsapp.net"] {
        let key = json!({"remoteJid": written, "fromMe": false, "id": "3A0F"});
        assert!(scene.reported("messages.upsert", from(key)).is_empty(), "{written}");
    }
}

#[test]
fn a_record_without_a_readable_key_is_kept_alone() {
    let scene = Scene::new();
    let good = json!({"remoteJid": "553491234567@s.whatsapp.net", "fromMe": false, "id": "3A0F"});
    for key in [
        Value::Null,
        json!({}),
        json!({"remoteJid": "553491234567@s.whatsapp.net", "fromMe": false}),
        json!({"remoteJid": "553491234567@s.whatsapp.net", "fromMe": false, "id": "a\u{0}b"}),
        json!({"remoteJid": "Maria", "fromMe": false, "id": "3A0F"}),
        json!({"remoteJid": "12@elsewhere", "fromMe": false, "id": "3A0F"}),
        json!({"remoteJid": "a b@g.us", "fromMe": false, "id": "3A0F"}),
    ] {
        let reported =
            scene.reported("messages.upsert", json!([from(key.clone()), from(good.clone())]));
        let [Ok(GatewayEvent::Unknown(kept)), Ok(GatewayEvent::Message(_))] = reported.as_slice()
        else {
            panic!("{key}: {reported:?}")
        };
        assert_eq!(kept.body["data"], from(key));
    }
}
