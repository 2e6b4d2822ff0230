//! Forms with a file, over the whole console.

use std::convert::Infallible;
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use http::{Method, StatusCode};
use http_body_util::StreamBody;
use hyper::body::Frame;
use recado_testkit::kit::body;
use serde_json::json;
use tokio::time::Instant;

use super::*;
use crate::harness::{Browser, Site};
use crate::{Console, ConsoleOptions};

const HEAD: &str =
    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n";
const END: &str = "\r\n--x--\r\n";

fn field(name: &str, value: &str) -> String {
    format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
}

/// Sends a form to the page of imports.
async fn send(
    site: &Site,
    browser: &Browser<'_>,
    frames: impl Stream<Item = String> + Send + 'static,
) -> StatusCode {
    let path = "/console/contacts/import";
    let request = browser.request(Method::POST, path).header("sec-fetch-site", "same-origin");
    let request = request.header("content-type", "multipart/form-data; boundary=x");
    let frames = frames.map(|frame| Ok::<_, Infallible>(Frame::data(Bytes::from(frame))));
    let request = request.body(StreamBody::new(frames)).expect("a request");
    site.console.answer(request).await.expect("an answer").status()
}

/// The frames of a file that begins and never ends: so many bytes every 20 seconds.
fn endless(browser: &Browser<'_>, bytes: usize) -> impl Stream<Item = String> + Send + 'static {
    let begin = field("csrf", &browser.csrf()) + HEAD;
    let rest = stream::repeat("a".repeat(bytes)).then(|piece| async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        piece
    });
    stream::once(async { begin }).chain(rest)
}

/// What comes in 20 seconds at the slowest pace.
const SLOWEST: usize = 20 * PACE as usize;

fn whole(browser: &Browser<'_>) -> impl Stream<Item = String> + Send + 'static {
    let form = [&field("csrf", &browser.csrf()), HEAD, "phone\n5511987654321", END].concat();
    stream::once(async { form })
}

/// R420.
#[tokio::test]
async fn a_file_is_taken_after_the_token_alone() {
    let site = Site::new().await;
    let owner = site.owner().await;
    assert_eq!(send(&site, &owner, whole(&owner)).await, StatusCode::SEE_OTHER);
    let ours = field("csrf", &owner.csrf());
    for forged in [
        [HEAD, "phone\n1", END].concat(),
        [HEAD, "phone\n1\r\n", &ours, END].concat(),
        [&field("csrf", "no"), HEAD, "phone\n1", END].concat(),
        [&field("other", "a"), &ours, HEAD, "phone\n1", END].concat(),
        [&ours, &field("csrf", "no"), HEAD, "phone\n1", END].concat(),
    ] {
        let sent = send(&site, &owner, stream::once(async { forged })).await;
        assert_eq!(sent, StatusCode::FORBIDDEN);
    }
}

/// R426. A file before the token is refused while it is still being sent.
#[tokio::test]
async fn nothing_of_a_file_is_read_before_the_token() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let begin = stream::once(async { HEAD.to_owned() + "phone\n" });
    let sent = send(&site, &owner, begin.chain(stream::pending()));
    let sent = tokio::time::timeout(Duration::from_secs(10), sent).await;
    assert_eq!(sent.expect("an answer"), StatusCode::FORBIDDEN);
}

/// R420.
#[tokio::test]
async fn a_form_has_twenty_parts_and_short_fields() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let form = |fields: usize, value: &str| {
        let ours = field("csrf", &owner.csrf());
        let others = field("a", value).repeat(fields);
        let form = [&ours, &others, HEAD, "phone\n5511987654321", END].concat();
        stream::once(async { form })
    };
    assert_eq!(send(&site, &owner, form(18, "b")).await, StatusCode::SEE_OTHER);
    assert_eq!(send(&site, &owner, form(19, "b")).await, StatusCode::BAD_REQUEST);
    let long = "b".repeat(FIELD_BYTES + 1);
    assert_eq!(send(&site, &owner, form(1, &long)).await, StatusCode::PAYLOAD_TOO_LARGE);
}

/// R425. A few bytes from time to time do not keep a place.
#[tokio::test(start_paused = true)]
async fn a_file_that_trickles_is_given_up_as_one_that_stops() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let pause = ConsoleOptions::default().body_timeout;
    let trickles = |bytes| send(&site, &owner, endless(&owner, bytes));
    let asked = Instant::now();
    assert_eq!(trickles(1).await, StatusCode::BAD_REQUEST);
    assert_eq!(asked.elapsed(), pause);
    // Half of the pace, until the first while is over.
    let asked = Instant::now();
    assert_eq!(trickles(SLOWEST / 2).await, StatusCode::BAD_REQUEST);
    let took = asked.elapsed();
    assert!((pause..=pause * 2).contains(&took), "{took:?}");
    let stopped = endless(&owner, 1).take(1).chain(stream::pending());
    let asked = Instant::now();
    assert_eq!(send(&site, &owner, stopped).await, StatusCode::BAD_REQUEST);
    assert_eq!(asked.elapsed(), pause);
}

/// R425.
#[tokio::test(start_paused = true)]
async fn as_many_files_of_a_company_as_the_option_says_are_received_at_once() {
    let mut site = Site::new().await;
    let options = ConsoleOptions { files_per_company: 1, ..ConsoleOptions::default() };
    site.console = Console::new(site.kit.app.clone(), options);
    let owner = site.owner().await;
    let held = send(&site, &owner, endless(&owner, SLOWEST));
    let other = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let refused = send(&site, &owner, whole(&owner)).await;
        tokio::time::sleep(WHOLE).await;
        (refused, send(&site, &owner, whole(&owner)).await)
    };
    let (held, (refused, later)) = tokio::join!(held, other);
    assert_eq!(held, StatusCode::BAD_REQUEST);
    assert_eq!((refused, later), (StatusCode::SERVICE_UNAVAILABLE, StatusCode::SEE_OTHER));
}

/// R425, R352. A file that is sent in a conversation goes on as it comes.
#[tokio::test(start_paused = true)]
async fn a_file_of_a_conversation_has_the_same_bounds() {
    let site = Site::new().await;
    site.kit.connection("qr").await;
    let new = body(json!({"phone": "+5511987654321"}));
    let contact = site.kit.app.contacts().import(&site.kit.company, &new).await.expect("it").0;
    let owner = site.owner().await;
    let path = format!("/console/inbox/{contact}/file");
    let request = owner.request(Method::POST, &path).header("sec-fetch-site", "same-origin");
    let request = request.header("content-type", "multipart/form-data; boundary=x");
    let frames = endless(&owner, SLOWEST);
    let frames = frames.map(|frame| Ok::<_, Infallible>(Frame::data(Bytes::from(frame))));
    let request = request.body(StreamBody::new(frames)).expect("a request");
    let asked = Instant::now();
    let answer = site.console.answer(request).await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    assert_eq!(asked.elapsed().as_secs(), WHOLE.as_secs());
    assert!(site.kit.sent_texts().is_empty());
}
