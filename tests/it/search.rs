//! `session-reader search`: which words are found where, in which order, and how fresh; and `log --at`, which opens a hit.

use std::fs;

use serde_json::{Value, json};

use crate::support::clients::Case;
use crate::support::run::in_a_terminal_of;
use crate::support::script::Script;
use crate::support::world::{ME, ONE, THREE, TWO, World};

/// Three sessions here: two words close together, far apart, and only one of them. And one elsewhere.
fn several() -> World {
    let world = World::new();
    let close = Script::of(&world)
        .ago(50)
        .user("Why does the webhook retry loop never stop?");
    close
        .says("It retries for ever.")
        .does(
            "Edit",
            json!({"file_path": world.path("work/src/retry.rs")}),
        )
        .save(&world, ONE);
    let mut apart = Script::of(&world)
        .ago(9)
        .user("Rename the webhook module.")
        .says("Done.");
    for number in 0..12 {
        apart = apart.user(&format!("And then step {number}."));
    }
    apart.user("Now the retry, please.").save(&world, TWO);
    Script::of(&world)
        .ago(5)
        .user("Only the webhook here.")
        .save(&world, THREE);
    let elsewhere = Script::new(world.path("elsewhere"))
        .ago(1)
        .user("The webhook and its retry, elsewhere.");
    elsewhere.save(&world, "44444444-0000-4000-8000-000000000000");
    world
}

/// The short ids of the sessions that a search finds, in its order.
fn found(world: &World, args: &[&str]) -> Vec<String> {
    let done = world.reader(&[&["search", "--json"], args].concat()).run();
    let mut all: Vec<String> = Vec::new();
    for hit in done.json() {
        let handle = hit["handle"].as_str().expect("a handle").to_owned();
        if !all.contains(&handle) {
            all.push(handle);
        }
    }
    all
}

#[test]
fn the_best_session_comes_first() {
    let world = several();
    assert_eq!(
        found(&world, &["webhook"]),
        ["33333333", "11111111", "22222222"]
    );
    assert_eq!(
        found(&world, &["webhook", "retry"]),
        ["11111111", "22222222"]
    );
    assert_eq!(
        found(&world, &["webhook", "retry", "--all"]),
        ["44444444", "11111111", "22222222"]
    );
    assert_eq!(found(&world, &["webhook retry"]), ["11111111"]);
    assert_eq!(found(&world, &["-w", "retr"]), [""; 0]);
    assert_eq!(found(&world, &["retr"]), ["11111111", "22222222"]);
    assert_eq!(found(&world, &["ret", "--role", "assistant"]), ["11111111"]);
    assert_eq!(found(&world, &["webhook", "--since", "7m"]), ["33333333"]);
    assert_eq!(
        found(&world, &["webhook", "--file", "src/RETRY"]),
        ["11111111"]
    );
    assert_eq!(found(&world, &["webhook", "--agent", "codex"]), [""; 0]);
    assert_eq!(found(&world, &["webhook", "--limit", "1"]), ["33333333"]);
}

#[test]
fn hits_are_shown_by_session_with_a_command_to_open_them() {
    let world = several();
    world
        .reader(&["search", "webhook", "retry"])
        .run()
        .success()
        .stdout(concat!(
            "11111111  claude  50m  Why does the webhook retry loop never stop?\n",
            "     1  2026-11-16 02:10  user       Why does the webhook retry loop never stop?\n",
            "  session-reader log 11111111 --at 1\n",
            "\n",
            "22222222  claude  9m  Rename the webhook module.\n",
            "    15  2026-11-16 02:51  user       Now the retry, please.\n",
            "     1  2026-11-16 02:51  user       Rename the webhook module.\n",
            "  session-reader log 22222222 --at 15\n",
        ));
    world
        .reader(&["search", "for ever", "-C", "1"])
        .run()
        .success()
        .stdout(concat!(
            "11111111  claude  50m  Why does the webhook retry loop never stop?\n",
            "     1  2026-11-16 02:10  user       Why does the webhook retry loop never stop?\n",
            ">    2  2026-11-16 02:10  assistant  It retries for ever.\n",
            "     3  2026-11-16 02:10  assistant  [Edit src/retry.rs]\n",
            "  session-reader log 11111111 --at 2\n",
        ));
    let hit = &world
        .reader(&["search", "never", "--json"])
        .run()
        .success()
        .json()[0];
    assert_eq!(
        *hit,
        json!({
            "session": ONE, "handle": "11111111", "agent": "claude", "title": "Why does the webhook retry loop never stop?",
            "line": 1, "time": "2026-11-16T02:10:00.000Z", "role": "user", "kind": "text",
            "text": "Why does the webhook retry loop never stop?",
        })
    );
}

