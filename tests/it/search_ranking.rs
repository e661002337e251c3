//! `session-reader search` finds what people remember: which sessions come first, which words may be missing or misspelt,
//! and what to try where nothing is found.

use serde_json::{Value, json};

use crate::support::script::Script;
use crate::support::world::{ONE, THREE, TWO, World};

const FOUR: &str = "44444444-0000-4000-8000-000000000000";

/// The sessions that a search finds, each with the words that it lacks; with and without the cache they are the same.
fn found(world: &World, args: &[&str]) -> Vec<String> {
    let search = |more: &[&str]| {
        let mut all: Vec<String> = Vec::new();
        for hit in world
            .reader(&[&["search", "--json"], args, more].concat())
            .run()
            .json()
        {
            let missing = hit["missing"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let missing: String = missing.map(|word| format!(" -{word}")).collect();
            let session = format!(
                "{}{missing}",
                &hit["handle"].as_str().expect("a handle")[..1]
            );
            if !all.contains(&session) {
                all.push(session);
            }
        }
        all
    };
    let sessions = search(&[]);
    assert_eq!(
        search(&["--no-cache"]),
        sessions,
        "{args:?} without the cache"
    );
    assert_eq!(search(&[]), sessions, "{args:?} from the cache");
    sessions
}

/// A world with a session for each text, the first the newest.
fn says(texts: &[&str]) -> World {
    let world = World::new();
    for (text, (id, ago)) in texts
        .iter()
        .zip([ONE, TWO, THREE, FOUR].into_iter().zip(1..))
    {
        Script::of(&world)
            .ago(ago)
            .user(text)
            .says("Done.")
            .save(&world, id);
    }
    world
}

/// Sessions with all words come first. The others follow, those with the rarer words before those with common ones.
#[test]
fn not_every_word_has_to_be_there() {
    let world = says(&[
        "The webhook fails.",
        "The webhook is slow.",
        "A deadlock in the webhook worker.",
        "Some worker has a deadlock.",
    ]);
    assert_eq!(
        found(&world, &["webhook", "deadlock"]),
        ["3", "4 -webhook", "1 -deadlock", "2 -deadlock"]
    );
    assert_eq!(
        found(&world, &["webhook", "deadlock", "worker"]),
        ["3", "4 -webhook"]
    );
    assert_eq!(
        found(&world, &["webhook", "qqqqqqq"]),
        ["1 -qqqqqqq", "2 -qqqqqqq", "3 -qqqqqqq"]
    );
}

/// What a session is about counts for more than a word in passing; of two that are worth the same, the newer comes first.
#[test]
fn the_session_about_it_comes_first() {
    let world = World::new();
    let chat = |script: Script| {
        (0..8).fold(script, |script, step| {
            script.user(&format!("Step {step}.")).says("Done.")
        })
    };
    chat(Script::of(&world).ago(1).user("Paint the shed."))
        .says("The migration can wait.")
        .user("Go on.")
        .save(&world, ONE);
    chat(
        Script::of(&world)
            .ago(2)
            .user("The migration locks the table."),
    )
    .says("The migration is online now.")
    .save(&world, TWO);
    chat(
        Script::of(&world)
            .ago(3)
            .user("The migration locks the table."),
    )
    .says("The migration is online now.")
    .save(&world, THREE);
    assert_eq!(found(&world, &["migration"]), ["2", "3", "1"]);
}

#[test]
fn a_word_is_found_in_its_other_forms() {
    for (word, text) in [
        ("retries", "Why does it retry?"),
        ("retry", "It retries for ever."),
        ("migrations", "Migrate the table."),
        ("configure", "The configuration is wrong."),
        ("deadlocks", "A deadlock."),
        ("caching", "Where is the cache?"),
        ("rechnungen", "Die Rechnung fehlt."),
        ("ведущих", "Ведущие нули"),
        ("parsing", "parse_empty_input"),
    ] {
        assert_eq!(found(&says(&[text]), &[word]), ["1"], "{word} in {text}");
    }
    for (word, text) in [
        ("retry", "Retrieve it."),
        ("delete", "Delegate it."),
        ("cat", "A category."),
        ("src/retries", "src/retry"),
    ] {
        let (world, args) = (says(&[text]), ["-w", word]);
        assert_eq!(
            found(&world, &args),
            [""; 0],
            "{word} as a whole word in {text}"
        );
        if word != "cat" {
            assert_eq!(found(&world, &[word]), [""; 0], "{word} in {text}");
        }
    }
    // The word as it is comes first.
    assert_eq!(
        found(&says(&["It retries.", "Let it retry."]), &["retry"]),
        ["2", "1"]
    );
    // It is marked where it stands.
    let shown = says(&["It retries for ever."])
        .reader(&["search", "retry", "--color", "always"])
        .run()
        .success();
    assert!(
        shown.out().contains("\u{1b}[33m\u{1b}[1mretries\u{1b}[0m")
            || shown.out().contains("retries\u{1b}["),
        "{}",
        shown.out()
    );
}

#[test]
fn parts_of_an_identifier_are_found() {
    let world = says(&[
        "Look at parseEmptyInput.",
        "fn parse_empty_input() {}",
        "Parse an empty input.",
        "src/parse/mod.rs",
    ]);
    assert_eq!(
        found(&world, &["parse", "empty", "input"])[..3],
        ["1", "2", "3"]
    );
    assert_eq!(found(&world, &["parseEmptyInput"]), ["1"]);
    // An identifier that nobody wrote is looked for by its parts.
    let done = world
        .reader(&["search", "emptyInputParse", "--json", "--limit", "1"])
        .run()
        .status(0);
    done.stderr(
        "session-reader: no session says \"emptyInputParse\"; showing \"empty input parse\"\n",
    );
}

#[test]
fn a_phrase_must_be_there_as_it_is() {
    let world = says(&[
        "The rate limit is low.",
        "A limit of the rate.",
        "Which rate limit do you limit?",
    ]);
    assert_eq!(found(&world, &["rate limit"]), ["1", "3"]);
    assert_eq!(found(&world, &["rate limit", "low"]), ["1", "3 -low"]);
    assert_eq!(found(&world, &["rate limits"]), [""; 0]);
    assert_eq!(found(&world, &["rate limit", "which rate"]), ["3"]);
}

#[test]
fn a_word_that_nobody_says_is_corrected() {
    let world = says(&["Retrieve the invoice.", "Retrieve nothing.", "An invoice."]);
    let done = world
        .reader(&["search", "retreive", "invoice"])
        .run()
        .status(0);
    done.stderr("session-reader: no session says \"retreive\"; showing \"retrieve\"\n");
    assert_eq!(
        found(&world, &["retreive", "invoice"]),
        ["1", "2 -invoice", "3 -retreive"]
    );
    // With filters, too; and what somebody says elsewhere in the project is no mistake.
    assert_eq!(found(&world, &["retreive", "--role", "user"]), ["1", "2"]);
    assert_eq!(found(&world, &["done", "--role", "user"]), [""; 0]);
    let done = world
        .reader(&["search", "qqqqqqq", "invoice"])
        .run()
        .status(0);
    done.stderr("session-reader: no session says \"qqqqqqq\"\n");
}

/// Prompts come before answers, answers before calls, and what has more of the words before all that has fewer.
#[test]
fn the_best_hit_of_a_session_comes_first() {
    let world = World::new();
    Script::of(&world)
        .ago(9)
        .user("Build the lighthouse.")
        .does("Bash", json!({"command": "make lighthouse"}))
        .result(false, "made")
        .says("The lighthouse stands.")
        .says("The lamp of the lighthouse burns.")
        .user("Now paint it.")
        .save(&world, ONE);
    let lines = |args: &[&str]| {
        let hits = world
            .reader(&[&["search", "--json"], args].concat())
            .run()
            .success()
            .json();
        hits.iter()
            .map(|hit| hit["line"].as_u64().expect("a line"))
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&["lighthouse"]), [1, 6, 5, 2]);
    assert_eq!(lines(&["lighthouse", "lamp"]), [6]);
    assert_eq!(lines(&["lighthouse", "burns", "paint"]), [6, 7, 1, 5, 2]);
}

