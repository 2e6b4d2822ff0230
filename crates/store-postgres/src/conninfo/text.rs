//! URLs and key-value pairs.

use super::ParameterError;

/// The pairs of a text, in order.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, ParameterError> {
    for scheme in ["postgres://", "postgresql://"] {
        if let Some(rest) = text.strip_prefix(scheme) {
            return url(rest);
        }
    }
    pairs(text)
}

/// What follows the scheme: `user:password@host:port,host:port/name?key=value&key=value`.
fn url(rest: &str) -> Result<Vec<(String, String)>, ParameterError> {
    let mut found = Vec::new();
    let mut add = |name: &str, value: &str| -> Result<(), ParameterError> {
        if !value.is_empty() {
            found.push((name.to_owned(), decode(value)?));
        }
        Ok(())
    };
    let mut rest = rest;
    // As for libpq, the credentials end at the first `@` before the first slash.
    let end = rest.find(['@', '/']).filter(|at| rest[*at..].starts_with('@'));
    if let Some(at) = end {
        let (user, password) = rest[..at].split_once(':').unwrap_or((&rest[..at], ""));
        add("user", user)?;
        add("password", password)?;
        rest = &rest[at + 1..];
    }
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let (authority, name) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.contains('@') {
        // A part of the password would be taken for a host, and be shown in messages.
        return Err(ParameterError::Syntax("has an @ in the password: write it as %40"));
    }
    let (hosts, ports) = hosts(authority)?;
    add("host", &hosts)?;
    add("port", &ports)?;
    add("dbname", name)?;
    for pair in query.into_iter().flat_map(|query| query.split('&')) {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(ParameterError::Syntax("has a parameter without a value"));
        };
        let (name, value) = (decode(name)?, decode(value)?);
        // The form of JDBC, which libpq reads too.
        found.push(match (name.as_str(), value.as_str()) {
            ("ssl", "true") => ("sslmode".to_owned(), "require".to_owned()),
            _ => (name, value),
        });
    }
    Ok(found)
}

/// Hosts and ports, each with commas between them; both empty if there are none.
fn hosts(authority: &str) -> Result<(String, String), ParameterError> {
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for one in authority.split(',') {
        let (host, port) = match one.strip_prefix('[') {
            Some(address) => {
                let Some((address, port)) = address.split_once(']') else {
                    return Err(ParameterError::Syntax("has an address without its ]"));
                };
                match (port, port.strip_prefix(':')) {
                    ("", _) => (address, ""),
                    (_, Some(port)) => (address, port),
                    _ => {
                        return Err(ParameterError::Syntax("has something between ] and the port"));
                    }
                }
            }
            None => one.split_once(':').unwrap_or((one, "")),
        };
        hosts.push(host);
        ports.push(port);
    }
    let has_ports = ports.iter().any(|port| !port.is_empty());
    let ports = if has_ports { ports.join(",") } else { String::new() };
    let has_hosts = hosts.len() > 1 || !hosts[0].is_empty();
    Ok((if has_hosts { hosts.join(",") } else { String::new() }, ports))
}

/// Replaces `%XX`.
fn decode(text: &str) -> Result<String, ParameterError> {
    const WRONG: ParameterError =
        ParameterError::Syntax("has a % that is not followed by two hexadecimal digits");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16)).ok_or(WRONG);
        let value = digit()? * 16 + digit()?;
        match u8::try_from(value) {
            Ok(byte) if byte != 0 => bytes.push(byte),
            _ => return Err(ParameterError::Syntax("has a %00")),
        }
    }
    String::from_utf8(bytes).map_err(|_| ParameterError::Syntax("is not UTF-8 after decoding"))
}

/// `key = value` pairs: values may stand in single quotes, and `\` takes the next character as it
/// is.
fn pairs(text: &str) -> Result<Vec<(String, String)>, ParameterError> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((name, value)) = rest.split_once('=') else {
            return Err(ParameterError::Syntax("has a parameter without a value"));
        };
        let name = name.trim_end();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(ParameterError::Syntax("has a parameter without a value"));
        }
        let value = value.trim_start();
        let quoted = value.starts_with('\'');
        let mut characters = value.char_indices().skip(usize::from(quoted));
        let mut read = String::new();
        let mut end = None;
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => read.extend(characters.next().map(|(_, next)| next)),
                '\'' if quoted => {
                    end = Some(at + 1);
                    break;
                }
                c if !quoted && c.is_whitespace() => {
                    end = Some(at);
                    break;
                }
                c => read.push(c),
            }
        }
        let end = match end {
            Some(end) => end,
            None if quoted => return Err(ParameterError::Syntax("has a quote that is not ended")),
            None => value.len(),
        };
        found.push((name.to_owned(), read));
        rest = value[end..].trim_start();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn is(text: &str, expected: &[(&str, &str)]) {
        let read = read(text);
        let read: Vec<_> = read.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(read, expected, "{text}");
    }

    /// R245.
    #[test]
    fn a_url_is_read_as_libpq_reads_it() {
        is("postgres://", &[]);
        is("postgresql:///", &[]);
        is("postgres://h", &[("host", "h")]);
        is("postgres://u@", &[("user", "u")]);
        let all =
            [("user", "u"), ("password", "p@/:"), ("host", "h"), ("port", "1"), ("dbname", "d")];
        is("postgres://u:p%40%2f%3A@h:1/d", &all);
        is(
            "postgres://u:a?b@h/d",
            &[("user", "u"), ("password", "a?b"), ("host", "h"), ("dbname", "d")],
        );
        is("postgres://a:1,b,c:3/d", &[("host", "a,b,c"), ("port", "1,,3"), ("dbname", "d")]);
        is(
            "postgres://[::1]:5433,[fe80::2]/d",
            &[("host", "::1,fe80::2"), ("port", "5433,"), ("dbname", "d")],
        );
        is("postgres://%2Fvar%2Frun/d", &[("host", "/var/run"), ("dbname", "d")]);
        is("postgres:///d?host=/tmp&user=u", &[("dbname", "d"), ("host", "/tmp"), ("user", "u")]);
        is("postgres://h?ssl=true", &[("host", "h"), ("sslmode", "require")]);
        is("postgres://:5433/d", &[("port", "5433"), ("dbname", "d")]);
    }

    /// R245.
    #[test]
    fn pairs_are_read_as_libpq_reads_them() {
        is("", &[]);
        is(
            "host=h port = 5 user='a b' password='it\\'s'",
            &[("host", "h"), ("port", "5"), ("user", "a b"), ("password", "it's")],
        );
        is("password=a\\ b dbname=''", &[("password", "a b"), ("dbname", "")]);
    }

    /// R245: nothing of a text that cannot be read is repeated.
    #[test]
    fn what_cannot_be_read_is_refused_without_repeating_it() {
        for text in [
            "postgres://u:geh@im@h/d",
            "postgres://u:geheim%4@h",
            "postgres://u:geheim%zz@h",
            "postgres://u:geheim%00@h",
            "postgres://u:geheim@[::1/d",
            "postgres://u:geheim@[::1]x/d",
            "postgres://u:geheim@h?sslmode",
            "password='geheim",
            "geheim",
        ] {
            let error = parse(text).expect_err(text);
            assert!(!format!("{error} {error:?}").contains("geh"), "{error}");
        }
    }
}
