//! Managing the logins of members (R401, R402).

use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::accounts::{LoginDraft, LoginPatch, LoginView, NewLink, SessionView};
use recado_core::ids::{MemberId, SessionId};
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/logins",
        OperatorAction::ListLogins,
        |c| Box::pin(list(c)),
        |op| op.does("List the logins of members").lists::<LoginView>(),
    ),
    Route::company(
        verb::POST,
        ONE,
        OperatorAction::InviteMember,
        |c| Box::pin(invite(c)),
        |op| {
            op.does("Give a member a login")
                .more(
                    "`url` is to be handed to the member, who chooses the password there within 7 \
                     days. It is shown this once. Until then the invitation can be made again.",
                )
                .body::<LoginDraft>(r#"{"email": "bia@example.org", "role": "agent"}"#)
                .makes::<OneTimeLink>()
                .refuses_all(&[Code::EmailTaken, Code::LoginExists])
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        OperatorAction::GetLogin,
        |c| Box::pin(get(c)),
        |op| op.does("Read the login of a member").answers::<LoginView>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        OperatorAction::UpdateLogin,
        |c| Box::pin(change(c)),
        |op| {
            op.does("Change the login of a member")
                .more(
                    "A new role, and disabling, end the sessions of the member, and so does \
                     another address of a login that is bound at the provider.",
                )
                .body::<LoginPatch>(r#"{"role": "manager"}"#)
                .answers::<LoginView>()
                .refuses(Code::EmailTaken)
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        OperatorAction::DeleteLogin,
        |c| Box::pin(remove(c)),
        |op| op.does("Remove the login of a member").more("The member stays.").done(),
    ),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/members/{id}/login/reset",
        OperatorAction::ResetLogin,
        |c| Box::pin(reset(c)),
        |op| {
            op.does("Make a one-time link to choose a new password")
                .more(
                    "`url` is to be handed to the member, within 24 hours. It is shown this once. \
                     The password stays until the link is used.",
                )
                .makes::<OneTimeLink>()
        },
    ),
    Route::company(
        verb::DELETE,
        "/operator/v1/companies/{company_id}/members/{id}/login/totp",
        OperatorAction::DeleteLoginTotp,
        |c| Box::pin(remove_totp(c)),
        |op| op.does("Remove the second factor of a member's login").done(),
    ),
    Route::company(
        verb::GET,
        SESSIONS,
        OperatorAction::ListSessions,
        |c| Box::pin(sessions(c)),
        |op| op.does("List the sessions of a member").lists::<SessionView>(),
    ),
    Route::company(
        verb::DELETE,
        SESSIONS,
        OperatorAction::DeleteSessions,
        |c| Box::pin(end_all(c)),
        |op| op.does("End all sessions of a member").done(),
    ),
    Route::company(
        verb::DELETE,
        "/operator/v1/companies/{company_id}/members/{id}/sessions/{session_id}",
        OperatorAction::DeleteSession,
        |c| Box::pin(end(c)),
        |op| op.does("End a session of a member").done(),
    ),
];

const ONE: &str = "/operator/v1/companies/{company_id}/members/{id}/login";
const SESSIONS: &str = "/operator/v1/companies/{company_id}/members/{id}/sessions";

/// A one-time link that was just made.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct OneTimeLink {
    #[serde(flatten)]
    link: NewLink,
    /// The address to hand to the member, shown this once.
    url: String,
}

impl From<NewLink> for OneTimeLink {
    fn from(link: NewLink) -> Self {
        Self { url: link.url.expose().to_owned(), link }
    }
}

fn member(call: &CompanyCall) -> MemberId {
    call.path.id("id", MemberId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.accounts().logins(call.who.id).await?)
}

async fn invite(call: CompanyCall) -> Outcome {
    let (accounts, id) = (call.recado.accounts(), member(&call));
    let link = accounts.invite(&call.who.by, call.who.id, id, &call.body).await?;
    Answer::created(OneTimeLink::from(link))
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.accounts().login(call.who.id, member(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    let (accounts, id) = (call.recado.accounts(), member(&call));
    Answer::ok(accounts.change_login(&call.who.by, call.who.id, id, &call.body).await?)
}

async fn remove(call: CompanyCall) -> Outcome {
    let (accounts, id) = (call.recado.accounts(), member(&call));
    accounts.remove_login(&call.who.by, call.who.id, id).await?;
    Answer::done()
}

async fn reset(call: CompanyCall) -> Outcome {
    let (accounts, id) = (call.recado.accounts(), member(&call));
    let link = accounts.reset_link(&call.who.by, call.who.id, id).await?;
    Answer::created(OneTimeLink::from(link))
}

async fn remove_totp(call: CompanyCall) -> Outcome {
    let (accounts, id) = (call.recado.accounts(), member(&call));
    accounts.remove_member_totp(&call.who.by, call.who.id, id).await?;
    Answer::done()
}

async fn sessions(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.accounts().member_sessions(call.who.id, member(&call)).await?)
}

async fn end_all(call: CompanyCall) -> Outcome {
    let (accounts, id) = (call.recado.accounts(), member(&call));
    accounts.revoke_all(&call.who.by, call.who.id, id).await?;
    Answer::done()
}

async fn end(call: CompanyCall) -> Outcome {
    let session = call.path.id("session_id", SessionId::parse);
    let (accounts, id) = (call.recado.accounts(), member(&call));
    accounts.revoke_session(&call.who.by, call.who.id, id, session).await?;
    Answer::done()
}
