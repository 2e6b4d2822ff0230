//! Template dispatch: access, the order of refusals, and the stored records (4.10, 7.3, D48–D51).

use recado_core::Error;
use recado_core::conversations::ActionName;
use recado_core::dispatches::{AdmittedTemplate, DispatchAction, DispatchError, Dispatched};
use recado_core::gateway::{Content, SendFailure};
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::query::Params;
use recado_core::templates::{Parameter, TemplateContent};
use recado_core::{Code, Kind, Recado, Rejection};
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::{Value, json};

use super::shop::{Made, Shop, client, refusal, uncertain, unreachable};
use super::{code, create_phone, shown};

pub(super) const PHONE: &str = "+5534991230001";

pub(super) type Outcome = Result<Dispatched, Error<DispatchError>>;

/// Dispatches to a phone, with the only variable that the templates here have.
pub(super) async fn dispatch(
    app: &Recado,
    admitted: &AdmittedTemplate,
    phone: &str,
    name: &str,
) -> Outcome {
    let body = json!({ "phone_number": phone, "variables": { "1": name } });
    app.dispatches().send(admitted, body.to_string().as_bytes(), &Params::new(Vec::new())).await
}

pub(super) async fn admit(shop: &Shop, template: &Made) -> AdmittedTemplate {
    shop.app().dispatches().admit(&template.token, client(1)).await.unwrap()
}

pub(super) fn utility() -> Value {
    json!({ "name": "boas_vindas", "category": "UTILITY", "body": "Olá {{1}}" })
}

struct Desk {
    shop: Shop,
    template: Made,
    admitted: AdmittedTemplate,
}

impl Desk {
    async fn new() -> Self {
        let shop = Shop::new().await;
        let template = shop.template(utility()).await;
        let admitted = admit(&shop, &template).await;
        Self { shop, template, admitted }
    }

    async fn send(&self, phone: &str, name: &str) -> Outcome {
        dispatch(self.shop.app(), &self.admitted, phone, name).await
    }

    async fn raw(&self, body: Value, query: &[(&str, &str)]) -> Outcome {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let query = Params::new(query.iter().map(pair).collect());
        let body = body.to_string();
        self.shop.app().dispatches().send(&self.admitted, body.as_bytes(), &query).await
    }
}

#[tokio::test]
async fn a_dispatch_sends_the_filled_in_template_and_reports_it() {
    let desk = Desk::new().await;
    let sent = desk.send("34 99123-0001", "Ana").await.unwrap();
    assert_eq!((sent.action, sent.wamid.as_deref()), (DispatchAction::Created, Some("fake.1")));
    let message = desk.shop.messaging.newest().await;
    assert_eq!(message["id"], json!(sent.message_id));
    assert_eq!(message["contact_id"], json!(sent.contact_id));
    assert_eq!((&message["type"], &message["sender_type"]), (&json!("template"), &json!("system")));
    assert_eq!((&message["content"], &message["status"]), (&json!("Olá Ana"), &json!("sent")));
    assert_eq!(shown(desk.shop.kit(), sent.contact_id).await["phone"], PHONE);
    let outgoing = desk.shop.kit().provider.sent().pop().unwrap().outgoing;
    let variables = [Parameter::next("Ana")];
    let expected = TemplateContent::new("boas_vindas", "pt_BR", variables, "Olá Ana");
    assert_eq!(outgoing.content, Content::Template(expected));
    assert_eq!(desk.shop.events(), ["contact.created", "message.sent"]);
}

/// D51.
#[tokio::test]
async fn the_answer_reports_whether_the_contact_was_made() {
    let desk = Desk::new().await;
    let contact = create_phone(desk.shop.kit(), PHONE).await;
    let sent = desk.send(PHONE, "Ana").await.unwrap();
    assert_eq!((sent.action, sent.contact_id), (DispatchAction::Existing, contact));
    let sent = desk.send("+5534991230002", "Ana").await.unwrap();
    assert_eq!(sent.action, DispatchAction::Created);
    let again = desk.send("+5534991230002", "Bia").await.unwrap();
    assert_eq!((again.action, again.contact_id), (DispatchAction::Existing, sent.contact_id));
    assert_eq!(desk.shop.count_events("contact.created"), 2);
}

