//! Signing in and out.

use http::StatusCode;
use http::header::SET_COOKIE;
use maud::{Markup, html};
use recado_core::Error;
use recado_core::accounts::SignInRefused;
use recado_core::audit::OperationName;

use crate::ask::{Ask, OpenAsk};
use crate::cookies::Cookies;
use crate::i18n::Value;
use crate::refusal::Refusal;
use crate::reply::{self, Outcome, Reply, redirect};
use crate::route::{Route, Verb};
use crate::view::field::{Field, FieldErrors};
use crate::view::layout;

pub(crate) const ROUTES: &[Route] = &[
    Route::open(Verb::Get, "/console/sign-in", |ask| Box::pin(form(ask))),
    Route::open(Verb::Post, "/console/sign-in", |ask| Box::pin(sign_in(ask))),
    Route::of_member(Verb::Post, "/console/sign-out", |ask| Box::pin(sign_out(ask))),
];

/// R420. Where a sign-in leads: a path of the console, and never another host.
pub(crate) fn own_path(wanted: Option<&str>) -> &str {
    let is_own = |path: &&str| {
        let begins = ["/console/", "/console?"].iter().any(|begin| path.starts_with(begin));
        begins && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    wanted.filter(is_own).unwrap_or("/console")
}

async fn form(ask: OpenAsk) -> Outcome {
    if ask.visit.is_some() {
        return Reply::goto(own_path(ask.query.get("next")));
    }
    let title = ask.language.text("sign-in-title");
    let body = fields(&ask, own_path(ask.query.get("next")), &FieldErrors::default());
    let page = layout::bare(ask.language, ask.theme, &title, body);
    Ok(Reply::Raw(reply::html(StatusCode::OK, page)))
}

pub(super) fn fields(ask: &OpenAsk, next: &str, errors: &FieldErrors) -> Markup {
    let label = |key: &str| ask.language.text(key);
    let email = label("sign-in-email");
    let password = label("sign-in-password");
    let code = label("sign-in-code");
    html! {
        form.narrow method="post" action="/console/sign-in" {
            (errors.summary(&[]))
            input type="hidden" name="next" value=(next);
            (Field { name: "email", label: &email, value: "", kind: "email", is_required: true }
                .show(errors))
            (Field {
                name: "password", label: &password, value: "", kind: "password", is_required: true,
            }.show(errors))
            (Field { name: "code", label: &code, value: "", kind: "text", is_required: false }
                .show(errors))
            button type="submit" { (label("sign-in-submit")) }
        }
        @if let Some(provider) = &ask.shared.options.sign_in_provider {
            (at_provider(ask, provider.name(), next))
        }
    }
}

/// The way to the provider on the page to sign in. It is a link: the policy lets no form lead to
/// another site (R419).
fn at_provider(ask: &OpenAsk, name: &str, next: &str) -> Markup {
    let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
    let label = ask.language.text_with("sign-in-provider", &[("name", Value::from(name))]);
    html! {
        p { a.button href=(format!("/console/sign-in/oidc?next={next}")) { (label) } }
    }
}

/// R420. Signs in: the browser gets a new session, whatever it had before.
async fn sign_in(ask: OpenAsk) -> Outcome {
    let text = |name| ask.form.get(name).unwrap_or_default();
    let (email, password, code) = (text("email"), text("password"), text("code"));
    let stranger = ask.shared.stranger(OperationName::of("signIn"), ask.client);
    let client = Some(ask.client.address());
    let signed_in = stranger.accounts().sign_in(email, password, Some(code), client).await;
    match signed_in {
        Ok(new) => {
            let mut response = redirect(own_path(ask.form.get("next")), false);
            let cookies = Cookies::of(&ask.shared.installation.settings().public_url);
            response.headers_mut().append(SET_COOKIE, cookies.keep_session(new.token.expose()));
            Ok(Reply::Raw(response))
        }
        Err(Error::Rejected(refused)) => {
            let (status, problem) = match &refused {
                SignInRefused::Wrong => (StatusCode::UNPROCESSABLE_ENTITY, "sign-in-wrong"),
                SignInRefused::CodeNeeded => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "sign-in-code-needed")
                }
                SignInRefused::Limited { .. } => (StatusCode::TOO_MANY_REQUESTS, "sign-in-limited"),
            };
            let title = ask.language.text("sign-in-title");
            let errors = FieldErrors::of_whole(ask.language.text(problem));
            let body = fields(&ask, own_path(ask.form.get("next")), &errors);
            let page = layout::bare(ask.language, ask.theme, &title, body);
            Ok(Reply::Raw(reply::html(status, page)))
        }
        Err(Error::Store(error)) => Err(error.into()),
        Err(Error::Busy) => Err(Refusal::Unavailable),
        Err(Error::Denied(_)) => Err(Refusal::Role),
    }
}

async fn sign_out(ask: Ask) -> Outcome {
    ask.visit.recado.accounts().sign_out(&ask.visit.session).await?;
    let cookies = Cookies::of(&ask.visit.recado.settings().public_url);
    let mut response = redirect("/console/sign-in", false);
    response.headers_mut().append(SET_COOKIE, cookies.drop_session());
    Ok(Reply::Raw(response))
}

#[cfg(test)]
mod tests;
