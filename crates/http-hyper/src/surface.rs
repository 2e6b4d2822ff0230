//! The surfaces: which paths belong together.

/// Which surface a path belongs to, known or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    Public,
    Operator,
    Hooks,
    Open,
}

/// The surface of a path, decoded.
pub(crate) fn surface(path: &str) -> Surface {
    let under = |prefix: &str| {
        path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if under("/api/v1") {
        Surface::Public
    } else if under("/operator") {
        Surface::Operator
    } else if under("/api/webhooks") {
        Surface::Hooks
    } else {
        Surface::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surface_begins_at_a_whole_segment() {
        assert!(matches!(surface("/api/v1"), Surface::Public));
        assert!(matches!(surface("/api/v1/nothing"), Surface::Public));
        assert!(matches!(surface("/api/v11"), Surface::Open));
        assert!(matches!(surface("/operator"), Surface::Operator));
        assert!(matches!(surface("/operators"), Surface::Open));
    }
}
