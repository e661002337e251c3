//! What only the user knows: pins, notes, finished sessions, tags, the profile; and the files they are in.
//!
//! Here is that it is kept and given back. That it is told is in the tests of the hook.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use session_core::env::Env;
use session_core::session::Project;
use session_core::state::notes::{Kind, Notes, Owner};
use session_format::time::Time;

use crate::support::notes::{data, edit, page, page_in, read, sessions};
use crate::support::run::{Done, at_once};
use crate::support::times::NOW;
use crate::support::world::{ONE, TWO, World};

fn at(world: &World, now: &str, args: &[&str]) -> Done {
    world.context(args).env("SESSION_MONITOR_NOW", now).run()
}

/// As another part of the program reads it: the home, and nothing else set.
fn env(world: &World, dir: &str) -> Env {
    Env::fixed(
        &world.path(""),
        world.path(dir),
        Time::parse(NOW.as_bytes()).expect("a time"),
    )
}

#[test]
fn pins_are_kept_and_given_back() {
    let world = World::new();
    let run = |args: &[&str]| world.context(args).run();
    run(&["pins"])
        .status(1)
        .stdout("")
        .stderr("session-context: no pins in this project; `session-context pin TEXT` adds one\n");
    let frozen = "pin 1 (2026-11-16, until 2026-11-23T03:00:00Z): the API is frozen\n";
    run(&["pin", "the", "API", "is frozen", "--for", "7d"])
        .success()
        .stdout(frozen);
    let low = "pin 2 (low, 2026-11-16): nice to know\n";
    run(&["pin", "--priority", "low", "nice to know"])
        .success()
        .stdout(low);
    let high = "pin 3 (high, 2026-11-16): never push to main\n";
    run(&["pin", "--priority=high", "never push to main"])
        .success()
        .stdout(high);
    run(&["pin", "two\nlines\r\n\tand \u{1b}[31mred\u{1b}[0m"])
        .success()
        .stdout("pin 4 (2026-11-16): two lines and red\n");
    // Priority first, then the oldest.
    let last = "pin 4 (2026-11-16): two lines and red\n";
    run(&["pins"])
        .success()
        .stdout(&[high, frozen, last, low].concat());
    let object = |id: u32, text: &str, priority: &str, until: Option<&str>| json!({"id": id, "kind": "pin", "text": text, "priority": priority, "until": until, "created": "2026-11-16", "expired": false});
    assert_eq!(
        run(&["pins", "--json"]).success().json(),
        [
            object(3, "never push to main", "high", None),
            object(
                1,
                "the API is frozen",
                "normal",
                Some("2026-11-23T03:00:00.000Z")
            ),
            object(4, "two lines and red", "normal", None),
            object(2, "nice to know", "low", None),
        ]
    );
    let head =
        "# session-monitor: notes of ~/work. One line each; change or delete them as you like.\n\n";
    assert_eq!(
        read(&page(&world)),
        [head, frozen, low, high, last].concat()
    );
    run(&["unpin", "2", "4"])
        .success()
        .stdout(&format!("removed: {low}removed: {last}"));
    assert_eq!(read(&page(&world)), [head, frozen, high].concat());
    // The same again is the same pin: with another end, and what it had before is no longer so.
    let longer = "pin 1 (high, 2026-11-16, until 2026-11-26T03:00:00Z): the API is frozen\n";
    at(
        &world,
        "2026-11-17T03:00:00Z",
        &["pin", "the API is frozen", "--for=9d", "--priority=high"],
    )
    .success()
    .stdout(longer);
    run(&["pins"]).success().stdout(&[longer, high].concat());
    for id in ["2", "0", "4294967295"] {
        let error = format!(
            "session-context: nothing has the id {id} in this project; `session-context pins --all` and `session-context notes --all` show what there is\n"
        );
        // All or nothing.
        run(&["unpin", "1", id]).status(2).stdout("").stderr(&error);
    }
    assert_eq!(read(&page(&world)), [head, longer, high].concat());
}

#[test]
fn notes_are_kept_and_given_back() {
    let world = World::new();
    let run = |args: &[&str]| world.context(args).run();
    run(&["notes"]).status(1).stdout("").stderr(
        "session-context: no notes in this project; `session-context note decision|blocker|next|fact TEXT` adds one\n",
    );
    for (kind, text) in [
        ("fact", "staging is at x"),
        ("next", "migrate"),
        ("decision", "PostgreSQL"),
        ("fact", "b"),
    ] {
        run(&["note", kind, text]).success();
    }
    run(&[
        "note",
        "blocker",
        "--for",
        "90m",
        "waiting",
        "for",
        "the licence",
    ])
    .success()
    .stdout("blocker 5 (2026-11-16, until 2026-11-16T04:30:00Z): waiting for the licence\n");
    run(&["pin", "not a note"])
        .success()
        .stdout("pin 6 (2026-11-16): not a note\n");
    let blocker = "blocker 5 (2026-11-16, until 2026-11-16T04:30:00Z): waiting for the licence\n";
    let (decision, rest) = (
        "decision 3 (2026-11-16): PostgreSQL\n",
        "next 2 (2026-11-16): migrate\nfact 1 (2026-11-16): staging is at x\nfact 4 (2026-11-16): b\n",
    );
    run(&["notes"])
        .success()
        .stdout(&[decision, blocker, rest].concat());
    at(&world, "2026-11-16T04:30:00Z", &["notes"])
        .success()
        .stdout(&[decision, rest].concat());
    at(&world, "2026-11-16T04:30:00Z", &["notes", "--all"])
        .success()
        .stdout(&[decision, rest, "expired: ", blocker].concat());
    let kinds: Vec<_> = run(&["notes", "--json"])
        .success()
        .json()
        .iter()
        .map(|note| note["kind"].clone())
        .collect();
    assert_eq!(kinds, ["decision", "blocker", "next", "fact", "fact"]);
    run(&["forget", "5"])
        .success()
        .stdout(&format!("removed: {blocker}"));
    run(&["unpin", "2"])
        .success()
        .stdout("removed: next 2 (2026-11-16): migrate\n");
    // An id is not taken again as long as a later one is there.
    run(&["note", "fact", "b"])
        .success()
        .stdout("fact 4 (2026-11-16): b\n");
    run(&["note", "fact", "c"])
        .success()
        .stdout("fact 7 (2026-11-16): c\n");
}

