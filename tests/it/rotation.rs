//! When the hook tells of a session, by where its transcript is and what changed.
//!
//! It looks at this project's directories with every prompt and at other projects' in turn. So there is one case that may
//! take some looks: something is appended to an old session that lies among another project's. All else is told at once.
//!
//! A directory counts as changed for a moment after it changed. So that a test need not wait, the clock of files runs ahead
//! of the real one, and what a test writes is stamped by it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::claude::{edit, line, prompt};
use crate::support::files::files;
use crate::support::hook::{cursors, hook, input, look, replace_saved, saved};
use crate::support::times::ago;
use crate::support::world::{ME, World, path};

/// How many sessions of other projects two looks in a row go through, at least.
const FILES: usize = 256;

/// Within how many looks a look goes through so many sessions of other projects.
fn looks_for(sessions: usize) -> usize {
    2 * sessions.div_ceil(FILES)
}

/// Far enough ahead that nothing written before the first look is news.
const FIRST: u64 = 3 * 3600;
const STEP: u64 = 60;

const FORMATS: [&str; 6] = ["agent-sdk", "pi", "qwen", "codex", "copilot", "gemini"];

/// A world in which time passes between looks.
struct Times {
    world: World,
    start: SystemTime,
    looks: u64,
}

impl Times {
    /// `work` is a repository, `tree` a worktree of it, and `link` leads to it.
    fn new() -> Times {
        let world = World::new();
        world.write("work/.git/HEAD", "ref: refs/heads/main\n");
        world.write("work/.git/worktrees/tree/commondir", "../..\n");
        world.write("tree/.git", "gitdir: ../work/.git/worktrees/tree\n");
        fs::create_dir(world.path("work/deep")).expect("a directory");
        std::os::unix::fs::symlink(world.path("work"), world.path("link")).expect("a link");
        Times {
            world,
            start: SystemTime::now(),
            looks: 0,
        }
    }

    /// Sessions of so many other projects, in directories of their own.
    fn crowd(&self, projects: usize, sessions: usize) {
        for project in 0..projects {
            let cwd = self.world.path(format!("crowd-{project}"));
            for number in 0..sessions {
                let id = format!("{project:08}-0000-4000-8000-{number:012}");
                self.world.write(
                    place("agent-sdk", &cwd, &id),
                    prompt(&cwd, &ago(90), "elsewhere"),
                );
            }
        }
    }

    /// Makes a directory a worktree of the repository.
    fn add_worktree(&self, dir: &Path) {
        let name = dir.file_name().expect("a name").to_str().expect("UTF-8");
        let git = self.world.path("work/.git/worktrees").join(name);
        self.world.write(git.join("commondir"), "../..\n");
        self.world
            .write(git.join("gitdir"), format!("{}/.git\n", dir.display()));
        self.world
            .write(dir.join(".git"), format!("gitdir: {}\n", git.display()));
    }

    /// The time for files, right before the next look.
    fn now(&self) -> SystemTime {
        self.start + Duration::from_secs(FIRST + STEP * self.looks) - Duration::from_secs(5)
    }

    fn stamp(&self, file: &Path) {
        File::open(file)
            .and_then(|file| file.set_modified(self.now()))
            .expect("stamped");
    }

    fn append(&self, file: &Path, lines: &str) {
        self.world.append(file, lines);
        self.stamp(file);
    }

    /// A new file. The directory changes as well, as it does in the real world.
    fn create(&self, file: &Path, lines: &str) {
        self.world.write(file, lines);
        self.stamp(file);
        self.stamp(file.parent().expect("a parent"));
    }

    fn told_with(&mut self, args: &[&str]) -> String {
        // The real clock goes on, too, but this is a matter of seconds.
        let ahead =
            FIRST + STEP * self.looks - self.start.elapsed().map_or(0, |gone| gone.as_secs());
        self.looks += 1;
        let run = hook(
            &self.world,
            &[args, &["--budget", "9000"]].concat(),
            &input(&self.world, ME),
        );
        crate::support::hook::text(
            &run.env("SESSION_CONTEXT_AHEAD", ahead.to_string())
                .run()
                .success(),
        )
    }

