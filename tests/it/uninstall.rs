//! `session-context uninstall` undoes every install there can have been, byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::world::World;

/// An agent, with the files that install changes for the user and in a project.
struct Agent {
    name: &'static str,
    user: &'static [&'static str],
    project: &'static [&'static str],
    /// The file for the hook belongs to us, so the user has none of that name.
    owns_hook_file: bool,
}

const CLAUDE: Agent = Agent {
    name: "claude",
    user: &[".claude/settings.json"],
    project: &["work/.claude/settings.json"],
    owns_hook_file: false,
};
const CODEX: Agent = Agent {
    name: "codex",
    user: &[".codex/hooks.json"],
    project: &["work/.codex/hooks.json"],
    owns_hook_file: false,
};
const COPILOT: Agent = Agent {
    name: "copilot",
    user: &[
        ".copilot/hooks/session-monitor.json",
        ".copilot/settings.json",
    ],
    project: &["work/.github/hooks/session-monitor.json"],
    owns_hook_file: true,
};
const GEMINI: Agent = Agent {
    name: "gemini",
    user: &[".gemini/settings.json"],
    project: &["work/.gemini/settings.json"],
    owns_hook_file: false,
};
const PI: Agent = Agent {
    name: "pi",
    user: &[".pi/agent/extensions/session-context.ts"],
    project: &["work/.pi/extensions/session-context.ts"],
    owns_hook_file: true,
};
const QWEN: Agent = Agent {
    name: "qwen",
    user: &[".qwen/settings.json"],
    project: &["work/.qwen/settings.json"],
    owns_hook_file: false,
};

const FOR_USER: [&[&str]; 4] = [
    &[],
    &["--live"],
    &["--statusline"],
    &["--live", "--statusline"],
];
const FOR_PROJECT: [&[&str]; 2] = [&["--project"], &["--project", "--live"]];

/// Settings files as people have them. More of them are in the unit tests.
const SETTINGS: [&str; 7] = [
    "",
    "{}",
    "{\n  // nothing yet\n}\n",
    "\u{feff}{\r\n    \"model\" : \"opus\" ,\r\n\r\n    \"hooks\": {}  \r\n}\r\n\r\n",
    "{\n  \"model\": \"opus\", // the big one\n  \"hooks\": {\n    // mine\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}],},\n    ],\n  },\n}\n",
    "{\"hooks\":{\"SessionStart\":[],\"Stop\":[{\"hooks\":[]}]},\"ui\":{\"statusLine\":{\"type\":\"command\",\"command\":\"date\"}}}",
    "{\n  \"statusLine\": {\n    // mine\n    \"type\": \"command\",\n    \"command\": \"~\\/bin\\/line 'a b' \\u0022c\\u0022\",\n    \"padding\": 0,\n  },\n  \"ui\": {\n    \"statusLine\": { \"type\": \"command\", \"command\": \"date\", \"refreshInterval\": 1 }\n  }\n}\n",
];

/// The user's files before the first install.
#[derive(Debug, Clone, Copy)]
enum Start {
    NoDirectory,
    NoFile,
    File(&'static str),
}

impl Start {
    fn all() -> impl Iterator<Item = Start> {
        [Start::NoDirectory, Start::NoFile]
            .into_iter()
            .chain(SETTINGS.into_iter().map(Start::File))
    }

