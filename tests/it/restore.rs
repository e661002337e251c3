//! `session-reader restore`: which sessions were open when the machine or a terminal went down, and how they come back. The
//! tmux that opens them is a fake one that writes its arguments down, and a real one where there is one.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use session_format::time::Time;

use crate::support::claude::runs;
use crate::support::files::{script as program, written_ago};
use crate::support::run::{Run, WATCHDOG};
use crate::support::script::Script;
use crate::support::times::ago;
use crate::support::world::{ME, ONE, THREE, TWO, World, skipped};

/// The file of a client that was killed while it said this.
fn killed(world: &World, id: &str, status: &str, waits_for: &str) {
    runs(world, id, status, waits_for);
    let file = format!(".claude/sessions/{id}.json");
    let mut said: serde_json::Value = serde_json::from_str(&world.read(&file)).expect("JSON");
    // A process that has its number may run, but it is another one.
    said["procStart"] = json!("1");
    world.write(file, said.to_string());
}

fn reader(world: &World, args: &[&str]) -> Run {
    let bin = world.path("bin").display().to_string();
    world
        .reader(args)
        .env("PATH", format!("{bin}:/usr/local/bin:/usr/bin:/bin"))
}

/// One that ran a test, one that had asked, one that had answered; beside them one that was left, one that is open again, one
/// that is done and one of last week.
fn crashed() -> World {
    let world = World::new();
    program(&world, "claude", "exit 0");
    Script::of(&world)
        .ago(9)
        .user("run all the tests of the shop")
        .calls("Bash", json!({"command": "cargo test"}))
        .save(&world, ONE);
    killed(&world, ONE, "busy", "");
    let ask =
        json!({"questions": [{"question": "Redis or NATS?", "options": [{"label": "Redis"}]}]});
    std::fs::create_dir(world.path("it's")).expect("a directory");
    Script::new(world.path("it's"))
        .ago(20)
        .user("choose a queue for the webhooks")
        .calls("AskUserQuestion", ask)
        .save(&world, TWO);
    killed(&world, TWO, "waiting", "dialog open");
    Script::of(&world)
        .ago(30)
        .user("write the release notes")
        .says("They are written.")
        .save(&world, THREE);
    killed(&world, THREE, "idle", "");
    for (id, minutes) in [("left", 40), ("open", 41), ("done", 42)] {
        Script::of(&world)
            .ago(minutes)
            .user(&format!("tidy the {id} attic"))
            .says("It is tidy.")
            .save(&world, &id_of(id));
    }
    runs(&world, &id_of("open"), "idle", "");
    killed(&world, &id_of("done"), "idle", "");
    world.context(&["done", &id_of("done")]).run().success();
    Script::of(&world)
        .at("2026-11-08T02:00:00Z")
        .user("tidy the attic of last week")
        .says("It is tidy.")
        .save(&world, &id_of("week"));
    killed(&world, &id_of("week"), "idle", "");
    world
}

fn id_of(word: &str) -> String {
    format!(
        "{}-0000-4000-8000-000000000000",
        word.as_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    )
}

#[test]
fn what_was_open_is_listed_newest_first() {
    let world = crashed();
    let expected = "\
NAME      AGENT   PROJECT  AGE  TITLE                            WAS
11111111  claude  work      9m  run all the tests of the shop    crashed while running Bash cargo test
22222222  claude  it's     20m  choose a queue for the webhooks  crashed before it was answered: AskUserQuestion Redis or NATS?
33333333  claude  work     30m  write the release notes          had answered
";
    reader(&world, &["restore"])
        .run()
        .status(0)
        .stdout(expected)
        .stderr("session-reader: --tmux opens them, --print prints the commands; 1 before that: --since 30d\n");
    let week = reader(&world, &["restore", "--since", "30d"]).run();
    assert_eq!(week.out().lines().count(), 5, "{}", week.out());
}