/// A command can be pasted as it is: how many hits there are besides stands in a line of its own.
#[test]
fn a_command_is_alone_in_its_line() {
    let world = World::new();
    let script = Script::of(&world)
        .ago(9)
        .user("A puffin.")
        .says("Two puffins.")
        .says("Three puffins.");
    script
        .says("Four puffins.")
        .says("Five puffins.")
        .save(&world, ONE);
    world
        .reader(&["search", "puffin"])
        .run()
        .success()
        .stdout(concat!(
            "11111111  claude  9m  A puffin.\n",
            "     1  2026-11-16 02:51  user       A puffin.\n",
            "     5  2026-11-16 02:51  assistant  Five puffins.\n",
            "     4  2026-11-16 02:51  assistant  Four puffins.\n",
            "  session-reader log 11111111 --at 1\n",
            "  2 more here\n",
        ));
}

/// What stands around hits is shown once, in the order of the transcript, and the hits are marked.
#[test]
fn contexts_that_touch_are_one() {
    let world = World::new();
    let mut script = Script::of(&world).ago(9).user("Line 1.");
    for number in 2..=12 {
        let bird = if [3, 6, 11].contains(&number) {
            " A puffin."
        } else {
            ""
        };
        script = script.says(&format!("Line {number}.{bird}"));
    }
    script.save(&world, ONE);
    let shown = |context: &str| {
        let done = world
            .reader(&["search", "puffin", "-C", context])
            .run()
            .success();
        let short = |line: &str| match line.split_once("Line ") {
            Some((head, said)) => format!("{}{}", &head[..1], said.trim_end_matches('.')),
            None => line.to_owned(),
        };
        done.out()
            .lines()
            .skip(1)
            .map(short)
            .collect::<Vec<String>>()
    };
    let open = "  session-reader log 11111111 --at 11";
    let [three, six, eleven] = [">3. A puffin", ">6. A puffin", ">11. A puffin"];
    assert_eq!(
        shown("0"),
        [" 11. A puffin", " 6. A puffin", " 3. A puffin", open]
    );
    assert_eq!(
        shown("1"),
        [
            " 2", three, " 4", " 5", six, " 7", "--", " 10", eleven, " 12", open
        ]
    );
    let all = [
        " 1", " 2", three, " 4", " 5", six, " 7", " 8", " 9", " 10", eleven, " 12", open,
    ];
    assert_eq!(shown("2"), all);
    assert_eq!(shown("9"), all);
}

/// What fits the screen leaves a line for the shell, so that no pager opens.
#[test]
fn hits_leave_a_line_for_the_shell() {
    let world = World::new();
    for number in 0..20 {
        let id = format!("{number:08}-0000-4000-8000-000000000000");
        Script::of(&world)
            .ago(number + 1)
            .user("Where is the puffin?")
            .save(&world, &id);
    }
    for rows in 9..=26 {
        let line = "session-reader search puffin";
        let Some(shown) = in_a_terminal_of(rows, &world, line, ("PAGER", "echo paged; cat"), "")
        else {
            return;
        };
        let lines = shown.lines().count() as u32;
        assert!(
            !shown.contains("paged") && lines < rows && lines + 4 >= rows,
            "{rows} rows:\n{shown}"
        );
    }
}

