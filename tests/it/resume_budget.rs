//! `session-reader resume --codes` and `--budget`: what fits, what goes first, and what a code looks like.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use session_core::ask::pending::Beside;
use session_core::ask::resume::Stop;
use session_core::fold::Continuity;
use session_core::fold::continuity::{Blocker, FileChange, Finding, Obstacle};
use session_core::formats;
use session_core::session::Session;
use session_core::session::state::Situation;
use session_core::show::resume::Fitted;
use session_core::state::notes::Notes;
use session_format::time::Time;

use crate::support::resume::{GOALS, count, resumed, rich, rows_of, texts};
use crate::support::script::Script;
use crate::support::world::{ONE, World};

/// What a code costs: three bytes are a token, and the end of the line is one more.
fn cost(code: &str) -> usize {
    code.len().div_ceil(3) + 1
}

/// A session with much of everything: files, decisions, tasks that are blocked.
fn much(world: &World, files: usize, decisions: usize, blockers: usize) -> Script {
    const NOUNS: [&str; 10] = [
        "sqlite",
        "postgres",
        "redis",
        "kafka",
        "nginx",
        "docker",
        "terraform",
        "grafana",
        "webpack",
        "pytest",
    ];
    let mut script = Script::of(world).user("Move the whole backend to the new cluster");
    for file in 0..files {
        script = script.writes(
            &format!("/srv/backend/service{file}/handler_number_{file}.py"),
            "x = 1\n",
        );
    }
    for noun in &NOUNS[..decisions] {
        script = script.user(&format!("let's use {noun} there"));
    }
    let todos: Vec<_> = (0..blockers)
        .map(|at| json!({"content": format!("Waiting item number {at}"), "status": "blocked"}))
        .collect();
    script.does("TodoWrite", json!({"todos": todos}))
}

/// Nothing is cut of a whole day's work.
// 004-S4, 004-E10
#[test]
fn nothing_is_cut_of_a_whole_days_work() {
    let codes = much(&World::new(), 20, 10, 5).codes();
    assert_eq!(
        ["impl:", "dec:", "block:task:"].map(|prefix| count(&codes, prefix)),
        [20, 10, 5],
        "{codes:#?}"
    );
}

/// Under 1,500 tokens, counted honestly: four characters are a token at the most, and we count three.
// 004-S6, 002-15
#[test]
fn a_days_work_takes_less_than_1500_tokens() {
    let codes = much(&World::new(), 15, 8, 3).codes();
    assert_eq!(codes.len(), 26);
    let tokens: usize = codes.iter().map(|code| cost(code)).sum();
    let characters: usize = codes.iter().map(|code| code.chars().count() + 1).sum();
    assert!(
        tokens <= 1500 && characters / 4 <= tokens,
        "{tokens} {characters}"
    );
}

