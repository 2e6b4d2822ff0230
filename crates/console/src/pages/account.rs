//! One's own account: password, second factor, sessions, language and colours.

mod factor;
mod password;
mod sessions;

use maud::{Markup, html};
use recado_core::accounts::{AccountRefused, SignedIn};
use recado_core::{Code, Error};

use crate::ask::Ask;
use crate::i18n::{Language, Refused};
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::route::{Route, Verb};
use crate::theme::Theme;
use crate::view::field::{FieldErrors, select};
use crate::view::keys;
use crate::view::layout::{Area, csrf_field};
use crate::visit::Visit;

pub(super) const ACCOUNT: &str = "/console/account";

pub(crate) const ROUTES: &[Route] = &[
    Route::of_member(Verb::Get, ACCOUNT, |ask| Box::pin(show(ask))),
    Route::of_member(Verb::Post, "/console/account/password", |ask| {
        Box::pin(password::change(ask))
    }),
    Route::of_member(Verb::Post, "/console/account/factor", |ask| Box::pin(factor::begin(ask))),
    Route::of_member(Verb::Post, "/console/account/factor/confirm", |ask| {
        Box::pin(factor::confirm(ask))
    }),
    Route::of_member(Verb::Post, "/console/account/factor/remove", |ask| {
        Box::pin(factor::remove(ask))
    }),
    Route::of_member(Verb::Post, "/console/account/sessions/end", |ask| {
        Box::pin(sessions::end_others(ask))
    }),
    Route::of_member(Verb::Post, "/console/account/sessions/{id}/end", |ask| {
        Box::pin(sessions::end(ask))
    }),
];

/// What the page says besides what is known of the account.
#[derive(Default)]
struct News {
    /// Above everything.
    above: Option<Markup>,
    /// In place of the form that begins a second factor.
    factor: Option<Markup>,
    /// The errors of the form that begins it.
    beginning: FieldErrors,
    /// The errors of the form that changes the password.
    password: FieldErrors,
    /// The errors of the form that removes the second factor.
    removal: FieldErrors,
    /// Whether a form was refused.
    is_refused: bool,
}

/// Who is signed in. Without a login of the installation there is no account.
async fn own(visit: &Visit) -> Result<SignedIn, Refusal> {
    let found = visit.recado.accounts().session(&visit.session).await?;
    found.ok_or(Refusal::SignIn)
}

/// What is no matter of a form: the account is gone, or the service is not available.
fn failed(error: Error<AccountRefused>) -> Refusal {
    match error {
        Error::Rejected(AccountRefused::SignedOut) => Refusal::SignIn,
        Error::Rejected(refused) => {
            Refusal::Rejected(Refused::told(Code::ValidationError, refused.to_string()))
        }
        Error::Denied(denied) => Refusal::of(&denied),
        Error::Busy => Refusal::Unavailable,
        Error::Store(error) => error.into(),
    }
}

/// A text for why something was refused.
fn reason(visit: &Visit, refused: AccountRefused) -> String {
    match refused {
        AccountRefused::WrongPassword => visit.t("account-wrong-password"),
        AccountRefused::WrongCode => visit.t("account-wrong-code"),
        AccountRefused::Limited { retry_after } => {
            visit.t_with("account-limited", &[("seconds", retry_after.as_secs().max(1).into())])
        }
        AccountRefused::Password(problem) => visit.word_of("account-password", problem.as_str()),
        AccountRefused::TotpOn => visit.t("account-factor-is-on"),
        AccountRefused::TotpOff => visit.t("account-factor-is-off"),
        AccountRefused::LinkEnded => visit.t("sign-in-welcome-ended"),
        AccountRefused::SignedOut => visit.t("refusal-sign-in"),
    }
}

/// The errors of a form, at the field that they are about.
fn errors(visit: &Visit, refused: AccountRefused) -> FieldErrors {
    let text = reason(visit, refused);
    match refused {
        AccountRefused::WrongPassword => FieldErrors::at("password", text),
        AccountRefused::Password(_) => FieldErrors::at("new_password", text),
        AccountRefused::WrongCode => FieldErrors::at("code", text),
        _ => FieldErrors::of_whole(text),
    }
}

async fn show(ask: Ask) -> Outcome {
    page(&ask.visit, News::default()).await
}

async fn page(visit: &Visit, news: News) -> Outcome {
    let signed_in = visit.recado.accounts().session(&visit.session).await?;
    let of_login = match &signed_in {
        Some(who) => Some(html! {
            (password::form(visit, &news.password))
            (factor::section(visit, who, &news).await?)
            (sessions::section(visit, who).await?)
        }),
        None => None,
    };
    let body = html! {
        @if let Some(above) = &news.above { (above) }
        (choices(visit))
        @if let Some(of_login) = of_login { (of_login) }
    };
    match news.is_refused {
        true => Reply::refused(Area::Account, visit.t("account-title"), body),
        false => Reply::page(Area::Account, visit.t("account-title"), body),
    }
}

/// The language and the colours.
fn choices(visit: &Visit) -> Markup {
    let languages: Vec<_> = Language::ALL
        .iter()
        .map(|language| (language.tag().to_owned(), language.name().to_owned()))
        .collect();
    let themes: Vec<_> = Theme::ALL
        .iter()
        .map(|theme| (theme.as_str().to_owned(), visit.word_of("account-theme", theme.as_str())))
        .collect();
    let none = FieldErrors::default();
    html! {
        section {
            h2 { (visit.t("account-choices")) }
            form method="post" action="/console/choices" {
                (csrf_field(visit))
                input type="hidden" name="next" value=(ACCOUNT);
                (select("language", &visit.t("account-language"), &languages,
                    visit.language.tag(), &none))
                (select("theme", &visit.t("account-theme"), &themes, visit.theme.as_str(), &none))
                button type="submit" { (visit.t("account-save")) }
            }
            (keys::switch(visit))
        }
    }
}

#[cfg(test)]
mod tests;
