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
    use super::*;

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
