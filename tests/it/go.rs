//! `session-reader go`: to the terminal where a session runs.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use session_core::process;

use crate::support::script::Script;
use crate::support::world::{ONE, World, skipped};

/// A server of tmux with two sessions; the agent is in the second window of the second.
struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    fn start(world: &World) -> Option<Tmux> {
        if Command::new("tmux").arg("-V").output().is_err() {
            skipped("a test of `go`: there is no tmux on this machine");
            return None;
        }
        let tmux = Tmux {
            socket: world.path("tmux.socket"),
        };
        for words in [
            &["new-session", "-d", "-s", "first", "cat"][..],
            &["new-session", "-d", "-s", "work", "cat"],
            &["new-window", "-t", "work", "-n", "agent", "cat"],
            &["split-window", "-t", "work:agent", "cat"],
            &["select-window", "-t", "work:0"],
        ] {
            tmux.run(words);
        }
        Some(tmux)
    }

    fn run(&self, words: &[&str]) -> String {
        let done = Command::new("tmux")
            .args(["-f", "/dev/null", "-S"])
            .arg(&self.socket)
            .args(words)
            .output()
            .expect("tmux runs");
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// The pane of the agent and its process.
    fn agent(&self) -> (String, u32) {
        let said = self.run(&[
            "list-panes",
            "-t",
            "work:agent",
            "-F",
            "#{pane_id} #{pane_pid}",
        ]);
        let (pane, pid) = said
            .lines()
            .next()
            .and_then(|line| line.split_once(' '))
            .expect("a pane");
        (pane.to_owned(), pid.parse().expect("a number"))
    }

    fn shown(&self) -> String {
        self.run(&[
            "display-message",
            "-p",
            "-t",
            "work:",
            "#{window_name} #{pane_id}",
        ])
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

/// The agent of the session is this process, and says that it is in a pane.
fn registered(world: &World, pid: u32, tmux: Option<&str>) {
    let start = process::started(pid).expect("it runs").to_string();
    let domain = format!("pid:[{}]", process::namespace().expect("a namespace"));
    let entry = json!({"pid": pid, "procStart": start, "pidDomain": domain, "sessionId": ONE, "status": "waiting",
        "waitingFor": "permission prompt", "tmux": tmux});
    world.write(format!(".claude/sessions/{pid}.json"), entry.to_string());
}

#[test]
fn the_pane_of_a_session_is_selected() {
    let world = World::new();
    Script::of(&world)
        .ago(1)
        .user("clean up")
        .calls("Bash", json!({"command": "rm -rf build"}))
        .save(&world, ONE);
    let Some(tmux) = Tmux::start(&world) else {
        return;
    };
    let (pane, pid) = tmux.agent();
    // Whether the agent says it itself, or its environment does; with a name, or as the one that needs the user.
    for (said, args) in [
        (Some(format!("work:@2.{pane}")), &["go", ONE][..]),
        (None, &["go", "last"]),
        (None, &["go"]),
        // A pane that is none counts for nothing.
        (Some("work:@2.%1;kill-server".to_owned()), &["go", ONE]),
    ] {
        registered(&world, pid, said.as_deref());
        tmux.run(&["select-pane", "-t", "work:agent.1"]);
        tmux.run(&["select-window", "-t", "work:0"]);
        let done = world.reader(args).run();
        let socket = tmux.socket.display();
        assert_eq!(
            (done.out(), done.err(), done.code()),
            (
                format!("{} is in tmux pane {pane} of {socket}\n", &ONE[..8]).as_str(),
                "",
                Some(0)
            )
        );
        assert_eq!(tmux.shown(), format!("agent {pane}"), "{args:?}");
    }
    // The same for a program.
    let row: serde_json::Value =
        serde_json::from_str(world.reader(&["list", "--json"]).run().out()).expect("JSON");
    assert_eq!(row["place"]["tmux"], json!(pane));
    assert_eq!(row["place"]["pid"], json!(pid));
    assert_eq!(row["pending"]["detail"], "rm -rf build");
}

/// Whoever was started from a pane has its variables, but may have a terminal of their own.
#[test]
fn a_pane_that_has_another_terminal_is_not_the_place() {
    let world = World::new();
    Script::of(&world).ago(1).user("clean up").save(&world, ONE);
    let Some(tmux) = Tmux::start(&world) else {
        return;
    };
    let (pane, pid) = tmux.agent();
    let other = tmux.run(&["display-message", "-p", "-t", "first:", "#{pane_id}"]);
    registered(&world, pid, Some(&format!("first:@0.{other}")));
    let before = tmux.shown();
    let tty = tmux.run(&["display-message", "-p", "-t", &pane, "#{pane_tty}"]);
    let done = world.reader(&["go", ONE]).run();
    assert_eq!((done.err(), done.code()), ("", Some(0)));
    let place = format!("{tty}, process {pid}\n");
    assert!(
        done.out().ends_with(&place) && !done.out().contains("pane"),
        "{}",
        done.out()
    );
    assert_eq!(tmux.shown(), before);
}

#[test]
fn one_that_is_not_open_is_nowhere() {
    let world = World::new();
    Script::of(&world).ago(1).user("clean up").save(&world, ONE);
    let done = world.reader(&["go", ONE]).run();
    assert_eq!((done.out(), done.code()), ("", Some(1)));
    assert_eq!(
        done.err(),
        format!(
            "session-reader: {0} is not open, or nobody knows where; `session-reader resume {0}` says how to open it\n",
            &ONE[..8]
        )
    );
    let done = world.reader(&["go"]).run();
    assert_eq!(
        (done.err(), done.code()),
        (
            "session-reader: no session needs you; `session-reader go NAME` goes to any that is open\n",
            Some(1)
        )
    );
}

/// A server that hangs keeps nobody waiting, and what it was asked ends with it.
#[test]
fn a_program_that_does_not_answer_is_given_up() {
    let world = World::new();
    let child = world.path("child");
    let mut hangs = Command::new("sh");
    hangs
        .args(["-c", "sleep 1000 & echo $! >\"$0\"; wait"])
        .arg(&child);
    let asked = process::answer(&mut hangs, std::time::Duration::from_secs(1));
    let error = asked.expect_err("no answer");
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    let Ok(pid) = world.read("child").trim().parse() else {
        // It was not even started in that time.
        return;
    };
    while process::started(pid).is_some() {
        std::thread::yield_now();
    }
}
