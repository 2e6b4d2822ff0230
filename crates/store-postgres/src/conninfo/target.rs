//! The parsed parameters of a connection.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, SslNegotiation};

use super::{Given, ParameterError, Surroundings, passfile};

const PORT: u16 = 5432;
/// Where the server's socket is: Debian's folder, else that of Postgres as it is published.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];
/// The most hosts that may be named.
const MOST_HOSTS: usize = 32;

/// Whether a connection is encrypted, and what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SslMode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// The servers that will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionAttrs {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

/// How a host is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// By its name or address.
    Name(String),
    /// By this address; the name, if there is one, is for the certificate and the password file.
    Ip(IpAddr),
    /// By the socket in this folder.
    Socket(PathBuf),
}

/// One of the hosts.
#[derive(Clone)]
pub(crate) struct Host {
    /// What messages call it, and what its certificate is checked for.
    pub(crate) name: String,
    pub(crate) address: Address,
    pub(crate) port: u16,
    pub(crate) password: Option<String>,
}

/// The root certificates that a server's certificate is checked against.
#[derive(Clone)]
#[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "is read for TLS only"))]
pub(crate) enum Roots {
    /// None: it is not checked.
    Nothing,
    /// Those of the operating system.
    System,
    /// Those of a file.
    File(PathBuf, Vec<u8>),
}

/// The versions of TLS that will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlsVersions {
    pub(crate) v12: bool,
    pub(crate) v13: bool,
}

/// A file that was read: where it is, and its bytes.
pub(crate) type ReadFile = (PathBuf, Vec<u8>);

/// Where a database is and how it is reached.
#[derive(Clone)]
#[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "is read for TLS only"))]
pub(crate) struct Target {
    pub(crate) hosts: Vec<Host>,
    pub(crate) session: SessionAttrs,
    /// Whether the hosts are tried in any order.
    pub(crate) balance: bool,
    pub(crate) mode: SslMode,
    pub(crate) roots: Roots,
    /// The revocation lists, of a file.
    pub(crate) revoked: Option<ReadFile>,
    /// The client's certificates and their key, each of a file.
    pub(crate) client: Option<[ReadFile; 2]>,
    pub(crate) versions: TlsVersions,
    /// Whether the server is told the name of the host that is meant.
    pub(crate) sni: bool,
    /// How long one attempt may take.
    pub(crate) timeout: Option<Duration>,
    /// The rest, without hosts, ports and passwords.
    pub(crate) config: Config,
}

/// Checks what can be checked without the environment.
pub(super) fn check(given: &Given) -> Result<(), ParameterError> {
    supported(given)?;
    mode(given)?;
    session(given)?;
    versions(given)?;
    config(given)?;
    addresses(given, Path::new(SOCKETS[0])).map(drop)
}

impl Target {
    /// Reads everything.
    pub(crate) fn resolve(text: &str, around: &Surroundings<'_>) -> Result<Self, ParameterError> {
        let given = Given::collect(text, around)?;
        supported(&given)?;
        let mode = mode(&given)?;
        let mut config = config(&given)?;
        let user = given.get("user").map(str::to_owned).or_else(|| around.user.clone());
        let user = user.ok_or_else(|| given.invalid("user", "is needed"))?;
        let database = given.get("dbname").unwrap_or(&user);
        config.user(&user).dbname(database);
        let sockets = SOCKETS.iter().map(Path::new).find(|path| (around.is_folder)(path));
        let mut hosts = addresses(&given, sockets.unwrap_or(Path::new(SOCKETS[0])))?;
        passwords(&given, around, &mut hosts, database, &user)?;
        Ok(Self {
            hosts,
            session: session(&given)?,
            balance: choice(&given, "load_balance_hosts", &[("disable", false), ("random", true)])?
                .unwrap_or(false),
            mode,
            roots: roots(&given, around, mode)?,
            revoked: revoked(&given, around)?,
            client: client(&given, around)?,
            versions: versions(&given)?,
            sni: switch(&given, "sslsni")?.unwrap_or(true),
            timeout: seconds(&given, "connect_timeout")?,
            config,
        })
    }
}

