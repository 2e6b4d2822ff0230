//! A company that moved to another cell: its old cell hands its calls on (R460).

use std::net::SocketAddr;

use recado_core::Cell;
use recado_tests::backend::{Database, Setup, TestServer};
use recado_tests::clouded::Clouded;
use recado_tests::hooks_in::{Intake, dispatching, incoming, plain};
use recado_tests::messaging::path_of;
use recado_tests::world::operator_at;
use recado_tests::{Request, ScriptedAnswer, StoreKind, World, both_stores, mobile, phone, text};
use serde_json::{Value, json};

const CONTACTS: &str = "/api/v1/contacts";

fn cell() -> Cell {
    Cell::new(1).expect("a cell")
}

/// What these tests ask is what a cell does that no proxy is in front of.
fn alone() -> Setup {
    Setup { alone: true, ..Setup::default() }
}

/// The server of cell 1.
struct NewCell {
    addr: SocketAddr,
    server: TestServer,
    /// It is dropped with the test.
    _database: Database,
}

/// Moves our company to cell 1, which is started, and tells the old one where that is.
async fn moved(world: &mut World) -> NewCell {
    let target = Database::migrated(world.kind().other());
    world.move_to_cell(&target, cell()).await.expect("it is moved");
    let setup = Setup { cell: cell(), ..world.server.setup() };
    let server = TestServer::start(&target, setup).await;
    knows(world, server.addr).await;
    NewCell { addr: server.addr, server, _database: target }
}

/// Starts the old server with this address of cell 1.
async fn knows(world: &mut World, addr: SocketAddr) {
    world.server.set_cell_urls([(cell(), format!("http://{addr}"))].into());
    world.restart().await;
}

async fn get(addr: SocketAddr, key: &str, path: &str) -> ScriptedAnswer {
    Request::new("GET", path).bearer(key).send(addr).await
}

async fn phones_at(addr: SocketAddr, key: &str) -> Vec<String> {
    let page = get(addr, key, CONTACTS).await;
    page.expect(200);
    page.column("phone")
}

/// R460, D11.
#[both_stores]
async fn calls_with_a_key_of_a_company_that_moved_are_answered_by_its_new_cell(kind: StoreKind) {
    let mut world = World::with(kind, alone()).await;
    world.post_contact(json!({"phone": phone(1)})).await.expect(201);
    let there = moved(&mut world).await;
    let made = world.create_id(json!({"phone": phone(2)})).await;
    assert_eq!(Cell::of_uuid(made.parse().expect("an id")), Some(cell()));
    let both = phones_at(there.addr, &world.us.key).await;
    assert_eq!(both.len(), 2);
    assert_eq!(phones_at(world.addr, &world.us.key).await, both);
    let again = world.post_contact(json!({"phone": phone(2)})).await;
    again.expect_error(409, "CONTACT_EXISTS");
    // A request's id is the same in both.
    let request = Request::new("GET", CONTACTS).bearer(&world.us.key);
    let named = world.send(request.header("x-request-id", "order-17")).await;
    assert_eq!(named.header("x-request-id"), "order-17");
    let head = world.send(Request::new("HEAD", CONTACTS).bearer(&world.us.key)).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    // A key that the new cell made is its own, and one that nobody has is refused here.
    let key =
        text(&world.make("C/keys", json!({"name": "n", "scopes": ["contacts:read"]})).await["key"]);
    assert!(key.starts_with("rk1_"), "{key}");
    assert_eq!(get(there.addr, &key, CONTACTS).await.status, 200);
    assert_eq!(get(world.addr, &key, CONTACTS).await.status, 401);
}

/// R460: what is decided there counts, not what the old cell has kept.
#[both_stores]
async fn a_key_that_is_revoked_at_the_new_cell_is_refused_through_the_old_one(kind: StoreKind) {
    let mut world = World::with(kind, alone()).await;
    let key = world.make("C/keys", json!({"name": "n", "scopes": ["contacts:read"]})).await;
    let (id, key) = (text(&key["id"]), text(&key["key"]));
    let there = moved(&mut world).await;
    assert_eq!(get(world.addr, &key, CONTACTS).await.status, 200);
    let path = format!("/companies/{}/keys/{id}", world.us.id);
    operator_at(there.addr, "", "DELETE", &path, Value::Null).await.expect(200);
    assert_eq!(get(world.addr, &key, CONTACTS).await.status, 401);
}

