//! Holds `src/` to the layers that `src/lib.rs` draws, and the files of a layer to the arrows that its `mod.rs` draws.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Each module with its layer. A module uses only layers below its own.
const LAYERS: [(&str, u8); 26] = [
    ("arena", 0),
    ("entry", 0),
    ("file", 0),
    ("dir", 0),
    ("hash", 0),
    ("boundary", 0),
    ("path", 0),
    ("secrets", 0),
    ("time", 0),
    ("budget", 0),
    ("cursor", 1),
    ("process", 0),
    ("env", 1),
    ("format", 1),
    ("decode", 2),
    ("progress", 2),
    ("settings", 2),
    ("state", 2),
    ("fold", 2),
    ("read", 3),
    ("session", 4),
    ("search", 5),
    ("show", 6),
    ("hook", 7),
    ("cmd", 8),
    ("bin", 9),
];

fn layer(module: &str) -> u8 {
    LAYERS.iter().find(|(name, _)| *name == module).unwrap_or_else(|| panic!("module {module} has no layer")).1
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).expect("src").flatten() {
        match entry.path() {
            path if path.is_dir() => all.extend(sources(&path)),
            path if path.extension().is_some_and(|end| end == "rs") => all.push(path),
            _ => {}
        }
    }
    all
}

#[test]
fn a_module_uses_only_layers_below_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for path in sources(&src) {
        let module = path
            .strip_prefix(&src)
            .expect("below src")
            .iter()
            .next()
            .and_then(|name| name.to_str())
            .expect("a name")
            .trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        for used in text.split("crate::").skip(1) {
            let used: String = used.chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '_').collect();
            // The model is one layer: its modules may use each other.
            let below = layer(&used) < layer(module) || layer(module) == 0 && layer(&used) == 0;
            if used != module && !below {
                wrong.push(format!("{} uses crate::{used}", path.display()));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The layers whose `mod.rs` draws which of its files may use which.
const DRAWN: [&str; 7] = ["format", "decode", "read", "session", "show", "hook", "cmd"];

/// Those of them whose files use each other in no circle.
const ACYCLIC: [&str; 5] = ["format", "decode", "read", "session", "show"];

/// A module whose files are held to the drawing at its head.
struct Module {
    dir: PathBuf,
    name: &'static str,
    head: String,
    submodules: BTreeSet<String>,
}

impl Module {
    fn read(name: &'static str) -> Module {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name);
        let head = std::fs::read_to_string(dir.join("mod.rs")).expect("mod.rs");
        let submodules = sources(&dir).iter().map(|path| submodule(&dir, path)).filter(|name| name != "mod").collect();
        Module { dir, name, head, submodules }
    }

    /// The arrows of the drawing: `a, b ──▶ c ──▶ d` says that a and b may use c, and c may use d.
    fn arrows(&self) -> Vec<(String, String)> {
        let head = self.head.lines().map_while(|line| line.strip_prefix("//!"));
        let drawing = head.skip_while(|line| line.trim() != "Which file uses which:").skip(1);
        let lines = drawing.skip_while(|line| !line.contains("```")).skip(1).take_while(|line| !line.contains("```"));
        let mut arrows = Vec::new();
        for line in lines {
            let groups: Vec<Vec<&str>> =
                line.split("──▶").map(|group| group.split(',').map(str::trim).collect()).collect();
            for pair in groups.windows(2) {
                for from in &pair[0] {
                    arrows.extend(pair[1].iter().map(|to| ((*from).to_owned(), (*to).to_owned())));
                }
            }
        }
        arrows
    }

    /// What each item that `mod.rs` hands on is defined in.
    fn handed_on(&self) -> HashMap<String, String> {
        let mut handed_on = HashMap::new();
        for line in self.head.split("pub use ").skip(1).filter_map(|rest| rest.split_once(';')) {
            if let Some((from, items)) = line.0.split_once("::").filter(|(from, _)| self.submodules.contains(*from)) {
                handed_on.extend(firsts(items).into_iter().map(|item| (item, from.to_owned())));
            }
        }
        handed_on
    }

    /// Which of its files uses which other.
    fn uses(&self) -> BTreeSet<(String, String)> {
        let handed_on = self.handed_on();
        let mut uses = BTreeSet::new();
        for path in sources(&self.dir) {
            let from = submodule(&self.dir, &path);
            let text = code(&path);
            let depth = path.strip_prefix(&self.dir).expect("below").components().count();
            let is_root = path.ends_with("mod.rs");
            let up = "super::".repeat(depth - usize::from(is_root));
            let by_super =
                text.match_indices(&up).filter(|(at, _)| !up.is_empty() && !text[..*at].ends_with("super::"));
            let crate_path = format!("crate::{}::", self.name);
            let all = by_super.chain(text.match_indices(&crate_path)).map(|(at, start)| &text[at + start.len()..]);
            for used in all.flat_map(firsts) {
                let to = handed_on.get(&used).unwrap_or(&used);
                if from != "mod" && from != *to && self.submodules.contains(to) {
                    uses.insert((from.clone(), to.clone()));
                }
            }
        }
        uses
    }
}

/// The file or directory of a module that a source file is in.
fn submodule(dir: &Path, path: &Path) -> String {
    let first = path.strip_prefix(dir).expect("below the module").iter().next().expect("a name");
    first.to_str().expect("UTF-8").trim_end_matches(".rs").to_owned()
}

/// A source file without its comments and its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a source file");
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first words of what a path goes on with: `a::b` has `a`, `{a::{b, c}, d}` has `a` and `d`.
fn firsts(path: &str) -> Vec<String> {
    let word = |text: &str| {
        text.trim_start().chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '_').collect::<String>()
    };
    let Some(group) = path.strip_prefix('{') else { return vec![word(path)] };
    let (mut depth, mut start, mut words) = (0, 0, Vec::new());
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                words.push(word(&group[start..at]));
                start = at + 1;
                if char == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Everything that the arrows lead to from a file.
fn reached<'a>(from: &'a str, arrows: &'a [(String, String)], reached_before: &mut BTreeSet<&'a str>) {
    for (_, to) in arrows.iter().filter(|(start, _)| start == from) {
        if reached_before.insert(to) {
            reached(to, arrows, reached_before);
        }
    }
}

#[test]
fn the_files_of_a_layer_use_each_other_as_its_head_draws() {
    let mut wrong = Vec::new();
    for module in DRAWN.map(Module::read) {
        let arrows = module.arrows();
        let drawn: BTreeSet<&String> = arrows.iter().flat_map(|(from, to)| [from, to]).collect();
        let unknown = drawn.into_iter().filter(|name| !module.submodules.contains(*name));
        wrong.extend(unknown.map(|name| format!("{}/mod.rs draws {name}, which is not there", module.name)));
        for (from, to) in module.uses() {
            let mut may_use = BTreeSet::new();
            reached(&from, &arrows, &mut may_use);
            if !may_use.contains(to.as_str()) {
                wrong.push(format!("{}/{from} uses {to}, which {}/mod.rs does not draw", module.name, module.name));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// In a circle of arrows every file may use every other one, so the test above could not fail there.
#[test]
fn no_arrows_lead_back() {
    for module in ACYCLIC.map(Module::read) {
        let arrows = module.arrows();
        for (from, _) in &arrows {
            let mut may_use = BTreeSet::new();
            reached(from, &arrows, &mut may_use);
            assert!(!may_use.contains(from.as_str()), "{}/mod.rs: the arrows from {from} lead back", module.name);
        }
    }
}

#[test]
fn paths_are_read_as_they_are_written() {
    let cases = [
        ("a::b;", vec!["a"]),
        ("Home;", vec!["Home"]),
        ("{self, a};", vec!["self", "a"]),
        ("{a::{b, c},\n    d as e};", vec!["a", "d"]),
    ];
    for (path, expected) in cases {
        assert_eq!(firsts(path), expected, "{path}");
    }
}

#[test]
fn only_env_asks_the_process_and_only_programs_print() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for path in sources(&src) {
        let below = path.strip_prefix(&src).expect("below src").display().to_string();
        let text = std::fs::read_to_string(&path).expect("a source file");
        let asks = ["std::env::", "SystemTime"].iter().any(|word| text.contains(word));
        let prints = ["println!", "print!(", "eprint"].iter().any(|word| text.contains(word));
        if (asks && below != "env.rs" && !below.starts_with("bin/")) || (prints && !below.starts_with("bin/")) {
            wrong.push(below);
        }
    }
    assert_eq!(wrong, [""; 0]);
}
