//! Importing and reading messages.

use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::ids::MessageId;
use recado_core::messages::{ImportedMessage, MessageListItem};
use recado_core::page::Pagination;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::messages::QUERY;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        OperatorAction::ListOperatorMessages,
        |c| Box::pin(list(c)),
        |mut op| {
            let pagination = vec![op.refer::<Pagination>()];
            op.does("List messages").more("Newest first.").pages::<MessageListItem>(pagination)
        },
    )
    .query(QUERY),
    Route::company(
        verb::POST,
        COLLECTION,
        OperatorAction::ImportMessage,
        |c| Box::pin(import(c)),
        |op| {
            op.does("Import a message")
                .more("Without events.")
                .body::<ImportedMessage>(
                    r#"{"contact_id": "01939b5e-0000-7000-8000-000000000001",
                        "connection_id": "01939b5e-0000-7000-8000-000000000002",
                        "direction": "inbound", "content": "Bom dia",
                        "created_at": "2024-03-01T12:00:00.000Z"}"#,
                )
                .makes::<MessageListItem>()
                .refuses(Code::MessageExists)
        },
    )
    .json(),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/messages/{id}",
        OperatorAction::GetMessage,
        |c| Box::pin(get(c)),
        |op| op.does("Read a message").answers::<MessageListItem>(),
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/messages";

async fn list(call: CompanyCall) -> Outcome {
    let listed = call.recado.messages().list_of_company(call.who.id, &call.params).await?;
    Answer::page(listed.items, listed.pagination)
}

async fn import(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.messages().import(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    let id = call.path.id("id", MessageId::parse);
    Answer::ok(call.recado.messages().get(call.who.id, id).await?)
}