#[tokio::test]
async fn a_dispatch_may_come_in_the_query_alone() {
    let desk = Desk::new().await;
    let sent = desk.raw(json!({}), &[("phone", PHONE), ("v1", "Ana"), ("v2", "?")]).await.unwrap();
    assert_eq!(desk.shop.messaging.newest().await["content"], "Olá Ana");
    assert!(sent.wamid.is_some());
}

#[tokio::test]
async fn national_numbers_are_brazilian_whatever_the_companys_region() {
    let desk = Desk::new().await;
    let change = recado_testkit::kit::body(json!({ "default_region": "PT" }));
    let company = desk.shop.kit().company.id;
    desk.shop.app().access().change_company(company, &change).await.unwrap();
    let admitted = admit(&desk.shop, &desk.template).await;
    let sent = dispatch(desk.shop.app(), &admitted, "34991230001", "Ana").await.unwrap();
    assert_eq!(shown(desk.shop.kit(), sent.contact_id).await["phone"], PHONE);
    let foreign = dispatch(desk.shop.app(), &admitted, "912345678", "Ana").await;
    assert_eq!(code(foreign), "INVALID_PHONE");
}

#[tokio::test]
async fn a_token_is_a_uuid_as_it_is_usually_written_in_either_case() {
    let desk = Desk::new().await;
    let (dispatches, token) = (desk.shop.app().dispatches(), &desk.template.token);
    dispatches.admit(&token.to_uppercase(), client(2)).await.unwrap();
    let unknown = uuid::Uuid::from_u128(7).to_string();
    let braces = format!("{{{token}}}");
    let no_hyphens = token.replace('-', "");
    for (n, wrong) in (3..).zip(["", "x", &braces, &no_hyphens, &unknown, &format!("{token} ")]) {
        let refused = dispatches.admit(wrong, client(n)).await;
        assert_eq!(code(refused), "TEMPLATE_NOT_FOUND", "{wrong}");
    }
    let templates = desk.shop.app().templates();
    templates.delete(desk.shop.kit().company.id, desk.template.id).await.unwrap();
    let gone = dispatches.admit(token, client(20)).await;
    assert_eq!(code(gone), "TEMPLATE_NOT_FOUND");
}

#[tokio::test]
async fn the_client_comes_before_the_token_the_token_before_the_feature_and_that_before_its_rate() {
    let desk = Desk::new().await;
    let dispatches = desk.shop.app().dispatches();
    for _ in 0..10 {
        let refused = dispatches.admit("none", client(2)).await;
        assert_eq!(code(refused), "TEMPLATE_NOT_FOUND");
    }
    assert_eq!(code(dispatches.admit("none", client(2)).await), "RATE_LIMITED");
    assert_eq!(code(dispatches.admit(&desk.template.token, client(2)).await), "RATE_LIMITED");
    desk.shop.set_features(json!({ "template_dispatch": false })).await;
    for n in 100..200 {
        let refused = dispatches.admit(&desk.template.token, client(n)).await;
        assert_eq!(code(refused), "FEATURE_DISABLED");
    }
    desk.shop.set_features(json!({ "template_dispatch": true })).await;
    // One call was made at the beginning; those that were refused used up nothing.
    for n in 200..259 {
        let dispatches = desk.shop.apps()[n as usize % 2].dispatches();
        dispatches.admit(&desk.template.token, client(n)).await.unwrap();
    }
    let limited = dispatches.admit(&desk.template.token, client(300)).await;
    let Err(Error::Rejected(error)) = limited else { panic!("not limited") };
    assert_eq!(error.retry_after(), Some(std::time::Duration::from_secs(1)));
    desk.shop.advance(std::time::Duration::from_secs(1));
    dispatches.admit(&desk.template.token, client(301)).await.unwrap();
}

