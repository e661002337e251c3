//! Times relative to the one time it is in every test.

/// The time it is in every test, unless a test says otherwise.
pub const NOW: &str = "2026-11-16T03:00:00Z";

pub const SECOND: u64 = 1;
pub const MINUTE: u64 = 60 * SECOND;
pub const HOUR: u64 = 60 * MINUTE;
pub const DAY: u64 = 24 * HOUR;

/// So many minutes before the time it is; after it, if negative.
pub fn ago(minutes: i64) -> String {
    let minute = 3 * 60 - minutes;
    format!("2026-11-16T{:02}:{:02}:00Z", minute / 60, minute % 60)
}

/// A minute of the hour before two.
pub fn at(minute: usize) -> String {
    format!("2026-11-16T01:{minute:02}:00Z")
}

/// So much later than the time it is.
pub fn later(seconds: u64) -> String {
    let (day, hour, minute) = (
        16 + (seconds + 3 * HOUR) / DAY,
        (seconds / HOUR + 3) % 24,
        seconds / MINUTE % 60,
    );
    format!("2026-11-{day}T{hour:02}:{minute:02}:{:02}Z", seconds % 60)
}
