//! Where invitations and links to reset a password lead: choosing the password (R420).

use http::StatusCode;
use maud::{Markup, html};
use recado_core::Error;
use recado_core::accounts::{AccountRefused, LinkPurpose, LinkView};
use recado_core::audit::OperationName;

use crate::ask::OpenAsk;
use crate::refusal::Refusal;
use crate::reply::{self, Outcome, Reply};
use crate::route::{Route, Verb};
use crate::view::field::{Field, FieldErrors};
use crate::view::layout;

const WELCOME: &str = "/console/welcome";
const PASSWORD: &str = "/console/welcome/password";

pub(crate) const ROUTES: &[Route] = &[
    Route::open(Verb::Get, WELCOME, |ask| Box::pin(begin(ask))),
    Route::open(Verb::Post, WELCOME, |ask| Box::pin(show(ask))),
    Route::open(Verb::Post, PASSWORD, |ask| Box::pin(accept(ask))),
];

fn page(ask: &OpenAsk, status: StatusCode, body: Markup) -> Outcome {
    let title = ask.language.text("sign-in-welcome");
    let page = layout::bare(ask.language, ask.theme, &title, body);
    Ok(Reply::Raw(reply::html(status, page)))
}

/// R420. The secret of a link stands behind the `#`, so that no server and no log gets it with the
/// address. The script of the console sends it; without script one pastes it.
async fn begin(ask: OpenAsk) -> Outcome {
    page(&ask, StatusCode::OK, token_form(&ask, &FieldErrors::default()))
}

fn token_form(ask: &OpenAsk, errors: &FieldErrors) -> Markup {
    let label = ask.language.text("sign-in-welcome-token");
    html! {
        form.narrow method="post" action=(WELCOME) data-fragment="token" {
            (errors.summary(&["token"]))
            (Field { name: "token", label: &label, value: "", kind: "text", is_required: true }
                .show(errors))
            p.hint { (ask.language.text("sign-in-welcome-paste")) }
            button type="submit" { (ask.language.text("sign-in-welcome-next")) }
        }
    }
}

/// The secret: the whole link may be pasted, too.
fn token(ask: &OpenAsk) -> &str {
    let text = ask.form.get("token").unwrap_or_default().trim();
    text.rsplit('#').next().unwrap_or_default()
}

fn ended(ask: &OpenAsk) -> Outcome {
    let errors = FieldErrors::of_whole(ask.language.text("sign-in-welcome-ended"));
    page(ask, StatusCode::UNPROCESSABLE_ENTITY, token_form(ask, &errors))
}

/// What the link is for, and the form for the password.
async fn show(ask: OpenAsk) -> Outcome {
    let stranger = ask.shared.stranger(OperationName::of("showLink"), ask.client);
    match stranger.accounts().link(token(&ask)).await? {
        Some(link) => {
            page(&ask, StatusCode::OK, password_form(&ask, &link, &FieldErrors::default()))
        }
        None => ended(&ask),
    }
}

fn password_form(ask: &OpenAsk, link: &LinkView, errors: &FieldErrors) -> Markup {
    let purpose = match link.purpose {
        LinkPurpose::Invitation => "sign-in-welcome-invitation",
        LinkPurpose::Reset => "sign-in-welcome-reset",
    };
    let label = ask.language.text("sign-in-welcome-password");
    html! {
        p { (ask.language.text(purpose)) }
        p { strong { (link.name) } " · " (link.email.as_str()) }
        form.narrow method="post" action=(PASSWORD) {
            input type="hidden" name="token" value=(token(ask));
            (errors.summary(&["password"]))
            (Field {
                name: "password", label: &label, value: "", kind: "password", is_required: true,
            }.show(errors))
            button type="submit" { (ask.language.text("sign-in-welcome-save")) }
        }
    }
}

/// R420. Sets the password. Nobody is signed in by a link: that takes the password, and the second
/// factor where there is one.
async fn accept(ask: OpenAsk) -> Outcome {
    let stranger = ask.shared.stranger(OperationName::of("acceptLink"), ask.client);
    let password = ask.form.get("password").unwrap_or_default();
    match stranger.accounts().accept_link(token(&ask), password).await {
        Ok(_) => Reply::goto("/console/sign-in"),
        Err(Error::Rejected(AccountRefused::Password(problem))) => {
            let Some(link) = stranger.accounts().link(token(&ask)).await? else {
                return ended(&ask);
            };
            let text = ask.language.word_of("account-password", problem.as_str());
            let errors = FieldErrors::at("password", text);
            let form = password_form(&ask, &link, &errors);
            page(&ask, StatusCode::UNPROCESSABLE_ENTITY, form)
        }
        Err(Error::Rejected(_)) => ended(&ask),
        Err(Error::Store(error)) => Err(error.into()),
        Err(Error::Busy) => Err(Refusal::Unavailable),
        Err(Error::Denied(_)) => Err(Refusal::Role),
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use http::header::HOST;
    use recado_core::access::{MemberDraft, Operator};
    use recado_testkit::kit::body;
    use serde_json::json;

    use super::*;
    use crate::harness::{Shown, Site};

    async fn post(site: &Site, path: &str, fields: &[(&str, &str)]) -> Shown {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = Request::post(path).header(HOST, "crm.example");
        site.send(request.header("sec-fetch-site", "same-origin"), form).await
    }

    async fn invited(site: &Site) -> String {
        let draft = MemberDraft::parse(&body(json!({ "display_name": "<Ana>" }))).expect("a name");
        let company = site.kit.company.id;
        let member = site.kit.app.access().create_member(company, draft).await.expect("made");
        let login = body(json!({ "email": "ana@example.com", "role": "agent" }));
        let accounts = site.kit.app.accounts();
        let link = accounts.invite(&Operator::ROOT, company, member.id, &login).await;
        link.expect("a link").url.expose().to_owned()
    }

    /// R420.
    #[tokio::test]
    async fn a_link_leads_to_a_password_and_then_to_signing_in() {
        let site = Site::new().await;
        let link = invited(&site).await;
        site.get("/console/welcome").await.has("data-fragment");
        let shown = post(&site, WELCOME, &[("token", &link)]).await;
        shown.has("&lt;Ana&gt;").has("ana@example.com");
        let short = post(&site, PASSWORD, &[("token", &link), ("password", "short")]).await;
        assert_eq!(short.status, 422);
        short.has("The password is too short.");
        let set = [("token", &*link), ("password", "a quite long phrase 7")];
        let done = post(&site, PASSWORD, &set).await;
        assert_eq!(done.location(), "/console/sign-in");
        assert!(!done.headers.contains_key("set-cookie"));
        assert_eq!(post(&site, PASSWORD, &set).await.status, 422);
    }

    /// R420.
    #[tokio::test]
    async fn a_link_that_does_not_work_is_said_to_have_ended() {
        let site = Site::new().await;
        for token in ["", "x", "rl_x"] {
            let shown = post(&site, WELCOME, &[("token", token)]).await;
            assert_eq!(shown.status, 422, "{token}");
        }
    }
}
