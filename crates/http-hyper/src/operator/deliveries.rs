//! Deliveries to outbound webhooks: their outcomes, and redelivery (D56a).

use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::deliveries::{DeliveryDetail, DeliveryRequest, DeliveryStatus, DeliveryView};
use recado_core::events::EventType;
use recado_core::ids::DeliveryId;
use recado_core::page::Pagination;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::messages::{LIMIT, PAGE};
use crate::openapi::{ParamKind, QueryParam, bodies};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/deliveries",
        OperatorAction::ListDeliveries,
        |c| Box::pin(list(c)),
        |mut op| {
            let pagination = vec![op.refer::<Pagination>()];
            op.does("List deliveries to outbound webhooks")
                .more("Newest first.")
                .pages::<DeliveryView>(pagination)
        },
    )
    .query(&[
        QueryParam::new("status", ParamKind::Words(DeliveryStatus::WORDS), "In this status."),
        QueryParam::new("webhook_id", ParamKind::Uuid, "To this webhook, which may be deleted."),
        QueryParam::new("event", ParamKind::Words(EventType::WORDS), "Of this event."),
        PAGE,
        LIMIT,
    ]),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/deliveries/{id}",
        OperatorAction::GetDelivery,
        |c| Box::pin(get(c)),
        |op| op.does("Read a delivery with its body and its attempts").answers::<DeliveryDetail>(),
    ),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/deliveries/{id}/redeliver",
        OperatorAction::Redeliver,
        |c| Box::pin(redeliver(c)),
        |op| {
            op.does("Start a fresh series of attempts at a delivery")
                .more(
                    "With the same id and the same body, for deliveries that are delivered or \
                     failed. The attempts are counted on.",
                )
                .body::<bodies::Nothing>(r#"{}"#)
                .answers::<DeliveryView>()
                .refuses(Code::DeliveryPending)
                .refuses(Code::WebhookDeleted)
                .refuses(Code::BodyErased)
        },
    )
    .optional_json(),
];

fn id(call: &CompanyCall) -> DeliveryId {
    call.path.id("id", DeliveryId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    let request = DeliveryRequest::parse(&call.params)?;
    let listed = call.recado.deliveries().list(call.who.id, &request).await?;
    Answer::page(listed.items, Pagination::new(request.page, listed.total))
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.deliveries().get(call.who.id, id(&call)).await?)
}

async fn redeliver(call: CompanyCall) -> Outcome {
    call.takes_no_fields()?;
    Answer::ok(call.recado.deliveries().redeliver(call.who.id, id(&call)).await?)
}