#[test]
fn a_hit_is_opened_where_it_is() {
    let world = several();
    let around = |at: &str, lines: &str| {
        world
            .reader(&["log", "22222222", "--at", at, "-C", "1"])
            .run()
            .success()
            .stdout(lines);
    };
    let last = concat!(
        "2026-11-16 02:51  user       And then step 11.\n",
        "           02:51  user       Now the retry, please.\n"
    );
    around("15", last);
    around("u0-14", last);
    around(
        "1",
        concat!(
            "2026-11-16 02:51  user       Rename the webhook module.\n",
            "           02:51  assistant  Done.\n"
        ),
    );
    around(
        "2026-11-16T02:00:00Z",
        concat!(
            "2026-11-16 02:51  user       Rename the webhook module.\n",
            "           02:51  assistant  Done.\n"
        ),
    );
    let none = world
        .reader(&["log", "22222222", "--at", "16"])
        .run()
        .status(1);
    none.stderr("session-reader: nothing was said there in '22222222': it has only 15 lines\n");
    // As a log prints it.
    let first = "2026-11-16 02:51  user       Rename the webhook module.\n";
    for at in ["02:51", "02:30", "2026-11-16 02:51", "2h"] {
        world
            .reader(&["log", "22222222", "--at", at, "-C", "0"])
            .run()
            .success()
            .stdout(first);
    }
    for at in ["2026-11-16 02:52", "1m"] {
        let none = world
            .reader(&["log", "22222222", "--at", at])
            .run()
            .status(1);
        none.stdout("")
            .stderr("session-reader: nothing was said there in '22222222': it ends before that\n");
    }
}

/// All entries of a line are what is asked for there, and what stands around them is what a log shows.
#[test]
fn all_entries_of_a_line_are_shown_together() {
    let world = World::new();
    let content = json!([
        {"type": "text", "text": "I call the lemur now"},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "feed lemur"}},
    ]);
    let message = json!({"id": "m", "role": "assistant", "content": content});
    let script = Script::of(&world)
        .user("go")
        .does("Bash", json!({"command": "ls"}))
        .result(false, "many");
    script
        .line("assistant", message)
        .says("done")
        .save(&world, ONE);
    let shows = |around: &str, expected: &[&str]| {
        let entries = world
            .reader(&["log", "11111111", "--at", "4", "-C", around, "--json"])
            .run()
            .success()
            .json();
        let said: Vec<String> = entries.iter().map(plain).collect();
        assert_eq!(said, expected, "-C {around}");
    };
    shows("0", &["i call the lemur now", "bash feed lemur"]);
    shows(
        "1",
        &["bash ls", "i call the lemur now", "bash feed lemur", "done"],
    );
}

