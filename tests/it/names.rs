//! Which sessions there are, which project they belong to, and what they are called.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::support::acme::{self, ACME, DESCRIPTOR};
use crate::support::claude::{answer, prompt, user};
use crate::support::run::Done;
use crate::support::script::Script;
use crate::support::world::{ID, ONE, THREE, TWO, World};

/// Punctuation is a part of too many titles to be a name.
#[test]
fn a_full_stop_is_no_name() {
    let world = World::new();
    Script::of(&world)
        .user("Fix the slow login page. Now.")
        .save(&world, ONE);
    for name in [".", "..", ":"] {
        world.reader(&["resume", name]).run().status(2).stdout("");
        world.context(&["done", name]).run().status(2).stdout("");
    }
    world
        .reader(&["resume", "."])
        .run()
        .status(2)
        .stderr("session-reader: .: is a directory, not a transcript\n");
}

/// Ids were compared byte by byte and then cut in the middle of a character.
#[test]
fn ids_that_differ_within_a_character_are_told_apart() {
    let world = World::new();
    world.claude("aaaaaaaaaé", &user("u1", 1, "one"));
    world.claude("aaaaaaaaaè", &user("u2", 2, "two"));
    assert_eq!(
        world
            .reader(&["list", "--all", "--json"])
            .run()
            .success()
            .json()
            .len(),
        2
    );
    world.reader(&["list", "--all"]).run().success();
}

/// A file in the working directory hid the session whose title it shares.
#[test]
fn a_bare_word_is_a_session_before_it_is_a_file() {
    let world = World::new();
    world.claude(ID, &user("u1", 1, "billing"));
    world.write("work/billing", "not a transcript");
    world
        .reader(&["billing"])
        .run()
        .success()
        .stdout("2026-11-16 02:01  user       billing\n");
}

