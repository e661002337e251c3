//! Hostile or broken surroundings: links, pipes, directories and missing rights in the place of files, a state directory
//! that is none, output that nobody reads, a repository that came with traps. The prompt goes on, nothing is lost, and no
//! file but our own is touched.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::Resource;
use serde_json::{Value, json};

use crate::support::claude::{answer, prompt};
use crate::support::files::{fifo, files_below, written_ago};
use crate::support::hook::{HEADER, input, text};
use crate::support::run::{Run, limit, ran_in_own_process};
use crate::support::trouble::Tells::{Alpha, Beta, Both, Nothing};
use crate::support::trouble::{
    AGAIN, ALPHA, BETA, Call, Check, JOURNAL, OBSERVER, Scene, TOLD, UNTOLD, cleared, words,
};
use crate::support::world::World;

/// A look at another place is no look at this one.
#[test]
fn a_look_elsewhere_costs_nothing() {
    UNTOLD.all(&[
        ("not there", &[], &|_, call| {
            call.set("cwd", json!("/nonexistent/place"));
        }),
        ("another project", &[], &|scene, call| {
            call.set("cwd", json!(scene.0.path("")));
        }),
        ("deleted, and not given", &[], &|scene, call| {
            deleted(scene, call);
            call.set("cwd", Value::Null);
        }),
        ("a HOME without sessions", &[], &|scene, call| {
            call.env("HOME", scene.0.path("work"));
            call.set("transcript_path", Value::Null);
        }),
    ]);
}

fn deleted(scene: &Scene, call: &mut Call) {
    call.with(|run| in_deleted(&scene.0, run));
}

/// Runs it in a directory that is gone before it starts.
fn in_deleted(world: &World, run: Run) -> Run {
    let gone = world.path("gone");
    fs::create_dir(&gone).expect("a directory");
    let run = run.dir(&gone);
    let gone = std::ffi::CString::new(gone.as_os_str().as_bytes()).expect("a path");
    // SAFETY: one system call with a valid string.
    run.alter(|command| unsafe { _ = command.pre_exec(move || Ok(_ = libc::rmdir(gone.as_ptr()))) })
}

/// What is written down in a directory that is gone is no note about `/`.
#[test]
fn nothing_is_noted_about_a_directory_that_is_gone() {
    if ran_in_own_process() {
        return;
    }
    let world = World::new();
    let gone = "session-context: the working directory was removed; change to one that exists\n";
    for args in [
        &["pin", "it is so"][..],
        &["note", "fact", "it is so"],
        &["pins"],
        &["unpin", "1"],
        &["notes"],
        &["notes", "--path"],
    ] {
        in_deleted(&world, world.context(args))
            .run()
            .status(2)
            .stderr(gone);
    }
    in_deleted(&world, world.context(&["install", "claude", "--project"]))
        .run()
        .status(2);
    world.context(&["pins"]).dir("/").run().status(1);
}

#[test]
fn a_process_in_a_strange_place_works() {
    TOLD.one(("a deleted directory", &[], &deleted));
    for home in [None, Some("/nonexistent"), Some("here"), Some("")] {
        TOLD.one((&format!("{home:?}"), &[], &|scene, call| {
            call.env("CLAUDE_CONFIG_DIR", scene.0.path(".claude"));
            match home {
                Some(home) => call.env("HOME", home),
                None => call.with(|run| run.env_remove("HOME").process()),
            }
        }));
    }
}

/// The writing end of a pipe that nobody reads.
fn unread() -> Stdio {
    std::io::pipe().expect("a pipe").1.into()
}

fn full() -> Stdio {
    OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full")
        .into()
}

/// What cannot be printed was not told.
#[test]
fn output_that_nobody_gets_does_not_count() {
    UNTOLD.all(&[
        ("a closed pipe", &["stdout: "], &|_, call| {
            call.with(|run| run.stdout_to(unread()));
        }),
        ("full", &["stdout: "], &|_, call| {
            call.with(|run| run.stdout_to(full()));
        }),
    ]);
    TOLD.all(&[
        ("stderr closed", &[], &|_, call| {
            call.arg(&["--nonsense", "--budget", "x"]);
            call.alter(|command| _ = command.stderr(unread()));
        }),
        ("stderr full", &[], &|_, call| {
            call.arg(&["--nonsense"]);
            call.alter(|command| _ = command.stderr(full()));
        }),
    ]);
}

