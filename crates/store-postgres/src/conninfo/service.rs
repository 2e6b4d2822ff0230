//! Service files: sections of parameters, each with a name.

use std::io;
use std::path::{Path, PathBuf};

use super::{Given, Origin, ParameterError, Surroundings};

/// The folder of the service file of the machine, unless `PGSYSCONFDIR` names another: Debian's.
const SYSTEM: &str = "/etc/postgresql-common";

/// Adds the parameters of the service that was named, as far as they were not given.
pub(super) fn add(given: &mut Given, around: &Surroundings<'_>) -> Result<(), ParameterError> {
    let variable = |name| (around.variable)(name).filter(|value: &String| !value.is_empty());
    let service = given.get("service").map(str::to_owned).or_else(|| variable("PGSERVICE"));
    let Some(service) = service else { return Ok(()) };
    let named = given.get("servicefile").map(str::to_owned).or_else(|| variable("PGSERVICEFILE"));
    let own = match (&named, &around.home) {
        (Some(named), _) => Some(PathBuf::from(named)),
        (None, Some(home)) => Some(home.join(".pg_service.conf")),
        (None, None) => None,
    };
    let system = variable("PGSYSCONFDIR").unwrap_or_else(|| SYSTEM.to_owned());
    let files = own.into_iter().chain([Path::new(&system).join("pg_service.conf")]);
    for (at, path) in files.enumerate() {
        let file = match (around.read)(&path) {
            Ok(file) => file,
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && !(at == 0 && named.is_some()) =>
            {
                continue;
            }
            Err(error) => return Err(ParameterError::file("servicefile", path, &error)),
        };
        let text = String::from_utf8_lossy(&file.bytes);
        let wrong = |why: String| ParameterError::Service {
            name: service.clone(),
            why: format!("in {} {why}", path.display()),
        };
        let Some(section) = section(&text, &service).map_err(wrong)? else { continue };
        for (name, value) in section {
            let origin = Origin::Service(service.clone());
            let known = given.0.keys().any(|known| *known == name);
            if !known {
                given.set(&name, value, origin)?;
            }
        }
        return Ok(());
    }
    Err(ParameterError::Service { name: service, why: "is defined in no service file".to_owned() })
}

/// The pairs of a section; the first of several with the same keyword counts.
fn section(text: &str, service: &str) -> Result<Option<Vec<(String, String)>>, String> {
    let mut found: Option<Vec<(String, String)>> = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            if name.strip_suffix(']') == Some(service) {
                found = Some(Vec::new());
            }
            continue;
        }
        let Some(pairs) = &mut found else { continue };
        let wrong = |why: &str| format!("has in line {} {why}", at + 1);
        if line.starts_with("ldap") {
            return Err(wrong("a look-up in LDAP, which is not possible here"));
        }
        let (name, value) = line.split_once('=').ok_or_else(|| wrong("no key=value"))?;
        if matches!(name, "service" | "servicefile") {
            return Err(wrong("a service within a service"));
        }
        if !pairs.iter().any(|(known, _)| known == name) {
            pairs.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# ours\n[other]\nhost=x\n\n [main] \nhost=a\n  port=5433 \n# end\n\
                        user=u v\nhost=b\n[main]\nhost=c\n[bad]\nnothing\n[nested]\nservice=main\n\
                        [ldap]\nldap://x\n";

    /// R245.
    #[test]
    fn a_section_ends_where_the_next_begins_and_its_first_values_count() {
        let main = section(FILE, "main").unwrap().unwrap();
        let main: Vec<_> = main.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(main, [("host", "a"), ("port", "5433"), ("user", "u v")]);
        assert_eq!(section(FILE, "none").unwrap(), None);
    }

    /// R245.
    #[test]
    fn a_section_that_cannot_be_read_is_refused_with_its_line() {
        assert!(section(FILE, "bad").unwrap_err().contains("line 14"));
        assert!(section(FILE, "nested").unwrap_err().contains("within"));
        assert!(section(FILE, "ldap").unwrap_err().contains("LDAP"));
    }
}
