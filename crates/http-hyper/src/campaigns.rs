//! The public API's campaigns (4.11, 4.12, D58).

use recado_core::access::Scope;
use recado_core::campaigns::{CampaignView, RecipientFilter, RecipientStatus, RecipientView};
use recado_core::ids::CampaignId;
use recado_core::page::PageRequest;

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::messages::{LIMIT, PAGE};
use crate::openapi::{ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::public(
        verb::GET,
        "/api/v1/campaigns",
        Scope::MessagesRead,
        |call| Box::pin(list(call)),
        |op| op.says("listCampaigns", "List campaigns").lists::<CampaignView>(),
    ),
    Route::public(
        verb::GET,
        "/api/v1/campaigns/{id}/recipients",
        Scope::MessagesRead,
        |call| Box::pin(recipients(call)),
        |op| {
            op.says("listCampaignRecipients", "List the recipients of a campaign")
                .more("In the order of sending.")
                .pages_flat::<RecipientView>()
        },
    )
    .query(RECIPIENTS),
];

/// The parameters of a listing of recipients.
pub(crate) const RECIPIENTS: &[QueryParam] = &[
    QueryParam::new("status", ParamKind::Words(RecipientStatus::WORDS), "In this status."),
    PAGE,
    LIMIT,
];

async fn list(call: PublicCall) -> Outcome {
    Answer::ok(call.recado.campaigns().list(&call.who).await?)
}

async fn recipients(call: PublicCall) -> Outcome {
    let id = call.path.id("id", CampaignId::parse);
    let filter = RecipientFilter::parse(&call.params)?;
    let page = PageRequest::parse(&call.params)?;
    Answer::root(call.recado.campaigns().recipients_for(&call.who, id, filter, page).await?)
}
