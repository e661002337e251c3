//! `session-reader search`: which words are found where, in which order, and how fresh; and `log --at`, which opens a hit.

use std::fs;

use serde_json::{Value, json};

use crate::hook::{ONE, THREE, TWO};
use crate::script::Script;
use crate::transcripts::Case;
use crate::world::World;

/// Three sessions here: two words close together, far apart, and only one of them. And one elsewhere.
fn several() -> World {
    let world = World::new();
    let close = Script::of(&world).ago(50).user("Why does the webhook retry loop never stop?");
    close
        .says("It retries for ever.")
        .does("Edit", json!({"file_path": world.path("work/src/retry.rs")}))
        .save(&world, ONE);
    let mut apart = Script::of(&world).ago(9).user("Rename the webhook module.").says("Done.");
    for number in 0..12 {
        apart = apart.user(&format!("And then step {number}."));
    }
    apart.user("Now the retry, please.").save(&world, TWO);
    Script::of(&world).ago(5).user("Only the webhook here.").save(&world, THREE);
    let elsewhere = Script::new(world.path("elsewhere")).ago(1).user("The webhook and its retry, elsewhere.");
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
fn words_that_stand_together_come_first() {
    let world = several();
    assert_eq!(found(&world, &["webhook"]), ["33333333", "22222222", "11111111"]);
    assert_eq!(found(&world, &["webhook", "retry"]), ["11111111", "22222222"]);
    assert_eq!(found(&world, &["webhook", "retry", "--all"]), ["44444444", "11111111", "22222222"]);
    assert_eq!(found(&world, &["webhook retry"]), ["11111111"]);
    assert_eq!(found(&world, &["-w", "retr"]), [""; 0]);
    assert_eq!(found(&world, &["retr"]), ["22222222", "11111111"]);
    assert_eq!(found(&world, &["ret", "--role", "assistant"]), ["11111111"]);
    assert_eq!(found(&world, &["webhook", "--since", "7m"]), ["33333333"]);
    assert_eq!(found(&world, &["webhook", "--file", "src/RETRY"]), ["11111111"]);
    assert_eq!(found(&world, &["webhook", "--agent", "codex"]), [""; 0]);
    assert_eq!(found(&world, &["webhook", "--limit", "1"]), ["33333333"]);
}

#[test]
fn what_it_looks_like() {
    let world = several();
    world.reader(&["search", "webhook", "retry"]).run().success().stdout(concat!(
        "11111111  claude  50m  Why does the webhook retry loop never stop?\n",
        "     1  2026-11-16 02:10  user       Why does the webhook retry loop never stop?\n",
        "  session-reader log 11111111 --at 1\n",
        "\n",
        "22222222  claude  9m  Rename the webhook module.\n",
        "    15  2026-11-16 02:51  user       Now the retry, please.\n",
        "     1  2026-11-16 02:51  user       Rename the webhook module.\n",
        "  session-reader log 22222222 --at 15\n",
    ));
    world.reader(&["search", "for ever", "-C", "1"]).run().success().stdout(concat!(
        "11111111  claude  50m  Why does the webhook retry loop never stop?\n",
        "     1  2026-11-16 02:10  user       Why does the webhook retry loop never stop?\n",
        "     2  2026-11-16 02:10  assistant  It retries for ever.\n",
        "     3  2026-11-16 02:10  assistant  [Edit src/retry.rs]\n",
        "  session-reader log 11111111 --at 2\n",
    ));
    let hit = &world.reader(&["search", "never", "--json"]).run().success().json()[0];
    assert_eq!(
        *hit,
        json!({
            "session": ONE, "handle": "11111111", "agent": "claude", "title": "Why does the webhook retry loop never stop?",
            "line": 1, "time": "2026-11-16T02:10:00.000Z", "role": "user", "kind": "text",
            "text": "Why does the webhook retry loop never stop?",
        })
    );
}

#[test]
fn a_hit_is_opened_where_it_is() {
    let world = several();
    let around = |at: &str, lines: &str| {
        world.reader(&["log", "22222222", "--at", at, "-C", "1"]).run().success().stdout(lines);
    };
    let last = concat!(
        "2026-11-16 02:51  user       And then step 11.\n",
        "           02:51  user       Now the retry, please.\n"
    );
    around("15", last);
    around("u0-14", last);
    around(
        "1",
        concat!("2026-11-16 02:51  user       Rename the webhook module.\n", "           02:51  assistant  Done.\n"),
    );
    around(
        "2026-11-16T02:00:00Z",
        concat!("2026-11-16 02:51  user       Rename the webhook module.\n", "           02:51  assistant  Done.\n"),
    );
    let none = world.reader(&["log", "22222222", "--at", "16"]).run().status(1);
    none.stderr_has("nothing was said there in '22222222'");
}

#[test]
fn however_it_is_written() {
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
        let escaped: String = said.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let line = Script::of(&world).user("SAID").text().replace("SAID", &escaped);
        world.write(file, line);
        assert_eq!(found(&world, &[words]).len(), 2, "{words} in {escaped}");
    }
}

