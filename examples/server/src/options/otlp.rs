//! Where traces go.

use std::ffi::OsString;

use super::Options;
use super::values::read_base_url;

/// The variable that OpenTelemetry's own programs read.
#[cfg(feature = "otlp")]
const ENV: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The base URL of a collector; nothing means none. A build that exports no traces refuses any.
///
/// R313.
pub(super) fn read_endpoint(text: &str) -> Result<Option<String>, String> {
    read_in(cfg!(feature = "otlp"), text)
}

/// The same in a build that exports traces or does not.
fn read_in(exports: bool, text: &str) -> Result<Option<String>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    if !exports {
        return Err("names a collector, and this build exports no traces; build with \
                    --features otlp"
            .to_owned());
    }
    read_base_url(text).map(Some)
}

/// Takes the endpoint that the environment names for programs of any kind, where the option itself
/// is not given. A build that exports no traces does not look.
///
/// R313.
#[cfg(feature = "otlp")]
pub(super) fn of_environment(
    options: &mut Options,
    env: impl Fn(&str) -> Option<OsString>,
) -> Result<(), String> {
    let Some(value) = env(ENV) else { return Ok(()) };
    let text = value.into_string().map_err(|_| format!("{ENV} is not UTF-8"))?;
    options.otlp_endpoint = read_endpoint(&text).map_err(|problem| format!("{ENV} {problem}"))?;
    Ok(())
}

#[cfg(not(feature = "otlp"))]
pub(super) fn of_environment(
    _: &mut Options,
    _: impl Fn(&str) -> Option<OsString>,
) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Layer, resolve};
    use super::*;

    const OPTION: &str = "otlp-endpoint";

    fn read(flag: Option<&str>, env: &[(&str, &str)]) -> Result<Option<String>, String> {
        let flags: Layer = flag.map(|value| (OPTION, value.to_owned())).into_iter().collect();
        let env = |name: &str| {
            let found = env.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let read = resolve(Options::default(), &flags, None, env);
        read.map(|options| options.otlp_endpoint).map_err(|error| error.to_string())
    }

    /// R313.
    #[test]
    fn a_build_without_traces_refuses_a_collector() {
        let refusal = read_in(false, "http://127.0.0.1:4318").expect_err("not in this build");
        assert!(refusal.contains("--features otlp"), "{refusal}");
        assert_eq!(read_in(false, ""), Ok(None));
    }

    /// R313.
    #[cfg(feature = "otlp")]
    #[test]
    fn the_option_counts_before_the_variable_of_all_programs() {
        let everywhere = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://everywhere:4318/");
        let ours = ("RECADO_OTLP_ENDPOINT", "https://ours.example/otlp");
        let some = |url: &str| Ok(Some(url.to_owned()));
        assert_eq!(read(None, &[]), Ok(None));
        assert_eq!(read(None, &[everywhere]), some("http://everywhere:4318"));
        assert_eq!(read(None, &[everywhere, ours]), some("https://ours.example/otlp"));
        assert_eq!(read(Some("http://a"), &[everywhere, ours]), some("http://a"));
        assert_eq!(read(Some(""), &[everywhere]), Ok(None), "given, and none");
        for (wrong, name) in [
            (read(Some("a:4318"), &[]), "--otlp-endpoint"),
            (read(None, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "a:4318")]), "OTEL_EXPORTER_OTLP_"),
            (read(Some("http://key@a"), &[]), "--otlp-endpoint"),
        ] {
            let wrong = wrong.expect_err("no base URL");
            assert!(wrong.contains(name) && wrong.contains("base URL"), "{wrong}");
        }
    }
}
