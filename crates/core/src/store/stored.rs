//! A row as it was read, with its version.

/// How often a row has been written: 1 when inserted, one more with each update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

impl Version {
    /// The version of a row that was just inserted.
    pub const FIRST: Self = Self(1);

    /// A version as the store keeps it.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number itself.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The version after one more write.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A row as it was read, with the version it was read at.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored<T> {
    value: T,
    version: Version,
}

impl<T> Stored<T> {
    /// Made by stores, when they read a row.
    pub const fn new(value: T, version: Version) -> Self {
        Self { value, version }
    }

    /// What was read.
    pub const fn value(&self) -> &T {
        &self.value
    }

    /// The version it was read at.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// What was read, owned.
    pub fn into_value(self) -> T {
        self.value
    }

    /// The same in another form, at its version.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Stored<U> {
        Stored { value: form(self.value), version: self.version }
    }
}

impl<T> std::ops::Deref for Stored<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