/// Whatever the budget: whole codes, in their order, no more than it allows, and none left out that would fit.
/// Ours for 002-10 to 002-13, 002-D2 and 004-F6: no history is compacted, each reading makes its own choice, in the order
/// of the groups, and an allowance for each.
#[test]
fn codes_keep_to_every_budget() {
    let mut all = Continuity::default();
    let item = |text: String| Finding {
        text,
        ..Finding::default()
    };
    for at in 0..30 {
        let path = format!(
            "/srv/backend/service{at}/{}.py",
            "handler_".repeat(at % 7 + 1)
        );
        all.files.push(FileChange {
            path,
            edits: 1,
            ..FileChange::default()
        });
        all.decisions
            .push(item(format!("ünï cödé № {at} {}", "long ".repeat(at % 11))));
        all.blockers.push(Blocker {
            kind: Obstacle::Denied,
            item: item(format!("Bash command {at}")),
        });
        all.next.push(item(format!("step {at}")));
    }
    let (formats, notes) = (
        formats::known(Path::new("/nonexistent")).0,
        Notes::default(),
    );
    let session = Session::new(ONE, &formats[0], None, PathBuf::new());
    let (project, now) = ("work".to_owned(), Time(0));
    let situation = Situation::of(&session, &all, false, None);
    let (id, subagent, command, wrong) = (ONE.to_owned(), false, Ok(None), Vec::new());
    let (done, tags, continuity) = (false, Vec::new(), all);
    let stop = Stop {
        continuity,
        session,
        id,
        project,
        subagent,
        command,
        notes,
        wrong,
        now,
        situation,
        done,
        tags,
        beside: Beside::default(),
    };
    let whole = stop.codes(usize::MAX).lines;
    let total: usize = whole.iter().map(|code| cost(code)).sum();
    assert!(whole.len() == 121 && total > 1000, "{total}");
    let costs = |codes: &[String], prefix: &str| -> usize {
        codes
            .iter()
            .filter(|code| code.starts_with(prefix))
            .map(|code| cost(code))
            .sum()
    };
    for budget in (0..=2000).chain(total - 40..=total) {
        let Fitted {
            lines: codes,
            left_out,
        } = stop.codes(budget);
        assert_eq!(codes.len() + left_out, whole.len(), "{budget}");
        let used = costs(&codes, "");
        assert!(used <= budget, "{budget}: {used}");
        let characters: usize = codes.iter().map(|code| code.chars().count() + 1).sum();
        assert!(characters.div_ceil(4) <= budget, "{budget}: {characters}");
        let mut rest = whole.iter();
        assert!(
            codes.iter().all(|code| rest.any(|known| known == code)),
            "{budget}: not in their order"
        );
        // Nothing is left out that there is room for.
        let mut missing = whole.iter().filter(|code| !codes.contains(code));
        assert!(
            codes.is_empty() || missing.all(|code| used + cost(code) > budget),
            "{budget}"
        );
        // No group takes the room of another: each has its share, but for what is too long for the end of it.
        for (prefix, share) in [
            ("impl:", 450),
            ("dec:", 250),
            ("block:", 200),
            ("next:", 200),
        ] {
            let most = whole
                .iter()
                .filter(|code| code.starts_with(prefix))
                .map(|code| cost(code))
                .max()
                .unwrap_or(0);
            let due = (budget.saturating_sub(cost("proj:work")) * share / 1500)
                .min(costs(&whole, prefix));
            assert!(costs(&codes, prefix) + most > due, "{budget}: {prefix}");
        }
    }
    // The newest files and decisions, and the first blockers and steps, stay.
    let some = stop.codes(150).lines;
    for kept in [
        "impl:service29/handler_handler_.py",
        "block:denied:Bash-command-0",
        "next:step-0",
    ] {
        assert!(some.iter().any(|code| code == kept), "{some:?}");
    }
    assert_eq!(
        stop.codes(total),
        Fitted {
            lines: whole,
            left_out: 0
        }
    );
}

#[test]
fn the_budget_is_a_flag() {
    let world = World::new();
    rich(&world).save(&world, ONE);
    let run = |budget: &str| {
        world
            .reader(&["resume", "--codes", "--budget", budget])
            .run()
    };
    run("1")
        .status(1)
        .stdout("")
        .stderr("session-reader: nothing fits into 1 tokens; see --budget\n");
    run("4")
        .status(0)
        .stdout("proj:work\n")
        .stderr("session-reader: 16 lines do not fit into 4 tokens; see --budget\n");
    // What is open comes before what was done.
    run("20")
        .status(0)
        .stdout("proj:work\nblock:failing:cargo-build---release\n");
    assert_eq!(
        resumed(&world, &["--budget", "77"])["token_budget"]["limit"],
        77
    );
    for bad in ["-1", "x", "1.5", "", "0"] {
        let said = run(bad).status(2).stdout("");
        assert!(
            bad == "-1" || said.err().contains("expected a number, 1 or more"),
            "{}",
            said.err()
        );
    }
    world
        .reader(&["resume", "--codes", "--json"])
        .run()
        .status(2)
        .stdout("");
}

/// People may have a budget, too: whole lines, which session it is first, and something of every kind.
#[test]
fn the_text_keeps_to_every_budget() {
    let world = World::new();
    rich(&world).save(&world, ONE);
    let lines = |budget: usize| -> Vec<String> {
        let done = world
            .reader(&["resume", "--budget", &budget.to_string()])
            .run();
        done.out().lines().map(str::to_owned).collect()
    };
    let whole = lines(9000);
    assert_eq!(
        whole.join("\n") + "\n",
        world.reader(&["resume"]).run().success().out()
    );
    let texts = |lines: &[String]| {
        lines
            .iter()
            .map(|line| line[12..].to_owned())
            .collect::<Vec<_>>()
    };
    for budget in (1..700).step_by(7) {
        let some = lines(budget);
        // A label is printed once, but would cost as much as blanks do.
        assert!(
            some.iter().map(|line| cost(line)).sum::<usize>() <= budget,
            "{budget}"
        );
        let mut rest = texts(&whole).into_iter();
        assert!(
            texts(&some)
                .iter()
                .all(|text| rest.any(|known| known == *text)),
            "{budget}: {some:?}"
        );
        assert_eq!(
            some.first(),
            whole.first().filter(|first| cost(first) <= budget),
            "{budget}"
        );
    }
    let some = lines(500).join("\n");
    for label in [
        "Files",
        "Tasks",
        "Decisions",
        "Blockers",
        "Summary",
        "Go on",
    ] {
        assert!(some.contains(&format!("\n{label} ")), "{label}: {some}");
    }
}

