//! No secret reaches a prompt or is kept in our own files, in whatever place of a session it stands.
//!
//! What counts as a secret is for `secrets.rs` and the unit tests; here it is planted in every place that a line is made
//! from, also where a text is cut.

use std::collections::HashSet;
use std::fs;

use serde_json::{Value, json};
use session_core::secrets::redact;

use crate::scene::Chance;
use crate::support::claude::{answer, call, prompt, runs, with};
use crate::support::hook::{input, statusline};
use crate::support::secrets::{comes_through, corpus};
use crate::support::strangers::{Place, Strangers, escaped};
use crate::support::times::ago;
use crate::support::world::{ME, ONE, TWO, World};

/// A secret: what stands before it, itself, and what stands after it.
type Secret = (&'static str, String, &'static str);

fn secrets() -> Vec<Secret> {
    let mut chance = Chance::new(4);
    let mut some = |length: usize, alphabet: &str| -> String {
        let alphabet = alphabet.as_bytes();
        // A letter, a capital and a digit at least, as in any that is random.
        let start = ["q", "Q", "7"]
            .into_iter()
            .filter(|char| alphabet.contains(&char.as_bytes()[0]));
        let rest = (0..length).map(|_| alphabet[chance.below(alphabet.len())] as char);
        start
            .collect::<String>()
            .chars()
            .chain(rest)
            .take(length)
            .collect()
    };
    const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut all: Vec<Secret> = vec![
        (
            "sk-ant-api03-",
            some(93, WORD) + "-" + &some(6, WORD) + "AA",
            "",
        ),
        ("sk-ant-oat01-", some(40, WORD), ""),
        ("sk-", some(48, WORD), ""),
        ("sk-proj-", some(60, WORD), ""),
        ("AKIA", some(16, CAPITALS), ""),
        ("ASIA", some(16, CAPITALS), ""),
        ("github_pat_", some(22, WORD) + "_" + &some(59, WORD), ""),
        ("glpat-", some(20, WORD), ""),
        ("xapp-1-A0123456789-0123456789012-", some(64, WORD), ""),
        ("AIza", some(35, WORD), ""),
        (
            "",
            format!(
                "eyJ{}.eyJ{}.{}",
                some(30, WORD),
                some(60, WORD),
                some(43, WORD)
            ),
            "",
        ),
        (
            "https://x-access-token:",
            some(36, WORD),
            "@github.com/a/b.git",
        ),
        (
            "postgres://admin:",
            some(12, WORD),
            "@db.example.com:5432/main",
        ),
        ("redis://:", some(12, WORD), "@cache:6379/0"),
        (
            "mongodb+srv://u:",
            some(10, WORD),
            "@cluster0.example.net/?w=1",
        ),
        ("PASSWORD=", some(14, WORD), ""),
        ("DB_PASSWORD='", some(14, WORD), "'"),
        ("{\"password\": \"", some(14, WORD), "\"}"),
        ("password: ", some(14, WORD), ""),
        ("export API_KEY=", some(24, WORD), "; make deploy"),
        ("export GITHUB_TOKEN=\"", some(24, WORD), "\" && make"),
        ("AWS_SECRET_ACCESS_KEY=", some(40, WORD), ""),
        ("client_secret=", some(24, WORD), "&grant_type=x"),
        (
            "curl -H \"Authorization: Bearer ",
            some(32, WORD),
            "\" https://x",
        ),
        ("curl -H 'X-Api-Key: ", some(24, WORD), "'"),
        ("mysql --password=", some(12, WORD), " -u root"),
        ("curl -u admin:", some(12, WORD), " https://x"),
        (
            "https://hooks.slack.com/services/T00000000/B00000000/",
            some(24, WORD),
            "",
        ),
    ];
    for start in ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"] {
        all.push((start, some(36, WORD), ""));
    }
    for start in ["xoxb-", "xoxp-", "xoxa-", "xoxs-", "xoxr-", "xoxe-"] {
        all.push((start, some(36, WORD), ""));
    }
    for (begin, end) in [
        (
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "\n-----END RSA PRIVATE KEY-----",
        ),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\n",
            "\n-----END OPENSSH PRIVATE KEY-----",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\n",
            "\n-----END PRIVATE KEY-----",
        ),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----\n", ""),
    ] {
        let lines: Vec<String> = (0..6).map(|_| some(64, WORD)).collect();
        all.push((begin, lines.join("\n"), end));
    }
    all
}