/// On every transcript of testdata, the line of a hit leads to the entry.
#[test]
fn every_hit_can_be_opened() {
    let mut tried = 0;
    for case in Case::all() {
        let (world, dir) = case.world();
        let reader = |args: &[&str]| world.reader(args).dir(dir).run();
        for session in reader(&["list", "--all", "--json"]).json() {
            let path = session["path"].as_str().expect("a path");
            let entries = reader(&["log", path, "--json", "--lines", "1000000"]).json();
            let said: Vec<String> = entries.iter().map(plain).collect();
            let words = said
                .iter()
                .flat_map(|text| text.split(' '))
                .filter(|word| word.is_ascii() && word.len() > 3);
            let words: Vec<&str> = words.collect();
            for word in words.iter().step_by((words.len() / 3).max(1)) {
                let mut hits = reader(&["search", word, "--all", "--json"]).json();
                hits.retain(|hit| hit["session"] == session["id"]);
                for hit in hits {
                    let line = hit["line"].to_string();
                    // What a subagent said is in a file of its own.
                    let path = hit["path"].as_str().unwrap_or(path);
                    let there = reader(&["log", path, "--at", &line, "-C", "0", "--json"]).json();
                    assert!(
                        there.iter().any(|entry| plain(entry) == plain(&hit)),
                        "{hit} in {path}: {there:?}"
                    );
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn case_and_accents_make_no_difference() {
    let cases = [
        ("RESUME", "das Résumé fehlt"),
        ("resume", "re\u{301}sume\u{301}"),
        ("größe", "die GRÖSSE und die Größe"),
        ("日本語", "これは日本語のテストです"),
        ("テスト", "ﾃｽﾄ"),
        ("🎉", "done 🎉"),
        ("say \"hi\"", "they say \"hi\" to all"),
        ("a\\b", "the path a\\b\\c"),
        ("tab between", "a tab\tbetween words"),
        ("two lines", "two\nlines"),
        ("λογος", "ΛΌΓΟΣ"),
        ("istanbul", "İstanbul"),
    ];
    for (words, said) in cases {
        let world = World::new();
        Script::of(&world).user(said).save(&world, ONE);
        assert_eq!(found(&world, &[words]), ["11111111"], "{words} in {said}");
        // As some clients write it.
        let file = world.path(format!(".claude/projects/x/{TWO}.jsonl"));
        let escaped: String = said
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect();
        let line = Script::of(&world)
            .user("SAID")
            .text()
            .replace("SAID", &escaped);
        world.write(file, line);
        assert_eq!(found(&world, &[words]).len(), 2, "{words} in {escaped}");
    }
}

/// What only a machine wrote is not found, unless the answers of tools are asked for.
#[test]
fn what_only_a_machine_wrote_is_not_found() {
    let world = World::new();
    let reminder = "<system-reminder>zebra in a reminder</system-reminder>";
    Script::of(&world)
        .user(&format!("hello{reminder}"))
        .does("Bash", json!({"command": "make giraffe"}))
        .result(false, "a tool saw an okapi")
        .says("bye")
        .save(&world, ONE);
    assert_eq!(found(&world, &["giraffe"]), ["11111111"]);
    for words in ["zebra", "okapi"] {
        assert_eq!(found(&world, &[words]), [""; 0], "{words}");
    }
    assert_eq!(found(&world, &["okapi", "--results"]), ["11111111"]);
}

/// Entries that a client writes as one line are found once each.
#[test]
fn two_entries_in_one_line_are_found_once_each() {
    let world = World::new();
    let content = json!([
        {"type": "text", "text": "I call the lemur now"},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "feed lemur"}},
        {"type": "text", "text": "nothing to see"},
    ]);
    let message = json!({"id": "m", "role": "assistant", "content": content});
    Script::of(&world)
        .user("go")
        .line("assistant", message)
        .save(&world, ONE);
    assert_eq!(
        world
            .reader(&["search", "lemur", "--json"])
            .run()
            .success()
            .json()
            .len(),
        2
    );
    let shown = world
        .reader(&["search", "lemur", "-C", "1"])
        .run()
        .success();
    for text in [
        "user       go\n",
        "I call the lemur now\n",
        "[Bash feed lemur]\n",
    ] {
        assert_eq!(
            shown.out().matches(text).count(),
            1,
            "{text}: {}",
            shown.out()
        );
    }
}

/// Whatever is in the cache, the answer is what the files say now.
#[test]
fn an_answer_is_never_stale() {
    let world = World::new();
    let script = || Script::of(&world).user("one narwhal");
    let file = script().save(&world, ONE);
    let cache = world.path(".cache/session-monitor/said.bin");
    assert_eq!(found(&world, &["narwhal"]), ["11111111"]);
    assert!(cache.is_file());
    world.append(
        &file,
        script()
            .says("and a walrus")
            .body()
            .lines()
            .last()
            .expect("a line")
            .to_owned()
            + "\n",
    );
    assert_eq!(found(&world, &["walrus"]), ["11111111"]);
    assert_eq!(found(&world, &["narwhal", "walrus"]), ["11111111"]);
    let whole = fs::read(&cache).expect("a cache");
    Script::of(&world)
        .user("a badger instead")
        .save(&world, ONE);
    assert_eq!(found(&world, &["narwhal"]), [""; 0]);
    assert_eq!(found(&world, &["badger"]), ["11111111"]);
    // A cache that is old, cut, or nonsense changes nothing.
    for bytes in [
        &whole[..],
        &whole[..whole.len() - 7],
        &whole[..60],
        b"nonsense",
        b"",
    ] {
        fs::write(&cache, bytes).expect("written");
        assert_eq!(
            found(&world, &["badger"]),
            ["11111111"],
            "{} bytes",
            bytes.len()
        );
        assert_eq!(
            found(&world, &["narwhal"]),
            [""; 0],
            "{} bytes",
            bytes.len()
        );
    }
    // Neither does a cache in which something is written that was never said.
    let mut changed = fs::read(&cache).expect("a cache");
    let at = changed
        .windows(6)
        .position(|word| word == b"badger")
        .expect("it is in there");
    changed[at..at + 6].copy_from_slice(b"narwal");
    fs::write(&cache, changed).expect("written");
    assert_eq!(found(&world, &["narwal"]), [""; 0]);
    fs::remove_file(&file).expect("removed");
    assert_eq!(found(&world, &["badger"]), [""; 0]);
    // What was deleted is not kept, either.
    Script::of(&world)
        .ago(1)
        .user("Something else.")
        .save(&world, TWO);
    assert_eq!(found(&world, &["else"]), ["22222222"]);
    let kept = fs::read(&cache).expect("a cache");
    assert!(
        !kept.windows(6).any(|word| word == b"badger"),
        "what was deleted is gone"
    );
}

/// A first search reads each transcript once, for the list and for itself; what it keeps is what two passes keep.
#[test]
fn one_pass_keeps_what_two_keep() {
    for case in Case::all() {
        let (world, dir) = case.world();
        // A file that was written just now is read again, whatever is kept of it.
        for file in walkdir::WalkDir::new(world.path(""))
            .into_iter()
            .map(|file| file.expect("a file"))
        {
            if file.file_type().is_file() {
                let long_ago = std::time::SystemTime::UNIX_EPOCH
                    + std::time::Duration::from_secs(1_700_000_000);
                let opened = fs::File::options()
                    .append(true)
                    .open(file.path())
                    .expect("opened");
                opened.set_modified(long_ago).expect("a time");
            }
        }
        let caches =
            ["list.bin", "said.bin"].map(|name| world.path(".cache/session-monitor").join(name));
        let search = || {
            let done = world
                .reader(&["search", "the", "--all", "--json"])
                .dir(dir)
                .run();
            // Texts are kept in the order in which threads are done with them.
            let kept = caches.each_ref().map(|cache| {
                let mut counts = [0; 256];
                fs::read(cache)
                    .unwrap_or_default()
                    .iter()
                    .for_each(|byte| counts[usize::from(*byte)] += 1);
                counts
            });
            (done.out().to_owned(), kept)
        };
        let one_pass = search();
        caches.iter().for_each(|cache| drop(fs::remove_file(cache)));
        world.reader(&["list", "--all"]).dir(dir).run();
        assert!(!caches[1].exists(), "a list keeps no texts");
        assert!(search() == one_pass, "{}", world.path("").display());
        assert!(
            search() == one_pass,
            "from the caches: {}",
            world.path("").display()
        );
    }
}

/// A file that was written over may begin and end as before; a message that is written again counts as it is now.
#[test]
fn what_is_no_longer_said_is_not_found() {
    let world = World::new();
    let line = |text: &str| {
        let cwd = world.path("work");
        json!({"type": "assistant", "uuid": "a", "timestamp": "2026-11-16T02:00:00Z", "cwd": cwd,
            "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": text}]}})
        .to_string()
    };
    let prompt = Script::of(&world).ago(70).user("Which animal?").text();
    let end = format!(
        "{}\n",
        json!({"type": "system", "subtype": "turn_duration", "pad": "x".repeat(100)})
    );
    let file = world.claude(ONE, &format!("{prompt}{}\n{end}", line("A zebra.")));
    let found_both = |word: &str| [found(&world, &[word]), found(&world, &[word, "--no-cache"])];
    assert_eq!(found_both("zebra"), [["11111111"], ["11111111"]]);
    fs::write(&file, format!("{prompt}{}\n{end}", line("A tapir."))).expect("written over");
    assert_eq!(found_both("zebra"), [[""; 0], [""; 0]]);
    assert_eq!(found_both("tapir"), [["11111111"], ["11111111"]]);
    world.append(&file, format!("{}\n", line("A giraffe.")));
    assert_eq!(found_both("tapir"), [[""; 0], [""; 0]]);
    assert_eq!(found_both("giraffe"), [["11111111"], ["11111111"]]);
}