#[test]
fn output_to_no_file_does_not_count() {
    UNTOLD.one(("not for writing", &["stdout: "], &|_, call| {
        call.with(|run| run.stdout_to(File::open("/dev/null").expect("/dev/null")));
    }));
}

/// One problem, one line, and one for the journal.
#[test]
fn a_state_directory_that_is_none_is_said_once() {
    const STATE: &str = ".state/session-monitor";
    let link = |scene: &Scene, to: PathBuf| {
        fs::create_dir(scene.0.path(".state")).expect("a directory");
        symlink(to, scene.state()).expect("a link");
    };
    Check(Both, Both, cleared).all(&[
        ("a file", &[AGAIN, JOURNAL], &|scene, _| {
            _ = scene.0.write(STATE, "");
        }),
        ("a file for its parent", &[AGAIN, JOURNAL], &|scene, _| {
            _ = scene.0.write(".state", "");
        }),
        ("a link to nowhere", &[AGAIN, JOURNAL], &|scene, _| {
            link(scene, "/nonexistent/place".into());
        }),
        ("a link to itself", &[AGAIN, JOURNAL], &|scene, _| {
            link(scene, scene.state());
        }),
        (
            "a file for the cursors' directory",
            &[AGAIN],
            &|scene, _| _ = scene.0.write(format!("{STATE}/cursors"), ""),
        ),
        ("no permission", &[AGAIN, JOURNAL], &|scene, call| {
            fs::create_dir_all(scene.state()).expect("a directory");
            fs::set_permissions(scene.state(), Permissions::from_mode(0o500)).expect("permissions");
            call.with(Run::without_rights);
        }),
    ]);
}

/// The same, however often it is said.
#[test]
fn a_state_directory_that_is_none_does_no_harm() {
    for what in ["file", "link"] {
        let scene = Scene::new();
        fs::create_dir(scene.0.path(".state")).expect("a directory");
        let made = if what == "file" {
            fs::write(scene.state(), "")
        } else {
            symlink("/nonexistent/x", scene.state())
        };
        made.expect("something else");
        for _ in 0..2 {
            let output = scene.call().run();
            let err = output.err();
            assert_eq!(text(&output), words(Both), "{what}: {err}");
            assert!(
                err.lines()
                    .all(|line| line.starts_with("session-context: /")),
                "{what}: {err}"
            );
        }
        cleared(&scene);
        assert_eq!(
            (scene.hears(), scene.hears()),
            (words(Both), String::new()),
            "{what}"
        );
    }
}

/// As it should have been, and written just now.
fn mended(scene: &Scene) {
    let path = scene.path(ALPHA);
    let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
    scene.restore(ALPHA);
    written_ago(&scene.0, &path, 0);
}

/// One transcript that cannot be read hides no other, and is told when it can be.
#[test]
fn a_transcript_that_is_none_hides_no_other() {
    let check = Check(Beta, Alpha, mended);
    let gone = |scene: &Scene| fs::remove_file(scene.path(ALPHA)).expect("removed");
    let link = |scene: &Scene, to: PathBuf| {
        gone(scene);
        symlink(to, scene.path(ALPHA)).expect("a link");
    };
    check.all(&[
        ("gone", &[], &|scene, _| gone(scene)),
        ("a pipe", &[], &|scene, _| fifo(&scene.path(ALPHA))),
        ("a link to itself", &[], &|scene, _| {
            link(scene, scene.path(ALPHA));
        }),
        ("a link to nowhere", &[], &|scene, _| {
            link(scene, "/nonexistent".into());
        }),
        ("a link to zeros", &[], &|scene, _| {
            link(scene, "/dev/zero".into());
        }),
        ("a directory", &[], &|scene, _| {
            gone(scene);
            fs::create_dir(scene.path(ALPHA)).expect("a directory");
        }),
        ("not readable", &["aaaaaaaa"], &|scene, call| {
            fs::set_permissions(scene.path(ALPHA), Permissions::from_mode(0o000))
                .expect("permissions");
            call.with(Run::without_rights);
        }),
    ]);
    let endless = "{".repeat(3 << 20);
    for content in [
        "",
        "\n \n\r\n\n",
        "{\"type\":\n{{{{\n\0\0\0\n[]\n7\n",
        &endless,
    ] {
        check.one((&content[..content.len().min(20)], &[], &|scene, _| {
            fs::write(scene.path(ALPHA), content).expect("written");
            written_ago(&scene.0, &scene.path(ALPHA), 60);
        }));
    }
}