/// Refuses what this program cannot do and must not pass over.
fn supported(given: &Given) -> Result<(), ParameterError> {
    for (name, why) in [
        ("require_auth", "is not supported; leave it out, or use channel_binding=require"),
        ("requirepeer", "is not supported; leave it out"),
        ("sslpassword", "is not supported: give a key that is not encrypted"),
        ("sslcrldir", "is not supported: give one file as sslcrl"),
        ("sslkeylogfile", "is not supported; leave it out"),
        ("replication", "is not supported; leave it out"),
    ] {
        if given.get(name).is_some_and(|value| name != "replication" || value != "false") {
            return Err(given.unsupported(name, why));
        }
    }
    let only = |name, values: &[&str], why| match given.get(name) {
        Some(value) if !values.contains(&value) => Err(given.unsupported(name, why)),
        _ => Ok(()),
    };
    only("gssencmode", &["disable", "prefer"], "can be disable or prefer, which encrypt by TLS")?;
    only("sslcertmode", &["disable", "allow"], "can be disable or allow")?;
    only("client_encoding", &["UTF8", "utf8", "UTF-8", "utf-8", "auto"], "can be UTF8")
}

/// The value of a keyword that has few.
fn choice<T: Copy>(
    given: &Given,
    name: &'static str,
    choices: &[(&str, T)],
) -> Result<Option<T>, ParameterError> {
    let Some(value) = given.get(name) else { return Ok(None) };
    match choices.iter().find(|(text, _)| *text == value) {
        Some((_, chosen)) => Ok(Some(*chosen)),
        None => {
            let names: Vec<&str> = choices.iter().map(|(text, _)| *text).collect();
            Err(given.invalid(name, format!("must be one of {}", names.join(", "))))
        }
    }
}

fn switch(given: &Given, name: &'static str) -> Result<Option<bool>, ParameterError> {
    choice(given, name, &[("0", false), ("1", true)])
}

fn number(given: &Given, name: &'static str) -> Result<Option<u32>, ParameterError> {
    let Some(value) = given.get(name) else { return Ok(None) };
    match value.trim().parse::<i32>() {
        // As for libpq, nothing less than zero means more than zero does.
        Ok(number) => Ok(Some(u32::try_from(number).unwrap_or(0))),
        Err(_) => Err(given.invalid(name, "must be a number")),
    }
}

/// A number of seconds; 0 is none.
fn seconds(given: &Given, name: &'static str) -> Result<Option<Duration>, ParameterError> {
    let found = number(given, name)?.filter(|seconds| *seconds > 0);
    Ok(found.map(|seconds| Duration::from_secs(seconds.into())))
}

fn mode(given: &Given) -> Result<SslMode, ParameterError> {
    let modes = [
        ("disable", SslMode::Disable),
        ("allow", SslMode::Allow),
        ("prefer", SslMode::Prefer),
        ("require", SslMode::Require),
        ("verify-ca", SslMode::VerifyCa),
        ("verify-full", SslMode::VerifyFull),
    ];
    let mode = choice(given, "sslmode", &modes)?;
    let system = given.get("sslrootcert") == Some("system");
    let mode = match mode {
        None if system => SslMode::VerifyFull,
        None => SslMode::Prefer,
        Some(mode) if system && mode != SslMode::VerifyFull => {
            return Err(given.invalid("sslmode", "must be verify-full where sslrootcert is system"));
        }
        Some(mode) => mode,
    };
    let weak = matches!(mode, SslMode::Disable | SslMode::Allow | SslMode::Prefer);
    if weak && given.get("sslnegotiation") == Some("direct") {
        let must = "direct needs sslmode require, verify-ca or verify-full";
        return Err(given.invalid("sslnegotiation", must));
    }
    Ok(mode)
}

fn session(given: &Given) -> Result<SessionAttrs, ParameterError> {
    let kinds = [
        ("any", SessionAttrs::Any),
        ("read-write", SessionAttrs::ReadWrite),
        ("read-only", SessionAttrs::ReadOnly),
        ("primary", SessionAttrs::Primary),
        ("standby", SessionAttrs::Standby),
        ("prefer-standby", SessionAttrs::PreferStandby),
    ];
    Ok(choice(given, "target_session_attrs", &kinds)?.unwrap_or(SessionAttrs::Any))
}