/// A name that goes on where an id in a file name ends was taken for that id, whatever came after it.
#[test]
fn a_longer_id_is_compared_whole() {
    let world = World::new();
    let id = "8b585e11-2eb8-459b-b1a6-75f9c89c4176";
    let header = format!(r#"{{"sessionId":"{id}","projectHash":"x","kind":"main"}}"#);
    let prompt =
        r#"{"id":"m1","timestamp":"2026-11-16T02:01:00Z","type":"user","content":[{"text":"hi"}]}"#;
    world.write(
        ".gemini/tmp/p/chats/session-2026-11-16T02-00-8b585e11.jsonl",
        format!("{header}\n{prompt}\n"),
    );
    for name in ["8b585e11", "8b585e11-2eb8", id] {
        world
            .reader(&[name])
            .run()
            .success()
            .stdout("2026-11-16 02:01  user       hi\n");
    }
    world
        .reader(&["8b585e11-ffff"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("no session is called '8b585e11-ffff'");
}

/// A Claude session that was in a directory, in a project directory of any name.
fn session(world: &World, dir: &str, id: &str, cwd: &Path, text: &str) {
    world.write(
        format!(".claude/projects/{dir}/{id}.jsonl"),
        prompt(cwd, "2026-11-16T02:00:00Z", text),
    );
}

/// A Pi session with one prompt.
fn pi(cwd: &Path, id: &str, text: &str) -> String {
    Script::pi(cwd, id)
        .at("2026-11-16T02:00:00Z")
        .user(text)
        .text()
}

/// The log of a session in which one thing was said.
fn log_of(text: &str) -> String {
    format!("2026-11-16 02:00  user       {text}\n")
}

/// The first prompts of the sessions listed, in the order of the alphabet.
fn titles(done: &Done) -> Vec<String> {
    let mut titles: Vec<_> = done
        .json()
        .iter()
        .map(|row| row["title"].as_str().expect("a title").to_owned())
        .collect();
    titles.sort();
    titles
}

/// What the list shows in a directory.
fn listed_in(world: &World, dir: impl AsRef<Path>) -> Vec<String> {
    std::fs::create_dir_all(world.path(dir.as_ref())).expect("a directory");
    titles(
        &world
            .reader(&["list", "--json"])
            .dir(world.path(dir))
            .run()
            .success(),
    )
}

fn nothing_in(world: &World, dir: &str) {
    std::fs::create_dir_all(world.path(dir)).expect("a directory");
    world
        .reader(&["list"])
        .dir(world.path(dir))
        .run()
        .status(1)
        .stdout("");
}

// Named homes.

/// 003-04, 003-T28: a name leads to an id, and the id to the transcript in the directory that spells the cwd.
#[test]
fn a_name_in_a_home_leads_to_a_claude_transcript() {
    for home in [".volute", ".mind"] {
        let world = World::new();
        world.write(
            format!("work/{home}/sessions/discord.json"),
            format!(r#"{{"sessionId":"{ONE}"}}"#),
        );
        session(
            &world,
            "-another",
            ONE,
            &world.path("another"),
            "a copy elsewhere",
        );
        world.claude(
            ONE,
            &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "from discord"),
        );
        world
            .reader(&["discord"])
            .run()
            .success()
            .stdout(&log_of("from discord"));
        let rows = world.reader(&["list", "--json"]).run().success().json();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0]["name"], "discord");
        assert_eq!(rows[0]["title"], "from discord");
    }
}

/// 003-04: a transcript of that id is found wherever it is, and the home also from a directory below it.
#[test]
fn a_name_is_found_from_below_and_its_transcript_anywhere() {
    let world = World::new();
    world.write(
        "work/.volute/sessions/email.json",
        format!(r#"{{"sessionId":"{ONE}"}}"#),
    );
    session(
        &world,
        "-moved-away",
        ONE,
        Path::new("/moved/away"),
        "from email",
    );
    let below = world.path("work/deep/down");
    std::fs::create_dir_all(&below).expect("a directory");
    for dir in [world.path("work"), below] {
        world
            .reader(&["email"])
            .dir(&dir)
            .run()
            .success()
            .stdout(&log_of("from email"));
        let rows = world
            .reader(&["list", "--json"])
            .dir(&dir)
            .run()
            .success()
            .json();
        assert_eq!(rows[0]["name"], "email");
    }
}

/// 003-06, 003-T30: of the files in a Pi folder the newest counts, by the time it was written.
#[test]
fn a_pi_folder_is_a_session_and_its_newest_file_counts() {
    let world = World::new();
    let write = |file: &str, text: &str, seconds: u64| {
        let path = world.write(
            format!("work/.volute/pi-sessions/main/{file}"),
            pi(&world.path("work"), file, text),
        );
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        std::fs::File::options()
            .append(true)
            .open(path)
            .and_then(|file| file.set_modified(time))
            .expect("a time");
    };
    write(
        "2026-11-16T02-00-00-000Z_c.jsonl",
        "old, but last by name",
        1_000,
    );
    write("2026-11-16T01-00-00-000Z_b.jsonl", "the newest", 3_000);
    write("2026-11-16T00-00-00-000Z_a.jsonl", "older", 2_000);
    write("notes.txt", "no transcript at all", 4_000);
    world
        .reader(&["main"])
        .run()
        .success()
        .stdout(&log_of("the newest"));
    assert_eq!(listed_in(&world, "work"), ["the newest"]);
}

/// 003-21, 003-T26, 003-T27, 003-T29, 003-T31: what has no transcript is not listed, and no error of the others.
#[test]
fn a_name_without_a_transcript_is_no_session() {
    let world = World::new();
    world.write(
        "work/.volute/sessions/real.json",
        format!(r#"{{"sessionId":"{ONE}"}}"#),
    );
    world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "real"),
    );
    world.write(
        "work/.volute/sessions/gone.json",
        r#"{"sessionId":"99999999-0000-4000-8000-000000000009"}"#,
    );
    world.write(
        "work/.volute/sessions/without-id.json",
        r#"{"sessionID":1}"#,
    );
    world.write("work/.volute/sessions/number.json", r#"{"sessionId":7}"#);
    world.write("work/.volute/sessions/broken.json", "{");
    world.write(
        "work/.volute/sessions/up.json",
        r#"{"sessionId":"../../../etc/passwd"}"#,
    );
    std::fs::create_dir_all(world.path("work/.volute/pi-sessions/empty")).expect("a folder");
    assert_eq!(listed_in(&world, "work"), ["real"]);
    // A name file that cannot be read is not a session that has not begun, and nobody is called that either.
    let torn = format!(
        "{}: not a whole JSON object; its writer may not be done with it\n",
        world.path("work/.volute/sessions/broken.json").display()
    );
    world
        .reader(&["log", "broken"])
        .run()
        .status(2)
        .stdout("")
        .stderr(&format!("session-reader: {torn}"));
    world
        .context(&["mute", "broken"])
        .run()
        .status(2)
        .stdout("")
        .stderr(&format!("session-context: {torn}"));
    for name in ["gone", "without-id", "number", "up", "empty"] {
        let said = format!("session-reader: '{name}' has no transcript yet\n");
        world
            .reader(&["log", name])
            .run()
            .status(1)
            .stdout("")
            .stderr(&said);
    }
    for name in ["never-heard", "../real", "..", "/"] {
        world
            .reader(&["log", name])
            .run()
            .status(2)
            .stdout("")
            .stderr_has("session-reader: ")
            .stderr_has(name);
    }
}

/// 003-T17: throw-away sessions are in no list; who knows the name gets the log.
#[test]
fn throw_away_sessions_are_not_listed() {
    let world = World::new();
    world.write(
        "work/.volute/sessions/new-7.json",
        format!(r#"{{"sessionId":"{ONE}"}}"#),
    );
    world.write(
        "work/.volute/sessions/newer.json",
        format!(r#"{{"sessionId":"{TWO}"}}"#),
    );
    world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "thrown away"),
    );
    world.claude(
        TWO,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "kept"),
    );
    world.write(
        "work/.volute/pi-sessions/new-8/1_x.jsonl",
        pi(&world.path("work"), "x", "thrown away, too"),
    );
    assert_eq!(listed_in(&world, "work"), ["kept"]);
    world
        .reader(&["new-7"])
        .run()
        .success()
        .stdout(&log_of("thrown away"));
}

/// A name in the home goes before a title and a file that are called the same.
#[test]
fn a_name_goes_before_a_title_and_a_file() {
    let world = World::new();
    world.write(
        "work/.volute/sessions/main.json",
        format!(r#"{{"sessionId":"{ONE}"}}"#),
    );
    world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "by name"),
    );
    world.claude(
        TWO,
        &prompt(&world.path("work"), "2026-11-16T02:30:00Z", "main"),
    );
    world.write(
        "work/main",
        prompt(&world.path("work"), "2026-11-16T02:00:00Z", "by file"),
    );
    world
        .reader(&["main"])
        .run()
        .success()
        .stdout(&log_of("by name"));
    world
        .reader(&["./main"])
        .run()
        .success()
        .stdout(&log_of("by file"));
}

// Projects.

/// Makes a directory a git repository, as far as a reader of `.git` can tell.
fn repository(world: &World, dir: &str) {
    world.write(format!("{dir}/.git/HEAD"), "ref: refs/heads/main\n");
}

/// 004-T1: a repository is one project, from any directory in it, and nothing outside is.
#[test]
fn a_repository_is_a_project() {
    let world = World::new();
    repository(&world, "src/repo");
    repository(&world, "src/other");
    for (id, dir) in [
        (ONE, "src/repo"),
        (TWO, "src/repo/deep/down"),
        (THREE, "src/other"),
    ] {
        session(&world, "-any", id, &world.path(dir), dir);
    }
    session(&world, "-any", "44444444", &world.path("src"), "src");
    assert_eq!(
        listed_in(&world, "src/repo"),
        ["src/repo", "src/repo/deep/down"]
    );
    assert_eq!(
        listed_in(&world, "src/repo/deep/elsewhere"),
        ["src/repo", "src/repo/deep/down"]
    );
    assert_eq!(listed_in(&world, "src/other"), ["src/other"]);
    assert_eq!(listed_in(&world, "src"), ["src"]);
}

