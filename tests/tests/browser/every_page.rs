//! What is asked of every page of the console: no barrier, no need of a mouse, no width above a
//! phone's, no weight, no other host. The pages are those that the console lists.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use recado_console::Access;
use recado_core::access::OperatorRole;
use recado_core::transport::OutboundResponse;
use recado_tests::{StoreKind, World, digits, mobile, wamid};
use serde_json::json;

use crate::harness::{Browser, Language, Theme};
use crate::office::{Office, person, sign_in, signed_in, site};
use crate::records::PICTURE;
use crate::routes;

/// The bytes that a page may have before its pictures.
const MOST: u64 = 150 * 1024;

/// The pages that an owner sees, each once, about our records.
pub(crate) async fn pages(office: &Office) -> Vec<String> {
    let mut visitor = office.visitor(&office.member(OperatorRole::Owner).await).await;
    let mut pages = Vec::new();
    for route in routes::read().filter(|route| !routes::is_live(route)) {
        let path = routes::path(route, &office.ours);
        let answer = visitor.get(&path).await;
        let is_page = answer.header("content-type").starts_with("text/html");
        // A piece that a page asks for is no page.
        let is_whole = answer.body.starts_with(b"<!DOCTYPE");
        if answer.status == 200 && is_page && is_whole && route.access() != Access::Open {
            pages.push(path);
        }
    }
    assert!(pages.len() > 5, "too few are all: {pages:?}");
    pages
}

/// Runs a test on one store: pages do not differ by it.
fn run<F: Future<Output = ()>>(test: impl FnOnce(Office, Browser, Vec<String>) -> F) {
    recado_tests::run(StoreKind::Sqlite, |office: Office| async move {
        let mut all = pages(&office).await;
        let browser = Browser::at(site(&office.world)).await;
        all.insert(0, "/console/sign-in".to_owned());
        test(office, browser, all).await;
    });
}

/// Goes to a page; the first one is for those who have not signed in.
async fn visit(office: &Office, browser: &Browser, path: &str) {
    if path != "/console/sign-in" && browser.path().await == "/console/sign-in" {
        let owner = office.member(OperatorRole::Owner).await;
        sign_in(browser, &owner).await;
    }
    browser.goto(path).await;
    browser.find("main h1").await;
}

/// What is wrong, each once, with the pages that it is wrong with.
#[derive(Debug, Default)]
struct Wrong(BTreeMap<String, Vec<String>>);

impl Wrong {
    fn add(&mut self, path: &str, what: &str, all: Vec<String>) {
        for one in all {
            self.0.entry(one).or_default().push(format!("{path} {what}"));
        }
    }

    #[track_caller]
    fn assert_nothing(&self) {
        let lines = self.0.iter().map(|(what, pages)| {
            format!(
                "{what}\n  on {} pages: {}",
                pages.len(),
                pages[..pages.len().min(4)].join(", ")
            )
        });
        assert!(self.0.is_empty(), "{}", lines.collect::<Vec<_>>().join("\n"));
    }
}

/// WCAG 2.2 AA, as far as axe-core sees it, and the width of a phone. A page is loaded once in each
/// language: theme and window change under it.
#[test]
fn no_page_has_a_barrier_in_any_language_and_theme_or_is_squeezed_on_a_phone() {
    run(|office, browser, pages| async move {
        let mut all = Wrong::default();
        for path in &pages {
            for language in [Language::English, Language::Portuguese] {
                browser.desk().await;
                browser.prefers(language, Theme::Light).await;
                visit(&office, &browser, path).await;
                let shown = browser.js("return document.documentElement.lang", json!([])).await;
                assert_eq!(shown, language.code(), "{path}");
                for theme in [Theme::Light, Theme::Dark] {
                    browser.prefers(language, theme).await;
                    browser.settled().await;
                    let what = format!("{language:?} {theme:?}");
                    all.add(path, &what, browser.barriers().await);
                }
                all.add(path, language.code(), browser.squeezed().await);
                browser.phone().await;
                browser.settled().await;
                let wide = browser.too_wide().await.into_iter().collect();
                all.add(path, language.code(), wide);
                all.add(path, language.code(), browser.squeezed().await);
            }
        }
        all.assert_nothing();
    });
}

