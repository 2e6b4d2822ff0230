//! The windows of template dispatch: inside one, nothing is sent a second time (8, D50).

use std::time::Duration;

use recado_core::dispatches::{AdmittedTemplate, DispatchError, Dispatched, ExistingSend};
use recado_core::gateway::SendFailure;
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::{Error, Timestamp};
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::dispatches::{Outcome, PHONE, admit, dispatch, utility};
use super::shop::{Shop, phone, refusal, uncertain, unreachable};
use super::{code, create_phone};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
pub(super) const TEN_MINUTES: Duration = Duration::from_secs(600);
pub(super) const MILLISECOND: Duration = Duration::from_millis(1);

fn template(name: &str, category: &str, language: &str, text: &str) -> Value {
    json!({ "name": name, "category": category, "language": language, "body": text })
}

/// A company with one template.
pub(super) struct Desk {
    pub(super) shop: Shop,
    pub(super) admitted: AdmittedTemplate,
}

impl Desk {
    pub(super) async fn with(new: Value) -> Self {
        let shop = Shop::new().await;
        let made = shop.template(new).await;
        let admitted = admit(&shop, &made).await;
        Self { shop, admitted }
    }

    pub(super) async fn another(&self, new: Value) -> AdmittedTemplate {
        let made = self.shop.template(new).await;
        self.shop.advance(Duration::from_secs(6));
        admit(&self.shop, &made).await
    }

    pub(super) async fn send(&self, name: &str) -> Outcome {
        dispatch(self.shop.app(), &self.admitted, PHONE, name).await
    }

    pub(super) async fn send_as(&self, admitted: &AdmittedTemplate, name: &str) -> Outcome {
        dispatch(self.shop.app(), admitted, PHONE, name).await
    }
}

/// The earlier send that a refusal names, or `None` for one that is under way.
pub(super) fn existing(outcome: Outcome) -> Option<ExistingSend> {
    match outcome {
        Err(Error::Rejected(DispatchError::Duplicate(existing))) => existing,
        other => panic!("a duplicate was expected, not {other:?}"),
    }
}

pub(super) fn sent_at(at: Timestamp, sent: &Dispatched, lasts: Duration) -> ExistingSend {
    ExistingSend { message_id: sent.message_id, sent_at: at, next_eligible_at: at.plus(lasts) }
}

#[tokio::test]
async fn a_window_ends_to_the_millisecond() {
    for (category, lasts) in
        [("MARKETING", DAY), ("UTILITY", TEN_MINUTES), ("AUTHENTICATION", TEN_MINUTES)]
    {
        let desk = Desk::with(template("a", category, "pt_BR", "Olá {{1}}")).await;
        for _ in 0..2 {
            let at = desk.shop.now();
            let sent = desk.send("Ana").await.unwrap();
            let first = sent_at(at, &sent, lasts);
            assert_eq!(existing(desk.send("Ana").await), Some(first), "{category}");
            desk.shop.advance(lasts - MILLISECOND);
            assert_eq!(existing(desk.send("Ana").await), Some(first), "{category}");
            desk.shop.advance(MILLISECOND);
        }
        assert_eq!(desk.shop.calls(), 2);
    }
}

/// R87.
#[tokio::test]
async fn a_window_counts_from_the_storing_of_the_message_however_slow_the_gateway_is() {
    let desk = Desk::with(utility()).await;
    let at = desk.shop.now();
    let gate = desk.shop.kit().provider.hold();
    let slow = async {
        gate.reached(1).await;
        desk.shop.advance(Duration::from_secs(20));
        gate.open();
    };
    let (sent, ()) = tokio::join!(desk.send("Ana"), slow);
    let expected = sent_at(at, &sent.unwrap(), TEN_MINUTES);
    assert_eq!(existing(desk.send("Ana").await), Some(expected));
}

#[tokio::test]
async fn a_refusal_names_the_message_in_the_form_of_the_contract() {
    let desk = Desk::with(utility()).await;
    let sent = desk.send("Ana").await.unwrap();
    let Err(Error::Rejected(error)) = desk.send("Ana").await else { panic!("not refused") };
    let extra = recado_core::Rejection::extra(&error).unwrap();
    assert_eq!(
        json!(extra),
        json!({ "existing": {
            "message_id": sent.message_id, "sent_at": "2026-11-20T12:00:00.000Z",
            "next_eligible_at": "2026-11-20T12:10:00.000Z",
        } })
    );
}

#[tokio::test]
async fn a_refused_repeat_does_not_make_the_window_longer() {
    let desk = Desk::with(utility()).await;
    let at = desk.shop.now();
    let sent = desk.send("Ana").await.unwrap();
    for _ in 0..9 {
        desk.shop.advance(Duration::from_secs(60));
        assert_eq!(existing(desk.send("Ana").await), Some(sent_at(at, &sent, TEN_MINUTES)));
    }
    desk.shop.advance(Duration::from_secs(60));
    desk.send("Ana").await.unwrap();
}

#[tokio::test]
async fn advertising_is_held_back_by_its_name_whatever_it_says() {
    let desk = Desk::with(template("promo", "MARKETING", "pt_BR", "Olá {{1}}")).await;
    desk.send("Ana").await.unwrap();
    assert!(existing(desk.send("Bia").await).is_some());
    let other_text = desk.another(template("promo", "MARKETING", "en", "Hi {{1}}")).await;
    assert!(existing(desk.send_as(&other_text, "Ana").await).is_some());
    let other_name = desk.another(template("promo2", "MARKETING", "pt_BR", "Olá {{1}}")).await;
    desk.send_as(&other_name, "Ana").await.unwrap();
    dispatch(desk.shop.app(), &desk.admitted, &phone(7), "Ana").await.unwrap();
}

