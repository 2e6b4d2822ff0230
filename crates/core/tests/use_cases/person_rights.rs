//! What a person may ask for: everything that is kept about it, a receipt of its deletion, and to
//! stay opted out after it.

use std::io::{Cursor, Read};

use futures_util::StreamExt;
use recado_core::Settings;
use recado_core::contacts::Contact;
use recado_core::ids::ContactId;
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

/// All files of the export, as texts, by path.
async fn exported(kit: &Kit, id: ContactId) -> Vec<(String, String)> {
    let export = kit.app.contacts().export_person(kit.company.id, id).await.unwrap();
    let frames: Vec<Vec<u8>> = export.frames().map(|frame| frame.unwrap()).collect().await;
    let mut zip = zip::ZipArchive::new(Cursor::new(frames.concat())).unwrap();
    let mut files = Vec::new();
    for at in 0..zip.len() {
        let mut file = zip.by_index(at).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        files.push((file.name().unwrap().into_owned(), text));
    }
    files
}

/// R410, R411.
#[tokio::test]
async fn an_export_has_what_is_kept_about_the_contact_and_nothing_about_others() {
    let kit = Kit::new().await;
    let ana = import(&kit, json!({"phone": "+5534991230001", "name": "marker-ana"})).await;
    let caio = import(&kit, json!({"phone": "+5534991230002", "name": "marker-caio"})).await;
    for (contact, marker) in [(ana, "marker-file-ana"), (caio, "marker-file-caio")] {
        let bytes = marker.as_bytes().to_vec();
        let documents = kit.app.documents();
        documents.attach(kit.company.id, contact, "..x.txt", bytes).await.unwrap();
    }
    let files = exported(&kit, ana).await;
    let all: String = files.iter().map(|(_, text)| text.as_str()).collect();
    for marker in ["marker-ana", "marker-file-ana", "5534991230001"] {
        assert!(all.contains(marker), "{marker}");
    }
    for marker in ["marker-caio", "marker-file-caio", "5534991230002"] {
        assert!(!all.contains(marker), "{marker}");
    }
    assert!(files.iter().all(|(path, _)| !path.contains("..")), "{files:?}");
    let (last, manifest) = files.last().unwrap();
    assert_eq!(last, "manifest.json");
    let manifest: Value = serde_json::from_str(manifest).unwrap();
    assert_eq!(manifest["missing"], json!([]));
    for file in manifest["files"].as_array().unwrap() {
        assert!(files.iter().any(|(path, _)| file["path"] == path.as_str()), "{file}");
    }
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
    let other = import(&kit, json!({"phone": "+5534991230002"})).await;
    assert_eq!(stored(&kit, other).await.opted_out_at, None);

    let opts_in = recado_core::conversations::ActionName::OptIn;
    let conversations = kit.app.conversations();
    conversations.act(kit.company.id, back, opts_in, &body(json!({}))).await.unwrap();
    contacts.delete_of(kit.company.id, back).await.unwrap();
    let again = import(&kit, json!({"phone": "+5534991230001"})).await;
    assert_eq!(stored(&kit, again).await.opted_out_at, None);
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
