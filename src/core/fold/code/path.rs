//! Paths for people: as short as they can be told from each other.
//!
//! Text only: nothing is looked up on disk, and a path may have slashes of either kind.

use session_format::boundary::substr;
use session_format::hash::{HashMap, HashSet};

/// Each path as short as it can be told from the others.
pub fn short_paths(paths: &[&str]) -> Vec<String> {
    /// Nobody reads more directories than that.
    const DEPTH: usize = 64;
    let trim = |path: &'_ str| path.trim_end_matches(['/', '\\']).len();
    let suffixes = |path: &str| -> Vec<usize> {
        let cuts = path.rmatch_indices(['/', '\\']).map(|(at, _)| at + 1);
        cuts.take(DEPTH).chain([0]).collect()
    };
    let distinct: HashSet<&str> = paths
        .iter()
        .map(|path| substr(path, ..trim(path)))
        .collect();
    let mut counts: HashMap<&str, usize> = HashMap::default();
    for path in &distinct {
        for from in suffixes(path) {
            *counts.entry(substr(path, from..)).or_default() += 1;
        }
    }
    let short = |path: &&str| {
        let path = substr(path, ..trim(path));
        let from = suffixes(path)
            .into_iter()
            .find(|from| counts.get(substr(path, *from..)) == Some(&1))
            .unwrap_or(0);
        substr(path, from..).to_owned()
    };
    paths.iter().map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_as_short_as_they_can_be_told_apart() {
        let cases: [(&[&str], &[&str]); 6] = [
            (&["/p/src/a.rs", "/p/src/b.rs"], &["a.rs", "b.rs"]),
            (
                &["/p/hook/mod.rs", "/p/cmd/mod.rs", "/p/x.rs"],
                &["hook/mod.rs", "cmd/mod.rs", "x.rs"],
            ),
            (&["mod.rs", "src/mod.rs"], &["mod.rs", "src/mod.rs"]),
            (&["a/x.rs", "a/x.rs"], &["x.rs", "x.rs"]),
            (
                &["C:\\p\\a\\x.cs", "C:\\p\\b\\x.cs"],
                &["a\\x.cs", "b\\x.cs"],
            ),
            (&["", "/", "été/ß"], &["", "", "ß"]),
        ];
        for (paths, wanted) in cases {
            assert_eq!(short_paths(paths), wanted);
        }
    }
}
