//! What sessions share: one search over all of them (002-16), facts and pins of the project (002-17), tags, branches and
//! conflicts (002-18). Each has tests of its own elsewhere; here they are told as one story, across agents.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::clients::all_clients;
use crate::support::hook::hook;
use crate::support::script::Script;
use crate::support::start::{begins, start_text};
use crate::support::world::{ONE, THREE, TWO, World};

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// 002-16: one search goes through the sessions of all agents, and finds those whose logs have the words.
#[test]
fn all_sessions_are_searched_whoever_wrote_them() {
    let world = all_clients();
    let rows = |args: &[&str]| world.reader(args).run().success().json();
    let mut expected = BTreeSet::new();
    for session in rows(&["list", "--all", "--json"]) {
        let log = rows(&[
            "log",
            &text(&session, "path"),
            "--json",
            "--lines",
            "1000000",
        ]);
        let said = log
            .iter()
            .flat_map(|entry| [text(entry, "text"), text(entry, "subject")]);
        if said
            .chain([text(&session, "title")])
            .any(|said| said.to_lowercase().contains("hello"))
        {
            expected.insert((text(&session, "agent"), text(&session, "id")));
        }
    }
    let agents: BTreeSet<&str> = expected.iter().map(|(agent, _)| agent.as_str()).collect();
    assert_eq!(
        Vec::from_iter(agents),
        ["claude", "codex", "copilot", "gemini", "pi", "qwen"]
    );
    let hits = rows(&["search", "Hello", "--all", "--json"]);
    let found: BTreeSet<_> = hits
        .iter()
        .map(|hit| (text(hit, "agent"), text(hit, "session")))
        .collect();
    assert_eq!(found, expected);
}

/// 002-17: what was noted once is known to every session of the project, in every worktree and for every agent, and to no
/// other project.
#[test]
fn facts_belong_to_the_project() {
    let world = World::new();
    world.write("work/.git/HEAD", "ref: refs/heads/main\n");
    world.write("work/.git/worktrees/tree/commondir", "../..\n");
    world.write("tree/.git", "gitdir: ../work/.git/worktrees/tree\n");
    Script::of(&world)
        .ago(50)
        .user("Fix the slow login page")
        .writes("src/login.rs", "x")
        .save(&world, ONE);
    Script::codex(&world, TWO)
        .ago(40)
        .user("Add the export to spreadsheets")
        .save(&world, TWO);
    Script::new(world.path("elsewhere"))
        .ago(30)
        .user("Write the other program")
        .save(&world, THREE);
    for args in [
        ["note", "fact", "Staging is down"],
        ["pin", "the API is frozen", "--priority=high"],
    ] {
        world
            .context(&args)
            .env("CLAUDE_CODE_SESSION_ID", ONE)
            .run()
            .success();
    }
    let by_user = |text: &str| json!({"text": text, "by": "user"});
    let ours = json!([by_user("the API is frozen"), by_user("Staging is down")]);
    for (dir, name, facts) in [
        ("work", ONE, &ours),
        ("work", TWO, &ours),
        ("tree", "last", &ours),
        ("elsewhere", THREE, &json!([])),
        ("elsewhere", "last", &json!([])),
    ] {
        let resumed = world
            .reader(&["resume", name, "--json"])
            .dir(world.path(dir))
            .run()
            .success()
            .json();
        assert_eq!(resumed[0]["pinned_facts"], *facts, "{name} in {dir}");
    }
    let begun = |dir: &str| {
        let mut begins = begins(&world, dir, "startup");
        begins["cwd"] = world.path(dir).to_str().into();
        start_text(&hook(&world, &[], &begins).run().success())
            .contains("- pinned: the API is frozen\n")
    };
    assert_eq!(
        ["work", "tree", "elsewhere"].map(begun),
        [true, true, false]
    );
}

/// 002-18: a tag is on the session that got it; a branch shares what was said before it left; a file that two live sessions
/// edit is a conflict, but not between a branch and its origin.
#[test]
fn tags_branches_and_conflicts() {
    let world = World::new();
    let origin = || {
        Script::of(&world)
            .ago(30)
            .user("Migrate the ledger")
            .writes("src/ledger.rs", "x")
            .says("Migrated.")
    };
    origin().save(&world, ONE);
    origin()
        .ago(20)
        .user("Try it with triggers instead")
        .says("Yes.")
        .save(&world, TWO);
    world
        .context(&["tag", "billing", "--session", ONE])
        .run()
        .success();
    let found = |args: &[&str]| -> Vec<String> {
        world
            .reader(args)
            .run()
            .success()
            .json()
            .iter()
            .map(|row| text(row, "handle"))
            .collect()
    };
    assert_eq!(found(&["list", "--tag", "billing", "--json"]), ["11111111"]);
    assert_eq!(
        found(&["search", "migrate the ledger", "--json"]),
        ["11111111", "22222222"]
    );
    assert_eq!(found(&["search", "triggers", "--json"]), ["22222222"]);
    let files = |expected: &str| drop(world.reader(&["files"]).run().success().stdout(expected));
    files("  AGE  FILE           WHO\n  30m  src/ledger.rs  claude:11111111 created\n");
    Script::codex(&world, THREE)
        .ago(10)
        .user("Rename the ledger")
        .patches("*** Update File: src/ledger.rs\n@@\n-a\n+b\n")
        .save(&world, THREE);
    files(concat!(
        "  AGE  FILE           WHO\n",
        "! 10m  src/ledger.rs  codex:33333333 edited 10m ago; claude:11111111 created 30m ago\n",
    ));
}
