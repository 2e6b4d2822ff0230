//! Random and concurrent calls: properties that follow from several statements together.

use std::collections::BTreeMap;

use recado_tests::{World, both_stores, join_all, phone, text};
use serde_json::{Value, json};

/// A small random generator with a fixed seed, so that every run is the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).expect("small")
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }
}

const PLATFORMS: [&str; 3] = ["whatsapp", "instagram", "webchat"];
const STATUSES: [&str; 5] = ["lead", "prospect", "customer", "inactive", "lost"];
const NAMES: [&str; 6] = ["Ana Souza", "João Paulo", "Zé", "Maria João", "Bruno", "ÇİĞ"];

/// Whether a contact in list form passes a query made of exact filters and a search by name.
fn passes(contact: &Value, query: &BTreeMap<&str, String>) -> bool {
    query.iter().all(|(name, value)| match *name {
        "search" => text(&contact["display_name"]).to_lowercase().contains(&value.to_lowercase()),
        name => text(&contact[name]) == *value,
    })
}

async fn check_listings(world: &World, dice: &mut Dice, stages: &[String]) {
    let all = everything(world).await;
    for _ in 0..30 {
        let mut query = BTreeMap::new();
        let mut maybe = |name, value: String, one_in: usize| {
            if dice.roll(one_in) == 0 {
                query.insert(name, value);
            }
        };
        maybe("source_platform", PLATFORMS[all.len() % 3].to_owned(), 3);
        maybe("inbox_status", "open".to_owned(), 3);
        maybe("is_ai_enabled", "true".to_owned(), 3);
        maybe("is_group", "false".to_owned(), 3);
        maybe("search", "jo".to_owned(), 4);
        if dice.roll(3) == 0 {
            query.insert("crm_status", dice.pick(&STATUSES).to_owned());
        }
        if dice.roll(4) == 0 {
            query.insert("pipeline_stage_id", stages[dice.roll(stages.len())].clone());
        }
        let text_of_query: String =
            query.iter().map(|(name, value)| format!("&{name}={value}")).collect();
        let mut expected: Vec<&Value> =
            all.iter().filter(|contact| passes(contact, &query)).collect();
        let limit = 1 + dice.roll(9);
        let mut seen = Vec::new();
        for page in 1..=expected.len() / limit + 1 {
            let answer = world
                .get(&format!("/api/v1/contacts?limit={limit}&page={page}{text_of_query}"))
                .await;
            answer.expect(200);
            assert_eq!(answer.json()["pagination"]["total"], expected.len(), "{text_of_query}");
            seen.extend(answer.ids());
        }
        // Newest first, those without messages last, then by id.
        expected.sort_by_key(|contact| text(&contact["id"]));
        expected.sort_by(|a, b| {
            let time = |contact: &Value| contact["last_message_at"].as_str().map(str::to_owned);
            time(b).cmp(&time(a))
        });
        let ids = |contacts: &[&Value]| contacts.iter().map(|c| text(&c["id"])).collect::<Vec<_>>();
        assert_eq!(seen, ids(&expected), "{text_of_query}");
        expected.sort_by_key(|contact| (text(&contact["created_at"]), text(&contact["id"])));
        let (mut exported, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!(
                "/api/v1/contacts?order_by=created_at&limit={limit}{text_of_query}{cursor}"
            );
            let answer = world.get(&path).await;
            assert_eq!(answer.json()["pagination"]["total"], expected.len(), "{text_of_query}");
            exported.extend(answer.ids());
            match answer.json()["pagination"]["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(exported, ids(&expected), "export {text_of_query}");
    }
}

async fn everything(world: &World) -> Vec<Value> {
    let first = world.get("/api/v1/contacts?limit=100").await;
    let total = first.json()["pagination"]["total"].as_u64().expect("a total");
    assert!(total <= 100, "the test looks at one page");
    first.items()
}

#[both_stores]
async fn listings_totals_and_exports_agree_with_a_filter_by_hand_through_random_changes(
    world: World,
) {
    let mut dice = Dice(0x5eed_1234_abcd_0001);
    let stage = |name: &str| json!({"name": name, "color": "#123456"});
    let pipeline =
        world.make("C/pipelines", json!({"name": "p", "stages": [stage("a"), stage("b")]})).await;
    let stages: Vec<String> =
        pipeline["stages"].as_array().expect("stages").iter().map(|s| text(&s["id"])).collect();
    let mut ids = Vec::new();
    for n in 0..60 {
        let group = dice.roll(5) == 0;
        let mut body = json!({
            "identifier": format!("c{n}"), "name": dice.pick(&NAMES), "is_group": group,
            "source_platform": dice.pick(&PLATFORMS), "inbox_status": dice.pick(&["open", "resolved"]),
            "crm_status": dice.pick(&STATUSES), "is_ai_enabled": dice.roll(2) == 0,
            "created_at": format!("2026-01-{:02}T00:00:00.000Z", 1 + dice.roll(9)),
        });
        if dice.roll(2) == 0 {
            body["last_message_at"] =
                json!(format!("2026-02-{:02}T00:00:00.000Z", 1 + dice.roll(5)));
        }
        ids.push(world.import(body).await);
    }
    check_listings(&world, &mut dice, &stages).await;
    for round in 0..60 {
        let id = ids[dice.roll(ids.len())].clone();
        let path = format!("C/contacts/{id}");
        match dice.roll(5) {
            0 => {
                let body = json!({"crm_status": dice.pick(&STATUSES)});
                world.operator("PATCH", &path, body).await.expect(200);
            }
            1 => {
                world.patch_contact(&id, json!({"name": dice.pick(&NAMES)})).await.expect(200);
            }
            2 => {
                let stage = &stages[dice.roll(2)];
                let status = dice.pick(&["open", "won"]);
                world.make("C/deals", json!({"contact_id": id, "title": "d", "stage_id": stage, "status": status})).await;
            }
            3 => {
                world.create(json!({"phone": phone(round), "name": dice.pick(&NAMES)})).await;
            }
            _ => {
                world.delete(&format!("/api/v1/contacts/{id}")).await.expect_deleted();
                ids.retain(|other| *other != id);
            }
        }
    }
    check_listings(&world, &mut dice, &stages).await;
}

#[both_stores]
async fn simultaneous_calls_on_the_same_records_never_fail_and_leave_true_totals(world: World) {
    let list = world.list("l").await;
    let field = world.field("fff").await;
    for round in 0..4 {
        let mut calls: Vec<
            std::pin::Pin<Box<dyn Future<Output = recado_tests::ScriptedAnswer> + '_>>,
        > = Vec::new();
        let known = world.list_ids("limit=100").await;
        for n in 0..10_u32 {
            let (list, field) = (&list, &field);
            let number = phone(n % 5);
            let email = format!("e{}@example.com", n % 3);
            calls.push(Box::pin(world.post_contact(json!({
                "phone": number, "email": email, "list_ids": [list], "custom_fields": {field: "x"}, "cnpj": "19131243000197",
            }))));
            if let Some(id) = known.get(n as usize % known.len().max(1)) {
                let (id, email) = (id.clone(), format!("e{}@example.com", (n + 1) % 3));
                let world = &world;
                calls.push(Box::pin(async move {
                    world.patch_contact(&id, json!({"email": email})).await
                }));
                let id = known[(n as usize + 1) % known.len()].clone();
                if (n + round) % 4 == 0 {
                    calls.push(Box::pin(async move {
                        world.delete(&format!("/api/v1/contacts/{id}")).await
                    }));
                }
            }
        }
        for answer in join_all(calls).await {
            assert!([200, 201, 404, 409].contains(&answer.status), "{}", answer.show());
        }
    }
    let all = everything(&world).await;
    let mut phones: Vec<String> = all.iter().map(|contact| text(&contact["phone"])).collect();
    let mut emails: Vec<&str> =
        all.iter().filter_map(|contact| contact["email"].as_str()).collect();
    for (count, unique) in [
        (phones.len(), {
            phones.sort();
            phones.dedup();
            phones.len()
        }),
        (emails.len(), {
            emails.sort_unstable();
            emails.dedup();
            emails.len()
        }),
    ] {
        assert_eq!(count, unique, "one phone and one e-mail each");
    }
    assert_eq!(world.export(7).await.len(), all.len());
    assert_eq!(world.get("/api/v1/lists").await.items()[0]["contacts_count"], all.len());
}

#[both_stores]
async fn of_two_simultaneous_deletions_one_deletes(world: World) {
    for n in 0..6 {
        let id = world.create_id(json!({"phone": phone(n)})).await;
        if n % 2 == 0 {
            world.document(&id, "a", b"bytes").await;
        }
        let path = format!("/api/v1/contacts/{id}");
        let answers =
            join_all(vec![world.delete(&path), world.delete(&path), world.delete(&path)]).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            assert!([404, 503].contains(&answer.status), "{}", answer.show());
        }
    }
    assert_eq!(world.server.files_on_disk(), Vec::<String>::new());
}

#[both_stores]
async fn a_document_attached_during_a_deletion_leaves_no_orphan(world: World) {
    for n in 0..10 {
        let id = world.create_id(json!({"phone": phone(n)})).await;
        world.document(&id, "a", b"bytes").await;
        let contact = format!("/api/v1/contacts/{id}");
        let upload =
            format!("/operator/v1/companies/{}/contacts/{id}/documents?filename=b", world.us.id);
        let upload =
            recado_tests::Request::new("POST", upload).bearer(recado_tests::OPERATOR).body("late");
        let (deleted, attached) = tokio::join!(world.delete(&contact), world.send(upload));
        assert!([200, 503].contains(&deleted.status), "{}", deleted.show());
        assert!([201, 404, 503].contains(&attached.status), "{}", attached.show());
        if deleted.status == 503 {
            world.delete(&contact).await.expect_deleted();
        }
    }
    assert_eq!(world.server.files_on_disk(), Vec::<String>::new());
}

// Contacts that only an import can make, read and written back

#[both_stores]
async fn a_contact_without_a_phone_can_be_sent_back_whole(world: World) {
    for body in [
        json!({"identifier": "only-an-id"}),
        json!({"identifier": "1203@g.us", "is_group": true, "external_chat_id": "1203@g.us"}),
        json!({"identifier": "5511987654321"}),
        json!({"identifier": "551187654322", "phone": "+5511987654322"}),
    ] {
        let id = world.import(body).await;
        let before = world.detail(&id).await;
        world.patch_contact(&id, before.clone()).await.expect(200);
        assert_eq!(world.detail(&id).await, before);
    }
}

#[both_stores]
async fn a_contact_without_a_phone_cannot_be_given_one(world: World) {
    let id = world.import(json!({"identifier": "only-an-id"})).await;
    assert_eq!(
        world.patch_contact(&id, json!({"phone": phone(1)})).await.expect_invalid(),
        ["phone"]
    );
}

// Notations of an id

#[both_stores]
async fn an_id_in_capitals_is_the_same_id(world: World) {
    let (list, field) = (world.list("l").await, world.field("fff").await);
    let id = world.create_id(json!({
        "phone": phone(1), "list_ids": [list.to_uppercase()], "custom_fields": {field.to_uppercase(): "x"},
    })).await;
    let detail = world.get(&format!("/api/v1/contacts/{}", id.to_uppercase())).await.expect(200);
    assert_eq!(detail["id"], id.as_str());
    assert_eq!(detail["custom_fields"], json!({&field: "x"}));
    let answer = world
        .patch_contact(&id, json!({"custom_fields": {&field: "a", field.to_uppercase(): "b"}}))
        .await;
    assert!([200, 422].contains(&answer.status), "{}", answer.show());
}
