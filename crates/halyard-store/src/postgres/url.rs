//! The database URL: `postgres://user:password@host:port/database?option=value&…`, as libpq reads
//! it. What is wrong is told by its part and never by its text, which may be of a password.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::connect::OpenError;
use super::tls::{Checks, Roots, Tls};

/// How long one address may take to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that nothing came over for this long is asked whether it is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(20);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;
/// What was sent and stays unacknowledged for this long breaks the connection.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(30);

const APPLICATION_NAME: &str = "halyard";

/// Options that the driver reads.
const DRIVER_OPTIONS: &[&str] = &[
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "password",
    "port",
    "sslnegotiation",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];
/// Options that are read here.
const TLS_OPTIONS: &[&str] = &["sslcert", "sslkey", "sslmode", "sslrootcert"];

/// Where the database is and how it is spoken to.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) config: Config,
    pub(super) tls: Tls,
}

impl Target {
    /// Reads a URL.
    pub(super) fn parse(url: &str) -> Result<Self, OpenError> {
        let after = ["postgres://", "postgresql://"]
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
            .ok_or_else(|| fault("must begin with postgres://"))?;
        if url.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(fault("must not hold spaces or line breaks: write a space as %20"));
        }
        let (place, options) = after.split_once('?').unwrap_or((after, ""));
        check_place(place)?;
        let mut given = TlsOptions::default();
        let mut driver = format!("postgres://{place}");
        for (number, option) in (1..).zip(options.split('&').filter(|option| !option.is_empty())) {
            let (key, value) = option.split_once('=').ok_or_else(|| unknown(number))?;
            if TLS_OPTIONS.contains(&key) {
                given.take(key, value)?;
            } else if DRIVER_OPTIONS.contains(&key) {
                driver.push(if driver.contains('?') { '&' } else { '?' });
                driver.push_str(option);
            } else {
                return Err(unknown(number));
            }
        }
        // What the driver says may quote the text.
        let mut config: Config = driver.parse().map_err(|_| {
            fault("has an option whose value cannot be read, or a name with a wrong % in it")
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(fault("names no host"));
        }
        let tls = given.tls()?;
        config.ssl_mode(tls.mode);
        settle(&mut config);
        Ok(Self { config, tls })
    }

    /// The place as logs and errors name it: without password.
    pub(super) fn place(&self) -> String {
        let ports = self.config.get_ports();
        let port = |at: usize| ports.get(at).or_else(|| ports.first()).copied().unwrap_or(5432);
        let hosts: Vec<String> = (0..)
            .zip(self.config.get_hosts())
            .map(|(at, host)| match host {
                Host::Tcp(name) => format!("{name}:{}", port(at)),
                Host::Unix(path) => format!("{} (port {})", path.display(), port(at)),
            })
            .collect();
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("database {database:?} on {}", hosts.join(", "))
    }
}

