//! Managing reasons for closing conversations.

use recado_core::Code;
use recado_core::ids::CloseReasonId;
use recado_core::tags::{CloseReason, CloseReasonDraft};

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(ListCloseReasons, COLLECTION, tags.close_reasons, |op| op
        .does("List close reasons")
        .lists::<CloseReason>()),
    create!(CreateCloseReason, COLLECTION, tags.create_close_reason, |op| {
        op.does("Make a close reason")
            .body::<CloseReasonDraft>(r#"{"name": "Resolvido"}"#)
            .makes::<CloseReason>()
    }),
    get!(GetCloseReason, ONE, tags.close_reason(CloseReasonId), |op| op
        .does("Read a close reason")
        .answers::<CloseReason>()),
    change!(UpdateCloseReason, ONE, tags.change_close_reason(CloseReasonId), |op| {
        op.does("Change a close reason")
            .body::<CloseReasonDraft>(r#"{"name": "Resolvido pelo cliente"}"#)
            .answers::<CloseReason>()
    }),
    delete!(DeleteCloseReason, ONE, tags.delete_close_reason(CloseReasonId), |op| {
        op.does("Delete a close reason that no contact was closed with").done().refuses(Code::InUse)
    }),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/close-reasons";
const ONE: &str = "/operator/v1/companies/{company_id}/close-reasons/{id}";
