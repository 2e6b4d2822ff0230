//! Lists, fields, tags, keys, plans, links.

use std::sync::Arc;

use recado_core::Error;
use recado_core::access::{ClientNet, KeyDraft, RateDecision, Scope, Scopes};
use recado_core::contacts::ContactFilter;
use recado_core::ids::ContactId;
use recado_core::links::Visit;
use recado_core::page::PageRequest;
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore};
use serde_json::json;
use uuid::Uuid;

use super::{code, create, create_phone, refused, shown};

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// R20.
#[tokio::test]
async fn contacts_are_added_to_a_list_all_or_none() {
    let kit = Kit::new().await;
    let list = kit.app.lists().create(kit.company.id, &body(json!({ "name": "VIP" }))).await;
    let list = list.unwrap().id;
    let (a, b) = (create_phone(&kit, "34991230001").await, create_phone(&kit, "34991230002").await);
    let unknown = ContactId::new(Uuid::from_u128(1));
    let add = async |ids: Vec<ContactId>| {
        let ids = body(json!({ "contact_ids": ids }));
        kit.app.lists().add_contacts(kit.company.id, list, &ids).await
    };
    let (code, details) = refused(add(vec![a, unknown]).await);
    assert_eq!((code.as_str(), &details["contact_ids"]), ("NOT_FOUND", &json!([unknown])));
    assert_eq!(kit.app.lists().get(kit.company.id, list).await.unwrap().contacts_count, 0);
    let added = add(vec![a, a]).await.unwrap();
    assert_eq!((added.added, added.already_in_list), (1, 0));
    let added = add(vec![a, b]).await.unwrap();
    assert_eq!((added.added, added.already_in_list), (1, 1));
    kit.app.contacts().delete(&kit.caller, a).await.unwrap();
    assert_eq!(kit.app.lists().get(kit.company.id, list).await.unwrap().contacts_count, 1);
    kit.app.lists().delete(kit.company.id, list).await.unwrap();
    assert_eq!(shown(&kit, b).await["lists"], json!([]));
}

/// R7.
#[tokio::test]
async fn values_of_an_inactive_field_are_hidden_in_the_detail_and_shown_in_the_list() {
    let kit = Kit::new().await;
    let new = body(json!({ "label": "Cidade", "slug": "cidade" }));
    let field = kit.app.custom_fields().create(kit.company.id, &new).await.unwrap().id;
    let again = kit.app.custom_fields().create(kit.company.id, &new).await;
    assert_eq!(code(again), "SLUG_TAKEN");
    let new = json!({ "phone": "34991230001", "custom_fields": { field.to_string(): "x" } });
    let id = create(&kit, new).await.contact.id;
    let change = async |status: &str| {
        let change = body(json!({ "status": status }));
        kit.app.custom_fields().change(kit.company.id, field, &change).await.unwrap();
    };
    let listed = async || {
        let filter = ContactFilter::default();
        let page = kit.app.contacts().page(&kit.caller, &filter, PageRequest::FIRST, false).await;
        serde_json::to_value(&page.unwrap().items[0]).unwrap()["custom_fields"].clone()
    };
    change("inactive").await;
    assert_eq!(shown(&kit, id).await["custom_fields"], json!({}));
    assert_eq!(listed().await, json!({ "cidade": "x" }));
    change("active").await;
    assert_eq!(shown(&kit, id).await["custom_fields"], json!({ field.to_string(): "x" }));
    kit.app.custom_fields().delete(kit.company.id, field).await.unwrap();
    assert_eq!(shown(&kit, id).await["custom_fields"], json!({}));
    assert_eq!(listed().await, json!({}));
    let change = body(json!({ "name": "Ana" }));
    kit.app.contacts().update(&kit.caller, id, &change).await.unwrap();
}

