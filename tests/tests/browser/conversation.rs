//! A conversation from its first message to its end, in a browser: R422 and what follows.

use recado_core::access::OperatorRole;
use recado_tests::{
    FromStore, StoreKind, World, both_stores, digits, mobile, on_sqlite, text, with,
};
use serde_json::json;

use crate::desk::{ANSWER, SEND};
use crate::harness::{Browser, CONTROL, ENTER, Language, SHIFT, TAB, Theme};
use crate::office::{person, sign_in, signed_in, site};

/// A world with a connection, and a browser in which an agent has signed in.
struct Desk {
    world: World,
    connection: String,
    browser: Browser,
}

impl FromStore for Desk {
    async fn from_store(kind: StoreKind) -> Self {
        let world = World::start(kind).await;
        let connection = world.qr().await;
        let agent = person(&world, &world.us, OperatorRole::Agent, Some("Ana Souza")).await;
        let browser = signed_in(&world, &agent).await;
        Self { world, connection, browser }
    }
}

impl Desk {
    /// A message from somebody with a name.
    async fn hears(&self, n: u32, name: &str, words: &str) {
        let event = self.world.inbound(&digits(&mobile(n)), words);
        self.world.stored(&self.connection, with(event, json!({"push_name": name}))).await;
    }
}

/// A file goes out with a caption, and is shown in the thread.
#[on_sqlite]
async fn a_file_is_sent_and_shown(desk: Desk) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("catálogo.png");
    std::fs::write(&file, PNG).expect("a file");
    desk.hears(1, "Maria Silva", "Tem foto?").await;
    let browser = &desk.browser;
    browser.open_conversation("Maria Silva").await;
    browser.click_named("#answer summary", "Send a file").await;
    browser.attach("#answer input[type=file]", &file).await;
    browser.fill("#file-caption", "O catálogo").await;
    browser.click("#answer form[action$='/file'] button").await;
    browser.sees_in("#messages", "O catálogo").await;
    let script = "return [...document.querySelectorAll('#messages img')].some(one => \
        one.complete && one.naturalWidth === 1)";
    browser.until_js("picture in the thread", script, json!([])).await;
    browser.has_no_barrier().await;
}

/// Two agents see each other's answers within a second.
#[both_stores]
async fn two_agents_see_each_others_answers_within_a_second(kind: StoreKind) {
    let world = World::start(kind).await;
    let connection = world.qr().await;
    let event = world.inbound(&digits(&mobile(1)), "Alguém aí?");
    world.stored(&connection, with(event, json!({"push_name": "Maria Silva"}))).await;
    let [one, other] = Browser::many_at(site(&world)).await;
    for (browser, name) in [(&one, "Ana"), (&other, "Bia")] {
        let agent = person(&world, &world.us, OperatorRole::Agent, Some(name)).await;
        sign_in(browser, &agent).await;
        browser.open_conversation("Maria Silva").await;
        browser.watch_answers().await;
    }
    for (by, seen_by, words) in [(&one, &other, "Aqui é a Ana."), (&other, &one, "E aqui a Bia.")]
    {
        seen_by.watch_for(words).await;
        by.answer(words).await;
        let took = seen_by.saw_at().await - by.answered_at().await;
        assert!(took <= 1_000, "it took {took} ms");
    }
}

/// A restart of the server under an open page loses neither the draft nor what comes after.
#[both_stores]
async fn a_restart_under_an_open_page_loses_nothing(mut desk: Desk) {
    desk.hears(1, "Maria Silva", "Bom dia!").await;
    desk.browser.open_conversation("Maria Silva").await;
    desk.browser.fill(ANSWER, "Uma resposta que ainda não").await;
    desk.browser.sees_in("#answer", "Draft kept").await;
    desk.browser.mark().await;
    desk.world.server.restart_in_place(&desk.world.database).await;
    desk.hears(1, "Maria Silva", "Ainda aí?").await;
    desk.browser.sees_in("#messages", "Ainda aí?").await;
    assert!(desk.browser.is_marked().await, "the page was not loaded again");
    assert_eq!(desk.browser.value(ANSWER).await, "Uma resposta que ainda não");
    desk.browser.reload().await;
    assert_eq!(desk.browser.value(ANSWER).await, "Uma resposta que ainda não");
    desk.browser.type_in(ANSWER, " foi enviada.").await;
    desk.browser.click(SEND).await;
    desk.browser.sees_in("#messages", "Uma resposta que ainda não foi enviada.").await;
}

