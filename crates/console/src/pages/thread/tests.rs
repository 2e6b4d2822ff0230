//! The conversation without a browser.

use http::{Method, StatusCode};
use recado_core::access::{OperatorAction, OperatorRole};
use recado_core::ids::{ConnectionId, ContactId, MessageId};
use recado_core::inbox::parse_event;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use crate::harness::{Browser, Shown, Site};

const PHONE: &str = "5511987654321";

/// A site with a connection and a contact that has written.
struct Talk {
    site: Site,
    connection: ConnectionId,
    contact: ContactId,
    page: String,
}

impl Talk {
    async fn new() -> Self {
        let site = Site::new().await;
        let connection = site.kit.connection("qr").await;
        site.kit.contact_writes(connection, PHONE, "Oi <script>alert(1)</script>").await;
        let contact = site.kit.contact_by_phone("+5511987654321").await.expect("the contact");
        let page = format!("/console/inbox/{contact}");
        Self { site, connection, contact, page }
    }

    /// Receives an event of the gateway with this id.
    async fn tells(&self, id: &str, mut event: Value) {
        let object = event.as_object_mut().expect("an object");
        object.entry("kind").or_insert_with(|| json!("message"));
        object.entry("from").or_insert_with(|| json!(PHONE));
        object.insert("provider_message_id".to_owned(), json!(id));
        object.insert("timestamp".to_owned(), json!(self.site.kit.app.now()));
        let told = self.site.kit.receive(self.connection, vec![parse_event(&event, "g.us")]).await;
        assert!(!format!("{told:?}").contains("Refused"), "{told:?}");
    }

    async fn imports(&self, fields: Value) -> MessageId {
        let mut new = body(json!({
            "contact_id": self.contact, "connection_id": self.connection,
            "direction": "outbound", "created_at": self.site.kit.app.now(),
        }));
        new.extend(body(fields));
        let made = self.site.kit.app.messages().import(self.site.kit.company.id, &new).await;
        made.expect("a message").message.id
    }
}

/// The first key of a form on a page.
fn key(shown: &Shown) -> String {
    let (_, rest) = shown.html.split_once("name=\"key\" value=\"").expect("a key");
    rest.split('"').next().expect("a value").to_owned()
}

/// Posts a form with a file, as a document if so wished.
async fn send_file(
    talk: &Talk,
    browser: &Browser<'_>,
    key: &str,
    name: &str,
    file: &[u8],
) -> Shown {
    let csrf = browser.csrf();
    let mut body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{csrf}\r\n\
         --x\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\n{key}\r\n\
         --x\r\nContent-Disposition: form-data; name=\"caption\"\r\n\r\nComo combinado\r\n\
         --x\r\nContent-Disposition: form-data; name=\"as_document\"\r\n\r\non\r\n\
         --x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/pdf\r\n\r\n"
    );
    body.push_str(std::str::from_utf8(file).expect("text"));
    body.push_str("\r\n--x--\r\n");
    let path = format!("{}/file", talk.page);
    let request = browser.request(Method::POST, &path).header("sec-fetch-site", "same-origin");
    talk.site.send(request.header("content-type", "multipart/form-data; boundary=x"), body).await
}

/// R424.
#[tokio::test]
async fn a_text_is_shown_escaped_with_who_wrote_it() {
    let talk = Talk::new().await;
    let viewer = talk.site.as_role(OperatorRole::Viewer).await;
    let shown = viewer.get(&talk.page).await;
    assert_eq!(shown.status, StatusCode::OK);
    shown.has("Oi &lt;script&gt;alert(1)&lt;/script&gt;").lacks("<script>alert");
    shown.lacks("name=\"message\"").lacks("/take-over\"");
    let agent = talk.site.as_role(OperatorRole::Agent).await;
    let piece = agent.get(&format!("{}/messages", talk.page)).await;
    piece.has("id=\"messages\"").has("Oi &lt;script&gt;").lacks("<h1>");
    // The panel comes with the messages: who answers and what is open changes, too.
    piece.has("id=\"panel\"").has("hx-swap-oob=\"true\"");
}

