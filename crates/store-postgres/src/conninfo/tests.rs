//! The parameters of a connection, with an environment and files that are made up.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::*;

/// Variables, and files with their text.
#[derive(Default)]
struct World {
    variables: BTreeMap<&'static str, &'static str>,
    files: BTreeMap<&'static str, &'static str>,
    /// Files that others may read.
    open: Vec<&'static str>,
}

impl World {
    fn new(
        variables: impl IntoIterator<Item = (&'static str, &'static str)>,
        files: impl IntoIterator<Item = (&'static str, &'static str)>,
    ) -> Self {
        let (variables, files) = (variables.into_iter().collect(), files.into_iter().collect());
        Self { variables, files, open: Vec::new() }
    }

    fn resolve(&self, text: &str) -> Result<Target, ParameterError> {
        let read = |path: &Path| {
            let path = path.to_str().expect("UTF-8");
            let text = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
            let is_private = !self.open.contains(&path);
            Ok(FileText { bytes: text.as_bytes().to_vec(), is_private })
        };
        Target::resolve(
            text,
            &Surroundings {
                variable: &|name| self.variables.get(name).map(|value| (*value).to_owned()),
                read: &read,
                is_folder: &|path| path == Path::new("/var/run/postgresql"),
                home: Some(PathBuf::from("/home/me")),
                user: Some("me".to_owned()),
            },
        )
    }
}

fn alone(text: &str) -> Result<Target, ParameterError> {
    World::default().resolve(text)
}

fn user(target: &Target) -> (&str, &str) {
    (target.config.get_user().unwrap(), target.config.get_dbname().unwrap())
}

fn refusal(found: Result<Target, ParameterError>) -> String {
    match found {
        Ok(_) => panic!("it is refused"),
        Err(error) => error.to_string(),
    }
}

/// R245.
#[test]
fn without_anything_it_is_the_local_socket_and_the_own_name() {
    let target = alone("postgres://").unwrap();
    assert_eq!(user(&target), ("me", "me"));
    assert_eq!(target.hosts.len(), 1);
    assert_eq!(target.hosts[0].address, Address::Socket("/var/run/postgresql".into()));
    assert_eq!((target.hosts[0].port, target.mode), (5432, SslMode::Prefer));
    assert_eq!(target.session, SessionAttrs::Any);
    assert_eq!(target.config.get_application_name(), Some("recado"));
}

/// R245.
#[test]
fn a_value_comes_from_the_text_then_the_service_then_the_environment() {
    let service = ("/home/me/.pg_service.conf", "[s]\nhost=service\nport=2\nuser=service\n");
    let variables = [
        ("PGHOST", "env"),
        ("PGPORT", "1"),
        ("PGUSER", "env"),
        ("PGDATABASE", "env"),
        ("PGSERVICE", "s"),
    ];
    let target = World::new(variables, [service]).resolve("postgres://text@").unwrap();
    assert_eq!(user(&target), ("text", "env"));
    assert_eq!(target.hosts[0].name, "service");
    assert_eq!(target.hosts[0].port, 2);
}

/// R245.
#[test]
fn a_service_is_looked_for_in_the_named_file_or_the_own_then_in_that_of_the_machine() {
    let files = [
        ("/etc/postgresql-common/pg_service.conf", "[s]\nhost=machine\n"),
        ("/named", "[other]\nhost=named\n[s]\nhost=named\n"),
        ("/conf/pg_service.conf", "[s]\nhost=folder\n"),
        ("/home/me/.pg_service.conf", "[x]\nhost=own\n"),
    ];
    let host = |variables: &[(&'static str, &'static str)], text: &str| {
        World::new(variables.iter().copied(), files).resolve(text).map(|t| t.hosts[0].name.clone())
    };
    assert_eq!(host(&[], "postgres://?service=s").unwrap(), "machine");
    assert_eq!(host(&[], "service=x").unwrap(), "own");
    assert_eq!(host(&[("PGSERVICEFILE", "/named")], "service=s").unwrap(), "named");
    assert_eq!(host(&[], "service=s servicefile=/named").unwrap(), "named");
    assert_eq!(host(&[("PGSYSCONFDIR", "/conf")], "service=s").unwrap(), "folder");
    for (variables, text) in
        [(&[][..], "service=none"), (&[("PGSERVICEFILE", "/gone")][..], "service=s")]
    {
        assert!(host(variables, text).is_err(), "{text}");
    }
}

