//! Where the database is and how it is reached, as libpq reads it (R245): a URL or key-value pairs,
//! the service file, `PG…` variables, the password file, defaults. Each value comes from the first
//! of these that has it.
//!
//! The functions are pure: variables and files come from [`Surroundings`].

mod error;
mod keywords;
mod passfile;
mod service;
mod surroundings;
mod target;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

pub use error::{Origin, ParameterError};
pub(crate) use surroundings::{FileText, Surroundings};
#[cfg(feature = "tls")]
pub(crate) use target::Roots;
pub(crate) use target::{Address, Host, SessionAttrs, SslMode, Target};

use keywords::KEYWORDS;

/// Where a database is and how it is reached; made by [`ConnectionParameters::of_process`].
#[derive(Clone)]
pub struct ConnectionParameters(pub(crate) Target);

impl std::fmt::Debug for ConnectionParameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectionParameters").finish_non_exhaustive()
    }
}

impl ConnectionParameters {
    /// Reads a URL (`postgres://user:password@host/name?sslmode=…`) or a connection string of
    /// key-value pairs. What it does not say is taken from the service file, the environment
    /// variables, the password file and the defaults that libpq has (R245).
    ///
    /// # Errors
    ///
    /// [`ParameterError`], which names the parameter and where it was given, never its value.
    pub fn of_process(text: &str) -> Result<Self, ParameterError> {
        surroundings::with_process(|around| Target::resolve(text, around)).map(Self)
    }

    /// Checks a URL or connection string by itself, without the environment and without files.
    ///
    /// # Errors
    ///
    /// As [`ConnectionParameters::of_process`].
    pub fn check(text: &str) -> Result<(), ParameterError> {
        let given = Given::of_text(text)?;
        target::check(&given)
    }
}

/// The values that were given, by keyword.
#[derive(Default)]
pub(crate) struct Given(BTreeMap<&'static str, (String, Origin)>);

impl Given {
    /// The values of a URL or connection string.
    fn of_text(text: &str) -> Result<Self, ParameterError> {
        let mut given = Self::default();
        for (name, value) in text::parse(text)? {
            given.set(&name, value, Origin::Text)?;
        }
        Ok(given)
    }

    /// The values of a text, then those of the service that it or the environment names, then those
    /// of the environment.
    fn collect(text: &str, around: &Surroundings<'_>) -> Result<Self, ParameterError> {
        let mut given = Self::of_text(text)?;
        service::add(&mut given, around)?;
        for keyword in KEYWORDS {
            let Some(variable) = keyword.variable else { continue };
            if !given.0.contains_key(keyword.name)
                && let Some(value) = (around.variable)(variable)
            {
                given.0.insert(keyword.name, (value, Origin::Variable(variable)));
            }
        }
        Ok(given)
    }

    /// Sets a value; a later one of the same origin replaces it.
    fn set(&mut self, name: &str, value: String, origin: Origin) -> Result<(), ParameterError> {
        let known = KEYWORDS.iter().find(|keyword| keyword.name == name);
        let Some(known) = known else {
            return Err(ParameterError::Unknown { name: name.to_owned(), origin });
        };
        self.0.insert(known.name, (value, origin));
        Ok(())
    }

    /// The value of a keyword. An empty one counts as none, as it does for libpq.
    fn get(&self, name: &'static str) -> Option<&str> {
        self.0.get(name).map(|(value, _)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Where the value of a keyword was given.
    fn origin(&self, name: &'static str) -> Origin {
        self.0.get(name).map_or(Origin::Text, |(_, origin)| origin.clone())
    }

    /// The error for a value that cannot be one.
    fn invalid(&self, name: &'static str, must: impl Into<String>) -> ParameterError {
        ParameterError::Invalid { name, origin: self.origin(name), must: must.into() }
    }

    /// The error for something that this program cannot do.
    fn unsupported(&self, name: &'static str, why: &'static str) -> ParameterError {
        ParameterError::Unsupported { name, origin: self.origin(name), why }
    }
}