/// 7.3.
#[tokio::test]
async fn of_everything_that_is_wrong_the_first_is_reported() {
    let desk = Desk::new().await;
    let contact = create_phone(desk.shop.kit(), PHONE).await;
    desk.send(PHONE, "Ana").await.unwrap();
    desk.shop.opt_out(contact).await;
    desk.shop.block(contact).await;
    desk.shop.change_template(desk.template.id, json!({ "status": "PAUSED" })).await;
    desk.shop.kit().provider.otherwise(Some(refusal()));
    let admitted = admit(&desk.shop, &desk.template).await;
    let calls = desk.shop.calls();
    let answer = async |phone: Value, variables: Value| {
        let body = json!({ "phone_number": phone, "variables": variables }).to_string();
        let none = Params::new(Vec::new());
        code(desk.shop.app().dispatches().send(&admitted, body.as_bytes(), &none).await)
    };
    assert_eq!(answer(json!(5), json!({ "1": "{{name}}" })).await, "INVALID_PAYLOAD");
    assert_eq!(answer(json!(null), json!({ "1": "{{name}}" })).await, "INVALID_PAYLOAD");
    assert_eq!(answer(json!(null), json!({})).await, "INVALID_PAYLOAD");
    assert_eq!(answer(json!(null), json!({ "1": " " })).await, "INVALID_PAYLOAD");
    assert_eq!(answer(json!(null), json!({ "1": "Ana" })).await, "MISSING_PHONE");
    assert_eq!(answer(json!("123"), json!({ "1": "Ana" })).await, "INVALID_PHONE");
    assert_eq!(answer(json!(PHONE), json!({ "1": "Ana" })).await, "TEMPLATE_NOT_APPROVED");
    desk.shop.change_template(desk.template.id, json!({ "status": "APPROVED" })).await;
    desk.shop.store.fail_contact_reads();
    assert_eq!(code(desk.send(PHONE, "Ana").await), "CONTACT_STATE_UNAVAILABLE");
    desk.shop.store.heal();
    assert_eq!(code(desk.send(PHONE, "Ana").await), "CONTACT_OPTED_OUT");
    desk.shop.act(contact, ActionName::OptIn, json!({})).await;
    assert_eq!(code(desk.send(PHONE, "Ana").await), "CONTACT_BLOCKED");
    desk.shop.act(contact, ActionName::Unblock, json!({})).await;
    desk.shop.messaging.set_connected(false).await;
    assert_eq!(code(desk.send(PHONE, "Ana").await), "DUPLICATE_SEND");
    assert_eq!(desk.shop.calls(), calls, "nothing of this was sent");
    assert_eq!(code(desk.send(PHONE, "Bia").await), "SEND_FAILED");
    desk.shop.messaging.set_connected(true).await;
    assert_eq!(code(desk.send(PHONE, "Bia").await), "SEND_FAILED");
    assert_eq!(desk.shop.calls(), calls + 1);
}

#[tokio::test]
async fn every_status_but_approved_is_refused() {
    let desk = Desk::new().await;
    for status in ["PENDING", "REJECTED", "PAUSED"] {
        desk.shop.change_template(desk.template.id, json!({ "status": status })).await;
        let admitted = admit(&desk.shop, &desk.template).await;
        let refused = dispatch(desk.shop.app(), &admitted, PHONE, "Ana").await;
        assert_eq!(code(refused), "TEMPLATE_NOT_APPROVED", "{status}");
    }
    assert_eq!(desk.shop.calls(), 0);
}

#[tokio::test]
async fn a_tag_that_nobody_filled_in_is_refused() {
    let desk = Desk::new().await;
    for tag in [
        "{{name}}", "Oi ${x}", "[[a]]", "<% a %>", "*|NAME|*", "{name}", "%name%", "{ a }",
        "[A B]", "%%a%%", "{% a %}", "{!a}", "#{a}", "<<a>>",
    ] {
        assert_eq!(code(desk.send(PHONE, tag).await), "INVALID_PAYLOAD", "{tag}");
    }
    for (n, text) in (1..).zip(["100% {seguro}", "a % b %", "{a; b}"]) {
        desk.send(&super::shop::phone(n), text).await.unwrap();
    }
}