#[test]
fn worktrees_belong_to_their_repository() {
    let world = World::new();
    repository(&world, "repo");
    for name in ["near", "far"] {
        world.write(
            format!("repo/.git/worktrees/{name}/HEAD"),
            "ref: refs/heads/topic\n",
        );
        world.write(format!("repo/.git/worktrees/{name}/commondir"), "../..\n");
    }
    world.write("near/.git", "gitdir: ../repo/.git/worktrees/near\n");
    let far = world.path("repo/.git/worktrees/far");
    world.write("tmp/far/.git", format!("gitdir: {}\n", far.display()));
    let all = ["near", "repo", "tmp/far/sub"];
    for (number, dir) in all.iter().enumerate() {
        session(
            &world,
            "-any",
            &format!("{number}{number}{number}"),
            &world.path(dir),
            dir,
        );
    }
    session(
        &world,
        "-any",
        "unrelated",
        &world.path("unrelated"),
        "unrelated",
    );
    for dir in ["repo", "near", "tmp/far", "tmp/far/sub"] {
        assert_eq!(listed_in(&world, dir), all, "from {dir}");
    }
}

#[test]
fn a_deleted_directory_belongs_to_the_repository_it_was_in() {
    let world = World::new();
    repository(&world, "repo");
    session(
        &world,
        "-any",
        ONE,
        &world.path("repo/gone/long/ago"),
        "gone",
    );
    session(&world, "-any", TWO, &world.path("gone-too"), "outside");
    assert_eq!(listed_in(&world, "repo"), ["gone"]);
}

/// Outside git a project is one directory, not what is above or below it; also one that was deleted and made again.
#[test]
fn outside_a_repository_a_project_is_a_directory() {
    let world = World::new();
    for (id, dir) in [(ONE, "work"), (TWO, "work/sub"), (THREE, "work/gone")] {
        session(&world, "-any", id, &world.path(dir), dir);
    }
    assert_eq!(listed_in(&world, "work"), ["work"]);
    assert_eq!(listed_in(&world, "work/sub"), ["work/sub"]);
    nothing_in(&world, "work/other");
    assert_eq!(listed_in(&world, "work/gone"), ["work/gone"]);
}

/// A session that moved belongs where it began and where it is.
#[test]
fn a_session_that_moved_is_in_both_places() {
    let world = World::new();
    let lines = prompt(&world.path("work/a"), "2026-11-16T02:00:00Z", "hello")
        + &answer(&world.path("work/b"), "2026-11-16T02:01:00Z", "hi");
    world.claude(ONE, &lines);
    assert_eq!(listed_in(&world, "work/a"), ["hello"]);
    assert_eq!(listed_in(&world, "work/b"), ["hello"]);
    nothing_in(&world, "work/c");
}

/// A link to a directory is that directory.
#[test]
fn a_project_reached_by_a_link_is_the_same() {
    let world = World::new();
    session(&world, "-any", ONE, &world.path("work"), "hello");
    std::os::unix::fs::symlink(world.path("work"), world.path("link")).expect("a link");
    assert_eq!(
        titles(
            &world
                .reader(&["list", "--json"])
                .dir(world.path("link"))
                .run()
                .success()
        ),
        ["hello"]
    );
    session(&world, "-any", TWO, &world.path("link"), "by the link");
    assert_eq!(listed_in(&world, "work"), ["by the link", "hello"]);
}

/// 003-05, 003-T11, 003-T12, 003-D08: what the file says decides. The directory's name is lossy, and may be anything.
#[test]
fn the_cwd_in_the_file_decides_over_the_name_of_its_directory() {
    let world = World::new();
    let spelt: String = world
        .path("work/my_proj.v1 x")
        .display()
        .to_string()
        .replace(['/', '_', '.', ' '], "-");
    session(
        &world,
        &spelt,
        ONE,
        &world.path("work/my_proj.v1 x"),
        "underscore",
    );
    session(
        &world,
        &spelt,
        TWO,
        &world.path("work/my-proj-v1-x"),
        "dash",
    );
    session(
        &world,
        "custom-name",
        THREE,
        &world.path("work/my-proj-v1-x"),
        "elsewhere",
    );
    assert_eq!(listed_in(&world, "work/my_proj.v1 x"), ["underscore"]);
    assert_eq!(
        listed_in(&world, "work/my-proj-v1-x"),
        ["dash", "elsewhere"]
    );
}

