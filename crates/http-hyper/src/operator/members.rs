//! Managing members.

use recado_core::Code;
use recado_core::access::{Member, MemberDraft, MemberPatch};
use recado_core::ids::MemberId;

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

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
    delete!(DeleteMember, ONE, access.delete_member(MemberId), |op| {
        op.does("Delete a member that no contact is assigned to").done().refuses(Code::InUse)
    }),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/members";
const ONE: &str = "/operator/v1/companies/{company_id}/members/{id}";