#[test]
fn the_commands_are_for_a_shell() {
    let world = crashed();
    let home = world.path("").display().to_string();
    let home = home.trim_end_matches('/');
    let expected = format!(
        "cd {home}/work && claude --resume {ONE}\ncd '{home}/it'\\''s' && claude --resume {TWO}\ncd {home}/work && claude --resume {THREE}\n"
    );
    reader(&world, &["restore", "--print"])
        .run()
        .success()
        .stdout(&expected)
        .stderr("");
}

#[test]
fn nothing_was_open() {
    let world = World::new();
    Script::of(&world)
        .ago(5)
        .user("write the release notes")
        .says("Done.")
        .save(&world, ONE);
    for flags in [
        &["restore"][..],
        &["restore", "--print"],
        &["restore", "--tmux"],
    ] {
        reader(&world, flags).run().status(1).stdout("").stderr(
            "session-reader: no session was open when its terminal or the machine went down\n",
        );
    }
}

/// What cannot be opened is said and left out: no command may begin a new session, or one in another place.
#[test]
fn never_a_new_session_by_accident() {
    let world = World::new();
    program(&world, "claude", "exit 0");
    let ran = world.path("ran");
    let tmux = format!("case $1 in new-*) touch '{}';; esac", ran.display());
    program(&world, "tmux", &tmux);
    Script::new(world.path("gone"))
        .ago(5)
        .user("write the release notes")
        .says("Done.")
        .save(&world, ONE);
    killed(&world, ONE, "idle", "");
    for flag in ["--print", "--tmux"] {
        reader(&world, &["restore", flag])
            .run()
            .status(1)
            .stdout("")
            .stderr("session-reader: 11111111 left out: its directory is gone: ~/gone\n");
    }
    assert!(!ran.exists(), "a window was opened");
    std::fs::create_dir(world.path("gone")).expect("a directory");
    std::fs::remove_file(world.path("bin/claude")).expect("a program");
    reader(&world, &["restore", "--print"])
        .run()
        .status(1)
        .stdout("")
        .stderr("session-reader: 11111111 left out: claude is not installed\n");
}

/// Directories and titles of strangers: nothing runs in tmux or in a shell, and nothing gets to the terminal.
#[test]
fn a_hostile_session_opens_nothing_but_itself() {
    let world = World::new();
    program(&world, "claude", "exit 0");
    program(
        &world,
        "tmux",
        &format!(
            "case $1 in new-*) for a; do printf '%s\\0' \"$a\"; done >>'{}'; echo '@1 restored:0';; set-* | list-*) ;; *) exit 1;; esac",
            world.path("tmux.args").display()
        ),
    );
    let dir = world.path("#(touch pwned) $(touch pwned) `x` ';\n\u{1b}[2J");
    std::fs::create_dir(&dir).expect("a directory");
    Script::new(dir.clone())
        .ago(5)
        .user("look at \u{1b}]0;title\u{7} this $(touch pwned) page")
        .raw(json!({"type": "custom-title", "customTitle": "#(touch pwned)\u{1b}[31m"}))
        .says("Done.")
        .save(&world, ONE);
    killed(&world, ONE, "idle", "");
    let list = reader(&world, &["restore"]).run().status(0);
    assert!(!list.out().contains('\u{1b}'), "{}", list.out());
    assert_eq!(list.out().lines().count(), 2, "{}", list.out());
    reader(&world, &["restore", "--print"])
        .run()
        .status(1)
        .stdout("")
        .stderr(
            "session-reader: 11111111 left out: its directory cannot be printed; --tmux opens it\n",
        );
    let opened = reader(&world, &["restore", "--tmux"]).run().status(0);
    assert!(!opened.out().contains('\u{1b}'), "{}", opened.out());
    let args = world.read("tmux.args");
    let words: Vec<&str> = args.split('\0').collect();
    let shown = dir.display().to_string();
    let claude = world.path("bin/claude").display().to_string();
    assert_eq!(
        words,
        [
            "new-session",
            "-d",
            "-s",
            "restored",
            "-P",
            "-F",
            "#{window_id} #{session_name}:#{window_index}",
            "-n",
            "11111111",
            "--",
            "sh",
            "-c",
            "cd -- \"$1\" && shift && exec \"$@\"",
            "sh",
            &shown,
            // A server of tmux may have another PATH.
            &claude,
            "--resume",
            ONE,
            ""
        ]
    );
    assert!(!world.path("work/pwned").exists() && !dir.join("pwned").exists());
}

