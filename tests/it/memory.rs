//! What the hook remembers of files between two looks: which file is which, what is missing, what was opened in vain.
//!
//! A file is the same if its mark holds, under whatever path. What is missing may come back for a week. Neither an old nor
//! a new modification time hides anything or costs anything twice. A clock that goes back hides nothing. However little
//! time there is, every look gets further.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::claude::{asked, prompt, said};
use crate::support::files::read_json;
use crate::support::hook::{
    block, hook, input, one_said, replace_saved, saved, text, told, told_after,
};
use crate::support::times::ago;
use crate::support::world::{ME, ONE, THREE, TWO, World, home};

/// Sets the modification time of a file, by how many seconds it lies ahead.
fn modified(path: &Path, ahead: i64) {
    let now = SystemTime::now();
    let distance = Duration::from_secs(ahead.unsigned_abs());
    let time = if ahead < 0 {
        now - distance
    } else {
        now + distance
    };
    File::options()
        .append(true)
        .open(path)
        .and_then(|file| file.set_modified(time))
        .expect("stamped");
}

/// A prompt as a line that has no id, so that nothing but its place tells whether it was told.
fn line_without_id(world: &World, minutes: i64, text: &str) -> String {
    let mut line: Value = serde_json::from_str(&said(world, minutes, text)).expect("JSON");
    line.as_object_mut().expect("an object").remove("uuid");
    format!("{line}\n")
}

fn remembered(world: &World) -> usize {
    saved(world, ME)[ME].as_object().expect("sessions").len() - 1
}

/// A file system gives the inode of a deleted file to the next one. That one was called by the title of the other, and what
/// it had said before the last look was lost.
#[test]
fn another_file_with_the_same_inode_is_another_session() {
    let world = World::new();
    let title = r#"{"type":"custom-title","customTitle":"the old one","sessionId":"x"}"#;
    let one = asked(&world, ONE, 9, "one");
    world.append(&one, format!("{title}\n"));
    assert_eq!(
        told(&world),
        block(&["- \"the old one\" (9m ago, 1 message): \"one\""])
    );
    // The same inode with another path and other content.
    fs::rename(&one, world.transcript(TWO)).expect("renamed");
    let two = asked(&world, TWO, 8, "a question of another session");
    assert_eq!(
        told(&world),
        block(&["- 22222222 (8m ago, 1 message): \"a question of another session\""])
    );
    // A file that was only moved is still the same.
    fs::rename(&two, world.transcript(THREE)).expect("renamed");
    assert_eq!(told(&world), "");
    world.append(world.transcript(THREE), said(&world, 7, "and on"));
    assert_eq!(
        told_after(&world, 2),
        block(&["- 33333333 (9m ago, 1 message): \"and on\""])
    );
    assert_eq!(told_after(&world, 2), "");
}

/// The same where nothing of the first file was left to tell the two apart by: the other one is of another project.
#[test]
fn another_file_with_the_inode_of_an_empty_one_is_another_session() {
    let world = World::new();
    let one = asked(&world, ONE, 9, "one");
    assert_eq!(told(&world), one_said(9, "one"));
    fs::write(&one, "").expect("emptied");
    assert_eq!(told(&world), "");
    fs::write(
        &one,
        prompt(&world.path("elsewhere"), &ago(-1), "none of your business"),
    )
    .expect("written");
    fs::rename(&one, world.transcript(TWO)).expect("renamed");
    assert_eq!(told_after(&world, 2), "");
}

/// An unmounted volume, a directory that is moved away and back: nothing is lost, nothing is told again.
#[test]
fn a_directory_that_is_away_for_a_look_loses_nothing() {
    for named in [false, true] {
        let world = World::new();
        if named {
            home(&world, ".volute", &[("main", ME), ("one", ONE)]);
        }
        let name = if named { "one" } else { "11111111" };
        let one = asked(&world, ONE, 9, "one");
        assert_eq!(
            told(&world),
            block(&[format!("- {name} (9m ago, 1 message): \"one\"")])
        );
        world.append(&one, said(&world, 8, "unread"));
        let (there, away) = (world.path(".claude/projects"), world.path(".claude/away"));
        fs::rename(&there, &away).expect("away");
        assert_eq!(told(&world), "", "named: {named}");
        assert_eq!(told(&world), "", "named: {named}");
        fs::rename(&away, &there).expect("back");
        assert_eq!(
            told(&world),
            block(&[format!("- {name} (8m ago, 1 message): \"unread\"")])
        );
        assert_eq!(told(&world), "", "named: {named}");
    }
}

