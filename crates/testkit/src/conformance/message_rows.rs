//! Messages are read back as they were stored.

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::contacts::{Contact, Phone, Region};
use recado_core::ids::{DocumentId, LedgerLineId, MessageId, UploadId};
use recado_core::messages::{
    Blocks, DeliveryCode, Direction, ErrorType, Failure, Media, Message, MessageFilter,
    MessageStatus, MessageType, Participant, Quoted, SenderType,
};
use recado_core::page::PageRequest;
use recado_core::prosas::{Brl, Prosa, ProsaScope, Prosas};
use recado_core::templates::TemplateCategory;

use super::Harness;
use super::call_site::assert_same;
use super::channel_rows::{AWKWARD, filled};
use super::channel_scene::wamid;
use super::scene::{Scene, at, first};

/// A message in which no field has its default value.
pub(super) fn full_message(scene: &Scene, contact: &Contact, connection: &Connection) -> Message {
    Message {
        message_type: MessageType::Document,
        sender_type: SenderType::Campaign,
        status: MessageStatus::Failed,
        failure: Some(Failure {
            error_type: ErrorType::DeliveryUncertain,
            code: DeliveryCode::MarketingLimited,
            message: filled("(#131049) não"),
        }),
        content: filled("olá \"você\"\n🥖"),
        media: Media {
            url: filled("https://example.com/a?b=c&d=%20"),
            source: filled("media:1234"),
            document: Some(DocumentId::new(scene.uuid())),
            upload: Some(UploadId::new(scene.uuid())),
            mimetype: filled("application/pdf"),
            filename: filled("orçamento \"final\".pdf"),
            caption: filled("veja"),
        },
        blocks: full_blocks(scene),
        provider_id: Some(wamid("wamid.HBgM==/+é")),
        external_id: filled("crm-1"),
        quoted: Quoted {
            message: Some(MessageId::new(scene.uuid())),
            content: filled("antes"),
            message_type: Some(MessageType::Sticker),
        },
        participant: Some(Participant {
            identifier: "5511987654321@c.us".to_owned(),
            phone: Phone::parse("+5511987654321", &Region::br()).ok(),
            name: filled("Rita \"é\""),
        }),
        template_category: Some(TemplateCategory::Authentication),
        prosa: Some(Prosa {
            consumption_id: LedgerLineId::new(scene.uuid()),
            prosas: Prosas::from_units(1_000_000_000_000),
            cost: Brl::from_units(1_000_000_000_000_001),
            scope: ProsaScope::Turn,
        }),
        is_history: true,
        edited_at: Some(at(4)),
        sender: Some(scene.worker(0).id),
        created_at: at(2),
        timestamp: at(-3),
        ..scene.outbound(contact, connection, 0)
    }
}

/// Blocks of which each has a value, with texts that are awkward to write.
fn full_blocks(scene: &Scene) -> Blocks {
    let price = || serde_json::json!({"amount": "10.50", "currency": "BRL"});
    let answered = MessageId::new(scene.uuid());
    let blocks = serde_json::json!({
        "location": {"latitude": -23.561_684, "longitude": 46, "name": "Café \"é\"",
            "address": "Rua A\nn. 1", "url": "https://example.com/?a=b&c", "is_live": true},
        "shared_contacts": [{"name": "Ana", "phones": [{"number": "+55", "type": "CELL"}],
            "emails": [{"email": "a@example.com", "type": null}], "organization": "Loja",
            "title": "Dona", "urls": ["https://example.com"], "addresses": ["Rua A"],
            "birthday": "2000-01-31"}],
        "interactive": {"kind": "flow_reply", "id": "1", "title": "t", "description": "d",
            "payload": "p", "response": {"Nome": "Ana", "n": [1, 2.5, true, null]},
            "in_reply_to": answered},
        "order": {"catalog_id": "c", "text": "olá", "items": [{"product_id": "p",
            "name": "Pão 🥖", "quantity": 3, "price": price()}], "total": price()},
        "product": {"catalog_id": "c", "product_id": "p", "name": "n", "price": price()},
        "referral": {"source_type": "ad", "source_id": "1", "source_url": "u", "headline": "h",
            "body": "b", "media_url": "m", "click_id": "k"},
        "reaction": {"emoji": "👍🏽", "message_id": answered, "provider_message_id": "w"},
        "system": {"kind": "number_changed", "from": "1", "to": "2", "text": "novo"},
        "unsupported": {"reason": "r", "provider_type": "t"},
        "forwarded": "often",
        "is_voice": true,
        "deleted_by_sender_at": at(5),
    });
    serde_json::from_value(blocks).expect("blocks")
}

