//! The reference as a page (R276): Swagger UI over the OpenAPI document, from files in the binary.

use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY,
};
use recado_core::Code;

use crate::answer::Answer;
use crate::call::OpenCall;
use crate::error::{ErrorResponse, Outcome};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    Route::open(
        "/docs",
        |call| Box::pin(page(call)),
        |op| {
            op.says("getReference", "This reference as a page")
                .more("It loads nothing from another host.")
                .answers_bytes("text/html")
        },
    ),
    Route::open(
        "/docs/{file}",
        |call| Box::pin(file(call)),
        |op| {
            op.says("getReferenceFile", "A file of the page")
                .more("`swagger-ui-bundle.js` and `swagger-ui.css` are always compressed by gzip.")
                .answers_bytes("text/css")
                .also_as("text/javascript")
                .refuses(Code::NotFound)
        },
    ),
];

/// The page runs and shows its own files, and asks its own server; pictures are in its style sheet.
const OWN_FILES: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The files change with the version of the server alone.
const FOR_AN_HOUR: HeaderValue = HeaderValue::from_static("max-age=3600");

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of the page.
struct File {
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
    compressed: bool,
}

const FILES: &[File] = &[
    File {
        name: "reference.css",
        content_type: CSS,
        bytes: include_bytes!("../reference/reference.css"),
        compressed: false,
    },
    File {
        name: "reference.js",
        content_type: SCRIPT,
        bytes: include_bytes!("../reference/reference.js"),
        compressed: false,
    },
    File {
        name: "swagger-ui.css",
        content_type: CSS,
        bytes: include_bytes!("../reference/swagger-ui.css.gz"),
        compressed: true,
    },
    File {
        name: "swagger-ui-bundle.js",
        content_type: SCRIPT,
        bytes: include_bytes!("../reference/swagger-ui-bundle.js.gz"),
        compressed: true,
    },
];

async fn page(_: OpenCall) -> Outcome {
    let html = include_bytes!("../reference/index.html").as_slice();
    Ok(Answer::bytes(HTML, html)
        .with_header(CONTENT_SECURITY_POLICY, OWN_FILES)
        .with_header(REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
        .with_header(CACHE_CONTROL, FOR_AN_HOUR))
}

async fn file(call: OpenCall) -> Outcome {
    let name = call.path.text("file");
    let file = FILES.iter().find(|file| file.name == name).ok_or_else(ErrorResponse::not_found)?;
    let answer =
        Answer::bytes(file.content_type, file.bytes).with_header(CACHE_CONTROL, FOR_AN_HOUR);
    Ok(match file.compressed {
        true => answer.with_header(CONTENT_ENCODING, HeaderValue::from_static("gzip")),
        false => answer,
    })
}
