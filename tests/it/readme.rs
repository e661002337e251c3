//! The README, the skill and the pages in `docs/` are true: every command shown in them prints what they say.

use std::path::Path;

use session_context::demo;

use crate::support::history::history;
use crate::support::run::Run;
use crate::support::times::NOW;
use crate::support::world::{World, testdata};

/// Where the examples of a page are run: a home with sessions in it, the directory, and the time it is there.
struct Scene {
    world: World,
    dir: &'static str,
    now: &'static str,
}

impl Scene {
    /// The README shows the project of `session-context demo`, as its picture does.
    fn shop() -> Scene {
        let world = World::new();
        demo::write(&world.path("")).expect("the sessions of the demo");
        Scene {
            world,
            dir: "shop",
            now: demo::NOW,
        }
    }

    /// The other pages show what real clients wrote.
    fn agents() -> Scene {
        let world = World::new();
        let cases = [
            "codex/tools-resume@0.166.0",
            "copilot/tools-resume@1.0.102",
            "gemini/tools-resume@0.61.0",
            "agent-sdk/tui",
        ];
        cases.iter().for_each(|case| world.install(case, ""));
        world.install("pi/volute@1.5.0/cwd", "work");
        Scene {
            world,
            dir: "work",
            now: NOW,
        }
    }

    /// It takes weeks to have a profile.
    fn history() -> Scene {
        Scene {
            world: history(),
            dir: "work",
            now: NOW,
        }
    }

    fn here(&self, run: Run) -> Run {
        run.dir(self.world.path(self.dir))
            .env("SESSION_MONITOR_NOW", self.now)
    }
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
                examples.push(Example {
                    command: command.into(),
                    status: status.parse().expect("a status"),
                });
            }
        }
    }
    examples
}

/// A path in the README is relative to the repository, and may have `*` in it.
fn expanded(word: &str) -> String {
    let Some(below) = word.strip_prefix("testdata/") else {
        return word.into();
    };
    let mut path = testdata("");
    for part in below.split('/') {
        let (start, end) = part.split_once('*').unwrap_or((part, part));
        let fits = |name: &str| {
            if part.contains('*') {
                name.starts_with(start) && name.ends_with(end)
            } else {
                name == part
            }
        };
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

/// A file of this repository.
fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .expect("a file of the repository")
}

/// What is shown differs from what is printed. `UPDATE=1 cargo test readme` writes it anew.
fn compare(path: &str, printed: &str) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(path), printed).expect("written");
    } else {
        assert_eq!(
            file(path),
            printed,
            "{path} is out of date: UPDATE=1 cargo test readme"
        );
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

/// The pages in `docs/`.
fn pages() -> Vec<String> {
    let dir = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")).expect("docs");
    let names = dir.filter_map(|entry| entry.expect("an entry").file_name().into_string().ok());
    let mut pages: Vec<String> = names
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("docs/{name}"))
        .collect();
    pages.sort();
    pages
}

#[test]
fn every_example_prints_what_the_readme_says() {
    let (shop, agents, history) = (Scene::shop(), Scene::agents(), Scene::history());
    let check = |path: &str, scene: &Scene| {
        let text = file(path);
        let examples = examples(&text);
        let mut outputs = examples
            .iter()
            .map(|example| output(example, scene, &history));
        compare(path, &with_outputs(&text, &mut outputs));
        examples.len()
    };
    assert!(check("README.md", &shop) > 3);
    assert!(check("skills/sessions/SKILL.md", &agents) > 3);
    let shown: usize = pages().iter().map(|path| check(path, &agents)).sum();
    assert!(shown > 10, "{shown} examples in docs/");
}

/// What an example prints, on both streams.
fn output(example: &Example, scene: &Scene, history: &Scene) -> String {
    let words: Vec<String> = example.command.split_whitespace().map(expanded).collect();
    let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let run = match words[0].as_str() {
        "session-reader" if args.first() == Some(&"profile") => {
            history.here(history.world.reader(&args))
        }
        "session-reader" => scene.here(scene.world.reader(&args)),
        "session-context" => scene.here(scene.world.context(&args)),
        _ => panic!("an example that is not ours: {}", example.command),
    };
    let done = run.run().status(example.status);
    format!("{}{}", done.out(), done.err())
}

/// The picture on the first screen is what the demo prints.
#[test]
fn the_picture_shows_the_demo() {
    let demo = World::new().context(&["demo"]).run().success();
    compare(
        "docs/demo.svg",
        &picture("session-context demo", demo.out()),
    );
}

