//! Inbound endpoints: creating and updating contacts by a POST (4.9, 7.2, D46–D47).

use std::time::Duration;

use futures_util::future::join_all;
use recado_core::contacts::Contact;
use recado_core::inbound::{Admitted, InboundError, UpsertAction, Upserted};
use recado_core::organizations::Organization;
use recado_core::store::RecordsExt;
use recado_core::{Error, Recado};
use recado_testkit::kit::body;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::{Value, json};

use super::shop::{Shop, client};
use super::{code, create, shown};

pub(super) const PHONE: &str = "+5534991230001";
const SECRET: &str = "a-secret-of-16-chars";

/// What the endpoint of these tests reads.
fn mapping() -> Value {
    json!({
        "phone_number": "$.phone", "first_name": "$.name", "email": "$.email",
        "birthday": "$.birthday", "cpf": "$.cpf", "city": "$.city", "state": "$.state",
        "postal_code": "$.cep", "observation": "$.note", "cnpj": "$.cnpj", "plan": "$.plan",
        "source": "$.source",
    })
}

pub(super) struct Hook {
    pub(super) shop: Shop,
    admitted: Admitted,
}

impl Hook {
    pub(super) async fn new() -> Self {
        let shop = Shop::new().await;
        let new = json!({ "slug": "site", "variable_mapping": mapping(), "secret": SECRET });
        let (inbound, company) = (shop.app().inbound(), shop.kit().company.id);
        inbound.create(company, &body(new)).await.unwrap();
        let admitted = inbound.admit("site", client(1), &[SECRET.as_bytes()]).await.unwrap();
        Self { shop, admitted }
    }

    async fn post_in(&self, app: &Recado, body: Value) -> Result<Upserted, Error<InboundError>> {
        app.inbound().upsert(&self.admitted, body.to_string().as_bytes()).await
    }

    pub(super) async fn post(&self, body: Value) -> Upserted {
        self.post_in(self.shop.app(), body).await.expect("the body is acceptable")
    }

    pub(super) async fn refused(&self, body: &[u8]) -> String {
        code(self.shop.app().inbound().upsert(&self.admitted, body).await)
    }

    /// Posts all at once, in both processes in turn.
    async fn post_at_once(&self, bodies: Vec<Value>) -> Vec<Upserted> {
        let apps = self.shop.apps();
        let posts = bodies.into_iter().enumerate();
        let posts = posts.map(|(n, body)| self.post_in(apps[n % 2], body));
        join_all(posts).await.into_iter().map(|post| post.expect("it is acceptable")).collect()
    }

    pub(super) async fn fields(&self) -> Vec<Value> {
        let company = self.shop.kit().company.id;
        let fields = self.shop.app().custom_fields().all(company).await.unwrap();
        fields.iter().map(|field| serde_json::to_value(field).unwrap()).collect()
    }
}

/// 4.9.
#[tokio::test]
async fn a_new_phone_makes_a_contact_and_a_known_one_brings_it_up_to_date() {
    let hook = Hook::new().await;
    let made = hook.post(json!({ "phone": "34991230001", "name": "Ana", "city": "Uberaba" })).await;
    assert_eq!((made.action, made.custom_fields_captured), (UpsertAction::Created, 0));
    let contact = shown(hook.shop.kit(), made.contact_id).await;
    assert_eq!(
        (&contact["phone"], &contact["name"], &contact["city"]),
        (&json!(PHONE), &json!("Ana"), &json!("Uberaba"))
    );
    hook.shop.advance(Duration::from_secs(1));
    let again = hook.post(json!({ "phone": PHONE, "name": "Ana Lima" })).await;
    assert_eq!((again.action, again.contact_id), (UpsertAction::Updated, made.contact_id));
    let now = shown(hook.shop.kit(), made.contact_id).await;
    assert_eq!((&now["name"], &now["city"]), (&json!("Ana Lima"), &json!("Uberaba")));
    assert_ne!(now["updated_at"], contact["updated_at"]);
    assert_eq!(hook.shop.events(), ["contact.created"]);
}