    fn told(&mut self) -> String {
        self.told_with(&[])
    }

    /// How many directories are known to be other projects'.
    fn judged(&self) -> usize {
        let look = look(&self.world);
        look["judged"].as_array().map_or(0, |all| {
            all.iter().filter(|judged| !judged[1].is_null()).count()
        })
    }
}

/// Where an agent keeps a session.
fn place(format: &str, cwd: &Path, id: &str) -> PathBuf {
    let cwd = cwd.to_str().expect("UTF-8");
    let dashes = cwd.replace(|char: char| !char.is_ascii_alphanumeric(), "-");
    let short = &id[..8];
    PathBuf::from(match format {
        "agent-sdk" => format!(".claude/projects/{dashes}/{id}.jsonl"),
        "pi" => format!(
            ".pi/agent/sessions/--{}--/1_{id}.jsonl",
            cwd[1..].replace('/', "-")
        ),
        "qwen" => format!(".qwen/projects/{dashes}/chats/{id}.jsonl"),
        "codex" => format!(".codex/sessions/2026/11/16/rollout-2026-11-16T02-00-00-{id}.jsonl"),
        "copilot" => format!(".copilot/session-state/{id}/events.jsonl"),
        _ => format!(".gemini/tmp/{dashes}/chats/session-2026-11-16T02-00-{short}.jsonl"),
    })
}

/// The same in a directory that has nothing to do with the cwd.
fn odd_place(format: &str, id: &str) -> PathBuf {
    place(format, Path::new("/odd"), id)
}

/// What a session begins with, and what it says when it goes to a directory.
fn goes_to(format: &str, id: &str, cwd: &Path, begins: bool) -> String {
    let value = match (format, begins) {
        ("pi", true) => {
            json!({"type": "session", "version": 3, "id": id, "timestamp": ago(100), "cwd": cwd})
        }
        ("codex", true) => {
            json!({"timestamp": ago(100), "type": "session_meta", "payload": {"id": id, "cwd": cwd}})
        }
        ("codex", false) => {
            json!({"timestamp": ago(9), "type": "turn_context", "payload": {"cwd": cwd}})
        }
        ("copilot", _) => {
            json!({"type": if begins { "session.start" } else { "session.resume" }, "id": format!("{id}{begins}"),
            "timestamp": ago(100), "data": {"sessionId": id, "context": {"cwd": cwd}}})
        }
        ("gemini", true) => json!({"sessionId": id, "projectHash": "9a", "startTime": ago(100),
            "lastUpdated": ago(100), "kind": "main"}),
        _ => return String::new(),
    };
    line(value)
}

/// Something that a user typed.
fn typed(format: &str, id: &str, cwd: &Path, minutes: i64, text: &str) -> String {
    let (time, key) = (ago(minutes), format!("{id}-{text}"));
    let value: Value = match format {
        "agent-sdk" => return prompt(cwd, &time, text),
        "pi" => json!({"type": "message", "id": key, "timestamp": time,
            "message": {"role": "user", "content": [{"type": "text", "text": text}]}}),
        "qwen" => {
            json!({"uuid": key, "sessionId": id, "timestamp": time, "type": "user", "provenance": "real_user",
            "cwd": cwd, "message": {"role": "user", "parts": [{"text": text}]}})
        }
        "codex" => {
            json!({"timestamp": time, "type": "response_item", "payload": {"type": "message",
            "role": "user", "content": [{"type": "input_text", "text": text}]}})
        }
        "copilot" => {
            json!({"type": "user.message", "id": key, "timestamp": time, "data": {"content": text}})
        }
        _ => json!({"id": key, "timestamp": time, "type": "user", "content": [{"text": text}]}),
    };
    line(value)
}

