//! The NATS servers that notify other processes (R463).

use recado_core::secret::SecretText;

use super::{DatabaseLocation, Options};

/// The addresses of servers; nothing means none. A build that knows no NATS refuses any.
///
/// R463.
pub(super) fn read_servers(text: &str) -> Result<Option<SecretText>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    #[cfg(feature = "nats")]
    {
        let checked = text.parse::<recado_runtime::nats::NatsServers>();
        checked.map(|_| Some(SecretText::new(text))).map_err(|error| error.to_string())
    }
    #[cfg(not(feature = "nats"))]
    Err("names servers, and this build has no NATS; build with --features nats".to_owned())
}

/// The subject of notifications.
pub(super) fn read_subject(text: &str) -> Result<String, String> {
    #[cfg(feature = "nats")]
    {
        let checked = text.parse::<recado_runtime::nats::NatsSubject>();
        checked.map_err(|error| error.to_string())?;
    }
    Ok(text.to_owned())
}

/// What the options say together.
pub(super) fn check(options: &Options) -> Result<(), String> {
    match (&options.nats, &options.database) {
        (Some(_), DatabaseLocation::Sqlite(_)) => Err("--nats goes with a --database on Postgres \
             only: one process uses an SQLite file, and it has no other to notify"
            .to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layer, resolve};
    use super::*;

    const POSTGRES: (&str, &str) = ("database", "postgres://recado@db1/recado");

    fn read(pairs: &[(&'static str, &str)]) -> Result<Options, String> {
        let flags: Layer = pairs.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        resolve(Options::default(), &flags, None, |_| None).map_err(|error| error.to_string())
    }

    /// R463.
    #[cfg(not(feature = "nats"))]
    #[test]
    fn a_build_without_nats_refuses_it_by_name() {
        let refusal = read(&[POSTGRES, ("nats", "nats://n1")]).expect_err("not here");
        assert!(refusal.contains("--nats") && refusal.contains("--features nats"), "{refusal}");
        assert!(read(&[("nats", " ")]).expect("none").nats.is_none());
    }

    /// R463.
    #[cfg(feature = "nats")]
    #[test]
    fn only_processes_on_a_postgres_notify_each_other() {
        let nats = ("nats", "nats://recado:hunter2@n1:4222,nats://n2:4222");
        let options = read(&[POSTGRES, nats]).expect("valid");
        assert!(options.nats.is_some() && options.nats_subject == "recado.deliveries");
        assert!(!format!("{options:?}").contains("hunter2"));
        let refusal = read(&[("database", "sqlite:a.db"), nats]).expect_err("of a file");
        assert!(refusal.contains("on Postgres only") && !refusal.contains("hunter2"), "{refusal}");
    }

    /// R463.
    #[cfg(feature = "nats")]
    #[test]
    fn wrong_servers_and_subjects_are_refused_without_their_passwords() {
        for (wrong, name) in [
            (("nats", "http://recado:hunter2@n1"), "--nats"),
            (("nats", "nats://recado:hunter2@n1/x"), "--nats"),
            (("nats-subject", "recado.*"), "--nats-subject"),
            (("nats-subject", "recado deliveries"), "--nats-subject"),
            (("nats-subject", ""), "--nats-subject"),
        ] {
            let refusal = read(&[POSTGRES, wrong]).expect_err(name);
            assert!(refusal.contains(name) && !refusal.contains("hunter2"), "{refusal}");
        }
    }
}
