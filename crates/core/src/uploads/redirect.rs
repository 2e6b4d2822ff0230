//! Where a redirect leads (X10).

/// The address that `location` means in an answer of `base`; `None` if it is none that could be
/// called. Its host is read and checked like any other before it is called.
pub(super) fn resolved(base: &str, location: &str) -> Option<String> {
    let location = location.split('#').next()?.trim();
    let (scheme, rest) = base.split_once("://")?;
    if location.contains("://") && !location.starts_with('/') && !location.starts_with('?') {
        let is_web =
            |web: &&str| location.get(..web.len()).is_some_and(|own| own.eq_ignore_ascii_case(web));
        return ["http://", "https://"].iter().any(is_web).then(|| location.to_owned());
    }
    if location.starts_with("//") {
        return Some(format!("{scheme}:{location}"));
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    let path = rest[authority.len()..].split(['?', '#']).next()?;
    let target = match location.chars().next()? {
        '/' => location.to_owned(),
        '?' => format!("{}{location}", if path.is_empty() { "/" } else { path }),
        // Another scheme, such as `mailto:`.
        _ if location.split(['/', '?']).next()?.contains(':') => return None,
        _ => format!("{}/{location}", path.rsplit_once('/').map_or("", |(folder, _)| folder)),
    };
    Some(format!("{scheme}://{authority}{target}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X10.
    #[test]
    fn a_redirect_leads_where_its_answer_says() {
        let base = "https://a.example:8443/x/y?z=1";
        for (location, expected) in [
            ("http://b.example/c", Some("http://b.example/c")),
            ("HTTPS://b.example/c#d", Some("HTTPS://b.example/c")),
            ("//b.example/c", Some("https://b.example/c")),
            ("/c?d", Some("https://a.example:8443/c?d")),
            ("c", Some("https://a.example:8443/x/c")),
            ("?d", Some("https://a.example:8443/x/y?d")),
            ("/go?to=http://b.example", Some("https://a.example:8443/go?to=http://b.example")),
            ("ftp://b.example/c", None),
            ("file:///etc/passwd", None),
            ("mailto:a@b", None),
            ("", None),
        ] {
            assert_eq!(resolved(base, location).as_deref(), expected, "{location}");
        }
        assert_eq!(resolved("https://a.example", "c").as_deref(), Some("https://a.example/c"));
    }
}
