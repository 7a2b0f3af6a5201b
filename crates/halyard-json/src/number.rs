//! The one form of all literals of one number: sign, digits without outer zeros, exponent.
//!
//! Nothing is computed with the number itself, so no size and no precision is too much.

/// Appends the canonical form of a number literal: `-12e-1` for -1.20, `0e0` for every zero.
///
/// Two literals get the same form exactly when they stand for the same number.
pub(crate) fn write_number(literal: &str, out: &mut Vec<u8>) {
    let (negative, unsigned) = match literal.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, literal),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction_digits = fraction.len();
    let whole = whole.trim_start_matches('0');
    let fraction = if whole.is_empty() { fraction.trim_start_matches('0') } else { fraction };
    let start = out.len();
    if negative {
        out.push(b'-');
    }
    out.extend(whole.as_bytes());
    out.extend(fraction.as_bytes());
    let digits = whole.len() + fraction.len();
    let zeros = out.iter().rev().take(digits).take_while(|&&digit| digit == b'0').count();
    if zeros == digits {
        out.truncate(start);
        out.extend(b"0e0");
        return;
    }
    out.truncate(out.len() - zeros);
    out.push(b'e');
    write_sum(exponent, zeros as i64 - fraction_digits as i64, out);
}

/// Appends `exponent + shift` in decimal, without a plus sign or leading zeros.
fn write_sum(exponent: &str, shift: i64, out: &mut Vec<u8>) {
    if let Ok(small) = exponent.parse::<i64>() {
        out.extend((i128::from(small) + i128::from(shift)).to_string().as_bytes());
        return;
    }
    // The exponent is beyond 2^63 and the shift below 2^32, so the sign stays.
    let negative = exponent.starts_with('-');
    if negative {
        out.push(b'-');
    }
    let magnitude = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
    let mut carry = if negative { -shift } else { shift };
    // From the last digit on; at the first digit the rest of the carry becomes new digits.
    let mut digits = magnitude.as_bytes().to_vec();
    for digit in digits.iter_mut().rev() {
        if carry == 0 {
            break;
        }
        let sum = i64::from(*digit - b'0') + carry;
        *digit = b'0' + sum.rem_euclid(10) as u8;
        carry = sum.div_euclid(10);
    }
    if carry > 0 {
        out.extend(carry.to_string().as_bytes());
        out.extend(digits);
    } else {
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        out.extend(digits.get(zeros..).unwrap_or_default());
    }
}
