use http::header::{COOKIE, HOST};
use http::{Request, StatusCode};
use recado_core::access::{Operator, OperatorRole};
use recado_core::accounts::{Login, NewSession, SignedIn, TotpSecret};
use recado_core::store::RecordsExt;
use recado_testkit::kit::body;
use serde_json::json;

use crate::csrf::CsrfToken;
use crate::harness::{Shown, Site};

const PASSWORD: &str = "nove sapos azuis";
const OTHER: &str = "dez macacos verdes";
const EMAIL: &str = "ana@example.org";

/// A member with a login, signed in by it.
struct Ana<'a> {
    site: &'a Site,
    session: String,
    who: SignedIn,
}

async fn sign_in(site: &Site, password: &str) -> Option<NewSession> {
    site.kit.app.accounts().sign_in(EMAIL, password, None, None).await.ok()
}

async fn ana(site: &Site) -> Ana<'_> {
    let (company, accounts) = (site.kit.company.id, site.kit.app.accounts());
    let member = body(json!({ "display_name": "Ana" }));
    let member = site.kit.app.access().create_member(company, &member).await.expect("a member").id;
    let login = body(json!({ "email": EMAIL, "role": "agent" }));
    let link = accounts.invite(&Operator::ROOT, company, member, &login).await;
    let link = link.expect("an invitation");
    accounts.accept_link(link.token.expose(), PASSWORD).await.expect("a password");
    let new = sign_in(site, PASSWORD).await.expect("a session");
    let (session, who) = (new.token.expose().to_owned(), new.who);
    Ana { site, session, who }
}

impl Ana<'_> {
    async fn get(&self) -> Shown {
        let request = Request::get("/console/account").header(HOST, "crm.example");
        let cookie = format!("recado-session={}", self.session);
        self.site.send(request.header(COOKIE, cookie), String::new()).await
    }

    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Shown {
        let mut form = form_urlencoded::Serializer::new(String::new());
        let csrf = CsrfToken::of(&self.session);
        form.append_pair("csrf", csrf.expose()).extend_pairs(fields);
        let request = Request::post(format!("/console/account/{path}"))
            .header(HOST, "crm.example")
            .header("sec-fetch-site", "same-origin")
            .header(COOKIE, format!("recado-session={}", self.session));
        self.site.send(request, form.finish()).await
    }

    /// The code that the app shows now.
    async fn code(&self) -> String {
        let key = (self.who.company, self.who.member);
        let login = self.site.kit.app.store().get::<Login>(key).await.expect("works");
        let secret = login.and_then(|login| login.totp_secret.clone()).expect("a secret");
        let step = self.site.kit.app.now().millis() / 30_000;
        TotpSecret::new(secret).code(u64::try_from(step).expect("after 1970"))
    }
}

#[tokio::test]
async fn language_and_colours_can_be_chosen_by_everybody() {
    let site = Site::new().await;
    let viewer = site.as_role(OperatorRole::Viewer).await;
    let page = viewer.get("/console/account").await;
    page.has("Português (Brasil)").has("name=\"theme\"").has("action=\"/console/choices\"");
    assert_eq!(page.status, StatusCode::OK);
}

#[tokio::test]
async fn a_password_is_changed_by_the_one_before() {
    let site = Site::new().await;
    let ana = ana(&site).await;
    let wrong = ana.post("password", &[("password", "x"), ("new_password", OTHER)]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    wrong.has("id=\"field-password-error\"");
    let weak = ana.post("password", &[("password", PASSWORD), ("new_password", "x")]).await;
    weak.has("id=\"field-new_password-error\"").has("too short");
    let done = ana.post("password", &[("password", PASSWORD), ("new_password", OTHER)]).await;
    done.has("The password was changed").lacks(OTHER);
    assert!(sign_in(&site, PASSWORD).await.is_none());
    assert!(sign_in(&site, OTHER).await.is_some());
}

/// R400.
#[tokio::test]
async fn a_second_factor_is_set_up_with_a_picture_and_codes_that_are_shown_once() {
    let site = Site::new().await;
    let ana = ana(&site).await;
    ana.get().await.has("Set up");
    for wrong in [&[][..], &[("factor_password", OTHER)]] {
        let refused = ana.post("factor", wrong).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        refused.has("id=\"field-factor_password-error\"").lacks("<svg");
    }
    let begun = ana.post("factor", &[("factor_password", PASSWORD)]).await;
    begun.has("<svg").has("Switch on").has("<pre class=\"secret\"");
    let wrong = ana.post("factor/confirm", &[("code", "000000")]).await;
    wrong.has("id=\"field-code-error\"");
    let code = ana.code().await;
    let on = ana.post("factor/confirm", &[("code", &code)]).await;
    on.has("Recovery codes").has("10 recovery codes are left");
    ana.get().await.lacks("Recovery codes:").has("Remove second factor");
    let refused = ana.post("factor/remove", &[("factor_password", "x")]).await;
    refused.has("id=\"field-factor_password-error\"");
    let removed = ana.post("factor/remove", &[("factor_password", PASSWORD)]).await;
    removed.has("was removed").has("Set up");
}

#[tokio::test]
async fn own_sessions_are_listed_and_ended_but_for_this_one() {
    let site = Site::new().await;
    let ana = ana(&site).await;
    ana.get().await.has("this one").lacks("End all others");
    let other = sign_in(&site, PASSWORD).await.expect("a session");
    let third = sign_in(&site, PASSWORD).await.expect("a session");
    let page = ana.get().await;
    page.has("End all others").has(&format!("sessions/{}/end", other.who.session));
    ana.post(&format!("sessions/{}/end", other.who.session), &[]).await;
    ana.get().await.lacks(&other.who.session.to_string());
    ana.post("sessions/end", &[]).await;
    ana.get().await.lacks(&third.who.session.to_string()).has("this one");
}
