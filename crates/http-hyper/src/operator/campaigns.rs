//! Managing campaigns (D58, D66).

use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::campaigns::{
    CampaignDraft, CampaignPatch, CampaignPreview, CampaignRecord, RecipientFilter, RecipientView,
};
use recado_core::ids::{CampaignId, ContactId};
use recado_core::page::PageRequest;
use recado_core::query::InvalidParameter;

use super::crud::{change, create, delete, get, list};
use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::campaigns::RECIPIENTS;
use crate::error::Outcome;
use crate::openapi::{ParamKind, QueryParam, bodies};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    list!(ListCompanyCampaigns, COLLECTION, campaigns.all, |op| op
        .does("List campaigns")
        .lists::<CampaignRecord>()),
    create!(CreateCampaign, COLLECTION, campaigns.create, |op| {
        op.does("Make a campaign: one template to the contacts of a list")
            .more("It sends nothing before it is started.")
            .body::<CampaignDraft>(
                r#"{"name": "Novidades de maio",
                        "template_id": "01939b5e-0000-7000-8000-000000000005",
                        "list_id": "01939b5e-0000-7000-8000-000000000006",
                        "variables": {"nome": "{contact.first_name|amigos}"},
                        "header": {"text": "77"},
                        "buttons": [{"index": 0, "url_suffix": "77"}],
                        "cost_brl_per_message": 0.35,
                        "send_between": {"from": "09:00", "to": "20:00",
                            "days": ["mon", "tue", "wed", "thu", "fri"]},
                        "stop_after_failures": {"failed": 20, "of": 100}}"#,
            )
            .makes::<CampaignRecord>()
    }),
    get!(GetCampaign, ONE, campaigns.get(CampaignId), |op| op
        .does("Read a campaign")
        .answers::<CampaignRecord>()),
    change!(UpdateCampaign, ONE, campaigns.change(CampaignId), |op| {
        op.does("Change a campaign")
            .more("What it sends from then on goes by the change.")
            .body::<CampaignPatch>(r#"{"messages_per_second": 20}"#)
            .answers::<CampaignRecord>()
            .refuses(Code::CampaignStarted)
    }),
    delete!(DeleteCampaign, ONE, campaigns.delete(CampaignId), |op| {
        op.does("Delete a campaign and its recipients")
            .more("Its messages and its lines in the ledger stay.")
            .done()
            .refuses(Code::CampaignRunning)
    }),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/campaigns/{id}/start", OperatorAction::StartCampaign,
        |c| Box::pin(start(c)),
        |op| {
            op.does("Start a campaign, or let it go on")
                .more(
                    "The contacts that the list has when it begins are its recipients. It begins at \
                     `scheduled_at`, or at once where there is none; until then its status is \
                     `scheduled`. Nothing changes where it was started already or is finished.",
                )
                .body::<bodies::Nothing>(r#"{}"#)
                .answers::<CampaignRecord>()
        },
    )
    .optional_json(),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/campaigns/{id}/pause", OperatorAction::PauseCampaign,
        |c| Box::pin(pause(c)),
        |op| {
            op.does("Pause a campaign")
                .more("Nothing changes where it neither runs nor is scheduled.")
                .body::<bodies::Nothing>(r#"{}"#)
                .answers::<CampaignRecord>()
        },
    )
    .optional_json(),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/campaigns/{id}/preview", OperatorAction::PreviewCampaign,
        |c| Box::pin(preview(c)),
        |op| {
            op.does("Show what a contact would get from a campaign")
                .more("Nothing is sent. The contact need not be in the list.")
                .answers::<CampaignPreview>()
        },
    )
    .query(&[QueryParam::new("contact_id", ParamKind::RequiredUuid, "The contact.")]),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/campaigns/{id}/recipients", OperatorAction::ListCompanyCampaignRecipients,
        |c| Box::pin(recipients(c)),
        |op| {
            op.does("List the recipients of a campaign")
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

async fn start(call: CompanyCall) -> Outcome {
    call.takes_no_fields()?;
    Answer::ok(call.recado.campaigns().start(call.who.id, id(&call)).await?)
}

async fn pause(call: CompanyCall) -> Outcome {
    call.takes_no_fields()?;
    Answer::ok(call.recado.campaigns().pause(call.who.id, id(&call)).await?)
}

async fn preview(call: CompanyCall) -> Outcome {
    let what = "the id of a contact";
    let contact = call.params.read("contact_id", what, ContactId::parse)?;
    let contact = contact.ok_or_else(|| InvalidParameter::new("contact_id", "is required"))?;
    Answer::ok(call.recado.campaigns().preview(call.who.id, id(&call), contact).await?)
}

async fn recipients(call: CompanyCall) -> Outcome {
    let filter = RecipientFilter::parse(&call.params)?;
    let page = PageRequest::parse(&call.params)?;
    Answer::root(call.recado.campaigns().recipients(call.who.id, id(&call), filter, page).await?)
}
