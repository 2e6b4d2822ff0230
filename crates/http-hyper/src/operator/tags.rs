//! Managing tags.

use recado_core::ids::TagId;
use recado_core::tags::{Tag, TagDraft, TagPatch};

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listTags", "List tags").lists::<Tag>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createTag", "Make a tag")
                .body::<TagDraft>(r##"{"name": "VIP", "color": "#daa520"}"##)
                .makes::<Tag>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getTag", "Read a tag").answers::<Tag>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateTag", "Change a tag")
                .body::<TagPatch>(r#"{"name": "Cliente VIP"}"#)
                .answers::<Tag>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| op.says("deleteTag", "Delete a tag; contacts lose it").done(),
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/tags";
const ONE: &str = "/operator/v1/companies/{company_id}/tags/{id}";

fn id(call: &CompanyCall) -> TagId {
    call.path.id("id", TagId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.tags().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.tags().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.tags().get(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.tags().change(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.tags().delete(call.who.id, id(&call)).await?;
    Answer::done()
}
