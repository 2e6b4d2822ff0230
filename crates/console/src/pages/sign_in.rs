//! Signing in and out.

use http::StatusCode;
use http::header::SET_COOKIE;
use maud::{Markup, html};

use crate::ask::{Ask, OpenAsk};
use crate::cookies::Cookies;
use crate::reply::{self, Outcome, Reply, redirect};
use crate::route::{Route, Verb};
use crate::view::field::{Field, FieldErrors};
use crate::view::layout;

pub(crate) const ROUTES: &[Route] = &[
    Route::open(Verb::Get, "/console/sign-in", |ask| Box::pin(form(ask))),
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

fn fields(ask: &OpenAsk, next: &str, errors: &FieldErrors) -> Markup {
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
    }
}

async fn sign_out(ask: Ask) -> Outcome {
    let cookies = Cookies::of(&ask.visit.recado.settings().public_url);
    let mut response = redirect("/console/sign-in", false);
    response.headers_mut().append(SET_COOKIE, cookies.drop_session());
    Ok(Reply::Raw(response))
}