#[tokio::test]
async fn the_event_reports_the_contact_as_it_was_posted() {
    let hook = Hook::new().await;
    let made = hook.post(json!({ "phone": PHONE, "name": "Ana" })).await;
    let event = hook.shop.model.events(hook.shop.kit().company.id).pop().unwrap();
    let data: Value = serde_json::from_str(&event.data).unwrap();
    assert_eq!(event.contact, Some(made.contact_id));
    assert!(event.data.contains(&made.contact_id.to_string()), "{data}");
    assert!(event.data.contains("Ana"), "{data}");
}

#[tokio::test]
async fn a_body_that_says_nothing_new_changes_nothing() {
    let hook = Hook::new().await;
    let said = json!({ "phone": PHONE, "name": "Ana", "plan": "gold", "cnpj": "19131243000197" });
    let made = hook.post(said.clone()).await;
    let before = shown(hook.shop.kit(), made.contact_id).await;
    hook.shop.advance(Duration::from_secs(1));
    let again = hook.post(said).await;
    assert_eq!((again.action, again.custom_fields_captured), (UpsertAction::Updated, 1));
    assert_eq!(again.new_pending_definitions, []);
    assert_eq!(shown(hook.shop.kit(), made.contact_id).await, before);
}

#[tokio::test]
async fn what_is_missing_null_or_empty_stays_as_it_is() {
    let hook = Hook::new().await;
    let whole = json!({
        "phone": PHONE, "name": "Ana", "email": "ana@example.com", "birthday": "1990-01-02",
        "cpf": "52998224725", "city": "Uberaba", "state": "MG", "cep": "38010000", "note": "VIP",
        "plan": "gold",
    });
    let made = hook.post(whole.clone()).await;
    let before = shown(hook.shop.kit(), made.contact_id).await;
    hook.shop.advance(Duration::from_secs(1));
    for nothing in [json!(null), json!(""), json!("  ")] {
        let mut said = whole.clone();
        for (key, value) in said.as_object_mut().unwrap() {
            if key != "phone" {
                *value = nothing.clone();
            }
        }
        let answer = hook.post(said).await;
        assert_eq!((answer.custom_fields_captured, answer.warnings), (0, vec![]));
    }
    hook.post(json!({ "phone": PHONE })).await;
    assert_eq!(shown(hook.shop.kit(), made.contact_id).await, before);
    assert_eq!(before["name"], "Ana");
}

#[tokio::test]
async fn fifty_posts_of_one_new_phone_at_once_make_one_contact_and_tell_of_it_once() {
    let hook = Hook::new().await;
    let forms = ["+5534991230001", "34991230001", "3491230001", "+55 (34) 9123-0001"];
    let bodies = (0..50).map(|n| {
        json!({ "phone": forms[n % 4], "name": "Ana", "plan": "gold", "email": "ana@example.com" })
    });
    let answers = hook.post_at_once(bodies.collect()).await;
    let made = answers.iter().filter(|answer| answer.action == UpsertAction::Created).count();
    assert_eq!(made, 1);
    assert!(answers.iter().all(|answer| answer.contact_id == answers[0].contact_id));
    assert!(answers.iter().all(|answer| answer.warnings.is_empty()), "it is its own e-mail");
    assert_eq!(hook.shop.events(), ["contact.created"]);
    assert_eq!(hook.fields().await.len(), 1);
}

#[tokio::test]
async fn posts_of_different_values_at_once_all_count() {
    let hook = Hook::new().await;
    let keys = ["name", "city", "note", "plan", "source"];
    let bodies = (0..50).map(|n| {
        let mut said = json!({ "phone": PHONE });
        said[keys[n % 5]] = json!(keys[n % 5]);
        said
    });
    let answers = hook.post_at_once(bodies.collect()).await;
    let contact = shown(hook.shop.kit(), answers[0].contact_id).await;
    assert_eq!(
        (&contact["name"], &contact["city"], &contact["observation"]),
        (&json!("name"), &json!("city"), &json!("note"))
    );
    assert_eq!(hook.fields().await.len(), 2);
    assert_eq!(hook.shop.events(), ["contact.created"]);
}

