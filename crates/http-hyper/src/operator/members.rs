//! Managing members.

use recado_core::Code;
use recado_core::access::{Member, MemberDraft, MemberPatch, OperatorAction};
use recado_core::ids::MemberId;

use super::crud::{change, create, get, list};
use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    list!(ListMembers, COLLECTION, access.members, |op| op.does("List members").lists::<Member>()),
    create!(CreateMember, COLLECTION, access.create_member, |op| {
        op.does("Make a member")
            .body::<MemberDraft>(r#"{"display_name": "Bia", "role": "agent"}"#)
            .makes::<Member>()
    }),
    get!(GetMember, ONE, access.member(MemberId), |op| op
        .does("Read a member")
        .answers::<Member>()),
    change!(UpdateMember, ONE, access.change_member(MemberId), |op| {
        op.does("Change a member").body::<MemberPatch>(r#"{"role": "admin"}"#).answers::<Member>()
    }),
    Route::company(
        verb::DELETE,
        ONE,
        OperatorAction::DeleteMember,
        |c| Box::pin(delete(c)),
        |op| {
            op.does("Delete a member that no contact is assigned to")
                .more("Its login, if it has one, may not be above the own role.")
                .done()
                .refuses(Code::InUse)
        },
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/members";
const ONE: &str = "/operator/v1/companies/{company_id}/members/{id}";

async fn delete(call: CompanyCall) -> Outcome {
    let id = call.path.id("id", MemberId::parse);
    call.recado.accounts().delete_member(&call.who.by, call.who.id, id).await?;
    Answer::done()
}
