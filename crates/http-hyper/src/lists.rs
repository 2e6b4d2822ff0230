//! The public API's lists (4.12, D58).

use recado_core::access::Scope;
use recado_core::lists::ListView;

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[Route::public(
    verb::GET,
    "/api/v1/lists",
    Scope::ContactsRead,
    |call| Box::pin(list(call)),
    |op| op.says("listLists", "List the lists of contacts").lists::<ListView>(),
)];

async fn list(call: PublicCall) -> Outcome {
    Answer::ok(call.recado.lists().list(&call.who).await?)
}
