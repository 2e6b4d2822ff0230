//! A ZIP that is written as it is made: nothing of it is changed later, so it needs no place to be
//! kept in.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use futures_channel::mpsc;
use futures_util::future::poll_fn;
use rawzip::{ZipArchiveWriter, ZipDataWriter, ZipEntryWriter};
use serde_json::{Value, json};

/// What was written and not taken yet.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A ZIP under construction, and where it goes.
pub(super) struct Out {
    zip: ZipArchiveWriter<Written>,
    written: Written,
    sender: mpsc::Sender<Vec<u8>>,
    files: Vec<Value>,
    missing: Vec<Value>,
}

/// A file of the ZIP. Nothing can be written outside a file, nor can two be open.
pub(super) struct File<'a> {
    entry: ZipDataWriter<ZipEntryWriter<'a, Written>>,
    written: &'a Written,
    sender: &'a mut mpsc::Sender<Vec<u8>>,
    files: &'a mut Vec<Value>,
    path: &'a str,
    what: &'a str,
}

/// Hands on what was written, when there is room for it. If nobody reads it any more, it is
/// dropped: then nobody goes on with the export either.
async fn send(sender: &mut mpsc::Sender<Vec<u8>>, written: &Written) {
    let bytes = written.take();
    if !bytes.is_empty() && poll_fn(|cx| sender.poll_ready(cx)).await.is_ok() {
        let _sent = sender.start_send(bytes);
    }
}

impl Out {
    pub(super) fn new(sender: mpsc::Sender<Vec<u8>>) -> Self {
        let written = Written::default();
        let zip = ZipArchiveWriter::new(written.clone());
        Self { zip, written, sender, files: Vec::new(), missing: Vec::new() }
    }

    /// Begins a file. Its size follows its bytes, so it may be of any (zip64).
    pub(super) fn begin<'a>(&'a mut self, path: &'a str, what: &'a str) -> io::Result<File<'a>> {
        let Self { zip, written, sender, files, .. } = self;
        let (entry, config) = zip.new_file(path).start().map_err(io::Error::other)?;
        Ok(File { entry: config.wrap(entry), written, sender, files, path, what })
    }

    /// Names a file that could not be read.
    pub(super) fn misses(&mut self, path: &str) {
        self.missing.push(json!({"path": path, "reason": "The file could not be read."}));
    }

    /// What each file is, and which could not be read.
    pub(super) fn manifest(&self) -> (Value, Value) {
        (json!(self.files), json!(self.missing))
    }

    /// Ends the ZIP with its directory.
    pub(super) async fn finish(self) -> io::Result<()> {
        let Self { zip, written, mut sender, .. } = self;
        zip.finish().map_err(io::Error::other)?;
        send(&mut sender, &written).await;
        Ok(())
    }
}

impl File<'_> {
    /// Adds bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.entry.write_all(bytes)
    }

    /// Hands on what was written.
    pub(super) async fn flush(&mut self) {
        send(self.sender, self.written).await;
    }

    /// Ends the file, which has so many records if it is one of records.
    pub(super) async fn end(self, records: Option<u64>) -> io::Result<()> {
        let (entry, size) = self.entry.finish().map_err(io::Error::other)?;
        entry.finish(size).map_err(io::Error::other)?;
        let mut file = json!({"path": self.path, "what": self.what});
        if let Some(records) = records {
            file["records"] = json!(records);
        }
        self.files.push(file);
        send(self.sender, self.written).await;
        Ok(())
    }
}

/// A name that is safe as the last part of a path on every system.
///
/// R410.
pub(super) fn safe_name(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '(' | ')');
    let name: String = name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let name = name.trim_matches(|c| c == '.' || c == ' ');
    let end = name.char_indices().rev().map(|(at, _)| at).nth(79).unwrap_or(0);
    if name.is_empty() { "file".to_owned() } else { name[end..].to_owned() }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    /// A ZIP of these files, each with its path as its text.
    async fn zip_of(paths: impl Iterator<Item = String>) -> Vec<u8> {
        let (sender, made) = mpsc::channel(1);
        let write = async {
            let mut out = Out::new(sender);
            for path in paths {
                let mut file = out.begin(&path, "").expect("begun");
                file.write(path.as_bytes()).expect("written");
                file.end(None).await.expect("ended");
            }
            out.finish().await.expect("finished");
        };
        let ((), made) = futures_util::future::join(write, made.collect::<Vec<_>>()).await;
        made.concat()
    }

    /// R410.
    #[tokio::test]
    async fn names_are_marked_as_utf_8() {
        let zip = zip_of(["a/é.txt".to_owned()].into_iter()).await;
        let central = zip.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").expect("there");
        for flags in [&zip[6..8], &zip[central + 8..central + 10]] {
            assert_ne!(u16::from_le_bytes([flags[0], flags[1]]) & 0x800, 0);
        }
    }

    /// R410: what the classic fields cannot count is in those of zip64.
    #[tokio::test]
    async fn there_may_be_more_files_than_the_classic_directory_counts() {
        const FILES: usize = 65_600;
        let zip = zip_of((0..FILES).map(|n| n.to_string())).await;
        let end = &zip[zip.len() - 22..];
        assert_eq!((&end[..4], &end[10..12]), (&b"PK\x05\x06"[..], &[0xff, 0xff][..]));
        let end64 = &zip[zip.len() - 22 - 20 - 56..];
        assert_eq!(&end64[..4], b"PK\x06\x06");
        let counted = end64[32..40].try_into().expect("eight bytes");
        assert_eq!(u64::from_le_bytes(counted), FILES as u64);
        let read = rawzip::ZipArchive::from_slice(&zip).expect("a ZIP");
        assert_eq!(read.entries().filter(Result::is_ok).count(), FILES);
    }

    /// R410.
    #[test]
    fn names_of_files_cannot_leave_their_folder() {
        assert_eq!(safe_name("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(safe_name("C:\\a\r\n.pdf"), "C__a__.pdf");
        assert_eq!(safe_name("relatório (1).pdf"), "relatório (1).pdf");
        assert_eq!(safe_name(".."), "file");
        assert_eq!(safe_name(&"é".repeat(300)).chars().count(), 80);
    }
}
