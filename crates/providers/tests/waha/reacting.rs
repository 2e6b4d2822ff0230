//! Reactions, changes of messages, marks as read, and who is typing.

use recado_core::gateway::{
    Content, Edit, GatewayEvent, MessageName, Provider, ProviderError, ReactionContent,
    SendFailure, Typing, TypingIn,
};
use recado_core::groups::GroupCode;
use recado_core::messages::ProviderMessageId;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{SendBehaviour, WahaAct, WahaEngine};
use serde_json::{Value, json};

use super::support::{LISBON, NOW, SUFFIX, Scene, failure_of, message_id};

fn name(raw: &str, is_ours: bool) -> MessageName {
    MessageName {
        provider_id: ProviderMessageId::parse(raw).expect("an id"),
        chat: LISBON.to_owned(),
        is_ours,
        participant: None,
        content: None,
    }
}

fn raw(message: &Value) -> String {
    let id = message["id"].as_str().expect("an id");
    id.split('_').nth(2).expect("a raw id").to_owned()
}

fn reaction(target: MessageName, emoji: Option<&str>) -> Content {
    let emoji = emoji.map(str::to_owned);
    Content::Reaction(ReactionContent { message: message_id(50), target, emoji })
}

fn edit(text: &str) -> Edit {
    Edit { text: text.to_owned(), is_caption: false }
}

#[tokio::test]
async fn a_reaction_names_its_message_and_is_withdrawn_by_an_empty_one() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let heard = scene.waha.receive("351912345678@c.us", "Ana", "Oi");
        for (n, emoji, written) in [(1, Some("👍"), "👍"), (2, None, "")] {
            let content = reaction(name(&raw(&heard), false), emoji);
            let accepted = scene.send_content(n, LISBON, content).await.expect("accepted");
            let sent = scene.waha.accepted().pop().expect("a reaction");
            let expected = json!({"session": "loja1", "messageId": heard["id"],
                "reaction": written});
            assert_eq!((&*sent.route, sent.body), ("reaction", expected), "{engine:?}");
            if engine.takes_ids() {
                assert_eq!(accepted.provider_id.as_str(), sent.raw_id);
            } else {
                assert!(accepted.provider_id.as_str().starts_with("reaction/"), "{engine:?}");
            }
        }
        assert_eq!(scene.waha.accepted().len(), 2);
        scene.assert_clean();
    }
}

/// R336.
#[tokio::test]
async fn an_engine_that_drives_a_browser_is_asked_for_the_whole_id() {
    let scene = Scene::new(WahaEngine::Webjs);
    let code = format!("12036300@{SUFFIX}");
    let heard = scene.waha.receive_in_group("12036300@g.us", "9@lid", "Ana", "Oi");
    // The core knows the writer by the phone; the browser knows the LID.
    let target = MessageName {
        chat: code,
        participant: Some(LISBON.to_owned()),
        ..name(&raw(&heard), false)
    };
    scene.send_content(1, LISBON, reaction(target, Some("👍"))).await.expect("accepted");
    assert_eq!(scene.waha.accepted()[0].body["messageId"], heard["id"]);
    let gone = reaction(name("3EB0AAAA", false), Some("👍"));
    let failure = failure_of(scene.send_content(2, LISBON, gone).await);
    assert!(matches!(failure, SendFailure::Refused(_)), "{failure:?}");
    assert_eq!(scene.waha.accepted().len(), 1, "the engine would have said nothing");
    scene.assert_clean();
}

#[tokio::test]
async fn in_a_group_the_writer_is_named_too() {
    let scene = Scene::new(WahaEngine::Gows);
    let heard = scene.waha.receive_in_group("12036300@g.us", "351912345678@c.us", "Ana", "Oi");
    let target = MessageName {
        chat: format!("12036300@{SUFFIX}"),
        participant: Some(LISBON.to_owned()),
        ..name(&raw(&heard), false)
    };
    scene.send_content(1, LISBON, reaction(target, Some("👍"))).await.expect("accepted");
    assert_eq!(scene.waha.accepted()[0].body["messageId"], heard["id"]);
    scene.assert_clean();
}

#[tokio::test]
async fn reactions_that_fail_or_get_lost_end_as_texts_do() {
    for engine in [WahaEngine::Gows, WahaEngine::Webjs] {
        for (behaviour, refused) in [
            (SendBehaviour::Error(422, json!({"message": "no"})), true),
            (SendBehaviour::Error(500, json!({})), false),
            (SendBehaviour::AcceptThenDrop, false),
            (SendBehaviour::Broken(200), false),
        ] {
            let scene = Scene::new(engine);
            let heard = scene.waha.receive("351912345678@c.us", "Ana", "Oi");
            scene.waha.script([behaviour.clone()]);
            let content = reaction(name(&raw(&heard), false), Some("👍"));
            let failure = failure_of(scene.send_content(1, LISBON, content).await);
            assert_eq!(matches!(failure, SendFailure::Refused(_)), refused, "{behaviour:?}");
            assert_eq!(failure.failure().is_uncertain(), !refused, "{engine:?} {behaviour:?}");
        }
    }
}

