//! Managing campaigns (D58, D66).

use recado_core::campaigns::{CampaignRecord, RecipientFilter, RecipientView};
use recado_core::ids::CampaignId;
use recado_core::page::PageRequest;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::campaigns::RECIPIENTS;
use crate::error::Outcome;
use crate::openapi::bodies;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listCompanyCampaigns", "List campaigns").lists::<CampaignRecord>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createCampaign", "Make a campaign: one template to the contacts of a list")
                .more("It sends nothing before it is started.")
                .body::<bodies::CreateCampaign>(
                    r#"{"name": "Novidades de maio",
                        "template_id": "01939b5e-0000-7000-8000-000000000005",
                        "list_id": "01939b5e-0000-7000-8000-000000000006",
                        "variables": {"1": "amigos"}, "cost_brl_per_message": 0.35}"#,
                )
                .makes::<CampaignRecord>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getCampaign", "Read a campaign").answers::<CampaignRecord>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateCampaign", "Change a campaign")
                .more("What it sends from then on goes by the change.")
                .body::<bodies::UpdateCampaign>(r#"{"messages_per_second": 20}"#)
                .answers::<CampaignRecord>()
                .refuses(409, "CAMPAIGN_STARTED")
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| {
            op.says("deleteCampaign", "Delete a campaign and its recipients")
                .more("Its messages and its lines in the ledger stay.")
                .done()
                .refuses(409, "CAMPAIGN_RUNNING")
        },
    ),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/campaigns/{id}/start",
        |c| Box::pin(start(c)),
        |op| {
            op.says("startCampaign", "Start a campaign, or let it go on")
                .more(
                    "The contacts that the list has at the first start are its recipients. \
                     Nothing changes where it runs already or is finished.",
                )
                .body::<bodies::Nothing>(r#"{}"#)
                .answers::<CampaignRecord>()
        },
    )
    .optional_json(),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/campaigns/{id}/pause",
        |c| Box::pin(pause(c)),
        |op| {
            op.says("pauseCampaign", "Pause a campaign")
                .more("Nothing changes where it does not run.")
                .body::<bodies::Nothing>(r#"{}"#)
                .answers::<CampaignRecord>()
        },
    )
    .optional_json(),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/campaigns/{id}/recipients",
        |c| Box::pin(recipients(c)),
        |op| {
            op.says("listRecipients", "List the recipients of a campaign")
                .more("In the order of sending.")
                .pages_flat::<RecipientView>()
        },
    )
    .query(RECIPIENTS),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/campaigns";
const ONE: &str = "/operator/v1/companies/{company_id}/campaigns/{id}";

fn id(call: &CompanyCall) -> CampaignId {
    call.path.id("id", CampaignId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.campaigns().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.campaigns().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.campaigns().get(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.campaigns().change(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.campaigns().delete(call.who.id, id(&call)).await?;
    Answer::done()
}

async fn start(call: CompanyCall) -> Outcome {
    call.takes_no_fields()?;
    Answer::ok(call.recado.campaigns().start(call.who.id, id(&call)).await?)
}

async fn pause(call: CompanyCall) -> Outcome {
    call.takes_no_fields()?;
    Answer::ok(call.recado.campaigns().pause(call.who.id, id(&call)).await?)
}

async fn recipients(call: CompanyCall) -> Outcome {
    let filter = RecipientFilter::parse(&call.params)?;
    let page = PageRequest::parse(&call.params)?;
    Answer::root(call.recado.campaigns().recipients(call.who.id, id(&call), filter, page).await?)
}
