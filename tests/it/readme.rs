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
}

/// The examples of all `console` blocks: `$ command`, perhaps `# exits with N` after it, then what it prints.
fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap_or_default().lines() {
            if let Some(line) = line.strip_prefix("$ ") {
                let (command, status) = line.split_once("  # exits with ").unwrap_or((line, "0"));
                examples.push(Example { command: command.into(), status: status.parse().expect("a status") });
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

/// What is shown differs from what is printed. `UPDATE=1 cargo test readme` writes it anew.
fn compare(path: &str, shown: &str, printed: &str) {
    if std::env::var_os("UPDATE").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        std::fs::write(path, printed).expect("written");
    } else {
        assert_eq!(shown, printed, "{path} is out of date: UPDATE=1 cargo test readme");
    }
}

/// A text with the output of each example as it is printed now.
fn with_outputs(text: &str, outputs: &mut dyn Iterator<Item = String>) -> String {
    let mut out = String::new();
    let mut in_example = false;
    for line in text.lines() {
        in_example &= !line.starts_with("```");
        if !in_example || line.starts_with("$ ") {
            out += &format!("{line}\n");
        }
        in_example |= line == "```console";
        if in_example && line.starts_with("$ ") {
            out += &outputs.next().expect("an output for each example");
        }
    }
    out
}

#[test]
fn every_example_prints_what_the_readme_says() {
    let (world, history) = (world(), history());
    let texts = [
        ("README.md", include_str!("../../README.md")),
        ("skills/sessions/SKILL.md", include_str!("../../skills/sessions/SKILL.md")),
    ];
    for (path, text) in texts {
        let examples = examples(text);
        assert!(examples.len() > 3, "there are examples in {path}");
        let mut outputs = examples.iter().map(|example| output(example, &world, &history));
        compare(path, text, &with_outputs(text, &mut outputs));
    }
}

/// What an example prints, on both streams.
fn output(example: &Example, world: &World, history: &World) -> String {
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
    format!("{}{}", done.out(), done.err())
}

/// The picture on the first screen is what the demo prints.
#[test]
fn the_picture_shows_the_demo() {
    let demo = World::new().context(&["demo"]).run().success();
    compare("docs/demo.svg", include_str!("../../docs/demo.svg"), &picture("session-context demo", demo.out()));
}

/// The picture of the monitor is a frame of its demo.
#[test]
fn the_picture_shows_the_monitor() {
    let frame = World::new().reader(&["watch", "--once", "--demo"]).env("COLUMNS", "104").run().success();
    compare(
        "docs/watch.svg",
        include_str!("../../docs/watch.svg"),
        &picture("session-reader watch --demo", frame.out()),
    );
}

/// A terminal with a command and its output in it.
fn picture(command: &str, text: &str) -> String {
    const WIDTH: usize = 110;
    let colour = |line: &str| match line.trim_start() {
        start if start.starts_with("$ ") => "#7ee787",
        start if start.starts_with("- !") => "#ffa657",
        start if start.starts_with("Needs you") || start.starts_with('▌') => "#ffa657",
        start if start.starts_with("Working") => "#79c0ff",
        start if start.starts_with("Recent") => "#7ee787",
        start if start.starts_with("Earlier") || start.starts_with('─') => "#8b949e",
        start if start.starts_with("[Session") => "#8b949e",
        start if start.starts_with("- ") => "#79c0ff",
        _ => "#c9d1d9",
    };
    let mut lines: Vec<(&str, String)> = Vec::new();
    let prompt = format!("$ {command}");
    for line in [&*prompt].into_iter().chain(text.lines()) {
        let indent = " ".repeat(line.len() - line.trim_start().len() + 2);
        let mut left = line.to_owned();
        while left.chars().count() > WIDTH {
            let cut: usize = left.char_indices().nth(WIDTH).map_or(left.len(), |(at, _)| at);
            let at = left[..cut].rfind(' ').unwrap_or(cut);
            lines.push((colour(line), left[..at].to_owned()));
            left = format!("{indent}{}", left[at..].trim_start());
        }
        lines.push((colour(line), left));
    }
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (width, height) = (WIDTH * 8 + 40, lines.len() * 20 + 60);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <circle cx=\"20\" cy=\"18\" r=\"6\" fill=\"#ff5f56\"/><circle cx=\"40\" cy=\"18\" r=\"6\" fill=\"#ffbd2e\"/>\
         <circle cx=\"60\" cy=\"18\" r=\"6\" fill=\"#27c93f\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\" xml:space=\"preserve\">\n"
    );
    for (index, (fill, line)) in lines.iter().enumerate().filter(|(_, (_, line))| !line.is_empty()) {
        let y = index * 20 + 52;
        svg += &format!("<text x=\"20\" y=\"{y}\" fill=\"{fill}\">{}</text>\n", escape(line));
    }
    svg + "</g>\n</svg>\n"
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
