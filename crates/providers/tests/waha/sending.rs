//! The requests of sends, and the interpretation of acceptances.

use recado_core::gateway::{Content, Outgoing, SendFailure};
use recado_core::messages::DeliveryCode;
use recado_core::templates::TemplateContent;
use recado_core::transport::TransportError;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{FakeWaha, SendBehaviour, WahaEngine};
use serde_json::{Value, json};

use super::support::{LISBON, NOW, SUFFIX, Scene, connection, failure_of, message_id, raw_id};
use recado_core::gateway::Provider;
use recado_providers::waha::Waha;
use std::time::Duration;

#[tokio::test]
async fn a_text_reaches_a_person_on_every_engine() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let accepted = scene.send(1, LISBON).await.expect("accepted");
        let sent = scene.waha.accepted();
        assert_eq!(sent.len(), 1);
        assert_eq!((sent[0].chat.as_str(), sent[0].text.as_str()), ("351912345678@c.us", "Olá"));
        assert_eq!(accepted.provider_id.as_str(), sent[0].raw_id, "{engine:?}");
        assert_eq!(accepted.recipient.as_deref(), Some(LISBON), "{engine:?}");
        scene.assert_clean();
    }
}

/// R29, R113.
#[tokio::test]
async fn the_message_gets_our_id_where_the_engine_takes_one() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let accepted = scene.send(1, LISBON).await.expect("accepted");
        let is_ours = accepted.provider_id.as_str() == raw_id(1);
        assert_eq!(is_ours, engine.takes_ids(), "{engine:?}");
        assert_eq!(scene.waha.accepted()[0].is_callers_id, engine.takes_ids(), "{engine:?}");
    }
    assert_eq!(raw_id(1).len(), 32);
}

#[tokio::test]
async fn the_engine_is_asked_for_once_until_the_connection_changes() {
    let mut scene = Scene::new(WahaEngine::Gows);
    for n in 1..=3 {
        scene.send(n, LISBON).await.expect("accepted");
    }
    let sends = ["POST /api/sendText"; 3];
    assert_eq!(scene.paths(), [&["GET /api/sessions/loja1"], &sends[..]].concat());
    scene.connection.updated_at = scene.connection.updated_at.plus(Duration::from_secs(1));
    scene.send(4, LISBON).await.expect("accepted");
    assert_eq!(scene.paths()[4..], ["GET /api/sessions/loja1", "POST /api/sendText"]);
    scene.assert_clean();
}

#[tokio::test]
async fn a_webhook_reports_another_engine() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.send(1, LISBON).await.expect("accepted");
    scene.waha.set_engine(WahaEngine::Webjs);
    let _ = scene.take(&scene.waha.webhook_status("WORKING")).expect("signed");
    let accepted = scene.send(2, LISBON).await.expect("accepted");
    assert_ne!(accepted.provider_id.as_str(), raw_id(2));
    scene.assert_clean();
}

#[tokio::test]
async fn an_engine_that_is_not_reported_gets_no_id_and_the_message_goes_out() {
    let transport = ScriptedTransport::new();
    transport.then_json(500, &json!({})).then_json(201, &json!({"id": "true_351@c.us_3EB0"}));
    let waha = FakeWaha::default();
    let scene = Scene::over(waha);
    let outgoing = scene.outgoing(1, "351");
    let sent = scene.adapter.send(&transport, &scene.connection, &outgoing).await;
    assert_eq!(sent.expect("accepted").provider_id.as_str(), "3EB0");
    let body: Value = serde_json::from_slice(&transport.requests()[1].body).expect("JSON");
    assert_eq!(body, json!({"session": "loja1", "chatId": "351@c.us", "text": "Olá"}));
}

