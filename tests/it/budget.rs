//! How much the hook says: whole lines within the budget, the most important first, and the rest with the next prompts.

use std::collections::BTreeSet;

use crate::support::claude::{answer, asked, edit, prompt, said};
use crate::support::hook::{HEADER, block, hook, input, nine, one_said, taken_apart, text, told};
use crate::support::run::ran_in_own_process;
use crate::support::times::ago;
use crate::support::world::{ME, ONE, TWO, World};

/// 003-24, 003-D05, 003-L05: newest first, whole bullets, how many are left, and those with the next prompts.
#[test]
fn what_does_not_fit_is_told_next() {
    let world = nine();
    let mut sessions = Vec::new();
    for prompt in 0.. {
        let text = told(&world);
        let (shown, more) = taken_apart(&text);
        sessions.extend(shown);
        assert_eq!(more, 9 - sessions.len(), "{text}");
        assert!(text.encode_utf16().count() <= 500, "{text}");
        if prompt == 0 {
            let expected = [
                "- 11111111 (1m ago, 1 message): \"request-1 wants more blah blah blah blah blah\"",
                "- 22222222 (2m ago, 1 message): \"request-2 wants more blah blah blah blah blah blah blah blah blah blah\"",
                "- 33333333 (3m ago, 1 message): \"request-3 wants more blah blah blah blah blah blah blah blah blah blah blah blah blah blah blah\"",
                "- 44444444 (4m ago, 1 message): \"request-4 wants more\"",
                "- +5 more: session-reader list",
            ];
            assert_eq!(text, block(&expected));
        }
        if more == 0 {
            break;
        }
    }
    assert_eq!(
        sessions,
        (1..=9)
            .map(|number: u8| number.to_string().repeat(8))
            .collect::<Vec<_>>()
    );
    assert_eq!(told(&world), "");
}

/// What happens meanwhile in a session that waits to be told is told with it; others do not wait for it.
#[test]
fn what_happens_while_a_session_waits_is_told_with_it() {
    let world = nine();
    assert_eq!(taken_apart(&told(&world)).0.len(), 4);
    let nine = world.transcript("99999999-0000-4000-8000-000000000000");
    world.append(nine, answer(&world.path("work"), &ago(0), "news"));
    let text = told(&world);
    assert_eq!(
        text.lines().nth(1),
        Some(
            "- 99999999 (just now, 2 messages): \"request-9 wants more blah blah blah blah blah\""
        ),
        "{text}"
    );
    let mut rest = taken_apart(&text).0;
    rest.extend(taken_apart(&told(&world)).0);
    assert_eq!(
        rest.iter().map(|name| &name[..1]).collect::<String>(),
        "95678"
    );
    assert_eq!(told(&world), "");
}

/// Every budget there is: never longer, whole lines only, and every session told once, or said that it cannot be.
#[test]
fn every_budget_is_kept_and_every_session_told_once() {
    if ran_in_own_process() {
        return;
    }
    let world = World::new();
    let cwd = world.path("work");
    let ids = [ONE, TWO];
    asked(&world, ONE, 1, &"🦀".repeat(50));
    let quoted = prompt(
        &cwd,
        &ago(2),
        "née 🦀🦀🦀 'quoted', and more of it than a third of the room",
    );
    world.claude(TWO, &(quoted + &edit(2, "c1", "src/a.rs")));
    // All of them have the same transcript, and so the same conflict.
    world.claude(ME, &edit(9, "m1", "src/a.rs"));
    let ask = |observer: &str, budget: usize| {
        let mut input = input(&world, ME);
        input["session_id"] = observer.into();
        hook(&world, &["--budget", &budget.to_string()], &input)
            .run()
            .status(0)
    };
    let check = |budget: usize| {
        let observer = format!("b{budget}");
        let mut seen = Vec::new();
        loop {
            let done = ask(&observer, budget);
            let text = text(&done);
            assert!(text.encode_utf16().count() <= budget, "{budget}: {text}");
            for line in text.lines().skip(1) {
                assert!(
                    line.matches('"').count() % 2 == 0 && !line.ends_with(' '),
                    "{budget}: {text}"
                );
                seen.extend(
                    ids.iter()
                        .map(|id| &id[..8])
                        .filter(|id| line.starts_with(&format!("- {id} ("))),
                );
            }
            if !text.is_empty() {
                assert_eq!(
                    (text.lines().next(), done.err()),
                    (Some(HEADER), ""),
                    "{budget}"
                );
                let conflict = "- ! 22222222 edited src/a.rs 2m ago; you edited it 9m ago";
                assert_eq!(
                    text.lines().nth(1) == Some(conflict),
                    text.contains("\n- 22222222 ("),
                    "{budget}: {text}"
                );
                let left = ids.len() - seen.len();
                let more = format!("- +{left} more: session-reader list");
                assert_eq!(
                    text.lines().last() == Some(&more),
                    left > 0,
                    "{budget}: {text}"
                );
                if left > 0 {
                    continue;
                }
            } else if seen.len() < ids.len() {
                let said = format!(
                    "session-context: nothing fits into {budget} characters; see --budget\n"
                );
                assert_eq!(done.err(), said, "{budget}");
                if seen.is_empty() && !budget.is_multiple_of(16) {
                    return;
                }
                // Nothing is lost: with more room the rest is told.
                let rest = self::text(&ask(&observer, 9000));
                seen.extend(
                    ids.iter()
                        .map(|id| &id[..8])
                        .filter(|id| rest.contains(&format!("\n- {id} ("))),
                );
            } else {
                assert_eq!(done.err(), "", "{budget}");
            }
            break;
        }
        assert_eq!(seen.len(), ids.len(), "{budget}: {seen:?}");
        assert_eq!(
            seen.iter().collect::<BTreeSet<_>>().len(),
            ids.len(),
            "{budget}: {seen:?}"
        );
        if budget.is_multiple_of(16) {
            assert_eq!(text(&ask(&observer, budget)), "", "{budget}");
        }
    };
    for budget in 1..=700 {
        check(budget);
        // Every observer has a file of cursors, and a new one looks at those of all others.
        std::fs::remove_dir_all(world.path(".state")).expect("removed");
    }
}

