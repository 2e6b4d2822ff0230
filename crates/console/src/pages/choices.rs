//! The language and the colours that somebody picks, kept in the browser.

use http::Uri;
use http::header::{REFERER, SET_COOKIE};
use http::uri::PathAndQuery;

use crate::ask::OpenAsk;
use crate::cookies::Cookies;
use crate::i18n::Language;
use crate::pages::sign_in::own_path;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply, redirect};
use crate::route::{Route, Verb};
use crate::theme::Theme;

pub(crate) const ROUTES: &[Route] =
    &[Route::open(Verb::Post, "/console/choices", |ask| Box::pin(keep(ask)))];

/// R421. Keeps the choice, and leads back to the page where it was made.
async fn keep(ask: OpenAsk) -> Outcome {
    let cookies = Cookies::of(&ask.shared.installation.settings().public_url);
    let from = ask.headers.get(REFERER).and_then(|value| value.to_str().ok());
    let from = from.and_then(|url| url.parse::<Uri>().ok());
    let from = from.as_ref().and_then(Uri::path_and_query).map(PathAndQuery::as_str);
    let mut response = redirect(own_path(ask.form.get("next").or(from)), false);
    if let Some(tag) = ask.form.filled("language") {
        let known = Language::ALL.into_iter().find(|language| language.tag() == tag);
        let language = known.ok_or(Refusal::Unreadable)?;
        let line = cookies.keep_choice(Language::COOKIE, language.tag());
        response.headers_mut().append(SET_COOKIE, line);
    }
    if let Some(word) = ask.form.filled("theme") {
        let line = cookies.keep_choice(Theme::COOKIE, Theme::of(Some(word)).as_str());
        response.headers_mut().append(SET_COOKIE, line);
    }
    Ok(Reply::Raw(response))
}
