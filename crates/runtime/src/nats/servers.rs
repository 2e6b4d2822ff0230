//! Which NATS servers are used, and by whom.

use std::fmt;
use std::str::FromStr;

use async_nats::{ServerAddr, Subject};
use percent_encoding::percent_decode_str;
use recado_core::secret::SecretText;

/// Why servers or a subject are refused. No message has a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidNats {
    /// An address has no host, has a path, or is none.
    #[error("must be addresses such as nats://HOST:4222 or tls://USER:PASSWORD@HOST:4222")]
    Address,
    /// User, password or token are not percent-encoded UTF-8.
    #[error("has a user, a password or a token that is not percent-encoded UTF-8")]
    Encoding,
    /// Two addresses name different users.
    #[error("has two users or tokens: all servers are asked in the name of one")]
    Users,
    /// The subject cannot be used.
    #[error(
        "must be words with dots between them, such as recado.deliveries, without spaces and the \
         wildcards * and >"
    )]
    Subject,
}

/// Who signs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum User {
    Token(SecretText),
    Password(String, SecretText),
}

/// Servers of NATS that belong together: the addresses of one server, or of a cluster.
///
/// They are read from URLs with commas between them, such as `nats://n1:4222,nats://n2:4222`. A URL
/// may have a user and a password, or a token (`nats://TOKEN@HOST`), percent-encoded; it counts for
/// all of them. With `tls://` in one of them all connections are encrypted.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsServers {
    /// Without user and password: the library writes addresses to the log.
    pub(super) addresses: Vec<ServerAddr>,
    pub(super) user: Option<User>,
    pub(super) needs_tls: bool,
}

impl FromStr for NatsServers {
    type Err = InvalidNats;

    fn from_str(text: &str) -> Result<Self, InvalidNats> {
        let (mut addresses, mut user, mut needs_tls) = (Vec::new(), None, false);
        for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let (address, its_user) = read(one)?;
            needs_tls |= address.tls_required();
            addresses.push(address);
            match (&user, its_user) {
                (None, its_user) => user = its_user,
                (Some(known), Some(other)) if *known != other => return Err(InvalidNats::Users),
                (Some(_), _) => {}
            }
        }
        match addresses.is_empty() {
            true => Err(InvalidNats::Address),
            false => Ok(Self { addresses, user, needs_tls }),
        }
    }
}

/// One address, and the user in it.
fn read(text: &str) -> Result<(ServerAddr, Option<User>), InvalidNats> {
    if !text.starts_with("nats://") && !text.starts_with("tls://") {
        return Err(InvalidNats::Address);
    }
    let address: ServerAddr = text.parse().map_err(|_| InvalidNats::Address)?;
    let decoded = |text: &str| -> Result<String, InvalidNats> {
        let decoded = percent_decode_str(text).decode_utf8().map_err(|_| InvalidNats::Encoding)?;
        Ok(decoded.into_owned())
    };
    let user = match (address.username(), address.password()) {
        (Some(user), Some(password)) => {
            Some(User::Password(decoded(user)?, SecretText::new(decoded(password)?)))
        }
        (Some(token), None) => Some(User::Token(SecretText::new(decoded(token)?))),
        (None, Some(_)) => return Err(InvalidNats::Address),
        (None, None) => None,
    };
    let mut url = address.into_inner();
    let is_plain = matches!(url.path(), "" | "/") && url.query().is_none();
    if !is_plain || url.fragment().is_some() || url.host_str().is_none_or(str::is_empty) {
        return Err(InvalidNats::Address);
    }
    url.set_username("")
        .and_then(|()| url.set_password(None))
        .map_err(|()| InvalidNats::Address)?;
    Ok((ServerAddr::from_url(url).map_err(|_| InvalidNats::Address)?, user))
}

/// Addresses only.
impl fmt::Debug for NatsServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.addresses.iter().map(ServerAddr::as_url_str)).finish()
    }
}

/// The subject of the notifications of one installation: words with dots between them, such as
/// `recado.deliveries`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsSubject(String);

impl NatsSubject {
    pub(super) fn subject(&self) -> Subject {
        Subject::from(self.0.as_str())
    }
}

impl FromStr for NatsSubject {
    type Err = InvalidNats;

    /// R463.
    fn from_str(text: &str) -> Result<Self, InvalidNats> {
        let is_good = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '*' | '>');
        let is_word = |word: &str| !word.is_empty() && word.chars().all(is_good);
        match text.split('.').all(is_word) {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidNats::Subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(text: &str) -> NatsServers {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// R463.
    #[test]
    fn one_address_may_name_the_user_of_all() {
        let all = servers("nats://n1, tls://ana:s%40cret@n2:4333,nats://[::1]:4222");
        let user = User::Password("ana".to_owned(), SecretText::new("s@cret"));
        assert_eq!(all.user, Some(user));
        assert!(all.needs_tls && !servers("nats://n1").needs_tls);
        let shown = format!("{all:?}");
        assert_eq!(shown, r#"["nats://n1", "tls://n2:4333", "nats://[::1]:4222"]"#);
        let token = servers("nats://t0ken@n1,nats://t0ken@n2").user;
        assert_eq!(token, Some(User::Token(SecretText::new("t0ken"))));
    }

    /// R463.
    #[test]
    fn wrong_addresses_are_refused_without_their_passwords() {
        for (text, expected) in [
            ("", InvalidNats::Address),
            ("n1:4222", InvalidNats::Address),
            ("http://n1", InvalidNats::Address),
            ("ws://n1", InvalidNats::Address),
            ("nats://", InvalidNats::Address),
            ("nats://:hunter2@n1", InvalidNats::Address),
            ("nats://ana:hunter2@n1:port", InvalidNats::Address),
            ("nats://ana:hunter2@n1/subject", InvalidNats::Address),
            ("nats://ana:hunter2@n1?tls=no", InvalidNats::Address),
            ("nats://ana:hunter2%ff@n1", InvalidNats::Encoding),
            ("nats://ana:hunter2@n1,nats://eva:hunter2@n2", InvalidNats::Users),
        ] {
            let error = text.parse::<NatsServers>().expect_err(text);
            assert_eq!(error, expected, "{text}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    /// R463.
    #[test]
    fn a_subject_has_words_and_no_wildcards() {
        for text in ["recado", "recado.deliveries", "recado.cell-1.deliveries"] {
            assert!(text.parse::<NatsSubject>().is_ok(), "{text}");
        }
        for text in ["", ".", "a.", ".a", "a..b", "a b", "a.*", "a.>", "*", ">", "a\n", "a\u{0}"] {
            assert_eq!(text.parse::<NatsSubject>(), Err(InvalidNats::Subject), "{text:?}");
        }
    }
}
