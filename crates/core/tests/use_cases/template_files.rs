//! Templates with a file in the header (X15).

use std::time::Duration;

use futures_util::{StreamExt, stream};
use recado_core::documents::Frames;
use recado_core::gateway::{Content, FileKind, OutgoingFile, SendFailure};
use recado_core::ids::UploadId;
use recado_core::messages::DeliveryCode;
use recado_core::query::Params;
use recado_core::sending::{Order, SendTarget};
use recado_core::store::RecordsExt;
use recado_core::templates::SentHeader;
use recado_core::transport::OutboundResponse;
use recado_core::uploads::{FileSource, FileWish, NewFile, Upload};
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::campaign_scene::Scene;
use super::dispatches::admit;
use super::shop::Shop;
use super::{code, refused};

const PHONE: &str = "+5534991230001";
const URL: &str = "https://files.example/nota.pdf";
const PDF: &[u8] = b"%PDF-1.7 a document";

async fn shop(header: &str) -> Shop {
    let shop = Shop::new().await;
    let new = json!({
        "name": "nota", "category": "UTILITY", "body": "Olá {{1}}",
        "components": {"header": {"type": header}},
    });
    shop.template(new).await;
    shop
}

async fn upload(kit: &Kit) -> UploadId {
    let file = NewFile { filename: Some("nota.pdf".to_owned()), ..NewFile::default() };
    let frames: Frames<'static> = stream::iter([Ok(PDF.to_vec())]).boxed();
    kit.app.uploads().create(&kit.caller, file, frames).await.expect("kept").id
}

fn to_ana(header: Value) -> Value {
    json!({"to": PHONE, "template": "nota", "variables": {"1": "Ana"}, "header": header})
}

fn sent_file(shop: &Shop) -> OutgoingFile {
    sent(shop).1
}

/// The file of the template that was sent last.
fn sent(shop: &Shop) -> (FileKind, OutgoingFile) {
    let outgoing = shop.kit().provider.sent().pop().expect("a send").outgoing;
    let Content::Template(content) = outgoing.content else { panic!("no template") };
    let Some(SentHeader::File(kind, file)) = content.header else { panic!("no file") };
    (kind, file)
}

#[tokio::test]
async fn the_file_is_an_upload_or_fetched_and_the_message_shows_it() {
    let shop = shop("document").await;
    let id = upload(shop.kit()).await;
    shop.kit().transport.then(Ok(OutboundResponse::new(200, PDF)));
    for header in [json!({"media_id": id}), json!({"url": URL, "filename": "nota.pdf"})] {
        let said = body(to_ana(header));
        shop.app().sending().send_template(&shop.kit().caller, &said).await.unwrap();
        let (kind, file) = sent(&shop);
        assert_eq!((kind, file.filename.as_deref()), (FileKind::Document, Some("nota.pdf")));
        assert_eq!((file.mimetype.as_str(), file.stored.size()), ("application/pdf", 19));
        let message = shop.messaging.newest().await;
        assert_eq!(
            (&message["type"], &message["content"]),
            (&json!("template"), &json!("Olá Ana"))
        );
        assert_eq!(message["media_filename"], "nota.pdf");
        assert!(message["media_url"].is_string(), "{message}");
    }
}

#[tokio::test]
async fn a_file_that_is_refused_is_named_and_leaves_nothing() {
    let shop = shop("image").await;
    let id = upload(shop.kit()).await;
    let rows = shop.model.row_count();
    let send = async |header: Value| {
        let said = body(to_ana(header));
        code(shop.app().sending().send_template(&shop.kit().caller, &said).await)
    };
    assert_eq!(send(json!({"media_id": id})).await, "MEDIA_TYPE_UNSUPPORTED");
    let nobodys = uuid::Uuid::from_u128(7);
    assert_eq!(send(json!({"media_id": nobodys})).await, "MEDIA_NOT_FOUND");
    shop.kit().transport.then(Ok(OutboundResponse::new(404, "")));
    assert_eq!(send(json!({"url": URL})).await, "MEDIA_UNREACHABLE");
    // D8: the field of the body, which has no `url`.
    shop.kit().transport.forbid("files.example");
    let said = body(to_ana(json!({"url": URL})));
    let forbidden = shop.app().sending().send_template(&shop.kit().caller, &said).await;
    let (forbidden, details) = refused(forbidden);
    assert_eq!((forbidden.as_str(), &details["fields"]), ("VALIDATION_ERROR", &json!(["header"])));
    shop.set_features(json!({"template_dispatch": true})).await;
    let new = json!({
        "name": "foto", "category": "UTILITY", "body": "Oi",
        "components": {"header": {"type": "image"}},
    });
    let admitted = admit(&shop, &shop.template(new).await).await;
    let payload = json!({"phone_number": PHONE, "header": {"media_id": id}}).to_string();
    let none = Params::new(Vec::new());
    let dispatched = shop.app().dispatches().send(&admitted, payload.as_bytes(), &none).await;
    assert_eq!(code(dispatched), "INVALID_PAYLOAD");
    assert_eq!((shop.model.row_count(), shop.calls()), (rows + 1, 0), "one more template");
}