#[tokio::test]
async fn groups_are_reached_with_the_suffix_of_the_channel() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let code = format!("12036300@{SUFFIX}");
        let accepted = scene.send_to_group(1, &code).await.expect("accepted");
        assert_eq!(scene.waha.accepted()[0].chat, "12036300@g.us");
        assert_eq!((accepted.recipient, accepted.aliases), (None, Vec::new()), "{engine:?}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn a_lid_is_written_to_as_it_is() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_lid("553491234567", "123@lid");
    let accepted = scene.send(1, "123@lid").await.expect("accepted");
    assert_eq!(scene.waha.accepted()[0].chat, "123@lid");
    assert_eq!(accepted.recipient.as_deref(), Some("123@lid"));
    assert_eq!(accepted.aliases, ["553491234567"]);
    assert!(scene.paths().iter().all(|path| !path.contains("check-exists")));
    scene.assert_clean();
}

/// R113.
#[tokio::test]
async fn the_check_of_a_brazilian_mobile_changes_its_number_once() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        scene.waha.set_number("5534991234567", Some("553491234567"));
        for n in 1..=2 {
            let accepted = scene.send(n, "5534991234567").await.expect("accepted");
            assert_eq!(accepted.recipient.as_deref(), Some("553491234567"));
        }
        assert!(scene.waha.accepted().iter().all(|sent| sent.chat == "553491234567@c.us"));
        let checks = scene.paths().into_iter().filter(|path| path.contains("check-exists"));
        assert_eq!(checks.count(), 1);
        scene.assert_clean();
    }
}

#[tokio::test]
async fn a_changed_connection_has_its_numbers_checked_anew() {
    let mut scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_number("5534991234567", Some("553491234567"));
    scene.send(1, "5534991234567").await.expect("accepted");
    // Another session may have the number in its other form.
    scene.waha.set_number("5534991234567", Some("5534991234567"));
    scene.connection.updated_at = NOW.plus(Duration::from_secs(1));
    scene.send(2, "5534991234567").await.expect("accepted");
    let chats: Vec<_> = scene.waha.accepted().into_iter().map(|sent| sent.chat).collect();
    assert_eq!(chats, ["553491234567@c.us", "5534991234567@c.us"]);
    scene.assert_clean();
}

/// R113.
#[tokio::test]
async fn a_number_that_is_not_on_the_channel_is_refused_without_a_send() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_number("5534991234567", None);
    let SendFailure::Refused(failure) = failure_of(scene.send(1, "5534991234567").await) else {
        panic!("refused")
    };
    assert_eq!(failure.code, DeliveryCode::RecipientUnreachable);
    assert_eq!(scene.waha.accepted(), []);
    assert!(!scene.paths().contains(&"POST /api/sendText".to_owned()));
    scene.waha.set_number("5534991234567", Some("553491234567"));
    scene.send(2, "5534991234567").await.expect("whoever joins later is found");
}

#[tokio::test]
async fn numbers_of_elsewhere_and_landlines_are_not_checked() {
    let scene = Scene::new(WahaEngine::Gows);
    for (n, number) in [(1, LISBON), (2, "553432345678")] {
        scene.send(n, number).await.expect("accepted");
    }
    assert!(scene.paths().iter().all(|path| !path.contains("check-exists")));
}

/// R113.
#[tokio::test]
async fn a_check_that_fails_leaves_the_number_as_it_is() {
    let answers: [Result<(u16, Value), TransportError>; 4] = [
        Ok((500, json!({"statusCode": 500}))),
        Ok((200, json!({"numberExists": true}))),
        Ok((200, json!("?"))),
        Err(TransportError::TimedOut { after_sending: true }),
    ];
    for answer in answers {
        let transport = ScriptedTransport::new();
        let session = json!({"name": "loja1", "status": "WORKING", "engine": {"engine": "GOWS"}});
        transport.then_json(200, &session);
        match answer {
            Ok((status, body)) => transport.then_json(status, &body),
            Err(error) => transport.then(Err(error)),
        };
        transport.then_json(201, &json!({"id": "true_5534991234567@c.us_3EB0"}));
        let scene = Scene::new(WahaEngine::Gows);
        let outgoing = scene.outgoing(1, "5534991234567");
        let sent = scene.adapter.send(&transport, &scene.connection, &outgoing).await;
        assert_eq!(sent.expect("accepted").recipient.as_deref(), Some("5534991234567"));
        let body: Value = serde_json::from_slice(&transport.requests()[2].body).expect("JSON");
        assert_eq!(body["chatId"], "5534991234567@c.us");
    }
}