/// 003-D08: beyond 200 characters the name of the directory ends in a hash.
#[test]
fn a_long_cwd_has_a_hashed_directory() {
    let world = World::new();
    let cwd = world.path(format!("work/{}/{}", "d".repeat(120), "e".repeat(120)));
    std::fs::create_dir_all(&cwd).expect("a directory");
    let spelt: String = cwd
        .display()
        .to_string()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    session(&world, "-aaa", ONE, Path::new("/aaa"), "a copy");
    session(
        &world,
        &format!("{}-1x2y3z", &spelt[..200]),
        ONE,
        &cwd,
        "the right one",
    );
    session(&world, "-zzz", ONE, Path::new("/zzz"), "a copy");
    assert_eq!(
        titles(&world.reader(&["list", "--json"]).dir(&cwd).run().success()),
        ["the right one"]
    );
    std::fs::create_dir_all(cwd.join(".volute/sessions")).expect("a home");
    std::fs::write(
        cwd.join(".volute/sessions/long.json"),
        format!(r#"{{"sessionId":"{ONE}"}}"#),
    )
    .expect("a name");
    world
        .reader(&["long"])
        .dir(&cwd)
        .run()
        .success()
        .stdout(&log_of("the right one"));
}

// Where agents keep their sessions.

/// Each agent's variables: where a file goes below the directory they name, and where it goes without them.
#[test]
fn environment_variables_move_the_agents() {
    let world = World::new();
    let claude = prompt(&world.path("work"), "2026-11-16T02:00:00Z", "hello");
    let pi = pi(&world.path("work"), "x", "hello");
    let codex = r#"{"timestamp":"2026-11-16T02:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}"#;
    let copilot = r#"{"type":"user.message","data":{"content":"hello"},"id":"u","timestamp":"2026-11-16T02:00:00Z"}"#;
    let gemini = r#"{"id":"u","timestamp":"2026-11-16T02:00:00Z","type":"user","content":[{"text":"hello"}]}"#;
    let qwen = r#"{"uuid":"u","timestamp":"2026-11-16T02:00:00Z","type":"user","message":{"parts":[{"text":"hello"}]}}"#;
    let rollout = "rollout-2026-11-16T02-00-00-01a1.jsonl";
    let cases = [
        (
            "CLAUDE_CONFIG_DIR",
            "claude",
            "projects/-any/x.jsonl".to_owned(),
            claude.as_str(),
            ".claude",
        ),
        (
            "CODEX_HOME",
            "codex",
            format!("sessions/2026/11/16/{rollout}"),
            codex,
            ".codex",
        ),
        (
            "CODEX_HOME",
            "codex",
            format!("archived_sessions/{rollout}"),
            codex,
            ".codex",
        ),
        (
            "COPILOT_HOME",
            "copilot",
            "session-state/x/events.jsonl".into(),
            copilot,
            ".copilot",
        ),
        (
            "GEMINI_CLI_HOME",
            "gemini",
            ".gemini/tmp/any/chats/session-2026-11-16T02-00-x.jsonl".into(),
            gemini,
            ".",
        ),
        (
            "QWEN_HOME",
            "qwen",
            "projects/-any/chats/x.jsonl".into(),
            qwen,
            ".qwen",
        ),
        (
            "QWEN_RUNTIME_DIR",
            "qwen",
            "projects/-any/chats/x.jsonl".into(),
            qwen,
            "nowhere",
        ),
        (
            "PI_CODING_AGENT_DIR",
            "pi",
            "sessions/--any--/1_x.jsonl".into(),
            &pi,
            ".pi/agent",
        ),
        (
            "PI_CODING_AGENT_SESSION_DIR",
            "pi",
            "1_x.jsonl".into(),
            &pi,
            "nowhere",
        ),
        (
            "PI_CODING_AGENT_SESSION_DIR",
            "pi",
            "--any--/1_x.jsonl".into(),
            &pi,
            "nowhere",
        ),
        (
            "OPENCLAW_STATE_DIR",
            "pi",
            "agents/main/sessions/x.jsonl".into(),
            &pi,
            ".openclaw",
        ),
    ];
    for (variable, agent, below, content, standard) in cases {
        let world = World::new();
        world.write(format!("moved/{below}"), content.to_owned() + "\n");
        let list = |value: &str| {
            world
                .reader(&["list", "--all", "--json"])
                .env(variable, value)
                .run()
        };
        let moved = world.path("moved");
        let rows = list(moved.to_str().expect("UTF-8")).success().json();
        assert_eq!(rows.len(), 1, "{variable} {below}");
        assert_eq!(
            (&rows[0]["agent"], &rows[0]["title"]),
            (&agent.into(), &"hello".into()),
            "{variable}"
        );
        list("~/moved").success();
        // Not set, or set to nothing: where the agent keeps them by itself.
        list("").status(1);
        if standard != "nowhere" {
            world.write(format!("{standard}/{below}"), content.to_owned() + "\n");
            list("").success();
            world
                .reader(&["list", "--all"])
                .env(variable, world.path("empty"))
                .run()
                .status(1)
                .stdout("");
        }
    }
}

/// OpenClaw's other files are no sessions.
#[test]
fn openclaw_writes_other_files_beside_its_sessions() {
    let world = World::new();
    for file in [
        "x.jsonl",
        "x.trajectory.jsonl",
        "x.checkpoint.1.jsonl",
        "x.jsonl.reset.2026-08-01T04-00-00Z",
    ] {
        world.write(
            format!(".openclaw/agents/main/sessions/{file}"),
            pi(&world.path("work"), "x", file),
        );
    }
    assert_eq!(listed_in(&world, "work"), ["x.jsonl"]);
}

// Names.

/// Three sessions here, and one elsewhere that is newer.
fn three() -> World {
    let world = World::new();
    let cwd = world.path("work");
    let title =
        |title: &str| format!("{{\"type\":\"custom-title\",\"customTitle\":\"{title}\"}}\n");
    world.claude(
        ONE,
        &(prompt(&cwd, "2026-11-16T02:01:00Z", "first prompt of one") + &title("Fix the Login")),
    );
    world.claude(
        "22222222-aaaa-4000-8000-000000000002",
        &prompt(&cwd, "2026-11-16T02:02:00Z", "deploy to staging"),
    );
    world.claude(
        "22222222-bbbb-4000-8000-000000000003",
        &prompt(&cwd, "2026-11-16T02:03:00Z", "deploy to production"),
    );
    session(
        &world,
        "-else",
        THREE,
        Path::new("/else/where"),
        "elsewhere, deploy",
    );
    world.append(
        format!(".claude/projects/-else/{THREE}.jsonl"),
        prompt(Path::new("/else/where"), "2026-11-16T02:59:00Z", "later"),
    );
    world
}

#[test]
fn names_that_lead_to_a_session() {
    let world = three();
    let login = "2026-11-16 02:01  user       first prompt of one\n";
    let staging = "2026-11-16 02:02  user       deploy to staging\n";
    let production = "2026-11-16 02:03  user       deploy to production\n";
    let path = world.write(
        "elsewhere/copy.jsonl",
        prompt(&world.path("work"), "2026-11-16T02:00:00Z", "by path"),
    );
    world.write(
        "work/copy.jsonl",
        prompt(&world.path("work"), "2026-11-16T02:00:00Z", "relative"),
    );
    for (name, expected) in [
        ("Fix the Login", login),
        ("fix the login", login),
        ("\"Fix the Login\"", login),
        ("LOGIN", login),
        (ONE, login),
        ("11111111", login),
        ("1", login),
        ("11111111-0000", login),
        ("22222222-a", staging),
        ("deploy to staging", staging),
        ("Staging", staging),
        ("last", production),
        (path.to_str().expect("UTF-8"), &log_of("by path")),
        ("~/elsewhere/copy.jsonl", &log_of("by path")),
        ("copy.jsonl", &log_of("relative")),
        // Here goes before elsewhere.
        (
            "33333333",
            "2026-11-16 02:00  user       elsewhere, deploy\n           02:59  user       later\n",
        ),
    ] {
        world
            .reader(&["log", name])
            .run()
            .success()
            .stdout(expected);
        world.reader(&[name]).run().success().stdout(expected);
    }
}

/// The last session of this project, also when another is newer; where there is none, the newest of all.
#[test]
fn last_is_the_last_one_here() {
    let world = three();
    let elsewhere = world.path("empty");
    std::fs::create_dir_all(&elsewhere).expect("a directory");
    world
        .reader(&["last", "--lines", "1"])
        .run()
        .success()
        .stdout("2026-11-16 02:03  user       deploy to production\n");
    world
        .reader(&["last", "--lines", "1"])
        .dir(&elsewhere)
        .run()
        .status(0)
        .stderr(
            "session-reader: 'last' is 33333333, a session in /else/where; this project has none\n",
        )
        .stdout("2026-11-16 02:59  user       later\n");
    let none = "session-reader: no sessions in this project; `session-reader formats` shows where they are looked for\n";
    World::new()
        .reader(&["last"])
        .run()
        .status(1)
        .stdout("")
        .stderr(none);
    // The last one of an agent.
    world
        .reader(&["CLAUDE:last", "--lines", "1"])
        .run()
        .success()
        .stdout("2026-11-16 02:03  user       deploy to production\n");
    world
        .reader(&["codex:last"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("'codex:last'");
}

/// A mistyped command does not open a session whose title merely contains the word; a name of its own still counts.
#[test]
fn a_mistyped_command_is_no_part_of_a_title() {
    let world = World::new();
    let said = prompt(
        &world.path("other"),
        "2026-11-16T02:00:00Z",
        "resumed the upload",
    );
    world.write(format!(".claude/projects/-other/{ONE}.jsonl"), said);
    let typo = "no command is called 'resum'; did you mean `session-reader resume`?";
    let part = "`session-reader log resum` reads a session with that in its title";
    for args in [&["resum"][..], &["resum", "--codes"]] {
        world
            .reader(args)
            .run()
            .status(2)
            .stdout("")
            .stderr(&format!("session-reader: {typo} {part}\n"));
    }
    // A part of a title of another project is said to be one.
    let shown = "2026-11-16 02:00  user       resumed the upload\n";
    for (args, name) in [(&["log", "resum"][..], "resum"), (&["upload"], "upload")] {
        let elsewhere =
            format!("session-reader: '{name}' is in the title of 11111111, a session in ~/other\n");
        world
            .reader(args)
            .run()
            .status(0)
            .stdout(shown)
            .stderr(&elsewhere);
    }
    world
        .reader(&["log", "resumed the upload"])
        .run()
        .success()
        .stdout(shown)
        .stderr("");
    world.write(
        "work/.volute/sessions/lost.json",
        format!(r#"{{"sessionId":"{ONE}"}}"#),
    );
    world
        .reader(&["lost"])
        .run()
        .success()
        .stdout(shown)
        .stderr("");
}

/// 002-07: a name of nobody's is an error with the sessions that come nearest.
#[test]
fn an_unknown_name_shows_the_nearest() {
    let world = three();
    world
        .reader(&["stagging"])
        .run()
        .status(2)
        .stdout("")
        .stderr(concat!(
            "session-reader: no command or session is called 'stagging'; the nearest:\n",
            "  22222222-aaaa  claude  58m  ~/work  deploy to staging\n",
        ));
}

/// Five at the most; of two that are as near, the one that is here first, whatever is newer.
#[test]
fn the_nearest_are_few() {
    let world = World::new();
    let said = |time: &str| prompt(&world.path("work"), time, "deploy");
    for number in 1..=4 {
        world.claude(
            &format!("{number}{number}{number}{number}aaaa-0000"),
            &said("2026-11-16T02:00:00Z"),
        );
    }
    session(
        &world,
        "-else",
        "5555aaaa-0000",
        Path::new("/else/where"),
        "deploy",
    );
    session(
        &world,
        "-else",
        "6666aaaa-0000",
        Path::new("/else/where"),
        "deploy",
    );
    let later = prompt(Path::new("/else/where"), "2026-11-16T02:59:00Z", "yes");
    world.append(".claude/projects/-else/6666aaaa-0000.jsonl", later);
    let row = |id: u32| format!("  {id}aaaa  claude  1h  ~/work       deploy\n");
    let rows = [1111, 2222, 3333, 4444].map(row).concat()
        + "  6666aaaa  claude  1m  /else/where  deploy\n  and 1 more: session-reader list --all\n";
    let expected =
        format!("session-reader: no command or session is called 'deplox'; the nearest:\n{rows}");
    world
        .reader(&["deplox"])
        .run()
        .status(2)
        .stdout("")
        .stderr(&expected);
    // Nothing in quotes is no name of anything.
    world
        .reader(&["log", "\"\""])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("no session is called '\"\"'");
}

/// A session of an agent, as the hook calls it: among those of that agent, by its name here, its title with or without
/// quotes, its id or a part of its title.
#[test]
fn a_name_may_say_whose_session_it_is() {
    let world = World::new();
    let cwd = world.path("work");
    world.write(
        "work/.volute/sessions/discord.json",
        format!(r#"{{"sessionId":"{ONE}"}}"#),
    );
    world.claude(ONE, &prompt(&cwd, "2026-11-16T02:00:00Z", "deploy it"));
    world.write(
        ".pi/agent/sessions/--work--/2026-11-16T02-00-00-000Z_2222.jsonl",
        pi(&cwd, "2222", "deploy it"),
    );
    world
        .reader(&["log", "deploy it"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("fits 2 sessions");
    for name in [
        "claude:discord",
        "claude:deploy it",
        "agent-sdk:deploy",
        "claude:\"deploy it\"",
        "claude: 1111",
    ] {
        let shown = world
            .reader(&["resume", name, "--json"])
            .run()
            .success()
            .json();
        assert_eq!(shown[0]["agent"], "claude", "{name}");
    }
    for name in ["pi:2222", "pi:deploy it", "pi:\"deploy it\""] {
        let shown = world
            .reader(&["resume", name, "--json"])
            .run()
            .success()
            .json();
        assert_eq!(shown[0]["agent"], "pi", "{name}");
    }
    for name in [
        "pi:discord",
        "pi:1111",
        "gemini:deploy it",
        "nobody:deploy it",
    ] {
        let said = world.reader(&["resume", name]).run().status(2).stdout("");
        assert!(
            said.err()
                .starts_with(&format!("session-reader: no session is called '{name}'; ")),
            "{}",
            said.err()
        );
    }
}

/// Of a long title only the beginning is compared with a name that nobody has.
#[test]
fn the_end_of_a_long_title_is_not_near() {
    let world = World::new();
    let title = format!("{} deploy", "-".repeat(60));
    world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", &title),
    );
    let said = "session-reader: no session is called 'deplox'; `session-reader list --all` shows what there is\n";
    world
        .reader(&["log", "deplox"])
        .run()
        .status(2)
        .stdout("")
        .stderr(said);
    world.reader(&["log", "deploy"]).run().success();
}

/// Of two paths to one file the one with a name counts, in whatever order they are found.
#[test]
fn a_file_with_a_name_goes_before_the_same_without() {
    let world = World::new();
    let file = world.write(
        "work/.volute/pi-sessions/main/1_2222.jsonl",
        pi(&world.path("work"), "2222", "hello"),
    );
    let other = world.path(".pi/agent/sessions/--work--/2026-11-16T02-00-00-000Z_2222.jsonl");
    std::fs::create_dir_all(other.parent().expect("a directory")).expect("a directory");
    std::fs::hard_link(file, other).expect("a link");
    let rows = world.reader(&["list", "--json"]).run().success().json();
    assert_eq!(
        (rows.len(), rows[0]["name"].as_str()),
        (1, Some("main")),
        "{rows:?}"
    );
}

/// Two files with one id are told apart by their paths, which lead to them.
#[test]
fn two_files_of_one_id_are_told_apart_by_their_paths() {
    let world = World::new();
    for dir in ["-one", "-two"] {
        session(&world, dir, ONE, &world.path("work"), "the same");
    }
    let path = world.path(format!(".claude/projects/-two/{ONE}.jsonl"));
    let said = world.reader(&["the same"]).run().status(2).stdout("");
    let rows: Vec<_> = said
        .err()
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(rows, [Some(ONE), path.to_str()], "{}", said.err());
    world
        .reader(&[path.to_str().expect("UTF-8")])
        .run()
        .success()
        .stdout(&log_of("the same"));
}

/// A bare word is a session before it is a file, and a file where no session is called that.
#[test]
fn a_bare_word_is_a_session_first() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "deploy"),
    );
    for file in ["deploy", "other"] {
        world.write(
            format!("work/{file}"),
            prompt(&world.path("work"), "2026-11-16T02:00:00Z", "by file"),
        );
    }
    world
        .reader(&["log", "deploy"])
        .run()
        .success()
        .stdout(&log_of("deploy"));
    world
        .reader(&["log", "./deploy"])
        .run()
        .success()
        .stdout(&log_of("by file"));
    world
        .reader(&["log", "other"])
        .run()
        .success()
        .stdout(&log_of("by file"));
}

#[test]
fn an_ambiguous_name_shows_the_candidates() {
    let world = three();
    let candidates = "  22222222-bbbb  claude  57m  ~/work  deploy to production\n  22222222-aaaa  claude  58m  ~/work  deploy to staging\n";
    for name in ["22222222", "2", "DEPLOY", "deploy to"] {
        let expected =
            format!("session-reader: '{name}' fits 2 sessions; name one of them:\n{candidates}");
        world
            .reader(&["log", name])
            .run()
            .status(2)
            .stdout("")
            .stderr(&expected);
    }
    // What is shown leads to the session.
    world.reader(&["22222222-bbbb"]).run().success();
}

/// A part of a name in the home is enough, or of a title; the beginning goes before the rest, and here before elsewhere.
#[test]
fn a_part_of_a_name_is_enough() {
    let world = World::new();
    let cwd = world.path("work");
    for (name, id) in [
        ("discord-general", ONE),
        ("my-discord", TWO),
        ("email", THREE),
    ] {
        world.write(
            format!("work/.volute/sessions/{name}.json"),
            format!(r#"{{"sessionId":"{id}"}}"#),
        );
        world.claude(
            id,
            &prompt(&cwd, "2026-11-16T02:00:00Z", &format!("I am {name}")),
        );
    }
    session(
        &world,
        "-else",
        "44444444-0000",
        Path::new("/else"),
        "Email the whole team",
    );
    session(
        &world,
        "-else",
        "55555555-0000",
        Path::new("/else"),
        "Deploy the shop",
    );
    for (name, text) in [
        ("discord", "I am discord-general"),
        ("DISC", "I am discord-general"),
        ("my-d", "I am my-discord"),
        ("mail", "I am email"),
        ("email t", "Email the whole team"),
        ("shop", "Deploy the shop"),
    ] {
        let elsewhere = ["email t", "shop"].contains(&name);
        let done = world.reader(&[name]).run().status(0).stdout(&log_of(text));
        assert_eq!(
            done.err().contains("is in the title of"),
            elsewhere,
            "{}",
            done.err()
        );
    }
    // Of three that begin alike nobody can tell which.
    world.reader(&["I am"]).run().status(2).stdout("").stderr(
        "\
session-reader: 'I am' fits 3 sessions; name one of them:
  discord-general  claude  1h  ~/work  I am discord-general
  my-discord       claude  1h  ~/work  I am my-discord
  email            claude  1h  ~/work  I am email
",
    );
    // Who asks by an id is answered with ids.
    world
        .reader(&["11111112"])
        .run()
        .status(2)
        .stdout("")
        .stderr(
            "\
session-reader: no session is called '11111112'; the nearest:
  11111111  claude  1h  ~/work  I am discord-general
",
        );
    world
        .reader(&["disocrd"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("the nearest:\n  discord-general  claude");
}

/// A file that is no transcript does not hide a session that is about it.
#[test]
fn a_file_that_is_no_transcript_is_not_meant() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(
            &world.path("work"),
            "2026-11-16T02:00:00Z",
            "tidy up the Makefile",
        ),
    );
    world.write("work/Makefile", "all:\n");
    world
        .reader(&["Makefile"])
        .run()
        .success()
        .stdout(&log_of("tidy up the Makefile"));
    world.write("work/notes", "hello\n");
    world
        .reader(&["notes"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("notes: not a transcript of a known format");
}

/// An exact title goes before a part of another.
#[test]
fn a_whole_title_goes_before_a_part() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(ONE, &prompt(&cwd, "2026-11-16T02:00:00Z", "deploy"));
    world.claude(TWO, &prompt(&cwd, "2026-11-16T02:00:00Z", "deploy again"));
    world
        .reader(&["deploy"])
        .run()
        .success()
        .stdout(&log_of("deploy"));
    world
        .reader(&["again"])
        .run()
        .success()
        .stdout(&log_of("deploy again"));
}

/// 003-T24: a path to nothing, to a directory, or to something else.
#[test]
fn a_path_to_no_transcript_is_an_error() {
    let world = World::new();
    world.write("work/notes.txt", "hello\n");
    world.write("work/empty.jsonl", "");
    for name in [
        "nothing.jsonl",
        "/nowhere/at/all.jsonl",
        "notes.txt",
        "empty.jsonl",
        ".",
    ] {
        world
            .reader(&["log", name])
            .run()
            .status(2)
            .stdout("")
            .stderr_has(name);
    }
}

// Formats of the user.

/// A session of an agent that a descriptor of the user's adds.
fn acme_log(world: &World) -> String {
    let call = json!({"tool": "patch", "with": {"file": world.path("work/a.rs")}});
    acme::log(world, "z1", "hello") + &acme::line("call", call)
}

/// A seventh agent is one file, without a compiler.
#[test]
fn one_file_adds_an_agent() {
    let world = World::new();
    world.write(DESCRIPTOR, ACME);
    world.write(".acme/logs/z1.jsonl", acme_log(&world));
    let rows = world
        .reader(&["list", "--json", "--agent", "acme"])
        .run()
        .success()
        .json();
    assert_eq!(
        (&rows[0]["id"], &rows[0]["agent"]),
        (&"z1".into(), &"ac".into())
    );
    let log = "2026-11-16 02:55  user       hello\n           02:55  assistant  [patch a.rs]\n";
    world.reader(&["z1"]).run().success().stdout(log);
    // A file of it is also known from its lines, wherever it lies.
    world.write("work/copy", acme_log(&world));
    world.reader(&["copy"]).run().success().stdout(log);
    let moved = world
        .reader(&["list"])
        .env("ACME_HOME", world.path("empty"))
        .run();
    moved.status(1);
}

/// A file of the same name replaces a built-in whole: its roots, too.
#[test]
fn a_file_replaces_a_built_in_whole() {
    let world = World::new();
    world.write(
        ".pi/agent/sessions/--work--/1_x.jsonl",
        pi(&world.path("work"), "x", "as built in"),
    );
    world.write(".acme/logs/z1.jsonl", acme_log(&world));
    assert_eq!(listed_in(&world, "work"), ["as built in"]);
    world.write(".config/session-monitor/formats/pi.toml", ACME);
    assert_eq!(listed_in(&world, "work"), ["hello"]);
    std::fs::remove_file(world.path(".config/session-monitor/formats/pi.toml")).expect("removed");
    assert_eq!(listed_in(&world, "work"), ["as built in"]);
}

/// A changed descriptor counts at once, whatever the cache knows.
#[test]
fn a_changed_format_is_not_read_from_the_cache() {
    let world = World::new();
    world.write(DESCRIPTOR, ACME);
    world.write(
        ".acme/logs/z1.jsonl",
        acme_log(&world) + &acme::line("shout", json!({"text": "HELLO"})),
    );
    let messages = |world: &World| {
        world.reader(&["list", "--json"]).run().success().json()[0]["messages"].clone()
    };
    assert_eq!(messages(&world), 1);
    world.write(
        DESCRIPTOR,
        ACME.replace(r#"= "prompt""#, r#"= ["prompt", "shout"]"#),
    );
    assert_eq!(messages(&world), 2);
}

/// A broken descriptor is named with file and line; the built-in stays, and the others work.
#[test]
fn a_broken_descriptor_leaves_the_built_in_in_place() {
    for (broken, line) in [
        (ACME.replace("content =", "contend ="), "22"),
        (
            ACME.replace(
                "[[rule]]\nwhen = { \"/kind\" = \"call\"",
                "[[rule]\nwhen = { \"/kind\" = \"call\"",
            ),
            "29",
        ),
        (ACME.replace("act = \"edit\"", "act = \"edits\""), "35"),
        (
            ACME.replace("content = \"/text\"", "content = \"text\""),
            "22",
        ),
        (ACME.replace("{id}.jsonl", "{name}.jsonl"), "9"),
    ] {
        let world = World::new();
        world.write(
            ".pi/agent/sessions/--work--/1_x.jsonl",
            pi(&world.path("work"), "x", "as built in"),
        );
        let file = world.write(".config/session-monitor/formats/pi.toml", broken);
        let done = world.reader(&["list", "--json"]).run().status(0);
        assert_eq!(titles(&done), ["as built in"]);
        done.stderr_has(file.to_str().expect("UTF-8"))
            .stderr_has(&format!("line {line}"));
        let check = world
            .reader(&["formats", "check", file.to_str().expect("UTF-8")])
            .run()
            .status(2);
        check.stdout("").stderr_has(&format!("line {line}"));
    }
}

/// The tables of a descriptor may come in any order.
#[test]
fn the_order_of_tables_does_not_matter() {
    let world = World::new();
    world.write(".acme/logs/z1.jsonl", acme_log(&world));
    let line = "[line]\ntime = \"/at\"\n\n";
    world.write(DESCRIPTOR, ACME);
    let listed = world.reader(&["list", "--json"]).run().success().json();
    world.write(
        DESCRIPTOR,
        ACME.replace(line, "")
            .replace("[[root]]", &format!("{line}[[root]]")),
    );
    assert_eq!(
        world
            .reader(&["list", "--json"])
            .run()
            .success()
            .stderr("")
            .json(),
        listed
    );
}

/// What compiling fills in cannot be written.
#[test]
fn what_is_computed_cannot_be_written() {
    let world = World::new();
    let computed = ACME.replace("role = \"user\"", "role = \"user\"\nenough = 1");
    let file = world.write(DESCRIPTOR, computed);
    let check = world
        .reader(&["formats", "check", file.to_str().expect("UTF-8")])
        .run()
        .status(2);
    check
        .stdout("")
        .stderr_has("this is computed; leave it out");
}

/// Descriptors that are whole, but lead nowhere, do no harm.
#[test]
fn odd_descriptors_do_no_harm() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "hello"),
    );
    world.write(".config/session-monitor/formats/empty.toml", "");
    world.write(
        ".config/session-monitor/formats/binary.toml",
        b"\xff\xfe\x00",
    );
    world.write(
        ".config/session-monitor/formats/line-first.toml",
        "[line]\n\nagent = \"x\"\n",
    );
    world.write(
        ".config/session-monitor/formats/notes.txt",
        "not a descriptor",
    );
    std::fs::create_dir_all(world.path(".config/session-monitor/formats/dir.toml"))
        .expect("a directory");
    let done = world.reader(&["list", "--json"]).run().status(0);
    assert_eq!(titles(&done), ["hello"]);
    assert!(
        !done.err().contains("panicked") && !done.err().contains("notes.txt"),
        "{}",
        done.err()
    );
    for name in ["empty.toml", "binary.toml", "line-first.toml", "dir.toml"] {
        assert!(done.err().contains(name), "{name} in {}", done.err());
    }
}

/// A mistyped command looks like the name of a session, whatever follows it. What is wrong with it is said first.
#[test]
fn a_misspelt_command_is_said_first() {
    let world = World::new();
    world.install("agent-sdk/resume", "");
    let none =
        "`session-reader --help` lists the commands, `session-reader list --all` the sessions";
    for (typed, rest, hint) in [
        ("resum", &[][..], "did you mean `session-reader resume`?"),
        (
            "lst",
            &["--all", "--limit", "3"],
            "did you mean `session-reader list`?",
        ),
        (
            "profle",
            &["--since", "7d"],
            "did you mean `session-reader profile`?",
        ),
        ("frobnicate", &["foo", "bar"], none),
        ("tail", &["-f"], none),
        (
            "serch",
            &["--frobnicate"],
            "did you mean `session-reader search`?",
        ),
    ] {
        let said = format!("session-reader: no command or session is called '{typed}'; {hint}\n");
        world
            .reader(&[&[typed], rest].concat())
            .run()
            .status(2)
            .stdout("")
            .stderr(&said);
    }
    // Who says `log` means a session; and what follows a session must fit it.
    world
        .reader(&["log", "lst"])
        .run()
        .status(2)
        .stderr_has("no session is called 'lst'; ");
    world
        .reader(&["renamed", "--frobnicate"])
        .run()
        .status(2)
        .stderr_has("unexpected argument '--frobnicate'");
    world
        .reader(&["renamed", "foo"])
        .run()
        .status(2)
        .stderr_has("unexpected argument 'foo'");
    let empty = "session-reader: the name of the session is empty; `session-reader list --all` shows what there is\n";
    for args in [&["log", ""][..], &["resume", ""], &[""]] {
        world.reader(args).run().status(2).stdout("").stderr(empty);
    }
}

/// A session that is named like a command is reached by `log NAME`.
#[test]
fn a_session_named_like_a_command_is_reached_by_log() {
    let world = World::new();
    for (number, name) in ["list", "log", "profile", "formats", "help", "last"]
        .iter()
        .enumerate()
    {
        let id = format!("{number}{number}{number}{number}{number}{number}{number}{number}-0000");
        world.write(
            format!("work/.volute/sessions/{name}.json"),
            format!("{{\"sessionId\":\"{id}\"}}"),
        );
        world.claude(
            &id,
            &prompt(
                &world.path("work"),
                "2026-11-16T02:00:00Z",
                &format!("I am {name}"),
            ),
        );
        let expected = format!("2026-11-16 02:00  user       I am {name}\n");
        world
            .reader(&["log", name])
            .run()
            .success()
            .stdout(&expected);
    }
}

/// A first word that is no flag is a command, also where an agent would run the hook.
#[test]
fn a_first_word_that_is_no_flag_is_a_command_of_the_hooks_program() {
    let world = World::new();
    let done = world
        .context(&["instal", "claude"])
        .stdin("{}")
        .run()
        .status(2)
        .stdout("");
    done.stderr_has("unrecognized subcommand 'instal'")
        .stderr_has("'install'");
    // What only a hook line can be is the hook, which never fails.
    for args in [
        &[][..],
        &["--agent", "nobody"],
        &["--frobnicate"],
        &["-x", "install"],
    ] {
        world.context(args).stdin("{}").run().status(0).stdout("");
    }
    world
        .context(&["--agent", "nobody"])
        .stdin("{}")
        .run()
        .status(0)
        .stderr_has("no agent is called 'nobody'");
    let help = world.context(&["--help"]).run().success().out().to_owned();
    world.context(&["help"]).run().success().stdout(&help);
}
