//! What is wrong with a parameter.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Where a parameter was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the URL or connection string.
    Text,
    /// In the service of this name.
    Service(String),
    /// In this environment variable.
    Variable(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("in the database URL"),
            Self::Service(name) => write!(f, "in the service {name:?}"),
            Self::Variable(name) => write!(f, "in {name}"),
        }
    }
}

/// Why the parameters of a connection cannot be used. It names the parameter and where it was
/// given; values are not repeated, because a password may have ended up in any of them.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// The text is neither a URL nor a connection string.
    #[error("the database URL {0}")]
    Syntax(&'static str),
    /// A parameter that libpq does not have.
    #[error("{name:?} {origin} is no parameter of a connection")]
    Unknown {
        /// What was given.
        name: String,
        /// Where.
        origin: Origin,
    },
    /// A value that the parameter cannot have.
    #[error("{name} {origin} {must}")]
    Invalid {
        /// The parameter.
        name: &'static str,
        /// Where it was given.
        origin: Origin,
        /// What a value must be.
        must: String,
    },
    /// Something that libpq can do and this program cannot.
    #[error("{name} {origin} {why}")]
    Unsupported {
        /// The parameter.
        name: &'static str,
        /// Where it was given.
        origin: Origin,
        /// What is not possible, and what to do in its place.
        why: &'static str,
    },
    /// A file that a parameter names cannot be used.
    #[error("{name}: {} cannot be used: {why}", path.display())]
    File {
        /// The parameter.
        name: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A service that no service file defines, or whose definition cannot be read.
    #[error("the service {name:?} {why}")]
    Service {
        /// The service.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}

impl ParameterError {
    pub(super) fn file(name: &'static str, path: PathBuf, error: &io::Error) -> Self {
        Self::File { name, path, why: error.to_string() }
    }
}