/// R425. The caption of a file and what is filled into a template are kept, too, until they are
/// sent.
#[test]
fn drafts_of_captions_and_templates_are_kept_until_they_are_sent() {
    recado_tests::run(StoreKind::Sqlite, |desk: Desk| async move {
        desk.hears(1, "Maria Silva", "Bom dia!").await;
        let template = json!({"name": "pedido", "category": "UTILITY", "status": "APPROVED",
            "body": "Oi {{1}}, seu pedido {{2}} saiu."});
        let us = &desk.world.us;
        let template = desk.world.make_for(us, "C/templates", template).await;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ponto.png");
        std::fs::write(&file, PNG).expect("a file");
        let browser = &desk.browser;
        browser.open_conversation("Maria Silva").await;
        let conversation = browser.path().await;
        let open = async |path: &str| {
            browser.goto(path).await;
            browser.find("main h1").await;
        };
        browser.fill(ANSWER, "Um instante").await;
        browser.click_named("#answer summary", "Send a file").await;
        browser.fill("#file-caption", "O catálogo").await;
        browser.sees_in("#answer form[action$='/file']", "Draft kept").await;
        let form = format!("{conversation}/template?template={}", text(&template["id"]));
        open(&form).await;
        browser.fill("#variable-1", "Maria").await;
        browser.sees_in("form.answer", "Draft kept").await;
        // They come back, and the preview with them.
        open(&conversation).await;
        assert_eq!(browser.value("#file-caption").await, "O catálogo");
        open(&form).await;
        assert_eq!(browser.value("#variable-1").await, "Maria");
        browser.sees_in("#preview", "Oi Maria, seu pedido {{2}} saiu.").await;
        // What was sent is kept no more; all else is.
        browser.fill("#variable-2", "77").await;
        browser.click("form.answer button[type=submit]").await;
        browser.sees_in("#messages", "Oi Maria, seu pedido 77 saiu.").await;
        assert_eq!(browser.value("#file-caption").await, "O catálogo");
        browser.attach("#answer input[type=file]", &file).await;
        browser.click("#answer form[action$='/file'] button").await;
        browser.sees_in("#messages", "O catálogo").await;
        // Without a draft the form is folded.
        browser.click_named("#answer summary", "Send a file").await;
        assert_eq!(browser.value("#file-caption").await, "");
        assert_eq!(browser.value(ANSWER).await, "Um instante");
        open(&form).await;
        assert_eq!(browser.value("#variable-1").await, "");
    });
}

/// The whole of it without a mouse: from the list over the answer to the end.
#[on_sqlite]
async fn a_conversation_needs_no_mouse(desk: Desk) {
    desk.hears(1, "Maria Silva", "Bom dia!").await;
    let browser = &desk.browser;
    browser.goto("/console/inbox").await;
    browser.sees_in("main", "Maria Silva").await;
    // The keys of docs/console.md: the first conversation, the field, sending, closing.
    browser.press(&["j"]).await;
    browser.press(&[ENTER]).await;
    browser.find(ANSWER).await;
    browser.press(&["r"]).await;
    browser.press_each("Pois não?").await;
    assert_eq!(browser.value(ANSWER).await, "Pois não?");
    browser.chord(CONTROL, ENTER).await;
    browser.sees_in("#messages", "Pois não?").await;
    let is_whole = "return document.readyState === 'complete'";
    browser.until_js("whole page", is_whole, json!([])).await;
    browser.press(&["c"]).await;
    browser.find("#panel form[action$='/close'] button:focus").await;
    browser.press(&[ENTER]).await;
    browser.sees_in("#panel", "Closed").await;
}

/// R424. What comes by itself does not close what somebody has opened; it is shown when they leave.
#[test]
fn what_somebody_is_at_stays_until_they_leave() {
    recado_tests::run(StoreKind::Sqlite, |desk: Desk| async move {
        desk.hears(1, "Maria Silva", "Bom dia!").await;
        let browser = &desk.browser;
        browser.open_conversation("Maria Silva").await;
        let watch = "window.held = 0; document.addEventListener('htmx:beforeSwap', event => \
            setTimeout(() => { if (!event.detail.shouldSwap) window.held += 1; }));";
        browser.js(watch, json!([])).await;
        // A part of a message that is opened.
        browser.press(&["k", "x"]).await;
        browser.find("#messages details[open] button:focus").await;
        desk.hears(1, "Maria Silva", "O pedido já saiu?").await;
        browser.until_js("owed swap", "return window.held > 0", json!([])).await;
        assert!(!browser.text().await.contains("O pedido já saiu?"));
        browser.find("#messages details[open] button:focus").await;
        browser.click(ANSWER).await;
        browser.sees_in("#messages", "O pedido já saiu?").await;
        // A field of the panel. What is not at hand goes on.
        browser.press_each("Já").await;
        let field = "document.querySelector('#panel select[name=member_id]').focus()";
        browser.js(field, json!([])).await;
        desk.hears(1, "Maria Silva", "Alô?").await;
        browser.sees_in("#messages", "Alô?").await;
        browser.find("#panel select[name=member_id]:focus").await;
        assert_eq!(browser.value(ANSWER).await, "Já");
        // What the panel owes is made when the focus leaves it.
        browser.loses("#panel", "Not read yet: 3").await;
        browser.click(ANSWER).await;
        browser.sees_in("#panel", "Not read yet: 3").await;
    });
}