/// The picture of the monitor is a frame of its demo.
#[test]
fn the_picture_shows_the_monitor() {
    let frame = World::new()
        .reader(&["watch", "--once", "--demo"])
        .env("COLUMNS", "104")
        .run()
        .success();
    compare(
        "docs/watch.svg",
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
        start if start.starts_with("Failed") => "#ff7b72",
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
            let cut: usize = left
                .char_indices()
                .nth(WIDTH)
                .map_or(left.len(), |(at, _)| at);
            let at = left[..cut].rfind(' ').unwrap_or(cut);
            lines.push((colour(line), left[..at].to_owned()));
            left = format!("{indent}{}", left[at..].trim_start());
        }
        lines.push((colour(line), left));
    }
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let (width, height) = (WIDTH * 8 + 40, lines.len() * 20 + 60);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <circle cx=\"20\" cy=\"18\" r=\"6\" fill=\"#ff5f56\"/><circle cx=\"40\" cy=\"18\" r=\"6\" fill=\"#ffbd2e\"/>\
         <circle cx=\"60\" cy=\"18\" r=\"6\" fill=\"#27c93f\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\">\n"
    );
    for (index, (fill, line)) in lines
        .iter()
        .enumerate()
        .filter(|(_, (_, line))| !line.is_empty())
    {
        let y = index * 20 + 52;
        // Chromium keeps the blanks only if each text says so itself.
        let place = format!("x=\"20\" y=\"{y}\" fill=\"{fill}\" xml:space=\"preserve\"");
        svg += &format!("<text {place}>{}</text>\n", escape(line));
    }
    svg + "</g>\n</svg>\n"
}

/// 003-D19: the two commands of the set-up: `cargo test` is running, `cargo setup` must mean what the README says.
#[test]
fn cargo_setup_installs() {
    assert!(
        file("Cargo.toml").contains(r#"default-run = "session-context""#),
        "cargo run -- demo"
    );
    let config = file(".cargo/config.toml");
    assert!(
        config.contains(r#""--package", "xtask", "--", "setup"]"#),
        "{config}"
    );
    assert!(
        config.contains(r#""--package", "xtask", "--", "ratios"]"#),
        "{config}"
    );
    let readme = file("README.md");
    assert!(readme.contains("cargo setup") && readme.contains("cargo test"));
    assert!(readme.lines().count() <= 200, "the rest belongs into docs/");
    assert!(file("docs/speed.md").contains("cargo ratios"));
}

/// Every link to a file of this repository leads to one, and to a heading in it, and every page is linked in the README.
#[test]
fn every_link_leads_somewhere() {
    let mut linked = Vec::new();
    let files = [
        "README.md",
        "AGENTS.md",
        "CONTRIBUTING.md",
        "formats/README.md",
    ]
    .map(String::from);
    for path in files.into_iter().chain(pages()) {
        let text = file(&path);
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if link.contains("://") {
                continue;
            }
            let (target, heading) = link.split_once('#').unwrap_or((link, ""));
            let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(&path);
            let target = if target.is_empty() {
                page
            } else {
                page.with_file_name(target)
            };
            assert!(target.exists(), "{path}: {link}");
            let anchor = |line: &str| -> String {
                let kept = line
                    .trim_start_matches('#')
                    .trim()
                    .to_lowercase()
                    .replace(' ', "-");
                kept.chars()
                    .filter(|char| char.is_alphanumeric() || "-_".contains(*char))
                    .collect()
            };
            let has = |text: String| {
                text.lines()
                    .any(|line| line.starts_with('#') && anchor(line) == heading)
            };
            assert!(
                heading.is_empty() || has(std::fs::read_to_string(&target).expect("a page")),
                "{path}: {link}"
            );
            linked.extend((path == "README.md").then(|| link.to_owned()));
        }
    }
    pages()
        .iter()
        .for_each(|page| assert!(linked.contains(page), "{page} is not linked in the README"));
}

/// Every path that the pages for contributors name is there, so that nobody looks for a file that moved.
#[test]
fn every_path_that_contributors_read_is_there() {
    for page in [
        "AGENTS.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "formats/README.md",
    ] {
        let text = file(page);
        let quoted = text.split('`').skip(1).step_by(2);
        for path in
            quoted.filter(|path| path.starts_with("src/") && !path.contains(['{', ' ', '"']))
        {
            assert!(
                Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists(),
                "{page}: {path}"
            );
        }
    }
}