/// R133.
#[tokio::test]
async fn a_check_that_shows_a_broken_connection_stops_the_send() {
    let offline = json!({"error": "Session status is not as expected", "session": "loja1",
        "status": "FAILED", "expected": ["WORKING"]});
    for (status, body, code) in [
        (422, offline, DeliveryCode::ConnectionOffline),
        (401, json!({"message": "Unauthorized"}), DeliveryCode::Configuration),
    ] {
        let transport = ScriptedTransport::new();
        let session = json!({"name": "loja1", "status": "WORKING", "engine": {"engine": "GOWS"}});
        transport.then_json(200, &session).then_json(status, &body);
        let scene = Scene::new(WahaEngine::Gows);
        let outgoing = scene.outgoing(1, "5534991234567");
        let sent = scene.adapter.send(&transport, &scene.connection, &outgoing).await;
        let SendFailure::Connection(failure) = failure_of(sent) else { panic!("{status}") };
        assert_eq!(failure.code, code);
        assert_eq!(transport.requests().len(), 2);
    }
}

#[tokio::test]
async fn templates_and_unknown_recipients_are_refused_without_a_call() {
    let scene = Scene::new(WahaEngine::Gows);
    let content = Content::Template(TemplateContent::new("pedido", "pt_BR", [], "Olá"));
    let template = Outgoing { content, ..scene.outgoing(1, LISBON) };
    for (outgoing, code) in [
        (template, DeliveryCode::TemplateRejected),
        (scene.outgoing(1, "BR.13491208655302741918"), DeliveryCode::RecipientUnreachable),
    ] {
        let SendFailure::Refused(failure) = failure_of(scene.deliver(&outgoing).await) else {
            panic!("refused")
        };
        assert_eq!(failure.code, code);
    }
    assert!(scene.waha.requests().iter().all(|request| request.method == "GET"));
}

#[tokio::test]
async fn a_base_address_may_have_a_path_and_a_slash_at_its_end() {
    let waha = FakeWaha::default();
    waha.set_prefix("/gateways/waha");
    let mut settings = waha.settings();
    let base = settings["base_url"].as_str().expect("a text").to_owned();
    settings["base_url"] = format!("{base}/").into();
    let scene = Scene { connection: connection(&settings), ..Scene::over(waha) };
    scene.send(1, "5534991234567").await.expect("accepted");
    assert!(scene.paths().iter().all(|path| path.contains(" /gateways/waha/api/")));
    scene.assert_clean();
}

/// R133.
#[tokio::test]
async fn only_questions_may_be_repeated_and_all_requests_fit_in_the_time() {
    let transport = ScriptedTransport::new();
    transport
        .then_json(200, &json!({"status": "WORKING", "engine": {"engine": "NOWEB"}}))
        .then_json(200, &json!({"numberExists": true, "chatId": "553491234567@c.us"}))
        .then_json(201, &json!({"key": {"id": "3EB0"}}));
    let mut settings = FakeWaha::default().settings();
    settings["timeout_ms"] = 8_000.into();
    let scene = Scene { connection: connection(&settings), ..Scene::new(WahaEngine::Noweb) };
    let outgoing = scene.outgoing(1, "5534991234567");
    let sent = scene.adapter.send(&transport, &scene.connection, &outgoing).await;
    sent.expect("accepted");
    let requests = transport.requests();
    let repeatable: Vec<bool> = requests.iter().map(|request| request.repeatable).collect();
    assert_eq!(repeatable, [true, true, false]);
    assert_eq!(requests[2].max_idle, Some(Duration::from_secs(2)));
    let all: Duration = requests.iter().map(|request| request.timeout).sum();
    assert_eq!(all, Duration::from_secs(8));
    assert!(requests[2].timeout >= Duration::from_secs(4));
}

