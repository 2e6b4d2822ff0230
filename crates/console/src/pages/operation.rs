//! Usage, what the process does, members with their logins, operator tokens, the audit log.

mod audit;
mod login;
mod member;
mod members;
mod process;
mod tokens;
mod usage;

use maud::Markup;
use recado_core::access::OperatorAction;

use crate::route::Route;
use crate::view::tabs::tabs;
use crate::visit::Visit;

pub(super) const USAGE: &str = "/console/operation";
pub(super) const PROCESS: &str = "/console/operation/process";
pub(super) const MEMBERS: &str = "/console/operation/members";
pub(super) const TOKENS: &str = "/console/operation/tokens";

pub(super) const AUDIT: &str = "/console/operation/audit";

pub(crate) const ROUTES: &[Route] = &[
    Route::get(USAGE, OperatorAction::GetCompany, |ask| Box::pin(usage::show(ask))),
    // The figures of a process are of every company in it: only who manages tokens sees them.
    Route::get(PROCESS, OperatorAction::ListOperatorTokens, |ask| Box::pin(process::show(ask))),
    Route::get(MEMBERS, OperatorAction::ListMembers, |ask| Box::pin(members::list(ask))),
    Route::get("/console/operation/members/new", OperatorAction::CreateMember, |ask| {
        Box::pin(members::new(ask))
    }),
    Route::post(MEMBERS, OperatorAction::CreateMember, |ask| Box::pin(members::create(ask))),
    Route::get("/console/operation/members/{id}", OperatorAction::GetMember, |ask| {
        Box::pin(member::show(ask))
    }),
    Route::post("/console/operation/members/{id}", OperatorAction::UpdateMember, |ask| {
        Box::pin(member::change(ask))
    }),
    Route::post("/console/operation/members/{id}/delete", OperatorAction::DeleteMember, |ask| {
        Box::pin(member::delete(ask))
    }),
    Route::post("/console/operation/members/{id}/invite", OperatorAction::InviteMember, |ask| {
        Box::pin(login::invite(ask))
    }),
    Route::post("/console/operation/members/{id}/reset", OperatorAction::ResetLogin, |ask| {
        Box::pin(login::reset(ask))
    }),
    Route::post("/console/operation/members/{id}/login", OperatorAction::UpdateLogin, |ask| {
        Box::pin(login::change(ask))
    }),
    Route::post("/console/operation/members/{id}/state", OperatorAction::UpdateLogin, |ask| {
        Box::pin(login::switch(ask))
    }),
    Route::post(
        "/console/operation/members/{id}/login/delete",
        OperatorAction::DeleteLogin,
        |ask| Box::pin(login::remove(ask)),
    ),
    Route::post(
        "/console/operation/members/{id}/totp/delete",
        OperatorAction::DeleteLoginTotp,
        |ask| Box::pin(login::remove_totp(ask)),
    ),
    Route::post(
        "/console/operation/members/{id}/sessions/delete",
        OperatorAction::DeleteSessions,
        |ask| Box::pin(login::end_sessions(ask)),
    ),
    Route::post(
        "/console/operation/members/{id}/sessions/{session}/delete",
        OperatorAction::DeleteSession,
        |ask| Box::pin(login::end_session(ask)),
    ),
    Route::get(TOKENS, OperatorAction::ListOperatorTokens, |ask| Box::pin(tokens::list(ask))),
    Route::get("/console/operation/tokens/new", OperatorAction::CreateOperatorToken, |ask| {
        Box::pin(tokens::new(ask))
    }),
    Route::post(TOKENS, OperatorAction::CreateOperatorToken, |ask| Box::pin(tokens::create(ask))),
    Route::post(
        "/console/operation/tokens/{id}/revoke",
        OperatorAction::DeleteOperatorToken,
        |ask| Box::pin(tokens::revoke(ask)),
    ),
    Route::get(AUDIT, OperatorAction::ListCompanyAuditEntries, |ask| Box::pin(audit::list(ask))),
];

/// The parts of the area.
fn parts(visit: &Visit, current: &str) -> Markup {
    let all = [
        (USAGE, "operation-usage", OperatorAction::GetCompany),
        (PROCESS, "operation-process", OperatorAction::ListOperatorTokens),
        (MEMBERS, "operation-members", OperatorAction::ListMembers),
        (TOKENS, "operation-tokens", OperatorAction::ListOperatorTokens),
        (AUDIT, "operation-audit", OperatorAction::ListCompanyAuditEntries),
    ];
    let shown: Vec<(&str, String)> = all
        .into_iter()
        .filter(|(_, _, action)| visit.may(*action))
        .map(|(path, key, _)| (path, visit.t(key)))
        .collect();
    tabs(&visit.t("operation-title"), &shown, current)
}

#[cfg(test)]
mod tests;
