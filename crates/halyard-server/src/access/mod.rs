//! Who may do what: keys and the browsers that signed in with them, as one server knows them.
//!
//! | room | what |
//! |---|---|
//! | [`secret`] | making a key or the secret of a cookie, and what is kept of them |
//! | [`keyring`] | the keys and sign-ins of the store, in memory: no call waits for the store |
//! | [`attempts`] | how often a wrong key may be tried |
//!
//! The endpoints are in [`http`](crate::http), the command in [`cli`](crate::cli), the rows in the
//! store. Deliberately absent: passwords, and sign-in through somebody else; a proxy in front can
//! ask for either.

pub mod attempts;
pub mod keyring;
pub mod secret;

pub use halyard_core::role::Role;

/// Keys that one store holds at most.
pub const KEYS_MAX: usize = 1_000;

/// How long a browser stays signed in.
pub const SESSION_MS: i64 = 12 * 3_600_000;

/// Whether a store that holds so many keys takes another one.
///
/// # Errors
/// The rule, for whoever wanted it.
pub fn check_room(held: usize) -> Result<(), String> {
    if held < KEYS_MAX {
        return Ok(());
    }
    Err(format!("a store holds at most {KEYS_MAX} keys; revoke one that is not used"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_has_room_for_a_thousand_keys() {
        assert_eq!(check_room(999), Ok(()));
        for held in [1_000, 1_001] {
            assert!(check_room(held).is_err_and(|rule| rule.contains("at most 1000 keys")));
        }
    }
}
