//! The numbers at tests and in comments, such as 003-T08, are cases in docs/acceptance.md: each number is on that page, and
//! each case on the page is named by a test.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::files::files_below;

/// Cases that no single test can show, and why.
const NOT_TESTED: [(&str, &str); 2] = [
    ("004-E11", "the stories are 004-S1 to 004-S10"),
    ("004-P4", "there is nothing to clean up"),
];

fn root(below: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// The cases of the page, in its order.
fn cases() -> Vec<String> {
    let page = std::fs::read_to_string(root("docs/acceptance.md")).expect("a page");
    let rows = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    rows.map(|(case, _)| case.to_owned())
        .filter(|case| is_case(case))
        .collect()
}

/// `003-01` or `003-T08`.
fn is_case(word: &str) -> bool {
    word.split_once('-').is_some_and(|(design, number)| {
        design.len() == 3
            && design.starts_with("00")
            && number.ends_with(|char: char| char.is_ascii_digit())
    })
}

/// The comments of a file, each run of comment lines in one piece, because a list of numbers may go on in the next line;
/// and whether it is the head of the file.
fn comments(text: &str) -> Vec<(bool, String)> {
    let mut all = vec![(false, String::new())];
    for line in text.lines() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            all.push((false, String::new()));
            continue;
        };
        let (is_head, before) = all.last_mut().expect("one");
        *is_head |= comment.starts_with('!');
        *before += &format!(" {}", comment.trim_start_matches(['/', '!']));
    }
    all.retain(|(_, comment)| !comment.is_empty());
    all
}

/// The cases that a comment names: `003-T13 to T16, D03` are 003-T13, 003-T14, 003-T15, 003-T16 and 003-D03.
fn named(comment: &str, cases: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_range = false;
    let mut follows = false;
    for word in comment
        .split(|char: char| !char.is_ascii_alphanumeric() && char != '-')
        .filter(|word| !word.is_empty())
    {
        let is_short =
            follows && word.len() > 1 && word.starts_with(|char: char| "TLDSEFP".contains(char));
        let is_short = is_short && word[1..].bytes().all(|byte| byte.is_ascii_digit());
        if is_case(word) || is_short {
            let before = found.last().cloned().unwrap_or_default();
            let case = if is_short {
                format!("{}-{word}", &before[..3])
            } else {
                word.to_owned()
            };
            let place = |case: &str| cases.iter().position(|known| known == case);
            if let (true, Some(from), Some(to)) = (is_range, place(&before), place(&case)) {
                found.extend(cases[from..to].iter().skip(1).cloned());
            }
            found.push(case);
            (is_range, follows) = (false, true);
        } else {
            is_range = follows && word == "to";
            follows = follows && matches!(word, "to" | "and");
        }
    }
    found
}

#[test]
fn every_number_is_a_case_and_every_case_has_a_test() {
    let cases = cases();
    let (mut unknown, mut tested) = (Vec::new(), BTreeSet::new());
    for path in ["tests", "src", "benches"]
        .iter()
        .flat_map(|dir| files_below(&root(dir)))
    {
        // The numbers in this file are examples.
        if path.extension().is_none_or(|end| end != "rs") || path.ends_with("acceptance.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("Rust");
        for (is_head, comment) in comments(&text) {
            let named = named(&comment, &cases);
            let wrong = named.iter().filter(|case| !cases.contains(case));
            unknown
                .extend(wrong.map(|case| {
                    format!("{}: {case} is not in docs/acceptance.md", path.display())
                }));
            // The head of a file says where cases are tested, and tests none.
            if !is_head {
                tested.extend(named);
            }
        }
    }
    assert_eq!(unknown, [""; 0]);
    let known_to_be = |case: &&String| NOT_TESTED.iter().any(|(name, _)| name == *case);
    let untested: Vec<_> = cases
        .iter()
        .filter(|case| !tested.contains(*case) && !known_to_be(case))
        .collect();
    assert!(untested.is_empty(), "no test names {untested:?}");
    let twice: Vec<_> = cases
        .iter()
        .filter(|case| cases.iter().filter(|other| other == case).count() > 1)
        .collect();
    assert!(
        twice.is_empty() && cases.len() > 200,
        "{twice:?} of {}",
        cases.len()
    );
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let cases: Vec<String> = (1..=20).map(|number| format!("003-T{number:02}")).collect();
    for (comment, expected) in [
        ("003-T01: a prompt", "003-T01"),
        ("003-T01, T03 and 003-T05: all", "003-T01 003-T03 003-T05"),
        ("003-T13 to T15: all. To T16", "003-T13 003-T14 003-T15"),
        ("on 2026-11-16 at T00:00", ""),
    ] {
        assert_eq!(named(comment, &cases).join(" "), expected, "{comment}");
    }
}
