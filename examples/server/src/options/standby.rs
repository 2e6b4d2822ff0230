//! The standby of which listings are read (R462).

use recado_core::secret::SecretText;

use super::{DatabaseLocation, Options};

/// The address of a Postgres; nothing means none.
pub(super) fn read_standby(text: &str) -> Result<Option<SecretText>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match text.parse()? {
        DatabaseLocation::Postgres(url) => Ok(Some(url)),
        DatabaseLocation::Sqlite(_) => Err("must be a Postgres".to_owned()),
    }
}

/// What the options say together.
pub(super) fn check(options: &Options) -> Result<(), String> {
    match (&options.standby_database, &options.database) {
        (Some(_), DatabaseLocation::Sqlite(_)) => {
            Err("--standby-database goes with a --database on Postgres only".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R462.
    #[test]
    fn only_a_postgres_has_a_standby() {
        let standby = read_standby("postgres://recado@db2/recado").expect("a Postgres");
        assert_eq!(read_standby("sqlite:a.db").expect_err("a file"), "must be a Postgres");
        assert!(read_standby(" ").expect("none").is_none());
        let mut options = Options { standby_database: standby, ..Options::default() };
        assert!(check(&options).expect_err("of a file").contains("on Postgres only"));
        options.database = "postgres://recado@db1/recado".parse().expect("a Postgres");
        check(&options).expect("of a Postgres");
    }
}
