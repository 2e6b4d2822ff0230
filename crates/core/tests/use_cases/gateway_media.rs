//! Files of received messages, as gateways return them (D31a).

use std::sync::Arc;

use async_trait::async_trait;
use recado_core::connections::{Connection, GatewayDescription, GatewayName, Setting};
use recado_core::documents::MAX_DOCUMENT_BYTES;
use recado_core::gateway::{
    EventMedia, GatewayEvent, GatewayMessage, MediaFile, Outgoing, Provider, ProviderError,
    ProviderWebhook, Providers, SendFailure, SendResult, WebhookRefused,
};
use recado_core::ids::{CompanyId, MessageId};
use recado_core::jobs::JobKind;
use recado_core::messages::MessageType;
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport};
use recado_testkit::{Kit, ScriptedTransport};
use serde_json::{Value, json};

use super::gateway_scene::*;
use super::messaging::Messaging;

const SOURCE: &str = "evolution-media:3EB0AB";

/// A contact that has sent a picture, which only the gateway has.
async fn picture() -> Scene {
    let scene = scene("evolution").await;
    let media = EventMedia {
        url: Some(SOURCE.to_owned()),
        mimetype: Some("image/jpeg".to_owned()),
        ..EventMedia::default()
    };
    let reported = GatewayMessage {
        message_type: MessageType::Image,
        content: None,
        media: Some(media),
        ..text("m1", PEER, "")
    };
    scene.call(here([Ok(GatewayEvent::Message(reported))])).await.unwrap();
    scene
}

/// Whether the file of the message is here; null where nothing leads to one any more.
async fn file(scene: &Scene) -> Value {
    let message = scene.messaging.newest().await;
    let Some(link) = message["media_url"].as_str() else { return Value::Null };
    let parts: Vec<&str> = link.rsplitn(4, '/').collect();
    let (company, id) = (CompanyId::parse(parts[2]).unwrap(), MessageId::parse(parts[1]).unwrap());
    Value::Bool(scene.kit.app.messages().linked_file(company, id, parts[0]).await.is_ok())
}

fn fetches(scene: &Scene) -> usize {
    scene.waiting(|kind| matches!(kind, JobKind::FetchMedia { .. }))
}

#[tokio::test]
async fn a_file_that_the_gateway_hands_over_becomes_a_document() {
    let scene = picture().await;
    assert_eq!(file(&scene).await, false);
    scene.kit.provider.set_media(Ok(MediaFile::Bytes(b"jpeg".to_vec())));
    scene.work().await;
    assert_eq!(scene.kit.provider.fetched(), [SOURCE]);
    assert_eq!(file(&scene).await, true);
    assert!(scene.kit.transport.requests().is_empty());
    assert_eq!(fetches(&scene), 0);
}

#[tokio::test]
async fn a_file_that_lies_elsewhere_is_fetched_from_there() {
    let scene = picture().await;
    let address = "https://cdn.example/1.jpg";
    scene.kit.provider.set_media(Ok(MediaFile::At(address.to_owned())));
    scene.kit.transport.then(Ok(OutboundResponse::new(200, b"jpeg".to_vec())));
    scene.work().await;
    let asked: Vec<String> =
        scene.kit.transport.requests().into_iter().map(|request| request.url).collect();
    assert_eq!(asked, [address]);
    assert_eq!(file(&scene).await, true);
}

#[tokio::test]
async fn a_file_that_is_gone_is_given_up_at_once() {
    let scene = picture().await;
    scene.kit.provider.set_media(Ok(MediaFile::Gone));
    scene.work().await;
    assert_eq!((fetches(&scene), file(&scene).await), (0, Value::Null));
    assert_eq!(scene.kit.provider.fetched().len(), 1);
}

#[tokio::test]
async fn a_gateway_that_fails_is_asked_again() {
    let scene = picture().await;
    scene.kit.provider.set_media(Err(ProviderError::Failed("timeout".to_owned())));
    scene.work().await;
    assert_eq!((fetches(&scene), file(&scene).await), (1, false.into()));
    scene.kit.provider.set_media(Ok(MediaFile::Bytes(b"jpeg".to_vec())));
    scene.after(4).await;
    assert_eq!(scene.kit.provider.fetched().len(), 1);
    scene.after(1).await;
    assert_eq!(file(&scene).await, true);
}

