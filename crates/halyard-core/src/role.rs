//! What a key may do.

/// What a key may do. Each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Jobs: create, read, wait, retry, cancel, run now.
    Producer,
    /// The worker calls too.
    Worker,
    /// Everything.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Producer, Self::Worker, Self::Admin];

    /// Its name, everywhere.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Producer => "producer",
            Self::Worker => "worker",
            Self::Admin => "admin",
        }
    }

    /// The role of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}