#[tokio::test]
async fn without_a_usable_connection_nothing_is_left() {
    let desk = Desk::new().await;
    desk.shop.messaging.set_connected(false).await;
    let rows = desk.shop.model.row_count();
    assert_eq!(code(desk.send(PHONE, "Ana").await), "SEND_FAILED");
    // A gateway without templates cannot carry one.
    assert_eq!(desk.shop.model.row_count(), rows);
    desk.shop.connection("waha", true).await;
    let rows = desk.shop.model.row_count();
    assert_eq!(code(desk.send(PHONE, "Ana").await), "SEND_FAILED");
    assert_eq!((desk.shop.model.row_count(), desk.shop.calls()), (rows, 0));
    assert_eq!(desk.shop.events(), Vec::<String>::new());
    desk.shop.messaging.set_connected(true).await;
    desk.send(PHONE, "Ana").await.unwrap();
}

#[tokio::test]
async fn of_several_connections_the_contacts_last_one_or_the_templates_own_is_used() {
    let desk = Desk::new().await;
    let second = desk.shop.connection("cloud_api", true).await;
    assert_eq!(code(desk.send(PHONE, "Ana").await), "SEND_FAILED");
    desk.shop.messaging.hear("in", "5534991230001", "Oi").await;
    desk.send(PHONE, "Ana").await.unwrap();
    let sent = desk.shop.kit().provider.sent();
    assert_eq!(sent.last().unwrap().connection, desk.shop.messaging.connection);
    let mut bound = utility();
    bound["connection_id"] = json!(second);
    let bound = desk.shop.template(bound).await;
    let admitted = admit(&desk.shop, &bound).await;
    dispatch(desk.shop.app(), &admitted, PHONE, "Bia").await.unwrap();
    assert_eq!(desk.shop.kit().provider.sent().last().unwrap().connection, second);
}

/// D51.
#[tokio::test]
async fn only_an_accepted_dispatch_reopens_the_conversation() {
    let desk = Desk::new().await;
    let contact = create_phone(desk.shop.kit(), PHONE).await;
    desk.shop.act(contact, ActionName::Close, json!({})).await;
    let status = async || shown(desk.shop.kit(), contact).await["inbox_status"].clone();
    for failure in [refusal(), unreachable(), uncertain()] {
        desk.shop.kit().provider.then(Err(failure.clone()));
        let name = format!("{failure:?}").replace(['{', '}'], "");
        assert_eq!(code(desk.send(PHONE, &name).await), "SEND_FAILED");
        assert_eq!(status().await, "resolved", "{failure:?}");
    }
    desk.send(PHONE, "Ana").await.unwrap();
    assert_eq!(status().await, "open");
}

#[tokio::test]
async fn the_external_ai_of_the_contact_does_not_matter() {
    let desk = Desk::new().await;
    let contact = create_phone(desk.shop.kit(), PHONE).await;
    desk.shop.act(contact, ActionName::Handoff, json!({})).await;
    assert_eq!(shown(desk.shop.kit(), contact).await["external_ai_enabled"], false);
    desk.send(PHONE, "Ana").await.unwrap();
}

#[tokio::test]
async fn of_several_contacts_with_the_phone_the_whatsapp_one_is_meant_else_the_oldest() {
    let desk = Desk::new().await;
    let contacts = desk.shop.app().contacts();
    let mut ids = Vec::new();
    for (identifier, platform) in [("t1", "telegram"), ("i1", "instagram"), ("w1", "whatsapp")] {
        let new = json!({ "identifier": identifier, "source_platform": platform, "phone": PHONE });
        let new = recado_testkit::kit::body(new);
        ids.push(contacts.import(&desk.shop.kit().company, &new).await.unwrap().0);
        desk.shop.advance(std::time::Duration::from_secs(1));
        let sent = desk.send(PHONE, platform).await.unwrap();
        let meant = if platform == "whatsapp" { ids[2] } else { ids[0] };
        assert_eq!((sent.contact_id, sent.action), (meant, DispatchAction::Existing));
    }
}

