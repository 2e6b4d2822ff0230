//! People whom WAHA identifies only by a LID: docs/gateways/waha.md, "Who is who"; D15, D62, R130.

use std::time::Duration;

use recado_testkit::gateways::WahaEngine;
use recado_tests::{StoreKind, both_stores, digits, mobile, text};
use serde_json::json;

use crate::gateway_waha::Waha;

const SECOND: Duration = Duration::from_secs(1);
const LID: &str = "123456@lid";

/// How often WAHA was asked for the phone of a LID.
fn asked(waha: &Waha) -> usize {
    waha.fake.requests().iter().filter(|request| request.path.contains("/lids/")).count()
}

/// Receives a message from the LID; returns the contact.
async fn writes(waha: &Waha) -> String {
    text(&waha.hears(LID, "oi").await["contact_id"])
}

async fn phone(waha: &Waha, contact: &str) -> String {
    text(&waha.detail(contact).await["phone"])
}

#[both_stores]
async fn who_wrote_by_lid_is_asked_for_and_written_to_by_phone(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        waha.fake.set_lid(&digits(&mobile(1)), LID).set_reports_names(false);
        let contact = writes(&waha).await;
        assert_eq!(phone(&waha, &contact).await, LID, "{engine:?}");
        waha.jobs().await;
        assert_eq!(phone(&waha, &contact).await, mobile(1), "{engine:?}");
        let sent = waha.sent(&mobile(1), "olá").await;
        assert_eq!(sent["contact_id"], contact.as_str());
        assert_eq!(waha.fake.accepted().len(), 1);
        assert_eq!(writes(&waha).await, contact);
        waha.jobs().await;
        assert_eq!(asked(&waha), 1, "what is known is not asked for");
        waha.well_behaved();
    }
}

#[both_stores]
async fn a_phone_of_another_contact_makes_a_send_by_it_409_until_they_are_merged(waha: Waha) {
    waha.fake.set_lid(&digits(&mobile(1)), LID).set_reports_names(false);
    let by_phone = waha.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    let by_lid = writes(&waha).await;
    waha.jobs().await;
    for contact in [&by_phone, &by_lid] {
        assert_eq!(phone(&waha, contact).await, mobile(1));
    }
    waha.send_text(&mobile(1), "oi").await.expect_error(409, "AMBIGUOUS_CONTACT");
    let path = format!("C/contacts/{by_phone}/merge");
    let merge = waha.operator("POST", &path, json!({"other_contact_id": by_lid})).await;
    merge.expect(200);
    assert_eq!(waha.sent(&mobile(1), "oi").await["contact_id"], by_phone.as_str());
    assert_eq!(writes(&waha).await, by_phone);
    waha.well_behaved();
}

#[both_stores]
async fn an_outage_and_a_restart_lose_no_question(mut waha: Waha) {
    waha.fake.set_lid(&digits(&mobile(1)), LID).set_reports_names(false);
    waha.gateway.stop().await;
    let contact = writes(&waha).await;
    waha.world.restart().await;
    waha.jobs().await;
    assert_eq!(phone(&waha, &contact).await, LID);
    waha.gateway.resume().await;
    waha.later(SECOND * 5).await;
    assert_eq!(phone(&waha, &contact).await, mobile(1));
    assert_eq!(asked(&waha), 1);
}

#[both_stores]
async fn nobody_is_asked_for_whom_nobody_knows_more_than_once_a_message(waha: Waha) {
    let contact = writes(&waha).await;
    for _ in 0..3 {
        waha.later(SECOND * 600).await;
    }
    assert_eq!((asked(&waha), phone(&waha, &contact).await.as_str()), (1, LID));
    // A message that has the phone needs no request.
    waha.fake.set_lid(&digits(&mobile(1)), LID);
    assert_eq!(writes(&waha).await, contact);
    waha.jobs().await;
    assert_eq!((asked(&waha), phone(&waha, &contact).await), (1, mobile(1)));
    waha.well_behaved();
}