#[tokio::test]
async fn an_email_that_another_contact_has_goes_to_shared_email() {
    let hook = Hook::new().await;
    create(hook.shop.kit(), json!({ "phone": "34991230009", "email": "ana@example.com" })).await;
    let made = hook.post(json!({ "phone": PHONE, "email": "ana@example.com" })).await;
    assert_eq!(made.warnings[0].code, "EMAIL_BELONGS_TO_ANOTHER_CONTACT");
    let contact = shown(hook.shop.kit(), made.contact_id).await;
    assert_eq!(
        (&contact["email"], &contact["shared_email"]),
        (&Value::Null, &json!("ana@example.com"))
    );
}

#[tokio::test]
async fn of_many_unknown_people_with_one_email_at_once_one_gets_it() {
    let hook = Hook::new().await;
    let bodies =
        (0..20).map(|n| json!({ "phone": super::shop::phone(n), "email": "ana@example.com" }));
    let answers = hook.post_at_once(bodies.collect()).await;
    assert_eq!(answers.iter().filter(|answer| answer.warnings.is_empty()).count(), 1);
    assert_eq!(hook.shop.count_events("contact.created"), 20);
}

#[tokio::test]
async fn one_cnpj_makes_one_organization_however_many_name_it_at_once() {
    let hook = Hook::new().await;
    let bodies =
        (0..20).map(|n| json!({ "phone": super::shop::phone(n), "cnpj": "19.131.243/0001-97" }));
    let answers = hook.post_at_once(bodies.collect()).await;
    let company = hook.shop.kit().company.id;
    let organizations = hook.shop.app().store().all::<Organization>(company).await.unwrap();
    assert_eq!(organizations.len(), 1);
    assert_eq!(hook.shop.model.jobs(company).len(), 1, "it is looked up once");
    for answer in answers {
        let contact = shown(hook.shop.kit(), answer.contact_id).await;
        assert_eq!(contact["organization"]["id"], json!(organizations[0].id), "{contact}");
    }
}

/// R82, 4.9.5.
#[tokio::test]
async fn a_slug_without_a_definition_gets_a_pending_one_reported_by_the_post_that_made_it() {
    let hook = Hook::new().await;
    let first = hook.post(json!({ "phone": PHONE, "plan": "gold", "source": 7.50 })).await;
    let slugs: Vec<&str> =
        first.new_pending_definitions.iter().map(|made| made.slug.as_str()).collect();
    assert_eq!((slugs, first.custom_fields_captured), (vec!["plan", "source"], 2));
    let second = hook.post(json!({ "phone": "34991230002", "plan": "silver" })).await;
    assert_eq!((second.new_pending_definitions, second.custom_fields_captured), (vec![], 1));
    let fields = hook.fields().await;
    for (made, field) in first.new_pending_definitions.iter().zip(&fields) {
        assert_eq!(field["id"], json!(made.id));
        assert_eq!((&field["slug"], &field["label"]), (&json!(made.slug), &json!(made.slug)));
        assert_eq!((&field["type"], &field["status"]), (&json!("text"), &json!("pending")));
    }
    assert_eq!(fields.len(), 2);
}

