//! Signing in at the provider of the installation (R432–R434).

use http::header::{HeaderValue, LOCATION, SET_COOKIE};
use http::{Response, StatusCode};
use maud::html;
use recado_core::accounts::{
    NewSession, ProviderAnswer, ProviderFailure, ProviderRefused, ProviderStep, SignInProvider,
};
use recado_core::audit::OperationName;
use recado_core::{Error, Recado};

use crate::ask::OpenAsk;
use crate::body::ConsoleBody;
use crate::cookies::{Cookies, cookie};
use crate::i18n::Value;
use crate::pages::sign_in::{fields, own_path};
use crate::refusal::Refusal;
use crate::reply::{self, Outcome, Reply, redirect};
use crate::route::{Route, Verb};
use crate::view::field::{Field, FieldErrors};
use crate::view::layout;

/// Where the provider sends the browser back to.
pub(crate) const CALLBACK: &str = "/console/sign-in/oidc/callback";

pub(crate) const ROUTES: &[Route] = &[
    Route::open(Verb::Get, "/console/sign-in/oidc", |ask| Box::pin(begin(ask))),
    Route::open(Verb::Get, CALLBACK, |ask| Box::pin(answered(ask))),
    Route::open(Verb::Get, "/console/sign-in/oidc/code", |ask| Box::pin(code_form(ask))),
    Route::open(Verb::Post, "/console/sign-in/oidc/code", |ask| Box::pin(code(ask))),
];

fn provider(ask: &OpenAsk) -> Result<&dyn SignInProvider, Refusal> {
    ask.shared.options.sign_in_provider.as_deref().ok_or(Refusal::NotFound)
}

fn stranger(ask: &OpenAsk) -> Recado {
    ask.shared.stranger(OperationName::of("signIn"), ask.client)
}

fn cookies(ask: &OpenAsk) -> Cookies {
    Cookies::of(&ask.shared.installation.settings().public_url)
}

/// R432. Leads to the provider.
async fn begin(ask: OpenAsk) -> Outcome {
    let next = own_path(ask.query.get("next"));
    if ask.visit.is_some() {
        return Reply::goto(next);
    }
    let begun = stranger(&ask).accounts().begin_at_provider(provider(&ask)?, next).await;
    match begun {
        Ok(begun) => {
            let mut response = Response::new(ConsoleBody::whole(""));
            *response.status_mut() = StatusCode::SEE_OTHER;
            let url = HeaderValue::from_str(&begun.url);
            let url = url.map_err(|_| Refusal::Internal("no address of a provider".to_owned()))?;
            response.headers_mut().insert(LOCATION, url);
            let kept = cookies(&ask).keep_sign_in(begun.kept.expose());
            response.headers_mut().append(SET_COOKIE, kept);
            Ok(Reply::Raw(response))
        }
        Err(error) => not_signed_in(&ask, error),
    }
}

/// R432. The browser comes back from the provider.
async fn answered(ask: OpenAsk) -> Outcome {
    let provider = provider(&ask)?;
    let cookies = cookies(&ask);
    let answer = ProviderAnswer {
        kept: cookie(&ask.headers, cookies.sign_in()),
        state: ask.query.get("state"),
        code: ask.query.get("code").filter(|_| ask.query.get("error").is_none()),
        issuer: ask.query.get("iss"),
    };
    let client = Some(ask.client.address());
    match stranger(&ask).accounts().answer_of_provider(provider, &answer, client).await {
        Ok(ProviderStep::SignedIn { session, next }) => Ok(signed_in(&ask, &session, &next)),
        Ok(ProviderStep::CodeNeeded { kept }) => {
            let mut response = redirect("/console/sign-in/oidc/code", false);
            let kept = cookies.keep_sign_in(kept.expose());
            response.headers_mut().append(SET_COOKIE, kept);
            Ok(Reply::Raw(response))
        }
        Err(error) => not_signed_in(&ask, error),
    }
}

/// R420. The browser gets a new session, whatever it had before.
fn signed_in(ask: &OpenAsk, session: &NewSession, next: &str) -> Reply {
    let mut response = redirect(own_path(Some(next)), false);
    let cookies = cookies(ask);
    let headers = response.headers_mut();
    headers.append(SET_COOKIE, cookies.keep_session(session.token.expose()));
    headers.append(SET_COOKIE, cookies.drop_sign_in());
    Reply::Raw(response)
}