/// A name that is missing for a look keeps its place.
#[test]
fn a_name_that_is_missing_for_a_look_keeps_its_place() {
    let world = World::new();
    home(&world, ".volute", &[("main", ME), ("one", ONE)]);
    let one = asked(&world, ONE, 9, "one");
    assert_eq!(told(&world), block(&["- one (9m ago, 1 message): \"one\""]));
    let file = world.path("work/.volute/sessions/one.json");
    let name = fs::read(&file).expect("a name");
    fs::remove_file(&file).expect("removed");
    assert_eq!(told(&world), "");
    world.append(&one, said(&world, 8, "two"));
    assert_eq!(told(&world), "");
    fs::write(&file, name).expect("written");
    assert_eq!(told(&world), block(&["- one (8m ago, 1 message): \"two\""]));
    assert_eq!(told(&world), "");
}

/// What has been missing for more than a week is forgotten.
#[test]
fn what_is_gone_is_forgotten_after_a_week() {
    let world = World::new();
    let one = asked(&world, ONE, 9, "one");
    told(&world);
    assert_eq!(remembered(&world), 1);
    fs::remove_file(one).expect("removed");
    for (day, count) in [(16, 1), (22, 1), (24, 0)] {
        let now = format!("2026-11-{day}T03:00:00Z");
        let done = hook(&world, &[], &input(&world, ME))
            .env("SESSION_MONITOR_NOW", now)
            .run()
            .success();
        assert_eq!(
            (text(&done), remembered(&world)),
            (String::new(), count),
            "on day {day}"
        );
    }
}

/// A session that was deleted and comes back as another file was told before, however much was told since.
#[test]
fn a_session_that_is_restored_is_not_told_again() {
    let world = World::new();
    let one = asked(&world, ONE, 9, "one");
    told(&world);
    let content = fs::read(&one).expect("a transcript");
    fs::remove_file(&one).expect("removed");
    let two = asked(&world, TWO, 9, "two");
    for number in 0..70 {
        world.append(&two, said(&world, 8, &format!("text number {number}")));
    }
    assert!(told(&world).contains("71 messages"));
    // At its old place, and at another.
    fs::write(&one, &content).expect("restored");
    assert_eq!(told(&world), "");
    fs::remove_file(&one).expect("removed");
    assert_eq!(told(&world), "");
    world.write(format!(".claude/projects/-restored/{ONE}.jsonl"), &content);
    assert_eq!(told(&world), "");
}

/// A session is known by its id wherever its file turns up, also if it was copied there and rewritten on the way.
#[test]
fn a_session_that_moves_and_is_rewritten_is_known_by_its_id() {
    for named in [false, true] {
        let world = World::new();
        if named {
            home(&world, ".volute", &[("main", ME), ("one", ONE)]);
        }
        let name = if named { "one" } else { "11111111" };
        let mut file = world.claude(ONE, &line_without_id(&world, 9, "one"));
        assert_eq!(
            told(&world),
            block(&[format!("- {name} (9m ago, 1 message): \"one\"")])
        );
        for (looks, dir) in [(0, "-moved"), (1, "-home-of-nobody"), (2, "-moved")] {
            let lines = fs::read_to_string(&file).expect("a transcript");
            fs::remove_file(&file).expect("removed");
            for _ in 0..looks {
                assert_eq!(told(&world), "", "named: {named}, to {dir}");
            }
            file = world.path(format!(".claude/projects/{dir}/{ONE}.jsonl"));
            world.write(&file, format!("{{\"type\":\"padding\"}}\n{lines}"));
            assert_eq!(told(&world), "", "named: {named}, to {dir}");
        }
        world.append(&file, line_without_id(&world, -1, "and on"));
        let news = block(&[format!("- {name} (1m ago, 1 message): \"and on\"")]);
        assert_eq!(told_after(&world, 2), news, "named: {named}");
        assert_eq!(told_after(&world, 2), "", "named: {named}");
    }
}

