//! Marks on sessions: done, and tags. Where they are written, what they lead to, and where they are shown.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::claude::prompt;
use crate::support::notes::{data, edit, page, page_in, read, sessions};
use crate::support::world::{ONE, TWO, World};

/// A sentence on the page that begins with a word of ours is never taken for a mark, nor off the page.
#[test]
fn sentences_are_no_marks() {
    let world = World::new();
    let page = world
        .context(&["notes", "--path"])
        .run()
        .success()
        .out()
        .trim_end()
        .to_owned();
    let text = "done with the migration of users\ntag everyone: who was there\n";
    std::fs::write(&page, text).expect("written");
    let said = world
        .context(&["done", "last", "--undo"])
        .run()
        .status(1)
        .stdout("");
    assert!(
        said.err()
            .contains("'with the migration of users' is no id of a session; skipped"),
        "{}",
        said.err()
    );
    assert!(
        said.err()
            .contains("'who was there' is no id of a session; skipped"),
        "{}",
        said.err()
    );
    assert_eq!(std::fs::read_to_string(&page).expect("there"), text);
}

/// 004-F7: a finished session is marked, by its name or as the one it runs in, and the mark can be taken back.
#[test]
fn a_finished_session_is_marked_and_the_mark_taken_back() {
    let world = sessions();
    let told =
        |key: &str| format!("{key} is done: new sessions are no longer told where it stopped.\n");
    world
        .context(&["done", "11111111"])
        .run()
        .success()
        .stdout(&told(ONE));
    world
        .context(&["done", ONE])
        .run()
        .success()
        .stdout(&format!("{ONE} was done already.\n"));
    world
        .context(&["done"])
        .env("CLAUDE_CODE_SESSION_ID", TWO)
        .run()
        .success()
        .stdout(&told(TWO));
    let head =
        "# session-monitor: notes of ~/work. One line each; change or delete them as you like.\n\n";
    let [one, two] = [ONE, TWO].map(|id| format!("done {id} (2026-11-16)\n"));
    assert_eq!(read(&page(&world)), [head, &one, &two].concat());
    world
        .context(&["done", "--undo", "first"])
        .run()
        .success()
        .stdout(&format!("{ONE} is no longer done.\n"));
    world
        .context(&["done", "--undo", "first"])
        .run()
        .success()
        .stdout(&format!("{ONE} was not done.\n"));
    assert_eq!(read(&page(&world)), [head, &two].concat());
    // One of another project is marked there, where it is asked for.
    world
        .context(&["done", "third"])
        .run()
        .success()
        .stdout(&told("33333333"));
    assert_eq!(read(&page(&world)), [head, &two].concat());
    assert!(read(&page_in(&world, "other")).ends_with("\n\ndone 33333333 (2026-11-16)\n"));
    // A name may be given to another session later: what is kept is the id.
    world.write(
        "work/.volute/sessions/discord.json",
        json!({"sessionId": ONE}).to_string(),
    );
    world
        .context(&["done", "discord"])
        .run()
        .success()
        .stdout(&told("discord"));
    assert_eq!(read(&page(&world)), [head, &two, &one].concat());
    world
        .context(&["done"])
        .run()
        .status(2)
        .stdout("")
        .stderr("session-context: which session? Run this inside one, or name it: session-context done NAME\n");
}