/// R245.
#[test]
fn the_password_file_is_asked_for_each_host_unless_a_password_was_given() {
    let passwords = ("/home/me/.pgpass", "a:5432:d:u:one\nb:*:*:u:two\nlocalhost:*:*:*:three\n");
    let mut world = World::new([], [passwords]);
    let found = |world: &World, text: &str| {
        let target = world.resolve(text).unwrap();
        target.hosts.iter().map(|host| host.password.clone()).collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(found(&world, "postgres://u@a,b:7,c/d"), [some("one"), some("two"), None]);
    assert_eq!(found(&world, "postgres://u:own@a/d"), [some("own")]);
    assert_eq!(found(&world, "user=u dbname=d"), [some("three")]);
    world.variables.insert("PGPASSWORD", "env");
    assert_eq!(found(&world, "postgres://u@a/d"), [some("env")]);
    world.variables.clear();
    world.open.push("/home/me/.pgpass");
    assert_eq!(found(&world, "postgres://u@a/d"), [None], "others may read it");
    world.variables.insert("PGPASSFILE", "/gone");
    assert!(refusal(world.resolve("postgres://u@a/d")).contains("passfile"));
}

/// R245.
#[test]
fn several_hosts_have_their_ports_and_addresses() {
    let target = alone("host=a,/s,c hostaddr=,,::1 port=1,,3").unwrap();
    let found: Vec<_> =
        target.hosts.iter().map(|h| (h.name.as_str(), h.address.clone(), h.port)).collect();
    assert_eq!(
        found,
        [
            ("a", Address::Name("a".to_owned()), 1),
            ("/s", Address::Socket("/s".into()), 5432),
            ("c", Address::Ip("::1".parse().unwrap()), 3),
        ]
    );
    let target = alone("host=a,b port=7").unwrap();
    assert!(target.hosts.iter().all(|host| host.port == 7));
    for text in
        ["host=a,b hostaddr=1.1.1.1", "host=a,b,c port=1,2", "port=0", "port=x", "hostaddr=a"]
    {
        refusal(alone(text));
    }
}

/// R246.
#[test]
fn root_certificates_are_needed_only_where_they_are_verified() {
    let with = |mode: &str| alone(&format!("host=h sslmode={mode}"));
    for mode in ["disable", "allow", "prefer", "require"] {
        assert!(matches!(with(mode).unwrap().roots, Roots::Nothing), "{mode}");
    }
    for mode in ["verify-ca", "verify-full"] {
        assert!(refusal(with(mode)).contains("sslrootcert"), "{mode}");
    }
    // As for libpq, a file in the usual place is used by every mode that encrypts.
    let world = World::new([], [("/home/me/.postgresql/root.crt", "x")]);
    assert!(matches!(world.resolve("sslmode=require").unwrap().roots, Roots::File(..)));
    assert!(matches!(world.resolve("sslmode=disable").unwrap().roots, Roots::Nothing));
    let system = alone("sslrootcert=system").unwrap();
    assert!(matches!((system.mode, system.roots), (SslMode::VerifyFull, Roots::System)));
    assert!(refusal(alone("sslrootcert=system sslmode=require")).contains("sslmode"));
    assert!(refusal(alone("sslrootcert=/gone")).contains("/gone"));
}

/// R246.
#[test]
fn a_client_certificate_needs_a_key_that_nobody_else_reads() {
    let files = [("/c.crt", "c"), ("/c.key", "k")];
    let mut world = World::new([("PGSSLCERT", "/c.crt")], files);
    assert!(refusal(world.resolve("")).contains("sslkey"));
    assert!(world.resolve("sslkey=/c.key").unwrap().client.is_some());
    assert!(world.resolve("sslcertmode=disable").unwrap().client.is_none());
    world.open.push("/c.key");
    assert!(refusal(world.resolve("sslkey=/c.key")).contains("chmod 600"));
}

/// R245: a refusal names the parameter and where it was given, and repeats no value.
#[test]
fn what_is_wrong_is_named_with_its_origin() {
    let world = |name, value| World::new([(name, value)], []);
    for (found, names) in [
        (alone("sslmode=geheim"), ["sslmode", "database URL"]),
        (world("PGSSLMODE", "geheim").resolve(""), ["sslmode", "PGSSLMODE"]),
        (alone("target_session_attrs=geheim"), ["target_session_attrs", "prefer-standby"]),
        (alone("channel_binding=geheim"), ["channel_binding", "require"]),
        (alone("connect_timeout=geheim"), ["connect_timeout", "number"]),
        (alone("postgres://h:geheim"), ["port", "number"]),
        (alone("postgres://h?nonsense=geheim"), ["nonsense", "no parameter"]),
        (world("PGREQUIREAUTH", "geheim").resolve(""), ["require_auth", "PGREQUIREAUTH"]),
        (alone("gssencmode=require"), ["gssencmode", "TLS"]),
        (alone("sslnegotiation=direct"), ["sslnegotiation", "require"]),
        (alone("ssl_max_protocol_version=TLSv1.1"), ["ssl_max_protocol_version", "TLSv1.2"]),
    ] {
        let text = refusal(found);
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
        assert!(!text.contains("geheim"), "{text}");
    }
    let service = ("/home/me/.pg_service.conf", "[s]\nnonsense=geheim\n");
    let text = refusal(World::new([], [service]).resolve("service=s"));
    assert!(text.contains("nonsense") && text.contains("\"s\""), "{text}");
}

/// R245.
#[test]
fn an_address_is_checked_by_itself_before_its_environment_is_read() {
    ConnectionParameters::check("postgres://a@b/c?sslmode=verify-full").unwrap();
    ConnectionParameters::check("postgres://?service=anything").unwrap();
    for text in ["postgres://b:x/c", "postgres://b?sslmode=x", "postgres://b?x=y"] {
        assert!(ConnectionParameters::check(text).is_err(), "{text}");
    }
}

recado_testkit::property! {
    /// R245: whatever the text is, reading it ends, and what is read of a written URL is what was
    /// written.
    async fn a_url_that_was_written_is_read_as_it_was(
        user in "[a-zA-Z0-9:/@%? é]{1,12}",
        password in "[a-zA-Z0-9:/@%? é]{1,12}",
        noise in "\\PC{0,40}",
    ) {
        let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let url = format!("postgres://{}:{}@h/d", encode(&user), encode(&password));
        let target = alone(&url).unwrap();
        assert_eq!(target.config.get_user(), Some(user.as_str()));
        assert_eq!(target.hosts[0].password.as_deref(), Some(password.as_str()));
        let _ = alone(&noise);
        let _ = alone(&format!("postgres://{noise}"));
    }
}
