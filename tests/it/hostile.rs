//! Hostile surroundings: what came with a cloned repository, or stands where a file should be, harms nothing.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::faults::{ALPHA, OBSERVER, context, feed, finish, input, told};
use crate::world::{World, answer, prompt};

/// A cloned repository that brings a named home along, with one session of the user in it that has news.
fn clone() -> World {
    let world = World::new();
    let cwd = world.path("work");
    for (name, id) in [("main", OBSERVER), ("discord", ALPHA)] {
        world.write(format!("work/.volute/sessions/{name}.json"), format!("{{\"sessionId\":\"{id}\"}}"));
    }
    world.claude(OBSERVER, &prompt(&cwd, "2026-11-16T02:30:00Z", "what I asked myself"));
    world.claude(ALPHA, &prompt(&cwd, "2026-11-16T02:50:00Z", "how do I deploy this?"));
    world.write(".bashrc", "# the user's\n");
    world
}

/// The hook of the session `main`, run by a shell that first does something with the process id that it will have.
fn after(world: &World, script: &str) -> (String, String) {
    let hook = context(world, &[]);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{script}\nexec \"$0\"")]).arg(hook.get_program()).current_dir(world.path("work"));
    command.env_clear().envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", "/usr/bin:/bin");
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().expect("a shell");
    feed(&mut child, input(world, OBSERVER).to_string().as_bytes());
    let output = finish(child);
    (told(&output), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn assert_told(text: &str) {
    assert!(text.contains("- discord (10m ago, 1 message): \"how do I deploy this?\""), "{text}");
}

#[test]
fn links_at_our_temporary_names_overwrite_nothing() {
    let world = clone();
    let (text, problems) = after(&world, "ln -s ~/.bashrc .volute/session-cursors.$$.tmp");
    assert_told(&text);
    assert_eq!(problems, "");
    assert_eq!(fs::read_to_string(world.path(".bashrc")).expect("it is there"), "# the user's\n");
}

#[test]
fn a_link_at_the_lock_creates_nothing() {
    let world = clone();
    symlink(world.path("created"), world.path("work/.volute/session-cursors.lock")).expect("a link");
    let (text, problems) = after(&world, "");
    assert_told(&text);
    let why = "a symbolic link, which is not followed here; remove it; what is told now will be told again";
    assert!(problems.contains(why), "{problems}");
    assert!(!world.path("created").exists());
}

#[test]
fn a_link_at_the_cursors_is_neither_read_nor_written() {
    let world = clone();
    let secret = world.write("secret.json", r#"{"token":{"very":"secret"}}"#);
    let cursors = world.path("work/.volute/session-cursors.json");
    symlink(&secret, &cursors).expect("a link");
    let (text, problems) = after(&world, "");
    assert_told(&text);
    assert!(problems.contains("a symbolic link, which is not followed here"), "{problems}");
    assert_eq!(fs::read_to_string(&secret).expect("it is there"), r#"{"token":{"very":"secret"}}"#);
    let written = fs::read_to_string(&cursors).expect("cursors");
    assert!(!cursors.is_symlink() && !written.contains("secret"), "{written}");
}

#[test]
fn a_home_that_is_a_link_is_no_home() {
    let world = clone();
    fs::rename(world.path("work/.volute"), world.path("elsewhere")).expect("moved");
    symlink(world.path("elsewhere"), world.path("work/.volute")).expect("a link");
    let (text, problems) = after(&world, "");
    assert!(text.contains("\"how do I deploy this?\"") && problems.is_empty(), "{text}{problems}");
    let files: Vec<_> = fs::read_dir(world.path("elsewhere")).expect("a directory").flatten().collect();
    assert_eq!(files.len(), 1, "nothing but `sessions` is there: {files:?}");
}

#[test]
fn a_call_without_input_is_a_call() {
    let world = World::new();
    let cwd = world.path("work");
    let bare = r#"{"type":"assistant","uuid":"c","timestamp":"2026-11-16T02:51:00Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Edit"},{"type":"tool_use","id":"u","name":"Bash","input":null}]}}"#;
    let lines = [
        &prompt(&cwd, "2026-11-16T02:50:00Z", "rename the parser module"),
        bare,
        "\n",
        &answer(&cwd, "2026-11-16T02:52:00Z", "Renamed it."),
    ];
    world.claude(ALPHA, &lines.concat());
    let resumed = world.reader(&["resume", "last"]).run().success();
    assert!(resumed.out().contains("Said last   Renamed it.\n"), "{}", resumed.out());
    world.context(&["explain"]).run().success();
}

fn fifo(path: &Path) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("no NUL");
    // SAFETY: a call with a valid path.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

#[test]
fn a_pipe_at_the_notes_hangs_nothing() {
    let world = World::new();
    world.claude(ALPHA, &prompt(&world.path("work"), "2026-11-16T02:50:00Z", "how do I deploy this?"));
    let path = world.context(&["notes", "--path"]).run().success().out().trim().to_owned();
    fifo(Path::new(&path));
    fifo(&world.path(".data/session-monitor/profile.md"));
    let problem = format!("{path}: neither a file nor a directory");
    world.reader(&["list"]).run().status(0);
    world.reader(&["resume"]).run().stderr_has(&problem).status(0);
    for (args, status) in [(&["explain"][..], 0), (&["pins"], 2), (&["pin", "x"], 2)] {
        world.context(args).run().stderr_has(&problem).status(status);
    }
    assert!(world.context(&["doctor"]).run().status(2).out().contains(&problem));
    let start = r#"{"session_id":"new","hook_event_name":"SessionStart","source":"startup","cwd":"CWD"}"#;
    let start = start.replace("CWD", world.path("work").to_str().expect("UTF-8"));
    world.context(&[]).stdin(start).run().status(0).stderr_has(&problem);
}
