//! What separates the cells of a CSV file (R287).

/// The delimiter that an option names.
///
/// # Errors
///
/// What is wrong with it.
pub fn parse(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        text => match text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
            _ => Err("must be one character, such as ; or tab".to_owned()),
        },
    }
}

/// The delimiter that a first line `sep=;` names, and how long that line is with its end.
/// Spreadsheets write it, and show none of it.
pub fn named(begin: &[u8]) -> Option<(u8, usize)> {
    let rest = begin.strip_prefix(b"sep=")?;
    let (delimiter, rest) = rest.split_first()?;
    let end = match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        _ => return None,
    };
    Some((*delimiter, b"sep=".len() + 1 + end))
}

/// The most frequent of the usual delimiters in the first line, outside of quotes.
pub fn most_frequent(begin: &[u8]) -> u8 {
    let mut is_quoted = false;
    let [mut comma, mut semicolon, mut tab] = [0_usize; 3];
    for byte in begin {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => break,
            b',' if !is_quoted => comma += 1,
            b';' if !is_quoted => semicolon += 1,
            b'\t' if !is_quoted => tab += 1,
            _ => {}
        }
    }
    if semicolon > comma && semicolon >= tab {
        b';'
    } else if tab > comma {
        b'\t'
    } else {
        b','
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R287.
    #[test]
    fn delimiters_in_quoted_names_do_not_count() {
        assert_eq!(most_frequent(b"\"Name; first; second; third\",phone,email\r\na;b;c;d"), b',');
        assert_eq!(most_frequent(b"nome;telefone\na,b,c,d"), b';');
        assert_eq!(most_frequent(b"nome\ttelefone"), b'\t');
        assert_eq!(most_frequent(b"phone"), b',');
    }

    /// R287.
    #[test]
    fn a_first_line_may_name_the_delimiter() {
        assert_eq!(named(b"sep=;\r\nnome;telefone"), Some((b';', 7)));
        assert_eq!(named(b"sep=|\nnome|telefone"), Some((b'|', 6)));
        assert_eq!(named(b"sep=;x\n"), None);
        assert_eq!(named(b"nome;telefone"), None);
    }

    #[test]
    fn an_option_names_one_character() {
        assert_eq!((parse(";"), parse("tab"), parse("|")), (Ok(b';'), Ok(b'\t'), Ok(b'|')));
        for wrong in ["", ";;", "é", "\"", "\n"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
