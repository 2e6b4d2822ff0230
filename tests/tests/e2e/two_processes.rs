//! Several server processes on one Postgres: D12, D25; docs/operator-api.md.

use std::time::Duration;

use recado_testkit::transport::json_answer;
use recado_tests::backend::TestServer;
use recado_tests::world::export_at;
use recado_tests::{Request, Setup, World, join_all, on_postgres, phone, text};
use serde_json::{Value, json};

async fn second(world: &World) -> TestServer {
    let setup = Setup { clock: Some(world.server.clock.clone()), ..Setup::default() };
    TestServer::start(&world.database, setup).await
}

async fn get(server: &TestServer, key: &str, path: &str) -> recado_tests::ScriptedAnswer {
    Request::new("GET", path).bearer(key).send(server.addr).await
}

async fn post(server: &TestServer, key: &str, body: Value) -> recado_tests::ScriptedAnswer {
    Request::new("POST", "/api/v1/contacts").bearer(key).json(&body).send(server.addr).await
}

#[on_postgres]
async fn they_share_the_allowance_of_a_key(world: World) {
    let other = second(&world).await;
    let key = world.key_rated(10, 4).await;
    let calls = (0..20)
        .map(|n| get(if n % 2 == 0 { &world.server } else { &other }, &key, "/api/v1/contacts"))
        .collect();
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 10);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 10);
    world.advance(Duration::from_secs(60));
    let calls = (0..8)
        .map(|n| {
            get(
                if n % 2 == 0 { &world.server } else { &other },
                &key,
                "/api/v1/contacts?order_by=created_at",
            )
        })
        .collect();
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 4);
}

#[on_postgres]
async fn a_revoked_key_and_a_changed_rate_hold_in_both_at_once(world: World) {
    let other = second(&world).await;
    let made = world.make("C/keys", json!({"name": "k", "scopes": ["contacts:read"]})).await;
    let (key, path) = (text(&made["key"]), format!("C/keys/{}", text(&made["id"])));
    get(&other, &key, "/api/v1/lists").await.expect(200);
    world.operator("PATCH", &path, json!({"rate_per_minute": 1})).await.expect(200);
    world.advance(Duration::from_secs(120));
    get(&other, &key, "/api/v1/lists").await.expect(200);
    get(&other, &key, "/api/v1/lists").await.expect_error(429, "RATE_LIMITED");
    world.operator("DELETE", &path, Value::Null).await;
    get(&other, &key, "/api/v1/lists").await.expect_error(401, "UNAUTHORIZED");
}

#[on_postgres]
async fn a_cursor_of_one_is_good_at_the_other(world: World) {
    for n in 0..4 {
        world.create(json!({"phone": phone(n)})).await;
    }
    let other = second(&world).await;
    let first = world.get("/api/v1/contacts?order_by=created_at&limit=2").await;
    let cursor = text(&first.json()["pagination"]["next_cursor"]);
    let path = format!("/api/v1/contacts?order_by=created_at&cursor={cursor}");
    let rest = get(&other, &world.us.key, &path).await;
    rest.expect(200);
    assert_eq!([first.ids(), rest.ids()].concat(), world.export(100).await);
}

#[on_postgres]
async fn what_one_creates_the_other_shows_at_once(world: World) {
    let other = second(&world).await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    assert_eq!(get(&other, &world.us.key, "/api/v1/contacts").await.ids(), [id.clone()]);
    assert_eq!(export_at(other.addr, &world.us.key, 10).await, [id]);
}

#[on_postgres]
async fn of_simultaneous_creations_of_one_phone_in_both_exactly_one_wins(world: World) {
    let other = second(&world).await;
    for n in 0..5 {
        let calls = (0..8)
            .map(|k| {
                post(
                    if k % 2 == 0 { &world.server } else { &other },
                    &world.us.key,
                    json!({"phone": phone(n)}),
                )
            })
            .collect();
        let answers = join_all(calls).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
        assert_eq!(answers.iter().filter(|answer| answer.status == 409).count(), 7);
    }
    assert_eq!(world.get("/api/v1/contacts").await.json()["pagination"]["total"], 5);
}

#[on_postgres]
async fn an_export_under_creation_in_both_neither_skips_nor_repeats(world: World) {
    export_while_creating(&world, second(&world).await).await;
}

#[on_postgres]
async fn an_export_under_creation_holds_with_clocks_that_disagree(world: World) {
    let other = TestServer::start(&world.database, Setup::default()).await;
    other.clock.set_back(Duration::from_secs(3_600));
    export_while_creating(&world, other).await;
}

#[on_postgres]
async fn the_registry_is_asked_by_one_of_them(world: World) {
    let other = second(&world).await;
    for transport in [&world.server.transport, &other.transport] {
        transport.otherwise(json_answer(200, &json!({"razao_social": "A", "nome_fantasia": "B"})));
    }
    let id = world.create_id(json!({"phone": phone(1), "cnpj": "19131243000197"})).await;
    recado_tests::eventually("enrichment", || async {
        (world.listed(&id).await["organization"]["name"] == "B").then_some(())
    })
    .await;
    let asked = world.server.transport.requests().len() + other.transport.requests().len();
    assert_eq!(asked, 1);
}

/// Creates contacts at both servers while an export alternates between them; then reads to the end.
async fn export_while_creating(world: &World, other: TestServer) {
    type Task<'a> = std::pin::Pin<Box<dyn Future<Output = Vec<String>> + 'a>>;
    let key = &world.us.key;
    let other = &other;
    let servers = [&world.server, other];
    let creators = (0..6_u32).map(|worker| {
        Box::pin(async move {
            let mut ids = Vec::new();
            for n in 0..25 {
                let server = servers[(worker % 2) as usize];
                let answer = post(server, key, json!({"phone": phone(1_000 * worker + n)})).await;
                ids.push(text(&answer.expect(201)["contact"]["id"]));
                if n % 3 == 0 {
                    server.clock.advance(Duration::from_millis(1));
                }
            }
            ids
        }) as Task<'_>
    });
    let reader = Box::pin(async move {
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        let mut idle = 0;
        for call in 0.. {
            let with = cursor.as_ref().map(|c| format!("&cursor={c}")).unwrap_or_default();
            let path = format!("/api/v1/contacts?order_by=created_at&limit=4{with}");
            let answer = get(servers[call % 2], key, &path).await;
            answer.expect(200);
            match answer.json()["pagination"]["next_cursor"].as_str() {
                Some(next) => {
                    seen.extend(answer.ids());
                    cursor = Some(next.to_owned());
                    idle = 0;
                }
                // There is no later contact yet: reads again from the same position, a limited
                // number of times.
                None if idle < 80 => idle += 1,
                None => {
                    seen.extend(answer.ids());
                    break;
                }
            }
        }
        seen
    }) as Task<'_>;
    let mut results = join_all(creators.chain([reader]).collect::<Vec<_>>()).await;
    let seen = results.pop().expect("the reader");
    let mut created: Vec<String> = results.into_iter().flatten().collect();
    let mut unique = seen.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), seen.len(), "nothing repeated");
    let whole = export_at(world.addr, key, 100).await;
    assert_eq!(
        seen,
        whole[..seen.len()],
        "what was read is the export's beginning: nothing skipped"
    );
    let mut all = whole;
    all.sort();
    created.sort();
    assert_eq!(all, created);
}
