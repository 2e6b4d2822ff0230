//! Managing tracked links (D60).

use recado_core::ids::LinkId;
use recado_core::links::{LinkDraft, LinkView};

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listLinks", "List tracked links").lists::<LinkView>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createLink", "Make a tracked link for a contact")
                .body::<LinkDraft>(
                    r#"{"contact_id": "01939b5e-0000-7000-8000-000000000001",
                    "url": "https://example.com/oferta"}"#,
                )
                .makes::<LinkView>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getLink", "Read a tracked link").answers::<LinkView>(),
    ),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| op.says("deleteLink", "Delete a tracked link with its clicks").done(),
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/links";
const ONE: &str = "/operator/v1/companies/{company_id}/links/{id}";

fn id(call: &CompanyCall) -> LinkId {
    call.path.id("id", LinkId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.links().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.links().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.links().get(call.who.id, id(&call)).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.links().delete(call.who.id, id(&call)).await?;
    Answer::done()
}
