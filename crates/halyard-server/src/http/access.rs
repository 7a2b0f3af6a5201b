//! Who may call: the `Host` rule, the same-origin rule, keys and roles.
//!
//! - A `Host` that this server does not answer to is refused, so that a name which an attacker
//!   points at a loopback address reaches nothing (DNS rebinding).
//! - A call that a browser made for another site is refused, so that a page cannot press buttons
//!   here (CSRF). Whoever sends neither `Sec-Fetch-Site` nor `Origin` is no browser.
//! - Every call but the open ones needs a key, or the cookie of a browser that signed in with one,
//!   unless the server is open ([`Keyring`](crate::access::keyring::Keyring)).

use std::net::IpAddr;

use halyard_api::problem::Code;
use http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::refused::{Refused, shown};
use crate::access::Role;
use crate::access::keyring::{Caller, Proof};
use crate::engine::Engine;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// How the name of the cookie of a browser that signed in begins.
pub const SESSION_COOKIE: &str = "halyard_session";

/// The name of that cookie, here. A browser sends a cookie to every port of a host, so the port
/// that the browser calls is part of the name: two servers of one host do not sign each other out.
pub fn session_cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    host.and_then(|host| host.port_u16())
        .map_or_else(|| SESSION_COOKIE.to_owned(), |port| format!("{SESSION_COOKIE}_{port}"))
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
    /// Anybody, to sign in or out: also on a read-only server.
    SignIn,
    /// Whoever has this role.
    Role(Role),
}

/// The rules of one server.
#[derive(Clone, Debug)]
pub struct Door {
    /// The address it listens on.
    pub listen: IpAddr,
    /// Further host names that it answers to, in lower case, without ports.
    pub allowed_hosts: Vec<String>,
}

impl Door {
    /// Lets a call in and says who makes it, or why not.
    ///
    /// # Errors
    /// The refusal.
    pub async fn admit(
        &self,
        engine: &Engine,
        parts: &Parts,
        access: Access,
    ) -> Result<Option<Caller>, Refused> {
        if access == Access::Probe {
            return Ok(None);
        }
        let caller = engine.keyring.caller(&*engine.store, proof(&parts.headers)).await;
        let host = host(parts)?;
        if caller.as_ref().is_none_or(|caller| !caller.by_key) {
            self.check_host(&host)?;
        }
        if access != Access::Page || parts.method != Method::GET {
            check_origin(parts, &host)?;
        }
        match (access, &caller) {
            (Access::Role(needed), Some(caller)) if caller.role < needed => {
                let (has, needed) = (caller.role.as_str(), needed.as_str());
                let detail = format!("this key's role is {has}, and the call is for {needed}s");
                Err(Refused::new(Code::Forbidden, detail))
            }
            (Access::Role(_), None) => {
                Err(Refused::new(Code::Unauthenticated, unknown(&parts.headers)))
            }
            _ => Ok(caller),
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

/// What a call brings to show who makes it: a key before a cookie. Two of one kind prove nothing.
/// What else stands in `Authorization` is for a proxy in front, to which browsers send it.
fn proof(headers: &HeaderMap) -> Option<Proof<'_>> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    if let Some(value) = values.next().map(HeaderValue::as_bytes) {
        let scheme = value.split(|byte| *byte == b' ').next().unwrap_or_default();
        if values.next().is_some() || value.is_empty() {
            return None;
        }
        if scheme.eq_ignore_ascii_case(b"bearer") {
            return Some(Proof::Key(value.get(scheme.len()..)?.trim_ascii()));
        }
    }
    session_cookie(headers).map(Proof::Cookie)
}

/// Why nobody is known to make the call.
fn unknown(headers: &HeaderMap) -> &'static str {
    match proof(headers) {
        Some(Proof::Key(_)) => "this server knows no such key; it may have been revoked",
        Some(Proof::Cookie(_)) => "this browser is signed in no more; sign in again",
        None => "send a key of this server in the header Authorization: Bearer <key>",
    }
}

/// The secret in the cookie of a browser that signed in.
pub fn session_cookie(headers: &HeaderMap) -> Option<&[u8]> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|cookies| cookies.split(';'));
    let pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
    let name = session_cookie_name(headers);
    let mut secrets = pairs.filter(|(its, _)| *its == name).map(|(_, secret)| secret);
    let secret = secrets.next()?;
    secrets.next().is_none().then_some(secret.as_bytes())
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
