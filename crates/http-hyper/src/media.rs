//! Reading received media by their signed links (D31a).

use http::header::{CONTENT_DISPOSITION, HeaderValue};
use recado_core::ids::{CompanyId, MessageId};

use crate::answer::Answer;
use crate::call::OpenCall;
use crate::error::{ErrorResponse, Outcome};
use crate::operator::disposition;
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[Route::open(
    "/media/{company_id}/{message_id}/{signature}",
    |call| Box::pin(read(call)),
    |op| {
        op.says("readMedia", "Read the file of a received message")
            .more(
                "The link is `media_url` of the message; whoever has it can read the file. It \
                 answers 503 with `Retry-After` while the file is still to be fetched from the \
                 gateway, and 404 once it is certain that the gateway has it no more.",
            )
            .answers_bytes("application/octet-stream")
    },
)];

async fn read(call: OpenCall) -> Outcome {
    let company = call.path.id("company_id", CompanyId::parse);
    let message = call.path.id("message_id", MessageId::parse);
    let signature = call.path.text("signature");
    let file = call.shared.recado.messages().read_media(company, message, signature).await?;
    let disposition = HeaderValue::try_from(disposition(&file.document.filename))
        .map_err(|_| ErrorResponse::internal("a file name is no header value"))?;
    Ok(Answer::bytes(file.mimetype.unwrap_or("application/octet-stream"), file.bytes)
        .unkept()
        .with_header(CONTENT_DISPOSITION, disposition))
}