/// A file that lost its end and gets it back says nothing new, even if the clock was set back and no times can be compared.
#[test]
fn an_end_that_is_lost_and_comes_back_is_no_news() {
    const BACK: i64 = 30;
    let world = World::new();
    let one = world.claude(ONE, &line_without_id(&world, BACK + 9, "one"));
    let beginning = fs::read(&one).expect("a transcript");
    world.append(&one, line_without_id(&world, BACK + 8, "two"));
    let whole = fs::read(&one).expect("a transcript");
    assert!(told(&world).contains("two"));
    fs::write(&one, beginning).expect("cut");
    assert_eq!(told_after(&world, -BACK), "");
    fs::write(&one, whole).expect("whole again");
    assert_eq!(told_after(&world, 1 - BACK), "");
    world.append(&one, line_without_id(&world, BACK - 2, "three"));
    assert_eq!(told_after(&world, 3 - BACK), one_said(1, "three"));
}

/// Messages from a clock that is ahead are told once, also when their file is written anew.
#[test]
fn messages_from_the_future_are_told_once() {
    let world = World::new();
    let one = asked(&world, ONE, 9, "one");
    world.append(&one, said(&world, -90, "from a clock that is ahead"));
    assert!(told(&world).contains("from a clock that is ahead"));
    let lines = fs::read_to_string(&one).expect("a transcript");
    fs::write(&one, format!("{}{lines}", said(&world, 10, "zero"))).expect("written anew");
    assert_eq!(told(&world), "");
    world.append(&one, said(&world, -1, "next"));
    assert_eq!(told_after(&world, 2), one_said(1, "next"));
}

/// A copy that keeps the modification time of its original (`rsync -t`, `cp -p`) is new all the same.
#[test]
fn an_old_modification_time_hides_nothing() {
    let world = World::new();
    asked(&world, TWO, 9, "two");
    told(&world);
    modified(&asked(&world, ONE, 5, "brought along"), -3 * 24 * 3600);
    assert_eq!(told(&world), one_said(5, "brought along"));
    assert_eq!(told(&world), "");
}

/// Files whose modification time is new, or even to come, are opened once and not at every look.
#[test]
fn a_new_modification_time_costs_one_look() {
    for ahead in [0, 100_000] {
        let world = World::new();
        let files: Vec<_> = [ONE, TWO]
            .iter()
            .map(|id| asked(&world, id, 150, "long ago"))
            .collect();
        files.iter().for_each(|file| modified(file, ahead));
        let why = |shown: &str| {
            let explained = world
                .context(&["explain", "--all", "--session", ME])
                .run()
                .success();
            assert_eq!(
                explained.out().matches(shown).count(),
                2,
                "ahead: {ahead}\n{}",
                explained.out()
            );
        };
        asked(&world, ME, 1, "mine");
        why("quiet for longer than that");
        for _ in 0..2 {
            assert_eq!(told(&world), "");
            why("quiet since before the last look");
        }
        world.append(&files[0], said(&world, 3, "new"));
        modified(&files[0], ahead);
        assert_eq!(told(&world), one_said(3, "new"), "ahead: {ahead}");
    }
}

/// A clock that is set back by hours hides no session that begins then.
#[test]
fn a_clock_that_is_set_back_hides_no_new_session() {
    const BACK: i64 = 120;
    let world = World::new();
    asked(&world, TWO, 9, "before");
    assert!(told(&world).contains("before"));
    let one = asked(&world, ONE, BACK + 2, "after");
    assert_eq!(told_after(&world, -BACK), one_said(2, "after"));
    // Also if its file is written anew.
    fs::write(
        &one,
        said(&world, BACK + 3, "first") + &said(&world, BACK - 1, "last"),
    )
    .expect("written anew");
    assert_eq!(told_after(&world, 2 - BACK), one_said(1, "last"));
    assert_eq!(told_after(&world, 3 - BACK), "");
}

