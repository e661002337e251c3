//! `session-reader watch` on a real terminal: keys, resize, Ctrl-Z, signals. The terminal is tmux's; where there is none,
//! these tests say so and do nothing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::support::run::{WATCHDOG, in_a_terminal_of};
use crate::support::script::Script;
use crate::support::times::{NOW, ago};
use crate::support::world::{ME, ONE, THREE, TWO, World, skipped};

/// A shell in a terminal of its own.
struct Shell {
    socket: std::path::PathBuf,
    world: World,
}

impl Shell {
    fn open(width: u16, height: u16) -> Option<Shell> {
        Shell::open_in(World::new(), width, height)
    }

    /// In the working directory of a world, which is its home, with the programs in `bin` before all others.
    fn open_in(world: World, width: u16, height: u16) -> Option<Shell> {
        if Command::new("tmux").arg("-V").output().is_err() {
            skipped("a test of `watch`: there is no tmux on this machine");
            return None;
        }
        let shell = Shell {
            socket: world.path("tmux"),
            world,
        };
        let size = [width.to_string(), height.to_string()];
        let (home, work) = (
            shell.world.path("").display().to_string(),
            shell.world.path("work").display().to_string(),
        );
        let sh = format!(
            "env -i TERM=$TERM HOME={home} PATH={home}/bin:$PATH SESSION_MONITOR_NOW={NOW} TZ=UTC PS1='$ ' sh"
        );
        let new = [
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-c",
            &work,
            "-x",
            &size[0],
            "-y",
            &size[1],
            &sh,
        ];
        shell.tmux(&new);
        shell.tmux(&["set", "-g", "set-clipboard", "on"]);
        shell.until(|shown| shown.contains('$'));
        Some(shell)
    }