#[tokio::test]
async fn questions_that_are_answered_at_once_leave_the_send_all_of_its_time() {
    let waha = FakeWaha::default();
    let mut settings = waha.settings();
    settings["timeout_ms"] = 1_000.into();
    let scene = Scene { connection: connection(&settings), ..Scene::over(waha) };
    scene.waha.script([SendBehaviour::AcceptLate(Duration::from_millis(950))]);
    scene.send(1, "5534991234567").await.expect("it came in time");
    let questions = scene.paths().iter().filter(|path| path.starts_with("GET")).count();
    assert_eq!((questions, scene.waha.accepted().len()), (2, 1));
    scene.assert_clean();
}

#[tokio::test]
async fn a_session_that_does_not_name_its_engine_is_tried() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        scene.waha.set_reports_engine(false);
        for n in 1..=2 {
            let accepted = scene.send(n, LISBON).await.expect("accepted");
            let is_ours = accepted.provider_id.as_str() == raw_id(n);
            assert_eq!(is_ours, engine.takes_ids(), "{engine:?}");
        }
        let tried = scene.paths().into_iter().filter(|path| path.ends_with("/new-message-id"));
        assert_eq!(tried.count(), 1, "{engine:?}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn the_engine_is_read_however_the_session_writes_it() {
    for (reported, takes_ids) in [
        (json!({"engine": "GOWS"}), true),
        (json!({"name": "NOWEB"}), true),
        (json!({"gows": {"connected": true}}), true),
        (json!("noweb"), true),
        (json!({"engine": "WEBJS", "name": "GOWS"}), false),
        (json!({"WPP": {}}), false),
    ] {
        let transport = ScriptedTransport::new();
        transport.then_json(200, &json!({"status": "WORKING", "engine": reported}));
        transport.then_json(201, &json!({"id": "true_351@c.us_3EB0"}));
        let scene = Scene::new(WahaEngine::Gows);
        let outgoing = scene.outgoing(1, "351");
        let sent = scene.adapter.send(&transport, &scene.connection, &outgoing).await;
        sent.expect("accepted");
        let body: Value = serde_json::from_slice(&transport.requests()[1].body).expect("JSON");
        assert_eq!(body.get("id").is_some(), takes_ids, "{reported}");
    }
}

/// R133.
#[tokio::test]
async fn a_session_that_reports_nothing_does_not_stop_the_send() {
    for status in [401, 403, 404, 422, 500] {
        let transport = ScriptedTransport::new();
        transport.then_json(status, &json!({"message": "no"}));
        transport.then_json(201, &json!({"id": "true_351@c.us_3EB0"}));
        let scene = Scene::new(WahaEngine::Gows);
        let outgoing = scene.outgoing(1, "351");
        let sent = scene.adapter.send(&transport, &scene.connection, &outgoing).await;
        assert_eq!(sent.expect("accepted").provider_id.as_str(), "3EB0", "{status}");
    }
}

#[tokio::test]
async fn a_number_that_the_channel_reported_is_written_to_without_a_check() {
    for number in ["553491234567", "5534991234567"] {
        let scene = Scene::new(WahaEngine::Gows);
        // A check would answer that the number is not on the channel.
        scene.waha.set_number(number, None);
        let heard = scene.waha.receive(&format!("{number}@c.us"), "Maria", "Oi");
        scene.take(&scene.waha.webhook_message(&heard)).expect("signed");
        let accepted = scene.send(1, number).await.expect("accepted");
        assert_eq!(accepted.recipient.as_deref(), Some(number));
        assert_eq!(scene.waha.accepted()[0].chat, format!("{number}@c.us"));
        scene.assert_clean();
    }
    // A number in the channel's form is not checked either, by a process that has not cached it.
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_number("553491234567", None);
    scene.send(1, "553491234567").await.expect("accepted");
}

#[tokio::test]
async fn clones_of_the_adapter_share_what_they_know() {
    let scene = Scene::new(WahaEngine::Gows);
    let clone: Waha = scene.adapter.clone();
    scene.send(1, LISBON).await.expect("accepted");
    let outgoing = scene.outgoing(2, LISBON);
    clone.send(&scene.transport, &scene.connection, &outgoing).await.expect("accepted");
    assert_eq!(scene.paths().iter().filter(|path| path.starts_with("GET")).count(), 1);
    assert_eq!(outgoing.reference, message_id(2));
}
