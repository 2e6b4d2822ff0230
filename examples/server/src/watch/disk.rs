//! How much room the disks have.

use std::path::{Path, PathBuf};

use metrics::{Unit, describe_gauge, gauge};

use super::float;
use crate::options::{DatabaseLocation, DocumentStorage, Options};

const FREE: &str = "recado_disk_free_bytes";
const SIZE: &str = "recado_disk_size_bytes";

pub(super) fn describe() {
    describe_gauge!(FREE, Unit::Bytes, "Room on the disk of the database or the documents.");
    describe_gauge!(SIZE, Unit::Bytes, "Size of the disk of the database or the documents.");
}

/// The folders on disks of this machine. A database on a server and a bucket have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Volumes(Vec<(&'static str, PathBuf)>);

impl Volumes {
    /// The folders that the options name.
    pub(crate) fn of(options: &Options) -> Self {
        let mut all = Vec::new();
        if let DatabaseLocation::Sqlite(path) = &options.database {
            all.push(("database", path.clone()));
        }
        if let DocumentStorage::Folder(path) = &options.documents {
            all.push(("documents", path.clone()));
        }
        Self(all)
    }

    /// Sets the room of each. It blocks for a moment.
    pub(crate) fn record(&self) {
        for (volume, path) in &self.0 {
            let Some((free, size)) = room(path) else { continue };
            gauge!(FREE, "volume" => *volume).set(float(free));
            gauge!(SIZE, "volume" => *volume).set(float(size));
        }
    }
}

/// The free bytes and the size of the disk that a path is on, or will be on once it is made. What
/// only root may use is not free.
#[cfg(unix)]
fn room(path: &Path) -> Option<(u64, u64)> {
    let absolute = std::path::absolute(path).ok()?;
    let disk = absolute.ancestors().find_map(|path| rustix::fs::statvfs(path).ok())?;
    Some((disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize))
}

#[cfg(not(unix))]
fn room(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R281.
    #[test]
    #[cfg(unix)]
    fn a_folder_that_is_not_made_yet_has_the_room_of_the_one_it_will_be_in() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (free, size) = room(&folder.path().join("not/made/yet")).expect("a disk");
        assert!(free <= size && size > 0, "{free} {size}");
        assert!(room(Path::new("not-made-either")).is_some());
    }

    /// R281.
    #[test]
    fn only_what_is_on_this_machine_has_a_disk() {
        let volumes = |database: &str| {
            let options = Options {
                database: database.parse().expect("a database"),
                documents: DocumentStorage::Folder("docs".into()),
                ..Options::default()
            };
            Volumes::of(&options).0.into_iter().map(|(volume, _)| volume).collect::<Vec<_>>()
        };
        assert_eq!(volumes("sqlite:recado.db"), ["database", "documents"]);
        assert_eq!(volumes("postgres://db/recado"), ["documents"]);
    }
}
