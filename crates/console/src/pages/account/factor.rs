//! The own second factor.

use maud::{Markup, html};
use recado_core::Error;
use recado_core::accounts::{AccountRefused, NewTotp, SignedIn};

use super::{News, errors, failed, own, page};
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::Outcome;
use crate::view::empty::{Tone, badge};
use crate::view::field::{Field, FieldErrors};
use crate::view::layout::csrf_field;
use crate::view::qr::qr;
use crate::view::toast::notice;
use crate::visit::Visit;

pub(super) async fn section(visit: &Visit, who: &SignedIn, news: &News) -> Result<Markup, Refusal> {
    let left = visit.recado.accounts().totp(who).await.map_err(failed)?;
    Ok(html! {
        section {
            h2 #factor { (visit.t("account-factor")) }
            @match left {
                Some(left) => {
                    p {
                        (badge(Tone::Good, &visit.t("account-factor-on"))) " "
                        (visit.t_with("account-recovery-left", &[("left", left.into())]))
                    }
                    (removal(visit, &news.removal))
                }
                None => {
                    @if let Some(factor) = &news.factor {
                        (factor)
                    } @else {
                        p { (visit.t("account-factor-about")) }
                        (beginning(visit, &news.beginning))
                    }
                }
            }
        }
    })
}

/// The form that begins the second factor, by the password (R400).
fn beginning(visit: &Visit, errors: &FieldErrors) -> Markup {
    html! {
        p { (visit.t("account-factor-begin-why")) }
        form method="post" action="/console/account/factor#factor" {
            (csrf_field(visit))
            (errors.summary(&["factor_password"]))
            (Field {
                name: "factor_password", label: &visit.t("account-password-now"), value: "",
                kind: "password", is_required: true,
            }.show(errors))
            button type="submit" { (visit.t("account-factor-begin")) }
        }
    }
}

fn removal(visit: &Visit, errors: &FieldErrors) -> Markup {
    let label = visit.t("account-password-now");
    html! {
        details.confirm open[errors.get("factor_password").is_some()] {
            summary.button { (visit.t("account-factor-remove")) }
            form method="post" action="/console/account/factor/remove" {
                (csrf_field(visit))
                (errors.summary(&["factor_password"]))
                (Field {
                    name: "factor_password", label: &label, value: "", kind: "password",
                    is_required: true,
                }.show(errors))
                button.danger type="submit" { (visit.t("account-factor-remove")) }
            }
        }
    }
}

/// The new secret, and the form for a first code of it.
fn setup(visit: &Visit, new: &NewTotp) -> Markup {
    html! {
        p { (visit.t("account-factor-scan")) }
        @if let Some(picture) = qr(new.url.expose(), &visit.t("account-factor-qr")) { (picture) }
        p { (visit.t("account-factor-type")) }
        pre.secret tabindex="0" { code { (new.secret.expose()) } }
        (code_form(visit, &FieldErrors::default()))
    }
}

fn code_form(visit: &Visit, errors: &FieldErrors) -> Markup {
    html! {
        form method="post" action="/console/account/factor/confirm#factor" {
            (csrf_field(visit))
            (errors.summary(&["code"]))
            (Field {
                name: "code", label: &visit.t("account-factor-code"), value: "", kind: "text",
                is_required: true,
            }.show(errors))
            button type="submit" { (visit.t("account-factor-confirm")) }
        }
    }
}

pub(super) async fn begin(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let who = own(visit).await?;
    let password = ask.form.get("factor_password").unwrap_or_default();
    match visit.recado.accounts().begin_totp(&who, password).await {
        Ok(new) => {
            let factor = Some(setup(visit, &new));
            page(visit, News { factor, ..News::default() }).await
        }
        Err(Error::Rejected(
            refused @ (AccountRefused::WrongPassword | AccountRefused::Limited { .. }),
        )) => {
            let beginning = FieldErrors::at("factor_password", super::reason(visit, refused));
            page(visit, News { beginning, is_refused: true, ..News::default() }).await
        }
        Err(error) => Err(failed(error)),
    }
}

pub(super) async fn confirm(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let who = own(visit).await?;
    let code = ask.form.get("code").unwrap_or_default().trim();
    match visit.recado.accounts().confirm_totp(&who, code).await {
        Ok(codes) => {
            let codes: Vec<&str> = codes.iter().map(|code| code.expose()).collect();
            let label = visit.t("account-recovery");
            let above = crate::view::secret::secret(visit, &label, &codes.join("\n"));
            page(visit, News { above: Some(above), ..News::default() }).await
        }
        Err(Error::Rejected(refused)) => {
            let form = code_form(visit, &errors(visit, refused));
            page(visit, News { factor: Some(form), is_refused: true, ..News::default() }).await
        }
        Err(error) => Err(failed(error)),
    }
}

pub(super) async fn remove(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let who = own(visit).await?;
    let password = ask.form.get("factor_password").unwrap_or_default();
    match visit.recado.accounts().remove_totp(&who, password).await {
        Ok(()) => {
            let above = Some(notice(Tone::Good, &visit.t("account-factor-removed")));
            page(visit, News { above, ..News::default() }).await
        }
        Err(Error::Rejected(refused)) => {
            let removal = FieldErrors::at("factor_password", super::reason(visit, refused));
            page(visit, News { removal, is_refused: true, ..News::default() }).await
        }
        Err(error) => Err(failed(error)),
    }
}
