//! GET /contacts by page: 2.1, 4.1, 4.11, 8; D7, D24, D25, D77.

use std::time::Duration;

use recado_tests::{World, both_stores, digits, mobile, phone, text, unknown_id};
use serde_json::{Value, json};

async fn search(world: &World, term: &str) -> Vec<String> {
    let encoded: String = term.bytes().map(|byte| format!("%{byte:02X}")).collect();
    world.list_ids(&format!("search={encoded}")).await
}

// Paging

#[both_stores]
async fn an_empty_company_has_an_empty_page_and_no_pages(world: World) {
    let answer = world.get("/api/v1/contacts").await;
    assert_eq!(answer.expect(200), json!([]));
    let pagination = json!({"page": 1, "limit": 50, "total": 0, "total_pages": 0});
    assert_eq!(answer.json()["pagination"], pagination);
}

#[both_stores]
async fn the_default_page_is_the_first_fifty(world: World) {
    for n in 0..51 {
        world.import(json!({"phone": phone(n)})).await;
    }
    let first = world.get("/api/v1/contacts").await;
    assert_eq!(first.ids().len(), 50);
    let pagination = json!({"page": 1, "limit": 50, "total": 51, "total_pages": 2});
    assert_eq!(first.json()["pagination"], pagination);
    let second = world.get("/api/v1/contacts?page=2").await;
    assert_eq!(second.ids().len(), 1);
    assert!(!first.ids().contains(&second.ids()[0]));
}

#[both_stores]
async fn a_page_beyond_the_end_is_empty_with_the_true_total(world: World) {
    for n in 0..3 {
        world.create(json!({"phone": phone(n)})).await;
    }
    for page in ["3", "1000000", "4000000000", "9223372036854775807"] {
        let answer = world.get(&format!("/api/v1/contacts?limit=2&page={page}")).await;
        if answer.status == 400 {
            answer.expect_bad_parameter("page");
            assert!(page.len() > 10, "{page} is a sane page");
            continue;
        }
        assert_eq!(answer.expect(200), json!([]), "page {page}");
        assert_eq!(answer.json()["pagination"]["total"], 3);
        assert_eq!(answer.json()["pagination"]["total_pages"], 2);
    }
}

// 4.1.1

#[both_stores]
async fn the_newest_conversation_is_first_and_silent_contacts_are_last(world: World) {
    let silent = world.import(json!({"phone": phone(1)})).await;
    let old = world
        .import(json!({"phone": phone(2), "last_message_at": "2026-01-01T00:00:00.000Z"}))
        .await;
    let new = world
        .import(json!({"phone": phone(3), "last_message_at": "2026-02-01T00:00:00.001Z"}))
        .await;
    let middle = world
        .import(json!({"phone": phone(4), "last_message_at": "2026-02-01T00:00:00.000Z"}))
        .await;
    assert_eq!(
        world.list_ids("").await,
        [new.clone(), middle.clone(), old.clone(), silent.clone()]
    );
    assert_eq!(world.list_ids("order_by=last_message_at").await, [new, middle, old, silent]);
}

// Filters

#[both_stores]
async fn each_filter_picks_its_contacts(world: World) {
    let a = world
        .import(json!({
            "phone": phone(1), "identifier": "a", "source_platform": "instagram",
            "inbox_status": "resolved", "crm_status": "customer", "is_ai_enabled": false,
        }))
        .await;
    let b = world.import(json!({"phone": phone(2)})).await;
    let group = world
        .import(json!({
            "identifier": "1203@g.us", "is_group": true, "external_chat_id": "1203@g.us",
        }))
        .await;
    let people = sorted(&[&a, &b]);
    let normal = sorted(&[&b, &group]);
    for (query, expected) in [
        ("source_platform=instagram", vec![a.clone()]),
        ("source_platform=whatsapp", normal.clone()),
        ("inbox_status=resolved", vec![a.clone()]),
        ("inbox_status=open", normal.clone()),
        ("crm_status=customer", vec![a.clone()]),
        ("crm_status=lead", normal.clone()),
        ("is_ai_enabled=false", vec![a.clone()]),
        ("is_ai_enabled=true", normal.clone()),
        ("is_group=true", vec![group.clone()]),
        ("is_group=false", people.clone()),
        ("is_group=false&is_ai_enabled=true", vec![b.clone()]),
        ("is_group=true&crm_status=customer", vec![]),
        ("crm_status=nothing-has-this", vec![]),
        ("source_platform=nowhere", vec![]),
        ("source_platform=WHATSAPP", vec![]),
    ] {
        assert_eq!(world.list_ids(query).await, expected, "{query}");
        let mut exported = world.list_ids(&format!("order_by=created_at&{query}")).await;
        exported.sort();
        assert_eq!(exported, expected, "export with {query}");
    }
}