    fn world(self, agent: &Agent) -> World {
        let world = World::new();
        for (number, file) in agent.user.iter().chain(agent.project).enumerate() {
            let is_hook_file = number == 0 || number == agent.user.len();
            let dir = Path::new(file).parent().expect("a directory");
            match self {
                Start::NoDirectory => {}
                Start::File(text) if !(is_hook_file && agent.owns_hook_file) => {
                    let path = world.write(file, text);
                    fs::set_permissions(path, fs::Permissions::from_mode(0o640)).expect("a mode");
                }
                Start::NoFile | Start::File(_) => {
                    fs::create_dir_all(world.path(dir)).expect("a directory");
                }
            }
        }
        world
    }
}

/// Everything below HOME but our own state: bytes and modes of files, and directories.
fn tree(world: &World) -> BTreeMap<PathBuf, Option<(u32, String)>> {
    fn walk(dir: &Path, home: &Path, all: &mut BTreeMap<PathBuf, Option<(u32, String)>>) {
        for entry in fs::read_dir(dir).expect("a directory").flatten() {
            let (path, found) = (entry.path(), entry.metadata().expect("metadata"));
            let is_dir = found.is_dir();
            let file = (!is_dir).then(|| {
                let text = String::from_utf8(fs::read(&path).expect("a file")).expect("UTF-8");
                (found.permissions().mode() & 0o777, text)
            });
            if is_dir && path != home.join(".state") {
                walk(&path, home, all);
            }
            all.insert(path.strip_prefix(home).expect("below HOME").into(), file);
        }
    }
    let mut all = BTreeMap::new();
    walk(&world.path(""), &world.path(""), &mut all);
    all.remove(Path::new(".state"));
    all
}

fn run(world: &World, command: &str, agent: &str, flags: &[&str]) {
    world
        .context(&[&[command, agent], flags].concat())
        .run()
        .success();
}

/// Goes through every state that these installs lead to, in any order and any number, and uninstalls in each.
fn every_order_is_undone(
    agent: &Agent,
    start: Start,
    variants: &[&'static [&'static str]],
    uninstalls: &[&[&str]],
) {
    let installed = |installs: &[&[&str]]| {
        let world = start.world(agent);
        installs
            .iter()
            .for_each(|flags| run(&world, "install", agent.name, flags));
        world
    };
    let before = tree(&installed(&[]));
    let mut seen = BTreeSet::from([before.clone()]);
    let mut next: Vec<Vec<&[&str]>> = vec![Vec::new()];
    while let Some(installs) = next.pop() {
        let (mut world, mut is_used) = (installed(&installs), false);
        let here = tree(&world);
        for flags in variants {
            if std::mem::take(&mut is_used) {
                world = installed(&installs);
            }
            run(&world, "install", agent.name, flags);
            let there = tree(&world);
            is_used = there != here;
            if seen.insert(there) {
                let installs = [&installs[..], &[*flags]].concat();
                uninstalls
                    .iter()
                    .for_each(|flags| run(&world, "uninstall", agent.name, flags));
                assert_eq!(
                    tree(&world),
                    before,
                    "{}, {start:?}, {installs:?}",
                    agent.name
                );
                next.push(installs);
            }
        }
    }
    assert!(seen.len() > 1, "{}: installs do something", agent.name);
}

fn is_undone(agent: &Agent) {
    let mut starts = BTreeSet::new();
    for start in Start::all() {
        // Where a file is ours, some of them are alike.
        if starts.insert(tree(&start.world(agent))) {
            every_order_is_undone(agent, start, &FOR_USER, &[&[]]);
            every_order_is_undone(agent, start, &FOR_PROJECT, &[&["--project"]]);
        }
    }
    // Both share directories, at most, so one start is enough.
    let both = [&FOR_USER[1..3], &FOR_PROJECT[..1]].concat();
    for uninstalls in [[&[][..], &["--project"]], [&["--project"], &[]]] {
        every_order_is_undone(agent, Start::NoDirectory, &both, &uninstalls);
    }
}

#[test]
fn every_install_for_claude_is_undone() {
    is_undone(&CLAUDE);
}

#[test]
fn every_install_for_codex_is_undone() {
    is_undone(&CODEX);
}

#[test]
fn every_install_for_copilot_is_undone() {
    is_undone(&COPILOT);
}

#[test]
fn every_install_for_gemini_is_undone() {
    is_undone(&GEMINI);
}

#[test]
fn every_install_for_pi_is_undone() {
    is_undone(&PI);
}

#[test]
fn every_install_for_qwen_is_undone() {
    is_undone(&QWEN);
}

/// Agents share a skill, and the last one takes it away.
#[test]
fn installs_for_several_agents_are_undone() {
    let agents = [&CLAUDE, &CODEX, &COPILOT, &GEMINI, &PI, &QWEN];
    for (turn, start) in [Start::NoDirectory, Start::NoFile, Start::File(SETTINGS[6])]
        .into_iter()
        .enumerate()
    {
        let world = start.world(agents[0]);
        let before = tree(&world);
        for number in 0..agents.len() {
            run(
                &world,
                "install",
                agents[(2 * turn + number) % agents.len()].name,
                &["--live", "--statusline"],
            );
            run(
                &world,
                "install",
                agents[(turn + number) % agents.len()].name,
                &["--project"],
            );
        }
        run(&world, "uninstall", "--all", &["--project"]);
        run(&world, "uninstall", "--all", &[]);
        assert_eq!(tree(&world), before, "{start:?}");
    }
}

