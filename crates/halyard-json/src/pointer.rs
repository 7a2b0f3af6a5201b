//! Writing JSON pointers (RFC 6901).

/// Bytes of the longest pointer that this crate gives. A longer one would carry the sender's
/// names, up to the whole body, into error answers; an enclosing value is named instead.
pub const POINTER_BYTES_MAX: usize = 1024;

/// Appends `/token` to a JSON pointer, with `~` and `/` in the token escaped.
pub fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The pointer made of `tokens`, or of as many of the first ones as fit.
pub(crate) fn join<'a>(tokens: impl Iterator<Item = std::borrow::Cow<'a, str>>) -> String {
    let mut pointer = String::new();
    for token in tokens {
        let fits = pointer.len();
        push_token(&mut pointer, &token);
        if pointer.len() > POINTER_BYTES_MAX {
            pointer.truncate(fits);
            break;
        }
    }
    pointer
}
