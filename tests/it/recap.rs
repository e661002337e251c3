//! `session-reader recap`: what was done since a time, per project and session, as text, Markdown and JSON.

use serde_json::json;

use crate::support::resume::rich;
use crate::support::script::Script;
use crate::support::world::{ONE, THREE, TWO, World};

const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

fn worked() -> World {
    let world = World::new();
    rich(&world).save(&world, ONE);
    Script::codex(&world, TWO)
        .ago(12)
        .user("Write a test for the login page")
        .patches("*** Add File: tests/login.rs\n+fn login() {}\n")
        .ago(10)
        .runs("cargo test --test login", false)
        .ago(3)
        .says("It passes.")
        .save(&world, TWO);
    Script::new(world.path("other"))
        .ago(60)
        .user("Paint the shed in the garden")
        .writes("shed.txt", "green")
        .says("It is green.")
        .save(&world, THREE);
    world
}

const TEXT: &str = "\
work  ~/work, 37m in 2 sessions
  11111111  claude  01:00 to 01:35, 35m  Let's go with bankers rounding for reports. Now update the changelog for the billing release
    asked   Fix the rounding of invoice totals in the billing module
    asked   Let's go with bankers rounding for reports. Now update the changelog for the billing release
    files   src/billing/mod.rs, src/report/mod.rs
    commit  Round invoice totals once
    passed  cargo test
    fails   cargo build --release
  22222222  codex  02:48 to 02:57, 2m  Write a test for the login page
    asked   Write a test for the login page
    files   tests/login.rs
    passed  cargo test --test login
";

#[test]
fn a_day_in_all_forms() {
    let world = worked();
    world
        .reader(&["recap"])
        .run()
        .success()
        .stdout(TEXT)
        .stderr("");
    let all = world.reader(&["recap", "--all"]).run().success();
    assert!(all.out().starts_with(TEXT), "{}", all.out());
    assert!(
        all.out()
            .contains("\n\nother  ~/other, under 1m in 1 session\n"),
        "{}",
        all.out()
    );
    let md = "\
## work (37m in 2 sessions)

### Let's go with bankers rounding for reports. Now update the changelog for the billing release (claude, 35m)

- Asked: Fix the rounding of invoice totals in the billing module
- Asked: Let's go with bankers rounding for reports. Now update the changelog for the billing release
- Files: src/billing/mod.rs, src/report/mod.rs
- Commit: Round invoice totals once
- Passed: `cargo test`
- **Fails**: `cargo build --release`

### Write a test for the login page (codex, 2m)

- Asked: Write a test for the login page
- Files: tests/login.rs
- Passed: `cargo test --test login`
";
    world.reader(&["recap", "--md"]).run().success().stdout(md);
    let json = world.reader(&["recap", "--json"]).run().success().json();
    assert_eq!(json.len(), 2);
    assert_eq!(
        json[1],
        json!({
            "session": TWO, "handle": "22222222", "name": null, "agent": "codex",
            "title": "Write a test for the login page", "project": "work",
            "cwd": world.path("work"), "first": "2026-11-16T02:48:00.000Z", "last": "2026-11-16T02:57:00.000Z",
            "spent": 120,
            "prompts": [{"text": "Write a test for the login page", "time": "2026-11-16T02:48:00.000Z", "line": 2}],
            "files": ["tests/login.rs"], "commits": [],
            "passed": ["cargo test --test login"], "fails": [],
        })
    );
}

/// Only what happened since then counts, in each session.
#[test]
fn what_was_before_does_not_count() {
    let world = worked();
    let recap = world
        .reader(&["recap", "--since", "2026-11-16T01:25:00Z"])
        .run()
        .success();
    assert!(!recap.out().contains("Fix the rounding"), "{}", recap.out());
    assert!(
        recap.out().contains("fails   cargo build --release"),
        "{}",
        recap.out()
    );
    let late = world.reader(&["recap", "--since", "1h"]).run().success();
    assert!(
        !late.out().contains("11111111") && late.out().contains("22222222"),
        "{}",
        late.out()
    );
    world
        .reader(&["recap", "--since", "1m"])
        .run()
        .status(1)
        .stdout("")
        .stderr("session-reader: no sessions like that in this project\n");
}

