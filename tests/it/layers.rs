//! Holds each crate to the layers or arrows that its `lib.rs` draws, and the files of a module to the arrows in its `mod.rs`. That
//! a crate uses only those below it, the compiler sees to.
//!
//! The arrows say it all: a file uses another one only where an arrow leads from one to the other directly, and arrows
//! lead round in no circle. A method is a use as well: who calls it uses the file whose `impl` block has it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::source::{Source, code, sources};

/// The crates that are checked, each with its directory.
const CRATES: [(&str, &str); 4] = [
    ("session_format", "src/format"),
    ("session_core", "src/core"),
    ("session_context", "src/context"),
    ("session_reader", "src/reader"),
];

/// Each module of the two lower crates with its layer. A module uses only layers below its own.
const LAYERS: [(&str, u8); 27] = [
    ("boundary", 0),
    ("budget", 0),
    ("entry", 0),
    ("hash", 0),
    ("path", 0),
    ("time", 0),
    ("cursor", 1),
    ("format", 1),
    ("decode", 2),
    // The crate above.
    ("arena", 0),
    ("dir", 0),
    ("file", 0),
    ("process", 0),
    ("secrets", 0),
    ("env", 1),
    ("formats", 1),
    ("fold", 2),
    ("progress", 2),
    ("settings", 2),
    ("state", 2),
    ("parallel", 3),
    ("read", 3),
    ("session", 4),
    ("search", 5),
    ("ask", 6),
    ("show", 7),
    ("stage", 8),
];

/// Modules whose `mod.rs` must draw which of its files uses which.
const DRAWN: [&str; 9] = [
    "format",
    "decode",
    "read",
    "session",
    "ask",
    "show",
    "hook",
    "session_context",
    "session_reader",
];

/// Files that use each other in a circle. This table must shrink: an entry that is no longer true fails.
const KNOWN_CYCLES: &[(&str, &[&str])] = &[
    ("fold", &["asked", "text"]),
    ("fold", &["code", "touched"]),
    ("install", &["hook", "site", "status"]),
    ("search", &["query", "rank"]),
    ("secrets", &["announced", "value"]),
    ("watch", &["keys", "model"]),
];

/// Uses that no arrow draws directly. This table must shrink: an entry that is no longer true fails.
const KNOWN_UNDRAWN: &[(&str, &str, &str)] = &[];

/// Arrows that no use stands behind. This table must shrink: an entry that is no longer true fails.
const KNOWN_UNUSED: &[(&str, &str, &str)] = &[];

type Arrows = BTreeSet<(String, String)>;

fn crates() -> Vec<(&'static str, PathBuf, Vec<Source>)> {
    let dir = |below: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(below);
    CRATES
        .iter()
        .map(|(name, below)| (*name, dir(below), sources(&dir(below))))
        .collect()
}

fn layer(module: &str) -> u8 {
    LAYERS
        .iter()
        .find(|(name, _)| *name == module)
        .unwrap_or_else(|| panic!("module {module} has no layer"))
        .1
}

