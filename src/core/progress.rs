//! How far long work is, as a line on the terminal.
//!
//! It appears when the work takes longer than a moment, and is gone when the work is done. The program writes it, where both
//! its output and its messages go to a terminal.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::env::Env;

/// The work on some files. Any thread may say what it has done; one shows it.
pub struct Progress {
    /// What is done to them: `reading`.
    what: &'static str,
    started: Instant,
    show: Option<fn(&str)>,
    files: u64,
    bytes: u64,
    done_files: AtomicU64,
    done_bytes: AtomicU64,
    /// When the line was last written, in milliseconds from the start; 0 if it never was.
    shown: AtomicU64,
}

impl Progress {
    /// For how long the user waits without a word, and how often the line changes.
    const PATIENCE: u64 = 500;
    const AGAIN: u64 = 100;

    /// Of work on files of these sizes.
    pub fn of(env: &Env, what: &'static str, sizes: impl Iterator<Item = u64>) -> Progress {
        let mut progress = Progress::silent();
        progress.what = what;
        sizes.for_each(|size| {
            (progress.files, progress.bytes) = (progress.files + 1, progress.bytes + size);
        });
        progress.show = env.progress;
        progress
    }

    /// Of work that takes no time to speak of.
    pub fn silent() -> Progress {
        let [done_files, done_bytes, shown] = [0; 3].map(AtomicU64::new);
        Progress {
            what: "",
            started: Instant::now(),
            show: None,
            files: 0,
            bytes: 0,
            done_files,
            done_bytes,
            shown,
        }
    }

    /// One more file is done.
    pub fn add(&self, bytes: u64) {
        self.done_files.fetch_add(1, Relaxed);
        self.done_bytes.fetch_add(bytes, Relaxed);
    }

    /// Shows how far it is, if it is time to.
    pub fn show(&self) {
        let (now, shown) = (
            self.started.elapsed().as_millis() as u64,
            self.shown.load(Relaxed),
        );
        if let Some(show) = self.show
            && now >= Progress::PATIENCE.max(shown + Progress::AGAIN)
        {
            self.shown.store(now, Relaxed);
            show(&self.line(Duration::from_millis(now)));
        }
    }

    /// `reading: 312 of 1000 files, 340 of 1117 MB, 2s left`
    fn line(&self, elapsed: Duration) -> String {
        const MB: u64 = 1 << 20;
        let (files, bytes) = (self.done_files.load(Relaxed), self.done_bytes.load(Relaxed));
        let left =
            elapsed.as_secs_f64() * self.bytes.saturating_sub(bytes) as f64 / bytes.max(1) as f64;
        let left = if bytes == 0 {
            String::new()
        } else {
            format!(", {}s left", left.ceil())
        };
        format!(
            "{}: {files} of {} files, {} of {} MB{left}",
            self.what,
            self.files,
            bytes / MB,
            self.bytes / MB
        )
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(show) = self.show.filter(|_| *self.shown.get_mut() > 0) {
            show("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says() {
        let env = Env::fixed("/home".as_ref(), "/".into(), session_format::time::Time(0));
        let progress = Progress::of(&env, "reading", std::iter::repeat_n(1 << 20, 1000));
        assert_eq!(
            progress.line(Duration::from_millis(500)),
            "reading: 0 of 1000 files, 0 of 1000 MB"
        );
        progress.add(250 << 20);
        assert_eq!(
            progress.line(Duration::from_secs(1)),
            "reading: 1 of 1000 files, 250 of 1000 MB, 3s left"
        );
        // A file that grew while it was read.
        progress.add(2000 << 20);
        assert_eq!(
            progress.line(Duration::from_secs(1)),
            "reading: 2 of 1000 files, 2250 of 1000 MB, 0s left"
        );
    }
}