/// What could not be read for a while is not older for it.
#[test]
fn what_could_not_be_read_once_is_told_later() {
    fn dir(scene: &Scene) -> PathBuf {
        scene.path(ALPHA).parent().expect("a parent").to_path_buf()
    }
    fn forbid(path: &Path, call: &mut Call) {
        fs::set_permissions(path, Permissions::from_mode(0o000)).expect("permissions");
        call.with(Run::without_rights);
    }
    Check(Beta, Alpha, |scene| {
        fs::set_permissions(scene.path(ALPHA), Permissions::from_mode(0o600)).expect("permissions");
    })
    .one(("a file", &["aaaaaaaa"], &|scene, call| {
        forbid(&scene.path(ALPHA), call);
    }));
    Check(Nothing, Both, |scene| {
        fs::set_permissions(dir(scene), Permissions::from_mode(0o700)).expect("permissions");
    })
    .one((
        "their directory",
        &["00000000", ".claude/projects/"],
        &|scene, call| forbid(&dir(scene), call),
    ));
    Check(Nothing, Both, |scene| {
        fs::remove_file(scene.0.path(".claude/projects")).expect("removed");
        fs::rename(scene.0.path("aside"), scene.0.path(".claude/projects")).expect("moved back");
    })
    .one((
        "all directories",
        &["00000000", ".claude/projects"],
        &|scene, _| {
            let root = scene.0.path(".claude/projects");
            fs::rename(&root, scene.0.path("aside")).expect("moved");
            symlink(&root, &root).expect("a link");
        },
    ));
}

/// The same where no file can be opened any more at some point.
#[test]
fn too_few_file_descriptors_cost_nothing() {
    if ran_in_own_process() {
        return;
    }
    for most in 4..12 {
        let scene = Scene::new();
        let mut call = scene.call();
        call.alter(move |command| limit(command, Resource::Nofile, most));
        let output = call.run();
        let text = text(&output);
        let err = output.err();
        assert!(
            err.lines()
                .all(|line| line.starts_with("session-context: ")),
            "{most}: {err}"
        );
        let next = scene.hears();
        for name in ["alpha", "beta"] {
            assert!(
                text.contains(name) || next.contains(name),
                "{most}: {name} is lost\n{text}\n{err}\n{next}"
            );
        }
        assert_eq!(scene.hears(), "", "{most}");
    }
}

/// A transcript that was read before and is something else now.
#[test]
fn a_transcript_that_turns_into_something_else_hides_no_other() {
    type Turn = fn(&Scene, &Path);
    let turns: [(&str, Turn); 5] = [
        ("a directory", |_, path| {
            fs::create_dir(path).expect("a directory");
        }),
        ("a link to itself", |_, path| {
            symlink(path, path).expect("a link");
        }),
        ("a link to zeros", |_, path| {
            symlink("/dev/zero", path).expect("a link");
        }),
        ("empty", |_, path| fs::write(path, "").expect("written")),
        ("gone", |_, _| {}),
    ];
    for (name, turn) in turns {
        turned(name, turn);
    }
}

#[test]
fn a_transcript_that_turns_into_a_pipe_keeps_nobody_waiting() {
    turned("a pipe", |_, path| fifo(path));
}

fn turned(name: &str, turn: fn(&Scene, &Path)) {
    let scene = Scene::new();
    assert_eq!(scene.hears(), words(Both), "{name}");
    let cwd = scene.0.path("work");
    let (alpha, beta) = (scene.path(ALPHA), scene.path(BETA));
    // Later than the look before: of a file that was replaced, only that is news.
    for (path, text) in [(&alpha, "alpha goes on"), (&beta, "beta goes on")] {
        let mut file = File::options()
            .append(true)
            .open(path)
            .expect("a transcript");
        file.write_all(prompt(&cwd, "2026-11-16T03:00:01Z", text).as_bytes())
            .expect("appended");
    }
    let aside = scene.0.path("aside.jsonl");
    fs::rename(&alpha, &aside).expect("moved");
    turn(&scene, &alpha);
    let output = scene.call().run();
    let (text, err) = (text(&output), output.err());
    assert_eq!(
        text,
        format!("{HEADER}\n- bbbbbbbb (just now, 1 message): \"beta goes on\""),
        "{name}: {err}"
    );
    assert!(
        err.lines().count() <= 1
            && err
                .lines()
                .all(|line| line.starts_with("session-context: ")),
        "{name}: {err}"
    );
    let _ = fs::remove_file(&alpha).or_else(|_| fs::remove_dir(&alpha));
    fs::rename(&aside, &alpha).expect("moved back");
    written_ago(&scene.0, &alpha, 0);
    // A repetition is allowed: the cursor may be gone. Nothing may be lost.
    let next = scene.hears();
    assert!(
        next.contains("aaaaaaaa") && !next.contains("bbbbbbbb"),
        "{name}: {next}"
    );
    assert!(
        next.contains("alpha goes on") || next.contains("2 messages"),
        "{name}: {next}"
    );
    assert_eq!(scene.hears(), "", "{name}");
}