#[test]
fn missing_words_are_shown_with_the_hit() {
    let world = says(&[
        "The webhook retries for ever.",
        "The webhook is slow, and nobody knows why it takes so long to answer.",
        "Paint the shed.",
    ]);
    world.reader(&["search", "webhook", "retry"]).run().success().stdout(concat!(
        "11111111  claude  1m  The webhook retries for ever.\n",
        "     1  2026-11-16 02:59  user       The webhook retries for ever.\n",
        "  session-reader log 11111111 --at 1\n",
        "\n",
        "22222222  claude  2m  The webhook is slow, and nobody knows why it takes so long to answer.  (missing: retry)\n",
        "     1  2026-11-16 02:58  user       The webhook is slow, and nobody knows why it takes so long to answer.\n",
        "  session-reader log 22222222 --at 1\n",
    ));
    let narrow = world
        .reader(&["search", "webhook", "retry"])
        .env("COLUMNS", "60")
        .run()
        .success();
    assert!(
        narrow.out().lines().all(|line| line.chars().count() <= 60),
        "{}",
        narrow.out()
    );
    let none = "session-reader: 1 with only some of the words: --limit 2 shows all\n";
    world
        .reader(&["search", "webhook", "retry", "--limit", "1"])
        .run()
        .status(0)
        .stderr(none);
}

/// Each way to find more is a command that can be pasted.
#[test]
fn each_way_to_find_more_is_a_command() {
    let world = says(&["The webhook."]);
    for (id, ago) in [(TWO, 2), (THREE, 3)] {
        Script::new(world.path("elsewhere"))
            .ago(ago)
            .user("A heron's nest.")
            .save(&world, id);
    }
    let says = |args: &[&str], lines: &[&str]| {
        let done = world.reader(&[&["search"], args].concat()).run().status(1);
        assert_eq!(
            done.err(),
            format!("session-reader: {}\n", lines.join("\n"))
        );
    };
    let results = "to search what tools answered, too:";
    says(
        &["heron's", "--role", "user"],
        &[
            "no session in this project says \"heron's\"",
            "2 sessions elsewhere do:",
            r"  session-reader search 'heron'\''s' --all --role user",
            results,
            r"  session-reader search 'heron'\''s' --results --role user",
        ],
    );
    says(
        &["qqqqqqq", "zzzzzzz"],
        &[
            "no session on this machine says any of these words",
            results,
            "  session-reader search qqqqqqq zzzzzzz --all --results",
        ],
    );
    says(
        &["qqqqqqq", "--all", "--results"],
        &["no session on this machine says \"qqqqqqq\""],
    );
    says(
        &["heron", "--results", "-C", "2"],
        &[
            "no session in this project says \"heron\"",
            "to search every session on this machine:",
            "  session-reader search heron --all --results -C 2",
        ],
    );
}