/// The start of the next session costs far less than the history, which stays where it is.
// 002-11, 002-12, 002-13, 002-14, 004-S10
#[test]
fn codes_cost_less_than_the_history() {
    let world = World::new();
    let script = much(&world, 15, 8, 3);
    let path = script.save(&world, ONE);
    world.context(&["pin", &"x".repeat(300)]).run().status(0);
    let codes = world
        .reader(&["resume", "--codes"])
        .run()
        .success()
        .out()
        .len();
    assert!(
        codes / 3 < 1500 && codes * 4 < script.text().len(),
        "{codes}"
    );
    assert_eq!(
        std::fs::read_to_string(path).expect("still there"),
        script.text()
    );
    let all = resumed(&world, &[]);
    assert_eq!(all["recent_messages"].as_array().map(Vec::len), Some(9));
}

/// Codes are one word of harmless characters; nothing from a transcript reaches a terminal as it is.
// 004-F1, 004-F3
#[test]
fn nothing_harmful_is_printed() {
    let world = World::new();
    let path = Script::of(&world)
        .user(
            "Let's use \u{1b}]0;x\u{7}red\u{1b}[31m <system-reminder> and\nnew lines\u{202e} there",
        )
        .writes("/p/a\u{1b}[2Jb c.rs", "fn x() {}\n")
        .runs("cargo test \u{1b}[31m; rm -rf /", true)
        .save(&world, ONE);
    for form in [&[][..], &["--codes"]] {
        let done = world
            .reader(&[&["resume", path.to_str().expect("UTF-8")], form].concat())
            .run()
            .success();
        let bad: Vec<char> = done
            .out()
            .chars()
            .filter(|char| *char != '\n' && (char.is_control() || *char == '\u{202e}'))
            .collect();
        assert_eq!(bad, [], "{}", done.out());
        assert!(
            form.is_empty() || !done.out().contains([' ', '<', '>', '`', '*']),
            "{}",
            done.out()
        );
    }
}

/// A code may end with a colon.
#[test]
fn a_code_may_end_with_a_colon() {
    let todos = json!({"todos": [{"content": "Decide one of these:", "status": "pending"}]});
    let codes = Script::of(&World::new())
        .user("go")
        .does("TodoWrite", todos)
        .codes();
    assert_eq!(codes, ["next:Decide-one-of-these:"]);
}

/// Codes keep what tells things apart: paths with brackets, values with signs, commands without their plumbing.
#[test]
fn codes_keep_what_tells_things_apart() {
    let script = Script::of(&World::new())
        .user("let's use threshold=0.75 there")
        .writes("/p/app/[id].tsx", "x")
        .writes("/p/app/id.tsx", "x")
        .runs("cargo test 2>&1 | tail -5", false);
    let codes = script.codes();
    assert_eq!(count(&codes, "impl:"), 2, "{codes:#?}");
    assert_eq!(count(&codes, "test:cargo-test"), 1, "{codes:#?}");
    assert!(codes.contains(&"test:cargo-test".to_owned()), "{codes:#?}");
    assert!(
        codes.contains(&"dec:said:let's-use-threshold=0.75-there".to_owned()),
        "{codes:#?}"
    );
}