#[test]
fn what_cannot_be_noted_is_an_error() {
    let world = World::new();
    for args in [
        &["pin"][..],
        &["pin", ""],
        &["pin", " \n\t"],
        &["pin", "x", "--for", "0s"],
        &["pin", "x", "--for", "soon"],
        &["pin", "x", "--for", "99999999y"],
        &["pin", "x", "--priority", "urgent"],
        &["note"],
        &["note", "fact"],
        &["note", "pin", "x"],
        &["note", "role", "x"],
        &["unpin"],
        &["unpin", "x"],
        &["unpin", "-1"],
        &["done"],
        &["done", "nobody"],
        &["tag", "x"],
        &["tag", "a:b", "--session", "last"],
        &["tag", "", "--session", "last"],
        &["profile", "set"],
        &["profile", "set", "rule"],
        &["profile", "set", "pin", "x"],
        &["profile", "set", "role", ""],
        &["profile", "remove"],
        &["profile", "remove", "rule"],
        &["profile", "remove", "1"],
        &["profile", "remove", "role"],
    ] {
        let done = world.context(args).run().status(2).stdout("");
        assert!(!done.err().is_empty(), "{args:?}");
    }
    assert_eq!(data(&world), [""; 0]);
}

/// 001-15, 001-16: what is over is not given back, to the moment, and is not deleted; without an end it holds for ever.
#[test]
fn what_is_over_is_not_given_back_and_not_deleted() {
    let world = World::new();
    world
        .context(&["pin", "for a week", "--for", "7d"])
        .run()
        .success();
    world.context(&["pin", "for ever"]).run().success();
    let week = "pin 1 (2026-11-16, until 2026-11-23T03:00:00Z): for a week\n";
    let ever = "pin 2 (2026-11-16): for ever\n";
    at(&world, "2026-11-23T02:59:59.999Z", &["pins"])
        .success()
        .stdout(&[week, ever].concat());
    at(&world, "2026-11-23T03:00:00Z", &["pins"])
        .success()
        .stdout(ever);
    at(&world, "9999-01-01T00:00:00Z", &["pins"])
        .success()
        .stdout(ever);
    at(&world, "2026-11-23T03:00:00Z", &["pins", "--all"])
        .success()
        .stdout(&[ever, "expired: ", week].concat());
    let all = at(&world, "2026-11-23T03:00:00Z", &["pins", "--all", "--json"])
        .success()
        .json();
    assert_eq!(
        (&all[0]["expired"], &all[1]["expired"]),
        (&json!(false), &json!(true))
    );
    world.context(&["unpin", "2"]).run().success();
    let hint = "session-context: no pins in this project; 1 expired: --all shows them\n";
    at(&world, "2026-11-23T03:00:00Z", &["pins"])
        .status(1)
        .stdout("")
        .stderr(hint);
    // Said again, it holds again.
    let again = "pin 1 (2026-11-16, until 2026-12-01T03:00:00Z): for a week\n";
    at(
        &world,
        "2026-11-24T03:00:00Z",
        &["pin", "for a week", "--for", "7d"],
    )
    .success()
    .stdout(again);
    // The end is never earlier than was asked for.
    at(
        &world,
        "2026-11-16T03:00:00.001Z",
        &["pin", "a", "--for", "1ms"],
    )
    .success()
    .stdout("pin 2 (2026-11-16, until 2026-11-16T03:00:01Z): a\n");
}

/// A date is a day where the user is, and lasts to its end; a time without a zone is the user's, too.
#[test]
fn a_date_written_by_hand_lasts_to_the_end_of_that_day() {
    let world = World::new();
    for (until, zone, end) in [
        ("2026-11-16", "UTC", "2026-11-17T00:00:00.000Z"),
        ("2026-11-16", "CET-1", "2026-11-16T23:00:00.000Z"),
        ("2026-12-31", "EST5", "2027-01-01T05:00:00.000Z"),
        ("2026-11-16 18:00", "CET-1", "2026-11-16T17:00:00.000Z"),
        ("2026-11-16T18:00:30", "CET-1", "2026-11-16T17:00:30.000Z"),
        ("2026-11-16T18:00Z", "CET-1", "2026-11-16T18:00:00.000Z"),
        (
            "2026-11-16T18:00:00.5+02:00",
            "CET-1",
            "2026-11-16T16:00:00.500Z",
        ),
        (
            "2026-11-16T18:00:00-05:00",
            "CET-1",
            "2026-11-16T23:00:00.000Z",
        ),
        ("9999-12-31", "UTC", "9999-12-31"),
    ] {
        edit(&world, format!("pin (until {until}): x\n"));
        let shown = |now: &str| {
            world
                .context(&["pins", "--json"])
                .env("TZ", zone)
                .env("SESSION_MONITOR_NOW", now)
                .run()
        };
        assert_eq!(
            shown("2026-11-16T00:00:00Z").success().json()[0]["until"],
            *end,
            "{until}"
        );
        if end.len() > 10 {
            shown(end).status(1);
            let before = Time(Time::parse(end.as_bytes()).expect("a time").0 - 1);
            shown(&session_core::env::iso(before)).success();
        }
    }
}

