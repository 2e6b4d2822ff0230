//! Permissions of the files that Recado makes and finds: for its user alone (R163). On Unix only.

use crate::commands::CommandError;
use crate::options::Options;

/// Makes the files that this process will make accessible to its user alone. It holds for the whole
/// process: the binary calls it before anything else.
pub fn restrict() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
}

/// Logs which files of an installation others may access, too: those of an older version, or of
/// another umask.
pub(crate) fn warn_of_wide(options: &Options) {
    #[cfg(unix)]
    for (path, mode) in unix::wide(options).into_iter().chain(unix::wide_secrets(options)) {
        let (path, mode) = (path.display(), format!("{mode:03o}"));
        tracing::warn!(%path, mode, "other users of this machine may access this: take it from them");
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// Takes these files from others.
///
/// # Errors
///
/// When they belong to another user.
pub(crate) fn mend(options: &Options) -> Result<(), CommandError> {
    #[cfg(unix)]
    for (path, mode) in unix::wide(options) {
        unix::narrow(&path, mode).map_err(|error| {
            CommandError::Run(format!("{} cannot be taken from others: {error}", path.display()))
        })?;
    }
    #[cfg(not(unix))]
    let _ = options;
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsString;
    use std::fs::{self, Permissions};
    use std::io;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    use crate::options::{DatabaseLocation, DocumentStorage, Options};

    /// What of a mode lets others in.
    const OTHERS: u32 = 0o077;

    /// The files and folders of an installation that others may access, with their modes.
    pub(super) fn wide(options: &Options) -> Vec<(PathBuf, u32)> {
        files(options).into_iter().filter_map(is_wide).collect()
    }

    /// The files of the keys and of the operator's token that others may access. What systemd gives
    /// is for the service alone, whatever its mode says.
    pub(super) fn wide_secrets(options: &Options) -> Vec<(PathBuf, u32)> {
        let files = [&options.secret_key_file, &options.operator_token_file];
        files.into_iter().flatten().cloned().filter_map(is_wide).collect()
    }

    fn is_wide(path: PathBuf) -> Option<(PathBuf, u32)> {
        let mode = fs::metadata(&path).ok()?.permissions().mode() & 0o777;
        (mode & OTHERS != 0).then_some((path, mode))
    }

    /// The files with personal data and secrets. What is in the folder of documents cannot be
    /// reached if the folder itself cannot.
    fn files(options: &Options) -> Vec<PathBuf> {
        let mut files = Vec::new();
        if let DatabaseLocation::Sqlite(path) = &options.database {
            let ends = ["", "-wal", "-shm", ".lock", ".credentials.json"];
            files.extend(ends.map(|end| with(path, end)));
        }
        if let DocumentStorage::Folder(path) = &options.documents {
            files.push(path.clone());
        }
        files
    }

    fn with(path: &Path, end: &str) -> PathBuf {
        let mut name = OsString::from(path);
        name.push(end);
        PathBuf::from(name)
    }

    pub(super) fn narrow(path: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS))
    }
}
