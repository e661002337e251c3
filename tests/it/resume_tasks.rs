//! `session-reader resume`: tasks, decisions, corrections, summaries, and what is next.

use serde_json::{Value, json};

use crate::support::resume::{GOALS, count, kinds, rows_of, texts};
use crate::support::script::Script;
use crate::support::times::at;
use crate::support::world::World;

/// Words are decisions only where they decide, with what was decided; the newest on a matter counts; their order is kept.
/// All of them are marked as taken from words.
// 002-12, 002-D3, 002-D4, 004-T6, 004-D4
#[test]
fn words_are_decisions_only_where_they_decide() {
    let world = World::new();
    let said = |prompts: &[&str]| {
        let all = prompts
            .iter()
            .fold(Script::of(&world), |script, text| script.user(text))
            .json();
        assert!(
            all["decisions"]
                .as_array()
                .into_iter()
                .flatten()
                .all(|one| one["by"] == "words"),
            "{all}"
        );
        texts(&all["decisions"]).join("|")
    };
    for text in [
        "I am using redis and added a cache, created the module",
        "We implemented the retry logic yesterday",
        "Should we use redis here?",
        "> let's use the quoted thing",
    ] {
        assert_eq!(said(&[text]), "", "{text}");
    }
    let three = [
        "let's use zookeeper for locks",
        "on garde le format JSON",
        "let's use consul for locks and leases",
    ];
    assert_eq!(said(&three), three.join("|"));
    let all = said(&[
        "let's use PostgreSQL for the user table",
        "hm",
        "let's not use PostgreSQL for the user table",
    ]);
    assert_eq!(all, "let's not use PostgreSQL for the user table");
    assert_eq!(said(&["let's use redis there"; 8]), "let's use redis there");
    // An agent decides nothing.
    let all = Script::of(&world)
        .user("go")
        .says("Let's use redis for the cache.")
        .json();
    assert_eq!(texts(&all["decisions"]), [""; 0]);
}

/// What was done is not to be done; the rest stays.
// 004-T7
#[test]
fn next_is_what_was_not_done() {
    let world = World::new();
    let todo = |text: &str, state: &str| json!({"content": text, "status": state});
    let todos = json!({"todos": [todo("Add parser tests", "completed"), todo("Deploy to staging", "pending"), todo("Write the guide", "in_progress")]});
    let script = Script::of(&world)
        .user("Finish the parser")
        .does("TodoWrite", todos)
        .runs("git commit -m 'Update the changelog of the parser'", false)
        .says("Done.\n\n## Next steps\n- Adding tests for the parser\n- Updating the parser's changelog\n- Publish the crate\n");
    let open = [
        ("Write the guide", None),
        ("Deploy to staging", None),
        ("Publish the crate", Some("words")),
    ];
    assert_eq!(
        rows_of(&script.json(), "open_tasks", &["text", "by"]),
        json!(open)
    );
    let codes = script.codes();
    assert_eq!(
        ["done:", "next:", "next:said:"].map(|prefix| count(&codes, prefix)),
        [2, 3, 1],
        "{codes:#?}"
    );
}

/// What the agent is told not to do after it did something, once, and marked as taken from words; not what is said in
/// passing, nor what a client writes into every plan.
// 004-T8
#[test]
fn what_the_agent_is_told_not_to_do_is_a_correction() {
    let world = World::new();
    let told = |text: &str| {
        let script = (0..8).fold(Script::of(&world).user("Fix the build now"), |script, _| {
            script.runs("make", false).user(text)
        });
        let all = script.json();
        assert!(
            all["corrections"]
                .as_array()
                .into_iter()
                .flatten()
                .all(|one| one["by"] == "words"),
            "{all}"
        );
        texts(&all["corrections"]).join("|")
    };
    for text in [
        "Don't commit without asking me",
        "Never push to main directly",
        "Ne touche pas à ce fichier",
    ] {
        assert_eq!(told(text), text);
    }
    for text in [
        "I don't know what that means",
        "don't worry about the warnings",
        "Why don't you use a map?",
        "Implement the plan as specified, it is attached for your reference. Do NOT edit the plan file itself.",
    ] {
        assert_eq!(told(text), "", "{text}");
    }
    // Before the agent did anything it is a wish, no correction.
    assert_eq!(
        texts(
            &Script::of(&world)
                .user("Don't commit without asking me")
                .json()["corrections"]
        ),
        [""; 0]
    );
}

