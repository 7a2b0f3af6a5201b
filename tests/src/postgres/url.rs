//! The address of a database, taken apart.

use std::fmt;
use std::net::SocketAddr;

/// `postgres://user:password@address/database`, in the form that `scripts/services` and
/// [`Postgres`](super::Postgres) give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Who logs in.
    pub user: String,
    /// Their password.
    pub password: String,
    /// Where the server listens.
    pub address: SocketAddr,
    /// The database on it.
    pub database: String,
    /// What stands behind the `?`, for instance `sslmode=disable`; may be empty.
    pub parameters: String,
}

impl Url {
    /// Reads one.
    ///
    /// # Panics
    ///
    /// When it has another form.
    pub fn read(text: &str) -> Self {
        let parts = || {
            let (user, rest) = text.strip_prefix("postgres://")?.split_once(':')?;
            let (password, rest) = rest.split_once('@')?;
            let (address, rest) = rest.split_once('/')?;
            let (database, parameters) = rest.split_once('?').unwrap_or((rest, ""));
            Some(Self {
                user: user.to_owned(),
                password: password.to_owned(),
                address: address.parse().ok()?,
                database: database.to_owned(),
                parameters: parameters.to_owned(),
            })
        };
        parts().unwrap_or_else(|| panic!("not postgres://user:password@ip:port/database: {text}"))
    }

    /// The same for another database of the server.
    #[must_use]
    pub fn database(&self, name: &str) -> Self {
        Self { database: name.to_owned(), ..self.clone() }
    }

    /// The same by another address.
    #[must_use]
    pub fn address(&self, address: SocketAddr) -> Self {
        Self { address, ..self.clone() }
    }

    /// The same without TLS, also where the server offers it.
    #[must_use]
    pub fn plain(&self) -> Self {
        Self { parameters: "sslmode=disable".to_owned(), ..self.clone() }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, password, address, database, parameters } = self;
        write!(out, "postgres://{user}:{password}@{address}/{database}")?;
        if parameters.is_empty() { Ok(()) } else { write!(out, "?{parameters}") }
    }
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn what_is_read_is_written() {
        for text in ["postgres://a:b@127.0.0.1:5432/c", "postgres://a:b@[::1]:1/c?sslmode=disable"]
        {
            assert_eq!(Url::read(text).to_string(), text);
        }
    }
}