/// With no time at all, every look reads one session, the newest first, and all are told once.
#[test]
fn every_look_gets_further() {
    let world = World::new();
    let id = |number: usize| format!("{number:08}-0000-4000-8000-000000000000");
    for number in 0..7 {
        modified(
            &asked(&world, &id(number), 9, &format!("question {number}")),
            number as i64 - 60,
        );
    }
    for number in (0..7).rev() {
        let late = hook(&world, &[], &input(&world, ME))
            .env("SESSION_CONTEXT_DEADLINE", "1ns")
            .run()
            .status(0);
        let bullet = format!(
            "- {} (9m ago, 1 message): \"question {number}\"",
            &id(number)[..8]
        );
        assert_eq!(text(&late), block(&[bullet]), "{}", late.err());
        let rest = if number > 0 {
            "session-context: not everything was read within 1ns; the rest follows\n"
        } else {
            ""
        };
        assert_eq!(late.err(), rest);
    }
    assert_eq!(told(&world), "");
}

/// A line of gigabytes without an end is not searched to its start; what comes after it is told, and so is everybody else.
#[test]
fn a_line_of_gigabytes_hides_nothing_after_it() {
    for known in [false, true] {
        let world = World::new();
        let one = asked(&world, ONE, 9, "one");
        if known {
            assert_eq!(told(&world), one_said(9, "one"));
        }
        let size = fs::metadata(&one).expect("a file").len();
        File::options()
            .write(true)
            .open(&one)
            .and_then(|file| file.set_len(size + (6 << 30)))
            .expect("a hole");
        asked(&world, TWO, 8, "two");
        assert_eq!(
            told(&world),
            block(&["- 22222222 (8m ago, 1 message): \"two\""]),
            "known: {known}"
        );
        assert_eq!(told(&world), "", "known: {known}");
        world.append(&one, format!("\n{}", said(&world, 7, "after it")));
        let (more, ended) = (told(&world), told(&world));
        assert!(
            more.contains("\"after it\"") && !more.contains("\"one\""),
            "known: {known}\n{more}"
        );
        assert_eq!(ended, "", "known: {known}");
    }
}

/// A session that could not be read in time, and then is missing for a look, is told when it is back.
#[test]
fn a_session_that_was_never_told_may_be_missing_for_a_look() {
    let world = World::new();
    let (one, two) = (asked(&world, ONE, 9, "one"), asked(&world, TWO, 8, "two"));
    modified(&one, -60);
    modified(&two, -30);
    let late = hook(&world, &[], &input(&world, ME))
        .env("SESSION_CONTEXT_DEADLINE", "1ns")
        .run()
        .status(0);
    assert_eq!(
        text(&late),
        block(&["- 22222222 (8m ago, 1 message): \"two\""])
    );
    // It is still to be read, and missing for a look.
    let away = world.path("away");
    fs::rename(&one, &away).expect("away");
    assert_eq!(told(&world), "");
    fs::rename(&away, &one).expect("back");
    assert_eq!(told(&world), one_said(9, "one"));
}

/// What killed processes left, and what observers have seen that are gone for months, is removed with the first look of a
/// new one; what belongs to others is not.
#[test]
fn leftovers_are_removed() {
    const MONTHS: i64 = -100 * 24 * 3600;
    let world = World::new();
    asked(&world, ONE, 9, "one");
    let dir = ".state/session-monitor/cursors";
    let left = |name: &str, age: i64| {
        let path = world.write(format!("{dir}/{name}"), "{}");
        modified(&path, age);
        path
    };
    let gone = [
        left(".agent-sdk-x.json.0123456789abcdef.tmp", -2 * 3600),
        left("agent-sdk-old.json", MONTHS),
        left("agent-sdk-old.lock", MONTHS),
        left("agent-sdk-alone.lock", MONTHS),
    ];
    let kept = [
        left(".agent-sdk-y.json.0123456789abcdef.tmp", 0),
        left(".mine.tmp", MONTHS),
        left("agent-sdk-young.json", -3600),
        left("agent-sdk-young.lock", MONTHS),
        left("notes.txt", MONTHS),
        left("agent-sdk-held.json", MONTHS),
    ];
    let held = File::create(world.path(format!("{dir}/agent-sdk-held.lock"))).expect("a lock");
    held.lock().expect("locked");
    told(&world);
    assert_eq!(gone.map(|path| path.exists()), [false; 4]);
    assert_eq!(kept.map(|path| path.exists()), [true; 6]);
}

