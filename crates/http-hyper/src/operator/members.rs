//! Managing members.

use recado_core::access::{Member, MemberDraft, MemberPatch};
use recado_core::ids::MemberId;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listMembers", "List members").lists::<Member>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createMember", "Make a member")
                .body::<MemberDraft>(r#"{"display_name": "Bia", "role": "agent"}"#)
                .makes::<Member>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getMember", "Read a member").answers::<Member>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateMember", "Change a member")
                .body::<MemberPatch>(r#"{"role": "admin"}"#)
                .answers::<Member>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| {
            op.says("deleteMember", "Delete a member that no contact is assigned to")
                .done()
                .refuses(409, "IN_USE")
        },
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/members";
const ONE: &str = "/operator/v1/companies/{company_id}/members/{id}";

fn id(call: &CompanyCall) -> MemberId {
    call.path.id("id", MemberId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.access().members(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.access().create_member(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.access().member(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.access().change_member(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.access().delete_member(call.who.id, id(&call)).await?;
    Answer::done()
}
