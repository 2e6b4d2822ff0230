//! Reading received media by their signed links (D31a, R190, R191).

use recado_core::Code;
use recado_core::ids::{CompanyId, MessageId};

use crate::call::OpenCall;
use crate::error::{ErrorResponse, Outcome};
use crate::file_answer::{self, Wanted};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[Route::open(
    "/media/{company_id}/{message_id}/{signature}",
    |call| Box::pin(read(call)),
    |op| {
        op.says("readMedia", "Read the file of a message, or an upload")
            .more(
                "The link is `media_url` of the message, or `url` of the upload; whoever has it can read the file. It \
                 answers 503 with `Retry-After` while the file is still to be fetched from the \
                 gateway, and 404 once it is certain that the gateway has it no more, and once the \
                 link has ended. A `Range` of bytes is answered with 206. 429 with `Retry-After`: \
                 4 others are reading the file, or 16 files are being read from this address.",
            )
            .answers_file("application/octet-stream")
            .refuses(Code::RateLimited)
    },
)];

async fn read(call: OpenCall) -> Outcome {
    let company = call.path.id("company_id", CompanyId::parse);
    let message = call.path.id("message_id", MessageId::parse);
    let presented = call.path.text("signature");
    let recado = &call.recado;
    let file = recado.messages().linked_file(company, message, presented).await?;
    let slot = match call.wanted {
        Wanted::Head => None,
        _ => {
            let admitted = call.shared.readers.admit((company, message), call.client);
            Some(admitted.ok_or_else(ErrorResponse::too_many_readers)?)
        }
    };
    let content_type = file.mimetype.unwrap_or("application/octet-stream");
    file_answer::answer(recado, &file.file, content_type, call.wanted, slot).await
}
