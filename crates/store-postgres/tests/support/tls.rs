//! Certificates, and servers that have them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer,
    KeyIdMethod, KeyPair, RevokedCertParams, SerialNumber, date_time_ymd,
};
use recado_core::store::StoreError;
use recado_store_postgres::{Options, PostgresStore};
use recado_testkit::postgres::{Cluster, OwnPostgres};

/// Who may come how: `recado` anyhow, `tlsonly` encrypted, `plainonly` not encrypted, `withcert`
/// with a certificate in this name.
const RULES: &str = "\
local all all trust
host all postgres 127.0.0.1/32 trust
host all recado 127.0.0.1/32 scram-sha-256
hostssl all tlsonly 127.0.0.1/32 scram-sha-256
hostnossl all plainonly 127.0.0.1/32 scram-sha-256
hostssl all withcert 127.0.0.1/32 scram-sha-256 clientcert=verify-full
";
const USERS: &str = "\
SET password_encryption = 'scram-sha-256';
CREATE ROLE recado LOGIN PASSWORD 'geheim'; CREATE ROLE tlsonly LOGIN PASSWORD 'geheim';
CREATE ROLE plainonly LOGIN PASSWORD 'geheim'; CREATE ROLE withcert LOGIN PASSWORD 'geheim'";

/// A certificate with its key, as PEM.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

/// An authority that signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub certificate: String,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = named(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    pub fn sign(&self, name: &str, hosts: &[&str]) -> Pair {
        self.sign_params(named(name, hosts))
    }

    /// Signs a certificate with this serial number.
    pub fn sign_numbered(&self, name: &str, hosts: &[&str], serial: u64) -> Pair {
        let mut params = named(name, hosts);
        params.serial_number = Some(SerialNumber::from(serial));
        self.sign_params(params)
    }

    fn sign_params(&self, params: CertificateParams) -> Pair {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Pair { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    /// A list that revokes the certificate with this serial number, as PEM.
    pub fn revoke(&self, serial: u64) -> String {
        let revoked = RevokedCertParams {
            serial_number: SerialNumber::from(serial),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(2100, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: vec![revoked],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).expect("a list").pem().expect("PEM")
    }
}

/// A certificate that nobody else signed; `authority` makes it one that could sign others.
pub fn self_signed(hosts: &[&str], authority: bool) -> Pair {
    let mut params = named("server", hosts);
    if authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    } else {
        params.is_ca = IsCa::ExplicitNoCa;
    }
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate").pem();
    Pair { certificate, key: key.serialize_pem() }
}

fn named(name: &str, hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(hosts).expect("names");
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// A server with these certificates, which knows the users.
pub fn server(pair: &Pair, clients: Option<&Authority>) -> OwnPostgres {
    let mut cluster = Cluster::fresh("recado-tls")
        .with_file("server.crt", &pair.certificate)
        .with_file("server.key", &pair.key)
        .with_file("pg_hba.conf", RULES)
        .with_setting("ssl", "on");
    if let Some(authority) = clients {
        cluster = cluster
            .with_file("root.crt", &authority.certificate)
            .with_setting("ssl_ca_file", "root.crt");
    }
    let server = cluster.start();
    server.execute(USERS);
    server
}

/// A folder for the files of a client.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("recado-client-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("it can be made");
        Self(path)
    }

    /// Writes a file that only its owner can read, and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("it can be written");
        let done = Command::new("chmod").arg("600").arg(&path).status();
        assert!(done.expect("there is a chmod").success());
        path.to_str().expect("UTF-8").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A store that connected, and the name by which its connections are known.
pub struct Connected {
    pub store: PostgresStore,
    pub name: String,
}

/// Connects with these pairs, once.
pub async fn connect(pairs: &str) -> Result<Connected, StoreError> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("test {}", COUNT.fetch_add(1, Ordering::Relaxed));
    let text = format!("dbname=postgres {pairs} application_name='{name}'");
    let options = Options { pool_size: 1, ..Options::default() };
    let store = PostgresStore::connect(&text, options).await?;
    Ok(Connected { store, name })
}

/// Which connections of this name a server has, and whether each is encrypted.
pub async fn encrypted(server: &OwnPostgres, name: &str) -> Vec<bool> {
    let url = format!(
        "host={} port={} user=postgres dbname=postgres",
        server.sockets().display(),
        server.port()
    );
    let client = super::connect(&url).await;
    let sql = "SELECT s.ssl FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) \
               WHERE a.application_name = $1";
    let rows = client.query(sql, &[&name]).await.expect("it can be asked");
    rows.iter().map(|row| row.get(0)).collect()
}

/// Connects, and says whether it is encrypted, or what the error says.
pub async fn attempt(server: &OwnPostgres, pairs: &str) -> Result<bool, String> {
    match connect(&format!("port={} {pairs}", server.port())).await {
        Ok(connected) => Ok(encrypted(server, &connected.name).await[0]),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            Err(format!("{error}: {}", cause.unwrap_or_default()))
        }
    }
}
