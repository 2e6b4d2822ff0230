//! Managing deals (2.5.1).

use recado_core::deals::{Deal, DealDraft, DealPatch};
use recado_core::ids::DealId;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(verb::GET, COLLECTION, |c| Box::pin(list(c)), |op| {
        op.says("listDeals", "List deals").lists::<Deal>()
    }),
    Route::company(verb::POST, COLLECTION, |c| Box::pin(create(c)), |op| {
        op.says("createDeal", "Make a deal")
            .body::<DealDraft>(r#"{"contact_id": "01939b5e-0000-7000-8000-000000000001", "title": "Encomenda"}"#)
            .makes::<Deal>()
    })
    .json(),
    Route::company(verb::GET, ONE, |c| Box::pin(get(c)), |op| {
        op.says("getDeal", "Read a deal").answers::<Deal>()
    }),
    Route::company(verb::PATCH, ONE, |c| Box::pin(change(c)), |op| {
        op.says("updateDeal", "Change a deal")
            .body::<DealPatch>(r#"{"status": "won"}"#)
            .answers::<Deal>()
    })
    .json(),
    Route::company(verb::DELETE, ONE, |c| Box::pin(delete(c)), |op| {
        op.says("deleteDeal", "Delete a deal").done()
    }),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/deals";
const ONE: &str = "/operator/v1/companies/{company_id}/deals/{id}";

fn id(call: &CompanyCall) -> DealId {
    call.path.id("id", DealId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.deals().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.deals().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.deals().get(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.deals().change(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.deals().delete(call.who.id, id(&call)).await?;
    Answer::done()
}
