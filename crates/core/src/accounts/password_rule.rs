//! Which passwords may be chosen (R395).

use std::collections::BTreeSet;

use crate::contacts::Email;

/// Fewest characters of a password.
const FEWEST_CHARS: usize = 10;
/// Most characters of a password.
pub(super) const MOST_CHARS: usize = 200;
/// Fewest characters that differ.
const FEWEST_DIFFERENT: usize = 5;
/// A shorter local part of an address stands in too many passwords by chance.
const LOCAL_PART: usize = 3;

/// Words that lists of leaked passwords begin with, in English and Portuguese, and the name of this
/// program. A password is refused that is one of them with digits and signs around it, or several
/// of them in a row.
const COMMON: &[&str] = &[
    "abcd",
    "admin",
    "administrador",
    "administrator",
    "amor",
    "asdf",
    "asdfgh",
    "asdfghjkl",
    "baseball",
    "bemvindo",
    "brasil",
    "brazil",
    "changeme",
    "charlie",
    "corinthians",
    "default",
    "deus",
    "deusefiel",
    "dragon",
    "empresa",
    "familia",
    "felicidade",
    "flamengo",
    "football",
    "gremio",
    "guest",
    "hello",
    "iloveyou",
    "internet",
    "jesus",
    "jesuscristo",
    "letmein",
    "login",
    "master",
    "monkey",
    "mudar",
    "mudarsenha",
    "mustang",
    "palmeiras",
    "passw",
    "password",
    "princesa",
    "princess",
    "qazwsx",
    "qwer",
    "qwert",
    "qwerty",
    "qwertyuiop",
    "recado",
    "root",
    "santos",
    "saopaulo",
    "secret",
    "segredo",
    "senha",
    "senhas",
    "shadow",
    "starwars",
    "sunshine",
    "superman",
    "teste",
    "teamo",
    "test",
    "trustno",
    "user",
    "usuario",
    "vasco",
    "welcome",
    "whatsapp",
    "zaq",
    "zxcvbn",
    "zxcvbnm",
    "pass",
    "word",
    "minha",
    "minhasenha",
    "novasenha",
    "acesso",
    "cliente",
    "gatinha",
    "mypassword",
    "sistema",
    "suporte",
    "support",
    "temp",
    "temporaria",
    "trocar",
];

/// Why a password may not be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordProblem {
    /// Too few characters.
    #[error("must have at least {FEWEST_CHARS} characters")]
    TooShort,
    /// Too many characters.
    #[error("must have at most {MOST_CHARS} characters")]
    TooLong,
    /// It holds what stands before the `@` of the address.
    #[error("must not contain the e-mail address")]
    HasEmail,
    /// One of those that are tried first.
    #[error("is among the passwords that are tried first")]
    Common,
}

impl PasswordProblem {
    /// A word for it, for messages in other languages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::HasEmail => "has_email",
            Self::Common => "common",
        }
    }
}

/// Refuses a password that may not be chosen for the login of an address (R395).
pub(super) fn check(password: &str, email: &Email) -> Result<(), PasswordProblem> {
    let chars = password.chars().count();
    if chars < FEWEST_CHARS {
        return Err(PasswordProblem::TooShort);
    }
    if chars > MOST_CHARS {
        return Err(PasswordProblem::TooLong);
    }
    let lower = password.to_lowercase();
    let local = email.as_str().split('@').next().unwrap_or_default();
    if local.chars().count() >= LOCAL_PART && lower.contains(local) {
        return Err(PasswordProblem::HasEmail);
    }
    if has_few_characters(&lower) || is_run(&lower) || is_common(&lower) {
        return Err(PasswordProblem::Common);
    }
    Ok(())
}

fn has_few_characters(text: &str) -> bool {
    text.chars().collect::<BTreeSet<_>>().len() < FEWEST_DIFFERENT
}

/// Whether each character follows the one before, as in `1234567890` or `fedcba…`.
fn is_run(text: &str) -> bool {
    let step = |pair: &[u32]| pair[1].wrapping_sub(pair[0]);
    let code = |c: char| if c == '0' { u32::from('9') + 1 } else { c.into() };
    let codes: Vec<u32> = text.chars().map(code).collect();
    let mut steps = codes.windows(2).map(step);
    let first = steps.next();
    matches!(first, Some(1 | u32::MAX)) && steps.all(|step| Some(step) == first)
}

/// Whether it is made of common words, with anything but letters around and between them.
fn is_common(lower: &str) -> bool {
    let letters: String = lower.chars().filter(|c| c.is_alphabetic()).collect();
    let others = lower.chars().count() - letters.chars().count();
    // Many digits and signs are a password of their own.
    others < FEWEST_CHARS && !letters.is_empty() && is_made_of_common(&letters)
        || is_only_digits_of_a_date(lower)
}

fn is_made_of_common(letters: &str) -> bool {
    // Reachable ends of a row of common words that begins at the start.
    let mut reached = vec![false; letters.len() + 1];
    reached[0] = true;
    for at in 0..letters.len() {
        if !reached[at] {
            continue;
        }
        for word in COMMON.iter().filter(|word| letters[at..].starts_with(**word)) {
            reached[at + word.len()] = true;
        }
    }
    reached[letters.len()]
}

/// Whether it is only digits, and few: they are counted through in no time.
fn is_only_digits_of_a_date(text: &str) -> bool {
    text.chars().count() < 14 && text.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn checked(password: &str) -> Result<(), PasswordProblem> {
        check(password, &Email::parse("Maria.Souza@example.org").unwrap())
    }

    /// R395.
    #[test]
    fn a_password_has_10_to_200_characters_whatever_they_are() {
        assert_eq!(checked("ab cd efg"), Err(PasswordProblem::TooShort));
        assert_eq!(checked("ãé çü ñøß☂"), Ok(()));
        assert_eq!(checked("nove sapos azuis"), Ok(()));
        assert_eq!(checked(&"xyz12".repeat(40)), Ok(()));
        assert_eq!(checked(&"xyz12".repeat(41)), Err(PasswordProblem::TooLong));
    }

    /// R395.
    #[test]
    fn a_password_with_the_local_part_of_the_address_is_refused() {
        assert_eq!(checked("x MARIA.souza 77!"), Err(PasswordProblem::HasEmail));
        let short = Email::parse("a@example.org").unwrap();
        assert_eq!(check("nove sapos azuis", &short), Ok(()));
    }

    /// R395.
    #[test]
    fn what_is_tried_first_is_refused() {
        for common in [
            "Password123!",
            "1234567890",
            "9876543210",
            "abcdefghij",
            "aaaaaaaaaaaa",
            "abababababab",
            "SenhaSenha",
            "senha@2026",
            "Minha-Senha-1",
            "qwertyuiop",
            "12031990120",
            "recado2026!",
            "!!welcome!!1",
            "flamengo2019",
        ] {
            assert_eq!(checked(common), Err(PasswordProblem::Common), "{common}");
        }
        for good in ["correct horse battery", "Tr0ub4dor&3x", "93b1!kfw82", "minha casa é azul"] {
            assert_eq!(checked(good), Ok(()), "{good}");
        }
    }

    proptest! {
        /// R395.
        #[test]
        fn no_text_makes_the_rule_fail(text in ".{0,220}") {
            let chars = text.chars().count();
            let checked = checked(&text);
            prop_assert_eq!(checked == Err(PasswordProblem::TooShort), chars < 10);
            prop_assert_eq!(checked == Err(PasswordProblem::TooLong), chars > 200);
        }
    }
}