/// What the user wrote since stays as it was written, in every order of installs; only ours goes.
#[test]
fn what_the_user_changed_since_stays() {
    let file = CLAUDE.user[0];
    for (before, edit, after) in [
        (
            None,
            "\"mine\": [ ], // and\n  ",
            "{\n  \"mine\": [ ] // and\n}\n",
        ),
        (
            Some("{}"),
            "\"mine\": [ ], // and\n  ",
            "{\n  \"mine\": [ ] // and\n}",
        ),
        (
            Some("{\"hooks\": {}, \"a\": 1 }"),
            "\"mine\" : [ ], ",
            "{\"mine\" : [ ], \"hooks\": {}, \"a\": 1 }",
        ),
        (Some("{\"a\": 1 }"), "/* mine */ ", "{\"a\": 1 /* mine */ }"),
    ] {
        for order in [
            [&[][..], &["--live"], &["--statusline"]],
            [&["--statusline"], &["--live"], &[]],
        ] {
            let world = World::new();
            before.map(|before| world.write(file, before));
            run(&world, "install", "claude", order[0]);
            let text = fs::read_to_string(world.path(file)).expect("settings");
            world.write(
                file,
                text.replacen("\"hooks\"", &format!("{edit}\"hooks\""), 1),
            );
            run(&world, "install", "claude", order[1]);
            run(&world, "install", "claude", order[2]);
            run(&world, "uninstall", "claude", &[]);
            assert_eq!(
                fs::read_to_string(world.path(file)).ok().as_deref(),
                Some(after),
                "{before:?}, {order:?}"
            );
        }
    }
}

/// Uninstalling from a file that the user changed leaves the copy of what it was before. Neither the next install nor the
/// next uninstall takes that for the file of today, and nothing writes over it.
#[test]
fn a_copy_that_was_left_is_not_mistaken() {
    let (file, copy) = (
        CLAUDE.user[0],
        ".claude/settings.json.before-session-context",
    );
    let world = World::new();
    world.write(file, "{\"model\":\"opus\"}");
    run(&world, "install", "claude", &[]);
    world.write(
        file,
        fs::read_to_string(world.path(file))
            .expect("settings")
            .replace("opus", "haiku"),
    );
    run(&world, "uninstall", "claude", &[]);
    let has = |below: &str| fs::read_to_string(world.path(below)).ok();
    assert_eq!(has(file).as_deref(), Some("{\"model\":\"haiku\"}"));
    for now in [
        Some("{\"model\":\"haiku\",\"hooks\":{ }}"),
        Some("{}"),
        None,
    ] {
        match now {
            Some(now) => drop(world.write(file, now)),
            None => fs::remove_file(world.path(file)).expect("removed"),
        }
        let before = tree(&world);
        for flags in [&[][..], &["--statusline"], &["--live"]] {
            run(&world, "install", "claude", flags);
        }
        run(&world, "uninstall", "claude", &[]);
        assert_eq!(tree(&world), before, "{now:?}");
        assert_eq!(has(copy).as_deref(), Some("{\"model\":\"opus\"}"));
    }
}

/// A hook file of our own goes, unless somebody else has put something into it.
#[test]
fn what_others_put_into_our_file_stays() {
    let file = COPILOT.user[0];
    for (edit, after) in [
        ("", None),
        ("\n", None),
        ("// mine\n", Some("{\n  \"version\": 1\n// mine\n}\n")),
        (
            "\"mine\": true,\n",
            Some("{\n  \"version\": 1,\n\"mine\": true\n}\n"),
        ),
    ] {
        let world = World::new();
        run(&world, "install", "copilot", &[]);
        let text = fs::read_to_string(world.path(file)).expect("the hook");
        world.write(
            file,
            text.replacen("  \"hooks\"", &format!("{edit}  \"hooks\""), 1),
        );
        run(&world, "uninstall", "copilot", &[]);
        assert_eq!(
            fs::read_to_string(world.path(file)).ok().as_deref(),
            after,
            "{edit}"
        );
    }
}