/// What becomes of a session after the first look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It is older than the observer, and goes on.
    GoesOn,
    /// It was told before, and goes on.
    KnownGoesOn,
    /// It is new.
    Begins,
    /// It is new and has nothing to tell yet; then it goes on.
    BeginsQuietly,
}

/// Where a session is, seen from a repository in `work`: where it began, where it is now, and which directory it is kept in.
const PLACES: [(&str, &str, &str); 7] = [
    // The project.
    ("work", "work", "work"),
    ("work/deep", "work/deep", "work/deep"),
    ("tree", "tree", "tree"),
    // A way to it that only the file system knows.
    ("link", "link", "link"),
    // A directory that is named after nothing.
    ("work", "work", "odd"),
    // Another project, from which it came here.
    ("other", "work", "other"),
    // Another project's directory, though it began here. Only if it is older than the observer, nobody knows.
    ("work", "work", "crowd-0"),
];

/// Where a session is × what changed × which agent: told at once, or within as many looks as it takes to go round.
#[test]
fn when_a_session_is_told() {
    let cases = FORMATS.into_iter().flat_map(|format| {
        let changes = [
            Change::GoesOn,
            Change::KnownGoesOn,
            Change::Begins,
            Change::BeginsQuietly,
        ];
        changes
            .into_iter()
            .flat_map(move |change| PLACES.into_iter().map(move |place| (format, change, place)))
    });
    let mut times = Times::new();
    times.crowd(6, 100);
    // Another project that is spelt like this one.
    let twin = PathBuf::from(format!(
        "{}-work",
        times
            .world
            .path("")
            .to_str()
            .expect("UTF-8")
            .trim_end_matches('/')
    ));
    times.world.write(
        place("agent-sdk", &twin, "00000000"),
        prompt(&twin, &ago(90), "elsewhere"),
    );
    let mut sessions = Vec::new();
    for (number, (format, change, (began, is, kept))) in (1..).zip(cases) {
        let moves = began != is;
        // Pi and Gemini do not say that a session goes elsewhere.
        let is_stay = moves && matches!(format, "pi" | "gemini");
        // Some do not name a directory after the cwd, so it is all one to them.
        let is_flat =
            matches!(format, "codex" | "copilot" | "gemini") && !matches!(kept, "work" | "other");
        if is_stay || is_flat || kept == "crowd-0" && format != "agent-sdk" {
            continue;
        }
        let id = format!("{number:08}-1111-4000-8000-000000000000");
        // Each has another project of its own, so that none is found because of its neighbour.
        let dir = |name: &str| match name {
            "other" => times.world.path(format!("other-{number}")),
            "crowd-0" => times.world.path(format!("crowd-{}", number % 4)),
            name => times.world.path(name),
        };
        let file = if kept == "odd" {
            odd_place(format, &id)
        } else {
            place(format, &dir(kept), &id)
        };
        let (began, is) = (dir(began), dir(is));
        if format == "gemini" {
            let root = file
                .parent()
                .and_then(Path::parent)
                .expect("a directory")
                .join(".project_root");
            times.world.write(root, began.to_str().expect("UTF-8"));
        }
        let head = goes_to(format, &id, &began, true) + &typed(format, &id, &began, 95, "long ago");
        let comes = if moves {
            goes_to(format, &id, &is, false)
        } else {
            String::new()
        };
        let says = |minutes: i64, text: &str| {
            typed(format, &id, &is, minutes, &format!("{text} {number}"))
        };
        let (old, new) = match change {
            Change::GoesOn => (head, comes + &says(5, "now")),
            Change::KnownGoesOn => (head + &comes + &says(30, "before"), says(5, "now")),
            Change::Begins => (String::new(), head + &comes + &says(5, "now")),
            Change::BeginsQuietly => (head.clone() + &comes, says(5, "now")),
        };
        let others = kept == "other" && matches!(format, "agent-sdk" | "qwen");
        let late = change == Change::GoesOn && (others || kept == "crowd-0")
            // Where a session was before it said anything here, it was another project's.
            || change == Change::BeginsQuietly && others;
        let file = times.world.path(file);
        match change {
            Change::GoesOn => drop(times.world.write(&file, old.clone())),
            Change::KnownGoesOn => times.create(&file, &old),
            Change::Begins | Change::BeginsQuietly => {
                fs::create_dir_all(file.parent().expect("a parent")).expect("made");
            }
        }
        sessions.push((number, (format, change, kept), file, old, new, late));
    }
    let told_of = |text: &str, word: &str| -> BTreeSet<usize> {
        let numbers = sessions.iter().map(|(number, ..)| *number);
        numbers
            .filter(|number| text.contains(&format!("\"{word} {number}\"")))
            .collect()
    };
    let with = |change: Change| {
        sessions
            .iter()
            .filter(move |(_, (_, its, _), ..)| *its == change)
    };
    let known: BTreeSet<usize> = with(Change::KnownGoesOn)
        .map(|(number, ..)| *number)
        .collect();
    assert_eq!(told_of(&times.told(), "before"), known);
    for _ in 0..2 {
        assert_eq!(times.told(), "");
    }
    with(Change::BeginsQuietly).for_each(|(_, _, file, old, ..)| times.create(file, old));
    for _ in 0..2 {
        assert_eq!(times.told(), "");
    }
    assert!(times.judged() > 6, "the crowd is known to be elsewhere");
    for (_, (_, change, _), file, _, new, _) in &sessions {
        match change {
            Change::Begins => times.create(file, new),
            _ => times.append(file, new),
        }
    }
    let most = looks_for(files(&times.world.path(".claude")).len());
    let mut told_at = BTreeMap::new();
    for look in 1..=most {
        let text = times.told();
        told_of(&text, "now")
            .into_iter()
            .for_each(|number| assert_eq!(told_at.insert(number, look), None, "once: {text}"));
    }
    for (number, case, _, _, _, late) in &sessions {
        let at = told_at.get(number);
        assert!(
            at == Some(&1) || *late && at.is_some(),
            "{number}, {case:?}: {at:?}, at most {most}"
        );
    }
    assert_eq!(times.told(), "");
}