/// So many sessions that not even their stamps can be looked at in time. Each look goes on with those that no look has been
/// to, also if files disappear meanwhile.
#[test]
fn a_walk_that_is_cut_short_goes_on() {
    const MANY: usize = 700;
    /// How many files a look gets to that has no time.
    const LEAST: usize = 256;
    let world = World::new();
    for number in 0..MANY {
        world.write(
            format!(".claude/projects/-other/{number:08}-0000-4000-8000-000000000000.jsonl"),
            "",
        );
    }
    // Opened once, and then known to have nothing to say.
    assert_eq!(told(&world), "");
    // In the order in which the directory lists them.
    let listed = fs::read_dir(world.path(".claude/projects/-other")).expect("a directory");
    let files: Vec<_> = listed
        .map(|entry| entry.expect("an entry").path())
        .collect();
    world.append(&files[LEAST + 40], said(&world, 9, "question"));
    let look = || {
        let late = hook(&world, &[], &input(&world, ME))
            .env("SESSION_CONTEXT_DEADLINE", "1ns")
            .run()
            .status(0);
        text(&late).matches("question").count()
    };
    let mut told = vec![look()];
    files[..100]
        .iter()
        .for_each(|file| fs::remove_file(file).expect("removed"));
    told.extend((1..MANY.div_ceil(LEAST)).map(|_| look()));
    assert_eq!(told.iter().sum::<usize>(), 1, "{told:?}");
    assert_eq!(
        saved(&world, ME)[ME]["."]["unfinished"],
        Value::Null,
        "the walk is complete"
    );
}

/// A walk that an earlier version cut short starts anew.
#[test]
fn a_walk_of_an_earlier_version_starts_anew() {
    let world = World::new();
    asked(&world, TWO, 9, "two");
    told(&world);
    let mut old = saved(&world, ME);
    old[ME]["."]["walk"] = serde_json::json!([5000, 1]);
    replace_saved(&world, ME, &old);
    asked(&world, ONE, 8, "one");
    assert_eq!(told(&world), one_said(8, "one"));
    assert_eq!(saved(&world, ME)[ME]["."]["walk"], Value::Null);
}

/// A name that stands for another session for a while. What was told of the first is not told again when it is back.
#[test]
fn a_name_that_comes_back_to_its_session_tells_nothing_again() {
    let world = World::new();
    home(&world, ".volute", &[("main", ME), ("one", ONE)]);
    let one = world.claude(ONE, &line_without_id(&world, 9, "first"));
    assert_eq!(
        told(&world),
        block(&["- one (9m ago, 1 message): \"first\""])
    );
    world.claude(TWO, &line_without_id(&world, 8, "second"));
    home(&world, ".volute", &[("one", TWO)]);
    assert_eq!(
        told(&world),
        block(&["- one (8m ago, 1 message): \"second\""])
    );
    home(&world, ".volute", &[("one", ONE)]);
    assert_eq!(told(&world), "");
    world.append(one, line_without_id(&world, 7, "third"));
    assert_eq!(
        told(&world),
        block(&["- one (7m ago, 1 message): \"third\""])
    );
    home(&world, ".volute", &[("one", TWO)]);
    assert_eq!(told(&world), "");
}

/// A session that moves keeps its title: what is known of its old path is no second session.
#[test]
fn a_session_that_moves_keeps_its_title() {
    let world = World::new();
    let one = asked(&world, ONE, 9, "one");
    world.append(
        &one,
        "{\"type\":\"custom-title\",\"customTitle\":\"the parser\",\"sessionId\":\"x\"}\n",
    );
    assert_eq!(
        told(&world),
        block(&["- \"the parser\" (9m ago, 1 message): \"one\""])
    );
    let moved = world.write(format!(".claude/projects/-moved/{ONE}.jsonl"), "");
    fs::rename(one, &moved).expect("moved");
    world.append(moved, said(&world, 8, "two"));
    assert_eq!(
        told(&world),
        block(&["- \"the parser\" (8m ago, 1 message): \"two\""])
    );
}

