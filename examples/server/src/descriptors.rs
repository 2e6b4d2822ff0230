//! The limit on open descriptors: raised at the start, and shared out (R180).

/// The most connections of all listeners together.
const MOST: u64 = 10_000;
/// What is kept for the database, outgoing calls, files, the log and the program itself, at most.
const RESERVE: u64 = 2_048;
/// The most connections of the operator's own listener.
const MOST_OF_OPERATOR: u64 = 256;

/// Raises the limit of this process as far as it may, and returns the limit that holds then; `None`
/// where there is none.
pub(crate) fn raise() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        if limit.current != limit.maximum {
            let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
            if let Err(error) = setrlimit(Resource::Nofile, raised) {
                tracing::warn!(%error, "the limit on open descriptors cannot be raised");
            }
        }
        getrlimit(Resource::Nofile).current
    }
    #[cfg(not(unix))]
    None
}

/// How many connections there may be at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connections {
    /// Of the main listener.
    pub(crate) main: usize,
    /// Of the operator's own listener.
    pub(crate) operator: usize,
}

impl Connections {
    /// What a limit on descriptors leaves for connections: the limit less the reserve, which is at
    /// most half of it (R180).
    pub(crate) fn within(limit: Option<u64>) -> Self {
        let left = limit.map_or(MOST, |limit| limit - RESERVE.min(limit / 2)).clamp(2, MOST);
        let operator = (left / 8).clamp(1, MOST_OF_OPERATOR);
        let number = |of: u64| usize::try_from(of).expect("at most the bound above");
        Self { main: number(left - operator), operator: number(operator) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R180.
    #[test]
    fn connections_get_what_the_reserve_leaves_and_ten_thousand_at_most() {
        for (limit, all) in [
            (None, 10_000),
            (Some(u64::MAX), 10_000),
            (Some(12_048), 10_000),
            (Some(12_047), 9_999),
            (Some(4_096), 2_048),
            (Some(1_024), 512),
            (Some(255), 128),
            (Some(1), 2),
            (Some(0), 2),
        ] {
            let Connections { main, operator } = Connections::within(limit);
            assert_eq!(main + operator, all, "{limit:?}");
            assert!(operator >= 1 && main >= operator && operator <= 256, "{limit:?}");
        }
    }

    /// R180.
    #[cfg(unix)]
    #[test]
    fn the_limit_is_raised_to_the_most_that_is_allowed() {
        use rustix::process::{Resource, getrlimit};
        let raised = raise();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!((raised, limit.current), (limit.maximum, limit.maximum));
    }
}
