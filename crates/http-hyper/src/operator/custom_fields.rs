//! Managing definitions of custom fields (D58).

use recado_core::custom_fields::{CustomField, CustomFieldDraft, CustomFieldPatch};
use recado_core::ids::CustomFieldId;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| {
            op.says("listCompanyCustomFields", "List definitions of custom fields")
                .lists::<CustomField>()
        },
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createCustomField", "Make a custom field")
                .body::<CustomFieldDraft>(
                    r#"{"label": "Time do coração", "slug": "time", "type": "text"}"#,
                )
                .makes::<CustomField>()
                .refuses(409, "SLUG_TAKEN")
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getCustomField", "Read a custom field").answers::<CustomField>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateCustomField", "Change a custom field")
                .body::<CustomFieldPatch>(r#"{"status": "inactive"}"#)
                .answers::<CustomField>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| {
            op.says("deleteCustomField", "Delete a custom field; its values are shown no more")
                .done()
        },
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/custom-fields";
const ONE: &str = "/operator/v1/companies/{company_id}/custom-fields/{id}";

fn id(call: &CompanyCall) -> CustomFieldId {
    call.path.id("id", CustomFieldId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.custom_fields().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.custom_fields().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.custom_fields().get(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.custom_fields().change(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.custom_fields().delete(call.who.id, id(&call)).await?;
    Answer::done()
}