/// R460, D3: the operator API by the company in its path; other companies are answered here.
#[both_stores]
async fn the_operator_api_of_a_company_that_moved_is_that_of_its_new_cell(kind: StoreKind) {
    let mut world = World::with(kind, alone()).await;
    let other = world.tenant("Outra").await;
    let there = moved(&mut world).await;
    let tag = json!({"name": "a", "color": "#000000"});
    world.operator("POST", "C/tags", tag).await.expect(201);
    let path = format!("/companies/{}/tags", world.us.id);
    let tags = operator_at(there.addr, "", "GET", &path, Value::Null).await.expect(200);
    assert_eq!(tags.as_array().map(Vec::len), Some(1), "{tags}");
    world.create_as(&other, json!({"phone": phone(3)})).await;
    let path = format!("/companies/{}/contacts", other.id);
    assert_eq!(operator_at(there.addr, "", "GET", &path, Value::Null).await.status, 404);
}

/// R460: forms, templates and links, whose addresses nobody has to change.
#[both_stores]
async fn forms_templates_and_links_of_a_company_that_moved_go_on(kind: StoreKind) {
    let mut intake = Intake::with(kind, alone()).await;
    let endpoint = intake.endpoint("landing", plain()).await;
    let token = intake.token("aviso", "UTILITY", "Oi").await;
    let contact = intake.create_id(json!({"phone": mobile(1)})).await;
    let link = json!({"contact_id": contact, "url": "https://example.org/"});
    let link = text(&intake.make("C/links", link).await["code"]);
    let there = moved(&mut intake.world).await;
    // The old cell has none of what follows.
    intake.features(&intake.us, true, true).await;
    let taken = intake.hand_in(&endpoint, &json!({"phone": mobile(2), "name": "Ana"})).await;
    taken.expect_ok();
    let wrong = intake.knock(Request::new("POST", incoming("landing")).json(&json!({}))).await;
    wrong.expect_hook_error(401, "INVALID_SECRET");
    intake
        .knock(Request::new("POST", dispatching(&token)).json(&json!({})))
        .await
        .expect_hook_error(400, "MISSING_PHONE");
    let browser = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
    let click = Request::new("GET", format!("/l/{link}")).header("user-agent", browser);
    let clicked = intake.send(click).await;
    assert_eq!((clicked.status, &*clicked.header("location")), (302, "https://example.org/"));
    let phones = phones_at(there.addr, &intake.us.key).await;
    assert!(phones.contains(&mobile(2)), "{phones:?}");
    let with_clicks = format!("{CONTACTS}?include=link_clicks&search={}", mobile(1));
    let found = get(there.addr, &intake.us.key, &with_clicks).await;
    assert_eq!(found.items()[0]["link_clicks"]["total"], 1, "{}", found.show());
    // Names that nobody has are answered here.
    assert_eq!(intake.knock(Request::new("POST", incoming("nobody"))).await.status, 404);
    assert_eq!(intake.send(Request::new("GET", "/l/nobody")).await.status, 404);
}

/// R460, D68.
#[both_stores]
async fn a_gateway_goes_on_calling_the_address_of_the_old_cell(kind: StoreKind) {
    let mut clouded = Clouded::with(kind, alone()).await;
    let there = moved(&mut clouded.world).await;
    let message = clouded.says("5511987650001", "oi").await;
    assert_eq!(message["content"], "oi");
    let path = "/api/v1/messages";
    let stored = get(there.addr, &clouded.us.key, path).await.column("content");
    assert_eq!(stored, ["oi"]);
    let forged = Request::new("POST", format!("/api/webhooks/provider/{}", clouded.connection));
    assert_eq!(clouded.send(forged.json(&json!({}))).await.status, 401);
}

