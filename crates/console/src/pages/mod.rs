//! The pages, one file or folder for each area.
//!
//! # Adding a page
//!
//! 1. A handler in the area's file: `async fn list(ask: Ask) -> Outcome`. It reads `ask.path`,
//!    `ask.query` and `ask.form`, calls a use case of `ask.visit.recado` for `ask.visit.company`,
//!    and answers `Reply::page(Area::Contacts, title, markup)`. It holds no rule. A refusal of the
//!    core becomes a page by `?`; to show it at the fields of a form, match
//!    `Error::Rejected(refused)`, and show the form again with
//!    `FieldErrors::of(visit.language, &refused)` by `Reply::refused`.
//! 2. A line in the area's `ROUTES`: `Route::get(path, OperatorAction::…, |ask|
//!    Box::pin(list(ask)))`. The action is the one of the operator API's call that does the same;
//!    the session, the role and where a write comes from are checked before the handler runs.
//! 3. Its markup with `maud` and the parts of `view`. Every form begins with `csrf_field(visit)`;
//!    nothing inline: no `style`, no `on…` attribute. A form works without script; htmx may make
//!    it smoother.
//! 4. Its texts in `i18n/en/AREA.ftl` and `i18n/pt-BR/AREA.ftl`, in the same order, with keys that
//!    begin with the area's name, asked by `visit.t("contacts-title")`; words of an enumeration by
//!    `visit.word_of("contacts-status", status.as_str())`.
//! 5. A test with `Site` of `harness`: a request in, HTML out.

use crate::route::Route;

pub(crate) mod account;
pub(crate) mod assets;
pub(crate) mod campaigns;
pub(crate) mod choices;
pub(crate) mod connections;
pub(crate) mod contacts;
pub(crate) mod inbox;
pub(crate) mod integration;
pub(crate) mod operation;
pub(crate) mod provider;
pub(crate) mod sign_in;
pub(crate) mod templates;
pub(crate) mod thread;
pub(crate) mod welcome;

/// Every route, area by area.
pub(crate) const ROUTES: &[&[Route]] = &[
    assets::ROUTES,
    choices::ROUTES,
    sign_in::ROUTES,
    provider::ROUTES,
    welcome::ROUTES,
    inbox::ROUTES,
    thread::ROUTES,
    contacts::ROUTES,
    contacts::import::ROUTES,
    campaigns::ROUTES,
    templates::ROUTES,
    connections::ROUTES,
    integration::ROUTES,
    operation::ROUTES,
    account::ROUTES,
];