/// Agents spell `trees/fix-1` and `trees/fix/1` alike, so a worktree may share a directory with another project. It makes no
/// difference, even if the worktree is made when that directory is known to be another project's.
#[test]
fn worktrees_that_are_spelt_like_other_projects_are_told() {
    let mut times = Times::new();
    times.crowd(6, 90);
    let trees = [0, 1, 2, 3, 4, 5].map(|number| times.world.path(format!("trees/fix-{number}")));
    let (early, later) = trees.split_at(3);
    let id = |number: usize| format!("22222222-0000-4000-8000-{number:012}");
    for (number, tree) in trees.iter().enumerate() {
        let twin = times.world.path(format!("trees/fix/{number}"));
        times.world.write(
            place("agent-sdk", tree, &id(0)),
            prompt(tree, &ago(90), "long ago"),
        );
        for other in 1..90 {
            times.world.write(
                place("agent-sdk", &twin, &id(other)),
                prompt(&twin, &ago(90), "elsewhere"),
            );
        }
    }
    early.iter().for_each(|tree| times.add_worktree(tree));
    assert_eq!((times.told(), times.told()), (String::new(), String::new()));
    assert_eq!(
        times.judged(),
        6 + later.len(),
        "the crowd, and what is not a worktree yet"
    );
    later.iter().for_each(|tree| times.add_worktree(tree));
    for (number, tree) in trees.iter().enumerate() {
        let file = times.world.path(place("agent-sdk", tree, &id(0)));
        times.append(&file, &prompt(tree, &ago(5), &format!("now {number}")));
    }
    let text = times.told();
    let missing: Vec<usize> = (0..trees.len())
        .filter(|number| !text.contains(&format!("\"now {number}\"")))
        .collect();
    assert_eq!(missing, [0; 0], "{text}");
    assert_eq!((times.told(), times.judged()), (String::new(), 6));
}

