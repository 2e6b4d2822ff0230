//! Managing deals (2.5.1).

use recado_core::deals::{Deal, DealDraft, DealPatch};
use recado_core::ids::DealId;

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(ListDeals, COLLECTION, deals.all, |op| { op.does("List deals").lists::<Deal>() }),
    create!(CreateDeal, COLLECTION, deals.create, |op| {
        op.does("Make a deal")
            .body::<DealDraft>(
                r#"{"contact_id": "01939b5e-0000-7000-8000-000000000001", "title": "Encomenda"}"#,
            )
            .makes::<Deal>()
    }),
    get!(GetDeal, ONE, deals.get(DealId), |op| { op.does("Read a deal").answers::<Deal>() }),
    change!(UpdateDeal, ONE, deals.change(DealId), |op| {
        op.does("Change a deal").body::<DealPatch>(r#"{"status": "won"}"#).answers::<Deal>()
    }),
    delete!(DeleteDeal, ONE, deals.delete(DealId), |op| { op.does("Delete a deal").done() }),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/deals";
const ONE: &str = "/operator/v1/companies/{company_id}/deals/{id}";
