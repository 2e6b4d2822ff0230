use std::convert::Infallible;

use http::HeaderValue;
use http_body_util::StreamBody;
use hyper::body::Frame;
use recado_testkit::{Kit, MemoryFiles};

use super::*;
use crate::body::erase;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

struct Case {
    kit: Kit,
    disk: MemoryFiles,
    bodies: FileBodies,
}

impl Case {
    async fn new() -> Self {
        let disk = MemoryFiles::new();
        let kit = Kit::builder().files(disk.clone()).build().await;
        Self { kit, disk, bodies: FileBodies::new(2) }
    }

    fn reading(&self) -> FileReading<'_> {
        FileReading {
            recado: &self.kit.app,
            bodies: &self.bodies,
            company: self.kit.company.id,
            pause: Duration::from_secs(30),
        }
    }

    async fn form(&self, frames: Vec<Vec<u8>>) -> Result<FormBody, u16> {
        let mut headers = HeaderMap::new();
        let said = HeaderValue::from_static("multipart/form-data; boundary=xx");
        headers.insert(CONTENT_TYPE, said);
        let read = self.reading().form(&headers, body(frames)).await;
        read.map_err(|refused| refused.into_response().status().as_u16())
    }
}

fn body(frames: Vec<Vec<u8>>) -> RequestBody {
    let frames = frames.into_iter().map(|frame| Ok::<_, Infallible>(Frame::data(frame.into())));
    erase(StreamBody::new(stream::iter(frames)))
}

fn part(head: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("--xx\r\nContent-Disposition: form-data; {head}\r\n\r\n");
    [head.as_bytes(), content, b"\r\n"].concat()
}

fn file(content: &[u8]) -> Vec<u8> {
    part("name=\"file\"; filename=\"../a.png\"\r\nContent-Type: image/png", content)
}

const END: &[u8] = b"--xx--\r\n";

/// X10.
#[tokio::test]
async fn a_form_has_texts_and_a_file_however_it_is_cut_into_frames() {
    let case = Case::new().await;
    let content = [PNG, &vec![7; 150_000], b"\r\n--x\r\n--xy"].concat();
    let whole = [
        part("name=\"to\"", b"+55 11 98765-4321"),
        part("name=\"is_voice\"", b"true"),
        file(&content),
        part("name=\"caption\"", "Olá".as_bytes()),
        END.to_vec(),
    ]
    .concat();
    for size in [1, 7, 4096, whole.len()] {
        let frames = whole.chunks(size).map(<[u8]>::to_vec).collect();
        let form = case.form(frames).await.unwrap_or_else(|status| panic!("{size}: {status}"));
        let fields = json!({"to": "+55 11 98765-4321", "is_voice": true, "caption": "Olá"});
        assert_eq!(Value::Object(form.fields.clone()), fields, "{size}");
        let upload = form.file.as_ref().expect("a file");
        assert_eq!(
            (upload.size, upload.filename.as_deref()),
            (content.len() as u64, Some("a.png"))
        );
        assert!(case.disk.keys().contains(&upload.key()));
        let again = case.form(vec![whole.clone()]).await.expect("read");
        assert_eq!(again.compared(), form.compared(), "D37: whatever its boundary and its frames");
    }
}

/// R352.
#[tokio::test]
async fn a_form_that_breaks_off_or_is_none_is_refused_and_leaves_nothing_behind() {
    let case = Case::new().await;
    let text = |name: &str, bytes: usize| part(&format!("name=\"{name}\""), &vec![b'a'; bytes]);
    let long_head = format!("name=\"to\"\r\nX: {}", "a".repeat(200_000));
    let cases: Vec<(Vec<u8>, u16)> = vec![
        (file(PNG), 400),
        ([file(PNG), b"--xx".to_vec()].concat(), 400),
        (b"no form".to_vec(), 400),
        ([file(PNG), file(PNG), END.to_vec()].concat(), 422),
        ([file(PNG), text("to", 20_000), END.to_vec()].concat(), 422),
        ([file(b""), END.to_vec()].concat(), 422),
        ([(0..30).map(|_| text("to", 1)).collect::<Vec<_>>().concat(), END.to_vec()].concat(), 400),
        ([part(&long_head, b"a"), END.to_vec()].concat(), 400),
        (vec![b'a'; 300_000], 400),
        ([(0..21).map(|_| text("to", 1)).collect::<Vec<_>>().concat(), END.to_vec()].concat(), 400),
        ([file(PNG), part("name=\"caption\"", b"Ol\xe1"), END.to_vec()].concat(), 400),
    ];
    for (number, (whole, status)) in cases.into_iter().enumerate() {
        let frames = whole.chunks(10_000).map(<[u8]>::to_vec).collect();
        assert_eq!(case.form(frames).await.err(), Some(status), "{number}");
        assert_eq!(case.disk.keys(), Vec::<String>::new(), "{number}");
    }
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("multipart/form-data"));
    assert!(case.reading().form(&headers, body(Vec::new())).await.is_err());
}

/// R352.
#[tokio::test]
async fn a_form_may_have_twenty_parts() {
    let case = Case::new().await;
    let texts = (0..19).map(|n| part(&format!("name=\"a{n}\""), b"b"));
    let whole = texts.chain([file(PNG), END.to_vec()]).collect::<Vec<_>>().concat();
    let form = case.form(vec![whole]).await.expect("read");
    assert_eq!((form.fields.len(), form.file.is_some()), (19, true));
}

/// R352.
#[tokio::test(start_paused = true)]
async fn a_body_that_stops_or_trickles_is_given_up() {
    let case = Case::new().await;
    let frames = |pauses: Vec<u64>| {
        let frames = stream::iter(pauses).then(|seconds| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok::<_, Infallible>(Frame::data(Bytes::from_static(PNG)))
        });
        erase(StreamBody::new(frames.boxed()))
    };
    for pauses in [vec![0, 31], vec![10; 100]] {
        let read = case.reading().raw(&HeaderMap::new(), frames(pauses), None).await;
        let refused = read.map(drop).expect_err("refused");
        assert_eq!(refused.into_response().status().as_u16(), 408);
        assert_eq!(case.disk.keys(), Vec::<String>::new());
    }
    let steady = frames(vec![9, 9, 9]);
    assert!(case.reading().raw(&HeaderMap::new(), steady, None).await.is_ok());
}

/// R352.
#[tokio::test(start_paused = true)]
async fn so_many_bodies_are_read_at_once_and_others_wait_a_while() {
    let case = Case::new().await;
    let (first, second) = (case.bodies.admit().await, case.bodies.admit().await);
    assert!(first.is_ok() && second.is_ok());
    let asked = Instant::now();
    let read = case.reading().raw(&HeaderMap::new(), body(vec![PNG.to_vec()]), None).await;
    let refused = read.map(drop).expect_err("refused").into_response();
    assert_eq!((refused.status().as_u16(), asked.elapsed()), (503, ROOM_WAIT));
    drop(first);
    assert!(case.reading().raw(&HeaderMap::new(), body(vec![PNG.to_vec()]), None).await.is_ok());
}

/// X10.
#[tokio::test]
async fn what_declares_too_much_is_refused_unread() {
    let case = Case::new().await;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(MAX_FILE_BYTES + 1));
    let read = case.reading().raw(&headers, body(vec![PNG.to_vec()]), None).await;
    assert_eq!(read.map(drop).expect_err("refused").into_response().status().as_u16(), 413);
}
