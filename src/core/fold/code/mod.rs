//! What was written and run: definitions in written text, the kind of work that a command is, commits, short paths.
//!
//! Text in, facts out. Nothing is executed, parsed in full or looked up, and any text can be given: what cannot be told
//! is left out.
//!
//! A new language or program is a row in `fold/words.toml`. How a shell line is read: `line`;
//! what of it is a command, and when two runs are the same: `command`; what its success proves: `proof`; what it did to
//! the repository: `git`.

mod change;
mod command;
mod commit;
mod definition;
mod git;
mod line;
mod path;
mod proof;
mod work;

pub use change::summary;
pub use command::normalised;
pub use definition::functions;
pub use git::{GitEvent, commit_subjects, git_changed, git_events, shows_changes};
pub use path::short_paths;
pub use work::{Check, Work, check_name, checks, failed_checks, passed_checks, work, works};

#[cfg(test)]
mod tests {
    use session_format::boundary::substr;

    use super::definition::tests::DEFINITIONS;
    use super::git::tests::{COMMITS, EVENTS};
    use super::work::tests::WORKS;
    use super::*;

    #[test]
    fn no_prefix_of_anything_panics() {
        let texts = DEFINITIONS.iter().map(|(_, text, _)| *text);
        let texts = texts
            .chain(WORKS.iter().map(|(text, _)| *text))
            .chain(COMMITS.iter().map(|(text, _)| *text));
        let texts = texts.chain(EVENTS.iter().map(|(text, _)| *text));
        let ends = ["rs", "py", "ts", "go", "cs", "cpp", "sh", "kt"];
        for text in texts {
            for part in text
                .char_indices()
                .flat_map(|(at, _)| [substr(text, ..at), substr(text, at..)])
            {
                for odd in [format!("{part}é"), part.replace(' ', "\u{2003}ß") + "\\"] {
                    ends.iter()
                        .for_each(|end| drop(functions(&format!("a.{end}"), &odd)));
                    summary("a.rs", &odd, text);
                    work(&odd);
                    normalised(&odd);
                    commit_subjects(&odd);
                    git_changed(&odd);
                    git_events(&odd);
                    check_name(&odd);
                    checks(&odd);
                    short_paths(&[&odd, text]);
                }
            }
        }
    }

    /// The CPU time that this thread takes for something.
    fn cpu(work: impl Fn()) -> std::time::Duration {
        let now = || {
            let mut time = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            // SAFETY: a call with a valid place for the result.
            assert_eq!(
                unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) },
                0
            );
            std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
        };
        let start = now();
        work();
        now().saturating_sub(start)
    }

    /// Twice as much takes about twice as long. A text of which each part is compared with each takes four times as long.
    #[test]
    fn long_texts_take_linear_time() {
        let units = [
            "'",
            "\"",
            "$(",
            "\"$(",
            "<<E\n",
            "((",
            "\\",
            "sh -c ",
            "python -m ",
            "a=b ",
            "const a = (",
            "/",
            "<",
            "func (",
            "a/",
        ];
        let read = |unit: &str, length: usize| {
            let long = unit.repeat(length / unit.len());
            work(&long);
            normalised(&long);
            commit_subjects(&long);
            git_events(&long);
            check_name(&long);
            ["rs", "ts", "cs", "c", "sh", "go"]
                .iter()
                .for_each(|end| drop(functions(&format!("a.{end}"), &long)));
            summary("a.ts", &long, "x");
            short_paths(&[&long, "a"]);
        };
        for unit in units {
            let ratio = |_| {
                cpu(|| read(unit, 100_000)).as_secs_f64() / cpu(|| read(unit, 50_000)).as_secs_f64()
            };
            let best = (0..5).map(ratio).fold(f64::MAX, f64::min);
            assert!(best < 3.0, "{unit:?}: {best:.1} times as long");
        }
    }
}