#[tokio::test]
async fn a_campaign_fetches_its_file_once() {
    let shop = shop("document").await;
    let (templates, company) = (shop.app().templates(), shop.kit().company.id);
    let template = templates.all(company).await.unwrap().remove(0).id;
    let header = json!({"url": URL, "filename": "nota.pdf"});
    let scene = Scene::with(shop, 5, json!({})).await;
    scene.change(json!({"template_id": template, "header": header})).await;
    scene.shop.kit().transport.then(Ok(OutboundResponse::new(200, PDF)));
    let before = scene.shop.kit().transport.requests().len();
    scene.start().await;
    scene.drain().await;
    assert_eq!(scene.shown().await["counts"]["sent"], 5);
    assert_eq!(scene.shop.kit().transport.requests().len(), before + 1);
    let uploads: Vec<UploadId> = (0..5)
        .zip(scene.shop.kit().provider.sent())
        .filter_map(|(_, sent)| Some(sent.outgoing.content.file()?.upload))
        .collect();
    assert!(uploads.len() == 5 && uploads.iter().all(|id| *id == uploads[0]), "{uploads:?}");
}

/// X15, R374.
#[tokio::test]
async fn a_campaign_fetches_its_file_once_also_where_the_first_messages_are_refused() {
    let shop = shop("document").await;
    let company = shop.kit().company.id;
    let template = shop.app().templates().all(company).await.unwrap().remove(0).id;
    let scene = Scene::with(shop, 5, json!({})).await;
    scene.change(json!({"template_id": template, "header": {"url": URL}})).await;
    let (provider, transport) = (&scene.shop.kit().provider, &scene.shop.kit().transport);
    for _ in 0..2 {
        provider.then(Err(SendFailure::refused(DeliveryCode::RecipientUnreachable, "nobody")));
    }
    transport.otherwise(Ok(OutboundResponse::new(200, PDF)));
    let before = transport.requests().len();
    scene.start().await;
    scene.drain().await;
    let counts = scene.counts().await;
    assert_eq!((&counts["sent"], &counts["failed"]), (&json!(3), &json!(2)));
    assert_eq!(transport.requests().len(), before + 1);
}

/// R374.
#[tokio::test]
async fn a_file_that_others_carry_is_left_alone_when_a_send_with_it_is_refused() {
    let shop = shop("document").await;
    shop.kit().transport.then(Ok(OutboundResponse::new(200, PDF)));
    let said = body(to_ana(json!({"url": URL})));
    let sent = shop.app().sending().send_template(&shop.kit().caller, &said).await.unwrap();
    let id = sent_file(&shop).upload;
    let company = shop.kit().company.id;
    let version = async || {
        let upload = shop.model.get::<Upload>((company, id)).await.unwrap();
        upload.expect("it is kept").version()
    };
    shop.block(sent.sent.contact_id).await;
    let before = version().await;
    let order = || {
        let target = SendTarget::Contact(sent.sent.contact_id);
        Order::text(company, target, None, "Oi".to_owned())
    };
    for (source, is_touched) in [(FileSource::Shared(id), false), (FileSource::Received(id), true)]
    {
        let wish = FileWish::new(FileKind::Document, source);
        let refused = shop.app().sending().deliver_with_file(order(), Some(wish)).await;
        assert_eq!(code(refused), "CONTACT_BLOCKED");
        assert_eq!(version().await != before, is_touched);
    }
}

