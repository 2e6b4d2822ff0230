//! The adapter's cache of engines and numbers, so that they are requested only once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::ids::ConnectionId;

/// The most entries of each kind; if there are more, all are removed.
const MAX_ENTRIES: usize = 20_000;

/// The engine that a session runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// NOWEB.
    Noweb,
    /// GOWS.
    Gows,
    /// An engine that is not named but accepts ids.
    TakesIds,
    /// Any other, such as those that drive a browser.
    Other,
}

impl Engine {
    /// The engine of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name.trim() {
            "" => None,
            name => Some(Self::known(name).unwrap_or(Self::Other)),
        }
    }

    /// The engine of this name, if that is the name of one.
    pub(super) fn known(name: &str) -> Option<Self> {
        Some(match name.trim().to_ascii_uppercase().as_str() {
            "NOWEB" => Self::Noweb,
            "GOWS" => Self::Gows,
            "WEBJS" | "WPP" => Self::Other,
            _ => return None,
        })
    }

    /// Whether it lets a caller choose the id of a message, and finds one by its raw id alone.
    pub(super) const fn knows_raw_ids(self) -> bool {
        matches!(self, Self::Noweb | Self::Gows | Self::TakesIds)
    }
}

/// An engine that was reported.
#[derive(Clone, Copy, Debug)]
struct KnownEngine {
    /// When the connection was changed last.
    at: Timestamp,
    engine: Engine,
    /// Whether it may have changed since.
    is_doubted: bool,
}

/// The cache of an adapter.
#[derive(Debug, Default)]
pub(super) struct SessionCache {
    engines: Mutex<HashMap<ConnectionId, KnownEngine>>,
    numbers: Mutex<HashMap<(ConnectionId, String), (Timestamp, String)>>,
    states: Mutex<HashMap<ConnectionId, (Timestamp, String)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= MAX_ENTRIES && !map.contains_key(&key) {
        map.clear();
    }
    map.insert(key, value);
}

impl SessionCache {
    /// The engine of a connection's session, unless the connection was changed since it was cached,
    /// or the engine may have changed.
    pub(super) fn engine(&self, connection: &Connection) -> Option<Engine> {
        self.reported(connection).filter(|known| !known.is_doubted).map(|known| known.engine)
    }

    /// The engine that was reported last, even if it may have changed.
    pub(super) fn last_engine(&self, connection: &Connection) -> Option<Engine> {
        self.reported(connection).map(|known| known.engine)
    }

    fn reported(&self, connection: &Connection) -> Option<KnownEngine> {
        let known = lock(&self.engines).get(&connection.id).copied()?;
        (known.at == connection.updated_at).then_some(known)
    }

    /// Caches the engine of a connection's session.
    pub(super) fn learn_engine(&self, connection: &Connection, engine: Engine) {
        let known = KnownEngine { at: connection.updated_at, engine, is_doubted: false };
        remember(&mut lock(&self.engines), connection.id, known);
    }

    /// The engine of a connection's session may have changed.
    pub(super) fn forget_engine(&self, connection: &Connection) {
        if let Some(known) = lock(&self.engines).get_mut(&connection.id) {
            known.is_doubted = true;
        }
    }

    /// The channel's form of a number, if it is cached and the connection was not changed since.
    pub(super) fn number(&self, connection: &Connection, digits: &str) -> Option<String> {
        let numbers = lock(&self.numbers);
        let (at, name) = numbers.get(&(connection.id, digits.to_owned()))?;
        (*at == connection.updated_at).then(|| name.clone())
    }

    /// Caches the channel's form of a number.
    pub(super) fn learn_number(&self, connection: &Connection, digits: &str, name: &str) {
        let key = (connection.id, digits.to_owned());
        remember(&mut lock(&self.numbers), key, (connection.updated_at, name.to_owned()));
    }

    /// Whether a reported state of the session is new: events may be late or repeated (R131).
    pub(super) fn is_new_state(&self, connection: &Connection, at: Timestamp, state: &str) -> bool {
        let mut states = lock(&self.states);
        if let Some((newest, known)) = states.get(&connection.id)
            && (at < *newest || (at == *newest && known == state))
        {
            return false;
        }
        remember(&mut states, connection.id, (at, state.to_owned()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_known_by_name() {
        assert_eq!(Engine::named("GOWS"), Some(Engine::Gows));
        assert_eq!(Engine::named("NOWEB"), Some(Engine::Noweb));
        assert_eq!(Engine::named("gows"), Some(Engine::Gows));
        assert_eq!(Engine::named("WEBJS"), Some(Engine::Other));
        assert_eq!(Engine::named("SOON"), Some(Engine::Other));
        assert_eq!((Engine::known("SOON"), Engine::known("WPP")), (None, Some(Engine::Other)));
        assert!(Engine::TakesIds.knows_raw_ids());
        assert_eq!(Engine::named(" "), None);
        assert!(!Engine::Other.knows_raw_ids());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut map = HashMap::new();
        for n in 0..MAX_ENTRIES + 5 {
            remember(&mut map, n, ());
        }
        assert_eq!(map.len(), 5);
    }
}
