//! What is done with the login of a member.

use maud::html;
use recado_core::accounts::{LinkPurpose, LoginRefused, NewLink};
use recado_core::ids::{MemberId, SessionId};
use recado_core::{Error, ManageError};
use serde_json::Value;

use super::MEMBERS;
use super::member::{News, page};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::secret::secret;
use crate::view::when::when;

fn member(ask: &Ask) -> MemberId {
    ask.path.id("id", MemberId::parse)
}

fn back(ask: &Ask) -> Outcome {
    Reply::goto(format!("{MEMBERS}/{}", member(ask)))
}

/// The page with the form's errors; what concerns no form is a refusal.
async fn refused(ask: &Ask, error: Error<LoginRefused>) -> Outcome {
    match error {
        Error::Rejected(LoginRefused::Managed(ManageError::NotFound)) => Err(error.into()),
        Error::Rejected(refused) => page(ask, News::of_login(&refused)).await,
        error => Err(error.into()),
    }
}

/// The page with a link that is shown this once.
async fn linked(ask: &Ask, link: &NewLink) -> Outcome {
    let visit = &ask.visit;
    let key = match link.purpose {
        LinkPurpose::Invitation => "operation-link-invitation",
        LinkPurpose::Reset => "operation-link-reset",
    };
    let above = html! {
        (secret(visit, &visit.language.text(key), link.url.expose()))
        p { (visit.t("operation-link-until")) " " (when(visit, link.expires_at)) }
    };
    page(ask, News { above: Some(above), ..News::default() }).await
}

pub(super) async fn invite(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let role = ask.form.filled("login_role").map(Value::from);
    let body = ask.form.body().text("email").put("role", role).finish();
    let accounts = visit.recado.accounts();
    match accounts.invite(&visit.operator, visit.company.id, member(&ask), &body).await {
        Ok(link) => linked(&ask, &link).await,
        Err(error) => refused(&ask, error).await,
    }
}

pub(super) async fn reset(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let accounts = visit.recado.accounts();
    match accounts.reset_link(&visit.operator, visit.company.id, member(&ask)).await {
        Ok(link) => linked(&ask, &link).await,
        Err(error) => refused(&ask, error).await,
    }
}

async fn changed(ask: &Ask, body: serde_json::Map<String, Value>) -> Outcome {
    let visit = &ask.visit;
    let accounts = visit.recado.accounts();
    match accounts.change_login(&visit.operator, visit.company.id, member(ask), &body).await {
        Ok(_) => back(ask),
        Err(error) => refused(ask, error).await,
    }
}

pub(super) async fn change(ask: Ask) -> Outcome {
    let role = ask.form.filled("login_role").map(Value::from);
    let body = ask.form.body().text("email").put("role", role).finish();
    changed(&ask, body).await
}

pub(super) async fn switch(ask: Ask) -> Outcome {
    let body = ask.form.body().checked("disabled").finish();
    changed(&ask, body).await
}

pub(super) async fn remove(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let accounts = visit.recado.accounts();
    accounts.remove_login(&visit.operator, visit.company.id, member(&ask)).await?;
    back(&ask)
}

pub(super) async fn remove_totp(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let accounts = visit.recado.accounts();
    accounts.remove_member_totp(&visit.operator, visit.company.id, member(&ask)).await?;
    back(&ask)
}

pub(super) async fn end_session(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let (company, session) = (visit.company.id, ask.path.id("session", SessionId::parse));
    let accounts = visit.recado.accounts();
    accounts.revoke_session(&visit.operator, company, member(&ask), session).await?;
    back(&ask)
}

pub(super) async fn end_sessions(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let accounts = visit.recado.accounts();
    accounts.revoke_all(&visit.operator, visit.company.id, member(&ask)).await?;
    back(&ask)
}