#[tokio::test]
async fn numbers_are_stored_as_they_were_written() {
    let hook = Hook::new().await;
    let company = hook.shop.kit().company.id;
    let long = "1".repeat(40);
    for (n, number) in
        ["1E3", "1e3", "2.50e-2", "-7E+4", "0", "-0.0", "1.10", &long].into_iter().enumerate()
    {
        let phone = super::shop::phone(n);
        let body = format!(
            r#"{{"phone": "{phone}", "note": "1e3, not 1E+03", "plan": {number}, "source": [2e1]}}"#
        );
        // An array is no value of a field.
        assert_eq!(hook.refused(body.as_bytes()).await, "MAPPING_FAILED");
        let body = body.replace("[2e1]", &format!("\"{number}\""));
        let made = hook.shop.app().inbound().upsert(&hook.admitted, body.as_bytes()).await.unwrap();
        assert_eq!(made.custom_fields_captured, 2);
        let store = hook.shop.app().store();
        let contact = store.get::<Contact>((company, made.contact_id)).await.unwrap().unwrap();
        let values: Vec<&str> = contact.custom_fields.values().map(String::as_str).collect();
        assert_eq!(values, [number, number]);
    }
}

/// R82.
#[tokio::test]
async fn a_definition_that_many_need_at_once_is_made_once_and_reported_once() {
    let hook = Hook::new().await;
    let bodies = (0..50).map(|n| json!({ "phone": super::shop::phone(n), "plan": "gold" }));
    let answers = hook.post_at_once(bodies.collect()).await;
    let reported: Vec<_> =
        answers.iter().flat_map(|answer| &answer.new_pending_definitions).collect();
    let fields = hook.fields().await;
    assert_eq!((fields.len(), reported.len()), (1, 1));
    assert_eq!(json!(reported[0].id), fields[0]["id"]);
    assert!(answers.iter().all(|answer| answer.custom_fields_captured == 1));
}

#[tokio::test]
async fn values_of_pending_and_inactive_definitions_are_stored_and_counted() {
    let hook = Hook::new().await;
    let company = hook.shop.kit().company.id;
    let new = body(json!({ "slug": "plan", "label": "Plano", "status": "inactive" }));
    let field = hook.shop.app().custom_fields().create(company, &new).await.unwrap();
    let made = hook.post(json!({ "phone": PHONE, "plan": "gold", "source": "site" })).await;
    assert_eq!((made.custom_fields_captured, made.new_pending_definitions.len()), (2, 1));
    let contact =
        hook.shop.app().store().get::<Contact>((company, made.contact_id)).await.unwrap().unwrap();
    assert_eq!(contact.custom_fields.get(&field.id).map(String::as_str), Some("gold"));
    let pending = made.new_pending_definitions[0].id;
    assert_eq!(contact.custom_fields.get(&pending).map(String::as_str), Some("site"));
}

#[tokio::test]
async fn a_definition_that_goes_while_a_value_of_it_is_stored_is_made_anew() {
    let mut made_anew = 0;
    for n in 0..12 {
        let hook = Hook::new().await;
        let company = hook.shop.kit().company.id;
        let new = body(json!({ "slug": "plan", "label": "Plano" }));
        let fields = hook.shop.app().custom_fields();
        let field = fields.create(company, &new).await.unwrap();
        let is_gone = std::cell::Cell::new(false);
        let post = async {
            let made = hook.post(json!({ "phone": PHONE, "plan": "gold" })).await;
            (made, is_gone.get())
        };
        let delete = async {
            for _ in 0..n {
                tokio::task::yield_now().await;
            }
            fields.delete(company, field.id).await.unwrap();
            is_gone.set(true);
        };
        let ((made, was_gone), ()) = tokio::join!(post, delete);
        let store = hook.shop.app().store();
        let contact = store.get::<Contact>((company, made.contact_id)).await.unwrap().unwrap();
        let anew = made.new_pending_definitions.first().map(|made| made.id);
        assert_eq!(anew.is_some(), was_gone, "{n}");
        let holds = anew.unwrap_or(field.id);
        assert_eq!(contact.custom_fields.keys().collect::<Vec<_>>(), [&holds], "{n}");
        made_anew += usize::from(was_gone);
    }
    assert!((1..12).contains(&made_anew), "they meet");
}