/// Reads a message in every possible way.
async fn assert_reads_back(scene: &Scene, wanted: &Message) {
    let stored = scene.message_now(wanted.id).await.expect("the message is there");
    assert_same(stored.value(), wanted);
    let (filter, request) = (MessageFilter::default(), PageRequest { page: 1, limit: 100 });
    let page = scene.store.message_page(scene.company, &filter, request).await;
    let page = page.expect("the store works");
    let listed = page.items.iter().find(|record| record.message.id == wanted.id);
    assert_same(&listed.expect("the message is listed").message, wanted);
}

/// Every read gives back all fields of a message.
pub async fn every_field_of_a_message_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let (full, plain) =
        (full_message(&scene, &contact, &connection), scene.inbound(&contact, &connection, 0));
    scene.add_all([full.clone(), plain.clone()]).await;
    assert_reads_back(&scene, &full).await;
    assert_reads_back(&scene, &plain).await;
    let reference = scene.reference(&full, "w1");
    scene.add(reference).await;
    let found = scene.store.referred(scene.company, connection.id, &[wamid("w1")]).await;
    let found = found.expect("the store works").pop().expect("the reference is there");
    assert_same(found.message.expect("the message is there").value(), &full);
    let mut pending = full.clone();
    (pending.id, pending.status) = (MessageId::new(scene.uuid()), MessageStatus::Pending);
    scene.add(pending.clone()).await;
    let left = scene.store.abandoned_messages(at(0), 10).await.expect("works");
    assert_same(left.first().expect("its process is not known").value(), &pending);
    let sender = pending.sender.expect("it has one");
    let left = scene.store.messages_in_flight(sender, 10).await.expect("works");
    assert_same(left.first().expect("it is on its way").value(), &pending);

    // Every field is set to its default, and to a value again.
    let emptied = Message { id: full.id, ..plain };
    scene.apply(first(full.clone()).update(emptied.clone())).await;
    assert_reads_back(&scene, &emptied).await;
    let stored = scene.message_now(full.id).await.expect("the message is there");
    scene.apply(stored.update(full.clone())).await;
    assert_reads_back(&scene, &full).await;
}

/// Every value of each enum of a message.
pub async fn every_word_of_a_message_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let codes = DeliveryCode::ALL.len();
    let of = |n: usize| {
        let mut message = scene.inbound(&contact, &connection, 0);
        message.direction = Direction::ALL[n % Direction::ALL.len()];
        message.message_type = MessageType::ALL[n % MessageType::ALL.len()];
        message.sender_type = SenderType::ALL[n % SenderType::ALL.len()];
        message.status = MessageStatus::ALL[n % MessageStatus::ALL.len()];
        message.quoted.message_type = Some(MessageType::ALL[(n + 3) % MessageType::ALL.len()]);
        message.template_category = Some(TemplateCategory::ALL[n % TemplateCategory::ALL.len()]);
        message.failure = Some(Failure {
            error_type: ErrorType::ALL[n % ErrorType::ALL.len()],
            code: DeliveryCode::ALL[n % codes],
            message: None,
        });
        message.sender = (message.status == MessageStatus::Pending).then(|| scene.worker(0).id);
        message
    };
    let messages: Vec<Message> = (0..codes.max(MessageType::ALL.len())).map(of).collect();
    scene.add_all(messages.clone()).await;
    for message in &messages {
        assert_reads_back(&scene, message).await;
    }
}

/// Texts and times are stored exactly, whatever they contain. An empty text is not a missing one.
pub async fn awkward_messages_are_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    for text in AWKWARD.iter().map(|text| (*text).to_owned()).chain(["ç".repeat(65_536)]) {
        let mut message = scene.inbound(&contact, &connection, 0);
        message.content = Some(text.clone());
        message.external_id = Some(text.clone());
        message.media.caption = Some(text.clone());
        message.quoted.content = Some(text.clone());
        message.participant =
            Some(Participant { identifier: text.clone(), phone: None, name: Some(text.clone()) });
        message.failure = Some(Failure::uncertain(text));
        scene.add(message.clone()).await;
        assert_same(scene.message_now(message.id).await.expect("there").value(), &message);
    }
    for time in [Timestamp::MIN, Timestamp::from_millis(-1), Timestamp::MAX] {
        let mut message = scene.inbound(&contact, &connection, 0);
        (message.created_at, message.timestamp) = (time, time);
        message.edited_at = Some(time);
        scene.add(message.clone()).await;
        assert_same(scene.message_now(message.id).await.expect("there").value(), &message);
    }
}