/// Asserts that no six characters of a secret stand somewhere.
#[track_caller]
fn assert_absent(secrets: &[Secret], place: &str, text: &str) {
    let text = text.replace("\\n", " ");
    let pieces: HashSet<&str> = text
        .char_indices()
        .filter_map(|(at, _)| text.get(at..at + 6))
        .collect();
    for (before, body, _) in secrets {
        let found = body
            .as_bytes()
            .windows(6)
            .find(|piece| std::str::from_utf8(piece).is_ok_and(|piece| pieces.contains(piece)));
        let shown = found.map(|piece| {
            let piece = String::from_utf8_lossy(piece).into_owned();
            text.lines()
                .find(|line| line.contains(&piece))
                .unwrap_or_default()
                .chars()
                .take(600)
                .collect::<String>()
        });
        assert!(
            shown.is_none(),
            "{place} has a piece of {before}{body}: {}",
            shown.unwrap_or_default()
        );
    }
}

/// Plants the same secrets in many ways, runs everything, and looks at all that was said. What is kept is left to check.
fn keep(secrets: &[Secret], place: Place, ways: &[fn(&Secret) -> Vec<String>]) -> String {
    let mut strangers = Strangers::new(false);
    for way in ways {
        for text in secrets.iter().flat_map(way) {
            strangers.plant(place, &escaped(&text));
        }
    }
    let explained = strangers.explain();
    assert_absent(secrets, "explain", &explained);
    strangers.tell_all(&["--budget", "9000"]);
    assert_absent(secrets, "what is said", &strangers.said);
    assert!(
        strangers.said.contains("[redacted]") || matches!(place, Place::Command | Place::Check)
    );
    let kept =
        |path| String::from_utf8_lossy(&fs::read(path).expect("a file of our own")).into_owned();
    let [cursors, journal] = strangers.kept().map(kept);
    assert_absent(secrets, "the journal", &journal);
    cursors
}

/// The same, with what is kept.
fn hide(secrets: &[Secret], place: Place, ways: &[fn(&Secret) -> Vec<String>]) {
    assert_absent(secrets, "the cursor file", &keep(secrets, place, ways));
}

fn whole((before, body, after): &Secret) -> String {
    format!("{before}{body}{after}")
}

/// At the beginning, in the middle, at the end.
fn around(secret: &Secret) -> Vec<String> {
    let whole = whole(secret);
    vec![
        whole.clone(),
        format!("{whole} is what we use now"),
        format!("please use {whole} for the deploy"),
        format!("the key is {whole}"),
    ]
}

/// So that the cut goes through it.
fn across(secret: &Secret) -> Vec<String> {
    let pad = "lorem ipsum dolor sit amet consetetur ".repeat(4);
    (40..=100)
        .step_by(3)
        .map(|length| format!("{} {}", &pad[..length], whole(secret)))
        .collect()
}

#[test]
fn secrets_in_what_was_said_are_hidden() {
    let secrets = secrets();
    hide(&secrets, Place::Prompt, &[around, across]);
    hide(&secrets, Place::Then, &[around]);
    hide(&secrets, Place::Answer, &[around]);
}

/// What somebody pasted is not quoted; what is left of it must not be the part of a secret that nothing tells from a word.
#[test]
fn secrets_that_are_half_pasted_are_hidden() {
    fn encrypted(secret: &Secret) -> Vec<String> {
        let (begin, body, end) = secret;
        vec![format!(
            "this is my key\n{begin}Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n{body}{end}"
        )]
    }
    let keys: Vec<Secret> = secrets()
        .into_iter()
        .filter(|(begin, ..)| begin.ends_with("KEY-----\n"))
        .collect();
    hide(&keys, Place::Prompt, &[encrypted]);
}

#[test]
fn secrets_in_commands_are_hidden() {
    let mut secrets = secrets();
    secrets.push((
        "K=",
        "Qz7vWx2LmN9pRt4Y".into(),
        "; curl -H \"X: $K\" https://x",
    ));
    hide(&secrets, Place::Command, &[around]);
    hide(&secrets, Place::OpenCommand, &[around]);
    hide(&secrets, Place::Check, &[around]);
}