#[tokio::test]
async fn a_send_that_surely_failed_is_reported_of_as_failed_and_its_message_is_kept() {
    let desk = Desk::new().await;
    let failures = [
        refusal(),
        unreachable(),
        SendFailure::limited("slow", None),
        SendFailure::Connection(Failure::new(DeliveryCode::Configuration, "token".to_owned())),
        uncertain(),
    ];
    for (n, failure) in failures.into_iter().enumerate() {
        desk.shop.kit().provider.then(Err(failure));
        let refused = desk.send(&super::shop::phone(n), "Ana").await;
        let Err(Error::Rejected(error)) = refused else { panic!("not refused") };
        assert_eq!((error.code().as_str(), error.extra()), ("SEND_FAILED", None));
        assert_eq!(desk.shop.messaging.newest().await["status"], "failed");
    }
    assert_eq!(desk.shop.messaging.messages().await.len(), 5);
}

#[tokio::test]
async fn a_store_that_is_away_is_no_refusal_and_nothing_is_sent() {
    let desk = Desk::new().await;
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownBefore] {
        desk.shop.store.fail_nth(StoreOp::Read, 0, failure);
        let outcome = desk.send(PHONE, "Ana").await;
        assert!(matches!(outcome, Err(Error::Store(_))), "{failure:?}: {outcome:?}");
    }
    desk.shop.store.heal();
    assert_eq!(desk.shop.calls(), 0);
    desk.send(PHONE, "Ana").await.unwrap();
    assert_eq!(desk.shop.events(), ["contact.created", "message.sent"]);
}

/// R102.
#[tokio::test]
async fn a_dispatch_that_may_have_arrived_says_so_and_is_answered_as_a_failed_one() {
    let failures = [(super::shop::uncertain(), true), (super::shop::unreachable(), false)];
    for (failure, may_have_arrived) in failures {
        let desk = Desk::new().await;
        desk.shop.kit().provider.then(Err(failure));
        let refused = desk.send(PHONE, "Ana").await.unwrap_err();
        assert_eq!(refused.may_have_arrived(), may_have_arrived, "{refused}");
        assert_eq!(code::<(), _>(Err(refused)), "SEND_FAILED");
    }
}

/// R102.
#[tokio::test]
async fn a_dispatch_that_could_not_be_stored_is_a_failed_send() {
    for failure in
        [StoreFailure::Unavailable, StoreFailure::UnknownBefore, StoreFailure::UnknownAfter]
    {
        let desk = Desk::new().await;
        desk.shop.store.fail_nth(StoreOp::Commit, 0, failure);
        let outcome = desk.send(PHONE, "Ana").await;
        let Err(Error::Rejected(refused)) = outcome else { panic!("{failure:?}: {outcome:?}") };
        assert_eq!((refused.code(), refused.kind()), (Code::SendFailed, Kind::Upstream));
        assert!(!refused.to_string().contains("on demand"), "{refused}");
        assert_eq!(desk.shop.calls(), 0, "{failure:?}");
        desk.shop.store.heal();
        if failure != StoreFailure::UnknownAfter {
            desk.send(PHONE, "Ana").await.unwrap();
            assert_eq!(desk.shop.events(), ["contact.created", "message.sent"], "{failure:?}");
        }
    }
}

#[tokio::test]
async fn a_message_to_a_contact_that_went_meanwhile_takes_its_window_along() {
    let desk = Desk::new().await;
    let contact = create_phone(desk.shop.kit(), PHONE).await;
    let gate = desk.shop.kit().provider.hold();
    let delete = async {
        gate.reached(1).await;
        let kit = desk.shop.kit();
        kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
        gate.open();
    };
    let (sent, ()) = tokio::join!(desk.send(PHONE, "Ana"), delete);
    assert!(sent.unwrap().wamid.is_some());
    let next = desk.send(PHONE, "Ana").await.unwrap();
    assert_eq!(next.action, DispatchAction::Created);
}