/// R418. What the panel shows is what the operator API gives of a contact.
#[tokio::test]
async fn the_panel_is_for_who_may_get_the_contact() {
    let talk = Talk::new().await;
    let least = OperatorAction::GetOperatorContact.least_role();
    for role in OperatorRole::ALL.iter().copied() {
        let browser = talk.site.as_role(role).await;
        for path in [talk.page.clone(), format!("{}/messages", talk.page)] {
            let shown = browser.get(&path).await;
            shown.has("Oi &lt;script&gt;");
            let has_panel = shown.html.contains("id=\"panel\"");
            assert_eq!(has_panel, role >= least, "{role}: {path}");
        }
    }
}

/// R424.
#[tokio::test]
async fn every_kind_of_message_is_shown() {
    let talk = Talk::new().await;
    let evil = "<img src=x onerror=1>";
    let offer = json!({"kind": "list", "header": {"text": evil}, "body": "Qual?", "button": "Ver",
        "sections": [{"title": "Doces",
            "rows": [{"id": "1", "title": "Bolo", "description": evil}]}]});
    let poll = json!({"kind": "poll", "body": "Dia?", "options": [{"option": evil, "votes": 0}]});
    let events = [
        json!({"type": "location", "location": {"latitude": -23.5, "longitude": -46.6,
            "name": evil, "url": "javascript:alert(1)", "is_live": true}}),
        json!({"type": "contacts", "shared_contacts": [{"name": evil,
            "phones": [{"number": "+55119999", "type": "CELL"}],
            "emails": [{"email": "a@example.org"}], "urls": ["https://example.org/x"]}]}),
        json!({"type": "interactive", "interactive": offer}),
        json!({"type": "interactive",
            "interactive": {"kind": "flow_reply", "response": {"idade": evil}}}),
        json!({"type": "poll", "interactive": poll}),
        json!({"type": "order", "order": {"text": "Por favor", "items": [{"name": evil,
            "quantity": 2, "price": {"amount": "10.50", "currency": "BRL"}}]}}),
        json!({"type": "text", "content": "Este?", "product": {"name": "Torta"},
            "referral": {"headline": "Promo 10", "source_url": "https://example.org/ad"}}),
        json!({"type": "system", "system": {"kind": "missed_call", "video": true}}),
        json!({"type": "system", "system": {"kind": "call", "seconds": 75}}),
        json!({"type": "system", "system": {"kind": "number_changed", "from": evil, "to": "2"}}),
        json!({"type": "unsupported", "unsupported": {"provider_type": evil}}),
        json!({"type": "text", "content": "muito", "forwarded": "often"}),
        json!({"type": "text", "content": "resposta", "quoted_provider_message_id": "k.0",
            "quoted_content": evil}),
    ];
    for (n, event) in events.into_iter().enumerate() {
        talk.tells(&format!("k.{n}"), event).await;
    }
    talk.tells(
        "r.1",
        json!({"type": "reaction",
        "reaction": {"emoji": "👍", "provider_message_id": "k.11"}}),
    )
    .await;
    let gone = json!({"kind": "deleted", "provider_message_id": "k.11",
        "timestamp": talk.site.kit.app.now()});
    talk.site.kit.receive(talk.connection, vec![parse_event(&gone, "g.us")]).await;
    let edit = json!({"kind": "edit", "provider_message_id": "k.12", "content": "corrigida",
        "timestamp": talk.site.kit.app.now()});
    talk.site.kit.receive(talk.connection, vec![parse_event(&edit, "g.us")]).await;
    let shown = talk.site.owner().await.get(&talk.page).await;
    shown.lacks("<img src=x").lacks("href=\"javascript:");
    for text in [
        "Live location",
        "-23.5, -46.6",
        "+55119999",
        "a@example.org",
        "Bolo",
        "Qual?",
        "Filled in a form",
        "idade",
        "0 votes",
        "10.50 BRL",
        "21.00 BRL",
        "Torta",
        "Promo 10",
        "Missed video call",
        "Call · 1:15",
        "The number changed from &lt;img",
        "cannot be shown here",
        "Forwarded many times",
        "Deleted by the sender",
        "corrigida",
        ">edited<",
        "👍",
    ] {
        shown.has(text);
    }
}

/// R424.
#[tokio::test]
async fn a_failure_is_told_in_words_with_what_to_do() {
    let talk = Talk::new().await;
    let failed = json!({"content": "Olá", "status": "failed", "error_message": "<b>131026",
        "delivery_error": {"code": "OUTSIDE_SERVICE_WINDOW"}});
    talk.imports(failed).await;
    let shown = talk.site.owner().await.get(&talk.page).await;
    shown.has("Not delivered").has("Send an approved template.").has("OUTSIDE_SERVICE_WINDOW");
    shown.has("&lt;b&gt;131026").lacks("<b>131026");
}