#[tokio::test]
async fn a_campaign_whose_file_is_refused_pauses() {
    let shop = shop("document").await;
    let (templates, company) = (shop.app().templates(), shop.kit().company.id);
    let template = templates.all(company).await.unwrap().remove(0).id;
    let scene = Scene::with(shop, 3, json!({})).await;
    scene.change(json!({"template_id": template, "header": {"url": URL}})).await;
    scene.shop.kit().transport.otherwise(Ok(OutboundResponse::new(404, "")));
    scene.start().await;
    scene.drain().await;
    let paused = ("paused".to_owned(), Some("template_variables".to_owned()));
    assert_eq!(scene.status().await, paused);
    assert_eq!(
        (scene.shown().await["counts"]["failed"].clone(), scene.shop.calls()),
        (json!(0), 0)
    );
}

/// X16, R354: an address with a field of the contact is another file for each.
#[tokio::test]
async fn each_recipient_gets_the_file_at_its_own_address() {
    let shop = shop("document").await;
    let (templates, company) = (shop.app().templates(), shop.kit().company.id);
    let template = templates.all(company).await.unwrap().remove(0).id;
    let scene = Scene::with(shop, 3, json!({})).await;
    let (app, caller) = (scene.shop.app(), &scene.shop.kit().caller);
    for (contact, city) in scene.contacts.iter().zip(["São Luís", "Recife", ""]) {
        let change = body(json!({"city": city, "name": "Ana"}));
        app.contacts().update(caller, *contact, &change).await.expect("changed");
    }
    let header = json!({
        "url": "https://files.example/{contact.city}/nota.pdf?a=1",
        "filename": "{contact.first_name}.pdf",
    });
    scene.change(json!({"template_id": template, "header": header})).await;
    let transport = &scene.shop.kit().transport;
    let own = transport.at("https://files.example/S%C3%A3o%20Lu%C3%ADs/nota.pdf?a=1");
    own.then(Ok(OutboundResponse::new(200, PDF)));
    let missing = transport.at("https://files.example/Recife/nota.pdf?a=1");
    missing.otherwise_status(404);
    scene.start().await;
    scene.drain().await;
    let of_contact = async |n: usize| scene.of_contact(scene.contacts[n]).await;
    assert_eq!(of_contact(0).await.0, "sent");
    // It says nothing about the others: the campaign goes on.
    assert_eq!(of_contact(1).await, ("failed".to_owned(), json!("MEDIA")));
    assert_eq!(of_contact(2).await, ("skipped".to_owned(), json!("EMPTY_VARIABLE")));
    assert_eq!(scene.status().await, ("finished".to_owned(), None));
    let (kind, file) = sent(&scene.shop);
    assert_eq!((kind, file.filename.as_deref()), (FileKind::Document, Some("Ana.pdf")));
    assert_eq!(scene.shop.calls(), 1);
}

/// X16, R371.
#[tokio::test]
async fn a_campaign_whose_hours_end_while_its_file_is_fetched_sends_nothing_before_the_next() {
    const MINUTE: Duration = Duration::from_secs(60);
    let shop = shop("document").await;
    let company = shop.kit().company.id;
    let template = shop.app().templates().all(company).await.unwrap().remove(0).id;
    let zone = body(json!({"time_zone": "UTC"}));
    shop.app().access().change_company(company, &zone).await.unwrap();
    let scene = Scene::with(shop, 3, json!({})).await;
    let now = scene.shop.now();
    let clock_shows = |at: recado_core::Timestamp| at.to_string()[11..16].to_owned();
    let hours = json!({"from": clock_shows(now), "to": clock_shows(now.plus(MINUTE))});
    let header = json!({"url": URL});
    scene.change(json!({"template_id": template, "header": header, "send_between": hours})).await;
    let (clock, receiver) = (scene.shop.kit().clock.clone(), scene.shop.kit().transport.at(URL));
    receiver.otherwise(Ok(OutboundResponse::new(200, PDF)));
    receiver.on_request(move |_| clock.advance(MINUTE));
    scene.start().await;
    scene.drain().await;
    assert_eq!((receiver.requests().len(), scene.shop.calls()), (1, 0));
    assert_eq!(scene.statuses().await, [("waiting", 3)].into());
    assert_eq!(scene.status().await, ("running".to_owned(), None));
    receiver.on_request(|_| {});
    scene.shop.advance(MINUTE * (24 * 60 - 1));
    scene.drain().await;
    assert_eq!((scene.status().await.0.as_str(), scene.shop.calls()), ("finished", 3));
}