/// With something in it that does not show.
#[test]
fn secrets_with_something_invisible_in_them_are_hidden() {
    fn laced(secret: &Secret) -> Vec<String> {
        let lace = |with: &str| {
            let body: Vec<char> = whole(secret).chars().collect();
            body.chunks(5)
                .map(|part| part.iter().collect::<String>())
                .collect::<Vec<_>>()
                .join(with)
        };
        [
            "\u{200b}",
            "\u{ad}",
            "\u{1b}[0m",
            "\u{202e}",
            "\u{fe0f}",
            "\u{e0041}",
            "\0",
            "\u{8}",
            "\u{1b}]8;;x\u{7}",
        ]
        .map(lace)
        .to_vec()
    }
    hide(&secrets(), Place::Prompt, &[laced]);
}

fn file_names(secret: &Secret) -> Vec<String> {
    let whole = whole(secret);
    let deep = "deep/er/".repeat(6);
    vec![
        whole.clone(),
        format!("{whole}.txt"),
        format!("backup.{whole}.env"),
        format!("dir/{whole}/main.rs"),
        format!("{deep}{whole}"),
        format!("{whole}/{deep}x.rs"),
        format!("{whole}/a-long-name-for-a-file-so-that-it-is-cut.rs"),
        format!("{whole}/a-very-long-name-for-a-file-so-that-the-rest-is-cut-of.rs"),
    ]
}

#[test]
fn secrets_in_file_names_are_hidden() {
    let mut secrets = secrets();
    // A path has no empty parts, so there is no address in it, and a key has lines.
    secrets.retain(|(before, ..)| !before.contains("://") && !before.contains('\n'));
    hide(&secrets, Place::File, &[file_names]);
    hide(&secrets, Place::OpenFile, &[file_names]);
    hide(&secrets, Place::Conflict, &[file_names]);
}

fn titles(secret: &Secret) -> Vec<String> {
    let whole = whole(secret);
    let short = |text: String| text.chars().take(40).collect();
    vec![
        whole.clone(),
        format!("key {whole}"),
        short(format!("use {whole}")),
    ]
}

/// A title that was cut within a key has no key in it any more: only those that fit.
fn short_secrets() -> Vec<Secret> {
    secrets()
        .into_iter()
        .filter(|secret| whole(secret).len() <= 36)
        .collect()
}

#[test]
fn secrets_in_titles_are_hidden() {
    keep(&short_secrets(), Place::Title, &[titles]);
    keep(&short_secrets(), Place::AgentTitle, &[titles]);
}

#[test]
fn secrets_in_titles_are_not_kept() {
    hide(&short_secrets(), Place::Title, &[titles]);
    hide(&short_secrets(), Place::AgentTitle, &[titles]);
}

#[test]
fn secrets_after_a_hyphen_are_hidden() {
    fn joined(secret: &Secret) -> Vec<String> {
        ["backup-", "backup_", "see backup-"]
            .map(|before| format!("{before}{} now", whole(secret)))
            .to_vec()
    }
    hide(&secrets(), Place::Prompt, &[joined]);
}

/// A text is cut before it is looked at; a secret there must not be cut so that it is no longer known. Of a long text the
/// beginning and the end are kept.
#[test]
fn secrets_at_the_end_of_what_is_kept_are_hidden() {
    for fill in [" ", "\u{200b}"] {
        let secrets = secrets();
        let mut strangers = Strangers::new(false);
        for (size, after) in [(8 << 10, 0), (64 << 10, 0), (4000, 4000), (8000, 1970)] {
            for secret in &secrets {
                for part in [6, 12] {
                    let before = size - secret.0.len() - part;
                    let text = fill.repeat(before / fill.len())
                        + &" ".repeat(before % fill.len())
                        + &whole(secret);
                    strangers.plant(
                        Place::Prompt,
                        &escaped(&format!("{text} end{}", " end".repeat(after / 4))),
                    );
                }
            }
        }
        strangers.tell_all(&["--budget", "9000"]);
        assert_absent(&secrets, "what is said", &strangers.said);
    }
}

