//! Lines that a machine wrote: a place in a file, a stack trace, a log, HTTP, a shell prompt, a diff.
//!
//! Told by how the line begins, but for ` failed:` anywhere in it. Whatever a rule misreads because it was pasted belongs
//! here and into no rule.

use crate::digest::lexicon::one_of;

/// Between semicolons, because a blank may belong to it.
const STARTS: &str = "$ ;% ;>>> ;+;---;@@;diff --git;File \";Traceback (;Caused by:;thread ';HTTP/;npm ERR!;npm error;\
    error[;error:;warning:;Error:;FAIL ;PASS ;FAILED ;✓;✗;✘;✔;[INFO];[WARN;[ERROR];[DEBUG];{;[Request interrupted";

const LEVELS: &str = "ERROR WARN WARNING INFO DEBUG TRACE FATAL CRITICAL";

const METHODS: &str = "GET POST PUT PATCH DELETE HEAD OPTIONS";

pub fn is_pasted(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let mut word = || words.next().unwrap_or_default();
    let (first, second, third) = (word(), word(), word());
    STARTS.split(';').any(|start| line.starts_with(start))
        || is_place(first)
        || is_time(first)
        || one_of(LEVELS, first.trim_matches(['[', ']', ':']))
        || one_of(METHODS, first) && (second.starts_with('/') || second.starts_with("http"))
        || first == "at" && (second.contains('(') || third.starts_with('(') || is_place(second))
        || first == "index" && second.contains("..")
        || first == "Run" && second.contains('=')
        || line.starts_with('-') && !line.starts_with("- ") && !line.starts_with("--")
        || line.contains(" failed:")
}

/// `src/main.rs:12:5:`
fn is_place(word: &str) -> bool {
    !word.contains("://")
        && word.match_indices(':').take(8).any(|(at, _)| {
            let digits = word[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
            let after = word[at + 1 + digits..].chars().next();
            digits > 0 && matches!(after, None | Some(':' | ',' | ')')) && word[..at].contains(['.', '/'])
        })
}

/// `2026-01-02`, `[10:15:00]`
fn is_time(word: &str) -> bool {
    let start = word.trim_start_matches('[').chars().take(8);
    let shape: String = start.map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
    shape.starts_with("00:00:") || shape.starts_with("0000-00") && !shape.starts_with("0000-000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_begin_lines_unlike_people() {
        for line in [
            "src/main.rs:12:5: unused variable",
            "2026-01-02T10:00:00 it began",
            "[10:15:00] it began",
            "[ERROR]: it ended",
            "GET /index.html 200",
            "at Foo.bar (x.js:1:2)",
            "index 1a2b..3c4d 100644",
            "Run FOO=bar ./x.sh",
            "-removed",
            "step two failed: timeout",
        ] {
            assert!(is_pasted(line), "{line}");
        }
        for line in [
            "",
            "Look at src/main.rs and fix it",
            "https://example.org:80/ is down",
            "2026 was better",
            "10:15 is too early",
            "2026-001 is a number",
            "GET the page first",
            "at the end it stops",
            "index the pages",
            "- an item",
            "-- so to say",
        ] {
            assert!(!is_pasted(line), "{line}");
        }
    }
}
