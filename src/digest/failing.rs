//! Tests, builds and checks that failed and have not passed since.
//!
//! A later pass of the same kind of work ends a failure, whatever exactly was run, and so does a commit: saying nothing is
//! better than telling of something that was fixed.

use super::code::{Work, failed_check, works};

/// What failed last of each kind, the newest last.
#[derive(Debug, Clone, PartialEq)]
pub struct Failing<T>(Vec<(Work, T)>);

impl<T> Default for Failing<T> {
    fn default() -> Failing<T> {
        Failing(Vec::new())
    }
}

impl<T> Failing<T> {
    /// Takes the next command and how it ended.
    pub fn ran(&mut self, command: &str, failed: bool, item: impl FnOnce() -> T) {
        if failed {
            if let Some(work) = failed_check(command) {
                self.0.retain(|(known, _)| *known != work);
                self.0.push((work, item()));
            }
            return;
        }
        let works = works(command);
        self.0.retain(|(known, _)| !works.contains(known) && !works.contains(&Work::Commit));
    }

    /// Takes back what was said of a command.
    pub fn forget(&mut self, is_it: impl Fn(&T) -> bool) {
        self.0.retain(|(_, item)| !is_it(item));
    }

    /// What fails, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = &T> {
        self.0.iter().rev().map(|(_, item)| item)
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