/// D77: each filter alone and together with others, in both modes, with an exact total.
#[both_stores]
async fn filters_by_list_tag_assignee_and_times_pick_their_contacts(world: World) {
    let tag = text(&world.make("C/tags", json!({"name": "t", "color": "#111111"})).await["id"]);
    let member = text(&world.make("C/members", json!({"display_name": "m"})).await["id"]);
    let (list, empty) = (world.list("VIP").await, world.list("none").await);
    let import = async |n: u32, more: Value| {
        let mut body = json!({"phone": phone(n), "name": format!("Ana {n}")});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
        world.import(body).await
    };
    let a = import(1, json!({"tag_ids": [&tag], "last_message_at": "2026-01-02T00:00:00.000Z"}));
    let b = import(2, json!({"assigned_to_member_id": &member, "inbox_status": "resolved"}));
    let c = import(3, json!({"assigned_to_member_id": &member, "tag_ids": [&tag]}));
    let (a, b, c) = (a.await, b.await, c.await);
    world.advance(Duration::from_secs(60));
    let later = world.time();
    let d = import(4, json!({"last_message_at": "2026-01-03T00:00:00.000Z"})).await;
    let contacts = format!("C/lists/{list}/contacts");
    world.operator("POST", &contacts, json!({"contact_ids": [&a, &b, &d]})).await.expect(200);
    world
        .operator("PATCH", &format!("C/contacts/{b}"), json!({"priority": "high"}))
        .await
        .expect(200);
    for (query, expected) in [
        (format!("list_id={list}"), sorted(&[&a, &b, &d])),
        (format!("list_id={empty}"), vec![]),
        (format!("tag_id={tag}"), sorted(&[&a, &c])),
        (format!("assigned_to={member}"), sorted(&[&b, &c])),
        ("assigned_to=none".to_owned(), sorted(&[&a, &d])),
        (format!("list_id={list}&tag_id={tag}"), vec![a.clone()]),
        (format!("list_id={list}&inbox_status=resolved"), vec![b.clone()]),
        (format!("list_id={list}&assigned_to=none&search=ana%204"), vec![d.clone()]),
        (format!("tag_id={tag}&assigned_to={member}"), vec![c.clone()]),
        (format!("updated_since={later}"), sorted(&[&b, &d])),
        (format!("updated_since={later}&list_id={list}&assigned_to=none"), vec![d.clone()]),
        ("active_since=2026-01-02T00:00:00.000Z".to_owned(), sorted(&[&a, &d])),
        ("active_since=2026-01-02T00:00:00.001Z".to_owned(), vec![d.clone()]),
        ("active_since=2026-01-02".to_owned(), sorted(&[&a, &d])),
        (format!("active_since=2026-01-02T03:00:00%2B0300&tag_id={tag}"), vec![a.clone()]),
        ("active_since=2026-01-04".to_owned(), vec![]),
    ] {
        for mode in ["limit=100", "order_by=created_at"] {
            let answer = world.get(&format!("/api/v1/contacts?{mode}&{query}")).await;
            let mut ids = answer.ids();
            ids.sort();
            assert_eq!(ids, expected, "{mode} {query}");
            assert_eq!(answer.json()["pagination"]["total"], expected.len(), "{mode} {query}");
        }
    }
    let names = [("list_id", "x"), ("tag_id", "1"), ("assigned_to", "me"), ("unread", "1")];
    for (name, wrong) in names.into_iter().chain([("updated_since", "now"), ("active_since", "")]) {
        let answer = world.get(&format!("/api/v1/contacts?{name}={wrong}")).await;
        answer.expect_bad_parameter(name);
    }
}