    fn tmux(&self, args: &[&str]) -> String {
        let out = Command::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .args(args)
            .output()
            .expect("tmux runs");
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    /// Starts it and returns the number of its process.
    fn watch(&self, settings: &str, flags: &str) -> String {
        let program = Path::new(env!("CARGO_BIN_EXE_session-reader")).display();
        let pid = self.world.path("pid");
        let file = pid.display();
        self.keys(&[
            &format!("{settings} sh -c 'echo $$ >{file}; exec {program} watch {flags}'"),
            "Enter",
        ]);
        self.until(|shown| shown.contains("need you ·") || shown.contains("needs you ·"));
        std::fs::read_to_string(pid)
            .expect("written before it began")
            .trim()
            .to_owned()
    }

    /// Waits until it has ended or stopped, and asks the shell how, and whether the terminal takes whole lines.
    fn ended(&self, before: &str) -> String {
        let start = Instant::now();
        while self.state() != before {
            assert!(start.elapsed() < WATCHDOG, "still: {}", self.state());
        }
        self.until(|shown| shown.trim_end().ends_with("\n$"));
        self.keys(&[
            "echo ended with $?, $(stty -a | grep -o '.icanon')",
            "Enter",
        ]);
        let shown = self.until(|shown| shown.lines().any(|line| line.starts_with("ended with")));
        let ended = shown
            .lines()
            .find(|line| line.starts_with("ended with"))
            .unwrap_or_default()
            .to_owned();
        self.keys(&["clear", "Enter"]);
        self.until(|shown| !shown.contains("ended"));
        ended
    }

    fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    fn shown(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    fn of_pane(&self, what: &str) -> String {
        self.tmux(&["display-message", "-p", what])
            .trim_end()
            .to_owned()
    }

    /// Waits until the screen is so; a screen that never is fails the test.
    fn until(&self, is_so: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let shown = self.shown();
            if is_so(&shown) {
                return shown;
            }
            assert!(start.elapsed() < WATCHDOG, "still:\n{shown}");
            std::thread::yield_now();
        }
    }

    /// What a program must leave as it found it.
    fn state(&self) -> String {
        self.of_pane("#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{pane_title}")
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn keys_move_it_resizes_and_quits() {
    let Some(shell) = Shell::open(80, 24) else {
        return;
    };
    let before = shell.state();
    shell.watch("env -u SESSION_MONITOR_NOW", "--demo");
    assert!(shell.of_pane("#{alternate_on} #{mouse_any_flag} #{cursor_flag}") == "1 1 0");
    shell.until(|shown| {
        let count = shown.split(" ·").next().unwrap_or_default().trim();
        count.ends_with("need you")
            && shell.of_pane("#{pane_title}") == format!("{count} · session-monitor")
    });
    shell.keys(&["?"]);
    shell.until(|shown| shown.contains("any key goes back"));
    shell.keys(&["Escape", "/", "landing"]);
    shell.until(|shown| shown.contains("filter: landing▏") && shown.contains("▌ landing-page"));
    shell.keys(&["Enter", "Enter"]);
    let log = shell.until(|shown| shown.contains("Esc back"));
    assert!(
        log.contains("user       make the landing page load in under a second"),
        "{log}"
    );
    shell.tmux(&["resize-window", "-x", "130", "-y", "30"]);
    shell.until(|shown| {
        shown
            .lines()
            .nth(1)
            .is_some_and(|line| line.ends_with("───") && line.chars().count() == 130)
    });
    shell.keys(&["Escape", "Escape", "y"]);
    shell.until(|shown| shown.contains("copied the id: e2f4b8c6"));
    assert_eq!(
        shell.tmux(&["show-buffer"]),
        "e2f4b8c6-0000-4000-8000-000000000006"
    );
    shell.keys(&["q"]);
    assert_eq!(shell.ended(&before), "ended with 0, icanon");
}

#[test]
fn ctrl_z_gives_the_terminal_back_for_a_while() {
    let Some(shell) = Shell::open(80, 24) else {
        return;
    };
    let before = shell.state();
    shell.watch("env -u SESSION_MONITOR_NOW", "--demo");
    shell.keys(&["C-z"]);
    shell.until(|shown| shown.contains("Stopped"));
    assert!(shell.ended(&before).ends_with(", icanon"));
    shell.keys(&["fg", "Enter"]);
    shell.until(|shown| shown.contains("need you ·") || shown.contains("needs you ·"));
    shell.keys(&["q"]);
    assert_eq!(shell.ended(&before), "ended with 0, icanon");
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_as_it_was() {
    let Some(shell) = Shell::open(80, 24) else {
        return;
    };
    let before = shell.state();
    for (signal, status) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let pid = shell.watch("env -u SESSION_MONITOR_NOW", "--demo");
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &pid])
            .status();
        assert!(sent.expect("kill runs").success());
        assert_eq!(
            shell.ended(&before),
            format!("ended with {status}, icanon"),
            "{signal}"
        );
    }
}

/// A terminal that shows nothing, as after Ctrl-S, keeps it from writing but not from ending.
#[test]
fn a_signal_ends_it_while_the_terminal_does_not_read() {
    use std::os::fd::AsRawFd;
    let world = World::new();
    asks(&world).save(&world, ONE);
    Script::of(&world)
        .ago(3)
        .user("write the notes")
        .says("They are written.")
        .save(&world, TWO);
    let Some(shell) = Shell::open_in(world, 80, 24) else {
        return;
    };
    let pid = shell.watch("", "");
    let tty = std::fs::File::open(shell.of_pane("#{pane_tty}")).expect("the terminal");
    // SAFETY: the descriptor is open, and nothing else is handed over.
    let flow = |action| assert_eq!(unsafe { libc::tcflow(tty.as_raw_fd(), action) }, 0);
    flow(libc::TCOOFF);
    shell.keys(&["C-l"]);
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .expect("kill runs")
            .success()
    );
    let start = Instant::now();
    while std::fs::exists(format!("/proc/{pid}")).unwrap_or(false) && start.elapsed() < WATCHDOG {
        std::thread::yield_now();
    }
    let is_gone = start.elapsed() < WATCHDOG;
    flow(libc::TCOON);
    assert!(is_gone, "it still runs");
}

/// Whatever size a terminal says it has, only a part of it is drawn.
#[test]
fn a_terminal_of_any_size_is_drawn_in_part() {
    let world = World::new();
    Script::of(&world).ago(3).user("begin").save(&world, ONE);
    let program = env!("CARGO_BIN_EXE_session-reader");
    for size in ["cols 65535 rows 65535", "cols 1 rows 1", "cols 0 rows 0"] {
        let line = format!(
            "session-reader -V >/dev/null; stty {size}; {program} watch; echo ended with $?"
        );
        let Some(shown) = in_a_terminal_of(24, &world, &line, ("NO_COLOR", "1"), "q") else {
            return;
        };
        let is_good = shown.ends_with("ended with 0\n") && shown.len() < 4 << 20;
        assert!(
            is_good,
            "{size}: {} bytes, {:?}",
            shown.len(),
            shown.lines().last()
        );
    }
}