/// Of very much the newest stays: prompts, calls, messages, decisions; and of a long text both ends.
#[test]
fn of_very_much_the_newest_stays() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    let many = (0..130).fold(start(), |script, at| {
        let id = format!("b{at}");
        let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("echo {at}")}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        script
            .raw(json!({"type": "user", "uuid": format!("p{at}"), "timestamp": at_second(at), "message": {"role": "user", "content": format!("number {at}")}}))
            .raw(json!({"type": "assistant", "uuid": format!("c{at}"), "timestamp": at_second(at), "message": {"id": id, "role": "assistant", "content": call}}))
            .raw(json!({"type": "user", "uuid": format!("r{at}"), "timestamp": at_second(at), "message": {"role": "user", "content": result}}))
    });
    let all = many.json();
    let targets = rows_of(&all, "tool_history", &["target"]);
    assert_eq!(
        targets,
        (80..130)
            .map(|at| json!([format!("echo {at}")]))
            .collect::<Value>()
    );
    let said = rows_of(&all, "recent_messages", &["role", "text"]);
    assert_eq!(
        said,
        (110..130)
            .map(|at| json!(["user", format!("number {at}")]))
            .collect::<Value>()
    );
    let commands = rows_of(&all, "commands", &["command"]);
    assert_eq!(
        commands.as_array().and_then(|all| all.last()),
        Some(&json!(["echo 129"]))
    );
    // The text shows the last ten commands.
    let path = world.write("s.jsonl", many.text());
    let text = world
        .reader(&["resume", path.to_str().expect("UTF-8")])
        .run()
        .success()
        .out()
        .to_owned();
    let shown: Vec<_> = text
        .lines()
        .filter(|line| line[12..].starts_with("ok  echo "))
        .map(|line| &line[21..])
        .collect();
    assert_eq!(
        shown,
        (120..130).map(|at| at.to_string()).collect::<Vec<_>>(),
        "{text}"
    );

    let names: Vec<String> = ('a'..='z')
        .map(|char| format!("{}store", char.to_string().repeat(3)))
        .collect();
    let decided = names.iter().fold(start(), |script, name| {
        script.user(&format!("let's use {name} there"))
    });
    let kept: Vec<String> = names[1..]
        .iter()
        .map(|name| format!("let's use {name} there"))
        .collect();
    assert_eq!(texts(&decided.json()["decisions"]), kept);

    let long = "It took a while. ".repeat(1000);
    let said = start().says(&format!("{long}\n\n## Next steps\n- Publish the crate\n"));
    let path = world.write("long.jsonl", said.text());
    assert_eq!(
        texts(&resumed(&world, &[path.to_str().expect("UTF-8")])["open_tasks"]),
        ["Publish the crate"]
    );
}

/// A second of the hour before two.
fn at_second(second: usize) -> String {
    format!("2026-11-16T01:{:02}:{:02}Z", second / 60, second % 60)
}

/// A code is told once, has at most 80 bytes and no dash at its end, and is none without a word; a test counts that passed.
#[test]
fn a_code_is_short_told_once_and_has_a_word() {
    let todo = |text: &str| json!({"content": text, "status": "pending"});
    let (cut, whole) = (format!("{} b", "a".repeat(79)), "c".repeat(80));
    let todos = json!({"todos": [todo(&cut), todo(&whole), todo(&format!("{whole}d")), todo("\u{200b}"), todo("same"), todo("same ")]});
    let script = Script::of(&World::new())
        .user("go")
        .runs("pytest", true)
        .runs("pytest", false)
        .runs("pytest", false);
    let codes = script
        .runs("go test ./...", true)
        .does("TodoWrite", todos)
        .codes();
    let expected = [
        "test:pytest".to_owned(),
        "block:failing:go-test-./...".to_owned(),
        format!("next:{}", "a".repeat(79)),
        format!("next:{whole}"),
        "next:same".to_owned(),
    ];
    assert_eq!(codes, expected);
}

/// One line that does not fit is said in the singular.
#[test]
fn one_line_that_does_not_fit_is_said_in_the_singular() {
    let world = World::new();
    Script::of(&world)
        .user("hi")
        .writes("/p/a.rs", "x")
        .save(&world, ONE);
    let run = |budget: &str| {
        world
            .reader(&["resume", "--codes", "--budget", budget])
            .run()
    };
    run("5")
        .status(0)
        .stdout("proj:work\n")
        .stderr("session-reader: 1 line does not fit into 5 tokens; see --budget\n");
    run("9").success().stdout("proj:work\nimpl:a.rs\n");
}