/// R425. Keys that write another sign are no shortcuts, and single keys can be turned off.
#[test]
fn single_keys_can_be_turned_off_and_altgr_is_none_of_them() {
    recado_tests::run(StoreKind::Sqlite, |desk: Desk| async move {
        for words in ["Bom dia!", "Tudo bem?"] {
            desk.hears(1, "Maria Silva", words).await;
        }
        let browser = &desk.browser;
        browser.open_conversation("Maria Silva").await;
        let taken = "const [key, modifierAltGraph] = arguments; document.activeElement.blur(); \
            return !document.body.dispatchEvent(new KeyboardEvent('keydown', \
                {key, modifierAltGraph, bubbles: true, cancelable: true}))";
        let is_taken =
            async |key: &str, altgr: bool| browser.js(taken, json!([key, altgr])).await == true;
        for key in ["q", "e", "r", "/", "?"] {
            assert!(!is_taken(key, true).await, "AltGr and {key}");
        }
        assert!(is_taken("r", false).await);
        browser.press(&[TAB]).await;
        browser.js("document.activeElement.blur()", json!([])).await;
        browser.press(&["?"]).await;
        browser.find("#keys-help[open] button:focus").await;
        browser.has_no_barrier().await;
        // From the button that closes the list it is one step back.
        browser.chord(SHIFT, TAB).await;
        browser.find("#keys-help input[data-keys]:focus").await;
        browser.press(&[" ", TAB, ENTER]).await;
        browser
            .until_js("closed list", "return !document.querySelector('dialog[open]')", json!([]))
            .await;
        assert!(!is_taken("r", false).await && !is_taken("?", false).await);
        // The choice stays, and the account's page has it, too.
        browser.goto("/console/account").await;
        browser.click("input[data-keys]:not(:checked)").await;
        browser.goto("/console/inbox").await;
        browser.sees_in("main", "Maria Silva").await;
        assert!(is_taken("j", false).await);
    });
}

/// R425. What was refused, and why, is what a page shows first.
#[test]
fn a_page_with_a_refusal_begins_with_it() {
    recado_tests::run(StoreKind::Sqlite, |desk: Desk| async move {
        for n in 0..20 {
            desk.hears(1, "Maria Silva", &format!("Mensagem {n}")).await;
        }
        let browser = &desk.browser;
        browser.open_conversation("Maria Silva").await;
        let is_at = |y: &str| format!("return document.readyState === 'complete' && scrollY {y}");
        browser.until_js("newest message", &is_at("> 100"), json!([])).await;
        browser.fill(ANSWER, "   ").await;
        browser.click(SEND).await;
        browser.find("main > [role=alert]").await;
        browser.until_js("beginning", &is_at("< 100"), json!([])).await;
    });
}

/// The pictures of a thread: in both themes, in Portuguese, and on a phone.
#[test]
fn a_thread_has_pictures() {
    if !Browser::keeps_pictures() {
        return;
    }
    recado_tests::run(StoreKind::Sqlite, |desk: Desk| async move {
        let browser = &desk.browser;
        for (n, name, words) in [
            (2, "João Pereira", "Vocês abrem no sábado?"),
            (3, "Padaria Aurora", "Segue o comprovante."),
            (1, "Maria Silva", "Bom dia! O pedido já saiu?"),
        ] {
            desk.hears(n, name, words).await;
        }
        let path = format!("C/connections/{}", desk.connection);
        let name = json!({"name": "WhatsApp da loja"});
        desk.world.operator("PATCH", &path, name).await.expect(200);
        browser.for_pictures().await;
        browser.prefers(Language::English, Theme::Light).await;
        browser.open_conversation("Maria Silva").await;
        browser.answer("Bom dia, Maria! Saiu hoje cedo e chega amanhã.").await;
        browser.sees_in("#messages", "Read").await;
        desk.hears(1, "Maria Silva", "Perfeito, obrigada!").await;
        browser.sees_in("#messages", "Perfeito").await;
        browser.keep_picture("thread").await;
        browser.prefers(Language::English, Theme::Dark).await;
        browser.reload().await;
        browser.sees_in("#messages", "Perfeito").await;
        browser.keep_picture("thread-dark").await;
        browser.prefers(Language::Portuguese, Theme::Light).await;
        browser.reload().await;
        browser.sees_in("#messages", "Perfeito").await;
        browser.keep_picture("thread-pt-BR").await;
        browser.phone().await;
        browser.reload().await;
        browser.sees_in("#messages", "Perfeito").await;
        browser.keep_picture("thread-phone").await;
    });
}

/// A picture of one point.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53,
    0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x50, 0x68, 0x48, 0x00,
    0x00, 0x01, 0xc4, 0x01, 0x01, 0xc7, 0x99, 0x54, 0xad, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];
