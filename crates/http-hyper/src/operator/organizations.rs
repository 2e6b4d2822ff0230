//! Reading client organizations (D22); a contact's cnpj creates them.

use recado_core::NotFound;
use recado_core::access::OperatorAction;
use recado_core::ids::OrganizationId;
use recado_core::organizations::{Organization, OrganizationView};
use recado_core::store::RecordsExt;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::{ErrorResponse, Outcome};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        OperatorAction::ListOrganizations,
        |c| Box::pin(list(c)),
        |op| op.does("List organizations").lists::<OrganizationView>(),
    ),
    Route::company(
        verb::GET,
        ONE,
        OperatorAction::GetOrganization,
        |c| Box::pin(get(c)),
        |op| op.does("Read an organization").answers::<OrganizationView>(),
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/organizations";
const ONE: &str = "/operator/v1/companies/{company_id}/organizations/{id}";

async fn list(call: CompanyCall) -> Outcome {
    let organizations = call.recado.store().all::<Organization>(call.who.id).await?;
    Answer::ok(organizations.iter().map(OrganizationView::from).collect::<Vec<_>>())
}

async fn get(call: CompanyCall) -> Outcome {
    let id = call.path.id("id", OrganizationId::parse);
    match call.recado.store().get::<Organization>((call.who.id, id)).await? {
        Some(organization) => Answer::ok(OrganizationView::from(organization.value())),
        None => Err(ErrorResponse::rejected(&NotFound)),
    }
}