/// Every page can be used by the keyboard, has a bound on its bytes, asks nobody but its server,
/// and is shown in the documentation.
#[test]
fn every_page_works_without_a_mouse_and_is_light_and_asks_no_other_host() {
    run(|office, browser, pages| async move {
        browser.session.tools("Network.enable", json!({})).await;
        let off = json!({"cacheDisabled": true});
        browser.session.tools("Network.setCacheDisabled", off).await;
        let mut all = Wrong::default();
        for path in &pages {
            visit(&office, &browser, path).await;
            let script = "return performance.getEntriesByType('navigation').concat(\
                performance.getEntriesByType('resource')).map(one => \
                [one.name, one.initiatorType, one.transferSize])";
            let asked = browser.js(script, json!([])).await;
            let mut weight = 0;
            for one in asked.as_array().expect("a list") {
                let name = one[0].as_str().unwrap_or_default();
                if !name.starts_with(&browser.origin) && !name.starts_with("data:") {
                    all.add(path, "", vec![format!("asks {name}")]);
                }
                if one[1] != "img" && one[1] != "video" && one[1] != "audio" {
                    weight += one[2].as_f64().unwrap_or_default() as u64;
                }
            }
            if weight > MOST || weight == 0 {
                all.add(path, "", vec![format!("has {weight} bytes of {MOST}")]);
            }
            let mut found = browser.needs_a_mouse().await;
            if !found.is_empty() {
                // On a busy machine the browser once computed a style before it knew of the key.
                // What is wrong is so twice.
                visit(&office, &browser, path).await;
                found = browser.needs_a_mouse().await;
            }
            all.add(path, "", found);
            all.add(path, "", browser.broken().await);
            all.add(path, "", undocumented(&picture_of(path)));
        }
        all.assert_nothing();
    });
}

/// The pictures of the documentation.
#[test]
fn every_page_has_a_picture() {
    if !Browser::keeps_pictures() {
        return;
    }
    run(|office, browser, pages| async move {
        office.furnish().await;
        browser.for_pictures().await;
        browser.prefers(Language::English, Theme::Light).await;
        for path in pages.iter().filter(|path| *path != PROCESS) {
            visit(&office, &browser, &shown_in_a_picture(path)).await;
            browser.keep_picture(&picture_of(path)).await;
        }
    });
}

/// The figures of a process are its background work's, which an office does without.
const PROCESS: &str = "/console/operation/process";

/// The picture of what a process did. It takes its figures every ten seconds.
#[test]
fn the_load_of_a_process_has_a_picture() {
    if !Browser::keeps_pictures() {
        return;
    }
    recado_tests::run(StoreKind::Sqlite, |world: World| async move {
        let owner = person(&world, &world.us, OperatorRole::Owner, None).await;
        let browser = signed_in(&world, &owner).await;
        browser.for_pictures().await;
        browser.prefers(Language::English, Theme::Light).await;
        for _ in 0..6 {
            browser.goto(PROCESS).await;
            tokio::time::sleep(Duration::from_secs(10)).await;
            world.advance(Duration::from_secs(10));
        }
        browser.goto(PROCESS).await;
        browser.find("figure canvas").await;
        browser.keep_picture(&picture_of(PROCESS)).await;
    });
}