/// R424.
#[tokio::test]
async fn earlier_messages_are_on_the_next_pages() {
    let talk = Talk::new().await;
    for n in 0..3 {
        talk.tells(&format!("p.{n}"), json!({"type": "text", "content": format!("nr-{n}")})).await;
    }
    let owner = talk.site.owner().await;
    let newest = owner.get(&format!("{}?limit=2", talk.page)).await;
    newest.has("nr-2").has("nr-1").lacks("nr-0").has("rel=\"prev\"").lacks("rel=\"next\"");
    let earlier = owner.get(&format!("{}?limit=2&page=2", talk.page)).await;
    earlier.has("nr-0").lacks("nr-2").has("rel=\"next\"").lacks("rel=\"prev\"");
}

/// R425.
#[tokio::test]
async fn a_text_is_sent_once_for_two_posts_of_one_form() {
    let talk = Talk::new().await;
    let agent = talk.site.as_role(OperatorRole::Agent).await;
    let key = key(&agent.get(&talk.page).await);
    let path = format!("{}/reply", talk.page);
    for _ in 0..2 {
        let fields = [("key", key.as_str()), ("message", "Olá, Ana!"), ("assign", "on")];
        let sent = agent.post(&path, &fields).await;
        assert_eq!(sent.location(), format!("{}#answer", talk.page), "{}", sent.html);
    }
    assert_eq!(talk.site.kit.sent_texts(), ["Olá, Ana!"]);
    let other = agent.post(&path, &[("key", &key), ("message", "Outra")]).await;
    assert_eq!(other.status, StatusCode::UNPROCESSABLE_ENTITY);
    other.has("sent before with other content").has(">Outra</textarea>");
    agent.get(&talk.page).await.has("Olá, Ana!").has(&agent.member.display_name);
}

