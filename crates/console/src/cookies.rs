//! Cookies: reading those of a request, writing those of an answer.

use http::HeaderMap;
use http::header::{COOKIE, HeaderValue};

/// The cookies of a browser, named by whether the installation is reached by TLS.
///
/// Where the public URL begins with `https://` the session's cookie is `__Host-recado-session`,
/// which a browser takes only with `Secure`. Over plain HTTP, as in the demo on one's own machine,
/// it is `recado-session`: browsers differ in whether they take the other one there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookies {
    is_secure: bool,
}

impl Cookies {
    /// The cookies of an installation with this public URL.
    pub(crate) fn of(public_url: &str) -> Self {
        Self { is_secure: !public_url.starts_with("http://") }
    }

    /// The name of the session's cookie.
    pub(crate) const fn session(self) -> &'static str {
        if self.is_secure { "__Host-recado-session" } else { "recado-session" }
    }

    /// Keeps the session until the browser is closed.
    pub(crate) fn keep_session(self, token: &str) -> HeaderValue {
        self.line(self.session(), token, "; HttpOnly; SameSite=Lax")
    }

    /// Drops the session.
    pub(crate) fn drop_session(self) -> HeaderValue {
        self.line(self.session(), "", "; HttpOnly; SameSite=Lax; Max-Age=0")
    }

    /// The name of the cookie of a sign-in at the provider that is under way.
    pub(crate) const fn sign_in(self) -> &'static str {
        if self.is_secure { "__Host-recado-sign-in" } else { "recado-sign-in" }
    }

    /// Keeps what a sign-in at the provider needs, for the ten minutes that it may take (R432). It
    /// has to come along when the provider sends the browser back, which is another site.
    pub(crate) fn keep_sign_in(self, kept: &str) -> HeaderValue {
        self.line(self.sign_in(), kept, "; HttpOnly; SameSite=Lax; Max-Age=600")
    }

    /// Drops it.
    pub(crate) fn drop_sign_in(self) -> HeaderValue {
        self.line(self.sign_in(), "", "; HttpOnly; SameSite=Lax; Max-Age=0")
    }

    /// Keeps a choice of the browser's user for a year.
    pub(crate) fn keep_choice(self, name: &str, value: &str) -> HeaderValue {
        self.line(name, value, "; HttpOnly; SameSite=Lax; Max-Age=31536000")
    }

    fn line(self, name: &str, value: &str, rest: &str) -> HeaderValue {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let line = format!("{name}={value}; Path=/{secure}{rest}");
        HeaderValue::from_str(&line).unwrap_or(HeaderValue::from_static(""))
    }
}

/// The value of a cookie of a request; the first of those with the name.
pub(crate) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.trim(), value.trim())).find(|(n, _)| *n == name).map(|(_, v)| v)
}
