//! The file of cursors: where it is, who may use it at once, when it is written, and what happens if it is broken, locked,
//! unwritable or written by another hand.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rustix::process::Resource;
use serde_json::json;
use session_core::file::Stamp;
use session_core::state::cursors::{CursorFile, Cursors};
use session_core::state::sessions::Changes;
use session_format::budget::Deadline;

use crate::support::claude::{asked, prompt, said};
use crate::support::files::{file_clock, files, files_below, read_json, written_ago};
use crate::support::hook::{
    HOUR_IN_MICROS, block, cursors, hook, input, one_said, replace_saved, saved, text, told,
    told_to,
};
use crate::support::run::limit;
use crate::support::times::ago;
use crate::support::trouble::Tells::{Both, Nothing};
use crate::support::trouble::{AGAIN, ALPHA, Check, JOURNAL, OBSERVER, Scene, cleared, words};
use crate::support::world::{ME, ONE, THREE, TWO, World, home};

/// 003-09, 003-T15, 003-T16, 003-T20: in a named home there is one file for all, of the shape that the design shows.
#[test]
fn a_named_home_has_one_file() {
    for dir in [".volute", ".mind"] {
        let world = World::new();
        let cwd = world.path("work");
        home(&world, dir, &[("main", ME), ("discord", ONE)]);
        let transcript = asked(&world, ONE, 3, "how do I deploy this?");
        let pi = format!(
            "{}\n{}\n{}\n",
            json!({"type": "session", "version": 3, "id": "p", "timestamp": ago(9), "cwd": cwd}),
            json!({"type": "message", "id": "1", "timestamp": ago(9), "message": {"role": "user", "content": [{"type": "text", "text": "send mail"}]}}),
            json!({"type": "message", "id": "2", "timestamp": ago(8), "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "mail"}}]}}),
        );
        world.write(format!("work/{dir}/pi-sessions/email/1_p.jsonl"), &pi);
        asked(&world, TWO, 1, "not in this home");
        let expected = [
            "- discord (3m ago, 1 message): \"how do I deploy this?\"",
            "- pi:email (8m ago, 2 messages): \"send mail\"; no result yet: \"mail\"",
        ];
        assert_eq!(told(&world), block(&expected), "{dir}");
        assert_eq!(told(&world), "");
        let file = world.path(format!("work/{dir}/session-cursors.json"));
        let saved = read_json(&file);
        assert_eq!(
            saved["main"]["discord"]["offset"],
            std::fs::metadata(&transcript).expect("a file").len()
        );
        assert_eq!(saved["main"]["email"]["offset"], pi.len());
        assert_eq!(
            saved
                .as_object()
                .expect("observers")
                .keys()
                .collect::<Vec<_>>(),
            ["main"]
        );
        assert_eq!(
            std::fs::metadata(&file).expect("a file").mode() & 0o777,
            0o600
        );
        assert!(!world.path(".state/session-monitor/cursors").exists());
        // The second observer writes into the same file; one without a name does so under its id.
        for id in [ONE, THREE] {
            assert!(told_to(&world, id).contains("- pi:email (8m ago"), "{dir}");
        }
        let again = read_json(&file);
        assert_eq!(
            again
                .as_object()
                .expect("observers")
                .keys()
                .collect::<Vec<_>>(),
            [THREE, "discord", "main"]
        );
        assert_eq!(again["main"], saved["main"]);
        assert_eq!(again["discord"]["email"]["offset"], pi.len());
    }
}

/// 003-T17, 003-T19, 003-21, 003-L01, 003-L10: what has no transcript, or is thrown away, is not there.
#[test]
fn names_without_a_transcript_are_not_told() {
    let world = World::new();
    home(
        &world,
        ".volute",
        &[("main", ME), ("new-1", ONE), ("gone", TWO)],
    );
    asked(&world, ONE, 3, "throw-away");
    std::fs::create_dir_all(world.path("work/.volute/pi-sessions/empty")).expect("a folder");
    world.write("work/.volute/sessions/broken.json", "{");
    assert_eq!(told(&world), "");
    asked(&world, TWO, 2, "there now");
    assert_eq!(
        told(&world),
        block(&["- gone (2m ago, 1 message): \"there now\""])
    );
}

/// 003-T18, 003-23: a file by another program, with offsets alone, is understood, and what is not ours is kept as it is.
#[test]
fn cursors_by_another_program_are_understood_and_kept() {
    let world = World::new();
    let cwd = world.path("work");
    home(&world, ".volute", &[("main", ME), ("discord", ONE)]);
    let (old, new) = (
        prompt(&cwd, &ago(100), "seen"),
        prompt(&cwd, &ago(90), "not seen, though long ago"),
    );
    world.claude(ONE, &(old.clone() + &new));
    let others = r#"{"z":{"discord":{"offset": 7, "theirs":[1,2.50,"\u0041"]}},"main":{"discord":{"offset":OFFSET}},"a":{"offset" : 1}}"#;
    let file = world.write(
        "work/.volute/session-cursors.json",
        others.replace("OFFSET", &old.len().to_string()),
    );
    assert_eq!(
        told(&world),
        block(&["- discord (1h ago, 1 message): \"not seen, though long ago\""])
    );
    let saved = std::fs::read_to_string(&file).expect("a file");
    for kept in [
        r#""z":{"discord":{"offset": 7, "theirs":[1,2.50,"\u0041"]}}"#,
        r#""a":{"offset" : 1}"#,
    ] {
        assert!(saved.contains(kept), "{saved}");
    }
    assert_eq!(
        read_json(&file)["main"]["discord"]["offset"],
        old.len() + new.len()
    );
    assert_eq!(told(&world), "");
    // Far beyond the end, and in the middle of a line: read again, as far as it is news to a first look.
    for offset in [9_999_999, old.len() + 10] {
        world.claude(
            ONE,
            &(old.clone() + &new + &prompt(&cwd, &ago(5), "recent")),
        );
        std::fs::write(&file, others.replace("OFFSET", &offset.to_string())).expect("written");
        assert_eq!(
            told(&world),
            block(&["- discord (5m ago, 1 message): \"recent\""]),
            "{offset}"
        );
    }
}

/// Files of our own are ours alone, and are written only when there is something to write.
#[test]
fn cursors_are_private_and_written_only_when_needed() {
    let world = World::new();
    asked(&world, ONE, 3, "x");
    assert!(!told(&world).is_empty());
    let state = world.path(".state/session-monitor");
    let before = files(&state);
    assert!(before.len() >= 5, "{:?}", before.keys());
    for (path, (content, _, mode)) in &before {
        assert_eq!(
            *mode,
            if content.is_some() { 0o600 } else { 0o700 },
            "{}",
            path.display()
        );
    }
    assert_eq!(told(&world), "");
    assert_eq!(files(&state), before, "bytes and times");
    let path = world.transcript(ONE);
    let size = std::fs::metadata(&path).expect("a file").len();
    assert_eq!(
        saved(&world, ME)[ME][path.to_str().expect("UTF-8")]["offset"],
        size
    );
}

/// 003-T21, 003-L09: what cannot be read as cursors is said and taken as not there, and replaced.
#[test]
fn broken_cursors_are_said_and_replaced() {
    let newer = format!(r#"{{"{ME}":{{".":{{"version":99,"since":0,"clock":0}}}}}}"#);
    let odd = format!(r#"{{"{ME}":[1]}}"#);
    let newer_table = format!("session-monitor cursors 2\n{}", "x".repeat(200));
    // What an earlier version left, and the file of this one.
    let cases = [
        ("json", "garbage\n", Some("no cursors (")),
        ("json", "[1,2]", Some("no cursors (")),
        ("json", "{\"a\":", Some("no cursors (")),
        ("json", "\u{0}\u{0}\u{0}", Some("no cursors (")),
        ("json", &odd, Some(&*format!("no cursors of {ME} ("))),
        (
            "json",
            &newer,
            Some("written by a newer version; taken as not there"),
        ),
        ("json", "", None),
        ("json", "{}", None),
        ("bin", "garbage\n", Some("no cursors (")),
        ("bin", &*"\u{0}".repeat(300), Some("no cursors (")),
        (
            "bin",
            &newer_table,
            Some("written by a newer version; taken as not there"),
        ),
        ("bin", "", None),
    ];
    for (end, content, problem) in cases {
        let world = World::new();
        asked(&world, ONE, 3, "x");
        world.write(
            format!(".state/session-monitor/cursors/agent-sdk-{ME}.{end}"),
            content,
        );
        let done = hook(&world, &[], &input(&world, ME)).run().status(0);
        assert_eq!(
            text(&done),
            block(&["- 11111111 (3m ago, 1 message): \"x\""]),
            "{content}"
        );
        match problem {
            Some(problem) => {
                let file = cursors(&world, ME).with_extension(end);
                let start = format!("session-context: {}: {problem}", file.display());
                assert!(
                    done.err().starts_with(&start)
                        && done.err().ends_with("; taken as not there\n"),
                    "{}",
                    done.err()
                );
                assert_eq!(done.err().matches('\n').count(), 1);
            }
            None => assert_eq!(done.err(), ""),
        }
        assert_eq!(told(&world), "", "{content}");
    }
}

/// 003-D17: observers that save at once lose nothing of each other.
#[test]
fn observers_that_save_at_once_lose_nothing() {
    let world = World::new();
    let names: Vec<(String, String)> = (0..8)
        .map(|number| (format!("n{number}"), format!("{number:08}-0000")))
        .collect();
    home(
        &world,
        ".volute",
        &names
            .iter()
            .map(|(name, id)| (&**name, &**id))
            .collect::<Vec<_>>(),
    );
    for (name, id) in &names {
        asked(&world, id, 3, name);
    }
    std::thread::scope(|scope| {
        for (_, id) in &names {
            let world = &world;
            scope.spawn(move || assert!(!told_to(world, id).is_empty()));
        }
    });
    let saved = read_json(&world.path("work/.volute/session-cursors.json"));
    assert_eq!(saved.as_object().expect("observers").len(), 8);
    assert!(
        saved
            .as_object()
            .expect("observers")
            .values()
            .all(|view| view.as_object().is_some_and(|view| view.len() == 8)),
        "{saved}"
    );
}

/// 003-L08: who waits for another process longer than it may says so, and tells with the next prompt.
#[test]
fn who_waits_too_long_for_the_cursors_tells_next_time() {
    let world = World::new();
    asked(&world, ONE, 3, "x");
    let lock = world.write(
        format!(".state/session-monitor/cursors/agent-sdk-{ME}.lock"),
        "",
    );
    let held = std::fs::File::open(&lock).expect("a lock");
    held.lock().expect("locked");
    let run = hook(&world, &[], &input(&world, ME)).env("SESSION_CONTEXT_LOOKS", "5");
    run.run().status(0).stdout("").stderr(
        "session-context: the cursors are in use; what is new will be told with the next prompt\n",
    );
    drop(held);
    assert_eq!(
        told(&world),
        block(&["- 11111111 (3m ago, 1 message): \"x\""])
    );
}

/// 003-D21: what could not be delivered was not told.
#[test]
fn undelivered_is_untold() {
    let world = World::new();
    asked(&world, ONE, 3, "x");
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full");
    let (_, closed) = std::io::pipe().expect("a pipe");
    for out in [std::process::Stdio::from(full), closed.into()] {
        let done = hook(&world, &[], &input(&world, ME))
            .stdout_to(out)
            .run()
            .status(0)
            .stderr_has("session-context: stdout: ");
        assert!(
            done.err().ends_with("; nothing counts as told\n")
                && done.err().matches('\n').count() == 1,
            "{}",
            done.err()
        );
    }
    assert_eq!(
        told(&world),
        block(&["- 11111111 (3m ago, 1 message): \"x\""])
    );
}

/// 003-L09: cursors that cannot be written are said; what is told is told again.
#[test]
fn cursors_that_cannot_be_written_are_said_and_told_again() {
    let world = World::new();
    asked(&world, ONE, 3, "x");
    world.write(".state", "not a directory");
    for _ in 0..2 {
        let done = hook(&world, &[], &input(&world, ME)).run().status(0);
        assert_eq!(
            text(&done),
            block(&["- 11111111 (3m ago, 1 message): \"x\""])
        );
        let start = format!("session-context: {}: ", cursors(&world, ME).display());
        assert!(
            done.err().starts_with(&start)
                && done
                    .err()
                    .lines()
                    .all(|line| line.starts_with("session-context: ")),
            "{}",
            done.err()
        );
    }
}

const DAY: u64 = 24 * 3600;

/// A new observer forgets those that have not looked for long, and their locks.
#[test]
fn observers_that_have_not_looked_for_long_are_forgotten() {
    let world = World::new();
    asked(&world, ONE, 9, "one");
    let file = |name: &str, days: u64| {
        let path = world.write(format!(".state/session-monitor/cursors/{name}"), "{}");
        written_ago(&world, &path, days * DAY);
        path
    };
    let all = || {
        [
            file("agent-sdk-a.json", 100),
            file("a.lock", 100),
            file("b.json", 80),
            file("b.lock", 80),
        ]
    };
    let left =
        |files: &[std::path::PathBuf]| files.iter().map(|file| file.exists()).collect::<Vec<_>>();
    let files = all();
    assert_eq!(told(&world), one_said(9, "one"));
    assert_eq!(left(&files), [false, false, true, true]);
    // Only a first look does it.
    let files = all();
    world.append(world.transcript(ONE), said(&world, 8, "two"));
    assert_eq!(told(&world), one_said(8, "two"));
    assert_eq!(left(&files), [true; 4]);
    assert!(!told_to(&world, TWO).is_empty());
    assert_eq!(left(&files), [false, false, true, true]);
}

/// In a named home, a new observer drops those that have no name and have not looked for long; all else stays.
#[test]
fn a_home_drops_only_nameless_old_observers() {
    let world = World::new();
    home(
        &world,
        ".volute",
        &[("main", ME), ("discord", ONE), ("old-name", TWO)],
    );
    asked(&world, ONE, 9, "one");
    let now = file_clock(&world)
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("a time")
        .as_micros() as i64;
    let view = |observer: &str, days: i64| {
        let clock = now - days * 24 * HOUR_IN_MICROS;
        format!(
            r#""{observer}": {{ ".":{{"version":1, "since":0,"clock": {clock},"theirs":[1,2.50]}},"discord":{{"offset": 7}}}}"#
        )
    };
    let by_another = r#""x":{"discord":{"offset": 7, "theirs":"\u0041"}}"#.to_owned();
    let stays = [view("old-name", 100), view("new-gone", 80), by_another];
    let goes = [view("old-gone", 100), view("33333333-0000", 91)];
    let file = world.path("work/.volute/session-cursors.json");
    let write = |all: Vec<&String>| {
        let all: Vec<&str> = all.into_iter().map(String::as_str).collect();
        fs::write(&file, format!("{{{}}}", all.join(","))).expect("written");
    };
    write(goes.iter().chain(&stays).collect());
    assert_eq!(
        told(&world),
        block(&["- discord (9m ago, 1 message): \"one\""])
    );
    let saved = fs::read_to_string(&file).expect("a file");
    let bytes = |view: &String| {
        view.split_once('{')
            .map(|(_, rest)| format!("{{{rest}"))
            .expect("an object")
    };
    let raw: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(&saved).expect("JSON");
    assert_eq!(
        raw.keys().collect::<Vec<_>>(),
        ["main", "new-gone", "old-name", "x"]
    );
    for (name, view) in ["old-name", "new-gone", "x"].iter().zip(&stays) {
        assert_eq!(raw[*name].get(), bytes(view).trim(), "{name}");
    }
    assert_eq!(told(&world), "");
}

/// Without a place for cursors everything is told, and told again.
#[test]
fn cursors_that_cannot_be_kept_are_said() {
    fn dir(path: PathBuf) {
        fs::create_dir_all(path).expect("a directory");
    }
    Check(Both, Both, cleared).all(&[
        (
            "a directory for the cursors",
            &["taken as not there", AGAIN],
            &|scene, _| dir(scene.cursors()),
        ),
        ("a directory for the lock", &[AGAIN], &|scene, _| {
            dir(scene.cursors().with_extension("lock"));
        }),
    ]);
    Check(Both, Nothing, |scene| {
        fs::remove_dir(scene.state().join("journal.jsonl")).expect("removed");
    })
    .one(("a directory for the journal", &[JOURNAL], &|scene, _| {
        dir(scene.state().join("journal.jsonl"));
    }));
    let tidy = |scene: &Scene| {
        let left = files_below(&scene.state());
        assert!(
            left.iter()
                .all(|path| path.extension().is_none_or(|end| end != "tmp")),
            "{left:?}"
        );
        cleared(scene);
    };
    for bytes in [0, 100] {
        Check(Both, Both, tidy).one(("a full disk", &[AGAIN, JOURNAL], &|_, call| {
            call.alter(move |command| limit(command, Resource::Fsize, bytes));
        }));
    }
}

/// Another process works with the cursors: nothing is told now, all of it later.
#[test]
fn a_held_lock_is_waited_for_no_longer_than_the_deadline() {
    let scene = Scene::new();
    let lock = scene.0.write(
        scene
            .cursors()
            .with_extension("lock")
            .strip_prefix(scene.0.path(""))
            .expect("below"),
        "",
    );
    let held = File::options().write(true).open(&lock).expect("the lock");
    held.lock().expect("locked");
    let mut call = scene.call();
    call.env("SESSION_CONTEXT_LOOKS", "5");
    let output = call.run();
    assert_eq!(text(&output), "");
    let said = output.err();
    assert_eq!(
        said,
        "session-context: the cursors are in use; what is new will be told with the next prompt\n"
    );
    held.unlock().expect("unlocked");
    assert_eq!(scene.hears(), words(Both));
    assert_eq!(scene.hears(), "");
}

/// Cursors as an earlier version wrote them.
fn write_old(scene: &Scene, content: &str) {
    let _ = fs::remove_file(scene.cursors());
    fs::create_dir_all(scene.cursors().parent().expect("a directory")).expect("made");
    fs::write(scene.cursors().with_extension("json"), content).expect("written");
}

/// What stands in the cursor file is not trusted.
#[test]
fn cursors_that_are_none_are_said_and_taken_as_absent() {
    let own = |view: &str| format!("{{\"{OBSERVER}\":{view}}}");
    let alpha = |scene: &Scene, seen: &str| {
        let look = r#"".":{"version":1,"since":1794794400000,"clock":0}"#;
        own(&format!("{{{look},{}:{seen}}}", json!(scene.path(ALPHA))))
    };
    let scene = Scene::new();
    let junk = "junk ".repeat(1 << 20);
    let cases = [
        ("garbage", "\u{1}\u{2}garbage".to_owned()),
        ("5 MB of junk", junk),
        ("NULs", "\0".repeat(4096)),
        ("an array", "[]".into()),
        ("a number", "7".into()),
        ("null", "null".into()),
        ("deep", "[".repeat(100_000)),
        ("two objects", "{}{}".into()),
        ("an observer in a number", own("7")),
        ("an observer in an array", own("[]")),
        ("a look that is null", own(r#"{".":null}"#)),
        (
            "a look without a time",
            own(r#"{".":{"version":1,"clock":0}}"#),
        ),
        (
            "a look with a text for a time",
            own(r#"{".":{"version":1,"since":"now","clock":0}}"#),
        ),
        (
            "a newer version",
            own(r#"{".":{"version":99,"since":1794794400000,"clock":9999999999999999}}"#),
        ),
        (
            "a version beyond all",
            own(r#"{".":{"version":99999999999999,"since":0,"clock":0}}"#),
        ),
        ("a session that is null", alpha(&scene, "null")),
        ("a session that is empty", alpha(&scene, "{}")),
        ("an offset in a text", alpha(&scene, r#"{"offset":"12"}"#)),
        ("an offset below zero", alpha(&scene, r#"{"offset":-1}"#)),
        ("half an offset", alpha(&scene, r#"{"offset":0.5}"#)),
        (
            "an offset beyond all",
            alpha(&scene, r#"{"offset":99999999999999999999}"#),
        ),
        (
            "a mark that is none",
            alpha(&scene, r#"{"offset":0,"mark":"xyz"}"#),
        ),
        (
            "a mark in a number",
            alpha(&scene, r#"{"offset":0,"mark":7}"#),
        ),
        (
            "a stamp too short",
            alpha(&scene, r#"{"offset":0,"stamp":[1]}"#),
        ),
        (
            "a title in a number",
            alpha(&scene, r#"{"offset":0,"title":7}"#),
        ),
    ];
    for (name, content) in cases {
        write_old(&scene, &content);
        let output = scene.call().run();
        let err = output.err();
        assert_eq!(
            (text(&output), err.lines().count()),
            (words(Both), 1),
            "{name}: {err}"
        );
        assert!(
            err.starts_with("session-context: ") && err.contains("taken as not there"),
            "{name}: {err}"
        );
        assert!(err.len() < 1000, "{name}: {} bytes", err.len());
        assert_eq!(scene.hears(), "", "{name}");
    }
    // Nothing at all is nothing to complain about.
    for content in ["", "{}"] {
        write_old(&scene, content);
        assert_eq!(
            (scene.hears(), scene.hears()),
            (words(Both), String::new()),
            "{content:?}"
        );
    }
}

/// Whatever stands in a home for other observers is theirs, and stays.
#[test]
fn cursors_of_others_stay_as_they_are() {
    let world = World::new();
    home(&world, ".volute", &[("main", ME), ("discord", ONE)]);
    asked(&world, ONE, 3, "x");
    let others =
        r#""else":7,"new":{".":{"version":99,"x":[1e400,{"y":null}]}},"none":null,"odd":"\ud800""#;
    for own in ["", ",\"main\":[]"] {
        let file = world.write(
            "work/.volute/session-cursors.json",
            format!("{{{others}{own}}}"),
        );
        let done = hook(&world, &[], &input(&world, ME)).run().status(0);
        assert_eq!(
            text(&done),
            block(&["- discord (3m ago, 1 message): \"x\""])
        );
        let kept = fs::read_to_string(file).expect("cursors");
        assert!(
            others
                .split(",\"")
                .all(|part| kept.contains(part.trim_start_matches('"'))),
            "{kept}"
        );
        assert_eq!(told(&world), "");
    }
}

/// Numbers that are allowed and absurd break nothing, now or later.
#[test]
fn absurd_numbers_in_cursors_do_no_harm() {
    let scene = Scene::new();
    let extremes = [i64::MIN, -1, 0, 1, i64::MAX];
    for number in extremes {
        let offset = u64::try_from(number).map_or(u64::MAX, |number| number);
        let looks = [
            json!({"version": 1, "since": number, "clock": 0}),
            json!({"version": 1, "since": 0, "clock": number}),
        ];
        let seens = [
            json!({"offset": offset}),
            json!({"offset": offset, "mark": "0000000000000000", "seen": number}),
            json!({"offset": 0, "after": number, "unread": true}),
            json!({"offset": 0, "stamp": [offset, offset, offset, number]}),
        ];
        for look in &looks {
            for seen in &seens {
                let mut view = json!({".": look});
                view[scene.path(ALPHA).to_str().expect("UTF-8")] = seen.clone();
                let mut all = json!({});
                all[OBSERVER] = view;
                write_old(&scene, &all.to_string());
                let output = scene.call().run();
                text(&output);
                assert_eq!(output.err(), "", "{all}");
                scene.hears();
                assert_eq!(scene.hears(), "", "{all}");
            }
        }
    }
}

/// A cursor file cut anywhere: in the library at every byte, in the program at some.
#[test]
fn a_cut_cursor_file_costs_one_repetition() {
    let scene = Scene::new();
    scene.hears();
    let path = scene.cursors();
    let whole = fs::read(&path).expect("cursors");
    for length in 1..whole.len() {
        fs::write(&path, &whole[..length]).expect("cut");
        let mut said = Vec::new();
        let deadline = Deadline::after(Duration::MAX);
        let file = CursorFile::Own(path.clone());
        let cursors =
            Cursors::open(file, OBSERVER, &deadline, &mut |what| said.push(what)).expect("free");
        assert_eq!(
            (said.len(), cursors.view.sessions.len()),
            (1, 0),
            "{length} bytes: {said:?}"
        );
        assert!(cursors.view.look.is_none());
        drop(cursors);
        if length % 23 == 1 {
            let output = scene.call().run();
            let lines = output.err().lines().count();
            assert_eq!((text(&output), lines), (words(Both), 1), "{length} bytes");
            assert_eq!(scene.hears(), "", "{length} bytes");
        }
    }
}

/// Whatever a title or a path looks like, a table has the sessions as they were taken over from an earlier version.
#[test]
fn a_table_has_what_was_written() {
    let world = World::new();
    let titles = [
        "plain",
        "a }",
        "\"},\"/b\":{\"offset\":",
        "\\\"",
        "ü\n",
        "\u{0}",
    ];
    let (path, deadline) = (cursors(&world, ME), Deadline::after(Duration::MAX));
    for (number, title) in (1..).zip(titles) {
        let seen = |key: &str| json!({"offset": 9, "mark": "00000000000000ff", "stamp": [1, number, 3, -4], "print": number, "title": format!("{key}{title}")});
        let look = json!({"version": 1, "since": 5, "clock": 7, "place": 3, "examined": [4, u64::MAX], "told": [1, u32::MAX]});
        let all = json!({ME: {".": look, "/a\"}": seen("/a\"}"), "/ä\\": seen("/ä\\"), "/b": {"offset": 0, "unread": true}}});
        world.write(path.with_extension("json"), all.to_string());
        let open = || {
            Cursors::open(CursorFile::Own(path.clone()), ME, &deadline, &mut |what| {
                panic!("{what}")
            })
            .expect("free")
        };
        let old = open();
        old.save(old.view.look.clone().expect("a look"), Changes::new())
            .expect("saved");
        drop(old);
        assert!(
            path.exists() && !path.with_extension("json").exists(),
            "it was taken over"
        );
        assert_eq!(saved(&world, ME), all);
        let new = open();
        let stamp = |inode: u64| Stamp::from((1, inode, 3, -4));
        for record in new.view.sessions.iter() {
            let is_read = record.path() != "/b";
            let title = is_read.then(|| format!("{}{title}", record.path()));
            assert_eq!(
                (record.title(), record.fingerprint()),
                (title.as_deref(), is_read.then_some(number as u32))
            );
            assert_eq!(
                [
                    record.is_unchanged(stamp(number)),
                    record.is_unchanged(stamp(99))
                ],
                [is_read, false]
            );
        }
        // One goes, one changes, one comes; the others stay.
        let mut changed = new
            .view
            .sessions
            .get("/b")
            .expect("a record")
            .seen()
            .expect("whole");
        changed.unread = false;
        let changes = Changes::from([
            ("/a\"}".into(), None),
            ("/b".into(), Some(changed.clone())),
            ("/z".into(), Some(changed)),
        ]);
        new.save(new.view.look.clone().expect("a look"), changes)
            .expect("saved");
        drop(new);
        let quiet = json!({"offset": 0});
        let after = json!({ME: {".": look, "/ä\\": seen("/ä\\"), "/b": quiet, "/z": quiet}});
        assert_eq!(saved(&world, ME), after);
        fs::remove_file(&path).expect("removed");
    }
}

/// What an earlier version remembered is not told again, nothing is lost, and its file goes.
#[test]
fn cursors_of_an_earlier_version_are_taken_over() {
    let world = World::new();
    asked(&world, ONE, 9, "one");
    assert_eq!(told(&world), one_said(9, "one"));
    let (table, old) = (
        cursors(&world, ME),
        cursors(&world, ME).with_extension("json"),
    );
    replace_saved(&world, ME, &saved(&world, ME));
    assert_eq!(told(&world), "", "nothing is told twice");
    assert!(old.exists() && !table.exists(), "nothing was to be written");
    world.append(world.transcript(ONE), said(&world, 8, "two"));
    assert_eq!(told(&world), one_said(8, "two"));
    assert!(!old.exists() && table.exists());
    assert_eq!(told(&world), "");
}

/// An entry that is broken where no look needs it is said when one does. It costs a repetition of that session alone.
#[test]
fn a_broken_entry_is_said_when_it_is_needed() {
    let world = World::new();
    asked(&world, ONE, 3, "x");
    asked(&world, TWO, 4, "y");
    assert!(!told(&world).is_empty());
    let (path, one) = (cursors(&world, ME), world.transcript(ONE));
    let mut bytes = fs::read(&path).expect("cursors");
    let at = bytes
        .windows(7)
        .position(|part| part == b"\"seen\":")
        .expect("a detail");
    bytes[at + 7] = b'x';
    fs::write(&path, bytes).expect("written");
    assert_eq!(told(&world), "", "nothing is new");
    world.append(&one, said(&world, 2, "z"));
    let done = hook(&world, &[], &input(&world, ME)).run().status(0);
    assert!(
        text(&done).contains("11111111") && !text(&done).contains("22222222"),
        "{}",
        text(&done)
    );
    let start = format!(
        "session-context: {}: no cursor of {} (",
        path.display(),
        one.display()
    );
    assert!(
        done.err().starts_with(&start) && done.err().ends_with("; taken as not there\n"),
        "{}",
        done.err()
    );
    assert_eq!(done.err().lines().count(), 1);
    assert_eq!(
        hook(&world, &[], &input(&world, ME)).run().status(0).err(),
        ""
    );
}