/// What only a machine wrote is not found, unless the answers of tools are asked for.
#[test]
fn what_is_searched() {
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
fn two_entries_in_one_line() {
    let world = World::new();
    let content = json!([
        {"type": "text", "text": "I call the lemur now"},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "feed lemur"}},
        {"type": "text", "text": "nothing to see"},
    ]);
    let message = json!({"id": "m", "role": "assistant", "content": content});
    Script::of(&world).user("go").line("assistant", message).save(&world, ONE);
    assert_eq!(world.reader(&["search", "lemur", "--json"]).run().success().json().len(), 2);
    let shown = world.reader(&["search", "lemur", "-C", "1"]).run().success();
    for text in ["go\n", "I call the lemur now\n", "[Bash feed lemur]\n"] {
        assert_eq!(shown.out().matches(text).count(), 1, "{text}: {}", shown.out());
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
    world.append(&file, script().says("and a walrus").body().lines().last().expect("a line").to_owned() + "\n");
    assert_eq!(found(&world, &["walrus"]), ["11111111"]);
    assert_eq!(found(&world, &["narwhal", "walrus"]), ["11111111"]);
    let whole = fs::read(&cache).expect("a cache");
    Script::of(&world).user("a badger instead").save(&world, ONE);
    assert_eq!(found(&world, &["narwhal"]), [""; 0]);
    assert_eq!(found(&world, &["badger"]), ["11111111"]);
    // A cache that is old, cut, or nonsense changes nothing.
    for bytes in [&whole[..], &whole[..whole.len() - 7], &whole[..60], b"nonsense", b""] {
        fs::write(&cache, bytes).expect("written");
        assert_eq!(found(&world, &["badger"]), ["11111111"], "{} bytes", bytes.len());
        assert_eq!(found(&world, &["narwhal"]), [""; 0], "{} bytes", bytes.len());
    }
    fs::remove_file(&file).expect("removed");
    assert_eq!(found(&world, &["badger"]), [""; 0]);
}

#[test]
fn nothing_found() {
    let world = several();
    let says = |args: &[&str], why: &str| {
        let done = world.reader(&[&["search"], args].concat()).run().status(1);
        assert_eq!(done.err(), format!("session-reader: {why}\n"));
    };
    let everywhere = "; --all searches every session on this machine";
    says(&["webhok"], &format!("nothing says 'webhok'; did you mean 'webhook'?{everywhere}"));
    says(&["loop", "module"], &format!("no session says all of these words{everywhere}"));
    says(&["qqqqqq", "--all"], "nothing says 'qqqqqq'");
    world.reader(&["search", " "]).run().status(2).stderr_has("nothing to search for");
    world.reader(&["search", "x", "--agent", "nobody"]).run().status(2).stderr_has("no agent is called 'nobody'");
}

/// What of an entry of a log is searched, made alike without our own code.
fn plain(entry: &Value) -> String {
    let text = match entry["kind"].as_str() {
        Some("text") => entry["text"].as_str().unwrap_or_default().to_owned(),
        Some("call") => {
            let subjects = entry["subjects"].as_array().cloned().unwrap_or_else(|| vec![entry["subject"].clone()]);
            let subjects: Vec<_> = subjects.iter().filter_map(Value::as_str).collect();
            format!("{} {}", entry["tool"].as_str().unwrap_or_default(), subjects.join(" "))
        }
        _ => String::new(),
    };
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// On every transcript of testdata, the hits are those entries of the whole log that have the word in them.
#[test]
fn hits_are_those_of_a_slow_reader() {
    let mut tried = 0;
    for case in Case::all() {
        let (world, dir) = case.world();
        let reader = |args: &[&str]| world.reader(args).dir(dir).run();
        for session in reader(&["list", "--all", "--json"]).json() {
            let text = |key: &str| session[key].as_str().expect("a text").to_owned();
            let entries = reader(&["log", &text("path"), "--json", "--lines", "1000000"]).json();
            let said: Vec<String> = entries.iter().map(plain).collect();
            let words = said.iter().flat_map(|text| text.split(' ')).filter(|word| word.is_ascii() && word.len() > 3);
            let words: Vec<&str> = words.collect();
            let Some(word) = words.get(words.len() / 2) else { continue };
            let expected: Vec<&Value> =
                entries.iter().zip(&said).filter(|(_, text)| text.contains(word)).map(|(entry, _)| entry).collect();
            let mut hits = reader(&["search", word, "--all", "--json"]).json();
            hits.retain(|hit| hit["session"] == session["id"]);
            let said = |entry: &Value| (entry["time"].clone(), entry["text"].clone(), entry["subject"].clone());
            let (mut expected, mut hits): (Vec<_>, Vec<_>) =
                (expected.into_iter().map(said).collect(), hits.iter().map(said).collect());
            expected.sort_by_key(|entry| format!("{entry:?}"));
            hits.sort_by_key(|entry| format!("{entry:?}"));
            assert_eq!(hits, expected, "'{word}' in {}", text("path"));
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
}
