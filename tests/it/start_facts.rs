//! What a session that begins is told of the last one is right when it is told: what may be out of date is left out.

use serde_json::json;

use crate::support::claude::with;
use crate::support::hook::{hook, input};
use crate::support::script::Script;
use crate::support::times::ago;
use crate::support::world::{ME, ONE, World};

const TASK: &str = "Add a retry to the installer";

/// The lines after the one that names the session.
fn facts(world: &World) -> Vec<String> {
    let mut asks = with(input(world, ME), "hook_event_name", "SessionStart");
    asks["source"] = json!("startup");
    let reply = hook(world, &[], &asks).run().success().json().remove(0);
    let told = reply["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .expect("a text")
        .to_owned();
    let lines = told
        .lines()
        .skip(2)
        .filter(|line| !line.starts_with("- more: "));
    lines.map(str::to_owned).collect()
}

fn told(script: impl Fn(Script) -> Script) -> Vec<String> {
    let world = World::new();
    script(Script::of(&world).ago(30).user(TASK)).save(&world, ONE);
    facts(&world)
}

fn tasks(script: Script) -> Script {
    let todos = json!([{"content": "Test the installer", "status": "in_progress"}]);
    script.does("TodoWrite", json!({"todos": todos}))
}

#[test]
fn a_task_is_told_until_something_else_is_asked() {
    let open = "- in progress: \"Test the installer\"";
    assert!(
        told(|script| tasks(script.writes("a.sh", "x\n")).says("Half of it."))
            .contains(&open.to_owned())
    );
    let later = |script: Script| {
        tasks(script.writes("a.sh", "x\n"))
            .says("Half of it.")
            .user("And what about the colours of the list?")
    };
    assert!(!told(later).concat().contains("Test the installer"));
    // Brought up to date since, they are about what was asked.
    assert!(told(|script| tasks(later(script))).contains(&open.to_owned()));
}

#[test]
fn a_refusal_is_told_until_something_follows() {
    let refused = |script: Script| {
        let denied =
            "The user doesn't want to proceed with this tool use. The tool use was rejected";
        script
            .writes("a.sh", "x\n")
            .calls("Bash", json!({"command": "git push"}))
            .result(true, denied)
    };
    let fact = "- not allowed: \"Bash git push\"";
    assert!(told(refused).contains(&fact.to_owned()));
    assert!(
        !told(|script| refused(script).says("I leave that to you.")).contains(&fact.to_owned())
    );
    assert!(!told(|script| refused(script).runs("git status", false)).contains(&fact.to_owned()));
}

/// It says more than anything else, so nothing may take its room.
#[test]
fn a_recap_comes_first() {
    let long = "x".repeat(30);
    let recap = format!(
        "Goal: retry the installer. Done: the loop. Next: the tests of it. {}",
        "Then more. ".repeat(8)
    );
    let all = told(|script| {
        let files = ["a", "b", "c", "d"].iter().fold(script, |script, name| {
            script.writes(&format!("{name}{long}.sh"), "x\n")
        });
        let done = tasks(files)
            .runs("cargo test", true)
            .says("Half of it is done, and the rest will be tomorrow.");
        done.raw(
            json!({"type": "system", "subtype": "away_summary", "uuid": "s1", "timestamp": ago(5), "content": recap}),
        )
    });
    assert!(
        all[0].starts_with("- its recap: \"Goal: retry the installer. Done: the loop."),
        "{all:?}"
    );
}

/// Of a long transcript only the end is read: there may be more files.
#[test]
fn of_a_long_session_there_may_be_more_files() {
    let few = told(|script| script.writes("a.sh", "x\n").says("Done."));
    assert_eq!(few[0], "- it changed a.sh");
    let many = |script: Script| {
        ["a", "b", "c", "d", "e"]
            .iter()
            .fold(script, |script, name| script.writes(name, "x\n"))
    };
    assert_eq!(
        told(|script| many(script).says("Done."))[0],
        "- it changed e, d, c and 2 more"
    );
    let long = |script: Script| {
        let filled = (0..6).fold(script, |script, _| script.says(&"long ".repeat(200_000)));
        filled
            .user("and one more thing for the installer")
            .writes("z.sh", "x\n")
            .says("Done.")
    };
    assert_eq!(told(long)[0], "- it changed z.sh and perhaps more");
}
