//! Each kind of message, as the API documents it.

use recado_core::gateway::{Content, FileKind, MediaContent, MessageKind, ReactionContent};
use recado_core::messages::{DeliveryCode, Location, Offer, OfferHeader, OfferKind, SharedContact};
use recado_providers::cloud_api::CloudApi;
use recado_testkit::contents;
use recado_testkit::gateways::{FakeCloud, InProcess};
use serde_json::{Value, json};

use crate::support::*;

/// The type and the content in the request that sends this.
async fn written(content: Content) -> (String, Value) {
    let fake = FakeCloud::new();
    send_by(&fake, content).await.expect("accepted");
    let sent = fake.accepted().remove(0);
    let content = sent.body[&sent.kind].clone();
    (sent.kind, content)
}

fn of(kind: MessageKind) -> Content {
    contents::of(kind, MARIA).expect("a kind of message")
}

/// X10, X12, X13.
#[tokio::test]
async fn each_kind_is_written_as_the_api_documents_it() {
    let header = json!({"type": "text", "text": "Pedido"});
    let reply =
        |id: &str, title: &str| json!({"type": "reply", "reply": {"id": id, "title": title}});
    for (kind, name, expected) in [
        (MessageKind::Image, "image", json!({"id": "2000000000000001", "caption": "A foto"})),
        (MessageKind::Video, "video", json!({"id": "2000000000000001", "caption": "O filme"})),
        (MessageKind::Audio, "audio", json!({"id": "2000000000000001"})),
        (MessageKind::Voice, "audio", json!({"id": "2000000000000001", "voice": true})),
        (
            MessageKind::Document,
            "document",
            json!({"id": "2000000000000001", "caption": "A nota", "filename": "nota.pdf"}),
        ),
        (MessageKind::Sticker, "sticker", json!({"id": "2000000000000001"})),
        (
            MessageKind::Buttons,
            "interactive",
            json!({"type": "button", "header": header, "body": {"text": "Confirma?"},
                "footer": {"text": "Padaria do João"},
                "action": {"buttons": [reply("sim", "Sim"), reply("nao", "Não")]}}),
        ),
        (
            MessageKind::List,
            "interactive",
            json!({"type": "list", "body": {"text": "O que deseja?"}, "action": {
                "button": "Cardápio", "sections": [
                    {"title": "Pães", "rows": [
                        {"id": "p1", "title": "Francês", "description": "Quentinho"},
                        {"id": "p2", "title": "Doce"}]},
                    {"title": "Bolos", "rows": [{"id": "b1", "title": "Cenoura"}]}]}}),
        ),
        (
            MessageKind::CtaUrl,
            "interactive",
            json!({"type": "cta_url", "body": {"text": "Veja as datas."}, "action": {
                "name": "cta_url", "parameters": {"display_text": "Datas",
                    "url": "https://padaria.example/datas"}}}),
        ),
        (
            MessageKind::LocationRequest,
            "interactive",
            json!({"type": "location_request_message", "body": {"text": "Onde?"},
                "action": {"name": "send_location"}}),
        ),
        (
            MessageKind::Location,
            "location",
            json!({"latitude": "-18.918612", "longitude": "-48.277245",
                "name": "Padaria do João", "address": "Rua das Flores, 123"}),
        ),
        (
            MessageKind::Contacts,
            "contacts",
            json!([{"name": {"formatted_name": "João Silva", "first_name": "João Silva"},
                "phones": [{"phone": "+55 34 99123-4567", "wa_id": "5534991234567"}],
                "emails": [{"email": "joao@padaria.example"}],
                "org": {"company": "Padaria do João"}}]),
        ),
        (
            MessageKind::Reaction,
            "reaction",
            json!({"message_id": "wamid.IN1", "emoji": "\u{1F44D}"}),
        ),
    ] {
        assert_eq!(written(of(kind)).await, (name.to_owned(), expected), "{kind}");
    }
}

/// X10 to X14: what the API has no word for is not declared.
#[test]
fn polls_and_changes_of_messages_are_not_declared() {
    let kinds = CloudApi::description().kinds();
    for kind in MessageKind::ALL {
        let lacks = matches!(kind, MessageKind::Poll | MessageKind::Edit | MessageKind::Revoke);
        assert_eq!(kinds.contains(kind), !lacks, "{kind}");
    }
}

