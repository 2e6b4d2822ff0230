//! What is done with the login of a member.

use maud::html;
use recado_core::accounts::{LinkPurpose, LoginRefused, NewLink};
use recado_core::ids::{MemberId, SessionId};
use recado_core::{Error, ManageError};
use serde_json::{Map, Value};

use super::MEMBERS;
use super::member::{News, page};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::secret::secret;
use crate::view::when::when;
use crate::visit::Visit;

fn member(ask: &Ask) -> MemberId {
    ask.path.id("id", MemberId::parse)
}

fn back(member: MemberId) -> Outcome {
    Reply::goto(format!("{MEMBERS}/{member}"))
}

/// The page with the form's errors; what concerns no form is a refusal.
async fn refused(visit: &Visit, member: MemberId, error: Error<LoginRefused>) -> Outcome {
    match error {
        Error::Rejected(LoginRefused::Managed(ManageError::NotFound)) => Err(error.into()),
        Error::Rejected(refused) => page(visit, member, News::of_login(visit, &refused)).await,
        error => Err(error.into()),
    }
}

/// The page with a link that is shown this once.
async fn linked(visit: &Visit, link: &NewLink) -> Outcome {
    let key = match link.purpose {
        LinkPurpose::Invitation => "operation-link-invitation",
        LinkPurpose::Reset => "operation-link-reset",
    };
    let above = html! {
        (secret(visit, &visit.language.text(key), link.url.expose()))
        p { (visit.t("operation-link-until")) " " (when(visit, link.expires_at)) }
    };
    page(visit, link.member_id, News { above: Some(above), ..News::default() }).await
}

/// What the form says of a login.
fn body(ask: &Ask) -> Map<String, Value> {
    let role = ask.form.filled("login_role").map(Value::from);
    ask.form.body().text("email").put("role", role).finish()
}

pub(super) async fn invite(ask: Ask) -> Outcome {
    let (visit, member, body) = (&ask.visit, member(&ask), body(&ask));
    let accounts = visit.recado.accounts();
    match accounts.invite(&visit.operator, visit.company.id, member, &body).await {
        Ok(link) => linked(visit, &link).await,
        Err(error) => refused(visit, member, error).await,
    }
}

pub(super) async fn reset(ask: Ask) -> Outcome {
    let (visit, member) = (&ask.visit, member(&ask));
    let accounts = visit.recado.accounts();
    match accounts.reset_link(&visit.operator, visit.company.id, member).await {
        Ok(link) => linked(visit, &link).await,
        Err(error) => refused(visit, member, error).await,
    }
}

async fn changed(visit: &Visit, member: MemberId, body: Map<String, Value>) -> Outcome {
    let accounts = visit.recado.accounts();
    match accounts.change_login(&visit.operator, visit.company.id, member, &body).await {
        Ok(_) => back(member),
        Err(error) => refused(visit, member, error).await,
    }
}

pub(super) async fn change(ask: Ask) -> Outcome {
    let (member, body) = (member(&ask), body(&ask));
    changed(&ask.visit, member, body).await
}

pub(super) async fn switch(ask: Ask) -> Outcome {
    let body = ask.form.body().checked("disabled").finish();
    let member = member(&ask);
    changed(&ask.visit, member, body).await
}

pub(super) async fn remove(ask: Ask) -> Outcome {
    let (visit, member) = (&ask.visit, member(&ask));
    let accounts = visit.recado.accounts();
    accounts.remove_login(&visit.operator, visit.company.id, member).await?;
    back(member)
}

pub(super) async fn remove_totp(ask: Ask) -> Outcome {
    let (visit, member) = (&ask.visit, member(&ask));
    let accounts = visit.recado.accounts();
    accounts.remove_member_totp(&visit.operator, visit.company.id, member).await?;
    back(member)
}

pub(super) async fn end_session(ask: Ask) -> Outcome {
    let (visit, member) = (&ask.visit, member(&ask));
    let session = ask.path.id("session", SessionId::parse);
    let accounts = visit.recado.accounts();
    accounts.revoke_session(&visit.operator, visit.company.id, member, session).await?;
    back(member)
}

pub(super) async fn end_sessions(ask: Ask) -> Outcome {
    let (visit, member) = (&ask.visit, member(&ask));
    let accounts = visit.recado.accounts();
    accounts.revoke_all(&visit.operator, visit.company.id, member).await?;
    back(member)
}
