//! The password file: lines of `host:port:database:user:password`.

/// The password for a connection, of the first line that fits. `*` fits everything.
pub(super) fn password(
    text: &str,
    host: &str,
    port: u16,
    database: &str,
    user: &str,
) -> Option<String> {
    let port = port.to_string();
    let wanted = [host, &port, database, user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = fields(line);
        for wanted in wanted {
            let (field, plain) = fields.next()?;
            if field != wanted && !(plain && field == "*") {
                return None;
            }
        }
        let (password, _) = fields.next()?;
        (!password.is_empty()).then_some(password)
    })
}

/// The fields of a line, and whether each was written without an escape. `\` takes the next
/// character as it is.
fn fields(line: &str) -> impl Iterator<Item = (String, bool)> {
    let mut rest = Some(line.strip_suffix('\r').unwrap_or(line));
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let (mut field, mut plain) = (String::new(), true);
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => {
                    plain = false;
                    field.extend(characters.next().map(|(_, next)| next));
                }
                ':' => {
                    rest = Some(&text[at + 1..]);
                    break;
                }
                c => field.push(c),
            }
        }
        Some((field, plain))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# h:5432:d:u:comment\nh:5432:d:u:first\nh:*:*:u:any\\:port\n\
                        \\*:1:d:u:star\nbroken\n*:5433:d:v:last\\\\\nlocalhost:1:d:u:\n";

    /// R245.
    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let find = |host, port, database, user| password(FILE, host, port, database, user);
        assert_eq!(find("h", 5432, "d", "u").as_deref(), Some("first"));
        assert_eq!(find("h", 1, "x", "u").as_deref(), Some("any:port"));
        assert_eq!(find("g", 5433, "d", "v").as_deref(), Some("last\\"));
        assert_eq!(find("*", 1, "d", "u").as_deref(), Some("star"));
        assert_eq!(find("g", 1, "d", "u"), None);
        assert_eq!(find("localhost", 1, "d", "u"), None);
    }
}