/// R434. The page for the code of the second factor.
async fn code_form(ask: OpenAsk) -> Outcome {
    provider(&ask)?;
    if cookie(&ask.headers, cookies(&ask).sign_in()).is_none() {
        return Reply::goto("/console/sign-in");
    }
    Ok(code_page(&ask, StatusCode::OK, &FieldErrors::default()))
}

fn code_page(ask: &OpenAsk, status: StatusCode, errors: &FieldErrors) -> Reply {
    let label = ask.language.text("sign-in-provider-code");
    let body = html! {
        form.narrow method="post" action="/console/sign-in/oidc/code" {
            (errors.summary(&[]))
            (Field { name: "code", label: &label, value: "", kind: "text", is_required: true }
                .show(errors))
            button type="submit" { (ask.language.text("sign-in-submit")) }
        }
    };
    let title = ask.language.text("sign-in-title");
    Reply::Raw(reply::html(status, layout::bare(ask.language, ask.theme, &title, body)))
}

/// R434. Ends the sign-in by the code of the second factor.
async fn code(ask: OpenAsk) -> Outcome {
    provider(&ask)?;
    let kept = cookie(&ask.headers, cookies(&ask).sign_in()).unwrap_or_default();
    let shown = ask.form.get("code").unwrap_or_default();
    let client = Some(ask.client.address());
    let key = match stranger(&ask).accounts().code_after_provider(kept, shown, client).await {
        Ok((session, next)) => return Ok(signed_in(&ask, &session, &next)),
        Err(Error::Rejected(ProviderRefused::WrongCode)) => "sign-in-provider-code-wrong",
        Err(Error::Rejected(ProviderRefused::CodeNeeded)) => "sign-in-code-needed",
        Err(error) => return not_signed_in(&ask, error),
    };
    let errors = FieldErrors::of_whole(ask.language.text(key));
    Ok(code_page(&ask, StatusCode::UNPROCESSABLE_ENTITY, &errors))
}

/// The page to sign in, with the reason in words. What the sign-in kept is dropped, unless it only
/// came too early: then the same page may be asked for once more.
fn not_signed_in(ask: &OpenAsk, error: Error<ProviderRefused>) -> Outcome {
    let refused = match error {
        Error::Rejected(refused) => refused,
        Error::Store(error) => return Err(error.into()),
        Error::Busy => return Err(Refusal::Unavailable),
        Error::Denied(_) => return Err(Refusal::Role),
    };
    let (status, key) = match &refused {
        ProviderRefused::Stale => (StatusCode::BAD_REQUEST, "sign-in-provider-stale"),
        ProviderRefused::Declined => (StatusCode::FORBIDDEN, "sign-in-provider-declined"),
        ProviderRefused::Provider(ProviderFailure::Unavailable(_)) => {
            (StatusCode::BAD_GATEWAY, "sign-in-provider-down")
        }
        ProviderRefused::Provider(_) | ProviderRefused::Token(_) => {
            (StatusCode::BAD_GATEWAY, "sign-in-provider-token")
        }
        ProviderRefused::NoLogin => (StatusCode::FORBIDDEN, "sign-in-provider-no-login"),
        ProviderRefused::CodeNeeded | ProviderRefused::WrongCode => {
            (StatusCode::UNPROCESSABLE_ENTITY, "sign-in-provider-code-wrong")
        }
        ProviderRefused::Limited { .. } => (StatusCode::TOO_MANY_REQUESTS, "sign-in-limited"),
    };
    // What the operator of the installation has to mend.
    if status == StatusCode::BAD_GATEWAY {
        tracing::warn!(reason = %refused, "a sign-in at the provider failed");
    }
    let name = provider(ask)?.name();
    let reason = ask.language.text_with(key, &[("name", Value::from(name))]);
    let title = ask.language.text("sign-in-title");
    let body = fields(ask, "/console", &FieldErrors::of_whole(reason));
    let mut response = reply::html(status, layout::bare(ask.language, ask.theme, &title, body));
    if status != StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().append(SET_COOKIE, cookies(ask).drop_sign_in());
    }
    Ok(Reply::Raw(response))
}

#[cfg(test)]
mod tests;