/// R425.
#[tokio::test]
async fn a_refused_send_shows_the_error_of_the_core_and_keeps_the_text() {
    let talk = Talk::new().await;
    let owner = talk.site.owner().await;
    let path = format!("{}/reply", talk.page);
    let blank = owner.post(&path, &[("key", "a"), ("message", "  ")]).await;
    assert_eq!(blank.status, StatusCode::UNPROCESSABLE_ENTITY);
    blank.has("id=\"answer-text-error\"");
    let company = talk.site.kit.company.id;
    let blocks = recado_core::conversations::ActionName::Block;
    let conversations = talk.site.kit.app.conversations();
    conversations.act(company, talk.contact, blocks, &body(json!({}))).await.expect("blocked");
    let refused = owner.post(&path, &[("key", "b"), ("message", "Olá <b>")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused
        .has("the contact is blocked")
        .has("Lift the block first.")
        .has("Olá &lt;b&gt;</textarea>");
    assert!(talk.site.kit.sent_texts().is_empty());
}

/// R425.
#[tokio::test]
async fn a_refused_file_leaves_its_caption_in_the_form() {
    let talk = Talk::new().await;
    let owner = talk.site.owner().await;
    let caption = format!("data-draft=\"{}-caption\"", talk.contact);
    owner.get(&talk.page).await.has(&caption).lacks("value=\"Como combinado\"");
    let refused = send_file(&talk, &owner, "", "Proposta.pdf", b"%PDF-1.4\n%%EOF\n").await;
    assert!(refused.status.is_client_error());
    owner.post(&format!("{}/block", talk.page), &[]).await;
    let refused = send_file(&talk, &owner, "c1", "Proposta.pdf", b"%PDF-1.4\n%%EOF\n").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("Lift the block first.").has("value=\"Como combinado\"").has(&caption);
}

/// R425.
#[tokio::test]
async fn buttons_a_quote_and_a_reaction_are_sent() {
    let talk = Talk::new().await;
    talk.tells("q.1", json!({"type": "text", "content": "Que horas?"})).await;
    let owner = talk.site.owner().await;
    let page = owner.get(&talk.page).await;
    let id = page.html.split("?quote=").last().and_then(|rest| rest.split('#').next());
    let id = id.expect("a message").to_owned();
    owner.get(&format!("{}?quote={id}", talk.page)).await.has("You quote:").has("Que horas?");
    let buttons = [
        ("key", "b1"),
        ("body", "Às 15 h?"),
        ("button", "Sim"),
        ("button", "Não"),
        ("button", ""),
        ("quoted_message_id", &id),
    ];
    let sent = owner.post(&format!("{}/buttons", talk.page), &buttons).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.html);
    let react = format!("{}/messages/{id}/reaction", talk.page);
    let sent = owner.post(&react, &[("emoji", "🙏")]).await;
    assert_eq!(sent.location(), format!("{}#message-{id}", talk.page), "{}", sent.html);
    let shown = owner.get(&talk.page).await;
    shown.has("Às 15 h?").has("<bdi>Não</bdi>").has("<bdi>🙏</bdi>");
    let elsewhere = owner.post(&react, &[("emoji", "no emoji")]).await;
    assert_eq!(elsewhere.status, StatusCode::UNPROCESSABLE_ENTITY);
}

/// R425.
#[tokio::test]
async fn a_file_keeps_its_name_and_is_never_shown_as_a_page() {
    let talk = Talk::new().await;
    let owner = talk.site.owner().await;
    let pdf = b"%PDF-1.4\n%%EOF\n";
    for _ in 0..2 {
        let sent = send_file(&talk, &owner, "f1", "Proposta João.pdf", pdf).await;
        assert_eq!(sent.location(), format!("{}#answer", talk.page), "{}", sent.html);
    }
    assert_eq!(talk.site.kit.provider.sent().len(), 1);
    let shown = owner.get(&talk.page).await;
    shown.has("Proposta João.pdf");
    let path = shown.html.split('"').find(|text| text.contains("/files/")).expect("a link");
    let path = path.replace("?download=1", "");
    let file = owner.get(&path).await;
    let header = |name: &str| file.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("");
    assert_eq!(file.html.as_bytes(), pdf);
    assert_eq!(header("content-type"), "application/octet-stream");
    assert_eq!(header("x-content-type-options"), "nosniff");
    let policy = header("content-security-policy");
    assert!(policy.starts_with("sandbox; default-src 'none'; frame-ancestors 'none'"), "{policy}");
    let disposition = header("content-disposition");
    assert!(disposition.starts_with("attachment; "), "{disposition}");
    assert!(disposition.ends_with("UTF-8''Proposta%20Jo%C3%A3o.pdf"), "{disposition}");
    let mut ranged = talk.site.owner().await;
    ranged.headers.insert("range", http::HeaderValue::from_static("bytes=1-3"));
    let part = ranged.get(&path).await;
    assert_eq!((part.status, part.html.as_str()), (StatusCode::PARTIAL_CONTENT, "PDF"));
    assert_eq!(talk.site.kit.provider.sent().len(), 1);
}

/// R424.
#[tokio::test]
async fn a_picture_is_inline_and_an_address_of_others_is_only_a_link() {
    let talk = Talk::new().await;
    talk.imports(json!({"type": "image", "media_url": "https://cdn.example/a.png",
        "media_filename": "<b>a.png"}))
        .await;
    let owner = talk.site.owner().await;
    let shown = owner.get(&talk.page).await;
    shown.has("href=\"https://cdn.example/a.png\"").has("&lt;b&gt;a.png").lacks("<img");
    for wrong in ["image/svg+xml", "text/html", "application/xhtml+xml", "image/png+xml"] {
        assert_eq!(super::file::inline_type(wrong), None, "{wrong}");
    }
    assert_eq!(super::file::inline_type("Image/PNG; x=1"), Some("image/png"));
}

/// R425.
#[tokio::test]
async fn a_template_is_previewed_and_sent_with_its_variables() {
    let talk = Talk::new().await;
    let made = talk.site.kit.app.templates();
    let new = body(json!({"name": "pedido", "category": "UTILITY", "language": "pt_BR",
        "body": "Oi {{1}}, seu pedido {{2}} saiu.", "status": "APPROVED"}));
    let template = made.create(talk.site.kit.company.id, &new).await.expect("a template");
    let id = template.template.id.to_string();
    let owner = talk.site.owner().await;
    let path = format!("{}/template", talk.page);
    owner.get(&path).await.has("pedido (pt_BR)");
    let form = owner.get(&format!("{path}?template={id}")).await;
    form.has(&format!("data-draft=\"{}-{id}-variable-1\"", talk.contact));
    form.has("name=\"variable-1\"").has("Oi {{1}}, seu pedido {{2}} saiu.");
    let preview = owner.get(&format!("{path}/preview?template={id}&variable-1=%3Cb%3EAna")).await;
    preview.has("Oi &lt;b&gt;Ana, seu pedido {{2}} saiu.").lacks("<h1>");
    let lacking = [("key", "t1"), ("template", id.as_str()), ("variable-1", "Ana")];
    let refused = owner.post(&path, &lacking).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("value=\"Ana\"");
    let fields = [("key", "t2"), ("template", &id), ("variable-1", "Ana"), ("variable-2", "77")];
    let sent = owner.post(&path, &fields).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.html);
    assert_eq!(talk.site.kit.sent_texts(), ["Oi Ana, seu pedido 77 saiu."]);
}