/// heuristics 6.3 (5): a task that waits for another one is blocked.
#[test]
fn a_task_that_waits_for_another_is_blocked() {
    let world = World::new();
    let all = Script::of(&world)
        .user("Make the release")
        .calls("TaskCreate", json!({"subject": "Build it"}))
        .result(false, "Task #1 created successfully: Build it")
        .calls("TaskCreate", json!({"subject": "Ship it"}))
        .result(false, "Task #2 created successfully: Ship it")
        .does("TaskUpdate", json!({"taskId": "2", "addBlockedBy": ["1"]}))
        .json();
    assert_eq!(kinds(&all), [("task", "Ship it")]);
}

/// Answers are decisions: each of several, and one that is not in quotes.
#[test]
fn answers_to_questions_are_decisions() {
    let world = World::new();
    let ask = json!({"questions": [{"question": "Which database shall I use?"}, {"question": "Which cache?"}]});
    let answered = |failed: bool, result: &str| {
        let all = Script::of(&world)
            .user("Choose")
            .calls("AskUserQuestion", ask.clone())
            .result(failed, result)
            .json();
        texts(&all["decisions"]).join("|")
    };
    let both = r#"User has answered: "Which database?"="PostgreSQL", "Which cache?"="none". You can now continue."#;
    assert_eq!(
        answered(false, both),
        "Which database? PostgreSQL|Which cache? none"
    );
    assert_eq!(
        answered(false, "PostgreSQL it is. Thanks."),
        "Which database shall I use? PostgreSQL it is."
    );
    assert_eq!(answered(true, both), "");
}

/// Tasks: a new list takes the place of the old one; a task is known by its id, which may stand in the answer; what a change
/// does not name stays as it was.
#[test]
fn a_new_list_of_tasks_replaces_the_old_one() {
    let world = World::new();
    let start = || Script::of(&world).user("Make the release");
    let tasks = |script: Script| rows_of(&script.json(), "tasks", &["text", "state", "line"]);
    let list = |text: &str| json!({"todos": [{"content": text, "status": "pending"}]});
    let again = start()
        .does("TodoWrite", list("Old one"))
        .does("TodoWrite", list("New one"));
    assert_eq!(tasks(again), json!([["New one", "open", 4]]));
    let failed = start()
        .does("TodoWrite", list("Old one"))
        .calls("TodoWrite", list("New one"))
        .result(true, "no");
    assert_eq!(tasks(failed), json!([["Old one", "open", 2]]));

    let create = |text: &str| json!({"subject": text});
    let update = |script: Script, id: &str, rest: Value| {
        let mut input = rest;
        input["taskId"] = json!(id);
        script.does("TaskUpdate", input)
    };
    // The answer tells the number, or there is none, and they are counted.
    let told = start()
        .calls("TaskCreate", create("Build it"))
        .result(false, "Task #7 created");
    assert_eq!(
        tasks(update(told, "7", json!({"status": "completed"}))),
        json!([["Build it", "done", 4]])
    );
    let untold = || {
        start()
            .does("TaskCreate", create("Build it"))
            .calls("TaskCreate", create("Ship it"))
            .result(false, "Task # made")
    };
    assert_eq!(
        tasks(update(untold(), "2", json!({"status": "in_progress"}))),
        json!([["Build it", "open", 2], ["Ship it", "active", 6]])
    );
    let renamed = update(
        update(untold(), "2", json!({"status": "in_progress"})),
        "2",
        json!({"subject": "Ship it twice"}),
    );
    assert_eq!(
        tasks(renamed),
        json!([["Build it", "open", 2], ["Ship it twice", "active", 8]])
    );
    assert_eq!(
        tasks(update(untold(), "9", json!({"status": "completed"}))),
        json!([["Build it", "open", 2], ["Ship it", "open", 4]])
    );

    // What is dropped is neither shown nor to be done; what is blocked is marked, and still to be done.
    let states = json!({"todos": [{"content": "Wait for Ana", "status": "blocked"}, {"content": "Rest", "status": "cancelled"}]});
    let script = start().does("TodoWrite", states);
    let all = script.json();
    assert_eq!(
        rows_of(&all, "pending_tasks", &["text", "state"]),
        json!([["Wait for Ana", "blocked"]])
    );
    let path = world.write("s.jsonl", script.text());
    let text = world
        .reader(&["resume", path.to_str().expect("UTF-8")])
        .run()
        .success()
        .out()
        .to_owned();
    assert!(
        text.contains("\nTasks       [!] Wait for Ana\nBlockers    task: Wait for Ana\n"),
        "{text}"
    );
    assert!(!text.contains("Rest"), "{text}");
}

