//! Who may call: the `Host` rule, the same-origin rule, keys and roles.
//!
//! - A `Host` that this server does not answer to is refused, so that a name which an attacker
//!   points at a loopback address reaches nothing (DNS rebinding).
//! - A call that a browser made for another site is refused, so that a page cannot press buttons
//!   here (CSRF). Whoever sends neither `Sec-Fetch-Site` nor `Origin` is no browser.
//! - With a key configured every call but the open ones needs it.

use std::net::{IpAddr, Ipv6Addr};

use halyard_api::problem::Code;
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::refused::{Refused, shown};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a key may do. Each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Jobs: create, read, wait, retry, cancel, run now.
    Producer,
    /// The worker calls too.
    Worker,
    /// Everything.
    Admin,
}

/// Whom a route is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody under any name: a probe knows neither host names nor keys.
    Probe,
    /// Anybody.
    Open,
    /// A page without data: anybody, also by a link from another site.
    Page,
    /// Whoever has this role.
    Role(Role),
}

/// SHA-256 of a key: what is kept of it, and compared in constant time.
#[derive(Clone)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Of this key.
    #[must_use]
    pub fn of(key: &[u8]) -> Self {
        Self(Sha256::digest(key).into())
    }

    fn matches(&self, key: &[u8]) -> bool {
        bool::from(Self::of(key).0.ct_eq(&self.0))
    }
}

impl std::fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// The rules of one server.
#[derive(Clone, Debug)]
pub struct Door {
    /// The one admin key; without it whoever reaches the server may do everything.
    pub key: Option<KeyHash>,
    /// The address it listens on.
    pub listen: IpAddr,
    /// Further host names that it answers to, in lower case, without ports.
    pub allowed_hosts: Vec<String>,
}

impl Door {
    /// Lets a call in, or says why not.
    ///
    /// # Errors
    /// The refusal.
    pub fn admit(&self, parts: &Parts, access: Access) -> Result<(), Refused> {
        if access == Access::Probe {
            return Ok(());
        }
        let caller = self.caller(&parts.headers)?;
        let host = host(parts)?;
        if caller.is_none_or(|caller| !caller.proved) {
            self.check_host(&host)?;
        }
        if access != Access::Page || parts.method != Method::GET {
            check_origin(parts, &host)?;
        }
        match (access, caller) {
            (Access::Role(needed), Some(caller)) if caller.role < needed => {
                Err(Refused::new(Code::Forbidden, "this key's role does not cover the call"))
            }
            (Access::Role(_), None) => Err(Refused::new(
                Code::Unauthenticated,
                "send the server's key in the header Authorization: Bearer <key>",
            )),
            (Access::Role(_) | Access::Open | Access::Page | Access::Probe, _) => Ok(()),
        }
    }

    /// Who calls: `None` is nobody known.
    fn caller(&self, headers: &HeaderMap) -> Result<Option<Caller>, Refused> {
        let Some(known) = &self.key else {
            return Ok(Some(Caller { role: Role::Admin, proved: false }));
        };
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let Some(value) = values.next() else { return Ok(None) };
        let bearer = value.as_bytes().split_at_checked(7).filter(|_| values.next().is_none());
        match bearer {
            Some((scheme, key))
                if scheme.eq_ignore_ascii_case(b"bearer ") && known.matches(key.trim_ascii()) =>
            {
                Ok(Some(Caller { role: Role::Admin, proved: true }))
            }
            _ => Ok(None),
        }
    }

    fn check_host(&self, host: &Authority) -> Result<(), Refused> {
        let name = host.host();
        let literal = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let known = match literal.map(|ip| ip.to_canonical()) {
            Some(ip) => ip.is_loopback() || ip == self.listen.to_canonical(),
            None => name.eq_ignore_ascii_case("localhost"),
        };
        if known || self.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        Err(Refused::new(
            Code::UnknownHost,
            format!(
                "this server does not answer to the host {}; name it in HALYARD_ALLOWED_HOSTS",
                shown(name)
            ),
        ))
    }
}

/// Who calls, by a key or because none is configured.
#[derive(Clone, Copy, Debug)]
struct Caller {
    role: Role,
    /// By a key.
    proved: bool,
}

/// The one host that the call names. A target in absolute form must name the same one.
fn host(parts: &Parts) -> Result<Authority, Refused> {
    let mut values = parts.headers.get_all(HOST).iter();
    let Some(value) = values.next() else {
        return Err(Refused::field(Code::MissingField, "Host", "Host is required"));
    };
    let invalid = |rule: &str| {
        let value = shown(&String::from_utf8_lossy(value.as_bytes()));
        Refused::field(Code::InvalidField, "Host", format!("Host must {rule}, not {value}"))
    };
    if values.next().is_some() {
        return Err(invalid("be given once"));
    }
    let host = Authority::try_from(value.as_bytes())
        .ok()
        .filter(is_host_and_port)
        .ok_or_else(|| invalid("be a host name or address, with or without a port"))?;
    match parts.uri.authority() {
        Some(target) if *target != host => Err(invalid("be the host of the request's target")),
        _ => Ok(host),
    }
}

fn is_host_and_port(host: &Authority) -> bool {
    let port = host.as_str().strip_prefix(host.host());
    let is_port = |port: &str| {
        port.is_empty()
            || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
    };
    !host.host().is_empty() && port.is_some_and(is_port)
}

/// A call that a browser made must come from this server's own pages; who opens a page by hand
/// (`none`) may read.
fn check_origin(parts: &Parts, host: &Authority) -> Result<(), Refused> {
    let reads = parts.method == Method::GET || parts.method == Method::HEAD;
    for site in parts.headers.get_all(SEC_FETCH_SITE) {
        if site != "same-origin" && !(reads && site == "none") {
            return Err(foreign("Sec-Fetch-Site", site.as_bytes()));
        }
    }
    for origin in parts.headers.get_all(ORIGIN) {
        let text = origin.to_str().unwrap_or_default();
        let same = [("http://", 80), ("https://", 443)].into_iter().any(|(scheme, port)| {
            let authority = text.strip_prefix(scheme).and_then(|rest| rest.parse().ok());
            authority.is_some_and(|origin: Authority| is_same(&origin, host, port))
        });
        if !same {
            return Err(foreign("Origin", origin.as_bytes()));
        }
    }
    Ok(())
}

fn is_same(origin: &Authority, host: &Authority, default_port: u16) -> bool {
    let port = |of: &Authority| of.port_u16().unwrap_or(default_port);
    origin.host().eq_ignore_ascii_case(host.host()) && port(origin) == port(host)
}

fn foreign(header: &str, value: &[u8]) -> Refused {
    let value = shown(&String::from_utf8_lossy(value));
    let detail =
        format!("a browser may call from this server's own pages only; {header} is {value}");
    Refused::new(Code::Forbidden, detail)
}

/// Says whether who listens there is reached from this machine only.
#[must_use]
pub fn is_loopback(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip == Ipv6Addr::LOCALHOST,
    }
}