/// Every line that a person, or an editor, may leave behind: what it is taken for, and how it is written back.
#[test]
fn odd_lines_are_kept() {
    let world = World::new();
    // The line; the line after the next change; what is listed; what is wrong with it.
    type Case = (&'static [u8], &'static [u8], &'static str, &'static str);
    let changed = |line: &'static [u8], after: &'static [u8], listed: &'static str| -> Case {
        (line, after, listed, "")
    };
    let known = |line: &'static [u8], listed: &'static str| -> Case { (line, line, listed, "") };
    let wrong = |line: &'static [u8], why: &'static str| -> Case { (line, line, "", why) };
    let other = |line: &'static [u8]| -> Case { (line, line, "", "") };
    let cases = [
        other(b"\xef\xbb\xbf# a BOM, a comment\r\n"),
        known(b"pin 7: seven\r\n", "pin 7: seven"),
        other(b"\r\n"),
        other(b" \t \n"),
        changed(b"pin: no id\r\n", b"pin 8: no id\r\n", "pin 8: no id"),
        changed(
            b"pin 7: a second seven\n",
            b"pin 9: a second seven\n",
            "pin 9: a second seven",
        ),
        changed(
            b"pin(high): close\n",
            b"pin 10(high): close\n",
            "pin 10 (high): close",
        ),
        known(
            b"\tpin\t3\t( low ,until 2030-01-01 )\t:\ttabs\t\n",
            "pin 3 (low, until 2030-01-01): tabs",
        ),
        changed(
            b"- pin: in a list\n",
            b"- pin 11: in a list\n",
            "pin 11: in a list",
        ),
        known(b"* pin 6: in a list\n", "pin 6: in a list"),
        changed(b"pin 007: bond\n", b"pin 12: bond\n", "pin 12: bond"),
        changed(b"pin 0: zero\n", b"pin 13: zero\n", "pin 13: zero"),
        changed(
            b"pin 99999999999999999999: many\n",
            b"pin 14: many\n",
            "pin 14: many",
        ),
        changed(
            b"pin (): (a) b: c, \"d\" <e> # f\n",
            b"pin 15 (): (a) b: c, \"d\" <e> # f\n",
            "pin 15: (a) b: c, \"d\" <e> # f",
        ),
        changed(
            b"pin (2026-01-01 10:00): created at a time\n",
            b"pin 16 (2026-01-01 10:00): created at a time\n",
            "pin 16 (2026-01-01 10:00): created at a time",
        ),
        changed(
            b"pin: b\xff\xfed\x00 bytes\n",
            b"pin 17: b\xff\xfed\x00 bytes\n",
            "pin 17: b\u{fffd}\u{fffd}d bytes",
        ),
        other(b"\xff\xfe\x00 neither text nor ours\n"),
        changed(
            b"pin: \xc5\xbc\xc3\xb3\xc5\x82w \xf0\x9f\x90\xa2\n",
            b"pin 18: \xc5\xbc\xc3\xb3\xc5\x82w \xf0\x9f\x90\xa2\n",
            "pin 18: żółw 🐢",
        ),
        changed(
            b"pin: \x1b]0;title\x07x\x1b[2J\n",
            b"pin 19: \x1b]0;title\x07x\x1b[2J\n",
            "pin 19: x",
        ),
        other(b"pinned: not ours\n"),
        other(b"Pin is a word of its own.\n"),
        other(b"next.js is used here\n"),
        other(b"rule 1: belongs into the profile\n"),
        other(b"todo: x\n"),
        other(b"pni without a colon\n"),
        wrong(
            b"pni: typo\n",
            "'pni' is not a kind of note; did you mean 'pin'?",
        ),
        wrong(
            b"- facts 4 (high): typo\n",
            "'facts' is not a kind of note; did you mean 'fact'?",
        ),
        wrong(
            b"pin the API is frozen\n",
            "no ':' between 'pin' and its text",
        ),
        wrong(b"pin\n", "no ':' between 'pin' and its text"),
        wrong(b"pin 4:\n", "no text"),
        wrong(b"pin 4 (high: x\n", "no ')' after '('"),
        wrong(
            b"pin (hgih): x\n",
            "'hgih' is not high, normal, low, a date, or 'until' and a date",
        ),
        wrong(b"pin (until Friday): x\n", "'Friday' is not a date"),
        wrong(b"pin (until 2026-13-01): x\n", "'2026-13-01' is not a date"),
        wrong(b"done\n", "no id of a session after 'done'"),
        wrong(b"tag release\n", "no ':' between the tag and its sessions"),
        wrong(b"tag : 1\n", "no name of a tag after 'tag'"),
        wrong(b"tag release: ,\n", "no session after the tag"),
        changed(
            b"pin: no newline at the end",
            b"pin 20: no newline at the end\r\n",
            "pin 20: no newline at the end",
        ),
    ];
    let before: Vec<u8> = cases.iter().flat_map(|case| case.0).copied().collect();
    let after: Vec<u8> = cases.iter().flat_map(|case| case.1).copied().collect();
    let page = edit(&world, &before);
    let mut wrong = String::new();
    for (number, case) in (1..).zip(&cases).filter(|(_, case)| !case.3.is_empty()) {
        wrong += &format!(
            "session-context: {}:{number}: {}; skipped\n",
            page.display(),
            case.3
        );
    }
    let shown = world.context(&["pins"]).run().status(0).stderr(&wrong);
    let listed = |low: bool| {
        cases
            .iter()
            .map(|case| case.2)
            .filter(move |line| !line.is_empty() && line.contains("low") == low)
    };
    let high = "pin 10 (high): close";
    let expected: Vec<_> = [high]
        .into_iter()
        .chain(listed(false).filter(|line| *line != high))
        .chain(listed(true))
        .collect();
    assert_eq!(shown.out().lines().collect::<Vec<_>>(), expected);
    assert_eq!(
        std::fs::read(&page).expect("the page"),
        before,
        "showing it changes nothing"
    );
    world
        .context(&["note", "fact", "new"])
        .run()
        .status(0)
        .stderr(&wrong)
        .stdout("fact 21 (2026-11-16): new\n");
    let with_new = [&after[..], b"fact 21 (2026-11-16): new\r\n"].concat();
    assert_eq!(read(&page), String::from_utf8_lossy(&with_new));
    assert_eq!(std::fs::read(&page).expect("the page"), with_new);
    // What was shown is what is written down.
    assert_eq!(world.context(&["pins"]).run().out(), shown.out());
    world.context(&["unpin", "21"]).run().status(0);
    assert_eq!(std::fs::read(&page).expect("the page"), after);
}

