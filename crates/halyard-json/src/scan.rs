//! The smallest parts of a text: strings, numbers, literals, white space.
//!
//! Every function takes the place where its part starts and gives the place behind it.

/// What stopped the reader; the words for it are made later, off the fast path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    Empty,
    Syntax(&'static str),
    TrailingBytes,
    TooDeep,
    /// Index of the second name's node.
    DuplicateMember(u32),
    Nul,
    LoneSurrogate,
}

impl Trouble {
    /// Whether the text is JSON all the same, so that a tolerant reader can go on.
    pub(crate) fn is_refusal(self) -> bool {
        match self {
            Self::TooDeep | Self::DuplicateMember(_) | Self::Nul | Self::LoneSurrogate => true,
            Self::Empty | Self::Syntax(_) | Self::TrailingBytes => false,
        }
    }
}

/// What stopped a scan, and at which byte.
pub(crate) type Stop = (Trouble, usize);

const ENDS_IN_STRING: Trouble = Trouble::Syntax("the text ends inside a string");
const DIGIT_EXPECTED: &str = "a number needs a digit here";

/// The byte at `at`, or 0 behind the end: 0 is a fault wherever a text may have a byte.
#[inline]
pub(crate) fn byte_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Skips white space.
#[inline]
pub(crate) fn space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(byte_at(bytes, at), b' ' | b'\n' | b'\r' | b'\t') {
        at += 1;
    }
    at
}

/// Reads the string whose opening quote is at `at`; also gives whether it has escapes. With a
/// list of `refusals`, a refused character is noted there and read on behind.
#[inline]
pub(crate) fn string(
    bytes: &[u8],
    at: usize,
    refusals: Option<&mut Vec<Stop>>,
) -> Result<(usize, bool), Stop> {
    let mut at = plain(bytes, at + 1);
    let mut escaped = false;
    let mut refusals = refusals;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((at + 1, escaped)),
            Some(b'\\') => {
                let behind = match (escape(bytes, at), refusals.as_deref_mut()) {
                    (Err(stop), Some(list)) if stop.0.is_refusal() => {
                        list.push(stop);
                        at + 6
                    }
                    (end, _) => end?,
                };
                at = plain(bytes, behind);
            }
            Some(_) => {
                let words = "a control character in a string must be escaped";
                return Err((Trouble::Syntax(words), at));
            }
            None => return Err((ENDS_IN_STRING, bytes.len())),
        }
        escaped = true;
    }
}

/// Skips the bytes that mean themselves in a string, eight at a time.
#[inline]
pub(crate) fn plain(bytes: &[u8], mut at: usize) -> usize {
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = special(u64::from_le_bytes(*eight));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x20 || byte == b'"' || byte == b'\\' {
            break;
        }
        at += 1;
    }
    at
}

/// Sets the high bit of every byte that is a quote, a backslash or below 0x20. Bits above the
/// lowest set one may be wrong, as borrows run upwards; the lowest is right. The formula is
/// "determine if a word has a byte less than n" of Sean Anderson's Bit Twiddling Hacks.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let quote = below(word ^ (ONES * b'"' as u64), 1);
    let backslash = below(word ^ (ONES * b'\\' as u64), 1);
    (below(word, 0x20) | quote | backslash) & HIGHS
}

/// Reads the escape whose backslash is at `at`.
fn escape(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match hex(bytes, at + 2)? {
            0 => Err((Trouble::Nul, at)),
            0xD800..=0xDBFF => {
                if bytes.get(at + 6) != Some(&b'\\') || bytes.get(at + 7) != Some(&b'u') {
                    return Err((Trouble::LoneSurrogate, at));
                }
                match hex(bytes, at + 8)? {
                    0xDC00..=0xDFFF => Ok(at + 12),
                    _ => Err((Trouble::LoneSurrogate, at)),
                }
            }
            0xDC00..=0xDFFF => Err((Trouble::LoneSurrogate, at)),
            _ => Ok(at + 6),
        },
        Some(_) => {
            let words = "a backslash must be followed by one of \" \\ / b f n r t u";
            Err((Trouble::Syntax(words), at))
        }
        None => Err((ENDS_IN_STRING, bytes.len())),
    }
}

/// Reads four hexadecimal digits.
fn hex(bytes: &[u8], at: usize) -> Result<u32, Stop> {
    let mut unit = 0;
    for place in at..at + 4 {
        let Some(&byte) = bytes.get(place) else {
            return Err((ENDS_IN_STRING, bytes.len()));
        };
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err((Trouble::Syntax("\\u needs four hexadecimal digits"), place));
        };
        unit = unit * 16 + digit;
    }
    Ok(unit)
}

/// Reads the number whose minus sign or first digit is at `at`.
#[inline]
pub(crate) fn number(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    if byte_at(bytes, at) == b'-' {
        at += 1;
    }
    if byte_at(bytes, at) == b'0' {
        at += 1;
        if byte_at(bytes, at).is_ascii_digit() {
            return Err((Trouble::Syntax("a number must not start with a zero before digits"), at));
        }
    } else {
        at = digits(bytes, at)?;
    }
    if byte_at(bytes, at) == b'.' {
        at = digits(bytes, at + 1)?;
    }
    if matches!(byte_at(bytes, at), b'e' | b'E') {
        at += 1;
        if matches!(byte_at(bytes, at), b'+' | b'-') {
            at += 1;
        }
        at = digits(bytes, at)?;
    }
    Ok(at)
}

/// Reads one or more digits.
#[inline]
fn digits(bytes: &[u8], start: usize) -> Result<usize, Stop> {
    let mut at = start;
    while byte_at(bytes, at).is_ascii_digit() {
        at += 1;
    }
    if at == start {
        return Err((Trouble::Syntax(DIGIT_EXPECTED), at.min(bytes.len())));
    }
    Ok(at)
}

/// Reads `word` (`true`, `false`, `null`).
#[inline]
pub(crate) fn literal(bytes: &[u8], at: usize, word: &'static [u8]) -> Result<usize, Stop> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.starts_with(word) {
        return Ok(at + word.len());
    }
    let alike = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
    Err((Trouble::Syntax("the words of JSON are true, false and null"), at + alike))
}
