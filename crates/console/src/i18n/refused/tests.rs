use http::StatusCode;
use recado_core::conversations::ActionName;
use recado_testkit::kit::body;
use serde_json::json;

use super::super::PORTUGUESE;
use super::*;
use crate::harness::{Shown, Site};

/// R421. A reason is found by its key, so the key has to be that of the core's words.
#[test]
fn the_key_of_a_reason_is_made_of_the_words_of_the_core() {
    let keys = PORTUGUESE.iter().flat_map(|file| file.lines());
    let keys = keys.filter_map(|line| line.split(" = ").next());
    let keys: Vec<&str> = keys.filter(|key| key.starts_with("reason-")).collect();
    assert!(keys.len() > 50, "{keys:?}");
    for key in keys.into_iter().filter(|key| *key != "reason-other") {
        let values = [("n", "1".into()), ("m", "2".into()), ("rest", "".into())];
        let words = Language::English.text_with(key, &values);
        assert_eq!(format!("reason-{}", keyed(&words).0), key);
    }
}

/// R421.
#[test]
fn a_reason_is_told_by_its_longest_beginning_that_has_words() {
    let told = |reason| Language::Portuguese.reason(reason);
    assert_eq!(told("is required"), "Preencha este campo.");
    assert_eq!(told("is required, or media_id"), "Preencha este campo.");
    assert_eq!(told("must have at most 2,048 characters"), "Use no máximo 2.048 caracteres.");
    assert_eq!(told("must be a whole number from 1 to 60"), "Escreva um número inteiro de 1 a 60.");
    assert_eq!(told("lack {{1}}, {{nome}}"), "Falta preencher: {{1}}, {{nome}}.");
    let mapping = "phone is not JSONPath (RFC 9535): expected '$' at character 1";
    assert_eq!(told(mapping), "phone: Isto não é um JSONPath. Confira a expressão.");
    assert_eq!(told("is something new"), "Isto não é aceito. Confira e corrija.");
    assert_eq!(Language::English.reason("is something new"), "is something new");
}

/// The texts of a page between its tags, from its heading on.
fn texts(shown: &Shown) -> String {
    let (_, main) = shown.html.split_once("<main").expect("a page");
    let (main, _) = main.split_once("</main>").expect("its end");
    main.split('<')
        .map(|part| part.split_once('>').map_or("", |(_, text)| text))
        .fold(String::new(), |all, text| all + " " + text)
}

/// Fails if a page of a refusal has an English word.
#[track_caller]
fn has_no_english(shown: &Shown) {
    assert!(shown.status.is_client_error(), "{}", shown.status);
    // None of these is a word of Portuguese.
    const ENGLISH: [&str; 12] =
        ["the", "is", "must", "not", "with", "and", "was", "are", "of", "it", "at", "this"];
    let texts = texts(shown).to_lowercase();
    let words = texts.split(|c: char| !c.is_alphabetic());
    let found: Vec<&str> = words.filter(|word| ENGLISH.contains(word)).collect();
    assert!(found.is_empty(), "{found:?} in {texts}");
}

/// R421. What was refused is said in the language of the page, at its fields and as a whole.
#[tokio::test]
async fn a_portuguese_page_says_in_portuguese_what_was_refused() {
    let site = Site::new().await;
    let owner = site.owner().await.in_portuguese();
    let path = "/console/contacts/new";
    let fields = [("phone", ""), ("email", "no"), ("cpf", "1"), ("birthday", "ontem")];
    let refused = owner.post(path, &fields).await;
    refused.has("id=\"field-email-error\">Isto não é um endereço de e-mail.");
    refused.has("id=\"field-cpf-error\">Escreva 11 dígitos.");
    has_no_english(&refused);

    let connection = site.kit.connection("qr").await;
    site.kit.contact_writes(connection, "5511987654321", "Bom dia").await;
    let contact = site.kit.contact_by_phone("+5511987654321").await.expect("the contact");
    let (company, conversations) = (site.kit.company.id, site.kit.app.conversations());
    let blocked = conversations.act(company, contact, ActionName::Block, &body(json!({}))).await;
    blocked.expect("blocked");
    let page = format!("/console/inbox/{contact}");
    let fields = [("key", "a"), ("message", "Olá")];
    let refused = owner.post(&format!("{page}/reply"), &fields).await;
    refused.has("Não foi feito. Sua empresa bloqueou este contato. Tire o bloqueio antes.");
    has_no_english(&refused);
    // The answer that is kept for the key of the form is said in the same way.
    let again = owner.post(&format!("{page}/reply"), &fields).await;
    again.has("Tire o bloqueio antes.");
    has_no_english(&again);
}

/// R421. The forms of other areas have words for what they are refused for most often, too.
#[tokio::test]
async fn the_forms_of_every_area_have_words_for_their_fields() {
    let site = Site::new().await;
    let owner = site.owner().await.in_portuguese();
    for (path, fields) in [
        ("integration/webhooks", &[("url", "ftp://x")][..]),
        ("integration/endpoints", &[("slug", "A b"), ("variable_mapping", "phone = x")]),
        ("integration/keys", &[("name", ""), ("rate_per_minute", "x")]),
        ("operation/tokens", &[("name", ""), ("role", "x")]),
        ("operation/members", &[("display_name", ""), ("role", "x")]),
        ("campaigns/new", &[("name", "")]),
        ("connections/new", &[("name", ""), ("gateway", "simulated")]),
        ("contacts/new", &[("phone", "abc"), ("postal_code", "1"), ("priority", "x")]),
    ] {
        let refused = owner.post(&format!("/console/{path}"), fields).await;
        refused.has("class=\"error\"").lacks(&Language::Portuguese.text("reason-other"));
        has_no_english(&refused);
    }
}

/// R421. A page without a form says the words of the code, the code, and the fields.
#[tokio::test]
async fn a_refusal_without_a_form_is_in_the_language_of_its_page() {
    let site = Site::new().await;
    let owner = site.owner().await.in_portuguese();
    let path = format!("/console/contacts?search={}", "a".repeat(201));
    let refused = owner.get(&path).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("Abra a página de novo pela navegação.").has("<code>INVALID_PARAMETER</code>");
    has_no_english(&refused);
    // An English page has the sentence of the core, too.
    let english = site.owner().await.get(&path).await;
    english
        .has("Open the page again from the navigation.")
        .has("search must have at most 200 characters");
}