#[tokio::test]
async fn a_file_that_is_too_large_is_left_with_the_gateway() {
    let scene = picture().await;
    scene.kit.provider.set_media(Ok(MediaFile::Bytes(vec![0; MAX_DOCUMENT_BYTES + 1])));
    scene.work().await;
    assert_eq!((fetches(&scene), file(&scene).await), (0, Value::Null));
}

#[tokio::test]
async fn a_file_goes_to_whom_its_message_belongs_to_when_it_is_fetched() {
    let scene = picture().await;
    let company = scene.kit.company.id;
    let goes = scene.messaging.newest().await["contact_id"].as_str().unwrap().to_owned();
    let goes = recado_core::ids::ContactId::parse(&goes).unwrap();
    let keeps = super::create_phone(&scene.kit, "+5534991230009").await;
    scene.kit.app.contacts().merge(company, keeps, goes).await.unwrap();
    scene.kit.provider.set_media(Ok(MediaFile::Bytes(b"jpeg".to_vec())));
    scene.work().await;
    assert_eq!(file(&scene).await, true);
    assert_eq!(scene.kit.app.documents().list(company, keeps).await.unwrap().len(), 1);
}

/// A gateway with an address in its settings, whose adapter fetches any file by itself.
struct Fetching;

#[async_trait]
impl Provider for Fetching {
    fn describe(&self) -> GatewayDescription {
        GatewayDescription::new(GatewayName::new("house")).setting(Setting::url("base_url"))
    }

    async fn send(&self, _: &dyn Transport, _: &Connection, _: &Outgoing) -> SendResult {
        Err(SendFailure::uncertain("nothing is sent here"))
    }

    async fn media(
        &self,
        transport: &dyn Transport,
        _: &Connection,
        source: &str,
        _: usize,
    ) -> Result<MediaFile, ProviderError> {
        let answer = transport.send(OutboundRequest::get(source)).await;
        let answer = answer.map_err(|error| ProviderError::Failed(error.to_string()))?;
        Ok(MediaFile::Bytes(answer.body))
    }

    fn admit(&self, _: &Connection, _: &ProviderWebhook) -> Result<(), WebhookRefused> {
        Err(WebhookRefused::Unsupported)
    }
}

/// R231.
#[tokio::test]
async fn an_adapter_reaches_what_only_gateways_may_reach_at_its_own_address_alone() {
    for (settings, source, by_gateways) in [
        (json!({"base_url": "http://10.0.0.1:3000/x"}), "http://10.0.0.1:3000/y", true),
        (json!({"base_url": "http://10.0.0.1:3000/x"}), "HTTP://10.0.0.1:3000?y", true),
        (json!({"base_url": "http://10.0.0.1:3000/x"}), "http://10.0.0.1:3001/x", false),
        (json!({"base_url": "http://10.0.0.1:3000/x"}), "https://10.0.0.1:3000/x", false),
        (json!({"base_url": "http://10.0.0.1:3000/x"}), "http://10.0.0.2:3000/x", false),
        (json!({"base_url": "http://10.0.0.1:3000/x"}), "http://10.0.0.1:3000@a.example/", false),
        (json!({}), "http://10.0.0.1:3000/x", false),
    ] {
        let (gateways, others) = (ScriptedTransport::new(), ScriptedTransport::new());
        let kit = Kit::builder()
            .providers(Providers::none().with(Arc::new(Fetching)))
            .gateway_transport(gateways.clone())
            .transport(others.clone())
            .build()
            .await;
        let connection = connect(&kit, "house", json!({ "settings": settings })).await;
        let messaging = Messaging { kit: kit.clone(), connection };
        messaging
            .tell(json!({"kind": "message", "provider_message_id": "m1", "from": PEER,
                "type": "image", "media": {"url": source, "mimetype": "image/jpeg"}}))
            .await;
        while kit.app.jobs().run_one().await.unwrap() {}
        let asked = |transport: &ScriptedTransport| {
            transport.requests().iter().filter(|request| request.url == source).count() > 0
        };
        assert_eq!((asked(&gateways), asked(&others)), (by_gateways, !by_gateways), "{source}");
    }
}
