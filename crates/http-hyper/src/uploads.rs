//! Files to be sent: uploads, and sends of files (X10, X11).

use recado_core::access::Scope;
use recado_core::ids::UploadId;
use recado_core::sending::{KindSentView, SendMedia};
use recado_core::uploads::UploadView;
use recado_core::{Code, Problems};

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::{ErrorResponse, Outcome};
use crate::openapi::{Operation, ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[SEND, UPLOAD, READ, REMOVE];

const SEND: Route = Route::public(
    verb::POST,
    "/api/v1/send/media",
    Scope::MessagesSend,
    |c| Box::pin(send(c)),
    |op| {
        let op = op
            .says("sendMedia", "Send a file to a phone, a group or a community")
            .more(
                "The file comes from `url`, from an upload (`media_id`), or in the part `file` of a \
                 form whose other parts are the fields. Its first bytes say what it is. After 502 \
                 DELIVERY_UNCERTAIN the message may have arrived: do not send it again by yourself.",
            )
            .form::<SendMedia>(
                r#"{"to": "+55 11 98765-4321", "type": "image",
                    "url": "https://files.example.org/foto.jpg", "caption": "Olá, Ana!"}"#,
            )
            .answers::<KindSentView>();
        refuses_files(op)
            .refuses(Code::MissingField)
            .refuses(Code::InvalidPhone)
            .refuses(Code::ContactOptedOut)
            .refuses(Code::ContactBlocked)
            .refuses(Code::ExternalAiDisabled)
            .refuses(Code::GroupAnnounceOnly)
            .refuses(Code::NotFound)
            .refuses(Code::GroupNotFound)
            .refuses(Code::AmbiguousContact)
            .refuses(Code::ConnectionRequired)
            .refuses(Code::ProviderError)
            .refuses(Code::DeliveryUncertain)
            .refuses(Code::ContactStateUnavailable)
            .refuses(Code::OnHold)
    },
)
.json_or_form()
.idempotent();

const UPLOAD: Route = Route::public(
    verb::POST,
    "/api/v1/media",
    Scope::MessagesSend,
    |c| Box::pin(upload(c)),
    |op| {
        op.says("uploadMedia", "Upload a file to be sent")
            .more(
                "The body is the file itself with its `Content-Type`, or a form with the part \
                 `file`. It is kept for 30 days, or as long as a message has it.",
            )
            .file_body()
            .makes::<UploadView>()
            .refuses(Code::MediaTooLarge)
    },
)
.query(&[QueryParam::new("filename", ParamKind::Text, "The name of a file that is sent raw.")])
.file()
.idempotent();

const READ: Route = Route::public(
    verb::GET,
    ONE,
    Scope::MessagesSend,
    |c| Box::pin(read(c)),
    |op| {
        op.says("getMedia", "Get an upload, with a link to its bytes")
            .answers::<UploadView>()
            .refuses(Code::MediaNotFound)
    },
);

const REMOVE: Route = Route::public(
    verb::DELETE,
    ONE,
    Scope::MessagesSend,
    |c| Box::pin(remove(c)),
    |op| {
        op.says("deleteMedia", "Take a file from the uploads")
            .more("Messages that have it keep it.")
            .done()
            .refuses(Code::MediaNotFound)
    },
);

const ONE: &str = "/api/v1/media/{id}";

/// What a send of a file refuses beside what every send refuses.
pub(crate) fn refuses_files(op: Operation) -> Operation {
    refuses_a_file(op.refuses(Code::NotSupportedByConnection))
}

/// How a file is refused, also one that stands in a header.
pub(crate) fn refuses_a_file(op: Operation) -> Operation {
    op.refuses(Code::MediaNotFound)
        .refuses(Code::MediaTypeUnsupported)
        .refuses(Code::MediaTooLarge)
        .refuses(Code::MediaUnreachable)
}

async fn send(call: PublicCall) -> Outcome {
    Answer::ok(call.recado.sending().send_media(&call.who, &call.body, call.file).await?)
}

async fn upload(call: PublicCall) -> Outcome {
    let Some(file) = call.file else {
        return Err(ErrorResponse::rejected(&Problems::of("file", "is required")));
    };
    let uploads = call.recado.uploads();
    if let Err(refused) = call.takes_no_fields() {
        uploads.release(call.who.company(), file).await;
        return Err(refused);
    }
    Answer::created(uploads.list(&call.who, file).await?)
}

async fn read(call: PublicCall) -> Outcome {
    let id = call.path.id("id", UploadId::parse);
    Answer::ok(call.recado.uploads().get(&call.who, id).await?)
}

async fn remove(call: PublicCall) -> Outcome {
    let id = call.path.id("id", UploadId::parse);
    call.recado.uploads().delete(&call.who, id).await?;
    Answer::done()
}
