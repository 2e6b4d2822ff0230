//! Templates with a file in the header (X15).

use futures_util::{StreamExt, stream};
use recado_core::documents::Frames;
use recado_core::gateway::{Content, FileKind, OutgoingFile};
use recado_core::ids::UploadId;
use recado_core::query::Params;
use recado_core::templates::SentHeader;
use recado_core::transport::OutboundResponse;
use recado_core::uploads::NewFile;
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::campaign_scene::Scene;
use super::code;
use super::dispatches::admit;
use super::shop::Shop;

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