#[test]
fn a_module_uses_only_layers_below_it() {
    let mut wrong = Vec::new();
    for (name, _, sources) in crates() {
        // A root that draws arrows is held to those.
        if !Module::new(&[], name, &sources).drawn().is_empty() {
            continue;
        }
        let modules: BTreeSet<&String> = sources
            .iter()
            .filter_map(|source| source.module.first())
            .collect();
        for source in &sources {
            let Some(module) = source.module.first() else {
                continue;
            };
            for used in source
                .paths()
                .iter()
                .filter_map(|path| path.first())
                .filter(|used| modules.contains(used))
            {
                // The model is one layer: its modules may use each other.
                let below = layer(used) < layer(module) || layer(module) == 0 && layer(used) == 0;
                if used != module && !below {
                    wrong.push(format!("{} uses {used}", source.path.display()));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The files of a module and how they use each other.
struct Module<'s> {
    /// Its path below the crate's root, which is a module as well.
    path: &'s [String],
    name: &'s str,
    /// What stands at the head of its `mod.rs`, or of the crate's root.
    head: &'s str,
    sources: Vec<&'s Source>,
    parts: BTreeSet<&'s str>,
}

impl<'s> Module<'s> {
    /// The root of a crate, if it draws arrows, and its modules that have more than one file.
    fn all(name: &'s str, sources: &'s [Source]) -> Vec<Module<'s>> {
        let root = Module::new(&[], name, sources);
        let modules = root.parts.iter().filter_map(|part| {
            let path = sources
                .iter()
                .map(|source| &source.module)
                .find(|path| path.first().is_some_and(|one| one == part))?;
            Some(Module::new(&path[..1], part, sources))
        });
        let modules: Vec<_> = modules.filter(|module| !module.parts.is_empty()).collect();
        std::iter::once(root)
            .filter(|root| !root.drawn().is_empty())
            .chain(modules)
            .collect()
    }

    fn new(path: &'s [String], name: &'s str, all: &'s [Source]) -> Module<'s> {
        let sources: Vec<&Source> = all
            .iter()
            .filter(|source| source.module.starts_with(path))
            .collect();
        let head = sources
            .iter()
            .find(|source| source.module == path)
            .map_or("", |source| &source.text);
        let parts = sources
            .iter()
            .filter_map(|source| source.part(path))
            .collect();
        Module {
            path,
            name,
            head,
            sources,
            parts,
        }
    }

    /// The arrows of the drawing: `a, b ──▶ c ──▶ d` says that a and b use c, and c uses d.
    fn drawn(&self) -> Arrows {
        let head = self.head.lines().map_while(|line| line.strip_prefix("//!"));
        let drawing = head
            .skip_while(|line| line.trim() != "Which file uses which:")
            .skip(1);
        let lines = drawing
            .skip_while(|line| !line.contains("```"))
            .skip(1)
            .take_while(|line| !line.contains("```"));
        let mut arrows = Arrows::new();
        for line in lines {
            let groups: Vec<Vec<&str>> = line
                .split("──▶")
                .map(|group| group.split(',').map(str::trim).collect())
                .collect();
            for pair in groups.windows(2) {
                for from in &pair[0] {
                    arrows.extend(
                        pair[1]
                            .iter()
                            .map(|to| ((*from).to_owned(), (*to).to_owned())),
                    );
                }
            }
        }
        arrows
    }

    /// Which of its files uses which other. What `mod.rs` itself uses is free: it holds them together.
    fn uses(&self) -> Arrows {
        let mut uses = self.uses_by_path();
        uses.extend(self.uses_by_method());
        uses.retain(|(from, to)| from != to);
        uses
    }

    fn uses_by_path(&self) -> Arrows {
        let handed_on = self.handed_on();
        let mut uses = Arrows::new();
        for source in &self.sources {
            let Some(from) = source.part(self.path) else {
                continue;
            };
            for path in source.paths() {
                let Some([used, ..]) = path.strip_prefix(self.path) else {
                    continue;
                };
                let to = handed_on.get(used).unwrap_or(used);
                if self.parts.contains(to.as_str()) {
                    uses.insert((from.to_owned(), to.clone()));
                }
            }
        }
        uses
    }

    /// What each item that `mod.rs` hands on is defined in.
    fn handed_on(&self) -> BTreeMap<String, String> {
        let root = self
            .sources
            .iter()
            .filter(|source| source.module == self.path);
        let all = root.flat_map(|source| source.paths().into_iter().chain(own_paths(source)));
        let item = |path: Vec<String>| match path.strip_prefix(self.path)? {
            [from, item] if self.parts.contains(from.as_str()) => {
                Some((item.clone(), from.clone()))
            }
            _ => None,
        };
        all.filter_map(item).collect()
    }

    /// Calls of methods that another file adds to a type. Types are known by their names alone, so a call counts in a file
    /// that names the type, and only if the type is defined elsewhere: who uses the file of a type names its path.
    fn uses_by_method(&self) -> Arrows {
        let mut uses = Arrows::new();
        let callers: Vec<_> = self
            .sources
            .iter()
            .filter_map(|source| Some((source.part(self.path)?, source.names(), source.calls())))
            .collect();
        for definer in &self.sources {
            let Some(to) = definer.part(self.path) else {
                continue;
            };
            for (subject, methods) in definer
                .methods()
                .into_iter()
                .filter(|(subject, _)| !definer.defines(subject))
            {
                let is_called = |(_, names, calls): &&(&str, BTreeSet<&str>, BTreeSet<&str>)| {
                    names.contains(subject.as_str())
                        && methods.iter().any(|method| calls.contains(method.as_str()))
                };
                let users = callers.iter().filter(is_called);
                uses.extend(users.map(|(from, ..)| ((*from).to_owned(), to.to_owned())));
            }
        }
        uses
    }
}

/// The paths that a `mod.rs` names without `self::`: `pub use ask::Ask`.
fn own_paths(source: &Source) -> Vec<Vec<String>> {
    let text: String = source
        .code
        .split("pub use ")
        .skip(1)
        .map(|rest| format!("use self::{rest}\n"))
        .collect();
    let only_uses = Source {
        code: text,
        path: source.path.clone(),
        module: source.module.clone(),
        text: String::new(),
    };
    only_uses.paths().into_iter().collect()
}

/// The circles in some arrows: each the files that all lead to each other.
fn cycles(arrows: &Arrows) -> Vec<Vec<&str>> {
    let reached = |from: &str| {
        let (mut all, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(next) = open.pop() {
            let targets = arrows
                .iter()
                .filter(|(from, _)| *from == next)
                .map(|(_, to)| to.as_str());
            open.extend(
                targets
                    .filter(|to| all.insert(*to))
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            );
        }
        all
    };
    let names: BTreeSet<&str> = arrows.iter().map(|(from, _)| from.as_str()).collect();
    let all: BTreeMap<&str, BTreeSet<&str>> =
        names.iter().map(|name| (*name, reached(name))).collect();
    let circle = |name: &&str| -> Vec<&str> {
        all[name]
            .iter()
            .filter(|to| all.get(*to).is_some_and(|back| back.contains(name)))
            .copied()
            .collect()
    };
    names
        .iter()
        .map(circle)
        .filter(|circle| !circle.is_empty())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// What is in one list and not in the other, with a word for each.
fn differences<T: Ord + std::fmt::Debug>(found: &BTreeSet<T>, known: &BTreeSet<T>) -> Vec<String> {
    let new = found.difference(known).map(|one| format!("new: {one:?}"));
    new.chain(
        known
            .difference(found)
            .map(|one| format!("gone, so take it from the table: {one:?}")),
    )
    .collect()
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let mut found = BTreeSet::new();
    for (name, _, sources) in crates() {
        for module in Module::all(name, &sources) {
            let mut arrows = module.uses();
            arrows.extend(module.drawn());
            let named = |circle: Vec<&str>| {
                (
                    module.name.to_owned(),
                    circle.into_iter().map(str::to_owned).collect(),
                )
            };
            found.extend(cycles(&arrows).into_iter().map(named));
        }
    }
    let known = KNOWN_CYCLES.iter().map(|(module, files)| {
        (
            (*module).to_owned(),
            files
                .iter()
                .map(|file| (*file).to_owned())
                .collect::<Vec<String>>(),
        )
    });
    assert_eq!(differences(&found, &known.collect()), [""; 0]);
}

#[test]
fn the_files_of_a_module_use_each_other_as_its_head_draws() {
    let (mut wrong, mut undrawn, mut unused, mut seen) = (
        Vec::new(),
        BTreeSet::new(),
        BTreeSet::new(),
        BTreeSet::new(),
    );
    for (name, _, sources) in crates() {
        for module in Module::all(name, &sources) {
            let drawn = module.drawn();
            if drawn.is_empty() {
                continue;
            }
            seen.insert(module.name.to_owned());
            let names: BTreeSet<&String> = drawn.iter().flat_map(|(from, to)| [from, to]).collect();
            let unknown = names
                .into_iter()
                .filter(|name| !module.parts.contains(name.as_str()));
            wrong
                .extend(unknown.map(|name| {
                    format!("{}/mod.rs draws {name}, which is not there", module.name)
                }));
            let uses = module.uses();
            let named =
                |(from, to): &(String, String)| (module.name.to_owned(), from.clone(), to.clone());
            undrawn.extend(uses.difference(&drawn).map(named));
            unused.extend(drawn.difference(&uses).map(named));
        }
    }
    assert_eq!(wrong, [""; 0]);
    let missing: Vec<_> = DRAWN.iter().filter(|name| !seen.contains(**name)).collect();
    assert!(missing.is_empty(), "no drawing in {missing:?}");
    let owned = |(module, from, to): &(&str, &str, &str)| {
        ((*module).to_owned(), (*from).to_owned(), (*to).to_owned())
    };
    assert_eq!(
        differences(&undrawn, &KNOWN_UNDRAWN.iter().map(owned).collect()),
        [""; 0],
        "not drawn"
    );
    assert_eq!(
        differences(&unused, &KNOWN_UNUSED.iter().map(owned).collect()),
        [""; 0],
        "drawn and not used"
    );
}

#[test]
fn only_env_asks_the_process_and_only_programs_print() {
    let mut wrong = Vec::new();
    for (_, dir, sources) in crates() {
        for source in sources {
            let below = source
                .path
                .strip_prefix(&dir)
                .expect("below the crate")
                .display()
                .to_string();
            let is_program = below == "build.rs";
            let asks = ["std::env::", "SystemTime"]
                .iter()
                .any(|word| source.text.contains(word));
            let prints = ["println!", "print!(", "eprint"]
                .iter()
                .any(|word| source.text.contains(word));
            if !is_program && (prints || asks && below != "env.rs") {
                wrong.push(below);
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

fn source(module: &[&str], text: &str) -> Source {
    let module = module.iter().map(|name| (*name).to_owned()).collect();
    Source {
        path: PathBuf::new(),
        module,
        text: text.to_owned(),
        code: code(text),
    }
}

/// These rules can fail: a circle by paths, one by methods, and a use that can only be reached.
#[test]
fn a_circle_and_an_undrawn_use_are_found() {
    let head =
        "//! Which file uses which:\n//! ```text\n//! a ──▶ b ──▶ c\n//! ```\npub use c::Third;";
    let a = "use super::b::First;\nuse super::Third;\nfn f(first: First) { first.finish() }";
    let b = "pub struct First;\nimpl First {\n    pub fn begin(&self) {}\n}\nuse crate::m::c;";
    let c = "pub struct Third;\nimpl super::b::First {\n    pub fn finish(self) {}\n}\nimpl First {\n    pub fn finish(self) {}\n}";
    let sources = [
        source(&["m"], head),
        source(&["m", "a"], a),
        source(&["m", "b"], b),
        source(&["m", "c"], c),
    ];
    let [module] = &Module::all("c", &sources)[..] else {
        panic!("one module")
    };
    let arrow = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let expected = [
        arrow("a", "b"),
        arrow("a", "c"),
        arrow("b", "c"),
        arrow("c", "b"),
    ];
    assert_eq!(module.uses(), expected.into());
    assert_eq!(module.drawn(), [arrow("a", "b"), arrow("b", "c")].into());
    assert_eq!(module.uses_by_method(), [arrow("a", "c")].into());
    assert_eq!(cycles(&module.uses()), [["b", "c"]]);
    assert!(cycles(&module.drawn()).is_empty());
}

/// A crate whose files lie side by side draws its arrows at its root.
#[test]
fn the_root_of_a_crate_is_a_module() {
    let head =
        "//! Which file uses which:\n//! ```text\n//! a ──▶ b\n//! ```\npub mod a;\npub mod b;";
    let sources = [
        source(&[], head),
        source(&["a"], "use crate::b::B;"),
        source(&["b"], "pub struct B; use crate::a;"),
    ];
    let [root] = &Module::all("reader", &sources)[..] else {
        panic!("the root alone")
    };
    assert_eq!(
        (root.name, root.drawn().len(), cycles(&root.uses())),
        ("reader", 1, vec![vec!["a", "b"]])
    );
}

#[test]
fn code_is_read_as_it_is_written() {
    let cases = [
        (
            "use super::{a::{b, c},\n    d as e, self};",
            "m::a::b m::a::c m::d m",
        ),
        ("crate::x::Y::new(); // crate::no", "x::Y::new"),
        (
            "let text = \"crate::no \\\" crate::no\"; 'c'; '\\''; super::z()",
            "m::z",
        ),
        (
            "fn f<'a>(x: &'a str) { r#\"crate::\"no\"#; self::q }",
            "m::f::q",
        ),
        (
            "#[cfg(test)]\nmod tests {\n    use super::no;\n}\nuse crate::yes;",
            "yes",
        ),
        (
            "#[cfg(test)]\nuse crate::no;\nuse crate::yes::{Yes};",
            "yes::Yes",
        ),
    ];
    for (text, expected) in cases {
        let found: BTreeSet<String> = source(&["m", "f"], text)
            .paths()
            .iter()
            .map(|path| path.join("::"))
            .collect();
        assert_eq!(
            found,
            expected.split(' ').map(str::to_owned).collect(),
            "{text}"
        );
    }
}
