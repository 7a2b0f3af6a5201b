//! TLS to the database, as libpq's `sslmode` has it: encrypted only, the chain checked, or the
//! host's name too.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connect::OpenError;

/// What is checked of the database's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checks {
    /// That it has the key of the certificate it shows, whatever that is.
    Nothing,
    /// That a known authority signed it.
    Chain,
    /// That it is the host's too.
    Name,
}

/// Whose signatures count.
#[derive(Debug)]
pub(super) enum Roots {
    /// The system's, when anything is checked.
    Unnamed,
    /// The system's.
    System,
    /// Those in a file.
    File(PathBuf),
}

/// What a URL says of TLS.
#[derive(Debug)]
pub(super) struct Tls {
    pub(super) mode: SslMode,
    pub(super) checks: Checks,
    pub(super) roots: Roots,
    /// The server's own certificate and key, when the database asks for one.
    pub(super) own: Option<(PathBuf, PathBuf)>,
}

impl Tls {
    /// Reads the files that are named and makes the way to speak TLS.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, OpenError> {
        let provider = Arc::new(ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match self.checks {
            Checks::Nothing => Arc::new(Lenient { provider: Arc::clone(&provider), inner: None }),
            Checks::Chain => Arc::new(Lenient {
                inner: Some(self.strict(&provider)?),
                provider: Arc::clone(&provider),
            }),
            Checks::Name => self.strict(&provider)?,
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| fault("no protocol version", &error))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = match &self.own {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates("sslcert", certificate)?;
                let key = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| fault("sslkey is no private key in PEM", &error))?;
                config
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| fault("sslcert and sslkey do not fit", &error))?
            }
        };
        Ok(MakeRustlsConnect::new(config))
    }

    fn strict(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<WebPkiServerVerifier>, OpenError> {
        let mut roots = RootCertStore::empty();
        match &self.roots {
            Roots::File(path) => {
                for certificate in certificates("sslrootcert", path)? {
                    roots
                        .add(certificate)
                        .map_err(|error| fault("sslrootcert holds no usable root", &error))?;
                }
            }
            Roots::Unnamed | Roots::System => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| fault("there is no root certificate to check with", &error))
    }
}

fn certificates(
    option: &str,
    path: &std::path::Path,
) -> Result<Vec<CertificateDer<'static>>, OpenError> {
    let what = format!("{option} is no file of certificates in PEM: {}", path.display());
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| fault(&what, &error))?;
    if certificates.is_empty() {
        return Err(fault(&what, &"it holds none"));
    }
    Ok(certificates)
}

fn fault(what: &str, cause: &dyn std::fmt::Display) -> OpenError {
    OpenError::Tls(format!("{what}: {cause}"))
}

/// Checks the chain and not the name, or, without `inner`, neither. The database must have the key
/// of what it shows either way.
#[derive(Debug)]
struct Lenient {
    inner: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        // The name is looked at last: whoever fails by it has passed by everything else.
        match inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
