//! The encoding of a file: UTF-8, UTF-16 or Windows-1252. Spreadsheets write all three (R287).

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;
use recado_core::imports::TextEncoding;
use tempfile::NamedTempFile;

/// How much of a file is looked at for zero bytes, which text has in UTF-16 only.
const SAMPLE: u64 = 4096;

/// The encodings that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Encoding {
    /// UTF-8
    #[value(name = "utf-8")]
    Utf8,
    /// UTF-16, little-endian unless a byte-order mark says otherwise
    #[value(name = "utf-16")]
    Utf16,
    /// UTF-16, big-endian
    #[value(name = "utf-16be")]
    Utf16Be,
    /// Windows-1252, of which Latin-1 is a part
    #[value(name = "windows-1252")]
    Windows1252,
}

impl Encoding {
    /// The encoding of a file: by its byte-order mark, else UTF-16 if every second byte is mostly
    /// zero, else UTF-8 if all of it is that, else Windows-1252.
    ///
    /// R287.
    pub(super) fn detect(file: &mut File) -> io::Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        let mut sample = Vec::new();
        (&mut *file).take(SAMPLE).read_to_end(&mut sample)?;
        file.seek(SeekFrom::Start(0))?;
        match Self::of_sample(&sample) {
            Some(encoding) => Ok(encoding),
            None if is_utf8(BufReader::new(file))? => Ok(Self::Utf8),
            None => Ok(Self::Windows1252),
        }
    }

    /// The encoding where its first bytes tell it.
    fn of_sample(sample: &[u8]) -> Option<Self> {
        Some(match TextEncoding::of_sample(sample)? {
            TextEncoding::Utf16Le => Self::Utf16,
            TextEncoding::Utf16Be => Self::Utf16Be,
        })
    }
}

/// Whether all bytes are UTF-8. Reads in parts, so that a character may lie across two of them.
fn is_utf8(mut reader: impl Read) -> io::Result<bool> {
    let mut buffer = vec![0; 64 * 1024];
    let mut kept = 0;
    loop {
        let read = reader.read(&mut buffer[kept..])?;
        let filled = kept + read;
        match std::str::from_utf8(&buffer[..filled]) {
            Ok(_) => kept = 0,
            Err(error) if error.error_len().is_none() && read > 0 => {
                buffer.copy_within(error.valid_up_to()..filled, 0);
                kept = filled - error.valid_up_to();
            }
            Err(_) => return Ok(false),
        }
        if read == 0 {
            return Ok(true);
        }
    }
}

/// A file whose content is UTF-8: the given one, or a temporary copy, which nobody else can read
/// and which goes with this value.
#[derive(Debug)]
pub(super) struct Decoded {
    path: PathBuf,
    _copy: Option<NamedTempFile>,
}

impl Decoded {
    /// Decodes a file from `given`, or from the encoding that it has.
    pub(super) fn open(path: &Path, given: Option<Encoding>) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let encoding = match given {
            Some(encoding) => encoding,
            None => Encoding::detect(&mut file)?,
        };
        let encoding = match encoding {
            Encoding::Utf8 => return Ok(Self { path: path.to_owned(), _copy: None }),
            Encoding::Utf16 => UTF_16LE,
            Encoding::Utf16Be => UTF_16BE,
            Encoding::Windows1252 => WINDOWS_1252,
        };
        debug_assert_ne!(encoding, UTF_8);
        file.seek(SeekFrom::Start(0))?;
        let mut decoder =
            DecodeReaderBytesBuilder::new().encoding(Some(encoding)).bom_override(true).build(file);
        let mut copy = NamedTempFile::new()?;
        io::copy(&mut decoder, &mut copy)?;
        copy.flush()?;
        Ok(Self { path: copy.path().to_owned(), _copy: Some(copy) })
    }

    /// Where the UTF-8 is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "nome;telefone\r\nJoão – Conceição;(11) 98765-4321\r\n";

    fn utf16(mark: &str, bytes: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
        format!("{mark}{TEXT}").encode_utf16().flat_map(bytes).collect()
    }

    fn read(content: &[u8], given: Option<Encoding>) -> String {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file.csv");
        std::fs::write(&path, content).expect("written");
        let decoded = Decoded::open(&path, given).expect("readable");
        std::fs::read_to_string(decoded.path()).expect("UTF-8")
    }

    /// R287.
    #[test]
    fn the_encodings_of_spreadsheets_are_detected() {
        let (windows, _, _) = WINDOWS_1252.encode(TEXT);
        for (name, content) in [
            ("UTF-8", TEXT.as_bytes().to_vec()),
            ("Windows-1252", windows.into_owned()),
            ("UTF-16, little-endian, marked", utf16("\u{feff}", u16::to_le_bytes)),
            ("UTF-16, big-endian, marked", utf16("\u{feff}", u16::to_be_bytes)),
            ("UTF-16, little-endian", utf16("", u16::to_le_bytes)),
            ("UTF-16, big-endian", utf16("", u16::to_be_bytes)),
        ] {
            assert_eq!(read(&content, None), TEXT, "{name}");
        }
    }

    /// R287.
    #[test]
    fn a_given_encoding_counts_before_the_one_that_is_detected() {
        assert_eq!(read("é".as_bytes(), Some(Encoding::Windows1252)), "Ã©");
        assert_eq!(read("é".as_bytes(), None), "é");
    }

    #[test]
    fn a_character_across_two_parts_is_utf_8_and_half_a_character_at_the_end_is_not() {
        let long = format!("{}é", "a".repeat(64 * 1024 - 1));
        assert!(is_utf8(long.as_bytes()).expect("readable"));
        assert!(!is_utf8(&long.as_bytes()[..long.len() - 1]).expect("readable"));
        assert!(is_utf8(&b""[..]).expect("readable"));
    }
}
