//! Times on the wire: RFC 3339 in UTC with milliseconds and `Z`, `2026-11-29T08:15:30.250Z`.
//!
//! Own code instead of a library, because every answer holds several of them (a batch of 1,000 jobs
//! about 4,000) and because a library's reader accepts more than RFC 3339 or mends what it reads:
//! here `:60`, `2026-02-30` and a missing offset are refused with a sentence that says so.
//! The conversions between days and dates are Howard Hinnant's `days_from_civil` and
//! `civil_from_days` (<https://howardhinnant.github.io/date_algorithms.html>).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

const DAY_MS: i64 = 86_400_000;

/// 0000-01-01T00:00:00.000Z
const FIRST_MS: i64 = -62_167_219_200_000;
/// 9999-12-31T23:59:59.999Z
const LAST_MS: i64 = 253_402_300_799_999;

/// An instant, in milliseconds since 1970-01-01T00:00:00Z, within the years 0000 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant `ms` milliseconds after 1970-01-01T00:00:00Z; one outside the years 0000 to
    /// 9999, which RFC 3339 cannot write, becomes the nearest one inside.
    pub const fn from_ms(ms: i64) -> Self {
        if ms < FIRST_MS {
            Self(FIRST_MS)
        } else if ms > LAST_MS {
            Self(LAST_MS)
        } else {
            Self(ms)
        }
    }

    /// Milliseconds since 1970-01-01T00:00:00Z, negative before.
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// Reads RFC 3339 with any offset; what is finer than a millisecond is cut off.
    pub fn parse(text: &str) -> Result<Self, TimestampFault> {
        Reader { rest: text.as_bytes() }.timestamp()
    }

    /// The 24 bytes of `2026-11-29T08:15:30.250Z`.
    fn write(self) -> [u8; 24] {
        let days = self.0.div_euclid(DAY_MS);
        let in_day = self.0.rem_euclid(DAY_MS);
        let (year, month, day) = civil_from_days(days);
        let digit = |number: i64, power: i64| b'0' + (number / power % 10) as u8;
        let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
        let (second, ms) = (in_day / 1_000 % 60, in_day % 1_000);
        [
            digit(year, 1000),
            digit(year, 100),
            digit(year, 10),
            digit(year, 1),
            b'-',
            digit(month, 10),
            digit(month, 1),
            b'-',
            digit(day, 10),
            digit(day, 1),
            b'T',
            digit(hour, 10),
            digit(hour, 1),
            b':',
            digit(minute, 10),
            digit(minute, 1),
            b':',
            digit(second, 10),
            digit(second, 1),
            b'.',
            digit(ms, 100),
            digit(ms, 10),
            digit(ms, 1),
            b'Z',
        ]
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.write();
        formatter.pad(std::str::from_utf8(&bytes).unwrap_or_default())
    }
}

impl std::str::FromStr for Timestamp {
    type Err = TimestampFault;

    fn from_str(text: &str) -> Result<Self, TimestampFault> {
        Self::parse(text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.write();
        serializer.serialize_str(std::str::from_utf8(&bytes).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TimestampVisitor)
    }
}

struct TimestampVisitor;

impl serde::de::Visitor<'_> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time in RFC 3339")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Timestamp, E> {
        Timestamp::parse(text).map_err(E::custom)
    }
}

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .into()
    }
}

impl ToSchema for Timestamp {}

/// Why a text is not a time. `Display` gives the rule that it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimestampFault {
    /// It is no RFC 3339 text at all.
    #[error("must be a time in RFC 3339 such as 2026-11-29T08:15:30Z")]
    Form,
    /// It ends after the time of day.
    #[error("must end with an offset from UTC: Z or +hh:mm")]
    OffsetMissing,
    /// The offset is not between -23:59 and +23:59.
    #[error("must end with an offset from UTC, Z or +hh:mm, of less than 24 hours")]
    Offset,
    /// The month is not 01 to 12, or it has no such day.
    #[error("must be a day that the calendar has")]
    Day,
    /// Hour, minute or second does not exist.
    #[error("must have a time of day from 00:00:00 to 23:59:59, without leap seconds")]
    TimeOfDay,
    /// The instant, in UTC, is outside the years 0000 to 9999.
    #[error("must lie within the years 0000 to 9999 in UTC")]
    Range,
}

/// Reads the text from left to right.
struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    fn timestamp(mut self) -> Result<Timestamp, TimestampFault> {
        let year = self.digits(4)?;
        self.one_of(b"-")?;
        let month = self.digits(2)?;
        self.one_of(b"-")?;
        let day = self.digits(2)?;
        self.one_of(b"Tt")?;
        let hour = self.digits(2)?;
        self.one_of(b":")?;
        let minute = self.digits(2)?;
        self.one_of(b":")?;
        let second = self.digits(2)?;
        let fraction_ms = self.fraction_ms()?;
        let offset_ms = self.offset_ms()?;
        if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return Err(TimestampFault::Day);
        }
        if hour > 23 || minute > 59 || second > 59 {
            return Err(TimestampFault::TimeOfDay);
        }
        let in_day_ms = ((hour * 60 + minute) * 60 + second) * 1_000 + fraction_ms;
        let ms = days_from_civil(year, month, day) * DAY_MS + in_day_ms - offset_ms;
        if !(FIRST_MS..=LAST_MS).contains(&ms) {
            return Err(TimestampFault::Range);
        }
        Ok(Timestamp(ms))
    }

    fn fraction_ms(&mut self) -> Result<i64, TimestampFault> {
        let Some((b'.', mut rest)) = self.rest.split_first() else {
            return Ok(0);
        };
        let mut ms = 0;
        let mut weight = 100;
        let mut count = 0;
        while let Some((digit @ b'0'..=b'9', after)) = rest.split_first() {
            ms += i64::from(digit - b'0') * weight;
            weight /= 10;
            count += 1;
            rest = after;
        }
        self.rest = rest;
        if count == 0 { Err(TimestampFault::Form) } else { Ok(ms) }
    }

    fn offset_ms(&mut self) -> Result<i64, TimestampFault> {
        let sign = match self.rest {
            [] => return Err(TimestampFault::OffsetMissing),
            [b'Z' | b'z'] => return Ok(0),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return Err(TimestampFault::Form),
        };
        self.one_of(b"+-")?;
        let hours = self.digits(2)?;
        self.one_of(b":")?;
        let minutes = self.digits(2)?;
        if !self.rest.is_empty() {
            return Err(TimestampFault::Form);
        }
        if hours > 23 || minutes > 59 {
            return Err(TimestampFault::Offset);
        }
        Ok(sign * (hours * 60 + minutes) * 60_000)
    }

    fn digits(&mut self, count: usize) -> Result<i64, TimestampFault> {
        let (digits, rest) = self.rest.split_at_checked(count).ok_or(TimestampFault::Form)?;
        self.rest = rest;
        digits.iter().try_fold(0, |number, byte| match byte {
            b'0'..=b'9' => Ok(number * 10 + i64::from(byte - b'0')),
            _ => Err(TimestampFault::Form),
        })
    }

    fn one_of(&mut self, bytes: &[u8]) -> Result<(), TimestampFault> {
        match self.rest.split_first() {
            Some((byte, rest)) if bytes.contains(byte) => {
                self.rest = rest;
                Ok(())
            }
            _ => Err(TimestampFault::Form),
        }
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // The year is taken to begin in March, so that a leap day is its last day.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of the date that many days after 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