#[tokio::test]
async fn of_several_contacts_with_the_phone_the_whatsapp_one_is_meant_else_the_oldest() {
    let hook = Hook::new().await;
    let mut ids = Vec::new();
    for (platform, identifier) in [("telegram", "t1"), ("instagram", "i1"), ("telegram", "t2")] {
        let new = body(json!({
            "identifier": identifier, "source_platform": platform, "phone": PHONE,
        }));
        let contacts = hook.shop.app().contacts();
        ids.push(contacts.import(&hook.shop.kit().company, &new).await.unwrap().0);
        hook.shop.advance(Duration::from_secs(1));
    }
    let oldest = hook.post(json!({ "phone": PHONE, "name": "Ana" })).await;
    assert_eq!((oldest.contact_id, oldest.action), (ids[0], UpsertAction::Updated));
    let new = body(json!({ "phone": PHONE }));
    let contacts = hook.shop.app().contacts();
    let whatsapp = contacts.import(&hook.shop.kit().company, &new).await.unwrap().0;
    let meant = hook.post(json!({ "phone": PHONE, "name": "Bia" })).await;
    assert_eq!((meant.contact_id, meant.action), (whatsapp, UpsertAction::Updated));
    assert_eq!(shown(hook.shop.kit(), ids[0]).await["name"], "Ana");
}

#[tokio::test]
async fn national_numbers_are_those_of_the_companys_region() {
    let hook = Hook::new().await;
    let change = body(json!({ "default_region": "PT" }));
    let company = hook.shop.kit().company.id;
    hook.shop.app().access().change_company(company, &change).await.unwrap();
    let inbound = hook.shop.app().inbound();
    let admitted = inbound.admit("site", client(2), &[SECRET.as_bytes()]).await.unwrap();
    let said = json!({ "phone": "912345678" }).to_string();
    let made = inbound.upsert(&admitted, said.as_bytes()).await.unwrap();
    assert_eq!(shown(hook.shop.kit(), made.contact_id).await["phone"], "+351912345678");
}

#[tokio::test]
async fn a_native_value_that_is_not_valid_is_skipped_with_a_warning() {
    let hook = Hook::new().await;
    let said = json!({ "phone": PHONE, "name": "Ana", "email": "none", "cpf": "1", "cnpj": "2" });
    let made = hook.post(said).await;
    let mut fields: Vec<&str> =
        made.warnings.iter().map(|warning| warning.field.as_ref()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["cnpj", "cpf", "email"]);
    assert!(made.warnings.iter().all(|warning| warning.code == "INVALID_FIELD"));
    assert_eq!(shown(hook.shop.kit(), made.contact_id).await["name"], "Ana");
}

#[tokio::test]
async fn a_body_that_cannot_be_used_is_refused_and_leaves_nothing() {
    let hook = Hook::new().await;
    let rows = hook.shop.model.row_count();
    let large = format!("{{\"phone\": \"{PHONE}\"}}{}", " ".repeat(102_400));
    let bad_phone = json!({ "phone": "abc", "name": "Ana" }).to_string();
    let object = json!({ "phone": PHONE, "name": {} }).to_string();
    let both = json!({ "plan": [1] }).to_string();
    for (said, expected) in [
        (&b""[..], "INVALID_PAYLOAD"),
        (b"{", "INVALID_PAYLOAD"),
        (b"\xef\xbb\xbf{}", "INVALID_PAYLOAD"),
        (b"\"\xff\"", "INVALID_PAYLOAD"),
        (large.as_bytes(), "INVALID_PAYLOAD"),
        (b"{}", "MISSING_PHONE"),
        (b"[]", "MISSING_PHONE"),
        (b"null", "MISSING_PHONE"),
        (bad_phone.as_bytes(), "MISSING_PHONE"),
        (object.as_bytes(), "MAPPING_FAILED"),
        (both.as_bytes(), "MAPPING_FAILED"),
    ] {
        assert_eq!(hook.refused(said).await, expected, "{:?}", String::from_utf8_lossy(said));
    }
    assert_eq!(hook.shop.model.row_count(), rows);
    assert_eq!(hook.shop.events(), Vec::<String>::new());
}