#[tokio::test]
async fn a_key_may_do_what_its_scopes_and_the_plan_allow() {
    let kit = Kit::new().await;
    let scopes = Scopes::of(&[Scope::ContactsRead]);
    let made =
        kit.app.access().create_key(kit.company.id, KeyDraft::new("r", scopes)).await.unwrap();
    let reader = kit.app.access().authenticate(made.secret.expose()).await.unwrap();
    let id = create_phone(&kit, "34991230001").await;
    kit.app.contacts().get(&reader, id, false).await.unwrap();
    let denied = kit.app.contacts().delete(&reader, id).await;
    assert!(matches!(denied, Err(Error::Denied(_))), "{denied:?}");

    let starter = body(json!({ "plan": "professional" }));
    kit.app.access().change_company(kit.company.id, &starter).await.unwrap();
    let reader = kit.app.access().authenticate(made.secret.expose()).await.unwrap();
    let denied = kit.app.contacts().get(&reader, id, false).await;
    assert!(matches!(denied, Err(Error::Denied(_))), "{denied:?}");

    kit.app.access().revoke_key(kit.company.id, made.key.id).await.unwrap();
    for presented in [made.secret.expose(), "", "rk_", &"x".repeat(10_000)] {
        let unknown = kit.app.access().authenticate(presented).await;
        assert_eq!(code(unknown), "UNAUTHORIZED");
    }
}

#[tokio::test]
async fn a_change_of_a_keys_rates_holds_from_the_next_call_on() {
    let kit = Kit::new().await;
    let draft = KeyDraft::new("slow", Scopes::all());
    let made = kit.app.access().create_key(kit.company.id, draft).await.unwrap();
    let slow = body(json!({ "rate_per_minute": 3, "export_rate_per_minute": 1 }));
    kit.app.access().change_key(kit.company.id, made.key.id, &slow).await.unwrap();
    let caller = kit.app.access().authenticate(made.secret.expose()).await.unwrap();
    let charge = async |export| kit.app.access().charge(&caller, export).await.unwrap();
    assert_eq!(charge(true).await, RateDecision::Allowed);
    assert!(matches!(charge(true).await, RateDecision::Limited { .. }));
    assert_eq!(charge(false).await, RateDecision::Allowed);
    assert_eq!(charge(false).await, RateDecision::Allowed);
    assert!(matches!(charge(false).await, RateDecision::Limited { .. }));
}

#[tokio::test]
async fn only_people_count_as_clicks() {
    let kit = Kit::new().await;
    let id = create_phone(&kit, "34991230001").await;
    let new = body(json!({ "contact_id": id, "url": "https://example.com/x" }));
    let link = kit.app.links().create(kit.company.id, &new).await.unwrap();
    let link = serde_json::to_value(link).unwrap();
    let code = link["code"].as_str().unwrap();
    let person = Visit { user_agent: Some(BROWSER), ..Visit::default() };
    let bot = Visit { user_agent: Some("WhatsApp/2.23"), ..Visit::default() };
    for visit in [person, bot, person, Visit::default(), Visit { head: true, ..person }] {
        let url = kit.app.links().follow(code, visit).await.unwrap();
        assert_eq!(url, "https://example.com/x");
    }
    let filter = ContactFilter::default();
    let page = kit.app.contacts().page(&kit.caller, &filter, PageRequest::FIRST, true).await;
    let item = serde_json::to_value(&page.unwrap().items[0]).unwrap();
    assert_eq!(item["link_clicks"]["total"], 2);
    kit.app.contacts().delete(&kit.caller, id).await.unwrap();
    assert!(kit.app.links().follow(code, person).await.is_err());
}

