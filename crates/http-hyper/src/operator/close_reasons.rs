//! Managing reasons for closing conversations.

use recado_core::ids::CloseReasonId;
use recado_core::tags::{CloseReason, CloseReasonDraft};

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listCloseReasons", "List close reasons").lists::<CloseReason>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createCloseReason", "Make a close reason")
                .body::<CloseReasonDraft>(r#"{"name": "Resolvido"}"#)
                .makes::<CloseReason>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getCloseReason", "Read a close reason").answers::<CloseReason>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateCloseReason", "Change a close reason")
                .body::<CloseReasonDraft>(r#"{"name": "Resolvido pelo cliente"}"#)
                .answers::<CloseReason>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| {
            op.says("deleteCloseReason", "Delete a close reason that no contact was closed with")
                .done()
                .refuses(409, "IN_USE")
        },
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/close-reasons";
const ONE: &str = "/operator/v1/companies/{company_id}/close-reasons/{id}";

fn id(call: &CompanyCall) -> CloseReasonId {
    call.path.id("id", CloseReasonId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.tags().close_reasons(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.tags().create_close_reason(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.tags().close_reason(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.tags().change_close_reason(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.tags().delete_close_reason(call.who.id, id(&call)).await?;
    Answer::done()
}