/// A window that is gone before it could be marked has not opened anything.
#[test]
fn an_agent_that_ends_at_once_was_not_opened() {
    let world = crashed();
    program(
        &world,
        "tmux",
        "case $1 in new-*) echo '@1 restored:0';; list-*) ;; *) exit 1;; esac",
    );
    let restored = reader(&world, &["restore", "--tmux"]).run().status(2);
    assert_eq!(restored.out(), "");
    let said = |id: &str| {
        format!(
            "session-reader: {} was not opened: claude --resume {id} ended at once\n",
            &id[..8]
        )
    };
    assert_eq!(restored.err(), [ONE, TWO, THREE].map(said).concat());
}

struct Server<'w>(&'w World);

impl Server<'_> {
    fn tmux(&self, args: &[&str]) -> String {
        let done = Command::new("tmux")
            .args(args)
            .env_remove("TMUX")
            .env("TMUX_TMPDIR", self.0.path(""))
            .output()
            .expect("tmux runs");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// A window for each, with its own command in its own directory, and none twice.
#[test]
fn tmux_opens_each_once() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skipped("a test of `restore`: there is no tmux on this machine");
    }
    let world = crashed();
    // It stays, so that its window does.
    let log = world.path("claude.log");
    program(
        &world,
        "claude",
        &format!("echo \"$PWD $*\" >>'{}'; exec cat", log.display()),
    );
    let server = Server(&world);
    let restore = || {
        reader(&world, &["restore", "--tmux"])
            .env("TMUX_TMPDIR", world.path(""))
            .env("SHELL", "/bin/sh")
            .process()
            .run()
    };
    let opened = restore().status(0);
    let home = world.path("").display().to_string();
    let home = home.trim_end_matches('/');
    let expected = format!(
        "opened 11111111 in restored:0: ~/work: claude --resume {ONE}\nopened 22222222 in restored:1: ~/it's: claude --resume {TWO}\nopened 33333333 in restored:2: ~/work: claude --resume {THREE}\n"
    );
    assert_eq!(opened.out(), expected);
    assert_eq!(
        opened.err(),
        "session-reader: tmux attach -t restored shows them\n"
    );
    let windows = server.tmux(&[
        "list-windows",
        "-t",
        "restored",
        "-F",
        "#{window_name} #{@session_monitor_id}",
    ]);
    assert_eq!(
        windows,
        format!("11111111 {ONE}\n22222222 {TWO}\n33333333 {THREE}\n")
    );
    let mut ran = lines_of(&log, 3);
    ran.sort();
    let mut wanted = [
        format!("{home}/work --resume {ONE}"),
        format!("{home}/it's --resume {TWO}"),
        format!("{home}/work --resume {THREE}"),
    ];
    wanted.sort();
    assert_eq!(ran, wanted);
    // The agents have not said yet that they run.
    let again = restore().status(1);
    assert_eq!(again.out(), "");
    assert_eq!(again.err().matches("tmux has a window for it").count(), 3);
    let windows = server.tmux(&["list-windows", "-a", "-F", "x"]);
    assert_eq!(windows.lines().count(), 3);
}

