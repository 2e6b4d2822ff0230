//! Booking prosas (D32).

use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::prosas::{DebitDraft, LedgerLineView, RefundDraft};

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/prosas/debits",
        OperatorAction::BookDebit,
        |c| Box::pin(debit(c)),
        |op| {
            op.does("Book what a turn or a message cost")
                .body::<DebitDraft>(
                    r#"{"scope": "turn", "prosas": 1.5, "cost_brl": 0.042,
                        "description": "Resumo da conversa"}"#,
                )
                .makes::<LedgerLineView>()
        },
    )
    .json(),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/prosas/refunds",
        OperatorAction::BookRefund,
        |c| Box::pin(refund(c)),
        |op| {
            op.does("Give a debit back, as a whole or in part")
                .body::<RefundDraft>(
                    r#"{"consumption_id": "01939b5e-0000-7000-8000-000000000003",
                        "prosas": 0.5, "cost_brl": 0.014, "reason": "Resposta repetida"}"#,
                )
                .makes::<LedgerLineView>()
                .refuses(Code::RefundExceedsDebit)
        },
    )
    .json(),
];

async fn debit(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.prosas().debit(call.who.id, &call.body).await?)
}

async fn refund(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.prosas().refund(call.who.id, &call.body).await?)
}