/// A chaos of lines never makes a run fail, and all of them are still there afterwards.
#[test]
fn any_bytes_are_kept() {
    let world = World::new();
    let mut chance = crate::scene::Chance::new(4);
    let words = b"pin|done|tag|fact| |\t|(|)|:|,|until|2026-11-16|high|7|\r\n|\n|\xff|\xef\xbb\xbf";
    let words: Vec<&[u8]> = words.split(|byte| *byte == b'|').collect();
    for _ in 0..20 {
        let content: Vec<u8> = (0..200)
            .flat_map(|_| words[chance.below(words.len())].to_vec())
            .collect();
        let page = edit(&world, &content);
        world.context(&["pin", "the last"]).run().status(0);
        let after = std::fs::read(&page).expect("the page");
        // But for digits, which are ids, and blanks before them, all is as it was.
        let plain = |bytes: &[u8]| {
            bytes
                .iter()
                .filter(|byte| !byte.is_ascii_digit() && !byte.is_ascii_whitespace())
                .copied()
                .collect::<Vec<u8>>()
        };
        assert!(
            plain(&after).starts_with(&plain(&content)),
            "{}",
            String::from_utf8_lossy(&content)
        );
        let ids: Vec<u64> = world
            .context(&["pins", "--all", "--json"])
            .run()
            .json()
            .iter()
            .filter_map(|pin| pin["id"].as_u64())
            .collect();
        assert_eq!(
            ids.iter().collect::<std::collections::BTreeSet<_>>().len(),
            ids.len()
        );
    }
}

/// 001-22: what is not there is empty, and made when it is needed, for nobody but the user; an empty file will do.
#[test]
fn files_are_made_when_they_are_needed() {
    let world = World::new();
    for args in [&["pins"][..], &["notes"], &["tags"], &["profile"]] {
        world.context(args).run().status(1);
    }
    assert!(!world.path(".data").exists());
    let page = edit(&world, "");
    world.context(&["pins"]).run().status(1).stdout("");
    world.context(&["pin", "x"]).run().success();
    assert_eq!(read(&page).lines().count(), 3);
    world
        .context(&["profile", "set", "role", "owner"])
        .run()
        .success();
    for (path, mode) in [
        (&page, 0o600),
        (&world.path(".data/session-monitor/profile.md"), 0o600),
    ] {
        assert_eq!(
            std::fs::metadata(path)
                .expect("a file")
                .permissions()
                .mode()
                & 0o777,
            mode,
            "{}",
            path.display()
        );
    }
    let fresh = World::new();
    fresh
        .context(&["pin", "x"])
        .env("XDG_DATA_HOME", "")
        .run()
        .success();
    for dir in [
        ".local/share/session-monitor",
        ".local/share/session-monitor/projects",
    ] {
        assert_eq!(
            std::fs::metadata(fresh.path(dir))
                .expect("a directory")
                .permissions()
                .mode()
                & 0o777,
            0o700
        );
    }
    let name = self::page(&fresh)
        .file_name()
        .expect("a name")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    let hash = name
        .strip_prefix("work-")
        .and_then(|name| name.strip_suffix(".md"))
        .expect("called like the directory");
    assert!(
        hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{name}"
    );
}

/// 004-T1, 004-T2, 002-17: a repository with its worktrees and sub-folders has one page; another has another. Outside a
/// repository a directory has its own: the original had one for all that is outside, in which everything mixed.
#[test]
fn projects_do_not_mix() {
    let world = World::new();
    for repository in ["a/shop", "b/shop"] {
        world.write(format!("{repository}/.git/HEAD"), "ref: refs/heads/main\n");
    }
    world.write("a/shop/.git/worktrees/tree/commondir", "../..\n");
    world.write("tree/.git", "gitdir: ../a/shop/.git/worktrees/tree\n");
    for dir in [
        "a/shop/deep/down",
        "b/shop/deep",
        "plain/below",
        "we ird \n.ż-name",
    ] {
        std::fs::create_dir_all(world.path(dir)).expect("a directory");
    }
    std::os::unix::fs::symlink(world.path("a/shop"), world.path("link")).expect("a link");
    let projects = [
        &["a/shop", "a/shop/deep/down", "a/shop/.git", "tree", "link"][..],
        &["b/shop", "b/shop/deep"],
        &["plain"],
        &["plain/below"],
        &["a"],
        &["we ird \n.ż-name"],
        &["."],
    ];
    for dir in projects.iter().copied().flatten() {
        world
            .context(&["note", "fact", dir])
            .dir(world.path(dir))
            .run()
            .success();
    }
    world
        .context(&["note", "fact", "root"])
        .dir("/")
        .run()
        .success();
    let mut pages = std::collections::BTreeSet::new();
    for project in projects {
        let facts: Vec<String> = project.iter().map(|dir| dir.replace(" \n", " ")).collect();
        for dir in project {
            let shown = world
                .context(&["notes", "--json"])
                .dir(world.path(dir))
                .run()
                .success()
                .json();
            let texts: Vec<_> = shown
                .iter()
                .map(|note| note["text"].as_str().expect("a text").to_owned())
                .collect();
            assert_eq!(texts, facts, "{dir}");
        }
        pages.insert(page_in(&world, project[0]));
    }
    assert_eq!(pages.len(), projects.len());
    assert_eq!(data(&world).len(), projects.len() + 1);
    // A directory that becomes a repository keeps its page.
    world.write("plain/.git/HEAD", "ref: refs/heads/main\n");
    world
        .context(&["notes"])
        .dir(world.path("plain"))
        .run()
        .success()
        .stdout("fact 1 (2026-11-16): plain\n");
}