#[tokio::test]
async fn an_unreadable_contact_is_distinguished_from_a_store_that_is_away() {
    let hook = Hook::new().await;
    hook.shop.store.fail_contact_reads();
    let said = json!({ "phone": PHONE });
    let unreadable = hook.post_in(hook.shop.app(), said.clone()).await;
    assert_eq!(code(unreadable), "CONTACT_STATE_UNAVAILABLE");
    hook.shop.store.heal();
    hook.shop.store.fail_nth(StoreOp::Commit, 0, StoreFailure::Unavailable);
    let away = hook.post_in(hook.shop.app(), said.clone()).await;
    assert!(matches!(away, Err(Error::Store(_))), "{away:?}");
    hook.shop.store.fail_all(StoreFailure::Unavailable);
    let secrets = [SECRET.as_bytes()];
    let admitted = hook.shop.app().inbound().admit("site", client(3), &secrets).await;
    assert!(matches!(admitted, Err(Error::Store(_))), "{admitted:?}");
    hook.shop.store.heal();
    assert_eq!(hook.post(said).await.action, UpsertAction::Created);
}

#[tokio::test]
async fn a_store_that_fails_at_any_point_leaves_nothing_half_done() {
    let said = json!({
        "phone": PHONE, "name": "Ana", "cnpj": "19131243000197", "plan": "gold",
        "email": "ana@example.com",
    });
    let failures = [
        StoreFailure::Unavailable,
        StoreFailure::UnknownBefore,
        StoreFailure::UnknownAfter,
        StoreFailure::Contended,
    ];
    let mut failed = 0;
    for failure in failures {
        for (op, n) in
            [(StoreOp::Read, 0), (StoreOp::Read, 1), (StoreOp::Read, 2), (StoreOp::Commit, 0)]
        {
            let hook = Hook::new().await;
            let rows = hook.shop.model.row_count();
            hook.shop.store.fail_nth(op, n, failure);
            let outcome = hook.post_in(hook.shop.app(), said.clone()).await;
            hook.shop.store.heal();
            let when = format!("{op:?} {n} {failure:?}: {outcome:?}");
            let company = hook.shop.kit().company.id;
            let is_there = hook.shop.events() == ["contact.created"];
            assert!(is_there || hook.shop.model.row_count() == rows, "{when}");
            assert!(is_there || outcome.is_err(), "{when}");
            failed += usize::from(outcome.is_err());
            let again = hook.post(said.clone()).await;
            assert_eq!(again.action == UpsertAction::Created, !is_there, "{when}");
            assert_eq!(hook.shop.events(), ["contact.created"], "{when}");
            assert_eq!(hook.fields().await.len(), 1, "{when}");
            assert_eq!(hook.shop.model.jobs(company).len(), 1, "{when}");
        }
    }
    assert!(failed > 6, "the failures are met");
}

#[tokio::test]
async fn a_contact_that_is_deleted_at_the_same_time_is_gone_or_made_anew() {
    let hook = Hook::new().await;
    for n in 0..20 {
        let phone = super::shop::phone(n);
        let made = hook.post(json!({ "phone": phone })).await;
        let kit = hook.shop.kit();
        let post = hook.post(json!({ "phone": phone, "name": "Ana", "plan": "gold" }));
        let delete = async {
            for _ in 0..n {
                tokio::task::yield_now().await;
            }
            kit.app.contacts().delete(&kit.caller, made.contact_id).await.unwrap();
        };
        let (answer, ()) = tokio::join!(post, delete);
        let contact = kit.app.contacts().get(&kit.caller, answer.contact_id, false).await;
        assert_eq!(contact.is_ok(), answer.action == UpsertAction::Created, "{n}: {answer:?}");
    }
}
