//! What a person may ask for: a receipt of its deletion, and to stay opted out after it.

use std::time::Duration;

use recado_core::Settings;
use recado_core::access::ClientNet;
use recado_core::contacts::{Contact, Identifier, Phone, Region};
use recado_core::conversations::{ActionName, ChannelQuery};
use recado_core::gateway::{GatewayEvent, NamesReport};
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::inbox::EventOutcome;
use recado_core::sending::{Order, SendRules, SendTarget};
use recado_core::store::RecordsExt;
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};

async fn import(kit: &Kit, more: Value) -> ContactId {
    kit.app.contacts().import(&kit.company, &body(more)).await.unwrap().0
}

async fn stored(kit: &Kit, id: ContactId) -> Contact {
    kit.app.store().get::<Contact>((kit.company.id, id)).await.unwrap().unwrap().into_value()
}

async fn remembering() -> Kit {
    let mut settings = Settings::new("https://crm.example.org");
    settings.remember_opt_outs = true;
    Kit::builder().settings(settings).build().await
}

/// R412.
#[tokio::test]
async fn a_receipt_counts_what_was_removed_with_and_without_documents() {
    for documents in [0, 2_u64] {
        let kit = Kit::new().await;
        let ana = import(&kit, json!({"phone": "+5534991230001"})).await;
        for _ in 0..documents {
            let attached = kit.app.documents().attach(kit.company.id, ana, "a.txt", vec![1]).await;
            attached.unwrap();
        }
        let contacts = kit.app.contacts();
        let receipt = contacts.delete_of_for_receipt(kit.company.id, ana).await.unwrap();
        assert_eq!(receipt.contact_id, ana);
        assert_eq!((receipt.removed["documents"], receipt.removed["names"]), (documents, 1));
        assert_eq!(receipt.removed["messages"], 0);
        assert!(contacts.delete_of_for_receipt(kit.company.id, ana).await.is_err());
    }
}

/// R413, R414, R415, R416, D15.
#[tokio::test]
async fn a_deleted_contact_that_had_asked_to_stop_comes_back_opted_out_until_it_opts_in() {
    let kit = remembering().await;
    let contacts = kit.app.contacts();
    let asked = json!({"phone": "+5534991230001", "opted_out_at": "2025-11-01T00:00:00.000Z"});
    let first = import(&kit, asked).await;
    let since = stored(&kit, first).await.opted_out_at;
    contacts.delete_of(kit.company.id, first).await.unwrap();

    let back = import(&kit, json!({"phone": "+553491230001"})).await;
    assert_eq!(stored(&kit, back).await.opted_out_at, since);
    let shown = contacts.get_for_operator(kit.company.id, back).await.unwrap();
    assert!(shown.is_opt_out_remembered);
    let shown = contacts.get_without_memory(kit.company.id, back).await.unwrap();
    assert!(shown.is_opt_out_remembered);
    let other = import(&kit, json!({"phone": "+5534991230002"})).await;
    assert_eq!(stored(&kit, other).await.opted_out_at, None);

    let opts_in = ActionName::OptIn;
    let conversations = kit.app.conversations();
    conversations.act(kit.company.id, back, opts_in, &body(json!({}))).await.unwrap();
    contacts.delete_of(kit.company.id, back).await.unwrap();
    let again = import(&kit, json!({"phone": "+5534991230001"})).await;
    assert_eq!(stored(&kit, again).await.opted_out_at, None);
}

/// Makes a contact that asked to stop, and deletes it.
async fn asked_and_deleted(kit: &Kit, phone: &str) {
    let asked = json!({"phone": phone, "opted_out_at": "2025-11-01T00:00:00.000Z"});
    let contact = import(kit, asked).await;
    kit.app.contacts().delete_of(kit.company.id, contact).await.unwrap();
}

async fn told_names(kit: &Kit, on: ConnectionId, peer: &str, aliases: &[&str]) {
    let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
    let report = NamesReport { peer: peer.to_owned(), aliases };
    let result = kit.receive(on, vec![Ok(GatewayEvent::Names(report))]).await.remove(0);
    assert_eq!(result.result, EventOutcome::Stored);
}

const LID: &str = "123456@lid";

/// The contact that the channel knows by a name without a number.
async fn contact_by_lid(kit: &Kit) -> Contact {
    let mut query = ChannelQuery::default();
    query.identifiers.extend(Identifier::parse(LID));
    let found = kit.app.store().channel_contacts(kit.company.id, &query).await.unwrap();
    found[0].contact.value().clone()
}