/// Versions before 1.2 are never used.
fn versions(given: &Given) -> Result<TlsVersions, ParameterError> {
    let known = [("TLSv1", 0), ("TLSv1.1", 1), ("TLSv1.2", 2), ("TLSv1.3", 3)];
    let least = choice(given, "ssl_min_protocol_version", &known)?.unwrap_or(2);
    let most = choice(given, "ssl_max_protocol_version", &known)?.unwrap_or(3);
    if most < 2 || most < least {
        let must = "must be TLSv1.2 or TLSv1.3, and not below ssl_min_protocol_version";
        return Err(given.invalid("ssl_max_protocol_version", must));
    }
    Ok(TlsVersions { v12: least <= 2, v13: most == 3 })
}

/// What tokio-postgres reads itself.
fn config(given: &Given) -> Result<Config, ParameterError> {
    let mut config = Config::new();
    let name = given.get("application_name").or_else(|| given.get("fallback_application_name"));
    config.application_name(name.unwrap_or("recado"));
    if let Some(options) = given.get("options") {
        config.options(options);
    }
    let bindings = [
        ("disable", ChannelBinding::Disable),
        ("prefer", ChannelBinding::Prefer),
        ("require", ChannelBinding::Require),
    ];
    if let Some(binding) = choice(given, "channel_binding", &bindings)? {
        config.channel_binding(binding);
    }
    let negotiations = [("postgres", SslNegotiation::Postgres), ("direct", SslNegotiation::Direct)];
    if let Some(negotiation) = choice(given, "sslnegotiation", &negotiations)? {
        config.ssl_negotiation(negotiation);
    }
    config.keepalives(number(given, "keepalives")?.is_none_or(|on| on != 0));
    config.keepalives_idle(seconds(given, "keepalives_idle")?.unwrap_or(Duration::from_secs(30)));
    if let Some(interval) = seconds(given, "keepalives_interval")? {
        config.keepalives_interval(interval);
    }
    for name in ["keepalives_count", "keepalives_retries"] {
        if let Some(count) = number(given, name)?.filter(|count| *count > 0) {
            config.keepalives_retries(count);
        }
    }
    // Nothing is the time of the system for libpq: a quarter of an hour (R457).
    let unacknowledged = number(given, "tcp_user_timeout")?.unwrap_or(30_000);
    if unacknowledged > 0 {
        config.tcp_user_timeout(Duration::from_millis(unacknowledged.into()));
    }
    seconds(given, "connect_timeout")?;
    switch(given, "sslsni")?;
    Ok(config)
}

