//! Holds `src/` to the layers that `src/lib.rs` draws.

use std::path::{Path, PathBuf};

/// Each module with its layer. A module uses only layers below its own.
const LAYERS: [(&str, u8); 20] = [
    ("entry", 0),
    ("file", 0),
    ("path", 0),
    ("secrets", 0),
    ("time", 0),
    ("budget", 1),
    ("cursor", 1),
    ("env", 1),
    ("format", 1),
    ("decode", 2),
    ("locate", 2),
    ("settings", 2),
    ("state", 2),
    ("digest", 3),
    ("transcript", 4),
    ("catalog", 5),
    ("render", 6),
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