/// A name file that is empty or missing for a look: its session keeps its name, and is not told everything again.
#[test]
fn an_observer_keeps_its_name() {
    for torn in [Some(""), Some("{\"sessionId\":\"aaaa"), None] {
        let world = World::new();
        home(&world, ".volute", &[("main", ME), ("one", ONE)]);
        let one = asked(&world, ONE, 9, "one");
        assert_eq!(told(&world), block(&["- one (9m ago, 1 message): \"one\""]));
        let file = world.path("work/.volute/sessions/main.json");
        match torn {
            Some(text) => fs::write(&file, text).expect("written"),
            None => fs::remove_file(&file).expect("removed"),
        }
        assert_eq!(told(&world), "", "{torn:?}");
        world.append(&one, said(&world, 8, "two"));
        assert_eq!(
            told(&world),
            block(&["- one (8m ago, 1 message): \"two\""]),
            "{torn:?}"
        );
        home(&world, ".volute", &[("main", ME)]);
        assert_eq!(told(&world), "", "{torn:?}");
        let saved = read_json(&world.path("work/.volute/session-cursors.json"));
        assert_eq!(
            saved
                .as_object()
                .expect("observers")
                .keys()
                .collect::<Vec<_>>(),
            ["main"],
            "{torn:?}"
        );
    }
}

/// A home's cursors: the file as it is read and written.
fn home_cursors(world: &World) -> std::path::PathBuf {
    world.path("work/.volute/session-cursors.json")
}

/// An earlier version noted a session that it could not read yet by its name alone. That must not take the place of what is
/// known once it was read.
#[test]
fn a_name_that_was_noted_without_a_file_is_told_once() {
    let world = World::new();
    home(&world, ".volute", &[("main", ME), ("one", ONE)]);
    let noted = serde_json::json!({"main": {"one": {"offset": 0, "unread": true}}});
    world.write(home_cursors(&world), noted.to_string());
    world.claude(ONE, &line_without_id(&world, 9, "first"));
    assert_eq!(
        told(&world),
        block(&["- one (9m ago, 1 message): \"first\""])
    );
    assert_eq!(told(&world), "");
    let kept = read_json(&home_cursors(&world));
    assert_eq!(
        kept["main"]["one"]["path"],
        world.transcript(ONE).to_str().expect("UTF-8")
    );
}

/// Of two names, the one that lasts counts, whichever comes first.
#[test]
fn a_session_with_two_names_goes_by_the_one_that_lasts() {
    for other in ["new-17", "zoo"] {
        let world = World::new();
        home(
            &world,
            ".volute",
            &[("main", ME), ("ops", ONE), (other, ONE)],
        );
        world.claude(ONE, &line_without_id(&world, 9, "first"));
        assert_eq!(
            told(&world),
            block(&["- ops (9m ago, 1 message): \"first\""]),
            "{other}"
        );
        assert_eq!(told(&world), "", "{other}");
    }
}

/// An earlier version kept what was seen under a name for days after the session got another one.
#[test]
fn of_two_entries_for_one_file_the_later_counts() {
    let world = World::new();
    home(&world, ".volute", &[("main", ME), ("ann", ONE)]);
    let one = world.claude(ONE, &line_without_id(&world, 9, "first"));
    told(&world);
    let before = read_json(&home_cursors(&world))["main"]["ann"].clone();
    world.append(one, line_without_id(&world, 8, "second"));
    told(&world);
    let mut kept = read_json(&home_cursors(&world));
    kept["main"]["bob"] = before;
    kept["main"]["bob"]["absent"] = kept["main"]["ann"]["seen"].clone();
    world.write(home_cursors(&world), kept.to_string());
    assert_eq!(told(&world), "");
}
