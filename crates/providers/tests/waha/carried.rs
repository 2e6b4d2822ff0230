//! What a connection carries, by its engine.

use recado_core::gateway::{FileKind, MessageKind, Provider};
use recado_providers::waha::Waha;
use recado_testkit::gateways::{SendBehaviour, WahaEngine};
use serde_json::json;

use super::support::{LISBON, Scene, connection};

/// What only some engines carry.
const SOME: [MessageKind; 3] = [MessageKind::List, MessageKind::Buttons, MessageKind::CtaUrl];

fn some(scene: &Scene) -> Vec<MessageKind> {
    let kinds = scene.adapter.kinds(&scene.connection).into_iter();
    kinds.filter(|kind| SOME.contains(kind)).collect()
}

/// R335.
#[tokio::test]
async fn a_connection_carries_what_its_engine_does_once_that_is_known() {
    for (engine, expected) in [
        (WahaEngine::Webjs, &SOME[..0]),
        (WahaEngine::Gows, &SOME[..1]),
        (WahaEngine::Noweb, &SOME[..]),
    ] {
        let scene = Scene::new(engine);
        assert_eq!(some(&scene), [], "{engine:?}: nobody told the engine yet");
        let status = scene.adapter.status(&scene.transport, &scene.connection).await;
        status.expect("it answers");
        assert_eq!(some(&scene), expected, "{engine:?}: by the session");
        let scene = Scene::new(engine);
        let _ = scene.take(&scene.waha.webhook_status("WORKING")).expect("signed");
        assert_eq!(some(&scene), expected, "{engine:?}: by a webhook");
    }
}

/// R335.
#[tokio::test]
async fn the_setting_says_the_engine_until_the_gateway_does() {
    let mut scene = Scene::new(WahaEngine::Gows);
    let mut settings = scene.waha.settings();
    for (word, expected) in
        [("NOWEB", &SOME[..]), ("gows", &SOME[..1]), ("WPP", &[]), ("FUTURE", &[])]
    {
        settings["engine"] = word.into();
        scene.connection = connection(&settings);
        assert_eq!(some(&scene), expected, "{word}");
    }
    settings["engine"] = "NOWEB".into();
    scene.connection = connection(&settings);
    scene.send(1, LISBON).await.expect("accepted");
    assert_eq!(some(&scene), [MessageKind::List], "the session reported GOWS");
}

/// R335.
#[tokio::test]
async fn the_setting_counts_where_the_session_says_nothing() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_reports_engine(false);
    let mut settings = scene.waha.settings();
    settings["engine"] = json!("GOWS");
    let scene = Scene { connection: connection(&settings), ..scene };
    scene.send(1, LISBON).await.expect("accepted");
    assert!(scene.waha.accepted()[0].is_callers_id);
    assert!(scene.paths().iter().all(|path| !path.contains("new-message-id")));
    scene.assert_clean();
}

#[test]
fn every_engine_carries_all_but_templates_sound_and_requests_for_a_place() {
    let scene = Scene::new(WahaEngine::Webjs);
    let kinds = scene.adapter.kinds(&scene.connection);
    let missing = MessageKind::ALL.iter().filter(|kind| !kinds.contains(kind));
    let expected = [
        MessageKind::Template,
        MessageKind::Audio,
        MessageKind::Buttons,
        MessageKind::List,
        MessageKind::CtaUrl,
        MessageKind::LocationRequest,
    ];
    assert_eq!(missing.copied().collect::<Vec<_>>(), expected);
    let described = Waha::description().kinds();
    assert!(SOME.iter().chain(&kinds).all(|kind| described.contains(kind)));
}

#[test]
fn a_file_at_its_limit_fits_into_the_body_that_waha_reads() {
    let limit = Waha::description().limit_of(FileKind::Document).expect("a limit");
    let body = limit.div_ceil(3) * 4;
    let most = 50 * 1024 * 1024;
    // What is left has room for a caption, a name and the ids.
    assert!(body + 128 * 1024 < most && body + 1024 * 1024 > most);
    assert_eq!(Waha::description().limit_of(FileKind::Video), None);
}

/// R335.
#[tokio::test]
async fn a_failed_send_does_not_change_what_is_carried() {
    let scene = Scene::new(WahaEngine::Noweb);
    scene.waha.script([SendBehaviour::Error(500, json!({}))]);
    scene.send(1, LISBON).await.expect_err("it fails");
    assert_eq!(some(&scene), SOME);
    scene.waha.set_engine(WahaEngine::Gows);
    scene.send(2, LISBON).await.expect("accepted");
    assert_eq!(some(&scene), [MessageKind::List], "the session was read again");
}