/// Every sixth secret of the corpus, in every place of a session, through every program that shows one.
#[test]
fn no_place_shows_what_another_hides() {
    let secrets: Vec<String> = corpus("secrets")
        .into_iter()
        .filter(|row| !comes_through(row))
        .step_by(6)
        .collect();
    assert!(secrets.len() >= 60);
    let mut shown = Vec::new();
    for row in secrets {
        let text = row.replace(['⟦', '⟧'], "");
        let pieces = pieces(&row);
        let world = world_with(&text);
        let start = with(input(&world, ME), "hook_event_name", "SessionStart").to_string();
        let permission = json!({"session_id": ME, "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": text}});
        let redacted = |args: &[&str]| {
            world
                .reader(args)
                .env("SESSION_READER_REDACT", "on")
                .env("COLUMNS", "200")
                .run()
        };
        let said = [
            (
                "hook",
                world
                    .context(&[])
                    .stdin(input(&world, ME).to_string())
                    .run(),
            ),
            ("start", world.context(&[]).stdin(start).run()),
            (
                "status line",
                statusline(&world, &[]).env("COLUMNS", "400").run(),
            ),
            (
                "live",
                world
                    .context(&["live", "--agent", "codex"])
                    .stdin(permission.to_string())
                    .run(),
            ),
            ("list", redacted(&["list"])),
            ("list --json", redacted(&["list", "--json"])),
            ("log", redacted(&["log", ONE, "--full"])),
            ("log --json", redacted(&["log", ONE, "--json", "--full"])),
            ("resume", redacted(&["resume", ONE])),
            ("search", redacted(&["search", "together"])),
            ("find", redacted(&["find", "together", "--print"])),
            ("find --json", redacted(&["find", "together", "--json"])),
        ];
        let live = world.path(format!(".state/session-monitor/live/codex-{ME}.jsonl"));
        let live = fs::read_to_string(live).expect("a live file");
        let outputs = said
            .iter()
            .map(|(place, done)| (*place, done.out().to_owned()));
        let mut hiding = 0;
        for (place, output) in outputs.chain([("the live file", live)]) {
            hiding += usize::from(output.contains("[redacted]"));
            if let Some(piece) = pieces.iter().find(|piece| output.contains(piece.as_str())) {
                shown.push(format!("{place} shows {piece} of {text}:\n{output}"));
            }
        }
        assert!(hiding >= 8, "{text} is not everywhere");
    }
    assert!(
        shown.is_empty(),
        "{} times:\n{}",
        shown.len(),
        shown.join("\n")
    );
}

/// Six characters in a row of what is marked, but for those that stand elsewhere, too.
fn pieces(row: &str) -> Vec<String> {
    let rest = redact(&row.replace(['⟦', '⟧'], "")).into_owned();
    let marked = row
        .split('⟦')
        .skip(1)
        .filter_map(|part| part.split_once('⟧'));
    let pieces = marked.flat_map(|(secret, _)| {
        let chars: Vec<char> = secret.chars().collect();
        chars
            .windows(6)
            .map(|piece| piece.iter().collect::<String>())
            .collect::<Vec<_>>()
    });
    pieces
        .filter(|piece| !rest.contains(piece.as_str()))
        .collect()
}

/// A session with a text in its prompt, answer and command, and one with it in its title.
fn world_with(text: &str) -> World {
    let world = World::new();
    let cwd = world.path("work");
    let in_json = Value::from(text).to_string();
    let command = call(&ago(1), "c1", &in_json[1..in_json.len() - 1]);
    let asked = prompt(
        &cwd,
        &ago(4),
        &format!("why do these not work together?\n{text}"),
    );
    world.claude(
        ONE,
        &(asked + &answer(&cwd, &ago(3), &format!("It failed with this:\n{text}")) + &command),
    );
    let title = format!("{{\"type\":\"custom-title\",\"customTitle\":{in_json}}}\n");
    world.claude(
        TWO,
        &(title + &prompt(&cwd, &ago(5), "put it all together")),
    );
    runs(&world, ONE, "waiting", "permission prompt");
    world
}

/// What is kept of a long prompt for a list does not end within a secret.
#[test]
fn a_title_is_cut_after_secrets_are_hidden() {
    let secret = "Qz7vWx2LmN9pRt4Yk8Hs";
    for length in (80..125).step_by(4) {
        for text in [
            format!("ghp_{secret}"),
            format!("with {secret} as the password"),
        ] {
            let world = World::new();
            let pad = "deploy the shop again and again with all of its parts ".repeat(3);
            let asked = format!("{} {text} and tell me what happens then", &pad[..length]);
            world.claude(ONE, &prompt(&world.path("work"), &ago(4), &asked));
            let done = world
                .reader(&["list", "--json"])
                .env("SESSION_READER_REDACT", "on")
                .run();
            assert!(
                !done.out().contains(&secret[..4]),
                "{length}: {}",
                done.out()
            );
        }
    }
}
