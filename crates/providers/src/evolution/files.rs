//! Files that came inside webhooks, in memory until they are fetched for the first time. A file
//! that is lost, with the process or because newer ones need the memory, is requested from the
//! gateway.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::ids::ConnectionId;

/// How many bytes are kept of all connections.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The files by connection and source. Clones share them.
#[derive(Clone, Default)]
pub(super) struct FileCache(Arc<Mutex<KeptFiles>>);

#[derive(Default)]
struct KeptFiles {
    files: VecDeque<File>,
    bytes: usize,
}

struct File {
    connection: ConnectionId,
    source: String,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for FileCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Files(***)")
    }
}

impl FileCache {
    /// Keeps a file; the oldest ones are removed to make room.
    pub(super) fn keep(&self, connection: ConnectionId, source: &str, bytes: Vec<u8>) {
        if bytes.len() > MAX_BYTES {
            return;
        }
        let mut kept = self.kept();
        kept.take(connection, source);
        kept.bytes += bytes.len();
        kept.files.push_back(File { connection, source: source.to_owned(), bytes });
        while kept.bytes > MAX_BYTES {
            let Some(oldest) = kept.files.pop_front() else { break };
            kept.bytes -= oldest.bytes.len();
        }
    }

    /// Takes a file out of the cache.
    pub(super) fn take(&self, connection: ConnectionId, source: &str) -> Option<Vec<u8>> {
        self.kept().take(connection, source)
    }

    fn kept(&self) -> MutexGuard<'_, KeptFiles> {
        // The lock guards only complete files, so a panic leaves none incomplete.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptFiles {
    fn take(&mut self, connection: ConnectionId, source: &str) -> Option<Vec<u8>> {
        let here = |file: &File| file.connection == connection && file.source == source;
        let index = self.files.iter().position(here)?;
        let file = self.files.remove(index)?;
        self.bytes -= file.bytes.len();
        Some(file.bytes)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn connection(n: u128) -> ConnectionId {
        ConnectionId::new(Uuid::from_u128(n))
    }

    #[test]
    fn a_file_is_its_connections_and_taken_once() {
        let files = FileCache::default();
        files.keep(connection(1), "a", vec![1]);
        files.keep(connection(1), "a", vec![2]);
        assert_eq!(files.take(connection(2), "a"), None);
        assert_eq!(files.take(connection(1), "b"), None);
        assert_eq!(files.clone().take(connection(1), "a"), Some(vec![2]));
        assert_eq!(files.take(connection(1), "a"), None);
        assert_eq!(files.kept().bytes, 0);
    }

    #[test]
    fn the_oldest_files_make_room() {
        let files = FileCache::default();
        let third = MAX_BYTES / 3;
        for n in 0..4_u8 {
            files.keep(connection(1), &n.to_string(), vec![n; third]);
        }
        files.keep(connection(1), "huge", vec![9; MAX_BYTES + 1]);
        let found = |n: u8| files.take(connection(1), &n.to_string()).is_some();
        assert_eq!([0, 1, 2, 3].map(found), [false, true, true, true]);
        assert_eq!(files.take(connection(1), "huge"), None);
    }
}