#[tokio::test]
async fn what_is_missing_is_left_out() {
    let place = Location { name: None, address: None, ..contents::place() };
    let (_, bare) = written(Content::Location(place)).await;
    assert_eq!(bare, json!({"latitude": "-18.918612", "longitude": "-48.277245"}));
    let card = SharedContact { name: Some("Ana".to_owned()), ..SharedContact::default() };
    let (_, bare) = written(Content::Contacts(vec![card])).await;
    assert_eq!(bare, json!([{"name": {"formatted_name": "Ana", "first_name": "Ana"}}]));
    let (_, bare) = written(contents::media(FileKind::Image, None)).await;
    assert_eq!(bare, json!({"id": "2000000000000001"}));
}

/// X13.
#[tokio::test]
async fn a_reaction_without_an_emoji_withdraws_the_one_before() {
    let target = contents::received("wamid.IN7", MARIA);
    let Content::Reaction(reaction) = of(MessageKind::Reaction) else { panic!("a reaction") };
    let withdrawn = Content::Reaction(ReactionContent { target, emoji: None, ..reaction });
    let (_, written) = written(withdrawn).await;
    assert_eq!(written, json!({"message_id": "wamid.IN7", "emoji": ""}));
}

#[tokio::test]
async fn a_quoted_message_is_the_context_of_all_but_reactions() {
    for kind in CloudApi::description().kinds() {
        let Some(content) = contents::of(kind, MARIA) else { continue };
        let fake = FakeCloud::new();
        let mut outgoing = to(MARIA, content);
        outgoing.quoted = Some(contents::received("wamid.IN3", MARIA));
        let connection = connection_with(&fake.settings(&FakeCloud::base()));
        let sent = send(&InProcess(fake.clone()), &connection, &outgoing).await;
        sent.unwrap_or_else(|failure| panic!("{kind}: {failure:?}"));
        let expected = match kind {
            MessageKind::Reaction => Value::Null,
            _ => json!({"message_id": "wamid.IN3"}),
        };
        assert_eq!(fake.accepted()[0].body["context"], expected, "{kind}");
        assert_eq!(fake.violations(), Vec::<String>::new(), "{kind}");
    }
}

/// X12.
#[tokio::test]
async fn a_file_stands_above_buttons_and_pages() {
    let plain = |offer: Offer| Offer { header: None, ..offer };
    for (offer, kind, name) in [
        (plain(contents::buttons()), FileKind::Image, "image"),
        (plain(contents::buttons()), FileKind::Document, "document"),
        (plain(contents::page()), FileKind::Video, "video"),
    ] {
        let (_, said) = written(contents::headed(offer, kind)).await;
        assert_eq!(said["header"], json!({"type": name, name: {"id": "2000000000000001"}}));
    }
}

/// R331.
#[tokio::test]
async fn what_the_api_cannot_show_is_refused_before_any_request() {
    let asked = || Offer { body: Some("Onde?".into()), ..Offer::new(OfferKind::LocationRequest) };
    let titled = OfferHeader { text: Some("Entrega".into()), ..OfferHeader::default() };
    for content in [
        contents::headed(contents::list(), FileKind::Image),
        contents::headed(asked(), FileKind::Image),
        contents::offered(Offer { header: Some(titled), ..asked() }),
        contents::offered(Offer { footer: Some("Padaria".into()), ..asked() }),
        contents::offered(contents::poll()),
    ] {
        let fake = FakeCloud::new();
        let failure = send_by(&fake, content).await.expect_err("refused");
        assert_eq!(failure.failure().code, DeliveryCode::ContentRejected, "{failure:?}");
        assert_eq!(fake.requests(), 0);
    }
}

/// A caption of sound, which the contract has none of, does not make the API refuse the message.
#[tokio::test]
async fn sound_and_stickers_go_without_a_caption() {
    for kind in [FileKind::Audio, FileKind::Sticker] {
        let (file, caption) = (contents::file(kind), Some("x".to_owned()));
        let media = MediaContent { kind, file, caption, is_voice: false };
        let (_, said) = written(Content::Media(media)).await;
        assert_eq!(said, json!({"id": "2000000000000001"}), "{kind}");
    }
}