impl Office {
    /// People as a company has them, for pictures.
    async fn furnish(&self) {
        // The file that the contact sent is fetched, as the background work would do.
        let file = OutboundResponse::new(200, PICTURE.to_vec());
        self.world.server.transport.otherwise(Ok(file));
        self.world.server.run_due_jobs().await;
        for (kind, name) in [("Contact", "Maria Silva"), ("OtherContact", "Maria S. Silva")] {
            let named = json!({"name": name, "city": "Uberlândia", "state": "MG"});
            let path = format!("/api/v1/contacts/{}", self.ours.id(kind));
            self.world.patch_as(&self.ours.tenant.key, &path, named).await.expect(200);
        }
        let tenant = &self.ours.tenant;
        for (kind, path, body) in [
            ("Company", "/companies", json!({"name": "Loja Aurora"})),
            ("Tag", "C/tags", json!({"name": "Cliente antigo"})),
            ("List", "C/lists", json!({"name": "Clientes de Uberlândia"})),
            ("Connection", "C/connections", json!({"name": "WhatsApp da loja"})),
            ("Campaign", "C/campaigns", json!({"name": "Novidades de dezembro"})),
            ("CustomField", "C/custom-fields", json!({"label": "Última compra"})),
            ("CloseReason", "C/close-reasons", json!({"name": "Pedido resolvido"})),
            ("Pipeline", "C/pipelines", json!({"name": "Vendas"})),
            ("Deal", "C/deals", json!({"title": "40 unidades"})),
        ] {
            let path = format!("{path}/{}", self.ours.id(kind));
            self.world.operator_for(tenant, "PATCH", &path, body).await.expect(200);
        }
        for (n, (name, words)) in (10..).zip(PEOPLE) {
            let event = json!({"kind": "message", "provider_message_id": wamid(), "type": "text",
                "timestamp": self.world.time(), "from": digits(&mobile(n)), "push_name": name,
                "content": words});
            let path = format!("C/connections/{}/events", self.ours.id("Connection"));
            let body = json!({"events": [event]});
            self.world.operator_for(&self.ours.tenant, "POST", &path, body).await.expect(200);
        }
        self.campaign().await;
    }

    /// A campaign that is under way, a message a minute.
    async fn campaign(&self) {
        let tenant = &self.ours.tenant;
        let all = self.world.operator_for(tenant, "GET", "C/contacts", json!(null)).await;
        let all = all.expect(200);
        let all = all.as_array().expect("a list").iter();
        let all: Vec<_> =
            all.filter(|one| one["is_group"] == false).map(|one| &one["id"]).collect();
        let path = format!("C/lists/{}/contacts", self.ours.id("List"));
        let body = json!({"contact_ids": all});
        self.world.operator_for(tenant, "POST", &path, body).await.expect(200);
        let path = format!("C/campaigns/{}", self.ours.id("Campaign"));
        let slow = json!({"messages_per_second": 1});
        self.world.operator_for(tenant, "PATCH", &path, slow).await.expect(200);
        let path = format!("{path}/start");
        self.world.operator_for(tenant, "POST", &path, json!(null)).await.expect(200);
        for _ in 0..5 {
            self.world.server.drain_campaigns().await;
            self.world.advance(Duration::from_secs(60));
        }
    }
}

/// Who writes what.
const PEOPLE: [(&str, &str); 6] = [
    ("João Pereira", "Vocês abrem no sábado?"),
    ("Padaria Aurora", "Segue o comprovante do pedido de ontem."),
    ("Ana Beatriz Lima", "Quero trocar o tamanho, pode ser?"),
    ("Conceição Araújo", "Obrigada, chegou tudo certo!"),
    ("Otávio Nunes", "Qual o prazo para Salvador?"),
    ("Loja Central", "Precisamos de 40 unidades até sexta."),
];

/// A page as its picture shows it: a long table has few rows, so that the file is small.
fn shown_in_a_picture(path: &str) -> String {
    match path {
        "/console/integration/deliveries"
        | "/console/integration/journal"
        | "/console/operation/audit" => format!("{path}?limit=5"),
        _ => path.to_owned(),
    }
}

/// What of the documentation does not show a page: `RECADO_UPDATE_SCREENSHOTS` makes the picture.
fn undocumented(picture: &str) -> Vec<String> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let image = format!("images/console/{picture}.png");
    let mut missing = Vec::new();
    if !docs.join(&image).is_file() {
        missing.push(format!("docs/{image} is missing"));
    }
    for page in ["console.md", "pt-BR/console.md"] {
        let text = std::fs::read_to_string(docs.join(page)).expect("a page");
        if !text.contains(&image) {
            missing.push(format!("docs/{page} does not show {image}"));
        }
    }
    missing
}

/// The file of a page: its path without ids.
fn picture_of(path: &str) -> String {
    let path = path.split('?').next().unwrap_or(path);
    let segments = path.split('/').skip(2).map(|segment| {
        if segment.len() == 36 && segment.matches('-').count() == 4 { "one" } else { segment }
    });
    segments.collect::<Vec<_>>().join("-")
}