/// The hosts with their ports. A host that begins with a slash is a folder, where the server's
/// socket is; `sockets` is that folder where no host is named.
fn addresses(given: &Given, sockets: &Path) -> Result<Vec<Host>, ParameterError> {
    let list = |name| given.get(name).map(|text: &str| text.split(',').collect::<Vec<_>>());
    let (names, ips) = (list("host"), list("hostaddr"));
    let count = match (&names, &ips) {
        (Some(names), Some(ips)) if names.len() != ips.len() => {
            return Err(given.invalid("hostaddr", "must name as many addresses as there are hosts"));
        }
        (Some(named), _) | (None, Some(named)) => named.len(),
        (None, None) => 1,
    };
    if count > MOST_HOSTS {
        return Err(given.invalid("host", format!("may name at most {MOST_HOSTS} hosts")));
    }
    let ports = list("port").unwrap_or_default();
    if ports.len() > 1 && ports.len() != count {
        return Err(given.invalid("port", "must name one port, or as many as there are hosts"));
    }
    let at = |list: &Option<Vec<&str>>, at: usize| {
        let found: Option<&str> = list.as_ref().and_then(|list| list.get(at)).copied();
        found.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    (0..count)
        .map(|n| {
            let port = ports.get(n).or(ports.first()).map(|port| port.trim()).unwrap_or_default();
            let port = match port {
                "" => PORT,
                port => port
                    .parse()
                    .ok()
                    .filter(|port| *port > 0)
                    .ok_or_else(|| given.invalid("port", "must be a number from 1 to 65535"))?,
            };
            let (name, ip) = (at(&names, n), at(&ips, n));
            let (name, address) = match (name, ip) {
                (name, Some(ip)) => {
                    let read = ip.parse::<IpAddr>();
                    let read =
                        read.map_err(|_| given.invalid("hostaddr", "must be IP addresses"))?;
                    (name.unwrap_or(ip), Address::Ip(read))
                }
                (Some(name), None) if name.starts_with('/') => {
                    (name.clone(), Address::Socket(name.into()))
                }
                (Some(name), None) => (name.clone(), Address::Name(name)),
                (None, None) => {
                    (sockets.display().to_string(), Address::Socket(sockets.to_path_buf()))
                }
            };
            Ok(Host { name, address, port, password: None })
        })
        .collect()
}

/// Gives each host its password: the one that was given, else that of the password file.
fn passwords(
    given: &Given,
    around: &Surroundings<'_>,
    hosts: &mut [Host],
    database: &str,
    user: &str,
) -> Result<(), ParameterError> {
    if let Some(password) = given.get("password") {
        for host in hosts {
            host.password = Some(password.to_owned());
        }
        return Ok(());
    }
    let named = given.get("passfile").map(PathBuf::from);
    let is_named = named.is_some();
    let own = || around.home.as_ref().map(|home| home.join(".pgpass"));
    let Some(path) = named.or_else(own) else { return Ok(()) };
    let file = match (around.read)(&path) {
        Ok(file) => file,
        Err(_) if !is_named => return Ok(()),
        Err(error) => return Err(ParameterError::file("passfile", path, &error)),
    };
    if !file.is_private {
        tracing::warn!(
            path = %path.display(),
            "the password file is not read: others than its owner may read it; chmod 600 it"
        );
        return Ok(());
    }
    let text = String::from_utf8_lossy(&file.bytes);
    for host in hosts {
        let name = match &host.address {
            Address::Socket(folder) if SOCKETS.iter().any(|known| Path::new(known) == folder) => {
                "localhost"
            }
            _ => &host.name,
        };
        host.password = passfile::password(&text, name, host.port, database, user);
    }
    Ok(())
}

/// Reads the file of a parameter, or the one that libpq looks for in `~/.postgresql`; `None` where
/// the latter is missing.
fn file(
    given: &Given,
    around: &Surroundings<'_>,
    name: &'static str,
    own: &str,
) -> Result<Option<(PathBuf, super::FileText)>, ParameterError> {
    let (path, is_named) = match (given.get(name), &around.home) {
        (Some(path), _) => (PathBuf::from(path), true),
        (None, Some(home)) => (home.join(".postgresql").join(own), false),
        (None, None) => return Ok(None),
    };
    match (around.read)(&path) {
        Ok(read) => Ok(Some((path, read))),
        Err(error) if !is_named && error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ParameterError::file(name, path, &error)),
    }
}

fn roots(given: &Given, around: &Surroundings<'_>, mode: SslMode) -> Result<Roots, ParameterError> {
    if matches!(mode, SslMode::Disable) {
        return Ok(Roots::Nothing);
    }
    if given.get("sslrootcert") == Some("system") {
        return Ok(Roots::System);
    }
    match file(given, around, "sslrootcert", "root.crt")? {
        Some((path, read)) => Ok(Roots::File(path, read.bytes)),
        None if matches!(mode, SslMode::VerifyCa | SslMode::VerifyFull) => Err(given.invalid(
            "sslmode",
            "needs root certificates: name their file as sslrootcert, or with verify-full those \
             of the operating system as sslrootcert=system",
        )),
        None => Ok(Roots::Nothing),
    }
}

fn revoked(given: &Given, around: &Surroundings<'_>) -> Result<Option<ReadFile>, ParameterError> {
    Ok(file(given, around, "sslcrl", "root.crl")?.map(|(path, read)| (path, read.bytes)))
}

fn client(
    given: &Given,
    around: &Surroundings<'_>,
) -> Result<Option<[ReadFile; 2]>, ParameterError> {
    if given.get("sslcertmode") == Some("disable") {
        return Ok(None);
    }
    let Some((path, certificates)) = file(given, around, "sslcert", "postgresql.crt")? else {
        return Ok(None);
    };
    let Some((key_path, key)) = file(given, around, "sslkey", "postgresql.key")? else {
        return Err(given.invalid("sslcert", "needs the key of the certificate as sslkey"));
    };
    if !key.is_private {
        let why = "others than its owner may read it; chmod 600 it".to_owned();
        return Err(ParameterError::File { name: "sslkey", path: key_path, why });
    }
    Ok(Some([(path, certificates.bytes), (key_path, key.bytes)]))
}
