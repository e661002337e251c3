//! Tests, builds and checks that failed and have not passed since.
//!
//! A later pass of the same kind of work ends a failure, whatever exactly was run, and so does a commit: saying nothing is
//! better than telling of something that was fixed.

use serde::{Deserialize, Serialize};

use super::code::{Work, failed_check, works};
use crate::entry::{Act, Call};

/// What failed last of each kind, the newest last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Failing<T> {
    all: Vec<(Work, T)>,
    /// The newest is what happened last.
    just_now: bool,
}

impl<T> Failing<T> {
    /// Takes the next call that ended. A command that the user refused or broke off did not fail by itself.
    pub fn ended(&mut self, call: &Call, failed: bool, broken_off: bool, item: impl Fn(&str) -> T) {
        self.just_now = false;
        // Of several commands it is not known which failed.
        let known = !broken_off && (!failed || call.subjects.len() == 1);
        for command in call.subjects.iter().filter(|_| known && call.act == Act::Run) {
            self.ran(command, failed, || item(command));
        }
    }

    fn ran(&mut self, command: &str, failed: bool, item: impl FnOnce() -> T) {
        if failed {
            if let Some(work) = failed_check(command) {
                self.all.retain(|(known, _)| *known != work);
                self.all.push((work, item()));
                self.just_now = true;
            }
            return;
        }
        let works = works(command);
        self.all.retain(|(known, _)| !works.contains(known) && !works.contains(&Work::Commit));
    }

    /// The agent said something: what failed before is not what the user stops from now on.
    pub fn went_on(&mut self) {
        self.just_now = false;
    }

    /// The user stopped the agent. What ran last did not fail by itself.
    pub fn interrupted(&mut self) {
        if std::mem::take(&mut self.just_now) {
            self.all.pop();
        }
    }

    /// What fails, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = &T> {
        self.all.iter().rev().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_of_the_same_kind_or_a_commit_ends_it() {
        for (runs, wanted) in [
            (&[("cargo test", true)][..], &["cargo test"][..]),
            (&[("cargo test", true), ("cargo test", false)], &[]),
            (&[("npm test", true), ("npx vitest run", false)], &[]),
            (&[("npm test", true), ("git commit -am fixed", false), ("npm run release", false)], &[]),
            (&[("npm test", true), ("git commit -am fixed", true)], &["npm test"]),
            (&[("cargo test", true), ("cargo clippy", true), ("ls", false)], &["cargo clippy", "cargo test"]),
            (&[("cargo test", true), ("cargo build", false)], &["cargo test"]),
            // Which of several commands failed is not known.
            (&[("cargo build && cargo test", true), ("cargo test && git push", true)], &[]),
            (&[("npm test 2>&1 | grep FAIL", true), ("npm test; ls missing", true), ("! cargo test", true)], &[]),
            (&[("cd web && npm test 2>&1 | tail -5", true)], &["cd web && npm test 2>&1 | tail -5"]),
            (&[("cargo test", true), ("cargo build && cargo test", false)], &[]),
            (&[("cargo test a", true), ("cargo test b", true)], &["cargo test b"]),
            (&[("ls missing", true), ("false", true)], &[]),
        ] {
            let mut failing = Failing::default();
            runs.iter().for_each(|(command, failed)| failing.ran(command, *failed, || *command));
            assert_eq!(failing.newest().copied().collect::<Vec<_>>(), wanted, "{runs:?}");
        }
    }
}