/// However many sessions other projects have, each is looked at within a number of looks, wherever the circle is.
#[test]
fn other_projects_take_so_many_looks() {
    let (projects, sessions) = (9, 90);
    let most = looks_for(projects * sessions);
    let mut times = Times::new();
    times.crowd(projects, sessions);
    let here = times.world.path("work");
    assert_eq!((times.told(), times.told()), (String::new(), String::new()));
    assert_eq!(times.judged(), projects);
    let mut longest = 0;
    for round in 0..2 * projects {
        let project = round % projects;
        let cwd = times.world.path(format!("crowd-{project}"));
        let id = format!("{project:08}-0000-4000-8000-{round:012}");
        let file = times.world.path(place("agent-sdk", &cwd, &id));
        times.append(&file, &prompt(&here, &ago(5), &format!("came {round}")));
        let looks = (1..=most).find(|_| times.told().contains(&format!("came {round}")));
        longest =
            longest.max(looks.unwrap_or_else(|| panic!("round {round}: not within {most} looks")));
        // It is forgotten, so that its directory is another project's again.
        let mut kept = saved(&times.world, ME);
        kept[ME]
            .as_object_mut()
            .expect("an object")
            .retain(|key, _| key == ".");
        replace_saved(&times.world, ME, &kept);
        fs::remove_file(&file).expect("removed");
        assert_eq!(times.told(), "", "round {round}");
    }
    assert!(longest > 1, "one look does not get to all");
}

/// Where there are few sessions, or all count, or somebody asks why, every look gets to all of them.
#[test]
fn every_look_gets_to_all() {
    for (projects, sessions, args) in [(5, 51, &[][..]), (9, 90, &["--scope", "machine"])] {
        let mut times = Times::new();
        times.crowd(projects, sessions);
        for _ in 0..3 {
            assert_eq!(times.told_with(args), "");
        }
        assert_eq!(times.judged(), 0, "nobody asks whose they are");
        let here = times.world.path("work");
        for project in 0..projects {
            let id = format!("{project:08}-0000-4000-8000-000000000000");
            let cwd = times.world.path(format!("crowd-{project}"));
            let file = times.world.path(place("agent-sdk", &cwd, &id));
            times.append(&file, &prompt(&here, &ago(5), &format!("came {project}")));
        }
        let text = times.told_with(args);
        assert!(
            (0..projects).all(|project| text.contains(&format!("came {project}"))),
            "{text}"
        );
    }
    let mut times = Times::new();
    times.crowd(9, 90);
    let here = times.world.path("work");
    times.world.claude(ME, &prompt(&here, &ago(90), "mine"));
    for _ in 0..2 {
        assert_eq!(times.told(), "");
    }
    for project in 0..9 {
        let cwd = times.world.path(format!("crowd-{project}"));
        let file = times.world.path(place(
            "agent-sdk",
            &cwd,
            &format!("{project:08}-0000-4000-8000-000000000000"),
        ));
        times.append(&file, &prompt(&here, &ago(5), &format!("came {project}")));
    }
    let why = times
        .world
        .context(&["explain", "--session", ME])
        .env("SESSION_CONTEXT_BUDGET", "9000");
    let ahead = (FIRST + 2 * STEP).to_string();
    let why = why.env("SESSION_CONTEXT_AHEAD", ahead).run();
    assert!(
        (0..9).all(|project| why.out().contains(&format!("\"came {project}\""))),
        "{} {}",
        why.out(),
        why.err()
    );
}