/// D77.
#[both_stores]
async fn lists_tags_and_members_of_another_company_match_nothing(world: World) {
    let other = world.tenant("Other").await;
    let list = text(&world.make_for(&other, "C/lists", json!({"name": "l"})).await["id"]);
    let tag = json!({"name": "t", "color": "#111111"});
    let tag = text(&world.make_for(&other, "C/tags", tag).await["id"]);
    let member = json!({"display_name": "m"});
    let member = text(&world.make_for(&other, "C/members", member).await["id"]);
    world.create_as(&other, json!({"phone": phone(1), "list_ids": [&list]})).await;
    world.create(json!({"phone": phone(1)})).await;
    let unknown = unknown_id();
    for query in [
        format!("list_id={list}"),
        format!("tag_id={tag}"),
        format!("assigned_to={member}"),
        format!("list_id={unknown}"),
        format!("list_id={list}&tag_id={tag}"),
    ] {
        let answer = world.get(&format!("/api/v1/contacts?{query}")).await;
        assert_eq!(answer.expect(200), json!([]), "{query}");
        assert_eq!(answer.json()["pagination"]["total"], 0, "{query}");
    }
    let theirs = world.get_as(&other.key, &format!("/api/v1/contacts?list_id={list}")).await;
    assert_eq!(theirs.json()["pagination"]["total"], 1);
}

/// D77, R270: what is unread until an agent replies or somebody reads is found as such.
#[both_stores]
async fn unread_contacts_are_found_until_a_reply_or_read(world: World) {
    let qr = world.qr().await;
    let silent = world.create_id(json!({"phone": phone(1)})).await;
    let (a, b) = (
        world.contact_by_message(&qr, &mobile(2)).await,
        world.contact_by_message(&qr, &mobile(3)).await,
    );
    let updated = world.listed(&a).await["updated_at"].clone();
    world.receive(&qr, &digits(&mobile(2)), "oi").await;
    assert_eq!(world.listed(&a).await["updated_at"], updated, "messages do not move it");
    let unread = async |wanted: &[&String], others: &[&String]| {
        for mode in ["limit=100", "order_by=created_at"] {
            for (query, expected) in [("unread=true", wanted), ("unread=false", others)] {
                let mut ids = world.list_ids(&format!("{mode}&{query}")).await;
                ids.sort();
                assert_eq!(ids, sorted(expected), "{mode} {query}");
            }
        }
    };
    unread(&[&a, &b], &[&silent]).await;
    world.sent(&mobile(2), "automatic").await;
    unread(&[&a, &b], &[&silent]).await;
    world.act(&a, "reply", json!({"message": "pois não"})).await.expect(200);
    unread(&[&b], &[&silent, &a]).await;
    world.act(&b, "read", Value::Null).await.expect(200);
    unread(&[], &[&silent, &a, &b]).await;
    world.receive(&qr, &digits(&mobile(3)), "alô").await;
    unread(&[&b], &[&silent, &a]).await;
}

#[both_stores]
async fn the_stage_filter_compares_with_the_focus_stage(world: World) {
    let pipeline = world.make("C/pipelines", json!({
        "name": "Vendas", "stages": [{"name": "Novo", "color": "#111111"}, {"name": "Fim", "color": "#222222"}],
    })).await;
    let (one, two) = (text(&pipeline["stages"][0]["id"]), text(&pipeline["stages"][1]["id"]));
    let id = world.create_id(json!({"phone": phone(1)})).await;
    world.create(json!({"phone": phone(2)})).await;
    world.make("C/deals", json!({"contact_id": id, "title": "d", "stage_id": one})).await;
    world.advance(Duration::from_secs(1));
    world.make("C/deals", json!({"contact_id": id, "title": "e", "stage_id": two})).await;
    assert_eq!(world.list_ids(&format!("pipeline_stage_id={two}")).await, [id]);
    assert!(world.list_ids(&format!("pipeline_stage_id={one}")).await.is_empty(), "one stage only");
    let answer = world.get(&format!("/api/v1/contacts?pipeline_stage_id={one}")).await;
    assert_eq!(answer.json()["pagination"]["total"], 0);
    let unknown = unknown_id();
    assert!(world.list_ids(&format!("pipeline_stage_id={unknown}")).await.is_empty());
}

#[both_stores]
async fn a_stage_of_another_company_matches_nothing(world: World) {
    let other = world.tenant("Other").await;
    let pipeline = world
        .make_for(
            &other,
            "C/pipelines",
            json!({"name": "p", "stages": [{"name": "s", "color": "#111111"}]}),
        )
        .await;
    world.create(json!({"phone": phone(1)})).await;
    let stage = text(&pipeline["stages"][0]["id"]);
    assert!(world.list_ids(&format!("pipeline_stage_id={stage}")).await.is_empty());
}

// D7