/// Fills in what the URL leaves open.
fn settle(config: &mut Config) {
    if config.get_application_name().is_none() {
        config.application_name(APPLICATION_NAME);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    // The driver's own is two hours.
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(KEEPALIVE_IDLE);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(KEEPALIVE_INTERVAL);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(KEEPALIVE_RETRIES);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(UNACKNOWLEDGED_MAX);
    }
    // Of several hosts the one that may be written to: after a failover another one.
    if config.get_hosts().len() > 1 && config.get_target_session_attrs() == TargetSessionAttrs::Any
    {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
}

/// Looks at `user:password@host:port/database` for what the driver would misread or refuse.
fn check_place(place: &str) -> Result<(), OpenError> {
    const WRITE_AS: &str = "write a / in it as %2F, ? as %3F, # as %23, @ as %40 and % as %25";
    if place.contains('#') {
        return Err(fault(&format!("has a # in its user or password: {WRITE_AS}")));
    }
    if place.matches('@').count() > 1 {
        return Err(fault(&format!("has more than one @, so one is of its password: {WRITE_AS}")));
    }
    if place.split('@').next().is_some_and(|user| place.contains('@') && user.contains('/')) {
        return Err(fault(&format!("has a / in its user or password: {WRITE_AS}")));
    }
    if percent_decode_str(place).decode_utf8().is_err() || has_bad_percent(place) {
        return Err(fault("has a % that no two hexadecimal digits follow: write a % as %25"));
    }
    let hosts = place.rsplit('@').next().unwrap_or_default();
    let hosts = hosts.split('/').next().unwrap_or_default();
    for host in hosts.split(',') {
        // Of an IPv6 address only what stands behind the bracket.
        let port = host.rsplit(']').next().and_then(|rest| rest.split_once(':'));
        if port.is_some_and(|(_, port)| port.parse::<u16>().is_err()) {
            return Err(fault(
                "has a port that is no number from 0 to 65535; in a password, write : as %3A, / \
                 as %2F, ? as %3F, # as %23 and @ as %40",
            ));
        }
    }
    Ok(())
}

fn has_bad_percent(text: &str) -> bool {
    text.split('%').skip(1).any(|rest| {
        !rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    })
}

/// What the URL says of TLS.
#[derive(Default)]
struct TlsOptions {
    mode: Option<String>,
    root: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

impl TlsOptions {
    fn take(&mut self, key: &str, value: &str) -> Result<(), OpenError> {
        let value = percent_decode_str(value)
            .decode_utf8()
            .map_err(|_| fault(&format!("has a {key} that is no UTF-8")))?
            .into_owned();
        match key {
            "sslmode" => self.mode = Some(value),
            "sslrootcert" => self.root = Some(value),
            "sslcert" => self.certificate = Some(value),
            _ => self.key = Some(value),
        }
        Ok(())
    }

    fn tls(self) -> Result<Tls, OpenError> {
        let roots = match self.root.as_deref() {
            None => Roots::Unnamed,
            Some("system") => Roots::System,
            Some(path) => Roots::File(PathBuf::from(path)),
        };
        // As libpq: a root named with `require` is checked, and the system's with every name.
        let (mode, checks) = match (self.mode.as_deref(), &roots) {
            (Some("disable"), _) => (SslMode::Disable, Checks::Nothing),
            (None, Roots::System) | (Some("verify-full"), _) => (SslMode::Require, Checks::Name),
            (Some("require"), Roots::File(_))
            | (Some("verify-ca"), Roots::File(_) | Roots::Unnamed) => {
                (SslMode::Require, Checks::Chain)
            }
            (Some(_), Roots::System) => {
                return Err(fault("has sslrootcert=system, which needs sslmode=verify-full"));
            }
            (None | Some("prefer"), _) => (SslMode::Prefer, Checks::Nothing),
            (Some("require"), _) => (SslMode::Require, Checks::Nothing),
            (Some(_), _) => {
                return Err(fault(
                    "has an sslmode that is none of disable, prefer, require, verify-ca and \
                     verify-full",
                ));
            }
        };
        let own = match (self.certificate, self.key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            _ => return Err(fault("has one of sslcert and sslkey: name both or none")),
        };
        Ok(Tls { mode, checks, roots, own })
    }
}

fn fault(what: &str) -> OpenError {
    OpenError::Url(what.to_owned())
}

fn unknown(number: usize) -> OpenError {
    let known: Vec<&str> = TLS_OPTIONS.iter().chain(DRIVER_OPTIONS).copied().collect();
    fault(&format!(
        "has an option behind its ? (number {number}) that is not known; a ? in a password is \
         written %3F. Known are {}",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

    use super::*;

    #[track_caller]
    fn refused(url: &str, part: &str) {
        let error = Target::parse(url).unwrap_err().to_string();
        assert!(error.contains(part), "{url}: {error}");
        assert!(!error.contains("s3cret"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_told_by_its_part() {
        refused("mysql://u:s3cret@h/d", "begin with postgres://");
        refused("postgres://", "names no host");
        refused("postgres://u:s3cret@/d", "names no host");
        refused("postgres://u:s3cret@h:port/d", "port");
        refused("postgres://u:s3cret@h:70000/d", "port");
        refused("postgres://u:a/s3cret@h/d", "has a / in its user or password");
        refused("postgres://u:a/s3cret", "port");
        refused("postgres://u:a#s3cret@h/d", "has a #");
        refused("postgres://u:a@s3cret@h/d", "more than one @");
        refused("postgres://u:a?s3cret@h/d", "port");
        refused("postgres://u:1?s3cret@h/d", "option behind its ? (number 1)");
        refused("postgres://u:s3cret%@h/d", "has a %");
        refused("postgres://u:s3cret%ff@h/d", "has a %");
        refused("postgres://u:s3cret @h/d", "spaces");
        refused("postgres://u:s3cret@h/d?s3cret=1", "number 1");
        refused("postgres://u:s3cret@h/d?sslmode=require&s3cret", "number 2");
        refused("postgres://u:s3cret@h/d?sslmode=allow", "sslmode");
        refused("postgres://u:s3cret@h/d?sslmode=require&sslrootcert=system", "verify-full");
        refused("postgres://u:s3cret@h/d?sslcert=a", "sslkey");
        refused("postgres://u:s3cret@h/d?connect_timeout=soon", "cannot be read");
    }

    #[track_caller]
    fn tls(options: &str, mode: SslMode, checks: Checks) {
        let target = Target::parse(&format!("postgres://u:p@h/d{options}")).unwrap();
        assert_eq!((target.tls.mode, target.tls.checks), (mode, checks), "{options}");
        assert_eq!(target.config.get_ssl_mode(), mode);
    }

    #[test]
    fn tls_is_as_libpq_has_it() {
        tls("", SslMode::Prefer, Checks::Nothing);
        tls("?sslmode=disable", SslMode::Disable, Checks::Nothing);
        tls("?sslmode=prefer&sslrootcert=a.pem", SslMode::Prefer, Checks::Nothing);
        tls("?sslmode=require", SslMode::Require, Checks::Nothing);
        tls("?sslmode=require&sslrootcert=a.pem", SslMode::Require, Checks::Chain);
        tls("?sslmode=verify-ca", SslMode::Require, Checks::Chain);
        tls("?sslrootcert=a.pem&sslmode=verify-full", SslMode::Require, Checks::Name);
        tls("?sslrootcert=system", SslMode::Require, Checks::Name);
    }

    #[test]
    fn what_is_left_open_is_filled_in() {
        let target = Target::parse("postgresql://ann:s3%40cret@a,[::1]:7/b").unwrap();
        let config = &target.config;
        assert_eq!(config.get_password(), Some(&b"s3@cret"[..]));
        assert_eq!(config.get_application_name(), Some(APPLICATION_NAME));
        assert_eq!(config.get_connect_timeout(), Some(&CONNECT_TIMEOUT));
        assert_eq!(config.get_keepalives_idle(), KEEPALIVE_IDLE);
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!(target.place(), "database \"b\" on a:5432, ::1:7");

        let target =
            Target::parse("postgres://ann@%2Frun%2Fpg/b?application_name=x&keepalives_idle=9")
                .unwrap();
        assert_eq!(target.config.get_application_name(), Some("x"));
        assert_eq!(target.config.get_keepalives_idle(), Duration::from_secs(9));
        assert_eq!(target.config.get_target_session_attrs(), TargetSessionAttrs::Any);
        assert_eq!(target.place(), "database \"b\" on /run/pg (port 5432)");
    }
}
