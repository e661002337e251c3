//! The README is true: every command shown in it prints what it says.

use crate::profile::history;
use crate::world::{World, testdata};

/// The world that the README's examples live in.
fn world() -> World {
    let world = World::new();
    for case in
        ["codex/tools-resume@0.166.0", "copilot/tools-resume@1.0.102", "gemini/tools-resume@0.61.0", "agent-sdk/tui"]
    {
        world.install(case, "");
    }
    world.install("pi/volute@1.5.0/cwd", "work");
    world
}

struct Example {
    command: String,
    status: i32,
    output: String,
}

/// The examples of all `console` blocks: `$ command`, perhaps `# exits with N` after it, then what it prints.
fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap_or_default().lines() {
            match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(line), _) => {
                    let (command, status) = line.split_once("  # exits with ").unwrap_or((line, "0"));
                    let status = status.parse().expect("a status");
                    examples.push(Example { command: command.into(), status, output: String::new() });
                }
                (None, Some(example)) => example.output += &format!("{line}\n"),
                (None, None) => panic!("output before any command: {line}"),
            }
        }
    }
    examples
}

/// A path in the README is relative to the repository, and may have `*` in it.
fn expanded(word: &str) -> String {
    let Some(below) = word.strip_prefix("testdata/") else { return word.into() };
    let mut path = testdata("");
    for part in below.split('/') {
        let (start, end) = part.split_once('*').unwrap_or((part, part));
        let fits =
            |name: &str| if part.contains('*') { name.starts_with(start) && name.ends_with(end) } else { name == part };
        let names = std::fs::read_dir(&path)
            .expect("a directory")
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        let mut fitting: Vec<String> = names.filter(|name| fits(name)).collect();
        assert_eq!(fitting.len(), 1, "{part} in {}", path.display());
        path.push(fitting.remove(0));
    }
    path.to_str().expect("UTF-8").into()
}

#[test]
fn every_example_prints_what_the_readme_says() {
    let (world, history) = (world(), history());
    let examples = [include_str!("../../README.md"), include_str!("../../skills/sessions/SKILL.md")].map(examples);
    assert!(examples[0].len() > 8 && examples[1].len() > 3, "there are examples");
    for example in examples.iter().flatten() {
        let command = example.command.replace("cargo run --release --", "session-context");
        let words: Vec<String> = command.split_whitespace().map(expanded).collect();
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let run = match words[0].as_str() {
            // It takes weeks to have a profile.
            "session-reader" if args.first() == Some(&"profile") => history.reader(&args),
            "session-reader" => world.reader(&args),
            "session-context" => world.context(&args),
            _ => panic!("an example that is not ours: {command}"),
        };
        let done = run.run().status(example.status);
        assert_eq!(format!("{}{}", done.out(), done.err()), example.output, "$ {}", example.command);
    }
}

/// The two commands of the set-up: `cargo test` is running, `cargo setup` must mean what the README says.
#[test]
fn cargo_setup_installs() {
    let manifest = include_str!("../../Cargo.toml");
    assert!(manifest.contains(r#"default-run = "session-context""#), "cargo run -- demo");
    let config = include_str!("../../.cargo/config.toml");
    assert!(config.contains(r#"setup = ["install", "--path", ".","#), "{config}");
    let readme = include_str!("../../README.md");
    assert!(readme.contains("cargo setup") && readme.contains("cargo test") && readme.contains("cargo ratios"));
    assert!(config.contains(r#"ratios = ["bench", "--bench", "ratios","#), "{config}");
}