/// R425.
#[tokio::test]
async fn the_panel_acts_as_the_role_may() {
    let talk = Talk::new().await;
    let agent = talk.site.as_role(OperatorRole::Agent).await;
    let act = async |path: &str, fields: &[(&str, &str)]| {
        let shown = agent.post(&format!("{}/{path}", talk.page), fields).await;
        assert_eq!(shown.location(), talk.page, "{path}: {}", shown.html);
        agent.get(&talk.page).await
    };
    let name = format!("<bdi>{}</bdi>", agent.member.display_name);
    agent.get(&talk.page).await.lacks(&name);
    act("take-over", &[]).await.has(&name);
    act("assign", &[("member_id", "")]).await.lacks(&name);
    act("pause-ai", &[("hours", "4")]).await.has("Paused until");
    act("resume-ai", &[]).await.lacks("Paused until");
    let off = act("ai-mode", &[("mode", "off")]).await;
    off.has("Only people answer.").has("<option value=\"off\" selected>");
    let external = act("ai-mode", &[("mode", "external")]).await;
    external.has("<option value=\"external\" selected>");
    act("handoff", &[]).await.has("Not read yet: 1");
    act("read", &[]).await.lacks("Not read yet");
    let blocked = act("block", &[]).await;
    blocked.has("Every message to it is refused.").lacks("/block\"");
    act("unblock", &[]).await.has("/block\"").lacks("Every message to it is refused.");
    act("close", &[("close_reason_id", "")]).await.has("Reopen and take over");
    act("take-over", &[]).await.lacks("Reopen and take over");
    let wrong = agent.post(&format!("{}/ai-mode", talk.page), &[("mode", "x")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let viewer = talk.site.as_role(OperatorRole::Viewer).await;
    for path in ["reply", "take-over", "close", "template", "buttons", "file", "block", "opt-in"] {
        let refused = viewer.post(&format!("{}/{path}", talk.page), &[("message", "x")]).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path}");
    }
}

/// R424.
#[tokio::test]
async fn an_opt_out_is_shown_with_what_it_stops() {
    let talk = Talk::new().await;
    let act = recado_core::conversations::ActionName::OptOut;
    let since = body(json!({"source": "backfill", "opted_out_at": "2024-03-01T12:00:00.000Z"}));
    let conversations = talk.site.kit.app.conversations();
    let done = conversations.act(talk.site.kit.company.id, talk.contact, act, &since).await;
    done.expect("opted out");
    let owner = talk.site.owner().await;
    let shown = owner.get(&talk.page).await;
    shown.has("Opted out").has("texts of AIs are refused").has("Lift it only if the contact");
    let lifted = owner.post(&format!("{}/opt-in", talk.page), &[]).await;
    assert_eq!(lifted.location(), talk.page);
    owner.get(&talk.page).await.lacks("Opted out").lacks("/opt-in");
}

/// R425. Every key of the help leads to a control of the page, and to one only.
#[tokio::test]
async fn every_key_of_the_help_has_its_control() {
    let talk = Talk::new().await;
    let shown = talk.site.owner().await.get(&talk.page).await;
    let keys: Vec<_> = shown.html.split("<kbd>").skip(1).filter_map(|rest| rest.get(..1)).collect();
    let own = ["r", "j", "k", "?", "C"];
    assert!(own.iter().all(|key| keys.contains(key)) && keys.len() > own.len(), "{keys:?}");
    for key in keys.iter().filter(|key| !own.contains(key)) {
        let controls = shown.html.matches(&format!("data-key=\"{key}\"")).count();
        assert_eq!(controls, 1, "{key}");
    }
    let named: Vec<_> =
        shown.html.split("data-key=\"").skip(1).filter_map(|rest| rest.get(..1)).collect();
    assert!(named.iter().all(|key| keys.contains(key)), "{named:?}");
}

/// R424.
#[tokio::test]
async fn a_conversation_of_another_company_is_not_there() {
    let talk = Talk::new().await;
    let (company, _) = talk.site.kit.another_company("Outra").await;
    let new = body(json!({"phone": "+5511987650000", "name": "Zé"}));
    let contact = talk.site.kit.app.contacts().import(&company, &new).await.expect("a contact").0;
    let owner = talk.site.owner().await;
    let page = format!("/console/inbox/{contact}");
    for path in ["", "/messages", "/template"] {
        assert_eq!(
            owner.get(&format!("{page}{path}")).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    let file = owner
        .get(&format!(
            "{page}/files/{}",
            MessageId::parse("00000000-0000-0000-0000-000000000001").expect("an id")
        ))
        .await;
    assert_eq!(file.status, StatusCode::NOT_FOUND);
    for (path, fields) in
        [("reply", [("key", "a"), ("message", "x")]), ("take-over", [("a", "b"), ("c", "d")])]
    {
        let shown = owner.post(&format!("{page}/{path}"), &fields).await;
        assert_eq!(shown.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert!(talk.site.kit.sent_texts().is_empty());
}

/// R424.
#[tokio::test]
async fn sound_is_played_in_the_page_as_its_own_type() {
    let talk = Talk::new().await;
    let owner = talk.site.owner().await;
    let csrf = owner.csrf();
    let body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{csrf}\r\n\
         --x\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\ns\r\n\
         --x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"som.mp3\"\r\n\
         Content-Type: audio/mpeg\r\n\r\nID3\u{3}\0\0\0\0\0\0\0\0\r\n--x--\r\n"
    );
    let path = format!("{}/file", talk.page);
    let request = owner.request(Method::POST, &path).header("sec-fetch-site", "same-origin");
    let request = request.header("content-type", "multipart/form-data; boundary=x");
    let sent = talk.site.send(request, body).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.html);
    let shown = owner.get(&talk.page).await;
    shown.has("<audio controls");
    let path = shown.html.split('"').find(|text| text.contains("/files/")).expect("a link");
    let file = owner.get(path).await;
    assert_eq!(file.headers["content-type"], "audio/mpeg");
    let disposition = file.headers["content-disposition"].to_str().expect("text");
    assert!(disposition.starts_with("inline; "), "{disposition}");
    let nobody = talk.site.get(path).await;
    assert_eq!(nobody.status, StatusCode::SEE_OTHER);
}

/// R424.
#[tokio::test]
async fn in_a_group_each_message_says_who_wrote_it() {
    let talk = Talk::new().await;
    let event = json!({"from": "120363000000000001@g.us", "participant": "5521988887777",
        "push_name": "<i>Bia", "type": "text", "content": "no grupo"});
    talk.tells("g.1", event).await;
    let owner = talk.site.owner().await;
    let list = owner.get("/console/contacts").await;
    let known = format!("/console/contacts/{}", talk.contact);
    let of_group = list.html.split('"').find(|text| {
        let id = text.strip_prefix("/console/contacts/").and_then(ContactId::parse);
        id.is_some() && *text != known
    });
    let id = of_group.and_then(|path| path.rsplit('/').next()).expect("the group");
    let shown = owner.get(&format!("/console/inbox/{id}")).await;
    shown.has("<bdi class=\"who\">&lt;i&gt;Bia</bdi>").has("no grupo");
}

/// R425. Nothing of a body that a handler reads itself is taken without the token of the session.
#[tokio::test]
async fn no_route_that_reads_a_file_takes_it_without_the_token() {
    let talk = Talk::new().await;
    let owner = talk.site.owner().await;
    let body = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n\
         phone\r\n--x--\r\n";
    for route in crate::routes().filter(|route| route.reads() == crate::Reads::Stream) {
        let id = talk.contact.to_string();
        let path = route.path().split('/').map(|part| match part.starts_with('{') {
            true => id.as_str(),
            false => part,
        });
        let path = path.collect::<Vec<_>>().join("/");
        let request = owner.request(Method::POST, &path).header("sec-fetch-site", "same-origin");
        let request = request.header("content-type", "multipart/form-data; boundary=x");
        let refused = talk.site.send(request, body.to_owned()).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert!(talk.site.kit.provider.sent().is_empty());
}