/// A session in which only a few words were said is no reason to leave it out, and the user's own name for one is its heading.
#[test]
fn no_session_of_the_time_is_left_out() {
    let world = World::new();
    Script::of(&world)
        .ago(9)
        .user("go on")
        .says("There is nothing to go on with.")
        .save(&world, ONE);
    world
        .context(&["name", ONE, "the quiet one"])
        .run()
        .success();
    let md = "\
## work (under 1m in 1 session)

### the quiet one: go on (claude, under 1m)

- Asked: go on
";
    world
        .reader(&["recap", "--md"])
        .run()
        .success()
        .stdout(md)
        .stderr("");
}

/// A pass that a pipe may hide proves nothing, and what failed after it passed does not pass.
#[test]
fn only_what_is_proven_passed() {
    let world = World::new();
    Script::of(&world)
        .ago(9)
        .user("Run all the tests of the shop")
        .runs("cargo test --lib | tail -3", false)
        .runs("npm test; true", false)
        .runs("! cargo clippy", false)
        .runs("make -n test", false)
        .runs("pytest --collect-only", false)
        .runs("go test ./... &", false)
        .runs("make check && npm run lint", false)
        .runs("npx tsc --noEmit 2>&1", false)
        .runs("cd api && cargo build", false)
        .ago(8)
        .runs("cargo build", true)
        .says("Done.")
        .save(&world, ONE);
    let json = &world.reader(&["recap", "--json"]).run().success().json()[0];
    assert_eq!(
        json["passed"],
        json!(["npx tsc --noEmit 2>&1", "make check && npm run lint"]),
        "{json}"
    );
    assert_eq!(json["fails"], json!(["cargo build"]), "{json}");
}

/// A fork repeats the prompts of its origin; they were asked once.
#[test]
fn a_fork_asks_nothing_again() {
    let world = World::new();
    let origin = Script::of(&world)
        .ago(9)
        .user("Fix the rounding of invoice totals")
        .writes("src/a.rs", "x")
        .says("Done.");
    origin.save(&world, ONE);
    let fork = origin
        .ago(3)
        .user("Now write property tests for the totals");
    fork.save(&world, TWO);
    let recap = world.reader(&["recap"]).run().success();
    assert_eq!(
        recap.out().matches("asked   Fix the rounding").count(),
        1,
        "{}",
        recap.out()
    );
    assert_eq!(
        recap.out().matches("asked   Now write property").count(),
        1,
        "{}",
        recap.out()
    );
}

/// Texts of strangers break no screen and no Markdown, and no secret is sent.
#[test]
fn a_hostile_session_is_told_as_text() {
    let world = World::new();
    let evil = format!("\u{1b}[2J<script>x</script> ![i](http://x) @all {KEY}\n# heading");
    Script::of(&world)
        .ago(9)
        .user(&format!("please look at the login page {evil}"))
        .writes(&format!("{evil}.rs"), "x")
        .runs(&format!("git commit -m '{evil}'"), false)
        .raw(json!({"type": "custom-title", "customTitle": evil}))
        .says("Done.")
        .save(&world, ONE);
    for form in [&["recap"][..], &["recap", "--md"], &["recap", "--json"]] {
        let done = world.reader(form).run().success();
        assert!(!done.out().contains('\u{1b}'), "{}", done.out());
    }
    let md = world.reader(&["recap", "--md"]).run();
    let md = md.out();
    assert!(
        !md.contains(KEY) && !md.contains('<') && !md.contains("\n# ") && !md.contains(" @"),
        "{md}"
    );
    assert!(md.contains("\\@all") && md.contains("\\!\\[i\\]"), "{md}");
}