#[both_stores]
async fn wrong_parameters_are_400_naming_the_parameter(world: World) {
    for (query, name) in [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=1.5", "page"),
        ("page=x", "page"),
        ("page=", "page"),
        ("page=99999999999999999999999", "page"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=-1", "limit"),
        ("limit=ten", "limit"),
        ("is_ai_enabled=1", "is_ai_enabled"),
        ("is_ai_enabled=TRUE", "is_ai_enabled"),
        ("is_group=yes", "is_group"),
        ("is_group=", "is_group"),
        ("pipeline_stage_id=x", "pipeline_stage_id"),
        ("include=clicks", "include"),
        ("include=link_clicks,nope", "include"),
        ("inbox_status=closed", "inbox_status"),
        ("order_by=name", "order_by"),
        ("order_by=", "order_by"),
        ("order_by=Created_at", "order_by"),
        ("cursor=abc", "cursor"),
        ("order_by=last_message_at&cursor=abc", "cursor"),
        ("order_by=created_at&page=1", "page"),
        ("order_by=created_at&cursor=abc", "cursor"),
        ("limit=10&limit=10", "limit"),
        ("page=1&page=1", "page"),
        ("search=a&search=b", "search"),
        ("is_group=true&is_group=true", "is_group"),
    ] {
        let answer = world.get(&format!("/api/v1/contacts?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.show());
        answer.expect_bad_parameter(name);
    }
}

#[both_stores]
async fn the_extremes_of_page_and_limit_are_accepted(world: World) {
    for query in ["limit=1", "limit=100", "page=1&limit=100", "is_group=true&is_ai_enabled=false"] {
        world.get(&format!("/api/v1/contacts?{query}")).await.expect(200);
    }
}

#[both_stores]
async fn unknown_parameters_are_ignored_even_repeated(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    assert_eq!(world.list_ids("foo=1&foo=2&_=3&is_groups=true").await, [id]);
}

#[both_stores]
async fn parameters_are_percent_decoded(world: World) {
    let id = world.create_id(json!({"phone": phone(1), "name": "A&B=C 100%"})).await;
    assert_eq!(world.list_ids("search=A%26B%3DC+100%25").await, [id.clone()]);
    assert_eq!(world.list_ids("search=B%3dC%20100%25").await, [id]);
    world.get("/api/v1/contacts?search=%FF%FE").await.expect_bad_parameter("search");
}

// D24

#[both_stores]
async fn search_finds_substrings_without_case_or_accents(world: World) {
    let id = world
        .create_id(
            json!({"phone": phone(1), "name": "João Conceição", "email": "jc@empresa.com.br"}),
        )
        .await;
    world.create(json!({"phone": phone(2), "name": "Maria"})).await;
    for term in [
        "João",
        "joao",
        "JOAO",
        "jOãO",
        "oao con",
        "conceicao",
        "CEIÇÃO",
        "jc@EMPRESA",
        "empresa.com",
        "  joão  ",
    ] {
        assert_eq!(search(&world, term).await, [id.clone()], "{term}");
    }
    // The accent may also be a combining character.
    assert_eq!(search(&world, "Joa\u{303}o").await, [id]);
    for term in ["joaoo", "joão maria", "xyz"] {
        assert!(search(&world, term).await.is_empty(), "{term}");
    }
}

#[both_stores]
async fn search_takes_wildcards_and_quotes_literally(world: World) {
    let id = world
        .create_id(json!({"phone": phone(1), "name": r#"50%_off "now" \o/ it's * [x] -- ok"#}))
        .await;
    world.create(json!({"phone": phone(2), "name": "500 off now"})).await;
    for term in [
        "50%_", "%_o", "\"now\"", "\\o/", "it's", "w\" \\", " * ", "[x]", "-- ok", "%", "_", "*",
        "'",
    ] {
        assert_eq!(search(&world, term).await, [id.clone()], "{term}");
    }
    for term in ["5%0", "50__off", "a* OR b", "name:x", "NEAR(", "\" OR \"\"=\""] {
        assert!(search(&world, term).await.is_empty(), "{term}");
    }
}

#[both_stores]
async fn head_answers_as_get_without_a_body(world: World) {
    world.create(json!({"phone": phone(1)})).await;
    let get = world.get("/api/v1/contacts").await;
    let head = world.call(recado_tests::Request::new("HEAD", "/api/v1/contacts")).await;
    assert_eq!(head.status, 200);
    assert!(head.body.is_empty());
    assert_eq!(head.header("content-type"), get.header("content-type"));
}

fn sorted(ids: &[&String]) -> Vec<String> {
    let mut ids: Vec<String> = ids.iter().map(|id| (*id).clone()).collect();
    ids.sort();
    ids
}