/// That there was more than could be read is not forgotten while it waits.
#[test]
fn that_there_was_more_is_not_forgotten() {
    let world = World::new();
    let one = asked(&world, ONE, 9, "one");
    assert_eq!(told(&world), one_said(9, "one"));
    let big = |number: usize| {
        answer(
            &world.path("work"),
            &ago(5),
            &format!("{number} {}", "x".repeat(2000)),
        )
    };
    world.append(&one, (0..700).map(big).collect::<String>());
    for _ in 0..2 {
        hook(&world, &["--budget", "90"], &input(&world, ME))
            .run()
            .status(0)
            .stdout("")
            .stderr_has("nothing fits");
    }
    let text = told(&world);
    let count = text
        .split(" (5m ago, ")
        .nth(1)
        .and_then(|rest| rest.split_once("+ messages)"));
    let count = count
        .and_then(|(count, _)| count.parse::<u32>().ok())
        .unwrap_or_else(|| panic!("{text}"));
    assert!((100..700).contains(&count), "{text}");
    world.append(&one, said(&world, 4, "after"));
    assert_eq!(told(&world), one_said(4, "after"));
}

/// Conflicts first, and as many as fit; then the sessions, newest first, none before a newer one.
#[test]
fn conflicts_come_first_then_the_newest() {
    let world = World::new();
    let long = format!("{}/{}.rs", "d".repeat(20), "f".repeat(60));
    let id = |number: i64| format!("{}-0000", number.to_string().repeat(8));
    let conflicts = [(3, &*long), (5, "a.rs"), (8, "b.rs")];
    world.claude(
        ME,
        &conflicts
            .iter()
            .map(|(at, file)| edit(30, &format!("m{at}"), file))
            .collect::<String>(),
    );
    for number in 1..=9 {
        let file = conflicts
            .iter()
            .find(|(at, _)| *at == number)
            .map(|(_, file)| *file);
        let done = file.map_or_else(String::new, |file| {
            edit(number, &format!("t{number}"), file)
        });
        world.claude(
            &id(number),
            &(said(&world, number, &"word ".repeat(number as usize)) + &done),
        );
    }
    let mut passed_over = 0;
    for budget in (150..900).step_by(10) {
        let mut input = input(&world, ME);
        input["session_id"] = format!("observer-{budget}").into();
        let text = text(
            &hook(&world, &["--budget", &budget.to_string()], &input)
                .run()
                .status(0),
        );
        assert!(text.encode_utf16().count() <= budget, "{budget}: {text}");
        let lines: Vec<&str> = text.lines().collect();
        let number = |line: &str| {
            line.trim_start_matches(['-', ' ', '!'])[..1]
                .parse::<i64>()
                .unwrap_or(0)
        };
        let is_conflict = |line: &&&str| line.starts_with("- ! ");
        let first: Vec<i64> = lines
            .iter()
            .filter(is_conflict)
            .map(|line| number(line))
            .collect();
        assert!(text.is_empty() || lines[0] == HEADER, "{text}");
        assert!(
            lines
                .iter()
                .skip(1)
                .take(first.len())
                .all(|line| line.starts_with("- ! ")),
            "{budget}: {text}"
        );
        let plain = lines
            .iter()
            .skip(1 + first.len())
            .filter(|line| !line.starts_with("- +"));
        let plain: Vec<i64> = plain.map(|line| number(line)).collect();
        assert!(
            plain.is_sorted_by(|a, b| a < b) && plain.iter().all(|number| *number > 0),
            "{budget}: {text}"
        );
        assert!(first.is_sorted(), "{budget}: {text}");
        let (theirs, others): (Vec<i64>, Vec<i64>) = plain
            .iter()
            .partition(|number| conflicts.iter().any(|(at, _)| at == *number));
        assert_eq!(theirs, first, "{budget}: {text}");
        assert_eq!(
            others,
            [1, 2, 4, 6, 7, 9][..others.len()],
            "{budget}: {text}"
        );
        passed_over += usize::from(!first.contains(&3) && !first.is_empty());
    }
    assert!(passed_over > 0, "a long conflict keeps no short one out");
}
