use std::collections::BTreeSet;

use super::*;

/// The keys of a file, in order.
fn keys(file: &str) -> Vec<&str> {
    let lines =
        file.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
    lines.filter_map(|line| line.split_once('=')).map(|(key, _)| key.trim()).collect()
}

/// The variables of a file.
fn variables(file: &str) -> BTreeSet<&str> {
    let parts = file.split('$').skip(1);
    let end = |part: &str| part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
    parts.map(|part| &part[..end(part).unwrap_or(part.len())]).collect()
}

/// R421.
#[test]
fn no_language_lacks_a_key_or_has_one_twice() {
    for (english, portuguese) in ENGLISH.iter().zip(PORTUGUESE) {
        for file in [english, portuguese] {
            assert!(FluentResource::try_new((*file).to_owned()).is_ok(), "{file}");
        }
        assert_eq!(keys(english), keys(portuguese));
        assert_eq!(variables(english), variables(portuguese));
    }
    let all: Vec<&str> = ENGLISH.iter().flat_map(|file| keys(file)).collect();
    let once: BTreeSet<&str> = all.iter().copied().collect();
    let twice: Vec<_> =
        once.iter().filter(|key| all.iter().filter(|k| k == key).count() > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

fn sources(folder: &std::path::Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(std::fs::read_to_string(path).expect("a text"));
        }
    }
}

/// R421.
#[test]
fn every_key_in_the_code_has_a_text() {
    let mut files = Vec::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut missing = BTreeSet::new();
    for file in &files {
        for call in [".t(\"", ".t_with(\"", ".text(\"", "key: \""] {
            for part in file.split(call).skip(1) {
                let key = part.split('"').next().unwrap_or_default();
                let is_key = key.contains('-') && !key.contains(['{', ' ', ':', '/', '_']);
                if is_key && !Language::English.has(key) {
                    missing.insert(key.to_owned());
                }
            }
        }
        for part in file.split(".t_with(\n").skip(1) {
            let key = part.split('"').nth(1).unwrap_or_default();
            if key.contains('-') && !key.contains(' ') && !Language::English.has(key) {
                missing.insert(key.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// R421.
#[test]
fn the_choice_comes_before_what_the_browser_prefers() {
    let of = |choice, accepted: &'static str| {
        let value = http::HeaderValue::from_static(accepted);
        Language::of(choice, &HeaderMap::from_iter([(ACCEPT_LANGUAGE, value)]))
    };
    assert_eq!(of(Some("en"), "pt-BR"), Language::English);
    assert_eq!(of(Some("xx"), "pt-BR,en;q=0.8"), Language::Portuguese);
    assert_eq!(of(None, "de, en;q=0.4, pt;q=0.5"), Language::Portuguese);
    assert_eq!(of(None, "de"), Language::English);
}

/// Fails unless each word of a group has a text in both languages.
#[track_caller]
fn has_words(group: &str, words: &[&str]) {
    for language in Language::ALL {
        let key = |word: &str| format!("{group}-{}", word.to_lowercase().replace(['_', '.'], "-"));
        let missing: Vec<String> =
            words.iter().map(|word| key(word)).filter(|key| !language.has(key)).collect();
        assert!(missing.is_empty(), "{language:?} lacks {missing:?}");
    }
}

/// R424. The list, the conversation and the history name every kind of message.
#[test]
fn every_kind_of_message_has_its_words() {
    use recado_core::messages::{DeliveryCode, MessageStatus, MessageType, SenderType};
    has_words("thread-kind", MessageType::WORDS);
    has_words("thread-kind", recado_core::templates::HeaderKind::WORDS);
    has_words("thread-direction", recado_core::messages::Direction::WORDS);
    // What a contact writes has the name of the contact, and only ours has a status.
    let but = |all: &'static [&str], one| -> Vec<&str> {
        all.iter().copied().filter(|word| *word != one).collect()
    };
    has_words("thread-sender", &but(SenderType::WORDS, SenderType::Contact.as_str()));
    has_words("thread-status", &but(MessageStatus::WORDS, MessageStatus::Received.as_str()));
    has_words("thread-failure", DeliveryCode::WORDS);
    has_words("thread-advice", DeliveryCode::WORDS);
    let answers =
        ["button_reply", "list_reply", "flow_reply", "poll_vote", "call_permission_reply"];
    has_words("thread-answer", &answers);
}

/// R421. Pages say of every code what happened and what to do about it.
#[test]
fn every_code_of_the_core_has_its_words() {
    let codes: Vec<&str> = recado_core::Code::ALL.iter().map(|code| code.as_str()).collect();
    has_words("code", &codes);
    let known = ENGLISH.iter().flat_map(|file| keys(file));
    let known: Vec<&str> = known.filter_map(|key| key.strip_prefix("code-")).collect();
    assert_eq!(known.len(), codes.len(), "words of a code that there is not");
}

/// R421. What the core has a word for has one on the pages, too.
#[test]
fn every_enumeration_that_is_shown_has_its_words() {
    use recado_core::{access, audit, campaigns, connections, contacts, conversations, deals};
    use recado_core::{deliveries, gateway, inbound, templates};
    has_words("thread-inbox", contacts::InboxStatus::WORDS);
    has_words("inbox-status", contacts::InboxStatus::WORDS);
    has_words("contacts-status", contacts::InboxStatus::WORDS);
    has_words("contacts-crm", contacts::CrmStatus::WORDS);
    has_words("contacts-priority", contacts::Priority::WORDS);
    has_words("contacts-direction", recado_core::messages::Direction::WORDS);
    has_words("contacts-deal", deals::DealStatus::WORDS);
    has_words("thread-ai-mode", conversations::AiMode::WORDS);
    has_words("campaigns-status", campaigns::CampaignStatus::WORDS);
    has_words("campaigns-paused", campaigns::PauseReason::WORDS);
    has_words("campaigns-outcome", campaigns::RecipientStatus::WORDS);
    has_words("templates-status", templates::TemplateStatus::WORDS);
    has_words("templates-category", templates::TemplateCategory::WORDS);
    has_words("connections-kind", connections::ConnectionKind::WORDS);
    has_words("connections-status", connections::ShownStatus::WORDS);
    has_words("connections-reason", gateway::UnknownReason::WORDS);
    has_words("integration-delivery", deliveries::DeliveryStatus::WORDS);
    has_words("integration-mode", inbound::AuthMode::WORDS);
    has_words("integration-upsert", inbound::UpsertAction::WORDS);
    has_words("operation-role", access::OperatorRole::WORDS);
    has_words("operation-member-role", access::Role::WORDS);
    has_words("operation-actor", audit::ActorKind::WORDS);
    has_words("operation-outcome", audit::AuditOutcome::WORDS);
}
