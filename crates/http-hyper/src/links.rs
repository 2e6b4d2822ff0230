//! Following tracked links (D60).

use http::StatusCode;
use http::header::{HeaderMap, HeaderValue, LOCATION, USER_AGENT};
use recado_core::Code;
use recado_core::access::ClientNet;
use recado_core::links::Visit;

use crate::answer::Answer;
use crate::call::OpenCall;
use crate::error::{ErrorResponse, Outcome};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[Route::open(
    "/l/{code}",
    |call| Box::pin(follow(call)),
    |op| {
        op.says("followLink", "Follow a tracked link")
            .more(
                "The click is recorded before the answer, within limits: beyond them the answer \
                 is the same, and nothing is recorded.",
            )
            .answers_empty(302, "Where the link leads, in `Location`.")
            // D76: what would be recorded is a write.
            .refuses(Code::Moving)
    },
)];

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn visit(headers: &HeaderMap, head: bool, client: ClientNet) -> Visit<'_> {
    Visit {
        head,
        client: Some(client),
        user_agent: text(headers, USER_AGENT.as_str()),
        purpose: text(headers, "purpose").or_else(|| text(headers, "x-purpose")),
        sec_purpose: text(headers, "sec-purpose"),
    }
}

async fn follow(call: OpenCall) -> Outcome {
    let visit = visit(&call.headers, call.head, call.client);
    let url = call.recado.links().follow(call.path.text("code"), visit).await?;
    let location = HeaderValue::try_from(url)
        .map_err(|_| ErrorResponse::internal("the target of a link is no header value"))?;
    Ok(Answer::empty(StatusCode::FOUND).with_header(LOCATION, location).unkept())
}