/// A file that cannot be read or written is named, and what is in it stays.
#[test]
fn a_page_that_cannot_be_read_or_written_is_named_and_stays() {
    let world = World::new();
    let page = page(&world);
    std::fs::create_dir_all(page.join("in the way")).expect("a directory");
    let profile = world.path(".data/session-monitor/profile.md");
    std::fs::create_dir_all(&profile).expect("a directory");
    let error = |path: &Path| format!("session-context: {}: is a directory\n", path.display());
    for args in [
        &["pins"][..],
        &["notes"],
        &["tags"],
        &["pin", "x"],
        &["unpin", "1"],
        &["note", "fact", "x"],
    ] {
        world
            .context(args)
            .run()
            .status(2)
            .stdout("")
            .stderr(&error(&page));
    }
    for args in [
        &["profile"][..],
        &["profile", "set", "role", "x"],
        &["profile", "remove", "1"],
    ] {
        world
            .context(args)
            .run()
            .status(2)
            .stdout("")
            .stderr(&error(&profile));
    }
    assert!(page.join("in the way").is_dir());
    // The hook and the others take it as not there, and say so.
    let (home, dir) = (
        world.path(".local/share"),
        Project::of(&env(&world, "work"), &world.path("work")),
    );
    std::fs::create_dir_all(&home).expect("a directory");
    std::os::unix::fs::symlink(
        world.path(".data/session-monitor"),
        home.join("session-monitor"),
    )
    .expect("a link");
    let (notes, wrong) = Notes::read(&env(&world, "work"), dir.dir());
    assert_eq!(notes.pins(Time(0)), [].iter().collect::<Vec<_>>());
    let [wrong] = &wrong[..] else {
        panic!("{wrong:?}")
    };
    assert!(
        wrong.ends_with(".md: is a directory; taken as not there"),
        "{wrong}"
    );
    assert_eq!(Notes::read(&env(&world, "work"), Owner::User).1.len(), 1);

    let blocked = World::new();
    blocked.write(
        ".data/session-monitor/projects",
        "a file where the directory should be",
    );
    blocked
        .context(&["pin", "x"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has(&blocked.path(".data").display().to_string());
    blocked.context(&["pins"]).run().status(2).stdout("");
}

/// A disk that is full: the old page is whole, and nothing else is left behind.
#[test]
fn a_full_disk_loses_nothing() {
    let world = World::new();
    world.context(&["pin", "one"]).run().success();
    let before = (data(&world), read(&page(&world)));
    let script = format!(
        "ulimit -f 0; trap '' XFSZ; exec '{}' pin two",
        env!("CARGO_BIN_EXE_session-context")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(world.path("work"))
        .env_clear()
        .envs([
            ("HOME", world.path("")),
            ("XDG_DATA_HOME", world.path(".data")),
            ("SESSION_MONITOR_NOW", NOW.into()),
        ])
        .output()
        .expect("a shell");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = format!(
        "session-context: {}: File too large (os error 27)\n",
        page(&world).display()
    );
    assert_eq!(
        (String::from_utf8_lossy(&output.stderr), &*output.stdout),
        (error.into(), &b""[..])
    );
    assert_eq!((data(&world), read(&page(&world))), before);
}

/// A page that is a link stays one.
#[test]
fn links_are_followed() {
    let world = World::new();
    let page = page(&world);
    let real = world.write("dotfiles/shop.md", "pin 1: one\n");
    std::fs::create_dir_all(page.parent().expect("a directory")).expect("a directory");
    std::os::unix::fs::symlink(&real, &page).expect("a link");
    world.context(&["pin", "two"]).run().success();
    assert_eq!(read(&real), "pin 1: one\npin 2 (2026-11-16): two\n");
    assert!(page.is_symlink());
}

/// 20 at once, adding and removing: nothing is lost, and no id is given twice.
#[test]
fn writers_at_once_lose_nothing() {
    let world = World::new();
    let content: String = (1..=10).map(|id| format!("pin {id}: old {id}\n")).collect();
    let page = edit(&world, "# mine\n".to_owned() + &content);
    for round in 0..3 {
        let add = |number| world.context(&["pin", &format!("round {round} new {number}")]);
        let mut all: Vec<_> = (0..20).map(add).collect();
        if round == 0 {
            all.extend((1..=10).map(|id| world.context(&["unpin", &id.to_string()])));
        }
        for done in at_once(all) {
            done.success();
        }
    }
    let pins = world.context(&["pins", "--json"]).run().success().json();
    let mut texts: Vec<_> = pins
        .iter()
        .map(|pin| pin["text"].as_str().expect("a text").to_owned())
        .collect();
    texts.sort();
    let mut expected: Vec<_> = (0..60)
        .map(|number| format!("round {} new {}", number / 20, number % 20))
        .collect();
    expected.sort();
    assert_eq!(texts, expected);
    let ids: std::collections::BTreeSet<_> = pins.iter().map(|pin| pin["id"].as_u64()).collect();
    assert_eq!(ids.len(), 60);
    assert!(read(&page).starts_with("# mine\npin "));
    assert_eq!(data(&world), [page.display().to_string()]);
}

/// What does not fit on a line goes on below it; in a pipe, and for a program, a note is one line.
#[test]
fn long_texts_are_wrapped() {
    let world = World::new();
    let run =
        |args: &[&str], columns: &str| world.context(args).env("COLUMNS", columns).run().success();
    let words = "never push to main before the nightly import is through, whoever asks for it";
    let narrow = "\
pin 1 (high, 2026-11-16, until 2026-11-23T03:00:00Z): never push to main
    before the nightly import is through, whoever asks for it
";
    run(&["pin", "--for", "7d", "--priority", "high", words], "80").stdout(narrow);
    let wide = "合計".repeat(30);
    run(&["pin", &wide], "0").stdout(&format!("pin 2 (2026-11-16): {wide}\n"));
    let (start, rest) = wide.split_at(38 * 3);
    let cjk = format!("pin 2 (2026-11-16):\n    {start}\n    {rest}\n");
    run(&["pins"], "80").stdout(&format!("{narrow}{cjk}"));
    let line = format!("pin 1 (high, 2026-11-16, until 2026-11-23T03:00:00Z): {words}\n");
    run(&["pins"], "160").stdout(&format!("{line}pin 2 (2026-11-16): {wide}\n"));
    world
        .context(&["pins"])
        .run()
        .success()
        .stdout(&format!("{line}pin 2 (2026-11-16): {wide}\n"));
    assert_eq!(run(&["pins", "--json"], "80").json()[0]["text"], words);
    run(&["unpin", "1"], "80").stdout(
        "\
removed: pin 1 (high, 2026-11-16, until 2026-11-23T03:00:00Z): never push to
    main before the nightly import is through, whoever asks for it
",
    );
    // By hand: a terminal obeys nothing of it, and a program gets it escaped.
    edit(&world, "fact 1: a\u{9b}2Jb\u{7f}c\u{202e}d\n");
    run(&["notes"], "80").stdout("fact 1: abcd\n");
    assert_eq!(
        run(&["notes", "--json"], "80").json()[0]["text"],
        "a\u{9b}2Jb\u{7f}c\u{202e}d"
    );
}

/// Every argument is described, and the help fits a terminal of 80 columns.
#[test]
fn help_describes_every_argument_and_fits_80_columns() {
    let world = World::new();
    let commands = "pin pins unpin note notes done tag tags profile profile-set profile-remove";
    for command in commands.split(' ') {
        let args: Vec<&str> = command.split('-').chain(["--help"]).collect();
        let shown = world.context(&args).run().success();
        for line in shown.out().lines() {
            assert!(line.chars().count() <= 80, "{command}: {line}");
            assert!(
                !line.starts_with("session-context"),
                "{command}: an example is set in: {line}"
            );
            let is_argument =
                line.starts_with("  <") || line.starts_with("  [") || line.starts_with("      --");
            assert!(
                !is_argument || line.trim_start().contains("  "),
                "{command}: {line} has no description"
            );
        }
    }
    world
        .context(&["profile", "--help"])
        .run()
        .success()
        .stdout(
            "\
Show or set your role, preferences and rules

Usage: session-context profile [OPTIONS]
       session-context profile <COMMAND>

Commands:
  set     Write down your role, a preference or a rule [alias: add]
  remove  Remove preferences or rules by their ids, or your role

Options:
      --json          Print one JSON object per line
      --color <WHEN>  Use colors: auto, always or never [default: auto]
  -h, --help          Print help

Examples:
  session-context profile set role maintainer of the shop
  session-context profile set preference language: English
  session-context profile set rule simple solutions first
  session-context profile remove 3     what is shown as: rule 3 (2026-11-16): …
  session-context profile remove role

`session-reader profile` shows it, too; sessions are not told. Each setting is a
line in session-monitor/profile.md (see XDG_DATA_HOME in `session-context
--help`), which you can edit.
",
        );
    world
        .context(&["profile", "add", "--help"])
        .run()
        .success()
        .stdout(
            "\
Write down your role, a preference or a rule

Usage: session-context profile set [OPTIONS] <role|preference|rule> <TEXT>...

Arguments:
  <role|preference|rule>  What it is
  <TEXT>...               What to write down; no quotes needed

Options:
      --color <WHEN>  Use colors: auto, always or never [default: auto]
  -h, --help          Print help

Examples:
  session-context profile set role maintainer of the shop
  session-context profile set preference language: English
  session-context profile set rule simple solutions first

There is one role, and one preference per topic: a new `language:` replaces the
old one.
",
        );
}

/// An id that is none is no riddle: the parser of numbers said "invalid digit found in string".
#[test]
fn an_id_that_is_none_is_explained() {
    let world = World::new();
    let ids = |word: &str, shown: &str| {
        format!(
            "error: invalid value '{word}' for '<ID>...': an id is the number that {shown}\n\nFor more information, try '--help'.\n"
        )
    };
    for word in ["abc", "pin", "-1", "1.5", "99999999999"] {
        let shown = "`session-context pins` or `session-context notes` shows";
        world
            .context(&["unpin", word])
            .run()
            .status(2)
            .stdout("")
            .stderr(&ids(word, shown));
        world
            .context(&["forget", "1", word])
            .run()
            .status(2)
            .stdout("")
            .stderr(&ids(word, shown));
        let shown = "`session-context profile` shows";
        world
            .context(&["profile", "remove", word])
            .run()
            .status(2)
            .stdout("")
            .stderr(&ids(word, shown));
        world
            .context(&["profile", "remove", "1", word])
            .run()
            .status(2)
            .stdout("")
            .stderr(&ids(word, shown));
    }
}

/// 001-19: view, set role, set preference, add rule, remove rule. They belong to the user: every project sees them.
#[test]
fn the_profile_is_shown_set_and_removed_for_all_projects() {
    let world = World::new();
    let run = |args: &[&str]| world.context(&[&["profile"], args].concat()).run();
    run(&[]).status(1).stdout("").stderr(
        "session-context: nothing is set; `session-context profile set role TEXT` begins it\n",
    );
    run(&["set", "role", "developer"])
        .success()
        .stdout("role 1 (2026-11-16): developer\n");
    run(&["add", "rule", "simple", "solutions"])
        .success()
        .stdout("rule 2 (2026-11-16): simple solutions\n");
    run(&["add", "rule", "tests first"])
        .success()
        .stdout("rule 3 (2026-11-16): tests first\n");
    run(&["set", "preference", "language: French"])
        .success()
        .stdout("preference 4 (2026-11-16): language: French\n");
    run(&["set", "preference", "no emoji"])
        .success()
        .stdout("preference 5 (2026-11-16): no emoji\n");
    // There is one role, and one preference about a thing.
    run(&["set", "role", "owner"])
        .success()
        .stdout("role 1 (2026-11-16): owner\n");
    run(&["set", "preference", "Language: English"])
        .success()
        .stdout("preference 4 (2026-11-16): Language: English\n");
    run(&["set", "rule", "short answers"])
        .success()
        .stdout("rule 6 (2026-11-16): short answers\n");
    // All or nothing.
    run(&["remove", "2", "7"]).status(2).stdout("").stderr(
        "session-context: nothing has the id 7; `session-context profile` shows what there is\n",
    );
    run(&["remove", "6", "2", "6"])
        .success()
        .stdout("removed: rule 6 (2026-11-16): short answers\nremoved: rule 2 (2026-11-16): simple solutions\n");
    let expected = "role 1 (2026-11-16): owner\npreference 4 (2026-11-16): Language: English\npreference 5 (2026-11-16): no emoji\nrule 3 (2026-11-16): tests first\n";
    run(&[]).success().stdout(expected);
    world
        .context(&["profile"])
        .dir(world.path(""))
        .run()
        .success()
        .stdout(expected);
    assert_eq!(
        run(&["--json"]).success().json()[3],
        json!({"id": 3, "kind": "rule", "text": "tests first", "priority": "normal", "until": null, "created": "2026-11-16", "expired": false})
    );
    let file = world.path(".data/session-monitor/profile.md");
    assert!(
        read(&file)
            .starts_with("# session-monitor: what holds for you in every project. One line each; ")
    );
    run(&["remove", "5"])
        .success()
        .stdout("removed: preference 5 (2026-11-16): no emoji\n");
    run(&["remove", "role"])
        .success()
        .stdout("removed: role 1 (2026-11-16): owner\n");
    run(&["remove", "role"])
        .status(2)
        .stdout("")
        .stderr("session-context: no role is set; `session-context profile` shows what there is\n");
    run(&["set", "role", " \t"]).status(2).stdout("").stderr(
        "session-context: there is no text to write down; `session-context profile remove` takes something away\n",
    );
    // By hand: what is the project's is not the profile's.
    world.write(
        &file,
        "rule: by hand\npin: not here\nrole (until 2026-11-15): trainee\nrule (x): y\n",
    );
    let wrong = format!(
        "session-context: {}:4: 'x' is not high, normal, low, a date, or 'until' and a date; skipped\n",
        file.display()
    );
    run(&[])
        .status(0)
        .stdout("rule 1: by hand\n")
        .stderr(&wrong);
}

/// 001-D2: nothing is written that the user did not ask for, whatever is said.
#[test]
fn nothing_is_written_by_itself() {
    let world = sessions();
    let input = json!({"session_id": ONE, "cwd": world.path("work"), "hook_event_name": "UserPromptSubmit", "prompt": "always use tabs, never push to main; my project is a shop"});
    world.context(&[]).stdin(input.to_string()).run().status(0);
    for args in [&["explain"][..], &["doctor"], &["pins"], &["profile"]] {
        world.context(args).run();
    }
    world.reader(&["list"]).run().success();
    assert!(!world.path(".data").exists());
}

/// What the rest of the program asks.
#[test]
fn the_rest_of_the_program_reads_the_same_notes() {
    let world = World::new();
    let env = env(&world, "work");
    let now = env.now();
    let project = Project::of(&env, &env.cwd);
    let path = Notes::path(&env, project.dir());
    world.write(
        &path,
        "pin: later\npin 9 (high): first\npin (until 2026-11-15): over\nfact: f\nnext (until 2026-11-15): over\nnext: n\ndone 4f2a9c11\ndone abc (2026-11-16)\ntag b: 4f2a9c11-0000, x\ntag a: 4f2a9c11-0000\ntag b: 4f2a9c11\noops\n",
    );
    let (notes, wrong) = Notes::read(&env, project.dir());
    assert_eq!(wrong, [""; 0]);
    assert_eq!(
        notes
            .pins(now)
            .iter()
            .map(|pin| (pin.id, &*pin.text))
            .collect::<Vec<_>>(),
        [(9, "first"), (10, "later")]
    );
    let texts = |kind| {
        notes
            .notes(kind, now)
            .map(|note| note.text.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (texts(Kind::Fact), texts(Kind::Next), texts(Kind::Decision)),
        (vec!["f".into()], vec!["n".into()], vec![])
    );
    for (id, is_done) in [
        ("4f2a9c11-0000-4000", true),
        ("4f2a9c11", true),
        ("4f2a9c1", false),
        ("abc", true),
        ("abcd", false),
        ("", false),
    ] {
        assert_eq!(notes.is_done(id), is_done, "{id}");
    }
    assert_eq!(notes.tags("4f2a9c11-0000"), ["b", "a"]);
    assert_eq!(notes.tags("x"), ["b"]);
    assert_eq!(notes.tags("y"), [""; 0]);
    world.write(
        Notes::path(&env, Owner::User),
        "role: a\nrole: b\npreference: p\nrule: r\n",
    );
    let (profile, wrong) = Notes::read(&env, Owner::User);
    let said: Vec<&str> = profile.about_user(now).map(|note| &*note.text).collect();
    assert_eq!((said, wrong), (vec!["b", "p", "r"], vec![]));
}

/// Where the page is, an editor can save it.
#[test]
fn the_directory_of_the_page_is_there() {
    let world = World::new();
    std::fs::write(page(&world), "pin: written by hand\n").expect("a directory");
    world
        .context(&["pins"])
        .run()
        .success()
        .stdout("pin 1: written by hand\n");
}

/// A mistake in a page is found where mistakes are looked for.
#[test]
fn the_doctor_reads_the_pages() {
    let world = World::new();
    let page = edit(&world, "pin 1: fine\npin 2 (until someday): oops\n");
    let done = world.context(&["doctor"]).run().status(2);
    let line = done
        .out()
        .lines()
        .find(|line| line.contains("notes"))
        .map(str::to_owned)
        .unwrap_or_default();
    assert!(
        line.starts_with("!! notes") && line.contains(&format!("{}:2: ", page.display())),
        "{}",
        done.out()
    );
    edit(&world, "pin 1: fine\n");
    assert!(!world.context(&["doctor"]).run().out().contains("notes"));
}

/// A page is written only when something in it has changed, and made only for what is in it.
#[test]
fn a_page_that_does_not_change_is_not_written() {
    use std::os::unix::fs::MetadataExt;
    let world = sessions();
    let run = |args: &[&str]| world.context(args).run();
    run(&["done", ONE, "--undo"])
        .success()
        .stdout(&format!("{ONE} was not done.\n"));
    run(&["tag", "x", "--remove", "--session", ONE]).status(1);
    assert_eq!(data(&world), [""; 0]);
    run(&["done", ONE]).success();
    let inode = || std::fs::metadata(page(&world)).expect("a page").ino();
    let before = inode();
    run(&["done", ONE])
        .success()
        .stdout(&format!("{ONE} was done already.\n"));
    assert_eq!(inode(), before);
    run(&["done", TWO]).success();
    assert_ne!(inode(), before);
}

/// Ids: beyond the last one there is the first that is free; one that is too large is none.
#[test]
fn after_the_last_id_comes_the_first_free_one() {
    let world = World::new();
    let page = edit(&world, "pin 1: one\npin 999999999: last\n");
    world
        .context(&["pin", "two"])
        .run()
        .success()
        .stdout("pin 2 (2026-11-16): two\n");
    world
        .context(&["pin", "three"])
        .run()
        .success()
        .stdout("pin 3 (2026-11-16): three\n");
    world.write(&page, "pin 1: one\npin 1000000000: too large\n");
    world
        .context(&["pins"])
        .run()
        .success()
        .stdout("pin 1: one\npin 2: too large\n");
    // The same words of another kind are another note.
    world.write(&page, "fact 1: b\n");
    world
        .context(&["note", "next", "b"])
        .run()
        .success()
        .stdout("next 2 (2026-11-16): b\n");
    world
        .context(&["notes"])
        .run()
        .success()
        .stdout("next 2 (2026-11-16): b\nfact 1: b\n");
}

/// Times that are none, and `until` that is no word.
#[test]
fn a_time_that_is_none_is_no_end() {
    let world = World::new();
    for known in [
        "until2026-11-20",
        "2026-11-16T10:00:00 CET",
        "2026-11-16T10:00:00[Europe/Paris]",
        "16.11.2026",
    ] {
        let page = edit(&world, format!("pin ({known}): x\n"));
        let error = format!(
            "session-context: {}:1: '{known}' is not high, normal, low, a date, or 'until' and a date; skipped\n",
            page.display()
        );
        let none =
            "session-context: no pins in this project; `session-context pin TEXT` adds one\n";
        world
            .context(&["pins"])
            .run()
            .status(1)
            .stdout("")
            .stderr(&(error + none));
    }
}

/// The first line of a page names its project on that line; the file is called like the directory, but is not hidden.
#[test]
fn a_page_of_an_odd_directory_names_it_on_one_line() {
    let world = World::new();
    for (dir, name, head) in [
        ("..hidden", "hidden-", "~/..hidden"),
        ("two\nlines", "two-lines-", "~/two lines"),
    ] {
        std::fs::create_dir_all(world.path(dir)).expect("a directory");
        world
            .context(&["pin", "x"])
            .dir(world.path(dir))
            .run()
            .success();
        let page = page_in(&world, dir);
        assert!(
            page.file_name()
                .is_some_and(|file| file.to_string_lossy().starts_with(name)),
            "{}",
            page.display()
        );
        let head = format!(
            "# session-monitor: notes of {head}. One line each; change or delete them as you like.\n\n"
        );
        assert_eq!(read(&page), head + "pin 1 (2026-11-16): x\n");
    }
}

/// One preference about a thing, which is one word before a colon or an equals sign; what takes the place of another was
/// written when it was written.
#[test]
fn there_is_one_preference_about_a_thing() {
    let world = World::new();
    let set = |now: &str, kind: &str, text: &str, expected: &str| {
        at(&world, now, &["profile", "set", kind, text])
            .success()
            .stdout(&format!("{expected}: {text}\n"));
    };
    let (today, later) = ("2026-11-16T03:00:00Z", "2026-11-18T03:00:00Z");
    set(
        today,
        "preference",
        "language=French",
        "preference 1 (2026-11-16)",
    );
    set(
        later,
        "preference",
        "Language : English",
        "preference 1 (2026-11-18)",
    );
    set(
        today,
        "preference",
        "in the tests: tabs",
        "preference 2 (2026-11-16)",
    );
    set(
        today,
        "preference",
        "in the tests: blanks",
        "preference 3 (2026-11-16)",
    );
    set(today, "role", "developer", "role 4 (2026-11-16)");
    set(later, "role", "developer", "role 4 (2026-11-16)");
    set(later, "role", "owner", "role 4 (2026-11-18)");
    // Marks belong to projects: here they are the user's own words.
    let file = world.path(".data/session-monitor/profile.md");
    world.write(&file, "done\ntag x\nrule 1: simple\n");
    world
        .context(&["profile"])
        .run()
        .success()
        .stdout("rule 1: simple\n")
        .stderr("");
}
