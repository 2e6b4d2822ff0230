//! A ZIP that is written as it is made: nothing of it is changed later, so it needs no place to be
//! kept in.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

/// What was written and not taken yet.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A ZIP under construction.
pub(super) struct Archive {
    zip: ZipWriter<StreamWriter<Written>>,
    written: Written,
}

impl Archive {
    pub(super) fn new() -> Self {
        let written = Written::default();
        Self { zip: ZipWriter::new_stream(written.clone()), written }
    }

    /// Begins a file; the one before ends.
    pub(super) fn begin(&mut self, path: &str) -> io::Result<()> {
        // Files of any size may follow (zip64).
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        self.zip.start_file(path, options).map_err(io::Error::other)
    }

    /// Adds bytes to the file that was begun.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.zip.write_all(bytes)
    }

    /// What was written since the last call.
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.written.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the ZIP and returns the rest of it.
    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        let Self { zip, written } = self;
        drop(zip.finish().map_err(io::Error::other)?);
        Ok(std::mem::take(&mut *written.0.lock().unwrap_or_else(PoisonError::into_inner)))
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