#[tokio::test]
async fn a_quote_names_the_message_by_its_whole_id() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let heard = scene.waha.receive("351912345678@c.us", "Ana", "Oi");
        let mut outgoing = scene.outgoing(1, LISBON);
        outgoing.quoted = Some(name(&raw(&heard), false));
        scene.deliver(&outgoing).await.expect("accepted");
        assert_eq!(scene.waha.accepted()[0].body["reply_to"], heard["id"], "{engine:?}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn a_quote_that_the_browser_does_not_have_is_left_out() {
    let scene = Scene::new(WahaEngine::Webjs);
    let mut outgoing = scene.outgoing(1, LISBON);
    outgoing.quoted = Some(name("3EB0AAAA", false));
    scene.deliver(&outgoing).await.expect("accepted");
    assert_eq!(scene.waha.accepted()[0].body.get("reply_to"), None);
    scene.assert_clean();
}

#[tokio::test]
async fn own_messages_are_changed_and_taken_back_on_every_engine() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let accepted = scene.send(1, LISBON).await.expect("accepted");
        let of = name(accepted.provider_id.as_str(), true);
        let id = format!("true_351912345678@c.us_{}", accepted.provider_id.as_str());
        let (transport, connection) = (&scene.transport, &scene.connection);
        for _ in 0..2 {
            scene.adapter.edit(transport, connection, &of, &edit("Oi!")).await.expect("changed");
            scene.adapter.revoke(transport, connection, &of).await.expect("taken back");
        }
        let edited = WahaAct::Edited { id: id.clone(), text: "Oi!".to_owned() };
        let revoked = WahaAct::Revoked { id };
        let expected = [edited.clone(), revoked.clone(), edited, revoked];
        assert_eq!(scene.waha.acts(), expected, "{engine:?}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn a_change_that_the_browser_does_not_make_is_refused() {
    let scene = Scene::new(WahaEngine::Webjs);
    let gone = name("3EB0AAAA", true);
    let (transport, connection) = (&scene.transport, &scene.connection);
    let edited = scene.adapter.edit(transport, connection, &gone, &edit("x")).await;
    let revoked = scene.adapter.revoke(transport, connection, &gone).await;
    for result in [edited, revoked] {
        assert!(matches!(result, Err(SendFailure::Refused(_))), "{result:?}");
    }
    assert_eq!(scene.waha.acts(), []);
    // It has the message, and the channel lets it be changed no more.
    let transport = ScriptedTransport::new();
    let id = "true_351912345678@c.us_3EB0AAAA";
    transport.then_json(200, &json!({"status": "WORKING", "engine": {"engine": "WEBJS"}}));
    transport.then_json(200, &json!([{"id": id, "fromMe": true}]));
    transport.then_json(200, &Value::Null);
    let edited = scene.adapter.edit(&transport, connection, &gone, &edit("x")).await;
    assert!(matches!(edited, Err(SendFailure::Refused(_))), "{edited:?}");
}

#[tokio::test]
async fn changes_that_fail_or_get_lost_end_as_sends_do() {
    for (behaviour, class) in [
        (SendBehaviour::Error(422, json!({"message": "no"})), "refused"),
        (SendBehaviour::Error(404, json!({"message": "Message not found"})), "refused"),
        (SendBehaviour::Error(401, json!({})), "connection"),
        (SendBehaviour::Error(500, json!({})), "uncertain"),
        (SendBehaviour::AcceptThenDrop, "uncertain"),
        (SendBehaviour::Refuse, "unreachable"),
    ] {
        for is_edit in [true, false] {
            let scene = Scene::new(WahaEngine::Gows);
            let sent = scene.send(1, LISBON).await.expect("accepted");
            let of = name(sent.provider_id.as_str(), true);
            scene.waha.script([behaviour.clone()]);
            let (transport, connection) = (&scene.transport, &scene.connection);
            let result = match is_edit {
                true => scene.adapter.edit(transport, connection, &of, &edit("x")).await,
                false => scene.adapter.revoke(transport, connection, &of).await,
            };
            let found = match result.expect_err("it fails") {
                SendFailure::Refused(_) => "refused",
                SendFailure::Connection(_) => "connection",
                SendFailure::Unreachable(_) => "unreachable",
                failure if failure.failure().is_uncertain() => "uncertain",
                _ => "another",
            };
            assert_eq!(found, class, "{behaviour:?}");
        }
    }
}