/// An editor that stops its job, as Ctrl-Z does in vi, stops `watch` with it, and the shell is there.
#[test]
fn ctrl_z_in_the_editor_stops_the_whole_job() {
    let world = World::new();
    write_program(
        &world,
        "ed",
        "echo editing $1; kill -TSTP 0; echo edited; read line",
    );
    let Some(shell) = Shell::open_in(world, 80, 24) else {
        return;
    };
    let before = shell.state();
    shell.watch("EDITOR=ed env -u SESSION_MONITOR_NOW", "--demo");
    shell.keys(&["o"]);
    shell.until(|shown| shown.contains("editing /") && shown.contains("Stopped"));
    assert!(shell.ended(&before).ends_with(", icanon"));
    shell.keys(&["fg", "Enter"]);
    shell.until(|shown| shown.contains("edited"));
    shell.keys(&["Enter"]);
    shell.until(|shown| shown.contains("need you ·"));
    shell.keys(&["q"]);
    assert_eq!(shell.ended(&before), "ended with 0, icanon");
}

/// A program that is found before all others.
fn write_program(world: &World, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = world.write(format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("rights");
}

/// A session that asks its user something.
fn asks(world: &World) -> Script {
    let question = serde_json::json!({"questions": [{"question": "Redis or NATS?"}]});
    Script::of(world)
        .ago(5)
        .user("pick a queue")
        .calls("AskUserQuestion", question)
}

/// A search finds what a subagent said, and its log is then the subagent's.
#[test]
fn search_in_subagents_find_and_mute() {
    let world = World::new();
    let file = asks(&world).save(&world, ONE);
    Script::of(&world)
        .ago(3)
        .user("write the notes")
        .says("They are written.")
        .save(&world, TWO);
    let subagent = Script::of(&world)
        .ago(4)
        .user("Look into the queue")
        .says("A heron blocks the lock.")
        .text();
    let subagent = subagent.replace("\"type\":", "\"isSidechain\":true,\"type\":");
    world.write(
        file.with_extension("").join("subagents/agent-a1.jsonl"),
        subagent,
    );
    let Some(shell) = Shell::open_in(world, 80, 24) else {
        return;
    };
    let before = shell.state();
    shell.watch("", "");
    shell.keys(&["s", "heron"]);
    shell.until(|shown| {
        shown.contains("▌pick a queue") && shown.matches("A heron blocks the lock.").count() == 2
    });
    // The session is the one that may be muted, and what undoes it is to be seen.
    shell.keys(&["Enter", "m"]);
    shell.until(|shown| {
        shown.contains(" 11111111 is muted; `session-context unmute 11111111` undoes it.")
    });
    shell.keys(&["Escape"]);
    shell.until(|shown| shown.contains(" find: heron"));
    shell.keys(&["Escape"]);
    shell.until(|shown| !shown.contains("heron"));
    shell.keys(&["Enter", "/", "nowhere", "Enter"]);
    shell.until(|shown| shown.contains(" nothing in this log has 'nowhere'"));
    shell.keys(&["/", "queue", "Enter"]);
    shell.until(|shown| {
        shown
            .lines()
            .any(|line| line.starts_with('▌') && line.ends_with("pick a queue"))
    });
    shell.keys(&["q"]);
    assert_eq!(shell.ended(&before), "ended with 0, icanon");
}

/// On a wide terminal the log is as wide as its pane, or as the screen while it has all of that, however one gets there.
#[test]
fn the_log_is_as_wide_as_its_room() {
    let world = World::new();
    let long: Vec<String> = (0..300).map(|word| format!("{word:04}")).collect();
    let question = serde_json::json!({"questions": [{"question": "Redis or NATS?"}]});
    Script::of(&world)
        .ago(5)
        .user("an early word")
        .says(&long.join(" "))
        .calls("AskUserQuestion", question)
        .save(&world, ONE);
    Script::of(&world)
        .ago(3)
        .user("write the notes")
        .says("They are written.")
        .save(&world, TWO);
    let Some(shell) = Shell::open_in(world, 200, 50) else {
        return;
    };
    let before = shell.state();
    shell.watch("", "");
    // A word takes five columns; there are 89 for text beside the list, and 181 on the whole screen.
    let is_wrapped_after = |words: usize, shown: &str| {
        let is_one = |word: &&str| word.len() == 4 && word.starts_with('0');
        let lines = shown
            .lines()
            .map(|line| line.split_whitespace().filter(is_one).count());
        shown.contains("0000") && lines.max() == Some(words)
    };
    let beside = |shown: &str| is_wrapped_after(18, shown);
    let whole = |shown: &str| is_wrapped_after(36, shown);
    shell.until(beside);
    shell.keys(&["Enter"]);
    shell.until(whole);
    shell.keys(&["/", "early", "Enter"]);
    shell.until(|shown| {
        whole(shown)
            && shown
                .lines()
                .any(|line| line.starts_with('▌') && line.contains("an early"))
    });
    shell.keys(&["Escape"]);
    shell.until(|shown| beside(shown) && shown.contains("▌02:55  user       an early word"));
    shell.keys(&["Enter"]);
    shell.until(whole);
    shell.keys(&["q"]);
    assert_eq!(shell.ended(&before), "ended with 0, icanon");
}

/// A session here, and one in another project.
fn notes_and_shed(world: &World) -> PathBuf {
    Script::of(world)
        .ago(3)
        .user("write the notes")
        .says("They are written.")
        .save(world, TWO);
    let dir = world.path("other");
    std::fs::create_dir_all(&dir).expect("a directory");
    Script::new(dir.clone())
        .ago(9)
        .user("paint the shed")
        .says("It is green.")
        .save(world, THREE);
    dir
}

/// A session is resumed in its directory after a clear yes, and a search finds those of other projects.
#[test]
fn resume_and_search() {
    let world = World::new();
    write_program(&world, "claude", "echo ran claude $@ in $(pwd); read line");
    let dir = world.path("other");
    std::fs::create_dir(&dir).expect("a directory");
    asks(&world).save(&world, ONE);
    notes_and_shed(&world);
    Script::new(world.path("gone"))
        .ago(8)
        .user("tidy the attic")
        .says("It is tidy.")
        .save(&world, ME);
    let Some(shell) = Shell::open_in(world, 100, 24) else {
        return;
    };
    let before = shell.state();
    shell.watch("", "");
    shell.keys(&["r"]);
    shell.until(|shown| shown.contains(&format!("run `claude --resume {ONE}` in ~/work? (y/n)")));
    shell.keys(&["Enter"]);
    shell.until(|shown| !shown.contains("(y/n)"));
    shell.keys(&["s", "shed"]);
    shell.until(|shown| shown.contains("▌paint the shed") && shown.contains("claude · other"));
    shell.keys(&["C-r"]);
    shell.until(|shown| shown.contains("in ~/other? (y/n)"));
    shell.keys(&["y"]);
    shell.until(|shown| {
        shown.contains(&format!("ran claude --resume {THREE} in {}", dir.display()))
    });
    shell.keys(&["Enter"]);
    shell.until(|shown| shown.contains("▌paint the shed"));
    shell.keys(&["C-u", "atic"]);
    shell.until(|shown| shown.contains("nothing fits"));
    shell.keys(&["C-u", "attci"]);
    shell.until(|shown| shown.contains("▌tidy the attic"));
    shell.keys(&["C-r"]);
    shell.until(|shown| shown.contains("its directory is gone: ~/gone"));
    shell.keys(&["C-c"]);
    assert_eq!(shell.ended(&before), "ended with 0, icanon");
}

/// The agents that are installed are offered, the chosen one gets the terminal and the note, and a session at its limit says
/// which key that is.
#[test]
fn a_session_goes_on_in_another_agent() {
    let world = World::new();
    write_program(
        &world,
        "codex",
        "echo ran codex in $(pwd); printf '%s' \"$1\" >../note; read line",
    );
    let limit = serde_json::json!({"type": "assistant", "uuid": "e", "timestamp": ago(4), "isApiErrorMessage": true,
        "message": {"id": "e", "model": "<synthetic>", "content": [{"type": "text", "text": "Claude AI usage limit reached|1794801600"}]}});
    Script::of(&world)
        .ago(5)
        .user("pick a queue for the webhooks")
        .raw(limit)
        .save(&world, ONE);
    let Some(shell) = Shell::open_in(world, 110, 24) else {
        return;
    };
    let before = shell.state();
    let program = Path::new(env!("CARGO_BIN_EXE_session-reader")).display();
    shell.keys(&[&format!("{program} watch"), "Enter"]);
    shell.until(|shown| shown.contains("c continues in codex"));
    shell.keys(&["c"]);
    shell.until(|shown| shown.contains("continue 11111111 with: 1 codex"));
    shell.keys(&["7"]);
    shell.until(|shown| !shown.contains("with: 1 codex"));
    shell.keys(&["c"]);
    shell.until(|shown| shown.contains("with: 1 codex"));
    shell.keys(&["1"]);
    let work = shell.world.path("work");
    shell.until(|shown| shown.contains(&format!("ran codex in {}", work.display())));
    let note = shell.world.read("note");
    assert!(
        note.starts_with(&format!("[session-reader: continued from claude:{ONE}]")),
        "{note}"
    );
    assert!(
        note.contains("`session-reader log 11111111`") && note.contains("- Limit: "),
        "{note}"
    );
    shell.keys(&["Enter"]);
    shell.until(|shown| shown.contains("c continues in codex"));
    shell.keys(&["q"]);
    assert_eq!(shell.ended(&before), "ended with 0, icanon");
    // Where nobody can press a key, none is named.
    for args in [&["list"][..], &["watch", "--once"]] {
        let run = shell.world.reader(args);
        let path = shell.world.path("bin");
        let shown = run.env("PATH", path).run().success();
        assert!(
            shown.out().contains("limit reached") && !shown.out().contains("continues"),
            "{}",
            shown.out()
        );
    }
}

/// `find` on a terminal: results with every key, the log, and what is picked goes to the shell.
#[test]
fn find_as_you_type_and_pick() {
    let world = World::new();
    let dir = notes_and_shed(&world);
    let Some(shell) = Shell::open_in(world, 80, 24) else {
        return;
    };
    let before = shell.state();
    let program = Path::new(env!("CARGO_BIN_EXE_session-reader")).display();
    shell.keys(&[&format!("{program} find"), "Enter"]);
    shell.until(|shown| shown.contains("▌write the notes") && !shown.contains("paint"));
    shell.keys(&["gre"]);
    shell.until(|shown| {
        shown.contains("nothing fits here, but elsewhere")
            && shown.contains("▌paint the shed")
            && shown.contains("▌  It is green.")
    });
    shell.keys(&["Enter"]);
    shell.until(|shown| !shown.contains("find: gre") && shown.contains("It is green."));
    shell.keys(&["Escape"]);
    shell.until(|shown| shown.contains("find: gre"));
    shell.keys(&["Escape"]);
    assert_eq!(shell.ended(&before), "ended with 0, icanon");
    // The output goes to the shell, and the screen to the terminal.
    shell.keys(&[&format!("cd \"$({program} find --cwd)\"; pwd"), "Enter"]);
    shell.until(|shown| shown.contains("Enter pick") && shown.contains("▌write the notes"));
    shell.keys(&["Tab"]);
    shell.until(|shown| shown.contains("paint the shed"));
    shell.keys(&["Down", "Enter"]);
    let there = dir.display().to_string();
    // What was typed may stand before the prompt.
    shell.until(|shown| shown.lines().any(|line| line.ends_with(&there)));
    assert_eq!(shell.ended(&before), "ended with 0, icanon");
    shell.keys(&[&format!("{program} find --print | cat"), "Enter"]);
    shell.until(|shown| shown.contains("Enter pick"));
    shell.keys(&["notse", "Enter"]);
    shell.until(|shown| shown.contains("22222222  write the notes\n"));
    shell.keys(&[&format!("{program} find --print"), "Enter"]);
    shell.until(|shown| shown.contains("Enter pick"));
    shell.keys(&["Escape"]);
    assert_eq!(shell.ended(&before), "ended with 1, icanon");
}
