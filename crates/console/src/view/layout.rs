//! The layout around every page: head, navigation, landmarks (R419).

use maud::{DOCTYPE, Markup, html};
use recado_core::access::OperatorAction;

use crate::assets::{HTMX, SCRIPT, STYLE};
use crate::i18n::Language;
use crate::refusal::Refusal;
use crate::reply::Page;
use crate::theme::Theme;
use crate::visit::Visit;

/// The entries of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// Conversations.
    Inbox,
    /// Contacts.
    Contacts,
    /// Campaigns.
    Campaigns,
    /// Templates.
    Templates,
    /// Connections.
    Connections,
    /// Webhooks, inbound endpoints, keys, the journal.
    Integration,
    /// Usage, members, tokens, the audit log.
    Operation,
    /// One's own account.
    Account,
    /// Pages that belong to no entry.
    None,
}

/// An entry: where it leads, the key of its name, and what one has to be allowed to do to see it.
struct Entry {
    area: Area,
    path: &'static str,
    key: &'static str,
    action: Option<OperatorAction>,
}

const fn entry(area: Area, path: &'static str, key: &'static str, action: OperatorAction) -> Entry {
    Entry { area, path, key, action: Some(action) }
}

const ENTRIES: &[Entry] = &[
    entry(Area::Inbox, "/console/inbox", "nav-inbox", OperatorAction::ListOperatorContacts),
    entry(
        Area::Contacts,
        "/console/contacts",
        "nav-contacts",
        OperatorAction::ListOperatorContacts,
    ),
    entry(
        Area::Campaigns,
        "/console/campaigns",
        "nav-campaigns",
        OperatorAction::ListCompanyCampaigns,
    ),
    entry(Area::Templates, "/console/templates", "nav-templates", OperatorAction::ListTemplates),
    entry(
        Area::Connections,
        "/console/connections",
        "nav-connections",
        OperatorAction::ListConnections,
    ),
    entry(
        Area::Integration,
        "/console/integration",
        "nav-integration",
        OperatorAction::ListWebhooks,
    ),
    entry(Area::Operation, "/console/operation", "nav-operation", OperatorAction::ListMembers),
    Entry { area: Area::Account, path: "/console/account", key: "nav-account", action: None },
];

/// What htmx may do: nothing that needs a weaker policy, and no request to another host.
const HTMX_CONFIG: &str = r#"{"allowEval":false,"includeIndicatorStyles":false,"selfRequestsOnly":true,"historyCacheSize":0,"responseHandling":[{"code":"204","swap":false},{"code":"[23]..","swap":true},{"code":"422","swap":true},{"code":"[45]..","swap":true,"error":true}]}"#;

fn head(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="htmx-config" content=(HTMX_CONFIG);
        title { (title) " · Recado" }
        link rel="icon" href="data:,";
        link rel="stylesheet" href=(STYLE.path);
        script src=(HTMX.path) defer {}
        script src=(SCRIPT.path) defer {}
    }
}

/// A page for somebody who is signed in.
pub(crate) fn page(visit: &Visit, page: &Page) -> Markup {
    let csrf = format!(r#"{{"X-CSRF-Token":"{}"}}"#, visit.csrf.expose());
    html! {
        (DOCTYPE)
        html lang=(visit.language.tag()) data-theme=(visit.theme.as_str()) {
            head { (head(&page.title)) }
            body hx-headers=(csrf) {
                a.skip href="#main" { (visit.t("nav-skip")) }
                header.top {
                    a.brand href="/console" { "Recado" }
                    span.company { (visit.company.name) }
                    nav aria-label=(visit.t("nav-label")) {
                        ul {
                            @for entry in ENTRIES {
                                @if entry.action.is_none_or(|action| visit.may(action)) {
                                    li { (link(visit, entry, page.area)) }
                                }
                            }
                        }
                    }
                    (choices(visit.language, visit.theme))
                    (sign_out(visit))
                }
                main #main tabindex="-1" {
                    h1 { (page.title) }
                    (page.body)
                }
                div #toasts.toasts role="status" aria-live="polite" {}
            }
        }
    }
}

fn link(visit: &Visit, entry: &Entry, current: Area) -> Markup {
    let current = (entry.area == current).then_some("page");
    html! { a href=(entry.path) aria-current=[current] { (visit.t(entry.key)) } }
}

fn sign_out(visit: &Visit) -> Markup {
    html! {
        form.sign-out method="post" action="/console/sign-out" {
            (csrf_field(visit))
            @if let Some(member) = &visit.member { span.member { (member.display_name) } }
            button.quiet type="submit" { (visit.t("nav-sign-out")) }
        }
    }
}

/// R421. The other language and the next colours, a button each. They lead back to the page.
fn choices(language: Language, theme: Theme) -> Markup {
    let next = Theme::ALL.iter().position(|known| *known == theme).unwrap_or_default() + 1;
    let next = Theme::ALL[next % Theme::ALL.len()].as_str();
    html! {
        form.choices method="post" action="/console/choices" {
            @for other in Language::ALL.into_iter().filter(|other| *other != language) {
                button.quiet type="submit" name="language" value=(other.tag()) lang=(other.tag()) {
                    (other.name())
                }
            }
            button.quiet type="submit" name="theme" value=(next) {
                (language.text("account-theme")) ": " (language.word_of("account-theme", next))
            }
        }
    }
}

/// The hidden field that every form needs (R420).
pub(crate) fn csrf_field(visit: &Visit) -> Markup {
    html! { input type="hidden" name=(crate::csrf::FIELD) value=(visit.csrf.expose()); }
}

/// A page without navigation, for somebody who may not be signed in.
pub(crate) fn bare(language: Language, theme: Theme, title: &str, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(language.tag()) data-theme=(theme.as_str()) {
            head { (head(title)) }
            body.bare {
                main #main {
                    h1 { (title) }
                    (body)
                }
                footer { (choices(language, theme)) }
            }
        }
    }
}

/// Why something is not shown, in words. The core's own sentence stands only where it is in the
/// language of the page (R421).
pub(crate) fn refusal(language: Language, refusal: &Refusal) -> Markup {
    html! {
        div.notice.bad role="alert" {
            p { (language.text(refusal.key())) }
            @if let Refusal::Rejected(refused) = refusal {
                @let sentence = refused.sentence(language);
                p { (language.code(refused.code)) }
                @if sentence.is_none() {
                    @for (field, reason) in refused.reasons(language) {
                        p { code { (field) } " " (reason) }
                    }
                }
                p.detail { code { (refused.code.as_str()) } " " (sentence.unwrap_or_default()) }
            }
        }
    }
}
