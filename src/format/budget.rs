//! Limits: how much may be read, and how long it may take.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The most of a session's texts that one look takes in. Images and results are stepped over and do not count.
pub const NEWS: u64 = 1 << 20;
/// The most of a session's file that one look goes through. As a rule the deadline comes first.
pub const FILE: u64 = 256 << 20;
/// The most texts of all sessions that one look takes in.
pub const LOOK: u64 = 64 << 20;
/// How much of its end tells where a session is that began elsewhere.
pub const WHEREABOUTS: u64 = 16 << 10;
/// How much of the end of its transcript tells what a session has worked on.
pub const OWN: u64 = 4 << 20;

/// A moment after which nothing is begun any more.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    started: Instant,
    allowed: Duration,
    looks: Option<Looks>,
}

/// A clock for tests that moves when somebody looks at it, so that a deadline can be over at any step of the work, however
/// fast the machine is.
#[derive(Debug, Clone, Copy)]
struct Looks {
    so_far: &'static AtomicU32,
    most: u32,
}

impl Deadline {
    pub fn after(allowed: Duration) -> Deadline {
        Deadline {
            started: Instant::now(),
            allowed,
            looks: None,
        }
    }

    /// The same, but over after so many looks at the clock, if there are any, and not after a time. For tests: it leaks a
    /// few bytes.
    pub fn by_test_clock(self, most: Option<u32>) -> Deadline {
        let Some(most) = most else { return self };
        let looks = Looks {
            so_far: Box::leak(Box::new(AtomicU32::new(0))),
            most,
        };
        Deadline {
            looks: Some(looks),
            ..self
        }
    }

    /// The same beginning with another end.
    pub fn of(self, allowed: Duration) -> Deadline {
        Deadline { allowed, ..self }
    }

    pub fn allowed(&self) -> Duration {
        self.allowed
    }

    pub fn left(&self) -> Duration {
        self.allowed.saturating_sub(self.taken())
    }

    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// A part of it from now on. What is read by then can still be told in time: telling takes up to twice as long.
    pub fn for_reading(self) -> Deadline {
        let now = self.taken();
        // However long it took to find something to read, there is a little time for it.
        self.of((now + self.allowed / 5)
            .min(self.allowed / 2)
            .max(now + self.allowed / 10))
    }

    /// What is left of it in the end is for writing out what was found.
    pub fn for_writing(self) -> Deadline {
        self.of(self.allowed / 4 * 3)
    }

    /// Whether there is only time left to tell what was read.
    pub fn is_time_to_tell(&self) -> bool {
        self.taken() * 3 > self.allowed
    }

    /// Whether reading stopped because the deadline is over. A time-out of the system has a number, and is another error.
    pub fn is_late(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::TimedOut && error.raw_os_error().is_none()
    }

    /// How long it has taken so far.
    pub fn taken(&self) -> Duration {
        let Some(Looks { so_far, most }) = self.looks else {
            return self.started.elapsed();
        };
        match so_far.fetch_add(1, Ordering::Relaxed) {
            looks if looks < most => self.allowed / most * looks,
            _ => self.allowed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file on a network may take too long as well, which is no matter of the deadline.
    #[test]
    fn a_timeout_of_the_system_is_another_error() {
        let of_system = io::Error::from_raw_os_error(libc::ETIMEDOUT);
        assert_eq!(of_system.kind(), io::ErrorKind::TimedOut);
        assert!(!Deadline::is_late(&of_system));
        assert!(Deadline::is_late(&io::ErrorKind::TimedOut.into()));
    }
}