#[tokio::test]
async fn everything_else_is_held_back_by_name_language_and_text() {
    for category in ["UTILITY", "AUTH"] {
        let desk = Desk::with(template("a", category, "pt_BR", "Olá {{1}}")).await;
        desk.send("Ana").await.unwrap();
        desk.send("Bia").await.unwrap();
        for other in [
            template("b", category, "pt_BR", "Olá {{1}}"),
            template("a", category, "en", "Olá {{1}}"),
        ] {
            let other = desk.another(other).await;
            desk.send_as(&other, "Ana").await.unwrap();
        }
        // Another template, and the same content all the same.
        let same = desk.another(template("a", category, "pt_BR", "{{1}} {{2}}")).await;
        let said = json!({ "phone_number": PHONE, "variables": { "1": "Olá", "2": "Ana" } });
        let none = recado_core::query::Params::new(Vec::new());
        let dispatches = desk.shop.app().dispatches();
        let again = dispatches.send(&same, said.to_string().as_bytes(), &none).await;
        assert!(existing(again).is_some());
    }
}

#[tokio::test]
async fn all_ways_to_write_a_phone_share_a_window() {
    let desk = Desk::with(utility()).await;
    desk.send("Ana").await.unwrap();
    for form in ["34991230001", "+553491230001", "(34) 9123-0001", "5534991230001"] {
        let again = dispatch(&desk.shop.other, &desk.admitted, form, "Ana").await;
        assert!(existing(again).is_some(), "{form}");
    }
}

#[tokio::test]
async fn a_window_is_of_one_company() {
    let desk = Desk::with(utility()).await;
    desk.send("Ana").await.unwrap();
    let (other, _) = desk.shop.kit().another_company("Outra").await;
    let access = desk.shop.app().access();
    let features = body(json!({ "features": { "template_dispatch": true } }));
    access.change_company(other.id, &features).await.unwrap();
    let connection = body(json!({
        "kind": "qr", "name": "Loja", "identifier": "5511940028944", "gateway": "simulated",
    }));
    desk.shop.app().connections().create(other.id, &connection).await.unwrap();
    let mut new = utility();
    new["status"] = json!("APPROVED");
    let made = desk.shop.app().templates().create(other.id, &body(new)).await.unwrap();
    let dispatches = desk.shop.app().dispatches();
    let admitted = dispatches.admit(&made.token.to_string(), super::shop::client(9)).await.unwrap();
    desk.send_as(&admitted, "Ana").await.unwrap();
}

#[tokio::test]
async fn a_refused_or_surely_failed_send_opens_no_window() {
    let desk = Desk::with(utility()).await;
    for failure in [
        refusal(),
        unreachable(),
        SendFailure::limited("slow", None),
        SendFailure::Connection(Failure::new(DeliveryCode::Configuration, "token".to_owned())),
    ] {
        desk.shop.kit().provider.then(Err(failure));
        assert_eq!(code(desk.send("Ana").await), "SEND_FAILED");
    }
    desk.send("Ana").await.unwrap();
    assert!(existing(desk.send("Ana").await).is_some());
}

#[tokio::test]
async fn a_failed_repeat_after_a_window_opens_none_either() {
    let desk = Desk::with(utility()).await;
    desk.send("Ana").await.unwrap();
    desk.shop.advance(TEN_MINUTES);
    desk.shop.kit().provider.then(Err(refusal()));
    assert_eq!(code(desk.send("Ana").await), "SEND_FAILED");
    desk.send("Ana").await.unwrap();
}

#[tokio::test]
async fn an_uncertain_send_opens_a_window() {
    let desk = Desk::with(utility()).await;
    desk.shop.kit().provider.then(Err(uncertain()));
    let at = desk.shop.now();
    assert_eq!(code(desk.send("Ana").await), "SEND_FAILED");
    let message = desk.shop.messaging.newest().await;
    let existing = existing(desk.send("Ana").await).expect("it is known");
    assert_eq!(json!(existing.message_id), message["id"]);
    assert_eq!((existing.sent_at, existing.next_eligible_at), (at, at.plus(TEN_MINUTES)));
    assert_eq!(desk.shop.calls(), 1);
    desk.shop.advance(TEN_MINUTES);
    desk.send("Ana").await.unwrap();
}

#[tokio::test]
async fn sends_by_api_and_campaigns_open_no_window_and_heed_none() {
    let desk = Desk::with(utility()).await;
    let contact = create_phone(desk.shop.kit(), PHONE).await;
    let sending = desk.shop.app().sending();
    let said = json!({ "to": PHONE, "template": "boas_vindas", "variables": { "1": "Ana" } });
    let said = body(said);
    sending.send_template(&desk.shop.kit().caller, &said).await.unwrap();
    desk.send("Ana").await.unwrap();
    assert!(existing(desk.send("Ana").await).is_some());
    sending.send_template(&desk.shop.kit().caller, &said).await.unwrap();
    assert_eq!(desk.shop.calls(), 3);
    let company = desk.shop.kit().company.id;
    let template = desk.shop.app().templates().all(company).await.unwrap()[0].id;
    let (list, campaigns) = (desk.shop.list(&[contact]).await, desk.shop.app().campaigns());
    for (n, text) in ["Ana", "Bia"].into_iter().enumerate() {
        let new = body(json!({
            "name": "Natal", "template_id": template, "list_id": list, "variables": { "1": text },
        }));
        let id = campaigns.create(company, &new).await.unwrap().campaign.id;
        campaigns.start(company, id).await.unwrap();
        campaigns.drain().await;
        assert_eq!(desk.shop.calls(), 4 + n);
    }
    desk.send("Bia").await.unwrap();
}