/// R460: a body is passed on as it comes, and an answer, too.
#[both_stores]
async fn a_large_file_goes_through_the_old_cell_both_ways(kind: StoreKind) {
    let mut world = World::with(kind, alone()).await;
    let there = moved(&mut world).await;
    let file: Vec<u8> =
        b"%PDF-1.7\n".iter().copied().chain((0..3_000_000_u32).map(|n| n as u8)).collect();
    let upload = Request::new("POST", "/api/v1/media?filename=contrato.pdf");
    let upload = world.send(upload.bearer(&world.us.key).body(file.clone())).await;
    upload.expect(201);
    assert_eq!(there.server.files_on_disk().len(), 1);
    let kept = world.get(&format!("/api/v1/media/{}", text(&upload.data()["id"]))).await.data();
    let read = world.send(Request::new("GET", path_of(&kept["url"]))).await;
    assert_eq!((read.status, read.body == file), (200, true));
    let part = Request::new("GET", path_of(&kept["url"])).header("range", "bytes=9-18");
    let part = world.send(part).await;
    assert_eq!((part.status, &*part.body), (206, &file[9..19]));
    assert_eq!(part.header("content-range"), format!("bytes 9-18/{}", file.len()));
}

/// R460.
#[both_stores]
async fn while_the_new_cell_does_not_answer_calls_are_unavailable(kind: StoreKind) {
    let mut world = World::with(kind, alone()).await;
    let other = world.tenant("Outra").await;
    let there = moved(&mut world).await;
    // Nobody listens on this port any more.
    let addr = there.addr;
    drop(there);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let gone = nobody.local_addr().expect("an address");
    drop(nobody);
    assert_ne!(addr, gone);
    knows(&mut world, gone).await;
    let answer = world.get(CONTACTS).await;
    answer.expect_error(503, "UNAVAILABLE");
    assert!(!answer.header("retry-after").is_empty());
    world.create_as(&other, json!({"phone": phone(3)})).await;
}

/// R460, D76: where nobody said the address of the new cell, the company is closed as it was.
#[both_stores]
async fn without_the_address_of_the_new_cell_a_company_stays_closed(kind: StoreKind) {
    let mut world = World::with(kind, alone()).await;
    let there = moved(&mut world).await;
    world.server.set_cell_urls([].into());
    world.restart().await;
    world.post_contact(json!({"phone": phone(2)})).await.expect_error(503, "MOVING");
    drop(there);
}

/// R460: two cells that send a company's calls to each other end that at once.
#[both_stores]
async fn a_call_that_comes_back_to_a_cell_is_not_handed_on_again(kind: StoreKind) {
    let mut world = World::with(kind, alone()).await;
    let there = moved(&mut world).await;
    let request = Request::new("GET", CONTACTS).bearer(&world.us.key);
    let again = world.send(request.header("via", "1.1 proxy, 1.1 recado-0")).await;
    again.expect_error(503, "UNAVAILABLE");
    let request = Request::new("GET", CONTACTS).bearer(&world.us.key);
    let once = world.send(request.header("via", "1.1 proxy, 1.1 recado-2")).await;
    once.expect(200);
    drop(there);
}

/// R460: a proxy that finds the cells itself is told which one to ask.
#[both_stores]
async fn a_trusted_proxy_is_told_the_cell_in_place_of_an_answer(kind: StoreKind) {
    let setup = Setup { trusted_proxies: &["127.0.0.0/8"], ..alone() };
    let mut world = World::with(kind, setup).await;
    let there = moved(&mut world).await;
    let asked = |at: &str| {
        let request = Request::new("POST", CONTACTS).bearer(&world.us.key);
        request.header("x-recado-cells-at", at).json(&json!({"phone": phone(2)}))
    };
    let told = world.send(asked("@cell")).await;
    assert_eq!((told.status, &*told.header("x-accel-redirect")), (200, "@cell1"));
    assert_eq!(phones_at(there.addr, &world.us.key).await.len(), 0, "it was not handed on, too");
    for odd in ["http://example.org/", "/console", "", "@", "@ce ll", "@a/b", &"@".repeat(65)] {
        let request = Request::new("GET", CONTACTS).bearer(&world.us.key);
        let passed = world.send(request.header("x-recado-cells-at", odd)).await;
        assert_eq!((passed.status, &*passed.header("x-accel-redirect")), (200, ""), "{odd}");
    }
}

/// R460: who is no proxy of ours gets the answer of the cell.
#[both_stores]
async fn a_stranger_is_not_told_how_the_proxy_finds_cells(kind: StoreKind) {
    let mut world = World::with(kind, alone()).await;
    let _there = moved(&mut world).await;
    let request = Request::new("GET", CONTACTS).bearer(&world.us.key);
    let passed = world.send(request.header("x-recado-cells-at", "@cell")).await;
    assert_eq!((passed.status, &*passed.header("x-accel-redirect")), (200, ""));
}
