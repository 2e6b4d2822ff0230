//! What a backup says of itself, and the check of its files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use recado_core::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The name of its file.
pub(super) const MANIFEST: &str = "manifest.json";
/// The form that this release writes, and the only one that it reads.
const FORM: u32 = 1;
/// How much is read at once.
const FRAME: usize = 64 * 1024;

/// What a backup says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The form of the backup.
    pub(super) form: u32,
    /// The release that made it.
    pub(super) version: String,
    /// `sqlite` or `postgres`.
    pub(super) store: String,
    /// When it began: what was acknowledged before is in it.
    pub(super) created_at: Timestamp,
    /// The id of the key that seals its secrets; never the key.
    pub(super) sealing_key: Option<String>,
    /// Each file.
    pub(super) files: Vec<ManifestFile>,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ManifestFile {
    /// Its path below the folder of the backup, with `/`.
    pub(super) path: String,
    /// Its bytes.
    pub(super) size: u64,
    /// The SHA-256 of its bytes, in hex.
    pub(super) sha256: String,
}

impl Manifest {
    pub(super) fn new(store: &str, created_at: Timestamp, sealing_key: Option<String>) -> Self {
        Self {
            form: FORM,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            store: store.to_owned(),
            created_at,
            sealing_key,
            files: Vec::new(),
        }
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Adds a file that was written, whatever wrote it.
    pub(super) fn add(&mut self, folder: &Path, path: &str) -> io::Result<()> {
        let file = File::open(folder.join(path))?;
        file.sync_all()?;
        let (size, sha256) = digest(file)?;
        self.files.push(ManifestFile { path: path.to_owned(), size, sha256 });
        Ok(())
    }

    /// Writes it: a backup without it is none.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut file = File::create_new(folder.join(MANIFEST))?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        File::open(folder)?.sync_all()
    }

    /// Reads it, and checks that every file is there as it was written.
    pub(super) fn checked(folder: &Path) -> Result<Self, String> {
        let path = folder.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|error| {
            format!("{} is no backup: {MANIFEST} cannot be read: {error}", folder.display())
        })?;
        let manifest: Self = serde_json::from_str(&text)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        if manifest.form != FORM {
            let (form, version) = (manifest.form, &manifest.version);
            return Err(format!("the backup has the form {form} of release {version}, not {FORM}"));
        }
        let mut seen = BTreeSet::new();
        for file in &manifest.files {
            let place = file.place(folder)?;
            if !seen.insert(&file.path) {
                return Err(format!("the manifest names {} twice", file.path));
            }
            let found = File::open(&place).and_then(digest);
            let found = found.map_err(|error| format!("{} cannot be read: {error}", file.path))?;
            if found != (file.size, file.sha256.clone()) {
                return Err(format!("{} is not what was backed up", file.path));
            }
        }
        Ok(manifest)
    }
}

impl ManifestFile {
    /// Where it is. A path that leads out of the backup is refused.
    pub(super) fn place(&self, folder: &Path) -> Result<PathBuf, String> {
        let path = Path::new(&self.path);
        let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if self.path.is_empty() || !is_plain {
            return Err(format!("the manifest names {:?}, which is no path in it", self.path));
        }
        Ok(folder.join(path))
    }
}

/// The size and the SHA-256 of what is read.
pub(super) fn digest(mut file: impl Read) -> io::Result<(u64, String)> {
    let (mut hash, mut size, mut frame) = (Sha256::new(), 0, vec![0; FRAME]);
    loop {
        let read = file.read(&mut frame)?;
        if read == 0 {
            return Ok((size, hex(&hash.finalize())));
        }
        hash.update(&frame[..read]);
        size += read as u64;
    }
}

/// Bytes in hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R253.
    #[test]
    fn a_backup_that_was_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let refused = |about: &str| {
            let refused = Manifest::checked(folder).unwrap_err();
            assert!(refused.contains(about), "{refused}");
        };
        refused("is no backup");
        fs::write(folder.join("recado.db"), "data").unwrap();
        let mut manifest = Manifest::new("sqlite", Timestamp::MIN, None);
        manifest.add(folder, "recado.db").unwrap();
        manifest.write(folder).unwrap();
        assert_eq!(Manifest::checked(folder).unwrap().files, manifest.files);
        assert!(manifest.write(folder).is_err(), "it is written once");
        fs::write(folder.join("recado.db"), "date").unwrap();
        refused("is not what was backed up");
        fs::remove_file(folder.join("recado.db")).unwrap();
        refused("recado.db cannot be read");
        let rewrite = |manifest: &Manifest| {
            fs::write(folder.join(MANIFEST), serde_json::to_string(manifest).unwrap()).unwrap();
        };
        for path in ["../recado.db", "/etc/passwd", "", "a/../../b"] {
            manifest.files[0].path = path.to_owned();
            rewrite(&manifest);
            refused("no path in it");
        }
        manifest.form = 2;
        rewrite(&manifest);
        refused("the form 2");
    }
}