/// R415.
#[tokio::test]
async fn a_deleted_contact_starts_opted_out_whatever_makes_it_again() {
    let kit = remembering().await;
    let (contacts, company) = (kit.app.contacts(), kit.company.id);
    for n in 1..=4 {
        asked_and_deleted(&kit, &format!("+553499123000{n}")).await;
    }
    let mut back = Vec::new();
    let new = |n: u8| body(json!({"phone": format!("+553499123000{n}")}));
    back.push(contacts.create(&kit.caller, &new(1)).await.unwrap().contact.id);
    back.push(contacts.import(&kit.company, &new(2)).await.unwrap().0);

    let endpoint = json!({
        "slug": "site", "variable_mapping": {"phone_number": "$.phone"},
        "secret": "a-secret-of-16-chars",
    });
    kit.app
        .access()
        .change_company(company, &body(json!({"features": {"inbound_contacts": true}})))
        .await
        .unwrap();
    kit.app.inbound().create(company, &body(endpoint)).await.unwrap();
    let client = ClientNet::of(std::net::Ipv4Addr::LOCALHOST.into());
    let admitted =
        kit.app.inbound().admit("site", client, &[b"a-secret-of-16-chars"]).await.unwrap();
    let posted = br#"{"phone": "+5534991230003"}"#;
    back.push(kit.app.inbound().upsert(&admitted, posted).await.unwrap().contact_id);

    let connection = kit.connection("qr").await;
    kit.contact_writes(connection, "5534991230004", "Oi").await;
    back.push(kit.contact_by_phone("+5534991230004").await.unwrap());
    for (n, id) in back.into_iter().enumerate() {
        assert!(stored(&kit, id).await.opted_out_at.is_some(), "way {n}");
    }
}

/// R415.
#[tokio::test]
async fn a_contact_that_an_agents_message_makes_is_still_opted_out_after_it_was_sent() {
    let kit = remembering().await;
    let connection = kit.connection("qr").await;
    asked_and_deleted(&kit, "+5534991230001").await;
    let phone = Phone::parse("+5534991230001", &Region::br()).unwrap();
    let text =
        Order::text(kit.company.id, SendTarget::Phone(phone), Some(connection), "Oi".to_owned());
    kit.app.sending().deliver(Order { rules: SendRules::AGENT, ..text }).await.unwrap();
    let made = stored(&kit, kit.contact_by_phone("+5534991230001").await.unwrap()).await;
    assert!(made.opted_out_at.is_some());
    assert_eq!(made.last_connection_id, Some(connection));
}

/// R415.
#[tokio::test]
async fn a_contact_without_a_number_is_opted_out_when_it_learns_a_remembered_one() {
    let kit = remembering().await;
    let connection = kit.connection("qr").await;
    asked_and_deleted(&kit, "+5534991230001").await;
    kit.contact_writes(connection, LID, "Oi").await;
    let unknown = contact_by_lid(&kit).await;
    assert_eq!((unknown.opted_out_at, &unknown.phone), (None, &None));
    told_names(&kit, connection, LID, &["5534991230001"]).await;
    let known = stored(&kit, unknown.id).await;
    assert!(known.opted_out_at.is_some() && known.phone.is_some());
    assert!(!known.external_ai_enabled);
}

/// R416.
#[tokio::test]
async fn what_was_asked_for_later_is_not_forgotten_for_an_opt_in_before_it() {
    let kit = remembering().await;
    let (contacts, conversations) = (kit.app.contacts(), kit.app.conversations());
    let connection = kit.connection("qr").await;
    // Two contacts that turn out to have one number: one opts in, and then the other asks to stop.
    let ana = kit.contact("+5534991230001").await;
    kit.contact_writes(connection, LID, "Oi").await;
    let other = contact_by_lid(&kit).await.id;
    told_names(&kit, connection, LID, &["5534991230001"]).await;
    let act = async |contact, name| {
        kit.clock.advance(Duration::from_secs(1));
        let asked = match name {
            ActionName::OptOut => json!({"source": "backfill", "opted_out_at": kit.app.now()}),
            _ => json!({}),
        };
        conversations.act(kit.company.id, contact, name, &body(asked)).await.unwrap();
    };
    act(ana, ActionName::OptOut).await;
    act(ana, ActionName::OptIn).await;
    act(other, ActionName::OptOut).await;
    contacts.delete_of(kit.company.id, other).await.unwrap();

    kit.contact_writes(connection, "5534991230001", "Oi").await;
    assert_eq!(stored(&kit, ana).await.opted_out_at, None, "it had the number before");
    contacts.delete_of(kit.company.id, ana).await.unwrap();
    let back = import(&kit, json!({"phone": "+5534991230001"})).await;
    assert!(stored(&kit, back).await.opted_out_at.is_some());
}

/// R413.
#[tokio::test]
async fn nothing_is_remembered_unless_the_setting_is_on() {
    let kit = Kit::new().await;
    let asked = json!({"phone": "+5534991230001", "opted_out_at": "2025-11-01T00:00:00.000Z"});
    let first = import(&kit, asked).await;
    kit.app.contacts().delete_of(kit.company.id, first).await.unwrap();
    let back = import(&kit, json!({"phone": "+5534991230001"})).await;
    assert_eq!(stored(&kit, back).await.opted_out_at, None);
}