/// The observer's own transcript may be anything.
#[test]
fn the_own_transcript_may_be_a_pipe() {
    let scene = Scene::new();
    fifo(&scene.path(OBSERVER));
    assert_eq!((scene.hears(), scene.hears()), (words(Both), String::new()));
}

/// Nothing of our own that turns out to be a pipe keeps the prompt waiting.
#[test]
fn own_files_that_are_pipes_keep_nobody_waiting() {
    let scene = Scene::new();
    let state = scene.state();
    let config = scene.0.path(".config/session-monitor");
    for path in [
        scene.cursors(),
        scene.cursors().with_extension("lock"),
        state.join("journal.jsonl"),
        config.join("config.toml"),
        config.join("formats/mine.toml"),
    ] {
        fifo(&path);
        let output = scene.call().run();
        assert_eq!(text(&output), words(Both), "{}", path.display());
        fs::remove_file(&path).expect("removed");
        let _ = fs::remove_dir_all(&state);
    }
}

/// A fault of the program itself: not a word on stdout, one line on stderr, and all of it the next time.
#[test]
#[cfg(debug_assertions)]
fn a_panic_is_no_harm() {
    UNTOLD.one(("panic", &["a fault of its own"], &|_, call| {
        call.with(|run| run.env("SESSION_CONTEXT_FAULT", "panic").process());
    }));
}

/// It looks at what it was told to, and writes nothing but its own.
#[test]
fn nothing_else_is_touched() {
    let scene = Scene::new();
    let contents = || -> Vec<(PathBuf, Vec<u8>)> {
        let files = files_below(&scene.0.path(""))
            .into_iter()
            .filter(|path| !path.starts_with(scene.state()));
        let read = |path: PathBuf| {
            let mut content = Vec::new();
            File::open(&path)
                .and_then(|mut file| file.read_to_end(&mut content))
                .expect("a file");
            (path, content)
        };
        files.map(read).collect()
    };
    let before = contents();
    assert_eq!(scene.hears(), words(Both));
    assert!(contents() == before);
    for path in files_below(&scene.state()) {
        let mode = fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
        let dir = fs::metadata(path.parent().expect("a parent"))
            .expect("a directory")
            .permissions()
            .mode()
            & 0o777;
        assert_eq!(dir, 0o700, "{}", path.display());
    }
}

/// A cloned repository that brings a named home along, with one session of the user in it that has news.
fn clone() -> World {
    let world = World::new();
    let cwd = world.path("work");
    for (name, id) in [("main", OBSERVER), ("discord", ALPHA)] {
        world.write(
            format!("work/.volute/sessions/{name}.json"),
            format!("{{\"sessionId\":\"{id}\"}}"),
        );
    }
    world.claude(
        OBSERVER,
        &prompt(&cwd, "2026-11-16T02:30:00Z", "what I asked myself"),
    );
    world.claude(
        ALPHA,
        &prompt(&cwd, "2026-11-16T02:50:00Z", "how do I deploy this?"),
    );
    world.write(".bashrc", "# the user's\n");
    world
}

/// What the session `main` is told, and what is said to be wrong.
fn asks(world: &World) -> (String, String) {
    let done = world
        .context(&[])
        .stdin(input(world, OBSERVER).to_string())
        .run();
    (text(&done), done.err().to_owned())
}

fn assert_told(text: &str) {
    assert!(
        text.contains("- discord (10m ago, 1 message): \"how do I deploy this?\""),
        "{text}"
    );
}

