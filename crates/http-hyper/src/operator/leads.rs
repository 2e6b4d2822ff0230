//! Lead memories (2.3, D45).

use recado_core::access::OperatorAction;
use recado_core::ids::ContactId;
use recado_core::leads::{LeadMemoryView, MemoryUpdate, WholeMemory};

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        PATH,
        OperatorAction::GetLeadMemory,
        |c| Box::pin(get(c)),
        |op| {
            op.does("Read the lead memory of a contact")
                .more("`data` is null when there is none.")
                .answers_maybe::<LeadMemoryView>()
        },
    ),
    Route::company(
        verb::POST,
        PATH,
        OperatorAction::MergeLeadMemory,
        |c| Box::pin(merge(c)),
        |op| {
            op.does("Add to the lead memory of a contact")
                .body::<MemoryUpdate>(
                    r#"{"summary": "Quer trocar de plano", "key_facts": ["Tem duas lojas"],
                        "bant": {"authority": "decision_maker", "authority_raw": "Sou a dona"}}"#,
                )
                .answers::<LeadMemoryView>()
        },
    )
    .json(),
    Route::company(
        verb::PUT,
        PATH,
        OperatorAction::PutLeadMemory,
        |c| Box::pin(put(c)),
        |op| {
            op.does("Write the lead memory of a contact as it is given")
                .body::<WholeMemory>(
                    r#"{"summary": "Registro antigo", "bant": {"authority": "o dono decide"}}"#,
                )
                .answers::<LeadMemoryView>()
        },
    )
    .json(),
];

const PATH: &str = "/operator/v1/companies/{company_id}/contacts/{id}/lead-memory";

fn id(call: &CompanyCall) -> ContactId {
    call.path.id("id", ContactId::parse)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.leads().get(call.who.id, id(&call)).await?)
}

async fn merge(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.leads().merge(call.who.id, id(&call), &call.body).await?)
}

async fn put(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.leads().put(call.who.id, id(&call), &call.body).await?)
}
