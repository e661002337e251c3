//! The short forms of `cargo soak` and `cargo faults`: few of the same runs, chosen so that every kind is among them.

use std::io::Write;
use std::time::Duration;

use crate::soak::{Report, soak};

/// Counts belong to the proof, so they are shown whether the test passes or not.
fn say(counts: &dyn std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{counts}");
}

/// Whatever happens to files, clocks and hooks, every observer is told every message once.
#[test]
fn a_short_soak_breaks_no_promise() {
    let mut report = Report::default();
    for seed in 0..4 {
        soak(seed, 80, &[], Duration::from_secs(5), &mut report);
    }
    say(&report);
    assert!(report.failures.is_empty(), "{report}");
}

/// Whichever system call fails, it is said, and nothing is lost, cut or told twice. Each test takes every fourth scenario,
/// so that no thread is left alone with them.
#[cfg(target_os = "linux")]
mod failing_system_calls_do_no_harm {
    use super::say;
    use crate::fault_matrix::{Choice, Row, SCENARIOS, matrix};
    use crate::support::run::ran_in_own_process;

    fn part(first: usize) {
        if ran_in_own_process() {
            return;
        }
        say(&Row::head());
        let mut failures = String::new();
        for scenario in SCENARIOS.iter().skip(first).step_by(4) {
            let row = matrix(scenario, Choice::OnePerClass);
            say(&row.lines(scenario.name));
            row.failures
                .iter()
                .for_each(|failure| failures += &format!("{failure}\n"));
        }
        assert!(failures.is_empty(), "{failures}");
    }

    #[test]
    fn first() {
        part(0);
    }

    #[test]
    fn second() {
        part(1);
    }

    #[test]
    fn third() {
        part(2);
    }

    #[test]
    fn fourth() {
        part(3);
    }
}
