//! Managing members.

use recado_core::Code;
use recado_core::access::{Member, MemberDraft, MemberPatch};
use recado_core::ids::MemberId;

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(COLLECTION, access.members, |op| op
        .says("listMembers", "List members")
        .lists::<Member>()),
    create!(COLLECTION, access.create_member, |op| {
        op.says("createMember", "Make a member")
            .body::<MemberDraft>(r#"{"display_name": "Bia", "role": "agent"}"#)
            .makes::<Member>()
    }),
    get!(ONE, access.member(MemberId), |op| op
        .says("getMember", "Read a member")
        .answers::<Member>()),
    change!(ONE, access.change_member(MemberId), |op| {
        op.says("updateMember", "Change a member")
            .body::<MemberPatch>(r#"{"role": "admin"}"#)
            .answers::<Member>()
    }),
    delete!(ONE, access.delete_member(MemberId), |op| {
        op.says("deleteMember", "Delete a member that no contact is assigned to")
            .done()
            .refuses(Code::InUse)
    }),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/members";
const ONE: &str = "/operator/v1/companies/{company_id}/members/{id}";