#[test]
fn links_at_our_temporary_names_overwrite_nothing() {
    let world = clone();
    let name = format!("work/.volute/session-cursors.{}.tmp", std::process::id());
    symlink(world.path(".bashrc"), world.path(name)).expect("a link");
    let (text, problems) = asks(&world);
    assert_told(&text);
    assert_eq!(problems, "");
    assert_eq!(
        fs::read_to_string(world.path(".bashrc")).expect("it is there"),
        "# the user's\n"
    );
}

#[test]
fn a_link_at_the_lock_creates_nothing() {
    let world = clone();
    symlink(
        world.path("created"),
        world.path("work/.volute/session-cursors.lock"),
    )
    .expect("a link");
    let (text, problems) = asks(&world);
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
    let (text, problems) = asks(&world);
    assert_told(&text);
    assert!(
        problems.contains("a symbolic link, which is not followed here"),
        "{problems}"
    );
    assert_eq!(
        fs::read_to_string(&secret).expect("it is there"),
        r#"{"token":{"very":"secret"}}"#
    );
    let written = fs::read_to_string(&cursors).expect("cursors");
    assert!(
        !cursors.is_symlink() && !written.contains("secret"),
        "{written}"
    );
}

#[test]
fn a_home_that_is_a_link_is_no_home() {
    let world = clone();
    fs::rename(world.path("work/.volute"), world.path("elsewhere")).expect("moved");
    symlink(world.path("elsewhere"), world.path("work/.volute")).expect("a link");
    let (text, problems) = asks(&world);
    assert!(
        text.contains("\"how do I deploy this?\"") && problems.is_empty(),
        "{text}{problems}"
    );
    let files: Vec<_> = fs::read_dir(world.path("elsewhere"))
        .expect("a directory")
        .flatten()
        .collect();
    assert_eq!(files.len(), 1, "nothing but `sessions` is there: {files:?}");
}

/// Whoever wrote a repository must not name the user's sessions, mute them or silence them.
#[test]
fn a_home_that_git_tracks_is_no_home() {
    let files = [
        ("sessions/.gitkeep", ""),
        ("sessions/main.json", r#"{"sessionId":"somebody"}"#),
        (
            "session-cursors.json",
            r#"{"main":{".":{"since":0,"clock":1,"muted":true}}}"#,
        ),
    ];
    for (file, text) in files {
        let world = clone();
        for name in ["main", "discord"] {
            fs::remove_file(world.path(format!("work/.volute/sessions/{name}.json")))
                .expect("removed");
        }
        world.write(format!("work/.volute/{file}"), text);
        for args in [&["init", "-q"][..], &["add", "-A"]] {
            let git = std::process::Command::new("git")
                .args(args)
                .current_dir(world.path("work"))
                .status();
            assert!(git.expect("git").success(), "{args:?}");
        }
        let (told, problems) = asks(&world);
        assert!(
            told.contains("(10m ago, 1 message): \"how do I deploy this?\""),
            "{file}: {told}"
        );
        assert_eq!(problems, "", "{file}");
    }
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
    assert!(
        resumed.out().contains("Said last   Renamed it.\n"),
        "{}",
        resumed.out()
    );
    world.context(&["explain"]).run().success();
}

#[test]
fn a_pipe_at_the_notes_hangs_nothing() {
    let world = World::new();
    world.claude(
        ALPHA,
        &prompt(
            &world.path("work"),
            "2026-11-16T02:50:00Z",
            "how do I deploy this?",
        ),
    );
    let path = world
        .context(&["notes", "--path"])
        .run()
        .success()
        .out()
        .trim()
        .to_owned();
    fifo(Path::new(&path));
    fifo(&world.path(".data/session-monitor/profile.md"));
    let problem = format!("{path}: neither a file nor a directory");
    world.reader(&["list"]).run().stderr_has(&problem).status(2);
    world
        .reader(&["resume"])
        .run()
        .stderr_has(&problem)
        .status(2);
    for (args, status) in [(&["explain"][..], 2), (&["pins"], 2), (&["pin", "x"], 2)] {
        world
            .context(args)
            .run()
            .stderr_has(&problem)
            .status(status);
    }
    assert!(
        world
            .context(&["doctor"])
            .run()
            .status(2)
            .out()
            .contains(&problem)
    );
    let start =
        r#"{"session_id":"new","hook_event_name":"SessionStart","source":"startup","cwd":"CWD"}"#;
    let start = start.replace("CWD", world.path("work").to_str().expect("UTF-8"));
    world
        .context(&[])
        .stdin(start)
        .run()
        .status(0)
        .stderr_has(&problem);
}
