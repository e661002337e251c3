//! Moments as transcripts write them: ISO 8601 text, or seconds or milliseconds since 1970.
//!
//! A [`Time`] is milliseconds since 1970 UTC. It knows no clock and no time zone; both come from `env`.

/// A moment, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub i64);

pub const SECOND: i64 = 1000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

impl Time {
    /// `2026-11-16T02:36:14.044Z`, with any number of decimals and any offset; without an offset it is UTC.
    pub fn parse(text: &[u8]) -> Option<Time> {
        /// The number that some digits from a place on are. How many is known when this is compiled: every line has a time.
        fn number<const DIGITS: usize>(text: &[u8], at: usize) -> Option<i64> {
            let digits: &[u8; DIGITS] = text.get(at..)?.first_chunk()?;
            let sum = digits
                .iter()
                .fold(0, |sum, byte| sum * 10 + i64::from(byte.wrapping_sub(b'0')));
            digits.iter().all(u8::is_ascii_digit).then_some(sum)
        }
        let punctuated = text.get(4) == Some(&b'-')
            && text.get(7) == Some(&b'-')
            && matches!(text.get(10), Some(b'T' | b't' | b' '))
            && text.get(13) == Some(&b':');
        if !punctuated {
            return None;
        }
        let (year, month, day) = (
            number::<4>(text, 0)?,
            number::<2>(text, 5)?,
            number::<2>(text, 8)?,
        );
        let (hour, minute) = (number::<2>(text, 11)?, number::<2>(text, 14)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 || minute > 59 {
            return None;
        }
        let mut at = 16;
        let mut millis = 0;
        if text.get(at) == Some(&b':') {
            millis = number::<2>(text, 17)?.min(60) * SECOND;
            at = 19;
        }
        if matches!(text.get(at), Some(b'.' | b',')) {
            let digits = text[at + 1..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            millis += (0..3).fold(0, |sum, i| {
                sum * 10
                    + if i < digits {
                        i64::from(text[at + 1 + i] - b'0')
                    } else {
                        0
                    }
            });
            at += 1 + digits;
        }
        let offset = match text.get(at) {
            Some(&sign @ (b'+' | b'-')) => {
                let minutes = if text.get(at + 3) == Some(&b':') {
                    at + 4
                } else {
                    at + 3
                };
                let offset = number::<2>(text, at + 1)? * HOUR
                    + number::<2>(text, minutes).unwrap_or(0) * MINUTE;
                if sign == b'-' { -offset } else { offset }
            }
            _ => 0,
        };
        Some(Time(
            days(year, month, day) * DAY + hour * HOUR + minute * MINUTE + millis - offset,
        ))
    }

    /// The clock of files counts nanoseconds.
    pub fn from_nanos(nanos: i64) -> Time {
        Time(nanos / 1_000_000)
    }

    /// Seconds or milliseconds since 1970, told apart by size: as seconds, 10^11 would lie in the year 5138.
    pub fn from_number(number: f64) -> Option<Time> {
        if !number.is_finite() || number <= 0.0 || number > 1e15 {
            return None;
        }
        Some(Time(
            if number >= 1e11 { number } else { number * 1e3 } as i64
        ))
    }

    /// The same in as little room as there may be: `now`, `3m`.
    pub fn short_age(self, now: Time) -> String {
        if now.0 - self.0 < MINUTE {
            "now".into()
        } else {
            self.age(now)
        }
    }

    /// How long before `now` this was, in the largest unit that fits: `just now`, `3m`, `2h`, `5d`.
    /// A time in the future (a clock that is off) is just now.
    pub fn age(self, now: Time) -> String {
        match now.0 - self.0 {
            age if age < MINUTE => "just now".into(),
            age if age < HOUR => (age / MINUTE).to_string() + "m",
            age if age < DAY => (age / HOUR).to_string() + "h",
            age => (age / DAY).to_string() + "d",
        }
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that the leap day is
/// the last day of a year and every month before it starts at a fixed place.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_forms() {
        let expected = Some(Time(1_794_796_574_044));
        for text in [
            "2026-11-16T02:36:14.044Z",
            "2026-11-16T02:36:14.044",
            "2026-11-16 02:36:14.044123Z",
            "2026-11-16T04:36:14.044+02:00",
            "2026-11-15T21:06:14.044-0530",
        ] {
            assert_eq!(Time::parse(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(Time::parse(b"1970-01-01T00:00:00Z"), Some(Time(0)));
        assert_eq!(
            Time::parse(b"2024-02-29T00:00Z"),
            Some(Time(1_709_164_800_000))
        );
    }

    #[test]
    fn every_prefix_and_every_changed_byte_is_harmless() {
        let text = b"2026-11-16T02:36:14.044+02:00";
        for end in 0..=text.len() {
            Time::parse(&text[..end]);
            for byte in 0..=255 {
                let mut changed = text.to_vec();
                if let Some(place) = changed.get_mut(end) {
                    *place = byte;
                }
                Time::parse(&changed);
            }
        }
    }

    #[test]
    fn numbers_tell_seconds_from_milliseconds() {
        assert_eq!(
            Time::from_number(1_785_578_400.25),
            Some(Time(1_785_578_400_250))
        );
        assert_eq!(
            Time::from_number(1_785_578_401_000.0),
            Some(Time(1_785_578_401_000))
        );
        assert_eq!(Time::from_number(f64::NAN), None);
    }

    #[test]
    fn ages() {
        let now = Time(100 * DAY);
        let age = |ago: i64| Time(now.0 - ago).age(now);
        assert_eq!(age(-DAY), "just now");
        assert_eq!(age(MINUTE - 1), "just now");
        assert_eq!(age(MINUTE), "1m");
        assert_eq!(age(HOUR - 1), "59m");
        assert_eq!(age(DAY - 1), "23h");
        assert_eq!(age(45 * DAY), "45d");
    }
}
