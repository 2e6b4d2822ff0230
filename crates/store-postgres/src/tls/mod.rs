//! Encrypted connections, by rustls.

mod verifier;

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion, version};
use tokio_postgres::config::SslNegotiation;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::conninfo::{ParameterError, Roots, SslMode, Target};
use verifier::Verifier;

/// The connector for a target, with its files read; `None` where nothing is encrypted.
pub(crate) fn connector(target: &Target) -> Result<Option<MakeRustlsConnect>, ParameterError> {
    if target.mode == SslMode::Disable {
        return Ok(None);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let known: [(&SupportedProtocolVersion, bool); 2] =
        [(&version::TLS13, target.versions.v13), (&version::TLS12, target.versions.v12)];
    let versions: Vec<_> = known.iter().filter(|(_, used)| *used).map(|(v, _)| *v).collect();
    let verifier = verifier(target, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions)
        .map_err(|error| wrong("sslmode", Path::new(""), error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match &target.client {
        None => builder.with_no_client_auth(),
        Some([(path, certificates), (key_path, key)]) => {
            let chain = certificates_of("sslcert", path, certificates)?;
            let key = PrivateKeyDer::from_pem_slice(key)
                .map_err(|_| wrong("sslkey", key_path, "it holds no key that is not encrypted"))?;
            builder.with_client_auth_cert(chain, key).map_err(|e| wrong("sslkey", key_path, e))?
        }
    };
    config.enable_sni = target.sni;
    if target.config.get_ssl_negotiation() == SslNegotiation::Direct {
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    Ok(Some(MakeRustlsConnect::new(config)))
}

/// What checks the server's certificate: nothing, its chain, or its chain and the host's name.
fn verifier(target: &Target, provider: &Arc<CryptoProvider>) -> Result<Verifier, ParameterError> {
    let (path, certificates) = match &target.roots {
        Roots::Nothing => return Ok(Verifier::of_nothing(provider)),
        Roots::System => {
            let found = rustls_native_certs::load_native_certs();
            for error in &found.errors {
                tracing::warn!(%error, "a root certificate of the operating system cannot be read");
            }
            (Path::new("system"), found.certs)
        }
        Roots::File(path, text) => (path.as_path(), certificates_of("sslrootcert", path, text)?),
    };
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(certificates.iter().cloned());
    if usable == 0 {
        return Err(wrong("sslrootcert", path, "it holds no root certificate of version 3"));
    }
    let (list_path, lists) = match &target.revoked {
        None => (path, Vec::new()),
        Some((path, text)) => {
            let lists =
                CertificateRevocationListDer::pem_slice_iter(text).collect::<Result<_, _>>();
            (path.as_path(), lists.map_err(|error| wrong("sslcrl", path, error))?)
        }
    };
    let checks_name = target.mode == SslMode::VerifyFull;
    Verifier::of_roots(provider, roots, certificates, lists, checks_name)
        .map_err(|error| wrong("sslcrl", list_path, error))
}

fn certificates_of(
    name: &'static str,
    path: &Path,
    text: &[u8],
) -> Result<Vec<CertificateDer<'static>>, ParameterError> {
    let read = CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>();
    match read {
        Ok(read) if !read.is_empty() => Ok(read),
        Ok(_) => Err(wrong(name, path, "it holds no certificate in PEM")),
        Err(error) => Err(wrong(name, path, error)),
    }
}

fn wrong(name: &'static str, path: &Path, why: impl std::fmt::Display) -> ParameterError {
    ParameterError::File { name, path: path.to_path_buf(), why: why.to_string() }
}
