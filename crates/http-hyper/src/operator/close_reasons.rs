//! Managing reasons for closing conversations.

use recado_core::Code;
use recado_core::ids::CloseReasonId;
use recado_core::tags::{CloseReason, CloseReasonDraft};

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(COLLECTION, tags.close_reasons, |op| op
        .says("listCloseReasons", "List close reasons")
        .lists::<CloseReason>()),
    create!(COLLECTION, tags.create_close_reason, |op| {
        op.says("createCloseReason", "Make a close reason")
            .body::<CloseReasonDraft>(r#"{"name": "Resolvido"}"#)
            .makes::<CloseReason>()
    }),
    get!(ONE, tags.close_reason(CloseReasonId), |op| op
        .says("getCloseReason", "Read a close reason")
        .answers::<CloseReason>()),
    change!(ONE, tags.change_close_reason(CloseReasonId), |op| {
        op.says("updateCloseReason", "Change a close reason")
            .body::<CloseReasonDraft>(r#"{"name": "Resolvido pelo cliente"}"#)
            .answers::<CloseReason>()
    }),
    delete!(ONE, tags.delete_close_reason(CloseReasonId), |op| {
        op.says("deleteCloseReason", "Delete a close reason that no contact was closed with")
            .done()
            .refuses(Code::InUse)
    }),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/close-reasons";
const ONE: &str = "/operator/v1/companies/{company_id}/close-reasons/{id}";
