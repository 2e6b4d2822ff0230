//! Managing companies.

use recado_core::access::{Company, CompanyDraft, CompanyPatch, OperatorAction};
use recado_core::ids::CompanyId;

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::operator(
        verb::GET,
        COLLECTION,
        OperatorAction::ListCompanies,
        |c| Box::pin(list(c)),
        |op| op.does("List companies").lists::<Company>(),
    ),
    Route::operator(
        verb::POST,
        COLLECTION,
        OperatorAction::CreateCompany,
        |c| Box::pin(create(c)),
        |op| {
            op.does("Make a company")
                .body::<CompanyDraft>(r#"{"name": "Padaria Aurora", "plan": "enterprise"}"#)
                .makes::<Company>()
        },
    )
    .json(),
    Route::operator(
        verb::GET,
        ONE,
        OperatorAction::GetCompany,
        |c| Box::pin(get(c)),
        |op| op.does("Read a company").answers::<Company>(),
    ),
    Route::operator(
        verb::PATCH,
        ONE,
        OperatorAction::UpdateCompany,
        |c| Box::pin(change(c)),
        |op| {
            op.does("Change a company")
                .body::<CompanyPatch>(r#"{"features": {"inbound_contacts": true}}"#)
                .answers::<Company>()
        },
    )
    .json(),
    Route::operator(
        verb::DELETE,
        ONE,
        OperatorAction::DeleteCompany,
        |c| Box::pin(delete(c)),
        |op| {
            op.does("Delete a company with everything that it has")
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
    Answer::ok(call.who.reached(call.recado.access().companies().await?))
}

async fn create(call: OperatorCall) -> Outcome {
    Answer::created(call.recado.access().create_company(&call.body).await?)
}

async fn get(call: OperatorCall) -> Outcome {
    Answer::ok(call.recado.access().company_for(&call.who, id(&call)).await?)
}

async fn delete(call: OperatorCall) -> Outcome {
    call.recado.access().delete_company(id(&call)).await?;
    Answer::done()
}

async fn change(call: OperatorCall) -> Outcome {
    call.recado.access().company_for(&call.who, id(&call)).await?;
    Answer::ok(call.recado.access().change_company(id(&call), &call.body).await?)
}