/// Secrets are shown as they are, unless the user has set that they are not; in codes, which are for agents, never.
#[test]
fn secrets_are_shown_unless_set_otherwise_and_never_in_codes() {
    let world = World::new();
    let secret = "ghp_Ab1cdEFghIJklMNopQRstUVwxyz0123456789";
    Script::of(&world)
        .user(&format!("let's use \"{secret}\" for the upload"))
        .runs(&format!("cargo test --token {secret}"), true)
        .save(&world, ONE);
    for (form, always) in [(&[][..], false), (&["--codes"], true), (&["--json"], false)] {
        let run = |redact: &str| {
            let run = world
                .reader(&[&["resume"], form].concat())
                .env("SESSION_READER_REDACT", redact);
            run.run().success().out().to_owned()
        };
        let (shown, hidden) = (run("false"), run("true"));
        assert_eq!(
            (shown.contains(secret), shown.contains("[redacted]")),
            (!always, always),
            "{shown}"
        );
        assert!(
            !hidden.contains("ghp_") && hidden.contains("[redacted]"),
            "{hidden}"
        );
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(json!(text));
        assert_eq!(
            parsed(&hidden),
            parsed(&shown.replace(secret, "[redacted]"))
        );
    }
}

/// What came last says more: the last decisions and the last work stay. Shares are of what the head leaves, so that none
/// takes all of it.
#[test]
fn in_a_small_budget_the_last_work_stays() {
    let world = World::new();
    let codes = |budget: usize| {
        let done = world
            .reader(&["resume", "--codes", "--budget", &budget.to_string()])
            .run()
            .status(0);
        done.out().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let done: Vec<_> = (0..9)
        .map(|at| json!({"content": format!("Item {at}"), "status": "completed"}))
        .collect();
    much(&world, 0, 9, 0)
        .does("TodoWrite", json!({"todos": done}))
        .save(&world, ONE);
    assert_eq!(
        codes(60),
        [
            "proj:work",
            "done:Item-6",
            "done:Item-7",
            "done:Item-8",
            "dec:said:let's-use-terraform-there",
            "dec:said:let's-use-grafana-there",
            "dec:said:let's-use-webpack-there"
        ]
    );
    much(&world, 8, 8, 8).save(&world, ONE);
    for at in 0..6 {
        world
            .context(&["note", "decision", &format!("{at} {}", "x".repeat(70))])
            .run()
            .success();
    }
    let head: usize = codes(9000)
        .iter()
        .filter(|code| code.contains("xxx") || code.starts_with("proj:"))
        .map(|code| cost(code))
        .sum();
    let some = codes(head + 100);
    let counts = ["impl:", "dec:said:", "block:", "dec:"].map(|prefix| count(&some, prefix));
    assert_eq!(counts, [3, 1, 5, 7], "{some:#?}");
}

/// Without secrets is not with escape sequences.
#[test]
fn redacted_json_is_still_escaped() {
    let world = World::new();
    Script::of(&world)
        .user("Fix the \u{9b}31m slow login page, password=hunter22")
        .save(&world, ONE);
    let done = world
        .reader(&["resume", "--json"])
        .env("SESSION_READER_REDACT", "true")
        .run()
        .success();
    assert!(
        !done.out().contains('\u{9b}') && done.out().contains("\\u009b"),
        "{}",
        done.out()
    );
    assert!(
        done.out().contains("[redacted]") && !done.out().contains("hunter22"),
        "{}",
        done.out()
    );
}

/// Twice as many tasks take about twice as long: comparing each with each once took a quarter of a minute.
#[test]
fn twice_as_many_tasks_take_about_twice_as_long() {
    let world = World::new();
    let todo = |at: usize| {
        let state = if at.is_multiple_of(2) {
            "completed"
        } else {
            "pending"
        };
        json!({"content": format!("Rework the handler number {at} of the service"), "status": state})
    };
    let cpu = |count: usize| {
        let todos: Vec<Value> = (0..count).map(todo).collect();
        let script = Script::of(&world)
            .user(GOALS[0])
            .does("TodoWrite", json!({"todos": todos}));
        let steps: String = (0..count / 2)
            .map(|at| format!("- Check the answer number {at} of the service\n"))
            .collect();
        script
            .says(&format!("## Next steps\n{steps}"))
            .save(&world, ONE);
        world
            .reader(&["resume", "--json"])
            .run()
            .success()
            .cpu()
            .as_secs_f64()
    };
    let best = (0..5)
        .map(|_| cpu(4000) / cpu(2000))
        .fold(f64::MAX, f64::min);
    assert!(best < 3.0, "{best:.1} times as long");
}