/// X14: what we changed comes back as an event, which changes the same message once more.
#[tokio::test]
async fn own_changes_that_come_back_name_the_message_that_was_changed() {
    let scene = Scene::new(WahaEngine::Gows);
    let own = |fields: Value| {
        let mut payload = json!({"id": "true_351912345678@c.us_3EB0B", "fromMe": true,
            "from": "551140028922@c.us", "to": "351912345678@c.us", "source": "api",
            "timestamp": NOW.millis() / 1000, "hasMedia": false, "_data": {}});
        for (name, value) in fields.as_object().expect("an object") {
            payload[name] = value.clone();
        }
        payload
    };
    let edited = own(json!({"editedMessageId": "3EB0A", "body": "Oi!"}));
    let GatewayEvent::Edit { provider_id, content, .. } = scene.event("message.edited", &edited)
    else {
        panic!("an edit")
    };
    assert_eq!((provider_id.as_str(), content.as_str()), ("3EB0A", "Oi!"));
    let revoked = json!({"after": own(json!({})), "before": null, "revokedMessageId": "3EB0A"});
    let GatewayEvent::Deleted { provider_id, .. } = scene.event("message.revoked", &revoked) else {
        panic!("a deletion")
    };
    assert_eq!(provider_id.as_str(), "3EB0A");
}

#[tokio::test]
async fn a_message_and_what_came_before_it_are_marked_as_read() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let heard: Vec<Value> = (0..3)
            .map(|n| {
                scene.waha.set_now(NOW.plus(std::time::Duration::from_secs(n)));
                scene.waha.receive("351912345678@c.us", "Ana", "Oi")
            })
            .collect();
        scene.send(1, LISBON).await.expect("accepted");
        let of = name(&raw(&heard[1]), false);
        let (transport, connection) = (&scene.transport, &scene.connection);
        scene.adapter.mark_read(transport, connection, &of).await.expect("marked");
        let [WahaAct::Seen { ids }] = &scene.waha.acts()[..] else { panic!("one mark") };
        // A browser marks the whole chat, whatever is named.
        let expected = if engine.takes_ids() { &heard[..2] } else { &heard[1..2] };
        let mut expected: Vec<&str> = expected.iter().filter_map(|it| it["id"].as_str()).collect();
        let mut ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        expected.sort_unstable();
        ids.sort_unstable();
        assert_eq!(ids, expected, "{engine:?}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn without_a_list_of_messages_the_one_is_marked() {
    let scene = Scene::new(WahaEngine::Gows);
    let transport = ScriptedTransport::new();
    transport.then_json(500, &json!({})).then_json(201, &json!(null));
    let of = name("3EB0A", false);
    scene.adapter.mark_read(&transport, &scene.connection, &of).await.expect("marked");
    let body: Value = serde_json::from_slice(&transport.requests()[1].body).expect("JSON");
    assert_eq!(body["messageIds"], json!(["false_351912345678@c.us_3EB0A"]));
}

#[tokio::test]
async fn typing_and_recording_are_shown_and_taken_back() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let (transport, connection) = (&scene.transport, &scene.connection);
        let whose = TypingIn { recipient: LISBON.to_owned(), group: None, last_inbound: None };
        for state in [Typing::Text, Typing::Recording, Typing::Paused] {
            let shown = scene.adapter.typing(transport, connection, &whose, state).await;
            shown.expect("shown");
            let expected = WahaAct::Presence {
                chat: "351912345678@c.us".to_owned(),
                state: state.as_str().to_owned(),
            };
            assert_eq!(scene.waha.acts().pop(), Some(expected), "{engine:?}");
        }
        let code = format!("12036300@{SUFFIX}");
        let group = GroupCode::parse(&code, SUFFIX);
        let whose = TypingIn { recipient: code, group, last_inbound: None };
        scene.adapter.typing(transport, connection, &whose, Typing::Text).await.expect("shown");
        let last = scene.waha.acts().pop();
        assert!(matches!(last, Some(WahaAct::Presence { chat, .. }) if chat == "12036300@g.us"));
        scene.assert_clean();
    }
}

#[tokio::test]
async fn what_an_engine_does_not_have_is_not_done() {
    let scene = Scene::new(WahaEngine::Gows);
    let transport = ScriptedTransport::new();
    transport.then_json(501, &json!({"message": "The method is not implemented"}));
    let whose = TypingIn { recipient: LISBON.to_owned(), group: None, last_inbound: None };
    let shown = scene.adapter.typing(&transport, &scene.connection, &whose, Typing::Text).await;
    assert_eq!(shown, Err(ProviderError::Unsupported));
    scene.waha.set_up(false);
    let failed =
        scene.adapter.typing(&scene.transport, &scene.connection, &whose, Typing::Text).await;
    assert!(matches!(failed, Err(ProviderError::Failed(_))), "{failed:?}");
}
