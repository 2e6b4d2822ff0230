//! A bucket: as much of S3 as documents need, over HTTP on this machine.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A server that keeps objects in memory. It knows PUT, GET with a range, HEAD, copy, DELETE, the
/// deletion of several, and uploads in parts, which are kept beside the object until they are
/// completed. It takes any signature.
#[derive(Clone, Debug)]
pub struct Bucket {
    address: SocketAddr,
    inside: Arc<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    /// Whether writes wait.
    is_stalled: bool,
    /// How many writes wait.
    waiting: usize,
}

impl Inside {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until writes are answered.
    fn writable(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        state.waiting += 1;
        let waited = self.changed.wait_while(state, |state| state.is_stalled);
        state = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }
}

impl Bucket {
    /// Starts the server. It runs until the process ends.
    ///
    /// # Panics
    ///
    /// When there is no port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let inside = Arc::new(Inside::default());
        let shared = Arc::clone(&inside);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let inside = Arc::clone(&shared);
                // A client that hangs up is none of the bucket's business.
                std::thread::spawn(move || drop(answer(stream, &inside)));
            }
        });
        Self { address, inside }
    }

    /// Its address, as for `AWS_ENDPOINT_URL`. Its name is the first part of each path, and any
    /// name is taken.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The variables by which a program finds it.
    pub fn env(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT_URL", self.endpoint()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", "id".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }

    /// The names of all objects, each behind the name of its bucket.
    pub fn keys(&self) -> Vec<String> {
        self.inside.state().objects.keys().cloned().collect()
    }

    /// From now on, writes wait.
    pub fn stall(&self) {
        self.inside.state().is_stalled = true;
    }

    /// How many writes wait.
    pub fn waiting(&self) -> usize {
        self.inside.state().waiting
    }

    /// Writes are answered again, those that waited too.
    pub fn go_on(&self) {
        self.inside.state().is_stalled = false;
        self.inside.changed.notify_all();
    }
}

/// The head of a request.
struct Head(Vec<String>);

impl Head {
    fn read(reader: &mut impl BufRead) -> io::Result<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let read = reader.read_line(&mut line)?;
            match line.trim_end() {
                _ if read == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                "" => return Ok(Self(lines)),
                line => lines.push(line.to_owned()),
            }
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.0.iter().filter_map(|line| line.split_once(": "));
        lines.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// The name of an object that is uploaded in parts, and what the names of its parts begin with.
fn parts_of(path: &str) -> (String, String) {
    let object = path.split('?').next().unwrap_or_default().to_owned();
    let parts = format!("{object}?part");
    (object, parts)
}

fn answer(mut stream: TcpStream, inside: &Inside) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let head = Head::read(&mut reader)?;
    let length = head.header("content-length").map_or(0, |l| l.parse().expect("a length"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = head.0[0].split(' ');
    let method = words.next().expect("a method");
    let key = words.next().expect("a path").trim_start_matches('/').to_owned();
    let from = head.header("range").map_or(0, |range| {
        let from = range.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-'));
        from.and_then(|from| from.parse().ok()).expect("a range with an open end")
    });
    let mut range = String::new();
    let (status, body) = match (method, head.header("x-amz-copy-source")) {
        ("PUT", Some(from)) => {
            let objects = &mut inside.writable().objects;
            match objects.get(from.trim_start_matches('/')).cloned() {
                Some(bytes) => {
                    objects.insert(key, bytes);
                    (200, b"<CopyObjectResult><ETag>1</ETag></CopyObjectResult>".to_vec())
                }
                None => (404, b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
            }
        }
        ("POST", None) if key.contains("?uploads") => {
            let begun = "<InitiateMultipartUploadResult><UploadId>u1</UploadId>\
                         </InitiateMultipartUploadResult>";
            (200, begun.as_bytes().to_vec())
        }
        ("POST", None) if key.contains("?uploadId=") => {
            let (object, parts) = parts_of(&key);
            let objects = &mut inside.writable().objects;
            let of: Vec<String> =
                objects.keys().filter(|key| key.starts_with(&parts)).cloned().collect();
            let whole = of.iter().flat_map(|key| objects.remove(key).expect("there")).collect();
            objects.insert(object, whole);
            let done = "<CompleteMultipartUploadResult><ETag>1</ETag>\
                        </CompleteMultipartUploadResult>";
            (200, done.as_bytes().to_vec())
        }
        ("DELETE", None) if key.contains("?uploadId=") => {
            let (_, parts) = parts_of(&key);
            inside.state().objects.retain(|key, _| !key.starts_with(&parts));
            (204, Vec::new())
        }
        ("PUT", None) if key.contains("uploadId=") => {
            let (_, parts) = parts_of(&key);
            let number = key.split("partNumber=").nth(1).and_then(|n| n.split('&').next());
            let part = format!("{parts}{}", number.expect("a number"));
            inside.writable().objects.insert(part, body);
            (200, Vec::new())
        }
        ("PUT", None) => {
            inside.writable().objects.insert(key, body);
            (200, Vec::new())
        }
        ("GET" | "HEAD", _) => match inside.state().objects.get(&key) {
            Some(bytes) if from > 0 => {
                let (last, size) = (bytes.len() - 1, bytes.len());
                range = format!("Content-Range: bytes {from}-{last}/{size}\r\n");
                (206, bytes[from..].to_vec())
            }
            Some(bytes) => (200, bytes.clone()),
            None => (404, b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
        },
        ("DELETE", _) => {
            inside.state().objects.remove(&key);
            (204, Vec::new())
        }
        _ => {
            let body = String::from_utf8(body).expect("XML");
            let bucket = key.split(['/', '?']).next().unwrap_or_default().to_owned();
            let mut answer = String::from("<DeleteResult>");
            for key in body.split("<Key>").skip(1).filter_map(|k| k.split('<').next()) {
                inside.state().objects.remove(&format!("{bucket}/{key}"));
                answer += &format!("<Deleted><Key>{key}</Key></Deleted>");
            }
            (200, (answer + "</DeleteResult>").into_bytes())
        }
    };
    let length = body.len();
    let body = if method == "HEAD" { Vec::new() } else { body };
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nETag: \"1\"\r\nConnection: close\r\n\
         {range}Last-Modified: Tue, 01 Dec 2026 10:00:00 GMT\r\nContent-Length: {length}\r\n\r\n"
    )?;
    stream.write_all(&body)
}
