//! What is checked of a server's certificate, by `sslmode` (R246).

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::{ParsedCertificate, VerifierBuilderError};
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};

/// Checks certificates as far as a mode asks for it. That the server holds the key of its
/// certificate is always checked.
#[derive(Debug)]
pub(super) struct Verifier {
    chain: Option<Chain>,
    algorithms: WebPkiSupportedAlgorithms,
}

/// Checks that a certificate comes from one of the roots.
#[derive(Debug)]
struct Chain {
    by_roots: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
    /// Whether the host's name must be in it.
    checks_name: bool,
}

impl Verifier {
    /// Takes any certificate.
    pub(super) fn of_nothing(provider: &CryptoProvider) -> Self {
        Self { chain: None, algorithms: provider.signature_verification_algorithms }
    }

    /// Takes certificates that come from these roots and are not in these lists. Where a root has
    /// no list, nothing of it counts as revoked, as for libpq.
    pub(super) fn of_roots(
        provider: &Arc<CryptoProvider>,
        store: RootCertStore,
        roots: Vec<CertificateDer<'static>>,
        lists: Vec<CertificateRevocationListDer<'static>>,
        checks_name: bool,
    ) -> Result<Self, VerifierBuilderError> {
        let builder =
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone());
        let by_roots = builder.with_crls(lists).allow_unknown_revocation_status().build()?;
        Ok(Self {
            chain: Some(Chain { by_roots, roots, checks_name }),
            algorithms: provider.signature_verification_algorithms,
        })
    }
}

impl Chain {
    fn verify(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: UnixTime,
    ) -> Result<(), Error> {
        let verified =
            self.by_roots.verify_server_cert(certificate, between, name, response, now).map(drop);
        match verified {
            // The name is looked at after the rest.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(()),
            // The usual self-signed certificate may sign others too, which the chain's rules forbid
            // a server's certificate. It is trusted because it is one of the roots itself.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if self.roots.iter().any(|root| root == certificate) =>
            {
                if self.checks_name {
                    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                }
                Ok(())
            }
            other => other,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(chain) = &self.chain {
            chain.verify(certificate, between, name, response, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match verify_tls13_signature(message, certificate, signed, &self.algorithms) {
            // Old tools make certificates of version 1. Only the key is needed here.
            Err(Error::InvalidCertificate(
                CertificateError::Other(_) | CertificateError::BadEncoding,
            )) if self.chain.is_none() => {
                let key = public_key(certificate).ok_or(CertificateError::BadEncoding)?;
                verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
            }
            other => other,
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

fn public_key(certificate: &CertificateDer<'_>) -> Option<SubjectPublicKeyInfoDer<'static>> {
    let parsed = Certificate::from_der(certificate).ok()?;
    let key = parsed.tbs_certificate.subject_public_key_info.to_der().ok()?;
    Some(SubjectPublicKeyInfoDer::from(key))
}