/// Names in which tmux would find a format or the end of a command.
#[test]
fn tmux_takes_a_directory_as_it_is() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skipped("a test of `restore`: there is no tmux on this machine");
    }
    let world = World::new();
    let log = world.path("claude.log");
    program(
        &world,
        "claude",
        &format!("echo \"$PWD\" >>'{}'; exec cat", log.display()),
    );
    let odd = ["a#[b", "c;", "#{pid}", "#(touch ran)", "-d"];
    for (dir, id) in odd.iter().zip([ONE, TWO, THREE, ME, &id_of("five")]) {
        std::fs::create_dir(world.path(dir)).expect("a directory");
        let script = Script::new(world.path(dir)).ago(5).user("go on with it");
        script.says("Done.").save(&world, id);
        killed(&world, id, "idle", "");
    }
    let _server = Server(&world);
    let restored = reader(&world, &["restore", "--tmux"])
        .env("TMUX_TMPDIR", world.path(""))
        .process()
        .run();
    assert_eq!(
        restored.out().lines().count(),
        odd.len(),
        "{}",
        restored.err()
    );
    let mut ran = lines_of(&log, odd.len());
    ran.sort();
    let mut wanted = odd.map(|dir| world.path(dir).display().to_string());
    wanted.sort();
    assert_eq!(ran, wanted);
}

/// An agent that was killed at rest is forgotten once somebody else had the session open.
#[test]
fn a_session_that_went_on_since_was_not_open() {
    let world = World::new();
    program(&world, "claude", "exit 0");
    Script::of(&world)
        .ago(9)
        .user("write the release notes")
        .says("They are written.")
        .save(&world, ONE);
    killed(&world, ONE, "idle", "");
    let file = format!(".claude/sessions/{ONE}.json");
    let mut said: serde_json::Value = serde_json::from_str(&world.read(&file)).expect("JSON");
    for (minutes, status) in [(30, 1), (9, 0)] {
        said["statusUpdatedAt"] = json!(Time::parse(ago(minutes).as_bytes()).expect("a time").0);
        world.write(&file, said.to_string());
        reader(&world, &["restore", "--print"]).run().status(status);
    }
}

/// The lines of a file, as soon as there are so many.
fn lines_of(path: &Path, count: usize) -> Vec<String> {
    let start = std::time::Instant::now();
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.lines().count() >= count && text.ends_with('\n') {
            return text.lines().map(str::to_owned).collect();
        }
        assert!(start.elapsed() < WATCHDOG, "still: {text}");
        std::thread::yield_now();
    }
}

/// Clients whose terminal goes away end as if they were left, but all in one moment, and in the middle of something.
#[test]
fn what_ended_in_the_same_moment_was_open() {
    let world = World::new();
    program(&world, "claude", "exit 0");
    // There are none that run.
    world.write(".claude/sessions/none.json", "{}");
    let save = |id: &str, seconds: u64, at_work: bool| {
        let script = Script::of(&world)
            .ago(9)
            .user(&format!("tidy the attic and paint {id}"));
        let script = if at_work {
            script.calls("Bash", json!({"command": "cargo test"}))
        } else {
            script.says("It is tidy.")
        };
        written_ago(&world, &script.save(&world, id), seconds);
    };
    let names = || {
        let done = reader(&world, &["restore", "--print"]).run();
        let ids = done
            .out()
            .lines()
            .filter_map(|line| line.rsplit(' ').next());
        let mut ids: Vec<String> = ids.map(str::to_owned).collect();
        ids.sort();
        ids
    };
    // All had answered, or one ended alone.
    save(ONE, 100, false);
    save(TWO, 101, false);
    save(THREE, 500, true);
    assert_eq!(names(), [""; 0]);
    save(THREE, 101, true);
    save(ME, 200, false);
    assert_eq!(names(), [ONE, TWO, THREE]);
    world.context(&["done", TWO]).run().success();
    runs(&world, THREE, "idle", "");
    // Of those that are left none was at work.
    assert_eq!(names(), [""; 0]);
}
