//! How long somebody worked: the time between one thing that happened and the next, where that is short.

use super::Fold;
use session_format::entry::Entry;
use session_format::time::{MINUTE, Time};

/// A longer silence is a pause.
const PAUSE: i64 = 5 * MINUTE;

/// The time spent since a moment.
#[derive(Debug)]
pub struct Spent {
    since: Time,
    pub first: Option<Time>,
    pub last: Option<Time>,
    /// In milliseconds.
    pub total: i64,
}

impl Spent {
    pub fn since(since: Time) -> Spent {
        Spent {
            since,
            first: None,
            last: None,
            total: 0,
        }
    }
}

impl Fold for Spent {
    fn entry(&mut self, entry: &Entry, _: u64) {
        let Some(time) = entry
            .time
            .filter(|time| entry.is_activity() && *time >= self.since)
        else {
            return;
        };
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        let gap = self.last.map_or(0, |last| time.0 - last.0);
        if (0..=PAUSE).contains(&gap) {
            self.total += gap;
        }
        self.last = self.last.max(Some(time));
    }
}
