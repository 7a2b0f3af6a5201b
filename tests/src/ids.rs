//! Job ids as a client makes them: `job_` and a UUIDv7 in 26 characters of lower-case Crockford
//! base32, the TypeID form.

/// A new job id, by the wall clock.
pub fn job_id() -> String {
    let mut bits = uuid::Uuid::now_v7().as_u128();
    let mut digits = [0_u8; 26];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdefghjkmnpqrstvwxyz"[(bits & 31) as usize];
        bits >>= 5;
    }
    let text: String = digits.iter().map(|digit| char::from(*digit)).collect();
    format!("job_{text}")
}

#[cfg(test)]
mod tests {
    use super::job_id;

    #[test]
    fn ids_have_the_form_of_a_typeid() {
        let id = job_id();
        assert_eq!(id.len(), 30, "{id}");
        // 130 bits hold 128: the first digit is at most 7.
        assert!(id.starts_with("job_0"), "{id}: the years up to 4147 begin with 0");
        assert_ne!(id, job_id());
    }
}