/// A file that was told of before is found wherever it goes, at once: it moved, its directory did, or it has another name.
#[test]
fn a_known_file_is_found_wherever_it_goes() {
    type Move = fn(&Times, &Path, &Path);
    let moves: [(&str, Move); 3] = [
        ("the file", |_, from, to| {
            fs::rename(from, to).expect("moved");
        }),
        ("another name that it has had for long", |_, from, _| {
            fs::remove_file(from).expect("removed");
        }),
        ("the directory", |times, from, to| {
            fs::remove_file(to).ok();
            let (old, new) = (
                from.parent().expect("a parent"),
                times.world.path(".claude/projects/-new"),
            );
            fs::rename(old, new).expect("moved");
        }),
    ];
    for (what, go) in moves {
        let mut times = Times::new();
        times.crowd(9, 90);
        let here = times.world.path("work");
        let id = "11111111-0000-4000-8000-000000000001";
        let from = times.world.path(place("agent-sdk", &here, id));
        let to = times
            .world
            .path(place("agent-sdk", &times.world.path("crowd-4"), id));
        times.create(&from, &prompt(&here, &ago(30), "before"));
        if what.starts_with("another") {
            fs::hard_link(&from, &to).expect("a link");
        }
        assert!(times.told().contains("before"));
        assert_eq!(
            (times.told(), times.told()),
            (String::new(), String::new()),
            "{what}"
        );
        times.append(&from, &prompt(&here, &ago(5), "after"));
        go(&times, &from, &to);
        assert_eq!(
            times
                .told()
                .matches("(5m ago, 1 message): \"after\"")
                .count(),
            1,
            "{what}"
        );
        assert_eq!(times.told(), "", "{what}");
    }
}

/// A session that came here from elsewhere stays known, and so do its subagents.
#[test]
fn subagents_of_a_session_that_came_here_stay_known() {
    let mut times = Times::new();
    times.crowd(9, 90);
    let (here, there) = (times.world.path("work"), times.world.path("crowd-4"));
    let file = times.world.path(place(
        "agent-sdk",
        &there,
        "11111111-0000-4000-8000-000000000001",
    ));
    times.create(
        &file,
        &(prompt(&there, &ago(40), "elsewhere") + &prompt(&here, &ago(30), "here")),
    );
    assert!(times.told().contains("\"here\""));
    assert_eq!((times.told(), times.told()), (String::new(), String::new()));
    let subagent = file.with_extension("").join("subagents/agent-1.jsonl");
    let edits = edit(4, "e1", &path(&times.world, "work/a.rs"));
    times.create(
        &subagent,
        &(prompt(&here, &ago(5), "look into it") + &edits),
    );
    times.append(&file, &prompt(&here, &ago(5), "go on"));
    assert!(times.told().contains("\"go on\" -> updated a.rs"));
}

/// The position is lost with the lock file, and everything else with the cursors: then the circle begins again.
#[test]
fn what_is_remembered_may_be_deleted() {
    for lost in ["lock", "bin"] {
        let mut times = Times::new();
        times.crowd(9, 90);
        for _ in 0..4 {
            assert_eq!(times.told(), "");
        }
        fs::remove_file(cursors(&times.world, ME).with_extension(lost)).expect("removed");
        let here = times.world.path("work");
        for project in 0..9 {
            let cwd = times.world.path(format!("crowd-{project}"));
            let file = times.world.path(place(
                "agent-sdk",
                &cwd,
                &format!("{project:08}-0000-4000-8000-000000000000"),
            ));
            times.append(&file, &prompt(&here, &ago(5), &format!("came {project}")));
        }
        let told: String = (0..looks_for(9 * 90)).map(|_| times.told()).collect();
        for project in 0..9 {
            assert_eq!(
                told.matches(&format!("\"came {project}\"")).count(),
                1,
                "{lost}, {project}: {told}"
            );
        }
    }
}