/// 002-18: tags.
#[test]
fn a_tag_is_put_on_and_taken_off() {
    let world = sessions();
    let run = |args: &[&str]| world.context(args).env("CLAUDE_CODE_SESSION_ID", ONE).run();
    run(&["tags"])
        .status(1)
        .stdout("")
        .stderr("session-context: no tags in this project; `session-context tag TAG` adds one\n");
    run(&["tag", "release"])
        .success()
        .stdout(&format!("{ONE}: release\n"));
    run(&["tag", "release"])
        .success()
        .stdout(&format!("{ONE} has the tag 'release' already.\n"));
    run(&["tag", "needs review"])
        .success()
        .stdout(&format!("{ONE}: release, needs review\n"));
    run(&["tag", "release", "--session", "second"])
        .success()
        .stdout(&format!("{TWO}: release\n"));
    let row = |id: &str, title: &str| format!("  {id}  claude  1h  {title}\n");
    let (one, two) = (row("11111111", "first"), row("22222222", "second"));
    run(&["tags"])
        .success()
        .stdout(&format!("release\n{one}{two}needs review\n{one}"));
    assert_eq!(
        run(&["tags", "--json"]).success().json(),
        [
            json!({"tag": "release", "sessions": [ONE, TWO]}),
            json!({"tag": "needs review", "sessions": [ONE]})
        ]
    );
    let no_tag =
        |tag: &str, others: &str| format!("session-context: {ONE} has no tag '{tag}', {others}\n");
    run(&["tag", "--remove", "nope"])
        .status(1)
        .stdout("")
        .stderr(&no_tag("nope", "only: release, needs review"));
    run(&["tag", "--remove", "release"])
        .success()
        .stdout(&format!("{ONE}: needs review\n"));
    run(&["tag", "--remove", "needs review"])
        .success()
        .stdout(&format!("{ONE}: no tags\n"));
    run(&["tag", "--remove", "needs review"])
        .status(1)
        .stdout("")
        .stderr(&no_tag("needs review", "nor any other"));
    run(&["tags"]).success().stdout(&format!("release\n{two}"));
    for tag in ["", "a:b", "\u{200b}", "\u{1b}[31m"] {
        let shown = if tag.starts_with('\u{1b}') { "" } else { tag };
        let error = format!(
            "session-context: '{shown}' is not a tag: a tag is a word, or several in quotes, without a colon\n"
        );
        run(&["tag", tag]).status(2).stdout("").stderr(&error);
    }
    // Several on a line, by hand, with short ids.
    let page = edit(
        &world,
        format!("tag a: 11111111, {TWO}\r\ntag b: 11111111\r\n"),
    );
    run(&["tag", "--remove", "a"])
        .success()
        .stdout(&format!("{ONE}: b\n"));
    assert_eq!(read(&page), format!("tag a: {TWO}\r\ntag b: 11111111\r\n"));
    run(&["tags"])
        .success()
        .stdout(&format!("a\n{two}b\n{one}"));
}

