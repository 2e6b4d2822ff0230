//! What the parameters of a connection depend on besides their text.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A file that was read.
pub(crate) struct FileText {
    pub(crate) bytes: Vec<u8>,
    /// Whether only its owner can use it; of root's files, the group may read.
    pub(crate) is_private: bool,
}

/// The environment of a process: its variables and its files.
pub(crate) struct Surroundings<'a> {
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) read: &'a dyn Fn(&Path) -> io::Result<FileText>,
    pub(crate) is_folder: &'a dyn Fn(&Path) -> bool,
    pub(crate) home: Option<PathBuf>,
    /// The name of the user that the process runs as.
    pub(crate) user: Option<String>,
}

/// Calls a function with the surroundings of this process.
pub(super) fn with_process<T>(call: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    call(&Surroundings {
        variable: &|name| env::var(name).ok(),
        read: &read,
        is_folder: &|path| path.is_dir(),
        home: env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        user: whoami::username().ok(),
    })
}

fn read(path: &Path) -> io::Result<FileText> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    Ok(FileText { is_private: is_private(&metadata), bytes: fs::read(path)? })
}

#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let others = if metadata.uid() == 0 { 0o027 } else { 0o077 };
    metadata.mode() & others == 0
}

#[cfg(not(unix))]
fn is_private(_metadata: &fs::Metadata) -> bool {
    true
}