/// A summary is told without what the client says before it, and without what it tells the model to do with it.
#[test]
fn summaries_are_bare() {
    let world = World::new();
    let before =
        "This session is being continued from a previous conversation that ran out of context.";
    for (told, bare) in [
        ("Totals are rounded.", "Totals are rounded."),
        (
            &format!(
                "{before}\n\nTotals are rounded.\nContinue the conversation from where it left off."
            ),
            "Totals are rounded.",
        ),
        (
            &format!(
                "{before}\nTotals are rounded.\n\nPlease continue the conversation from where we left it."
            ),
            "Totals are rounded.",
        ),
        (
            "Continue the conversation from where it left off.",
            "Continue the conversation from where it left off.",
        ),
        (before, before),
    ] {
        let summary = json!({"type": "user", "uuid": "c", "isCompactSummary": true, "timestamp": at(2), "message": {"role": "user", "content": told}});
        let all = Script::of(&world)
            .user(GOALS[0])
            .says("Done.")
            .raw(summary)
            .json();
        assert_eq!(all["summary"]["text"], bare, "{told}");
    }
    // Without one, the last answer sums it up.
    assert_eq!(
        Script::of(&world).user(GOALS[0]).says("Done.").json()["summary"]["text"],
        "Done."
    );
}

/// What is next is told once; a prompt is next only until somebody answers it, and only if it asks for something.
#[test]
fn next_is_told_once() {
    let world = World::new();
    let next = |script: Script| texts(&script.json()["open_tasks"]).join("|");
    let start = || Script::of(&world).user("Make the release");
    let todos = json!({"todos": [{"content": "Publish the crate", "status": "pending"}]});
    let twice = start()
        .does("TodoWrite", todos)
        .says("Done.\n\n## Next steps\n- Publish the crate\n- Tell Ana\n");
    assert_eq!(next(twice), "Publish the crate|Tell Ana");
    assert_eq!(next(start().says("Done.").user(GOALS[1])), GOALS[1]);
    assert_eq!(next(start().says("Done.").user(GOALS[1]).says("Done.")), "");
    assert_eq!(
        next(
            start()
                .says("Done.")
                .user(GOALS[1])
                .calls("Bash", json!({"command": "make"}))
        ),
        ""
    );
    assert_eq!(next(start().says("Done.").user("ok thanks")), "");
}

fn next(all: &Value) -> Vec<&str> {
    texts(&all["open_tasks"])
}

/// "Add tests for the logout page" was taken for done, because those for the login page were.
#[test]
fn open_tasks_that_sound_like_done_ones_stay_open() {
    let world = World::new();
    let todo = |text: &str, state: &str| json!({"content": text, "status": state});
    let todos = json!({"todos": [
        todo("Add tests for login page", "completed"),
        todo("Add tests for logout page", "pending"),
        todo("Add tests for signup page", "pending"),
    ]});
    let script = Script::of(&world).user(GOALS[0]).does("TodoWrite", todos);
    assert_eq!(
        next(&script.json()),
        ["Add tests for logout page", "Add tests for signup page"]
    );
    // What was only said is done if a task says so.
    let said = script.says(
        "**Next steps:**\n- Add the tests for the login page\n- Publish the new version today",
    );
    assert_eq!(
        next(&said.json()),
        [
            "Add tests for logout page",
            "Add tests for signup page",
            "Publish the new version today"
        ]
    );
}
