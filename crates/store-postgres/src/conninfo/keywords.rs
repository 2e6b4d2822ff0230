//! The keywords of libpq, with their environment variables.

/// A keyword.
pub(super) struct Keyword {
    pub(super) name: &'static str,
    pub(super) variable: Option<&'static str>,
}

const fn both(name: &'static str, variable: &'static str) -> Keyword {
    Keyword { name, variable: Some(variable) }
}

const fn only(name: &'static str) -> Keyword {
    Keyword { name, variable: None }
}

/// The keywords that libpq 18 knows, and `keepalives_retries`, which earlier releases read.
pub(super) const KEYWORDS: &[Keyword] = &[
    both("service", "PGSERVICE"),
    both("servicefile", "PGSERVICEFILE"),
    both("host", "PGHOST"),
    both("hostaddr", "PGHOSTADDR"),
    both("port", "PGPORT"),
    both("dbname", "PGDATABASE"),
    both("user", "PGUSER"),
    both("password", "PGPASSWORD"),
    both("passfile", "PGPASSFILE"),
    both("options", "PGOPTIONS"),
    both("application_name", "PGAPPNAME"),
    only("fallback_application_name"),
    both("client_encoding", "PGCLIENTENCODING"),
    both("connect_timeout", "PGCONNECT_TIMEOUT"),
    both("target_session_attrs", "PGTARGETSESSIONATTRS"),
    both("load_balance_hosts", "PGLOADBALANCEHOSTS"),
    both("channel_binding", "PGCHANNELBINDING"),
    both("require_auth", "PGREQUIREAUTH"),
    both("requirepeer", "PGREQUIREPEER"),
    both("sslmode", "PGSSLMODE"),
    both("sslnegotiation", "PGSSLNEGOTIATION"),
    both("sslrootcert", "PGSSLROOTCERT"),
    both("sslcert", "PGSSLCERT"),
    both("sslkey", "PGSSLKEY"),
    only("sslpassword"),
    both("sslcertmode", "PGSSLCERTMODE"),
    both("sslcrl", "PGSSLCRL"),
    both("sslcrldir", "PGSSLCRLDIR"),
    both("sslsni", "PGSSLSNI"),
    both("sslcompression", "PGSSLCOMPRESSION"),
    both("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION"),
    both("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION"),
    only("sslkeylogfile"),
    both("gssencmode", "PGGSSENCMODE"),
    both("gssdelegation", "PGGSSDELEGATION"),
    both("gsslib", "PGGSSLIB"),
    both("krbsrvname", "PGKRBSRVNAME"),
    both("min_protocol_version", "PGMINPROTOCOLVERSION"),
    both("max_protocol_version", "PGMAXPROTOCOLVERSION"),
    only("replication"),
    only("tcp_user_timeout"),
    only("keepalives"),
    only("keepalives_idle"),
    only("keepalives_interval"),
    only("keepalives_count"),
    only("keepalives_retries"),
];
