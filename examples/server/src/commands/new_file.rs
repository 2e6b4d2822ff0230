//! A file that is whole or not there: it is written under a name that only this process uses, and
//! gets its own name when nothing of it is missing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use recado_core::Clock;
use recado_runtime::SystemClock;

/// A file that is being written. If it is dropped before [`NewFile::publish`], nothing is left.
#[derive(Debug)]
pub(super) struct NewFile {
    // It is closed before its part is removed, as some systems remove no open file.
    file: File,
    part: Part,
    out: PathBuf,
}

/// The name under which it is written. The file of that name is removed when this is dropped.
#[derive(Debug)]
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _removed = fs::remove_file(&self.0);
    }
}

impl NewFile {
    /// Begins a file that is not there yet. Only its owner may read it.
    ///
    /// R410.
    pub(super) fn begin(out: &Path) -> io::Result<Self> {
        Self::begin_as(out, &part_of(out, std::process::id(), SystemClock.now().millis()))
    }

    fn begin_as(out: &Path, part: &Path) -> io::Result<Self> {
        refuse_existing(out)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(part)?;
        Ok(Self { file, part: Part(part.to_owned()), out: out.to_owned() })
    }

    /// Gives the file its name. One that was made meanwhile stays as it is.
    ///
    /// R410.
    pub(super) fn publish(self) -> io::Result<()> {
        self.publish_by(|part, out| fs::hard_link(part, out))
    }

    fn publish_by(self, link: impl Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        let Self { file, part, out } = self;
        file.sync_all()?;
        drop(file);
        match link(&part.0, &out) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                // The file system has no links. Nothing but a look keeps this from writing over.
                refuse_existing(&out)?;
                fs::rename(&part.0, &out)
            }
            linked => linked,
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// `FILE.PID-MILLIS.part`: two processes that write the same file share none.
fn part_of(out: &Path, process: u32, millis: i64) -> PathBuf {
    let mut part = out.as_os_str().to_owned();
    part.push(format!(".{process}-{millis}.part"));
    part.into()
}

/// Fails if there is something of that name, a link that leads nowhere too.
fn refuse_existing(out: &Path) -> io::Result<()> {
    match fs::symlink_metadata(out) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("readable");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("readable").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).into_string().expect("a text")).collect();
        names.sort();
        names
    }

    fn written(out: &Path, text: &str) -> NewFile {
        let mut file = NewFile::begin(out).expect("it is not there");
        file.write_all(text.as_bytes()).expect("written");
        file
    }

    fn no_links(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// R410.
    #[test]
    fn a_file_gets_its_name_when_it_is_whole_and_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("a.zip");
        let file = written(&out, "all");
        let part = names(folder.path()).pop().expect("a part");
        let start = format!("a.zip.{}-", std::process::id());
        assert!(part.starts_with(&start) && part.ends_with(".part"), "{part}");
        #[cfg(unix)]
        {
            let found = fs::metadata(folder.path().join(part)).expect("readable").permissions();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&found) & 0o777, 0o600);
        }
        file.publish().expect("it has its name");
        assert_eq!(names(folder.path()), ["a.zip"]);
        assert_eq!(fs::read(&out).expect("readable"), b"all");
    }

    /// R410.
    #[test]
    fn a_file_that_was_made_meanwhile_is_not_written_over() {
        let links: [fn(&Path, &Path) -> io::Result<()>; 2] =
            [|part, out| fs::hard_link(part, out), no_links];
        for link in links {
            let folder = tempfile::tempdir().expect("a folder");
            let out = folder.path().join("a.zip");
            let file = written(&out, "mine");
            fs::write(&out, "theirs").expect("writable");
            let refused = file.publish_by(link).expect_err("it is there");
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&out).expect("readable"), b"theirs");
            assert_eq!(names(folder.path()), ["a.zip"]);
            let again = NewFile::begin(&out).expect_err("it is there");
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        }
    }

    /// R410.
    #[test]
    fn where_there_are_no_links_the_part_is_renamed() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("a.zip");
        written(&out, "all").publish_by(no_links).expect("it has its name");
        assert_eq!(names(folder.path()), ["a.zip"]);
        assert_eq!(fs::read(&out).expect("readable"), b"all");
    }

    /// R410.
    #[test]
    fn a_file_that_is_given_up_leaves_nothing_and_parts_of_others_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("a.zip");
        let others = part_of(&out, 1, 2);
        fs::write(&others, "of a process that was killed").expect("writable");
        drop(written(&out, "not all"));
        assert_eq!(names(folder.path()), ["a.zip.1-2.part"]);
        let taken = NewFile::begin_as(&out, &others).expect_err("it is another's");
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(folder.path()), ["a.zip.1-2.part"]);
    }
}