#[test]
fn nothing_found_is_said_and_why() {
    let world = several();
    let says = |args: &[&str], why: &str| {
        let done = world.reader(&[&["search"], args].concat()).run().status(1);
        assert_eq!(done.err(), format!("session-reader: {why}\n"));
    };
    let filtered = |flags: &str, command: &str| {
        format!(
            "this was said, but nowhere that fits {flags}\nto search what tools answered, too:\n  session-reader search {command}"
        )
    };
    says(
        &["webhook", "--file", "nosuch.rs"],
        &filtered("--file", "webhook --all --results --file nosuch.rs"),
    );
    says(
        &["webhook", "--since", "30s", "--role", "user"],
        &filtered(
            "--role and --since",
            "webhook --all --results --role user --since 2026-11-16T02:59:30.000Z",
        ),
    );
    says(
        &["qqqqqq", "--all", "--results"],
        "no session on this machine says \"qqqqqq\"",
    );
    world
        .reader(&["search", " "])
        .run()
        .status(2)
        .stderr_has("nothing to search for");
    world
        .reader(&["search", "x", "--agent", "nobody"])
        .run()
        .status(2)
        .stderr_has("no agent is called 'nobody'");
}

/// What of an entry of a log is searched, made alike without our own code.
fn plain(entry: &Value) -> String {
    let text = match entry["kind"].as_str() {
        Some("text") => entry["text"].as_str().unwrap_or_default().to_owned(),
        Some("call") => {
            let subjects = entry["subjects"]
                .as_array()
                .cloned()
                .unwrap_or_else(|| vec![entry["subject"].clone()]);
            let subjects: Vec<_> = subjects.iter().filter_map(Value::as_str).collect();
            format!(
                "{} {}",
                entry["tool"].as_str().unwrap_or_default(),
                subjects.join(" ")
            )
        }
        _ => String::new(),
    };
    text.to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// On every transcript of testdata, the hits are those entries of the whole log that have the word in them.
#[test]
fn hits_are_those_of_a_slow_reader() {
    let (mut tried, mut subagents) = (0, 0);
    for case in Case::all() {
        let (world, dir) = case.world();
        let reader = |args: &[&str]| world.reader(args).dir(dir).run();
        let mut transcripts: Vec<(String, Value)> = Vec::new();
        for session in reader(&["list", "--all", "--json"]).json() {
            transcripts.push((
                session["path"].as_str().expect("a path").to_owned(),
                session["id"].clone(),
            ));
        }
        let files = walkdir::WalkDir::new(world.path(""))
            .into_iter()
            .map(|file| file.expect("a file").into_path());
        for file in files.filter(|file| file.extension().is_some_and(|end| end == "jsonl")) {
            let path = file.to_str().expect("UTF-8").to_owned();
            // They are no sessions of their own.
            if path.contains("/subagents/") {
                subagents += 1;
                transcripts.push((path, Value::Null));
            }
        }
        for (path, session) in transcripts {
            let entries = reader(&["log", &path, "--json", "--lines", "1000000"]).json();
            let said: Vec<String> = entries.iter().map(plain).collect();
            let words = said
                .iter()
                .flat_map(|text| text.split(' '))
                .filter(|word| word.is_ascii() && word.len() > 3);
            let words: Vec<&str> = words.collect();
            let Some(word) = words.get(words.len() / 2) else {
                continue;
            };
            let expected: Vec<&Value> = entries
                .iter()
                .zip(&said)
                .filter(|(_, text)| text.contains(word))
                .map(|(entry, _)| entry)
                .collect();
            let mut hits = reader(&["search", word, "--all", "--json"]).json();
            // Files that cannot hold the word are told from their bytes then.
            assert_eq!(
                reader(&["search", word, "--all", "--json", "--no-cache"]).json(),
                hits,
                "'{word}'"
            );
            hits.retain(|hit| match hit["path"].as_str() {
                Some(subagent) => subagent == path,
                None => hit["session"] == session,
            });
            // Other forms of the word are found, too.
            hits.retain(|hit| plain(hit).contains(word));
            let said = |entry: &Value| {
                (
                    entry["time"].clone(),
                    entry["text"].clone(),
                    entry["subject"].clone(),
                )
            };
            let (mut expected, mut hits): (Vec<_>, Vec<_>) = (
                expected.into_iter().map(said).collect(),
                hits.iter().map(said).collect(),
            );
            expected.sort_by_key(|entry| format!("{entry:?}"));
            hits.sort_by_key(|entry| format!("{entry:?}"));
            assert_eq!(hits, expected, "'{word}' in {path}");
            tried += 1;
        }
    }
    assert!(tried > 50 && subagents > 3, "{tried} {subagents}");
}

/// A word may be written with capitals, accents and escapes, anywhere in a file, also where two chunks of it meet.
#[test]
fn a_word_is_found_however_it_is_written() {
    let ways = [
        r"cafeteria",
        r"CAFETERIA",
        r"Caf\u00e9t\u00e9ria",
        r"caféteria",
        r"cafe\u0301teria",
        r"ｃａｆｅｔｅｒｉａ",
        r"\u0063\u0061feteria",
        r"cafete\u0072ia",
        r"cafeteri\u00c1",
        r"c\u00e4feteria",
        r"caFe\u0301tERi\u0061",
        r"\ud835\udc1cafeteria",
        r"ca\ufb00eteria",
        r"日本cafeteria語",
        r"the\ncafeteria",
        r"the\tcafeteria\u2026",
        r"caffeteria",
    ];
    for (index, way) in ways.iter().enumerate() {
        let is_it = ![r"ca\ufb00eteria", r"caffeteria"].contains(way);
        for padding in [0, 128 * 1024 - 200, 128 * 1024 - 190, 128 * 1024 - 180] {
            let world = World::new();
            let line = |text: &str| {
                format!(
                    r#"{{"type":"user","uuid":"{}","timestamp":"2026-11-16T02:00:00Z","cwd":"{}","message":{{"role":"user","content":"{text}"}}}}"#,
                    text.len(),
                    world.path("work").display(),
                )
            };
            world.claude(
                ONE,
                &format!(
                    "{}\n{}\n",
                    line(&"x ".repeat(padding / 2 + index)),
                    line(way)
                ),
            );
            for args in [
                &["search", "cafeteria"][..],
                &["search", "Cafétéria", "--no-cache"],
            ] {
                // Another word is only found as one that may be meant.
                let done = world.reader(args).run().status(0);
                assert_eq!(
                    done.err().is_empty(),
                    is_it,
                    "{way} {padding} {args:?}: {}",
                    done.err()
                );
                assert!(done.out().contains("--at 2"), "{way} {padding} {args:?}");
            }
        }
    }
}

/// Without a cache, what cannot be shown is not read.
#[test]
fn older_sessions_are_left_out_once_there_are_enough() {
    let world = World::new();
    for number in 0..70 {
        let id = format!("{number:08}-0000-4000-8000-000000000000");
        Script::of(&world)
            .ago(number + 1)
            .user("Where is the lighthouse?")
            .save(&world, &id);
    }
    let says = |args: &[&str], last: &str| {
        let args = [&["search", "lighthouse"], args].concat();
        let done = world.reader(&args).run().status(0);
        assert_eq!(
            done.err().lines().last().unwrap_or_default(),
            last,
            "{args:?}"
        );
    };
    says(
        &["--limit", "2"],
        "session-reader: 68 more sessions: --limit 70 shows all",
    );
    let some = "session-reader: 62 more sessions, and 6 older ones were not searched: --limit 70 shows all";
    says(&["--limit", "2", "--no-cache"], some);
    says(
        &["--limit", "64", "--no-cache"],
        "session-reader: 6 older sessions were not searched: --limit 70 searches all",
    );
    says(&["--limit", "70", "--no-cache"], "");
    assert_eq!(found(&world, &["lighthouse", "--no-cache"]).len(), 70);
}

/// A hit at the end of a text that is one or two columns too wide for what is shown of it.
#[test]
fn a_hit_at_the_end_of_a_long_text_is_shown() {
    for (length, fill) in (195..=206).flat_map(|length| ["a", "é", "日"].map(|fill| (length, fill)))
    {
        let world = World::new();
        let text = fill.repeat(length - 7) + " webhook";
        Script::of(&world).ago(5).user(&text).save(&world, ONE);
        let done = world.reader(&["search", "webhook"]).run().success();
        assert!(done.out().contains("user"), "{}", done.out());
    }
}

/// What is no part of a path is said, and does not end in a fault.
#[test]
fn a_file_that_has_no_name_is_said() {
    let world = several();
    for file in ["./", "", " ", "././", ".//"] {
        for cache in [&[][..], &["--no-cache"]] {
            let done = world
                .reader(&[&["search", "webhook", "--file", file], cache].concat())
                .run();
            match file {
                // A slash is a part of every path.
                ".//" => drop(done),
                _ => assert!(
                    done.status(2).err().contains("--file: give a path"),
                    "{file:?}"
                ),
            }
        }
    }
}

/// A query of any length is said again only as far as one reads it, and takes no time to be compared letter by letter.
#[test]
fn a_query_of_any_length_is_answered_in_time() {
    let world = several();
    let long = "x".repeat(100_000);
    // A word as long, and so as much alike as can be.
    Script::of(&world)
        .ago(2)
        .user(&format!("The {long}y of it."))
        .save(&world, ME);
    let other = "z".repeat(100_000) + "y";
    for args in [
        &[&*other][..],
        &["webhook", &other],
        &[&*other, "--file", &other],
        &[&format!("{long}z"), "retry"],
    ] {
        for cache in [&[][..], &["--no-cache"]] {
            let done = world.reader(&[&["search"], args, cache].concat()).run();
            assert!(
                done.err().len() < 2000 && done.out().len() < 2000,
                "{} {}",
                done.err().len(),
                done.out().len()
            );
        }
    }
}