/// R205: of one client on all links of a company. What was not recorded is charged to nothing.
#[tokio::test]
async fn visits_by_one_client_are_recorded_within_its_limit() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let id = create_phone(&kit, "34991230001").await;
    let client = Some(ClientNet::of([198, 51, 100, 7].into()));
    let bot = Visit { user_agent: Some("WhatsApp/2.23"), client, ..Visit::default() };
    let mut codes = Vec::new();
    for _ in 0..3 {
        let new = body(json!({ "contact_id": id, "url": "https://example.com/x" }));
        let link = kit.app.links().create(kit.company.id, &new).await.unwrap();
        codes.push(link.code);
    }
    let before = store.row_count();
    for code in &codes {
        for _ in 0..65 {
            kit.app.links().follow(code, bot).await.expect("leads somewhere");
        }
    }
    assert_eq!(store.row_count() - before, 120);
    let person = Visit { user_agent: Some(BROWSER), ..Visit::default() };
    kit.app.links().follow(&codes[2], person).await.expect("leads somewhere");
    assert_eq!(store.row_count() - before, 121, "the third link has not used up its own limit");
}

/// R9.
#[tokio::test]
async fn what_one_call_may_name_is_bounded() {
    let kit = Kit::new().await;
    let (app, company) = (&kit.app, kit.company.id);
    let ids = |count: u128| (0..count).map(|n| Uuid::from_u128(n).to_string()).collect::<Vec<_>>();
    let list = app.lists().create(company, &body(json!({ "name": "VIP" }))).await.unwrap().id;
    let contact = create_phone(&kit, "34991230001").await;
    let joined = async |count| {
        let new = json!({ "phone": "34991230002", "list_ids": ids(count) });
        code(app.contacts().create(&kit.caller, &body(new)).await)
    };
    assert_eq!((joined(1_000).await, joined(1_001).await), both("NOT_FOUND", "VALIDATION_ERROR"));
    let added = async |count| {
        let some = body(json!({ "contact_ids": ids(count) }));
        code(app.lists().add_contacts(company, list, &some).await)
    };
    assert_eq!((added(10_000).await, added(10_001).await), both("NOT_FOUND", "VALIDATION_ERROR"));
    let tagged = async |count| {
        let tags = body(json!({ "tag_ids": ids(count) }));
        refused(app.contacts().patch_as_operator(company, contact, &tags).await).1.to_string()
    };
    let too_many = "may name at most 200 tags";
    assert!(!tagged(200).await.contains(too_many));
    assert!(tagged(201).await.contains(too_many));
    let staged = async |count: usize| {
        let stages = vec![json!({ "name": "x", "color": "#fff" }); count];
        let new = body(json!({ "name": "Vendas", "stages": stages }));
        app.deals().create_pipeline(company, &new).await.is_ok()
    };
    assert_eq!((staged(100).await, staged(101).await), (true, false));
}

fn both(one: &str, two: &str) -> (String, String) {
    (one.to_owned(), two.to_owned())
}

/// R9.
#[tokio::test]
async fn colours_slugs_and_rates_have_a_form() {
    let kit = Kit::new().await;
    let (app, company) = (&kit.app, kit.company.id);
    for (color, passes) in
        [("abc", true), ("#a1b2c3", true), ("#a1b2c3d4", true), ("#12345", false), ("red", false)]
    {
        let stages = [json!({ "name": "x", "color": color })];
        let new = body(json!({ "name": "Vendas", "stages": stages }));
        assert_eq!(app.deals().create_pipeline(company, &new).await.is_ok(), passes, "{color}");
    }
    for (chars, passes) in [(32, true), (33, false)] {
        let new = body(json!({ "name": "VIP", "color": "x".repeat(chars) }));
        assert_eq!(app.tags().create(company, &new).await.is_ok(), passes, "{chars}");
    }
    let (long, longer) = ("a".repeat(100), "b".repeat(101));
    for (slug, passes) in [("a.B_c-1", true), (&long, true), (&longer, false), ("-a", false)] {
        let new = body(json!({ "label": "Cidade", "slug": slug }));
        assert_eq!(app.custom_fields().create(company, &new).await.is_ok(), passes, "{slug}");
    }
    for (rate, passes) in [(1_000_000, true), (1_000_001, false)] {
        let new = json!({ "name": "k", "scopes": ["contacts:read"], "rate_per_minute": rate });
        assert_eq!(app.access().create_key(company, &body(new)).await.is_ok(), passes, "{rate}");
    }
}
