//! Pages of contacts without a browser.

use http::{Method, StatusCode};
use recado_core::access::{OperatorAction, OperatorRole};
use recado_core::ids::ContactId;
use serde_json::{Value, json};

use crate::harness::{Browser, Shown, Site};
use crate::{Console, ConsoleOptions};

async fn contact(site: &Site, body: Value) -> ContactId {
    let body = body.as_object().cloned().expect("an object");
    let made = site.kit.app.contacts().import(&site.kit.company, &body).await;
    made.expect("a contact").0
}

async fn send_file(
    browser: &Browser<'_>,
    site: &Site,
    path: &str,
    csrf: &str,
    file: &str,
) -> Shown {
    let body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{csrf}\r\n--x\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"<b>people.csv\"\r\n\r\n{file}\r\n--x--\r\n"
    );
    let request = browser.request(Method::POST, path).header("sec-fetch-site", "same-origin");
    site.send(request.header("content-type", "multipart/form-data; boundary=x"), body).await
}

/// The page of an import once it is over.
async fn over(browser: &Browser<'_>, path: &str) -> Shown {
    for _ in 0..200 {
        let shown = browser.get(path).await;
        if !shown.html.contains("every 1s") {
            return shown;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the import does not end");
}

#[tokio::test]
async fn the_list_is_filtered_and_escapes_names() {
    let site = Site::new().await;
    contact(&site, json!({"phone": "+5511987654321", "name": "<script>Ana"})).await;
    contact(&site, json!({"phone": "+5511987654322", "name": "Caio", "crm_status": "customer"}))
        .await;
    let viewer = site.as_role(OperatorRole::Viewer).await;
    let all = viewer.get("/console/contacts").await;
    all.has("&lt;script&gt;Ana").has("Caio").lacks("<script>Ana");
    let some = viewer.get("/console/contacts?crm_status=customer&search=").await;
    some.has("Caio").lacks("Ana<");
    assert_eq!(some.status, StatusCode::OK);
    let stop =
        json!({"phone": "+5511987654323", "name": "Bia", "opted_out_at": "2026-01-02T00:00:00Z"});
    contact(&site, stop).await;
    let stopped = viewer.get("/console/contacts?opted_out=true&inbox_status=").await;
    stopped.has(">Bia<").lacks("Caio");
    let connection = site.kit.connection("qr").await;
    site.kit.contact_writes(connection, "5511987654329", "Oi").await;
    for (query, has, lacks) in [
        (format!("connection_id={connection}"), "+5511987654329", "Caio"),
        ("active_since=2020-01-01".to_owned(), "+5511987654329", "Caio"),
        ("updated_since=2099-01-01".to_owned(), "No contacts", "Caio"),
        ("source_platform=telegram".to_owned(), "No contacts", "Caio"),
        ("is_ai_enabled=true&is_group=false&search=Caio".to_owned(), "Caio", "+5511987654329"),
    ] {
        let found = viewer.get(&format!("/console/contacts?{query}")).await;
        found.has(has).lacks(&format!(">{lacks}<"));
    }
    let wrong = viewer.get("/console/contacts?connection_id=x").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let wrong = viewer.get("/console/contacts?tag_id=x").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn columns_are_kept_in_a_cookie() {
    let site = Site::new().await;
    contact(&site, json!({"phone": "+5511987654321", "city": "Olinda"})).await;
    let mut browser = site.owner().await;
    browser.get("/console/contacts").await.lacks("Olinda");
    let chosen = [("column-city", "on"), ("column-<x>", "on"), ("back", "?search=98765")];
    let answer = browser.post("/console/contacts/columns", &chosen).await;
    let back = answer.location();
    assert!(back.starts_with("/console/contacts?") && back.ends_with("search=98765"), "{back}");
    let cookie = answer.headers.get("set-cookie").and_then(|c| c.to_str().ok()).expect("a cookie");
    assert!(cookie.starts_with("recado-contact-columns=city;"), "{cookie}");
    let pair = cookie.split(';').next().expect("a pair").parse().expect("a header");
    browser.headers.insert("cookie", pair);
    browser.get("/console/contacts").await.has("Olinda");
}

#[tokio::test]
async fn a_contact_is_shown_changed_and_deleted_with_the_errors_of_its_fields() {
    let site = Site::new().await;
    let id = contact(&site, json!({"phone": "+5511987654321", "name": "Ana"})).await;
    let path = format!("/console/contacts/{id}");
    let owner = site.owner().await;
    owner.get(&path).await.has("<h1>Ana</h1>").has("+5511987654321");
    let edit = format!("{path}/edit");
    let refused = owner.post(&edit, &[("name", "Ana"), ("email", "no"), ("cpf", "1")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("id=\"field-email-error\"").has("id=\"field-cpf-error\"");
    let saved = owner.post(&edit, &[("name", "Bia"), ("crm_status", "customer")]).await;
    assert_eq!(saved.location(), path);
    owner.get(&path).await.has("<h1>Bia</h1>").has("Customer");
    let agent = site.as_role(OperatorRole::Agent).await;
    let delete = format!("{path}/delete");
    assert_eq!(agent.post(&delete, &[]).await.status, StatusCode::FORBIDDEN);
    owner.post(&format!("{path}/deals"), &[("title", "A car")]).await;
    let deleted = owner.post(&delete, &[]).await;
    assert_eq!(deleted.status, StatusCode::OK);
    deleted.has("Receipt").has(&id.to_string()).lacks("Bia");
    deleted.has(">Deals</td><td data-label=\"Number\">1</td>");
    deleted.lacks("lead_memories").lacks("kept_events").lacks("sent_files");
    assert_eq!(owner.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_history_of_a_contact_has_its_messages_and_what_was_made() {
    let site = Site::new().await;
    let connection = site.kit.connection("qr").await;
    site.kit.contact_writes(connection, "5511987654321", "Bom dia").await;
    let id = site.kit.contact_by_phone("+5511987654321").await.expect("the contact");
    let path = format!("/console/contacts/{id}");
    let owner = site.owner().await;
    site.kit.clock.advance(std::time::Duration::from_mins(1));
    owner.post(&format!("{path}/deals"), &[("title", "<b>A car")]).await;
    let page = owner.get(&path).await.html;
    let (_, history) = page.split_once("<ol class=\"history\"").expect("a history");
    let (history, _) = history.split_once("</ol>").expect("its end");
    let place = |text: &str| history.find(text).unwrap_or_else(|| panic!("{text}: {history}"));
    assert!(place("Deal · ") < place("Bom dia"), "the newest first: {history}");
    assert!(place("&lt;b&gt;A car") < place("Made · "), "{history}");
    assert_eq!(history.matches("<li>").count(), 3, "{history}");
}

#[tokio::test]
async fn a_new_contact_needs_a_phone_and_a_known_one_is_shown() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let path = "/console/contacts/new";
    owner.get(path).await.has("field-phone");
    let refused = owner.post(path, &[("phone", ""), ("name", "Ana")]).await;
    refused.has("id=\"field-phone-error\"");
    let made = owner.post(path, &[("phone", "(11) 98765-4321"), ("name", "Ana")]).await;
    let again = owner.post(path, &[("phone", "+5511987654321")]).await;
    assert_eq!(made.location(), again.location());
}

#[tokio::test]
async fn a_viewer_reads_no_lead_memory_and_changes_nothing() {
    let site = Site::new().await;
    let id = contact(&site, json!({"phone": "+5511987654321"})).await;
    let path = format!("/console/contacts/{id}");
    let viewer = site.as_role(OperatorRole::Viewer).await;
    viewer.get("/console/contacts").await.lacks("/edit").lacks("/contacts/new");
    for part in ["", "/memory", "/edit"] {
        let refused = viewer.get(&format!("{path}{part}")).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{part}");
    }
    assert_eq!(viewer.get("/console/contacts/import").await.status, StatusCode::FORBIDDEN);
    let agent = site.as_role(OperatorRole::Agent).await;
    agent.get(&format!("{path}/memory")).await.has("Nothing is known yet");
}

/// R418. The page of a contact is for the roles that get a contact by the operator API; others are
/// led to its conversation.
#[tokio::test]
async fn the_page_of_a_contact_is_for_who_may_get_it() {
    let site = Site::new().await;
    let known = json!({"phone": "+5511987654321", "name": "Ana", "cpf": "52998224725"});
    let id = contact(&site, known).await;
    let least = OperatorAction::GetOperatorContact.least_role();
    for role in OperatorRole::ALL.iter().copied() {
        let browser = site.as_role(role).await;
        let shown = browser.get(&format!("/console/contacts/{id}")).await;
        let list = browser.get("/console/contacts").await;
        if role < least {
            assert_eq!(shown.status, StatusCode::FORBIDDEN, "{role}");
            shown.lacks("529.982.247-25").lacks("52998224725");
            list.has(&format!("/console/inbox/{id}\"")).lacks(&format!("/contacts/{id}\""));
        } else {
            shown.has("<h1>Ana</h1>").has("52998224725");
            list.has(&format!("/console/contacts/{id}\""));
        }
    }
}

#[tokio::test]
async fn a_deal_is_made_changed_and_deleted() {
    let site = Site::new().await;
    let id = contact(&site, json!({"phone": "+5511987654321"})).await;
    let other = contact(&site, json!({"phone": "+5511987654322"})).await;
    let path = format!("/console/contacts/{id}");
    let owner = site.owner().await;
    let deals = format!("{path}/deals");
    owner.post(&deals, &[("title", " ")]).await.has("id=\"field-title-error\"");
    owner.post(&deals, &[("title", "Order 7"), ("stage_id", "")]).await;
    let all = site.kit.app.deals().all(site.kit.company.id).await.expect("deals");
    let deal = format!("{deals}/{}", all[0].id);
    let foreign = format!("/console/contacts/{other}/deals/{}", all[0].id);
    assert_eq!(owner.post(&foreign, &[("title", "x")]).await.status, StatusCode::NOT_FOUND);
    owner.post(&deal, &[("title", "Order 8"), ("status", "won")]).await;
    owner.get(&path).await.has("Order 8").has("Won");
    owner.post(&format!("{deal}/delete"), &[]).await;
    owner.get(&path).await.lacks("Order 8");
}

#[tokio::test]
async fn documents_are_attached_and_never_answered_as_pages() {
    let site = Site::new().await;
    let id = contact(&site, json!({"phone": "+5511987654321"})).await;
    let path = format!("/console/contacts/{id}/documents");
    let owner = site.owner().await;
    let forged = send_file(&owner, &site, &path, "no", "<html>").await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let sent = send_file(&owner, &site, &path, &owner.csrf(), "<html>").await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.html);
    let all = site.kit.app.documents().list(site.kit.company.id, id).await.expect("documents");
    let read = owner.get(&format!("{path}/{}", all[0].id)).await;
    read.has("<html>");
    assert_eq!(read.headers["content-type"], "application/octet-stream");
    let named = read.headers["content-disposition"].to_str().expect("text");
    assert!(named.starts_with("attachment; filename*="), "{named}");
}

/// R425, R427. A company has a number of places for what it downloads, and leaves them to others.
#[tokio::test(start_paused = true)]
async fn what_a_company_downloads_at_once_has_a_bound() {
    let mut site = Site::new().await;
    let options = ConsoleOptions {
        downloads_per_company: 1,
        exports_per_company: 1,
        ..ConsoleOptions::default()
    };
    site.console = Console::new(site.kit.app.clone(), options);
    let id = contact(&site, json!({"phone": "+5511987654321"})).await;
    let owner = site.owner().await;
    let path = format!("/console/contacts/{id}/documents");
    send_file(&owner, &site, &path, &owner.csrf(), "a text").await;
    let all = site.kit.app.documents().list(site.kit.company.id, id).await.expect("documents");
    for path in [format!("{path}/{}", all[0].id), "/console/contacts/export".to_owned()] {
        let request = owner.request(Method::GET, &path).body(http_body_util::Empty::new());
        let held = site.console.answer(request.expect("a request")).await.expect("an answer");
        assert_eq!(held.status(), StatusCode::OK);
        assert!(held.extensions().get::<recado_http_hyper::IsFile>().is_some(), "{path}");
        assert_eq!(owner.get(&path).await.status, StatusCode::SERVICE_UNAVAILABLE);
        drop(held);
        assert_eq!(owner.get(&path).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn contacts_that_share_a_number_are_proposed_compared_and_merged() {
    let site = Site::new().await;
    let keep = contact(&site, json!({"phone": "+525512345678", "name": "Ana"})).await;
    let other = contact(
        &site,
        json!({"identifier": "a-lid", "phone": "+5215512345678", "email": "ana@example.org"}),
    )
    .await;
    let owner = site.owner().await;
    let path = format!("/console/contacts/compare?keep={keep}&amp;other={other}");
    owner.get("/console/contacts/duplicates").await.has(&path);
    owner.get(&path.replace("&amp;", "&")).await.has("ana@example.org").has("<strong>");
    let pair = [("keep", keep.to_string()), ("other", other.to_string())];
    let pair: Vec<(&str, &str)> = pair.iter().map(|(name, id)| (*name, id.as_str())).collect();
    let merged = owner.post("/console/contacts/compare", &pair).await;
    assert_eq!(merged.location(), format!("/console/contacts/{keep}"));
    owner.get(merged.location()).await.has("ana@example.org");
    let same = [pair[0], ("other", pair[0].1)];
    let refused = owner.post("/console/contacts/compare", &same).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
}

/// R427.
#[tokio::test]
async fn the_export_has_the_filtered_contacts_and_no_formulas() {
    let site = Site::new().await;
    contact(&site, json!({"phone": "+5511987654321", "name": "=HYPERLINK(\"x\")"})).await;
    contact(&site, json!({"phone": "+5511987654322", "name": "Caio", "crm_status": "lost"})).await;
    for n in 0..150 {
        contact(&site, json!({"phone": format!("+55119{:08}", 10_000_000 + n)})).await;
    }
    let owner = site.owner().await;
    let file = owner.get("/console/contacts/export").await;
    assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
    file.has("id,phone,identifier").has("\"'=HYPERLINK(\"\"x\"\")\"").has("'+5511987654321");
    assert_eq!(file.html.lines().count(), 153);
    let some = owner.get("/console/contacts/export?crm_status=lost").await;
    some.has("Caio").lacks("HYPERLINK");
}

/// R426.
#[tokio::test]
async fn a_file_is_mapped_tried_imported_and_reported() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let file = "Nome;Telefone;E-mail\nAna;(11) 98765-4321;ana@example.org\nCaio;12;c@example.org\n\
                Bia;(11) 98765-4322;wrong\n";
    let path = "/console/contacts/import";
    assert_eq!(send_file(&owner, &site, path, "no", file).await.status, StatusCode::FORBIDDEN);
    let sent = send_file(&owner, &site, path, &owner.csrf(), file).await;
    let path = sent.location().to_owned();
    let page = owner.get(&path).await;
    page.has("&lt;b&gt;people.csv").lacks("<b>people");
    page.has("<option value=\"phone\" selected>").has("<option value=\"email\" selected>");
    page.has("Refused").has("Left out:");
    let columns = [("column-0", "name"), ("column-1", "phone"), ("column-2", "email")];
    let with = |act: &'static str| [columns.as_slice(), &[("do", act)]].concat();
    owner.post(&path, &with("rehearse")).await;
    over(&owner, &path).await.has("Nothing was stored");
    let count = async || {
        let filter = recado_core::contacts::ContactFilter::default();
        let first = recado_core::page::PageRequest::FIRST;
        let contacts = site.kit.app.contacts();
        contacts.page_of(site.kit.company.id, &filter, first, false).await.expect("a page").total
    };
    assert_eq!(count().await, 0);
    owner.post(&path, &[("do", "again")]).await;
    let report = over(&owner, &path).await;
    report.has("The import is over").has("Caio").has("wrong".trim_end_matches("wrong"));
    assert_eq!(count().await, 2);
    let refused = owner.get(&format!("{path}/refused")).await;
    refused.has("Nome;Telefone;E-mail;_line;_reason").has("Caio;12;c@example.org;3;phone");
    // R421. A page in Portuguese, and its file, have reasons in Portuguese.
    let portuguese = owner.in_portuguese();
    let wrong = "Isto não é um telefone.";
    let report = over(&portuguese, &path).await;
    report.has("A importação terminou").has(wrong).has("não é um endereço de e-mail");
    report.lacks("must");
    let refused = portuguese.get(&format!("{path}/refused")).await;
    refused.has("Caio;12;c@example.org;3;").has(wrong).lacks("must");
    let file = file.replace("98765", "98766");
    let new = "/console/contacts/import";
    let sent = send_file(&portuguese, &site, new, &portuguese.csrf(), &file).await;
    let page = portuguese.get(sent.location()).await;
    page.has("Não importado:").has(wrong).has("não é um endereço de e-mail").lacks("must");
    let stranger = site.as_role(OperatorRole::Viewer).await;
    assert_eq!(stranger.get(&path).await.status, StatusCode::FORBIDDEN);
}

/// R438.
#[tokio::test]
async fn an_import_that_a_restart_forgot_says_what_to_do_and_makes_nobody_twice() {
    let mut site = Site::new().await;
    let import = async |site: &Site| {
        let owner = site.owner().await;
        let file = "phone\n+5511987654321\n+5511987654322\n";
        let form = "/console/contacts/import";
        let path = send_file(&owner, site, form, &owner.csrf(), file).await;
        let path = path.location().to_owned();
        owner.post(&path, &[("column-0", "phone"), ("do", "import")]).await;
        let report = over(&owner, &path).await;
        report.has("The import is over");
        (path, report)
    };
    let (path, report) = import(&site).await;
    report.has("<dt>New</dt><dd>2</dd>");
    site.console = Console::new(site.kit.app.clone(), ConsoleOptions::default());
    let mut owner = site.owner().await;
    let unknown = owner.get(&path).await;
    assert_eq!(unknown.status, StatusCode::UNPROCESSABLE_ENTITY);
    unknown.has("not known here any more").has("The server was restarted");
    unknown.has("Send the file again and import it.").has("type=\"file\"");
    for part in ["/progress", "/refused"] {
        assert_eq!(owner.get(&format!("{path}{part}")).await.location(), path, "{part}");
    }
    assert_eq!(owner.post(&path, &[("do", "import")]).await.location(), path);
    owner.headers.insert("hx-request", "true".parse().expect("a header"));
    let piece = owner.get(&format!("{path}/progress")).await;
    assert_eq!(piece.status, StatusCode::OK, "htmx shows it");
    piece.has("id=\"import-progress\"").has("The server was restarted").lacks("hx-get");
    let (_, report) = import(&site).await;
    report.has("<dt>New</dt><dd>0</dd>").has("<dt>Already there</dt><dd>2</dd>");
}

/// R426.
#[tokio::test]
async fn a_file_with_too_many_cells_is_explained() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let path = "/console/contacts/import";
    let wide = format!("phone\n{}\n", ",".repeat(200));
    let refused = send_file(&owner, &site, path, &owner.csrf(), &wide).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("more than 200 cells");
    let many = format!("{}\n", ",".repeat(199)).repeat(10_001);
    let refused = send_file(&owner, &site, path, &owner.csrf(), &many).await;
    refused.has("more than 2,000,000 cells");
}

/// R426.
#[tokio::test]
async fn the_choice_of_a_column_is_remembered_for_the_next_file() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let send = async || {
        let file = "Zap,Quem\n(11) 98765-4321,Ana\n";
        let sent = send_file(&owner, &site, "/console/contacts/import", &owner.csrf(), file).await;
        sent.location().to_owned()
    };
    let path = send().await;
    owner.get(&path).await.lacks("<option value=\"phone\" selected>");
    let chosen = [("column-0", "phone"), ("column-1", "name"), ("do", "import")];
    owner.post(&path, &chosen).await;
    over(&owner, &path).await.has("The import is over");
    let page = owner.get(&send().await).await;
    page.has("<option value=\"phone\" selected>").has("<option value=\"name\" selected>");
}

/// R426.
#[tokio::test]
async fn a_file_without_a_phone_or_without_rows_is_explained() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let import = "/console/contacts/import";
    let empty = send_file(&owner, &site, import, &owner.csrf(), "nome\n").await;
    assert_eq!(empty.status, StatusCode::UNPROCESSABLE_ENTITY);
    let sent = send_file(&owner, &site, import, &owner.csrf(), "nome\nAna\n").await;
    owner.get(sent.location()).await.has("Choose the column with the phone");
}