/// Sessions that are hard to show: with a long title of wide characters, with one of many lines, with a name, of another
/// agent, nothing said, gone, and a short id that two begin with.
fn odd_sessions() -> World {
    let world = World::new();
    let said = |time: &str, text: &str| prompt(&world.path("work"), time, text);
    let wide = "税込みの合計を計算するように会計を直してください、そして試験も全部書き直してください、お願いします";
    world.claude(ONE, &said("2026-11-16T02:57:00Z", wide));
    world.claude(
        "22222222-aaaa",
        &said(
            "2026-11-06T02:00:00Z",
            "a\u{1b}[2J title\nof two lines\u{202e}",
        ),
    );
    world.claude(
        "22222222-bbbb",
        &said(
            "2026-11-16T02:59:59Z",
            "the key is sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ),
    );
    world.claude("44444444-0000", "");
    world.claude("55555555-0000", &said("2026-11-15T03:00:00Z", "named"));
    world.write(
        "work/.volute/sessions/discord.json",
        json!({"sessionId": "55555555-0000"}).to_string(),
    );
    world.install("codex/tools-resume@0.166.0", "");
    edit(
        &world,
        format!(
            "tag release: {ONE}, 99999999-gone\u{1b}[2J, 22222222, 44444444-0000\ntag später 日本: 55555555, 01a1e236-2011\n\nfact 1: one\ndone 55555555-0000\ndone 99999999-gone\ndone {ONE}\ndone {ONE} (2026-11-16)\n"
        ),
    );
    world
}

/// Tags with their sessions fit the terminal, whatever is in a title; what cannot be found is shown by its id.
#[test]
fn the_list_of_tags_fits_the_terminal() {
    let world = odd_sessions();
    let shown = |columns: &str| {
        world
            .context(&["tags"])
            .env("COLUMNS", columns)
            .run()
            .success()
    };
    let wide = "\
release
  22222222-bbbb  claude  now  the key is sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
  11111111       claude   3m  税込みの合計を計算するように会計を直してください、そして試験も全部書き直してください、お願いします
  22222222-aaaa  claude  10d  a title of two lines
  99999999-gone  (gone)
  44444444-0000  (nothing was said in it)
später 日本
  01a1e236-2011  codex   23m  Say hello in the fork
  discord        claude   1d  named
";
    shown("160").stdout(wide);
    let narrow = wide
        .replace("AAAAAAA\n", "…\n")
        .replace("、そして試験も全部書き直してください、お願いします", "…");
    shown("80").stdout(&narrow);
    world.context(&["tags"]).run().success().stdout(wide);
    let redacted = wide.replace(
        "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "[redacted]",
    );
    world
        .context(&["tags"])
        .env("SESSION_READER_REDACT", "true")
        .run()
        .success()
        .stdout(&redacted);
    // What is shown is what the reader takes.
    for handle in [
        "22222222-bbbb",
        "11111111",
        "22222222-aaaa",
        "01a1e236-2011",
        "discord",
    ] {
        world.reader(&[handle]).run().success();
    }
    // For a program, as it stands on the page.
    assert_eq!(
        world.context(&["tags", "--json"]).run().success().json(),
        [
            json!({"tag": "release", "sessions": [ONE, "99999999-gone\u{1b}[2J", "22222222", "44444444-0000"]}),
            json!({"tag": "später 日本", "sessions": ["55555555", "01a1e236-2011"]}),
        ]
    );
}

/// The notes end with the sessions that are done.
#[test]
fn notes_end_with_what_is_done() {
    let world = odd_sessions();
    let run = |args: &[&str]| world.context(args).env("COLUMNS", "80").run();
    let done = "\
done 11111111: 税込みの合計を計算するように会計を直してください、そして試験も全…
done discord: named
done 99999999-gone (gone)
";
    run(&["notes"])
        .success()
        .stdout(&format!("fact 1: one\n{done}"));
    run(&["unpin", "1"])
        .success()
        .stdout("removed: fact 1: one\n");
    run(&["notes"]).success().stdout(done);
    let object = |session: &str, name: Option<&str>, agent: Option<&str>, title: Option<&str>| json!({"kind": "done", "session": session, "name": name, "agent": agent, "title": title});
    let title = "税込みの合計を計算するように会計を直してください、そして試験も全部書き直してください、お願いします";
    assert_eq!(
        run(&["notes", "--json"]).success().json(),
        [
            object(ONE, None, Some("claude"), Some(title)),
            object(
                "55555555-0000",
                Some("discord"),
                Some("claude"),
                Some("named")
            ),
            object("99999999-gone", None, None, None),
        ]
    );
    // A mark can be taken off a session that is gone.
    run(&["done", "99999999-gone", "--undo"])
        .success()
        .stdout("99999999-gone is no longer done.\n");
    run(&["done", "discord", "--undo"])
        .success()
        .stdout("discord is no longer done.\n");
    run(&["done", "11111111", "--undo"])
        .success()
        .stdout(&format!("{ONE} is no longer done.\n"));
    run(&["notes"]).status(1).stdout("").stderr(
        "session-context: no notes in this project; `session-context note decision|blocker|next|fact TEXT` adds one\n",
    );
    run(&["done", "99999999-gone"])
        .status(2)
        .stdout("")
        .stderr_has("no session is called '99999999-gone'");
    run(&[
        "tag",
        "später 日本",
        "--remove",
        "--session",
        "01a1e236-2011",
    ])
    .success()
    .stdout("01a1e236-2011: no tags\n");
}

/// A marked session that cannot be read is there all the same, and what is in the way is said.
#[test]
fn a_marked_session_that_cannot_be_read_is_listed_and_said() {
    let world = sessions();
    let first = world.claude(ONE, "");
    world.context(&["done", TWO]).run().success();
    std::fs::set_permissions(&first, std::fs::Permissions::from_mode(0o000)).expect("no rights");
    let run = |args: &[&str]| world.context(args).without_rights().run();
    // It does not matter here.
    run(&["notes"]).success().stdout("done 22222222: second\n");
    edit(&world, format!("done {ONE}\ntag a: {ONE}\n"));
    let error = format!(
        "session-context: {}: Permission denied (os error 13)\n",
        first.display()
    );
    run(&["notes"])
        .status(2)
        .stdout(&format!("done {ONE} (cannot be read)\n"))
        .stderr(&error);
    run(&["tags"])
        .status(2)
        .stdout(&format!("a\n  {ONE}  (cannot be read)\n"))
        .stderr(&error);
}

/// Marks are seen where sessions are: in the list, for people and programs, by `--tag`, and as names.
#[test]
fn marks_are_in_the_list() {
    let world = World::new();
    world.install("agent-sdk/resume", "");
    let ids: Vec<String> = world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json()
        .iter()
        .map(|row| row["id"].as_str().expect("an id").to_owned())
        .collect();
    let dir = world.path("work");
    world
        .context(&["tag", "release", "--session", &ids[1]])
        .dir(&dir)
        .run()
        .success();
    world
        .context(&["tag", "needs review", "--session", &ids[1]])
        .dir(&dir)
        .run()
        .success();
    world.context(&["done", &ids[2]]).dir(&dir).run().success();
    let list = |args: &[&str]| world.reader(&[&["list", "--all"], args].concat()).run();
    let rows = list(&["--json"]).success().json();
    // What nobody said of a session is not there.
    let marks: Vec<_> = rows
        .iter()
        .map(|row| json!([row.get("done"), row.get("tags")]))
        .collect();
    let tags = json!(["release", "needs review"]);
    let expected = |at: usize| json!([(at == 2).then_some(true), (at == 1).then_some(&tags)]);
    assert_eq!(marks, (0..rows.len()).map(expected).collect::<Vec<_>>());
    assert_eq!(rows[2]["state"], "done");
    let text = list(&[]).success().out().to_owned();
    let lines: Vec<_> = text.lines().skip(1).collect();
    assert!(lines[1].contains("  [release, needs review] "), "{text}");
    let done: Vec<_> = lines
        .iter()
        .map(|line| line.split_whitespace().nth(2) == Some("done"))
        .collect();
    assert_eq!(
        done,
        (0..rows.len()).map(|at| at == 2).collect::<Vec<_>>(),
        "{text}"
    );
    for tag in ["release", "Needs Review"] {
        assert_eq!(
            list(&["--tag", tag, "--json"]).success().json(),
            vec![rows[1].clone()]
        );
        let by_tag = world
            .reader(&["resume", tag, "--json"])
            .run()
            .success()
            .json();
        assert_eq!(by_tag[0]["session_id"], *ids[1]);
    }
    list(&["--tag", "nobody's"])
        .status(1)
        .stdout("")
        .stderr_has("no sessions like that");
    world
        .context(&["tag", "release", "--session", &ids[0]])
        .dir(&dir)
        .run()
        .success();
    world
        .reader(&["resume", "release"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("'release' fits 2 sessions");
}

/// What is there twice counts once; what only looks alike is another; and what a mark means is the same in the list.
#[test]
fn a_mark_that_is_written_twice_counts_once() {
    let world = sessions();
    let like_one = "11111111-9999-4000-8000-000000000009";
    world.claude(
        like_one,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "alike"),
    );
    let run = |args: &[&str]| world.context(args).run();
    let marks = |id: &str| {
        let rows = world.reader(&["list", "--json"]).run().success().json();
        let row = rows
            .iter()
            .find(|row| row["id"] == id)
            .unwrap_or_else(|| panic!("{rows:?}"));
        json!([row.get("done"), row.get("tags")])
    };
    edit(
        &world,
        format!(
            "done 99999999\ndone {ONE}\ndone 99999999\ntag a: {ONE}, 99999999\ntag a: {ONE}, 99999999-x\n"
        ),
    );
    run(&["notes"])
        .success()
        .stdout("done 11111111-0000: first\ndone 99999999 (gone)\n");
    assert_eq!(
        run(&["tags", "--json"]).success().json(),
        [json!({"tag": "a", "sessions": [ONE, "99999999"]})]
    );
    assert_eq!(marks(ONE), json!([true, ["a"]]));
    assert_eq!(marks(like_one), json!([null, null]));
    assert_eq!(marks(TWO), json!([null, null]));
    // Eight characters are enough for an id, and only a page counts.
    edit(&world, "done 22222222\ntag b: 22222222\n");
    let projects = page(&world).with_file_name("work.md~");
    world.write(projects, format!("done {ONE}\n"));
    assert_eq!(
        [marks(TWO), marks(ONE)],
        [json!([true, ["b"]]), json!([null, null])]
    );
    // What is not a date in parentheses is part of the id.
    edit(&world, "done 99999999 (2)\ndone 88888888 (2026-11-16 )\n");
    run(&["notes"])
        .success()
        .stdout("done 99999999 (2) (gone)\ndone 88888888 (gone)\n");
}

/// What is done and what is told by its handle: who is at work is at work, and a tag goes before an id.
#[test]
fn a_tag_goes_before_an_id_and_work_before_done() {
    let world = sessions();
    let run = |args: &[&str]| world.context(args).run();
    run(&["done", ONE]).success();
    let state = |now: &str| {
        let run = world
            .reader(&["list", "--json"])
            .env("SESSION_MONITOR_NOW", now);
        let rows = run.run().success().json();
        rows.iter()
            .map(|row| format!("{} {}", row["title"], row["state"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        state("2026-11-16T02:01:00Z"),
        ["\"first\" \"working\"", "\"second\" \"working\""]
    );
    assert_eq!(
        state("2026-11-16T03:00:00.001Z"),
        ["\"first\" \"done\"", "\"second\" \"idle\""]
    );
    run(&["tag", "1", "--session", "second"]).success();
    let title = |name: &str| {
        world
            .reader(&["resume", name, "--json"])
            .run()
            .success()
            .json()[0]["title"]
            .clone()
    };
    assert_eq!((title("1"), title("11")), (json!("second"), json!("first")));
    run(&["tag", "FIRST", "--session", "second"]).success();
    // A whole title goes before a tag, and a tag before a part of a title.
    assert_eq!(
        (title("first"), title("First")),
        (json!("first"), json!("second"))
    );
}

/// Ids that a page cannot hold, sessions of other projects, old ones, and one without a title.
#[test]
fn odd_sessions_are_marked() {
    let world = sessions();
    let said = |text: &str| prompt(&world.path("work"), "2026-11-16T02:00:00Z", text);
    for (id, shown) in [
        ("77777777,x", "77777777,x"),
        ("88888888\u{1}x", "88888888x"),
    ] {
        world.claude(id, &said("odd"));
        for args in [&["done", id][..], &["tag", "x", "--session", id]] {
            let error = format!(
                "session-context: '{shown}': the id of a session must not have a comma or a blank in it\n"
            );
            world
                .context(args)
                .run()
                .status(2)
                .stdout("")
                .stderr(&error);
        }
    }
    assert_eq!(data(&world), [""; 0]);
    // Inside a session the page is the one of where it is now; by a name, of where the session was.
    let third = "33333333";
    world
        .context(&["done"])
        .env("CLAUDE_CODE_SESSION_ID", third)
        .run()
        .success();
    assert!(read(&page(&world)).ends_with("\n\ndone 33333333 (2026-11-16)\n"));
    world
        .context(&["tag", "x", "--session", third])
        .run()
        .success();
    assert!(read(&page_in(&world, "other")).ends_with("\n\ntag x: 33333333\n"));
    assert!(!read(&page(&world)).contains("tag"));
    // One that came here, or went away, is marked here.
    let there = |text: &str| prompt(&world.path("other"), "2026-11-16T02:00:00Z", text);
    for (id, lines) in [
        ("44444444", there("moved") + &said("on")),
        ("55555555", said("moves") + &there("on")),
    ] {
        world.claude(id, &lines);
        world
            .context(&["tag", "y", "--session", id])
            .run()
            .success();
        assert!(read(&page(&world)).ends_with(&format!("\ntag y: {id}\n")));
    }
    // The last session is the last, however long ago that was.
    let old = World::new();
    old.claude(
        ONE,
        &prompt(&old.path("work"), "2026-11-01T02:00:00Z", "old"),
    );
    old.context(&["done", "last"]).run().success();
    assert!(read(&page(&old)).ends_with(&format!("\n\ndone {ONE} (2026-11-16)\n")));
    // Nothing that could be its title.
    let nameless = r#"{"type":"assistant","uuid":"a","timestamp":"2026-11-16T02:00:00Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Hi."}]}}"#;
    old.claude(ONE, &format!("{nameless}\n"));
    let shown = old.context(&["notes", "--json"]).run().success().json();
    assert_eq!(
        shown,
        [json!({"kind": "done", "session": ONE, "name": null, "agent": "claude", "title": null})]
    );
}
