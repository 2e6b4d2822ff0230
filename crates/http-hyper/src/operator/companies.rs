//! Managing companies.

use recado_core::access::{Company, CompanyDraft, CompanyPatch};
use recado_core::ids::CompanyId;

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::operator(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listCompanies", "List companies").lists::<Company>(),
    ),
    Route::operator(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createCompany", "Make a company")
                .body::<CompanyDraft>(r#"{"name": "Padaria Aurora", "plan": "enterprise"}"#)
                .makes::<Company>()
        },
    )
    .json(),
    Route::operator(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getCompany", "Read a company").answers::<Company>(),
    ),
    Route::operator(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateCompany", "Change a company")
                .body::<CompanyPatch>(r#"{"features": {"inbound_contacts": true}}"#)
                .answers::<Company>()
        },
    )
    .json(),
    Route::operator(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| {
            op.says("deleteCompany", "Delete a company with everything that it has")
                .more(
                    "From the answer on nobody can use the company any more: its keys, endpoints, \
                     tokens and links are unknown, and nothing is sent or delivered for it. A job \
                     then removes its records and files.",
                )
                .done()
        },
    ),
];

const COLLECTION: &str = "/operator/v1/companies";
const ONE: &str = "/operator/v1/companies/{company_id}";

fn id(call: &OperatorCall) -> CompanyId {
    call.path.id("company_id", CompanyId::parse)
}

async fn list(call: OperatorCall) -> Outcome {
    Answer::ok(call.recado.access().companies().await?)
}

async fn create(call: OperatorCall) -> Outcome {
    Answer::created(call.recado.access().create_company(&call.body).await?)
}

async fn get(call: OperatorCall) -> Outcome {
    Answer::ok(call.recado.access().company(id(&call)).await?)
}

async fn delete(call: OperatorCall) -> Outcome {
    call.recado.access().delete_company(id(&call)).await?;
    Answer::done()
}

async fn change(call: OperatorCall) -> Outcome {
    Answer::ok(call.recado.access().change_company(id(&call), &call.body).await?)
}
